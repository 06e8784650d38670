"""JTL: samples as JMeter writes them."""

import csv
import dataclasses

import pytest

from plimsoll.aggregate.engine_records import as_stored
from plimsoll.aggregate.outcomes import OUTCOMES, UNENDED
from plimsoll.aggregate.trial import Tables
from plimsoll.export import jtl
from recordings import request_rows, simulate, usage_rows

S = 1_000_000_000
MS = 1_000_000
RECORDING = dataclasses.replace(
    simulate(warm_up_s=0, ramp_s=0, hold_s=3.0).recording,
    zero_utc="2026-01-02T03:04:05.678999Z",
    requests=("2048", 'say "a, b"\nand c'),
    request_bytes=(100, 250),
)
ZERO_MS = 1767323045678
ANSWER = {
    "due_ns": 0, "sent_ns": 1 * MS, "first_byte_ns": 5 * MS, "done_ns": 9 * MS,
    "received_bytes": 2170, "status": 200,
}  # fmt: skip
FAILURES = [
    outcome.name
    for outcome in OUTCOMES
    if outcome.group not in ("successful", "wrong", "connection") and outcome.name not in UNENDED
]


def samples(folder, *requests, usage=(), load=RECORDING.load):
    recording = dataclasses.replace(RECORDING, load=load)
    of_trial = Tables(recording, request_rows(*requests), None, usage_rows(*usage))
    jtl.write(of_trial, folder)
    with (folder / "requests.jtl").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_right_answer_has_the_columns_that_jmeter_writes(tmp_path):
    users = [(0.0, "driver", "connections_open", 20), (3.0, "driver", "connections_open", 20)]
    worked = {**ANSWER, "connection": 6, "worker": 1}
    assert samples(tmp_path, worked, usage=users) == [
        {
            "timeStamp": str(ZERO_MS + 1),
            "elapsed": "8",
            "label": "2048",
            "responseCode": "200",
            "responseMessage": "OK",
            "threadName": "local 2-7",
            "dataType": "text",
            "success": "true",
            "failureMessage": "",
            "bytes": "2170",
            "sentBytes": "100",
            "grpThreads": "20",
            "allThreads": "20",
            "URL": "",
            "Latency": "4",
            "IdleTime": "0",
            "Connect": "0",
        }
    ]


def test_a_thread_has_one_request_in_flight(tmp_path):
    users = [(0.0, "driver", "connections_open", 20), (3.0, "driver", "connections_open", 20)]
    (sample,) = samples(
        tmp_path, ANSWER, usage=users, load=dataclasses.replace(RECORDING.load, pipeline=4)
    )
    assert sample["allThreads"] == sample["grpThreads"] == "80"


def test_both_ends_are_rounded_down_so_that_a_request_ends_in_its_own_millisecond(tmp_path):
    (sample,) = samples(tmp_path, {**ANSWER, "sent_ns": 1_900_000, "done_ns": S})
    assert int(sample["timeStamp"]) == ZERO_MS + 1
    assert int(sample["timeStamp"]) + int(sample["elapsed"]) == ZERO_MS + 1000


def test_samples_stand_in_the_order_in_which_they_ended(tmp_path):
    ends = (30, 10, 20)
    found = samples(tmp_path, *({**ANSWER, "done_ns": end * MS} for end in ends))
    assert [int(sample["elapsed"]) for sample in found] == [9, 19, 29]


@pytest.mark.parametrize(
    ("outcome", "status", "message"),
    [
        ("wrong_status", 503, "Service Unavailable"),
        ("wrong_length", 200, "OK"),
        ("wrong_body", 299, ""),
    ],
)
def test_a_wrong_answer_keeps_its_status_and_says_what_was_wrong(
    tmp_path, outcome, status, message
):
    (sample,) = samples(tmp_path, {**ANSWER, "outcome": outcome, "status": status})
    assert (sample["success"], sample["responseCode"]) == ("false", str(status))
    assert sample["responseMessage"] == message
    assert sample["failureMessage"].startswith(f"{outcome}: ")


@pytest.mark.parametrize("outcome", FAILURES)
def test_every_failure_is_spelled_as_jmeter_does_and_keeps_our_name(tmp_path, outcome):
    lost = {"due_ns": 0, "sent_ns": MS, "done_ns": 3 * MS, "outcome": outcome}
    (sample,) = samples(tmp_path, lost)
    assert sample["success"] == "false"
    assert sample["responseCode"].startswith("Non HTTP response code: ")
    assert sample["responseMessage"].startswith("Non HTTP response message: ")
    assert sample["failureMessage"].startswith(f"{outcome}: ")


def test_an_answer_that_broke_off_is_no_http_status(tmp_path):
    (sample,) = samples(tmp_path, {**ANSWER, "outcome": "reset_receiving"})
    assert sample["responseCode"] == "Non HTTP response code: java.net.SocketException"
    assert sample["Latency"] == "4"


def test_a_request_that_was_never_sent_stands_where_it_was_due_and_took_nothing(tmp_path):
    (sample,) = samples(tmp_path, {"due_ns": 7 * MS, "outcome": "not_sent", "connection": None})
    assert (sample["timeStamp"], sample["elapsed"]) == (str(ZERO_MS + 7), "0")
    assert (sample["sentBytes"], sample["threadName"]) == ("0", "local 1-0")


def test_a_refused_connection_took_from_due_to_its_end(tmp_path):
    refused = {"due_ns": 7 * MS, "done_ns": 9 * MS, "outcome": "connect_refused"}
    (sample,) = samples(tmp_path, refused)
    assert (sample["timeStamp"], sample["elapsed"]) == (str(ZERO_MS + 7), "2")


def test_names_with_commas_quotes_and_line_ends_are_quoted(tmp_path):
    (sample,) = samples(tmp_path, {**ANSWER, "request": 1})
    assert (sample["label"], sample["sentBytes"]) == ('say "a, b"\nand c', "250")


def test_what_cannot_be_said_is_counted(tmp_path):
    rows = request_rows(
        {"due_ns": 0, "outcome": "not_sent"},
        {"due_ns": 0, "outcome": "not_sent"},
        {"due_ns": 0, "sent_ns": 0, "outcome": "unfinished"},
        {"due_ns": 0, "outcome": "cancelled"},
    )
    unsent, unended = jtl.write(Tables(RECORDING, rows), tmp_path)
    assert unsent.startswith("2 requests never sent: ")
    assert unended == "2 requests still open at the end: excluded"


def test_only_a_response_has_an_unknown_length(tmp_path):
    lost = {"due_ns": 0, "sent_ns": MS, "done_ns": 3 * MS, "received_bytes": None}
    unknown = {**ANSWER, "received_bytes": None}
    refused = [{**lost, "outcome": "connect_refused"}] * 300
    assert jtl.write(Tables(RECORDING, request_rows(*refused)), tmp_path) == ()
    rows = request_rows(
        *refused,
        ANSWER,
        unknown,
        {**unknown, "first_byte_ns": None, "status": None},
        {**unknown, "outcome": "wrong_status", "status": 500},
        {**unknown, "outcome": "closed_early"},
        {**lost, "outcome": "timed_out_receiving", "first_byte_ns": 2 * MS},
        {**lost, "outcome": "reset_waiting"},
    )
    (said,) = jtl.write(Tables(RECORDING, rows), tmp_path)
    assert said == "5 requests with a response of unknown length: 0 `bytes`"


def test_every_request_but_those_in_flight_at_the_end_is_a_sample(tmp_path):
    of_trial = simulate(failures={"wrong_status": 0.05, "reset_waiting": 0.05}, missing=2)
    jtl.write(of_trial, tmp_path)
    requests = as_stored(of_trial.requests)
    assert requests is not None
    outcomes = requests["outcome"].to_pylist()
    with (tmp_path / "requests.jtl").open(encoding="utf-8", newline="") as file:
        found = list(csv.DictReader(file))
    assert len(found) == len(outcomes) - outcomes.count("unfinished")
    assert sum(sample["success"] == "true" for sample in found) == outcomes.count("ok")
