"""Cheats among servers of WebSocket: each takes one shortcut, and is caught by one rule."""

from __future__ import annotations

import pytest

import cheating_echo
import listening
from cheating_echo import HonestEcho
from plimsoll.campaign.endpoints import by_name
from plimsoll.serving import contract, messages, surroundings
from plimsoll.serving.contract import CheckedServer

SEED = 20261123

CAUGHT = {
    "AlwaysBinary": messages.TEXT,
    "AlwaysText": messages.BINARY,
    "InLatin": messages.TEXT,
    "FirstFrameOnly": surroundings.FRAGMENTS,
    "CutAt64K": messages.BINARY,
    "KeptByLength": messages.ORDER,
    "PairsSwapped": messages.ORDER,
    "NoPong": messages.PING,
    "EmptyPong": messages.PING,
    "ClosesWithoutCode": messages.CLOSE,
    "PingsForEver": messages.TEXT,
}
"""Cheat to the rule that catches it."""


def broken(
    echo: type[HonestEcho], timeout_s: float = 10.0, excepted: tuple[str, ...] = ()
) -> dict[str, str]:
    """Rules that a server breaks, and how."""
    with listening.in_thread(lambda: cheating_echo.serve(echo, "127.0.0.1", 0)) as address:
        checked = CheckedServer(address, timeout_s=timeout_s, excepted=excepted)
        found = contract.failures(checked, by_name("ws"), SEED)
    return {failure.rule: str(failure) for failure in found}


def test_every_cheat_is_in_the_table() -> None:
    assert {cheat.__name__ for cheat in cheating_echo.gallery()} == {*CAUGHT}


def test_an_honest_server_keeps_the_contract() -> None:
    assert broken(HonestEcho) == {}


@pytest.mark.parametrize("echo", cheating_echo.HARMLESS, ids=lambda echo: echo.__name__)
def test_control_frames_of_a_server_are_no_problem(echo: type[HonestEcho]) -> None:
    assert broken(echo) == {}


def test_a_wrong_pong_is_shown_when_the_right_one_does_not_come() -> None:
    found = broken(cheating_echo.EmptyPong, timeout_s=0.5)
    assert set(found) == {surroundings.FRAGMENTS, messages.PING}
    assert "it has 0 bytes, expected 8" in found[surroundings.FRAGMENTS]
    assert "it has 0 bytes, expected 1" in found[messages.PING]


def test_a_note_exempts_from_fragments_alone() -> None:
    assert surroundings.FRAGMENTS not in broken(
        cheating_echo.FirstFrameOnly, excepted=("fragments",)
    )
    assert messages.BINARY in broken(cheating_echo.CutAt64K, excepted=("fragments",))


@pytest.mark.parametrize("cheat", cheating_echo.gallery(), ids=lambda cheat: cheat.__name__)
def test_a_cheat_is_caught_and_named(cheat: type[HonestEcho]) -> None:
    # What does not come is waited for, in two of the rules or more.
    silent = cheat.__name__ in ("NoPong", "EmptyPong", "PingsForEver")
    assert CAUGHT[cheat.__name__] in broken(cheat, timeout_s=0.5 if silent else 10.0)
