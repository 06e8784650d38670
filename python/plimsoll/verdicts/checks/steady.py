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

A short stop of the server hides a rise or a fall, because no shape explains it. So of a closed load
without think time the check looks for a change without the stops, too, where it finds nothing else.

The check repeats the search without what the machine changed: it divides the responses of each part
by the share of its cores that the trial got, and by their speed. A change that is then gone came
from the machine: `undisturbed` and `host_speed_stable` judge it, and this check does not blame the
server. A change that remains is the server's (`aggregate.machine_speed`).

Repetitions of a campaign show scatter in their intervals, so a trial of it is doubtful from a third
on, and a single load from a tenth. The throughput of an open load scatters as its arrivals do, for
it was asked for. So its responses are compared with the arrivals of a median response time before,
and what is left is its scatter.

Each hold is judged within itself, and the worst counts. Holds of a closed load at the same level
are compared as well: throughput may not have come back to what it was. Holds at different levels,
and those of open loads, are not compared: they differ because it was asked for.

Servers that take turns are judged by their ratios: what the others did in the same rounds is taken
off a change instead, and what is left must exceed its own scatter. Scatter that they share cancels
in a ratio, and the rest is in the intervals, so scatter alone is no doubt there.

A window below 3 s, or one with few responses, is not checked. To turns that are shorter in all the
check does not apply: they are compared round by round, and not over time.

Source: limits of `statistics.drift`; change-points by R. Killick et al., JASA 107, 2012; classes of
E. Barrett et al., Virtual machine warmup blows hot and cold, OOPSLA 2017.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, pairwise
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from plimsoll import wording
from plimsoll.aggregate import machine_speed, pace, steady_state
from plimsoll.aggregate import users as users_of
from plimsoll.aggregate.query import SECOND_NS
from plimsoll.aggregate.silence import BURSTS, is_idle, window
from plimsoll.aggregate.steady_state import FLAT, SHORT, UNSTEADY, WARM_UP
from plimsoll.statistics.drift import PARTS, drift, mean_error_ratio
from plimsoll.verdicts.finding import Finding, Remedy, found, inapplicable, not_checked, of_trial
from plimsoll.verdicts.limits import PROPOSAL, Limit
from plimsoll.verdicts.needs import EveryRequest
from plimsoll.verdicts.remedies import WHY_IT_STALLED
from plimsoll.verdicts.role import PACE, Role
from plimsoll.verdicts.verdict import LEVELS, TRIAL_LEVELS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from plimsoll.aggregate.silence import Run, Silence
    from plimsoll.aggregate.steady_state import SteadyState
    from plimsoll.aggregate.trial import Tables
    from plimsoll.aggregate.usage import Values, Window
    from plimsoll.statistics.drift import Drift
    from plimsoll.verdicts.limits import Limits
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
    "half width of the 95 % interval of the mean throughput of the measurement window of a single "
    "load / the mean; in an open load without what its arrivals scatter",
    PROPOSAL,
)
COMPARED_MEAN_ERROR_RATIO = Limit(
    NAME,
    "compared_mean_error_ratio",
    "above",
    0.33,
    None,
    "ratio",
    "the same of a trial of a campaign",
    "intervals over repetitions contain it; beyond a third, a trial says too little",
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
    COMPARED_MEAN_ERROR_RATIO,
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
    on_levels=frozenset(
        {CHANGE_RATIO.name, SILENT_RATIO.name, START_RATIO.name, LEVELS_RATIO.name}
    ),
    blames_server=frozenset({SILENT_RATIO.name}),
    by_overload=frozenset({CHANGE_RATIO.name}),
)
LEAST_S = 3.0
"""In a shorter hold a change cannot be distinguished from scatter."""
FEWEST = 10.0
"""With fewer responses in a twentieth of the hold, chance alone makes them differ widely."""
FEWEST_EACH = 5.0
"""The same of responses for each request in flight: connections respond in step, so a part has all
of a round of responses or none."""
LEAST_STOP_S = 0.05
"""A shorter stretch without a response hides no change."""
STOP_TIMES = 20
"""A stop is so many times the mean time between responses; by chance there is none so long."""
STOP_ROUNDS = 2
"""It is so many rounds of all requests in flight, which may come in bursts."""
SERVED = 0.5
"""A part that was served for less of its time says little."""
MOSTLY_SERVED = 0.75
"""With fewer parts that say something, nothing is known of changes beside the stops."""
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


@dataclass(frozen=True)
class _Hold:
    """One hold of a trial, which is judged within itself.

    Attributes:
        tables: The tables of the trial.
        window: The hold.
    """

    tables: Tables
    window: Window

    @property
    def is_only(self) -> bool:
        """Whether the trial has no other."""
        return len(self.tables.holds) == 1

    @property
    def length_s(self) -> float:
        """How long it is, in seconds."""
        return (self.window[1] - self.window[0]) / SECOND_NS

    @property
    def in_flight(self) -> float:
        """Mean requests in flight; 0 where it is unknown."""
        if self.is_only:
            return self.tables.summary.in_flight or 0.0
        return self.tables.in_flight([self.window])[0].mean

    @property
    def median_ns(self) -> float | None:
        """The median service time; None where it is unknown."""
        return self.tables.summary.service_time.p50_ns if self.is_only else None

    @cached_property
    def parts(self) -> list[int]:
        """Complete responses in each of its twentieths."""
        return self.pace(PARTS)

    @cached_property
    def change(self) -> Drift | None:
        """How throughput changed within it; None if that is unknown."""
        fewest = max(FEWEST, FEWEST_EACH * _in_step(self))
        if self.length_s < LEAST_S or median(self.parts) < fewest:
            return None
        return drift(self.parts)

    @cached_property
    def steady_state(self) -> SteadyState | None:
        """How throughput went in it."""
        if self.is_only:
            return self.tables.steady_state
        return steady_state.in_window(self.tables.requests, self.window)

    @property
    def steady_state_of_times(self) -> SteadyState | None:
        """How the median time of a response went in it."""
        if self.is_only:
            return self.tables.steady_state_of_times
        return steady_state.times_in_window(self.tables.requests, self.window)

    @cached_property
    def stops(self) -> list[Window]:
        """Stretches without a response that are none of chance, and none between two bursts."""
        if not self.tables.recording.load.is_saturating:
            return []
        apart_ns = self.length_s * SECOND_NS / PARTS / max(median(self.parts), 1.0)
        least_ns = max(
            LEAST_STOP_S * SECOND_NS, STOP_TIMES * apart_ns, STOP_ROUNDS * _in_step(self) * apart_ns
        )
        start_ns, end_ns = self.window
        within = [one for one in self.tables.stalls if start_ns <= one[0] < end_ns]
        return [(start, end) for start, end in within if end - start >= least_ns]

    @property
    def beside_stops(self) -> list[float] | None:
        """Responses in each of its twentieths, had it not stopped; None where it did not, or often.

        A part that stopped for most of its time is taken to lie between its neighbours.
        """
        edges = np.linspace(*self.window, PARTS + 1)
        stopped_ns = np.zeros(PARTS)
        for start, end in self.stops:
            within = np.minimum(edges[1:], end) - np.maximum(edges[:-1], start)
            stopped_ns += np.clip(within, 0, None)
        left = 1 - stopped_ns / np.diff(edges)
        is_served = left >= SERVED
        if not self.stops or is_served.mean() < MOSTLY_SERVED:
            return None
        places = np.arange(PARTS)
        known = np.array(self.parts)[is_served] / left[is_served]
        return [float(one) for one in np.interp(places, places[is_served], known)]

    def pace(self, parts: int) -> list[int]:
        """Complete responses in equal parts of it."""
        return self.tables.pace(self.window, parts)

    def without_machine(self, counts: Sequence[float]) -> list[float]:
        """Responses in equal parts of it, had the machine given the same in each of them."""
        given = self.given(len(counts))
        return [float(one) for one in np.array(counts) / given * given.mean()]

    def given(self, parts: int) -> Values:
        """What the machine gave in each of equal parts of it."""
        edges = np.linspace(*self.window, parts + 1).astype(int)
        windows = [(int(start), int(end)) for start, end in pairwise(edges)]
        served = self.tables.served_in(windows)
        return machine_speed.given(self.tables.recording, self.tables.usage, windows, served)


def judge(tables: Tables, limits: Limits) -> Verdict:
    """Whether the holds were steady."""
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
    holds = [_Hold(tables, window) for window in tables.holds]
    if len(holds) <= 1:
        return _of_hold(holds[0], limits) if holds else [_unknown(tables, 0.0, limit)]
    return _of_holds(tables, holds, limits)


def _of_hold(hold: _Hold, limits: Limits) -> list[Finding]:
    """What one hold is like within itself."""
    if hold.change is None:
        return [_unknown(hold.tables, hold.length_s, limits.of(CHANGE_RATIO))]
    return _pace(hold, hold.change, limits)


def _of_holds(tables: Tables, holds: Sequence[_Hold], limits: Limits) -> list[Finding]:
    """What several holds are like, the worst one first, and how those of one level differ."""
    told = [
        [_of_place(one, place, len(holds)) for one in _of_hold(hold, limits)]
        for place, hold in enumerate(holds, 1)
    ]
    told.sort(key=_badness, reverse=True)
    return [*_between(tables, holds, limits), *(finding for each in told for finding in each)]


def _of_place(finding: Finding, place: int, count: int) -> Finding:
    """The finding with the hold that it is about."""
    about = f"this is about measurement window {place} of {count}"
    return replace(finding, further=(*finding.further, about))


def _badness(findings: Sequence[Finding]) -> tuple[int, float]:
    """How bad a hold is: by its level, then by what was measured first."""
    return max(LEVELS.index(one.level) for one in findings), findings[0].measured or 0.0


def _between(tables: Tables, holds: Sequence[_Hold], limits: Limits) -> list[Finding]:
    """The holds of one level of a closed load whose throughput differs the most, where it does."""
    if tables.recording.load.model != "closed":
        return []
    levels = [(stage.start, stage.end) for stage in tables.recording.holds]
    pairs = [
        (one, other)
        for one, other in combinations(range(len(holds)), 2)
        if levels[one] == levels[other] and holds[one].change and holds[other].change
    ]
    differing = [
        _differing((holds[one], holds[other]), (one + 1, other + 1), limits) for one, other in pairs
    ]
    doubting = [one for one in differing if one is not None]
    return sorted(doubting, key=lambda one: (LEVELS.index(one.level), one.measured or 0.0))[-1:]


def _differing(
    pair: tuple[_Hold, _Hold], places: tuple[int, int], limits: Limits
) -> Finding | None:
    """That throughput differs between two holds of one level; None where it does not."""
    limit, tables = limits.of(CHANGE_RATIO), pair[0].tables
    rates = [sum(hold.parts) / hold.length_s for hold in pair]
    errors = [mean_error_ratio(hold.parts) for hold in pair]
    before, after = rates
    change = abs(after - before)
    if (
        change <= math.hypot(before * errors[0], after * errors[1])
        or limit.level(change / max(rates)) == "sound"
    ):
        return None
    rises = after > before
    levels = " to ".join(map(wording.rate, rates))
    sentence = (
        f"throughput {'rose' if rises else 'fell'} from {levels} requests/s between measurement "
        f"windows {places[0]} and {places[1]}, which have the same load"
    )
    raw = found(limit, change / max(rates), sentence, _remedy(rises))
    given = [float(hold.given(PARTS).mean()) for hold in pair]
    evened = [rate / one for rate, one in zip(rates, given, strict=True)]
    left = abs(evened[1] - evened[0]) / max(evened)
    is_left = (evened[1] > evened[0]) == rises and limit.level(left) != "sound"
    return _of_somebody(
        tables, _of_server(raw, found(limit, left, sentence, raw.remedy) if is_left else None)
    )


def _unknown(tables: Tables, held_s: float, limit: Limit) -> Finding:
    """Why nothing is known of changes; short turns are not made to show any."""
    if tables.recording.turns and tables.holds and held_s < LEAST_S:
        held = wording.seconds(held_s)
        sentence = f"turns of {held} in all are compared with the others of their rounds"
        return inapplicable(limit, sentence)
    sentence = (
        f"the measurement window is below {wording.count(LEAST_S)} s or has too few responses to "
        "tell whether it is steady"
    )
    return not_checked(limit, sentence)


def _in_step(hold: _Hold) -> float:
    """Requests that may come in one burst: those in flight, or with think time, of each user."""
    tables, in_flight = hold.tables, hold.in_flight
    load = tables.recording.load
    if load.model == "unknown":
        return max(in_flight, users_of.most_at_once(tables.recording, tables.usage) or 0.0)
    if load.model == "closed" and load.think_time_s:
        return max(in_flight, tables.summary.connections_requested or 0.0)
    return in_flight


def _pace(hold: _Hold, change: Drift, limits: Limits) -> list[Finding]:
    """The one thing that is wrong with throughput; latency where nothing is."""
    tables, counts = hold.tables, hold.parts
    raw = _first_doubt(hold, change, counts, hold.steady_state, limits)
    if raw is None:
        steady = [_scattered(hold, change, counts, limits), *_times(hold, limits)]
        return _changed_beside_stops(hold, limits) or steady
    parts = hold.without_machine(counts)
    if raw.limit == limits.of(CHANGE_RATIO) and machine_speed.has_others(tables.usage):
        return [_against_others(raw, change.same_shape(parts))]
    windows = hold.without_machine(hold.pace(steady_state.windows(hold.length_s)))
    evened = drift(parts)
    state = steady_state.classified(windows, hold.length_s)
    left = None if evened is None else _first_doubt(hold, evened, parts, state, limits)
    return [_of_somebody(tables, _of_server(raw, left))]


def _changed_beside_stops(hold: _Hold, limits: Limits) -> list[Finding]:
    """That throughput rose or fell, where only short stops hide it; empty where it did not."""
    counts = hold.beside_stops
    change = None if counts is None else drift(counts)
    raw = None if change is None else _changed(hold, change, limits)
    if counts is None or change is None or raw is None or raw.level == "sound":
        return []
    parts = hold.without_machine(counts)
    if machine_speed.has_others(hold.tables.usage):
        finding = _against_others(raw, change.same_shape(parts))
    else:
        evened = drift(parts)
        left = None if evened is None else _changed(hold, evened, limits)
        is_left = left is not None and left.level != "sound"
        finding = _of_somebody(hold.tables, _of_server(raw, left if is_left else None))
    longest_s = max(end - start for start, end in hold.stops) / SECOND_NS
    longest, stops = wording.seconds(longest_s), len(hold.stops)
    beside = f"a stop of the server for {longest} is left out"
    if stops > 1:
        beside = f"{stops} stops of the server, for up to {longest}, are left out"
    return [replace(finding, further=(*finding.further, beside))]


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
    hold: _Hold,
    change: Drift,
    counts: Sequence[float],
    state: SteadyState | None,
    limits: Limits,
) -> Finding | None:
    """The first thing that is wrong with throughput; None where nothing is."""
    found = (
        _changed(hold, change, limits),
        _levels_of_pace(state, limits),
        _scattered(hold, change, counts, limits),
    )
    return next((one for one in found if one is not None and one.level != "sound"), None)


def _changed(hold: _Hold, change: Drift, limits: Limits) -> Finding | None:
    """That throughput rose or fell; None where it did not beyond its scatter."""
    if not change.is_real:
        return None
    limit = limits.of(CHANGE_RATIO)
    return found(limit, abs(change.change_ratio), _went(hold, change), _remedy(change.rises))


def _went(hold: _Hold, change: Drift) -> str:
    per_s = PARTS / hold.length_s
    ends = (change.first, change.last, change.reach)
    first, last, reach = (wording.rate(one * per_s) for one in ends)
    return (
        f"throughput {'rose' if change.rises else 'fell'} within the measurement window from "
        f"{first} to {last} requests/s (±{reach}, 95 %)"
    )


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


def _scattered(hold: _Hold, change: Drift, counts: Sequence[float], limits: Limits) -> Finding:
    """How precisely the mean of a hold is known, or how well it followed its arrivals."""
    error = change.mean_error_ratio
    recording = hold.tables.recording
    is_compared = recording.origin == "campaign"
    limit = limits.of(COMPARED_MEAN_ERROR_RATIO if is_compared else MEAN_ERROR_RATIO)
    known = "the mean of the measurement window is known to"
    if limit.level(error) != "sound" and recording.load.model == "open" and not recording.turns:
        error = min(error, _error_beside_arrivals(hold, counts))
        known = "beside the arrivals, the mean of the measurement window is known to"
    known = f"{known} ±{wording.percent(round(error, 3))}"
    if limit.level(error) == "sound":
        return found(limit, error, f"throughput was steady: {known}", "")
    if recording.turns:
        sentence = f"{known} (95 %); servers that take turns share most of that scatter"
        return Finding("sound", error, limit, sentence, "")
    sentence = f"throughput scattered within the measurement window: {known} only (95 %)"
    return found(limit, error, sentence, LONGER)


def _error_beside_arrivals(hold: _Hold, counts: Sequence[float]) -> float:
    """How uncertain the mean of an open load is by what its arrivals do not explain.

    A response comes a response time after its arrival: arrivals are counted as much earlier.
    """
    later_ns = round(hold.tables.summary.response_time.p50_ns or 0)
    start_ns, end_ns = hold.window
    earlier = (start_ns - later_ns, end_ns - later_ns)
    due = np.array(hold.tables.arrivals(earlier, len(counts)), dtype=np.float64)
    if not due.sum():
        return math.inf
    responses = np.array(counts, dtype=np.float64)
    expected = due / due.mean() * responses.mean()
    return mean_error_ratio(responses - expected + responses.mean())


def _times(hold: _Hold, limits: Limits) -> list[Finding]:
    """The levels of the median latency, where there are several."""
    raw = _levels_of_times(hold.steady_state_of_times, limits, hold.median_ns)
    if raw is None or raw.level == "sound":
        return [] if raw is None else [raw]
    windows = steady_state.windows(hold.length_s)
    responses = pace.median_times(hold.tables.requests, hold.window, windows)
    paces = hold.without_machine([1 / max(median_ns, 1.0) for _, median_ns in responses])
    evened = [(count, 1 / one) for (count, _), one in zip(responses, paces, strict=True)]
    left = _levels_of_times(steady_state.classified_times(evened, hold.length_s), limits)
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
    rounds = tables.held_s / silent.round_s
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
