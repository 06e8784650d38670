"""Plans for JMeter: thread groups that add up to the load, and texts that stay what they are."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.campaign.endpoints import ENDPOINTS, by_name
from plimsoll.campaign.load import Load, Stage
from plimsoll.campaign.requests import Exchange, Expected, Request
from plimsoll.drivers import jmeter_plan
from plimsoll.drivers.jmeter_plan import Group
from plimsoll.drivers.job import DriverJob

HOLD = Load("a", "closed", (Stage("hold", 10.0, 50, 50),))
PLAIN = by_name("2048").exchanges
MIX = by_name("mix").exchanges


def loaded(*stages: Stage) -> Load:
    return Load("a", "closed", stages)


def order(load: Load = HOLD, exchanges: tuple[Exchange, ...] = PLAIN) -> DriverJob:
    return DriverJob(load, exchanges, "127.0.0.1:8080", (), 5, 0.0, Path())


def plan(load: Load = HOLD, exchanges: tuple[Exchange, ...] = PLAIN) -> ElementTree.Element:
    return ElementTree.fromstring(jmeter_plan.rendered(order(load, exchanges)))  # noqa: S314


def values(of: ElementTree.Element, name: str) -> list[str]:
    return [found.text or "" for found in of.iterfind(f".//*[@name='{name}']")]


def test_a_hold_is_one_group() -> None:
    assert jmeter_plan.groups(HOLD) == (Group(50, 0, 0, 0, 10),)


def test_a_stepped_ramp_is_a_group_for_each_step_that_begins_to_the_millisecond() -> None:
    load = loaded(Stage("ramp", 240.0, 0, 9000, 100), Stage("hold", 180.0, 9000, 9000))
    found = jmeter_plan.groups(load)
    assert len(found) == 100
    assert {group.threads for group in found} == {90}
    assert [group.delay_s * 1000 + group.pause_ms for group in found] == list(
        range(0, 240_000, 2400)
    )
    assert {group.delay_s + group.duration_s for group in found} == {420}


def test_a_straight_ramp_is_one_group_with_a_ramp_up() -> None:
    load = loaded(
        Stage("warm_up", 1.5, 2, 2), Stage("ramp", 4.0, 2, 10, 0), Stage("hold", 2.5, 10, 10)
    )
    assert jmeter_plan.groups(load) == (Group(2, 0, 0, 0, 8), Group(8, 1, 500, 4, 7))


@given(
    levels=st.lists(st.integers(0, 500), min_size=1, max_size=5).map(sorted),
    steps=st.integers(1, 7),
)
def test_the_groups_at_work_are_the_level_that_is_asked_for(levels: list[int], steps: int) -> None:
    ramps = [
        Stage("ramp", 7.0, before, after, steps)
        for before, after in zip([0, *levels], levels, strict=False)
    ]
    load = loaded(*ramps, Stage("hold", 3.0, levels[-1], levels[-1]))
    assert not jmeter_plan.refusal(load, PLAIN)
    found = jmeter_plan.groups(load)
    for place, stage in enumerate(ramps):
        for step in range(1, steps + 1):
            at_ms = (place + (step - 0.5) / steps) * 7000
            exact = (
                Fraction(int(stage.start))
                + Fraction(int(stage.end) - int(stage.start)) * step / steps
            )
            level = math.floor(exact + Fraction(1, 2))
            begun = [one for one in found if one.delay_s * 1000 + one.pause_ms <= at_ms]
            assert sum(group.threads for group in begun) == level


@pytest.mark.parametrize(
    ("load", "reason"),
    [
        (replace(HOLD, model="open", connections=5), "no connection pool"),
        (replace(HOLD, pipeline=2), "does not pipeline"),
        (replace(HOLD, request_limit=100), "limits the requests per thread"),
        (replace(HOLD, threads=4), "a thread per connection"),
        (loaded(Stage("hold", 10.0, 5, 5), Stage("hold", 10.0, 4, 4)), "cannot reduce the number"),
        (loaded(Stage("ramp", 4.0, 9, 3, 0), Stage("hold", 1.0, 3, 3)), "cannot reduce"),
        (loaded(Stage("hold", 1.5, 5, 5)), "whole seconds, but the load lasts 1.5 s"),
        (
            loaded(Stage("ramp", 1.5, 0, 5, 0), Stage("hold", 1.5, 5, 5)),
            "whole seconds, but a linear ramp lasts 1.5 s",
        ),
    ],
)
def test_a_load_that_the_core_of_jmeter_cannot_put_on_is_refused(load: Load, reason: str) -> None:
    assert reason in jmeter_plan.refusal(load, PLAIN)


def test_threads_as_many_as_connections_are_no_reason_to_refuse() -> None:
    assert not jmeter_plan.refusal(replace(HOLD, threads=50), PLAIN)


@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        (Request("a", "BREW", "/"), "cannot send the method `BREW`"),
        (Request("a", "GET", "/", body=b"x"), "sends no body with `GET`"),
        (Request("a", "GET", "/", (("Connection", "close"),)), "writes the header `Connection`"),
        (Request("a", "GET", "/${__time()}"), "cannot represent this request"),
        (Request("a", "GET", "/", (("X", "\x01"),)), "cannot represent this request"),
        (Request("a", "POST", "/", body=b"\x00"), "cannot represent this request"),
        (Request("a", "POST", "/", body=b"\xff"), "cannot represent this request"),
        (Request("a", "POST", "/", body="\ufffe".encode()), "cannot represent this request"),
    ],
)
def test_a_request_that_would_not_go_out_as_it_is_is_refused(
    request_: Request, reason: str
) -> None:
    assert reason in jmeter_plan.refusal(HOLD, (Exchange(request_, Expected()),))


@pytest.mark.parametrize(
    "endpoint",
    [endpoint for endpoint in ENDPOINTS if endpoint.protocol == "http1"],
    ids=lambda endpoint: endpoint.name,
)
def test_every_endpoint_of_the_contract_can_be_asked(endpoint) -> None:
    assert jmeter_plan.refusal(HOLD, endpoint.exchanges) == ""
    bodies = [one.request.body.decode() for one in endpoint.exchanges if one.request.body]
    found = plan(HOLD, endpoint.exchanges)
    assert values(found, "Argument.value") == bodies
    assert values(found, "HTTPSampler.path") == [one.request.target for one in endpoint.exchanges]


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_a_text_that_is_not_refused_is_read_from_the_plan_as_it_was(text: str) -> None:
    asked = (Exchange(Request("a", "POST", "/", (("X", text),), text.encode()), Expected()),)
    if not jmeter_plan.refusal(HOLD, asked):
        found = plan(HOLD, asked)
        assert values(found, "Argument.value") == [text]
        assert values(found, "Header.value") == [text]


@given(st.lists(st.integers(1, 40), min_size=2, max_size=8))
def test_each_kind_has_tickets_by_its_weight(weights: list[int]) -> None:
    asked = [
        Exchange(Request(str(place), "GET", "/", weight=weight / 8), Expected())
        for place, weight in enumerate(weights)
    ]
    counts = Counter(jmeter_plan.tickets(asked))
    assert {counts[place] / weight for place, weight in enumerate(weights)} == {
        counts[0] / weights[0]
    }


def test_kinds_of_equal_weight_need_no_map_of_tickets() -> None:
    found = plan(HOLD, MIX)
    assert values(found, "SwitchController.value") == ["${ticket}"]
    assert values(found, "maximumValue") == ["5"]
    assert values(found, "randomSeed") == ["5"]
    assert not found.findall(".//elementProp[@elementType='Argument']")


def test_kinds_of_other_weights_are_looked_up_by_the_ticket() -> None:
    first, second = MIX[:2]
    unequal = (replace(first, request=replace(first.request, weight=0.75)), second)
    found = plan(HOLD, unequal)
    assert values(found, "SwitchController.value") == ["${__V(kind_${ticket})}"]
    kinds = [one.get("name") for one in found.findall(".//elementProp[@elementType='Argument']")]
    assert kinds == [f"kind_{ticket}" for ticket in range(7)]


def test_weights_too_fine_for_tickets_are_refused() -> None:
    first, second = MIX[:2]
    fine = (replace(first, request=replace(first.request, weight=0.001)), second)
    assert "steps of 1/1,000" in jmeter_plan.refusal(HOLD, fine)


def test_the_plan_asserts_status_and_length() -> None:
    exchange = replace(PLAIN[0], expected=Expected(status=(400, 402), length_bytes=7))
    found = plan(HOLD, (exchange,))
    [status] = found.findall(".//ResponseAssertion/collectionProp/stringProp")
    assert status.text == "400|401|402"
    assert values(found, "SizeAssertion.size") == ["7"]
    without = replace(exchange, expected=Expected(length_bytes=None))
    assert not values(plan(HOLD, (without,)), "SizeAssertion.size")


def test_connections_live_as_long_as_asked() -> None:
    assert values(plan(), "HTTPSampler.use_keepalive") == ["true"]
    assert values(plan(), "ThreadGroup.same_user_on_next_iteration") == ["true"]
    assert values(plan(replace(HOLD, keep_alive=False)), "HTTPSampler.use_keepalive") == ["false"]
    counted = plan(replace(HOLD, requests_per_connection=9))
    assert values(counted, "ThreadGroup.same_user_on_next_iteration") == ["false"]
    assert values(counted, "LoopController.loops") == ["-1", "9"]


def test_think_time_and_the_rest_of_a_delay_are_pauses() -> None:
    load = loaded(Stage("ramp", 1.0, 0, 2, 2), Stage("hold", 1.0, 2, 2))
    found = plan(replace(load, think_time_s=0.25))
    assert values(found, "ActionProcessor.duration") == ["250", "500", "250"]
