"""The bench of real load lines: where the truth is, and what its searches amount to."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest

import line_truth as bench
import queues
from line_truth import Case, FloorTimes, Search, SearchOutcome

QUICK, BUSY = FloorTimes(0.0002, 0.0003), FloorTimes(0.0002, 0.005)


@cache
def cases() -> dict[str, Case]:
    return {one.name: one for one in bench.cases()}


def case(name: str) -> Case:
    return cases()[name]


@pytest.mark.parametrize(
    ("name", "quantile_s"),
    [("M/D/1 50%", queues.md1_quantile_s), ("M/M/1 80%", queues.mm1_quantile_s)],
)
def test_the_way_there_and_back_is_taken_off_the_limit(
    name: str, quantile_s: Callable[[float, float, float], float]
) -> None:
    known = case(name)
    line_per_s = known.truth_per_s(0.0002)
    assert line_per_s < known.truth_per_s(0.0)
    left_s = quantile_s(0.99, line_per_s, bench.SERVICE_S)
    assert left_s == pytest.approx(known.limit_s - 0.0002, rel=1e-3)


class Floor(bench.Floor):
    def between(self, began_s: float, ended_s: float) -> FloorTimes:
        return FloorTimes(0.0, 0.0)


@pytest.mark.parametrize(
    ("rate_per_s", "is_close", "holds"),
    [(800.0, True, True), (823.0, True, False), (777.0, True, False), (850.0, False, False)],
)
def test_a_search_is_held_against_the_truth(rate_per_s: float, is_close: bool, holds: bool) -> None:
    search = Search(rate_per_s, rate_per_s - 20, rate_per_s + 20, 0.0, 1.0)
    found = bench.outcome(case("M/M/1 80%"), search, Floor())
    assert (found.is_close, found.holds) == (is_close, holds)
    assert found.reach == pytest.approx(20 / 800)


def outcomes(close: int, far: int, floor: FloorTimes) -> list[SearchOutcome]:
    return [SearchOutcome(off, True, 0.02, floor) for off in [0.01] * close + [0.04] * far]


@pytest.mark.parametrize(
    ("found", "code"),
    [
        (outcomes(19, 1, QUICK), 0),
        (outcomes(18, 2, QUICK), 1),
        (outcomes(20, 0, BUSY), bench.TOO_BUSY),
    ],
    ids=["close", "far", "busy"],
)
def test_nineteen_of_twenty_must_be_close_on_a_machine_that_is_prompt(
    found: list[SearchOutcome], code: int
) -> None:
    known = case("M/M/1 80%")
    assert bench.verdict([known], {known.name: found}) == code
    assert bench.row(known, found)[0] == known.name


def test_no_line_is_not_close() -> None:
    found = bench.outcome(case("M/M/1 80%"), Search(None, 0.0, 0.0, 0.0, 1.0), Floor())
    assert not found.is_close
    assert not found.holds
