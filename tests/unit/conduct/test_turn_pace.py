"""The common pace of servers that take turns."""

import pytest

from plimsoll.conduct.turn_pace import common_pace
from plimsoll.recording.turns import Turn

TURN_NS = 100_000_000


def turns(*requests: int) -> list[Turn]:
    """Turns with some responses each; the first one is the warm-up."""
    return [
        Turn(1, number, "any", number, TURN_NS, count, 0, None, None, None, None)
        for number, count in enumerate(requests)
    ]


def test_what_all_servers_lost_is_their_common_pace_however_fast_each_is() -> None:
    fast, slow = turns(5, 1_000, 1_000, 500, 500), turns(1, 20, 20, 10, 10)
    found = common_pace([fast, slow])
    assert sorted(found) == [1, 2, 3, 4]
    assert found[1] / found[3] == pytest.approx(2.0)
    assert found[1] * found[2] * found[3] * found[4] == pytest.approx(1.0)


def test_a_server_that_slows_down_alone_does_not_move_it() -> None:
    same = turns(5, *[1_000] * 6)
    found = common_pace([same, same, turns(5, 900, 800, 700, 400, 200, 100)])
    assert set(found.values()) == {1.0}


def test_rounds_without_a_response_are_left_out() -> None:
    assert sorted(common_pace([turns(5, 100, 0, 100)])) == [1, 3]
    assert common_pace([]) == {}
    assert common_pace([[]]) == {}
