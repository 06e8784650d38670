"""What campaigns of the kinds `line` and `ladder` are about: load lines, and costs of a request.

Each line of a limit is an entry whose load is that limit, and each ladder one whose load is
`ladder`. Their closed loads are entries of their own.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from plimsoll import load_line
from plimsoll.history.kept import KeptEntry
from plimsoll.provenance import Part, short_id
from plimsoll.statistics.intervals import Estimate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from plimsoll.campaign.ladder_settings import LadderSettings
    from plimsoll.campaign.line_settings import LineSettings
    from plimsoll.campaign.load import Arrivals
    from plimsoll.findings.findings import Findings
    from plimsoll.findings.ladders import EntryLadder
    from plimsoll.findings.load_lines import LineFindings
    from plimsoll.findings.trial import TrialFindings
    from plimsoll.history.kept import Level
    from plimsoll.load_line.limits import LineLimit

LINE_RATE = "line_rate_per_s"
"""The greatest rate inside a limit."""

COST = "server_cpu_s_per_request"
"""What each request adds, as the slope of a ladder; in other entries it is an average."""

LADDER = "ladder"
"""Name of the load of a ladder."""

OF_LOAD = "load"
"""The part of a measurement that differs between the loads of one entry."""


def kept(findings: Findings, settings: Sequence[str]) -> Iterator[KeptEntry]:
    """An entry for each line and each ladder of a campaign; none of other campaigns.

    A line of which nothing could be tried is one as well, without a number.

    Args:
        findings: What was found.
        settings: Settings of a measurement that numbers depend on.
    """
    of_entry: dict[tuple[str, str], list[TrialFindings]] = {}
    for trial in findings.trials:
        recording = trial.recording
        of_entry.setdefault((recording.title, recording.endpoint), []).append(trial)
    for one in findings.lines:
        trials = of_entry[one.framework, one.endpoint]
        if one.found is not None:
            yield from _lines(one.found, trials, settings)
        elif findings.as_run is not None and findings.as_run.line is not None:
            yield from _untried(findings.as_run.line, trials, settings)
    for ladder in findings.ladders:
        trials = of_entry[ladder.framework, ladder.endpoint]
        asked = findings.as_run.ladder if findings.as_run else None
        yield _ladder(ladder, trials, [*_shared(trials, settings), *_conditions(asked)])


def _lines(
    found: LineFindings, trials: Sequence[TrialFindings], settings: Sequence[str]
) -> Iterator[KeptEntry]:
    goal, subject = found.searched.wanted, found.subject
    for line in found.searched.lines:
        level = found.level_of(line)
        edge = line.edge if level != "void" else None
        wanted = _wanted(line.limit, goal.errors.allowed, subject.arrivals, subject.connections)
        yield KeptEntry.of(
            trials[-1].recording,
            line.limit.text,
            short_id([*_shared(trials, settings), wanted]),
            level=level,
            counting=len(found.searched.tries) if edge else 0,
            excluded=0,
            numbers={LINE_RATE: edge and Estimate(edge.rate_per_s, edge.interval)},
            line="load_generator" if found.is_of_driver(line) else line.state,
        )


def _untried(
    settings_of_line: LineSettings, trials: Sequence[TrialFindings], settings: Sequence[str]
) -> Iterator[KeptEntry]:
    """The lines of an entry whose closed load gave no rate to begin with."""
    goal = load_line.campaign_search.goal(settings_of_line)
    arrivals, connections = settings_of_line.arrivals, settings_of_line.connections
    for limit in goal.limits:
        wanted = _wanted(limit, goal.errors.allowed, arrivals, connections)
        yield KeptEntry.of(
            trials[-1].recording,
            limit.text,
            short_id([*_shared(trials, settings), wanted]),
            level="void",
            counting=0,
            excluded=0,
            numbers={},
            line="untried",
        )


def _wanted(limit: LineLimit, errors: float, arrivals: Arrivals, connections: int) -> Part:
    """What a line depends on beside its server: how it was searched."""
    how = f"{errors} of requests fail, {arrivals}, {connections} connections"
    return Part("definition", "line", f"{limit.text}, {how}")


def _conditions(asked: LadderSettings | None) -> Iterator[Part]:
    """What the cost of a request depends on beside its server: how it was asked for.

    Shares stand for their rates: these follow from a peak, which is another one each time.
    """
    wanted = "" if asked is None else json.dumps(asdict(asked), sort_keys=True)
    yield Part("definition", LADDER, wanted)


def _ladder(
    ladder: EntryLadder, trials: Sequence[TrialFindings], identity: Sequence[Part]
) -> KeptEntry:
    level: Level = "void" if ladder.state == "failed" else ladder.state
    slope = ladder.cores.slope if ladder.cores and level != "void" else None
    return KeptEntry.of(
        trials[-1].recording,
        LADDER,
        short_id(identity),
        level=level,
        counting=len(ladder.counting),
        excluded=len(ladder.steps) - len(ladder.counting),
        numbers={COST: slope},
    )


def _shared(trials: Sequence[TrialFindings], settings: Sequence[str]) -> list[Part]:
    """What all trials of an entry have in common, whatever their rate."""
    measurement = trials[0].recording.provenance.measurement
    return [
        one
        for one in measurement
        if (one.kind == "definition" and one.name != OF_LOAD)
        or (one.kind == "setting" and one.name in settings)
    ]
