from dataclasses import replace

import pytest

from plimsoll.campaign.load import Load, Stage
from plimsoll.drivers.plain_load import PlainLoad, plain, refusal

HOLD = Load("x", "closed", (Stage("hold", 10.0, 64, 64),))
WARM = replace(HOLD, stages=(Stage("warm_up", 2.0, 16, 16), *HOLD.stages))

REFUSED = {
    "closed model only": replace(HOLD, model="open", connections=5),
    "no ramps": replace(HOLD, stages=(Stage("ramp", 5.0, 0, 64, 8), *HOLD.stages)),
    "one hold, with at most one warm-up": replace(HOLD, stages=(*HOLD.stages, *HOLD.stages)),
    "one warm-up before it": replace(HOLD, stages=(*HOLD.stages, Stage("warm_up", 1.0, 4, 4))),
    "needs connections": replace(HOLD, stages=(Stage("warm_up", 1.0, 0, 0), *HOLD.stages)),
    "no think time": replace(HOLD, think_time_s=0.1),
    "the requests per connection": replace(HOLD, requests_per_connection=10),
    "whole seconds, but the hold lasts 2.5 s": replace(HOLD, stages=(Stage("hold", 2.5, 1, 1),)),
    "whole seconds, but the warm-up lasts 0.25 s": replace(
        HOLD, stages=(Stage("warm_up", 0.25, 1, 1), *HOLD.stages)
    ),
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_a_tool_that_holds_connections_cannot_do_is_refused_in_a_sentence(words: str) -> None:
    reason = refusal(REFUSED[words], "wrk")
    assert reason.startswith("`wrk` ")
    assert words in reason
    assert not reason.endswith(".")


@pytest.mark.parametrize("load", [HOLD, WARM])
def test_a_hold_and_a_warm_up_before_it_are_not(load: Load) -> None:
    assert refusal(load, "wrk") == ""


def test_a_climbing_warm_up_is_a_ramp_to_such_a_tool() -> None:
    load = replace(HOLD, stages=(Stage("warm_up", 2.0, 1, 64, 4), *HOLD.stages))
    assert "no ramps" in refusal(load, "ab")


def test_finer_steps_let_shorter_times_through() -> None:
    load = replace(HOLD, stages=(Stage("hold", 2.5, 1, 1),))
    assert refusal(load, "h2load", 0.001) == ""
    assert "steps of 0.001 s" in refusal(
        replace(HOLD, stages=(Stage("hold", 0.0005, 1, 1),)), "h2load", 0.001
    )


def test_a_plain_load_says_how_many_connections_and_how_long() -> None:
    assert plain(HOLD) == PlainLoad(64, 10.0)
    assert plain(WARM) == PlainLoad(64, 10.0, 16, 2.0)
