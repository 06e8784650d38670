"""What other tools printed is read as they meant it."""

from __future__ import annotations

import itertools
import json
import random
import re
from pathlib import Path

import pytest

from plimsoll.errors import InputError
from plimsoll.tool_output import pasted, readers, runs
from plimsoll.tool_output.readers import autocannon, fortio, k6, oha, table, techempower, vegeta
from plimsoll.tool_output.reported import ReportedStatistics, percentile_name, share
from plimsoll.verdicts.audit import audit

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "published"
INCOMPLETE = ("ab-files", "h2load-files")
FILES = sorted(path for path in GOLDEN.iterdir() if path.name != "README.md")
WHOLE = [path for path in FILES if path.stem not in INCOMPLETE]


def text(name: str) -> str:
    return (GOLDEN / name).read_text(encoding="utf-8")


def one(name: str) -> ReportedStatistics:
    (figures,) = readers.read(text(name), name)
    return figures


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_each_output_is_recognised_by_the_reader_of_its_tool_alone(path: Path) -> None:
    content = path.read_text(encoding="utf-8")
    documents = [one.NAME for one in readers.DOCUMENTS if one.recognises(content)]
    texts = {one.NAME for one, _ in runs.split(pasted.lines(content), readers.TEXTS, "x")}
    kind = path.stem.partition("-")[0].removesuffix("_text")
    if documents:
        assert [one.lower() for one in documents] == [kind]
    else:
        assert {one.removesuffix("_text") for one in texts} == {kind}


@pytest.mark.parametrize("path", WHOLE, ids=lambda path: path.name)
def test_each_output_has_a_rate_and_positive_numbers(path: Path) -> None:
    for figures in readers.read(path.read_text(encoding="utf-8"), path.name):
        assert figures.throughput_per_s is not None
        is_refused = path.stem in ("vegeta-refused", "autocannon_text-refused", "wrk-silent")
        assert (figures.throughput_per_s > 0) != is_refused
        has_none = path.stem in ("oha_text-refused", "autocannon_text-refused", "wrk-silent")
        assert bool(figures.times_s) != has_none
        assert all(
            share(name) is not None or name in ("mean", "stddev") for name in figures.times_s
        )


def test_wrk_has_its_counts_and_says_which_of_its_times_are_made_up() -> None:
    figures = one("wrk-sound.txt")
    assert (figures.tool, figures.connections, figures.threads) == ("wrk", 50, 2)
    assert (figures.requests, figures.duration_s) == (150817, 2.01)
    assert figures.throughput_per_s == 74900.34
    assert figures.thread_throughput_per_s == 37750
    assert figures.times_s["p99"] == pytest.approx(8.87e-3)
    assert figures.times_s["max"] == pytest.approx(28.31e-3)
    assert figures.times == "synthetic"
    assert figures.received_bytes == pytest.approx(304.20 * 2**20)
    assert figures.timeout_s == 2
    assert any("2 s" in note for note in figures.notes)


def test_wrk_without_latency_has_no_percentiles() -> None:
    assert set(one("wrk-sound-plain.txt").times_s) == {"mean", "stddev", "max"}


@pytest.mark.parametrize(
    ("command", "is_known"),
    [
        ("$ wrk -t2 -c50 -d2s --latency http://127.0.0.1:18801/2048", True),
        ("$ wrk -t2 -c50 -s post.lua http://127.0.0.1:18801/2048", False),
        ("", False),
    ],
)
def test_whether_wrk_pipelined_is_known_by_its_command_alone(command: str, is_known: bool) -> None:
    (figures,) = readers.read(f"{command}\n{text('wrk-sound.txt')}", "x")
    assert figures.in_flight_known is is_known


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("wrk-silent.txt", {}),
        ("wrk-silent.txt", {"0 requests": "4 requests"}),
        (
            "wrk2-reset.txt",
            {r"Latency +\S+ +\S+ +\S+ +\S+%": "Latency  0.00us  0.00us  0.00us  -nan%"},
        ),
        ("h2load-sound.txt", {"88636": "0", "44318.00": "0.00"}),
        ("hey-files.txt", {r"\[200\].*": ""}),
    ],
)
def test_without_a_response_in_time_there_is_no_latency(name: str, changes: dict[str, str]) -> None:
    content = text(name)
    for printed, other in changes.items():
        content, count = re.subn(printed, other, content)
        assert count
    found = readers.reading(content, "x")
    assert [(figures.times_s, figures.response_times_s) for figures in found.figures] == [({}, {})]
    assert not found.left


@pytest.mark.parametrize(
    ("name", "command", "depth"),
    [
        ("h2load-sound", "$ h2load --h1 -m 8 -c 50 http://127.0.0.1:18801/2048", 8),
        ("h2load-sound", "h2load --h1 --max-concurrent-streams=8 -c50 http://h/2048", 8),
        ("h2load-sound", "h2load --h1 -m8 -d body -c50 http://h/2048", 1),
        ("h2load-sound", "h2load --h1 -c50 http://h/2048", 1),
        ("oha_text-sound", "oha --http2 -p 8 -c 50 -z 2s http://h/2048", 8),
        ("oha_text-sound", "oha --http-version 2 -p8 -c 50 -z 2s http://h/2048", 8),
        ("oha_text-sound", "oha -p 8 -c 50 -z 2s http://h/2048", 1),
    ],
)
def test_requests_in_flight_on_each_connection_are_those_of_the_command(
    name: str, command: str, depth: float
) -> None:
    content = text(f"{name}.txt")
    (figures,) = readers.read(f"{command}\n{content}", "x")
    assert (figures.connections, figures.in_flight_each) == (50, depth)
    assert not figures.may_be_several
    assert readers.read(content, "x")[0].may_be_several


def test_h2load_with_http2_has_its_connections_where_its_command_has_the_streams_of_each() -> None:
    printed = text("h2load-sound.txt").replace("protocol: http/1.1", "protocol: h2c")
    (figures,) = readers.read(f"h2load -m 10 -c 50 http://h/2048\n{printed}", "x")
    assert figures.in_flight == 500


@pytest.mark.parametrize(
    ("options", "model"),
    [
        ("-n 100 -c 50 -m 10", "closed"),
        ("-D 10 -c50 -m10", "closed"),
        ("-n 100 -c 50 --rps=20", "unknown"),
        ("-n 100 -c 50 --rps 20", "unknown"),
        ("-n 100 -c 50 -r 10", "unknown"),
        ("-n 100 -c 50 -r10", "unknown"),
        ("-c 50 --timing-script-file=x", "unknown"),
    ],
)
def test_h2load_without_a_rate_is_a_closed_load(options: str, model: str) -> None:
    (figures,) = readers.read(f"h2load {options} http://h/2048\n{text('h2load-sound.txt')}", "x")
    assert figures.model == model
    assert one("h2load-sound.txt").model == "unknown"


def test_wrk_with_fewer_connections_than_threads_has_those_it_prints() -> None:
    (figures,) = readers.read(text("wrk-sound.txt").replace("50 connections", "1 connections"), "x")
    assert figures.connections == 1


def test_wrk_names_what_failed() -> None:
    assert one("wrk-files.txt").failures == {"connect": 751}
    assert one("wrk-reset.txt").failures == {"read": 4314}
    assert one("wrk-status.txt").wrong_responses == {"not 2xx or 3xx": 10723}


def test_a_limit_of_wrk_that_an_answer_exceeded_was_not_that_limit() -> None:
    slow = text("wrk-sound.txt").replace("28.31ms", "3.10s")
    (figures,) = readers.read(slow, "slow")
    assert figures.timeout_s is None


def test_several_runs_in_one_text_are_several_results_with_their_lines() -> None:
    found = readers.read(text("wrk-sound.txt") + "\n$ again\n" + text("wrk-reset.txt"), "both")
    assert [figures.connections for figures in found] == [50, 10]
    assert found[0].source.place == "line 1"
    assert found[0].source.place != found[1].source.place


def test_wrk2_has_the_times_from_when_requests_were_due() -> None:
    figures = one("wrk2-freeze.txt")
    assert figures.is_open
    assert figures.in_flight is None
    assert figures.times_s["p50"] == pytest.approx(30.22e-3)
    assert figures.times_s["mean"] == pytest.approx(259.45e-3)
    assert figures.times_s["p99999"] == figures.times_s["max"] == pytest.approx(0.99379)
    assert figures.times == "response"


def test_wrk2_has_times_of_few_of_its_requests_only() -> None:
    figures = one("wrk2-freeze.txt")
    assert figures.requests == 2402
    assert figures.timed_requests == 391
    assert one("wrk2-reset.txt").failures == {"read": 266}
    assert one("wrk2-status.txt").wrong_responses == {"not 2xx or 3xx": 240}


def test_ab_counts_a_reset_request_up_to_three_times_and_it_is_read_once() -> None:
    figures = one("ab-reset.txt")
    assert figures.failures == {"receive or exceptions": 2000}
    assert figures.wrong_responses == {}
    assert figures.ended == 20000
    assert figures.counting == "ends"


def test_answers_of_another_length_were_answered() -> None:
    assert one("ab-cut.txt").failures == {}
    cut = {"of another length, with its connection closed": 2000}
    assert one("ab-cut.txt").wrong_responses == cut
    assert one("ab-status.txt").wrong_responses == {"of another length or not 2xx": 2000}


def test_the_time_per_request_of_ab_is_no_measured_time() -> None:
    figures = one("ab-close.txt")
    assert figures.time_per_request_s == pytest.approx(3.474e-3)
    assert figures.times_s["mean"] == pytest.approx(3e-3)
    assert figures.times_step_s == 1e-3


def test_hey_counts_failures_in_its_rate_and_does_not_say_its_connections() -> None:
    figures = one("hey-files.txt")
    assert figures.failures == {"too many open files": 75292}
    assert figures.requests == 76062
    assert figures.timed_per_s == pytest.approx(36465.3994 * 770 / 76062)
    assert figures.connections is None


def test_the_connections_of_hey_are_read_from_the_command_where_it_stands_above() -> None:
    (figures,) = readers.read("$ hey -z 2s -c 50 http://127.0.0.1/\n" + text("hey-sound.txt"), "x")
    assert figures.connections == 50


def test_h2load_counts_what_is_done_and_adds_up_the_clients_of_its_threads() -> None:
    figures = one("h2load-status.txt")
    assert (figures.connections, figures.requests) == (10, 106482)
    assert figures.wrong_responses == {"status 5xx": 10648}
    http2 = text("h2load-sound.txt").replace(
        "Application protocol: http/1.1", "Application protocol: h2c"
    )
    assert readers.read(http2, "x")[0].connections is None


@pytest.mark.parametrize(
    ("name", "responses", "failures"),
    [("lost", 12, {"errored": 8}), ("timeout", 16, {"errored": 80, "timeout": 4})],
)
def test_requests_of_h2load_that_were_left_to_a_lost_connection_are_failures(
    name: str, responses: int, failures: dict[str, float]
) -> None:
    figures = one(f"h2load-{name}.txt")
    assert (figures.requests, figures.failures) == (responses, failures)


def test_oha_does_not_count_what_the_end_cut_off_as_failed() -> None:
    figures = one("oha-files.json")
    assert figures.failures == {"Too many open files (os error 24)": 763}
    assert figures.requests == 70298 + 763 + 221
    assert figures.connections is None
    assert figures.model == "unknown"


def with_breakdown(content: str) -> str:
    """What oha prints with `--stats-success-breakdown`: the same of some responses, and faster."""
    start, end = content.index("Response time histogram:"), content.index("\nDetails")
    of_all = content[start:end]
    some = [
        re.sub(
            r"\[\d+\]", "[7]", of_all.replace(":\n", f" ({of}):\n").replace("% in 0.", "% in 0.0")
        )
        for of in ("2xx only", "4xx + 5xx only")
    ]
    return "".join((content[:start], of_all, *some, content[end:]))


@pytest.mark.parametrize("name", ["sound", "status", "refused"])
def test_the_times_of_oha_are_those_of_all_responses(name: str) -> None:
    content = text(f"oha_text-{name}.txt")
    assert readers.reading(with_breakdown(content), "x") == readers.reading(content, "x")


def in_unit(content: str, unit: str, seconds: float) -> str:
    """What oha prints where another unit fits, or with `--time-unit`."""

    def other(match: re.Match[str]) -> str:
        value = float(match[1]) * 1e-3 / seconds
        return f"{value:.{len(match[1].partition('.')[2])}f} {unit}"

    return re.sub(r"([\d.]+) ms", other, content)


@pytest.mark.parametrize(
    ("unit", "seconds"),
    [("us", 1e-6), ("sec", 1), ("10 sec", 10), ("min", 60), ("10 min", 600), ("hr", 3600)],
)
def test_times_of_oha_are_read_in_each_of_its_units(unit: str, seconds: float) -> None:
    content = text("oha_text-status.txt")
    found = readers.reading(in_unit(content, unit, seconds), "x")
    (figures,), (original,) = found.figures, readers.read(content, "x")
    assert not found.left
    assert not any(one.contradicts for one in figures.restated)
    assert figures.times_step_s == pytest.approx(seconds * 1e-4)
    half_s = figures.times_step_s / 2 + 1e-7
    for name, time_s in original.times_s.items():
        assert figures.times_s[name] == pytest.approx(time_s, abs=half_s)
    assert figures.duration_s == pytest.approx(original.duration_s, abs=half_s)


def test_times_that_oha_has_not_have_its_longest_units_too() -> None:
    content = text("oha_text-refused.txt").replace("2001045381.0000 ns", "0.2001 10 sec")
    content = content.replace(" ns", " 10 sec")
    (figures,) = readers.read(content, "x")
    assert (figures.times_s, figures.duration_s) == ({}, pytest.approx(2.001))


def test_autocannon_has_whole_milliseconds_and_a_rate_over_whole_samples() -> None:
    figures = one("autocannon-status.json")
    assert figures.duration_s == 2
    assert figures.wrong_responses == {"not 2xx": 5061}
    assert figures.times_step_s == 1e-3
    assert figures.times_s["p025"] == 0


def test_both_layouts_of_k6_are_read_alike() -> None:
    export, handled = one("k6-status.json"), one("k6-dropped.json")
    assert export.failures == {"failed": 1030}
    assert export.requests == 10304
    assert export.times_s["p95"] == pytest.approx(9.417e-3, rel=1e-3)
    assert export.duration_s is None
    assert handled.failures == {}
    assert handled.never_sent == 36
    assert handled.times_s["p50"] == pytest.approx(0.2, rel=0.1)
    assert handled.duration_s == pytest.approx(3.2, rel=0.1)
    assert export.connections is handled.connections is None


def test_k6_counts_requests_that_could_not_connect_with_times_of_0() -> None:
    figures = one("k6-refused.json")
    assert figures.failures == {"failed": figures.requests}
    assert set(figures.times_s.values()) == {0.0}


def test_vegeta_counts_what_succeeded_and_is_open() -> None:
    figures = one("vegeta-timeout.json")
    assert figures.requests == 160
    assert figures.ended == 200
    assert figures.failures == {"incomplete response": 40}
    assert one("vegeta-status.json").wrong_responses == {"status 500": 150}
    assert figures.is_open
    assert figures.requested_rate_per_s is None  # only what was sent is printed


def test_vegeta_counts_bodies_of_whole_answers_only() -> None:
    assert one("vegeta-cut.json").failures == {"incomplete response": 150}
    assert one("vegeta-cut.json").body_bytes == 2048
    assert one("vegeta-refused.json").body_bytes is None
    assert one("vegeta-sound.json").received_bytes is None


def test_fortio_is_closed_unless_a_rate_was_asked_for() -> None:
    assert one("fortio-sound.json").in_flight == 8
    assert one("fortio-rate.json").requested_rate_per_s == 500
    assert one("fortio-rate.json").in_flight is None


def test_fortio_has_a_label_only_where_one_was_given() -> None:
    assert one("fortio-sound.json").subject == ""
    document = json.loads(text("fortio-sound.json")) | {"Labels": "ours"}
    assert fortio.read(json.dumps(document), "x")[0].subject == "ours"


def test_fortio_counts_answers_that_were_cut_off_but_has_their_length() -> None:
    figures = one("fortio-cut.json")
    assert figures.failures == figures.wrong_responses == {}
    assert (figures.shortest_bytes, figures.longest_bytes) == (1091, 2115)
    assert "2,215 of the 2,223 connections" in figures.notes[-1]
    assert len(one("fortio-sound.json").notes) == len(fortio.NOTES)


def test_percentiles_of_fortio_are_as_coarse_as_its_histogram() -> None:
    figures = one("fortio-sound.json")
    assert figures.percentiles_step_s == pytest.approx(1e-3, rel=0.1)
    assert figures.times_step_s == 0
    assert figures.quantiles_step_s == figures.percentiles_step_s


def test_techempower_has_a_result_for_each_level_and_16_requests_at_a_time_for_plaintext() -> None:
    found = techempower.read(text("techempower.json"), "x")
    assert len(found) == 7
    by_label = {figures.label: figures for figures in found}
    assert by_label["one plaintext 256 connections"].in_flight == 256 * 16
    assert by_label["one query 20 queries each"].connections == 512
    assert by_label["two json 512 connections"].wrong_responses == {"status 5xx": 312, "timeout": 7}


def test_toml_and_csv_say_the_same() -> None:
    toml = table.read(text("table.toml"), "x")
    csv = table.read(text("table.csv"), "x")
    for one_csv, one_toml in zip(csv, toml, strict=True):
        times = {name: time for name, time in one_toml.times_s.items() if name != "mean"}
        assert one_csv.times_s == pytest.approx(times)
    assert [figures.label for figures in toml] == [figures.label for figures in csv]
    assert toml[1].notes == ("the numbers are made up", "read off a chart")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("throughput = 3", "unknown key `throughput`"),
        ('throughput_per_s = "many"', "`throughput_per_s` must be a number"),
        ("throughput_per_s = -1", "`throughput_per_s` must be a number, 0 or more"),
        ("times_s = { p500x = 1 }", "has no statistic `p500x`"),
        ('counting = "some"', "`counting` must be `ends` or"),
        ("throughput_per_s = ", "is not valid TOML"),
    ],
)
def test_what_is_wrong_in_a_table_is_told_with_its_place(wrong: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        readers.read(f"title = 'x'\n[[result]]\n{wrong}\n", "mine.toml")
    assert said in str(caught.value)
    assert "mine.toml" in str(caught.value)


def test_a_line_of_csv_that_is_too_short_is_told() -> None:
    with pytest.raises(InputError, match=r"mine\.csv:2: has a different number of fields"):
        readers.read("subject,throughput_per_s,p99_ms\nours,3\n", "mine.csv")


@pytest.mark.parametrize("name", [f"{name}.txt" for name in INCOMPLETE])
def test_a_tool_that_gave_up_is_told_with_what_it_said_last(name: str) -> None:
    with pytest.raises(InputError, match=r"has no `.*`; it ends with") as caught:
        readers.read(text(name), name)
    assert len(caught.value.problems) == 1


@pytest.mark.parametrize("path", WHOLE, ids=lambda path: path.name)
def test_output_that_is_cut_off_is_refused_in_a_sentence_or_read_without_its_end(
    path: Path,
) -> None:
    whole = path.read_text(encoding="utf-8")
    for part in range(1, 10):
        try:
            readers.read(whole[: len(whole) * part // 10], path.name)
        except InputError as error:
            assert all(problem.message and path.name in problem.where for problem in error.problems)
        else:
            assert path.suffix != ".json"


@pytest.mark.parametrize("content", ["", "hello\n", "{}", "[1, 2]", "null", "\0\1\2", "a,b\n1,2\n"])
def test_what_nobody_recognises_is_one_sentence_with_what_can_be_read(content: str) -> None:
    with pytest.raises(InputError) as caught:
        readers.read(content, "mine")
    (problem,) = caught.value.problems
    assert all(reader.TITLE in problem.hint for reader in readers.READERS)


@pytest.mark.parametrize("reader", [oha, autocannon, k6, vegeta, fortio], ids=lambda one: one.NAME)
def test_json_of_a_tool_with_a_number_that_is_none_is_refused(reader) -> None:
    path = next(one for one in WHOLE if one.stem.partition("-")[0].lower() == reader.NAME.lower())
    document = json.loads(path.read_text(encoding="utf-8"))
    for key in ("summary", "requests", "metrics", "throughput", "ActualQPS"):
        if key in document:
            document[key] = "many"
    with pytest.raises(InputError):
        reader.read(json.dumps(document), "x")


@pytest.mark.parametrize(
    ("percent", "name", "q"),
    [
        ("50", "p50", 0.5),
        ("99.9", "p999", 0.999),
        ("99.000", "p99", 0.99),
        ("2.5", "p025", 0.025),
        ("100.000", "max", 1.0),
        ("0", "min", 0.0),
    ],
)
def test_a_percentile_keeps_its_share_in_its_name(percent: str, name: str, q: float) -> None:
    assert percentile_name(percent) == name
    assert share(name) == pytest.approx(q)


def test_wrk_and_wrk2_are_told_apart() -> None:
    assert one("wrk2-sound.txt").tool == "wrk2"
    assert one("wrk-sound.txt").tool == "wrk"


ODD = (None, True, "x", "", [], {}, [1], {"a": 1}, -5, 10**400, float("nan"), float("inf"))


def places(document, path=()):
    """The path of every value in a JSON document."""
    items = document.items() if isinstance(document, dict) else enumerate(document)
    for key, value in items:
        yield (*path, key)
        if isinstance(value, dict | list):
            yield from places(value, (*path, key))


def changed(document, path, value):
    """The text of a document with one value exchanged."""
    copied = json.loads(json.dumps(document))
    holder = copied
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = value
    return json.dumps(copied)


@pytest.mark.parametrize(
    "path", [one for one in WHOLE if one.suffix == ".json"], ids=lambda path: path.name
)
def test_any_odd_value_in_json_is_read_over_or_refused_and_no_fault(path: Path) -> None:
    document = json.loads(path.read_text(encoding="utf-8"))
    chosen = random.Random(1).sample(list(places(document)), 20)
    for place, value in itertools.product(chosen, ODD):
        try:
            found = readers.read(changed(document, place, value), path.name)
        except InputError as error:
            assert error.problems
        else:
            audited = audit(found)
            assert len(audited.results) == len(found)


def test_wrk_opens_as_many_connections_on_each_thread() -> None:
    uneven = text("wrk-sound.txt").replace("2 threads", "4 threads")
    (figures,) = readers.read(uneven, "x")
    assert figures.connections == 48
    assert "48 of 50 requested" in figures.notes[-1]


def test_the_average_of_hey_is_left_out_where_it_divides_by_too_few() -> None:
    many = text("hey-sound.txt").replace("57019 responses", "2000000 responses")
    (figures,) = readers.read(many, "x")
    assert "mean" not in figures.times_s
    assert any("too high" in note for note in figures.notes)


def test_the_rate_of_autocannon_is_per_second_however_often_it_samples() -> None:
    printed = one("autocannon_text-interval.txt")
    assert printed.throughput_per_s == pytest.approx(82)
    assert printed.received_per_s == pytest.approx(178e3)
    written = one("autocannon-interval.json")
    assert written.throughput_per_s == pytest.approx(106)
    assert written.received_per_s == pytest.approx(229_708)


def test_requests_of_autocannon_are_responses_and_not_what_it_sent() -> None:
    assert one("autocannon_text-interval.txt").requests == 246
    assert one("autocannon_text-timeout.txt").requests == 159


def test_bodies_that_autocannon_did_not_expect_are_wrong() -> None:
    assert one("autocannon_text-mismatch.txt").wrong_responses == {"another body": 10_000}


def test_responses_of_bombardier_that_were_cut_off_are_failures_beside_their_status() -> None:
    figures = one("bombardier_text-cut.txt")
    assert (figures.requests, figures.failures) == (1000, {"unexpected EOF": 101})


def test_bombardier_without_a_byte_prints_a_throughput_without_a_unit() -> None:
    refused = one("bombardier_text-refused.txt")
    assert refused.without_response == refused.requests == 45_480


@pytest.mark.parametrize("name", ["vegeta-one.json", "vegeta_text-one.txt"])
def test_the_throughput_of_one_request_of_vegeta_is_over_its_time(name: str) -> None:
    assert one(name).throughput_per_s == pytest.approx(1 / 1.625e-3, rel=1e-3)


def test_samples_of_several_workers_of_autocannon_last_as_long_as_those_of_one() -> None:
    assert one("autocannon-workers.json").duration_s == 2


def test_late_samples_of_autocannon_last_as_long_as_the_run() -> None:
    late = one("autocannon-late.json")
    assert late.duration_s == 2.93
    assert late.timed_per_s == pytest.approx(400 / 2.93)


NEWER_TABLE = """\
                 min         max         median      p95         p99         mean        sd         +/- sd
request     :      215us     12.32ms       900us      3.90ms      8.10ms      1.13ms      1.62ms    88.63%
     215us-    6.27ms [/////////////////////////////////////// ]( 98.00/ 98.00%)
    6.27ms-   12.32ms [/                                       ](  2.00/100.00%)
connect     :        8us       276us       120us       250us       270us       146us        78us    58.00%
TTFB        :     7.13ms      7.52ms      7.30ms      7.50ms      7.52ms      7.31ms       113us    56.00%
req/s       :     878.84      899.78      886.18      890.18      899.18      886.18        5.02    66.00%
"""  # noqa: E501


def test_the_newer_table_of_h2load_has_percentiles() -> None:
    older = text("h2load-sound.txt")
    found = readers.reading(older.partition(" " * 21 + "min")[0] + NEWER_TABLE, "x")
    (figures,), (original,) = found.figures, readers.read(older, "x")
    percentiles = {"p50": 0.9e-3, "p95": 3.9e-3, "p99": 8.1e-3}
    assert figures.times_s == pytest.approx({**original.times_s, **percentiles})
    assert not found.left
    assert len(readers.read(f"{older.partition(' ' * 21)[0]}{NEWER_TABLE}\n{older}", "x")) == 2
