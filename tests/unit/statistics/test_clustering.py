"""Events that come together: beyond chance, or by it."""

import numpy as np
import pytest

from plimsoll.statistics import clustering

LENGTH_S = 0.06
TIME_S = 6.0


def lengths(events: int):
    return np.full(events, LENGTH_S)


@pytest.mark.parametrize("events", [20, 400])
@pytest.mark.parametrize("seed", range(5))
def test_independent_events_do_not_come_together(events, seed):
    ends = np.random.default_rng(seed).random(events) * TIME_S
    found = clustering.in_time(ends, lengths(events), TIME_S)
    assert found is not None
    assert not found.any()


@pytest.mark.parametrize("others", [0, 20, 200])
def test_events_that_end_together_are_named_and_hardly_any_others(others):
    draw = np.random.default_rng(1)
    together = np.repeat([0.7, 1.9, 3.3, 4.1], 12) + 0.001 * draw.random(48)
    ends = np.concatenate([together, draw.random(others) * TIME_S])
    found = clustering.in_time(ends, lengths(ends.size), TIME_S)
    assert found is not None
    assert found[:48].all()
    assert found[48:].sum() <= 0.1 * others


@pytest.mark.parametrize(("events", "tells"), [(1, False), (2, False), (6, True)])
def test_so_few_events_that_all_may_end_together_by_chance_tell_nothing(events, tells):
    found = clustering.in_time(np.ones(events), lengths(events), TIME_S)
    assert (found is not None) is tells
    assert found is None or found.all()


def test_a_place_with_most_of_the_events_is_named():
    found = clustering.in_places(np.array([0.0, 9.0, 1.0, 1.0]), np.array([0.1, 0.1, 0.4, 0.4]))
    assert found.tolist() == [False, True, False, False]


def test_places_have_events_by_their_share_of_the_opportunities():
    draw = np.random.default_rng(2)
    shares = np.array([0.7, *[0.01] * 30])
    for _ in range(20):
        counts = draw.multinomial(300, shares).astype(np.float64)
        assert not clustering.in_places(counts, shares).any()
