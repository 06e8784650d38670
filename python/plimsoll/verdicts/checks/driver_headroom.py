"""Did the load generator have processor time to spare?

The check measures the busiest second of the load generator's busiest core: its own time there,
without that of other programs. Beyond the limit the load generator holds a closed load back: it
reads responses late and sends the next requests late, so throughput and latency are in part its
own.

Time in which other programs used its cores, or the host of a virtual machine
withheld them, is not its own limit: `undisturbed` judges that. Would the load generator have
exceeded the limit with the time that others took from its cores or from a saturated server's? Then
the question is open, and the verdict is "not checked". Of several hosts the busiest counts: its
part of the load waits for it, whatever the others have to spare.

A server that filled its own cores could not have responded to many more requests, whatever the load
generator did: throughput is too low by at most what the server had to spare. Up to 5 %, the
expected precision of the interval of a throughput, the verdict reports that and does not doubt. If
the server had more than a tenth of its cores to spare, the throughput is the load generator's.

A server without cores or workers of its own may use any number of cores. It had time to spare if
its threads ran or waited for less than nine tenths of a core. It was the limit if it does one thing
at a time, as `undisturbed` says, and was never out of work. Otherwise, and where its time cannot be
read, a busy load generator is doubtful.

The throughput of an open load is that of its schedule, and a server with time to spare is as it
should be. A busy load generator makes latencies too long there, and is doubtful at most:
`offered_rate_met` judges whether the rate was kept.

If server and load generator share cores and fill them, each took time from the other. A load
generator that used more of them than the server is doubtful.

If this host was calibrated, throughput is compared with the maximum that as many threads of the
load generator reach on cores of their own. A load generator that stalled was interrupted, and not
at its limit: `driver_uninterrupted` judges that.

Source: utilisation of the load generator; Hyperfoil warns of itself from 80 % on, Locust from 90 %.
The maximum is that of `plimsoll calibrate`; scheduler statistics (`sched-stats`) of Linux.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.aggregate import cores, disturbance
from plimsoll.verdicts.cpu_contention import cpu_contention
from plimsoll.verdicts.finding import (
    READABLE_HOST,
    Finding,
    found,
    led_by,
    not_checked,
    of_trial,
    unknown,
    unread_server,
)
from plimsoll.verdicts.limits import PROPOSAL, Limit
from plimsoll.verdicts.remedies import DRIVER_CORES, OWN_CORES
from plimsoll.verdicts.role import Role

if TYPE_CHECKING:
    from plimsoll.aggregate.disturbance import DriverPeak
    from plimsoll.aggregate.trial import Tables
    from plimsoll.aggregate.usage import Window
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "driver_headroom"
TITLE = "Driver headroom"
PROBLEM = "Load generator at its limit"
LEAST_S = 1.0
"""Readings are taken once a second: on a shorter load they are meaningless."""
SOURCE = "CPU time of load generator and server, and run delay; proc_pid_stat(5), schedstat"
DRIVER_BUSY_RATIO = Limit(
    NAME,
    "driver_busy_ratio",
    "above",
    0.8,
    0.9,
    "ratio",
    "share of its busiest core that the load generator used in its busiest second",
    "load generators warn about their own CPU use from 80 % (Hyperfoil) or 90 % (Locust)",
    of="of the load generator's time",
)
SERVER_BUSY_RATIO = Limit(
    NAME,
    "server_busy_ratio",
    "below",
    0.95,
    0.9,
    "ratio",
    "when the load generator is busy: cores the server used in the measurement window / cores "
    "available to it",
    "idle server cores bound the lost throughput; 5 % is the precision aimed at for intervals",
    of="of the server's cores",
)
CAPACITY_RATIO = Limit(
    NAME,
    "capacity_ratio",
    "above",
    0.8,
    None,
    "ratio",
    "throughput / maximum rate of the load generator by `plimsoll calibrate`",
    "as for its busiest second; never void, because a busy load generator spends less per "
    "request; a higher throughput means that the maximum is outdated",
    of="of the calibrated maximum",
)
MACHINE_BUSY_RATIO = Limit(
    NAME,
    "machine_busy_ratio",
    "above",
    0.95,
    None,
    "ratio",
    "busiest second of server and load generator together, on cores that they share",
    PROPOSAL,
    of="of the shared cores",
)
LIMITS = (
    DRIVER_BUSY_RATIO,
    SERVER_BUSY_RATIO,
    CAPACITY_RATIO,
    MACHINE_BUSY_RATIO,
)
NEEDS = None
DELAYED = "latencies contain client delays"


def judge(tables: Tables, limits: Limits) -> Verdict:
    """Whether the load generator had cores to spare, and which side was the limit."""
    beside = [
        *_calibrated(tables, limits),
        *_shared(tables, limits),
    ]
    findings = led_by(_busy(tables, limits), *beside)
    return of_trial(NAME, tables.recording, findings, SOURCE)


def _busy(tables: Tables, limits: Limits) -> Finding:
    limit = limits.of(DRIVER_BUSY_RATIO)
    peak = disturbance.driver_peak(tables.recording, tables.usage)
    if peak is None:
        sentence = "CPU use of the load generator could not be read; it may have been the limit"
        return unknown(limit, sentence, READABLE_HOST)
    server = cores.server_busy_ratio(tables.recording, tables.usage)
    finding = found(limit, peak.own, "", DRIVER_CORES)
    if finding.level == "sound":
        taken = _taken_from_it(tables, peak, server, limits)
        return taken or replace(finding, sentence=_spared(tables, peak))
    used = (
        f"{_who(peak.host)} used {wording.share(peak.own)} of {_core(tables, peak)} in its "
        "busiest second"
    )
    if tables.recording.load.model == "open":
        return replace(finding, level="doubtful", sentence=f"{used}: {DELAYED}")
    if server is None:
        return _beside_unpinned(tables, replace(finding, sentence=used), limits)
    return _beside(_wanted(tables, server), replace(finding, sentence=used), limits)


def _beside_unpinned(tables: Tables, busy: Finding, limits: Limits) -> Finding:
    """What a busy load generator means beside a server whose number of cores is unknown.

    One that does one thing at a time, and was never out of work, was the limit. One that ran and
    waited for less than a core had time to spare, whatever it can use. Otherwise it is unknown.
    """
    usage, holds = tables.usage, tables.holds
    used = cores.mean_busy_cores(usage, "server", holds)
    wanted = disturbance.runnable(usage, "server", holds)
    may_be = "the load generator may have been the limit"
    if used is None or wanted is None:
        unseen = "and what the server used is unknown"
        return replace(busy, level="doubtful", sentence=f"{busy.sentence}, {unseen}: {may_be}")
    kept = f"{busy.sentence}, the server {wording.cores(used)}"
    if disturbance.cores_of_one_at_a_time(tables.recording, usage, holds, tables.served):
        meaning = "the server works on one request at a time and was never out of work"
        return replace(busy, level="sound", sentence=kept, further=(meaning,))
    if limits.of(SERVER_BUSY_RATIO).level(wanted) != "void":
        return replace(busy, level="doubtful", sentence=f"{kept}: {may_be}")
    if busy.level == "doubtful":
        return replace(busy, sentence=f"{kept}: the load generator was close to its limit")
    return replace(busy, sentence=f"{kept}: the throughput is the load generator's")


def _wanted(tables: Tables, server: float) -> float:
    """Share of its cores that the server used, or could not use while others had them."""
    lost = disturbance.lost(tables.recording, tables.usage, tables.holds)
    return server if lost is None else min(server + lost.waited_ratio("server"), 1.0)


def _beside(server: float, busy: Finding, limits: Limits) -> Finding:
    """What a busy load generator means beside a server that had so much to do."""
    finding = found(limits.of(SERVER_BUSY_RATIO), server, "", DRIVER_CORES)
    used = f"{busy.sentence}, the server {wording.share(server)} of its cores"
    low = wording.percent(round(max(1 / max(server, 0.001) - 1, 0.001), 3))
    if finding.level == "sound":
        meaning = f"throughput is up to {low} too low, and {DELAYED}"
        return replace(finding, sentence=f"{used}: {meaning}")
    if busy.level == "doubtful":
        return replace(busy, sentence=f"{used}: the load generator was close to its limit")
    if finding.level == "doubtful":
        return replace(finding, sentence=f"{used}: throughput is up to {low} too low")
    return replace(
        finding, sentence=f"{used}: the throughput is the load generator's, not the server's"
    )


def _who(host: str) -> str:
    """The load generator; of several hosts, that of one."""
    return f"the load generator of `{host}`" if host else "the load generator"


def _spared(tables: Tables, peak: DriverPeak) -> str:
    """That the load generator was not the limit, and what it can do where that is known."""
    limited = f"{_who(peak.host)}, the busiest one," if peak.host else _who("")
    sentence = (
        f"{limited} was not the limit: it used {wording.share(peak.own)} of {_core(tables, peak)} "
        "in its busiest second"
    )
    reached = _capacity_per_s(tables)
    if reached is None or tables.summary.throughput_per_s > reached:
        return sentence
    return f"{sentence}; its calibrated maximum is {wording.count(reached)} requests/s"


def _taken_from_it(
    tables: Tables, peak: DriverPeak, server: float | None, limits: Limits
) -> Finding | None:
    """That it would have been beyond the limit without others; None where it would not."""
    limit, full = (
        limits.of(DRIVER_BUSY_RATIO),
        disturbance.full_ratio(tables.recording, tables.usage),
    )
    wanted = max(peak.wanted, _wanted_on_any_core(tables, peak))
    if server and full is not None and _at_limit(full, limits):
        wanted = max(wanted, peak.own * full / server)
    taken = cpu_contention(tables)
    if not taken or limit.level(wanted) == "sound":
        return None
    sentence = f"{_who(peak.host)} used {wording.share(peak.own)} of {_core(tables, peak)}"
    return not_checked(limit, sentence, f"{taken}, so its own limit is unknown")


def _wanted_on_any_core(tables: Tables, peak: DriverPeak) -> float:
    """The share of its threads' time with what they waited for others; on cores of its own 0."""
    lost = disturbance.lost(tables.recording, tables.usage, tables.holds)
    if lost is None or cores.are_apart(tables.recording):
        return 0.0
    return min(peak.own + lost.waited_ratio("driver"), 1.0)


def _core(tables: Tables, peak: DriverPeak) -> str:
    """What the load generator's share is of."""
    sides = cores.driver_sides(tables.recording, tables.usage)
    given = next((side.cores for side in sides if side.host == peak.host), ())
    return "its busiest core" if given else "its threads' time"


def _capacity_per_s(tables: Tables) -> float | None:
    driver = tables.recording.driver
    return driver.calibrated_capacity_per_s if driver else None


def _calibrated(tables: Tables, limits: Limits) -> list[Finding]:
    """How near the throughput came to the load generator's maximum."""
    reached = _capacity_per_s(tables)
    if not reached:
        return []
    throughput = tables.summary.throughput_per_s
    ratio = throughput / reached
    sentence = (
        f"throughput was {wording.percent(round(ratio, 3))} of the load generator's calibrated "
        f"maximum of {wording.count(reached)} requests/s"
    )
    if ratio > 1:
        outdated = "that maximum is outdated: repeat `plimsoll calibrate`"
        return [not_checked(limits.of(CAPACITY_RATIO), sentence, outdated)]
    return [found(limits.of(CAPACITY_RATIO), ratio, sentence, DRIVER_CORES)]


def _at_limit(server: float, limits: Limits) -> bool:
    return limits.of(SERVER_BUSY_RATIO).level(server) == "sound"


def _shared(tables: Tables, limits: Limits) -> list[Finding]:
    """How full server and driver made the host, where they are not kept apart."""
    recording = tables.recording
    if recording.server is None or recording.driver is None or cores.are_apart(recording):
        return []
    if recording.load.model == "unknown":
        return []
    limit = limits.of(MACHINE_BUSY_RATIO)
    if tables.held_s < LEAST_S:
        return [not_checked(limit, "the load was too short to read how busy the cores were")]
    count = len(cores.all_cores(tables.usage))
    known = [busy for window in cores.whole_seconds(recording) if (busy := _own(tables, window))]
    if not count or not known:
        sentence = "server and load generator share cores, and their CPU use could not be read"
        return [unread_server(limit, recording, sentence)]
    finding = found(limit, min(max(known) / count, 1.0), "", OWN_CORES)
    shared = f"the {wording.several(count, 'core')} that server and load generator share"
    used = f"{wording.percent(round(finding.measured or 0.0, 3))} of {shared}"
    if finding.level == "sound":
        return [replace(finding, sentence=f"they used {used}")]
    return [_saturated(tables, finding, used)]


def _saturated(tables: Tables, finding: Finding, used: str) -> Finding:
    """What it means that the cores that both share were full: whose load filled them."""
    server = cores.mean_busy_cores(tables.usage, "server", tables.holds)
    driver = cores.mean_busy_cores(tables.usage, "driver", tables.holds)
    if server is None or driver is None:
        sentence = f"{used} were busy; it is unknown which side used them"
        return replace(finding, level="doubtful", sentence=sentence)
    kept = (
        f"{used} were busy: the server used {wording.cores(server)}, the load generator "
        f"{wording.cores(driver)}"
    )
    if driver <= server:
        sentence = f"{kept}; the host was saturated, not the load generator"
        return replace(finding, level="sound", sentence=sentence)
    return replace(finding, sentence=f"{kept}, more than the server it measures")


def _own(tables: Tables, window: Window) -> float | None:
    """Cores that server and driver, and the kernel for them, kept busy; without those of others.

    None where those of others are unknown, as in the second in which the driver ended.
    """
    busy = tables.usage.rate("machine", "core_busy_s", [window])
    others = disturbance.taken_from_both(tables.recording, tables.usage, [window])
    return None if busy is None or others is None else busy - others.cores


ROLE = Role(lacks="driver")
