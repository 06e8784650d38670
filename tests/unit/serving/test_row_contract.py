"""Whether rows look drawn: fair servers do, with a chance that is counted here."""

from __future__ import annotations

import json
from math import comb
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.campaign.endpoints import by_name
from plimsoll.campaign.endpoints.updates import COUNT
from plimsoll.campaign.requests import Exchange, HttpResponse
from plimsoll.campaign.stored_rows import ROWS
from plimsoll.serving import row_contract
from plimsoll.serving.asking import ServerResponse
from plimsoll.serving.row_contract import (
    COMPARED,
    MOST_AGAIN,
    MOST_UNCHANGED,
    PARTS,
    RESPONSES,
    WRITTEN,
)

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


class Fair:
    """A fair server and its database: some rows of each response drew their old number.

    Attributes:
        unchanged: How many rows of a response these are.
        noted: The rules that were noted.
    """

    def __init__(self, unchanged: int) -> None:
        self.unchanged = unchanged
        self.noted: list[str] = []
        self.responses = iter(fair(Random(3)))
        self.rows: dict[int, int] = {}

    def execute(self, statement: str) -> list[tuple[Any, ...]]:
        if "WHERE" not in statement:
            return [("750",)]
        return [(*row, at >= self.unchanged) for at, row in enumerate(self.rows.items())]

    def ask(self, exchange: Exchange, rule: str) -> ServerResponse:
        self.rows = next(self.responses)
        stated = [{"id": row, "randomNumber": number} for row, number in self.rows.items()]
        return ServerResponse(
            HttpResponse(200, (), json.dumps(stated).encode()), 0, None, False, 0.0, 0.0
        )

    def note(self, exchange: Exchange, responded: ServerResponse, problem: str, rule: str) -> None:
        self.noted.append(rule)


@pytest.mark.parametrize("unchanged", [0, MOST_UNCHANGED, MOST_UNCHANGED + 1])
def test_two_rows_of_a_response_may_draw_their_old_number(unchanged: int) -> None:
    updates, server = by_name("updates"), Fair(unchanged)
    assert updates.database is not None
    row_contract.examine(updates.database, updates.exchanges[0], server.execute, server)
    assert server.noted == (COMPARED * [WRITTEN] if unchanged > MOST_UNCHANGED else [])


def test_a_fair_server_hardly_ever_fails() -> None:
    ids, numbers = again(COUNT, RESPONSES), again(1, DRAWN)
    assert ids == pytest.approx(1.4e-8, rel=0.1)
    assert numbers == pytest.approx(5.0e-8, rel=0.1)
    part = PARTS * (1 - 1 / PARTS) ** DRAWN
    assert part == pytest.approx(4.2e-9, rel=0.01)
    old = COMPARED * comb(COUNT, MOST_UNCHANGED + 1) / ROWS ** (MOST_UNCHANGED + 1)
    assert old == pytest.approx(3.4e-9, rel=0.01)
    # Ids that are drawn without replacement miss a part less often than numbers do.
    assert ids + numbers + 2 * part + old < CHANCE


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
