"""Do all clocks of the trial agree?

Within one host every instant comes from the kernel's monotonic clock: rows of the load generator
and readings of resources need no translation, and there is nothing to compare. If several hosts
took part, each has its own clock.

Clocks of several hosts that generated a load together are compared by exchanges of messages before,
during and after it, and rows are shifted by the offsets found. The check measures the greatest
remaining error: half of the shortest round trip, plus the deviation from the line of drift. It can
move a row to another second, but changes no duration, which one clock measured.

Imported logs have the offsets that the importer stated. The check measures the greatest of them.
Their timestamps may come from a clock that can be set. If the rows of a log go back once, or a few
times, all together and by half a second or more, its clock was set back (`intake.set_back`). So
much of the load is there twice in the same seconds, at twice its rate, and the measurement window
is too short by it. The durations of requests are right. Where summer time ends, dates without a
zone go back by an hour. Steps near either end of a log cannot be told from logs of several load
generators that were joined. `steady` finds a clock that was set forward, by the seconds in which
nothing was sent.

Source: clock_gettime(2), CLOCK_MONOTONIC; D. L. Mills, RFC 5905, on offsets by exchange; the bound
is that of ClockBound.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.verdicts.finding import (
    Finding,
    Remedy,
    found,
    inapplicable,
    led_by,
    of_trial,
    unknown,
)
from plimsoll.verdicts.limits import PROPOSAL, Limit, Limits
from plimsoll.verdicts.role import Cause, Role

if TYPE_CHECKING:
    from plimsoll.aggregate.trial import Tables
    from plimsoll.recording import ClockSetBack
    from plimsoll.verdicts.verdict import Verdict

NAME = "clocks_agree"
TITLE = "Clocks agree"
PROBLEM = "Clocks differ"
SOURCE = "offsets of the hosts' clocks against the first host's; RFC 5905"
OFFSET_S = Limit(
    NAME,
    "offset_s",
    "above",
    0.005,
    0.05,
    "s",
    "greatest offset of a host's clock from the first host's",
    PROPOSAL,
)
BOUND_S = Limit(
    NAME,
    "bound_s",
    "above",
    0.001,
    0.5,
    "s",
    "greatest error of a timestamp converted from one host's clock to another's",
    "above half a second, rows count for the wrong second",
)
SET_BACK_RATIO = Limit(
    NAME,
    "set_back_ratio",
    "above",
    0.0,
    0.02,
    "ratio",
    "time by which the clock of another tool's log was set back / measurement window",
    "as for seconds without a response in `steady`",
)
LIMITS = (OFFSET_S, BOUND_S, SET_BACK_RATIO)
NEEDS = None
WITHOUT_SETTING = Remedy(
    "Repeat the trial without setting the clock during it",
    imported="Repeat the test without setting the clock during it; import joined logs as one file "
    "for each load generator",
)
IN_MILLISECONDS = Remedy(
    "Log milliseconds",
    imported="Log milliseconds (`jmeter.save.saveservice.timestamp_format=ms`), or dates with "
    "their zone",
)


def judge(tables: Tables, limits: Limits) -> Verdict:
    """Whether all clocks agree, and none was set back."""
    compared = _compared if tables.recording.hosts else _finding
    findings = led_by(compared(tables, limits), *_set_back(tables, limits))
    return of_trial(NAME, tables.recording, findings, SOURCE)


def _set_back(tables: Tables, limits: Limits) -> list[Finding]:
    """Whether the clock of another tool's log went back while the order of its rows went on."""
    driver = tables.recording.driver
    if tables.recording.origin != "import" or driver is None:
        return []
    limit = limits.of(SET_BACK_RATIO)
    step = driver.clock_set_back
    if step is None:
        return [found(limit, 0.0, "the log goes on in time", "")]
    by, at = (wording.seconds(round(one_ns / 1e9, 1)) for one_ns in (step.by_ns, step.at_ns))
    whose = f" of `{step.host}`" if step.host else ""
    sentence = (
        f"the clock of the log{whose} was set back by {by}, at {at}, after "
        f"{wording.count(step.after_rows)} rows"
    )
    if step.is_summer_time:
        sentence = (
            f"summer time ended at {at}, after {wording.count(step.after_rows)} rows, and the "
            f"dates of the log{whose} have no zone"
        )
        meant = "rows of two hours have the same instants, so rates and the length are wrong"
        return [found(limit, _back_ratio(tables, step), sentence, IN_MILLISECONDS, meant)]
    meant = f"{by} of the load count twice in the same seconds, and throughput is too high"
    return [found(limit, _back_ratio(tables, step), sentence, WITHOUT_SETTING, meant)]


def _back_ratio(tables: Tables, step: ClockSetBack) -> float:
    return step.by_ns / 1e9 / tables.held_s if tables.held_s else 1.0


def _compared(tables: Tables, limits: Limits) -> Finding:
    """Clocks of hosts that generated the load together, and of that of the server."""
    recording = tables.recording
    clocks = {one.host: one.clock for one in recording.hosts}
    if recording.server is not None and recording.server.clock is not None:
        clocks[recording.server.host] = recording.server.clock
    host, worst = max(clocks.items(), key=lambda item: item[1].bound_ns)
    bound_s = worst.bound_ns / 1e9
    sentence = (
        f"the clocks of {len(clocks)} hosts are known to {wording.seconds(bound_s)} (`{host}`)"
    )
    remedy = "Free the cores of the lab and of that host, or use a shorter network path"
    return found(limits.of(BOUND_S), bound_s, sentence, remedy)


def _finding(tables: Tables, limits: Limits) -> Finding:
    limit = limits.of(OFFSET_S)
    hosts, offsets = tables.recording.machines, tables.recording.clock_offsets_ns
    if len(hosts) < 2:  # noqa: PLR2004
        return inapplicable(limit, "one host took part, with one monotonic clock")
    missing = [host for host in hosts if host not in offsets]
    if missing:
        sentence = f"the clock offset of `{missing[0]}` from the first host was not recorded"
        return unknown(limit, sentence, "Repeat the trial, with all hosts reachable")
    host, offset_ns = max(offsets.items(), key=lambda item: abs(item[1]))
    sentence = (
        f"the clocks of {len(hosts)} hosts differ by up to {wording.seconds(abs(offset_ns) / 1e9)} "
        f"(`{host}`)"
    )
    remedy = "Synchronise the clocks of the hosts (chrony, PTP) and repeat the trial"
    return found(limit, abs(offset_ns) / 1e9, sentence, remedy)


def _cause(tables: Tables, verdict: Verdict) -> Cause | None:
    """A clock that was set back by much makes seconds of twice the rate, and requests at once."""
    void = [one.limit for one in verdict.sentences if one.level == "void"]
    if SET_BACK_RATIO.name not in void:
        return None
    (finding,) = _set_back(tables, Limits())
    return Cause(verdict.check, finding.sentence, "set_clock")


ROLE = Role(tells=_cause)
