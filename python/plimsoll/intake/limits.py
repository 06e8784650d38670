"""Limits on imported files, which bound the work and the memory of an import.

A row beyond a limit is a broken line: it is reported, and the import continues without it. A file
beyond one is refused with exit code 2. `docs/import.md` has the same table; a test compares them.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow.compute as pc

from plimsoll.errors import InputError, Problem

if TYPE_CHECKING:
    from collections.abc import Callable

    Check = Callable[[Any], None]

SECOND_NS = 1_000_000_000
HOUR_NS = 3_600 * SECOND_NS
DAY_NS = 24 * HOUR_NS


@dataclass(frozen=True)
class IntakeLimit:
    """One limit.

    Attributes:
        what: The limited quantity in words.
        most: The limit.
        shown: The limit in words.
        beyond: Message for a file that exceeds it.
        hint: What to do about it.
    """

    what: str
    most: int
    shown: str
    beyond: str
    hint: str

    def refused(self, where: str, more: str = "") -> InputError:
        """The error for a file that exceeds the limit.

        Args:
            where: The file, with the line if known.
            more: Further text after the message.
        """
        message = self.beyond.format(most=self.shown) + more
        return InputError([Problem(where, message, self.hint)])


_NOT_ITS_OWN = "give the file as the tool wrote it"

LINE_BYTES = IntakeLimit(
    "a line",
    32 << 20,
    "32 MiB",
    "has a line longer than {most}",
    "is it a text? " + _NOT_ITS_OWN,
)
JSON_LINE_BYTES = IntakeLimit(
    "a line of JSON",
    8 << 20,
    "8 MiB",
    "has a line longer than {most}",
    "use vegeta's CSV (`vegeta encode --to csv`), or omit the bodies",
)
HEADER_BYTES = IntakeLimit(
    "the first line, where it names the columns",
    1 << 16,
    "64 KiB",
    "has a first line longer than {most}, too long for a header",
    _NOT_ITS_OWN,
)
COLUMNS = IntakeLimit(
    "columns",
    1_000,
    "1,000",
    "has more than {most} columns",
    _NOT_ITS_OWN,
)
DEPTH = IntakeLimit(
    "elements of XML within each other",
    64,
    "64",
    "nests more than {most} elements",
    "JMeter nests a handful: " + _NOT_ITS_OWN,
)
TAG_BYTES = IntakeLimit(
    "a tag of XML with its attributes",
    1 << 20,
    "1 MiB",
    "has a tag of more than {most}",
    "configure JMeter to write results without response data",
)
FILES = IntakeLimit(
    "files, or members of archives, in one import",
    100,
    "100",
    "exceeds {most} result files in one import",
    "import each test separately, and join the files of each load generator",
)
NAMES = IntakeLimit(
    "names of requests",
    1 << 16,
    "65,536",
    "has more than {most} request names",
    "select some with `labels=`, or let the tool name requests without parameters",
)
NAME_LETTERS = IntakeLimit(
    "the name of a request",
    8_192,
    "8,192 letters",
    "has a request name longer than {most}",
    "select some requests with `labels=`, or shorten their names in the tool",
)
ALL_NAMES_LETTERS = IntakeLimit(
    "all names of requests together",
    16 << 20,
    "16,777,216 letters",
    "has request names with a total length above {most}",
    NAMES.hint,
)
BROKEN_LINES = IntakeLimit(
    "broken lines, where they outnumber the others",
    10_000,
    "10,000",
    "has more than {most} malformed lines, and fewer valid ones",
    _NOT_ITS_OWN + ", or name the tool that wrote it",
)
REQUEST_NS = IntakeLimit(
    "how long a request takes, beyond which its line is broken",
    DAY_NS,
    "24 h",
    "has a request longer than {most}",
    _NOT_ITS_OWN,
)
SILENCE_NS = IntakeLimit(
    "time without any request, beyond which another run begins",
    HOUR_NS,
    "1 h",
    "contains several runs more than {most} apart",
    "JMeter appends to existing files: select one with `run=1`, or merge them with `run='all'`",
)
RUN_NS = IntakeLimit(
    "a run, from its first request to its last",
    3 * DAY_NS,
    "3 days",
    "contains a run longer than {most}",
    "import only the relevant part",
)
RUNS = IntakeLimit(
    "runs in one import",
    1_000,
    "1,000",
    "contains more than {most} runs; its timestamps are not those of a test",
    _NOT_ITS_OWN,
)
USER_SECONDS = IntakeLimit(
    "seconds in which engines report how many users they had, summed over engines",
    1 << 20,
    "1,048,576",
    "has user counts for more than {most} seconds, summed over load generators",
    "import fewer load generators at a time, or shorter runs",
)
CPU_READINGS = IntakeLimit(
    "readings of a server's CPU",
    1 << 20,
    "1,048,576",
    "has more than {most} readings",
    "export only the time of the load",
)

LIMITS = (
    FILES, LINE_BYTES, JSON_LINE_BYTES, HEADER_BYTES, COLUMNS, DEPTH, TAG_BYTES, NAMES,
    NAME_LETTERS, ALL_NAMES_LETTERS, BROKEN_LINES, REQUEST_NS, SILENCE_NS, RUN_NS, RUNS,
    USER_SECONDS, CPU_READINGS,
)  # fmt: skip
"""Every limit, in the order of the documentation."""

EARLIEST_NS = 946_684_800 * SECOND_NS
"""1 January 2000, before any of these tools; earlier timestamps are mistakes."""

AHEAD_NS = DAY_NS
"""The most by which a load generator's clock may be ahead of this host's."""


def require_instant(name: str, value: int, unit_ns: int) -> None:
    """Requires a plausible timestamp of a request, since 1970.

    Raises:
        ValueError: It is too early or too late.
    """
    if value * unit_ns < EARLIEST_NS:
        raise ValueError(f"`{name}` is `{value}`, a time before the year 2000")
    if value * unit_ns > time.time_ns() + AHEAD_NS:
        raise ValueError(f"`{name}` is `{value}`, a time in the future")


def require_length(name: str, value: int, unit_ns: int, limit: IntakeLimit = REQUEST_NS) -> None:
    """Requires a plausible duration of a request.

    Raises:
        ValueError: It is too long.
    """
    if value * unit_ns > limit.most:
        raise ValueError(f"`{name}` is `{value}`, which is more than {limit.shown}")


def instants(name: str, unit_ns: int) -> Check:
    """A check of a column of timestamps.

    Args:
        name: Name of the column.
        unit_ns: Unit of its values, in nanoseconds.

    Returns:
        A function of a column that raises `ValueError`.
    """
    return _of_ends(lambda value: require_instant(name, value, unit_ns))


def lengths(name: str, unit_ns: int, limit: IntakeLimit = REQUEST_NS) -> Check:
    """A check of a column of durations.

    Args:
        name: Name of the column.
        unit_ns: Unit of its values, in nanoseconds.
        limit: The longest.

    Returns:
        A function of a column that raises `ValueError`.
    """
    return _of_ends(lambda value: require_length(name, value, unit_ns, limit))


def _of_ends(require: Callable[[int], None]) -> Check:
    """A check of a column by its minimum and maximum."""

    def check(values: Any) -> None:
        ends = pc.min_max(values).as_py()
        if ends["min"] is not None:
            require(ends["min"])
            require(ends["max"])

    return check
