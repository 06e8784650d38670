"""What a search for a load line refuses before it sends anything."""

from __future__ import annotations

import pytest

import plimsoll

NOWHERE = "http://127.0.0.1:1/"


@pytest.mark.parametrize(
    ("limit", "budget_s", "warm_up_s", "least"),
    [("p99=20ms", 0.001, 1.0, "4.5"), ("p99=20ms", 12.0, 50.0, "53.5"), ("p99=2s", 5, 1.0, "11.5")],
)
def test_a_budget_that_holds_no_try_is_refused_with_the_least_one(
    limit: str, budget_s: float, warm_up_s: float, least: str
) -> None:
    with pytest.raises(plimsoll.InputError) as error:
        plimsoll.line(NOWHERE, limit, budget_s=budget_s, warm_up_s=warm_up_s)
    (problem,) = error.value.problems
    assert problem.where == "budget_s"
    assert f"at least {least} s" in problem.hint


def test_the_least_budget_is_enough() -> None:
    with pytest.raises(plimsoll.FrameworkError, match="refuses connections"):
        plimsoll.line(NOWHERE, "p99=20ms", budget_s=4.5)


def test_a_limit_longer_than_those_of_campaigns_is_refused() -> None:
    with pytest.raises(plimsoll.InputError, match="`p99=1h` is too long"):
        plimsoll.line(NOWHERE, "p99=1h", budget_s=20)
