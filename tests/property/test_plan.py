"""A plan is a permutation of its blocks."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from plimsoll.campaign.campaign import Campaign
from plimsoll.campaign.endpoints import ENDPOINTS, by_name
from plimsoll.campaign.framework import Framework
from plimsoll.campaign.load import Load, Stage
from plimsoll.plan import groups, left_out, plan, servers, shared_start, table, tables

NAMES = tuple(endpoint.name for endpoint in ENDPOINTS)
DRIVERS = ("plimsoll", "wrk", "ab")
WORDS = st.from_regex(r"[a-z][a-z0-9-]{0,5}", fullmatch=True)
ENDPOINT_NAMES = st.lists(st.sampled_from(NAMES), unique=True, min_size=1, max_size=4)


@st.composite
def frameworks(draw: st.DrawFn) -> Framework:
    served = tuple(draw(ENDPOINT_NAMES))
    reasons = {name: "a reason" for name in NAMES if name not in served}
    return Framework(draw(WORDS), "", "Go", Path("x"), "", (), "", "true", "true", served, reasons)


@st.composite
def campaigns(draw: st.DrawFn) -> Campaign:
    names = draw(st.lists(WORDS, unique=True, min_size=1, max_size=3))
    stages = (Stage("hold", 1.0, 1.0, 1.0),)
    return Campaign(
        name="a",
        frameworks=tuple(
            draw(st.lists(frameworks(), unique_by=lambda one: one.name, min_size=1, max_size=4))
        ),
        endpoints=tuple(by_name(name) for name in draw(ENDPOINT_NAMES)),
        loads=tuple(Load(name, "closed", stages) for name in names),
        repetitions=draw(st.integers(1, 4)),
        drivers=tuple(draw(st.lists(st.sampled_from(DRIVERS), unique=True, min_size=1))),
        seed=draw(st.integers()),
    )


@given(campaigns())
def test_each_block_holds_every_combination_once(campaign: Campaign) -> None:
    trials = plan(campaign)
    combinations = Counter(
        (framework.name, endpoint.name, load.name, driver)
        for framework in campaign.frameworks
        for endpoint in campaign.endpoints
        if endpoint.name in framework.endpoints
        for load in campaign.loads
        for driver in campaign.drivers
    )
    size = combinations.total()
    assert len(trials) == size * campaign.repetitions
    for block in range(campaign.repetitions):
        inside = trials[block * size : (block + 1) * size]
        assert {trial.repetition for trial in inside} <= {block + 1}
        assert combinations == Counter(
            (trial.framework.name, trial.endpoint.name, trial.load.name, trial.driver)
            for trial in inside
        )


@given(campaigns())
def test_turns_reorder_a_block_so_that_what_shares_a_start_or_a_table_is_together(
    campaign: Campaign,
) -> None:
    trials = plan(replace(campaign, turn_s=0.1))
    assert {trial.id for trial in trials} == {trial.id for trial in plan(campaign)}
    assert [trial.order for trial in trials] == list(range(len(trials)))
    found = groups(trials)
    assert [trial for group in found for trial in group] == list(trials)
    assert len({shared_start(group[0]) for group in found}) == len(found)
    for group in found:
        parts = tables(group)
        assert [trial for part in parts for trial in part] == list(group)
        assert len({table(part[0]) for part in parts}) == len(parts)
        served = [[trial.framework.name for trial in part] for part in parts]
        assert all(len({*names}) == len(names) for names in served)
        assert servers(group) == len({name for names in served for name in names})


@given(campaigns())
def test_ids_are_unique_and_orders_count_up(campaign: Campaign) -> None:
    trials = plan(campaign)
    assert len({trial.id.lower() for trial in trials}) == len(trials)
    assert [trial.order for trial in trials] == list(range(len(trials)))
    parts = 5 if len(campaign.drivers) > 1 else 4
    assert {len(trial.id.split(".")) for trial in trials} <= {parts}


@given(campaigns())
def test_a_pair_is_either_planned_or_left_out_with_its_reason(campaign: Campaign) -> None:
    planned = {(trial.framework.name, trial.endpoint.name) for trial in plan(campaign)}
    left = {(one.framework.name, one.endpoint.name) for one in left_out(campaign)}
    pairs = {(one.name, other.name) for one in campaign.frameworks for other in campaign.endpoints}
    assert planned | left == pairs
    assert not planned & left
    assert all(one.reason for one in left_out(campaign))


@given(campaigns())
def test_seeds_are_kept_whole_by_every_reader_of_json(campaign: Campaign) -> None:
    assert all(0 <= trial.seed < 2**53 for trial in plan(campaign))
