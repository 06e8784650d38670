"""Published figures written down as TOML or CSV, with the names of `ReportedStatistics`.

TOML, one file for each experiment:

```toml
title = "Why our server is the fastest"     # of the document
address = "https://example.org/fastest"     # its URL; optional

[all]                                       # values of every result; optional
tool = "wrk 4.1.0"
connections = 512
link_bits_per_s = 10e9

[[result]]
place = "Table 1"                           # where in the document
subject = "ours"
endpoint = "/plaintext"
throughput_per_s = 81514
times_ms = { p50 = 1.02, p99 = 4.21 }       # or `times_s`, `times_us`
failures = { timeout = 3 }
notes = ["read off a chart"]
```

The file may also contain `left_out` (a list of omitted figures of the document), `[[claim]]` tables
(the document's claims) and `[here]` (counterparts of its servers). They are not results, and this
module does not read them.

CSV has a line of names and then one line per result. The names are the same; times are separate
columns (`p99_ms`, `mean_s`, `max_us`), and `failures` and `wrong_responses` are numbers. Empty
fields are unknown.
"""

from __future__ import annotations

import csv
import dataclasses
import difflib
import io
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast, get_args

from plimsoll.errors import InputError, Problem
from plimsoll.tool_output import numbers, reported
from plimsoll.tool_output.numbers import Marks, UnreadableNumber
from plimsoll.tool_output.reported import ReportedStatistics, Source

NAME = "table"
TITLE = "a TOML or CSV table of published figures"

Kind = Literal["text", "number", "counts", "times", "texts", "choice", "flag"]
Row = dict[str, Any]

_UNITS_S = {"times_s": 1.0, "times_ms": 1e-3, "times_us": 1e-6}
_TIME_COLUMN = re.compile(r"(min|mean|stddev|max|p\d+)_(s|ms|us)")
_CHOICES = {
    "counting": get_args(reported.Counting),
    "times": get_args(reported.Times),
    "timed": get_args(reported.Timed),
    "model": get_args(reported.Model),
}
_KINDS_OF_TYPES: dict[str, Kind] = {
    "str": "text",
    "float": "number",
    "float | None": "number",
    "int | None": "number",
    "bool": "flag",
    "Mapping[str, float]": "counts",
    "tuple[str, ...]": "texts",
}
_KINDS: dict[str, Kind] = {
    one.name: _KINDS_OF_TYPES.get(str(one.type), "choice")
    for one in dataclasses.fields(ReportedStatistics)
    if one.name not in ("source", "times_s", "restated")
}
KINDS: dict[str, Kind] = {"place": "text", **_KINDS, **dict.fromkeys(_UNITS_S, "times")}
"""Every key of a result, and the type of its value."""

_TOP = ("title", "address", "left_out", "all", "here", "claim", "result")
_TOML = re.compile(r"^\s*\[\[\s*result\s*\]\]", re.MULTILINE)
_ENOUGH = 2
"""Minimum number of known columns by which a CSV file is recognised."""


class _Wrong(Exception):  # noqa: N818 - it never leaves this module
    """An invalid value."""


def recognises(text: str) -> bool:
    """Whether a text is such a table."""
    return bool(_TOML.search(text)) or _is_csv(text)


def read(text: str, name: str) -> tuple[ReportedStatistics, ...]:
    """The results of a table.

    Args:
        text: The table.
        name: Name of the file, for places in messages.

    Raises:
        InputError: It is not TOML, or keys or values are invalid; contains every mistake.
    """
    return _read_toml(text, name) if _TOML.search(text) else _read_csv(text, name)


def facts_of(settings: Sequence[str]) -> Row:
    """Parses facts about every result, given as `KEY=VALUE`.

    Raises:
        InputError: A key is unknown, or its value has the wrong type.
    """
    rows: Row = {}
    for setting in settings:
        key, _, text = setting.partition("=")
        value = _number_or_text(text) if KINDS.get(key) == "number" else text
        try:
            rows[key] = _value(key, value)
        except _Wrong as wrong:
            raise InputError([Problem("settings", str(wrong), _hint(key))]) from wrong
    return rows


def with_facts(one: ReportedStatistics, added: Row) -> ReportedStatistics:
    """A result with added facts, except `place`."""
    facts = {key: added[key] for key in added if key != "place"}
    if "in_flight_each" in added:
        facts.setdefault("in_flight_known", True)
    return dataclasses.replace(one, **facts)


def _read_toml(text: str, name: str) -> tuple[ReportedStatistics, ...]:
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError([Problem(name, f"is not valid TOML: {error}")]) from error
    except RecursionError as error:
        raise InputError([Problem(name, "is nested too deeply")]) from error
    shared, rows, problems = _tables(document, text, name)
    source = Source(str(document.get("title", name)), "", str(document.get("address", "")))
    found: list[ReportedStatistics] = []
    for place, row in rows:
        one, wrong = _figures({**shared, **row}, shared, source, place)
        problems += wrong
        found.append(one)
    if problems:
        raise InputError(list(dict.fromkeys(problems)))
    return tuple(found)


def _tables(
    document: Row, text: str, name: str
) -> tuple[Row, list[tuple[str, Row]], list[Problem]]:
    """The common values, each result with its place, and mistakes of the file as a whole."""
    problems = [
        Problem(name, f"unknown key `{key}` here", f"keys: {', '.join(_TOP)}")
        for key in document
        if key not in _TOP
    ]
    shared: Any = document.get("all", {})
    results: Any = document.get("result")
    if not isinstance(shared, dict) or not isinstance(results, list):
        problem = Problem(name, "`all` must be a table and `result` a list of tables")
        raise InputError([*problems, problem])
    lines = [text.count("\n", 0, match.end()) + 1 for match in _TOML.finditer(text)]
    rows = [
        (f"{name}:{line}", cast("Row", row))
        for line, row in zip(lines, cast("list[Any]", results), strict=False)
        if isinstance(row, dict)
    ]
    return cast("Row", shared), rows, problems


def _is_csv(text: str) -> bool:
    names = {cell.strip() for cell in _first_line(text).split(_separator(text))}
    known = {name for name in names if name in KINDS or _TIME_COLUMN.fullmatch(name)}
    return len(known) >= _ENOUGH and not (names & {"tool"} and len(names) == 1)


def _first_line(text: str) -> str:
    return text.lstrip("\ufeff").partition("\n")[0].strip().replace('"', "")


def _separator(text: str) -> str:
    """The separator of fields; spreadsheets with decimal commas use semicolons."""
    return max(",;\t", key=_first_line(text).count)


def _read_csv(text: str, name: str) -> tuple[ReportedStatistics, ...]:
    bare = io.StringIO(text.lstrip("\ufeff"))
    reader = csv.DictReader(bare, skipinitialspace=True, delimiter=_separator(text))
    try:
        rows = [(reader.line_num, cells) for cells in reader]
    except csv.Error as error:
        raise InputError([Problem(f"{name}:{reader.line_num}", f"malformed: {error}")]) from error
    known = numbers.marks(
        cell for _, cells in rows for cell in cells.values() if isinstance(cell, str)
    )
    found: list[ReportedStatistics] = []
    problems: list[Problem] = []
    for line, cells in rows:
        place = f"{name}:{line}"
        if None in cells or None in cells.values():
            problems.append(Problem(place, "has a different number of fields than the header"))
            continue
        try:
            row = _row(cells, known)
        except UnreadableNumber as error:
            problems.append(Problem(place, str(error), "remove thousands separators"))
            continue
        one, wrong = _figures(row, {}, Source(name, f"line {line}"), place)
        problems += wrong
        found.append(one)
    if problems:
        raise InputError(problems)
    return tuple(found)


def _row(cells: Mapping[str, str], known: Marks) -> Row:
    """A line of CSV as a table of TOML.

    Raises:
        UnreadableNumber: A number is ambiguous.
    """
    row: Row = {}
    for name, cell in cells.items():
        column, value = name.strip(), cell.strip()
        timed = _TIME_COLUMN.fullmatch(column)
        if not value:
            continue
        if timed:
            row.setdefault(f"times_{timed[2]}", {})[timed[1]] = _cell(value, known)
        elif KINDS.get(column) == "counts":
            row[column] = {"failed" if column == "failures" else "wrong": _cell(value, known)}
        elif KINDS.get(column) == "texts":
            row[column] = [value]
        elif KINDS.get(column) == "flag":
            row[column] = {"true": True, "false": False}.get(value.lower(), value)
        else:
            row[column] = _cell(value, known) if KINDS.get(column) == "number" else value
    return row


def _cell(value: str, known: Marks) -> float | str | None:
    """A number of a spreadsheet; other text is returned unchanged.

    Raises:
        UnreadableNumber: It is ambiguous.
    """
    if not value[:1].isdigit():
        return _number_or_text(value)
    return numbers.number(value, known)


def _number_or_text(value: str) -> float | str:
    try:
        return float(value)
    except ValueError:
        return value


def _figures(
    row: Row, shared: Row, source: Source, place: str
) -> tuple[ReportedStatistics, list[Problem]]:
    """A result, and its mistakes.

    Args:
        row: Its values, including the common ones.
        shared: The common values alone, since notes of both are kept.
        source: The document.
        place: File and line.
    """
    values: Row = {}
    problems: list[Problem] = []
    times: dict[str, float] = {}
    for key, value in row.items():
        try:
            kept = _value(key, value)
        except _Wrong as wrong:
            problems.append(Problem(place, str(wrong), _hint(key)))
            continue
        if key in _UNITS_S:
            times |= {name: one * _UNITS_S[key] for name, one in kept.items()}
        else:
            values[key] = kept
    if shared.get("notes") and row.get("notes") is not shared["notes"] and "notes" in values:
        values["notes"] = (*shared["notes"], *values["notes"])
    where = dataclasses.replace(source, place=values.pop("place", source.place))
    return ReportedStatistics(source=where, times_s=times, **values), problems


def _value(key: str, value: Any) -> Any:  # noqa: PLR0911 - one for each kind
    """A value converted for `ReportedStatistics`.

    Raises:
        _Wrong: The key is unknown, or its value has the wrong type.
    """
    match KINDS.get(key):
        case "text" if isinstance(value, str):
            return value
        case "number" if _is_number(value):
            return value
        case "counts" if isinstance(value, dict):
            return _counts(key, cast("Row", value))
        case "times" if isinstance(value, dict):
            return _times(key, cast("Row", value))
        case "texts" if isinstance(value, list):
            return tuple(map(str, cast("list[object]", value)))
        case "flag" if isinstance(value, bool):
            return value
        case "choice" if value in _CHOICES[key]:
            return value
        case None:
            raise _Wrong(f"unknown key `{key}` here")
        case kind:
            raise _Wrong(f"`{key}` must be {_must_be(kind, key)}, not `{value}`")


def _counts(key: str, table: Row) -> Row:
    for name, value in table.items():
        if not _is_number(value):
            raise _Wrong(f"`{name}` of `{key}` must be a number, 0 or more, not `{value}`")
    return table


def _times(key: str, table: Row) -> Row:
    for name in table:
        if name not in ("mean", "stddev") and reported.share(name) is None:
            raise _Wrong(f"`{key}` has no statistic `{name}`")
    return _counts(key, table)


def _is_number(value: Any) -> bool:
    return not isinstance(value, bool) and isinstance(value, int | float) and 0 <= value < 1e18  # noqa: PLR2004


def _must_be(kind: Kind, key: str) -> str:
    if kind == "choice":
        return " or ".join(f"`{choice}`" for choice in _CHOICES[key])
    return {
        "text": "a quoted string",
        "number": "a number, 0 or more",
        "texts": "a list of strings",
        "flag": "`true` or `false`",
    }.get(kind, "a table of numbers")


def _hint(key: str) -> str:
    if key in _UNITS_S:
        return "times: `min`, `mean`, `stddev`, `p50`, `p99`, `p999` (which is 99.9 %), `max`"
    if key in KINDS:
        return ""
    near = difflib.get_close_matches(key, KINDS, n=1)
    return f"did you mean `{near[0]}`?" if near else "see the keys in docs/audit.md"
