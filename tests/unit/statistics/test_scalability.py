import pytest

from plimsoll.statistics.scalability import fit, law

LEVELS = (1, 4, 16, 64, 256)


@pytest.mark.parametrize("parts", [(1000.0, 0.05, 0.0), (1000.0, 0.02, 1e-4), (500.0, 0.0, 0.0)])
def test_levels_that_follow_the_law_give_its_numbers_back(parts):
    found = fit([(n, law(n, *parts)) for n in LEVELS])
    assert found is not None
    given = (found.alone_per_s, found.contention, found.coherency)
    assert given == pytest.approx(parts, rel=1e-6, abs=1e-9)
    assert found.r_squared == pytest.approx(1.0)
    assert found.farthest_ratio == pytest.approx(0.0, abs=1e-9)


def test_throughput_is_greatest_where_coherency_says():
    found = fit([(n, law(n, 1000.0, 0.02, 1e-4)) for n in LEVELS])
    assert found is not None
    assert found.most_at is not None
    assert found.most_at == pytest.approx((0.98 / 1e-4) ** 0.5)
    around = [found.throughput_per_s(n) for n in (80, found.most_at, 120)]
    assert max(around) == around[1]


def test_a_server_that_is_full_from_the_first_level_on_works_one_at_a_time():
    found = fit([(n, 8000.0) for n in LEVELS])
    assert found is not None
    assert (found.contention, found.coherency) == (pytest.approx(1.0), pytest.approx(0.0))
    assert found.farthest_ratio == pytest.approx(0.0, abs=1e-6)
    assert found.most_at is None


def test_a_level_that_falls_out_of_the_law_is_named():
    points = [(n, law(n, 1000.0, 0.02, 0.0) * (0.3 if n == 64 else 1.0)) for n in LEVELS]
    found = fit(points)
    assert found is not None
    assert found.farthest == 64
    assert found.farthest_ratio > 0.5
    assert found.r_squared < 0.95


def test_too_few_levels_or_none_with_answers_have_no_fit():
    assert fit([(1, 10.0), (2, 20.0), (3, 30.0)]) is None
    assert fit([(n, 0.0) for n in LEVELS]) is None
    assert fit([(1, 10.0)] * 5) is None
