"""One cause is told by one check; the others then say nothing of the server."""

from dataclasses import replace

import pytest

from plimsoll.aggregate.check_inputs import LateEnds
from plimsoll.recording import Ending
from plimsoll.verdicts import causes
from plimsoll.verdicts.judge import judge
from plimsoll.verdicts.levels import of_trial
from plimsoll.verdicts.verdict import Level, Sentence, Verdict
from recordings import as_load, simulate, with_speeds
from roles import misled_by

STOPPED_NS = 2_000_000_000


def judged(**options):
    return {verdict.check: verdict for verdict in judge(simulate(**options))}


def doubting(verdicts):
    return {name for name, verdict in verdicts.items() if verdict.is_doubting}


@pytest.mark.parametrize("kind", ["EngineFailed", "DriverFailed", "DiedUnderLoad"])
def test_an_error_that_ended_the_trial_is_the_one_verdict(kind):
    trial = simulate(tables=False, ending=Ending(kind, "the engine was killed by SIGKILL", "look"))
    trial = replace(trial, recording=replace(trial.recording, driver=None, stages=()))
    given = {verdict.check: verdict for verdict in judge(trial)}
    assert doubting(given) == {"trial_completed"}
    assert given["trial_completed"].level == "void"
    assert "the engine was killed by SIGKILL" in given["trial_completed"].text
    assert {one.level for name, one in given.items() if name != "trial_completed"} == {
        "not_checked"
    }


def test_a_server_that_nobody_can_reach_is_one_void_verdict():
    given = judged(missing=20)
    assert doubting(given) == {"connection_target_met"}
    assert given["connection_target_met"].level == "void"
    assert given["connection_target_met"].text.startswith(
        "No connection could be opened: connection refused"
    )


def test_a_stop_of_the_load_generator_is_told_by_one_check_and_not_as_the_servers():
    given = judged(freeze_s=(4.0, 6.0), longest_pause_ns=STOPPED_NS)
    assert given["driver_uninterrupted"].level == "void"
    assert not given["driver_headroom"].is_doubting
    assert given["steady"].level == "not_checked"
    assert given["steady"].text == (
        "See Load generator interrupted: the load generator stalled for 2 s."
    )
    assert not doubting(given) & misled_by("long_stall")


def test_a_server_that_stood_still_is_told_where_the_load_generator_did_not():
    given = judged(freeze_s=(4.0, 6.0))
    assert given["driver_uninterrupted"].level == "sound"
    assert given["steady"].is_doubting


@pytest.mark.parametrize(("late_of_1000", "is_explained"), [(900, True), (0, False)])
def test_waits_for_delayed_acks_explain_a_bottleneck_that_nobody_measures(
    late_of_1000, is_explained
):
    trial = simulate(server_busy=0.04, driver_busy=0.02)
    late = LateEnds(1000, late_of_1000, 0, connections=64, late_first=0)
    trial.__dict__["late_ends"] = lambda _: late
    given = {verdict.check: verdict for verdict in judge(trial)}
    del trial.__dict__["late_ends"]
    found = given["bottleneck_identified"]
    assert given["delayed_ack"].is_doubting is is_explained
    assert found.is_doubting is not is_explained
    assert found.text.startswith("See Waits for delayed ACKs") is is_explained


def test_a_short_stop_of_the_load_generator_explains_no_trend():
    stopped = {"longest_pause_ns": 190_000_000, "freeze_s": (4.0, 4.19)}
    trial = as_load(simulate(growth=0.5, connections=78, **stopped))
    given = {verdict.check: verdict for verdict in judge(trial)}
    assert given["driver_uninterrupted"].is_doubting
    assert given["steady"].is_doubting


def test_a_stop_of_less_than_half_a_second_fails_no_request():
    options = {"failures": {"reset_waiting": 0.1}}
    stopped = judged(longest_pause_ns=STOPPED_NS, freeze_s=(4.0, 6.0), **options)
    assert "failures_explained" not in doubting(stopped)
    given = judged(longest_pause_ns=int(0.49e9), freeze_s=(4.0, 4.49), **options)
    assert given["driver_uninterrupted"].is_doubting
    assert given["failures_explained"].is_doubting


def test_what_other_programs_took_explains_an_idle_server_and_no_failure():
    options = {"server_busy": 0.4, "driver_busy": 0.3, "failures": {"reset_waiting": 0.1}}
    assert judged(**options)["bottleneck_identified"].is_doubting
    given = judged(others_busy=0.6, **options)
    assert given["undisturbed"].level == "void"
    assert not given["bottleneck_identified"].is_doubting
    assert given["failures_explained"].is_doubting


def test_a_little_that_other_programs_took_explains_nothing():
    options = {"server_busy": 0.4, "driver_busy": 0.3}
    given = judged(others_busy=0.2, **options)
    assert given["undisturbed"].level == "doubtful"
    assert given["bottleneck_identified"].is_doubting


def test_what_other_programs_took_explains_a_machine_that_they_slowed():
    slowed = judged_at(1.3, others_busy=0.3, others_on=(0,), server_busy=0.7, run_delay=0.3)
    assert slowed["undisturbed"].is_doubting
    assert slowed["host_speed_stable"].level == "not_checked"
    assert slowed["host_speed_stable"].text.startswith("See Disturbed: ")
    assert judged_at(1.3)["host_speed_stable"].is_doubting


def test_what_other_programs_took_explains_no_quota():
    given = judged_at(
        1.3, others_busy=0.3, others_on=(0,), server_busy=0.7, run_delay=0.3, throttled=0.02
    )
    assert given["undisturbed"].is_doubting
    assert given["host_speed_stable"].is_doubting


def judged_at(reach, **options):
    """Verdicts on a single load, on a machine that is so much faster in each second one."""
    trial = as_load(simulate(hold_s=8.0, **options))
    return {one.check: one for one in judge(with_speeds(trial, *(reach, 1.0) * 8))}


def test_an_interruption_is_told_once():
    given = judged(
        hold_s=2.0, hold_requested_s=8.0, ended_by="interrupt", failures={"cancelled": 0.01}
    )
    assert doubting(given) == {"trial_completed"}
    assert "The load was interrupted" in given["trial_completed"].text


def doubted(check: str, limit: str, level: Level = "doubtful") -> Verdict:
    sentences = (Sentence(level, f"{check} doubts it.", limit=limit),)
    return Verdict(check, "load", level, 1.0, 0.5, "ratio", sentences, "")


def test_hosts_that_saw_different_servers_explain_unequal_shares_and_no_starved_connection():
    apart = doubted("hosts_agree", "apart_ratio")
    uneven, starved = (doubted("evenly_served", one) for one in ("fairness", "starved_ratio"))
    trial = simulate()
    assert causes.explained(trial, (apart, starved)) == (apart, starved)
    told, explained = causes.explained(trial, (apart, uneven))
    assert told == apart
    assert explained.level == "not_checked"
    assert explained.text == (
        "See Hosts disagree: load generators did not see the same service times."
    )


def test_without_a_cause_verdicts_are_those_of_the_checks():
    trial = simulate(failures={"reset_waiting": 0.1})
    given = judge(trial)
    assert causes.of(trial, given) is None
    assert {one.check for one in given if one.is_doubting} == {"failures_explained"}


SHORT = {"ramp_s": 0.0, "hold_s": 0.9}


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"server_busy": 0.2, "driver_busy": 0.1},
        {"longest_pause_ns": 12_000_000, "others_busy": 0.2, "server_busy": 0.8},
    ],
)
def test_a_load_that_was_too_short_is_doubted_once(options):
    verdicts = judge(as_load(simulate(**SHORT, **options)))
    assert [one.check for one in verdicts if one.is_doubting] == ["long_enough"]
    assert of_trial(verdicts) == "doubtful"


def test_a_doubt_that_a_short_load_explains_refers_to_it():
    options = {"server_busy": 0.2, "driver_busy": 0.1}
    given = judged(**SHORT, **options)
    assert given["bottleneck_identified"].is_doubting, "in a campaign it counts"
    given = {one.check: one for one in judge(as_load(simulate(**SHORT, **options)))}
    assert given["bottleneck_identified"].text == "See Too short to judge: the load was too short."


def test_a_single_stall_of_a_very_short_load_is_doubted_as_its_shortness() -> None:
    stalled = {"longest_pause_ns": 100_000_000, "freeze_s": (1.1, 1.2)}
    very_short = SHORT | {"hold_s": 0.3}
    given = {one.check: one for one in judge(as_load(simulate(**very_short, **stalled)))}
    assert given["driver_uninterrupted"].text == "See Too short to judge: the load was too short."
    assert "void" not in {one.level for one in given.values()}


@pytest.mark.parametrize(
    ("options", "check", "level"),
    [
        ({"failures": {"reset_waiting": 0.005}}, "failures_explained", "doubtful"),
        ({"lost_rows": 1}, "conservation", "void"),
        (
            {"longest_pause_ns": 200_000_000, "freeze_s": (1.2, 1.4)},
            "driver_uninterrupted",
            "void",
        ),
    ],
)
def test_a_short_load_explains_no_failure_and_nothing_void(options, check, level):
    given = {one.check: one for one in judge(as_load(simulate(**SHORT, **options)))}
    assert given[check].level == level
    assert given["long_enough"].level == "doubtful"
