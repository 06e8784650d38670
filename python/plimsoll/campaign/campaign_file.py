"""The schema of a campaign file, and every mistake in one.

A model has None where a value was invalid, so that the rest can still be checked; checks skip None,
since that mistake is already reported.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from plimsoll import wording
from plimsoll.campaign import documents
from plimsoll.campaign.documents import ALL, Mistake, near
from plimsoll.campaign.endpoints import ENDPOINTS
from plimsoll.campaign.ladder_settings import MOST_STEPS
from plimsoll.campaign.line_settings import LONGEST_LIMIT_S, PERCENTILES
from plimsoll.campaign.load import HIGHEST_LEVEL
from plimsoll.campaign.power import meter
from plimsoll.campaign.quantities import cores, count, duration_s, number, share

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from plimsoll.campaign.lines import KeyPath
    from plimsoll.campaign.load import StageKind

Limits = dict[str, dict[str, float | None] | None]
"""Check to name and value of its limits."""

LONGEST_NAME = 64
"""The longest name: a trial's name consists of four, and a file name has 255 characters."""

SHORTEST_TURN_S, LONGEST_TURN_S = 0.01, 10.0
"""Length of a turn: below, waiting for the last responses takes a large part of it; above, the
machine changes within a round, whose servers no longer run under like conditions."""

TURNS_DRIVER = "plimsoll"
"""The driver whose load rests with open connections."""

_SHOWN = 24
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_NAME_HINT = "use letters, digits, `-` and `_`; the name is part of file names"
_HOLD_HINT = 'add a stage such as `{ kind = "hold", duration = "30s", at = 64 }`'
_ALIASES = {"start": "from", "end": "to"}
_CLIMBING = ("from", "to")
_LEVEL = ("at",)
_ENDPOINT_NAMES = tuple(endpoint.name for endpoint in ENDPOINTS)
_NOT_OF_LINES = {
    "load": "remove it: rates are searched, and `[line]` has `connections` and `arrivals`",
    "until": "`[line]` has `within`",
    "budget": "`[line]` has `budget`, the time of each framework and endpoint",
    "turns": "remove it: frameworks take turns try by try",
    "published": "remove it: published figures are not of load lines",
    "ladder": 'remove it, or write `kind = "ladder"`',
}
"""Keys that a campaign of kind `line` does not have, and what to do instead."""

_NOT_OF_LADDERS = {
    "load": "remove it: `[ladder]` has `rates` or `shares`, `connections` and `arrivals`",
    "until": "remove it: a ladder has exactly `repetitions`",
    "budget": "remove it: a ladder has exactly `repetitions`",
    "turns": "remove it: the cost of a server at a rate needs a load in one piece",
    "published": "remove it: published figures are not of ladders",
    "line": "remove it: measure the lines first, and give rates below them as `rates`",
}
"""The same of a campaign of kind `ladder`."""

_STRICT = ConfigDict(extra="forbid", strict=True, frozen=True)


def _in_a_list(value: object) -> object:
    """One name stands for a list of one: `frameworks = "all"`."""
    return [value] if isinstance(value, str) else value


_Duration = Annotated[float, BeforeValidator(duration_s)]
_Share = Annotated[float, BeforeValidator(share)]
_Count = Annotated[int, BeforeValidator(count)]
_Level = Annotated[float, BeforeValidator(number)]
_Meter = Annotated[str, BeforeValidator(meter)]
_Cores = Annotated[tuple[int, ...], BeforeValidator(cores)]
_Names = Annotated[list[str | None], BeforeValidator(_in_a_list)]


class StageTable(BaseModel):
    """One row of `stages`."""

    model_config = _STRICT

    kind: Literal["warm_up", "ramp", "hold"] | None
    duration: _Duration | None
    at: _Level | None = None
    start: _Level | None = Field(default=None, alias="from")
    end: _Level | None = Field(default=None, alias="to")
    steps: _Count | None = None


class LoadTable(BaseModel):
    """One `[[load]]`."""

    model_config = _STRICT

    name: str | None
    model: Literal["closed", "open"] | None = None
    stages: list[StageTable | None] | None
    arrivals: Literal["constant", "poisson"] | None = None
    connections: _Count | None = None
    tolerance: _Duration | None = None
    keep_alive: bool | None = None
    requests_per_connection: _Count | None = None
    protocol: Literal["http1", "http2"] | None = None
    pipeline: _Count | None = None
    streams: _Count | None = None
    tls: bool | None = None
    think_time: _Duration | None = None
    timeout: _Duration | None = None
    request_limit: _Count | None = None
    threads: _Count | None = None
    server_cores: _Cores | None = None


class LineTable(BaseModel):
    """`[line]`: what a campaign of kind `line` searches."""

    model_config = _STRICT

    p50: _Duration | None = None
    p90: _Duration | None = None
    p95: _Duration | None = None
    p99: _Duration | None = None
    p999: _Duration | None = None
    errors: _Share | None = None
    within: _Share | None = None
    budget: _Duration | None = None
    hold: _Duration | None = None
    warm_up: _Duration | None = None
    server_warm_up: _Duration | None = None
    arrivals: Literal["constant", "poisson"] | None = None
    connections: _Count | None = None


class LadderTable(BaseModel):
    """`[ladder]`: what a campaign of kind `ladder` measures."""

    model_config = _STRICT

    rates: list[_Level | None] | None = None
    shares: list[_Share | None] | None = None
    hold: _Duration | None = None
    warm_up: _Duration | None = None
    arrivals: Literal["constant", "poisson"] | None = None
    connections: _Count | None = None


class CampaignTable(BaseModel):
    """A whole campaign file."""

    model_config = _STRICT

    name: str | None
    kind: Literal["line", "ladder"] | None = None
    frameworks: _Names | None
    endpoints: _Names | None
    repetitions: _Count | None = None
    driver: _Names | None = None
    server_cores: _Cores | None = None
    driver_cores: _Cores | None = None
    cool_down: _Duration | None = None
    turns: _Duration | None = None
    until: _Share | None = None
    budget: _Duration | None = None
    idle: _Duration | None = None
    power: _Meter | None = None
    seed: int | None = None
    body_sample: float | None = None
    values: Literal["drawn", "fixed"] | None = None
    compliance: bool | None = None
    limits: Limits | None = None
    published: str | None = None
    line: LineTable | None = None
    ladder: LadderTable | None = None
    load: list[LoadTable | None] | None = None


def known_keys(path: KeyPath) -> tuple[str, ...]:
    """The keys that the table at a path may have."""
    match path:
        case ("load", int(), "stages", int()):
            return documents.keys_of(StageTable)
        case ("load", int()):
            return documents.keys_of(LoadTable)
        case ("line",):
            return documents.keys_of(LineTable)
        case ("ladder",):
            return documents.keys_of(LadderTable)
        case _:
            return documents.keys_of(CampaignTable)


def mistakes(
    table: CampaignTable,
    drivers: Collection[str],
    limits: Callable[[], Mapping[str, Collection[str]]] | None,
) -> Iterator[Mistake]:
    """Mistakes in a file with a valid schema.

    Args:
        table: The file.
        drivers: Names of the existing drivers.
        limits: Gives checks and the names of their limits, where a file changes one; None accepts
            any.

    Yields:
        The mistakes, one by one. Whether the frameworks exist is not checked.
    """
    yield from _name(table.name, ())
    yield from _names(table)
    yield from _ranges(table)
    yield from _drivers(table.driver, drivers)
    yield from _turns(table)
    yield from _until(table)
    if limits is not None and table.limits:
        yield from wrong_limits(table.limits, limits())
    if table.kind is None:
        yield from _loads(table)
    else:
        yield from _line(table) if table.kind == "line" else _ladder(table)


def _name(name: str | None, at: KeyPath) -> Iterator[Mistake]:
    if name is not None and len(name) > LONGEST_NAME:
        message = f"the name `{name[:_SHOWN]}…` has {len(name)} characters"
        yield Mistake((*at, "name"), message, f"{LONGEST_NAME} characters are allowed")
    elif name is not None and not _NAME.fullmatch(name):
        yield Mistake((*at, "name"), f"`{name}` is not a valid name", _NAME_HINT)


def _names(table: CampaignTable) -> Iterator[Mistake]:
    """The lists of frameworks and endpoints."""
    for key, names in (("frameworks", table.frameworks), ("endpoints", table.endpoints)):
        if names == []:
            yield Mistake((key,), f"`{key}` is empty", f"name some, or write `{ALL}`")
        for index, name in enumerate(names or []):
            if name is not None and name in (names or [])[:index]:
                yield Mistake((key, index), f"`{name}` is listed twice")
    for index, name in enumerate(table.endpoints or []):
        if name is not None and name not in (*_ENDPOINT_NAMES, ALL):
            hint = near(name, _ENDPOINT_NAMES, "endpoints")
            yield Mistake(("endpoints", index), f"unknown endpoint `{name}`", hint)


def _drivers(names: Sequence[str | None] | None, known: Collection[str]) -> Iterator[Mistake]:
    if names == []:
        yield Mistake(("driver",), "`driver` is empty", f"name one, or some, or write `{ALL}`")
    for index, name in enumerate(names or []):
        if name is not None and name in (names or [])[:index]:
            yield Mistake(("driver", index), f"`{name}` is listed twice")
        if name is not None and name not in (*known, ALL):
            hint = near(name, known, "drivers")
            yield Mistake(("driver", index), f"unknown driver `{name}`", hint)


def _turns(table: CampaignTable) -> Iterator[Mistake]:
    """Whether servers can take turns of such a length, with such drivers."""
    if not table.turns:
        return
    if table.turns < SHORTEST_TURN_S:
        hint = "shorter turns are spent mostly on waiting for the last responses"
        yield Mistake(("turns",), "`turns` must be 10ms or more", hint)
    if table.turns > LONGEST_TURN_S:
        hint = "with longer turns, the machine changes before every server has had one"
        yield Mistake(("turns",), "`turns` must be 10s or less", hint)
    others = [f"`{name}`" for name in table.driver or () if name not in (None, TURNS_DRIVER)]
    if others:
        message = f"`turns` needs the driver `{TURNS_DRIVER}`, not {', '.join(others)}"
        hint = "set `turns` to 0, or remove `driver`: other tools cannot pause a load"
        yield Mistake(("turns",), message, hint)
    if table.power is not None:
        message = "`power` and `turns` exclude each other"
        hint = "a meter that is read once a second cannot tell turns apart: set `turns` to 0"
        yield Mistake(("power",), message, hint)


def _until(table: CampaignTable) -> Iterator[Mistake]:
    """Whether a campaign can go on until its intervals are narrow enough."""
    if table.until is not None and not 0 < table.until < 1:
        hint = "give half the width of a ratio's interval, such as `5%`"
        yield Mistake(("until",), "`until` must be above 0% and below 100%", hint)
    if table.budget is not None and table.until is None:
        hint = "set `until`, such as `5%`, or remove `budget`"
        yield Mistake(("budget",), "`budget` needs `until`", hint)
    if table.budget == 0:
        yield Mistake(("budget",), "`budget` must be more than 0", "remove it for no limit")


def _ranges(table: CampaignTable) -> Iterator[Mistake]:
    if table.repetitions == 0:
        yield Mistake(
            ("repetitions",), "`repetitions` must be 1 or more", "write `repetitions = 1`"
        )
    if table.body_sample is not None and not 0 <= table.body_sample <= 1:
        message = f"`body_sample` must be from 0 to 1, not `{table.body_sample}`"
        yield Mistake(("body_sample",), message, "the ratio of bodies to compare in full")


def wrong_limits(
    given: Mapping[str, Mapping[str, float | None] | None], known: Mapping[str, Collection[str]]
) -> Iterator[Mistake]:
    """Limits that no check has, and those that are no numbers: nothing is beyond `nan`.

    Args:
        given: Check to name and value of its limits.
        known: Check to the names of its limits.
    """
    for check, values in given.items():
        if check not in known:
            hint = near(check, known, "checks")
            yield Mistake(("limits", check), f"unknown check `{check}`", hint)
            continue
        for name, value in (values or {}).items():
            if name not in known[check]:
                message = f"the check `{check}` has no limit `{name}`"
                hint = near(name, known[check], f"limits of `{check}`")
                yield Mistake(("limits", check, name), message, hint)
            elif value is not None and math.isnan(value):
                hint = "write a number, such as `0.1`"
                yield Mistake(("limits", check, name), "`nan` is not a number", hint)


def _line(table: CampaignTable) -> Iterator[Mistake]:
    """Whether a campaign of kind `line` has what it needs, and nothing that it would not use."""
    yield from _of_kind(table, "line", _NOT_OF_LINES)
    line = table.line
    if line is None:
        if "line" not in table.model_fields_set:
            hint = 'add `[line]` with a limit of latency, such as `p99 = "20ms"`'
            yield Mistake((), "`line` is missing", hint)
        return
    yield from _limits_of_line(line)
    for key, amount in (("errors", line.errors), ("within", line.within)):
        if amount is not None and not 0 < amount < 1:
            yield Mistake(("line", key), f"`{key}` must be above 0% and below 100%")
    for key in ("budget", "hold", "connections"):
        if getattr(line, key) == 0:
            yield Mistake(("line", key), f"`{key}` must be more than 0")


def _of_kind(table: CampaignTable, kind: str, without: Mapping[str, str]) -> Iterator[Mistake]:
    """Keys that a campaign of a kind does not have, and drivers that cannot generate its loads."""
    for key, hint in without.items():
        if key in table.model_fields_set:
            yield Mistake((key,), f"a campaign of kind `{kind}` has no `{key}`", hint)
    if table.driver not in (None, [TURNS_DRIVER]):
        message = f"a campaign of kind `{kind}` needs the driver `{TURNS_DRIVER}`"
        yield Mistake(("driver",), message, "remove `driver`: others have no Poisson arrivals")


def _ladder(table: CampaignTable) -> Iterator[Mistake]:
    """Whether a campaign of kind `ladder` has what it needs, and nothing that it would not use."""
    yield from _of_kind(table, "ladder", _NOT_OF_LADDERS)
    ladder = table.ladder
    if ladder is None:
        if "ladder" not in table.model_fields_set:
            hint = "add `[ladder]` with rates, such as `shares = [0.2, 0.4, 0.6, 0.8]`"
            yield Mistake((), "`ladder` is missing", hint)
        return
    given = [key for key in ("rates", "shares") if key in ladder.model_fields_set]
    if len(given) != 1:
        hint = "`rates` are in requests per second, `shares` of the smallest closed peak"
        yield Mistake(("ladder",), "a ladder needs either `rates` or `shares`", hint)
    most = f"above 0 and at most {wording.count(HIGHEST_LEVEL)}"
    yield from _rungs(ladder.rates, "rates", most, lambda rate: 0 < rate <= HIGHEST_LEVEL)
    yield from _rungs(ladder.shares, "shares", "above 0% and below 100%", lambda one: 0 < one < 1)
    for key in ("hold", "connections"):
        if getattr(ladder, key) == 0:
            yield Mistake(("ladder", key), f"`{key}` must be more than 0")


def _rungs(
    given: Sequence[float | None] | None, key: str, bounds: str, is_right: Callable[[float], bool]
) -> Iterator[Mistake]:
    """Whether the rates of a ladder are two or more that differ."""
    if given is not None and not 2 <= len(given) <= MOST_STEPS:  # noqa: PLR2004
        message = f"`{key}` must have 2 to {MOST_STEPS} numbers"
        yield Mistake(("ladder", key), message, "a straight line needs two points")
    for index, one in enumerate(given or ()):
        if one is not None and not is_right(one):
            yield Mistake(("ladder", key, index), f"each of `{key}` must be {bounds}")
        if one is not None and one in (given or ())[:index]:
            yield Mistake(("ladder", key, index), f"`{key}` has a number twice")


def _limits_of_line(line: LineTable) -> Iterator[Mistake]:
    if not line.model_fields_set & {*PERCENTILES}:
        yield Mistake(("line",), "a load line needs a latency limit", 'add `p99 = "20ms"`')
    for key in PERCENTILES:
        most_s = getattr(line, key)
        if most_s is not None and not 0 < most_s <= LONGEST_LIMIT_S:
            message = f"`{key}` must be above 0 and at most {wording.exact(LONGEST_LIMIT_S)} s"
            yield Mistake(("line", key), message, 'write `"20ms"`; a bare number is in seconds')


def _loads(table: CampaignTable) -> Iterator[Mistake]:
    if "load" not in table.model_fields_set:
        yield Mistake((), "`load` is missing")
    for key in ("line", "ladder"):
        if getattr(table, key) is not None:
            hint = f"add it, or remove `[{key}]`"
            yield Mistake((key,), f'`[{key}]` needs `kind = "{key}"`', hint)
    if table.load == []:
        yield Mistake(("load",), "the campaign has no load", "add a `[[load]]` table")
    seen: set[str | None] = {None}
    for index, load in enumerate(table.load or []):
        at: KeyPath = ("load", index)
        if load is None:
            continue
        if load.name in seen - {None}:
            yield Mistake((*at, "name"), f"two loads are named `{load.name}`")
        seen.add(load.name)
        yield from _name(load.name, at)
        yield from _connections(load, at)
        yield from _stages(load, at)


def _connections(load: LoadTable, at: KeyPath) -> Iterator[Mistake]:
    keys = ("timeout", "requests_per_connection", "pipeline", "streams", "request_limit", "threads")
    for key in keys:
        if getattr(load, key) == 0:
            yield Mistake((*at, key), f"`{key}` must be more than 0")
    if load.keep_alive is False and load.requests_per_connection is not None:
        message = "`requests_per_connection` needs `keep_alive = true`"
        yield Mistake((*at, "requests_per_connection"), message, "remove one of the two")
    for key, amount in (("pipeline", load.pipeline), ("streams", load.streams)):
        if (amount or 1) > 1:
            yield from _in_flight_each(load, key, at)
    yield from _only_open(load, at) if load.model != "open" else _only_closed(load, at)


def _in_flight_each(load: LoadTable, key: str, at: KeyPath) -> Iterator[Mistake]:
    """Whether several requests can be in flight on one connection, as `key` has it."""
    if (key == "streams") != (load.protocol == "http2"):
        message, hint = (
            ('`streams` needs `protocol = "http2"`', "HTTP/1 has `pipeline`")
            if key == "streams"
            else ("`pipeline` is for HTTP/1 only", "HTTP/2 has `streams`")
        )
        yield Mistake((*at, key), message, hint)
    if load.keep_alive is False or load.requests_per_connection == 1:
        message = f"`{key}` needs more than one request per connection"
        yield Mistake((*at, key), message, "remove one of the two")
    if load.think_time:
        message = f"`{key}` and `think_time` exclude each other"
        yield Mistake((*at, key), message, "remove one of the two")


def _only_open(load: LoadTable, at: KeyPath) -> Iterator[Mistake]:
    """Keys that only open loads may have."""
    in_stages = "a closed load sets its connections in its stages"
    hints = {"connections": in_stages, "arrivals": in_stages, "tolerance": "remove it"}
    for key, hint in hints.items():
        if getattr(load, key) is not None:
            yield Mistake((*at, key), f"`{key}` is for open loads only", hint)


def _only_closed(load: LoadTable, at: KeyPath) -> Iterator[Mistake]:
    """Keys that only closed loads may have, and the missing size of the connection pool."""
    for key in ("think_time", "request_limit"):
        if getattr(load, key) is not None:
            yield Mistake((*at, key), f"`{key}` is for closed loads only")
    if not load.connections:
        hint = "an open load sets its arrival rate in its stages"
        yield Mistake((*at, "connections"), "an open load needs `connections`, its pool size", hint)


def _stages(load: LoadTable, at: KeyPath) -> Iterator[Mistake]:
    stages = load.stages or []
    kinds = [stage.kind if stage else None for stage in stages]
    if load.stages is not None and not {None, "hold"} & {*kinds}:
        message = "no stage is a `hold`, which is the measurement window"
        yield Mistake((*at, "stages"), message, _HOLD_HINT)
    for index, stage in enumerate(stages):
        if stage is not None:
            yield from _stage(stage, load.model != "open", (*at, "stages", index))


def _stage(stage: StageTable, closed: bool, at: KeyPath) -> Iterator[Mistake]:
    if stage.duration == 0:
        yield Mistake((*at, "duration"), "`duration` must be more than 0")
    for key, level in (("at", stage.at), ("from", stage.start), ("to", stage.end)):
        if closed and level is not None and not level.is_integer():
            message = f"`{key}` must be a whole number of connections, not `{level}`"
            yield Mistake((*at, key), message)
    if stage.kind == "hold" and stage.at == 0:
        yield Mistake((*at, "at"), "a `hold` at 0 generates no load")
    if stage.kind is not None:
        yield from _levels(stage, stage.kind, at)


def _levels(stage: StageTable, kind: StageKind, at: KeyPath) -> Iterator[Mistake]:
    """Whether a stage has the level keys of its kind: `at`, or `from` and `to`."""
    given = {_ALIASES.get(name, name) for name in stage.model_fields_set}
    climbs = kind == "ramp" or (kind == "warm_up" and bool(given & {"from", "to"}))
    needed, foreign = (_CLIMBING, _LEVEL) if climbs else (_LEVEL, (*_CLIMBING, "steps"))
    form = "`from` and `to`" if climbs else "`at`"
    noun = kind.replace("_", "-")
    for key in needed:
        if key not in given:
            yield Mistake(at, f"the {noun} has no `{key}`", f"this {noun} needs {form}")
    for key in foreign:
        if key in given:
            yield Mistake((*at, key), f"a {noun} with {form} has no `{key}`", "remove it")
