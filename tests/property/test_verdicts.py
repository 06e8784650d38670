"""Making a recording worse never improves its verdict."""

from dataclasses import replace
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from hypothesis import given
from hypothesis import strategies as st

from examples import some
from plimsoll.aggregate.engine_records import as_stored
from plimsoll.verdicts.judge import judge
from plimsoll.verdicts.levels import of_trial
from plimsoll.verdicts.verdict import TRIAL_LEVELS
from recordings import as_mix, as_open, simulate

slow = some(5)

BASES = [
    simulate(hold_s=2.0, ramp_s=0, **options)
    for options in (
        {},
        {"failures": {"reset_waiting": 0.02}},
        {"failures": {"wrong_body": 0.005}, "lag_ns": 1_000_000},
        {"failures": {"timed_out_waiting": 0.06}},
        {"starved": 1},
        {"missing": 1},
        {"overflows": 5, "overflow_stage": "warm_up"},
        {"driver_busy": 0.85, "workers": 2},
        {"server_busy": 0.4, "driver_busy": 0.3},
    )
]
BASES += [as_open(BASES[0], 1995.0), as_mix(BASES[0], 0.25), as_open(BASES[5], 1900.0)]
bases = st.sampled_from(BASES)


@cache
def level_of(number):
    return of_trial(judge(BASES[number]))


def is_no_better(base, worse):
    (number,) = (number for number, one in enumerate(BASES) if one is base)
    return TRIAL_LEVELS.index(of_trial(judge(worse))) >= TRIAL_LEVELS.index(level_of(number))


def mask(rows, share, seed):
    return pa.array(np.random.default_rng(seed).random(len(rows)) < share)


def with_column(table, name, values):
    index = table.schema.get_field_index(name)
    return table.set_column(index, table.schema.field(index), values.cast(table.schema[index].type))


def scaled(trial, quantity, factor):
    readings = trial.readings
    chosen = pc.equal(readings["quantity"].cast(pa.string()), quantity)
    values = pc.if_else(chosen, pc.multiply(readings["value"], factor), readings["value"])
    return replace(trial, readings=with_column(readings, "value", values))


@slow
@given(bases, st.floats(0.0005, 1), st.integers(0, 99))
def test_dropping_rows_never_improves_the_verdict(base, share, seed):
    kept = base.requests.filter(pc.invert(mask(base.requests, share, seed)))
    worse = replace(base, requests=kept)
    assert is_no_better(base, worse)
    assert len(kept) == len(base.requests) or of_trial(judge(worse)) == "void"


@slow
@given(
    bases,
    st.sampled_from(["ok", "wrong_status", "reset_waiting", "timed_out_waiting", "nonsense"]),
    st.floats(0.0005, 1),
    st.integers(0, 99),
)
def test_swapping_outcomes_never_improves_the_verdict(base, name, share, seed):
    outcomes = base.requests["outcome"].cast(pa.string())
    chosen = mask(base.requests, share, seed)
    swapped = with_column(base.requests, "outcome", pc.if_else(chosen, name, outcomes))
    assert is_no_better(base, replace(base, requests=swapped))


@slow
@given(bases, st.integers(1_000, 20_000_000))
def test_adding_lag_never_improves_the_verdict(base, lag_ns):
    sent = pc.add(base.requests["sent_ns"], lag_ns)
    latest = pc.coalesce(base.requests["first_byte_ns"], base.requests["done_ns"], sent)
    sent = pc.min_element_wise(sent, latest, skip_nulls=False)
    late = with_column(base.requests, "sent_ns", sent)
    assert is_no_better(base, replace(base, requests=late))


@slow
@given(bases, st.floats(0, 1))
def test_fewer_requests_in_flight_never_improve_the_verdict(base, factor):
    assert is_no_better(base, scaled(base, "in_flight_mean", factor))


@slow
@given(bases, st.floats(0, 1))
def test_fewer_open_connections_never_improve_the_verdict(base, factor):
    assert is_no_better(base, scaled(base, "connections_open", factor))


@slow
@given(bases, st.floats(1, 3))
def test_a_busier_driver_never_improves_the_verdict(base, factor):
    assert is_no_better(base, scaled(base, "core1_busy_s", factor))


@slow
@given(st.floats(0, 1), st.integers(0, 99))
def test_swapping_kinds_of_request_never_improves_the_verdict(share, seed):
    base = as_mix(BASES[0], 0.25)
    requests = as_stored(base.requests)
    assert requests is not None
    kinds = requests["request"]
    swapped = pc.if_else(mask(base.requests, share, seed), pa.scalar(1, kinds.type), kinds)
    worse = replace(base, requests=with_column(base.requests, "request", swapped))
    assert TRIAL_LEVELS.index(of_trial(judge(worse))) >= TRIAL_LEVELS.index(of_trial(judge(base)))


@slow
@given(bases, st.floats(0.01, 0.9))
def test_clipping_times_never_improves_the_verdict(base, ratio):
    rows = base.requests
    spent = pc.subtract(rows["done_ns"], rows["sent_ns"])
    least = pc.cast(pc.multiply(pc.cast(spent, pa.float64()), ratio), pa.int64(), safe=False)
    done = pc.coalesce(pc.add(rows["sent_ns"], least), rows["done_ns"])
    first = pc.if_else(pc.is_valid(rows["first_byte_ns"]), done, rows["first_byte_ns"])
    clipped = with_column(with_column(rows, "done_ns", done), "first_byte_ns", first)
    assert is_no_better(base, replace(base, requests=clipped))


WORSE = {
    "tcp_retransmits": 1e4,
    "swapped_pages": 1e4,
    "cgroup_throttled_s": 1e3,
    "round_trip_min_s": 1e5,
    "tcp_passive_opens": 0.5,
    "network_received_bytes": 0.5,
    "connections_established": 0.5,
    "open_files_ratio": 9.9,
}


@slow
@given(bases, st.sampled_from(sorted(WORSE)), st.floats(0, 1))
def test_a_worse_reading_of_the_kernel_never_improves_the_verdict(base, quantity, how_far):
    factor = 1 + (WORSE[quantity] - 1) * how_far
    assert is_no_better(base, scaled(base, quantity, factor))


@slow
@given(bases, st.floats(1, 50))
def test_more_overflows_never_improve_the_verdict(base, factor):
    assert is_no_better(base, scaled(base, "listen_overflows", factor))


@slow
@given(bases, st.sampled_from(["in_flight_mean", "connections_open", "listen_overflows"]))
def test_what_is_no_longer_read_never_improves_a_verdict_of_a_sound_trial(base, quantity):
    readings = base.readings
    gone = pc.equal(readings["quantity"].cast(pa.string()), quantity)
    assert is_no_better(base, replace(base, readings=readings.filter(pc.invert(gone))))


@slow
@given(bases, st.integers(0, 99))
def test_the_order_of_rows_changes_no_verdict(base, seed):
    def shuffled(table):
        return table.take(pa.array(np.random.default_rng(seed).permutation(len(table))))

    other = replace(
        base,
        requests=shuffled(base.requests),
        connections=shuffled(base.connections),
        readings=shuffled(base.readings),
    )
    told = [(verdict.level, verdict.text) for verdict in judge(base)]
    assert [(verdict.level, verdict.text) for verdict in judge(other)] == told


def of_a_server_that_counts(trial, factor=1.0):
    """The same trial of a server that counts itself, a share of what it really did."""
    driver, server = trial.recording.driver, trial.recording.server
    own = {
        "requests_received": round((driver.sent + 40) * factor),
        "responses_sent": round((driver.outcomes["ok"] + 40) * factor),
        "sent_bytes": round(sum(kind.received_bytes for kind in trial.kind_counts) * factor),
    }
    recording = replace(trial.recording, server=replace(server, counted=own))
    return replace(trial, recording=recording)


@slow
@given(st.one_of(st.floats(0, 1), st.floats(1, 9)))
def test_a_server_that_counted_other_numbers_never_improves_the_verdict(factor):
    base = of_a_server_that_counts(BASES[0])
    worse = of_a_server_that_counts(BASES[0], factor)
    assert TRIAL_LEVELS.index(of_trial(judge(worse))) >= TRIAL_LEVELS.index(of_trial(judge(base)))
