"""Watching the machine: how fast it is from second to second, and what that hides.

The control runs once a second. What it took is compared with its best, and with what the hypervisor
and other programs had of the cores meanwhile.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from plimsoll.sampling import control
from plimsoll.sampling.samplers import cpu
from plimsoll.sampling.scope import Scope
from plimsoll.statistics.intervals import interval

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

INTERVAL_S = 1.0


@dataclass(frozen=True)
class WatchedSecond:
    """One second of a machine.

    Attributes:
        at_s: Its end, in seconds since the beginning.
        control_s: Processor time of the control, geometric mean of its parts.
        parts_s: Quantity to the processor time of each part.
        steal_cores: Cores that the hypervisor withheld.
        other_cores: Cores that other programs kept busy.
    """

    at_s: float
    control_s: float
    parts_s: dict[str, float]
    steal_cores: float
    other_cores: float


@dataclass(frozen=True)
class Variation:
    """How far the speed of a machine varied.

    Attributes:
        length_s: For how long it was watched, in seconds.
        ratio: Half of the distance from its slowest to its fastest second / its median: 0.12; None
            below two seconds.
        smallest: The smallest difference that two servers could show that took turns in that time,
            by how far seconds differ from their neighbours; None below four seconds.
    """

    length_s: float
    ratio: float | None
    smallest: float | None


def seconds(
    cores: Sequence[int],
    length_s: float = math.inf,
    clock_s: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[WatchedSecond]:
    """Watches the machine, one number a second.

    Args:
        cores: Cores of servers, on which the control runs.
        length_s: For how long, in seconds; infinite for until the iterator is left alone.
        clock_s: Gives the time in seconds.
        sleep: Waits for some seconds.
    """
    began_s = clock_s()
    with control.ready(cores) as work:
        before = _used()
        before_s = began_s
        while clock_s() - began_s < length_s:
            sleep(INTERVAL_S)
            took = work.run()
            now_s, used = clock_s(), _used()
            busy, steal, own = (
                (new - old) / (now_s - before_s) for new, old in zip(used, before, strict=True)
            )
            before, before_s = used, now_s
            yield WatchedSecond(
                at_s=now_s - began_s,
                control_s=math.prod(took.values()) ** (1 / len(took)),
                parts_s=took,
                steal_cores=max(steal, 0.0),
                other_cores=max(busy - own, 0.0),
            )


def variation(watched: Sequence[WatchedSecond]) -> Variation | None:
    """How far the speed varied; None without a second.

    Source:
        Servers that take turns are compared in pairs of neighbours (decision 53), so the interval
        is that of the mean of ratios of neighbouring seconds.
    """
    if not watched:
        return None
    speeds = [1 / one.control_s for one in watched]
    ratio = (max(speeds) - min(speeds)) / 2 / median(speeds) if len(speeds) > 1 else None
    pairs = [one / other for one, other in zip(speeds[::2], speeds[1::2], strict=False)]
    found = interval(pairs)
    smallest = None if found is None else math.sqrt(found.high / found.low) - 1
    return Variation(watched[-1].at_s, ratio, smallest)


def _used() -> tuple[float, float, float]:
    """Busy and stolen time of all cores so far, and this process's own, in seconds."""
    read = cpu.read(Scope("machine"))
    return read["core_busy_s"], read["cpu_steal_s"], time.process_time()
