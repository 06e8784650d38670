"""RAPL by perf events, for hosts whose powercap cannot be read, such as containers that hide it.

A counter begins at 0 when it is opened, so dies that mirror one counter of their package cannot be
told from dies that do not: one core of each package is asked.

Source: perf_event_open(2); the kernel's `arch/x86/events/rapl.c`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from plimsoll import machine
from plimsoll.sampling import perf_events

ROOT = Path("/sys/bus/event_source/devices/power")
CORES = Path("/sys/devices/system/cpu")

_NAMES = {"energy-pkg": "package-{}", "energy-ram": "dram of package-{}"}
"""Events that are counted, and the names of their domains by the number of the package."""


@dataclass(frozen=True)
class PerfDomain:
    """A domain that a perf event counts.

    Attributes:
        name: Its name: `package-0`, `dram of package-0`.
        counter: What tells it from others: the file of its event, and the core.
        descriptor: File descriptor of its counter.
        uj_per_count: Microjoules of one count.
    """

    name: str
    counter: Path
    descriptor: int
    uj_per_count: float

    def read_uj(self) -> int:
        """What it has counted since it was opened.

        Raises:
            OSError: It cannot be read.
        """
        return round(perf_events.value(self.descriptor) * self.uj_per_count)

    def grown_uj(self, before_uj: int, now_uj: int) -> int:
        """What it counted between two readings."""
        return now_uj - before_uj


def opened(root: Path = ROOT) -> tuple[PerfDomain, ...]:
    """A counter for each package and its memory, which counts from now on.

    Args:
        root: Folder of the kind of events.

    Raises:
        OSError: The kernel has no such events, or refuses them.
        ValueError: It says nothing that can be understood.
    """
    kind = int((root / "type").read_text())
    packages = _packages(root)
    return tuple(
        PerfDomain(
            name=_NAMES[event].format(package),
            counter=root / "events" / event / str(core),
            descriptor=perf_events.opened(kind, _config(root, event), core=core),
            uj_per_count=float((root / "events" / f"{event}.scale").read_text()) * 1e6,
        )
        for event in _NAMES
        if (root / "events" / event).is_file()
        for package, core in packages.items()
    )


def left_out(root: Path = ROOT) -> tuple[str, ...]:
    """Events that are not counted, each with the reason."""
    names = sorted(one.name for one in (root / "events").glob("energy-*") if not one.suffix)
    return tuple(
        f"{name} {'contains the packages' if 'psys' in name else 'is a part of its package'}"
        for name in names
        if name not in _NAMES
    )


def _packages(root: Path) -> dict[int, int]:
    """The first core at which each package is counted."""
    found: dict[int, int] = {}
    for core in machine.cores_of((root / "cpumask").read_text().strip()):
        package = int((CORES / f"cpu{core}" / "topology" / "physical_package_id").read_text())
        found.setdefault(package, core)
    return found


def _config(root: Path, event: str) -> int:
    """The number of an event: `event=0x02`."""
    return int((root / "events" / event).read_text().strip().removeprefix("event="), 16)
