"""The lab's side of loads that take turns and that several hosts generate together.

Each turn begins at an instant some milliseconds ahead, which every host is told by its own clock:
so orders travel before the turn, and nothing travels in it. All hosts begin it at the time of the
load at which the last of them had ended the one before, so their clocks stand still alike.
"""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, cast

from plimsoll.drivers.turning import CommonStart, DriverUse, EngineTurn, is_over
from plimsoll.errors import PlimsollError
from plimsoll.hosts.answers import HostStatus
from plimsoll.hosts.host_job import HostJob
from plimsoll.hosts.lab import clocks, combined, copying
from plimsoll.hosts.lab.combined import Driving
from plimsoll.hosts.lab.control import of_work
from plimsoll.hosts.lab.driver import parts
from plimsoll.storage.parquet import writing

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from plimsoll.drivers.job import DriverJob, DriverResult
    from plimsoll.hosts.answers import HostResult, StepState
    from plimsoll.hosts.lab.clocks import ClockExchange, ClockRelation
    from plimsoll.hosts.lab.control import Lab

AHEAD_S = 0.01
"""From the order to take a turn until its begin, in seconds: longer than the order travels.

Where a host was late, the next turns have so much more.
"""

AHEAD_MOST_S = 0.1
"""The longest that it becomes, in seconds."""

WAIT_S = 2.0
"""How long a host keeps a question whether it is done before it says that it is not, in seconds."""

SIGN_S = 2.0
"""How often the lab gives a sign of life to hosts whose loads rest, in seconds."""

Bursts = dict[str, list[tuple["ClockExchange", ...]]]
"""Exchanges of readings with the clock of each host."""


class TurningHosts:
    """The hosts of a lab that generate load, once they have joined."""

    def __init__(self, lab: Lab) -> None:
        """No load rests."""
        self._lab = lab
        self._keys = map(str, count())

    @contextmanager
    def resting(self, job: DriverJob) -> Generator[HostsLoad]:
        """A load that rests on all hosts, ready for its first turn; it is stopped at the end.

        Raises:
            PlimsollError: An engine did not start, or a host is gone.
        """
        load = HostsLoad(self._lab, next(self._keys), job)
        try:
            load.arm()
            with load.awake():
                yield load
        finally:
            load.release()


@dataclass
class HostsLoad:
    """One load that takes turns on several hosts; made by `TurningHosts`.

    Attributes:
        process: None: the engines run elsewhere.
        zero_ns: Zero of the load by the lab's clock; 0 before its first turn.
        has_ended: Whether its schedule is over, or its requests are sent, and no turn follows.
    """

    _lab: Lab
    _key: str
    _job: DriverJob
    process: None = None
    zero_ns: int = 0
    has_ended: bool = False
    _at_ns: int = 0
    _ahead_s: float = AHEAD_S
    _bursts: Bursts = field(default_factory=lambda: defaultdict(list))
    _late_ns: dict[str, int] = field(default_factory=lambda: defaultdict[str, int](int))
    _late_sum_ns: dict[str, int] = field(default_factory=lambda: defaultdict[str, int](int))

    @property
    def _names(self) -> list[str]:
        return [host.name for host in self._lab.hosts.drivers]

    def arm(self) -> None:
        """Has every host start its engine, and waits until all rest.

        Raises:
            PlimsollError: One did not start.
        """
        hosts = self._lab.hosts
        self._compare_clocks()
        orders = {
            host.name: (self._key, HostJob.of(self._job, host, hosts, part))
            for host, part in zip(hosts.drivers, parts(hosts, 0), strict=True)
        }
        self._ordered("arm_turns", orders)
        self._done()

    def turn(self, duration_ns: int) -> EngineTurn:
        """Gives it a turn in which requests begin for so long; returns when the last has ended.

        Raises:
            PlimsollError: An engine, or a host, is gone.
        """
        self._ordered("read_before_turn", dict.fromkeys(self._names, (self._key,)))
        known = self._relations()
        begin_ns = time.monotonic_ns() + round(self._ahead_s * 1e9)
        starts = {name: CommonStart(known[name].host_ns(begin_ns), self._at_ns) for name in known}
        orders = {name: (self._key, duration_ns, start) for name, start in starts.items()}
        self._ordered("take_turn", orders)
        turns = cast("Mapping[str, EngineTurn]", self._done())
        began_ns = {name: known[name].lab_ns(turns[name].start_monotonic_ns) for name in turns}
        first_ns = min(began_ns.values())
        late_s = (max(began_ns.values()) - begin_ns) / 1e9
        self._ahead_s = min(max(self._ahead_s, AHEAD_S + late_s), AHEAD_MOST_S)
        for name, at_ns in began_ns.items():
            self._late_ns[name] = max(self._late_ns[name], at_ns - first_ns)
            self._late_sum_ns[name] += at_ns - first_ns
        return self._taken(turns, first_ns)

    def finish(self) -> DriverResult:
        """Ends it, early when its schedule is not over; rows are in a folder for each host.

        Raises:
            PlimsollError: An engine ended with an error, or a host is gone.
        """
        self._ordered("end_turns", dict.fromkeys(self._names, (self._key, self._at_ns)))
        results = cast("Mapping[str, HostResult]", self._done())
        self._compare_clocks()
        hosts = self._lab.hosts
        driving = [
            Driving(
                host,
                part,
                self._bursts[host.name],
                status=HostStatus(),
                result=results[host.name],
                late_ns=self._late_ns[host.name],
                late_sum_ns=self._late_sum_ns[host.name],
            )
            for host, part in zip(hosts.drivers, parts(hosts, self.zero_ns), strict=True)
        ]
        with writing(self._job.into):
            for name, result in results.items():
                try:
                    self._fetch(name, result)
                except PlimsollError as error:
                    raise of_work(name, error) from error
        return combined.of(driving, self._job)

    def release(self) -> None:
        """Stops its engines, and removes what they have left; hosts that are gone do so alone."""
        self._lab.order_each("release_turns", dict.fromkeys(self._names, (self._key,)))

    @contextmanager
    def awake(self) -> Generator[None]:
        """Gives signs of life as long as the block runs, and compares clocks."""
        is_over = threading.Event()
        signs = threading.Thread(target=self._sign, args=(is_over,), name="signs", daemon=True)
        signs.start()
        try:
            yield
        finally:
            is_over.set()
            signs.join()

    def _sign(self, is_over: threading.Event) -> None:
        compared_s = time.monotonic()
        while not is_over.wait(SIGN_S):
            self._lab.order_each("poll", dict.fromkeys(self._names, ()))
            if time.monotonic() - compared_s >= clocks.EVERY_S:
                compared_s = time.monotonic()
                try:
                    self._compare_clocks()
                except PlimsollError:  # the next turn says who is gone
                    return

    def _compare_clocks(self) -> None:
        for name in self._names:
            self._bursts[name].append(self._lab.clock(name))

    def _relations(self) -> dict[str, ClockRelation]:
        return {name: clocks.related(self._bursts[name]) for name in self._names}

    def _taken(self, turns: Mapping[str, EngineTurn], first_ns: int) -> EngineTurn:
        """The turn of all hosts as one."""
        told = combined.progress([turn.progress for turn in turns.values()])
        start_ns, self._at_ns = self._at_ns, max(turn.end_ns for turn in turns.values())
        self.zero_ns = self.zero_ns or first_ns
        progress = told or next(iter(turns.values())).progress
        self.has_ended = is_over(self._job.load, self._at_ns, progress.requests_ended)
        return EngineTurn(
            start_ns=start_ns,
            end_ns=self._at_ns,
            start_monotonic_ns=first_ns,
            requests=sum(turn.requests for turn in turns.values()),
            failures=sum(turn.failures for turn in turns.values()),
            progress=progress,
            used=_used(turns),
        )

    def _ordered(
        self, order: str, arguments: Mapping[str, tuple[object, ...]]
    ) -> Mapping[str, object]:
        """What an order gives on each host.

        Raises:
            PlimsollError: The error of a host, with its name.
        """
        given = self._lab.order_each(order, arguments)
        for host, one in given.items():
            if isinstance(one, PlimsollError):
                raise of_work(host, one)
        return given

    def _done(self) -> dict[str, object]:
        """What the last work of each host gave, once all have ended it.

        Raises:
            PlimsollError: The error of a host, with its name.
        """
        done: dict[str, object] = {}
        while left := [name for name in self._names if name not in done]:
            states = self._ordered("turned", dict.fromkeys(left, (self._key, WAIT_S)))
            for host, state in cast("Mapping[str, StepState]", states).items():
                if state.error is not None:
                    raise of_work(host, state.error)
                if state.has_ended:
                    done[host] = state.given
        return {name: done[name] for name in self._names}

    def _fetch(self, host: str, result: HostResult) -> None:
        """Takes what a host recorded.

        Raises:
            PlimsollError: The host is gone, or what came is not what was sent.
        """
        folder = self._job.into / host
        folder.mkdir()
        for file in result.files:
            order = ("read_turned", self._key, file.name)
            copying.fetch(self._lab, host, file, folder / file.name, order)


def _used(turns: Mapping[str, EngineTurn]) -> DriverUse:
    """What the load generators of all hosts used; unknown where that of one is."""
    uses = [turn.used or DriverUse(None, None) for turn in turns.values()]
    cpu_ns = [use.cpu_ns for use in uses if use.cpu_ns is not None]
    delay_ns = [use.delay_ns for use in uses if use.delay_ns is not None]
    return DriverUse(
        sum(cpu_ns) if len(cpu_ns) == len(uses) else None,
        sum(delay_ns) if len(delay_ns) == len(uses) else None,
    )
