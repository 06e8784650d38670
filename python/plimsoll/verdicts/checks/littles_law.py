"""Little's law: requests in flight = requests ended per second × time each was in flight.

    L = λ · W

It holds over any stretch of time for anything that enters and leaves, so a gap means that
requests, connections or time were miscounted.

- L is counted by the driver's clock while it works: requests in flight, weighted by time. It is not
  derived from the rows; were it, the law would be an identity and check nothing.
- λ · W comes from the rows: the time of all requests from sent to done, however they ended, as far
  as it lies within the stretch. Requests that begin before it or end after it so count for their
  part, and there is no error at the edges. The wait between due and sent is not in flight.

The stretch is that of the driver's readings that lie in the hold by more than half. Measured is
the ratio of the second to the first.

In a closed load without pauses each open connection always has a request in flight, but for the
moment that the driver needs to send the next one. So L is also compared with the connections open.

Source: J. D. C. Little, A proof for the queuing formula L = λW, Operations Research 9(3), 1961.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.aggregate.usage import overlap
from plimsoll.verdicts import wording
from plimsoll.verdicts.finding import Finding, found, unknown, verdict

if TYPE_CHECKING:
    from plimsoll.aggregate.evidence import InFlight
    from plimsoll.aggregate.trial import Tables
    from plimsoll.aggregate.usage import Window
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "littles_law"
SOURCE = "J. D. C. Little, Operations Research 9(3), 1961"
HALF = 0.5


def judge(tables: Tables, limits: Limits) -> Verdict:
    """Whether requests in flight, throughput and times agree."""
    counted = _counted(tables)
    if counted is None:
        sentence = (
            "the driver's own count of requests in flight could not be read, so throughput and "
            "response times could not be checked against each other"
        )
        remedy = "Hold the load for some seconds, with a driver that counts requests in flight"
        findings = [unknown(limits.of(NAME, "accounted_ratio"), sentence, remedy)]
    else:
        window, mean = counted
        findings = [*_accounted(tables, limits, window, mean), *_occupied(tables, limits, mean)]
    return verdict(NAME, tables.recording.trial, findings, SOURCE)


def _counted(tables: Tables) -> tuple[Window, float] | None:
    """Stretch and mean of the driver's readings of the last hold; None when there are none."""
    if not tables.holds:
        return None
    hold = tables.holds[-1]
    inside = [
        (interval, value)
        for interval, value in tables.usage.intervals("driver", "in_flight_mean")
        if overlap(interval, hold) > HALF * (interval[1] - interval[0])
    ]
    if not inside:
        return None
    lengths = [end - start for (start, end), _ in inside]
    mean = sum(n * value for n, (_, value) in zip(lengths, inside, strict=True)) / sum(lengths)
    return (inside[0][0][0], inside[-1][0][1]), mean


def _accounted(tables: Tables, limits: Limits, window: Window, counted: float) -> list[Finding]:
    """The rows against the driver's clock."""
    told = tables.in_flight(window)
    ratio = _ratio(told.mean, counted)
    low = limits.of(NAME, "accounted_ratio")
    high = limits.of(NAME, "excess_ratio")
    if ratio is None:
        sentence = "no request was in flight in the hold, so there is nothing to check"
        return [unknown(low, sentence, "See why the driver sent nothing")]
    sentence = _sentence(counted, told, ratio)
    lack = "" if low.level(ratio) == "sound" else "; requests or time are missing from the record"
    excess = "" if high.level(ratio) == "sound" else "; more than can have been in flight"
    remedy = "Do not use this trial; repeat it, and report a fault if it happens again"
    return [
        found(low, ratio, sentence + lack, remedy),
        found(high, ratio, sentence + excess, remedy),
    ]


def _sentence(counted: float, told: InFlight, ratio: float) -> str:
    return (
        f"on average {wording.amount(counted)} requests were in flight by the driver's own count; "
        f"{wording.count(told.ended_per_s)} requests a second that took "
        f"{wording.seconds(told.time_s)} each make {wording.amount(told.mean)} "
        f"({wording.percent(round(ratio, 3))})"
    )


def _occupied(tables: Tables, limits: Limits, counted: float) -> list[Finding]:
    """The driver's clock against the connections open, where each must be in use."""
    load = tables.recording.load
    if (
        load.get("model") != "closed"
        or load.get("think_time_s")
        or not load.get("keep_alive", True)
        or load.get("requests_per_connection")
    ):
        return []
    limit = limits.of(NAME, "occupied_ratio")
    is_open = tables.usage.mean("driver", "connections_open", tables.holds[-1:])
    ratio = None if is_open is None else _ratio(counted, is_open)
    if is_open is None or ratio is None:
        sentence = "how many connections were open could not be read"
        return [unknown(limit, sentence, "Use a driver that counts its open connections")]
    sentence = (
        f"of {wording.amount(is_open)} open connections only {wording.amount(counted)} "
        f"({wording.percent(round(ratio, 3))}) had a request at the server at a time; the "
        "others waited for the driver, or were being opened again"
    )
    return [found(limit, ratio, sentence, "Give the driver more cores, or ask for less load")]


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole > 0 else None
