"""Campaigns: what is asked, in one file."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from plimsoll.campaign import campaign_file, documents, framework, settings
from plimsoll.campaign.documents import Mistake
from plimsoll.campaign.endpoints import ENDPOINTS, by_name
from plimsoll.campaign.framework import ALL
from plimsoll.campaign.load import Load, Stage
from plimsoll.errors import CampaignError, Problem

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from plimsoll.campaign.campaign_file import CampaignTable, LoadTable, StageTable
    from plimsoll.campaign.framework import Framework
    from plimsoll.campaign.requests import Endpoint
    from plimsoll.campaign.settings import Scales

PUBLISHED = Path("docs", "published")
"""Where files of published figures lie beside the folder of the frameworks."""


@dataclass(frozen=True)
class Campaign:
    """Frameworks × endpoints × loads × drivers × repetitions.

    Attributes:
        name: Name of the campaign; its results lie in a folder of this name.
        frameworks: What is measured.
        endpoints: What is asked.
        loads: How much of it.
        repetitions: How often each combination is measured, each time with a fresh server.
        drivers: The programs that put on the load, each one on its own.
        drivers_optional: Whether a driver that is missing, or cannot put on a load, is left out;
            else that is an error.
        server_cores: Cores of the server; None lets Plimsoll divide the host.
        driver_cores: Cores of the driver; None lets Plimsoll divide the host.
        cool_down_s: Pause between trials, in seconds.
        idle_s: For how long the energy of the idle host is read before and after each trial.
        limits: Limits of checks that the campaign changes: check name to name and value.
        seed: Seeds the order of trials and all that is drawn in them.
        body_sample_ratio: Share of the answers whose body is compared in full.
        published: File of figures that somebody published of the same experiment, for its report
            to set beside what was measured; None for none.
    """

    name: str
    frameworks: tuple[Framework, ...]
    endpoints: tuple[Endpoint, ...]
    loads: tuple[Load, ...]
    repetitions: int = 1
    drivers: tuple[str, ...] = ("plimsoll",)
    drivers_optional: bool = False
    server_cores: tuple[int, ...] | None = None
    driver_cores: tuple[int, ...] | None = None
    cool_down_s: float = 1.0
    idle_s: float = 0.0
    limits: dict[str, dict[str, float]] = field(default_factory=dict[str, dict[str, float]])
    seed: int = 1
    body_sample_ratio: float = 0.01
    published: Path | None = None


def read(
    path: Path,
    overrides: Sequence[str] = (),
    frameworks_root: Path | None = None,
    *,
    drivers: Collection[str] = ("plimsoll",),
    limits: Mapping[str, Collection[str]] | None = None,
) -> Campaign:
    """A campaign file, with settings laid over it.

    Args:
        path: The file.
        overrides: Settings of the command line, each `KEY=VALUE`; see `campaign.settings`.
        frameworks_root: The folder that holds the frameworks; None looks for it.
        drivers: Names of the drivers there are.
        limits: Checks and the names of their limits; None accepts any.

    Returns:
        The campaign.

    Raises:
        CampaignError: The file cannot be read, or it or a setting is wrong; every problem is in
            it, with file and line, or with the setting.
    """
    document, scales, problems = settings.laid_over(documents.read(path), overrides)
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
        raise CampaignError([*problems, *broken])
    asked = _campaign(table, chosen, scales)
    return replace(asked, published=published, **_drivers(table.driver, drivers))


def resolved(campaign: Campaign) -> dict[str, Any]:
    """A campaign as JSON, with all that was left to a default or scaled.

    Args:
        campaign: The campaign.

    Returns:
        Its fields; frameworks, variants and endpoints by their names.
    """
    fields = asdict(replace(campaign, frameworks=(), endpoints=()))
    return {
        **fields,
        "frameworks": [framework.reference for framework in campaign.frameworks],
        "endpoints": [endpoint.name for endpoint in campaign.endpoints],
    }


T = TypeVar("T")


def _frameworks(
    references: Sequence[str | None], root: Path | None
) -> tuple[tuple[Framework, ...], list[Mistake], list[Problem]]:
    """The frameworks named, what is wrong with the names, and what in the frameworks' files."""
    try:
        folder = framework.locate(root)
    except CampaignError as error:
        return (), [], list(error.problems)
    chosen: dict[str, Framework] = {}
    mistakes: list[Mistake] = []
    broken: dict[Problem, None] = {}
    for index, reference in enumerate(references):
        try:
            found = framework.choose(folder, [reference] if reference else [])
            chosen |= {one.reference: one for one in found}
        except CampaignError as error:
            broken |= {problem: None for problem in error.problems if problem.where}
            named = [problem for problem in error.problems if not problem.where]
            mistakes += [Mistake(("frameworks", index), p.message, p.hint) for p in named]
    return tuple(chosen.values()), [*mistakes, *_same_slugs(chosen.values())], list(broken)


def _same_slugs(chosen: Iterable[Framework]) -> Iterator[Mistake]:
    """Frameworks whose results would lie in one folder: `go:one` and `go-one`."""
    by_slug: dict[str, Framework] = {}
    for one in chosen:
        other = by_slug.setdefault(one.slug, one)
        if other is not one:
            message = f"`{other.reference}` and `{one.reference}` would have the same file names"
            yield Mistake(("frameworks",), message, "rename one of them")


def _campaign(table: CampaignTable, frameworks: tuple[Framework, ...], scales: Scales) -> Campaign:
    return Campaign(
        name=table.name or "",
        frameworks=frameworks,
        endpoints=_endpoints(_given(table.endpoints)),
        loads=tuple(_load(load, scales) for load in _given(table.load)),
        repetitions=_or(table.repetitions, Campaign.repetitions),
        server_cores=table.server_cores,
        driver_cores=table.driver_cores,
        cool_down_s=_or(table.cool_down, Campaign.cool_down_s),
        idle_s=_or(table.idle, Campaign.idle_s),
        limits=_limits(table.limits or {}),
        seed=_or(table.seed, Campaign.seed),
        body_sample_ratio=_or(table.body_sample, Campaign.body_sample_ratio),
    )


def _published(name: str | None, path: Path, root: Path | None) -> Path | None:
    """The file of published figures that a campaign names: beside it, else with the frameworks.

    Args:
        name: The name; None for none.
        path: The campaign's file.
        root: The folder that holds the frameworks; None looks for it.
    """
    if name is None:
        return None
    beside = path.parent / name
    try:
        ours = framework.locate(root).parent / PUBLISHED / name
    except CampaignError:
        return beside
    is_beside = beside.is_file() and not beside.samefile(path)
    return ours if ours.is_file() and not is_beside else beside


def _no_figures(file: Path) -> Mistake:
    return Mistake(
        ("published",),
        f"there is no file `{file.name}` of published figures",
        f"name one in the folder of the campaign, or in `{PUBLISHED.as_posix()}` of the frameworks",
    )


def _drivers(names: Sequence[str | None] | None, known: Collection[str]) -> dict[str, Any]:
    """The fields that say which drivers there are; `all` stands for every one that is here."""
    given = tuple(_given(names)) or Campaign.drivers
    if ALL in given:
        return {"drivers": tuple(known), "drivers_optional": True}
    return {"drivers": given}


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
        model=_or(table.model, "closed"),
        stages=tuple(_stage(stage, opened, scales) for stage in _given(table.stages)),
        arrivals=_or(table.arrivals, Load.arrivals),
        connections=_scaled(table.connections or 0, scales),
        keep_alive=_or(table.keep_alive, Load.keep_alive),
        requests_per_connection=table.requests_per_connection,
        pipeline=_or(table.pipeline, Load.pipeline),
        think_time_s=_or(table.think_time, Load.think_time_s),
        timeout_s=_or(table.timeout, Load.timeout_s),
        request_limit=table.request_limit,
        threads=table.threads,
        server_cores=table.server_cores,
    )


def _stage(table: StageTable, opened: bool, scales: Scales) -> Stage:
    """A stage; in an open load its levels are arrivals, which no setting scales."""
    start = _or(table.start, _or(table.at, 0.0))
    end = _or(table.end, start)
    return Stage(
        kind=_or(table.kind, "hold"),
        duration_s=_or(table.duration, 0.0) * scales.time,
        start=start if opened else float(_scaled(start, scales)),
        end=end if opened else float(_scaled(end, scales)),
        steps=_or(table.steps, Stage.steps),
    )


def _scaled(connections: float, scales: Scales) -> int:
    """A whole number of connections, at least one of those that were not none."""
    return max(round(connections * scales.connections), min(1, round(connections)))


def _limits(tables: Mapping[str, Mapping[str, float | None] | None]) -> dict[str, dict[str, float]]:
    return {
        check: {name: value for name, value in (values or {}).items() if value is not None}
        for check, values in tables.items()
    }


def _given(values: Iterable[T | None] | None) -> Iterator[T]:
    return (value for value in values or () if value is not None)


def _or(value: T | None, otherwise: T) -> T:
    return otherwise if value is None else value
