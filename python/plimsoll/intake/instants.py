"""Parses formatted timestamps as milliseconds since 1970."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from plimsoll.errors import InputError, Problem

KNOWN = (
    "yyyy/MM/dd HH:mm:ss.SSS",
    "yyyy/MM/dd HH:mm:ss",
    "yyyy-MM-dd HH:mm:ss.SSS",
    "yyyy-MM-dd HH:mm:ss",
    "yyyy-MM-dd'T'HH:mm:ss.SSS",
    "yyyy-MM-dd'T'HH:mm:ss.SSSXXX",
    "yyyy-MM-dd'T'HH:mm:ssXXX",
    "MM/dd/yy HH:mm:ss",
)
"""Patterns that are tried if none is given."""

NUMBERS = ("", "ms")
"""Patterns of timestamps that are milliseconds since 1970."""

_LETTERS = {
    "yyyy": r"(?P<year>\d{4})",
    "yy": r"(?P<short>\d{2})",
    "MM": r"(?P<month>\d{2})",
    "dd": r"(?P<day>\d{2})",
    "HH": r"(?P<hour>\d{2})",
    "mm": r"(?P<minute>\d{2})",
    "ss": r"(?P<second>\d{2})",
    "SSS": r"(?P<part>\d{3})",
    "XXX": r"(?P<zone>Z|[+-]\d{2}:\d{2})",
    "Z": r"(?P<zone>[+-]\d{4})",
}
_TOKEN = re.compile(r"'(?:[^']|'')*'|([A-Za-z])\1*|[^A-Za-z']+")
_NEEDED = ("month", "day", "hour", "minute", "second")


def recognised(text: str) -> str:
    """The known pattern of a timestamp; empty if there is none."""
    return next((one for one in KNOWN if re.fullmatch(_expression(one), text)), "")


def milliseconds(texts: Any, pattern: str, time_zone: str, file: str) -> Any:
    """Dates as milliseconds since 1970, UTC.

    Args:
        texts: An array of text.
        pattern: Their format, in the letters of Java's `SimpleDateFormat`.
        time_zone: Zone of dates without one.
        file: Name of their file, for messages.

    Raises:
        ValueError: A date does not match the pattern.
        InputError: The pattern or the zone is invalid, or a date occurs twice or never in the zone.
    """
    expression = _expression(pattern)
    wrong = pc.invert(pc.match_substring_regex(texts, f"^{expression}$"))
    if pc.any(wrong).as_py():
        raise ValueError(f"`{texts.filter(wrong)[0].as_py()}` does not match `{pattern}`")
    standard, zoned = _replacement(expression)
    plain = pc.replace_substring_regex(texts, f"^{_unnamed(expression)}$", standard)
    if zoned:
        return plain.cast(pa.timestamp("ms", "UTC")).cast(pa.int64())
    local = plain.cast(pa.timestamp("ms"))
    try:
        at = pc.assume_timezone(local, time_zone, ambiguous="raise", nonexistent="raise")
    except pa.ArrowInvalid as error:
        raise InputError([_without_instant(texts, local, time_zone, file)]) from error
    return at.cast(pa.int64())


def _without_instant(texts: Any, local: Any, time_zone: str, file: str) -> Problem:
    """Why dates have no instant in a zone: summer time begins or ends, or there is no such zone.

    An ambiguous date is refused, not resolved by the order of rows: logs are sorted, joined and
    written by several threads, and a wrong guess moves requests by an hour.
    """
    if not is_zone(time_zone):
        return unknown_zone(time_zone)
    first, last = (
        pc.assume_timezone(local, time_zone, ambiguous=side, nonexistent=side).cast(pa.int64())
        for side in ("earliest", "latest")
    )
    place = pc.index(pc.not_equal(first, last), True).as_py()
    date, wall = texts[place].as_py(), local.cast(pa.int64())[place].as_py()
    if last[place].as_py() - first[place].as_py() <= 1:  # the two sides of the skipped hour
        message = f"`{date}` does not exist in `{time_zone}`, where summer time skips it"
        hint = "give the zone of the load generator's clock, such as `time_zone='UTC'`"
        return Problem(file, message, hint)
    before, after = (_offset(wall - one[place].as_py()) for one in (first, last))
    message = f"`{date}` occurs twice in `{time_zone}`, since summer time ends"
    hint = (
        "log milliseconds (`jmeter.save.saveservice.timestamp_format=ms`) or dates with their zone "
        f"(`XXX`); if the whole log is from before the change, give `time_zone='{before}'`, if it "
        f"is from after it, `time_zone='{after}'`"
    )
    return Problem(file, message, hint)


def _offset(ms: int) -> str:
    """An offset from UTC as a zone: `+02:00`."""
    hours, minutes = divmod(abs(ms) // 60_000, 60)
    return f"{'-' if ms < 0 else '+'}{hours:02}:{minutes:02}"


def needs_zone(pattern: str) -> bool:
    """Whether timestamps of a pattern are read by a zone that they do not contain.

    Raises:
        InputError: The pattern is invalid.
    """
    return pattern not in NUMBERS and "<zone>" not in _expression(pattern)


def step_s(pattern: str) -> float:
    """Step in seconds to which a pattern rounds dates down; 0 if it has milliseconds.

    Raises:
        InputError: The pattern is invalid.
    """
    return 0.0 if pattern in NUMBERS or "<part>" in _expression(pattern) else 1.0


def is_zone(name: str) -> bool:
    """Whether a time zone is known here."""
    try:
        pc.assume_timezone(pa.array([datetime(2000, 1, 1)]), name)
    except pa.ArrowInvalid:
        return False
    return True


def unknown_zone(name: str) -> Problem:
    """The problem of a time zone that is not known here."""
    hint = "use a time zone such as `UTC` or `Europe/Berlin`"
    return Problem("time_zone", f"unknown time zone `{name}`", hint)


def _expression(pattern: str) -> str:
    """A pattern of Java as a regular expression.

    Raises:
        InputError: It has unsupported letters, or lacks a part of a timestamp.
    """
    parts: list[str] = []
    for match in _TOKEN.finditer(pattern):
        token = match.group()
        if token.startswith("'"):
            parts.append(re.escape(token[1:-1].replace("''", "'") or "'"))
        elif token.isalpha():
            parts.append(_letters(token, pattern))
        else:
            parts.append(re.escape(token))
    found = "".join(parts)
    missing = [name for name in _NEEDED if f"<{name}>" not in found]
    if missing or ("<year>" not in found and "<short>" not in found):
        message = f"`{pattern}` lacks the {(missing or ['year'])[0]}"
        raise InputError([Problem("timestamp_format", message, _HINT)])
    return found


def _letters(token: str, pattern: str) -> str:
    if token not in _LETTERS:
        message = f"`{token}` in `{pattern}` cannot be read"
        raise InputError([Problem("timestamp_format", message, _HINT)])
    return _LETTERS[token]


def _replacement(expression: str) -> tuple[str, bool]:
    """The replacement that turns a match into an ISO 8601 date, and whether it has a zone."""
    order = re.findall(r"\?P<(\w+)>", expression)
    at = {name: rf"\{place}" for place, name in enumerate(order, 1)}
    year = at.get("year") or f"20{at['short']}"
    date = f"{year}-{at['month']}-{at['day']}T{at['hour']}:{at['minute']}:{at['second']}"
    return date + (f".{at['part']}" if "part" in at else "") + at.get("zone", ""), "zone" in at


def _unnamed(expression: str) -> str:
    return re.sub(r"\?P<\w+>", "", expression)


_HINT = f"write it as in `{KNOWN[0]}`; the letters are `{'`, `'.join(_LETTERS)}`"
