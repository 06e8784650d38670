"""Whether a series changes from its beginning to its end."""

import math

import numpy as np
import pytest

from plimsoll.statistics.drift import PARTS, Drift, drift

AT = np.linspace(0, 1, PARTS)


def of(values) -> Drift:
    """The drift of a series that has one."""
    found = drift([float(value) for value in values])
    assert found is not None
    return found


def wandering(random, related, scatter):
    """Relative numbers without a drift, of which neighbours are correlated."""
    shocks = random.normal(size=PARTS + 50) * scatter * math.sqrt(1 - related**2)
    values = [0.0]
    for shock in shocks:
        values.append(related * values[-1] + shock)
    return np.array(values[-PARTS:])


@pytest.mark.parametrize(
    ("shape", "change"),
    [
        (1 + 0.2 * AT, 0.2 / 1.2),
        (1 - 0.3 * AT, -0.3),
        (np.where(AT < 0.4, 1.0, 2.0), 0.5),
        (np.where(AT < 0.6, 1.0, 0.5), -0.5),
    ],
)
def test_the_change_is_that_of_the_shape_over_its_higher_end(shape, change):
    found = of(1000 * shape)
    assert found.change_ratio == pytest.approx(change, rel=0.01)
    assert found.explained_ratio == pytest.approx(1.0)
    assert found.is_real


def test_a_flat_series_has_no_drift_and_a_silent_one_no_answer():
    assert not of([100.0] * PARTS).is_real
    assert drift([0.0] * PARTS) is None


@pytest.mark.parametrize(("related", "allowed"), [(0.0, 0.005), (0.3, 0.01), (0.6, 0.06)])
def test_a_wandering_series_is_seldom_taken_for_a_of(related, allowed):
    random = np.random.default_rng(7)
    found = [of(100 * (1 + wandering(random, related, 0.1))) for _ in range(1000)]
    assert sum(one.is_real for one in found) / len(found) <= allowed


@pytest.mark.parametrize(
    "shape",
    [
        1 - 0.18 * AT,
        1.3 - 0.5 * np.exp(-4 * AT),
        1.1 - 0.3 * np.exp(-8 * AT),
        np.where(AT < 0.5, 1.0, 0.8),
        np.where(AT < 0.75, 1.0, 0.8),
    ],
)
def test_a_real_change_is_found_within_a_scatter_of_3_percent(shape):
    random = np.random.default_rng(11)
    found = [of(100 * shape * (1 + wandering(random, 0.3, 0.03))) for _ in range(200)]
    assert sum(one.is_real for one in found) >= 190


@pytest.mark.parametrize("related", [0.0, 0.5])
def test_the_interval_of_a_line_covers_its_change(related):
    random = np.random.default_rng(3)
    series = [1 + 0.5 * AT + wandering(random, related, 0.05) for _ in range(500)]
    found = [of(values) for values in series]
    covered = [abs(one.last - one.first - 0.5) <= one.reach for one in found]
    assert sum(covered) / len(covered) >= 0.85


def test_the_error_of_the_mean_grows_with_the_correlation_of_neighbours():
    random = np.random.default_rng(5)
    alone = [of(1 + wandering(random, 0.0, 0.1)).mean_error_ratio for _ in range(200)]
    related = [of(1 + wandering(random, 0.6, 0.1)).mean_error_ratio for _ in range(200)]
    assert np.median(related) > 1.5 * np.median(alone)


def test_another_series_is_measured_along_the_same_shape():
    found = of(np.where(AT < 0.5, 100.0, 60.0))
    assert found.along([0.1 if at < 0.5 else 0.5 for at in AT]) == pytest.approx(0.4)
    assert math.isnan(found.along([math.nan] * PARTS))
