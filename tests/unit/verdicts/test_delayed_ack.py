"""`delayed_ack`: waits for ACKs are told apart from servers that wait themselves."""

from __future__ import annotations

from dataclasses import replace

import pytest

import recordings
from plimsoll.aggregate.trial import Tables
from plimsoll.verdicts.checks import delayed_ack
from plimsoll.verdicts.limits import Limits
from plimsoll.verdicts.verdict import Verdict

MS = 1_000_000


def judged(waits_ms: list[list[float]], **of_load: object) -> Verdict:
    """The verdict on a load of one list of waits, first byte to end, for each connection."""
    simulated = recordings.simulate().recording
    start_ns = simulated.holds[0].start_ns
    rows = [
        {
            "due_ns": start_ns + number * 60 * MS,
            "sent_ns": start_ns + number * 60 * MS,
            "first_byte_ns": start_ns + number * 60 * MS + MS // 2,
            "done_ns": start_ns + number * 60 * MS + MS // 2 + round(wait_ms * MS),
            "connection": connection,
            "status": 200,
        }
        for connection, waits in enumerate(waits_ms)
        for number, wait_ms in enumerate(waits)
    ]
    recording = replace(simulated, load=replace(simulated.load, **of_load))
    connections = recordings.connection_rows(*({} for _ in waits_ms))
    tables = Tables(recording, recordings.request_rows(*rows), connections)
    return delayed_ack.judge(tables, Limits())


def test_ends_that_wait_on_all_but_the_first_responses_are_doubtful() -> None:
    given = judged([[0.1, *([43.9] * 30)]] * 8)
    assert given.level == "doubtful", given
    assert "last part of 97 % of responses" in given.text
    assert "Nagle's algorithm" in given.text
    assert "median of 500 µs" in given.text
    assert any("TCP_NODELAY" in one.remedy for one in given.sentences)


@pytest.mark.parametrize(
    ("waits_ms", "what"),
    [
        ([[0.1] * 30] * 8, "responses in one piece"),
        ([[40.3] * 30] * 8, "a server that waits 40 ms itself"),
        ([[float(wait) for wait in range(5, 95, 3)]] * 8, "a stream of any length"),
        ([[0.1, *([30.0] * 30)]] * 8, "another wait than that of an ACK"),
        ([[0.1, *([60.0] * 30)]] * 8, "a longer one"),
        ([[0.1] * 999 + [43.9]], "a single one"),
    ],
)
def test_servers_without_waits_for_acks_are_sound(waits_ms: list[list[float]], what: str) -> None:
    given = judged(waits_ms)
    assert given.level == "sound", (what, given)


def test_one_of_four_endpoints_that_waits_itself_is_not_blamed_on_acks() -> None:
    """Some connections begin with it, and some do not."""
    given = judged([[40.3, 0.1, 0.1, 0.1] * 8, [0.1, 40.3, 0.1, 0.1] * 8])
    assert given.level != "doubtful", given


@pytest.mark.parametrize("first_ms", [20.0, 60.0, 95.0, 0.1])
def test_a_server_that_waits_itself_is_not_blamed_for_one_first_response_at_another_time(
    first_ms: float,
) -> None:
    """A busy machine adds to its wait on one connection, or reads the first byte there late."""
    waits_ms = [[40.3] * 300] * 7 + [[first_ms, *([40.3] * 299)]]
    given = judged(waits_ms)
    assert given.level == "sound", given


def test_first_responses_that_a_busy_machine_delays_by_less_still_count_as_prompt() -> None:
    given = judged([[12.0, *([43.9] * 30)]] * 3 + [[0.1, *([43.9] * 30)]] * 5)
    assert given.level == "doubtful", given


@pytest.mark.parametrize("of_load", [{"tls": True}, {"protocol": "http2"}])
def test_where_first_responses_may_be_delayed_too_nothing_is_claimed(
    of_load: dict[str, object],
) -> None:
    given = judged([[43.9] * 30] * 8, **of_load)
    assert given.level == "not_checked", given
    assert "cannot tell" in given.text
