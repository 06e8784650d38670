"""Every check on trials that a foreign driver put on: it judges, or says that it cannot know."""

from dataclasses import replace

import pytest

import foreign
from plimsoll.verdicts import judge
from plimsoll.verdicts.checks import CHECKS
from plimsoll.verdicts.figure_checks import FIGURE_CHECKS
from plimsoll.verdicts.levels import by_checks, of_trial

NEED_ROWS = {check.NAME for check in CHECKS if check.NEEDS is not None}

SOUND = foreign.FIGURES


def verdicts(made):
    return {verdict.check: verdict for verdict in judge.judge(made)}


def test_every_check_says_something_once_and_of_the_trial():
    made = foreign.trial()
    given = judge.judge(made)
    names = [verdict.check for verdict in given]
    assert names[: len(CHECKS)] == [check.NAME for check in CHECKS]
    assert len(set(names)) == len(names)
    assert {verdict.subject for verdict in given} == {made.recording.trial}
    assert all(verdict.text.endswith(".") for verdict in given)


def test_checks_on_figures_stand_beside_those_on_the_trial():
    given = verdicts(foreign.trial())
    assert {
        "figures_consistent",
        "failures_counted",
        "percentile_order",
        "sample_size",
    } <= given.keys()
    assert {check.NAME for check in FIGURE_CHECKS} & {
        check.NAME for check in CHECKS
    } <= given.keys()


@pytest.mark.parametrize("name", sorted(NEED_ROWS))
def test_what_only_a_record_of_every_request_shows_is_not_checked_without_one(name):
    figures = replace(SOUND, times_s={}, timeout_s=None)
    made = foreign.trial(figures)
    made = replace(made, recording=replace(made.recording, requests=("a", "b")))
    given = verdicts(made)[name]
    assert (given.level, given.measured) == ("not_checked", None)
    assert "`wrk` does not record each request" in given.text or not given.applies


def test_what_wrk_does_not_record_is_not_missed_where_there_is_nothing_to_check():
    given = verdicts(foreign.trial(replace(SOUND, times_s={}, timeout_s=None)))
    assert not given["hosts_agree"].applies
    assert not given["offered_rate_met"].applies
    assert given["evenly_served"].applies


@pytest.mark.parametrize(("hold_s", "level"), [(4.3, "sound"), (3.7, "void")])
def test_a_tool_may_end_late_but_not_early(hold_s: float, level: str):
    made = foreign.trial(hold_s=hold_s, hold_requested_s=4.0)
    assert verdicts(made)["trial_completed"].level == level


def test_without_a_record_a_trial_is_sound_by_fewer_checks_and_says_by_how_many():
    made = judge.judge(foreign.trial())
    given = [one for one in made if one.check != "counters_agree"]
    assert of_trial(given) == "sound"
    unmade = sum(one.level == "not_checked" for one in given)
    assert unmade >= len(NEED_ROWS) - len({check.NAME for check in FIGURE_CHECKS})
    applying = [one for one in given if one.applies]
    assert len(applying) < len(given)
    assert by_checks(given) == f"by {len(given) - unmade} of {len(applying)} checks that apply"


def test_rows_without_outcomes_do_not_make_up_for_a_record():
    given = verdicts(foreign.trial(tool="ab", rows=True))
    for name in ("conservation", "evenly_served", "steady"):
        assert given[name].measured is None


def test_littles_law_is_that_of_the_figures():
    assert verdicts(foreign.trial())["littles_law"].level == "sound"
    slow = replace(SOUND, throughput_per_s=500.0, requests=5000.0)
    given = verdicts(foreign.trial(slow))["littles_law"]
    assert given.level == "void"
    unfinished = 20 / 5000  # as many as there are connections may be cut off at the end
    assert given.measured == pytest.approx(0.25 + unfinished)


def test_a_load_below_a_second_is_not_judged_by_figures_that_need_time():
    slow = replace(SOUND, throughput_per_s=500.0, requests=5000.0)
    given = verdicts(foreign.trial(slow, hold_s=0.9))
    assert given["littles_law"].level == "not_checked"
    assert given["responses_correct"].level != "not_checked", "counts need no time"


def test_a_tool_that_printed_other_counts_than_its_rate_is_found_out():
    assert (
        verdicts(foreign.trial(replace(SOUND, requests=9000.0)))["figures_consistent"].level
        == "void"
    )


def test_right_is_what_the_tool_does_not_count_as_wrong_and_no_body_was_seen():
    given = verdicts(foreign.trial())["responses_correct"]
    assert given.level == "sound"
    assert "`wrk` decides which responses are correct" in given.text


def test_answers_that_the_tool_counts_as_wrong_are_wrong():
    wrong = replace(SOUND, wrong_responses={"not 2xx or 3xx": 20_000.0})
    given = verdicts(foreign.trial(wrong))["responses_correct"]
    assert given.level == "void"
    counted = "`wrk` counted 20,000 of 20,000 responses as wrong: not 2xx or 3xx 20,000"
    assert counted in given.text


def test_the_contract_before_and_after_the_load_speaks_as_ever():
    made = foreign.trial()
    broken = {"before": ["responded with 500"], "after": []}
    made = replace(made, recording=replace(made.recording, contract=broken))
    assert "responded with 500" in verdicts(made)["responses_correct"].text


def test_no_failure_needs_no_explanation_and_failures_without_a_reason_have_none():
    assert verdicts(foreign.trial())["failures_explained"].level == "sound"
    failed = replace(SOUND, failures={"connect": 3.0, "read": 7.0})
    given = verdicts(foreign.trial(failed))["failures_explained"]
    assert given.level == "doubtful"
    assert "10 requests without a response (connect 3, read 7)" in given.text


@pytest.mark.parametrize(("missing", "level"), [(0, "sound"), (1, "void")])
def test_connections_are_those_that_the_kernel_counts_at_the_server(missing, level):
    given = verdicts(foreign.trial(missing=missing))["connection_target_met"]
    assert given.level == level
    if missing:
        assert "19 of 20 requested connections were open at the server" in given.text


def test_the_kernel_is_asked_whether_it_saw_what_the_tool_counted():
    few = replace(SOUND, requests=100.0, throughput_per_s=10.0, received_bytes=1000.0)
    assert not verdicts(foreign.trial(few))["counters_agree"].is_doubting
    many = replace(SOUND, requests=9e8, throughput_per_s=9e7)
    given = verdicts(foreign.trial(many))["counters_agree"]
    assert given.level == "void"


@pytest.mark.parametrize(("sent", "is_void"), [(100, False), (20_000_000, True)])
def test_requests_that_were_never_sent_are_no_missing_segments(sent: int, is_void: bool):
    few = replace(SOUND, requests=100.0, throughput_per_s=10.0, received_bytes=1000.0)
    made = foreign.trial(replace(few, failures={"without a response": 9e8}))
    assert made.recording.driver is not None
    outcomes = {"ok": 100, "not_sent": 900_000_000}
    driver = replace(made.recording.driver, sent=sent, outcomes=outcomes)
    made = replace(made, recording=replace(made.recording, driver=driver))
    assert (verdicts(made)["counters_agree"].level == "void") == is_void


def test_the_server_s_own_count_is_asked_too():
    made = foreign.trial()
    own = {"responses_sent": 10_000, "requests_refused": 0, "sent_bytes": 10**9}
    assert made.recording.server is not None
    server = replace(made.recording.server, counted=own)
    made = replace(made, recording=replace(made.recording, server=server))
    given = verdicts(made)["counters_agree"]
    assert given.level == "void"
    assert "the server itself counted 10,000" in given.text


def test_rows_are_held_against_what_was_printed():
    made = foreign.trial(tool="h2load", rows=True, by_figures=False)
    answered = sum(row.requests for row in made.outcome_counts if row.outcome == "ok")
    same = replace(SOUND, requests=float(answered))
    alike = foreign.trial(same, "h2load", rows=True, by_figures=False)
    assert verdicts(alike)["conservation"].level == "sound"
    assert verdicts(made)["conservation"].level == "void"


def test_what_rows_do_not_say_the_figures_do():
    made = foreign.trial(tool="h2load", rows=True, by_figures=False)
    assert verdicts(made)["littles_law"].measured is not None


def test_a_driver_that_was_ended_before_it_printed_anything_is_judged_without_a_fault():
    given = verdicts(foreign.trial(None))
    assert set(given) == {check.NAME for check in CHECKS}
