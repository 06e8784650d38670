from dataclasses import replace

import pytest

from plimsoll import tables
from plimsoll.aggregate.comparisons import (
    QUANTITIES,
    Repetition,
    comparisons,
    is_ahead,
    rank_ranges,
)
from recordings import simulate

TRIAL = simulate(hold_s=1.0, warm_up_s=0, ramp_s=0)


def repetition(framework, goodput, is_void=False, **more):
    recording = replace(TRIAL.recording, framework=framework, **more)
    summary = None if goodput is None else TRIAL.summary | {"goodput_per_s": goodput}
    return Repetition(recording, summary, is_void)


def goodput_rows(*repetitions):
    rows = comparisons(repetitions).to_pylist()
    return {row["framework"]: row for row in rows if row["quantity"] == "goodput_per_s"}


def test_comparisons_follow_the_dictionary():
    table = comparisons([repetition("go", 10.0)])
    assert table.schema == tables.COMPARISONS.schema
    assert table["quantity"].to_pylist() == list(QUANTITIES)
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
    rows = goodput_rows(repetition("go", 9.0, is_void=True), repetition("node", 5.0))
    assert rows["go"]["median"] is None
    assert rows["go"]["rank_low"] is None
    assert (rows["node"]["rank_low"], rows["node"]["rank_high"]) == (1, 1)


def test_frameworks_are_ranked_within_their_endpoint_and_load():
    rows = comparisons(
        [
            repetition(name, value + n, endpoint=endpoint)
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
    rows = comparisons([repetition("go", 9.0)]).to_pylist()
    assert {row["quantity"] for row in rows if row["rank_low"]} == {
        "goodput_per_s",
        "throughput_per_s",
    }


def test_a_variant_is_a_framework_of_its_own():
    rows = goodput_rows(repetition("go", 9.0), repetition("go", 5.0, variant="one-core"))
    assert set(rows) == {"go", "go one-core"}


@pytest.mark.parametrize(
    ("one", "other", "ahead"),
    [
        ([200.0, 201, 199], [100.0, 101, 99], True),
        ([100.0, 101, 99], [200.0, 201, 199], False),
        ([101.0, 101.01, 100.99], [100.0, 100.01, 99.99], False),  # surely, but by 1 % only
        ([200.0, 100, 150], [140.0, 90, 120], False),  # more, but not surely
        ([200.0], [100.0], False),
        ([200.0, 200], [100.0], False),
        ([5.0, 6.0], [0.0, 0.0], True),
        ([0.0, 6.0], [0.0, 0.0], False),
    ],
)
def test_one_is_ahead_only_surely_and_by_more_than_the_threshold(one, other, ahead):
    assert is_ahead(one, other) is ahead


def test_ranks_of_a_tie_are_a_range():
    values = [[300.0, 301, 299], [200.0, 201, 199], [200.5, 201, 199.5], [100.0, 101, 99], []]
    assert rank_ranges(values) == [(1, 1), (2, 3), (2, 3), (4, 4), None]


def test_with_one_repetition_each_nobody_has_a_rank_of_their_own():
    assert rank_ranges([[300.0], [200.0]]) == [(1, 2), (1, 2)]
