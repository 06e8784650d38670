"""Files in which ab, h2load, k6, oha and vegeta kept every request, as these tools wrote them."""

from __future__ import annotations

import io
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from plimsoll.aggregate.outcomes import BY_NAME
from plimsoll.errors import InputError
from plimsoll.intake import READERS, ab, h2load, k6, oha, vegeta
from plimsoll.intake.rows import ROWS, ImportStats, Reader, ReadOptions

NAMES = ("ab", "h2load", "k6", "oha", "vegeta")
GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "intake"
TOOLS: dict[str, Reader] = {reader.NAME: reader for reader in READERS if reader.NAME in NAMES}
FILES = sorted(path for path in GOLDEN.iterdir() if path.stem.partition("-")[0] in TOOLS)
OF_REQUESTS = [path for path in FILES if path.stem != "ab-percentiles"]
MS, S = 1_000_000, 1_000_000_000

Rows = list[dict[str, Any]]


def read(reader: Reader, content: bytes, *, strict: bool = False) -> tuple[Rows, ImportStats]:
    tally = ImportStats("file")
    batches = list(reader.read(io.BytesIO(content), ReadOptions(strict=strict), tally))
    assert all(len(batch) for batch in batches)
    return pa.Table.from_batches(batches, ROWS).to_pylist(), tally


def golden(name: str) -> tuple[Rows, ImportStats]:
    reader = TOOLS[name.partition("-")[0]]
    return read(reader, (GOLDEN / name).read_bytes())


def outcomes(rows: Rows) -> dict[str, int]:
    return dict(Counter(row["outcome"] for row in rows))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_each_file_is_recognised_by_the_reader_of_its_tool_alone(path: Path) -> None:
    beginning = path.read_bytes()[:4096]
    recognised = [reader.NAME for reader in READERS if reader.recognises(beginning)]
    assert recognised == [path.stem.partition("-")[0]]


@pytest.mark.parametrize("path", OF_REQUESTS, ids=lambda path: path.name)
def test_each_request_begins_before_it_ends_and_has_an_outcome_of_ours(path: Path) -> None:
    rows, tally = golden(path.name)
    assert tally.broken == 0
    assert tally.kept == len(rows) > 0
    for row in rows:
        assert row["sent_ns"] <= row["done_ns"]
        assert row["sent_ns"] <= (row["first_byte_ns"] or row["sent_ns"]) <= row["done_ns"]
        assert row["outcome"] in BY_NAME
        assert row["due_ns"] is None
        assert row["received_bytes"] is row["sent_bytes"] is None


@pytest.mark.parametrize("path", OF_REQUESTS, ids=lambda path: path.name)
@pytest.mark.parametrize("kept", [0.35, 0.5, 0.8])
def test_a_file_that_is_cut_off_loses_its_last_line_and_says_so(path: Path, kept: float) -> None:
    content = path.read_bytes()
    cut = content[: round(len(content) * kept)].rstrip(b"\n")
    rows, tally = read(TOOLS[path.stem.partition("-")[0]], cut)
    whole, _ = golden(path.name)
    assert rows == whole[: len(rows)]
    assert tally.broken == 1
    assert tally.broken_lines[0].line == cut.count(b"\n") + 1


@pytest.mark.parametrize("path", OF_REQUESTS, ids=lambda path: path.name)
def test_a_broken_line_is_named_and_the_others_are_read_unless_strict(path: Path) -> None:
    reader = TOOLS[path.stem.partition("-")[0]]
    lines = path.read_bytes().splitlines(keepends=True)
    lines.insert(3, b"what is this?\n")
    content = b"".join(lines)
    rows, tally = read(reader, content)
    whole, _ = golden(path.name)
    assert rows == whole
    assert (tally.broken, tally.broken_lines[0].line) == (1, 4)
    with pytest.raises(InputError, match="file:4: "):
        read(reader, content, strict=True)


@pytest.mark.parametrize("reader", [ab, k6, oha], ids=lambda one: one.NAME)
def test_a_file_without_the_columns_is_refused_with_their_names(reader: Reader) -> None:
    with pytest.raises(InputError, match="has no column `") as caught:
        read(reader, b"a,b\n1,2\n")
    assert caught.value.problems[0].hint


@pytest.mark.parametrize("name", ["ab-sound.tsv", "k6-mixed.csv", "h2load-sound.tsv"])
def test_a_file_without_line_feeds_is_refused(name: str) -> None:
    content = (GOLDEN / name).read_bytes().replace(b"\n", b"\r")
    with pytest.raises(InputError, match="contains a carriage return"):
        read(TOOLS[name.partition("-")[0]], content)


@pytest.mark.parametrize("reader", [h2load, vegeta], ids=lambda one: one.NAME)
def test_a_file_that_is_empty_holds_no_request(reader: Reader) -> None:
    rows, tally = read(reader, b"")
    assert (rows, tally.read) == ([], 0)


def test_ab_has_whole_seconds_and_milliseconds_and_says_so() -> None:
    rows, tally = golden("ab-slow.tsv")
    assert len(rows) == 20
    assert all(row["sent_ns"] % S == 0 for row in rows)
    assert {(row["done_ns"] - row["sent_ns"]) // MS for row in rows} <= set(range(200, 212))
    assert any("whole seconds" in remark for remark in tally.remarks)
    assert tally.durations_step_s == 0.001
    assert golden("vegeta-sound.csv")[1].durations_step_s == 0.0


def test_ab_does_not_tell_short_connecting_from_none() -> None:
    rows, _ = golden("ab-sound.tsv")
    assert all(row["connect_ns"] is None for row in rows)
    line = b"starttime\tseconds\tctime\tdtime\tttime\twait\nx\t100\t3\t20\t23\t19\n"
    ((row,), _) = read(ab, line)
    assert (row["connect_ns"], row["first_byte_ns"] - row["sent_ns"]) == (3 * MS, 22 * MS)


def test_failed_requests_of_ab_look_like_all_others_and_that_is_said() -> None:
    rows, tally = golden("ab-status.tsv")
    assert outcomes(rows) == {"ok": 40}  # four of them had a status of 500
    assert all(row["status"] is None for row in rows)
    assert any("does not log which requests failed" in remark for remark in tally.remarks)
    assert not tally.has_outcomes


def test_the_percentiles_of_ab_are_refused_with_what_serves_instead() -> None:
    with pytest.raises(InputError, match=r"`-e` file, which has 101 percentiles") as caught:
        golden("ab-percentiles.csv")
    (problem,) = caught.value.problems
    assert "ab -g" in problem.hint
    assert "plimsoll audit" in problem.hint


def test_the_step_of_instants_is_told_where_a_tool_rounded_them() -> None:
    steps = {path.name: golden(path.name)[1].instants_step_s for path in OF_REQUESTS}
    assert {name for name, step in steps.items() if step} == {
        "ab-slow.tsv", "ab-sound.tsv", "ab-status.tsv", "k6-refused.csv", "k6-seconds.csv"
    }  # fmt: skip
    assert set(steps.values()) == {0.0, 1.0}


def test_h2load_has_microseconds_and_status_codes() -> None:
    rows, _ = golden("h2load-status.tsv")
    assert outcomes(rows) == {"ok": 36, "wrong_status": 4}
    assert Counter(row["status"] for row in rows) == {200: 36, 500: 4}
    assert all(row["sent_ns"] % 1000 == 0 for row in rows)


def test_a_stream_of_h2load_that_failed_has_no_status() -> None:
    ((row,), _) = read(h2load, b"1795295172987877\t-1\t595\n")
    assert (row["status"], row["outcome"]) == (None, "io_failed")
    assert row["done_ns"] - row["sent_ns"] == 595_000


def test_columns_that_h2load_may_add_one_day_are_read_over() -> None:
    line = b"1795295172987877\t200\t595\t1\t2\n"
    assert h2load.recognises(line)
    assert read(h2load, line)[0][0]["status"] == 200


def test_requests_that_h2load_lost_are_missing_and_that_is_said() -> None:
    rows, tally = golden("h2load-mixed.tsv")  # 40 were asked for
    assert len(rows) == 17
    assert any("connection was lost" in remark for remark in tally.remarks)


def test_k6_has_one_request_for_its_nine_points() -> None:
    rows, tally = golden("k6-seconds.csv")
    assert len(rows) == 10
    assert tally.left_out == {k6.OTHERS: 40}
    assert sum(row["connect_ns"] > 0 for row in rows) == 2  # two users, one connection each
    assert {row["kind"] for row in rows} == {"http://127.0.0.1:18100/2048"}
    assert k6.COARSE in tally.remarks
    assert all(row["done_ns"] % S == 0 for row in rows)


def test_k6_is_exact_where_it_was_told_to_be() -> None:
    rows, tally = golden("k6-rfc3339.csv")
    text = (GOLDEN / "k6-rfc3339.csv").read_text("utf-8").splitlines()[1].split(",")[1]
    assert k6.COARSE not in tally.remarks
    assert str(rows[0]["done_ns"] % S).rjust(9, "0") == text[20:-1].ljust(9, "0")
    assert k6.COARSE not in golden("k6-timeout.csv")[1].remarks


def test_a_request_of_k6_begins_with_its_connecting_and_ends_with_its_last_byte() -> None:
    rows, _ = golden("k6-timeout.csv")
    points = [line.split(",") for line in (GOLDEN / "k6-timeout.csv").read_text().splitlines()]
    first = {point[0]: float(point[2]) for point in points[1:10]}
    row = rows[0]
    length_ms = first["http_req_duration"] + first["http_req_connecting"]
    assert row["done_ns"] - row["sent_ns"] == pytest.approx(length_ms * MS, abs=2)
    assert row["done_ns"] - row["first_byte_ns"] == round(first["http_req_receiving"] * MS)
    assert row["connect_ns"] == round(first["http_req_connecting"] * MS)


def test_k6_names_why_a_request_had_no_answer() -> None:
    mixed, _ = golden("k6-mixed.csv")
    assert outcomes(mixed) == {"ok": 18, "wrong_status": 1, "closed_early": 1}
    assert outcomes(golden("k6-timeout.csv")[0]) == {"ok": 4, "timed_out_waiting": 1}
    refused, tally = golden("k6-refused.csv")
    assert outcomes(refused) == {"connect_refused": 4}
    assert {row["errno"] for row in refused} == {111}
    assert k6.ENDLESS in tally.remarks


@pytest.mark.parametrize(
    ("code", "error", "receiving", "outcome"),
    [
        ("1220", "read: connection reset by peer", False, "reset_waiting"),
        ("1220", "read: connection reset by peer", True, "reset_receiving"),
        ("1050", "request timeout", True, "timed_out_receiving"),
        ("1211", "dial: i/o timeout", False, "connect_timeout"),
        ("1213", "dial: unknown errno", False, "connect_failed"),
        ("1310", "x509: unknown authority", False, "connect_failed"),
        ("1101", "lookup: no such host", False, "connect_unreachable"),
        ("1000", "EOF", False, "closed_waiting"),
        ("1000", "what nobody knows", False, "io_failed"),
    ],
)
def test_the_codes_of_errors_of_k6_are_outcomes(
    code: str, error: str, receiving: bool, outcome: str
) -> None:
    assert k6._ending(code, error, receiving)[0] == outcome


def test_what_a_script_of_k6_expects_is_right() -> None:
    content = (GOLDEN / "k6-mixed.csv").read_text("utf-8")
    lines = [
        line.replace(",1.000000,", ",0.000000,") if line.startswith("http_req_failed") else line
        for line in content.splitlines(keepends=True)
    ]
    rows, _ = read(k6, "".join(lines).encode())
    assert outcomes(rows) == {"ok": 19, "closed_early": 1}


def test_k6_tells_what_it_never_sent_and_how_many_users_it_had() -> None:
    rows, tally = golden("k6-dropped.csv")
    assert any(remark.startswith("7 iterations were dropped") for remark in tally.remarks)
    assert (tally.kept, tally.never_sent) == (14, 7)
    assert {row["threads"] for row in rows} == {None, 1, 2}
    assert tally.users == 2


def test_a_dropped_iteration_of_k6_would_have_sent_as_many_requests_as_the_others() -> None:
    lines = (GOLDEN / "k6-dropped.csv").read_bytes().splitlines(keepends=True)
    ended = [line for line in lines if line.startswith(b"iterations,")]
    halved = b"".join(line for line in lines if line not in ended[::2])
    _, tally = read(k6, halved)
    assert (tally.kept, tally.never_sent) == (14, 14)


def test_users_of_k6_are_known_wherever_their_points_are() -> None:
    lines = (GOLDEN / "k6-dropped.csv").read_bytes().splitlines(keepends=True)
    users = [line for line in lines if line.startswith(b"vus,")]
    others = [line for line in lines if not line.startswith(b"vus,")]
    _, tally = read(k6, b"".join([*others, *users]))
    assert tally.users == 2
    assert golden("vegeta-sound.csv")[1].users == 0


def test_a_file_of_k6_without_a_request_says_nothing_of_its_instants() -> None:
    header = (GOLDEN / "k6-seconds.csv").read_bytes().splitlines(keepends=True)[0]
    rows, tally = read(k6, header)
    assert (rows, tally.instants_step_s, tally.remarks) == ([], 0.0, [])


def test_k6_without_status_is_refused_because_nobody_knows_how_requests_ended() -> None:
    content = (GOLDEN / "k6-seconds.csv").read_bytes().replace(b",status,", b",other,")
    with pytest.raises(InputError, match="`status`"):
        read(k6, content)


def test_the_points_of_a_request_of_k6_may_lie_in_two_blocks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole, _ = golden("k6-mixed.csv")
    for size in (700, 1111, 5000):
        monkeypatch.setattr("plimsoll.intake.blocks.BLOCK_BYTES", size)
        rows, tally = golden("k6-mixed.csv")
        assert rows == whole
        assert tally.broken == 0


def test_a_request_of_k6_of_which_a_point_is_missing_is_left_out_and_counted() -> None:
    lines = (GOLDEN / "k6-mixed.csv").read_bytes().splitlines(keepends=True)
    place = next(n for n, line in enumerate(lines) if line.startswith(b"http_req_waiting"))
    rows, tally = read(k6, b"".join(lines[:place] + lines[place + 1 :]))
    assert len(rows) == 19
    assert tally.left_out[k6.TORN] == 1


OHA = b"request-start,DNS,DNS+dialup,Response-delay,request-duration,bytes,status\n"


def test_oha_counts_from_its_own_zero_and_has_only_what_was_answered() -> None:
    rows, tally = read(
        oha, OHA + b"0.000012,0.00001,0.0002,0.0015,0.0016,2048,200\n0.0021,0,0,0,0.0004,0,503\n"
    )
    assert [row["sent_ns"] for row in rows] == [12_000, 2_100_000]
    assert [row["connect_ns"] for row in rows] == [200_000, 0]
    assert [row["first_byte_ns"] for row in rows] == [1_512_000, None]
    assert [row["done_ns"] for row in rows] == [1_612_000, 2_500_000]
    assert outcomes(rows) == {"ok": 1, "wrong_status": 1}
    assert any("only requests with a response" in remark for remark in tally.remarks)


def test_requests_that_oha_lost_are_missing_and_that_is_said() -> None:
    rows, tally = golden("oha-mixed.csv")  # 40 were asked for
    assert outcomes(rows) == {"ok": 32, "wrong_status": 2}
    assert not tally.has_failures
    assert not golden("h2load-mixed.tsv")[1].has_failures
    assert golden("vegeta-mixed.csv")[1].has_failures


def test_an_empty_body_has_no_first_byte_for_oha() -> None:
    rows, _ = golden("oha-corrected.csv")
    assert {row["first_byte_ns"] for row in rows} == {None}
    assert sum(row["connect_ns"] > 0 for row in rows) == 4


def test_vegeta_says_in_words_why_a_request_had_no_answer() -> None:
    mixed, _ = golden("vegeta-mixed.csv")
    assert outcomes(mixed) == {"ok": 45, "wrong_status": 3, "closed_early": 2}
    assert outcomes(golden("vegeta-timeout.csv")[0]) == {"ok": 8, "timed_out_waiting": 2}
    refused, _ = golden("vegeta-refused.csv")
    assert outcomes(refused) == {"connect_refused": 5}
    assert {row["errno"] for row in refused} == {111}
    assert {row["kind"] for row in refused} == {"GET http://127.0.0.1:18199/"}


def test_lengths_of_bodies_are_those_of_the_log() -> None:
    assert {row["body_bytes"] for row in golden("vegeta-sound.csv")[0]} == {8}
    assert {row["body_bytes"] for row in golden("oha-sound.csv")[0]} == {2048}
    assert {row["body_bytes"] for row in golden("k6-mixed.csv")[0]} == {None}


@pytest.mark.parametrize("name", ["vegeta-sound.csv", "vegeta-mixed.json"])
def test_a_request_that_vegeta_numbered_and_did_not_write_is_missing(name: str) -> None:
    lines = (GOLDEN / name).read_bytes().splitlines(keepends=True)
    _, whole = read(vegeta, b"".join(lines))
    _, holed = read(vegeta, b"".join([*lines[:4], *lines[6:]]))
    assert holed.missing == whole.missing + 2
    _, broken = read(vegeta, b"".join([*lines[:4], b"what is this?\n", *lines[5:]]))
    assert (broken.broken, broken.missing) == (1, whole.missing)


def test_an_old_line_of_vegeta_without_a_number_is_a_request() -> None:
    line = (GOLDEN / "vegeta-mixed.json").read_bytes().splitlines(keepends=True)[0]
    rows, tally = read(vegeta, line.replace(b'"seq":3,', b""))
    assert (len(rows), tally.broken, tally.missing) == (1, 0, 0)
    rows, tally = read(vegeta, line + line.replace(b'"seq":3,', b'"seq":"x",'))
    assert (len(rows), tally.broken) == (1, 1)


def test_json_of_vegeta_is_read_as_its_csv() -> None:
    from_json, _ = golden("vegeta-mixed.json")
    from_csv, _ = golden("vegeta-mixed.csv")
    assert len(from_json) == 15
    assert all(row in from_csv for row in from_json)


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        ('Get "http://a/": EOF', "closed_waiting"),
        ("unexpected EOF", "closed_early"),
        ('Get "http://a/": read tcp 1->2: read: connection reset by peer', "reset_waiting"),
        ("read tcp 1->2: read: connection reset by peer", "reset_receiving"),
        ('Post "http://a/": write tcp 1->2: write: connection reset by peer', "reset_sending"),
        ('Get "http://a/": dial tcp 1: i/o timeout', "connect_timeout"),
        ('Get "http://a/": dial tcp: lookup b: no such host', "connect_unreachable"),
        ('Get "http://a/": dial tcp 1: socket: too many open files', "too_many_files"),
        ('Get "http://a/": net/http: HTTP/1.x transport: malformed HTTP x', "malformed_head"),
        ("context deadline exceeded (Client.Timeout or while reading body)", "timed_out_receiving"),
        ("what nobody knows", "io_failed"),
        ("", "io_failed"),
    ],
)
def test_the_errors_of_vegeta_are_outcomes(error: str, outcome: str) -> None:
    quoted = '"' + error.replace('"', '""') + '"'
    line = f"1795295174308328727,0,764184,0,0,{quoted},,,0,GET,http://a/,\n"
    assert outcomes(read(vegeta, line.encode())[0]) == {outcome: 1}


def test_older_files_of_vegeta_have_fewer_columns() -> None:
    ((row,), _) = read(vegeta, b"1795295174308328727,200,764184,0,5,,aGVsbG8=,attack,0\n")
    assert (row["kind"], row["outcome"]) == (None, "ok")


@pytest.mark.parametrize(
    ("reader", "line"),
    [
        (h2load, b"1795295172987877\t200\t-5\n"),
        (h2load, b"1795295172987877\t99\t5\n"),
        (h2load, b"1795295172987877\t2000\t5\n"),
        (h2load, b"99999999999999999999999\t200\t5\n"),
        (oha, OHA + b"0.1,0,0,0,nan,1,200\n"),
        (oha, OHA + b"0.1,0,0,0,inf,1,200\n"),
        (oha, OHA + b"0.1,0,0,0,0.1,1,\n"),
        (vegeta, b"1795295174308328727,70000,1,0,0,,,,0,GET,x,\n"),
        (vegeta, b'{"attack":"","code":200,"timestamp":"today","latency":5}\n'),
    ],
)
def test_a_number_that_can_not_be_breaks_its_line_only(reader: Reader, line: bytes) -> None:
    rows, tally = read(reader, line)
    assert rows == []
    assert tally.broken == 1
