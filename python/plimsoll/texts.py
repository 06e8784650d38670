"""Cleans text from outside before it goes into a table, a message or a report.

Labels, logs, responses, output of tools, file names and arguments may contain anything: NUL, which
PostgreSQL does not store; escapes, which terminals execute; marks that change the writing
direction; surrogates, which stand for bytes that are not UTF-8 and cannot be written.
"""

from __future__ import annotations

import csv
import os
import re
import textwrap
from pathlib import Path

REPLACEMENT = "\ufffd"
"""Replaces an unprintable character; Unicode's replacement character."""

OBJECT_LETTERS = 120
"""The most characters of what `repr()` gives of a result."""


ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[()#][0-9A-Za-z]"
    r"|\x1b[=>78cDEHMNOZ]|\x9b[0-?]*[ -/]*[@-~]"
)
"""What a terminal executes and does not show: colours, moves of the cursor, titles, character sets.

Source:
    ECMA-48, 5th edition, 5.4 and 8.3; XTerm Control Sequences.
"""

_NOT_STORED = re.compile("[\0\ud800-\udfff]")


def line(text: str) -> str:
    """A text on one line, without unprintable characters.

    Spaces of all kinds, tabs and line ends become a space, and every other unprintable character
    (Unicode's categories Cc, Cf, Cs, Co and Cn) becomes `REPLACEMENT`.

    Source:
        `str.isprintable`, by the Unicode Character Database.
    """
    return text if text.isprintable() else "".join(map(_shown, text))


def lines(text: str) -> str:
    """The same for a text of several lines: line ends and tabs stay."""
    return "".join(sign if sign in "\n\t" else _shown(sign) for sign in text)


def stored(text: str) -> str:
    """A text that UTF-8 and PostgreSQL can store: only NUL and surrogates are replaced."""
    return _NOT_STORED.sub(REPLACEMENT, text)


def object_line(value: object, description: str, *, in_middle: bool = False) -> str:
    """What `repr()` gives of a result: its class and a description in one line, cut at a word.

    Args:
        value: The result.
        description: Its description, in one or several lines.
        in_middle: Whether its middle is left out where it is too long, not its end: of an error
            that names a long path first and its reason last.
    """
    room = OBJECT_LETTERS - len(f"<{type(value).__name__} >")
    joined = " ".join(description.split())
    if len(joined) > room and in_middle:
        half = (room - 1) // 2
        joined = f"{joined[:half]}…{joined[-half:]}"
    elif len(joined) > room:
        cut = joined[: room - 2]
        joined = f"{cut.rpartition(' ')[0] or cut} …"
    return f"<{type(value).__name__} {joined}>"


def values(record: str, separator: str) -> list[str]:
    """The values of one record of separated text, of any length; an empty record has none.

    Raises:
        ValueError: It is more than one record.

    Source:
        RFC 4180, with any separator.
    """
    if len(record) > csv.field_size_limit():  # Python's own limit is 128 KiB, for the whole process
        csv.field_size_limit(len(record))
    try:
        return next(csv.reader([record], delimiter=separator), list[str]())
    except csv.Error as error:
        raise ValueError(str(error)) from error


def _shown(sign: str) -> str:
    if sign.isprintable():
        return sign
    return " " if sign.isspace() else REPLACEMENT


def shown(path: Path) -> str:
    """A path for messages: relative if it is in the current folder."""
    absolute = Path(os.path.abspath(path))  # noqa: PTH100  a link stays the link that was named
    here = Path.cwd()
    return str(absolute.relative_to(here)) if absolute.is_relative_to(here) else str(path)


def wrapped(text: str, width: int, indent: str = "") -> str:
    """A text broken into lines between words, none of which ends in spaces.

    Args:
        text: The text, clean; what no-break spaces join stays together, and they become spaces.
        width: Columns of the screen.
        indent: What every line but the first begins with.
    """
    lines = textwrap.wrap(text, width, subsequent_indent=indent, break_on_hyphens=False)
    return "\n".join(lines).replace("\u00a0", " ")
