import math

import pytest

from plimsoll.verdicts import catalogue
from plimsoll.verdicts.campaign_checks import CAMPAIGN_CHECKS
from plimsoll.verdicts.catalogue import LIMITS
from plimsoll.verdicts.checks import CHECKS
from plimsoll.verdicts.figure_checks import FIGURE_CHECKS
from plimsoll.verdicts.figure_set_checks import FIGURE_SET_CHECKS
from plimsoll.verdicts.limits import Limits


def test_every_limit_belongs_to_a_check_and_every_check_has_one():
    figures = (*FIGURE_CHECKS, *FIGURE_SET_CHECKS)
    every = {check.NAME for check in (*CHECKS, *CAMPAIGN_CHECKS, *figures)}
    assert {limit.check for limit in LIMITS} == every


def test_every_limit_has_its_meaning_and_its_source():
    assert all(limit.meaning and limit.source and limit.unit for limit in LIMITS)
    assert len({(limit.check, limit.name) for limit in LIMITS}) == len(LIMITS)


def test_doubt_begins_before_a_number_is_void():
    for limit in LIMITS:
        if limit.doubtful is not None and limit.void is not None:
            assert (limit.doubtful < limit.void) == (limit.bad == "above"), limit


@pytest.mark.parametrize("limit", LIMITS, ids=lambda limit: f"{limit.check}.{limit.name}")
def test_every_limit_is_good_itself_and_bad_beyond(limit):
    beyond = math.inf if limit.bad == "above" else -math.inf
    values = {"doubtful": limit.doubtful, "void": limit.void}
    told = [(level, value) for level, value in values.items() if value is not None]
    assert told
    assert limit.level(told[0][1]) == "sound"
    for level, value in told:
        assert limit.level(math.nextafter(value, beyond)) == level
        assert limit.level(value) != level


@pytest.mark.parametrize(
    ("measured", "level"),
    [(0.0, "sound"), (0.001, "sound"), (0.002, "doubtful"), (0.01, "doubtful"), (0.02, "void")],
)
def test_a_number_beyond_a_limit_is_worse(measured, level):
    assert catalogue.limit("failures_explained", "failed_ratio").level(measured) == level


@pytest.mark.parametrize(
    ("measured", "level"), [(1.0, "sound"), (0.94, "doubtful"), (0.84, "void")]
)
def test_a_limit_may_be_a_least_number(measured, level):
    assert catalogue.limit("littles_law", "accounted_ratio").level(measured) == level


@pytest.mark.parametrize("measured", [None, math.nan])
@pytest.mark.parametrize("limit", LIMITS, ids=lambda limit: f"{limit.check}.{limit.name}")
def test_what_could_not_be_measured_is_never_sound(limit, measured):
    assert limit.level(measured) == "doubtful"


def test_a_campaign_may_change_a_limit_and_the_limit_says_so():
    limits = Limits({"failures_explained": {"failed_ratio_void": 0.2}})
    changed = limits.of(catalogue.limit("failures_explained", "failed_ratio"))
    assert changed.level(0.1) == "doubtful"
    assert changed.doubtful == 0.001
    assert changed.changed == "default: doubtful 0.001, void 0.01"
    assert limits.of(catalogue.limit("backlog", "cookies")).changed == ""


def test_a_limit_that_is_not_there_is_a_fault():
    with pytest.raises(KeyError, match=r"backlog\.speed"):
        catalogue.limit("backlog", "speed")
