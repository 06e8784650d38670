"""Cores: how busy server and driver kept theirs.

The time of server and driver is that of their processes. The kernel also works for them, in
interrupts: some kernels count that time with the process that was interrupted, others apart. Which
way it was is a fact of the host, `interrupt_time`.

Source: proc_stat(5), proc_pid_stat(5); CONFIG_IRQ_TIME_ACCOUNTING of the Linux kernel.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from plimsoll.aggregate.query import SECOND_NS
from plimsoll.aggregate.usage import second_window
from plimsoll.recording import HOST

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from plimsoll.aggregate.usage import Usage, Values, Window
    from plimsoll.recording import Recording
    from plimsoll.recording.readings import ScopeName


def busy_cores(readings: Usage, scope: str, windows: Sequence[Window]) -> Values:
    """Cores that a process tree kept busy in each of some stretches; NaN where it is unknown.

    Args:
        readings: The readings.
        scope: `server` or `driver`.
        windows: The stretches of time.
    """
    user = readings.rates(scope, "cpu_user_s", windows)
    counted = user + readings.rates(scope, "cpu_system_s", windows)
    reported = (_reported_cores(readings, scope, [window]) for window in windows)
    gauged = np.array([np.nan if one is None else one for one in reported], dtype=np.float64)
    return np.where(np.isnan(counted), gauged, counted)


def mean_busy_cores(readings: Usage, scope: str, windows: Sequence[Window]) -> float | None:
    """Cores that a process tree kept busy over some stretches together; None when unknown."""
    parts = [readings.rate(scope, name, windows) for name in ("cpu_user_s", "cpu_system_s")]
    counted = total(parts)
    return _reported_cores(readings, scope, windows) if counted is None else counted


def _reported_cores(readings: Usage, scope: str, windows: Sequence[Window]) -> float | None:
    """Mean of what another monitor read within some stretches; None where it read nothing.

    A reading covers its own second only: it is neither carried forward nor interpolated.
    """
    found = [
        series.inside((start, end - 1))
        for series in readings.of(scope, "busy_cores")
        for start, end in windows
    ]
    values = np.concatenate(found) if found else np.empty(0)
    return float(values.mean()) if len(values) else None


def own_cores(recording: Recording) -> tuple[int, ...]:
    """Cores that the driver was given and the server was not.

    Empty when they share a core, or when either of them was given none.
    """
    if recording.driver is None or recording.server is None:
        return ()
    driver, server = set(recording.driver.cores), set(recording.server.cores)
    return tuple(sorted(driver)) if server and not driver & server else ()


def are_apart(recording: Recording) -> bool:
    """Whether server and driver share no core: they have cores of their own, or hosts."""
    on_hosts = bool(recording.hosts and recording.server and recording.server.cores)
    return on_hosts or bool(own_cores(recording))


def all_cores(readings: Usage) -> tuple[int, ...]:
    """Every core that was read of the server's host."""
    names = [name for scope, name in readings.series if scope == "machine"]
    numbers = [name.removeprefix("core").removesuffix("_busy_s") for name in names]
    return tuple(sorted(int(number) for number in numbers if number.isdigit()))


def interrupt_time(recording: Recording, host: str = "") -> str | None:
    """Where the kernel counted time in interrupts: with the `task`, or `apart`; None: unknown.

    Args:
        recording: The recording.
        host: Whose kernel; that of the server's host when empty.
    """
    machines, asked = recording.machines, host or recording.server_host
    hosts = [machines[asked]] if asked in machines else machines.values()
    known = [host.get("interrupt_time") for host in hosts]
    reported = {one if isinstance(one, str) else None for one in known}
    return reported.pop() if len(reported) == 1 else None


def driver_peak_busy_ratio(recording: Recording, readings: Usage) -> float | None:
    """Busiest second of the busiest core of the driver within the holds; 1 is all of it.

    On cores of its own all that was done there counts, by any process: what is taken is not to
    spare. Otherwise it is the driver's own time for each of its threads. The greater of both, where
    both are known. Of several hosts it is that of the busiest.

    Args:
        recording: The recording.
        readings: Its readings.
    """
    windows = whole_seconds(recording)
    if recording.driver is None or not windows:
        return None
    found: list[Values] = []
    for side in driver_sides(recording, readings):
        found.append(busy_cores(side.readings, "driver", windows) / max(side.threads, 1))
        found += [
            side.readings.rates("machine", f"core{core}_busy_s", windows) for core in side.cores
        ]
    known = np.concatenate(found) if found else np.empty(0)
    known = known[~np.isnan(known)]
    return min(float(known.max()), 1.0) if len(known) else None


@dataclass(frozen=True)
class DriverSide:
    """A load generator and what was read where it ran.

    Attributes:
        host: Name of its host among several; empty for the only one.
        threads: Its threads.
        cores: Cores that it has and the server has not; empty when it has none of its own.
        interrupt_time: Where the kernel there counts time in interrupts, as `interrupt_time` says.
        readings: The readings.
    """

    host: str
    threads: int
    cores: tuple[int, ...]
    interrupt_time: str | None
    readings: Usage


def driver_sides(recording: Recording, readings: Usage) -> tuple[DriverSide, ...]:
    """Every load generator of a trial: one of several that is full is full, whatever others spare.

    Args:
        recording: The recording.
        readings: Its readings.
    """
    driver = recording.driver
    if driver is None:
        return ()
    if not recording.hosts:
        own, counted = own_cores(recording), interrupt_time(recording)
        return (DriverSide("", driver.threads, own, counted, readings),)
    return tuple(
        DriverSide(
            one.host,
            one.driver.threads,
            one.driver.cores,
            interrupt_time(recording, one.host),
            readings.of_host(one.host),
        )
        for one in recording.hosts
        if one.driver is not None
    )


def server_busy_ratio(recording: Recording, readings: Usage) -> float | None:
    """Share of its cores that the server, and the kernel for it, kept busy over the holds.

    Where the kernel counts interrupts apart, those on cores of its own are the server's, but never
    more than what these cores were busy. If it is unknown how it counts, they are left out: the
    server kept at least so much busy.

    Args:
        recording: The recording.
        readings: Its readings.

    Returns:
        0 to 1; None when its time, or the number of its cores, is unknown.
    """
    server = recording.server
    windows = [(hold.start_ns, hold.end_ns) for hold in recording.holds]
    busy = mean_busy_cores(readings, "server", windows)
    if server is None or busy is None or not (count := len(server.cores) or server.workers):
        return None
    if are_apart(recording) and interrupt_time(recording) == "apart":
        interrupts = on_cores(readings, "interrupt", server.cores, windows)
        at_most = on_cores(readings, "busy", server.cores, windows)
        if interrupts is not None and at_most is not None:
            busy = max(busy, min(busy + interrupts, at_most))
    return min(busy / count, 1.0)


def shared_with_database(recording: Recording) -> bool:
    """Whether server and database may use the same cores of one host."""
    database, server = recording.database, recording.server
    if database is None or server is None or not database.started:
        return False
    if server.host != database.host:
        return False
    return not (database.cores and server.cores) or bool({*database.cores} & {*server.cores})


def third_parties_of_server(recording: Recording) -> Iterator[ScopeName]:
    """Database and upstream, as far as they were started and may use the server's cores.

    A server shares none with those of another host; upstreams run with the lab.
    """
    if shared_with_database(recording):
        yield "database"
    upstream, server = recording.upstream, recording.server
    if upstream is not None and server is not None and server.host == HOST:
        is_apart = upstream.cores and server.cores
        if not is_apart or {*upstream.cores} & {*server.cores}:
            yield "upstream"


def database_busy_ratio(recording: Recording, readings: Usage) -> float | None:
    """Share of its cores that the database kept busy over the holds.

    Args:
        recording: The recording.
        readings: Its readings.

    Returns:
        0 to 1; None if there is no database, or its time was not read.
    """
    windows = [(hold.start_ns, hold.end_ns) for hold in recording.holds]
    busy = mean_busy_cores(readings, "database", windows)
    if recording.database is None or busy is None:
        return None
    its_host = readings.of_host(recording.database.host)
    count = len(recording.database.cores or all_cores(its_host))
    return min(busy / count, 1.0) if count else None


def whole_seconds(recording: Recording) -> list[Window]:
    """The whole seconds within the holds; the holds themselves where there are none."""
    held = [(hold.start_ns, hold.end_ns) for hold in recording.holds]
    windows = [
        second_window(second)
        for start, end in held
        for second in range(-(-start // SECOND_NS), end // SECOND_NS)
    ]
    return windows or held


def used_cores(recording: Recording) -> tuple[int, ...]:
    """Cores of server and driver together; empty when either was given none."""
    if recording.driver is None or recording.server is None:
        return ()
    driver, server = recording.driver.cores, recording.server.cores
    return tuple(sorted({*driver, *server})) if driver and server else ()


def used_on(recording: Recording, host: str) -> tuple[int, ...]:
    """Cores of one of several hosts that server and load generators were given there.

    Args:
        recording: The recording.
        host: Name of the host; empty for the only one.

    Returns:
        The cores; empty where one of them was given none.
    """
    if not recording.hosts or not host:
        return () if recording.hosts else used_cores(recording)
    given = [one.driver.cores for one in recording.hosts if one.host == host and one.driver]
    if recording.server is not None and recording.server_host == host:
        given.append(recording.server.cores)
    return tuple(sorted({core for some in given for core in some})) if all(given) else ()


def stolen_ratio(readings: Usage, cores: Sequence[int], windows: Sequence[Window]) -> float:
    """Share of the time of some cores that the host of a virtual machine withheld.

    Args:
        readings: The readings.
        cores: The cores.
        windows: The stretches of time.

    Returns:
        0 to 1; 0 where it is unknown.
    """
    stolen = on_cores(readings, "steal", cores, windows)
    return min(max(stolen, 0.0) / len(cores), 1.0) if stolen else 0.0


def on_cores(
    readings: Usage, kind: str, cores: Iterable[int], windows: Sequence[Window]
) -> float | None:
    """Cores' worth of `busy`, `interrupt` or `steal` time on some cores; None if one is unread."""
    return total([readings.rate("machine", f"core{core}_{kind}_s", windows) for core in cores])


def total(parts: Sequence[float | None]) -> float | None:
    """Sum of some numbers; None when one of them, or all, are unknown."""
    known = [part for part in parts if part is not None]
    return sum(known) if known and len(known) == len(parts) else None
