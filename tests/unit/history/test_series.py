"""Series: change points within a machine, breaks between machines."""

from __future__ import annotations

import pytest

from histories import campaign, campaigns, noise
from plimsoll.history.kept import KeptCampaign
from plimsoll.history.series import Series, series


def only(found: list[KeptCampaign], quantity: str = "goodput_per_s") -> Series:
    (one,) = series(found, [quantity])
    return one


def test_a_step_is_a_change_point_at_its_place_with_its_levels() -> None:
    found = only(campaigns([*noise(12, 1), *noise(8, 2, 950.0)]))
    (change,) = found.changes
    assert (change.index, change.age, change.is_worse) == (12, 8, True)
    assert change.before == pytest.approx(1000, rel=0.01)
    assert change.after == pytest.approx(950, rel=0.01)
    assert found.breaks == ()


@pytest.mark.parametrize(
    ("quantity", "ratio", "is_worse"),
    [
        ("goodput_per_s", 0.9, True),
        ("goodput_per_s", 1.1, False),
        ("response_time_p99_ns", 0.9, False),
        ("response_time_p99_ns", 1.1, True),
    ],
)
def test_whether_a_change_is_for_the_worse_depends_on_the_quantity(
    quantity: str, ratio: float, is_worse: bool
) -> None:
    numbers = [*noise(10, 1), *noise(10, 2, 1000 * ratio)]
    found = [campaign(place, one, p99_ns=one) for place, one in enumerate(numbers)]
    (change,) = only(found, quantity).changes
    assert change.is_worse is is_worse


@pytest.mark.parametrize(
    ("machine", "load", "what"),
    [("other", "l1", "machine"), ("aaaa0001", "l2", "load"), ("other", "l2", "machine")],
)
def test_another_machine_or_load_is_a_break_and_never_a_change(
    machine: str, load: str, what: str
) -> None:
    before = campaigns(noise(10, 1))
    after = [
        campaign(10 + place, one, machine=machine, load=load)
        for place, one in enumerate(noise(10, 2, 500.0))
    ]
    found = only([*before, *after])
    assert [(one.index, one.what) for one in found.breaks] == [(10, what)]
    assert found.changes == ()


def test_machines_that_take_turns_are_each_held_against_themselves() -> None:
    fast, slow = noise(20, 1), noise(20, 2, 500.0)
    slow[12:] = [0.9 * one for one in slow[12:]]
    found = only(
        [
            campaign(2 * place + is_slow, numbers[place], machine=f"m{is_slow}")
            for place in range(20)
            for is_slow, numbers in enumerate((fast, slow))
        ]
    )
    (change,) = found.changes
    assert (change.index, change.age, change.is_worse) == (25, 8, True)
    assert len(found.breaks) == 39


def test_campaigns_without_a_number_are_shown_and_left_out_of_the_levels() -> None:
    numbers: list[float | None] = [*noise(10, 1), *noise(10, 2, 900.0)]
    numbers[4] = numbers[15] = None
    found = only(campaigns(numbers))
    assert [one.index for one in found.changes] == [10]
    assert [one.estimate is None for one in found.points] == [one is None for one in numbers]


def test_a_quantity_that_nobody_measured_has_no_series() -> None:
    assert series(campaigns([1.0, 2.0]), ["response_time_p99_ns"]) == ()


def test_entries_are_series_of_their_own() -> None:
    found = series([campaign(0), campaign(1, endpoint="tiny")], ["goodput_per_s"])
    assert [str(one.entry) for one in found] == ["go/json.steady", "go/tiny.steady"]


@pytest.mark.parametrize(
    ("numbers", "recent", "is_loss"),
    [
        ([*noise(12, 1), *noise(3, 2, 900.0)], 5, True),
        ([*noise(12, 1), *noise(8, 2, 900.0)], 5, False),
        ([*noise(12, 1), *noise(8, 2, 900.0)], 8, True),
        ([*noise(12, 1), *noise(3, 2, 1100.0)], 5, False),
        ([*noise(12, 1), *noise(4, 2, 900.0), *noise(4, 3)], 20, False),
        (noise(15, 1), 5, False),
    ],
    ids=["new", "old", "old and asked for", "better", "mended", "none"],
)
def test_a_recent_loss_is_the_last_change(numbers: list[float], recent: int, is_loss: bool) -> None:
    assert (only(campaigns(numbers)).recent_loss(recent) is not None) is is_loss


@pytest.mark.parametrize(("machine", "load"), [("other", "l1"), ("aaaa0001", "l2")])
def test_a_campaign_on_another_machine_or_load_ends_no_loss(machine: str, load: str) -> None:
    lost = campaigns([*noise(12, 1), *noise(3, 2, 900.0)])
    others = [campaign(20 + place, 900.0, machine=machine, load=load) for place in range(3)]
    for count, is_loss in ((1, True), (2, True), (3, False)):
        found = only([*lost, *others[:count]])
        assert [one.age for one in found.changes] == [3 + count]
        assert (found.recent_loss(5) is not None) is is_loss


def test_a_gain_on_one_machine_does_not_hide_a_loss_on_another() -> None:
    lost = campaigns([*noise(12, 1), *noise(3, 2, 900.0)])
    gained = [
        campaign(15 + place, one, machine="other")
        for place, one in enumerate([*noise(12, 3), *noise(3, 4, 1100.0)])
    ]
    found = only([*gained, *lost])
    loss = found.recent_loss(5)
    assert loss is not None
    assert found.points[loss.index].condition[0] == "aaaa0001"


@pytest.mark.parametrize(
    ("campaigns_after", "is_loss"), [(0, True), (2, True), (3, False), (21, False)]
)
def test_a_loss_ages_though_its_entry_is_no_longer_measured(
    campaigns_after: int, is_loss: bool
) -> None:
    """Its level is 20 % lower from the 7th campaign on, and the 9th is the last that has it."""
    lost = campaigns([*noise(6, 1), *noise(3, 2, 800.0)])
    others = [campaign(9 + place, endpoint="tiny") for place in range(campaigns_after)]
    found, *_ = series([*lost, *others], ["goodput_per_s"])
    assert found.entry.endpoint == "json"
    assert [one.age for one in found.changes] == [3 + campaigns_after]
    assert (found.recent_loss(5) is not None) is is_loss


def test_a_loss_ages_though_every_later_repetition_is_void() -> None:
    found = only(campaigns([*noise(6, 1), *noise(3, 2, 800.0), *[None] * 21]))
    assert [one.age for one in found.changes] == [24]
    assert found.recent_loss(5) is None


def test_campaigns_between_those_that_have_an_entry_make_its_loss_no_older() -> None:
    """One campaign in five has the entry: six begin until two show its new level."""
    numbers = iter([*noise(6, 1), *noise(2, 2, 800.0)])
    found, _ = series(
        [
            campaign(place, endpoint="tiny") if place % 5 else campaign(place, next(numbers))
            for place in range(36)
        ],
        ["goodput_per_s"],
    )
    assert [one.age for one in found.changes] == [2]
    assert found.recent_loss(5) is not None
