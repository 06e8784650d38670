"""Energy as the kernel counts it, each joule once, across the ends of its counters."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.sampling.samplers import energy
from plimsoll.sampling.samplers.energy import Domain, RaplMeter, sources
from powercap import RANGE_UJ, domain, every_trap


def names(root: Path) -> list[str]:
    return [one.name for one in sources(root).domains]


def test_packages_and_memory_are_added_up_from_the_first_reading_on(tmp_path: Path) -> None:
    domain(tmp_path, "intel-rapl:0", "package-0", 7_000_000)
    domain(tmp_path, "intel-rapl:0:0", "dram", 1_000_000)
    domain(tmp_path, "intel-rapl:1", "package-1", 400_000_000)
    meter = RaplMeter(sources(tmp_path))
    assert meter.energy_j() == 0.0
    domain(tmp_path, "intel-rapl:0", "package-0", 9_000_000)
    domain(tmp_path, "intel-rapl:0:0", "dram", 1_500_000)
    domain(tmp_path, "intel-rapl:1", "package-1", 401_000_000)
    assert meter.energy_j() == 3.5


def test_each_joule_is_counted_once_and_what_is_left_out_is_said(tmp_path: Path) -> None:
    every_trap(tmp_path, 5_000_000, 900_000)
    found = sources(tmp_path)
    assert [one.name for one in found.domains] == ["package-0", "dram of package-0"]
    assert found.left_out == (
        "core is a part of its package",
        "psys contains the packages",
        "package-0-die-1 mirrors the counter of package-0",
        "package-0 is counted already, over another bus",
    )
    assert not found.unreadable
    meter = RaplMeter(found)
    meter.energy_j()
    every_trap(tmp_path, 6_000_000, 1_000_000)
    assert meter.energy_j() == pytest.approx(1.1)


def test_dies_with_counters_of_their_own_are_all_counted(tmp_path: Path) -> None:
    domain(tmp_path, "intel-rapl:0", "package-0-die-0", 5_000_000)
    domain(tmp_path, "intel-rapl:1", "package-0-die-1", 800_000_000)
    assert names(tmp_path) == ["package-0-die-0", "package-0-die-1"]


def test_the_other_bus_is_counted_where_only_it_can_be_read(tmp_path: Path) -> None:
    domain(tmp_path, "intel-rapl:0", "package-0", 5)
    (tmp_path / "intel-rapl:0" / "energy_uj").unlink()
    domain(tmp_path, "intel-rapl-mmio:0", "package-0", 5)
    assert names(tmp_path) == ["package-0"]


def test_a_host_without_counters_says_so(tmp_path: Path) -> None:
    assert sources(tmp_path / "nowhere").unreadable == energy.NO_DOMAINS
    (tmp_path / "intel-rapl:0").mkdir()  # has no files
    domain(tmp_path, "intel-rapl:1", "package-1", 5, range_uj=0)
    assert sources(tmp_path).unreadable == energy.NO_DOMAINS
    assert RaplMeter(sources(tmp_path)).energy_j() is None


def test_counters_that_only_root_may_read_are_said_to_be_such(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    every_trap(tmp_path, 5_000_000, 900_000)

    def denied(_: Domain) -> int:
        raise PermissionError

    monkeypatch.setattr(Domain, "read_uj", denied)
    assert sources(tmp_path).unreadable == energy.ONLY_ROOT
    assert sources(tmp_path).domains == ()


def test_domains_that_may_not_be_read_beside_others_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place, name in (
        ("intel-rapl:0", "package-0"),
        ("intel-rapl:0:0", "dram"),
        ("intel-rapl:0:1", "core"),
        ("intel-rapl:1", "package-1"),
        ("intel-rapl:2", "package-2"),
        ("intel-rapl-mmio:2", "package-2"),
    ):
        domain(tmp_path, place, name, 5_000_000 * (1 + len(place)))
    open_to_all = {tmp_path / one / "energy_uj" for one in ("intel-rapl:0", "intel-rapl-mmio:2")}
    read_uj = Domain.read_uj

    def read(one: Domain) -> int:
        if one.counter not in open_to_all:
            raise PermissionError
        return read_uj(one)

    monkeypatch.setattr(Domain, "read_uj", read)
    found = sources(tmp_path)
    assert [one.name for one in found.domains] == ["package-0", "package-2"]
    assert found.left_out == (
        "dram of package-0 may not be read",
        "core is a part of its package",
        "package-1 may not be read",
    )


def test_a_domain_that_goes_away_leaves_a_gap_and_no_wrong_number(tmp_path: Path) -> None:
    domain(tmp_path, "intel-rapl:0", "package-0", 1_000_000)
    domain(tmp_path, "intel-rapl:0:0", "dram", 1_000_000)
    meter = RaplMeter(sources(tmp_path))
    assert meter.energy_j() == 0.0
    counter = tmp_path / "intel-rapl:0:0" / "energy_uj"
    counter.rename(counter.with_name("gone"))
    assert meter.energy_j() is None
    counter.with_name("gone").rename(counter)
    domain(tmp_path, "intel-rapl:0", "package-0", 3_000_000)
    assert meter.energy_j() == 2.0


def test_the_tree_may_be_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(energy.ROOT_VARIABLE, str(tmp_path / "none"))
    assert energy.of_host() == {}
    monkeypatch.setenv(energy.ROOT_VARIABLE, str(tmp_path))
    domain(tmp_path, "intel-rapl:0", "package-0", 1_000_000)
    assert energy.of_host() == {"energy_j": 0.0}
    domain(tmp_path, "intel-rapl:0", "package-0", 1_500_000)
    assert energy.of_host() == {"energy_j": 0.5}
    assert [one.name for one in energy.of_this_host().domains] == ["package-0"]


@given(
    st.integers(1, RANGE_UJ),
    st.integers(0, RANGE_UJ),
    st.lists(st.floats(0, 1, exclude_max=True), max_size=30),
)
def test_energy_is_the_sum_of_what_was_used_whenever_counters_begin_again(
    range_uj: int, first_uj: int, shares: list[float]
) -> None:
    used = [int(share * range_uj) for share in shares]
    counter = Domain("package-0", Path("unused"), range_uj)
    before, total = first_uj % (range_uj + 1), 0
    for one in used:
        now = (before + one) % (range_uj + 1)
        total += counter.grown_uj(before, now)
        before = now
    assert total == sum(used)
