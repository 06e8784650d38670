"""Capacities: kept for a host and an engine, and looked up for a trial."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from plimsoll import capacity
from plimsoll.capacity import EngineCapacity
from plimsoll.errors import StorageError

HOST = {"cores": [0, 1], "cpu_model": "a processor", "kernel": "6.1"}
ENGINE = capacity.engine("plimsoll", "1.0")


def of(connections: int, response_bytes: float, cpu_s: float = 1e-5) -> EngineCapacity:
    return EngineCapacity(connections, response_bytes, 50_000.0, 1, cpu_s, 0.5, 1.0)


CASES = (of(64, 40.0), of(64, 2100.0), of(9000, 40.0), of(9000, 2100.0))


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path


def test_what_is_kept_is_found_again_by_the_same_host_and_engine(state: Path) -> None:
    path = capacity.keep(CASES, HOST, ENGINE)
    assert path.parent == state / "plimsoll"
    assert capacity.kept(HOST, ENGINE) == CASES


def test_another_kernel_processor_or_engine_has_no_ceiling_yet() -> None:
    capacity.keep(CASES, HOST, ENGINE)
    assert capacity.kept({**HOST, "kernel": "6.2"}, ENGINE) == ()
    assert capacity.kept({**HOST, "cpu_model": "another"}, ENGINE) == ()
    assert capacity.kept(HOST, capacity.engine("plimsoll", "1.1")) == ()


def test_facts_that_change_from_day_to_day_do_not_matter() -> None:
    capacity.keep(CASES, HOST, ENGINE)
    assert capacity.kept({**HOST, "open_files_soft": 1024}, ENGINE) == CASES


@pytest.mark.parametrize("text", ["", "[]", '{"format": 0}', '{"format": 1, "capacities": [{}]}'])
def test_a_file_that_cannot_be_understood_is_no_ceiling(text: str) -> None:
    path = capacity.keep(CASES, HOST, ENGINE)
    path.write_text(text)
    assert capacity.kept(HOST, ENGINE) == ()


def test_a_file_named_by_hand_is_not_where_trials_look(tmp_path: Path) -> None:
    assert capacity.keep(CASES, HOST, ENGINE, tmp_path / "mine.json") == tmp_path / "mine.json"
    assert capacity.kept(HOST, ENGINE) == ()


def test_a_file_that_cannot_be_written_is_an_error_with_a_remedy(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError) as raised:
        capacity.keep(CASES, HOST, ENGINE, tmp_path / "file" / "capacity.json")
    assert "`into=`" in raised.value.hint


def test_a_user_without_a_home_folder_has_no_ceiling(monkeypatch: pytest.MonkeyPatch) -> None:
    """As an id without an account, in a container: each trial looks one up."""
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setattr(Path, "home", homeless)
    assert capacity.kept(HOST, ENGINE) == ()
    with pytest.raises(StorageError, match="no home folder") as raised:
        capacity.keep(CASES, HOST, ENGINE)
    assert "XDG_STATE_HOME" in raised.value.hint


def homeless() -> Path:
    raise RuntimeError("Could not determine home directory.")


@pytest.mark.parametrize(
    ("connections", "response_bytes", "expected"),
    [(64, 40, 0), (100, 2000, 1), (5000, 100, 2), (20_000, 32_000, 3), (1, 0, 0)],
)
def test_the_nearest_case_is_the_one_with_the_least_ratios(
    connections: int, response_bytes: float, expected: int
) -> None:
    assert capacity.nearest(CASES, connections, response_bytes) == CASES[expected]


def test_a_case_by_another_protocol_is_not_near() -> None:
    tls = replace(CASES[0], tls=True)
    one, eight = (replace(CASES[0], protocol="http2", in_flight_each=each) for each in (1, 8))
    cases = (*CASES, tls, one, eight)
    assert capacity.nearest(cases, 64, 40.0, tls=True) == tls
    assert capacity.nearest(cases, 64, 40.0, protocol="http2", in_flight_each=10) == eight
    assert capacity.nearest(cases, 64, 40.0, protocol="http2") == one
    assert capacity.nearest(cases, 64, 40.0, protocol="http2", tls=True) is None


def test_without_a_calibration_nothing_is_nearest() -> None:
    assert capacity.nearest((), 64, 40.0) is None


def test_a_thread_can_do_what_the_cost_of_a_request_leaves_room_for() -> None:
    assert of(64, 40.0, cpu_s=8e-6).thread_per_s == pytest.approx(125_000)
