"""Processes of a server that begin and end within its turns, whose clocks nobody has read.

A program that starts another one for each request does its work in them. Its parents have their
processor time once they waited for them, but in clock ticks, of which a turn of 50 ms has five. So
it is not added, but the CPU time of such a server is unknown.
"""

from __future__ import annotations

from dataclasses import dataclass

LEAST_RATIO = 0.01
"""Beyond this share of the CPU time of all other processes, that of short-lived ones is missed."""

LEAST_S = 0.02
"""So much of it may be an error of counting in ticks, in seconds."""


@dataclass
class ShortLived:
    """What such processes of one server took in its turns so far.

    Attributes:
        are_missed: Whether that was clearly more than nothing, once and for all.
    """

    are_missed: bool = False
    _ended_s: float = 0.0
    _cpu_s: float = 0.0

    def count(self, before_s: float, after_s: float, cpu_ns: int) -> None:
        """Counts a turn in which no process ended that had lived before it.

        Args:
            before_s: CPU time of the server's ended processes before the turn, in seconds.
            after_s: The same after it.
            cpu_ns: CPU time that clocks tell of the turn.
        """
        self._ended_s += after_s - before_s
        self._cpu_s += cpu_ns / 1e9
        if self._ended_s >= max(LEAST_S, LEAST_RATIO * self._cpu_s):
            self.are_missed = True
