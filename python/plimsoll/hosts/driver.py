"""Several hosts as one driver: each generates its part of the load, and what they measured is one.

All engines start at one instant, which every host is told by its own clock. Connections, arrivals
and requests are divided among the threads of all hosts as one engine divides them among its own. So
the load is exactly that of one large host.
"""

from __future__ import annotations

import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from ipaddress import ip_address
from itertools import accumulate
from typing import TYPE_CHECKING, TypeVar, cast

from plimsoll.drivers import records
from plimsoll.drivers.job import DriverResult, HostRows, LoadPart
from plimsoll.errors import (
    DriverFailed,
    InputError,
    PlimsollError,
    Problem,
)
from plimsoll.events import Progress
from plimsoll.hosts import clocks, control, copying, counts, fitness, network
from plimsoll.hosts.agent import ROWS, HostResult, HostStatus
from plimsoll.hosts.control import of_host
from plimsoll.hosts.counts import HostCounts
from plimsoll.hosts.host import require_divisible
from plimsoll.hosts.host_job import HostJob
from plimsoll.recording import DecodedBodies, HostClock, HostDriver, KeptRows

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Mapping
    from concurrent.futures import Future
    from pathlib import Path

    from plimsoll.drivers.job import DriverCallbacks, DriverJob, Rows
    from plimsoll.hosts.agent import CountState, HostFile
    from plimsoll.hosts.clocks import ClockExchange
    from plimsoll.hosts.control import Lab
    from plimsoll.hosts.host import Host, Hosts
    from plimsoll.recording import Driver, RecordedStage
    from plimsoll.recording.tls import NegotiatedTls

COUNTED_S = 0.5
"""From one look at a host that counts its rows to the next, in seconds."""

CLOCKS_S = 10.0
"""How often clocks are compared during a load, in seconds."""

FOLDER = "%Y%m%dT%H%M%S.%fZ"
"""Name of a folder of rows that stay on their host: when their load began."""

K = TypeVar("K")


@dataclass
class _Driving:
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

    def fail(self, error: PlimsollError) -> None:
        """Notes the error that ended it."""
        self.error, self.lost_ns = error, time.monotonic_ns()

    @property
    def is_over(self) -> bool:
        return self.error is not None or self.status.has_ended


class HostsDriver:
    """The load generators of all hosts of a lab, once they have joined."""

    def __init__(self, lab: Lab) -> None:
        """Has not driven yet."""
        self._lab = lab

    def drive(self, job: DriverJob, watch: DriverCallbacks) -> DriverResult:
        """Puts on the load and waits for its end.

        A host that is lost ends its own part only: what the others measured is kept, with what was
        lost.

        Args:
            job: What to do; every host has its own cores and threads.
            watch: Its callbacks.

        Raises:
            PlimsollError: What kept a host from starting, or no host ran to its end.
        """
        driving = self._armed(job)
        zero_ns = driving[0].part.start_monotonic_ns
        watch.zero(zero_ns)
        self._watch(driving, watch, zero_ns)
        for one in driving:
            if one.error is not None and one.lost_ns < zero_ns:
                raise of_host(one.host.name, one.error)
        watched = [one for one in driving if one.error is None]
        self._compare_clocks(watched)
        for one in watched:
            self._collect(one, job.into)
        combined = _combined(driving, job, zero_ns)
        if self._lab.hosts.keep_rows == "remote":
            return self._counted(driving, combined, job)
        return combined

    def _armed(self, job: DriverJob) -> list[_Driving]:
        """Every host, armed; the parts have the start by the lab's clock.

        Raises:
            PlimsollError: A host cannot generate its part.
        """
        hosts = self._lab.hosts
        bursts = {host.name: [self._lab.clock(host.name)] for host in hosts.drivers}
        zero_ns = time.monotonic_ns() + round(hosts.lead_s * 1e9)
        driving = [
            _Driving(host, part, bursts[host.name])
            for host, part in zip(hosts.drivers, parts(hosts, zero_ns), strict=True)
        ]
        jobs = {one.host.name: (_job(job, one, hosts),) for one in driving}
        for host, given in self._lab.order_each("arm", jobs).items():
            if isinstance(given, PlimsollError):
                self._end(driving)
                raise of_host(host, given)
        return driving

    def _watch(self, driving: list[_Driving], watch: DriverCallbacks, zero_ns: int) -> None:
        """Looks at every host until each has ended, or is lost; one too few at zero ends all."""
        is_to_end, compared_s = False, time.monotonic()

        def end() -> None:
            nonlocal is_to_end
            is_to_end = True

        with watch.interruption.deferred(end):
            while left := [one for one in driving if not one.is_over]:
                is_due = time.monotonic() - compared_s >= CLOCKS_S
                compared_s = time.monotonic() if is_due else compared_s
                for one in left:
                    self._ask(one, with_clock=is_due)
                time.sleep(network.ask_s(len(left)))
                for one in left:
                    _hear(one)
                is_to_end |= any(one.error and one.lost_ns < zero_ns for one in driving)
                progress = _progress(driving)
                if (progress is not None and not watch.progress(progress)) or is_to_end:
                    self._end(left)

    def _ask(self, one: _Driving, *, with_clock: bool) -> None:
        """Asks a host for what it has not been asked for."""
        if one.polled is None:
            one.polled = self._lab.begin_order(one.host.name, "poll")
        if with_clock and one.clocked is None:
            one.clocked = self._lab.begin_clock(one.host.name)

    def _compare_clocks(self, driving: Iterable[_Driving]) -> None:
        for one in driving:
            if one.error is None:
                try:
                    one.bursts.append(self._lab.clock(one.host.name))
                except PlimsollError as error:
                    one.fail(error)

    def _end(self, driving: Iterable[_Driving]) -> None:
        self._lab.order_each("end", {one.host.name: () for one in driving})

    def _collect(self, one: _Driving, into: Path) -> None:
        """Takes what a host measured, and its rows unless they stay there."""
        name = one.host.name
        stay = ROWS if self._lab.hosts.keep_rows == "remote" else ()
        try:
            result = cast("HostResult", copying.patiently(self._lab, name, "collect"))
            folder = into / name
            folder.mkdir()
            for file in result.files:
                if file.name not in stay:
                    self._fetch(name, file, folder)
            if not stay:
                self._lab.order(name, "release")
        except PlimsollError as error:
            one.fail(error)
        else:
            one.result = result

    def _fetch(self, host: str, described: HostFile, folder: Path) -> None:
        """Copies a file of a load.

        Raises:
            HostLost: The host is gone, and did not come back.
            EngineFailed: What came is not what was sent.
        """
        order = ("read", described.name)
        copying.fetch(self._lab, host, described, folder / described.name, order)

    def _counted(
        self, driving: list[_Driving], combined: DriverResult, job: DriverJob
    ) -> DriverResult:
        """What all hosts gave back, with what they counted of their rows, which stay there.

        Raises:
            PlimsollError: A host could not count, or could not keep its rows.
        """
        holds = tuple((one.start_ns, one.end_ns) for one in combined.stages if one.kind == "hold")
        shifts = {one.host: one.zero_ns for one in combined.hosts if one.driver is not None}
        ordered = self._lab.order_each("count", {host: (holds, shifts[host]) for host in shifts})
        for host, given in ordered.items():
            if isinstance(given, PlimsollError):
                raise of_host(host, given)
        parts = [self._counts_of(host, job) for host in shifts]
        held_s = sum(end - start for start, end in holds) / 1e9
        figures = counts.figures(parts, job.load, combined.driver, held_s)
        name = datetime.fromtimestamp(combined.zero_utc_ns / 1e9, UTC).strftime(FOLDER)
        kept = {
            one.host.name: self._kept(one.host.name, one.result, name)
            for one in driving
            if one.result is not None
        }
        return replace(
            combined,
            driver=replace(combined.driver, figures=figures, uses_reported_statistics=True),
            figures=figures,
            hosts=tuple(replace(one, kept=kept.get(one.host)) for one in combined.hosts),
        )

    def _counts_of(self, host: str, job: DriverJob) -> HostCounts:
        """What a host has counted, once it has.

        Raises:
            PlimsollError: It could not.
        """
        while not (state := cast("CountState", self._lab.order(host, "counted"))).has_ended:
            time.sleep(COUNTED_S)
        if state.error is not None:
            raise of_host(host, state.error)
        kind = counts.shown_times(job.load)
        described = state.times[kind]
        folder = job.into / host
        self._fetch(host, described, folder)
        return HostCounts(state.counts, {kind: (folder / described.name).read_bytes()})

    def _kept(self, host: str, result: HostResult, name: str) -> KeptRows:
        """Has a host put its rows where they stay.

        Raises:
            PlimsollError: It could not.
        """
        folder = str(copying.patiently(self._lab, host, "keep", name))
        self._lab.order(host, "release")
        files = {file.name: file for file in result.files if file.name in ROWS}
        size_bytes = files[ROWS[0]].size_bytes if ROWS[0] in files else 0
        return KeptRows(
            folder,
            size_bytes // records.record_dtype("requests").itemsize,
            {name: file.sha256 for name, file in files.items()},
        )


@contextmanager
def joined(
    hosts: Hosts, connections: int, address: str, tell: Callable[[str], None]
) -> Generator[HostsDriver]:
    """The driver of all hosts, for as long as the block runs.

    Args:
        hosts: The hosts.
        connections: The most connections that the load requests at one time.
        address: Address and port of the server.
        tell: Told whom the lab waits for.

    Raises:
        InputError: The load cannot be divided among these hosts.
        HostError: The lab cannot listen, or a host does not join or is not fit for the load.
    """
    require_divisible(hosts, connections, "--connections")
    _require_reachable(hosts, address)
    with control.opened(hosts) as lab:
        lab.wait([host.name for host in hosts.drivers], tell)
        fitness.require(lab, hosts.drivers, connections)
        yield HostsDriver(lab)


def _hear(one: _Driving) -> None:
    """Takes what a host has answered so far; each is asked again when it has."""
    try:
        if one.clocked is not None and one.clocked.done():
            one.bursts.append(one.clocked.result())
            one.clocked = None
        if one.polled is not None and one.polled.done():
            one.status = one.polled.result()
            one.polled = None
    except PlimsollError as error:
        one.fail(error)
    else:
        if one.status.error is not None:
            one.fail(one.status.error)


def parts(hosts: Hosts, zero_ns: int) -> list[LoadPart]:
    """The part of each host that generates load.

    Args:
        hosts: The hosts.
        zero_ns: Zero of the load by the lab's clock.
    """
    firsts = accumulate((host.thread_count for host in hosts.drivers), initial=0)
    return [
        LoadPart(first, hosts.thread_count, zero_ns)
        for first, _ in zip(firsts, hosts.drivers, strict=False)
    ]


def _require_reachable(hosts: Hosts, address: str) -> None:
    """Requires an address of the server that means the same machine on every host.

    Raises:
        InputError: It is loopback, and a host is another machine.
    """
    others = [host.name for host in hosts.drivers if not host.address.is_loopback]
    if ip_address(address.rpartition(":")[0].strip("[]")).is_loopback and others:
        message = f"`{others[0]}` cannot reach the server at {address}, which is a loopback address"
        raise InputError([Problem("URL", message, "give the server's address in the network")])


def _job(job: DriverJob, one: _Driving, hosts: Hosts) -> HostJob:
    """The job of a host, with the start by its own clock."""
    clock = clocks.related(one.bursts)
    start_ns = clock.host_ns(one.part.start_monotonic_ns)
    return HostJob.of(job, one.host, hosts, replace(one.part, start_monotonic_ns=start_ns))


def _progress(driving: list[_Driving]) -> Progress | None:
    """The progress of all hosts together; percentiles do not add up, so there are none."""
    known = [one.status.progress for one in driving if one.status.progress is not None]
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
    )


def _combined(driving: list[_Driving], job: DriverJob, zero_ns: int) -> DriverResult:
    """What all hosts gave back, as one.

    Raises:
        PlimsollError: No host ran to its end: the error of the first.
    """
    results = {one.host.name: one.result for one in driving if one.result is not None}
    if not results:
        first = next(one for one in driving if one.error is not None)
        raise of_host(first.host.name, first.error or DriverFailed("it was lost"))
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
    return DriverResult(
        driver=_summed([result.driven.driver for result in results.values()]),
        zero_monotonic_ns=first_ns,
        zero_utc_ns=time.time_ns() - (time.monotonic_ns() - first_ns),
        stages=_stages([result.driven.stages for result in results.values()]),
        readings=tuple(readings),
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
    one: _Driving,
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
        share=one.host.thread_count / one.part.of,
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
    )


def _summed(drivers: list[Driver]) -> Driver:
    """The drivers of all hosts as one; numbers of cores mean nothing across hosts."""
    first = drivers[0]
    agreed = Counter["NegotiatedTls"]()
    for tls in (tls for driver in drivers for tls in driver.tls):
        agreed[replace(tls, connections=0)] += tls.connections
    ends = [driver.ended_by for driver in drivers]
    return replace(
        first,
        cores=(),
        threads=sum(driver.threads for driver in drivers),
        ended_by="interrupt" if "interrupt" in ends else first.ended_by,
        cpu_s=sum(driver.cpu_s or 0.0 for driver in drivers),
        peak_rss_bytes=sum(driver.peak_rss_bytes or 0 for driver in drivers),
        connections_requested=sum(driver.connections_requested or 0 for driver in drivers),
        requests_lost_by_recorder=sum(driver.requests_lost_by_recorder for driver in drivers),
        bodies_compared=sum(driver.bodies_compared for driver in drivers),
        redirects=sum(driver.redirects for driver in drivers),
        decoded=DecodedBodies(
            bodies=sum(driver.decoded.bodies for driver in drivers),
            coded_bytes=sum(driver.decoded.coded_bytes for driver in drivers),
            decoded_bytes=sum(driver.decoded.decoded_bytes for driver in drivers),
        ),
        sent=sum(driver.sent or 0 for driver in drivers),
        outcomes=_added(driver.outcomes for driver in drivers),
        opened=sum(driver.opened or 0 for driver in drivers),
        refused=sum(driver.refused or 0 for driver in drivers),
        longest_pause_ns=max(driver.longest_pause_ns or 0 for driver in drivers),
        tls=tuple(replace(tls, connections=count) for tls, count in agreed.items()),
        figures=None,  # what a tool prints on each host does not add up
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
