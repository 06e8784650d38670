"""Where `plimsoll.calibrate` stores the capacity, before and after it is measured."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import plimsoll
from plimsoll.calibration import calibration
from plimsoll.calibration.calibration import Calibration
from plimsoll.calibration.capacity import CapacitiesFound
from plimsoll.capacity import EngineCapacity
from plimsoll.errors import StorageError
from plimsoll.events import Event, Notice

CASE = EngineCapacity(64, 40.0, 50_000.0, 1, 1e-5, 0.5, 1.0)


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


def measure(monkeypatch: pytest.MonkeyPatch, meanwhile: Callable[[], object]) -> None:
    """Lets a calibration find one capacity at once."""

    def calibrated(*given: object) -> Calibration:
        del given
        meanwhile()
        found = CapacitiesFound((CASE,), ())
        return Calibration("1.0", {}, None, (), (), (), None, found, ())

    monkeypatch.setattr(calibration, "calibrate", calibrated)


def test_a_place_that_cannot_be_written_is_known_before_anything_is_measured(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state.write_text("")
    measure(monkeypatch, lambda: pytest.fail("it was measured"))
    with pytest.raises(StorageError, match="cannot be written") as raised:
        plimsoll.calibrate(["capacity"])
    assert "`into=`" in raised.value.hint


def test_what_was_measured_is_returned_even_if_it_can_no_longer_be_stored(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[Event] = []
    measure(monkeypatch, lambda: ((state / "plimsoll").rmdir(), (state / "plimsoll").touch()))
    found = plimsoll.calibrate(["capacity"], on_event=told.append)
    assert found.kept is None and found.calibration.capacities is not None
    notices = [one.message for one in told if isinstance(one, Notice)]
    assert any(one.startswith("the capacity is not stored: ") for one in notices)


def test_a_capacity_is_stored_where_trials_look(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measure(monkeypatch, lambda: None)
    found = plimsoll.calibrate(["capacity"])
    assert found.kept is not None and found.kept.parent == state / "plimsoll"
    assert found.kept.is_file()
