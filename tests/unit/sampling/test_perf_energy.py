"""RAPL by perf events, on a fake tree of the kernel's."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from plimsoll.sampling import perf_energy, perf_events
from plimsoll.sampling.samplers import energy
from plimsoll.sampling.samplers.energy import RaplMeter
from powercap import domain

SCALE = "2.3283064365386962890625e-10"
JOULE = 2**32
"""Counts of a joule."""


@dataclass
class Kernel:
    """Counters as the kernel gives them.

    Attributes:
        events: Folder of the events.
        cores: Folder of the cores.
        counted: What was counted since the counters were opened, by event and core.
    """

    events: Path
    cores: Path
    counted: dict[tuple[int, int], int] = field(default_factory=dict[tuple[int, int], int])
    _opened: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])

    def opened(self, kind: int, config: int, *, core: int) -> int:
        assert kind == 9
        self._opened.append((config, core))
        return len(self._opened) - 1

    def value(self, counter: int) -> int:
        return self.counted.get(self._opened[counter], 0)


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kernel:
    """A host with two packages of two dies each."""
    found = Kernel(tmp_path / "power", tmp_path / "cpu")
    events = found.events / "events"
    events.mkdir(parents=True)
    (found.events / "type").write_text("9\n")
    (found.events / "cpumask").write_text("0-1,28,42\n")
    for name, number in (("pkg", 2), ("ram", 3), ("psys", 5), ("cores", 1)):
        (events / f"energy-{name}").write_text(f"event=0x{number:02x}\n")
        (events / f"energy-{name}.scale").write_text(f"{SCALE}\n")
        (events / f"energy-{name}.unit").write_text("Joules\n")
    for core, package in ((0, 0), (1, 0), (28, 1), (42, 1)):
        topology = found.cores / f"cpu{core}" / "topology"
        topology.mkdir(parents=True)
        (topology / "physical_package_id").write_text(f"{package}\n")
    monkeypatch.setattr(perf_events, "opened", found.opened)
    monkeypatch.setattr(perf_events, "value", found.value)
    monkeypatch.setattr(perf_energy, "CORES", found.cores)
    return found


def test_each_package_is_counted_once_with_its_memory(kernel: Kernel, tmp_path: Path) -> None:
    found = energy.sources(tmp_path / "none", kernel.events)
    assert [one.name for one in found.domains] == [
        *("package-0", "package-1", "dram of package-0", "dram of package-1"),
    ]
    assert found.left_out == (
        "energy-cores is a part of its package",
        "energy-psys contains the packages",
    )
    assert found.unreadable == ""
    meter = RaplMeter(found)
    assert meter.energy_j() == 0.0
    kernel.counted |= {(2, 0): 5 * JOULE, (2, 1): 5 * JOULE, (2, 28): 2 * JOULE, (3, 0): JOULE // 2}
    assert meter.energy_j() == pytest.approx(7.5)


def test_powercap_is_preferred(kernel: Kernel, tmp_path: Path) -> None:
    domain(tmp_path / "powercap", "intel-rapl:0", "package-0", 5)
    (found,) = energy.sources(tmp_path / "powercap", kernel.events).domains
    assert isinstance(found, energy.Domain)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda kernel: (kernel.events / "type").unlink(),
        lambda kernel: (kernel.events / "cpumask").write_text("none"),
        lambda kernel: [
            one.unlink() for one in (kernel.events / "events").glob("energy-[pr]*[gm]")
        ],
    ],
    ids=["no events", "nonsense", "no packages"],
)
def test_what_the_kernel_lacks_is_said_as_before(
    kernel: Kernel, tmp_path: Path, spoil: Callable[[Kernel], object]
) -> None:
    spoil(kernel)
    found = energy.sources(tmp_path / "none", kernel.events)
    assert (found.domains, found.unreadable) == ((), energy.NO_DOMAINS)


def test_a_kernel_that_refuses_leaves_the_reason_of_powercap(
    kernel: Kernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object, **__: object) -> int:
        raise OSError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(perf_events, "opened", refused)
    assert energy.sources(tmp_path / "none", kernel.events).unreadable == energy.NO_DOMAINS
