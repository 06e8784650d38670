"""Campaigns: the experiment that one file describes."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.campaign import campaign_file, documents, framework
from plimsoll.campaign.documents import ALL, Mistake, valid_items, value_or
from plimsoll.campaign.endpoints import ENDPOINTS, by_name
from plimsoll.campaign.ladder_settings import IDLE_S as LADDER_IDLE_S
from plimsoll.campaign.ladder_settings import LadderSettings
from plimsoll.campaign.line_settings import PERCENTILES, LineSettings
from plimsoll.campaign.load import (
    HIGHEST_LEVEL,
    LONGEST_S,
    SHORTEST_S,
    STRAIGHT,
    ExcessiveValue,
    Load,
    Stage,
    excesses,
)
from plimsoll.campaign.overrides import laid_over
from plimsoll.campaign.power import IDLE_S
from plimsoll.campaign.requests import DRAWN_BY_TOOLS
from plimsoll.errors import InputError, Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from plimsoll.campaign.campaign_file import (
        CampaignTable,
        LadderTable,
        LineTable,
        LoadTable,
        StageTable,
    )
    from plimsoll.campaign.framework import Framework
    from plimsoll.campaign.lines import KeyPath
    from plimsoll.campaign.overrides import Scales
    from plimsoll.campaign.requests import Endpoint, Exchange, Values

PUBLISHED = Path("docs", "published")
"""Folder of published figures, beside the folder of the frameworks."""


MOST_TRIALS = 100_000
"""The most trials of a campaign; they take at least a week."""


@dataclass(frozen=True)
class Campaign:
    """Frameworks × endpoints × loads × drivers × repetitions.

    Attributes:
        name: Name of the campaign and of its results folder.
        frameworks: The frameworks to measure.
        endpoints: The endpoints to request.
        loads: The loads.
        repetitions: How often each combination is measured, each time with a fresh server; with
            `until` how often at least.
        until: Half the width of the interval of each ratio to the best, as a share of it, at which
            a table needs no further block; 0 for exactly `repetitions` blocks.
        budget_s: Time of all trials after which no further block begins, in seconds; 0 for none.
        drivers: The load generators, each used on its own.
        drivers_optional: Whether a driver that is missing, or cannot generate a load, is skipped;
            otherwise that is an error.
        server_cores: Cores of the server; None for Plimsoll's division of the host.
        driver_cores: Cores of the driver; None for Plimsoll's division of the host.
        cool_down_s: Pause between trials, in seconds.
        turn_s: Length of the turns that servers of one table take, in seconds; 0 has them run one
            after the other.
        idle_s: How long power without load is measured before and after each load, in seconds.
        power: Address of the power meter at the wall; empty for none.
        limits: Changed limits of checks: check name to limit name and value.
        seed: Seed of the order of trials and of everything random in them.
        body_sample_ratio: Share of the responses whose body is compared in full.
        values: Whether the values sent under load are drawn for each trial.
        compliance: Whether each server passes the compliance gate before its first load.
        published: File of published figures of the same experiment, with which the report compares
            the results; None for none.
        line: What a campaign of kind `line` searches; its only planned load is the peak that each
            search starts from. None for other campaigns.
        ladder: What a campaign of kind `ladder` measures; its only planned load is the peak, of
            the smallest of which steps may be shares. None for other campaigns.
    """

    name: str
    frameworks: tuple[Framework, ...]
    endpoints: tuple[Endpoint, ...]
    loads: tuple[Load, ...]
    repetitions: int = 1
    until: float = 0.0
    budget_s: float = 0.0
    drivers: tuple[str, ...] = ("plimsoll",)
    drivers_optional: bool = False
    server_cores: tuple[int, ...] | None = None
    driver_cores: tuple[int, ...] | None = None
    cool_down_s: float = 1.0
    turn_s: float = 0.0
    idle_s: float = 0.0
    power: str = ""
    limits: dict[str, dict[str, float]] = field(default_factory=dict[str, dict[str, float]])
    seed: int = 1
    body_sample_ratio: float = 0.01
    values: Values = "drawn"
    compliance: bool = False
    published: Path | None = None
    line: LineSettings | None = None
    ladder: LadderSettings | None = None

    @cached_property
    def sent(self) -> dict[str, tuple[Exchange, ...]]:
        """The requests of each endpoint under load in one trial; in others only values differ."""
        return {
            one.name: one.sent(self.values, self.seed, DRAWN_BY_TOOLS) for one in self.endpoints
        }

    @property
    def has_net_power(self) -> bool:
        """Whether power above that without load is requested, by a meter or by `idle`.

        A ladder reads the server without load in any case, for less time than net power takes.
        """
        return self.ladder is None or bool(self.power) or self.idle_s != LADDER_IDLE_S


def read(
    path: Path,
    overrides: Sequence[str] = (),
    frameworks_root: Path | None = None,
    *,
    drivers: Collection[str] = ("plimsoll",),
    limits: Callable[[], Mapping[str, Collection[str]]] | None = None,
) -> Campaign:
    """Reads a campaign file and applies the settings of the command line.

    Args:
        path: The file.
        overrides: Settings of the command line, each `KEY=VALUE`; see `campaign.overrides`.
        frameworks_root: The folder of the frameworks; None searches for it.
        drivers: Names of the existing drivers.
        limits: Gives checks and the names of their limits, where a file changes one; None accepts
            any.

    Returns:
        The campaign.

    Raises:
        InputError: The file cannot be read, or it or a setting is invalid; contains every
            problem, with file and line, or with the setting.
    """
    document, scales, problems = laid_over(documents.read(path), overrides)
    table, mistakes = documents.checked(
        campaign_file.CampaignTable, document.table, campaign_file.known_keys
    )
    mistakes += campaign_file.mistakes(table, drivers, limits)
    chosen, absent, broken = _frameworks(table.frameworks or [], frameworks_root)
    published = _published(table.published, path, frameworks_root)
    if published is not None and not published.is_file():
        mistakes.append(_no_figures(published))
    problems += documents.problems(document, [*mistakes, *absent])
    if problems or broken:
        raise InputError([*problems, *broken])
    requested = _campaign(table, chosen, scales)
    chosen_drivers, are_optional = _drivers(table.driver, drivers)
    requested = replace(
        requested, published=published, drivers=chosen_drivers, drivers_optional=are_optional
    )
    if too_much := list(_excesses(requested)):
        raise InputError(documents.problems(document, too_much))
    return requested


def _excesses(requested: Campaign) -> Iterator[Mistake]:
    """Values that the engine or the plan cannot take after scaling."""
    for key in ("cool_down", "idle", "budget"):
        yield from _too_large((key,), getattr(requested, f"{key}_s"), LONGEST_S, "s")
    if requested.line or requested.ladder:
        yield from _excesses_of_kind(requested)
    else:
        for index, one in enumerate(requested.loads):
            yield from _excesses_of_load(one, ("load", index))
    each = (
        len(requested.frameworks)
        * len(requested.endpoints)
        * (len(requested.loads) + (requested.ladder.count if requested.ladder else 0))
        * len(requested.drivers)
    )
    trials = each * requested.repetitions
    if trials > MOST_TRIALS:
        message = f"`repetitions` results in {wording.count(trials)} trials"
        hint = f"a campaign has {wording.count(MOST_TRIALS)} trials at most; reduce the repetitions"
        yield Mistake(("repetitions",), message, hint)


def _excesses_of_load(load: Load, at: KeyPath) -> Iterator[Mistake]:
    for excess in excesses(load):
        place = () if excess.stage is None else ("stages", excess.stage)
        yield Mistake((*at, *place, excess.key), excess.message, excess.hint)
    yield from _too_short((*at, "timeout"), load.timeout_s)
    for index, stage in enumerate(load.stages):
        yield from _too_short((*at, "stages", index, "duration"), stage.duration_s)


def _excesses_of_kind(requested: Campaign) -> Iterator[Mistake]:
    """The same of `[line]` or `[ladder]`, from which loads are made."""
    for kind, wanted in (("line", requested.line), ("ladder", requested.ladder)):
        if wanted is None:
            continue
        yield from _too_large((kind, "connections"), wanted.connections, HIGHEST_LEVEL)
        yield from _too_short((kind, "hold"), wanted.hold_s)
        for key in ("hold", "warm_up", "server_warm_up", "budget"):
            length_s = getattr(wanted, f"{key}_s", 0.0)
            yield from _too_large((kind, key), length_s, LONGEST_S, "s")
            if length_s and key.endswith("warm_up"):  # 0 is none
                yield from _too_short((kind, key), length_s)


def _too_large(path: KeyPath, amount: float, most: float, unit: str = "") -> Iterator[Mistake]:
    if amount > most:
        excess = ExcessiveValue(str(path[-1]), None, amount, most, unit)
        yield Mistake(path, excess.message, excess.hint)


def _too_short(path: KeyPath, length_s: float) -> Iterator[Mistake]:
    if length_s < SHORTEST_S:
        message = f"`{path[-1]}` is too short: `{wording.exact(length_s)}` s"
        yield Mistake(path, message, "`1ns` is the minimum, with `scale_time` applied")


def resolved(campaign: Campaign) -> dict[str, object]:
    """A campaign as JSON, with all defaults and scaled values filled in.

    Args:
        campaign: The campaign.

    Returns:
        Its fields; frameworks, variants, endpoints and the file of published figures by their
        names.
    """
    fields = asdict(replace(campaign, frameworks=(), endpoints=()))
    return {
        **fields,
        "published": campaign.published.name if campaign.published else None,
        "frameworks": [framework.reference for framework in campaign.frameworks],
        "endpoints": [endpoint.name for endpoint in campaign.endpoints],
    }


def _frameworks(
    references: Sequence[str | None], root: Path | None
) -> tuple[tuple[Framework, ...], list[Mistake], list[Problem]]:
    """The frameworks named, mistakes in the names, and problems in the frameworks' files."""
    try:
        folder = framework.locate(root)
    except InputError as error:
        return (), [], list(error.problems)
    chosen: dict[str, Framework] = {}
    mistakes: list[Mistake] = []
    broken: dict[Problem, None] = {}
    for index, reference in enumerate(references):
        try:
            found = framework.choose(folder, [] if reference is None else [reference])
            chosen |= {one.reference: one for one in found}
        except InputError as error:
            broken |= {problem: None for problem in error.problems if problem.where}
            named = [problem for problem in error.problems if not problem.where]
            mistakes += [Mistake(("frameworks", index), p.message, p.hint) for p in named]
    return tuple(chosen.values()), [*mistakes, *_same_slugs(chosen.values())], list(broken)


def _same_slugs(chosen: Iterable[Framework]) -> Iterator[Mistake]:
    """Frameworks whose results would share a folder: `go:one` and `go-one`."""
    by_slug: dict[str, Framework] = {}
    for one in chosen:
        other = by_slug.setdefault(one.slug, one)
        if other is not one:
            message = f"`{other.reference}` and `{one.reference}` map to the same file names"
            yield Mistake(("frameworks",), message, "rename one of them")


def _campaign(table: CampaignTable, frameworks: tuple[Framework, ...], scales: Scales) -> Campaign:
    line = None if table.line is None else _line(table.line, scales)
    ladder = None if table.ladder is None else _ladder(table.ladder, scales)
    followed = line or ladder
    given = tuple(_load(load, scales) for load in valid_items(table.load))
    return Campaign(
        name=table.name or "",
        frameworks=frameworks,
        endpoints=_endpoints(valid_items(table.endpoints)),
        loads=(followed.peak,) if followed else given,
        repetitions=value_or(table.repetitions, Campaign.repetitions),
        until=value_or(table.until, Campaign.until),
        budget_s=value_or(table.budget, Campaign.budget_s),
        server_cores=table.server_cores,
        driver_cores=table.driver_cores,
        cool_down_s=value_or(table.cool_down, Campaign.cool_down_s),
        turn_s=value_or(table.turns, Campaign.turn_s),
        idle_s=value_or(table.idle, IDLE_S if table.power else LADDER_IDLE_S if ladder else 0.0),
        power=value_or(table.power, Campaign.power),
        limits=_limits(table.limits or {}),
        seed=value_or(table.seed, Campaign.seed),
        body_sample_ratio=value_or(table.body_sample, Campaign.body_sample_ratio),
        values=value_or(table.values, Campaign.values),
        compliance=value_or(table.compliance, Campaign.compliance),
        line=line,
        ladder=ladder,
    )


def _line(table: LineTable, scales: Scales) -> LineSettings:
    latencies = {f"{key}_s": getattr(table, key) for key in PERCENTILES}
    return LineSettings(
        **latencies,
        errors=value_or(table.errors, LineSettings.errors),
        within=value_or(table.within, LineSettings.within),
        budget_s=value_or(table.budget, LineSettings.budget_s) * scales.time,
        hold_s=value_or(table.hold, LineSettings.hold_s) * scales.time,
        warm_up_s=value_or(table.warm_up, LineSettings.warm_up_s) * scales.time,
        server_warm_up_s=value_or(table.server_warm_up, LineSettings.server_warm_up_s),
        arrivals=value_or(table.arrivals, LineSettings.arrivals),
        connections=_scaled(value_or(table.connections, LineSettings.connections), scales),
    )


def _ladder(table: LadderTable, scales: Scales) -> LadderSettings:
    return LadderSettings(
        rates=valid_items(table.rates),
        shares=valid_items(table.shares),
        hold_s=value_or(table.hold, LadderSettings.hold_s) * scales.time,
        warm_up_s=value_or(table.warm_up, LadderSettings.warm_up_s) * scales.time,
        arrivals=value_or(table.arrivals, LadderSettings.arrivals),
        connections=_scaled(value_or(table.connections, LadderSettings.connections), scales),
    )


def _published(name: str | None, path: Path, root: Path | None) -> Path | None:
    """The file of published figures that a campaign names: beside it, else with the frameworks.

    Args:
        name: The name; None for none.
        path: The campaign's file.
        root: The folder of the frameworks; None searches for it.
    """
    if name is None:
        return None
    beside = path.parent / name
    try:
        ours = framework.locate(root).parent / PUBLISHED / name
    except InputError:
        return beside
    is_beside = beside.is_file() and not beside.samefile(path)
    return ours if ours.is_file() and not is_beside else beside


def _no_figures(file: Path) -> Mistake:
    return Mistake(
        ("published",),
        f"no published figures `{file.name}`",
        f"name one in the folder of the campaign, or in `{PUBLISHED.as_posix()}` of the frameworks",
    )


def _drivers(
    names: Sequence[str | None] | None, known: Collection[str]
) -> tuple[tuple[str, ...], bool]:
    """The drivers, and whether each may be missing; `all` means every available one."""
    given = valid_items(names) or Campaign.drivers
    return (tuple(known), True) if ALL in given else (given, False)


def _endpoints(names: Iterable[str]) -> tuple[Endpoint, ...]:
    expanded: dict[str, Endpoint] = {}
    for name in names:
        found = ENDPOINTS if name == ALL else (by_name(name),)
        expanded |= {endpoint.name: endpoint for endpoint in found}
    return tuple(expanded.values())


def _load(table: LoadTable, scales: Scales) -> Load:
    opened = table.model == "open"
    return Load(
        name=table.name or "",
        model=value_or(table.model, "closed"),
        stages=tuple(_stage(stage, opened, scales) for stage in valid_items(table.stages)),
        arrivals=value_or(table.arrivals, Load.arrivals),
        connections=_scaled(table.connections or 0, scales),
        tolerance_s=value_or(table.tolerance, Load.tolerance_s),
        keep_alive=value_or(table.keep_alive, Load.keep_alive),
        requests_per_connection=table.requests_per_connection,
        protocol=value_or(table.protocol, Load.protocol),
        pipeline=value_or(table.pipeline, Load.pipeline),
        streams=value_or(table.streams, Load.streams),
        tls=value_or(table.tls, Load.tls),
        think_time_s=value_or(table.think_time, Load.think_time_s),
        timeout_s=value_or(table.timeout, Load.timeout_s),
        request_limit=table.request_limit,
        threads=table.threads,
        server_cores=table.server_cores,
    )


def _stage(table: StageTable, opened: bool, scales: Scales) -> Stage:
    """A stage; levels of an open load are arrivals, which are not scaled."""
    start = value_or(table.start, value_or(table.at, 0.0))
    end = value_or(table.end, start)
    return Stage(
        kind=value_or(table.kind, "hold"),
        duration_s=value_or(table.duration, 0.0) * scales.time,
        start=start if opened else float(_scaled(start, scales)),
        end=end if opened else float(_scaled(end, scales)),
        steps=value_or(table.steps, Stage.steps if start == end else STRAIGHT),
    )


def _scaled(connections: float, scales: Scales) -> int:
    """A whole number of connections; scaling never turns some into none."""
    return max(round(connections * scales.connections), min(1, round(connections)))


def _limits(tables: Mapping[str, Mapping[str, float | None] | None]) -> dict[str, dict[str, float]]:
    return {
        check: {name: value for name, value in (values or {}).items() if value is not None}
        for check, values in tables.items()
    }
