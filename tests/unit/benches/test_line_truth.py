"""The bench of real load lines: where the truth is, and what its searches amount to."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

import line_truth as bench
import queues
from line_truth import Array, Case, Search, SearchOutcome

QUICK: Array = np.full(100, 0.0002)
BUSY: Array = np.append(np.full(98, 0.0002), [0.02, 0.02])


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
    line_per_s = known.truth_per_s(QUICK)
    assert line_per_s < known.truth_per_s(bench.NO_DELAY)
    service_s = bench.LONG_SERVICES_S.get((name[:5], 0.5), bench.SERVICE_S)
    left_s = quantile_s(0.99, line_per_s, service_s)
    assert left_s == pytest.approx(known.limit_s - 0.0002, rel=1e-3)


@pytest.mark.parametrize("name", ["M/D/1 50%", "M/M/1 80%"])
def test_the_truth_is_the_line_of_response_times_and_delays_together(name: str) -> None:
    """Against a simulated queue: few of the delays are as long as the limit."""
    known, luck = case(name), np.random.default_rng(3)
    delays_s = luck.exponential(known.limit_s / 40, 20_000)
    delays_s[:50] = known.limit_s
    rate_per_s = known.truth_per_s(delays_s)
    services = queues.fixed if name.startswith("M/D") else queues.exponential
    due_s = np.cumsum(luck.exponential(1 / rate_per_s, 1_000_000))
    service_s = bench.LONG_SERVICES_S.get((name[:5], 0.5), bench.SERVICE_S)
    took_s = queues.lindley(due_s, services(service_s)(luck, due_s)) - due_s
    missed = took_s + luck.choice(delays_s, len(took_s)) > known.limit_s
    assert missed.mean() == pytest.approx(0.01, rel=0.1)
    assert rate_per_s < known.truth_per_s(np.full(1, delays_s.mean()))


def test_delays_that_miss_by_themselves_leave_no_line() -> None:
    assert case("M/D/1 50%").truth_per_s(np.full(1, 0.01)) == 0.0


class Floor(bench.Floor):
    def between(self, began_s: float, ended_s: float) -> Array:
        return bench.NO_DELAY


@pytest.mark.parametrize(
    ("rate_per_s", "is_close", "holds"),
    [(800.0, True, True), (823.0, True, False), (777.0, True, False), (850.0, False, False)],
)
def test_a_search_is_held_against_the_truth(rate_per_s: float, is_close: bool, holds: bool) -> None:
    search = Search(rate_per_s, rate_per_s - 20, rate_per_s + 20, 0.0, 1.0)
    found = bench.outcome(case("M/M/1 80%"), search, Floor())
    assert (found.is_close, found.holds) == (is_close, holds)
    assert found.reach == pytest.approx(20 / 800)


def outcomes(close: int, far: int, floor: Array) -> list[SearchOutcome]:
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
