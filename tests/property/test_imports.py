"""A JTL of any columns, order and quoting is read as it was; none of it is lost in silence."""

from __future__ import annotations

import csv
import io
from typing import Any, Literal
from unittest.mock import patch

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from examples import some
from plimsoll.intake import blocks, jmeter, jtl_csv
from plimsoll.intake.rows import ROWS, ImportStats, ReadOptions

MS = 1_000_000

WORDS = st.text(
    st.characters(blacklist_categories=("Cs", "Cc"), blacklist_characters="\x85\u2028\u2029")
    | st.sampled_from(list(",;\t\"'\n|")),
    max_size=12,
)
NUMBERS = st.integers(0, 86_400_000)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "timeStamp": st.integers(10**12, 17 * 10**11),
    "elapsed": NUMBERS,
    "label": WORDS,
    "responseCode": st.sampled_from(["200", "404", ""]),
    "responseMessage": WORDS,
    "threadName": WORDS,
    "success": st.sampled_from(["true", "false"]),
    "failureMessage": WORDS,
    "bytes": NUMBERS,
    "sentBytes": NUMBERS,
    "grpThreads": NUMBERS,
    "allThreads": NUMBERS,
    "URL": WORDS,
    "Latency": NUMBERS,
    "IdleTime": NUMBERS,
    "Connect": NUMBERS,
}
REQUIRED = ("timeStamp", "elapsed")
OPTIONAL = [name for name in VALUES if name not in REQUIRED]
QUOTING: list[Literal[0, 1, 2]] = [csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]
SEPARATORS = st.sampled_from([",", ";", "\t", "|"])


@st.composite
def files(draw: st.DrawFn, least: int = 0) -> tuple[list[dict[str, Any]], str, bytes]:
    """Samples, the separator, and the file they make."""
    chosen = [*REQUIRED, *draw(st.lists(st.sampled_from(OPTIONAL), unique=True))]
    names = draw(st.permutations(chosen))
    row = st.fixed_dictionaries({name: VALUES[name] for name in names})
    samples = draw(st.lists(row, min_size=least, max_size=12))
    separator, end = draw(SEPARATORS), draw(st.sampled_from(["\n", "\r\n"]))
    quoting = draw(st.sampled_from(QUOTING))
    text = io.StringIO(newline="")
    text.write(separator.join(names) + end)
    writer = csv.writer(text, delimiter=separator, quoting=quoting, lineterminator=end)
    writer.writerows([[sample[name] for name in names] for sample in samples])
    return samples, separator, text.getvalue().encode()


def read(content: bytes) -> tuple[list[dict[str, Any]], ImportStats]:
    tally = ImportStats("results.csv")
    batches = list(jmeter.read(io.BytesIO(content), ReadOptions(), tally))
    return pa.Table.from_batches(batches, ROWS).to_pylist(), tally


def expected(sample: dict[str, Any]) -> tuple[Any, ...]:
    start = sample["timeStamp"] * MS
    end = start + (sample["elapsed"] + sample.get("IdleTime", 0)) * MS
    threads, received = sample.get("allThreads"), sample.get("bytes")
    return start, end, sample.get("label"), received, sample.get("sentBytes"), threads


def found(row: dict[str, Any]) -> tuple[Any, ...]:
    names = ("sent_ns", "done_ns", "kind", "received_bytes", "sent_bytes", "threads")
    return tuple(row[name] for name in names)


def is_request(sample: dict[str, Any]) -> bool:
    """Whether it is left out neither as a transaction nor as a part; words may make it so."""
    return "responseMessage" in sample or sample.get("URL") != "null"


@some(20)
@given(files(), st.sampled_from([16, 100, 1 << 20]))
def test_what_was_written_is_read_whatever_the_columns_and_the_blocks(
    made: tuple[list[dict[str, Any]], str, bytes], block: int
) -> None:
    samples, _, content = made
    with patch.object(blocks, "BLOCK_BYTES", block):
        rows, tally = read(content)
    kept = [sample for sample in samples if is_request(sample)]
    left_out = sum(tally.left_out.values())
    assert tally.broken == 0
    assert len(rows) + left_out == len(samples)
    if left_out == len(samples) - len(kept):
        assert [found(row) for row in rows] == [expected(sample) for sample in kept]


@some(20)
@given(files(least=1), st.data())
def test_a_file_that_is_cut_anywhere_gives_what_is_whole_and_names_the_rest(
    made: tuple[list[dict[str, Any]], str, bytes], data: st.DataObject
) -> None:
    samples, _, content = made
    header = content.index(b"\n") + 1
    cut = data.draw(st.integers(header, len(content)))
    whole, _ = read(content)
    rows, tally = read(content[:cut])
    assert rows == whole[: len(rows)]
    accounted = len(rows) + sum(tally.left_out.values())
    assert accounted <= len(samples)
    rest = content[header:cut]
    if tally.broken == 0:
        assert rest.endswith((b"\n", b"\r")) or not rest.strip()
        again = csv.reader(io.StringIO(rest.decode(), newline=""), delimiter=made[1])
        assert accounted == sum(1 for _ in again)


@some(20)
@given(files(least=2), st.data())
def test_a_line_of_noise_is_named_and_takes_no_other_with_it(
    made: tuple[list[dict[str, Any]], str, bytes], data: st.DataObject
) -> None:
    samples, separator, content = made
    lines = content.splitlines(keepends=True)
    if len(lines) != len(samples) + 1:
        return  # a value goes on over the end of a line, and noise within it is part of it
    whole, _ = read(content)
    at = data.draw(st.integers(1, len(lines)))
    noise = data.draw(st.sampled_from([b"noise\n", b'"\n', b"x" + separator.encode() + b'"y\n']))
    rows, tally = read(b"".join([*lines[:at], noise, *lines[at:]]))
    assert rows == whole
    assert [broken.line for broken in tally.broken_lines] == [at + 1]


@given(st.permutations(jtl_csv.NAMES))
def test_a_header_is_recognised_in_any_order(names: list[str]) -> None:
    assert jmeter.recognises(",".join(names).encode() + b"\n1,2\n")
