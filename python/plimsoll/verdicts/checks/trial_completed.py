"""Did the trial run to its end, and were its measurement windows as long as requested?

The check measures the difference between the actual and the requested length of the windows,
divided by the requested length. Only Plimsoll's own engine ends a window to the millisecond. Other
drivers end some tenths of a second late and divide by the time that passed, so theirs can only be
too short.

In turns, the turn of the warm-up ends with its last response, which may lie in the window. What is
left of the window is measured; where responses take as long as the load, nothing is.

A trial that ended with an error is void whatever its length: its server failed or could not carry
the load, and its numbers describe the minutes before that. A trial is also void if from some
instant on every attempt to connect was refused and no response came.

Source: a rate is a count divided by the time that really passed, so that time is checked first.
"""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.recording.ran import ran
from plimsoll.verdicts.finding import Finding, Remedy, found, not_checked, of_trial
from plimsoll.verdicts.limits import PROPOSAL, Limit
from plimsoll.verdicts.role import Cause, Role

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plimsoll.aggregate.trial import Tables
    from plimsoll.recording import Recording
    from plimsoll.verdicts.limits import Limit, Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "trial_completed"
TITLE = "Trial completed"
PROBLEM = "Trial incomplete"
LOGS = Remedy("Read `server.log` and `driver.log` of the trial", "Read the server's log")
SERVER_LOG = Remedy("Read `server.log` of the trial", "Read the server's log")
REPEAT_WHOLE = Remedy(
    "Repeat the trial and let it run to its end", "Repeat the load and let it run to its end"
)
LONGER_THAN_RESPONSES = Remedy(
    "Hold the load for many times as long as a response takes, or measure without `turns`"
)
SOURCE = "length of the measurement windows against the requested load"
SHORT_RATIO = Limit(
    NAME,
    "short_ratio",
    "above",
    0.01,
    0.05,
    "ratio",
    "difference between the length of the measurement windows and the requested one / requested",
    PROPOSAL,
)
WARM_UP_RATIO = Limit(
    NAME,
    "warm_up_ratio",
    "above",
    0.2,
    0.8,
    "ratio",
    "part of the measurement windows in which the turn of the warm-up went on / the windows",
    PROPOSAL,
)
LIMITS = (
    SHORT_RATIO,
    WARM_UP_RATIO,
)
NEEDS = None
DRIVER_FAILED = frozenset({"EngineFailed", "DriverFailed", "DriverMissing", "StorageError"})
"""Errors that end a trial by the load generator."""
SERVER_FAILED = frozenset({"DiedUnderLoad", "StartFailed", "NotReady"})
"""Errors that end a trial by the server."""


def judge(tables: Tables, limits: Limits) -> Verdict:
    """Whether the trial ran to its end."""
    recording = tables.recording
    limit = limits.of(SHORT_RATIO)
    if ended := _failed(recording, limit) or _gone(tables, limit):
        return of_trial(NAME, recording, [ended], SOURCE)
    findings = [_length(tables, limit), *_after_warm_up(recording, limits.of(WARM_UP_RATIO))]
    return of_trial(NAME, recording, findings, SOURCE)


def _failed(recording: Recording, limit: Limit) -> Finding | None:
    """What ended the trial before its time, if anything did."""
    ending, driver = recording.ending, recording.driver
    if recording.is_interrupted:
        sentence = f"not judged: interrupted {ran(recording.stages, recording.load)}"
        return Finding("void", None, limit, sentence, REPEAT_WHOLE)
    if ending.kind != "completed":
        reason = ending.message or ending.kind
        remedy = ending.hint or LOGS
        return Finding("void", None, limit, f"the trial failed: {reason}", remedy)
    if driver is not None and driver.ended_by == "storage":
        sentence = "the load generator stopped because it could not write its rows"
        return Finding("void", None, limit, sentence, "Free disk space, and repeat the load")
    return None


def _gone(tables: Tables, limit: Limit) -> Finding | None:
    """That nothing listened on the port from some instant on."""
    if tables.gone_ns is None:
        return None
    since = wording.seconds(tables.gone_ns / 1e9)
    sentence = f"from {since} on, nothing listened on the port: the server exited under load"
    return Finding("void", None, limit, sentence, SERVER_LOG)


def _length(tables: Tables, limit: Limit) -> Finding:
    recording = tables.recording
    requested_s = sum(stage.duration_s for stage in recording.load.stages if stage.kind == "hold")
    ran_s = tables.held_s
    if not requested_s:
        return not_checked(limit, "the requested length of the measurement window is not recorded")
    if recording.driver is not None and recording.driver.ended_by == "request_limit":
        sentence = f"the load ended after the requested number of requests, in {_ran(ran_s)}"
        return found(limit, 0.0, sentence, "")
    is_interrupted = recording.driver is not None and recording.driver.ended_by == "interrupt"
    by = "the load was interrupted" if is_interrupted else "the load ended early or late"
    is_late = (
        ran_s > requested_s and recording.driver is not None and bool(recording.driver.figures)
    )
    apart_s = 0.0 if is_late else abs(ran_s - requested_s)
    return found(
        limit,
        apart_s / requested_s,
        f"{by}: the measurement window lasted {_ran(ran_s)} of "
        f"{wording.seconds(requested_s)} requested"
        if apart_s > limit_s(limit, requested_s)
        else f"the measurement window lasted {_ran(ran_s)}, as requested",
        REPEAT_WHOLE,
    )


def _after_warm_up(recording: Recording, limit: Limit) -> Iterator[Finding]:
    """How much of the window the turn of the warm-up took, where servers took turns."""
    if not recording.turns or not recording.holds:
        return
    first = next(iter(recording.held_turns), None)
    before = takewhile(lambda turn: turn is not first, recording.turns)
    late_ns = sum(turn.duration_ns for turn in before) - recording.holds[0].start_ns
    ratio = 1.0 if first is None else max(late_ns, 0) / recording.held_ns
    if limit.level(ratio) == "sound":
        return
    sentence = (
        "the last responses of the warm-up came when the measurement window was over"
        if first is None
        else f"the last responses of the warm-up came {wording.percent(ratio)} into the window"
    )
    yield found(limit, ratio, sentence, LONGER_THAN_RESPONSES)


def limit_s(limit: Limit, requested_s: float) -> float:
    """The difference in seconds from which on a window is not as long as requested."""
    return requested_s * (limit.doubtful if limit.doubtful is not None else limit.void or 0.0)


def _ran(ran_s: float) -> str:
    return wording.seconds(ran_s) if ran_s else "0 s"


def _cause(tables: Tables, verdict: Verdict) -> Cause | None:
    """The load generator, or the server, ended before the trial did, or the user ended it."""
    kind, driver = tables.recording.ending.kind, tables.recording.driver
    if kind in DRIVER_FAILED:
        return Cause(verdict.check, "the load generator failed, and its rows are lost")
    if kind in SERVER_FAILED or tables.gone_ns is not None:
        return Cause(verdict.check, "the server exited before the load ended")
    if driver is not None and driver.ended_by == "interrupt":
        return Cause(verdict.check, "the load was interrupted", "interruption")
    return None


ROLE = Role(tells=_cause, needs_no_time=True, judges_interrupted=True)
