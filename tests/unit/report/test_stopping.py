"""Why a campaign with `until` stopped, in words."""

from __future__ import annotations

import math

from plimsoll.comparison.further_blocks import MOST, CampaignProgress, Rule, TableProgress
from plimsoll.plan import ComparedTable
from plimsoll.report.contents import stopping


def table(
    name: str, blocks: int, *undecided: tuple[str, float], block_s: float = 5.0
) -> TableProgress:
    table = ComparedTable(name, "steady", "plimsoll")
    return TableProgress(table, blocks, undecided, blocks * block_s, block_s)


def test_a_decided_campaign_says_so_with_its_blocks() -> None:
    found = CampaignProgress(Rule(0.05, 60.0), (table("2048", 2), table("json", 4)))
    text = stopping.of_campaign(found)
    assert text == "Stopped after 2 to 4 blocks: all intervals are within ±5 %."
    assert stopping.of_table(found, table("json", 4).table) == (
        "4 blocks: all intervals are within ±5 %"
    )


def test_a_spent_budget_names_what_is_still_open_the_widest_first() -> None:
    found = CampaignProgress(
        Rule(0.05, 22.0), (table("2048", 2, ("node", 0.06)), table("json", 2, ("go", 0.08)))
    )
    assert stopping.of_campaign(found) == (
        "Stopped after 2 blocks: budget of 22 s spent; still go/json ±8 %, node/2048 ±6 % instead "
        "of ±5 %. A greater `budget` continues."
    )
    assert stopping.of_table(found, found.tables[0].table) == (
        "2 blocks: still node ±6 % instead of ±5 %"
    )


def test_what_tells_no_tables_apart_is_not_named() -> None:
    other = TableProgress(ComparedTable("json", "heavy", "plimsoll"), 2, (("go", 0.08),), 10.0, 5.0)
    found = CampaignProgress(Rule(0.05, 22.0), (table("json", 2), other))
    assert "still go/json/heavy ±8 % instead" in stopping.of_campaign(found)


def test_the_most_blocks_and_a_campaign_under_way_have_their_own_words() -> None:
    most = CampaignProgress(Rule(0.05, math.inf), (table("json", MOST, ("go", 0.08)),))
    assert stopping.of_campaign(most).startswith(
        f"Stopped after {MOST} blocks, the maximum: still go"
    )
    going = CampaignProgress(Rule(0.05, 60.0), (table("json", 1, ("go", math.inf)),))
    assert stopping.of_campaign(going).startswith("Not finished: go/json without interval. Run")


def test_nothing_measured_is_nothing_said() -> None:
    nothing = CampaignProgress(Rule(0.05, 60.0), ())
    assert stopping.of_campaign(nothing) == ""
    assert stopping.of_table(nothing, ComparedTable("json", "steady", "plimsoll")) == ""
