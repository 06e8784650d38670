import json
from dataclasses import asdict, replace

import pytest

import foreign
from plimsoll import charts, tables
from plimsoll.aggregate import by_figures
from plimsoll.aggregate.by_figures import figures_of
from plimsoll.findings.derivation import SCHEMAS
from plimsoll.findings.trial import TrialData
from plimsoll.storage.parquet import ParquetResults

RIGHT = foreign.FIGURES


def test_a_trial_without_rows_is_summarised_from_what_its_driver_printed() -> None:
    summary = foreign.trial().summary
    assert set(summary.row) == {column.name for column in tables.MEASURED}
    assert summary.source == "wrk"
    assert (summary.completed, summary.ok, summary.failed) == (20_000, 20_000, 0)
    assert summary.throughput_per_s == pytest.approx(2000.0)
    assert summary.goodput_per_s == pytest.approx(2000.0)
    assert summary.service_time.p99_ns == pytest.approx(20e6)
    assert summary.received_bytes_per_s == 4_300_000.0


def test_what_it_did_not_print_is_null() -> None:
    summary = foreign.trial().summary
    for name in ("response_time_p50_ns", "service_time_p25_ns", "lag_p99_ns", "unfinished",
                 "connections_opened", "open_connections", "in_flight", "sent_bytes"):  # fmt: skip
        assert summary.value(name) is None, name


def test_times_from_the_intended_start_are_response_times() -> None:
    summary = foreign.trial(replace(RIGHT, times="response")).summary
    assert summary.response_time.p99_ns == pytest.approx(20e6)
    assert summary.service_time.p99_ns is None
    assert summary.latency_kind == "response_time"


def test_of_a_driver_that_knows_both_each_time_has_its_own_name() -> None:
    late_s = {name: 10 * time_s for name, time_s in RIGHT.times_s.items()}
    summary = foreign.trial(replace(RIGHT, times="service", response_times_s=late_s)).summary
    assert summary.service_time.p99_ns == pytest.approx(20e6)
    assert summary.response_time.p99_ns == pytest.approx(200e6)
    assert summary.latency_kind == "response_time"


def test_what_was_read_of_the_processes_is_there_nevertheless() -> None:
    summary = foreign.trial().summary
    assert summary.server_busy_cores is not None
    assert summary.server_busy_cores > 0
    assert (summary.driver_busy_cores or 0) > 0
    assert summary.requests_per_core_s == pytest.approx(
        20_000 / (summary.server_busy_cores * summary.duration_s)
    )
    assert summary.connections_requested == 20


def test_wrong_answers_are_answers_and_not_right_ones() -> None:
    figures = replace(RIGHT, wrong_responses={"not 2xx or 3xx": 5000.0})
    summary = foreign.trial(figures).summary
    assert (summary.completed, summary.ok, summary.failed) == (20_000, 15_000, 5000)
    assert summary.throughput_per_s == pytest.approx(2000.0)
    assert summary.goodput_per_s == pytest.approx(1500.0)
    assert summary.failure_ratio == 0.25


def test_the_rate_of_a_tool_that_counts_failed_requests_is_told_in_answers() -> None:
    figures = replace(RIGHT, counting="ends", failures={"connect": 5000.0})
    summary = foreign.trial(figures, "ab").summary
    assert (summary.completed, summary.ok, summary.failed) == (15_000, 15_000, 5000)
    assert summary.throughput_per_s == pytest.approx(1500.0)


@pytest.mark.parametrize(
    "name",
    ["wrk-sound.txt", "wrk-reset.txt", "ab-sound.txt", "ab-reset.txt", "ab-status.txt",
     "h2load-sound.txt", "h2load-status.txt"],
)  # fmt: skip
def test_no_count_of_a_real_output_contradicts_another(name: str) -> None:
    figures = foreign.printed(name)
    summary = foreign.trial(figures, figures.tool).summary
    assert 0 <= summary.ok <= summary.completed
    assert (summary.goodput_per_s or 0) <= summary.throughput_per_s
    assert summary.throughput_per_s <= (figures.throughput_per_s or 0) * 1.000001


def test_a_trial_without_a_single_request_has_no_rate() -> None:
    figures = replace(RIGHT, requests=0.0, throughput_per_s=0.0, times_s={}, received_bytes=0.0)
    summary = foreign.trial(figures).summary
    assert (summary.throughput_per_s, summary.failure_ratio) == (0.0, None)


def test_seconds_have_readings_and_no_counts() -> None:
    rows = foreign.trial().seconds.to_pylist()
    assert rows
    for name in ("due", "completed", "ok", "failed", "received_bytes", "service_time_p50_ns"):
        assert {row[name] for row in rows} == {None}, name
    assert any(row["server_busy_cores"] for row in rows)


def test_rows_that_say_less_than_the_figures_say_when_and_not_how_requests_ended() -> None:
    rows = foreign.trial(rows=True, warm_up_s=2.0).seconds.to_pylist()
    warm = [row for row in rows if row["stage"] == "warm_up"]
    held = [row for row in rows if row["stage"] == "hold"]
    assert {row["completed"] for row in warm} == {None}
    assert all(row["completed"] > 0 for row in held)
    assert {row["ok"] for row in rows} == {row["failed"] for row in rows} == {None}


def test_a_driver_whose_rows_say_more_is_summarised_from_them() -> None:
    made = foreign.trial(tool="h2load", rows=True, by_figures=False)
    assert figures_of(made.recording) is None
    assert made.summary.source == "requests"
    assert made.summary.connections_opened is None


def test_charts_without_data_are_left_out_with_a_sentence() -> None:
    made = foreign.trial()
    empty = {name: schema.empty_table() for name, schema in SCHEMAS.items()}
    data = TrialData(
        made.recording, made.summary, made.seconds, empty["memory_by_second"],
        empty["connections_by_second"], empty["failures_by_second"],
        empty["latency_buckets"], empty["machine_speed"],
    )  # fmt: skip
    assert charts.drawn(data) == (charts.cpu, charts.memory)
    said = charts.left_out(data)
    assert (
        "`Throughput`, `Response time and failures`, `Latency of every response`, `Connections`"
        in said
    )
    assert "`wrk`" in said


def test_a_recording_with_figures_is_the_same_when_it_was_written_and_read(tmp_path) -> None:
    made = foreign.trial().recording
    folder = tmp_path / "trials" / made.trial
    folder.mkdir(parents=True)
    (folder / "trial.json").write_text(json.dumps(asdict(made)))
    assert ParquetResults(tmp_path).recording(made.trial) == made


def test_what_load_generators_counted_stands_beside_their_figures() -> None:
    made = foreign.trial()
    driver = made.recording.driver
    assert driver is not None
    assert by_figures.counted_beside(driver) == {}, "wrk counts nothing beside its figures"
    outcomes = {"ok": 90, "unfinished": 3, "cancelled": 1}
    counting = replace(driver, outcomes=outcomes, opened=5, refused=0)
    assert by_figures.counted_beside(counting) == {"unfinished": 4}
