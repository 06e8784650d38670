"""Did the load generator of every host run to its end, and lose nothing on the way?

The check measures which share of the requested load has no rows, because a host, its agent or the
network to it was lost. The server had less load than requested from then on, so any share is void;
the verdict reports how much of the load ran until then, unless its length is that of its requests.
Every other host must have as many rows as its engine counted, and must have opened the requested
connections, unless it ran out of requests before it needed them.

Source: conservation of requests, host by host; share · (length that ran / length), summed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.verdicts.finding import Finding, found, inapplicable, led_by, not_checked, of_trial
from plimsoll.verdicts.limits import PROPOSAL, Limit
from plimsoll.verdicts.role import Role

if TYPE_CHECKING:
    from plimsoll.aggregate.trial import Tables
    from plimsoll.recording import Driver, HostDriver, Recording
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "drivers_completed"
TITLE = "Drivers completed"
PROBLEM = "Load generator lost"
SOURCE = "results of each host against its share of the load"
LOST_RATIO = Limit(
    NAME,
    "lost_ratio",
    "above",
    None,
    0.0,
    "ratio",
    "share of the requested load without rows, because a host was lost",
    "the load is the sum over all load generators",
)
ROWS_DIFFER = Limit(
    NAME,
    "rows_differ",
    "above",
    None,
    0.0,
    "rows",
    "difference between the rows of a host and its engine's counters",
    "every request is counted exactly once",
)
UNOPENED_RATIO = Limit(
    NAME,
    "unopened_ratio",
    "above",
    0.0,
    0.05,
    "ratio",
    "connections requested from a host and never opened / requested",
    PROPOSAL,
)
LIMITS = (LOST_RATIO, ROWS_DIFFER, UNOPENED_RATIO)
NEEDS = None
ROLE = Role(needs_no_time=True)
REPEAT = "Check the agent on that host and the network to it, then repeat the load"


def judge(tables: Tables, limits: Limits) -> Verdict:
    """Whether every load generator ran to its end."""
    recording = tables.recording
    if not recording.hosts:
        finding = inapplicable(limits.of(LOST_RATIO), "one load generator took part")
        return of_trial(NAME, recording, [finding], SOURCE)
    others = [_differing(tables, limits), _unopened(recording, limits)]
    return of_trial(NAME, recording, led_by(_lost(recording, limits), *others), SOURCE)


def _lost(recording: Recording, limits: Limits) -> Finding:
    limit = limits.of(LOST_RATIO)
    length_ns = sum(stage.duration_s for stage in recording.load.stages) * 1e9
    lost = [one for one in recording.hosts if one.driver is None]
    if not lost or not length_ns:
        sentence = f"all {len(recording.hosts)} load generators ran to their end"
        return found(limit, 0.0, sentence, "")
    losses = "; ".join(f"`{one.host}` {_when(one)}: {one.error}" for one in lost)
    without = f"rows are missing from {wording.listed([f'`{one.host}`' for one in lost])}"
    if recording.load.model != "unknown" and recording.load.is_timed:
        missing = sum(one.share * max(0.0, 1 - one.ended_ns / length_ns) for one in lost)
        without = f"{wording.percent(1 - missing)} of the requested load ran; {without}"
    return found(limit, sum(one.share for one in lost), losses, REPEAT, without)


def _when(one: HostDriver) -> str:
    return f"was lost, last report at {wording.seconds(one.ended_ns / 1e9)} into the load"


def _differing(tables: Tables, limits: Limits) -> Finding:
    """Rows of each host against the counters of its load generator."""
    counted_by = {
        one.host: (one, counted)
        for one in tables.recording.hosts
        if one.driver is not None and (counted := _counted(one.driver)) is not None
    }
    if not counted_by:
        name = tables.recording.driver_name
        return not_checked(limits.of(ROWS_DIFFER), f"`{name}` counts no requests beside its rows")
    differing = {
        host: (
            tables.host_requests.get(host, 0) if one.kept is None else one.kept.requests,
            counted,
        )
        for host, (one, counted) in counted_by.items()
    }
    host, (rows, counted) = max(differing.items(), key=lambda item: abs(item[1][0] - item[1][1]))
    sentence = (
        f"`{host}` counted {wording.count(counted)} requests, and {wording.count(rows)} have rows"
    )
    return found(limits.of(ROWS_DIFFER), float(abs(rows - counted)), sentence, REPEAT)


def _counted(driver: Driver) -> int | None:
    """Requests by its own counters; None of a tool that has none."""
    return sum(driver.outcomes.values()) if driver.outcomes else driver.sent


def _unopened(recording: Recording, limits: Limits) -> Finding:
    """Connections that each host was asked for against those it opened."""
    missing = {
        one.host: _missing(one.driver, one.driver.connections_requested, one.driver.opened)
        for one in recording.hosts
        if one.driver is not None
        and one.driver.connections_requested
        and one.driver.opened is not None
    }
    if not missing:
        name = recording.driver_name
        return not_checked(limits.of(UNOPENED_RATIO), f"`{name}` does not count its connections")
    host = max(missing, key=lambda name: missing[name])
    sentence = f"`{host}` did not open {wording.percent(missing[host])} of its connections"
    remedy = "Compare the limits of that host with the others': `plimsoll host check`"
    return found(limits.of(UNOPENED_RATIO), missing[host], sentence, remedy)


def _missing(driver: Driver, requested: int, opened: int) -> float:
    """Share of the requested connections that are missing.

    A connection without a request is never opened: at the end of a number of requests, only those
    are missing that a host tried to open.
    """
    unopened = max(0, requested - opened)
    if driver.ended_by == "request_limit":
        unopened = min(unopened, driver.refused or 0)
    return unopened / requested
