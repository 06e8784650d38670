"""Did throughput and latency stay at one level through the measurement window?

A measurement window can go wrong in four ways, and each has a sentence of its own. Throughput
**rose** or **fell**: one shape (a line, a step, a curve) explains two thirds of the variance
between twentieths of the window (`statistics.drift`), and the interval of the change excludes 0. It
went from **level to level**, by change-points, in a window of 10 s or longer
(`aggregate.steady_state`). It **scattered** so much that its mean is uncertain. Or it **stopped**:
whole seconds had no response where ten or more were due. If another tool's log has no request in
flight in them, nothing stalled: rows are missing, its clock jumped, or it paused. Connections that
begin together and take as long, or think as long, stay together: responses come in bursts, and a
second between two of them is no stall. It is one if requests wait for longer than their type
usually takes: half as long as the silence, and half as many as were due in that time. A window with
fewer than three such rounds is not checked, because it does not show what is usual. The verdict
reports at most one of the first three, and latency only if throughput was steady, because all of
them have one cause.

The check repeats the search without what the machine changed: it divides the responses of each part
by the share of its cores that the trial got, and by their speed. A change that is then gone came
from the machine: `undisturbed` and `host_speed_stable` judge it, and this check does not blame the
server. A change that remains is the server's (`aggregate.machine_speed`).

Servers that take turns are judged by their ratios: what the others did in the same rounds is taken
off a change instead, and what is left must exceed its own scatter. Scatter that they share cancels
in a ratio, and the rest is in the intervals, so scatter alone is no doubt there.

A window below 3 s, or one with few responses, is not checked. To turns that are shorter in all the
check does not apply: they are compared round by round, and not over time.

Source: limits of `statistics.drift`; change-points by R. Killick et al., JASA 107, 2012; classes of
E. Barrett et al., Virtual machine warmup blows hot and cold, OOPSLA 2017.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from plimsoll import wording
from plimsoll.aggregate import machine_speed, pace, steady_state
from plimsoll.aggregate import users as users_of
from plimsoll.aggregate.query import SECOND_NS
from plimsoll.aggregate.silence import BURSTS, is_idle, window
from plimsoll.aggregate.steady_state import FLAT, SHORT, UNSTEADY, WARM_UP
from plimsoll.statistics.drift import PARTS, drift
from plimsoll.verdicts.finding import Finding, Remedy, found, inapplicable, not_checked, of_trial
from plimsoll.verdicts.limits import PROPOSAL, Limit
from plimsoll.verdicts.needs import EveryRequest
from plimsoll.verdicts.remedies import WHY_IT_STALLED
from plimsoll.verdicts.role import PACE, Role
from plimsoll.verdicts.verdict import TRIAL_LEVELS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from plimsoll.aggregate.silence import Run, Silence
    from plimsoll.aggregate.steady_state import SteadyState
    from plimsoll.aggregate.trial import Tables
    from plimsoll.statistics.drift import Drift
    from plimsoll.verdicts.limits import Limit, Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "steady"
TITLE = "Steady"
PROBLEM = "Not steady"
SOURCE = "share of variance that one shape explains; change-points, R. Killick et al., JASA 2012"
CHANGE_RATIO = Limit(
    NAME,
    "change_ratio",
    "above",
    0.1,
    0.5,
    "ratio",
    "change of throughput within the measurement window, where one shape explains two thirds of "
    "the "
    "variance / its higher end",
    PROPOSAL,
)
MEAN_ERROR_RATIO = Limit(
    NAME,
    "mean_error_ratio",
    "above",
    0.1,
    None,
    "ratio",
    "half width of the 95 % interval of the mean throughput of the measurement window / the mean",
    PROPOSAL,
)
SILENT_RATIO = Limit(
    NAME,
    "silent_ratio",
    "above",
    0.0,
    0.02,
    "ratio",
    "whole seconds of the measurement window without a response / whole seconds of the "
    "measurement window",
    PROPOSAL,
)
START_RATIO = Limit(
    NAME,
    "start_ratio",
    "above",
    0.05,
    None,
    "ratio",
    "mean throughput of the measurement window against that of its steady state",
    PROPOSAL + "; the speed of shared machines varies by as much",
)
LEVELS_RATIO = Limit(
    NAME,
    "levels_ratio",
    "above",
    0.2,
    None,
    "ratio",
    "greatest difference between levels of a measurement window without steady state / its mean",
    PROPOSAL,
)
TIMES_START_RATIO = Limit(
    NAME,
    "times_start_ratio",
    "above",
    0.1,
    None,
    "ratio",
    "pace by the median time of the measurement window against that of its steady state",
    PROPOSAL + "; wider than throughput, because a median may step where load hardly changes",
)
TIMES_LEVELS_RATIO = Limit(
    NAME,
    "times_levels_ratio",
    "above",
    0.2,
    None,
    "ratio",
    "greatest difference between levels of the median time without steady state / its mean",
    PROPOSAL + "; wider than throughput, because a median may step where load hardly changes",
)
LIMITS = (
    CHANGE_RATIO,
    MEAN_ERROR_RATIO,
    SILENT_RATIO,
    START_RATIO,
    LEVELS_RATIO,
    TIMES_START_RATIO,
    TIMES_LEVELS_RATIO,
)
NEEDS = EveryRequest(CHANGE_RATIO, "whether throughput was steady is unknown")
ROLE = Role(
    misled_by=PACE.union(("no_streams",)),
    is_on_steady_state=True,
    blames_server=frozenset({SILENT_RATIO.name}),
)
LEAST_S = 3.0
"""In a shorter hold a change cannot be distinguished from scatter."""
FEWEST = 10.0
"""With fewer responses in a twentieth of the hold, chance alone makes them differ widely."""
FEWEST_EACH = 5.0
"""The same of responses for each request in flight: connections respond in step, so a part has all
of a round of responses or none."""
MOST_LEVELS = 5
"""Levels of a hold that are listed one by one."""
LONGER = Remedy(
    campaign="Hold the load longer, or repeat the trial when the host is idle",
    load="Hold the load longer (`-d`), or repeat it when the host is idle",
    imported="Measure again for longer",
    counted="Load with more requests (`-n`), or repeat it when the host is idle",
)
WARM_LONGER = Remedy(
    campaign="Lengthen the warm-up of the load",
    load="Give the server a warm-up (`--warm-up 10s`), or hold the load longer",
    imported="Leave its beginning out: `--warm-up 10s`",
    counted="Give the server a warm-up (`--warm-up 10s`), or load it with more requests (`-n`)",
)
COMPLETE_LOG = Remedy(
    "Repeat the trial, with a log of the load generator that is complete",
    imported="Give the whole log, or repeat the test without setting the clock during it",
)
SEE_WHAT_FILLS = Remedy("Find what fills up or slows down in the server, and hold the load longer")
SEE_WHETHER_AGAIN = Remedy(
    campaign="Repeat the trial: what the server does happens again; measured in turns (`turns`), "
    "or in a measurement window of 5 s or longer, the machine's part may be known",
    load="Repeat the load, for 5 s or longer (`-d`): what the server does happens again",
    imported="Repeat the test: what the server does happens again",
    counted="Repeat the load, with more requests (`-n`): what the server does happens again",
)


def judge(tables: Tables, limits: Limits) -> Verdict:
    """Whether the hold was steady."""
    findings = _findings(tables, limits)
    return of_trial(NAME, tables.recording, findings, SOURCE)


def _findings(tables: Tables, limits: Limits) -> list[Finding]:
    limit = limits.of(CHANGE_RATIO)
    driver = tables.recording.driver
    if driver is not None and driver.instants_step_s:
        step = wording.seconds(driver.instants_step_s)
        return [
            not_checked(
                limit, f"the load generator rounds timestamps to {step}, too coarse to show changes"
            )
        ]
    if stopped := _stopped(tables, limits):
        return [stopped]
    change = _drift(tables)
    return [_unknown(tables, limit)] if change is None else _pace(tables, change, limits)


def _unknown(tables: Tables, limit: Limit) -> Finding:
    """Why nothing is known of changes; short turns are not made to show any."""
    if tables.recording.turns and tables.holds and _last_hold_s(tables) < LEAST_S:
        held = wording.seconds(_last_hold_s(tables))
        sentence = f"turns of {held} in all are compared with the others of their rounds"
        return inapplicable(limit, sentence)
    sentence = (
        f"the measurement window is below {wording.count(LEAST_S)} s or has too few responses to "
        "tell whether it is steady"
    )
    return not_checked(limit, sentence)


def _drift(tables: Tables) -> Drift | None:
    """How throughput changed within the last hold; None if that is unknown."""
    if not tables.holds:
        return None
    counts = tables.pace(PARTS)
    fewest = max(FEWEST, FEWEST_EACH * _in_step(tables))
    if _last_hold_s(tables) < LEAST_S or median(counts) < fewest:
        return None
    return drift(counts)


def _in_step(tables: Tables) -> float:
    """Requests that may come in one burst: those in flight, or with think time, of each user."""
    load, in_flight = tables.recording.load, tables.summary.in_flight or 0.0
    if load.model == "unknown":
        return max(in_flight, users_of.most_at_once(tables.recording, tables.usage) or 0.0)
    if load.model == "closed" and load.think_time_s:
        return max(in_flight, tables.summary.connections_requested or 0.0)
    return in_flight


def _pace(tables: Tables, change: Drift, limits: Limits) -> list[Finding]:
    """The one thing that is wrong with throughput; latency where nothing is."""
    raw = _first_doubt(tables, change, tables.steady_state, limits)
    if raw is None:
        return [_scattered(tables, change, limits), *_times(tables, limits)]
    parts = _without_machine(tables, tables.pace(PARTS))
    if raw.limit == limits.of(CHANGE_RATIO) and machine_speed.has_others(tables.usage):
        return [_against_others(raw, change.same_shape(parts))]
    hold_s = _last_hold_s(tables)
    windows = _without_machine(tables, tables.pace(steady_state.windows(hold_s)))
    evened = drift(parts)
    state = steady_state.classified(windows, hold_s)
    left = None if evened is None else _first_doubt(tables, evened, state, limits)
    return [_of_somebody(tables, _of_server(raw, left))]


def _against_others(raw: Finding, left: Drift) -> Finding:
    """What is left of a change without what those that took turns with the server did as well."""
    if not left.is_beyond_scatter:
        return not_checked(raw.limit, f"{raw.sentence}; the other servers in turns changed alike")
    remains = wording.percent(round(abs(left.change_ratio), 4))
    sentence = f"{raw.sentence}, {remains} more than the servers that took turns with it"
    return found(raw.limit, abs(left.change_ratio), sentence, raw.remedy)


def _of_server(raw: Finding, left: Finding | None) -> Finding:
    """What is left of a finding without what the machine changed: never more than was seen.

    The machine explains a change or not; it is known too roughly to accuse a server of one that its
    responses do not show. Responses without the machine are computed, so no sentence has them.
    """
    if left is None:
        return not_checked(raw.limit, f"{raw.sentence}, because the speed of the machine changed")
    if _severity(left) < _severity(raw):
        return replace(left, sentence=raw.sentence, remedy=raw.remedy)
    return raw


def _of_somebody(tables: Tables, finding: Finding) -> Finding:
    """A fall, without a blame of the server where nothing shows how fast the machine was."""
    if finding.remedy != SEE_WHAT_FILLS or machine_speed.is_known(tables.recording, tables.usage):
        return finding
    sentence = f"{finding.sentence}; how fast the machine was meanwhile is unknown"
    return replace(finding, sentence=sentence, remedy=SEE_WHETHER_AGAIN)


def _severity(finding: Finding) -> int:
    return TRIAL_LEVELS.index(finding.level)


def _first_doubt(
    tables: Tables, change: Drift, state: SteadyState | None, limits: Limits
) -> Finding | None:
    """The first thing that is wrong with throughput; None where nothing is."""
    found = (
        _changed(tables, change, limits),
        _levels_of_pace(state, limits),
        _scattered(tables, change, limits),
    )
    return next((one for one in found if one is not None and one.level != "sound"), None)


def _without_machine(tables: Tables, counts: Sequence[float]) -> list[float]:
    """Responses in equal parts of the last hold, had the machine given the same in each of them."""
    edges = np.linspace(*tables.holds[-1], len(counts) + 1).astype(int)
    windows = [(int(start), int(end)) for start, end in pairwise(edges)]
    served = tables.served_in(windows)
    given = machine_speed.given(tables.recording, tables.usage, windows, served)
    return [float(one) for one in np.array(counts) / given * given.mean()]


def _changed(tables: Tables, change: Drift, limits: Limits) -> Finding | None:
    """That throughput rose or fell; None where it did not beyond its scatter."""
    if not change.is_real:
        return None
    limit = limits.of(CHANGE_RATIO)
    return found(limit, abs(change.change_ratio), _went(tables, change), _remedy(change.rises))


def _went(tables: Tables, change: Drift) -> str:
    per_s = PARTS / _last_hold_s(tables)
    ends = (change.first, change.last, change.reach)
    first, last, reach = (wording.rate(one * per_s) for one in ends)
    return (
        f"throughput {'rose' if change.rises else 'fell'} within the measurement window from "
        f"{first} to {last} requests/s (±{reach}, 95 %)"
    )


def _last_hold_s(tables: Tables) -> float:
    start_ns, end_ns = tables.holds[-1]
    return (end_ns - start_ns) / SECOND_NS


def _levels_of_pace(state: SteadyState | None, limits: Limits) -> Finding | None:
    """The levels of throughput in a hold long enough to tell; None where it has one."""
    if state is None or state.name in (FLAT, SHORT):
        return None
    went = f"throughput went from {_levels(state)} requests/s"
    if state.name == UNSTEADY:
        limit, measured = limits.of(LEVELS_RATIO), state.levels_ratio
        sentence = f"{went}, {wording.percent(round(measured, 4))} apart, without a steady state"
        return found(limit, measured, sentence, LONGER)
    limit, measured = limits.of(START_RATIO), state.start_ratio
    side = "below" if state.hold_per_s < (state.steady_per_s or 0) else "above"
    sentence = (
        f"{went} ({state.name}), so the mean of the measurement window is "
        f"{wording.percent(round(measured, 4))} {side} the steady state"
    )
    return found(limit, measured, sentence, _remedy(state.name == WARM_UP))


def _scattered(tables: Tables, change: Drift, limits: Limits) -> Finding:
    """How precisely the mean of the hold is known."""
    error = change.mean_error_ratio
    limit = limits.of(MEAN_ERROR_RATIO)
    known = f"the mean of the measurement window is known to ±{wording.percent(round(error, 3))}"
    if limit.level(error) == "sound":
        return found(limit, error, f"throughput was steady: {known}", "")
    if tables.recording.turns:
        sentence = f"{known} (95 %); servers that take turns share most of that scatter"
        return Finding("sound", error, limit, sentence, "")
    sentence = f"throughput scattered within the measurement window: {known} only (95 %)"
    return found(limit, error, sentence, LONGER)


def _times(tables: Tables, limits: Limits) -> list[Finding]:
    """The levels of the median latency, where there are several."""
    median_ns = tables.summary.service_time.p50_ns
    raw = _levels_of_times(tables.steady_state_of_times, limits, median_ns)
    if raw is None or raw.level == "sound":
        return [] if raw is None else [raw]
    hold_s = _last_hold_s(tables)
    responses = pace.median_times(tables.requests, tables.holds[-1], steady_state.windows(hold_s))
    paces = _without_machine(tables, [1 / max(median_ns, 1.0) for _, median_ns in responses])
    evened = [(count, 1 / one) for (count, _), one in zip(responses, paces, strict=True)]
    left = _levels_of_times(steady_state.classified_times(evened, hold_s), limits)
    is_left = left is not None and left.level != "sound"
    return [_of_server(raw, left if is_left else None)]


def _levels_of_times(
    state: SteadyState | None, limits: Limits, median_ns: float | None = None
) -> Finding | None:
    """The levels of the median latency; None where it has one.

    Args:
        state: How it went.
        limits: The limits.
        median_ns: The median of the whole window, which mixes the levels.
    """
    if state is None or state.name in (FLAT, SHORT):
        return None
    went = f"the median latency went from {_levels(state, _time)}"
    if state.name == UNSTEADY:
        limit, measured = limits.of(TIMES_LEVELS_RATIO), state.levels_ratio
        sentence = f"{went}, {wording.percent(round(measured, 4))} apart, without a steady state"
        return found(limit, measured, sentence, LONGER)
    limit, measured = limits.of(TIMES_START_RATIO), state.start_ratio
    whole = f"; over the measurement window it is {_time(1e9 / median_ns)}" if median_ns else ""
    return found(limit, measured, f"{went} ({state.name}){whole}", _remedy(state.name == WARM_UP))


def _time(pace_per_s: float) -> str:
    """The latency at a pace of one connection."""
    return wording.seconds(1 / pace_per_s)


def _levels(state: SteadyState, stated: Callable[[float], str] = wording.rate) -> str:
    """The levels in order: `8,000 to 9,500 to 10,100`."""
    levels = [stated(level) for level in state.levels_per_s]
    if len(levels) > MOST_LEVELS:
        levels = [*levels[: MOST_LEVELS - 1], "…", levels[-1]]
    return " to ".join(levels)


def _remedy(rising: bool) -> Remedy:
    return WARM_LONGER if rising else SEE_WHAT_FILLS


def _stopped(tables: Tables, limits: Limits) -> Finding | None:
    """Seconds of the holds without a response; None where few were due, or where all had some."""
    silent = tables.silence
    finding = _stalled(tables, silent, limits)
    if finding is not None and finding.level != "sound":
        return finding
    return _few_rounds(tables, silent, limits)


def _stalled(tables: Tables, silent: Silence, limits: Limits) -> Finding | None:
    """Seconds in which the server stalled, or in which another tool's log has nothing."""
    if not silent.held:
        return None
    seconds = [second for first, last in silent.stalls for second in range(first, last + 1)]
    listed = wording.listed([str(second) for second in seconds], 6)
    sentence = (
        f"the server stalled: no response in {wording.several(len(seconds), 'second')} of the "
        "measurement window "
        f"({listed})"
    )
    finding = found(limits.of(SILENT_RATIO), len(seconds) / silent.held, sentence, WHY_IT_STALLED)
    idle = _idle(tables, silent.stalls) if finding.level != "sound" else ""
    return replace(finding, sentence=idle, remedy=COMPLETE_LOG) if idle else finding


def _few_rounds(tables: Tables, silent: Silence, limits: Limits) -> Finding | None:
    """That responses come in bursts, too few to tell a stall from a pause; None elsewhere."""
    if not silent.pauses:
        return None
    rounds = _last_hold_s(tables) / silent.round_s
    if rounds >= BURSTS:
        return None
    sentence = (
        f"responses come in bursts, one about every {wording.seconds(silent.round_s)}: the "
        f"measurement window has {wording.number(rounds, 2)} such rounds, too few to tell whether "
        "the server stalled"
    )
    return not_checked(limits.of(SILENT_RATIO), sentence)


def _idle(tables: Tables, runs: Sequence[Run]) -> str:
    """That nothing was sent in the silent seconds of another tool's log; empty where it was."""
    if tables.recording.origin != "import":
        return ""
    windows = [window(run) for run in runs]
    usual, *flown = tables.in_flight([tables.holds[-1], *windows])
    if any(one.ended_per_s or not is_idle(one, usual) for one in flown):
        return ""
    lengths_ns = [end - start for start, end in map(tables.idle_stretch, windows)]
    several = len(windows) > 1
    times = f"{len(windows)} times, for up to " if several else "for "
    return (
        f"nothing was sent {times}{wording.seconds(round(max(lengths_ns) / SECOND_NS, 1))}: rows "
        "are missing, the clock jumped, or the load generator paused"
    )
