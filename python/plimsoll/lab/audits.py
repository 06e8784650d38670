"""`plimsoll.audit`: printed or published figures of other tools are judged."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from plimsoll import lab
from plimsoll.errors import InputError, Problem
from plimsoll.intake import READERS, ab, unpacked
from plimsoll.lab import arguments, one_line
from plimsoll.published import claims
from plimsoll.report.results import audited
from plimsoll.report.results.audited import Unread
from plimsoll.tool_output import pasted, readers
from plimsoll.tool_output.readers import table
from plimsoll.verdicts import audit as judging

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.published.claims import ClaimCheck
    from plimsoll.report.results.machine_readable import JsonObject
    from plimsoll.tool_output.readers import ToolOutput
    from plimsoll.tool_output.reported import ReportedStatistics
    from plimsoll.verdicts.audit import Audit
    from plimsoll.verdicts.verdict import Level

    Source = str | os.PathLike[str] | tuple[str, BinaryIO]
    """Text, the path of a file, or the name of an open file and the file."""

MOST_BYTES = 32 * 2**20
"""Bytes of a file; the results of TechEmpower, the longest known, take a few MiB."""

IMPORT = "use `plimsoll import` for per-request logs"
HINT = "give a file with the output of a load generator, or `-` for standard input"


@dataclass(frozen=True, repr=False)
class AuditResult:
    """What the checks say of figures.

    Attributes:
        audit: The verdicts on each result alone and on all together.
        claims: What the documents claim, compared with their own figures.
        unread: What could not be read of the sources.
    """

    audit: Audit
    claims: tuple[ClaimCheck, ...]
    unread: Unread

    @property
    def level(self) -> Level:
        """The worst of all verdicts."""
        return self.audit.level

    def as_json(self) -> JsonObject:
        """Everything, ready for JSON: what `plimsoll audit --json` prints."""
        return audited.document(self.audit, self.claims, self.unread)

    @arguments.checked()
    def markdown(self, *, full: bool = False) -> str:
        """What was found, as Markdown.

        Args:
            full: Whether sound verdicts, and what could not be checked, are shown too.
        """
        return audited.markdown(self.audit, self.claims, self.unread, full=full)

    def __repr__(self) -> str:
        """The conclusion."""
        return one_line.shown(self, lambda: audited.conclusion(self.audit))

    def _repr_markdown_(self) -> str:
        """What was found, for a notebook."""
        return self.markdown()

    def _repr_html_(self) -> str:
        """The same from the report's parts."""
        return lab.charts.audit_html(self.audit, self.claims, self.unread)


@arguments.checked()
def audit(*sources: Source, settings: Sequence[str] = ()) -> AuditResult:
    """Judges printed or published figures of other tools.

    Args:
        sources: Each is the text of an output, the path (`pathlib.Path`) of a file with one, or a
            name and an open binary file. One may hold several results.
        settings: What the sources do not say, of every result: `connections=50`, `timeout_s=10`.

    Raises:
        InputError: No source holds a result that can be read, or a setting is wrong; everything
            that is wrong is in it. Where some result can be read, the rest is `unread`.
    """
    added = table.facts_of(settings)
    results, claimed, unread = _read(sources)
    found = judging.audit([table.with_facts(one, added) for one in results])
    return AuditResult(found, tuple(claimed), unread)


def _read(
    sources: Sequence[Source],
) -> tuple[list[ReportedStatistics], list[ClaimCheck], Unread]:
    """The results in all sources, what they claim of them, and what could not be read."""
    results: list[ReportedStatistics] = []
    claimed: list[ClaimCheck] = []
    refused: list[Problem] = []
    left: list[Problem] = []
    for source in sources:
        name = _name(source)
        try:
            text = _text(source, name)
            found = _reading(text, name)
            if found.figures:
                claimed += claims.checked(text, name, found.figures, found.figures[0].source.name)
        except InputError as error:
            refused += [_as_file(one, source) for one in error.problems]
        else:
            results += found.figures
            refused += found.refused
            left += found.left
    if not results:
        raise InputError(refused or [Problem("", "there is nothing to audit", HINT)])
    return results, claimed, Unread(tuple(refused), tuple(left))


def _reading(text: str, name: str) -> ToolOutput:
    """The results in a text.

    Raises:
        InputError: No reader recognises it; where it is a per-request log, that is said.
    """
    try:
        return readers.reading(text, name)
    except InputError as error:
        if tool := _tool_of_log(text):
            message = f"is a per-request log of `{tool}`, not its printed results"
            raise InputError([Problem(name, message, IMPORT)]) from error
        raise


def _tool_of_log(text: str) -> str:
    """The tool whose per-request log a text is; empty if it is none."""
    beginning = text[: unpacked.BEGINNING_BYTES].encode("utf-8", "replace")
    if ab.has_percentiles(beginning):
        return ""
    return next((one.NAME for one in READERS if one.recognises(beginning)), "")


def _as_file(problem: Problem, source: Source) -> Problem:
    """A problem of a text that is a single word says how a file is given."""
    if not isinstance(source, str) or len(source.split()) != 1:
        return problem
    return replace(problem, hint=f"for a file give `pathlib.Path({source.strip()!r})`")


def _name(source: Source) -> str:
    """What a source is called in messages."""
    if isinstance(source, str):
        return "text"
    if isinstance(source, os.PathLike):
        return os.fspath(source)
    return source[0]


def _text(source: Source, name: str) -> str:
    """The text of a source, in whatever encoding.

    Raises:
        InputError: It cannot be read, or it is too long to be a result.
    """
    try:
        held = _held(source)
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else "") or str(error)
        raise InputError([Problem(name, f"cannot be read: {reason}", HINT)]) from error
    if len(held) > MOST_BYTES:
        message = f"is larger than {MOST_BYTES // 2**20} MiB: too large for printed results"
        raise InputError([Problem(name, message, IMPORT)])
    return pasted.decoded(held)


def _held(source: Source) -> bytes:
    """The bytes of a source, no more than one too many."""
    if isinstance(source, str):
        return source.encode("utf-8", "replace")
    if isinstance(source, os.PathLike):
        with Path(source).open("rb") as stream:
            return stream.read(MOST_BYTES + 1)
    return source[1].read(MOST_BYTES + 1)
