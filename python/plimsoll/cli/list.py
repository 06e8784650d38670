"""`plimsoll list`: what there is, what runs here, and what is missing for the rest.

What it takes to find that out is imported where it is used: help does without it.
"""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from plimsoll.cli import messages, options
from plimsoll.errors import CampaignError, FrameworkError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rich.console import Console, RenderableType
    from rich.text import Text

    from plimsoll.campaign.framework import Framework, Installable
    from plimsoll.campaign.tool import Tool
    from plimsoll.conduct.drive import DriverModule

WIDE = 120
"""Columns of a terminal from which a framework takes one line of a table."""

STYLES = {"ready": "green", "needs install": "yellow", "not available": "red"}
"""Colour of each status."""

ABOUT = {"ready": "version", "needs install": "to do", "not available": "missing"}
"""What is said of a framework in each status."""

AT_A_TIME = 4
"""Frameworks that are asked for their version at one time; some take a second to say it."""


@click.command(name="list")
@options.framework_names
@options.frameworks_root
@options.as_json
def command(names: tuple[str, ...], root: Path | None, as_json: bool) -> int:
    """Frameworks, drivers, tools, endpoints and checks; what runs here, what the rest lacks.

    With names: all that is known of these, with every variant, what they need and their limits.
    """
    tools, code = _tools(names)
    others = [name for name in names if name not in [tool.name for tool in tools]]
    chosen, mistaken = _chosen(others, root) if others or not names else ([], 0)
    with ThreadPoolExecutor(AT_A_TIME) as asking:
        found = list(asking.map(_framework, chosen))
        brought = list(asking.map(_tool, tools))
    contract = _contract()
    if as_json:
        click.echo(json.dumps({"frameworks": found, "tools": brought, **contract}, indent=1))
    elif names:
        _print_each([*brought, *found])
    else:
        _print(found, contract)
    return code or mistaken


def _tools(names: Sequence[str]) -> tuple[list[Tool], int]:
    """The tools among some names, or all; those with mistakes are told and left out of all."""
    from plimsoll.campaign import tool  # noqa: PLC0415
    from plimsoll.cli import chosen  # noqa: PLC0415

    if names:
        return list(chosen.tools(names)), 0
    found: list[Tool] = []
    code = 0
    for name in tool.names():
        try:
            found += chosen.tools([name])
        except CampaignError as error:
            code = messages.problems(error)
    return found, code


def _contract() -> dict[str, Any]:
    """The drivers, the endpoints, and the checks of a trial."""
    from plimsoll.campaign.endpoints import ENDPOINTS  # noqa: PLC0415 - makes every body there is
    from plimsoll.conduct.drivers import DRIVERS  # noqa: PLC0415
    from plimsoll.verdicts.limits import LIMITS  # noqa: PLC0415

    with ThreadPoolExecutor(AT_A_TIME) as asking:
        drivers = list(asking.map(_driver, DRIVERS))
    return {
        "drivers": drivers,
        "endpoints": [{"name": one.name, "summary": one.summary} for one in ENDPOINTS],
        "checks": sorted({limit.check for limit in LIMITS}),
    }


def _driver(driver: DriverModule) -> dict[str, Any]:
    """A driver, and whether it is here."""
    lacking = driver.needs()
    return {
        "name": driver.NAME,
        "status": "ready" if lacking is None else "needs install",
        "version": None if lacking else driver.version() or None,
        "why": lacking.message if lacking else "",
        "remedy": lacking.hint if lacking else "",
    }


def _chosen(names: Sequence[str], root: Path | None) -> tuple[list[Framework], int]:
    """The frameworks named, or all; those with mistakes are told and left out of all."""
    from plimsoll.campaign import framework as frameworks  # noqa: PLC0415
    from plimsoll.campaign.framework import ALL  # noqa: PLC0415

    place = frameworks.locate(root)
    if names:
        every = [name if ":" in name or name == ALL else f"{name}:{ALL}" for name in names]
        return list(frameworks.choose(place, every)), 0
    chosen: list[Framework] = []
    code = 0
    for folder in frameworks.find(place):
        try:
            chosen += frameworks.read(folder)
        except CampaignError as error:
            code = messages.problems(error)
    return chosen, code


def _framework(framework: Framework) -> dict[str, Any]:
    from plimsoll.cli.status import status  # noqa: PLC0415
    from plimsoll.conduct.requirements import spoken  # noqa: PLC0415

    here = status(framework)
    return {
        "name": framework.reference,
        "framework": framework.name,
        "variant": framework.variant,
        "language": framework.language,
        "version": _version(framework) if here.word == "ready" else None,
        "status": here.word,
        "why": here.why,
        "remedy": here.remedy,
        "needs": [spoken(need) for need in framework.needs],
        "endpoints": list(framework.endpoints),
        "not_implemented": framework.not_implemented,
        "no_keep_alive": framework.no_keep_alive,
        "notes": list(framework.notes),
        "site": framework.site,
    }


def _tool(tool: Tool) -> dict[str, Any]:
    from plimsoll.cli.status import status  # noqa: PLC0415
    from plimsoll.conduct.requirements import spoken  # noqa: PLC0415

    here = status(tool)
    return {
        "name": tool.name,
        "version": _version(tool) if here.word == "ready" else None,
        "status": here.word,
        "why": here.why,
        "remedy": here.remedy,
        "needs": [spoken(need) for need in tool.needs],
        "notes": list(tool.notes),
        "site": tool.site,
    }


def _version(framework: Installable) -> str | None:
    from plimsoll.conduct import commands  # noqa: PLC0415

    try:
        return commands.version(framework) or None
    except FrameworkError:
        return None


def _print(found: Sequence[Mapping[str, Any]], contract: Mapping[str, Any]) -> None:
    from rich.console import Console  # noqa: PLC0415

    console = Console(highlight=False)
    console.print(_counted(found))
    if console.width >= WIDE:
        console.print(_table(found))
    else:
        for part in _lines(found):
            console.print(part)
    console.print(
        "\n`plimsoll list NAME` shows all that is known of one: what it needs, its limits"
    )
    _print_contract(console, contract)


def _print_contract(console: Console, contract: Mapping[str, Any]) -> None:
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    console.print("\n[bold]drivers[/bold]")
    drivers = Table.grid(padding=(0, 2))
    for driver in contract["drivers"]:
        state = Text(driver["status"], style=STYLES[driver["status"]])
        drivers.add_row(Text(driver["name"]), state, Text(_about(driver)))
    console.print(drivers)
    console.print("\n[bold]endpoints[/bold]")
    endpoints = Table.grid(padding=(0, 2))
    for endpoint in contract["endpoints"]:
        endpoints.add_row(Text(endpoint["name"]), Text(endpoint["summary"]))
    console.print(endpoints)
    console.print("\n[bold]checks[/bold]")
    console.print(" ".join(contract["checks"]))


def _counted(found: Sequence[Mapping[str, Any]]) -> Text:
    """How many are in each state: `14 ready, 2 not available`."""
    from rich.text import Text  # noqa: PLC0415

    states = [one["status"] for one in found]
    parts = [
        Text.assemble(f"{states.count(word)} ", (word, style))
        for word, style in STYLES.items()
        if word in states
    ]
    return Text.assemble(("frameworks", "bold"), "  ", Text(", ").join(parts), "\n")


def _table(found: Sequence[Mapping[str, Any]]) -> RenderableType:
    """A line for each framework."""
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("name", "language", "status"):
        table.add_column(heading, no_wrap=True)
    table.add_column("version, or what is missing", ratio=1)
    table.add_column("endpoints")
    table.add_column("notes", justify="right")
    for one in found:
        state = Text(one["status"], style=STYLES[one["status"]])
        about = Text(_about(one))
        served, notes = Text(_served(one)), str(len(one["notes"]) or "–")
        table.add_row(Text(one["name"]), Text(one["language"]), state, about, served, notes)
    return table


def _lines(found: Sequence[Mapping[str, Any]]) -> Iterator[RenderableType]:
    """Two lines for each framework: what it is, and below it its version or what is missing."""
    from rich.padding import Padding  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    name_width = max((len(one["name"]) for one in found), default=0)
    language_width = max((len(one["language"]) for one in found), default=0)
    for one in found:
        state = (f"{one['status']:<15}", STYLES[one["status"]])
        head = f"{one['name']:<{name_width}}  {one['language']:<{language_width}}  "
        notes = f", {_several(len(one['notes']), 'note')}" if one["notes"] else ""
        yield Text.assemble((head, "bold"), state, _served(one), notes)
        yield Padding(Text(_about(one), style="dim"), (0, 0, 0, 4), expand=False)


def _about(one: Mapping[str, Any]) -> str:
    """The version of a framework that is ready; of another what is missing and how to get it."""
    if one["status"] == "ready":
        return one["version"] or "it does not say its version"
    return f"{one['why']}: {one['remedy']}" if one["remedy"] else one["why"]


def _served(one: Mapping[str, Any]) -> str:
    left_out = list(one["not_implemented"])
    if not left_out:
        return f"all {len(one['endpoints'])} endpoints"
    shown = ", ".join(left_out) if len(left_out) <= 2 else f"{len(left_out)} others"  # noqa: PLR2004
    return f"{_several(len(one['endpoints']), 'endpoint')}, without {shown}"


def _several(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _print_each(found: Sequence[Mapping[str, Any]]) -> None:
    """All that is known of some frameworks."""
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    console = Console(highlight=False)
    for place, one in enumerate(found):
        console.print(Text(f"{chr(10) if place else ''}{one['name']}", style="bold"))
        facts = Table.grid(padding=(0, 2))
        facts.add_column(no_wrap=True)
        facts.add_column(overflow="fold")
        for name, value in _facts(one):
            facts.add_row(Text(f"  {name}"), value)
        console.print(facts)


def _facts(one: Mapping[str, Any]) -> Iterator[tuple[str, Text]]:
    """Names and values; a name that would stand twice stands once."""
    from rich.text import Text  # noqa: PLC0415

    if "language" in one:
        yield "language", Text(one["language"])
    yield "status", Text(one["status"], style=STYLES[one["status"]])
    yield ABOUT[one["status"]], Text(_about(one))
    yield "needs", Text(", ".join(one["needs"]) or "nothing")
    for name, texts in _lists(one).items():
        for place, text in enumerate(texts):
            yield "" if place else name, Text(text)
    if one["site"]:
        yield "site", Text(one["site"])


def _lists(one: Mapping[str, Any]) -> dict[str, list[str]]:
    """What there are several of; a tool has notes only."""
    lists = {"notes": [f"- {note}" for note in one["notes"]]}
    if "endpoints" not in one:
        return lists
    without = [f"- {name}: {why}" for name, why in one["not_implemented"].items()]
    kept = [f"- {one['no_keep_alive']}"] if one["no_keep_alive"] else []
    served = [" ".join(one["endpoints"])]
    return {"endpoints": served, "without": without, "no keep-alive": kept, **lists}
