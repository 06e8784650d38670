"""The end of a log, and its last lines, cleaned for messages."""

from __future__ import annotations

from pathlib import Path

from plimsoll import texts

TAIL_BYTES = 1 << 14
"""How much of a log is read for its last lines."""

_LINE_CHARACTERS = 200


def length_bytes(log: Path) -> int:
    """The length of a log; 0 where there is none."""
    try:
        return log.stat().st_size
    except OSError:
        return 0


def tail(log: Path, most: int = TAIL_BYTES, begin: int = 0) -> bytes:
    """The end of a log; nothing where it cannot be read.

    Args:
        log: The file.
        most: Its length at most, in bytes.
        begin: The first byte that belongs to it.
    """
    try:
        with log.open("rb") as file:
            file.seek(max(begin, log.stat().st_size - most))
            return file.read(most)
    except OSError:
        return b""


def last_lines(log: Path, count: int = 10, begin: int = 0) -> tuple[str, ...]:
    """The last lines of a log that are not blank.

    Escapes of terminals and unprintable characters are removed, and long lines are cut.

    Args:
        log: The file, which need not exist.
        count: Maximum number of lines.
        begin: Its length before the lines that are wanted, in bytes.
    """
    text = tail(log, begin=begin).decode("utf-8", "replace")
    lines = [_printable(line) for line in text.splitlines()]
    return tuple(line for line in lines if line)[-count:]


def quoted(log: Path, count: int = 10, begin: int = 0) -> str:
    """The last lines for the end of a message: indented, or a sentence if there are none.

    Args:
        log: The file, which need not exist.
        count: Maximum number of lines.
        begin: Its length before the lines that are wanted, in bytes.
    """
    lines = last_lines(log, count, begin)
    if not lines:
        return "it logged nothing" if begin else "its log is empty"
    return "the last lines of its log:\n" + "\n".join(f"  {line}" for line in lines)


def _printable(line: str) -> str:
    text = texts.line(texts.ESCAPES.sub("", line)).rstrip()
    return text if len(text) <= _LINE_CHARACTERS else text[: _LINE_CHARACTERS - 1] + "…"
