"""The campaigns and frameworks of this repository."""

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll import plan
from plimsoll.campaign import campaign, framework
from plimsoll.campaign.campaign import Campaign
from plimsoll.campaign.load import Stage

CHECKOUT = Path(__file__).parents[3]
STUDY = ("empty", "2048", "32768", "getArgs2048", "postArgs2048", "postArgsMulti2048", "json")


def read(name: str, *settings: str) -> Campaign:
    return campaign.read(CHECKOUT / "campaigns" / f"{name}.toml", settings, CHECKOUT / "frameworks")


@pytest.mark.parametrize("file", sorted((CHECKOUT / "campaigns").glob("*.toml")), ids=str)
def test_every_campaign_is_right_and_has_the_name_of_its_file(file: Path) -> None:
    assert read(file.stem).name == file.stem


@pytest.mark.parametrize("folder", framework.find(CHECKOUT / "frameworks"), ids=str)
def test_every_framework_is_right(folder: Path) -> None:
    assert framework.read(folder)


def test_smoke_takes_seconds() -> None:
    smoke = read("smoke")
    assert len(smoke.frameworks) == len(smoke.endpoints) == 2
    assert [load.duration_s for load in smoke.loads] == [2.0]


def test_quick_holds_for_five_seconds_twice_and_takes_at_most_five_minutes() -> None:
    quick = read("quick")
    trials = plan.plan(quick)
    assert (len(quick.frameworks), len(quick.endpoints), quick.repetitions) == (6, 3, 2)
    assert [stage.duration_s for stage in quick.loads[0].stages if stage.kind == "hold"] == [5.0]
    assert plan.estimate(trials, quick.cool_down_s).duration_s <= 300


def test_cengn_is_the_plan_of_the_study() -> None:
    cengn = read("cengn")
    (load,) = cengn.loads
    assert {endpoint.name for endpoint in cengn.endpoints} == {*STUDY, "mix"}
    assert load.stages == (
        Stage("ramp", 240.0, 0.0, 9000.0, 100),
        Stage("hold", 180.0, 9000.0, 9000.0),
    )


def test_cengn_scaled_in_time_keeps_its_connections() -> None:
    (load,) = read("cengn", "scale_time=0.05", "frameworks=reference,go,spring").loads
    assert load.duration_s == pytest.approx(21.0)
    assert load.peak_connections == 9000
