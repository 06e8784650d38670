"""Further blocks: which table gets the next one, and why none begins."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.campaign import as_run
from plimsoll.campaign.as_run import Document
from plimsoll.comparison import further_blocks
from plimsoll.comparison.comparisons import ComparedTrial, comparisons
from plimsoll.comparison.entry_comparison import of_table
from plimsoll.comparison.further_blocks import MOST, CampaignProgress, Rule, TableProgress
from plimsoll.plan import ComparedTable
from plimsoll.recording import Ending
from recordings import simulate

TRIAL = simulate(hold_s=1.0, warm_up_s=0, ramp_s=0)
RULE = Rule(0.05, 100.0)


def table(
    name: str, blocks: int, *widths: float, block_s: float = 5.0, spent_s: float | None = None
) -> TableProgress:
    undecided = tuple((f"server{place}", width) for place, width in enumerate(widths))
    spent_s = blocks * block_s if spent_s is None else spent_s
    return TableProgress(
        ComparedTable(name, "steady", "plimsoll"), blocks, undecided, spent_s, block_s
    )


def following(*tables: TableProgress, rule: Rule = RULE) -> str | None:
    found = CampaignProgress(rule, tables).following
    return found and found.table[0]


def test_the_table_with_the_fewest_blocks_is_next_then_the_widest() -> None:
    wide, narrow = table("wide", 2, 0.2), table("narrow", 2, 0.1)
    assert following(narrow, wide) == "wide"
    assert following(narrow, replace(wide, blocks=3)) == "narrow"
    assert following(narrow, table("first", 2, math.inf)) == "first"


def test_a_decided_table_gets_no_block() -> None:
    assert following(table("decided", 2), table("wide", 7, 0.06)) == "wide"
    done = CampaignProgress(RULE, (table("decided", 2), table("too", 3)))
    assert done.following is None
    assert done.end == "decided"


def test_a_block_begins_only_if_the_longest_of_its_table_fits() -> None:
    rule = Rule(0.05, 30.0)
    slow, fast = table("slow", 2, 0.2, block_s=8.0), table("fast", 2, 0.1, block_s=4.0)
    assert following(slow, fast, rule=rule) == "fast"
    assert CampaignProgress(rule, (slow, fast)).end is None
    spent = CampaignProgress(rule, (slow, replace(fast, blocks=3, spent_s=12.0)))
    assert (spent.following, spent.end) == (None, "budget")
    assert CampaignProgress(Rule(0.05, 40.0), spent.tables).following == slow


def test_without_a_budget_blocks_end_at_the_most() -> None:
    endless = Rule(0.05, math.inf)
    assert following(table("wide", MOST - 1, 0.2), rule=endless) == "wide"
    assert CampaignProgress(endless, (table("wide", MOST, 0.2),)).end == "most"


@given(
    st.lists(
        st.tuples(st.integers(2, 5), st.floats(0.5, 9), st.lists(st.floats(0.06, 1), max_size=3)),
        min_size=1,
        max_size=5,
    ),
    st.floats(1, 300),
)
def test_a_campaign_ends_within_its_budget_and_never_skips_a_table_that_fits(
    given_tables: list[tuple[int, float, list[float]]], budget_s: float
) -> None:
    tables = [
        table(str(number), blocks, *widths, block_s=block_s)
        for number, (blocks, block_s, widths) in enumerate(given_tables)
    ]
    begun_s = sum(one.spent_s for one in tables)
    rule = Rule(0.05, budget_s)
    while one := CampaignProgress(rule, tuple(tables)).following:
        more = replace(one, blocks=one.blocks + 1, spent_s=one.spent_s + one.block_s)
        tables[tables.index(one)] = more
        others = [
            other.blocks
            for other in tables
            if other.undecided and fits(other, tables, budget_s + one.block_s)
        ]
        assert one.blocks <= min(others, default=one.blocks), "one that fits exactly is not in it"
    assert CampaignProgress(rule, tuple(tables)).spent_s <= max(begun_s, budget_s) + 1e-9
    assert all(
        not fits(other, tables, budget_s) or other.blocks == MOST
        for other in tables
        if other.undecided
    )


def fits(one: TableProgress, tables: list[TableProgress], budget_s: float) -> bool:
    return sum(other.spent_s for other in tables) + one.block_s <= budget_s - 1e-9


def trial(
    framework: str, goodput: float, repetition: int, *, took_s: float = 3.0, is_void: bool = False
) -> ComparedTrial:
    recording = replace(TRIAL.recording, framework=framework, repetition=repetition, took_s=took_s)
    assert TRIAL.summary is not None
    return ComparedTrial(recording, replace(TRIAL.summary, goodput_per_s=goodput), is_void)


def stopped_early(trials: Sequence[ComparedTrial]) -> list[ComparedTrial]:
    return [replace(one, has_stopped_early=True) for one in trials]


def progress(*trials: ComparedTrial, rule: Rule = RULE) -> CampaignProgress:
    compared = comparisons(stopped_early(trials))
    return further_blocks.progress(rule, [one.recording for one in trials], of_table(compared))


def scattered(framework: str, level: float, scatter: float, blocks: int = 4) -> list[ComparedTrial]:
    signs = (1, -1, -1, 1)
    return [
        trial(framework, level * (1 + signs[block] * scatter), block + 1) for block in range(blocks)
    ]


def test_progress_is_that_of_the_recordings() -> None:
    found = progress(*scattered("go", 100.0, 0.0), *scattered("node", 50.0, 0.03))
    (one,) = found.tables
    assert one.table == ("2048", "steady", "plimsoll")
    assert one.blocks == 4
    assert (one.spent_s, one.block_s, found.spent_s) == (24.0, 6.0, 24.0)
    ((name, width),) = one.undecided
    assert name == "node"
    row = next(
        row
        for row in comparisons(
            stopped_early([*scattered("go", 100.0, 0.0), *scattered("node", 50.0, 0.03)])
        ).to_pylist()
        if row["framework"] == "node" and row["quantity"] == "goodput_per_s"
    )
    ends = row["ratio_to_best_low"], row["ratio_to_best_high"]
    assert row["ratio_to_best"] * (1 + width) == pytest.approx(ends[1])
    assert row["ratio_to_best"] / (1 + width) == pytest.approx(ends[0])


def test_narrow_intervals_decide_a_table() -> None:
    found = progress(*scattered("go", 100.0, 0.001), *scattered("node", 50.0, 0.001))
    assert found.end == "decided"


def test_one_block_has_no_interval_and_is_never_decided() -> None:
    found = progress(trial("go", 100.0, 1), trial("node", 50.0, 1))
    assert found.tables[0].undecided == (("node", math.inf),)
    assert found.following is not None


def test_who_is_void_is_measured_again_and_who_fails_holds_up_nobody() -> None:
    others = [*scattered("go", 9.0, 0.001), *scattered("node", 5.0, 0.001)]
    void = [trial("rails", 10.0, block, is_void=True) for block in range(1, 5)]
    assert progress(*others, *void).tables[0].undecided == (("rails", math.inf),)
    only = progress(*scattered("go", 9.0, 0.001), *void)
    assert only.tables[0].undecided == (("rails", math.inf),)
    dead = Ending("DiedUnderLoad", "it died")
    failing = [replace(one, recording=replace(one.recording, ending=dead)) for one in void]
    found = progress(*others, *failing)
    assert found.end == "decided"
    assert found.tables[0].spent_s == 36.0


def test_the_yardstick_is_not_waited_for() -> None:
    others = [*scattered("go", 9.0, 0.001), *scattered("node", 5.0, 0.001)]
    assert progress(*others, *scattered("reference", 90.0, 0.3)).end == "decided"
    void = [trial("reference", 90.0, block, is_void=True) for block in range(1, 5)]
    assert progress(*others, *void).end == "decided"


@pytest.mark.parametrize(
    ("document", "rule"),
    [
        (None, None),
        ({"repetitions": 3}, None),
        ({"until": 0.0, "budget_s": 0.0}, None),
        ({"until": 0.02, "budget_s": 0.0}, Rule(0.02, math.inf)),
        ({"until": 0.02, "budget_s": 60.0}, Rule(0.02, 60.0)),
    ],
)
def test_the_rule_is_that_of_the_campaign_as_run(
    document: Document | None, rule: Rule | None
) -> None:
    assert further_blocks.rule(as_run.read(document)) == rule


def test_intervals_of_a_campaign_that_stops_early_are_wider() -> None:
    trials = [*scattered("go", 100.0, 0.03), *scattered("node", 50.0, 0.02)]

    def width(trials: Sequence[ComparedTrial]) -> float:
        every = of_table(comparisons(trials))
        found = [further_blocks.half_width(one) for one in every if one.framework == "node"]
        return max(one for one in found if one is not None)

    assert width(stopped_early(trials)) > 1.1 * width(trials)
