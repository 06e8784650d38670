"""A program that takes a known part of one core after another, and says what it really got.

`python thief.py '[[0, 0.05, 3.0], [1, 0.3, 3.0]]'` asks for 5 % of core 0 for three seconds, then
for 30 % of core 1. It spins in short periods, and at its end writes JSON: for each request its
processor time at many instants by the wall clock.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

PERIOD_S = 0.01
"""Spins once in each."""

Wanted = tuple[int, float, float]
"""A core, the share of it that is asked for, and for how many seconds."""


@dataclass(frozen=True)
class Loot:
    """What was taken from one core.

    Attributes:
        core: The core.
        asked: Share of it that was asked for.
        at_ns: Instants by the wall clock.
        cpu_s: Processor time of the thief at these, in seconds.
    """

    core: int
    asked: float
    at_ns: tuple[int, ...]
    cpu_s: tuple[float, ...]

    def cores(self, start_ns: int, end_ns: int) -> float:
        """Cores' worth that it took between two instants."""
        before, after = np.interp([start_ns, end_ns], self.at_ns, self.cpu_s)
        return float(after - before) / ((end_ns - start_ns) / 1e9)


def robbed(wanted: Sequence[Wanted]) -> list[Loot]:
    """Takes what is wanted, one after the other, in a process of its own."""
    command = [sys.executable, __file__, json.dumps(wanted)]
    taken = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [
        Loot(core, asked, tuple(at_ns), tuple(cpu_s))
        for core, asked, at_ns, cpu_s in json.loads(taken)
    ]


def _take(core: int, share: float, length_s: float) -> tuple[list[int], list[float]]:
    os.sched_setaffinity(0, {core})
    at_ns, cpu_s = [time.time_ns()], [time.thread_time()]
    end_s = due_s = time.monotonic() + length_s
    due_s -= length_s
    while due_s < end_s:
        enough_s = time.thread_time() + share * PERIOD_S
        due_s += PERIOD_S
        while share and time.thread_time() < enough_s and time.monotonic() < due_s:
            pass
        at_ns.append(time.time_ns())
        cpu_s.append(time.thread_time())
        time.sleep(max(0.0, due_s - time.monotonic()))
    return at_ns, cpu_s


if __name__ == "__main__":
    orders = json.loads(sys.argv[1])
    print(json.dumps([(core, share, *_take(core, share, s)) for core, share, s in orders]))
