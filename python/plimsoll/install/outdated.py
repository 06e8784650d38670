"""Which frameworks use packages of which their registries have newer versions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING

from plimsoll.errors import FrameworkError
from plimsoll.install import short_commands
from plimsoll.install.registries import REGISTRIES
from plimsoll.install.registries.entry import MissingVersion, NewerVersion, PinnedEntry

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from plimsoll.campaign.framework import Framework
    from plimsoll.install.registries import Registry

AT_A_TIME = 4
"""Clients that run at one time; they mostly wait for their registry."""


@dataclass(frozen=True)
class RegistryReport:
    """What a registry reports on a framework.

    Attributes:
        framework: Name of the framework.
        registry: Name of the registry.
        newer: Packages of which there are newer versions.
        missing: Packages whose version in the entry the registry does not have.
        error: Why the registry was not queried, or did not respond; None if it responded.
    """

    framework: str
    registry: str
    newer: tuple[NewerVersion, ...] = ()
    missing: tuple[MissingVersion, ...] = ()
    error: FrameworkError | None = None


def ask(frameworks: Sequence[Framework]) -> Iterator[RegistryReport]:
    """Queries the registries of some frameworks, in the order of both.

    Args:
        frameworks: The frameworks; variants of one next to each other.

    Yields:
        The report of each registry, once those before it have responded.
    """
    queries = [
        partial(_ask, registry, entry)
        for entry in entries(frameworks)
        for registry in REGISTRIES
        if registry.concerns(entry)
    ]
    with short_commands.threads(AT_A_TIME) as asking:
        yield from (one.result() for one in [asking.submit(one) for one in queries])


def entries(frameworks: Sequence[Framework]) -> Iterator[PinnedEntry]:
    """The frameworks without their variants."""
    for folder, variants in groupby(frameworks, lambda one: one.folder):
        on_host = [one for one in variants if not one.root]
        needs = [need for one in on_host for need in one.needs if need.kind == "apt"]
        yield PinnedEntry(folder.name, folder, tuple(dict.fromkeys(need.name for need in needs)))


def _ask(registry: Registry, entry: PinnedEntry) -> RegistryReport:
    try:
        found = set(registry.newer(entry))
    except FrameworkError as error:
        return RegistryReport(entry.name, registry.NAME, error=error)
    newer = sorted(one for one in found if isinstance(one, NewerVersion))
    missing = sorted(one for one in found if isinstance(one, MissingVersion))
    return RegistryReport(entry.name, registry.NAME, tuple(newer), tuple(missing))
