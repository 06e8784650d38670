"""Interval logs, read back with the library that Python has for them."""

import contextlib
import dataclasses
from collections import defaultdict

import pytest
from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader

from plimsoll.aggregate.trial import Tables
from plimsoll.export import histogram, hlog
from recordings import as_mix, request_rows, simulate

S = 1_000_000_000
MS = 1_000_000
PRECISION = 1e-3


def intervals(path):
    """Every interval of a log."""
    reference = HdrHistogram(1, histogram.HIGHEST_NS, histogram.SIGNIFICANT_DIGITS)
    with contextlib.closing(HistogramLogReader(str(path), reference)) as reader:
        return list(iter(reader.get_next_interval_histogram, None))


def by_second(of_trial, begin):
    """The times of the complete answers of each second, ascending."""
    found = defaultdict(list)
    for row in of_trial.requests.to_pylist():
        if row["outcome"] in ("ok", "wrong_status"):
            found[row["done_ns"] // S].append(row["done_ns"] - row[begin])
    return {second: sorted(times) for second, times in found.items()}


def ranked(times, quantile):
    """The one of ascending times that the library calls a quantile."""
    return times[max(int(quantile * len(times) + 0.5), 1) - 1]


@pytest.mark.parametrize(("time", "begin"), hlog.BEGINS.items())
def test_percentiles_are_those_of_the_rows_within_the_precision_of_a_histogram(
    tmp_path, time, begin
):
    of_trial = simulate(failures={"wrong_status": 0.05, "reset_waiting": 0.05}, lag_ns=700_000)
    assert hlog.write(of_trial, tmp_path) == ()
    found = intervals(tmp_path / f"{time}.hlog")
    assert [one.get_total_count() for one in found] == of_trial.seconds["completed"].to_pylist()
    times = by_second(of_trial, begin)
    for second, one in enumerate(found):
        for quantile in (0.25, 0.5, 0.75, 0.95, 0.99, 1.0):
            told = one.get_value_at_percentile(100 * quantile)
            assert told == pytest.approx(ranked(times[second], quantile), rel=PRECISION)


def test_intervals_stand_at_the_wall_clock_of_the_trial(tmp_path):
    of_trial = simulate()
    of_trial = dataclasses.replace(
        of_trial,
        recording=dataclasses.replace(of_trial.recording, zero_utc="2026-01-02T03:04:05.678999Z"),
    )
    hlog.write(of_trial, tmp_path)
    starts = [one.get_start_time_stamp() for one in intervals(tmp_path / "service_time.hlog")]
    assert starts[:2] == pytest.approx([1767323045678, 1767323046678])


def test_each_kind_of_request_has_a_tag_in_every_second(tmp_path):
    of_trial = as_mix(simulate(), 0.7)
    hlog.write(of_trial, tmp_path)
    found = intervals(tmp_path / "service_time.hlog")
    tags = [hlog.tag(kind) for kind in of_trial.recording.requests]
    assert [one.get_tag() for one in found] == tags * of_trial.seconds.num_rows
    assert sum(one.get_total_count() for one in found) == sum(
        of_trial.seconds["completed"].to_pylist()
    )


def test_a_second_in_which_nothing_was_answered_is_an_empty_histogram(tmp_path):
    rows = [{"due_ns": s, "sent_ns": s, "done_ns": s + 5 * MS} for s in (0, 2 * S)]
    recording = simulate(warm_up_s=0, ramp_s=0, hold_s=4.0).recording
    hlog.write(Tables(recording, request_rows(*rows)), tmp_path)
    found = intervals(tmp_path / "service_time.hlog")
    assert [one.get_total_count() for one in found] == [1, 0, 1, 0]


def test_failures_are_in_no_histogram(tmp_path):
    rows = [
        {"due_ns": 0, "sent_ns": 0, "done_ns": MS},
        {"due_ns": 0, "sent_ns": 0, "done_ns": 900 * MS, "outcome": "timed_out_waiting"},
        {"due_ns": 0, "outcome": "not_sent"},
    ]
    recording = simulate(warm_up_s=0, ramp_s=0, hold_s=1.0).recording
    hlog.write(Tables(recording, request_rows(*rows)), tmp_path)
    (found,) = intervals(tmp_path / "response_time.hlog")
    assert (found.get_total_count(), found.get_max_value()) == (1, pytest.approx(MS, rel=PRECISION))


def test_the_longest_time_of_an_interval_is_told_in_milliseconds(tmp_path):
    rows = [{"due_ns": 0, "sent_ns": 0, "done_ns": done} for done in (1, 123_456_789)]
    recording = simulate(warm_up_s=0, ramp_s=0, hold_s=1.0).recording
    hlog.write(Tables(recording, request_rows(*rows)), tmp_path)
    last = (tmp_path / "service_time.hlog").read_text().splitlines()[-1]
    assert last.startswith("Tag=2048,0.000,1.000,123.457,HIST")


def test_without_instants_of_due_there_is_no_log_of_response_times_and_it_is_said(tmp_path):
    rows = request_rows({"due_ns": 0, "sent_ns": 0, "done_ns": MS})
    position = rows.schema.get_field_index("due_ns")
    unknown = rows.set_column(position, "due_ns", [[None]])
    recording = simulate(warm_up_s=0, ramp_s=0, hold_s=1.0).recording
    (unsaid,) = hlog.write(Tables(recording, unknown), tmp_path)
    assert unsaid == "no `response_time.hlog`: it is unknown when requests were due"
    assert [path.name for path in tmp_path.iterdir()] == ["service_time.hlog"]


@pytest.mark.parametrize(
    ("kind", "expected"), [("2048", "2048"), ("GET /a, b\n", "GET_/a_b_"), ("", "_")]
)
def test_a_tag_has_no_comma_and_no_white_space(kind, expected):
    assert hlog.tag(kind) == expected
