"""Energy of the processors' packages and of the memory beside them.

A zone counts microjoules up to its own greatest number and then begins at 0 again, after half an
hour or so of full load. What it counts is therefore taken up reading by reading, with the range of
the zone added whenever the number has fallen. Only root may read the zones, and most virtual
machines have none: then there is no reading.

Zones that contain others twice (the whole platform, or single cores) are left out.

Source: the kernel's document on power capping, `energy_uj` and `max_energy_range_uj`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plimsoll.sampling.scope import Scope

ZONES = Path("/sys/class/powercap")

Zone = tuple[int, int]
"""What a zone has counted, and how far it can, in microjoules."""


class Meter:
    """Takes up what zones count, across their ends."""

    def __init__(self) -> None:
        """Nothing has been read."""
        self._counted: dict[str, int] = {}
        self._total_uj: dict[str, int] = {}

    def take(self, zones: Mapping[str, Zone]) -> float:
        """Energy of all zones since each was first read, in joules.

        Args:
            zones: What each has counted now.
        """
        for name, (counted, most) in zones.items():
            rise = counted - self._counted.get(name, counted)
            more = rise if rise >= 0 else rise + most
            self._total_uj[name] = self._total_uj.get(name, 0) + more
            self._counted[name] = counted
        return sum(self._total_uj.values()) / 1e6


_METER = Meter()


def read(scope: Scope) -> dict[str, float]:
    """Energy so far; nothing where the host does not show it."""
    return {} if scope.tree is not None else of_host()


def of_host(folder: Path = ZONES, meter: Meter = _METER) -> dict[str, float]:
    """The same of a folder of zones.

    Args:
        folder: Has one folder for each zone, `intel-rapl:0` and `intel-rapl:0:0`.
        meter: Has taken up what was read before.
    """
    found = dict(_zones(folder))
    return {"energy_j": meter.take(found)} if found else {}


def _zones(folder: Path) -> Iterator[tuple[str, Zone]]:
    """Zones that may be read; packages and memory only."""
    for zone in sorted(folder.glob("intel-rapl:*")):
        try:
            name = (zone / "name").read_text().strip()
            counted, most = (
                int((zone / file).read_text()) for file in ("energy_uj", "max_energy_range_uj")
            )
        except (OSError, ValueError):
            continue
        if name.startswith("package") or name == "dram":
            yield zone.name, (counted, most)
