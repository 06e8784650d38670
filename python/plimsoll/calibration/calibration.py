"""A calibration: runs the selected parts one after the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from plimsoll import _engine, wording
from plimsoll.calibration import accuracy, capacity, pacing, protocols, stalls, tools
from plimsoll.machine import Fact

if TYPE_CHECKING:
    from collections.abc import Collection

    from plimsoll.calibration.accuracy import CaseFound, LoopbackRoundTrip
    from plimsoll.calibration.bench import Bench
    from plimsoll.calibration.capacity import CapacitiesFound
    from plimsoll.calibration.pacing import PaceFound
    from plimsoll.calibration.protocols import ProtocolFound
    from plimsoll.calibration.stalls import StallFound
    from plimsoll.calibration.tools import ToolFound
    from plimsoll.calibration.truth import Stall

PARTS = {
    "accuracy": "measured against known service times",
    "protocols": "the same by TLS, HTTP/2 and WebSocket",
    "pacing": "precision of send times",
    "stalls": "response times of a stalling server",
    "capacity": "capacity of the engine on this host",
    "tools": "what other load generators report of the same stall",
}
"""Every part and its description, in order."""


@dataclass(frozen=True)
class Extent:
    """Length of the parts.

    Attributes:
        way_s: Seconds for the loopback round trip.
        case_s: Seconds for each case of accuracy.
        protocol_s: Seconds for the round trip and for each case of a protocol.
        pace_s: Seconds for each rate.
        ceiling_s: Seconds for each capacity, after its warm-up.
        stall: The server's stalls.
        is_quick: Whether some cases are skipped.
    """

    way_s: float
    case_s: float
    protocol_s: float
    pace_s: float
    ceiling_s: float
    stall: Stall
    is_quick: bool


FULL = Extent(10.0, 4.0, 3.0, 3.0, 2.0, stalls.USUAL, is_quick=False)
QUICK = Extent(1.3, 1.3, 1.3, 1.0, 1.0, stalls.SHORT, is_quick=True)


@dataclass(frozen=True)
class Calibration:
    """The results; a part that was not selected is null or empty.

    Attributes:
        engine: Version of the engine.
        machine: Facts of the host.
        way: The loopback round trip.
        cases: True and reported service times.
        protocols: The same by TLS, HTTP/2 and WebSocket.
        paces: Scheduling delays by rate.
        stall: True and reported response times of a server that stalls.
        capacities: The engine's capacity on this host.
        tools: Times of the same stalls, reported by other load generators.
    """

    engine: str
    machine: dict[str, Fact]
    way: LoopbackRoundTrip | None
    cases: tuple[CaseFound, ...]
    protocols: tuple[ProtocolFound, ...]
    paces: tuple[PaceFound, ...]
    stall: StallFound | None
    capacities: CapacitiesFound | None
    tools: tuple[ToolFound, ...]

    @property
    def misses(self) -> tuple[str, ...]:
        """Names of results outside their tolerance."""
        found = [case.name for case in self.cases if _misses(case.points)]
        found += [
            f"{case.name} by {one.name}"
            for one in self.protocols
            for case in one.cases
            if _misses(case.points)
        ]
        found += [f"{wording.count(pace.rate_per_s)}/s" for pace in self.paces if not pace.within]
        if self.stall is not None and _misses(self.stall.points):
            found.append("the stall")
        return tuple(found)

    @property
    def longest_pause_ns(self) -> int:
        """The longest pause of a thread of the engine in all parts except capacity."""
        by_protocol = [case for one in self.protocols for case in one.cases]
        stalled = [self.stall] if self.stall else []
        found = [*self.cases, *by_protocol, *self.paces, *stalled]
        return max((one.longest_pause_ns or 0 for one in found), default=0)


def calibrate(
    bench: Bench, extent: Extent, parts: Collection[str], machine: dict[str, Fact]
) -> Calibration:
    """Runs the selected parts.

    Args:
        bench: The bench.
        extent: Length of the parts.
        parts: Names of `PARTS`.
        machine: Facts of this host.

    Raises:
        Interrupted: Ctrl-C.
        FrameworkError: The reference server failed.
        DriverError: The engine failed.
        HostError: Limits of this host are too low even for the smallest load.
    """
    way, cases = _accuracy(bench, extent) if "accuracy" in parts else (None, ())
    return Calibration(
        engine=_engine.__version__,
        machine=machine,
        way=way,
        cases=cases,
        protocols=_protocols(bench, extent) if "protocols" in parts else (),
        paces=pacing.measured(bench, extent.pace_s) if "pacing" in parts else (),
        stall=stalls.measured(bench, extent.stall, 1) if "stalls" in parts else None,
        capacities=_capacities(bench, extent) if "capacity" in parts else None,
        tools=tools.measured(bench, extent.stall) if "tools" in parts else (),
    )


def _accuracy(bench: Bench, extent: Extent) -> tuple[LoopbackRoundTrip, tuple[CaseFound, ...]]:
    cases = accuracy.cases(extent.case_s)
    return accuracy.compared(bench, cases, extent.way_s, quick=extent.is_quick)


def _protocols(bench: Bench, extent: Extent) -> tuple[ProtocolFound, ...]:
    return protocols.measured(bench, extent.protocol_s, quick=extent.is_quick)


def _capacities(bench: Bench, extent: Extent) -> CapacitiesFound:
    return capacity.measured(bench, extent.ceiling_s, quick=extent.is_quick)


def _misses(points: tuple[Any, ...]) -> bool:
    return any(point.within is False for point in points)
