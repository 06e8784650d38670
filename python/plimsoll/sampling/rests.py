"""Readings of a load that rests between turns, by its own clock, which stands still meanwhile.

What a counter grew by during a rest is taken out: a machine is as busy in a rest as others make it.
A counter that was not read at both ends of a rest keeps its growth. Readings lie a little outside
of their turn, by more where the host is busy, so no core did more than the turn is long.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from plimsoll import tables
from plimsoll.recording.readings import Reading, ScopeName

THOROUGH_EVERY_NS = 5_000_000_000
"""Time of the load after which a reading is thorough."""

KEPT_EVERY_NS = 1_000_000_000
"""Readings are kept about so often, as those of a load without rests are."""

_COUNTERS = frozenset(one.name for one in tables.QUANTITIES if one.kind == "counter")
_CORE = "core"
_ONE_CORE = re.compile(rf"{_CORE}\d+_")

_Key = tuple[str, str]


@dataclass
class TurnReadings:
    """Turns readings at both ends of each turn into those of a load that never rested.

    Attributes:
        kept: The readings, by CLOCK_MONOTONIC at the zero of the load plus its own time.
    """

    kept: list[Reading] = field(default_factory=list[Reading])
    _rested: dict[_Key, float] = field(default_factory=dict[_Key, float])
    _last: dict[_Key, float] = field(default_factory=dict[_Key, float])
    _begun: dict[_Key, float] = field(default_factory=dict[_Key, float])
    _begun_ns: int = 0
    _kept_ns: int | None = None

    def begin(self, readings: Iterable[Reading], at_ns: int) -> None:
        """Takes readings made right before a turn.

        Args:
            readings: The readings.
            at_ns: Zero of the load by CLOCK_MONOTONIC, plus its time at the begin of the turn.
        """
        is_first = self._kept_ns is None
        self._begun, self._begun_ns = {}, at_ns
        for reading in readings:
            key = reading.scope, reading.quantity
            self._begun[key] = reading.value
            if key in self._last:
                self._rested[key] = self._rested.get(key, 0.0) + reading.value - self._last[key]
            elif is_first:
                self.kept.append(replace(reading, at_ns=at_ns))
        if is_first:
            self._kept_ns = at_ns

    def end(self, readings: Iterable[Reading], at_ns: int, *, ends_stage: bool) -> None:
        """Takes readings made right after a turn, and keeps them when it is time to.

        Args:
            readings: The readings.
            at_ns: Zero of the load by CLOCK_MONOTONIC, plus its time at the end of the turn.
            ends_stage: Whether another stage follows, or nothing, so that they are kept at any
                rate: no figure of a stage contains what the server used in another.
        """
        keeps = ends_stage or self._kept_ns is None or at_ns - self._kept_ns >= KEPT_EVERY_NS
        if keeps:
            self._kept_ns = at_ns
        self._last = {}
        for reading in readings:
            key = reading.scope, reading.quantity
            if _is_counter(reading.quantity):
                self._last[key] = reading.value
                self._rested[key] = self._rested.get(key, 0.0) + self._beyond(reading, at_ns)
            if keeps:
                value = reading.value - self._rested.get(key, 0.0)
                self.kept.append(replace(reading, at_ns=at_ns, value=value))

    def _beyond(self, reading: Reading, at_ns: int) -> float:
        """By how much a counter of cores grew beyond what they can do in the turn, in seconds."""
        begun = self._begun.get((reading.scope, reading.quantity))
        if begun is None or not reading.quantity.startswith(_CORE):
            return 0.0
        cores = 1 if _ONE_CORE.match(reading.quantity) else self._cores()
        return max(0.0, reading.value - begun - cores * (at_ns - self._begun_ns) / 1e9)

    def _cores(self) -> int:
        """How many cores were read before the turn."""
        named = (_ONE_CORE.match(quantity) for _, quantity in self._begun)
        return len({found[0] for found in named if found})


def delay_ns(scope: ScopeName, before: Iterable[Reading], after: Iterable[Reading]) -> int | None:
    """By how much run delay grew in a turn; None where the kernel does not say.

    Args:
        scope: Whose.
        before: Readings made right before the turn.
        after: Readings made right after it.
    """
    first, last = (
        [one.value for one in readings if (one.scope, one.quantity) == (scope, "run_delay_s")]
        for readings in (before, after)
    )
    return round((last[0] - first[0]) * 1e9) if first and last else None


def _is_counter(quantity: str) -> bool:
    """Whether only its growth means something; each core has quantities of its own."""
    return _ONE_CORE.sub(f"{_CORE}0_", quantity) in _COUNTERS
