"""PyPI, by the report of `pip install --dry-run`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pydantic import BaseModel, ValidationError

from plimsoll.install.registries import client
from plimsoll.install.registries.entry import NewerVersion

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from plimsoll.install.registries.entry import PinnedEntry

NAME = "PyPI"
MANIFEST = "requirements*.txt"
REMEDY = "install pip: https://pip.pypa.io/en/stable/installation/"

_PIN = re.compile(r"^(?P<name>[\w.-]+)(?:\[[^]]*\])?==(?P<version>[^\s;#]+)", re.MULTILINE)
_SEPARATORS = re.compile(r"[-_.]+")


class PackageMetadata(BaseModel):
    """Name and version of a package."""

    name: str
    version: str


class PlannedPackage(BaseModel):
    """A package that pip would install."""

    metadata: PackageMetadata


class InstallationReport(BaseModel):
    """The report of `pip install`: https://pip.pypa.io/en/stable/reference/installation-report/."""

    install: list[PlannedPackage]


def concerns(entry: PinnedEntry) -> bool:
    """Whether it has a file of requirements."""
    return bool(entry.manifests(MANIFEST))


def newer(entry: PinnedEntry) -> Iterator[NewerVersion]:
    """Pinned packages, direct or not, of which PyPI has a newer version for the Python of pip."""
    pins = dict(pin for manifest in entry.manifests(MANIFEST) for pin in _pins(manifest))
    if not pins:
        return
    newest = {normalized(one.name): one.version for one in _newest(entry.folder, tuple(pins))}
    for name, version in pins.items():
        found = newest.get(normalized(name), version)
        if found != version:
            yield NewerVersion(name, version, found)


def normalized(name: str) -> str:
    """A name as PyPI compares it.

    Source:
        PyPA, "Names and normalization".
    """
    return _SEPARATORS.sub("-", name).lower()


def _pins(manifest: Path) -> Iterator[tuple[str, str]]:
    for found in _PIN.finditer(manifest.read_text(encoding="utf-8")):
        yield found["name"], found["version"]


def _newest(folder: Path, names: tuple[str, ...]) -> Iterator[PackageMetadata]:
    """What pip would install of some packages if none was there."""
    command = (
        *("pip", "install", "--dry-run", "--ignore-installed", "--no-deps"),
        *("--disable-pip-version-check", "--quiet", "--report", "-"),
    )
    report = client.output_of((*command, *names), folder, remedy=REMEDY).stdout
    try:
        planned = InstallationReport.model_validate_json(report)
    except ValidationError as error:
        raise client.failed("pip", "its report cannot be read") from error
    for one in planned.install:
        yield one.metadata
