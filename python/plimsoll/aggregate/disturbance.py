"""Disturbance: what others took from server and driver, and how long these waited for a core.

What others took from some cores is the busy time of these cores less that of the process trees
that had them to themselves. Others are all other programs, Plimsoll's own sampling among them, and
threads of the kernel. Time in interrupts belongs to no process: a kernel that counts it with the
interrupted task has it in the trees' time already, one that counts it apart has not, so there it is
taken off. If it is unknown which way a kernel counts, it is taken off too: then others took at
least so much.

Time that others took while no thread waited for a core cost nothing. Run delay is how long threads
of a tree did wait, for others or for each other: a tree lost to others no more than it waited, and
no more than they took.

Source: proc_stat(5), proc_pid_stat(5); CONFIG_IRQ_TIME_ACCOUNTING and the document on scheduler
statistics (`sched-stats`) of Linux.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from plimsoll.aggregate import cores
from plimsoll.aggregate.query import SECOND_NS
from plimsoll.aggregate.usage import LEAST_COVER

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plimsoll.aggregate.usage import Instants, Usage, Values, Window
    from plimsoll.recording import Recording

Side = Literal["server", "driver"]
Whose = Literal["server", "driver", "both"]

MUCH = 0.05
"""Cores; where others took so much of what was waited for, they may have been the limit."""

LEAST_SEEN = 0.5
"""Share of a tree's processor time that its threads must have been seen with to speak for it."""

NEVER_IDLE = 0.95
"""A server that ran or waited for a core for so much of the time was never out of work."""

SEVERAL = 1.5
"""Threads that can run at a time, on average, from which on a server does several things at once.
Those of an interpreter with a lock run beside each other in system calls."""

QUEUED = 2.0
"""Requests in flight by threads that can run, from which on some wait at the server."""

BUSY = 0.8
"""A load generator that ran or waited for a core for so much of the time may have set the pace."""

HALF = 0.5
"""A side that ran or waited for a core for less of the time did not set the pace."""

LEAST_READ_NS = 500_000_000
"""A shorter part of a stretch of time says nothing: processor time is counted in 10 ms."""

MARGIN_NS = 200_000_000
"""The load generator and the machine are read at other instants; a fifth of what is between."""

SIDES: tuple[Side, Side] = ("server", "driver")


@dataclass(frozen=True)
class TakenTime:
    """What others took from some cores, on average over some time.

    Attributes:
        cores: Cores that others kept busy.
        run_delay_cores: Threads of the tree, or trees, that were ready and waited for a core; None
            where the kernel does not say.
    """

    cores: float
    run_delay_cores: float | None

    @property
    def missed_cores(self) -> float:
        """The most of it that was missing: no more than was waited for."""
        return min(self.cores, self.cores if self.run_delay_cores is None else self.run_delay_cores)


def taken_from(
    recording: Recording, readings: Usage, side: Side, windows: Sequence[Window]
) -> TakenTime | None:
    """What others took from the cores of server or driver over some stretches together.

    Args:
        recording: The recording.
        readings: Its readings.
        side: Whose cores.
        windows: The stretches of time.

    Returns:
        None when any part of it is unknown, or when server and driver share cores: then it is
        unknown whose cores others took. Nothing is known of cores of drivers on other hosts.
    """
    if recording.server is None or recording.driver is None or not cores.are_apart(recording):
        return None
    given = recording.server.cores if side == "server" else recording.driver.cores
    return _taken(recording, readings, given, [side], windows)


def taken_from_both(
    recording: Recording, readings: Usage, windows: Sequence[Window]
) -> TakenTime | None:
    """What others took from the cores of server and driver, whether these share them or not.

    Where one of the two was given no cores, all cores of the host are looked at.

    Args:
        recording: The recording.
        readings: Its readings.
        windows: The stretches of time.

    Returns:
        None when any part of it is unknown.
    """
    given = cores.used_cores(recording) or cores.all_cores(readings)
    return _taken(recording, readings, given, SIDES, windows)


def full_ratio(recording: Recording, readings: Usage) -> float | None:
    """Share of the server's cores that was not free for it over the holds.

    It and the kernel for it kept so much busy, it waited for so much while others had it, or the
    host of a virtual machine withheld it.

    Args:
        recording: The recording.
        readings: Its readings.

    Returns:
        0 to 1; without what others took, if that is unknown; None when the server's own share is
        unknown too.
    """
    own = cores.server_busy_ratio(recording, readings)
    if own is None or recording.server is None:
        return own
    given = recording.server.cores
    taken = taken_from(recording, readings, "server", held(recording))
    own += cores.stolen_ratio(readings, given, held(recording))
    others = taken.missed_cores if taken else 0.0
    others += _of_third_parties(recording, readings, held(recording))
    return min(own + (others / len(given) if given else 0.0), 1.0)


def taken(
    recording: Recording, readings: Usage, windows: Sequence[Window]
) -> dict[Whose, TakenTime]:
    """What others took over some stretches, by whose cores these were.

    Args:
        recording: The recording.
        readings: Its readings.
        windows: The stretches of time.

    Returns:
        `server` and `driver` apart; `both` where they share cores; `server` where the drivers are
        on other hosts; empty when it is unknown.
    """
    windows = as_read(recording, readings, windows)
    if not cores.are_apart(recording):
        together = taken_from_both(recording, readings, windows)
        return {"both": together} if together else {}
    server = taken_from(recording, readings, "server", windows)
    driver = taken_from(recording, readings, "driver", windows)
    if recording.hosts:
        return {"server": server} if server else {}
    return {"server": server, "driver": driver} if server and driver else {}


def as_read(recording: Recording, readings: Usage, windows: Sequence[Window]) -> Sequence[Window]:
    """Some stretches, or the part of them in which server and load generator were read.

    On an overloaded machine the sampler comes late: the load generator has its first reading after
    the load began, and ends before the last one. What lies between stands for the whole then.

    Args:
        recording: The recording.
        readings: Its readings.
        windows: The stretches of time.

    Returns:
        The stretches as they are where half of them was read, or less than `LEAST_READ_NS`.
    """
    sides: Sequence[Side] = ("server",) if recording.hosts else SIDES
    parts = list(windows)
    for series in (one for side in sides for one in readings.of(side, "cpu_user_s")):
        parts = [series.covered(window) for window in parts]
    read_ns = sum(end - start for start, end in parts)
    whole_ns = sum(end - start for start, end in windows)
    if read_ns < LEAST_READ_NS or read_ns >= LEAST_COVER * whole_ns:
        return windows
    return [(start, end) for start, end in parts if end > start]


@dataclass(frozen=True)
class Lost:
    """What a trial lost to others: how long its work stood still for want of a core.

    Attributes:
        ratio: Share of the time in which no request could make progress, 0 to 1. The throughput of
            a load at full speed is too low by about as much.
        sides: Share of the time in which server, and driver, waited for cores that others had;
            `both` if it is unknown which of them did.
        stolen: Share of the time of the cores of the same sides that the host of a virtual machine
            withheld.
        least: The same share as `ratio` if both sides waited at the same time: that of the side
            that waited for longer. 0 where neither side worked or waited for half of the time, so
            that something else set the pace.
    """

    ratio: float
    sides: dict[Whose, float]
    stolen: dict[Whose, float]
    least: float

    def waited_ratio(self, whose: Whose) -> float:
        """Share of the time in which a side waited, or the host withheld its cores."""
        known = whose if whose in self.sides else "both"
        return min(self.sides.get(known, 0.0) + self.stolen_ratio(whose), 1.0)

    def stolen_ratio(self, whose: Whose) -> float:
        """The part of it in which the host withheld the cores."""
        return self.stolen.get(whose, self.stolen.get("both", 0.0))


ALONE = 1.0
"""Requests in flight of which none waits while another is served."""


@dataclass(frozen=True)
class ServiceTimes:
    """How requests were served, which bounds what waits can have cost them.

    Attributes:
        shortest_ns: The shortest service time of the trial, in nanoseconds; of several kinds of
            request the mean over the responses of that of their kind.
        mean_ns: The mean of the same stretches of time as the waits, in nanoseconds.
        in_flight: Mean number of requests in flight; None where it is unknown.
    """

    shortest_ns: float
    mean_ns: float
    in_flight: float | None = None

    @property
    def most_lost(self) -> float:
        """Share of the time that waits can have taken at most, 0 to 1.

        Every wait for a core is part of a response time. The shortest one has the fewest, so no
        mean without waits is below it.
        """
        return max(1.0 - self.shortest_ns / self.mean_ns, 0.0)


def lost(
    recording: Recording,
    readings: Usage,
    windows: Sequence[Window],
    served: ServiceTimes | None = None,
) -> Lost | None:
    """What others, and the host of a virtual machine, took from a trial that waited for it.

    A server that never idled lost what it waited for itself. Otherwise it idled while the load
    generator waited for a core, and the other way round: so what was lost is the time in which one
    of them waited, or both, as if they did so independently of each other.

    A server that does one thing at a time loses all that it waits for, whatever cores it has.

    No side can do more than keep all of its cores busy, and a request costs it what it costs. So
    where it kept 70 % of them busy, no more than 30 % was lost, however long its threads waited.
    Threads that wait for each other, as behind the lock of an interpreter, wait long and lose
    little. Nor is more lost than response times leave room for. A single request in flight waits
    for both sides in turn, so their waits add up.

    Args:
        recording: The recording.
        readings: Its readings.
        windows: The stretches of time.
        served: How requests were served in them; None where that is unknown, or only the waits of
            each side are of interest.

    Returns:
        None where what others took is unknown.
    """
    windows = as_read(recording, readings, windows)
    found = taken(recording, readings, windows)
    if not found:
        return None
    given = _given(recording, readings)
    usable: dict[Whose, float] = {whose: float(len(of)) for whose, of in given.items()}
    one_at_a_time = cores_of_one_at_a_time(recording, readings, windows, served)
    if one_at_a_time is not None and "server" in usable:
        usable["server"] = min(one_at_a_time, usable["server"])
    sides: dict[Whose, float]
    if "both" in found:
        sides = _waits_on_shared(recording, readings, found["both"], windows, one_at_a_time)
    else:
        sides = {whose: min(one.missed_cores / usable[whose], 1.0) for whose, one in found.items()}
    of_cores = {whose: cores.stolen_ratio(readings, of, windows) for whose, of in given.items()}
    stolen: dict[Whose, float] = {
        whose: of_cores.get(whose, of_cores.get("both", 0.0)) for whose in sides
    }
    own = cores.server_busy_ratio(recording, readings)
    stood_still = [*sides.values(), *of_cores.values()]
    if "server" in given and own is not None:
        own *= len(given["server"]) / usable["server"]
        of_server = [sides["server"], stolen["server"]]
        stood_still = of_server if own + sum(of_server) >= NEVER_IDLE else stood_still
    progress = math.prod(1.0 - min(ratio, 1.0) for ratio in stood_still)
    used = _used_ratios(readings, usable, windows)
    ratio = 1.0 - max(progress, min(max(used.values()), 1.0))
    waited: dict[Whose, float] = {whose: sides[whose] + stolen[whose] for whose in sides}
    is_paced = any(length + used.get(whose, 0.0) >= HALF for whose, length in waited.items())
    least = min(max(waited.values()), ratio) if is_paced or "both" in given else 0.0
    return _within(Lost(ratio, sides, stolen, least), served)


def _within(lost: Lost, served: ServiceTimes | None) -> Lost:
    """What was lost, as far as response times leave room for it."""
    if served is None:
        return lost
    ratio = lost.ratio
    if (served.in_flight or math.inf) <= ALONE and "both" not in lost.sides:
        waited = sum(lost.waited_ratio(whose) for whose in lost.sides)
        ratio = max(ratio, min(waited, 1.0))
    most = served.most_lost
    return replace(lost, ratio=min(ratio, most), least=min(lost.least, most))


def cores_of_one_at_a_time(
    recording: Recording,
    readings: Usage,
    windows: Sequence[Window],
    served: ServiceTimes | None,
) -> float | None:
    """Cores that a server can use, where it does one thing at a time: its threads that could run.

    It was never out of work and had requests waiting, and yet hardly more than one of its threads
    could run: it has only one, or they share a lock, such as that of an interpreter. While that
    thread waits, its other cores are of no use. The load generator, database and upstream must not
    have been what it waited for.

    Args:
        recording: The recording.
        readings: Its readings.
        windows: The stretches of time.
        served: How requests were served in them; None where that is unknown.

    Returns:
        None where it does several things at a time, or that is unknown.
    """
    of_server, of_driver = (runnable(readings, side, windows) for side in SIDES)
    if served is None or of_server is None or of_driver is None or recording.driver is None:
        return None
    has_requests = (served.in_flight or 0.0) >= QUEUED * of_server
    is_alone = recording.database is None and recording.upstream is None
    is_paced_by_driver = of_driver >= BUSY * max(recording.driver.threads, 1)
    is_one = NEVER_IDLE <= of_server < SEVERAL
    is_found = is_one and has_requests and is_alone and not is_paced_by_driver
    return max(of_server, 1.0) if is_found else None


def runnable(readings: Usage, side: Side, windows: Sequence[Window]) -> float | None:
    """Threads of a side that ran or waited for a core, on average; None where it is unknown."""
    busy, waited = (
        cores.mean_busy_cores(readings, side, windows),
        _run_delay(readings, side, windows),
    )
    return None if busy is None or waited is None else busy + waited


def _used_ratios(
    readings: Usage, usable: Mapping[Whose, float], windows: Sequence[Window]
) -> dict[Whose, float]:
    """Share of the cores it can use that each side used itself; 0 where it is unknown."""
    server, driver = (cores.mean_busy_cores(readings, side, windows) or 0.0 for side in SIDES)
    busy: dict[Whose, float] = {"server": server, "driver": driver, "both": server + driver}
    return {whose: busy[whose] / number for whose, number in usable.items()}


def _waits_on_shared(
    recording: Recording,
    readings: Usage,
    both: TakenTime,
    windows: Sequence[Window],
    one_at_a_time: float | None,
) -> dict[Whose, float]:
    """Share of the time that each side waited for cores they share, and others had.

    They also wait for each other, so of what each waited the part counts that others took. A
    server with fewer threads than cores can wait on no more than these.

    Args:
        recording: The recording.
        readings: Its readings.
        both: What others took from both.
        windows: The stretches of time.
        one_at_a_time: As `cores_of_one_at_a_time` gives it.
    """
    count = len(_given(recording, readings)["both"])
    waits = {side: _run_delay(readings, side, windows) for side in SIDES}
    if recording.driver is None or None in waits.values():
        return {"both": min(both.missed_cores / count, 1.0)}
    threads = {
        "server": one_at_a_time or readings.mean("server", "threads", windows) or count,
        "driver": recording.driver.threads,
    }
    waited = sum(one or 0.0 for one in waits.values())
    by_others = both.missed_cores / waited if waited else 0.0
    return {
        side: min((waits[side] or 0.0) * by_others / min(count, max(threads[side], 1)), 1.0)
        for side in SIDES
    }


def missed_by_server(recording: Recording, readings: Usage, windows: Sequence[Window]) -> float:
    """Cores that a server's threads waited for while others had them, where it shares its cores.

    Args:
        recording: The recording.
        readings: Its readings.
        windows: The stretches of time.

    Returns:
        0 where it is unknown, or the server has cores of its own.
    """
    both = taken(recording, readings, windows).get("both")
    windows = as_read(recording, readings, windows)
    delays = [_run_delay(readings, side, windows) for side in SIDES]
    waited, of_server = cores.total(delays), delays[0]
    if both is None or not waited or of_server is None:
        return 0.0
    return both.missed_cores * of_server / waited


def noted(recording: Recording, readings: Usage) -> dict[Whose, TakenTime]:
    """What others took over the holds, where a sentence on who was the limit must speak of it.

    Args:
        recording: The recording.
        readings: Its readings.

    Returns:
        By whose cores these were; empty if no side lacked more than `MUCH`.
    """
    found = taken(recording, readings, held(recording))
    return {whose: one for whose, one in found.items() if one.missed_cores > MUCH}


def withheld(recording: Recording, readings: Usage) -> dict[Whose, float]:
    """Cores that the host of a virtual machine withheld over the holds, where one must speak of it.

    Args:
        recording: The recording.
        readings: Its readings.

    Returns:
        By whose cores these were; empty if no side lacked more than `MUCH`.
    """
    found = stolen(recording, readings, held(recording))
    return {whose: cores for whose, cores in found.items() if cores > MUCH}


def stolen(recording: Recording, readings: Usage, windows: Sequence[Window]) -> dict[Whose, float]:
    """Cores that the host of a virtual machine withheld over some stretches, by whose they were.

    Args:
        recording: The recording.
        readings: Its readings.
        windows: The stretches of time.
    """
    return {
        whose: len(given) * cores.stolen_ratio(readings, given, windows)
        for whose, given in _given(recording, readings).items()
    }


def by_plimsoll(recording: Recording, readings: Usage, windows: Sequence[Window]) -> float:
    """Cores that Plimsoll itself kept busy on the server's host, of a load of several hosts.

    It is the agent there, or the lab, on any of the cores: so much of the server's at most.

    Args:
        recording: The recording.
        readings: Its readings.
        windows: The stretches of time.

    Returns:
        0 where it is unknown, or one host generated the load.
    """
    used = readings.rate("machine", "plimsoll_cpu_s", windows) if recording.hosts else None
    return used or 0.0


@dataclass(frozen=True)
class DriverPeak:
    """The load generator in its busiest second.

    Attributes:
        own: Share of its busiest core that it used, at most; 1 is all of it.
        wanted: The same in the second in which most was wanted, with what it waited for while
            others had its cores, or the host of a virtual machine withheld them.
        host: Name of its host, the busiest of several; empty for the only one.
    """

    own: float
    wanted: float
    host: str = ""


def driver_peak(recording: Recording, readings: Usage) -> DriverPeak | None:
    """How busy the load generator itself kept its busiest core in the holds.

    On cores of its own that is the busy time of a core less what others took of all of them. It is
    never less than its own time for each of its threads. Without its own time nothing is known:
    others may have kept the core busy. Of several hosts it is that of the busiest.

    Args:
        recording: The recording.
        readings: Its readings.

    Returns:
        None when its time was not read.
    """
    windows = cores.whole_seconds(recording)
    sides = cores.driver_sides(recording, readings) if windows else ()
    peaks = [peak for side in sides if (peak := _peak(side, windows)) is not None]
    if not peaks:
        return None
    busiest = max(peaks, key=lambda peak: peak.own)
    return replace(busiest, wanted=max(peak.wanted for peak in peaks))


def _peak(side: cores.DriverSide, windows: Sequence[Window]) -> DriverPeak | None:
    """How busy one load generator kept its busiest core; None when nothing of it was read."""
    readings, given = side.readings, side.cores
    tree = cores.busy_cores(readings, "driver", windows)
    tree = np.where(np.isnan(tree), readings.rates("driver", "run_time_s", windows), tree)
    own = tree / max(side.threads, 1)
    missed = np.zeros(len(windows))
    if given:
        busy = np.array(
            [readings.rates("machine", f"core{core}_busy_s", windows) for core in given]
        )
        others = _others(side, busy.sum(axis=0) - tree, windows)
        own = np.where(np.isnan(tree), np.nan, np.fmax(own, busy.max(axis=0) - others))
        stolen = [readings.rates("machine", f"core{core}_steal_s", windows) for core in given]
        missed = np.fmin(others, _waited(readings, tree, windows))
        missed += np.nan_to_num(np.array(stolen).max(axis=0))
    if np.isnan(own).all():
        return None
    wanted = float(np.nanmax(own + missed))
    return DriverPeak(min(float(np.nanmax(own)), 1.0), min(wanted, 1.0), side.host)


def _others(side: cores.DriverSide, not_own: Values, windows: Sequence[Window]) -> Values:
    """Cores that others kept busy in each of some stretches; 0 where it is unknown."""
    if side.interrupt_time != "task":
        rates = side.readings.rates
        apart = [rates("machine", f"core{core}_interrupt_s", windows) for core in side.cores]
        not_own = not_own - np.sum(apart, axis=0)
    return np.nan_to_num(np.fmax(not_own, 0.0))


def _waited(readings: Usage, tree: Values, windows: Sequence[Window]) -> Values:
    """Threads of the driver that waited for a core in each of some stretches; NaN if unknown."""
    ran = readings.rates("driver", "run_time_s", windows)
    waited = readings.rates("driver", "run_delay_s", windows)
    return np.where(ran >= LEAST_SEEN * tree, waited, np.nan)


def _given(recording: Recording, readings: Usage) -> dict[Whose, tuple[int, ...]]:
    """The cores that each side was given; both together where they share them."""
    if recording.server is None or recording.driver is None:
        return {}
    if not cores.are_apart(recording):
        together = cores.used_cores(recording) or cores.all_cores(readings)
        return {"both": together} if together else {}
    if recording.hosts:
        return {"server": recording.server.cores}
    return {"server": recording.server.cores, "driver": recording.driver.cores}


def driver_waited_s(
    recording: Recording, readings: Usage, windows: Sequence[Window], *, only_stolen: bool = False
) -> float:
    """How long the load generator waited for cores of others about some stretches of time.

    Args:
        recording: The recording.
        readings: Its readings.
        windows: The stretches; `MARGIN_NS` before and after each count too.
        only_stolen: Whether only time counts that the host of a virtual machine withheld.

    Returns:
        Seconds; 0 where it is unknown.
    """
    about = _about(windows)
    found = lost(recording, readings, about) if about else None
    if found is None:
        return 0.0
    ratio = found.stolen_ratio("driver") if only_stolen else found.waited_ratio("driver")
    return ratio * sum(end - start for start, end in about) / SECOND_NS


def _about(windows: Sequence[Window]) -> list[Window]:
    """Some stretches of time with a margin on either side, those that touch joined."""
    joined: list[Window] = []
    for start, end in sorted((start - MARGIN_NS, end + MARGIN_NS) for start, end in windows):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    return joined


def longest_pauses_s(readings: Usage, starts: Instants, ends: Instants) -> Values:
    """Longest time that a thread of the driver did not look, about each of some stretches of time.

    Args:
        readings: The readings; every one whose interval shares time with a stretch counts.
        starts: First instant of each stretch, in nanoseconds since zero.
        ends: The end of each.

    Returns:
        Seconds; 0 where it was not read.
    """
    longest_s = np.zeros(len(starts))
    for (start, end), pause_s in readings.intervals("driver", "longest_pause_s"):
        touched = (start < ends) & (end > starts)
        longest_s[touched] = np.maximum(longest_s[touched], pause_s)
    return longest_s


def held(recording: Recording) -> list[Window]:
    """The holds as stretches of time."""
    return [(hold.start_ns, hold.end_ns) for hold in recording.holds]


def _taken(
    recording: Recording,
    readings: Usage,
    given: Sequence[int],
    sides: Sequence[Side],
    windows: Sequence[Window],
) -> TakenTime | None:
    busy = cores.on_cores(readings, "busy", given, windows)
    nobodys = _interrupts_apart(recording, readings, given, windows)
    own = cores.total([cores.mean_busy_cores(readings, side, windows) for side in sides])
    if busy is None or nobodys is None or own is None:
        return None
    if "server" in sides:
        own += _of_third_parties(recording, readings, windows)
    waited = cores.total([_run_delay(readings, side, windows) for side in sides])
    return TakenTime(max(busy - nobodys - own, 0.0), waited)


def _of_third_parties(recording: Recording, readings: Usage, windows: Sequence[Window]) -> float:
    """Cores that database and upstream kept busy of the server's: they are part of the trial."""
    return sum(
        cores.mean_busy_cores(readings, scope, windows) or 0.0
        for scope in cores.third_parties_of_server(recording)
    )


def _run_delay(readings: Usage, side: Side, windows: Sequence[Window]) -> float | None:
    """Threads that waited for a core, on average; None when too few of them were seen.

    Threads that were never seen, or not to their end, waited as long for each second that they ran
    as those that were.
    """
    waited = readings.rate(side, "run_delay_s", windows)
    ran = readings.rate(side, "run_time_s", windows)
    busy = cores.mean_busy_cores(readings, side, windows)
    if waited is None or ran is None or busy is None or ran < LEAST_SEEN * busy:
        return None
    return waited * max(busy / ran, 1.0) if ran else waited


def _interrupts_apart(
    recording: Recording, readings: Usage, given: Sequence[int], windows: Sequence[Window]
) -> float | None:
    """Cores' worth of interrupts that are in no task's time, as far as that is known."""
    if cores.interrupt_time(recording) == "task":
        return 0.0
    return cores.on_cores(readings, "interrupt", given, windows)
