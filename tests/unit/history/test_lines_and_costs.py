"""What a history keeps of campaigns of the kinds `line` and `ladder`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import ladders
import queues
import sample
from histories import noise
from plimsoll.campaign.as_run import CampaignAsRun
from plimsoll.campaign.line_settings import LineSettings
from plimsoll.findings.beyond import LimitingResource
from plimsoll.findings.findings import Findings
from plimsoll.findings.load_lines import EntryLines, LineFindings, Subject
from plimsoll.history.adding import kept
from plimsoll.history.kept import KeptCampaign, KeptEntry
from plimsoll.history.series import series
from plimsoll.load_line import campaign_search
from plimsoll.load_line.search import Found

SEARCHED = queues.searched_with()
LIMIT = SEARCHED.wanted.limits[0].text


def with_lines(*, full: str = "core", connections: int = 256) -> Findings:
    beyond = {"p99": LimitingResource(full, f"the {full} was full")}  # pyright: ignore[reportArgumentType]
    found = LineFindings(SEARCHED, Subject("go · json", "poisson", connections), beyond, {})
    lines = EntryLines("go", "json", False, found, None, problem="", goes_on=False)
    nothing = EntryLines("axum", "json", False, None, None, problem="ended", goes_on=False)
    return replace(sample.findings(), lines=(lines, nothing))


def of_load(campaign: KeptCampaign, load: str) -> list[KeptEntry]:
    return [one for one in campaign.entries if one.load == load]


def test_a_load_line_is_an_entry_whose_load_is_its_limit() -> None:
    (line,) = of_load(kept(with_lines()), LIMIT)
    edge = SEARCHED.lines[0].edge
    assert edge is not None
    assert (line.framework, line.endpoint, line.driver) == ("go", "json", "plimsoll")
    rate = line.estimates["line_rate_per_s"]
    ends = (edge.interval.low, edge.interval.high)
    assert (rate.value, (rate.low, rate.high)) == (edge.rate_per_s, ends)
    assert line.repetitions == len(SEARCHED.tries)
    assert line.line == "found"


def test_a_line_of_the_load_generator_is_void_and_has_no_number() -> None:
    (line,) = of_load(kept(with_lines(full="driver")), LIMIT)
    assert (line.level, line.estimates, line.repetitions) == ("void", {}, 0)
    assert line.line == "load_generator"


@pytest.mark.parametrize("state", ["below", "above", "open"])
def test_a_line_that_was_not_found_says_how_its_search_ended(state: Found) -> None:
    line = replace(SEARCHED.lines[0], state=state, edge=None, held_per_s=None, inside_per_s=None)
    searched = replace(SEARCHED, lines=(line,))
    found = LineFindings(searched, Subject("go · json", "poisson", 256), {}, {})
    lines = EntryLines("go", "json", False, found, None, problem="", goes_on=False)
    (entry,) = of_load(kept(replace(sample.findings(), lines=(lines,))), LIMIT)
    assert (entry.line, entry.estimates, entry.repetitions) == (state, {}, 0)


def test_a_line_of_which_no_rate_was_tried_is_missing_in_its_series() -> None:
    wanted = LineSettings(p99_s=0.02, p50_s=0.005, connections=64)
    goal = campaign_search.goal(wanted)
    lines = tuple(replace(SEARCHED.lines[0], limit=limit) for limit in goal.limits)
    searched = replace(SEARCHED, wanted=goal, lines=lines)
    found = LineFindings(searched, Subject("go · json", wanted.arrivals, 64), {}, {})
    as_run = CampaignAsRun({}, line=wanted)
    before, after = (
        replace(
            sample.findings(),
            lines=(EntryLines("go", "json", False, each, None, problem="", goes_on=False),),
            as_run=as_run,
        )
        for each in (found, None)
    )
    day, next_day = kept(before), kept(after)
    for limit in goal.limits:
        (found_one,), (untried,) = of_load(day, limit.text), of_load(next_day, limit.text)
        assert (untried.name, untried.load_id) == (found_one.name, found_one.load_id)
        assert (untried.line, untried.level, untried.estimates) == ("untried", "void", {})
    for one in series([day, next_day], ["line_rate_per_s"]):
        missing = one.recently_missing(5)
        assert missing is not None
        assert missing.entry.line == "untried"


def test_lines_of_other_conditions_are_another_load() -> None:
    (one,), (same,), (other,) = (
        of_load(kept(found), LIMIT)
        for found in (with_lines(), with_lines(), with_lines(connections=64))
    )
    assert one.load_id == same.load_id != other.load_id


@pytest.mark.parametrize(("place", "cost_s", "full"), [(0, 100e-6, 0), (1, 250e-6, 1)])
def test_a_ladder_is_an_entry_with_what_each_request_adds(
    place: int, cost_s: float, full: int
) -> None:
    ladder = replace(ladders.ranking().places[place].ladder, framework="go")
    (entry,) = of_load(kept(replace(sample.findings(), ladders=(ladder,))), "ladder")
    assert entry.framework == "go"
    assert entry.estimates["server_cpu_s_per_request"].value == pytest.approx(cost_s)
    assert (entry.repetitions, entry.excluded) == (len(ladder.steps) - full, full)


def of_ladder(**changes: Any) -> KeptEntry:
    """The entry of a ladder whose campaign asked for something else."""
    ladder = replace(ladders.ranking().places[0].ladder, framework="go")
    as_run = CampaignAsRun({}, ladder=replace(ladders.LADDER, **changes))
    (entry,) = of_load(kept(replace(sample.findings(), ladders=(ladder,), as_run=as_run)), "ladder")
    return entry


@pytest.mark.parametrize(
    "changes",
    [
        {"connections": 512},
        {"arrivals": "constant"},
        {"hold_s": 60.0},
        {"warm_up_s": 5.0},
        {"shares": (0.1, 0.2)},
        {"shares": (), "rates": (100.0, 200.0)},
    ],
)
def test_ladders_of_other_conditions_are_another_load(changes: dict[str, Any]) -> None:
    assert of_ladder().load_id == of_ladder().load_id != of_ladder(**changes).load_id


def test_other_campaigns_keep_what_they_kept() -> None:
    plain = kept(sample.findings())
    assert {"ladder", LIMIT}.isdisjoint(one.load for one in plain.entries)
    assert kept(with_lines()).entries[: len(plain.entries)] == plain.entries


@pytest.mark.parametrize(("after", "is_worse"), [(900.0, True), (1100.0, False)])
def test_a_fall_of_a_line_is_a_loss(after: float, *, is_worse: bool) -> None:
    campaign = kept(with_lines())
    rates = [*noise(12, 1), *noise(8, 2, after)]
    (found,) = series(
        [at_rate(campaign, rate, day) for day, rate in enumerate(rates)], ["line_rate_per_s"]
    )
    assert [one.is_worse for one in found.changes] == [is_worse]


def at_rate(campaign: KeptCampaign, rate_per_s: float, day: int) -> KeptCampaign:
    """The campaign with another rate of its line, on another day."""
    entries = tuple(
        one.model_copy(
            update={
                "estimates": {
                    name: number.model_copy(update={"value": rate_per_s})
                    for name, number in one.estimates.items()
                }
            }
        )
        for one in campaign.entries
    )
    return campaign.model_copy(update={"entries": entries, "results_id": f"{day}"})
