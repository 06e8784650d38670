"""The campaigns and frameworks of this repository."""

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll import plan
from plimsoll.campaign import campaign, framework
from plimsoll.campaign.campaign import Campaign
from plimsoll.campaign.endpoints import ENDPOINTS
from plimsoll.campaign.load import Stage
from plimsoll.drivers.tools import DRIVERS
from plimsoll.published import document

CHECKOUT = Path(__file__).parents[3]
STUDY = ("empty", "2048", "32768", "getArgs2048", "postArgs2048", "postArgsMulti2048", "json")


def read(name: str, *settings: str) -> Campaign:
    path = CHECKOUT / "campaigns" / f"{name}.toml"
    drivers = [driver.NAME for driver in DRIVERS]
    return campaign.read(path, settings, CHECKOUT / "frameworks", drivers=drivers)


@pytest.mark.parametrize("file", sorted((CHECKOUT / "campaigns").glob("*.toml")), ids=str)
def test_every_campaign_is_right_and_has_the_name_of_its_file(file: Path) -> None:
    assert read(file.stem).name == file.stem


@pytest.mark.parametrize("file", sorted((CHECKOUT / "campaigns").glob("*.toml")), ids=str)
def test_every_campaign_has_a_plan_that_its_drivers_can_put_on(file: Path) -> None:
    asked = read(file.stem)
    able = {driver.NAME: driver.refuses for driver in DRIVERS}
    refused = plan.refused(
        asked, lambda driver, load, exchanges: able[driver](load, tuple(exchanges))
    )
    assert plan.plan(asked)
    assert [str(one) for one in refused] == []


@pytest.mark.parametrize("folder", framework.find(CHECKOUT / "frameworks"), ids=str)
def test_every_framework_is_right(folder: Path) -> None:
    assert framework.read(folder)


def test_smoke_takes_seconds() -> None:
    smoke = read("smoke")
    assert len(smoke.frameworks) == len(smoke.endpoints) == 2
    assert [load.duration_s for load in smoke.loads] == [2.0]


def test_quick_starts_its_servers_six_times_with_at_most_five_minutes_of_load() -> None:
    quick = read("quick")
    trials = plan.plan(quick)
    assert (len(quick.frameworks), len(quick.endpoints), quick.repetitions) == (6, 3, 6)
    assert [stage.duration_s for stage in quick.loads[0].stages if stage.kind == "hold"] == [1.0]
    assert plan.load_s(trials) <= 300


def test_all_has_every_endpoint_of_every_variant_briefly() -> None:
    asked = read("all")
    folders = framework.find(CHECKOUT / "frameworks")
    variants = [variant.reference for folder in folders for variant in framework.read(folder)]
    assert [one.reference for one in asked.frameworks] == variants
    assert [endpoint.name for endpoint in asked.endpoints] == [one.name for one in ENDPOINTS]
    trials = plan.plan(asked)
    assert len(trials) == len(variants) * len(ENDPOINTS) - len(plan.left_out(asked))
    # Four seconds each, and what runtimes that compile under load ask for as their warm-up.
    assert plan.load_s(trials) <= 8 * len(trials)


def test_cengn_is_the_plan_of_the_study() -> None:
    cengn = read("cengn")
    (load,) = cengn.loads
    assert {endpoint.name for endpoint in cengn.endpoints} == {*STUDY, "mix"}
    assert load.stages == (
        Stage("ramp", 240.0, 0.0, 9000.0, 100),
        Stage("hold", 180.0, 9000.0, 9000.0),
    )


@pytest.mark.parametrize(
    ("name", "most", "keep_alive"),
    [("cengn", 9000, True), ("cengn-heavy", 20_000, True), ("cengn-no-keepalive", 9000, False)],
)
def test_the_campaigns_of_the_study_climb_alike(name: str, most: int, keep_alive: bool) -> None:
    asked = read(name)
    (load,) = asked.loads
    assert (load.peak_connections, load.keep_alive) == (most, keep_alive)
    assert [(stage.duration_s, stage.steps) for stage in load.stages] == [(240, 100), (180, 1)]
    assert asked.drivers == ("plimsoll",)
    assert read(name, "driver=jmeter").drivers == ("jmeter",)


def test_vapor_and_kitura_are_measured_as_the_article_did() -> None:
    asked = read("vapor-kitura")
    (load,) = asked.loads
    assert (asked.drivers, [one.name for one in asked.endpoints]) == (("wrk",), ["plaintext"])
    assert (load.threads, load.stages) == (4, (Stage("hold", 10.0, 8.0, 8.0),))


def test_juice_goes_from_1_connection_to_20_000_with_a_limit_of_two_seconds() -> None:
    asked = read("juice")
    levels = [load.peak_connections for load in asked.loads]
    assert (levels, levels[0], levels[-1]) == (sorted(levels), 1, 20_000)
    assert {load.timeout_s for load in asked.loads} == {2.0}
    assert [one.name for one in asked.endpoints] == ["fibonacci"]


def test_swiftly_is_asked_10_000_times_on_new_connections_on_all_cores_and_on_one() -> None:
    asked = read("swiftly")
    assert (asked.drivers, asked.repetitions) == (("ab",), 4)
    assert [load.server_cores for load in asked.loads] == [None, (0,)]
    for load in asked.loads:
        assert (load.request_limit, load.keep_alive) == (10_000, False)
        assert load.peak_connections == 250


@pytest.mark.parametrize("name", ["cengn", "cengn-heavy", "vapor-kitura", "juice", "swiftly"])
def test_a_campaign_of_an_experiment_has_its_figures_and_the_servers_that_they_are_of(
    name: str,
) -> None:
    asked = read(name)
    assert asked.published is not None
    here = document.read(asked.published.read_text("utf-8"), name).here
    asked_for = {one.reference for one in asked.frameworks}
    places = {place for subject in here.subjects if (place := here.everywhere(subject))}
    measured = {place.framework for place in places} & asked_for
    assert measured | {"reference", "python-http-server"} >= asked_for


def test_the_cross_check_is_by_every_driver_there_is() -> None:
    asked = read("cross-check")
    assert asked.drivers == tuple(driver.NAME for driver in DRIVERS)
    assert asked.drivers_optional
    (load,) = asked.loads
    assert [stage.kind for stage in load.stages] == ["warm_up", "hold"]


def test_cengn_scaled_in_time_keeps_its_connections() -> None:
    (load,) = read("cengn", "scale_time=0.05", "frameworks=reference,go,spring").loads
    assert load.duration_s == pytest.approx(21.0)
    assert load.peak_connections == 9000
