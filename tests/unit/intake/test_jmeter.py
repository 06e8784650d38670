"""JTL as JMeter 2.13, 3.3 and 5.6 write it, and as it should not be."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from plimsoll.aggregate.outcomes import BY_NAME
from plimsoll.errors import InputError
from plimsoll.intake import READERS, blocks, jmeter, jtl_xml
from plimsoll.intake.rows import ROWS, ImportStats, ReadOptions

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "intake"
FILES = ("2.13.csv", "3.3.csv", "5.6.csv", "errors.csv", "3.3.jtl", "cut.jtl")
MS = 1_000_000
HEADER = "timeStamp,elapsed,label,responseCode,responseMessage,success,bytes,Latency\n"

Rows = list[dict[str, Any]]


def read(content: bytes | str, asked: ReadOptions | None = None) -> tuple[Rows, ImportStats]:
    data = content.encode() if isinstance(content, str) else content
    tally = ImportStats("results.jtl")
    batches = list(jmeter.read(io.BytesIO(data), asked or ReadOptions(), tally))
    rows = pa.Table.from_batches(batches, ROWS).to_pylist()
    assert tally.kept == len(rows)
    return rows, tally


def one(line: str, header: str = HEADER, asked: ReadOptions | None = None) -> dict[str, Any]:
    (row,), _ = read(header + line + "\n", asked)
    return row


def ends(code: str, message: str = "", failure: str = "", latency: int = 0) -> tuple[str, int]:
    header = "timeStamp,elapsed,responseCode,responseMessage,success,failureMessage,Latency\n"
    row = one(f'1,5,{code},"{message}",false,"{failure}",{latency}', header)
    return row["outcome"], row["errno"]


def shown(row: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in row.items() if value is not None)


@pytest.mark.parametrize("name", FILES)
def test_each_version_is_read_as_it_was_meant(
    name: str, golden: Callable[[str, str], None]
) -> None:
    rows, tally = read((GOLDEN / f"jmeter-{name}").read_bytes())
    lines = [
        *map(shown, rows),
        "",
        *(f"left out: {count} {reason}" for reason, count in tally.left_out.items()),
        *(f"line {broken.line}: {broken.reason}" for broken in tally.broken_lines),
        *tally.remarks,
    ]
    golden(f"intake/jmeter-{name}.txt", "\n".join(lines) + "\n")
    assert {row["outcome"] for row in rows} <= BY_NAME.keys()


@pytest.mark.parametrize("name", FILES)
def test_a_jtl_is_recognised_by_its_own_reader_alone(name: str) -> None:
    beginning = (GOLDEN / f"jmeter-{name}").read_bytes()[:4096]
    assert [one.NAME for one in READERS if one.recognises(beginning)] == ["jmeter"]


@pytest.mark.parametrize("kind", ["csv", "jtl"])
def test_what_jmeter_itself_wrote_is_the_same_in_both_formats(kind: str) -> None:
    """Two users of a plan with redirects, embedded files, transactions, and every way to fail."""
    rows, tally = read((GOLDEN / f"jmeter-5.6.3-written.{kind}").read_bytes())
    assert Counter((row["kind"], row["status"], row["outcome"]) for row in rows) == {
        ("plain", 200, "ok"): 2,
        ("redirect", 200, "ok"): 2,
        ("page", 200, "ok"): 2,
        ("red page", 200, "ok"): 2,
        ("in1", 200, "ok"): 2,
        ("in2", 503, "wrong_status"): 2,
        ("in3", 200, "ok"): 2,
        ("in4", 200, "ok"): 2,
        ("refused", None, "connect_refused"): 2,
        ("early", None, "closed_early"): 2,
        ("never", None, "closed_waiting"): 2,
        ("slow", None, "timed_out_waiting"): 2,
        ("asserted", 200, "wrong_body"): 2,
    }
    assert dict(tally.left_out) == {jtl_xml.PARTS: 22, jtl_xml.TRANSACTIONS: 4}
    assert {row["errno"] for row in rows if row["outcome"] == "connect_refused"} == {111}
    for row in rows:
        assert row["sent_ns"] <= (row["first_byte_ns"] or row["sent_ns"]) <= row["done_ns"]


def test_what_jmeter_does_not_say_is_null() -> None:
    row = one("1000,5", "timeStamp,elapsed\n")
    known = {name for name, value in row.items() if value is not None}
    assert known == {"sent_ns", "done_ns", "outcome"}


def test_a_request_is_sent_at_its_timestamp_and_done_when_elapsed_and_idle_time_are_over() -> None:
    header = "timeStamp,elapsed,Latency,IdleTime,responseCode\n"
    row = one("1000,5,3,2,200", header)
    assert row["sent_ns"] == 1000 * MS
    assert row["first_byte_ns"] == 1003 * MS
    assert row["done_ns"] == 1007 * MS


def test_a_timestamp_may_be_the_end() -> None:
    row = one("1000,5,2", "timeStamp,elapsed,IdleTime\n", ReadOptions(timestamp_is_end=True))
    assert (row["sent_ns"], row["done_ns"]) == (993 * MS, 1000 * MS)


def test_an_answer_within_a_millisecond_has_a_first_byte() -> None:
    assert one("1000,0,a,200,OK,true,9,0")["first_byte_ns"] == 1000 * MS
    failed = one("1000,9,a,Non HTTP response code: java.io.IOException,x,false,9,0")
    assert failed["first_byte_ns"] is None


def test_a_connect_time_of_0_says_nothing() -> None:
    rows, _ = read("timeStamp,elapsed,Connect\n1,5,0\n2,5,3\n")
    assert [row["connect_ns"] for row in rows] == [None, 3 * MS]


def test_a_success_is_right_whatever_its_status_and_without_one_the_status_tells() -> None:
    assert one("1,5,a,404,Not Found,true,9,3")["outcome"] == "ok"
    header = "timeStamp,elapsed,responseCode\n"
    assert one("1,5,204", header)["outcome"] == "ok"
    assert one("1,5,503", header)["outcome"] == "wrong_status"


@pytest.mark.parametrize(
    ("code", "message", "latency", "expected"),
    [
        ("java.net.SocketTimeoutException", "Read timed out", 0, ("timed_out_waiting", None)),
        ("java.net.SocketTimeoutException", "Read timed out", 7, ("timed_out_receiving", None)),
        ("java.net.SocketTimeoutException", "connect timed out", 0, ("connect_timeout", None)),
        ("org.apache.http.conn.ConnectTimeoutException", "x", 0, ("connect_timeout", None)),
        ("java.net.ConnectException", "Connection refused", 0, ("connect_refused", 111)),
        ("java.net.ConnectException", "Connection timed out", 0, ("connect_timeout", 110)),
        ("java.net.ConnectException", "Network is unreachable", 0, ("connect_unreachable", 101)),
        ("java.net.NoRouteToHostException", "No route to host", 0, ("connect_unreachable", 113)),
        ("java.net.NoRouteToHostException", "Cannot assign requested address", 0, ("no_port", 99)),
        ("java.net.BindException", "Address already in use: connect", 0, ("no_port", 98)),
        ("java.net.UnknownHostException", "nowhere", 0, ("connect_unreachable", None)),
        ("java.net.SocketException", "Connection reset", 0, ("reset_waiting", 104)),
        ("java.net.SocketException", "Connection reset", 3, ("reset_receiving", 104)),
        ("java.net.SocketException", "Broken pipe", 0, ("reset_sending", 32)),
        ("java.net.SocketException", "Too many open files", 0, ("too_many_files", 24)),
        ("java.net.SocketException", "Socket closed", 0, ("unfinished", None)),
        ("java.net.SocketException", "Unexpected end of file from server", 0,
         ("closed_waiting", None)),
        ("org.apache.http.NoHttpResponseException", "s failed to respond", 0,
         ("closed_waiting", None)),
        ("org.apache.http.ConnectionClosedException", "Premature end of chunk coded message", 4,
         ("closed_early", None)),
        ("org.apache.http.MalformedChunkCodingException", "Bad chunk header", 4,
         ("malformed_chunk", None)),
        ("org.apache.http.client.ClientProtocolException", "null", 0, ("malformed_head", None)),
        ("javax.net.ssl.SSLHandshakeException", "no cipher", 0, ("connect_failed", None)),
        ("javax.net.ssl.SSLException", "Connection reset", 0, ("reset_waiting", 104)),
        ("java.lang.IllegalStateException", "what?", 0, ("io_failed", None)),
    ],
)  # fmt: skip
def test_an_exception_keeps_its_meaning(
    code: str, message: str, latency: int, expected: tuple[str, int | None]
) -> None:
    found = ends(f"Non HTTP response code: {code}", f"Non HTTP response message: {message}",
                 latency=latency)  # fmt: skip
    assert found == expected


def test_an_exception_is_never_a_status() -> None:
    row = one("1,5,a,Non HTTP response code: java.net.ConnectException,500,false,9,0")
    assert row["status"] is None


@pytest.mark.parametrize(
    ("failure", "expected"),
    [
        ("Test failed: text expected to contain /x/", "wrong_body"),
        ("Test failed: code expected to equal /200/", "wrong_status"),
        ("The result was the wrong size: It was 2 bytes, but should have been", "wrong_length"),
        ("The operation lasted too long: It took 9 milliseconds", "timed_out_receiving"),
        ("", "wrong_body"),
    ],
)
def test_a_failed_assertion_on_a_good_status_is_a_wrong_answer(failure: str, expected: str) -> None:
    assert ends("200", "OK", failure, latency=4) == (expected, None)


def test_an_unfinished_request_has_no_end() -> None:
    row = one("1,5,a,Non HTTP response code: java.net.SocketException,Socket closed,false,9,0")
    assert (row["outcome"], row["done_ns"]) == ("unfinished", None)


@pytest.mark.parametrize(
    ("names", "engines", "bound"),
    [
        (["TG 1-1", "TG 1-2", "Other 2-1"], [None] * 3, "certain"),
        (["Shop-TG 1-1", "Admin-TG 2-1"], [None] * 2, "certain"),
        (["10.0.0.1-TG 1-1", "10.0.0.2-TG 1-1"], ["10.0.0.1", "10.0.0.2"], "certain"),
        (["load-1:1099-A-B 1-7", "load-2:1099-A-B 1-7"], ["load-1:1099", "load-2:1099"], "certain"),
        (["a-X 1-1", "b-X 1-1", "a-Y 2-1"], ["a", "b", "a"], "certain"),
        (["setUp Thread Group 1-1", "Thread Group 1-1"], [None] * 2, "certain"),
        (["a-setup-X 1-1", "b-setup-X 1-1", "a-X 1-1", "b-X 1-1"], ["a", "b"] * 2, "certain"),
        (["Load 1-1", "Other 1-1"], [None] * 2, "none"),
        (["worker", "worker"], [None] * 2, "likely"),
        ([], [None], "likely"),
    ],
)
def test_active_threads_are_those_of_an_engine(
    names: list[str], engines: list[str | None], bound: str
) -> None:
    header = "timeStamp,elapsed,label,allThreads,URL,threadName\n"
    lines = [f"{at},5,page,10,http://a/,{name}\n" for at, name in enumerate(names, 1)]
    content = header + "".join(lines) if names else "timeStamp,elapsed,allThreads\n1,5,10\n"
    rows, tally = read(content)
    assert [row["engine"] for row in rows] == engines
    assert (tally.users_bound, tally.durations_step_s) == (bound, 0.001)
    assert (jmeter.OF_ONE_ENGINE in tally.remarks) == (bound == "none")


@pytest.mark.parametrize(
    ("content", "by"),
    [
        (
            "timeStamp,elapsed,allThreads,threadName\n1,5,10,h1-T 1-1\n1,5,10,h2-T 1-1\n",
            "threadName",
        ),
        ("timeStamp,elapsed,allThreads,Hostname\n1,5,10,h1\n1,5,10,h2\n", "Hostname"),
        (
            "timeStamp,elapsed,allThreads,threadName,Hostname\n"
            "1,5,10,h:1-T 1-1,h\n1,5,10,h:2-T 1-1,h\n",
            "threadName",
        ),
        (
            '<testResults><httpSample t="5" ts="1" na="10" tn="T 1-1" hn="h1"/>'
            '<httpSample t="5" ts="1" na="10" tn="T 1-1" hn="h2"/></testResults>',
            "Hostname",
        ),
    ],
)  # fmt: skip
def test_a_log_of_several_engines_says_that_their_users_are_added(content: str, by: str) -> None:
    rows, tally = read(content)
    assert len({row["engine"] for row in rows}) == 2
    assert jmeter.OF_ENGINES.format(2, by) in tally.remarks
    assert "engines" not in str(read(content.replace("allThreads", "x").replace("na=", "x="))[1])


def test_an_engine_that_begins_after_the_first_block_is_found() -> None:
    line = f"1,5,10,h1-T 1-1,{'x' * 200}\n"
    of_block = blocks.BLOCK_BYTES // len(line) + 99
    content = "timeStamp,elapsed,allThreads,threadName,label\n" + line * of_block
    rows, tally = read(content + line.replace("h1", "h2") + line)
    assert {row["engine"] for row in rows} == {None, "h1", "h2"}
    assert jmeter.OF_ENGINES.format(2, "threadName") in tally.remarks


def test_where_transactions_count_as_requests_a_user_may_have_two() -> None:
    header = "timeStamp,elapsed,label,allThreads,threadName\n"
    assert read(header + "1,5,page,10,TG 1-1\n")[1].users_bound == "likely"


def test_labels_that_only_look_like_parts_are_requests() -> None:
    lines = "1,5,page,200,OK,true,9,3\n10,5,page-1,200,OK,true,9,3\n20,5,page,200,OK,true,9,3\n"
    rows, tally = read(HEADER + lines)
    assert [row["kind"] for row in rows] == ["page", "page-1", "page"]
    assert not tally.left_out


def test_parts_are_known_by_their_thread_and_their_time() -> None:
    header = "timeStamp,elapsed,label,threadName\n"
    lines = (
        "1,50,page,A\n2,60,page,B\n1,20,page-0,A\n2,10,page-0,C\n5,57,page-1,B\n5,10,page-1-0,B\n"
    )
    rows, tally = read(header + lines)
    assert [(row["kind"], row["sent_ns"] // MS) for row in rows] == [
        ("page", 1), ("page", 2), ("page-0", 2),
    ]  # fmt: skip
    assert dict(tally.left_out) == {jtl_xml.PARTS: 3}


@pytest.mark.parametrize("thread", [None, ""])
def test_without_thread_names_a_name_alone_makes_no_part(thread: str | None) -> None:
    header = "timeStamp,elapsed,label" + ("\n" if thread is None else ",threadName\n")
    end = "\n" if thread is None else f",{thread}\n"
    items = "".join(f"{at},490,item{end}{at + 1},47,item-1{end}" for at in range(0, 5000, 500))
    rows, tally = read(header + items)
    assert Counter(row["kind"] for row in rows) == {"item": 10, "item-1": 10}
    assert not tally.left_out
    assert jmeter.UNSURE.format(10) in tally.remarks
    _, whole = read(header + f"1,5,item{end}9,5,other-1{end}")
    assert not any("parts" in remark for remark in whole.remarks)


def test_the_samples_of_a_transaction_are_kept_when_it_is_not() -> None:
    header = "timeStamp,elapsed,label,responseMessage,threadName\n"
    said = "Number of samples in transaction : 2, number of failing samples : 0"
    rows, tally = read(f'{header}1,50,tc,"{said}",A\n1,20,tc-0,OK,A\n22,20,tc-1,OK,A\n')
    assert [row["kind"] for row in rows] == ["tc-0", "tc-1"]
    assert dict(tally.left_out) == {jtl_xml.TRANSACTIONS: 1}


def test_without_messages_what_was_sent_nowhere_is_a_transaction() -> None:
    rows, tally = read("timeStamp,elapsed,URL\n1,5,http://a/\n2,9,null\n")
    assert len(rows) == 1
    assert dict(tally.left_out) == {jtl_xml.TRANSACTIONS: 1}


def test_rows_that_stand_for_several_samples_are_left_out() -> None:
    rows, tally = read("timeStamp,elapsed,SampleCount,ErrorCount\n1,5,1,0\n2,500,80,3\n")
    assert len(rows) == 1
    assert dict(tally.left_out) == {jmeter.SEVERAL: 1}


@pytest.mark.parametrize(
    ("stamp", "asked"),
    [
        ("2020/01/01 01:00:00.250", ReadOptions(time_zone="Europe/Berlin")),
        ("2020-01-01 00:00:00.250", ReadOptions()),
        ("2019-12-31T19:00:00.250-05:00", ReadOptions()),
        ("01.01.2020 00:00:00.250", ReadOptions(timestamp_format="dd.MM.yyyy HH:mm:ss.SSS")),
        ("1577836800250", ReadOptions(timestamp_format="ms")),
    ],
)
def test_timestamps_may_be_dates(stamp: str, asked: ReadOptions) -> None:
    row = one(f"{stamp},5", "timeStamp,elapsed\n", asked)
    assert row["sent_ns"] == 1_577_836_800_250 * MS


@pytest.mark.parametrize(
    ("stamp", "pattern", "step_s"),
    [
        ("2020/01/01 00:00:00", "", 1.0),
        ("2020-01-01T00:00:00Z", "", 1.0),
        ("01.01.2020 00:00:00 SSS", "dd.MM.yyyy HH:mm:ss 'SSS'", 1.0),
        ("2020/01/01 00:00:00.000", "", 0.0),
        ("1577836800000", "", 0.0),
        ("1577836800000", "ms", 0.0),
    ],
)
def test_dates_without_milliseconds_have_a_step_of_a_second(
    stamp: str, pattern: str, step_s: float
) -> None:
    asked = ReadOptions(timestamp_format=pattern)
    rows, tally = read(f"timeStamp,elapsed,responseCode,URL\n{stamp},5,200,/\n", asked)
    assert [row["sent_ns"] for row in rows] == [1_577_836_800_000 * MS]
    assert (tally.instants_step_s, tally.remarks) == (step_s, [jmeter.COARSE] if step_s else [])


@pytest.mark.parametrize(
    ("zone", "stamp", "said", "remedy"),
    [
        ("Europe/Berlin", "2025-10-26 02:00:00.000", "occurs twice",
         "from before the change, give `time_zone='+02:00'`, if it is from after it, "
         "`time_zone='+01:00'`"),
        ("Europe/Berlin", "2025-10-26 02:59:59.999", "occurs twice", "timestamp_format=ms"),
        ("America/St_Johns", "2025-11-02 01:30:00.000", "occurs twice", "time_zone='-02:30'"),
        ("Europe/Berlin", "2025-03-30 02:30:00.000", "does not exist", "such as `time_zone='UTC'`"),
    ],
)  # fmt: skip
def test_a_date_that_a_zone_has_twice_or_never_is_refused(
    zone: str, stamp: str, said: str, remedy: str
) -> None:
    content = f"timeStamp,elapsed\n2025-03-30 01:59:59.999,5\n{stamp},5\n"
    with pytest.raises(InputError) as refused:
        read(content, ReadOptions(time_zone=zone))
    (problem,) = refused.value.problems
    assert problem.where == "results.jtl"
    assert f"`{stamp}` {said} in `{zone}`" in problem.message
    assert remedy in problem.hint


@pytest.mark.parametrize(
    ("zone", "first", "last", "apart_ms"),
    [
        ("Europe/Berlin", "2025-10-26 01:59:59.999", "2025-10-26 03:00:00.000", 7_200_001),
        ("+02:00", "2025-10-26 01:59:59.999", "2025-10-26 02:30:00.000", 1_800_001),
        ("Europe/Berlin", "2025-03-30 01:59:59.999", "2025-03-30 03:00:00.000", 1),
    ],
)
def test_dates_on_both_sides_of_a_change_of_the_clock_are_instants(
    zone: str, first: str, last: str, apart_ms: int
) -> None:
    rows, _ = read(f"timeStamp,elapsed\n{first},5\n{last},5\n", ReadOptions(time_zone=zone))
    assert rows[1]["sent_ns"] - rows[0]["sent_ns"] == apart_ms * MS


def test_a_date_that_is_none_is_a_broken_line() -> None:
    content = "timeStamp,elapsed\n2020/01/01 01:00:00.250,5\nyesterday,5\n"
    rows, tally = read(content)
    assert len(rows) == 1
    (broken,) = tally.broken_lines
    assert broken.line == 3
    assert "`yesterday` does not match `yyyy/MM/dd HH:mm:ss.SSS`" in broken.reason


@pytest.mark.parametrize(
    ("before", "broken"),
    [
        ("\n", []),
        ("\r\n \n", []),
        ("timeStamp,elapsed\n", [2]),
        ("\ntimeStamp,elapsed\nkilled\n", [3, 4]),
        ("\n" * 99, []),
    ],
    ids=["empty", "windows", "header", "killed", "many"],
)
def test_the_pattern_of_dates_is_that_of_the_first_one(before: str, broken: list[int]) -> None:
    dates = "2020/01/01 00:00:00.250,5\n2020/01/01 00:00:00.270,5\n"
    rows, tally = read("timeStamp,elapsed\n" + before + dates)
    assert [row["sent_ns"] // MS % 1000 for row in rows] == [250, 270]
    assert [one.line for one in tally.broken_lines] == broken
    named = ReadOptions(columns=("timeStamp", "elapsed"), separator=",")
    rows, tally = read(before + dates, named)
    assert [row["sent_ns"] // MS % 1000 for row in rows] == [250, 270]


def test_a_number_with_a_space_is_shown_with_it() -> None:
    _, tally = read("timeStamp,elapsed\n1, 5\n")
    assert tally.broken_lines[0].reason == "`elapsed` is ` 5`, which is not a whole number"


def test_a_file_without_a_header_is_read_by_the_columns_that_are_named() -> None:
    asked = ReadOptions(columns=("elapsed", "timeStamp", "label"))
    rows, _ = read("5,1000,a\n6,1001,b\n", asked)
    assert [(row["kind"], row["sent_ns"] // MS) for row in rows] == [("a", 1000), ("b", 1001)]


@pytest.mark.parametrize("separator", ["\t", ";", "|", ","])
def test_the_separator_is_that_of_the_header(separator: str) -> None:
    rows, _ = read(f"timeStamp{separator}elapsed{separator}label\n1{separator}5{separator}a\n")
    assert rows[0]["kind"] == "a"


def test_a_carriage_return_alone_ends_no_line() -> None:
    with pytest.raises(InputError, match="contains a carriage return"):
        read("timeStamp,elapsed,label\r1,5,a\r")
    rows, tally = read("timeStamp,elapsed,label\n1,5,a\rb\n2,5,a\n")
    assert [row["kind"] for row in rows if row["sent_ns"] == 2 * MS] == ["a"]
    assert tally.broken > 0


def test_line_ends_of_windows_and_latin_letters_are_no_trouble() -> None:
    assert one("1,5,a\r", "timeStamp,elapsed,label\r\n")["kind"] == "a"
    (row,), _ = read("timeStamp,elapsed,label\n1,5,größe\n".encode("latin-1"))
    assert row["kind"] == "größe"


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("a,b\n1,2\n", "is not a JMeter header"),
        ("label,elapsed\na,2\n", "is not a JMeter header"),
        ("timeStamp,elapsed,elapsed\n1,2,3\n", "column `elapsed` occurs twice"),
        ("\x00\x01\x02", "is not a text file"),
        ("<html><body/></html>", "is not a JMeter file: it begins with `html`"),
        ("<testResults><sample </testResults>\n<x>", "is not valid XML"),
    ],
)
def test_what_is_no_jtl_is_refused(content: str, sentence: str) -> None:
    with pytest.raises(InputError) as refused:
        read(content)
    assert sentence in str(refused.value)


@pytest.mark.parametrize("name", ["errors.csv", "cut.jtl"])
def test_a_broken_line_ends_the_reading_when_that_is_asked_for(name: str) -> None:
    with pytest.raises(InputError) as refused:
        read((GOLDEN / f"jmeter-{name}").read_bytes(), ReadOptions(strict=True))
    (problem,) = refused.value.problems
    assert problem.where.startswith("results.jtl:")


def test_a_file_without_codes_and_messages_says_so() -> None:
    _, tally = read("timeStamp,elapsed\n1,5\n")
    assert len(tally.remarks) == 2
