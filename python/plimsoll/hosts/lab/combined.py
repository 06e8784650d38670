"""What several hosts did, as one driver's: counters are added, rows and readings get one axis."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

from plimsoll import wording
from plimsoll.drivers.job import DriverResult, HostRows, LoadPart
from plimsoll.errors import DriverFailed, PlimsollError
from plimsoll.events import Progress
from plimsoll.hosts.answers import HostResult, HostStatus
from plimsoll.hosts.host import share_of_threads
from plimsoll.hosts.lab import clocks, printed
from plimsoll.hosts.lab.control import of_work
from plimsoll.recording import DecodedBodies, HostClock, HostDriver

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from concurrent.futures import Future
    from pathlib import Path

    from plimsoll.campaign.load import Load
    from plimsoll.drivers.job import DriverJob, Rows
    from plimsoll.hosts.host import Host
    from plimsoll.hosts.lab.clocks import ClockExchange
    from plimsoll.recording import Driver, RecordedStage
    from plimsoll.recording.tls import NegotiatedTls

K = TypeVar("K")


@dataclass
class Driving:
    """What is known of one host while it drives.

    Attributes:
        host: The host.
        part: Its part of the load.
        bursts: Exchanges of readings with its clock.
        status: How its load stands.
        polled: The status that it was asked for; None if it was not asked.
        clocked: The exchanges that it was asked for.
        error: The error that ended it early; None if there is none.
        lost_ns: When that was found out, by the lab's clock.
        result: What it measured; None until it handed that over.
        late_ns: How much later than the first host it began the turn in which it was latest.
        late_sum_ns: The same of all its turns, added up.
    """

    host: Host
    part: LoadPart
    bursts: list[tuple[ClockExchange, ...]]
    status: HostStatus = field(default_factory=HostStatus)
    polled: Future[HostStatus] | None = None
    clocked: Future[tuple[ClockExchange, ...]] | None = None
    error: PlimsollError | None = None
    lost_ns: int = 0
    result: HostResult | None = None
    late_ns: int = 0
    late_sum_ns: int = 0

    def fail(self, error: PlimsollError) -> None:
        """Notes the error that ended it."""
        self.error, self.lost_ns = error, time.monotonic_ns()

    def is_unable(self, zero_ns: int) -> bool:
        """Whether it ended before it generated anything.

        Args:
            zero_ns: Zero of the load by the lab's clock.
        """
        never_began = self.status.error is not None and self.status.zero_monotonic_ns is None
        return self.error is not None and (never_began or self.lost_ns < zero_ns)

    def lost_between(self, zero_ns: int) -> str:
        """The span in which it was lost: from its last report until the lab noticed.

        Args:
            zero_ns: Zero of the load by the lab's clock.
        """
        reported_s = 0.0 if self.status.progress is None else self.status.progress.at_s
        noticed_s = max((self.lost_ns - zero_ns) / 1e9, reported_s)
        first, last = (wording.decimals(at_s, 1) for at_s in (reported_s, noticed_s))
        return f"between {first} and {last} s"

    @property
    def progress(self) -> Progress | None:
        """Its progress; of one that is lost what has ended, and nothing is open."""
        known = self.status.progress
        if known is None or self.error is None:
            return known
        return replace(
            known, connections_open=0, in_flight=0, throughput_per_s=0.0, driver_busy_cores=0.0
        )

    @property
    def is_over(self) -> bool:
        """Whether nothing more comes of it."""
        return self.error is not None or self.status.has_ended


def progress(known: Sequence[Progress]) -> Progress | None:
    """The progress of all hosts together; percentiles do not add up, so there are none.

    Args:
        known: The progress of each that has told some; None where none has.
    """
    if not known:
        return None
    latest = max(known, key=lambda one: one.at_s)
    return Progress(
        at_s=latest.at_s,
        stage=latest.stage,
        connections_requested=sum(one.connections_requested for one in known),
        connections_open=sum(one.connections_open for one in known),
        in_flight=sum(one.in_flight for one in known),
        throughput_per_s=sum(one.throughput_per_s for one in known),
        requests_ended=sum(one.requests_ended for one in known),
        outcomes=_added(one.outcomes for one in known),
        connections_opened=sum(one.connections_opened for one in known),
        connections_refused=sum(one.connections_refused for one in known),
        driver_busy_cores=sum(one.driver_busy_cores or 0.0 for one in known),
        driver_threads=sum(one.driver_threads or 0 for one in known),
        statuses=_added(one.statuses for one in known),
        counted=all(one.counted for one in known),
    )


def of(driving: list[Driving], job: DriverJob) -> DriverResult:
    """What all hosts gave back, as one.

    Args:
        driving: What is known of each.
        job: What they did.

    Raises:
        HostLost: No host ran to its end, and the first is lost, or its disk is full.
        PlimsollError: The same, with another error of the first.
    """
    results = {one.host.name: one.result for one in driving if one.result is not None}
    if not results:
        first = next(one for one in driving if one.error is not None)
        raise of_work(first.host.name, first.error or DriverFailed("it was lost"))
    relations = {one.host.name: clocks.related(one.bursts) for one in driving}
    zeros = {
        name: relations[name].lab_ns(result.driven.zero_monotonic_ns)
        for name, result in results.items()
    }
    first_ns = min(zeros.values())
    readings = [
        replace(reading, at_ns=relations[name].lab_ns(reading.at_ns), host=name)
        for name, result in results.items()
        for reading in result.readings
    ]
    driver = _summed([result.driven.driver for result in results.values()])
    return DriverResult(
        driver=driver,
        zero_monotonic_ns=first_ns,
        zero_utc_ns=time.time_ns() - (time.monotonic_ns() - first_ns),
        stages=_stages([result.driven.stages for result in results.values()]),
        readings=tuple(readings),
        figures=driver.figures,
        hosts=tuple(
            _host_driver(one, relations[one.host.name], zeros.get(one.host.name), first_ns, job)
            for one in driving
        ),
        machines={name: result.machine for name, result in results.items()},
        rows=_rows(results, zeros, first_ns, job.into),
    )


def _rows(
    results: Mapping[str, HostResult], zeros: Mapping[str, int], first_ns: int, into: Path
) -> Rows | None:
    """The files in which other load generators wrote their requests, as they lie in the lab."""
    written = {
        name: result.driven.rows
        for name, result in results.items()
        if result.driven.rows is not None
    }
    hosts = tuple(
        HostRows(
            name,
            tuple(into / name / path.name for path in rows.files),
            results[name].driven.zero_utc_ns - (zeros[name] - first_ns),
        )
        for name, rows in written.items()
    )
    return next(
        (
            replace(rows, files=tuple(path for one in hosts for path in one.files), hosts=hosts)
            for rows in written.values()
        ),
        None,
    )


def _host_driver(
    one: Driving,
    relation: clocks.ClockRelation,
    zero_ns: int | None,
    first_ns: int,
    job: DriverJob,
) -> HostDriver:
    reached_s = one.status.progress.at_s if one.status.progress is not None else 0.0
    ended_ns = round(min(reached_s, job.load.duration_s) * 1e9)
    if one.result is not None:
        ended_ns = one.result.driven.stages[-1].end_ns if one.result.driven.stages else 0
    return HostDriver(
        host=one.host.name,
        share=_share(one, job.load),
        clock=HostClock(
            relation.host_ns(first_ns) - first_ns,
            relation.drift,
            relation.round_trip_ns,
            relation.bound_ns,
        ),
        zero_ns=0 if zero_ns is None else zero_ns - first_ns,
        ended_ns=ended_ns,
        driver=None if one.result is None else one.result.driven.driver,
        error="" if one.error is None else one.error.message,
        link=None if one.result is None else one.result.link,
        late_ns=one.late_ns,
        late_sum_ns=one.late_sum_ns,
    )


def _share(one: Driving, load: Load) -> float:
    """Its share of what was requested: that of the connections, to which arrivals are dealt."""
    own = range(one.part.first, one.part.first + one.host.thread_count)
    connections = load.peak_connections
    return share_of_threads(connections, own, one.part.of) / connections


def _summed(drivers: list[Driver]) -> Driver:
    """The drivers of all hosts as one; numbers of cores mean nothing across hosts."""
    first = drivers[0]
    agreed = Counter["NegotiatedTls"]()
    for tls in (tls for driver in drivers for tls in driver.tls):
        agreed[replace(tls, connections=0)] += tls.connections
    ends = [driver.ended_by for driver in drivers]
    streams = [one.fewest_streams for one in drivers if one.fewest_streams is not None]
    pauses_ns = [one.longest_pause_ns for one in drivers if one.longest_pause_ns is not None]
    return replace(
        first,
        cores=(),
        threads=sum(driver.threads for driver in drivers),
        ended_by="interrupt" if "interrupt" in ends else first.ended_by,
        cpu_s=printed.total(driver.cpu_s for driver in drivers),
        peak_rss_bytes=printed.total(driver.peak_rss_bytes for driver in drivers),
        connections_requested=printed.total(driver.connections_requested for driver in drivers),
        requests_lost_by_recorder=sum(driver.requests_lost_by_recorder for driver in drivers),
        bodies_compared=sum(driver.bodies_compared for driver in drivers),
        redirects=sum(driver.redirects for driver in drivers),
        decoded=DecodedBodies(
            bodies=sum(driver.decoded.bodies for driver in drivers),
            coded_bytes=sum(driver.decoded.coded_bytes for driver in drivers),
            decoded_bytes=sum(driver.decoded.decoded_bytes for driver in drivers),
        ),
        sent=printed.total(driver.sent for driver in drivers),
        sent_bytes=printed.total(driver.sent_bytes for driver in drivers),
        unsent_bytes=sum(driver.unsent_bytes for driver in drivers),
        fewest_streams=min(streams, default=None),
        outcomes=_added(driver.outcomes for driver in drivers),
        opened=printed.total(driver.opened for driver in drivers),
        refused=printed.total(driver.refused for driver in drivers),
        longest_pause_ns=max(pauses_ns, default=None),
        tls=tuple(replace(tls, connections=count) for tls, count in agreed.items()),
        figures=printed.together([driver.figures for driver in drivers]),
    )


def _stages(ran: list[tuple[RecordedStage, ...]]) -> tuple[RecordedStage, ...]:
    """The stages as the host ran them that got furthest."""
    return max(ran, key=lambda stages: stages[-1].end_ns if stages else 0)


def _added(counts: Iterable[Mapping[K, int]]) -> dict[K, int]:
    """Counts by kind, added up."""
    total = Counter[K]()
    for one in counts:
        total.update(one)
    return dict(total)
