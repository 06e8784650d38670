"""Level changes: steps are found at their place, noise is none."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np
import pytest

from plimsoll.errors import StorageError
from plimsoll.statistics.level_changes import level_changes


def noise(count: int, seed: int, scatter: float = 0.01) -> np.ndarray[Any, Any]:
    return 1000 * np.exp(np.random.default_rng(seed).normal(0, scatter, count))


@pytest.mark.parametrize("ratio", [0.95, 1.05])
def test_a_step_of_five_percent_in_noise_of_one_is_found_at_its_place(ratio: float) -> None:
    places: list[int] = []
    with_others = 0
    for seed in range(50):
        values = noise(30, seed)
        values[18:] *= ratio
        found = level_changes(values.tolist())
        nearest = min(found, key=lambda one: abs(one.index - 18))
        assert nearest.after / nearest.before == pytest.approx(ratio, abs=0.02)
        places += [one.index for one in found]
        with_others += any(abs(one.index - 18) > 1 for one in found)
    assert places.count(18) >= 45
    assert with_others <= 2


def test_a_step_is_found_from_its_second_campaign_on() -> None:
    values = [*noise(20, 1), *(0.95 * noise(2, 2))]
    (found,) = level_changes(values)
    assert found.index == 20
    assert level_changes(values[:-1]) == ()


def test_a_step_down_and_up_again_are_two_changes() -> None:
    values = [*noise(10, 1), *(0.9 * noise(10, 2)), *noise(10, 3)]
    assert [one.index for one in level_changes(values)] == [10, 20]


@pytest.mark.parametrize("count", [10, 30, 100])
def test_of_fifty_series_of_noise_at_most_two_have_a_change(count: int) -> None:
    found = [bool(level_changes(noise(count, seed).tolist())) for seed in range(50)]
    assert sum(found) <= 2


def test_one_campaign_that_is_off_is_no_change() -> None:
    for place in (0, 12, 29):
        values = noise(30, 5).tolist()
        values[place] *= 0.7
        assert level_changes(values) == ()


@pytest.mark.parametrize(
    "values",
    [
        [],
        [1.0],
        [1.0, 1.0, 1.0, 9.0, 9.0],
        [5.0] * 20,
        [0.0] * 20,
        [*[1000.0, 1001.0] * 5, *[1006.0, 1007.0] * 5],
    ],
    ids=["none", "one", "few", "equal", "zeros", "below one percent"],
)
def test_what_is_too_little_is_no_change(values: list[float]) -> None:
    assert level_changes(values) == ()


def test_numbers_that_hardly_scatter_have_changes_too() -> None:
    (found,) = level_changes([100.0] * 10 + [110.0] * 10)
    assert (found.index, found.before, found.after) == (10, pytest.approx(100), pytest.approx(110))


def test_numbers_that_are_not_positive_are_compared_as_they_are() -> None:
    (found,) = level_changes([0.0, 0.001] * 5 + [0.1, 0.101] * 5)
    assert (found.index, found.after) == (10, pytest.approx(0.1005))


def test_without_the_library_the_error_names_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = builtins.__import__

    def without(name: str, *others: Any) -> Any:
        if name == "ruptures":
            raise ImportError
        return found(name, *others)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(StorageError, match="need the Python package `ruptures`") as caught:
        level_changes(noise(10, 1).tolist())
    assert "plimsoll-bench[history]" in caught.value.hint
