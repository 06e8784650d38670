"""Samples of a JTL in CSV: any columns in any order, with or without a header."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

from plimsoll import texts
from plimsoll.errors import InputError, Problem
from plimsoll.intake import blocks, instants, limits
from plimsoll.intake.blocks import WHOLE, WORD, Layout, WantedColumn

if TYPE_CHECKING:
    import pyarrow as pa

    from plimsoll.intake.rows import ImportStats, ReadOptions

NAMES = (
    "timeStamp elapsed label responseCode responseMessage threadName dataType success"
    " failureMessage bytes sentBytes grpThreads allThreads URL Filename Latency Encoding"
    " SampleCount ErrorCount Hostname IdleTime Connect"
).split()
"""Every column that JMeter writes, in its order."""

_WHOLES = (
    "elapsed",
    "bytes",
    "sentBytes",
    "allThreads",
    "SampleCount",
    "Latency",
    "IdleTime",
    "Connect",
)
_WORDS = (
    "label",
    "responseCode",
    "responseMessage",
    "failureMessage",
    "success",
    "Hostname",
)
PART_NAME = re.compile(r"(.+)-\d+", re.DOTALL)
"""Label of a part of a sample: the label of the sample with a number."""

_REQUIRED = ("timeStamp", "elapsed")

LENGTHS = ("elapsed", "Latency", "IdleTime", "Connect")
"""Columns with durations in milliseconds."""

MOST_LINES_SOUGHT = 100
"""Lines in which a timestamp is looked for that shows the pattern of all."""

MS = 1_000_000
"""A millisecond in nanoseconds, the unit of every time in a JTL."""


def recognises(beginning: bytes) -> bool:
    """Whether a file with this beginning has the header of a JTL."""
    first = beginning.splitlines()[:1]
    words = set(re.findall(r"\w+", first[0].decode("utf-8", "replace"))) if first else set[str]()
    return words.issuperset(_REQUIRED)


def samples(
    stream: BinaryIO,
    held: bytes,
    options: ReadOptions,
    tally: ImportStats,
    are_threads_needed: Callable[[], bool],
) -> Iterator[pa.Table]:
    """The samples of a file, block by block, with the wanted columns that exist.

    Args:
        stream: The file, after what is held.
        held: Its first line.
        options: How to read it.
        tally: Counts broken lines.
        are_threads_needed: Whether what was read so far needs the names of threads of all rows.

    Raises:
        InputError: It is not a JTL, or a line is broken and `options` is strict.
    """
    headed = recognises(held)
    _require_text(held, options, tally, headed=headed)
    rows = b"" if headed else held
    tally.used |= {"separator", "timestamp_format"} | (set() if headed else {"columns"})
    separator = options.separator or _separator(_text(held), tally, headed=headed)
    names = _names(_text(held), separator) if headed else options.columns
    _require(names, tally)
    pattern = options.timestamp_format
    if not pattern:
        rows, pattern = _begun(stream, rows, names, separator)
    if instants.needs_zone(pattern):
        tally.used.add("time_zone")
        tally.has_local_dates = options.time_zone == "UTC"
    tally.instants_step_s = instants.step_s(pattern)
    read = _reader(pattern, options.time_zone, tally.file)
    columns = tuple(_columns(names, read, _NeedsThreads(are_threads_needed)))
    layout = Layout(tuple(names), separator, columns)
    yield from blocks.rows(stream, rows, 1 + headed, layout, tally, strict=options.strict)


def _text(line: bytes) -> str:
    """A line without its end."""
    return line.decode("utf-8", "replace").partition("\r")[0].rstrip("\n")


def _separator(text: str, tally: ImportStats, *, headed: bool) -> str:
    """The separator of columns, from the first line."""
    found = re.match(r'"?\w+"?(\W)' if headed else r"[\d/: .-]*\d([^\w.:/ -])", text)
    if found is None:
        message = "the column separator is ambiguous"
        hint = "set it with `separator=`"
        raise InputError([Problem(f"{tally.file}:1", message, hint)])
    return found.group(1)


def _names(text: str, separator: str) -> tuple[str, ...]:
    """The names of a header; variables are quoted, as other values are."""
    return tuple(name.strip() for name in texts.values(text, separator))


def _require_text(first: bytes, options: ReadOptions, tally: ImportStats, *, headed: bool) -> None:
    """Requires text with a header, or column names in the options.

    Raises:
        InputError: There are no column names, or the file is not text.
    """
    if b"\x00" in first:
        raise InputError([Problem(tally.file, "is not a text file", "give the results file")])
    if headed:
        blocks.require_line_feeds(first, tally)
    elif not options.columns:
        hint = f"name its columns with `columns=`: {', '.join(NAMES[:4])}, …"
        raise InputError([Problem(f"{tally.file}:1", "is not a JMeter header", hint)])


def _require(names: tuple[str, ...], tally: ImportStats) -> None:
    """Requires the necessary columns, each once.

    Raises:
        InputError: One is missing or occurs twice.
    """
    where = f"{tally.file}:1"
    missing = next((name for name in _REQUIRED if name not in names), None)
    if missing:
        hint = f"requests need the columns `{'` and `'.join(_REQUIRED)}`"
        raise InputError([Problem(where, f"column `{missing}` is missing", hint)])
    twice = next((name for name in NAMES if names.count(name) > 1), None)
    if twice:
        raise InputError([Problem(where, f"column `{twice}` occurs twice")])


def _begun(
    stream: BinaryIO, rows: bytes, names: tuple[str, ...], separator: str
) -> tuple[bytes, str]:
    """The beginning of the rows, up to the first timestamp that can be read, and its pattern.

    Before it there may be empty lines, a second header, and malformed rows. Without it, the pattern
    is empty, that of whole numbers, so every row is reported with its timestamp.
    """
    line = rows = rows or stream.readline(limits.LINE_BYTES.most + 1)
    for _ in range(MOST_LINES_SOUGHT):
        stamp = _stamp(_text(line), names, separator)
        pattern = instants.recognised(stamp)
        if pattern or (stamp.isascii() and stamp.isdigit()):
            return rows, pattern
        line = stream.readline(limits.LINE_BYTES.most + 1 - len(rows))
        rows += line
    return rows, ""


def _stamp(text: str, names: tuple[str, ...], separator: str) -> str:
    """The timestamp of a row; empty if there is none."""
    values = texts.values(text, separator)
    place = names.index("timeStamp")
    return values[place] if len(values) > place else ""


def _columns(
    names: tuple[str, ...], read: Any, needs_threads: Callable[[pa.Table], bool]
) -> Iterator[WantedColumn]:
    """The wanted columns that exist; `read` converts timestamps."""
    check = limits.instants("timeStamp", MS)
    yield WantedColumn("timeStamp", WHOLE, required=True, read=read, check=check)
    for name in _WHOLES:
        if name in names:
            check = limits.lengths(name, MS) if name in LENGTHS else None
            yield WantedColumn(name, WHOLE, name in _REQUIRED, check=check)
    yield from (WantedColumn(name, WORD) for name in _WORDS if name in names)
    if "threadName" in names:  # thousands of names, needed for parts and for engines
        yield WantedColumn("threadName", WORD, needed=needs_threads)
    if "URL" in names and "responseMessage" not in names:  # the other sign of a transaction
        yield WantedColumn("URL", WORD)


@dataclass
class _NeedsThreads:
    """Whether a block needs the names of its threads.

    It may have parts of samples, or rows of several engines. The first block shows that, and the
    second, fourth and so on, for an engine that began later.

    Attributes:
        always: Whether all blocks need them, by those before.
        blocks: Blocks so far.
    """

    always: Callable[[], bool]
    blocks: int = 0

    def __call__(self, block: pa.Table) -> bool:
        self.blocks += 1
        return self.blocks.bit_count() == 1 or self.always() or _may_have_parts(block)


def _may_have_parts(block: pa.Table) -> bool:
    """Whether a block has a label of a part."""
    chunks: list[Any] = block["label"].chunks if "label" in block.column_names else []
    labels = {label for chunk in chunks for label in chunk.dictionary.to_pylist()}
    return any(PART_NAME.fullmatch(label) for label in labels if label)


def _reader(pattern: str, time_zone: str, file: str) -> Any:
    """A function that reads formatted timestamps; None if they are whole numbers."""
    if pattern in instants.NUMBERS:
        return None
    return functools.partial(instants.milliseconds, pattern=pattern, time_zone=time_zone, file=file)
