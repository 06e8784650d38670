"""A run: the lines that a tool printed for one measurement, and the fields in them.

A pattern is a regular expression for a whole line in which `<…>` matches a number:

| sign | stands for |
| --- | --- |
| `<n>` | a number of a column, with a multiple or without: `4.53k` |
| `<r>` | the same at the end of a line, so that blanks may separate thousands |
| `<c>` | a count, without decimals and multiple; adjacent numbers are one |
| `<k>` | a count that the tool may round: `33k` |
| `<t>` | a duration with its unit: `1.42ms`, `2.0 secs` |
| `<b>`, `<d>` | bytes with their unit, with 1,024 or 1,000 per kB: `304.20MB` |

A number is read completely or refused with its line.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NoReturn

from plimsoll.errors import InputError, Problem
from plimsoll.tool_output import numbers
from plimsoll.tool_output.numbers import Marks, UnreadableNumber
from plimsoll.tool_output.pasted import TextLine
from plimsoll.tool_output.reported import Source
from plimsoll.tool_output.restated import Figure

Values = tuple[float | None, ...]

_DIGITS = r"[~≈]?[-+]?\.?\d\S*"
_WORD = r"(?:ns|us|µs|μs|ms|secs|seconds|s|(?:10\s)?(?:sec|min)|hr)\b"
_NONE = rf"-?(?:nan|NaN|inf)\w*(?:\s{_WORD})?|-(?=\s|$)|N/A"
_COUNT = rf"({_DIGITS}(?:(?<!,)\s+(?:\d\S*|[kKMG]\b))*|{_NONE})"
_FORMS = {
    "n": rf"({_DIGITS}|{_NONE})",
    "r": rf"({_DIGITS}(?: \d{{3}}(?!\d)\S*)*|{_NONE})",
    "c": _COUNT,
    "k": _COUNT,
    "t": rf"({_DIGITS}(?:\s{_WORD})?|{_NONE})",
    "b": rf"({_DIGITS}(?:\s?[kKMGT]?i?B)?|{_NONE})",
    "d": rf"({_DIGITS}(?:\s?[kKMGT]?i?B)?|{_NONE})",
}
_SIGN = re.compile(r"<([nrcktbd])>")
_READ: dict[str, Callable[[str, Marks], float | None]] = {
    "n": numbers.number,
    "r": numbers.number,
    "c": numbers.count,
    "k": numbers.rounded_count,
    "t": numbers.seconds,
    "b": numbers.size,
    "d": lambda text, known: numbers.size(text, known, decimal=True),
}
_HAS_DIGIT = re.compile(r"\d")
_BEGINS = re.compile(r"\s*[.,]?\d")
_ENDS = re.compile(r"\d[.,]?\s*$")
_ONLY_DIGITS = re.compile(r"\s*[\d.,'’_ ]+")
_SHOWN = 80
_AS_PRINTED = "write numbers as the tool printed them, without thousands separators"
LONGEST_COMMAND = 4096
"""Maximum length of a line that may be the command line of a tool."""


@functools.cache
def _compiled(pattern: str) -> tuple[re.Pattern[str], tuple[str, ...]]:
    """A pattern compiled for a whole line, and its signs."""
    form = _SIGN.sub(lambda match: _FORMS[match[1]], pattern)
    return re.compile(rf"\s*{form}\s*"), tuple(_SIGN.findall(pattern))


@dataclass
class OutputRun:
    """The lines of one run.

    Attributes:
        name: Name of the file.
        place: Its place in the file, if that has several; empty otherwise.
        lines: The lines, from the first one that identifies the tool.
        above: The lines between the previous run and this one, which may contain the command.
        last: Number of lines that certainly belong to the run.
        stray: The line that separated it from its head, or its own first if it never had one; None
            if it has its head.
    """

    name: str
    place: str
    lines: Sequence[TextLine]
    above: Sequence[TextLine]
    last: int
    stray: TextLine | None = None
    _used: set[int] = field(default_factory=set[int])

    @property
    def source(self) -> Source:
        """The source of its statistics."""
        return Source(self.name, self.place)

    @functools.cached_property
    def _marks(self) -> Marks:
        return numbers.marks(line.text for line in self.lines[: self.last])

    def has(self, pattern: str) -> bool:
        """Whether a line matches this pattern."""
        return next(self._matches(pattern), None) is not None

    def values(self, pattern: str) -> Values | None:
        """The numbers of the first line that matches; None if there is none.

        Raises:
            InputError: One of them cannot be read completely; with the line.
        """
        return next(self.rows(pattern), None)

    def value(self, pattern: str) -> float | None:
        """The first number of the first line that matches; None if there is none.

        Raises:
            InputError: It cannot be read completely; with the line.
        """
        found = self.values(pattern)
        return found[0] if found else None

    def rows(self, pattern: str) -> Iterator[Values]:
        """The numbers of each line that matches.

        Raises:
            InputError: One of them cannot be read completely; with the line.
        """
        signs = _compiled(pattern)[1]
        for line, match in self._matches(pattern):
            yield tuple(self._read(sign, match[group], line) for group, sign in enumerate(signs, 1))

    def before(self, pattern: str) -> OutputRun:
        """The part before the first line that matches; all of it if there is none."""
        form, _ = _compiled(pattern)
        lines = enumerate(self.lines)
        end = next((at for at, line in lines if form.fullmatch(line.text)), len(self.lines))
        return replace(self, lines=self.lines[:end], last=min(self.last, end))

    def steps(self, pattern: str) -> tuple[float, ...] | None:
        """The unit of the last digit of each number of the first line that matches, as printed.

        Returns:
            0 for a number that was not printed; None if no line matches.

        Raises:
            InputError: One of them cannot be read completely; with the line.
        """
        found = next(self._matches(pattern), None)
        if found is None:
            return None
        line, match = found
        signs = _compiled(pattern)[1]
        return tuple(self._step(sign, match[at], line) for at, sign in enumerate(signs, 1))

    def figure(self, name: str, pattern: str) -> Figure:
        """The first number of the first line that matches, with its rounding.

        Raises:
            InputError: It cannot be read completely; with the line.
        """
        steps = self.steps(pattern)
        return Figure(name, self.value(pattern), steps[0] if steps else 0.0)

    def named(self, pattern: str) -> list[tuple[str, float]]:
        """Name and number of each line that matches: `(?P<name>…)` and one number.

        Raises:
            InputError: A number cannot be read completely; with the line.
        """
        form, signs = _compiled(pattern)
        at = next(group for group in range(1, 3) if group != form.groupindex["name"])
        found = [
            (match["name"], self._read(signs[0], match[at], line))
            for line, match in self._matches(pattern)
        ]
        return [(name, value) for name, value in found if value is not None]

    def require_all(self, heading: str, pattern: str) -> None:
        """Refuses an entry below a heading, `[…] …`, that does not match.

        Args:
            heading: Pattern of the line above the entries.
            pattern: Pattern of each entry; numbers in it are checked when they are read.

        Raises:
            InputError: There is one; with its line.
        """
        is_below = False
        for line in self.lines:
            text = line.text.strip()
            if re.fullmatch(heading, text):
                is_below = True
            elif is_below and text.startswith("[") and not _compiled(pattern)[0].fullmatch(text):
                self._refuse(line, UnreadableNumber(f"`{text[:_SHOWN]}` is not a valid entry"))
            elif text and not text.startswith("["):
                is_below = False

    def require_unbroken(self, passed_over: str) -> None:
        """Refuses a number that a terminal wrapped into the next line.

        Call it after reading everything: a line that was read begins where the tool begins it.

        Args:
            passed_over: Pattern of the lines that contain nothing to read.

        Raises:
            InputError: There is one; with the line of its rest, or its beginning.
        """
        end = max([*self._used, self.last - 1]) + 1
        for position in range(1, min(end + 1, len(self.lines))):
            if self._is_broken(position, passed_over):
                line = self.lines[position]
                stated = f"`{line.text.strip()[:_SHOWN]}` is part of a number split across lines"
                self._refuse(line, UnreadableNumber(stated), "put each number on one line")

    def _is_broken(self, position: int, passed_over: str) -> bool:
        text, before = self.lines[position].text, self.lines[position - 1].text
        if position in self._used or not _BEGINS.match(text):
            return False
        is_bare = _ONLY_DIGITS.fullmatch(text) is not None
        if is_bare and position + 1 in self._used and _BEGINS.match(self.lines[position + 1].text):
            return True
        is_of_tool = position - 1 in self._used or not re.match(passed_over, before)
        may_go_on = is_bare or not re.match(passed_over, text)
        return is_of_tool and may_go_on and _ENDS.search(before) is not None

    def pairs(self, pattern: str) -> list[tuple[str, str]]:
        """Each `name=value` in the first group of the first line that matches."""
        parts = (part.partition("=") for part in self.word(pattern).split())
        return [(name, value) for name, _, value in parts if value]

    def read(self, form: Callable[[str, Marks], float | None], text: str) -> float | None:
        """A number that was not found by a pattern.

        Args:
            form: `numbers.number`, `numbers.count`, `numbers.seconds` or `numbers.size`.
            text: The complete number.

        Raises:
            InputError: It cannot be read completely; with the line.
        """
        line = next((one for one in self.lines if text in one.text), self.lines[0])
        try:
            return form(text, self._marks)
        except UnreadableNumber as error:
            self._refuse(line, error)

    def word(self, pattern: str) -> str:
        """The first group of the first line that matches; empty if there is none."""
        found = next(self._matches(pattern), None)
        return (found[1][1] or "").strip() if found else ""

    def command(self, pattern: str) -> str:
        """The first group in the lines above, the nearest first; empty if there is none."""
        for line in reversed(self.above):
            match = re.search(pattern, line.text) if len(line.text) < LONGEST_COMMAND else None
            if match is not None:
                return match[1]
        return ""

    def needed(self, pattern: str, what: str, tool: str) -> float:
        """The number in the first line that matches, which must exist.

        Raises:
            InputError: It does not; the message names the last line.
        """
        told_so = next((one for one in self.values(pattern) or () if one is not None), None)
        if told_so is not None:
            return told_so
        reported = [line for line in self.lines[: self.last] if line.text.strip()]
        message = (
            f"looks like the output of {tool} but has no `{what}`; it ends with "
            f"`{reported[-1].text.strip()[:_SHOWN]}`"
        )
        where = f"{self.name}:{reported[-1].number}"
        raise InputError([Problem(where, message, "give the complete output of the tool")])

    def unread(self, passed_over: str) -> list[TextLine]:
        """Lines with digits, up to the last line that was read, that were not used.

        Args:
            passed_over: Form of the lines that hold nothing to read.
        """
        end = max([*self._used, self.last - 1]) + 1
        return [
            line
            for position, line in enumerate(self.lines[:end])
            if position not in self._used
            and _HAS_DIGIT.search(line.text)
            and not re.match(passed_over, line.text)
        ]

    def _matches(self, pattern: str) -> Iterator[tuple[TextLine, re.Match[str]]]:
        form, _ = _compiled(pattern)
        for position, line in enumerate(self.lines):
            match = form.fullmatch(line.text)
            if match is not None:
                self._used.add(position)
                yield line, match

    def _read(self, sign: str, text: str | None, line: TextLine) -> float | None:
        if text is None:  # of two ways to print it this was not the one
            return None
        try:
            return _READ[sign](text, self._marks)
        except UnreadableNumber as error:
            self._refuse(line, error)

    def _step(self, sign: str, text: str | None, line: TextLine) -> float:
        if text is None:
            return 0.0
        try:
            return numbers.step(text, _READ[sign], self._marks)
        except UnreadableNumber as error:
            self._refuse(line, error)

    def _refuse(self, line: TextLine, error: UnreadableNumber, hint: str = _AS_PRINTED) -> NoReturn:
        raise InputError([Problem(f"{self.name}:{line.number}", str(error), hint)]) from error
