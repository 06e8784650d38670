import math
from dataclasses import replace

import pytest

import sample
from plimsoll import tables
from plimsoll.comparison.comparisons import (
    JOULES,
    LESS_IS_BETTER,
    MORE_IS_BETTER,
    QUANTITIES,
    ComparedTrial,
    comparisons,
)
from plimsoll.comparison.entry_comparison import of_table
from plimsoll.comparison.further_blocks import half_width
from recordings import simulate

TRIAL = simulate(hold_s=1.0, warm_up_s=0, ramp_s=0)


def repetition(framework, goodput, is_void=False, **more):
    recording = replace(TRIAL.recording, framework=framework, **more)
    summary = None if goodput is None else replace(TRIAL.summary, goodput_per_s=goodput)
    return ComparedTrial(recording, summary, is_void)


def goodput_rows(*repetitions):
    rows = comparisons(repetitions).to_pylist()
    return {row["framework"]: row for row in rows if row["quantity"] == "goodput_per_s"}


def test_comparisons_follow_the_dictionary():
    table = comparisons([repetition("go", 10.0)])
    assert table.schema == tables.COMPARISONS.schema
    assert table["quantity"].to_pylist() == [one for one in QUANTITIES if one not in JOULES]
    assert set(QUANTITIES) <= set(tables.SUMMARIES.schema.names)


def test_the_median_counts_never_the_best():
    row = goodput_rows(*(repetition("go", value) for value in (90.0, 100.0, 500.0)))["go"]
    assert row["median"] == 100.0
    assert row["low"] < 100 < row["high"]
    assert (row["repetitions"], row["excluded"]) == (3, 0)


def test_void_repetitions_and_those_without_a_recording_are_left_out_and_counted():
    row = goodput_rows(
        repetition("go", 100.0), repetition("go", 900.0, is_void=True), repetition("go", None)
    )["go"]
    assert (row["median"], row["repetitions"], row["excluded"]) == (100.0, 1, 2)
    assert row["low"] is None


def test_a_framework_whose_repetitions_are_all_void_has_no_rank():
    void = repetition("go", 9.0, is_void=True)
    rows = goodput_rows(void, repetition("node", 5.0), repetition("rails", 5.0))
    assert rows["go"]["median"] is None
    assert rows["go"]["rank_low"] is None
    assert (rows["node"]["rank_low"], rows["node"]["rank_high"]) == (1, 2)


def test_who_is_alone_has_a_number_and_no_rank():
    rows = goodput_rows(repetition("go", 9.0, is_void=True), repetition("node", 5.0))
    assert rows["node"]["median"] == 5.0
    alone = ("rank_low", "rank_high", "best_framework", "ratio_to_best", "ratio_to_next")
    assert [rows["node"][name] for name in alone] == [None] * len(alone)


def test_frameworks_are_ranked_within_their_endpoint_and_load():
    rows = comparisons(
        [
            repetition(name, value + n, endpoint=endpoint, repetition=n)
            for endpoint in ("2048", "json")
            for name, value in (("go", 100.0), ("node", 50.0))
            for n in range(3)
        ]
    ).to_pylist()
    ranks = {
        (row["endpoint"], row["framework"]): (row["rank_low"], row["rank_high"])
        for row in rows
        if row["quantity"] == "goodput_per_s"
    }
    assert ranks["json", "go"] == ranks["2048", "go"] == (1, 1)
    assert ranks["json", "node"] == (2, 2)


def test_only_throughput_and_goodput_rank():
    rows = comparisons([repetition("go", 9.0), repetition("node", 5.0)]).to_pylist()
    assert {row["quantity"] for row in rows if row["rank_low"]} == {
        "goodput_per_s",
        "throughput_per_s",
    }


def test_a_variant_is_a_framework_of_its_own():
    rows = goodput_rows(repetition("go", 9.0), repetition("go", 5.0, variant="one-core"))
    assert set(rows) == {"go", "go one-core"}


def blocks(framework, *goodputs, **more):
    """Repetitions of one framework, in blocks 1, 2 and so on."""
    return [
        repetition(framework, goodput, repetition=block, **more)
        for block, goodput in enumerate(goodputs, 1)
    ]


def test_each_has_its_ratio_to_the_best_and_to_the_next():
    rows = goodput_rows(
        *blocks("go", 100.0, 101, 99), *blocks("node", 50.0, 50, 51), *blocks("php", 10.0, 10, 10)
    )
    assert [rows[name]["best_framework"] for name in ("go", "node", "php")] == ["go"] * 3
    assert (rows["go"]["next_framework"], rows["node"]["next_framework"]) == ("node", "php")
    assert rows["php"]["next_framework"] is rows["php"]["ratio_to_next"] is None
    assert rows["go"]["ratio_to_best"] == 1
    assert rows["node"]["ratio_to_best"] == pytest.approx(0.5, rel=0.02)
    assert rows["node"]["ratio_to_best_low"] < 0.5 < rows["node"]["ratio_to_best_high"]
    assert rows["go"]["ratio_to_next"] == pytest.approx(1 / rows["node"]["ratio_to_best"])
    assert 1.8 < rows["go"]["ratio_to_next_low"] < rows["go"]["ratio_to_next_high"] < 2.2
    assert 0 < rows["go"]["scatter_ratio"] < 0.03


def test_of_a_time_the_least_is_the_best_and_a_share_ranks_nobody():
    rows = comparisons(
        [
            replace(
                one,
                summary=sample.changed(one.summary, response_time_p99_ns=time, failure_ratio=0.1),
            )
            for name, time in (("go", 2e6), ("node", 3e6))
            for one in blocks(name, 100.0, 101.0, 99.0)
        ]
    ).to_pylist()
    found = {(row["framework"], row["quantity"]): row for row in rows}
    slow = found["node", "response_time_p99_ns"]
    assert (slow["best_framework"], slow["ratio_to_best"]) == ("go", pytest.approx(1.5))
    assert found["go", "response_time_p99_ns"]["ratio_to_next"] == pytest.approx(1 / 1.5)
    assert found["go", "response_time_p99_ns"]["rank_low"] is None
    assert found["go", "failure_ratio"]["ratio_to_best"] is None
    assert set(MORE_IS_BETTER) & set(LESS_IS_BETTER) == set()
    assert set(MORE_IS_BETTER) | set(LESS_IS_BETTER) <= set(QUANTITIES)


def test_a_drift_of_the_machine_between_blocks_is_no_scatter_of_the_frameworks():
    drift = (1.0, 1.3, 0.8, 1.1)
    rows = goodput_rows(
        *blocks("go", *(100 * d * e for d, e in zip(drift, (1.0, 1.01, 0.99, 1.0), strict=True))),
        *blocks("node", *(90 * d * e for d, e in zip(drift, (1.01, 1.0, 1.0, 0.99), strict=True))),
    )
    assert (rows["go"]["rank_low"], rows["go"]["rank_high"]) == (1, 1)
    assert rows["node"]["scatter_ratio"] < 0.02


@pytest.mark.parametrize("has_stopped_early", [False, True])
def test_a_table_in_which_one_was_repeated_and_collapsed_has_ratios_without_intervals(
    has_stopped_early,
):
    """With a single degree of freedom the ends of the intervals are beyond what a float holds."""
    once = [one for place in range(9) for one in blocks(f"other-{place}", 20_000.0 + place)]
    trials = [*blocks("go", 30_000.0, 30.0), *once]
    table = comparisons([replace(one, has_stopped_early=has_stopped_early) for one in trials])
    rows = [row for row in table.to_pylist() if row["quantity"] == "goodput_per_s"]
    assert {(row["rank_low"], row["rank_high"]) for row in rows} == {(1, 10)}
    assert {row["best_framework"] for row in rows} == {"other-8"}
    assert all(0.04 < row["ratio_to_best"] <= 1 for row in rows)
    ends = {
        row[f"ratio_to_{to}_{end}"]
        for row in rows
        for to in ("best", "next")
        for end in ("low", "high")
    }
    assert ends == {None}
    compared = [one for one in of_table(table) if one.quantity == "goodput_per_s"]
    assert [half_width(one) for one in compared].count(math.inf) == 9
