"""Words: numbers and facts as people read them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import sample
from plimsoll import wording
from plimsoll.aggregate.steady_state import SteadyState
from plimsoll.aggregate.summary import Summary, TimeStatistics
from plimsoll.campaign.load import Stage, UnknownLoad
from plimsoll.recording.tls import NegotiatedTls, RequestedTls
from plimsoll.report import words


@pytest.mark.parametrize(
    ("value_ns", "text"),
    [
        (None, "–"),
        (0.0, "0 ns"),
        (950.0, "950 ns"),
        (1500.0, "1.5 µs"),
        (1_234_567.0, "1.23 ms"),
        (2e9, "2 s"),
        (90e9, "90 s"),
    ],
)
def test_times_have_their_natural_unit(value_ns: float | None, text: str) -> None:
    assert wording.duration(value_ns) == text


@pytest.mark.parametrize(
    ("value", "text"), [(None, "–"), (512, "512 B"), (22_400_000, "22.4 MB"), (16e9, "16 GB")]
)
def test_amounts_of_memory_have_their_natural_unit(value: float | None, text: str) -> None:
    assert wording.size(value) == text


@pytest.mark.parametrize(
    ("ratio", "text"), [(None, "–"), (0.0, "0 %"), (0.00984, "0.98 %"), (1.0, "100 %")]
)
def test_ratios_are_percentages(ratio: float | None, text: str) -> None:
    assert wording.percent(ratio) == text


@pytest.mark.parametrize(("length_s", "text"), [(0.213, "213 ms"), (5.0, "5 s"), (240.0, "4 min")])
def test_lengths_are_given_in_minutes_only_when_whole(length_s: float, text: str) -> None:
    assert wording.seconds(length_s) == text


@pytest.mark.parametrize(
    ("value", "text"), [(None, "–"), (1.0, "1 core"), (0.25, "0.25 cores"), (1.934, "1.93 cores")]
)
def test_one_core_is_one_core(value: float | None, text: str) -> None:
    assert wording.busy_cores(value) == text


def test_a_load_is_one_sentence() -> None:
    assert words.load_text(sample.load()) == (
        "closed model (connections): warm-up 1 s at 100, ramp 4 s from 0 to 1,000 in 4 steps, "
        "hold 7 s at 1,000; connections kept alive; timeout 10 s"
    )


def test_a_load_of_some_requests_has_no_length() -> None:
    hold = Stage("hold", 3600.0, 50.0, 50.0)
    told = words.load_text(sample.load(stages=(hold,), request_limit=10))
    assert told.startswith("closed model (connections): hold at 50; ")
    assert told.endswith("ends after 10 requests")


def test_a_load_of_some_requests_and_a_length_has_both() -> None:
    hold = Stage("hold", 30.0, 50.0, 50.0)
    told = words.load_text(sample.load(stages=(hold,), request_limit=10))
    assert told.startswith("closed model (connections): hold up to 30 s at 50; ")
    assert told.endswith("ends after 10 requests")


def test_an_open_load_of_some_requests_has_the_length_of_its_schedule() -> None:
    hold = Stage("hold", 2.0, 50.0, 50.0)
    load = sample.load(model="open", stages=(hold,), connections=9, request_limit=100)
    assert words.load_text(load) == words.load_text(replace(load, request_limit=None))
    assert "hold 2 s at 50; a pool of 9 connections" in words.load_text(load)


def test_where_there_is_little_room_what_is_usual_is_left_out() -> None:
    assert words.load_text(sample.load(), unusual=True).endswith("hold 7 s at 1,000")
    told = words.load_text(sample.load(keep_alive=False, timeout_s=2.0), unusual=True)
    assert told.endswith("; a new connection for each request; timeout 2 s")


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"keep_alive": False}, "a new connection for each request"),
        ({"requests_per_connection": 100}, "100 requests on a connection"),
        ({"model": "open"}, "open model (arrivals per second)"),
        ({"think_time_s": 0.5}, "think time 500 ms"),
        ({"model": "open", "tolerance_s": 5e-5}, "; sent up to 50 µs late; "),
    ],
)
def test_a_load_says_what_is_unusual_about_it(changes: dict[str, Any], part: str) -> None:
    assert part in words.load_text(sample.load(**changes))


def test_all_numbers_of_a_row_of_times_have_the_same_decimals() -> None:
    name, meaning, values = words.times(sample.summary("t", 6100.0))[0]
    assert (name, meaning) == ("response time, ms", "done − due")
    assert values == ["172", "33", "131", "164", "213", "295", "361", "738", "1,148", "–", "1,803"]


def test_a_row_of_times_of_which_nothing_is_known_has_no_unit() -> None:
    unknown = replace(sample.summary("t"), lag=TimeStatistics())
    name, _, values = words.times(unknown)[-1]
    assert name == "scheduling delay"
    assert set(values) == {wording.ABSENT}


def test_of_an_import_only_what_its_files_tell_is_a_fact() -> None:
    imported = sample.recording(load=UnknownLoad("imported"), seed=0)
    assert imported.server is not None
    assert words.server_facts(imported) == [("Cores", str(imported.server.workers))]
    assert [name for name, _ in words.driver_facts(imported)] == ["Tool"]


def counts(answers: int, connections: int) -> Summary:
    return sample.summary("t", completed=answers, connections_opened=connections)


def test_an_absent_percentile_has_its_reason() -> None:
    assert words.why_absent(counts(42_700, 200_000)) == (
        "A percentile is shown where at least 10 values lie above it: 99.99 % from 100,000 "
        "values on; this trial has 42,700 responses in the measurement window and "
        "200,000 connections."
    )
    assert words.why_absent(counts(100_000, 100_000)) == ""


@pytest.mark.parametrize(("answers", "connections"), [(500, 5000), (5000, 500)])
def test_few_answers_or_connections_hide_more_percentiles(answers: int, connections: int) -> None:
    assert "99 % from 1,000, 99.9 % from 10,000" in words.why_absent(counts(answers, connections))


@pytest.mark.parametrize(
    ("name", "value", "pair"),
    [
        ("memory_bytes", 16e9, ("Memory", "16 GB")),
        ("memory_bytes", None, ("Memory", "–")),
        ("cpu_model", "Example", ("Cpu model", "Example")),
        ("virtual", True, ("Virtual", "yes")),
        ("cores", [0, 1], ("Cores", "0, 1")),
        ("somaxconn", 4096, ("Somaxconn", "4,096")),
    ],
)
def test_facts_of_a_machine_are_read_by_their_names(
    name: str, value: object, pair: tuple[str, str]
) -> None:
    assert words.fact(name, value) == pair


def test_a_machine_is_one_line() -> None:
    assert words.machine(sample.MACHINE) == (
        "Example CPU at 2.30 GHz, 4 cores, 16 GB, Example Linux 12, kernel 6.1.0, virtual"
    )
    assert words.machine({}) == "an unknown machine"


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"clean_stop": True}, "clean, in time"),
        ({"clean_stop": False, "exit_code": 3}, "exit code 3"),
        ({"clean_stop": False, "exit_code": None, "killed": 2}, "2 killed"),
    ],
)
def test_how_a_server_stopped_is_said(changes: dict[str, Any], text: str) -> None:
    facts = dict(words.server_facts(sample.recording(server=sample.server(**changes))))
    assert facts["Stopped"] == text


def test_a_server_that_trials_share_names_them() -> None:
    shared = sample.server(shared_by=("go.2048.steady.1", "go.json.steady.1"))
    facts = dict(words.server_facts(sample.recording(server=shared)))
    assert facts["Started once for"] == "go.2048.steady.1, go.json.steady.1"
    alone = words.server_facts(sample.recording(server=sample.server()))
    assert "Started once for" not in dict(alone)


@pytest.mark.parametrize(
    ("changes", "fact", "cell"),
    [
        ({}, "4,096 (requested 4,096, host allows 4,096)", "4,096"),
        ({"backlogs": (4096, 4096)}, "2 × 4,096 (requested 4,096, host allows 4,096)", "2 × 4,096"),
        (
            {"backlog": 128, "backlogs": (128,)},
            "128 (requested 4,096, host allows 4,096)",
            "128, requested 4,096",
        ),
        (
            {"backlogs": (4096, 128)},
            "128 and 4,096 (requested 4,096, host allows 4,096)",
            "128 and 4,096, requested 4,096",
        ),
        (
            {"backlog": 512, "backlogs": (512,), "somaxconn": 512},
            "512 (requested 4,096, host allows 512)",
            "512, requested 4,096, host allows 512",
        ),
        (
            {"backlog": 128, "backlogs": (), "backlog_required": None},
            "128 (host allows 4,096)",
            "128",
        ),
        ({"backlog": None, "backlogs": ()}, "–", "–"),
    ],
)
def test_a_backlog_is_said_with_what_was_asked_for_and_what_the_host_allows(
    changes: dict[str, Any], fact: str, cell: str
) -> None:
    server = sample.server(**changes)
    assert dict(words.server_facts(sample.recording(server=server)))["Listen backlog"] == fact
    assert words.listen_queue(server) == cell
    assert words.is_queue_short(server) == ("requested" in cell)


def test_a_verdict_in_ratios_is_written_in_percent() -> None:
    verdict = sample.verdict("littles_law", "t", "void")
    assert (words.measured(verdict), words.limit(verdict)) == ("71 %", "85 %")
    assert words.measured(replace(verdict, measured=None)) == "–"


def test_checks_with_nothing_to_check_are_no_gap() -> None:
    sound = sample.verdict("conservation", "go.1", "sound")
    unmade = sample.verdict("backlog", "go.1", "not_checked")
    nothing = replace(unmade, sentences=(replace(unmade.sentences[0], applies=False),))
    assert words.verdicts_text([sound, nothing]) == "✓ sound by all 1 check that applies"
    assert words.verdicts_text([sound, sound, nothing]) == "✓ sound by all 2 checks that apply"
    assert words.verdicts_text([sound, unmade, nothing]) == (
        "✓ sound by 1 of 2 checks that apply; not checked: Backlog"
    )


def test_verdicts_are_told_in_one_line_by_the_worst_of_them() -> None:
    sound = sample.verdict("conservation", "go.1", "sound")
    void = sample.verdict("backlog", "go.1", "void", "The queue was full.", "Twice.")
    other = sample.verdict("littles_law", "go.1", "void")
    doubtful = sample.verdict("responses_correct", "go.1", "doubtful")
    assert words.verdicts_text([sound, sound]) == "✓ sound by 2 checks"
    unmade = sample.verdict("backlog", "go.1", "not_checked")
    assert words.verdicts_text([sound, unmade]) == "✓ sound by 1 of 2 checks; not checked: Backlog"
    beside = sample.verdict("littles_law", "go.1", "sound")
    assert words.verdicts_text([beside, unmade]) == (
        "○ not checked (1 of 2 checks passed, none on responses); not checked: Backlog"
    )
    assert words.verdicts_text([sound, doubtful, void]) == (
        "✕ void: Listen queue too short: The queue was full"
    )
    assert words.verdicts_text([void, other]).endswith("(and 1 more check)")


def test_start_up_and_steady_state_are_facts_of_the_server() -> None:
    state = SteadyState("warm-up", (700.0, 1000.0), 990.0, 1000.0, risen_after_s=0.3)
    assert words.steady_state_facts(state) == [
        ("90 % of steady throughput after", "300 ms"),
        ("Steady state", "warm-up: 700/s → 1,000/s"),
    ]
    short = SteadyState("too short to tell", (), 990.0, None)
    assert words.steady_state_facts(short) == [("Steady state", "too short to tell")]
    assert words.steady_state_facts(None) == []


def secured(*agreed: NegotiatedTls, trusted: str = "file") -> str:
    requested = RequestedTls("localhost", trusted, False, None, (), "always")
    return words.tls_text(sample.recording(tls=requested, driver=sample.driver(tls=agreed)))


def test_tls_is_told_by_what_was_agreed_on_and_by_how_many_handshakes() -> None:
    full = NegotiatedTls("TLS 1.3", "TLS_AES_128_GCM_SHA256", "X25519", None, False, 3)
    assert secured(full) == "TLS 1.3, TLS_AES_128_GCM_SHA256, X25519; 3 full handshakes, 0 resumed"
    again = replace(full, resumed=True, connections=40)
    assert secured(full, again).endswith("X25519; 3 full handshakes, 40 resumed")
    other = replace(full, version="TLS 1.2", group=None, resumed=True, connections=2)
    assert secured(full, other).count("TLS 1.2") == 0
    assert secured(full, replace(other, resumed=False)).startswith("TLS 1.3, ")
    assert " or TLS 1.2, TLS_AES_128_GCM_SHA256;" in secured(full, replace(other, resumed=False))
    assert secured(full, trusted="anyone").endswith("; any certificate accepted")


def test_plain_tcp_says_nothing_of_tls() -> None:
    assert words.tls_text(sample.recording()) == ""


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (1.0, "setups", "1 setup"),
        (0.0, "servers", "0 servers"),
        (2.0, "entries", "2 entries"),
        (1.0, "entries", "1 entry"),
        (1.0, "s", "1 s"),
        (1.0, "faults/s", "1 faults/s"),
        (1.0, "ratio", "100 %"),
    ],
)
def test_one_of_something_is_no_plural(value: float, unit: str, text: str) -> None:
    verdict = replace(sample.verdict("backlog", "a", "doubtful", "It."), limit=value, unit=unit)
    assert words.limit(verdict) == text
