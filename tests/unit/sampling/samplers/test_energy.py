"""Energy as the kernel counts it, across the ends of its counters."""

from __future__ import annotations

from pathlib import Path

from plimsoll.sampling.samplers.energy import Meter, of_host

MOST_UJ = 1000_000_000


def zone(folder: Path, place: str, name: str, counted: int) -> None:
    (folder / place).mkdir(parents=True, exist_ok=True)
    for file, content in (
        ("name", name),
        ("energy_uj", counted),
        ("max_energy_range_uj", MOST_UJ),
    ):
        (folder / place / file).write_text(f"{content}\n")


def test_packages_and_memory_are_added_up_from_the_first_reading_on(tmp_path: Path) -> None:
    meter = Meter()
    zone(tmp_path, "intel-rapl:0", "package-0", 7_000_000)
    zone(tmp_path, "intel-rapl:0:0", "dram", 1_000_000)
    assert of_host(tmp_path, meter) == {"energy_j": 0.0}
    zone(tmp_path, "intel-rapl:0", "package-0", 9_000_000)
    zone(tmp_path, "intel-rapl:0:0", "dram", 1_500_000)
    assert of_host(tmp_path, meter) == {"energy_j": 2.5}


def test_a_counter_that_begins_again_is_taken_up_where_it_was(tmp_path: Path) -> None:
    meter = Meter()
    for counted in (MOST_UJ - 3_000_000, MOST_UJ - 1_000_000, 2_000_000):
        zone(tmp_path, "intel-rapl:0", "package-0", counted)
        found = of_host(tmp_path, meter)
    assert found == {"energy_j": 5.0}


def test_zones_that_hold_others_twice_are_left_out(tmp_path: Path) -> None:
    for place, name in (("intel-rapl:1", "psys"), ("intel-rapl:0:1", "core")):
        zone(tmp_path, place, name, 5)
    assert of_host(tmp_path, Meter()) == {}


def test_a_zone_that_may_not_be_read_is_no_zone(tmp_path: Path) -> None:
    zone(tmp_path, "intel-rapl:0", "package-0", 5)
    (tmp_path / "intel-rapl:0" / "energy_uj").unlink()
    assert of_host(tmp_path, Meter()) == {}
    assert of_host(tmp_path / "nowhere", Meter()) == {}
