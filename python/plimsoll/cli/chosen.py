"""Frameworks and campaigns as they were asked for on the command line."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from plimsoll.campaign import campaign as campaigns
from plimsoll.campaign import framework as frameworks
from plimsoll.cli import messages
from plimsoll.conduct.drivers import DRIVERS
from plimsoll.conduct.install import is_built, not_installed
from plimsoll.conduct.requirements import missing
from plimsoll.errors import NotInstalled
from plimsoll.verdicts.limits import LIMITS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from plimsoll.campaign.campaign import Campaign
    from plimsoll.campaign.framework import Framework


def named(names: Sequence[str], root: Path | None) -> tuple[Framework, ...]:
    """Frameworks by name; every plain one when none is named.

    Raises:
        CampaignError: There is no such framework, or its file has mistakes.
    """
    return frameworks.choose(frameworks.locate(root), names or ("all",))


def campaign(path: Path, settings: Sequence[str], root: Path | None) -> Campaign:
    """A campaign file with settings laid over it.

    Raises:
        CampaignError: The file, or a setting, is wrong.
    """
    drivers = [driver.NAME for driver in DRIVERS]
    return campaigns.read(path, settings, root, drivers=drivers, limits=known_limits())


def known_limits() -> dict[str, set[str]]:
    """Names of the limits that a campaign may change, by check."""
    names: dict[str, set[str]] = {}
    for limit in LIMITS:
        names.setdefault(limit.check, set()).update(limit.setting_names)
    return names


def with_toolchain(chosen: Sequence[Framework]) -> tuple[Framework, ...]:
    """Those frameworks whose toolchain is here; the others are named on stderr."""
    here: list[Framework] = []
    for framework in chosen:
        needs = missing(framework)
        if needs:
            error = not_installed(framework, needs)
            messages.note(f"left out: {error.message}")
            messages.note(f"to have it: {error.hint}")
        else:
            here.append(framework)
    return tuple(here)


def with_available(asked: Campaign) -> Campaign:
    """A campaign without the frameworks that this machine has no toolchain for."""
    return replace(asked, frameworks=with_toolchain(asked.frameworks))


def require_installed(chosen: Sequence[Framework]) -> None:
    """Does nothing when every framework is ready to be started.

    Raises:
        NotInstalled: One is not; the message names all of them.
    """
    for framework in chosen:
        if needs := missing(framework):
            raise not_installed(framework, needs)
    unbuilt = [framework.reference for framework in chosen if not is_built(framework)]
    if unbuilt:
        names = ", ".join(f"`{name}`" for name in unbuilt)
        verb = "are" if unbuilt[1:] else "is"
        raise NotInstalled(f"{names} {verb} not built", f"`plimsoll install {' '.join(unbuilt)}`")
