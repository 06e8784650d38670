"""Frameworks, drivers, tools, endpoints and checks: collected, and printed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from rich.console import Console
from rich.table import Table
from rich.text import Text

from plimsoll import texts, wording
from plimsoll.campaign import framework as frameworks
from plimsoll.campaign import places
from plimsoll.campaign import tool as tools_here
from plimsoll.campaign.documents import ALL
from plimsoll.campaign.endpoints import ENDPOINTS
from plimsoll.campaign.load import SERVICES
from plimsoll.cli import messages
from plimsoll.cli.status import status
from plimsoll.drivers.tools import DRIVERS
from plimsoll.errors import FrameworkError, InputError
from plimsoll.install import applications, commands, short_commands
from plimsoll.install.requirements import listed
from plimsoll.lab import selection
from plimsoll.provenance import short_id
from plimsoll.verdicts.catalogue import LIMITS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rich.console import RenderableType

    from plimsoll.campaign.framework import Framework, Installable
    from plimsoll.campaign.load import Service
    from plimsoll.campaign.tool import Tool
    from plimsoll.cli.status import Status, Word
    from plimsoll.drivers.job import DriverModule

T = TypeVar("T", bound="Listed")

WIDE = 120
"""Columns of a terminal from which a framework takes one line of a table."""

STYLES = {"ready": "green", "needs install": "yellow", "not available": "red"}
"""Colour of each status."""

_DETAILS = "`plimsoll list NAME` shows the requirements and limits of a framework"

STATUS_WIDTH = max(map(len, STYLES)) + 2
"""Columns of a status, with the space behind it."""

ABOUT = {"ready": "version", "needs install": "to do", "not available": "missing"}
"""The heading of a framework's details in each status."""

AT_A_TIME = 4
"""Version commands that run at one time; some take a second."""


@dataclass(frozen=True)
class Listed:
    """Whether a driver, a tool or a framework is there.

    Attributes:
        name: Its name.
        status: `ready`, or what stands between it and that.
        version: Its version; None when it is not ready, or does not say.
        why: What is missing, or the command to run; why the version of one that is ready is
            unknown; else empty.
        remedy: How to get what is missing, or to correct the version; may be empty.
    """

    name: str
    status: Word
    version: str | None
    why: str
    remedy: str


@dataclass(frozen=True)
class ListedTool(Listed):
    """A tool.

    Attributes:
        needs: What a host must have for it.
        notes: Remarks for people.
        site: Address of its home page; may be empty.
    """

    needs: list[str]
    notes: list[str]
    site: str


@dataclass(frozen=True)
class ListedFramework(ListedTool):
    """A framework or one of its variants.

    Attributes:
        framework: Name of the framework.
        variant: Name of the variant; may be empty.
        language: Its language.
        endpoints: Endpoints that it serves.
        services: Protocols that it serves besides HTTP/1.1.
        not_implemented: Endpoints that it does not serve, with the reason.
        no_keep_alive: Why it closes connections; empty if it keeps them.
        contract_notes: Rules of the contract that it is exempt from, with the reason.
        application_id: Digest of what a trial would run now; None if it is not ready, or was not
            given by name.
    """

    framework: str
    variant: str
    language: str
    endpoints: list[str]
    services: list[Service]
    not_implemented: Mapping[str, str]
    no_keep_alive: str
    contract_notes: Mapping[str, str]
    application_id: str | None = None


@dataclass(frozen=True)
class ListedEndpoint:
    """An endpoint.

    Attributes:
        name: Its name.
        summary: What it serves.
        not_proven: What successful responses under load do not prove; may be empty.
    """

    name: str
    summary: str
    not_proven: str


@dataclass(frozen=True)
class ListedContract:
    """What there is besides frameworks and tools.

    Attributes:
        campaigns: Names of the campaigns that come with Plimsoll.
        drivers: Every driver.
        endpoints: Every endpoint.
        checks: Names of the checks of a trial.
    """

    campaigns: list[str]
    drivers: list[Listed]
    endpoints: list[ListedEndpoint]
    checks: list[str]


@dataclass(frozen=True)
class _AskedStatus:
    """Whether a framework or tool is there, and its version.

    Attributes:
        status: Whether it is there; of one that is ready, why its version is unknown.
        version: Its version; None when it is not ready, or does not say.
    """

    status: Status
    version: str | None


@dataclass(frozen=True)
class Listing:
    """Tools and frameworks.

    Attributes:
        tools: Each tool.
        frameworks: Each framework.
        code: Exit code: 2 when a file is invalid, else 0.
    """

    tools: list[ListedTool]
    frameworks: list[ListedFramework]
    code: int


def found(names: Sequence[str], root: Path | None) -> Listing:
    """The details of some frameworks and tools, or of all.

    Args:
        names: Their names; empty for all.
        root: Folder of the frameworks; None for the default.
    """
    tools, code = _tools(names)
    others = [name for name in names if name not in [tool.name for tool in tools]]
    chosen, mistaken = _chosen(others, root) if others or not names else ([], 0)
    with short_commands.threads(AT_A_TIME) as asking:
        known = list(asking.map(_named_framework if names else _framework, chosen))
        brought = list(asking.map(_tool, tools))
    return Listing(brought, known, code or mistaken)


def _shown(one: T) -> T:
    """A framework or tool, its texts made safe for a terminal."""
    return replace(one, **{name: _safe(value) for name, value in vars(one).items()})


def _safe(value: Any) -> Any:
    if isinstance(value, str):
        return texts.line(value)
    if isinstance(value, dict):
        return {key: _safe(one) for key, one in cast("Mapping[str, str]", value).items()}
    if isinstance(value, list):
        return [_safe(one) for one in cast("Sequence[str]", value)]
    return value


def _tools(names: Sequence[str]) -> tuple[list[Tool], int]:
    """The tools among some names, or all; without names, invalid ones are reported and skipped."""
    if names:
        return list(selection.tools(names)), 0
    found: list[Tool] = []
    code = 0
    for name in tools_here.names():
        try:
            found += selection.tools([name])
        except InputError as error:
            code = messages.problems(error)
    return found, code


def contract(tools: Sequence[ListedTool] = ()) -> ListedContract:
    """The campaigns, the drivers, the endpoints, and the checks of a trial.

    Args:
        tools: The tools whose versions are known already.
    """
    known = {one.name: one.version for one in tools}
    with short_commands.threads(AT_A_TIME) as asking:
        drivers = list(asking.map(partial(_driver, known=known), DRIVERS))
    return ListedContract(
        campaigns=list(places.campaigns()),
        drivers=drivers,
        endpoints=[ListedEndpoint(one.name, one.summary, one.not_proven) for one in ENDPOINTS],
        checks=sorted({limit.check for limit in LIMITS}),
    )


def _driver(driver: DriverModule, known: Mapping[str, str | None]) -> Listed:
    """A driver, and whether it is installed."""
    lacking = driver.needs()
    if lacking is None:
        version = known.get(driver.NAME) or driver.version() or None
        return Listed(driver.NAME, "ready", version, "", "")
    return Listed(driver.NAME, "needs install", None, lacking.message, lacking.hint)


def _chosen(names: Sequence[str], root: Path | None) -> tuple[list[Framework], int]:
    """The named frameworks, or all; without names, invalid ones are reported and skipped."""
    place = frameworks.locate(root)
    if names:
        every = [name if ":" in name or name == ALL else f"{name}:{ALL}" for name in names]
        return list(frameworks.choose(place, every, tools_here.names())), 0
    selection: list[Framework] = []
    code = 0
    for folder in frameworks.find(place):
        try:
            selection += frameworks.read(folder)
        except InputError as error:
            code = messages.problems(error)
    return selection, code


def _framework(framework: Framework) -> ListedFramework:
    here = _asked(framework)
    return ListedFramework(
        name=framework.reference,
        framework=framework.name,
        variant=framework.variant,
        language=framework.language,
        version=here.version,
        status=here.status.word,
        why=here.status.why,
        remedy=here.status.remedy,
        needs=listed(framework),
        endpoints=list(framework.endpoints),
        services=list(framework.services),
        not_implemented=framework.not_implemented,
        no_keep_alive=framework.no_keep_alive,
        notes=[*framework.notes, *framework.notes_on_rules],
        contract_notes=framework.contract_notes,
        site=framework.site,
    )


def _named_framework(framework: Framework) -> ListedFramework:
    """A framework given by name, with the digest of what a trial would run now."""
    known = _framework(framework)
    if known.status != "ready":
        return known
    return replace(known, application_id=short_id(applications.of(framework, known.version or "")))


def _tool(tool: Tool) -> ListedTool:
    here = _asked(tool)
    return ListedTool(
        name=tool.name,
        version=here.version,
        status=here.status.word,
        why=here.status.why,
        remedy=here.status.remedy,
        needs=listed(tool),
        notes=list(tool.notes),
        site=tool.site,
    )


def _asked(framework: Installable) -> _AskedStatus:
    """The status of a framework or tool and, when it is ready, its version or why it has none."""
    here = status(framework)
    if here.word != "ready":
        return _AskedStatus(here, None)
    try:
        asked = commands.asked_version(framework)
    except FrameworkError:
        return _AskedStatus(here, None)
    if asked.problem:
        file = frameworks.FILE if framework.is_framework else tools_here.FILE
        here = replace(here, why=asked.problem, remedy=f"correct `version` in {file}")
    return _AskedStatus(here, asked.text or None)


def show(found: Sequence[ListedFramework], contract: ListedContract) -> None:
    """Prints the frameworks, the campaigns, the drivers, the endpoints and the checks."""
    found = [_shown(one) for one in found]
    console = Console(highlight=False)
    console.print(_counted(found))
    if console.width >= WIDE:
        console.print(_table(found))
    else:
        _print_lines(console, found)
    console.print()
    _print_wrapped(console, _DETAILS)
    if others := _others(found):
        _print_wrapped(console, f"Plimsoll's own are found by their names too: {' '.join(others)}")
    _print_contract(console, contract)


def _others(found: Sequence[ListedFramework]) -> list[str]:
    """Plimsoll's own frameworks that are not in the folder of the user's."""
    here = {one.framework for one in found}
    own = (folder.name for folder in frameworks.find(places.own("frameworks")))
    return [name for name in own if name not in here]


def _print_contract(console: Console, contract: ListedContract) -> None:
    console.print("\n[bold]campaigns[/bold]")
    _print_wrapped(console, " ".join(contract.campaigns))
    console.print("\n[bold]drivers[/bold]")
    name_width = max(len(driver.name) for driver in contract.drivers)
    for driver in contract.drivers:
        head = f"{driver.name:<{name_width}}  "
        state = (len(head), len(driver.status), STYLES[driver.status])
        head = f"{head}{driver.status:<{STATUS_WIDTH}}"
        _print_wrapped(console, f"{head}{_about(driver)}", len(head), state)
    console.print("\n[bold]endpoints[/bold]")
    name_width = max(len(endpoint.name) for endpoint in contract.endpoints)
    for endpoint in contract.endpoints:
        line = f"{endpoint.name:<{name_width}}  {endpoint.summary}"
        _print_wrapped(console, line, name_width + 2)
    console.print("\n[bold]checks[/bold]")
    _print_wrapped(console, " ".join(contract.checks))


def _print_wrapped(
    console: Console, line: str, indent: int = 0, *styled: tuple[int, int, str]
) -> None:
    """Prints a line that goes on below itself.

    Args:
        console: Where to.
        line: The line.
        indent: Columns in front of what goes on.
        styled: Where styles begin, how many signs they have, and the styles.
    """
    text = Text(texts.wrapped(wording.bound(line), console.width, " " * indent))
    for begin, length, style in styled:
        text.stylize(style, begin, begin + length)
    console.print(text)


def _counted(found: Sequence[ListedFramework]) -> Text:
    """The number in each status: `14 ready, 2 not available`."""
    states = [one.status for one in found]
    parts = [
        Text.assemble(f"{states.count(word)} ", (word, style))
        for word, style in STYLES.items()
        if word in states
    ]
    return Text.assemble(("frameworks", "bold"), "  ", Text(", ").join(parts), "\n")


def _table(found: Sequence[ListedFramework]) -> RenderableType:
    """A line for each framework."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("name", "language", "status"):
        table.add_column(heading, no_wrap=True)
    table.add_column("version, or what is missing", ratio=1)
    table.add_column("endpoints")
    table.add_column("notes", justify="right")
    for one in found:
        state = Text(one.status, style=STYLES[one.status])
        about = Text(_about(one))
        served, notes = Text(_served(one)), str(len(one.notes) or "–")
        table.add_row(Text(one.name), Text(one.language), state, about, served, notes)
    return table


def _print_lines(console: Console, found: Sequence[ListedFramework]) -> None:
    """Two lines for each framework: what it is, and below it its version or what is missing."""
    name_width = max((len(one.name) for one in found), default=0)
    language_width = max((len(one.language) for one in found), default=0)
    for one in found:
        head = f"{one.name:<{name_width}}  {one.language:<{language_width}}  "
        count = wording.several(len(one.notes), "note").replace(" ", "\u00a0")
        notes = f", {count}" if one.notes else ""
        line = f"{head}{one.status:<{STATUS_WIDTH}}{_served(one)}{notes}"
        state = (len(head), len(one.status), STYLES[one.status])
        _print_wrapped(console, line, 4, (0, len(head), "bold"), state)
        about = f"    {_about(one)}"
        _print_wrapped(console, about, 4, (0, len(about), "dim"))


def _about(one: Listed) -> str:
    """The version of a framework that is ready; else what is missing and how to get it."""
    if one.status == "ready":
        return one.version or "version unknown"
    return f"{one.why}: {one.remedy}" if one.remedy else one.why


def _served(one: ListedFramework) -> str:
    left_out = [known.name for known in ENDPOINTS if known.name not in one.endpoints]
    if not left_out:
        return f"all {len(one.endpoints)} endpoints"
    shown = ", ".join(left_out) if len(left_out) <= 2 else f"{len(left_out)} others"  # noqa: PLR2004
    return f"{wording.several(len(one.endpoints), 'endpoint')}, without {shown}"


def show_each(found: Sequence[ListedTool]) -> None:
    """Prints all details of some frameworks or tools."""
    console = Console(highlight=False)
    for place, one in enumerate(map(_shown, found)):
        console.print(Text(f"{chr(10) if place else ''}{one.name}", style="bold"))
        facts = [*_facts(one)]
        width = max(len(name) for name, _ in facts) + 4
        for name, value in facts:
            styled = [(width, len(value), str(value.style))] if value.style else []
            _print_wrapped(console, f"{f'  {name}':<{width}}{value.plain}", width, *styled)


def _facts(one: ListedTool) -> Iterator[tuple[str, Text]]:
    """Names and values; the name of a list stands only in its first row."""
    if isinstance(one, ListedFramework):
        yield "language", Text(one.language)
    yield "status", Text(one.status, style=STYLES[one.status])
    unknown = f", since {one.why}: {one.remedy}" if one.status == "ready" and one.why else ""
    yield ABOUT[one.status], Text(f"{_about(one)}{unknown}")
    if isinstance(one, ListedFramework) and one.application_id:
        yield "application", Text(one.application_id)
    yield "needs", Text(", ".join(one.needs) or "nothing")
    for name, found in _lists(one).items():
        for place, text in enumerate(found):
            yield "" if place else name, Text(text)
    if one.site:
        yield "site", Text(one.site)


def _lists(one: ListedTool) -> dict[str, list[str]]:
    """The details that are lists; a tool has only notes."""
    lists = {"notes": [f"- {note}" for note in one.notes]}
    if not isinstance(one, ListedFramework):
        return lists
    without = [f"- {name}: {why}" for name, why in one.not_implemented.items()]
    kept = [f"- {one.no_keep_alive}"] if one.no_keep_alive else []
    served = [" ".join(one.endpoints)]
    services = [f"- {name}: {SERVICES[name]}" for name in one.services]
    return {
        "endpoints": served,
        "services": services,
        "without": without,
        "no keep-alive": kept,
        **lists,
    }
