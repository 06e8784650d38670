"""Plans: order, names and seeds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path

from plimsoll.campaign.campaign import Campaign
from plimsoll.campaign.endpoints import by_name
from plimsoll.campaign.framework import Framework
from plimsoll.campaign.line_settings import LineSettings
from plimsoll.campaign.load import Load, Stage
from plimsoll.campaign.requests import Exchange
from plimsoll.plan import (
    OmittedCombination,
    Trial,
    blocks,
    groups,
    left_out,
    load_s,
    plan,
    refused,
    servers,
    starts,
    table,
    tables,
    tried,
)

HOLD = Stage("hold", 10.0, 64.0, 64.0)
STEADY = Load("steady", "closed", (HOLD,))
GO = Framework("go", "", "Go", Path("go"), "", (), "", "true", "true", ("2048", "json"))
ONE_CORE = replace(GO, variant="one-core")
RAILS = replace(GO, name="rails", endpoints=("2048",), not_implemented={"json": "no time"})
CAMPAIGN = Campaign(
    name="a",
    frameworks=(GO, ONE_CORE, RAILS),
    endpoints=(by_name("2048"), by_name("json")),
    loads=(STEADY, replace(STEADY, name="other")),
    repetitions=3,
)


def test_a_trial_is_named_after_all_that_it_is() -> None:
    ids = {trial.id for trial in plan(CAMPAIGN)}
    assert {"go.2048.steady.1", "go-one-core.json.other.3", "rails.2048.steady.2"} <= ids
    assert all(re.fullmatch(r"[A-Za-z0-9_.-]+", trial_id) for trial_id in ids)


def test_a_combination_that_is_not_served_is_left_out_and_said() -> None:
    assert not any(trial.id.startswith("rails.json") for trial in plan(CAMPAIGN))
    assert left_out(CAMPAIGN) == (OmittedCombination(RAILS, by_name("json"), "no time"),)


def test_a_load_that_keeps_connections_leaves_out_who_keeps_none() -> None:
    closing = replace(GO, name="closing", no_keep_alive="it closes each")
    closed = replace(STEADY, name="closed", keep_alive=False)
    asked = replace(CAMPAIGN, frameworks=(GO, closing), loads=(STEADY, closed), repetitions=1)
    assert {trial.load for trial in plan(asked) if trial.framework == closing} == {closed}
    left = left_out(asked)
    assert {(one.endpoint.name, one.load) for one in left} == {("2048", STEADY), ("json", STEADY)}
    assert str(left[0]) == "closing cannot take load steady: it closes each"


SECURED = replace(STEADY, name="https", tls=True)
HTTP2 = replace(STEADY, name="h2", tls=True, protocol="http2", streams=8)


def test_what_a_framework_does_not_serve_is_left_out_with_the_reason() -> None:
    both = replace(GO, services=("https", "h2"))
    one = replace(RAILS, services=("https",))
    other = replace(GO, name="rack", not_implemented={"https": "a proxy does that"})
    asked = replace(CAMPAIGN, frameworks=(both, one, other), loads=(STEADY, SECURED, HTTP2))
    asked = replace(asked, endpoints=(by_name("2048"),), repetitions=1)
    assert {trial.id for trial in plan(asked)} == {
        *("go.2048.steady.1", "go.2048.https.1", "go.2048.h2.1"),
        *("rails.2048.steady.1", "rails.2048.https.1", "rack.2048.steady.1"),
    }
    assert list(map(str, left_out(asked))) == [
        "rails cannot take load h2: it does not serve HTTP/2 over TLS",
        "rack cannot take load https: a proxy does that",
        "rack cannot take load h2: it does not serve HTTP/2 over TLS",
    ]


def test_a_load_of_messages_is_one_of_websocket_and_never_of_http2() -> None:
    echoing = replace(GO, endpoints=("ws",), services=("https", "h2"))
    asked = replace(CAMPAIGN, frameworks=(echoing,), endpoints=(by_name("ws"),), repetitions=1)
    asked = replace(asked, loads=(STEADY, SECURED, HTTP2))
    loads = {trial.load.name: trial.load for trial in plan(asked)}
    assert {name: load.protocol for name, load in loads.items()} == {
        "steady": "websocket",
        "https": "websocket",
    }
    assert loads["https"].service == "https"
    assert [str(left) for left in left_out(asked)] == [
        "go cannot take load h2 at ws: WebSocket is measured over HTTP/1.1 only"
    ]


SEVERAL = replace(CAMPAIGN, drivers=("plimsoll", "wrk"))


def no_json_by_wrk(driver: str, load: Load, exchanges: Sequence[Exchange]) -> str:
    kinds = {exchange.request.name for exchange in exchanges}
    return "it sends no body" if driver == "wrk" and kinds == {"json"} else ""


def test_a_trial_names_its_driver_where_there_are_several() -> None:
    ids = {trial.id for trial in plan(SEVERAL)}
    assert {"go.2048.steady.plimsoll.1", "go.2048.steady.wrk.1"} <= ids
    only = plan(replace(CAMPAIGN, drivers=("wrk",)))
    assert {trial.driver for trial in only} == {"wrk"}
    assert {trial.id for trial in only} == {trial.id for trial in plan(CAMPAIGN)}


def test_a_trial_has_the_same_seed_by_every_driver_and_by_one_alone() -> None:
    seeds: dict[str, set[int]] = {}
    for trial in (*plan(CAMPAIGN), *plan(SEVERAL)):
        name = f"{trial.framework.slug}.{trial.endpoint.name}.{trial.load.name}.{trial.repetition}"
        seeds.setdefault(name, set()).add(trial.seed)
    assert {len(found) for found in seeds.values()} == {1}


def test_what_a_driver_refuses_is_left_out_and_said_with_its_reason() -> None:
    trials = plan(SEVERAL, no_json_by_wrk)
    assert {trial.endpoint.name for trial in trials if trial.driver == "wrk"} == {"2048"}
    assert {trial.endpoint.name for trial in trials if trial.driver == "plimsoll"} == {
        "2048",
        "json",
    }
    said = refused(SEVERAL, no_json_by_wrk)
    assert [(one.driver, one.load.name, one.endpoint.name) for one in said] == [
        ("wrk", "steady", "json"),
        ("wrk", "other", "json"),
    ]
    assert str(said[0]) == "wrk cannot generate load steady on json: it sends no body"


def test_the_same_campaign_has_the_same_plan() -> None:
    assert plan(CAMPAIGN) == plan(CAMPAIGN)
    assert plan(CAMPAIGN) != plan(replace(CAMPAIGN, seed=2))


def test_blocks_have_orders_of_their_own() -> None:
    trials = plan(replace(CAMPAIGN, repetitions=2))
    half = len(trials) // 2
    names = [trial.id.rpartition(".")[0] for trial in trials]
    assert names[:half] != names[half:]


IN_TURNS = replace(CAMPAIGN, turn_s=0.25)


def table_of(trial: Trial) -> tuple[str, str, int]:
    return trial.endpoint.name, trial.load.name, trial.repetition


def test_turns_change_the_order_of_trials_and_nothing_else() -> None:
    def known(trials: Sequence[Trial]) -> dict[str, Trial]:
        return {trial.id: replace(trial, order=0, takes_turns=True) for trial in trials}

    assert known(plan(IN_TURNS)) == known(plan(CAMPAIGN))
    assert [trial.order for trial in plan(IN_TURNS)] == list(range(len(plan(CAMPAIGN))))
    assert plan(IN_TURNS) == plan(IN_TURNS)


def test_trials_whose_servers_start_once_for_all_of_them_follow_each_other() -> None:
    trials = plan(IN_TURNS)
    found = groups(trials)
    assert [trial for group in found for trial in group] == list(trials)
    starts = [{(trial.load.name, trial.repetition) for trial in group} for group in found]
    assert {len(each) for each in starts} == {1}
    assert len({*map(frozenset, starts)}) == len(found) == 2 * 3
    for group in found:
        assert [trial for part in tables(group) for trial in part] == list(group)
        served = {part[0].endpoint.name: len(part) for part in tables(group)}
        assert served == {"2048": 3, "json": 2}
        assert servers(group) == 3


def test_an_endpoint_with_a_database_has_servers_of_its_own() -> None:
    stored = replace(GO, endpoints=("2048", "json", "db", "updates"))
    asked = replace(
        IN_TURNS,
        frameworks=(stored,),
        endpoints=tuple(map(by_name, stored.endpoints)),
        loads=(STEADY,),
        repetitions=1,
    )
    found = [{trial.endpoint.name for trial in group} for group in groups(plan(asked))]
    assert sorted(map(sorted, found)) == [["2048", "json"], ["db"], ["updates"]]


def test_repetitions_are_groups_of_their_own_where_there_is_one_table() -> None:
    one = replace(IN_TURNS, endpoints=(by_name("2048"),), loads=(STEADY,))
    found = groups(plan(one))
    assert [{trial.repetition for trial in group} for group in found] == [{1}, {2}, {3}]
    assert {len(group) for group in found} == {3}


def test_a_group_of_which_a_part_is_conducted_consists_of_the_rest() -> None:
    first, *others = groups(plan(IN_TURNS))
    rest = [trial for trial in plan(IN_TURNS) if trial != first[0]]
    assert groups(rest) == (first[1:], *others)
    assert groups(()) == ()


def test_a_server_of_several_trials_warms_up_once_as_long_as_its_runtime_needs() -> None:
    jvm = replace(GO, name="jvm", warm_up_s=10.0)
    warmed = replace(STEADY, stages=(Stage("warm_up", 1.0, 64.0, 64.0), HOLD))
    asked = replace(IN_TURNS, frameworks=(GO, jvm), loads=(warmed,), repetitions=2)
    trials = plan(asked)
    assert {trial.load for trial in trials} == {warmed}
    assert {(one.framework.name, one.start_warm_up_s) for one in trials} == {("go", 0), ("jvm", 9)}
    assert load_s(trials) == 8 * 11.0 + 2 * 9.0
    alone = plan(replace(asked, turn_s=0.0))
    assert {trial.load for trial in alone} == {warmed}
    assert {(one.framework.name, one.start_warm_up_s) for one in alone} == {("go", 0), ("jvm", 9)}
    assert load_s(alone) == 4 * 11.0 + 4 * 20.0
    assert {one.in_one_piece.load.duration_s for one in alone} == {11.0, 20.0}
    assert {one.in_one_piece.start_warm_up_s for one in alone} == {0.0}
    unwarmed = plan(replace(asked, loads=(STEADY,)))
    assert {one.start_warm_up_s for one in unwarmed} == {0.0}


def test_each_fresh_server_of_a_load_line_is_warmed_up_before_its_rate() -> None:
    jvm = replace(GO, name="jvm", warm_up_s=10.0)
    line = LineSettings(p99_s=0.02, server_warm_up_s=3.0)
    asked = replace(CAMPAIGN, frameworks=(GO, jvm), loads=(line.peak,), line=line)
    peaks = plan(asked)
    tries = [tried(asked, one, line.tried(100.0, 2.0), 1, 0) for one in peaks]
    assert {one.start_warm_up_s for one in peaks if one.framework == GO} == {3.0}
    assert {one.start_warm_up_s for one in tries if one.framework == GO} == {3.0}
    assert all(one.start_warm_up_s > 9.0 for one in (*peaks, *tries) if one.framework == jvm)


def test_starts_of_servers_are_counted_by_group() -> None:
    assert starts(plan(IN_TURNS)) == 2 * 3 * 3
    twice = [replace(trial, id=f"{trial.id}b") for trial in plan(IN_TURNS)]
    assert starts([*plan(IN_TURNS)[:5], *twice[:5]]) == 2 * 3


def test_servers_of_a_table_start_in_an_order_of_their_own_each_time() -> None:
    one = replace(IN_TURNS, endpoints=(by_name("2048"),), loads=(STEADY,), repetitions=8)
    orders = {tuple(trial.framework.reference for trial in group) for group in groups(plan(one))}
    assert len(orders) > 1


def test_a_trial_keeps_its_seed_when_others_come_or_go() -> None:
    all_seeds = {trial.id: trial.seed for trial in plan(CAMPAIGN)}
    fewer = plan(replace(CAMPAIGN, frameworks=(GO,), repetitions=1))
    assert all(all_seeds[trial.id] == trial.seed for trial in fewer)
    assert len({*all_seeds.values()}) == len(all_seeds)


def test_further_blocks_are_those_of_a_longer_plan() -> None:
    more = plan(replace(CAMPAIGN, repetitions=5))
    assert (*plan(CAMPAIGN), *blocks(CAMPAIGN, (4, 5))) == more
    assert blocks(CAMPAIGN, (4,), no_json_by_wrk) == tuple(
        trial for trial in more if trial.repetition == 4
    )


def test_blocks_that_may_be_the_last_keep_the_trials_of_a_table_together() -> None:
    asked = replace(CAMPAIGN, until=0.05)
    assert {trial.id for trial in plan(asked)} == {trial.id for trial in plan(CAMPAIGN)}
    found = [(table(one), one.repetition) for one in plan(asked)]
    assert len([*groupby(found)]) == len({*found}) == 2 * 2 * 3


def test_a_plan_keeps_no_requests_of_its_trials() -> None:
    """A thousand trials whose requests were kept would need gigabytes when the last one is over."""
    args = replace(
        CAMPAIGN, endpoints=(by_name("args"),), frameworks=(replace(GO, endpoints=("args",)),)
    )
    trial = plan(args)[0]
    drawn, again = (one.exchanges for one in (trial, trial))
    assert len(drawn) > 1000
    assert [one.request for one in drawn] == [one.request for one in again]
    assert not any(drawn is kept for kept in vars(trial).values())
