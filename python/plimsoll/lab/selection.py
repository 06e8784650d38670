"""Frameworks, tools and campaigns by name, and whether this host can conduct them."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from plimsoll import estimates, plan, verdicts, wording
from plimsoll.campaign import as_run, campaign_file, documents, set_values, tool
from plimsoll.campaign import campaign as campaigns
from plimsoll.campaign import framework as frameworks
from plimsoll.campaign.campaign import resolved
from plimsoll.drivers.tools import DRIVERS
from plimsoll.errors import InputError, Problem
from plimsoll.install.readiness import absent, make_ready, unready
from plimsoll.lab import databases
from plimsoll.published import document
from plimsoll.recording import YARDSTICK
from plimsoll.storage.documents import as_text, planned

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from pathlib import Path

    from plimsoll.campaign.as_run import Document
    from plimsoll.campaign.campaign import Campaign
    from plimsoll.campaign.framework import Framework, Installable
    from plimsoll.campaign.load import Load
    from plimsoll.campaign.requests import Exchange
    from plimsoll.campaign.tool import Tool
    from plimsoll.errors import DriverMissing, PlimsollError
    from plimsoll.plan import Refuses, Trial

__all__ = [
    "campaign",
    "document_of",
    "installable",
    "known_limits",
    "left_out",
    "make_ready",
    "named",
    "of_campaign",
    "planned",
    "published",
    "ready",
    "refusals",
    "require_drivers",
    "require_rule",
    "require_trials",
    "resolved",
    "tools",
    "unready",
    "with_available",
    "wrong_limits",
]  # fmt: skip


def named(
    names: Sequence[str], root: Path | None, tools: Collection[str] = ()
) -> tuple[Framework, ...]:
    """Frameworks by name; every plain one when none is named.

    Args:
        names: Their names.
        root: Folder of the frameworks; None for the default.
        tools: Names of tools, where one of these may be meant as well.

    Raises:
        InputError: There is no such framework, or its file has mistakes.
    """
    return frameworks.choose(frameworks.locate(root), names or ("all",), tools)


def installable(names: Sequence[str], root: Path | None) -> tuple[Installable, ...]:
    """Frameworks and tools by name: the tools first.

    Raises:
        InputError: There is no such framework or tool, or its file has mistakes.
    """
    known = tool.names()
    others = [name for name in names if name not in known]
    return (*tools(names), *(named(others, root, known) if others else ()))


def of_campaign(requested: Campaign) -> tuple[Installable, ...]:
    """What a campaign needs installed: the tools that it names as drivers, and its frameworks."""
    return (
        *(() if requested.drivers_optional else tools(requested.drivers)),
        *requested.frameworks,
    )


def tools(names: Sequence[str]) -> tuple[Tool, ...]:
    """Those of some names that are tools.

    Raises:
        InputError: The file of one has mistakes.
    """
    return tuple(found for name in names if (found := tool.named(name)))


def campaign(path: Path, settings: Sequence[str], root: Path | None) -> Campaign:
    """A campaign file with settings laid over it.

    Raises:
        InputError: The file, or a setting, is wrong.
    """
    drivers = [driver.NAME for driver in DRIVERS]
    return campaigns.read(path, settings, root, drivers=drivers, limits=known_limits)


def document_of(
    requested: Campaign, path: Path, settings: Sequence[str], root: Path | None
) -> Document:
    """The document of a campaign, in which the values that settings changed are marked.

    Args:
        requested: The campaign, without what is left out.
        path: Its file.
        settings: What was laid over the file; a file that needs them, since it names what is not
            here, has no values before.
        root: Folder of the frameworks.
    """
    document = resolved(requested)
    if not settings:
        return document
    try:
        texts = [as_text(resolved(campaign(path, given, root))) for given in (settings, ())]
    except InputError:
        return as_run.with_settings(document, settings, ())
    now, before = map(json.loads, texts)
    return as_run.with_settings(document, settings, set_values.changed(now, before))


def wrong_limits(given: Mapping[str, Mapping[str, float]]) -> list[Problem]:
    """Limits of the argument `limits=` that no check has, and those that are no numbers.

    Args:
        given: Check to name and value of its limits.
    """
    mistakes = campaign_file.wrong_limits(given, known_limits())
    return [Problem("limits", mistake.message, mistake.hint) for mistake in mistakes]


def known_limits() -> dict[str, set[str]]:
    """Names of the limits that a campaign may change, by check."""
    names: dict[str, set[str]] = {}
    for limit in verdicts.catalogue.LIMITS:
        names.setdefault(limit.check, set()).update(limit.setting_names)
    return names


def ready(
    chosen: Sequence[Framework],
    note: Callable[[str], None],
    why_absent: Callable[[Framework], PlimsollError | None] = absent,
) -> tuple[Framework, ...]:
    """The frameworks that can run on this host, or on another one.

    Args:
        chosen: Frameworks.
        note: Called with each framework that is skipped, and how to include it.
        why_absent: Returns the error with why one cannot run there; None if it can.
    """
    here: list[Framework] = []
    for framework in chosen:
        error = why_absent(framework)
        if error is None:
            here.append(framework)
        else:
            note(f"skipped: {error.message}")
            note(f"to include it: {error.hint}")
    return tuple(here)


def with_available(
    requested: Campaign,
    note: Callable[[str], None],
    why_absent: Callable[[Framework], PlimsollError | None] = absent,
    *,
    has_database_here: bool = True,
) -> Campaign:
    """A campaign without what is not available: frameworks, drivers, a database.

    Args:
        requested: The campaign.
        note: Called with each framework or endpoint that is skipped, and how to include it.
        why_absent: Returns the error with why a framework cannot run where it should; None if it
            can.
        has_database_here: Whether a database would run on this host, and not on another one.
    """
    return replace(
        requested,
        frameworks=ready(requested.frameworks, note, why_absent),
        endpoints=databases.available(requested.endpoints, note, is_here=has_database_here),
        drivers_optional=True,
    )


def lacking_here() -> dict[str, DriverMissing]:
    """The drivers that are not installed on this machine, by name."""
    return {one.NAME: error for one in DRIVERS if (error := one.needs()) is not None}


def refusals(requested: Campaign, lacking: Mapping[str, DriverMissing]) -> Refuses:
    """The reason why a driver of a campaign cannot generate a load.

    Where drivers are optional, a missing one refuses every load.

    Args:
        requested: The campaign.
        lacking: The drivers that are not installed where they should generate load, by name.

    Raises:
        InputError: A driver that is not optional cannot generate a load of the campaign.
    """
    drivers = {driver.NAME: driver for driver in DRIVERS if driver.NAME in requested.drivers}
    absent = {
        name: f"{error.message}; {error.hint}"
        for name, error in lacking.items()
        if requested.drivers_optional
    }

    def refuses(driver: str, load: Load, exchanges: Sequence[Exchange]) -> str:
        return absent.get(driver) or drivers[driver].refuses(load, tuple(exchanges))

    if not requested.drivers_optional:
        _require_able(requested, refuses)
    return refuses


def _require_able(requested: Campaign, refuses: Refuses) -> None:
    """Requires that every driver can generate every load.

    Raises:
        InputError: One cannot; the message names each load that it refuses.
    """
    hint = "choose another driver, or skip unsupported loads with `available=True`"
    problems = [Problem("", str(one), hint) for one in plan.refused(requested, refuses)]
    if problems:
        raise InputError(problems)


def published(requested: Campaign) -> str | None:
    """The published figures that a campaign names, as given; None when it names none.

    Raises:
        InputError: They cannot be read, or something in them is wrong.
    """
    if requested.published is None:
        return None
    text = documents.read(requested.published).text
    document.read(text, requested.published.name)
    return text


def require_drivers(requested: Campaign, lacking: Mapping[str, DriverMissing]) -> None:
    """Requires that every driver of a campaign is installed, or optional.

    Args:
        requested: The campaign.
        lacking: The drivers that are not installed where they should generate load, by name.

    Raises:
        DriverMissing: One is neither.
    """
    for driver in requested.drivers:
        if driver in lacking and not requested.drivers_optional:
            raise lacking[driver]


def left_out(requested: Campaign, refuses: Refuses) -> list[str]:
    """What is skipped of a campaign, one line per reason."""
    by_driver: dict[tuple[str, str], list[plan.Refused]] = {}
    for one in plan.refused(requested, refuses):
        by_driver.setdefault((one.driver, one.reason), []).append(one)
    most = len(requested.loads) * len(requested.endpoints)
    drivers = [
        f"skipped driver {driver}: {reason}" if len(found) == most else str(one)
        for (driver, reason), found in by_driver.items()
        for one in (found[:1] if len(found) == most else found)
    ]
    # What concerns a load is the same at each endpoint.
    return [*dict.fromkeys(map(str, plan.left_out(requested))), *drivers]


def require_trials(trials: Sequence[Trial]) -> None:
    """Requires that a campaign has something to run.

    Raises:
        InputError: It has no trial.
    """
    if not trials:
        hint = "choose other frameworks or drivers"
        raise InputError([Problem("", "the campaign has no trial to run", hint)])


def require_rule(campaign: Campaign, trials: Sequence[Trial]) -> None:
    """Requires that a campaign with `until` has something to decide, and time for its first blocks.

    Args:
        campaign: The campaign.
        trials: Its first blocks.

    Raises:
        InputError: No table has two frameworks, or the loads alone exceed the budget.
    """
    if not campaign.until:
        return
    ranked = [one for one in trials if one.framework.name != YARDSTICK] or trials
    entries = {(plan.table(one), one.framework.reference) for one in ranked}
    if all(count == 1 for count in Counter(table for table, _ in entries).values()):
        hint = f"name a second framework in addition to `{YARDSTICK}`, or remove `until`"
        raise InputError([Problem("", "`until` needs two frameworks to compare", hint)])
    load_s = estimates.loads_s(trials)
    if campaign.budget_s and load_s > campaign.budget_s:
        blocks = wording.several(campaign.repetitions, "block")
        message = (
            f"`budget` is {wording.seconds(campaign.budget_s)}, "
            f"and the loads of {blocks} take {wording.seconds(load_s)}"
        )
        hint = "raise `budget`, or reduce `repetitions` or the loads"
        raise InputError([Problem("", message, hint)])


def not_ready(
    requested: Campaign, *, has_servers_here: bool = True, has_database_here: bool = True
) -> list[str]:
    """What is missing here before a campaign can run: one sentence each, with what to do.

    Args:
        requested: The campaign.
        has_servers_here: Whether its servers run on this host, and not on another one.
        has_database_here: The same of a database.
    """
    lacking = databases.lacking(requested.endpoints, is_here=has_database_here)
    found = [] if lacking is None else [f"{lacking.message}: {lacking.hint}"]
    return [*found, *(unready(requested.frameworks) if has_servers_here else [])]
