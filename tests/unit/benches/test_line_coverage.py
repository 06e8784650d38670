"""The bench of load lines: what it simulates, and that processes which differ widen intervals."""

from __future__ import annotations

import numpy as np
import pytest

import line_coverage as bench


def test_tries_miss_as_often_as_their_rate_says() -> None:
    luck = np.random.default_rng(1)
    found = [one for _ in range(40) for one in bench.tries(luck, 8.0, 0.0, 8)]
    near = [one for one in found if abs(one.rate_per_s / bench.EDGE_PER_S - 1) < 0.02]
    assert np.mean([one.share for one in near]) == pytest.approx(bench.ALLOWED, rel=0.25)
    far = [one.share for one in found if one.rate_per_s < 0.6 * bench.EDGE_PER_S]
    assert max(far) < bench.ALLOWED


@pytest.mark.thorough
def test_intervals_hold_where_processes_differ_and_would_not_if_they_were_taken_as_alike() -> None:
    found = bench.coverage(60.0, 0.05, 8, 60)
    assert found.held >= 0.9
    assert found.held > found.held_if_alike
