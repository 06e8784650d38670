"""The end of a log, and its last lines, cleaned for messages."""

from __future__ import annotations

import re
from pathlib import Path

from plimsoll import texts

TAIL_BYTES = 1 << 14
"""How much of a log is read for its last lines."""

_LINE_CHARACTERS = 200
_COLOURS = re.compile(r"\x1b\[[\d;]*m")


def tail(log: Path, most: int = TAIL_BYTES) -> bytes:
    """The end of a log; nothing where it cannot be read.

    Args:
        log: The file.
        most: Its length at most, in bytes.
    """
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - most))
            return file.read(most)
    except OSError:
        return b""


def last_lines(log: Path, count: int = 10) -> tuple[str, ...]:
    """The last lines of a log that are not blank.

    Colours and unprintable characters are removed, and long lines are cut.

    Args:
        log: The file, which need not exist.
        count: Maximum number of lines.
    """
    text = tail(log).decode("utf-8", "replace")
    lines = [_printable(line) for line in text.splitlines()]
    return tuple(line for line in lines if line)[-count:]


def quoted(log: Path, count: int = 10) -> str:
    """The last lines for the end of a message: indented, or a sentence if there are none."""
    lines = last_lines(log, count)
    if not lines:
        return "its log is empty"
    return "the last lines of its log:\n" + "\n".join(f"  {line}" for line in lines)


def _printable(line: str) -> str:
    text = texts.line(_COLOURS.sub("", line)).rstrip()
    return text if len(text) <= _LINE_CHARACTERS else text[: _LINE_CHARACTERS - 1] + "…"
