"""Did the trial run to its end, and were its holds as long as asked for?

Measured is the difference between the length of the holds as they ran and as they were asked for,
divided by the latter. Only Plimsoll's own engine ends a hold to the millisecond; other drivers end
some tenths of a second late and divide by the time that passed, so theirs are only ever too short.
A trial that ended with an error is void whatever its length: a server that died had a load it could
not bear, or a fault, and its numbers are those of its last minutes.

Source: a rate is a count divided by the time that really passed, so that time is checked first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.verdicts import wording
from plimsoll.verdicts.finding import Finding, found, unknown, verdict

if TYPE_CHECKING:
    from plimsoll.aggregate.trial import Tables
    from plimsoll.recording import Recording
    from plimsoll.verdicts.limits import Limit, Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "ran_to_its_end"
SOURCE = "length of the holds against the load asked for"


def judge(tables: Tables, limits: Limits) -> Verdict:
    """Whether the trial ran to its end."""
    recording = tables.recording
    limit = limits.of(NAME, "short_ratio")
    finding = _failed(recording, limit) or _length(tables, limit)
    return verdict(NAME, recording.trial, [finding], SOURCE)


def _failed(recording: Recording, limit: Limit) -> Finding | None:
    """What ended the trial before its time, if anything did."""
    ending, driver = recording.ending, recording.driver
    if ending.kind != "completed":
        reason = ending.message or ending.kind
        remedy = ending.hint or "Look into `server.log` and `driver.log` of the trial"
        return Finding("void", None, limit, f"the trial failed: {reason}", remedy)
    if driver is not None and driver.ended_by == "storage":
        sentence = "the driver stopped because it could not write its rows"
        return Finding("void", None, limit, sentence, "Make room on the disk and repeat the trial")
    return None


def _length(tables: Tables, limit: Limit) -> Finding:
    recording = tables.recording
    asked_s = sum(
        stage["duration_s"] for stage in recording.load.get("stages", ()) if stage["kind"] == "hold"
    )
    ran_s = sum(end - start for start, end in tables.holds) / 1e9
    if not asked_s:
        return unknown(limit, "how long the hold should be is not recorded", "")
    if recording.driver is not None and recording.driver.ended_by == "request_limit":
        sentence = f"the load ended after the number of requests asked for, {_ran(ran_s)}"
        return found(limit, 0.0, sentence, "")
    is_late = ran_s > asked_s and recording.driver is not None and bool(recording.driver.figures)
    apart_s = 0.0 if is_late else abs(ran_s - asked_s)
    return found(
        limit,
        apart_s / asked_s,
        f"of {wording.seconds(asked_s)} that the load was to be held it was held for {_ran(ran_s)}"
        if apart_s > limit_s(limit, asked_s)
        else f"the load was held for {_ran(ran_s)}, as asked for",
        "Repeat the trial and let it run to its end",
    )


def limit_s(limit: Limit, asked_s: float) -> float:
    """The difference in seconds from which on a hold is not as long as asked for."""
    return asked_s * (limit.doubtful if limit.doubtful is not None else limit.void or 0.0)


def _ran(ran_s: float) -> str:
    return wording.seconds(ran_s) if ran_s else "no time at all"
