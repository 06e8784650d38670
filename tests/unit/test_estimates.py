"""What a plan takes: time, requests and disk space."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from plimsoll.campaign.campaign import Campaign
from plimsoll.campaign.endpoints import by_name
from plimsoll.campaign.framework import Framework
from plimsoll.campaign.line_settings import LineSettings
from plimsoll.campaign.load import Load, Stage
from plimsoll.campaign.power import SETTLE_S
from plimsoll.estimates import (
    ASSUMED_BEGIN_S,
    ASSUMED_BESIDE_S,
    ASSUMED_DATABASE_S,
    ASSUMED_GATE_S,
    ASSUMED_PROGRAM_S,
    AT_ONCE,
    EXIT_S,
    ROW_S,
    FrameworkPace,
    Paces,
    PlanEstimate,
    PlanTiming,
    estimate,
    report_s,
    size_class,
)
from plimsoll.plan import Trial, plan

HOLD = Stage("hold", 10.0, 64.0, 64.0)
STEADY = Load("steady", "closed", (HOLD,))
LONG = Load("long", "closed", (Stage("hold", 600.0, 10.0, 10.0),), request_limit=1000)
IDLE, CLIMB = Stage("ramp", 30.0, 0.0, 0.0), Stage("ramp", 30.0, 0.0, 10.0, 0)
GO = Framework("go", "", "Go", Path("go"), "", (), "", "true", "true", ("2048", "json"))
RAILS = replace(GO, name="rails", endpoints=("2048",), not_implemented={"json": "no time"})
CAMPAIGN = Campaign(
    name="a",
    frameworks=(GO, RAILS),
    endpoints=(by_name("2048"), by_name("json")),
    loads=(STEADY,),
    repetitions=3,
)
IN_TURNS = replace(CAMPAIGN, turn_s=0.5, cool_down_s=2.0)
KNOWN = Paces(
    {
        "go": FrameworkPace(0.1, 1.0, 0.5, 3.0, {"2048": 100.0, "json": 300.0}),
        "rails": FrameworkPace(4.0, 2.0, 1.5, 7.0, {"2048": 10.0}),
    },
    turn_s=0.02,
    begin_s=4.0,
    begin_with_database_s=9.0,
    report_factors={size_class(9): 2.0},
)
LINE = LineSettings(p99_s=0.02, budget_s=40.0)
NO_ROWS = replace(
    KNOWN,
    frameworks={
        name: replace(one, requests_per_s={"2048": 0.0, "json": 0.0})
        for name, one in KNOWN.frameworks.items()
    },
)
"""The same of servers that respond to nothing: rows take no time."""


def estimated(*loads: Load) -> PlanEstimate:
    """What one framework takes at one endpoint with 1,000 requests per second."""
    asked = replace(CAMPAIGN, frameworks=(GO,), endpoints=(by_name("2048"),), loads=loads)
    paces = Paces({"go": FrameworkPace(0.0, 2.0, requests_per_s={"2048": 1000.0})})
    return estimate(plan(replace(asked, repetitions=1)), AT_ONCE, paces)


def around_s(campaign: Campaign, paces: Paces = NO_ROWS) -> float:
    """Seconds of a campaign without its loads, the begin of the run and its report."""
    trials = plan(campaign)
    found = estimate(trials, PlanTiming.of(campaign), paces, with_report=False)
    return found.duration_s - found.load_s


def test_a_campaign_without_anything_to_do_takes_nothing() -> None:
    assert estimate((), PlanTiming(cool_down_s=5.0)).duration_s == 0
    assert estimate((), PlanTiming(cool_down_s=5.0)).largest_trial_bytes == 0


def test_the_time_of_a_plan_is_loads_starts_pauses_rows_and_report() -> None:
    trials = plan(replace(CAMPAIGN, cool_down_s=5.0))
    found = estimate(trials, PlanTiming(cool_down_s=5.0), KNOWN)
    assert (found.trials, found.load_s) == (9, 90.0)
    starts_and_rest_s = 6 * (0.1 + 1.0) + 3 * (4.0 + 2.0)
    rows_s = ROW_S * 10 * (3 * 100 + 3 * 300 + 3 * 10)
    assert found.duration_s == pytest.approx(
        EXIT_S
        + ASSUMED_PROGRAM_S
        + 4.0
        + 90.0
        + starts_and_rest_s
        + 8 * 5.0
        + rows_s
        + 2 * report_s(9)
    )


def test_a_run_under_way_has_begun_and_leaves_out_its_report() -> None:
    trials = plan(CAMPAIGN)
    whole, rest = (estimate(trials, AT_ONCE, KNOWN, with_report=one) for one in (True, False))
    assert whole.duration_s - rest.duration_s == pytest.approx(
        EXIT_S + ASSUMED_PROGRAM_S + 4.0 + 2 * report_s(len(trials))
    )


def test_a_report_is_estimated_by_the_nearest_that_was_written() -> None:
    known = Paces(report_factors={size_class(4): 3.0, size_class(100): 0.5})
    assert known.report_s(0) == 0
    assert known.report_s(5) == 3.0 * report_s(5)
    assert known.report_s(120) == 0.5 * report_s(120)
    assert Paces().report_s(5) == report_s(5)


def test_a_run_begins_later_where_postgresql_starts() -> None:
    with_database = replace(CAMPAIGN, endpoints=(by_name("db"),))
    assert (PlanTiming.of(CAMPAIGN).has_database, PlanTiming.of(with_database).has_database) == (
        False,
        True,
    )
    program_s = 0.7
    begins_s = [
        paces.until_first_server_s(has_database=one)
        for paces in (replace(KNOWN, program_s=program_s), Paces())
        for one in (False, True)
    ]
    alone_s = ASSUMED_PROGRAM_S + ASSUMED_BEGIN_S
    expected_s = [program_s + 4.0, program_s + 9.0, alone_s, alone_s + ASSUMED_DATABASE_S]
    assert begins_s == pytest.approx(expected_s)


def test_what_other_frameworks_took_here_is_nearer_than_an_assumption() -> None:
    trial = plan(replace(CAMPAIGN, frameworks=(GO,), repetitions=1))[0]
    others = (FrameworkPace(1.0, beside_s=7.0, gate_s=6.0), FrameworkPace(1.0, in_turns_s=0.4))
    known = Paces(others=others)
    assert known.around_s(trial, takes_turns=False) == 7.0
    assert known.around_s(trial, takes_turns=True) == 0.4
    start_s = known.of(trial).start_s
    assert known.examined_s(trial) == pytest.approx(start_s + 6.0 - 1.0)
    assert Paces().around_s(trial, takes_turns=False) == ASSUMED_BESIDE_S
    assert Paces().examined_s(trial) == pytest.approx(start_s + ASSUMED_GATE_S)


def test_a_group_in_turns_starts_each_server_once_and_pauses_once() -> None:
    starts_s, rest_s = 3 * (0.1 + 4.0), 6 * 0.5 + 3 * 1.5
    turns_s = 9 * 20 * 0.02
    assert around_s(IN_TURNS) == pytest.approx(starts_s + rest_s + turns_s + 2 * 2.0)


def test_shorter_turns_take_longer_and_one_precedes_the_holds() -> None:
    shorter = replace(IN_TURNS, turn_s=0.25)
    assert around_s(shorter) - around_s(IN_TURNS) == pytest.approx(9 * 20 * 0.02)
    warmed = replace(STEADY, stages=(Stage("warm_up", 1.0, 64.0, 64.0), HOLD))
    longer = replace(IN_TURNS, loads=(warmed,))
    assert around_s(longer) - around_s(IN_TURNS) == pytest.approx(9 * 0.02)


def test_each_framework_passes_the_gate_once() -> None:
    assert around_s(replace(CAMPAIGN, compliance=True)) - around_s(CAMPAIGN) == pytest.approx(10.0)


def test_the_idle_host_is_read_before_and_after_each_trial_or_group() -> None:
    for asked, parts in ((CAMPAIGN, 9), (IN_TURNS, 3)):
        idle = replace(asked, idle_s=5.0)
        more_s = around_s(idle) - around_s(asked)
        assert more_s == pytest.approx(2 * (5.0 + SETTLE_S) * parts)


def test_a_runtime_that_compiles_is_assumed_to_start_later() -> None:
    jvm = replace(GO, name="jvm", warm_up_s=10.0)
    warmed = replace(STEADY, stages=(Stage("warm_up", 1.0, 64.0, 64.0), HOLD))
    alike = replace(CAMPAIGN, loads=(warmed,), repetitions=1)
    of_each = [around_s(replace(alike, frameworks=(one,)), Paces()) for one in (GO, jvm)]
    assert of_each[0] < of_each[1]


def test_the_rate_of_another_endpoint_is_nearer_than_an_assumption() -> None:
    (trial,) = plan(
        replace(CAMPAIGN, frameworks=(GO,), endpoints=CAMPAIGN.endpoints[1:], repetitions=1)
    )
    assert requests(trial, {"json": 70.0, "2048": 10.0}) == 700
    assert requests(trial, {"2048": 10.0, "empty": 30.0}) == 200
    assert requests(trial, {}) == estimate([trial]).requests > 10_000


def requests(trial: Trial, rates: dict[str, float]) -> int:
    return estimate(
        [trial], AT_ONCE, Paces({"go": FrameworkPace(1.0, requests_per_s=rates)})
    ).requests


def test_what_never_ran_here_is_counted() -> None:
    known = replace(KNOWN, frameworks={"go": KNOWN.frameworks["go"]})
    assert estimate(plan(CAMPAIGN), AT_ONCE, known).assumed_trials == 3


def test_a_closed_load_is_estimated_by_a_known_rate() -> None:
    found = estimated(STEADY)
    assert found.requests == 10_000
    assert found.bytes == found.largest_trial_bytes == 480_000
    assert found.assumed_trials == 0


@pytest.mark.parametrize(
    ("load", "requests"),
    [
        (replace(STEADY, think_time_s=1.0), 640),
        (replace(STEADY, think_time_s=0.001), 10_000),
        (replace(STEADY, request_limit=300), 300),
        (replace(STEADY, stages=(Stage("ramp", 10.0, 0.0, 0.0), HOLD)), 10_000),
        (Load("o", "open", (Stage("hold", 10.0, 50.0, 50.0),), connections=9), 500),
        (Load("o", "open", (Stage("ramp", 10.0, 0.0, 100.0, 0),), connections=9), 500),
        (Load("o", "open", (Stage("ramp", 10.0, 0.0, 100.0, 4),), connections=9), 625),
    ],
)
def test_a_load_that_limits_itself_is_estimated_by_its_limits(load: Load, requests: int) -> None:
    assert estimated(load).requests == requests


def test_a_load_that_ends_after_some_requests_is_estimated_to_end_then() -> None:
    assert estimated(replace(STEADY, request_limit=300)).load_s == 0.3
    assert estimated(replace(STEADY, request_limit=300_000)).load_s == STEADY.duration_s
    scheduled = Load("o", "open", (Stage("hold", 10.0, 50.0, 50.0),), request_limit=500)
    assert estimated(replace(scheduled, connections=9)).load_s == 10.0


@pytest.mark.parametrize(
    ("load", "load_s"),
    [
        (replace(LONG, think_time_s=1.0), 100.0),
        (replace(LONG, think_time_s=0.001), 1.0),
        (replace(LONG, think_time_s=1.0, stages=(IDLE, *LONG.stages)), 130.0),
        (replace(LONG, think_time_s=1.0, stages=(CLIMB, *LONG.stages)), 115.0),
        (replace(LONG, think_time_s=10.0), 600.0),
    ],
    ids=["think time", "pace", "nothing at first", "fewer at first", "ends before"],
)
def test_a_number_of_requests_takes_as_long_as_the_load_can_send_them(
    load: Load, load_s: float
) -> None:
    """Ten connections that think for 1 s send 10 requests per second; the pace is 1,000."""
    assert estimated(load).load_s == pytest.approx(load_s)


def test_requests_that_a_server_never_answers_take_the_whole_load() -> None:
    trials = plan(replace(CAMPAIGN, loads=(replace(STEADY, request_limit=300),)))
    assert estimate(trials, AT_ONCE, NO_ROWS).load_s == len(trials) * STEADY.duration_s


def test_the_largest_trial_is_told_apart() -> None:
    found = estimated(STEADY, replace(STEADY, name="long", stages=(HOLD, HOLD)))
    assert (found.bytes, found.largest_trial_bytes) == (30_000 * 48, 20_000 * 48)


@pytest.mark.parametrize("has_gate", [False, True])
@pytest.mark.parametrize(
    ("known", "starts_s"), [(Paces(), 0.0), (NO_ROWS, 6 * 0.1 + 3 * 4.0)], ids=["new", "known"]
)
def test_what_is_computed_takes_longer_where_others_use_the_processor(
    known: Paces, starts_s: float, has_gate: bool
) -> None:
    trials = plan(CAMPAIGN)
    timing = PlanTiming(cool_down_s=5.0, has_gate=has_gate)
    alone, beside_others = (
        estimate(trials, timing, replace(known, slowness=one)) for one in (1.0, 3.0)
    )
    rows_s = ROW_S * alone.requests
    fixed_s = alone.load_s + EXIT_S + rows_s + 8 * timing.cool_down_s + starts_s
    computed_s = alone.duration_s - fixed_s
    assert computed_s > 0
    assert beside_others.duration_s == pytest.approx(fixed_s + 3 * computed_s)
    assert beside_others.slowness == 3.0


def test_searches_take_their_budgets_and_what_these_leave_out() -> None:
    trials = plan(CAMPAIGN)
    without = estimate(trials, paces=KNOWN)
    found = estimate(trials, paces=KNOWN, line=LINE)
    entries = len({(one.endpoint.name, one.framework.reference) for one in trials})
    assert found.searches_s > entries * LINE.budget_s
    assert found.duration_s == pytest.approx(without.duration_s + found.searches_s)
    assert (found.trials, found.load_s, found.requests) == (
        *(without.trials, without.load_s),
        without.requests,
    )
    pausing = estimate(trials, PlanTiming(cool_down_s=2.0), KNOWN, line=LINE)
    assert pausing.searches_s > found.searches_s
    slow = replace(CAMPAIGN, frameworks=(replace(GO, warm_up_s=10.0), RAILS))
    assert estimate(plan(slow), paces=KNOWN, line=LINE).searches_s > found.searches_s
    assert without.searches_s == 0


def test_tries_of_a_long_limit_are_few_and_one_of_a_short_budget_always_is() -> None:
    def beside_s(line: LineSettings) -> float:
        timing = PlanTiming(cool_down_s=100.0)
        pausing = estimate(plan(CAMPAIGN), timing, KNOWN, line=line).searches_s
        entries = len({(one.endpoint.name, one.framework.reference) for one in plan(CAMPAIGN)})
        return (pausing - estimate(plan(CAMPAIGN), AT_ONCE, KNOWN, line=line).searches_s) / entries

    assert beside_s(replace(LINE, budget_s=1.0)) == pytest.approx(100.0)
    assert beside_s(replace(LINE, p99_s=2.0)) < beside_s(LINE)
