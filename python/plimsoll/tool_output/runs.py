"""Splits a text into runs of tools.

Each reader of text has `MARKS`: patterns of lines that its tool prints, in their order; one that
may be printed several times begins with `(?#again)`. A run begins with the first of them, or with
one that begins with `(?#head)`; without it there is no result. Tools share some of them. A run
continues as long as its marks are in the order of some tool: each line narrows the possible tools;
a line that none of them would print next begins another run.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from plimsoll.tool_output.pasted import TextLine
from plimsoll.tool_output.reported import ReportedStatistics
from plimsoll.tool_output.run import OutputRun

AGAIN = "(?#again)"
"""Prefix of a pattern whose line a tool may print several times in a row."""

HEAD = "(?#head)"
"""Prefix of a pattern with which a run may begin, besides the first of its tool."""

_ENOUGH = 2
"""Minimum number of marks of a run; one alone may occur in any text."""


class TextReader(Protocol):
    """A module that reads the text output of a tool."""

    @property
    def NAME(self) -> str:  # noqa: N802 - a constant of a module
        """Name of the module."""
        ...

    @property
    def TITLE(self) -> str:  # noqa: N802
        """What it reads, in words."""
        ...

    @property
    def MARKS(self) -> tuple[str, ...]:  # noqa: N802
        """Forms of lines that the tool prints, in their order."""
        ...

    @property
    def PASSED_OVER(self) -> str:  # noqa: N802
        """Pattern of lines with digits that contain nothing to read."""
        ...

    def read(self, run: OutputRun) -> ReportedStatistics:
        """The result in a run."""
        ...


@dataclass(frozen=True)
class _Mark:
    """A pattern of lines of a tool: the index of the tool, and its own in `MARKS`."""

    form: re.Pattern[str]
    tool: int
    place: int
    again: bool
    head: bool


@dataclass
class _Open:
    """A run whose end has not been reached.

    Attributes:
        first: Position of its first mark.
        tools: Tools that it may be of, each with the position of its last mark in `MARKS`.
        last: Position of its last mark.
        is_headed: Whether it begins as its tool does.
        marks: How many it has.
    """

    first: int
    tools: Mapping[int, int]
    last: int
    is_headed: bool
    marks: int = 1


def split(
    lines: Sequence[TextLine], readers: Sequence[TextReader], name: str
) -> list[tuple[TextReader, OutputRun]]:
    """The runs in a text, each with its reader, in their order.

    Args:
        lines: Lines of the text.
        readers: Readers, the most usual first.
        name: Name of the file.
    """
    every = _found(lines, tuple(readers))
    found = [one for one in every if one.marks >= _ENOUGH]
    runs: list[tuple[TextReader, OutputRun]] = []
    above = 0
    for number, one in enumerate(found):
        end = found[number + 1].first if number + 1 < len(found) else len(lines)
        place = f"line {lines[one.first].number}" if len(found) > 1 else ""
        reader = readers[min(one.tools)]
        run = OutputRun(
            name,
            place,
            lines[one.first : end],
            lines[above : one.first],
            one.last - one.first + 1,
            None if one.is_headed else lines[_stray(every, one)],
        )
        runs.append((reader, run))
        above = one.last + 1
    return runs


def _stray(every: Sequence[_Open], headless: _Open) -> int:
    """Position of the first line behind the last run with a head, up to one without."""
    first = headless.first
    for one in reversed(every[: every.index(headless)]):
        if one.is_headed or one.marks >= _ENOUGH:
            break
        first = one.first
    return first


def _found(lines: Sequence[TextLine], readers: tuple[TextReader, ...]) -> list[_Open]:
    marks, is_any = _marks(tuple(reader.MARKS for reader in readers))
    found: list[_Open] = []
    for position, line in enumerate(lines):
        if not line.text or not is_any.match(line.text):
            continue
        seen = [mark for mark in marks if mark.form.match(line.text)]
        now = found[-1] if found else None
        goes_on = _next(now.tools, seen) if now else {}
        if now and goes_on:
            now.tools, now.last, now.marks = goes_on, position, now.marks + 1
        else:
            tools = _next({}, seen)
            is_headed = any(mark.head for mark in seen)
            found.append(_Open(position, tools, position, is_headed))
    return found


def _next(tools: Mapping[int, int], seen: Sequence[_Mark]) -> dict[int, int]:
    """The tools that would print this line next, each with the position of the mark that it is.

    Args:
        tools: Tools that the run may be of, each with the position of its last mark; empty for a
            run that begins.
        seen: The marks that the line is.
    """
    found: dict[int, int] = {}
    for mark in seen:
        last = tools.get(mark.tool, -1)
        is_next = mark.place > last or (mark.again and mark.place == last)
        if is_next and (not tools or mark.tool in tools):
            found.setdefault(mark.tool, mark.place)
    return found


@functools.lru_cache(maxsize=1)
def _marks(
    of_readers: tuple[tuple[str, ...], ...],
) -> tuple[tuple[_Mark, ...], re.Pattern[str]]:
    """Every mark, and an expression for a line that is any of them: most lines are none."""
    every = tuple(
        _Mark(re.compile(rf"\s*{mark}"), tool, place, AGAIN in mark, place == 0 or HEAD in mark)
        for tool, marks in enumerate(of_readers)
        for place, mark in enumerate(marks)
    )
    forms = dict.fromkeys(mark for marks in of_readers for mark in marks)
    return every, re.compile(rf"\s*(?:{'|'.join(forms)})")
