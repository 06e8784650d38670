"""Noise: a program that takes a part of the cores of this host at random times.

`python benches/noise.py 0.5` takes half a core: it computes on one core drawn at random until it
has had 5 to 200 ms of processor time, then pauses at random, half of the time on average. It ends
when its input does, so that it never outlives the program that started it.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager

BURST_S = (0.005, 0.2)
"""Shortest and longest processor time that it takes in one go."""


@contextmanager
def noise(cores: float) -> Generator[None]:
    """Takes so many cores, less than one, in a process of its own for as long as the block runs."""
    if not cores:
        yield
        return
    with subprocess.Popen([sys.executable, __file__, str(cores)], stdin=subprocess.PIPE) as program:
        assert program.stdin is not None
        try:
            yield
        finally:
            program.stdin.close()


def make(cores: float, draw: random.Random) -> None:
    """Computes and pauses in turns until the process ends; makes up for what it did not get."""
    allowed = sorted(os.sched_getaffinity(0))
    begin_s = time.monotonic()
    while True:
        os.sched_setaffinity(0, {draw.choice(allowed)})
        burst_s = draw.uniform(*BURST_S)
        end_s = time.thread_time() + burst_s
        while time.thread_time() < end_s:
            pass
        begin_s += draw.expovariate(1.0) * burst_s / cores
        time.sleep(max(0.0, begin_s - time.monotonic()))


if __name__ == "__main__":
    threading.Thread(target=make, args=(float(sys.argv[1]), random.Random(1)), daemon=True).start()
    sys.stdin.buffer.read()
