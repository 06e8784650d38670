"""Samples of a JTL in CSV: any columns in any order, with or without a header."""

from __future__ import annotations

import csv
import functools
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, BinaryIO

from plimsoll.errors import CampaignError, Problem
from plimsoll.intake import blocks, instants
from plimsoll.intake.blocks import WHOLE, WORD, Column, Layout

if TYPE_CHECKING:
    import pyarrow as pa

    from plimsoll.intake.rows import Asked, Tally

NAMES = (
    "timeStamp elapsed label responseCode responseMessage threadName dataType success"
    " failureMessage bytes sentBytes grpThreads allThreads URL Filename Latency Encoding"
    " SampleCount ErrorCount Hostname IdleTime Connect"
).split()
"""Every column that JMeter writes, in its order."""

HEADER_BYTES = 1 << 16
"""A first line that is longer is none."""

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
)
PART_NAME = re.compile(r"(.+)-\d+", re.DOTALL)
"""How the parts of a sample are labelled, behind the label of the whole."""

_REQUIRED = ("timeStamp", "elapsed")
_MARK = b"\xef\xbb\xbf"


def recognises(beginning: bytes) -> bool:
    """Whether a file that begins so has the header of a JTL."""
    first = beginning.removeprefix(_MARK).splitlines()[:1]
    words = set(re.findall(r"\w+", first[0].decode("utf-8", "replace"))) if first else set[str]()
    return words.issuperset(_REQUIRED)


def samples(stream: BinaryIO, held: bytes, asked: Asked, tally: Tally) -> Iterator[pa.Table]:
    """The samples of a file, block by block, with the columns that are wanted and there.

    Args:
        stream: The file, behind what is held.
        held: Its first line.
        asked: How it is to be read.
        tally: Takes the account of broken lines.

    Raises:
        CampaignError: It is no JTL, or a line is broken and `asked` is strict.
    """
    first = held.removeprefix(_MARK)
    headed = recognises(first)
    _require_text(first, asked, tally, headed=headed)
    row = stream.readline(HEADER_BYTES) if headed else first
    separator = asked.separator or _separator(_text(first), tally, headed=headed)
    names = _names(_text(first), separator) if headed else asked.columns
    _require(names, tally)
    columns = tuple(_columns(names, _stamp(_text(row), names, separator), asked))
    layout = Layout(tuple(names), separator, columns)
    yield from blocks.rows(stream, row, 1 + headed, layout, tally, strict=asked.strict)


def _text(line: bytes) -> str:
    """A line without its end."""
    return line.decode("utf-8", "replace").partition("\r")[0].rstrip("\n")


def _separator(text: str, tally: Tally, *, headed: bool) -> str:
    """What stands between columns, as the first line has it."""
    found = re.match(r'"?\w+"?(\W)' if headed else r"[\d/: .-]*\d([^\w.:/ -])", text)
    if found is None:
        message = "it cannot be told what separates the columns"
        hint = "say it with `--separator`"
        raise CampaignError([Problem(f"{tally.file}:1", message, hint)])
    return found.group(1)


def _names(text: str, separator: str) -> tuple[str, ...]:
    """The names of a header; variables stand in quotes there, as other values do."""
    return tuple(name.strip() for name in next(csv.reader([text], delimiter=separator)))


def _require_text(first: bytes, asked: Asked, tally: Tally, *, headed: bool) -> None:
    """Does nothing when columns are named by the first line, or by who asks.

    Raises:
        CampaignError: They are not, or it is no text at all.
    """
    if b"\x00" in first:
        raise CampaignError([Problem(tally.file, "is no text", "name the file of results")])
    if headed:
        blocks.require_line_feeds(first, tally)
    elif not asked.columns:
        hint = f"name its columns: `--columns {','.join(NAMES[:4])},…`"
        raise CampaignError([Problem(f"{tally.file}:1", "is no header of JMeter", hint)])


def _require(names: tuple[str, ...], tally: Tally) -> None:
    """Does nothing when there are columns enough.

    Raises:
        CampaignError: There are not.
    """
    where = f"{tally.file}:1"
    missing = next((name for name in _REQUIRED if name not in names), None)
    if missing:
        hint = f"a request cannot be placed without `{'` and `'.join(_REQUIRED)}`"
        raise CampaignError([Problem(where, f"there is no column `{missing}`", hint)])
    twice = next((name for name in NAMES if names.count(name) > 1), None)
    if twice:
        raise CampaignError([Problem(where, f"the column `{twice}` is there twice")])


def _stamp(text: str, names: tuple[str, ...], separator: str) -> str:
    """The timestamp of the first row; empty when there is none."""
    values = next(csv.reader([text], delimiter=separator), list[str]())
    place = names.index("timeStamp")
    return values[place] if len(values) > place else ""


def _columns(names: tuple[str, ...], first: str, asked: Asked) -> Iterator[Column]:
    """The columns that are wanted and there."""
    yield Column("timeStamp", WHOLE, required=True, read=_reader(first, asked))
    yield from (Column(name, WHOLE, name in _REQUIRED) for name in _WHOLES if name in names)
    yield from (Column(name, WORD) for name in _WORDS if name in names)
    if "threadName" in names:  # thousands of names, which only parts are told by
        yield Column("threadName", WORD, needed=_may_have_parts)
    if "URL" in names and "responseMessage" not in names:  # which else tells transactions
        yield Column("URL", WORD)


def _may_have_parts(block: pa.Table) -> bool:
    """Whether a sample of a block is labelled as a part is."""
    chunks: list[Any] = block["label"].chunks if "label" in block.column_names else []
    labels = {label for chunk in chunks for label in chunk.dictionary.to_pylist()}
    return any(PART_NAME.fullmatch(label) for label in labels if label)


def _reader(first: str, asked: Asked) -> Any:
    """What reads the timestamps; None where they are whole numbers."""
    pattern = asked.timestamp_format or instants.recognised(first)
    if pattern in ("", "ms"):
        return None
    return functools.partial(instants.milliseconds, pattern=pattern, time_zone=asked.time_zone)
