"""Several hosts as one driver: each generates its part of the load, and what they measured is one.

All engines start at one instant, which every host is told by its own clock. Connections, arrivals
and requests are divided among the threads of all hosts as one engine divides them among its own. So
the load is exactly that of one large host.
"""

from __future__ import annotations

import errno
import os
import shutil
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from ipaddress import ip_address
from itertools import accumulate
from typing import TYPE_CHECKING, cast

from plimsoll import wording
from plimsoll.drivers import records
from plimsoll.drivers.job import LoadPart
from plimsoll.drivers.records import ROWS
from plimsoll.errors import (
    HostLost,
    InputError,
    Interrupted,
    PlimsollError,
    Problem,
    StorageError,
)
from plimsoll.hosts import counts, disk, network
from plimsoll.hosts.counts import HostCounts
from plimsoll.hosts.host import require_divisible
from plimsoll.hosts.host_job import HostJob
from plimsoll.hosts.lab import clocks, combined, control, copying, fitness
from plimsoll.hosts.lab.combined import Driving
from plimsoll.hosts.lab.control import of_host
from plimsoll.recording import KeptRows
from plimsoll.recording.ran import ended_early

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Sequence
    from pathlib import Path

    from plimsoll.campaign.load import Load
    from plimsoll.drivers.job import DriverCallbacks, DriverJob, DriverResult
    from plimsoll.hosts.answers import CountState, HostFile, HostResult, Stayed, StepState
    from plimsoll.hosts.host import Hosts
    from plimsoll.hosts.lab.control import Lab

COUNTED_S = 0.5
"""From one look at a host that counts its rows to the next, in seconds."""

KEPT_S = 0.1
"""From one look at a host that puts its rows aside to the next, in seconds."""

FOLDER = "%Y%m%dT%H%M%S.%fZ"
"""When a load began, in the name of a folder of rows that stay on their host.

The name of the host follows: several may have one home folder.
"""


@dataclass
class _Course:
    """How far the load of all hosts has come.

    Attributes:
        compared_s: When clocks were compared last.
        is_to_end: Whether it is to end early.
    """

    compared_s: float
    is_to_end: bool = False

    def end(self) -> None:
        """Ends it early."""
        self.is_to_end = True

    def is_comparison_due(self) -> bool:
        """Whether clocks are to be compared now; then the next time is later."""
        is_due = time.monotonic() - self.compared_s >= clocks.EVERY_S
        self.compared_s = time.monotonic() if is_due else self.compared_s
        return is_due

    def pause(self, hosts: int, left_s: float) -> None:
        """Waits until so many hosts are looked at again, or until it is to end."""
        until_s = time.monotonic() + network.ask_s(hosts, 0.0 if self.is_to_end else left_s)
        was_to_end = self.is_to_end
        while (wait_s := until_s - time.monotonic()) > 0 and self.is_to_end == was_to_end:
            time.sleep(min(wait_s, network.SOON_S))


class HostsDriver:
    """The load generators of all hosts of a lab, once they have joined."""

    def __init__(self, lab: Lab, tell: Callable[[str], None], *, leaves_rows: bool = False) -> None:
        """Has not driven yet.

        Args:
            lab: The lab.
            tell: Told of a host that is lost, and of rows that stay on hosts.
            leaves_rows: Whether rows stay on their hosts if their copy is interrupted; else nothing
                of that load is kept.
        """
        self._lab = lab
        self._tell = tell
        self._leaves_rows = leaves_rows

    def drive(self, job: DriverJob, watch: DriverCallbacks) -> DriverResult:
        """Puts on the load and waits for its end.

        A host that is lost ends its own part only: what the others measured is kept, with what was
        lost.

        Args:
            job: What to do; every host has its own cores and threads.
            watch: Its callbacks.

        Raises:
            StorageError: What hosts recorded cannot be written here.
            KeyboardInterrupt: A signal while files are copied, and rows do not stay.
            Interrupted: A signal came before any host had begun.
            PlimsollError: What kept a host from starting, or no host ran to its end.
        """
        driving = self._armed(job)
        zero_ns = driving[0].part.start_monotonic_ns
        watch.zero(zero_ns)
        self._watch(driving, watch, zero_ns, zero_ns + round(job.load.duration_s * 1e9))
        for one in driving:
            if one.error is not None and one.is_unable(zero_ns):
                raise of_host(one.host.name, one.error)
        watched = [one for one in driving if one.error is None]
        with watch.interruption.deferred():
            self._compare_clocks(watched)
            for one in watched:
                self._collect(one)
        _require_begun(watched, watch, job.load)
        with disk.named(job.into, disk.RECORD_ELSEWHERE):
            measured = [one for one in watched if one.result]
            stopped = self._stopped(measured, job.into)
            with watch.interruption.deferred():
                are_here = self._are_taken(measured, job.into, stopped)
                together = combined.of(driving, job)
                return together if are_here else self._counted(driving, together, job)

    def _armed(self, job: DriverJob) -> list[Driving]:
        """Every host, armed; the parts have the start by the lab's clock.

        Raises:
            PlimsollError: A host cannot generate its part.
        """
        hosts = self._lab.hosts
        bursts = {host.name: [self._lab.clock(host.name)] for host in hosts.drivers}
        zero_ns = time.monotonic_ns() + round(hosts.lead_s * 1e9)
        driving = [
            Driving(host, part, bursts[host.name])
            for host, part in zip(hosts.drivers, parts(hosts, zero_ns), strict=True)
        ]
        jobs = {one.host.name: (_job(job, one, hosts),) for one in driving}
        for host, given in self._lab.order_each("arm", jobs).items():
            if isinstance(given, PlimsollError):
                self._end(driving)
                raise of_host(host, given)
        return driving

    def _watch(
        self, driving: list[Driving], watch: DriverCallbacks, zero_ns: int, end_ns: int
    ) -> None:
        """Looks at every host until each has ended, or is lost; one that cannot begin ends all."""
        course = _Course(time.monotonic())
        with watch.interruption.deferred(course.end):
            while left := [one for one in driving if not one.is_over]:
                is_due = course.is_comparison_due()
                for one in left:
                    self._ask(one, with_clock=is_due)
                course.pause(len(left), (end_ns - time.monotonic_ns()) / 1e9)
                for one in left:
                    _hear(one)
                if any(one.is_unable(zero_ns) for one in driving):
                    course.end()
                self._announce([one for one in left if one.error is not None], driving, zero_ns)
                told = [one.progress for one in driving if one.progress is not None]
                progress = combined.progress(told)
                if progress is not None and not watch.progress(progress):
                    course.end()
                if course.is_to_end:
                    self._end(left)

    def _announce(self, lost: Iterable[Driving], driving: list[Driving], zero_ns: int) -> None:
        """Says at once which hosts were lost, where others continue."""
        if all(one.error is not None for one in driving):
            return
        for one in lost:
            if one.error is not None and not one.is_unable(zero_ns):
                reason = of_host(one.host.name, one.error).message
                when = one.lost_between(zero_ns)
                self._tell(f"{reason}, {when} of the load: others continue, and it is void")

    def _ask(self, one: Driving, *, with_clock: bool) -> None:
        """Asks a host for what it has not been asked for."""
        if one.polled is None:
            one.polled = self._lab.begin_order(one.host.name, "poll")
        if with_clock and one.clocked is None:
            one.clocked = self._lab.begin_clock(one.host.name)

    def _compare_clocks(self, driving: Iterable[Driving]) -> None:
        for one in driving:
            if one.error is None:
                try:
                    one.bursts.append(self._lab.clock(one.host.name))
                except PlimsollError as error:
                    one.fail(error)

    def _end(self, driving: Iterable[Driving]) -> None:
        self._lab.order_each("end", {one.host.name: () for one in driving})

    def _collect(self, one: Driving) -> None:
        """Takes what a host measured, without its files."""
        try:
            one.result = cast("HostResult", copying.patiently(self._lab, one.host.name, "collect"))
        except PlimsollError as error:
            one.fail(error)

    def _are_taken(
        self, driving: Sequence[Driving], into: Path, stopped: PlimsollError | None
    ) -> bool:
        """Whether rows were copied; else they stay where they are, and the rest is copied.

        They stay if that was requested, if there is no room for them here, or if the copy is
        interrupted: nothing is lost, and they can be fetched later.

        Args:
            driving: Hosts that measured something.
            into: Where their files go.
            stopped: What stopped the copy of rows; None if nothing did.

        Raises:
            StorageError: Rows stay that only the lab can count; it names where they are.
        """
        if self._lab.hosts.keep_rows != "remote":
            if stopped is None:
                names = {one.host.name: () for one in driving if one.result}
                self._lab.order_each("release", names)
                return True
            if any(one.result and one.result.driven.rows for one in driving):
                raise self._left_behind(driving, stopped)
            self._tell(f"{stopped.message}: rows stay on their hosts")
        self._copy(driving, into, without=ROWS)
        return False

    def _stopped(self, driving: Sequence[Driving], into: Path) -> PlimsollError | None:
        """Copies everything, unless rows are to stay; what stopped that, or None.

        What an interrupted copy leaves is continued by whoever fetches the rows.

        Raises:
            KeyboardInterrupt: The copy was interrupted, and rows do not stay then.
        """
        if self._lab.hosts.keep_rows == "remote":
            return None
        try:
            _require_room(driving, into)
            self._copy(driving, into)
        except OSError as error:
            for one in driving:
                shutil.rmtree(into / one.host.name, ignore_errors=True)
            return disk.disk_error(error, into, disk.RECORD_ELSEWHERE)
        except KeyboardInterrupt:
            if not self._leaves_rows:
                raise
            return Interrupted("a signal ended the copy of rows", "fetch them later")
        return None

    def _left_behind(self, driving: Sequence[Driving], stopped: PlimsollError) -> StorageError:
        """The error of a load whose rows only the lab can count, and which stay on their hosts."""
        found = self._stayed(driving, time.time_ns())
        places = wording.listed([f"`{place.folder}` of `{host}`" for host, place in found.items()])
        tools = {one.result.driven.driver.name for one in driving if one.result}
        command = f"`plimsoll import {next(iter(tools))}`"
        hint = f"copy them from there, and {command}; or load again where there is room"
        return StorageError(f"{stopped.message}: rows stay on their hosts, in {places}", hint)

    def _copy(self, driving: Iterable[Driving], into: Path, without: Sequence[str] = ()) -> None:
        """Copies the files of hosts, but for those of some names.

        Raises:
            OSError: They cannot be written.
        """
        for one in driving:
            folder = into / one.host.name
            folder.mkdir(exist_ok=True)
            try:
                for file in one.result.files if one.result else ():
                    if file.name not in without:
                        self._fetch(one.host.name, file, folder)
            except PlimsollError as error:
                one.fail(error)
                one.result = None

    def _fetch(self, host: str, described: HostFile, folder: Path) -> None:
        """Copies a file of a load.

        Raises:
            HostLost: The host is gone, and did not come back.
            EngineFailed: What came is not what was sent.
        """
        order = ("read", described.name)
        copying.fetch(self._lab, host, described, folder / described.name, order)

    def _counted(
        self, driving: list[Driving], together: DriverResult, job: DriverJob
    ) -> DriverResult:
        """What all hosts gave back, with what they counted of their rows, which stay there.

        Raises:
            PlimsollError: A host could not count, or could not keep its rows.
        """
        holds = tuple((one.start_ns, one.end_ns) for one in together.stages if one.kind == "hold")
        shifts = {one.host: one.zero_ns for one in together.hosts if one.driver is not None}
        for host, shift_ns in shifts.items():
            copying.patiently(self._lab, host, "count", holds, shift_ns)
        parts = [self._counts_of(host, job.into / host) for host in shifts]
        held_s = sum(end - start for start, end in holds) / 1e9
        figures = counts.figures(parts, job.load, together.driver, held_s)
        places = self._stayed(driving, together.zero_utc_ns)
        kept = {
            one.host.name: _kept(places[one.host.name], one.result)
            for one in driving
            if one.result is not None
        }
        return replace(
            together,
            driver=replace(together.driver, figures=figures, uses_reported_statistics=True),
            figures=figures,
            hosts=tuple(replace(one, kept=kept.get(one.host)) for one in together.hosts),
        )

    def _counts_of(self, host: str, folder: Path) -> HostCounts:
        """What a host has counted, once it has; its times come to a folder.

        Raises:
            PlimsollError: It could not.
        """
        state = cast("CountState", self._ended(host, "counted", COUNTED_S))
        files = {kind: state.times[kind] for kind in counts.KINDS}
        for described in files.values():
            self._fetch(host, described, folder)
        packed = {kind: (folder / file.name).read_bytes() for kind, file in files.items()}
        return HostCounts(state.counts, packed)

    def _ended(self, host: str, order: str, every_s: float) -> CountState | StepState:
        """How something that a host does stands once it has ended, by an order that tells.

        Raises:
            PlimsollError: It failed, or the host is gone.
        """
        while True:
            state = cast("CountState | StepState", copying.patiently(self._lab, host, order))
            if state.error is not None:
                raise of_host(host, state.error)
            if state.has_ended:
                return state
            time.sleep(every_s)

    def _stayed(self, driving: Iterable[Driving], begin_utc_ns: int) -> dict[str, Stayed]:
        """Has every host put its rows where they stay; gives where that is.

        Raises:
            PlimsollError: One could not.
        """
        name = datetime.fromtimestamp(begin_utc_ns / 1e9, UTC).strftime(FOLDER)
        hosts = [one.host.name for one in driving if one.result is not None]
        for host in hosts:
            copying.patiently(self._lab, host, "keep", f"{name}-{host}")
        return {host: self._stayed_at(host) for host in hosts}

    def _stayed_at(self, host: str) -> Stayed:
        """Where the rows of a host are, once it has put them there.

        Raises:
            PlimsollError: It could not.
        """
        state = cast("StepState", self._ended(host, "keeping", KEPT_S))
        with suppress(HostLost):  # the next load, or the end of the agent, removes the rest
            self._lab.order(host, "release")
        place = cast("Stayed", state.given)
        if place.error is not None:
            reason = of_host(host, place.error).message
            self._tell(f"{reason}: its rows are in `{place.folder}`")
        return place


@contextmanager
def joined(
    hosts: Hosts,
    connections: int,
    address: str,
    tell: Callable[[str], None],
    *,
    leaves_rows: bool = False,
) -> Generator[HostsDriver]:
    """The driver of all hosts, for as long as the block runs.

    Args:
        hosts: The hosts.
        connections: The most connections that the load requests at one time.
        address: Address and port of the server.
        tell: Told whom the lab waits for, and who is lost.
        leaves_rows: Whether rows stay on their hosts if their copy is interrupted.

    Raises:
        InputError: The load cannot be divided among these hosts.
        HostError: The lab cannot listen, or a host does not join or is not fit for the load.
    """
    require_divisible(hosts, connections, "connections")
    _require_reachable(hosts, address)
    with control.opened(hosts) as lab:
        lab.wait([host.name for host in hosts.drivers], tell)
        fitness.require(lab, hosts.drivers, connections)
        yield HostsDriver(lab, tell, leaves_rows=leaves_rows)


def _require_begun(driving: Iterable[Driving], watch: DriverCallbacks, load: Load) -> None:
    """Requires a load that a signal did not end before it began.

    Raises:
        Interrupted: It did, and no host has sent anything.
    """
    results = [one.result for one in driving if one.result is not None]
    if watch.interruption.count and results and not any(one.driven.stages for one in results):
        raise Interrupted(f"{ended_early((), load)}; nothing was recorded")


def _kept(place: Stayed, result: HostResult) -> KeptRows:
    """What a recording says of rows that stayed on a host."""
    files = {file.name: file for file in result.files if file.name in ROWS}
    size_bytes = files[ROWS[0]].size_bytes if ROWS[0] in files else 0
    return KeptRows(
        place.folder,
        size_bytes // records.record_dtype("requests").itemsize,
        {name: file.sha256 for name, file in files.items()},
    )


def _require_room(driving: Iterable[Driving], into: Path) -> None:
    """Requires space for rows, and for the tables that they become.

    Raises:
        OSError: There is not enough.
    """
    files = [file for one in driving if one.result for file in one.result.files]
    if 2 * sum(file.size_bytes for file in files) > shutil.disk_usage(into).free:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _hear(one: Driving) -> None:
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
        raise InputError([Problem("url", message, "give the server's address in the network")])


def _job(job: DriverJob, one: Driving, hosts: Hosts) -> HostJob:
    """The job of a host, with the start by its own clock."""
    clock = clocks.related(one.bursts)
    start_ns = clock.host_ns(one.part.start_monotonic_ns)
    return HostJob.of(job, one.host, hosts, replace(one.part, start_monotonic_ns=start_ns))
