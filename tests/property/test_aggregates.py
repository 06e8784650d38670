"""Seconds and summaries against numpy, and whatever the order of the rows."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import some
from plimsoll.aggregate import query
from plimsoll.aggregate.outcomes import UNENDED
from plimsoll.aggregate.percentiles import percentiles
from plimsoll.aggregate.summaries import summary
from plimsoll.statistics.comparison import compared
from plimsoll.statistics.intervals import interval
from plimsoll.statistics.quantiles import QUANTILES, enough
from recordings import request_rows, seconds, simulate

S = 1_000_000_000
RECORDING = simulate(warm_up_s=1.0, ramp_s=0, hold_s=2.0).recording
COMPLETE = ("ok", "wrong_status", "wrong_length", "wrong_body")
OUTCOMES = (*COMPLETE, "reset_waiting", "timed_out_waiting", "connect_refused")

instants = st.integers(0, 3 * S + S // 2)
slow = some(10)


@st.composite
def requests(draw):
    """One request, ended or not, with instants in order."""
    due, sent, first, done = sorted(draw(st.lists(instants, min_size=4, max_size=4)))
    outcome = draw(st.sampled_from((*OUTCOMES, "unfinished", "not_sent", "cancelled")))
    row = {"due_ns": due, "outcome": outcome, "received_bytes": draw(st.integers(0, 9999))}
    if outcome in COMPLETE:
        return row | {"sent_ns": sent, "first_byte_ns": first, "done_ns": done}
    if outcome in ("not_sent", "cancelled"):
        return row | {"received_bytes": 0}
    if outcome == "unfinished":
        return row | {"sent_ns": sent}
    return row | {"sent_ns": sent, "done_ns": done}


many = st.lists(requests(), max_size=120)


@slow
@given(
    st.lists(st.one_of(st.integers(0, 300_000), st.integers(0, 10**10)), min_size=1, max_size=3000),
    st.integers(1, 8),
)
def test_percentiles_are_numpys_by_the_inverse_of_the_distribution(values, times):
    values = values * times
    with query.opened() as database:
        database.register("given", pa.table({"x": pa.array(values, pa.int64())}))
        found = percentiles(database, "x", "given")
        listed = list(QUANTILES.values())
        discrete = database.execute("SELECT quantile_disc(x, $q) FROM given", {"q": listed})
        discrete = discrete.fetchall()[0][0]
    for (name, quantile), same in zip(QUANTILES.items(), discrete, strict=True):
        if enough(len(values), quantile):
            assert found[name] == np.quantile(values, quantile, method="inverted_cdf") == same
        else:
            assert found[name] is None


@slow
@given(many)
def test_seconds_add_up_to_the_rows(rows):
    table = seconds(RECORDING, request_rows(*rows), None)
    ended = [row for row in rows if row["outcome"] not in UNENDED]
    assert sum(table["due"].to_pylist()) == len(rows)
    assert sum(table["completed"].to_pylist()) == sum(r["outcome"] in COMPLETE for r in rows)
    assert sum(table["ok"].to_pylist()) == sum(row["outcome"] == "ok" for row in rows)
    assert sum(table["failed"].to_pylist()) == sum(row["outcome"] != "ok" for row in ended)
    assert sum(table["received_bytes"].to_pylist()) == sum(r["received_bytes"] for r in ended)
    assert table["second"].to_pylist() == list(range(len(table)))


@slow
@given(many)
def test_the_seconds_of_the_hold_add_up_to_its_summary(rows):
    table = seconds(RECORDING, request_rows(*rows), None).to_pylist()
    found = summary(RECORDING, request_rows(*rows), None, None)
    held = [row for row in table if row["stage"] == "hold"]
    for name in ("completed", "ok", "failed"):
        assert sum(row[name] for row in held) == found.value(name)
    most = max((row["response_time_max_ns"] or 0 for row in held), default=0)
    assert most == (found.response_time.max_ns or 0)


@slow
@given(many, st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(rows, order):
    shuffled = list(rows)
    order.shuffle(shuffled)
    one, other = request_rows(*rows), request_rows(*shuffled)
    assert seconds(RECORDING, one, None) == seconds(RECORDING, other, None)
    assert summary(RECORDING, one, None, None) == summary(RECORDING, other, None, None)


observations = st.tuples(st.integers(1, 4), st.one_of(st.just(0.0), st.floats(1, 1e6)))
entries_of_a_table = st.lists(st.lists(observations, max_size=5), max_size=6)


@slow
@given(entries_of_a_table)
def test_ranks_are_ranges_within_those_that_have_numbers(entries):
    running = sum(bool(found) for found in entries)
    for found, ranks in zip(entries, compared(entries).rank_ranges(), strict=True):
        if not found:
            assert ranks is None
        else:
            assert ranks is not None
            assert 1 <= ranks[0] <= ranks[1] <= running


@slow
@given(entries_of_a_table)
def test_who_is_ahead_of_one_that_is_ahead_of_a_third_is_ahead_of_the_third(entries):
    found, places = compared(entries), range(len(entries))
    ahead = {(one, other) for one in places for other in places if found.is_ahead(one, other)}
    assert not any(one == other for one, other in ahead)
    assert all(
        (one, third) in ahead
        for one, other in ahead
        for next_one, third in ahead
        if other == next_one
    )


@slow
@given(entries_of_a_table, st.sampled_from([0.25, 2, 4]))
def test_a_table_in_another_unit_has_the_same_ratios(entries, factor):
    scaled = [[(block, value * factor) for block, value in found] for found in entries]
    one, other = compared(entries), compared(scaled)
    assert one.rank_ranges() == other.rank_ranges()
    for place in range(len(entries)):
        before, after = one.ratio(place, 0), other.ratio(place, 0)
        assert (before is None) == (after is None)
        if before is not None and after is not None:
            assert after.value == pytest.approx(before.value, rel=1e-6)


@some(20)
@given(st.lists(st.floats(1, 1e6), min_size=2, max_size=10), st.sampled_from([0.25, 0.5, 2, 4]))
def test_an_interval_scales_with_its_values(values, factor):
    one, other = interval(values), interval([value * factor for value in values])
    assert one is not None
    assert other is not None
    assert one.low <= one.high
    assert other.low == pytest.approx(one.low * factor, rel=1e-6)
    assert other.high == pytest.approx(one.high * factor, rel=1e-6)
