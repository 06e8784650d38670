"""Watching the machine: what each second shows, and what a minute of them hides."""

from __future__ import annotations

from itertools import count

import pytest

from plimsoll.sampling import watching
from plimsoll.sampling.watching import WatchedSecond


def seconds(*speeds: float) -> list[WatchedSecond]:
    return [
        WatchedSecond(float(number), 0.01 / speed, {}, 0.0, 0.0)
        for number, speed in enumerate(speeds, 1)
    ]


def test_each_second_has_the_control_and_what_others_had() -> None:
    clock = count(0.0, 0.5)
    slept = list[float]()
    watched = list(watching.seconds((), 2.0, lambda: next(clock), slept.append))
    assert slept == [1.0] * len(watched)
    assert len(watched) > 1
    assert all(second.control_s > 0 for second in watched)
    assert all(second.other_cores >= 0 <= second.steal_cores for second in watched)


def test_a_machine_that_never_varies_shows_every_difference() -> None:
    found = watching.variation(seconds(*[1.0] * 6))
    assert found is not None
    assert (found.ratio, found.smallest) == (0.0, 0.0)


def test_what_varies_slowly_hides_less_than_what_varies_from_second_to_second() -> None:
    drifting = watching.variation(seconds(*(1 + 0.01 * number for number in range(20))))
    jumping = watching.variation(
        seconds(*(1 + 0.19 * (number * 7 % 4) / 3 for number in range(20)))
    )
    assert drifting is not None and jumping is not None
    assert drifting.ratio == pytest.approx(jumping.ratio, rel=0.2)
    assert drifting.smallest is not None and jumping.smallest is not None
    assert drifting.smallest < jumping.smallest / 10


def test_the_reach_of_the_speed_is_told_to_either_side() -> None:
    found = watching.variation(seconds(0.9, 1.0, 1.1))
    assert found is not None
    assert (found.length_s, found.smallest) == (3.0, None)
    assert found.ratio == pytest.approx(0.1)


def test_one_second_does_not_vary() -> None:
    found = watching.variation(seconds(1.0))
    assert found is not None
    assert (found.length_s, found.ratio, found.smallest) == (1.0, None, None)


def test_of_no_second_nothing_is_known() -> None:
    assert watching.variation([]) is None
