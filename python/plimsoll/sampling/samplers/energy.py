"""Energy of processor packages and of the memory beside them, as RAPL counts it.

A domain counts microjoules up to a number of its own and then begins at 0 again, after half an hour
or so of full load. Only root may read the counters (since Linux 5.10), and most virtual machines
have none: then perf events are asked, and where these are refused as well there is no reading, and
`sources` says why.

One joule is counted once:

- `psys` contains the packages, `core` and `uncore` are parts of one: all three are left out.
- `intel-rapl-mmio` counts the same package as `intel-rapl`, over another bus: the first that can
  be read is counted.
- Dies of some processors mirror one counter of their package. If that of another die lies between
  two readings of the first, microseconds apart, both are one.

Source: the kernel's documents on power capping (`energy_uj`, `max_energy_range_uj`) and
`drivers/powercap/intel_rapl_common.c`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from plimsoll.recording import PowerSources
from plimsoll.sampling import perf_energy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.sampling.scope import Scope

ROOT_VARIABLE = "PLIMSOLL_POWERCAP"
"""Environment variable with another folder than `ROOT`, for containers that mount it elsewhere.

Perf events are then not asked.
"""

ROOT = Path("/sys/class/powercap")
BUSES = ("intel-rapl", "intel-rapl-mmio")
"""Kinds of domains, also those of AMD; the first that can be read is preferred."""

NO_DOMAINS = "this host has no RAPL counters; most virtual machines have none"
ONLY_ROOT = "only root may read RAPL"


class EnergyCounter(Protocol):
    """A domain whose counter is read: by powercap, or by perf events."""

    @property
    def name(self) -> str:
        """Its name: `package-0`, `dram`."""
        ...

    @property
    def counter(self) -> Path:
        """What tells it from others."""
        ...

    def read_uj(self) -> int:
        """What it has counted.

        Raises:
            OSError: It may not be read.
            ValueError: It is no number.
        """
        ...

    def grown_uj(self, before_uj: int, now_uj: int) -> int:
        """What it counted between two readings."""
        ...


@dataclass(frozen=True)
class Domain:
    """A domain of powercap.

    Attributes:
        name: Its name: `package-0`, `dram`.
        counter: File with what it has counted, in microjoules.
        range_uj: The number after which it begins at 0 again.
    """

    name: str
    counter: Path
    range_uj: int

    def read_uj(self) -> int:
        """What it has counted.

        Raises:
            OSError: It may not be read.
            ValueError: It is no number.
        """
        return int(self.counter.read_text())

    def grown_uj(self, before_uj: int, now_uj: int) -> int:
        """What it counted between two readings, less than a whole range apart."""
        return (now_uj - before_uj) % (self.range_uj + 1)


@dataclass(frozen=True)
class Sources:
    """What RAPL counts on a host.

    Attributes:
        domains: Those that are counted.
        left_out: Those that are not, each with the reason.
        unreadable: Why none can be counted; empty where some are.
    """

    domains: tuple[EnergyCounter, ...] = ()
    left_out: tuple[str, ...] = ()
    unreadable: str = ""


@dataclass
class RaplMeter:
    """Adds up what the domains of a host count, across the ends of their counters."""

    sources: Sources
    _before_uj: dict[Path, int] = field(default_factory=dict[Path, int])
    _total_uj: int = 0

    def energy_j(self) -> float | None:
        """Energy of all domains since the first reading; None where one cannot be read."""
        if not self.sources.domains:
            return None
        try:
            now_uj = {one: one.read_uj() for one in self.sources.domains}
        except (OSError, ValueError):
            return None
        for one, counted_uj in now_uj.items():
            before_uj = self._before_uj.get(one.counter, counted_uj)
            self._total_uj += one.grown_uj(before_uj, counted_uj)
            self._before_uj[one.counter] = counted_uj
        return self._total_uj / 1e6


_meters: dict[Path, RaplMeter] = {}


def read(scope: Scope) -> dict[str, float]:
    """Energy so far; nothing where the host does not show it."""
    return {} if scope.tree is not None else of_host()


def of_host() -> dict[str, float]:
    """Energy of this host so far; nothing where it does not show it."""
    energy_j = _meter().energy_j()
    return {} if energy_j is None else {"energy_j": energy_j}


def of_this_host() -> Sources:
    """What RAPL counts on this host."""
    return _meter().sources


def recorded() -> PowerSources:
    """What RAPL counts on this host, as recordings have it."""
    found = of_this_host()
    names = tuple(one.name for one in found.domains)
    return PowerSources(names, found.left_out, found.unreadable)


def _meter() -> RaplMeter:
    """The meter of this host, which keeps what it has read."""
    root = Path(os.environ.get(ROOT_VARIABLE) or ROOT)
    if root not in _meters:
        is_named = ROOT_VARIABLE in os.environ
        _meters[root] = RaplMeter(sources(root, None if is_named else perf_energy.ROOT))
    return _meters[root]


def sources(root: Path, events: Path | None = None) -> Sources:
    """What RAPL counts in a folder of domains, or by perf events where nothing in it can be read.

    Args:
        root: Has one folder for each domain: `intel-rapl:0`, `intel-rapl:0:0`.
        events: Folder of the kernel's energy events; None not to ask them.
    """
    counted: list[Domain] = []
    left_out: list[str] = []
    denied: list[str] = []
    for found in _folders(root):
        name = found.name
        try:
            first_uj = found.read_uj()
        except PermissionError:
            denied.append(name)
            continue
        except (OSError, ValueError):
            left_out.append(f"{name} cannot be read")
            continue
        if reason := _contained(name) or _counted_twice(found, first_uj, counted):
            left_out.append(f"{name} {reason}")
        else:
            counted.append(found)
    if counted:
        left_out += _denied_beside(denied, counted)
        return Sources(tuple(counted), tuple(dict.fromkeys(left_out)))
    if events is not None and (found := _by_events(events)).domains:
        return found
    return Sources(left_out=tuple(left_out), unreadable=ONLY_ROOT if denied else NO_DOMAINS)


def _denied_beside(denied: Sequence[str], counted: Sequence[Domain]) -> Iterator[str]:
    """Domains that may not be read though others may, unless another bus counts the same."""
    known = {one.name for one in counted}
    for name in denied:
        if name not in known:
            yield f"{name} {_contained(name) or 'may not be read'}"


def _by_events(root: Path) -> Sources:
    """What perf events count; nothing where the kernel refuses."""
    try:
        return Sources(perf_energy.opened(root), perf_energy.left_out(root))
    except (OSError, ValueError):
        return Sources()


def _folders(root: Path) -> Iterator[Domain]:
    """Every domain, those of the preferred bus first; what is no domain is passed over."""
    for bus in BUSES:
        for folder in sorted(root.glob(f"{bus}:*")):
            try:
                name = (folder / "name").read_text().strip()
                range_uj = int((folder / "max_energy_range_uj").read_text())
            except (OSError, ValueError):
                continue
            if range_uj <= 0:
                continue
            parent = folder.name.rpartition(":")[0]
            owner = root / parent / "name" if parent != bus else None
            if owner is not None and owner.is_file() and name == "dram":
                name = f"dram of {owner.read_text().strip()}"
            yield Domain(name, folder / "energy_uj", range_uj)


def _contained(name: str) -> str:
    """Why a domain is not counted besides packages and memory; empty for these."""
    if name.startswith(("package", "dram")):
        return ""
    return "contains the packages" if name.startswith("psys") else "is a part of its package"


def _counted_twice(domain: Domain, first_uj: int, counted: Sequence[Domain]) -> str:
    """Which domain counts the same already, and how that is known; empty for none."""
    for other in counted:
        if other.name == domain.name:
            return "is counted already, over another bus"
        is_like = other.name.startswith("package") == domain.name.startswith("package")
        if is_like and _is_mirrored(domain, first_uj, other):
            return f"mirrors the counter of {other.name}"
    return ""


def _is_mirrored(domain: Domain, first_uj: int, other: Domain) -> bool:
    """Whether another counter, read in between, lies between two readings of this one.

    Counters of their own differ by joules or more, those of one by what microseconds add.
    """
    try:
        between_uj, last_uj = other.read_uj(), domain.read_uj()
    except (OSError, ValueError):
        return False
    return domain.grown_uj(first_uj, between_uj) <= domain.grown_uj(first_uj, last_uj)
