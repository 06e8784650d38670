"""Threads that serve and send at real-time priority, so that a busy machine delays them little."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread

import psutil

_LOOK_S = 0.1
"""How often new threads are looked for."""

_PRIORITY = 1
_SERVER, _ENGINE = "plimsoll.reference", "plimsoll.engine"


@contextmanager
def promoting() -> Iterator[None]:
    """Promotes the threads of servers and engines that this process starts, directly or not.

    Their main threads stay as they are: starting and reading would hold up those that are prompt.
    Where the kernel refuses, all stay as they are.
    """
    ended = Event()
    promoter = Thread(target=_promote, args=(ended,), daemon=True)
    promoter.start()
    try:
        yield
    finally:
        ended.set()
        promoter.join()


def _promote(ended: Event) -> None:
    while not ended.wait(_LOOK_S):
        for process in psutil.Process().children(recursive=True):
            with suppress(psutil.Error, OSError):
                if any(name in process.cmdline() for name in (_SERVER, _ENGINE)):
                    _promote_threads(process)


def _promote_threads(process: psutil.Process) -> None:
    for thread in {one.id for one in process.threads()} - {process.pid}:
        os.sched_setscheduler(thread, os.SCHED_RR, os.sched_param(_PRIORITY))
