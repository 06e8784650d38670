"""Whether rows look drawn: fair servers do, with a chance that is counted here."""

from __future__ import annotations

from math import comb
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.campaign.endpoints.updates import COUNT
from plimsoll.campaign.stored_rows import ROWS
from plimsoll.serving import row_contract
from plimsoll.serving.row_contract import MOST_AGAIN, PARTS, RESPONSES

DRAWN = RESPONSES * COUNT
CHANCE = 1e-7


def again(each: int, responses: int) -> float:
    """The chance that more than `MOST_AGAIN` values of some fair responses were there before.

    Args:
        each: Different values of each response.
        responses: How many.
    """
    different = {0: 1.0}
    for _ in range(responses):
        after: dict[int, float] = {}
        for known, chance in different.items():
            for old in range(min(each, known) + 1):
                ways = comb(known, old) * comb(ROWS - known, each - old) / comb(ROWS, each)
                now = known + each - old
                after[now] = after.get(now, 0.0) + chance * ways
        different = after
    return sum(
        chance for known, chance in different.items() if each * responses - known > MOST_AGAIN
    )


def fair(random: Random) -> list[dict[int, int]]:
    ids = (random.sample(range(1, ROWS + 1), COUNT) for _ in range(RESPONSES))
    return [{row: random.randint(1, ROWS) for row in rows} for rows in ids]


def test_a_fair_server_hardly_ever_fails() -> None:
    ids, numbers = again(COUNT, RESPONSES), again(1, DRAWN)
    assert ids == pytest.approx(1.4e-8, rel=0.1)
    assert numbers == pytest.approx(5.0e-8, rel=0.1)
    part = PARTS * (1 - 1 / PARTS) ** DRAWN
    assert part == pytest.approx(4.2e-9, rel=0.01)
    # Ids that are drawn without replacement miss a part less often than numbers do.
    assert ids + numbers + 2 * part < CHANCE


@given(seed=st.integers(0, 2**53 - 1))
def test_rows_that_are_drawn_look_drawn(seed: int) -> None:
    assert row_contract.undrawn(fair(Random(seed))) == []


def test_a_tenth_of_the_table_is_found_too_small() -> None:
    random = Random(1)
    for first in (1, ROWS // 2, ROWS - ROWS // 10 + 1):
        rows = range(first, first + ROWS // 10)
        ids = [random.sample(rows, COUNT) for _ in range(RESPONSES)]
        (problem,) = row_contract.undrawn(
            [{row: random.randint(1, ROWS) for row in one} for one in ids]
        )
        assert problem.startswith(f"of {DRAWN} ids in {RESPONSES} responses, ")


def test_numbers_are_looked_at_as_ids_are() -> None:
    random = Random(2)
    halves = [{row: (number + 1) // 2 for row, number in one.items()} for one in fair(random)]
    (problem,) = row_contract.undrawn(halves)
    assert problem == (f"of {DRAWN} numbers in {RESPONSES} responses, none is from 5,001 to 6,250")
    few = [dict.fromkeys(one, at + 1) for at, one in enumerate(fair(random))]
    (problem,) = row_contract.undrawn(few)
    assert problem.endswith(f"{DRAWN - RESPONSES} had been there before")
