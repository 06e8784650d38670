"""Did the load generator run without interruption, or change little where it stalled?

A load generator that does not get a core, or is stopped, reads responses late and sends the next
requests late. It is not at its limit then: `driver_headroom` judges that. Once a second it reports
its longest stall, and the rows show which responses were in flight meanwhile. The check judges
what stalls of 10 ms or more can have changed at most:

- throughput: time that it stalled / measurement window. Up to 5 %, the expected precision of the
  interval of a throughput, nothing is doubted; beyond it the trial is void, because checks on the
  server saw the stall as well;
- latency: the 99th percentile, or the highest known, against what it would be if each response had
  been read when the stall began. A tenth is what `steady` allows a mean.

A single stall of 14 ms in a window of 1 s is therefore no doubt, even for a slow server. Of several
threads or hosts one may stall while others receive responses, so the rows do not show its stalls.
Then all requests in flight on it are taken for the slowest of all.

`undisturbed` judges stalls below 50 ms that other programs caused, and stalls of any length that
the host of a virtual machine did.

Source: the load generator's own clock, each time it waits for the kernel; decision 120.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.aggregate import disturbance, driver_stalls
from plimsoll.aggregate.query import SECOND_NS
from plimsoll.statistics.quantiles import QUANTILES
from plimsoll.verdicts.finding import Finding, found, not_checked, of_trial
from plimsoll.verdicts.limits import Limit
from plimsoll.verdicts.remedies import QUIET_HOST
from plimsoll.verdicts.role import Cause, Role

if TYPE_CHECKING:
    from plimsoll.aggregate.driver_stalls import DriverStalls
    from plimsoll.aggregate.trial import Tables
    from plimsoll.aggregate.usage import Window
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "driver_uninterrupted"
TITLE = "Load generator uninterrupted"
PROBLEM = "Load generator interrupted"
SOURCE = "stalls by the load generator's own clock, and the rows of requests in flight meanwhile"
LONG_PAUSE_S = 0.05
"""Schedulers let a thread wait for a core for less."""
LIKELY = 0.5
"""Waits for a core explain a stall at most twice as long."""
STALL_S = 0.5
"""A stall so long leaves a second with hardly any response, and fails requests and connections."""
STALL_RATIO = 0.05
"""A stall of this share of the measurement window changes its throughput as much as a check on
steadiness doubts."""
LEAST_HELD_S = 0.5
"""A single wait for a core may be most of a shorter window."""
STALLED_RATIO = Limit(
    NAME,
    "stalled_ratio",
    "above",
    None,
    STALL_RATIO,
    "ratio",
    "time in which the load generator stalled for 10 ms or more / the measurement window",
    "throughput is too low by at most that; 5 % is the precision aimed at for intervals",
)
LATE_RATIO = Limit(
    NAME,
    "late_ratio",
    "above",
    0.1,
    None,
    "ratio",
    "99th percentile, or the highest known / the least that it can be without these stalls, less 1",
    "a tenth is what `steady` allows a mean",
)
LIMITS = (STALLED_RATIO, LATE_RATIO)
NEEDS = None
HIGHEST = ("p99", "p95", "p90", "p50")
"""Percentiles, the highest first: of a higher one a single stall may be all."""


def judge(tables: Tables, limits: Limits) -> Verdict:
    """Whether stalls of the load generator can have changed what was measured."""
    return of_trial(NAME, tables.recording, [*_findings(tables, limits)], SOURCE)


def _findings(tables: Tables, limits: Limits) -> list[Finding]:
    limit, stalls = limits.of(STALLED_RATIO), _stalls(tables)
    if stalls is None or not tables.holds:
        return [not_checked(limit, "the load generator does not report its stalls")]
    who = f"the load generator{_of_host(tables)}"
    if not stalls.stalled_s:
        sentence = f"no stall of {who} delayed requests of the measurement window by 10 ms or more"
        return [found(limit, 0.0, sentence, "")]
    stalled = f"{who} stalled for {_lengths(stalls)}"
    findings = [_lost(tables, limit, stalls, stalled), *_late(tables, limits, stalls, stalled)]
    if all(one.level == "sound" for one in findings) or not _is_by_others(tables, stalls):
        return findings
    return [not_checked(limit, f"{stalled}, because others had its core: see Undisturbed")]


def _lengths(stalls: DriverStalls) -> str:
    """How long it stalled: the longest time, and all of them if there were several."""
    longest, all_of_them = wording.seconds(stalls.longest_s), wording.seconds(stalls.stalled_s)
    return longest if longest == all_of_them else f"up to {longest}, {all_of_them} in all"


def _lost(tables: Tables, limit: Limit, stalls: DriverStalls, stalled: str) -> Finding:
    """The time that was lost, and what it means."""
    held_s = tables.held_s
    if held_s < LEAST_HELD_S:
        window = f"a measurement window of {wording.seconds(held_s)}"
        return not_checked(limit, f"{stalled}, and {window} is too short to judge that")
    ratio = min(stalls.stalled_s / held_s, 1.0)
    share = f"{wording.percent(round(ratio, 4))} of the measurement window"
    meaning = "requests due meanwhile were sent late"
    if tables.recording.load.is_saturating:
        meaning = "throughput is at most that much too low by it alone"
    return found(limit, ratio, f"{stalled}, {share}: {meaning}", QUIET_HOST)


def _late(tables: Tables, limits: Limits, stalls: DriverStalls, stalled: str) -> list[Finding]:
    """How much shorter the highest percentile can be without the stalls."""
    limit, times = limits.of(LATE_RATIO), tables.summary.response_time
    name = next((one for one in HIGHEST if times.of(one)), None)
    measured_ns = times.of(name) if name else None
    if not name or not measured_ns:
        return []
    shortened_ns = measured_ns - stalls.stalled_s * SECOND_NS
    if shortened_ns > 0 and limit.level(measured_ns / shortened_ns - 1) == "sound":
        return []
    least_ns = _least_ns(tables, stalls, name)
    if not least_ns:
        return []
    without = f"without that it is {wording.seconds(least_ns / SECOND_NS)} or more"
    sentence = f"{stalled}: {name} is {wording.seconds(measured_ns / SECOND_NS)}, {without}"
    return [found(limit, max(measured_ns / least_ns - 1, 0.0), sentence, QUIET_HOST)]


def _least_ns(tables: Tables, stalls: DriverStalls, name: str) -> float | None:
    return driver_stalls.quantile_without(
        tables.recording, tables.requests, stalls, QUANTILES[name]
    )


def _stalls(tables: Tables) -> DriverStalls | None:
    return driver_stalls.of_trial(tables.recording, tables.usage, tables.stalls, tables.holds)


def _of_host(tables: Tables) -> str:
    """The host, of several, whose load generator stalled for longest; empty for the only one."""
    pauses = {
        one.host: one.driver.longest_pause_ns or 0
        for one in tables.recording.hosts
        if one.driver is not None
    }
    return f" of `{max(pauses, key=lambda host: pauses[host])}`" if pauses else ""


def _is_by_others(tables: Tables, stalls: DriverStalls) -> bool:
    """Whether waits for a core explain its stalls, each by those about the time of it.

    A hypervisor knows no longest one.
    """
    explained_s = (min(told[1], _waited_s(tables, *told)) for told in stalls.told)
    return sum(explained_s) >= LIKELY * stalls.stalled_s


def _waited_s(tables: Tables, reading: Window, length_s: float) -> float:
    """How long it waited for cores about the time of a reading that tells of a stall."""
    is_long = length_s >= LONG_PAUSE_S
    return disturbance.driver_waited_s(
        tables.recording, tables.usage, [reading], only_stolen=is_long
    )


def _cause(tables: Tables, verdict: Verdict) -> Cause | None:
    """The load generator stalled for so long that it shows in what it measured."""
    stalls = _stalls(tables) if verdict.is_doubting else None
    if stalls is None or stalls.longest_s < min(STALL_S, STALL_RATIO * tables.held_s):
        return None
    clause = f"the load generator stalled for {wording.seconds(stalls.longest_s)}"
    is_long = stalls.longest_s >= STALL_S
    return Cause(verdict.check, clause, "long_stall" if is_long else "short_stall")


ROLE = Role(tells=_cause, cancels_in_turns=True)
