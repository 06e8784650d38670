"""Slow requests of a closed load: stalls of workers and connections, or slow by themselves."""

from dataclasses import replace

import numpy as np
import pytest

from plimsoll.aggregate.query import SECOND_NS
from plimsoll.aggregate.trial import Tables
from plimsoll.verdicts.checks import hidden_stalls
from plimsoll.verdicts.limits import Limits
from recordings import request_rows, simulate

HOLD_S = 6.0
USUAL_S = 0.002
SLOW_S = 0.3


class OneEach:
    """A server of one worker for each of 20 connections, which stand still once, each by itself."""

    def __init__(self):
        self.draw = np.random.default_rng(3)
        self.stalls_s = self.draw.uniform(0.0, HOLD_S - 2 * SLOW_S, 20)

    def done_s(self, connection: int, sent_s: float) -> float:
        """When the response comes to what was sent then."""
        done_s = sent_s + USUAL_S * self.draw.lognormal(0.0, 0.1)
        stall_s = self.stalls_s[connection]
        return stall_s + SLOW_S if sent_s < stall_s + SLOW_S and stall_s < done_s else done_s


class Server:
    """How long each request takes: some are slow by themselves, and some workers stand still.

    Attributes:
        slow: Share of the requests that are slow, on each connection.
        stalls: When the worker of the first connections begins to stand still, for `SLOW_S`.
        stalled: How many connections that worker serves.
    """

    def __init__(self, slow=lambda connection: 0.0, stalls=(), stalled=0):
        self.slow, self.stalls, self.stalled = slow, stalls, stalled
        self.draw = np.random.default_rng(3)

    def done_s(self, connection: int, sent_s: float) -> float:
        """When the response comes to what was sent then."""
        is_slow = self.draw.random() < self.slow(connection)
        done_s = sent_s + (SLOW_S if is_slow else USUAL_S * self.draw.lognormal(0.0, 0.1))
        if connection < self.stalled:
            for start_s in self.stalls:
                if sent_s < start_s + SLOW_S and start_s < done_s:
                    done_s = start_s + SLOW_S + USUAL_S * self.draw.random()
        return done_s


def served(server: Server | OneEach, connections: int = 20) -> Tables:
    """A closed load on that server."""
    rows = []
    for connection in range(connections):
        at_s = USUAL_S * server.draw.random()
        while at_s < HOLD_S:
            done_s = server.done_s(connection, at_s)
            sent_ns, done_ns = round(at_s * SECOND_NS), round(done_s * SECOND_NS)
            is_late = done_s >= HOLD_S
            ended = {"outcome": "unfinished"} if is_late else {
                "first_byte_ns": done_ns, "done_ns": done_ns, "status": 200,
            }  # fmt: skip
            rows.append({"due_ns": sent_ns, "sent_ns": sent_ns, "connection": connection, **ended})
            at_s = done_s + 1e-6
    made = simulate(warm_up_s=0.0, ramp_s=0.0, hold_s=HOLD_S, connections=connections)
    return replace(made, requests=request_rows(*rows))


def judged(server: Server | OneEach, connections: int = 20):
    return hidden_stalls.judge(served(server, connections), Limits())


STALLS_S = (0.41, 1.37, 2.83, 3.59, 5.02)
"""At no regular distance."""


def test_requests_that_are_slow_by_themselves_are_no_stalls():
    """Users who arrive at random get the same service times: an open load has the same p99."""
    given = judged(Server(slow=lambda _: 0.004))
    assert given.level == "sound", given
    assert "took up to 300 ms by themselves" in given.sentences[0].text


def test_workers_of_one_connection_that_stall_apart_are_said_to_look_like_slow_requests():
    """Their rows are the same, so that a doubt would fall on every server with slow requests."""
    for server in (OneEach(), Server(slow=lambda _: 0.0004)):
        given = judged(server)
        assert given.level == "sound", given
        assert "workers of one connection each that stall apart" in given.sentences[1].text


@pytest.mark.parametrize("slow", [0.0, 0.0003])
def test_a_worker_that_stands_still_is_found_beside_slow_requests(slow):
    given = judged(Server(slow=lambda _: slow, stalls=STALLS_S, stalled=5))
    assert given.level == "doubtful", given
    assert given.text.startswith("Single connections stalled 2")
    assert "They end together more often than by chance" in given.text


def test_a_connection_whose_responses_are_slow_again_and_again_is_found():
    given = judged(Server(slow=lambda connection: 0.0 if connection else 0.05))
    assert given.level == "doubtful", given
    assert "They are on the same connections more often" in given.text


def test_few_slow_requests_are_told_from_no_stall():
    given = judged(Server(stalls=(2.0,), stalled=2), connections=6)
    assert given.level == "not_checked", given
    assert "too few to tell stalls from requests slow by themselves" in given.text


@pytest.mark.parametrize("connections", [1, 2])
def test_a_connection_or_two_are_all_slow_at_a_time_by_chance(connections):
    given = judged(Server(slow=lambda _: 0.006), connections)
    assert given.level == "not_checked", given
    assert f"{connections} connection" in given.text


@pytest.mark.parametrize("connections", [2, 4])
def test_a_server_that_stands_still_is_found_by_few_connections(connections):
    given = judged(Server(stalls=STALLS_S, stalled=connections), connections)
    assert given.level == "doubtful", given
    assert given.text.startswith("The server stalled 5 times")
