"""Published figures written down as TOML or CSV, with the names of `Figures`.

TOML, one file for each experiment:

```toml
title = "Why our server is the fastest"     # of the document
address = "https://example.org/fastest"     # where it is to be had; may be left out

[all]                                       # what holds for every result; may be left out
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

`left_out` (a list: what the document has and the file has not), `[[claim]]` tables (what the
document says of its figures) and `[here]` (what is measured here in place of its servers) may stand
in such a file; they are not results, and nothing here reads them.

CSV has a line of names and then one line for each result. The names are the same; times are columns
of their own (`p99_ms`, `mean_s`, `max_us`), and `failures` and `wrong_answers` are numbers. An
empty field says nothing.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast, get_args

from plimsoll.errors import CampaignError, Problem
from plimsoll.published import figures
from plimsoll.published.figures import Figures, Source

NAME = "table"
TITLE = "a TOML or CSV table of published figures"

Kind = Literal["text", "number", "counts", "times", "texts", "choice", "flag"]
Row = dict[str, Any]

_UNITS_S = {"times_s": 1.0, "times_ms": 1e-3, "times_us": 1e-6}
_TIME_COLUMN = re.compile(r"(min|mean|stddev|max|p\d+)_(s|ms|us)")
_CHOICES = {
    "counting": get_args(figures.Counting),
    "times": get_args(figures.Times),
    "timed": get_args(figures.Timed),
    "model": get_args(figures.Model),
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
    for one in dataclasses.fields(Figures)
    if one.name not in ("source", "times_s")
}
KINDS: dict[str, Kind] = {"place": "text", **_KINDS, **dict.fromkeys(_UNITS_S, "times")}
"""Every key that a result may have, and what its value is."""

_TOP = ("title", "address", "left_out", "all", "here", "claim", "result")
_TOML = re.compile(r"^\s*\[\[\s*result\s*\]\]", re.MULTILINE)
_ENOUGH = 2
"""Columns of a CSV file that must have known names before it is taken for one of ours."""


class _Wrong(Exception):  # noqa: N818 - it never leaves this module
    """A value that is not what it should be."""


def recognises(text: str) -> bool:
    """Whether a text is such a table."""
    return bool(_TOML.search(text)) or _is_csv(text)


def read(text: str, name: str) -> tuple[Figures, ...]:
    """The results of a table.

    Args:
        text: The table.
        name: Name of the file, for places in messages.

    Raises:
        CampaignError: It is no TOML, or keys or values are wrong; every one of them is told.
    """
    return _read_toml(text, name) if _TOML.search(text) else _read_csv(text, name)


def said(settings: Sequence[str]) -> Row:
    """What somebody says of every result, as `KEY=VALUE`.

    Raises:
        CampaignError: There is no such key, or its value is of another kind.
    """
    rows: Row = {}
    for setting in settings:
        key, _, text = setting.partition("=")
        value = _number_or_text(text) if KINDS.get(key) == "number" else text
        try:
            rows[key] = _value(key, value)
        except _Wrong as wrong:
            raise CampaignError([Problem("--set", str(wrong), _hint(key))]) from wrong
    return rows


def with_said(one: Figures, added: Row) -> Figures:
    """A result with what somebody said of it besides; `place` is not among that."""
    return dataclasses.replace(one, **{key: added[key] for key in added if key != "place"})


def _read_toml(text: str, name: str) -> tuple[Figures, ...]:
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise CampaignError([Problem(name, f"is not TOML: {error}")]) from error
    shared, rows, problems = _tables(document, text, name)
    source = Source(str(document.get("title", name)), "", str(document.get("address", "")))
    found: list[Figures] = []
    for place, row in rows:
        one, wrong = _figures({**shared, **row}, shared, source, place)
        problems += wrong
        found.append(one)
    if problems:
        raise CampaignError(list(dict.fromkeys(problems)))
    return tuple(found)


def _tables(
    document: Row, text: str, name: str
) -> tuple[Row, list[tuple[str, Row]], list[Problem]]:
    """What holds for all, each result with its place, and what is wrong with the whole."""
    problems = [
        Problem(name, f"there is no key `{key}` here", f"keys: {', '.join(_TOP)}")
        for key in document
        if key not in _TOP
    ]
    shared: Any = document.get("all", {})
    results: Any = document.get("result")
    if not isinstance(shared, dict) or not isinstance(results, list):
        problem = Problem(name, "`all` must be a table and `result` a list of tables")
        raise CampaignError([*problems, problem])
    lines = [text.count("\n", 0, match.end()) + 1 for match in _TOML.finditer(text)]
    rows = [
        (f"{name}:{line}", cast("Row", row))
        for line, row in zip(lines, cast("list[Any]", results), strict=False)
        if isinstance(row, dict)
    ]
    return cast("Row", shared), rows, problems


def _is_csv(text: str) -> bool:
    header = next(csv.reader(io.StringIO(text.lstrip("\ufeff"))), list[str]())
    names = {cell.strip() for cell in header}
    known = {name for name in names if name in KINDS or _TIME_COLUMN.fullmatch(name)}
    return len(known) >= _ENOUGH and not (names & {"tool"} and len(names) == 1)


def _read_csv(text: str, name: str) -> tuple[Figures, ...]:
    reader = csv.DictReader(io.StringIO(text.lstrip("\ufeff")), skipinitialspace=True)
    found: list[Figures] = []
    problems: list[Problem] = []
    for cells in reader:
        place = f"{name}:{reader.line_num}"
        if None in cells or None in cells.values():
            problems.append(Problem(place, "has not as many fields as the first line has names"))
            continue
        one, wrong = _figures(_row(cells), {}, Source(name, f"line {reader.line_num}"), place)
        problems += wrong
        found.append(one)
    if problems:
        raise CampaignError(problems)
    return tuple(found)


def _row(cells: Mapping[str, str]) -> Row:
    """A line of CSV as a table of TOML would have it."""
    row: Row = {}
    for name, cell in cells.items():
        column, value = name.strip(), cell.strip()
        timed = _TIME_COLUMN.fullmatch(column)
        if not value:
            continue
        if timed:
            row.setdefault(f"times_{timed[2]}", {})[timed[1]] = _number_or_text(value)
        elif KINDS.get(column) == "counts":
            row[column] = {"failed" if column == "failures" else "wrong": _number_or_text(value)}
        elif KINDS.get(column) == "texts":
            row[column] = [value]
        else:
            row[column] = _number_or_text(value) if KINDS.get(column) == "number" else value
    return row


def _number_or_text(value: str) -> float | str:
    try:
        return float(value)
    except ValueError:
        return value


def _figures(row: Row, shared: Row, source: Source, place: str) -> tuple[Figures, list[Problem]]:
    """A result, and what is wrong with it.

    Args:
        row: What it says, and what is said of all.
        shared: What is said of all alone: notes of both are kept.
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
    return Figures(source=where, times_s=times, **values), problems


def _value(key: str, value: Any) -> Any:  # noqa: PLR0911 - one for each kind
    """A value as `Figures` has it.

    Raises:
        _Wrong: There is no such key, or its value is of another kind.
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
            raise _Wrong(f"there is no key `{key}` here")
        case kind:
            raise _Wrong(f"`{key}` must be {_must_be(kind, key)}, not `{value}`")


def _counts(key: str, table: Row) -> Row:
    for name, value in table.items():
        if not _is_number(value):
            raise _Wrong(f"`{name}` of `{key}` must be a number, 0 or more, not `{value}`")
    return table


def _times(key: str, table: Row) -> Row:
    for name in table:
        if name not in ("mean", "stddev") and figures.share(name) is None:
            raise _Wrong(f"`{key}` knows no time `{name}`")
    return _counts(key, table)


def _is_number(value: Any) -> bool:
    return not isinstance(value, bool) and isinstance(value, int | float) and 0 <= value < 1e18  # noqa: PLR2004


def _must_be(kind: Kind, key: str) -> str:
    if kind == "choice":
        return " or ".join(f"`{choice}`" for choice in _CHOICES[key])
    return {
        "text": "text in quotes",
        "number": "a number, 0 or more",
        "texts": "a list of texts",
        "flag": "`true` or `false`",
    }.get(kind, "a table of numbers")


def _hint(key: str) -> str:
    if key in _UNITS_S:
        return "times: `min`, `mean`, `stddev`, `p50`, `p99`, `p999` (which is 99.9 %), `max`"
    if key in KINDS:
        return ""
    import difflib  # noqa: PLC0415 - needed to say what is wrong only

    near = difflib.get_close_matches(key, KINDS, n=1)
    return f"did you mean `{near[0]}`?" if near else "keys are those of docs/audit.md"
