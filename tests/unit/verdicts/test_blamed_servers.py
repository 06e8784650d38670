"""Which limits void a load by what its server did."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from plimsoll.comparison.turn_pairs import B
from plimsoll.verdicts import catalogue, compared_load
from plimsoll.verdicts.checks import CHECKS
from plimsoll.verdicts.verdict import Sentence, Verdict


@pytest.mark.parametrize("check", CHECKS, ids=lambda one: one.NAME)
def test_a_server_is_blamed_by_limits_that_its_check_has(check: Any) -> None:
    of_check = {one.name for one in check.LIMITS}
    assert check.ROLE.blames_server <= of_check and check.ROLE.by_overload <= of_check
    assert not (check.ROLE.blames_server and check.ROLE.cancels_in_turns)


@pytest.mark.parametrize(
    ("check", "limits", "is_by_server"),
    [
        ("failures_explained", ["failed_ratio"], True),
        ("responses_correct", ["wrong_ratio"], True),
        ("offered_rate_met", ["rate_difference"], True),
        ("offered_rate_met", ["rate_difference", "lag_ratio"], False),
        ("driver_headroom", ["driver_busy_ratio"], False),
        ("conservation", ["rows_differ"], False),
    ],
)
def test_a_load_is_void_by_its_server_where_every_limit_blames_it(
    check: str, limits: list[str], is_by_server: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = tuple(Sentence("void", f"{one} is broken.", limit=one) for one in limits)
    verdict = Verdict(check, "trial", "void", 1.0, 0.5, "ratio", said, "")
    doubtful = replace(verdict, level="doubtful", sentences=(replace(said[0], level="doubtful"),))
    assert {one.name for one in catalogue.LIMITS if one.check == check} >= set(limits)
    monkeypatch.setattr(compared_load, "judge", lambda _: (verdict, doubtful))
    void, doubt = compared_load.doubts(B, None)  # type: ignore[arg-type]
    assert (void.level, void.is_by_server) == ("void", is_by_server)
    assert (doubt.level, doubt.is_by_server) == ("doubtful", False)


@pytest.mark.parametrize(
    ("check", "limits", "is_by_server"),
    [
        ("offered_rate_met", ["rate_difference", "lag_ratio"], True),
        ("steady", ["change_ratio"], True),
        ("driver_headroom", ["driver_busy_ratio"], False),
        ("undisturbed", ["lost_ratio"], False),
    ],
)
def test_a_rate_beyond_the_server_also_makes_requests_late_and_throughput_fall(
    check: str, limits: list[str], is_by_server: bool
) -> None:
    said = tuple(Sentence("void", f"{one} is broken.", limit=one) for one in limits)
    verdict = Verdict(check, "trial", "void", 1.0, 0.5, "ratio", said, "")
    assert catalogue.is_by_server(verdict, is_overloaded=True) is is_by_server
    assert not catalogue.is_by_server(verdict)
