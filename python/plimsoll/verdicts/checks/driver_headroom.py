"""Which side was the limit, and had the driver some of its cores to spare?

Measured is the busiest second of the busiest core of the driver. Beyond the limit a closed load is
held back by the driver: it reads answers late and sends the next requests late, so both throughput
and times are in part its own.

Then the server decides what the number is worth. At the edge of its own cores (beyond
`server_busy_ratio`) it could not have answered many more, whatever the driver did: throughput is
short of the truth by at most the share the server had to spare, and the verdict is doubtful, never
void, because times still contain the driver's delays. Where the server had cores to spare the
driver was the limit, and the throughput is the driver's.

Where server and driver share cores nobody can say whose time a core was. A host that is full is
then doubtful, whatever the driver's own share.

A driver that stopped for a moment (longest pause) did not see what the server did meanwhile.

Source: utilisation of the load generator; Hyperfoil warns of itself from 80 % on, Locust from 90 %.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from plimsoll.aggregate.summaries import own_cores
from plimsoll.verdicts import wording
from plimsoll.verdicts.finding import Finding, found, unknown, verdict

if TYPE_CHECKING:
    from plimsoll.aggregate.trial import Tables
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "driver_headroom"
SOURCE = "busy time of the driver's cores against the server's; proc_stat(5), proc_pid_stat(5)"
MORE_CORES = "Give the driver more cores, or hosts of its own, or the server fewer cores"


def judge(tables: Tables, limits: Limits) -> Verdict:
    """Whether the driver had cores to spare, and which side was the limit."""
    findings = [_busy(tables, limits), *_shared(tables, limits), *_paused(tables, limits)]
    return verdict(NAME, tables.recording.trial, findings, SOURCE)


def _busy(tables: Tables, limits: Limits) -> Finding:
    limit = limits.of(NAME, "driver_busy_ratio")
    driver = tables.summary["driver_peak_busy_ratio"]
    if driver is None:
        sentence = "how busy the driver was could not be read, so it may have been the limit"
        return unknown(limit, sentence, "Run the driver on a host whose processes can be read")
    server = server_busy_ratio(tables)
    at_limit = limits.of(NAME, "server_busy_ratio")
    is_full = server is not None and at_limit.level(server) == "sound"
    finding = found(limit, driver, _sentence(driver, server), MORE_CORES)
    if is_full and server is not None and finding.level != "sound":
        return _joint(finding, server)
    return replace(finding, sentence=finding.sentence + _blame(finding, server, is_full))


def _sentence(driver: float, server: float | None) -> str:
    kept = (
        "how busy the server was could not be read"
        if server is None
        else f"the server kept {wording.percent(server)} of its own busy"
    )
    return f"the driver's busiest core was {wording.percent(driver)} busy, and {kept}"


def _blame(finding: Finding, server: float | None, is_full: bool) -> str:
    """Which side was the limit."""
    if finding.level == "sound":
        return ": the server was the limit" if is_full else ""
    if server is None:
        return ": the driver may have been the limit"
    if finding.level == "void":
        return ": the driver was the limit, and the throughput is the driver's, not the server's"
    return ": the driver was close to its limit before the server was"


def _joint(finding: Finding, server: float) -> Finding:
    """Both sides at their limits: throughput stands, times contain the driver's delays."""
    spare = max(1 / server - 1, 0.0)
    more = wording.percent(spare) if spare > 0 else "nothing"
    sentence = (
        f"{finding.sentence}: the server was at its limit, and could have answered {more} more at "
        "the most, but response times contain delays of the driver"
    )
    return replace(finding, level="doubtful", sentence=sentence)


def server_busy_ratio(tables: Tables) -> float | None:
    """Share of its cores that the server kept busy in the hold; None when it is unknown.

    On its own cores all that is done there counts, for the kernel works on the server's behalf.
    """
    server = tables.recording.server
    if server is None:
        return None
    count = len(server.cores) or server.workers
    busy = tables.summary["server_busy_cores"]
    if busy is None or not count:
        return None
    return min(max(busy, _own_busy(tables)) / count, 1.0)


def _own_busy(tables: Tables) -> float:
    """Cores' worth of work on the cores that the server has to itself; 0 when it has none."""
    server = tables.recording.server
    if server is None or not own_cores(tables.recording):
        return 0.0
    rates = [
        tables.usage.rate("machine", f"core{core}_busy_s", tables.holds) for core in server.cores
    ]
    return sum(rate for rate in rates if rate is not None)


def _shared(tables: Tables, limits: Limits) -> list[Finding]:
    """How full the host was, where server and driver are not kept apart."""
    recording = tables.recording
    if recording.server is None or recording.driver is None or own_cores(recording):
        return []
    limit = limits.of(NAME, "machine_busy_ratio")
    cores = _cores_used(tables)
    rows = tables.seconds.select(["stage", "machine_busy_cores"]).to_pylist()
    busy = [row["machine_busy_cores"] for row in rows if row["stage"] == "hold"]
    known = [value for value in busy if value is not None and not np.isnan(value)]
    if not cores or not known:
        sentence = "server and driver share cores, and how busy these were could not be read"
        return [unknown(limit, sentence, MORE_CORES)]
    ratio = min(max(known) / cores, 1.0)
    sentence = (
        f"server and driver share {wording.several(cores, 'core')}, which were "
        f"{wording.percent(ratio)} busy: each took time from the other"
    )
    remedy = "Give server and driver cores of their own (`server_cores`, `driver_cores`)"
    return [found(limit, ratio, sentence, remedy)]


def _cores_used(tables: Tables) -> int:
    """Cores of the host, by the number of them that were read."""
    names = {name for scope, name in tables.usage.series if scope == "machine"}
    return sum(name.startswith("core") and name[4:5].isdigit() for name in names)


def _paused(tables: Tables, limits: Limits) -> list[Finding]:
    driver = tables.recording.driver
    if driver is None or driver.longest_pause_ns is None:
        return []
    pause_s = driver.longest_pause_ns / 1e9
    sentence = (
        f"the driver stood still for {wording.seconds(pause_s)} at a time; what happened meanwhile "
        "was measured late"
    )
    remedy = "Stop what else runs on this host, and give the driver a core of its own"
    return [found(limits.of(NAME, "longest_pause_s"), pause_s, sentence, remedy)]
