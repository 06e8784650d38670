"""Scatter that is not the server's: of repetitions, and of arrivals that were asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from plimsoll.verdicts.checks import steady
from plimsoll.verdicts.limits import Limits
from recordings import as_load, as_open, request_rows, simulate

if TYPE_CHECKING:
    from collections.abc import Callable

    from plimsoll.aggregate.trial import Tables
    from plimsoll.campaign.load import Arrivals

RATE_PER_S = 20.0
HOLD_S = 15.0
SERVICE_S = 0.005
SOME_SCATTER = {2.0 + 0.2 * step: 0.3 if step % 2 else 1.0 for step in range(20)}
WIDE_SCATTER = {2.0 + 0.6 * step: 0.02 if step % 2 else 1.0 for step in range(8)}


@pytest.mark.parametrize(
    ("speeds", "of_campaign", "of_load"),
    [({}, "sound", "sound"), (SOME_SCATTER, "sound", "doubtful")],
)
def test_scatter_that_repetitions_show_is_no_doubt_of_a_trial_of_a_campaign(
    speeds: dict[float, float], of_campaign: str, of_load: str
) -> None:
    trial = simulate(ramp_s=0, speeds=speeds)
    assert steady.judge(trial, Limits()).level == of_campaign
    assert steady.judge(as_load(trial), Limits()).level == of_load


def test_a_trial_of_a_campaign_that_says_too_little_is_doubtful() -> None:
    given = steady.judge(simulate(ramp_s=0, hold_s=5.0, speeds=WIDE_SCATTER), Limits())
    assert given.level == "doubtful", given
    assert given.sentences[0].limit == "compared_mean_error_ratio"


@pytest.mark.parametrize(
    ("growth", "went"), [(0.5, "Throughput rose"), (-0.3, "Throughput fell"), (0.0, "")]
)
def test_a_short_stop_does_not_hide_a_change_and_is_none_itself(growth: float, went: str) -> None:
    options = {"growth": growth, "hold_s": 8.0}
    for stopped in ({}, {"freeze_s": (4.2, 4.5)}):
        given = steady.judge(simulate(**options, **stopped), Limits())
        assert given.level == ("doubtful" if went else "sound"), given
        assert given.text.startswith(went or "Throughput was steady")
        left_out = any("is left out" in one.text for one in given.sentences)
        assert left_out is bool(stopped and went)


def test_waits_for_the_next_response_of_a_slow_server_are_no_stops() -> None:
    trial = simulate(connections=2, throughput_per_s=60.0, service_ns=33_000_000, hold_s=8.0)
    assert trial.stalls
    assert steady._Hold(trial, trial.holds[0]).stops == []


def arriving(
    seed: int,
    free_s: Callable[[float], float] = lambda at_s: at_s,
    service_s: Callable[[float], float] = lambda _: SERVICE_S,
    arrivals: Arrivals = "poisson",
) -> Tables:
    """An open load that a server takes one request after the other.

    Args:
        seed: Seeds the arrivals.
        free_s: When a server that could begin then does so.
        service_s: How long a request takes that begins then.
        arrivals: How they are spaced.
    """
    draw, count = np.random.default_rng(seed), round(2 * RATE_PER_S * HOLD_S)
    gaps_s = draw.exponential(1, count) if arrivals == "poisson" else np.ones(count)
    rows, done_s = [], 0.0
    for due_s in np.cumsum(gaps_s / RATE_PER_S) - 0.5 / RATE_PER_S * (arrivals == "constant"):
        begun_s = free_s(max(float(due_s), done_s))
        done_s = begun_s + service_s(begun_s)
        if done_s < HOLD_S:
            ends = {"done_ns": round(done_s * 1e9), "first_byte_ns": round(done_s * 1e9) - 1}
            rows.append({"due_ns": round(due_s * 1e9), "sent_ns": round(due_s * 1e9), **ends})
    made = simulate(
        connections=1, warm_up_s=0, ramp_s=0, hold_s=HOLD_S, throughput_per_s=RATE_PER_S
    )
    table = request_rows(*({**row, "status": 200, "received_bytes": 100} for row in rows))
    opened = as_open(made, RATE_PER_S, arrivals=arrivals)
    return as_load(type(opened)(opened.recording, table, opened.connections, opened.readings))


@pytest.mark.parametrize("arrivals", ["poisson", "constant"])
def test_scatter_of_arrivals_is_none_of_the_server(arrivals: Arrivals) -> None:
    for seed in range(10):
        given = steady.judge(arriving(seed, arrivals=arrivals), Limits())
        assert given.level == "sound", given


def pausing(at_s: float) -> float:
    """The server rests for 0.9 seconds in 2.25."""
    return at_s + max(0.0, 0.9 - at_s % 2.25)


def tiring(at_s: float) -> float:
    """The server takes two thirds of the arrivals from the middle of the hold on."""
    return SERVICE_S if at_s < HOLD_S / 2 else 1.5 / RATE_PER_S


@pytest.mark.parametrize(
    ("free_s", "service_s"),
    [(pausing, lambda _: SERVICE_S), (lambda at_s: at_s, tiring)],
    ids=["pauses", "falls behind"],
)
def test_a_server_that_does_not_follow_its_arrivals_is_found(
    free_s: Callable[[float], float], service_s: Callable[[float], float]
) -> None:
    for seed in range(5):
        given = steady.judge(arriving(seed, free_s, service_s), Limits())
        assert given.level == "doubtful", given
        assert "beside the arrivals" in given.text, given
