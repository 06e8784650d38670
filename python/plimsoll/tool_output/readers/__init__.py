"""Readers of printed and published results, one module per tool.

A tool that prints text has `MARKS`, patterns of lines in their order, and `read(run)`;
`tool_output/runs.py` finds the lines of each tool in a file. A document (JSON, a table) is read
with `recognises(text)` and `read(text, name)`, also within a text. Readers do not import each
other. Values that an output does not contain stay None; facts that a reader adds because they hold
for the tool are in the notes.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Sequence
from typing import Protocol, cast

from plimsoll import wording
from plimsoll.errors import InputError, Problem
from plimsoll.tool_output import pasted, runs
from plimsoll.tool_output.pasted import TextLine
from plimsoll.tool_output.readers import (
    ab,
    artillery,
    autocannon,
    autocannon_text,
    bombardier,
    bombardier_text,
    fortio,
    gatling,
    gatling_text,
    h2load,
    hey,
    k6,
    k6_text,
    locust,
    oha,
    oha_text,
    rewrk,
    table,
    techempower,
    vegeta,
    vegeta_text,
    wrk,
    wrk2,
)
from plimsoll.tool_output.reported import ReportedStatistics
from plimsoll.tool_output.runs import TextReader


class DocumentReader(Protocol):
    """A module that reads a document: JSON of a tool, or a table."""

    @property
    def NAME(self) -> str:  # noqa: N802 - a constant of a module
        """Name of the module."""
        ...

    @property
    def TITLE(self) -> str:  # noqa: N802
        """Name of the tool and its format."""
        ...

    def recognises(self, text: str) -> bool:
        """Whether a text is such a document."""
        ...

    def read(self, text: str, name: str) -> tuple[ReportedStatistics, ...]:
        """The results in it."""
        ...


TEXTS: tuple[TextReader, ...] = (
    wrk,
    wrk2,
    ab,
    hey,
    oha_text,
    h2load,
    k6_text,
    autocannon_text,
    bombardier_text,
    vegeta_text,
    rewrk,
    gatling_text,
)
"""Readers of text output; if a run may belong to two tools, the first one reads it."""

DOCUMENTS: tuple[DocumentReader, ...] = (
    oha,
    k6,
    autocannon,
    vegeta,
    bombardier,
    fortio,
    artillery,
    gatling,
    techempower,
    locust,
    table,
)
"""Readers of documents; the first that recognises one reads it."""

READERS = (*TEXTS, *DOCUMENTS)
"""Every reader."""

MOST = 1e18
"""Larger than any number of a load test."""

PARTS = 200
"""Maximum number of JSON objects in a text."""

_WRONG = (ValueError, TypeError, AttributeError, KeyError, OverflowError, RecursionError)


@dataclasses.dataclass(frozen=True)
class ToolOutput:
    """The results of a file.

    Attributes:
        figures: Its results, in their order.
        refused: Unreadable results, with their place.
        left: Unused lines within results, with their place.
    """

    figures: tuple[ReportedStatistics, ...]
    refused: tuple[Problem, ...] = ()
    left: tuple[Problem, ...] = ()


def read(text: str, name: str) -> tuple[ReportedStatistics, ...]:
    """The results in a text.

    Args:
        text: Output of a tool, or a table of published figures.
        name: Name of the file, for messages and sources.

    Returns:
        At least one.

    Raises:
        InputError: No reader recognises it, or a part is invalid; with the place.
    """
    found = reading(text, name)
    if found.refused:
        raise InputError(found.refused)
    return found.figures


def reading(text: str, name: str) -> ToolOutput:
    """The readable and unreadable results in a text.

    Args:
        text: Output of tools as pasted, or a document.
        name: Name of the file, for messages and sources.

    Returns:
        At least one result or refused one.

    Raises:
        InputError: No reader recognises it.
    """
    whole = pasted.unwrapped(text)
    document = next((one for one in DOCUMENTS if one.recognises(whole)), None)
    if document is not None:
        return _of_document(document, whole, name)
    found = _of_text(pasted.lines(text), name)
    if not found.figures and not found.refused:
        raise InputError([Problem(name, _unknown(text), f"supported: {known()}")])
    return found


def _of_document(reader: DocumentReader, text: str, name: str) -> ToolOutput:
    try:
        figures = _sensible(lambda: reader.read(text, name), reader.TITLE, name)
    except InputError as error:
        return ToolOutput((), tuple(error.problems))
    if not figures:
        return ToolOutput((), (Problem(name, f"looks like {reader.TITLE} but contains no result"),))
    return ToolOutput(figures)


def _of_text(lines: Sequence[TextLine], name: str) -> ToolOutput:
    """The runs of tools, and documents between them, in their order."""
    objects, rest = _objects(lines, name)
    figures = [(line, one) for line, part in objects for one in part.figures]
    refused = [problem for _, part in objects for problem in part.refused]
    left: list[Problem] = []
    for reader, run in runs.split(rest, TEXTS, name):
        first = run.lines[0].number
        if run.stray is not None:
            refused.append(_headless(run.stray, name, reader.TITLE))
            continue
        try:
            read_run, of_run = reader.read, run
            found = _sensible(lambda: (read_run(of_run),), reader.TITLE, f"{name}:{first}")  # noqa: B023
            run.require_unbroken(reader.PASSED_OVER)
        except InputError as error:
            refused += error.problems
            continue
        figures += [(first, one) for one in found]
        left += _left(run.unread(reader.PASSED_OVER), name, reader.TITLE)
    in_order = sorted(figures, key=lambda pair: pair[0])
    return ToolOutput(tuple(one for _, one in in_order), tuple(refused), tuple(left))


def _objects(
    lines: Sequence[TextLine], name: str
) -> tuple[list[tuple[int, ToolOutput]], list[TextLine]]:
    """JSON objects of tools that begin on a separate line, and the lines without them."""
    found: list[tuple[int, ToolOutput]] = []
    rest = list(lines)
    starts = [at for at, line in enumerate(lines) if line.text.lstrip().startswith("{")][:PARTS]
    text = "\n".join(line.text for line in lines) if starts else ""
    offsets = _offsets(lines) if starts else []
    behind = 0
    for at in starts:
        if offsets[at] < behind:
            continue
        begin = offsets[at] + len(lines[at].text) - len(lines[at].text.lstrip())
        end = _end_of_object(text, begin)
        part = text[begin:end]
        reader = next((one for one in DOCUMENTS if end and one.recognises(part)), None)
        if reader is None:
            continue
        behind = end
        found.append((lines[at].number, _of_document(reader, part, f"{name}:{lines[at].number}")))
        for gone in range(at, len(lines)):
            if offsets[gone] >= end:
                break
            rest[gone] = TextLine(lines[gone].number, "")
    return found, rest


def _offsets(lines: Sequence[TextLine]) -> list[int]:
    offsets, behind = [0], 0
    for line in lines:
        behind += len(line.text) + 1
        offsets.append(behind)
    return offsets


def _end_of_object(text: str, begin: int) -> int:
    """The end of the object that begins here; 0 if it does not end."""
    try:
        return json.JSONDecoder().raw_decode(text, begin)[1]
    except (json.JSONDecodeError, RecursionError):
        return 0


def _headless(stray: TextLine, name: str, title: str) -> Problem:
    message = (
        f"`{stray.text.strip()[:60]}` neither begins {title} nor goes on with it, so what follows "
        "is a part of a run"
    )
    return Problem(f"{name}:{stray.number}", message, "give the complete output of the tool")


def _left(lines: Sequence[TextLine], name: str, title: str) -> list[Problem]:
    if not lines:
        return []
    numbers = ", ".join(str(line.number) for line in lines[:SHOWN])
    more = f" and {len(lines) - SHOWN} more" if len(lines) > SHOWN else ""
    noun = "line" if len(lines) == 1 else "lines"
    message = (
        f"nothing was read of {noun} {numbers}{more}, which {title} does not have: "
        f"`{lines[0].text.strip()[:60]}`"
    )
    return [Problem(f"{name}:{lines[0].number}", message)]


SHOWN = 8
"""Maximum number of listed unreadable lines."""


def _sensible(
    give: Callable[[], tuple[ReportedStatistics, ...]], title: str, name: str
) -> tuple[ReportedStatistics, ...]:
    """The results of a reader, after a check of their numbers.

    Raises:
        InputError: A number is invalid.
    """
    try:
        found = give()
    except _WRONG as error:
        message = f"looks like {title} but is malformed: {error}"
        hint = "give the output exactly as printed"
        raise InputError([Problem(name, message[:400], hint)]) from error
    for one in found:
        _require_sense(one, title, name)
    return tuple(map(_without_times_of_nothing, found))


def _without_times_of_nothing(figures: ReportedStatistics) -> ReportedStatistics:
    """The result without times if there was no response: tools print these as 0."""
    responded = figures.throughput_per_s
    if figures.ended is not None:
        responded = max(figures.ended - figures.without_response, 0.0)
    if figures.timed != "responses" or responded != 0.0:
        return figures
    return dataclasses.replace(figures, times_s={})


def _require_sense(figures: ReportedStatistics, title: str, name: str) -> None:
    """Refuses numbers that are negative, infinite or NaN.

    Raises:
        InputError: There is one.
    """
    for key, value in dataclasses.asdict(figures).items():
        held = cast("dict[str, object]", value) if isinstance(value, dict) else {"": value}
        for inner, number in held.items():
            if isinstance(number, int | float) and not 0 <= number < MOST:
                where = f"{key}.{inner}" if inner else key
                message = f"looks like {title} but `{where}` would be {wording.number(number, 3)}"
                raise InputError([Problem(name, message, "give the output exactly as printed")])


def known() -> str:
    """The readers in words, as a list."""
    return "; ".join(reader.TITLE for reader in READERS)


def _unknown(text: str) -> str:
    lines = [line.text.strip() for line in pasted.lines(text[:10_000]) if line.text.strip()]
    if not lines:
        return "is empty"
    return f"is in no known format; it begins with `{lines[0][:60]}`"
