"""Quantities as people write them: durations, counts and sets of cores."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import cast

_SECONDS = {
    "ns": Fraction(1, 1_000_000_000),
    "us": Fraction(1, 1_000_000),
    "µs": Fraction(1, 1_000_000),
    "ms": Fraction(1, 1000),
    "s": Fraction(1),
    "m": Fraction(60),
    "h": Fraction(3600),
}
_MULTIPLES = {"": 1, "k": 1_000, "m": 1_000_000}

_NUMBER = re.compile(r"(?P<number>[+-]?(?:\d[\d_]*(?:\.\d*)?|\.\d+))\s*(?P<unit>[A-Za-zµ]*)")
_CORES = re.compile(r"(\d+)(?:-(\d+))?")
_MOST_CORES = 4096
_MOST = 10**18
"""The largest quantity that is read; callers have their own limits."""
_LONGEST = 64
_MOST_SHOWN = 24


class UnreadableQuantity(ValueError):  # noqa: N818  reads as the errors of Plimsoll do
    """A quantity that cannot be read."""

    def __init__(self, message: str, hint: str) -> None:
        """Stores message and hint.

        Args:
            message: The mistake.
            hint: How to write it.
        """
        super().__init__(message)
        self.message = message
        self.hint = hint


_DURATION_HINT = "write `500ms`, `30s`, `2m`, `1h`, or a bare number of seconds"
_COUNT_HINT = "write a whole number, such as `250`, `10k` or `1m`"
_NUMBER_HINT = "write a number, such as `0.5`, `250` or `10k`"
_SHARE_HINT = "write a share, such as `5%` or `0.05`"
_CORES_HINT = "write `0-3`, `0,2` or `[0, 2]`"


def duration_s(value: object) -> float:
    """A duration in seconds.

    Args:
        value: Text with a unit (`500ms`, `30s`, `2m`, `1h`), or a bare number of seconds.

    Returns:
        Seconds, 0 or more.

    Raises:
        Unreadable: It is no duration, or a negative one.
    """
    exact, unit = _split(value, "duration", _DURATION_HINT)
    if unit and unit not in _SECONDS:
        message = f"`{value}` is not a duration: unknown unit `{unit}`"
        raise UnreadableQuantity(message, _DURATION_HINT)
    return float(exact * _SECONDS[unit or "s"])


def number(value: object) -> float:
    """A number of things, which need not be whole.

    Args:
        value: A number, or text with a multiple: `10k` is 10,000 and `1m` is 1,000,000.

    Returns:
        The number, 0 or more.

    Raises:
        Unreadable: It is no number, or negative.
    """
    return float(_multiplied(value, "number", _NUMBER_HINT))


def share(value: object) -> float:
    """A share of something.

    Args:
        value: Text in percent (`5%`), or a number: `0.05`.

    Returns:
        The share, 0 or more: 0.05.

    Raises:
        Unreadable: It is no share, or negative.
    """
    text = value.strip() if isinstance(value, str) else ""
    is_percent = text.endswith("%")
    exact, unit = _split(text[:-1] if is_percent else value, "share", _SHARE_HINT)
    if unit:
        raise UnreadableQuantity(f"`{value}` is not a share", _SHARE_HINT)
    return float(exact / 100 if is_percent else exact)


def count(value: object) -> int:
    """A count of things.

    Args:
        value: A whole number, or text with a multiple: `10k` is 10,000 and `1m` is 1,000,000.

    Returns:
        The count, 0 or more.

    Raises:
        Unreadable: It is no count, not whole, or negative.
    """
    exact = _multiplied(value, "count", _COUNT_HINT)
    if exact.denominator != 1:
        raise UnreadableQuantity(f"`{value}` is not a whole number", _COUNT_HINT)
    return int(exact)


def cores(value: object) -> tuple[int, ...]:
    """A set of cores.

    Args:
        value: Text as taskset(1) has it (`0-3,8`), one number, or a list of numbers.

    Returns:
        The numbers of the cores, ascending, each once.

    Raises:
        Unreadable: It is no set of cores, or an empty one.
    """
    parts = value.split(",") if isinstance(value, str) else _items(value)
    chosen = {core for part in parts for core in _core_range(part.strip(), str(value))}
    if not chosen:
        raise UnreadableQuantity(f"`{value}` is an empty list of cores", _CORES_HINT)
    return tuple(sorted(chosen))


def _multiplied(value: object, noun: str, hint: str) -> Fraction:
    exact, multiple = _split(value, noun, hint)
    if multiple.lower() not in _MULTIPLES:
        raise UnreadableQuantity(f"`{value}` is not a {noun}: unknown multiple `{multiple}`", hint)
    return exact * _MULTIPLES[multiple.lower()]


def _items(value: object) -> list[str]:
    """The items of a list as text; anything else is a list of one."""
    if isinstance(value, list | tuple):
        return [str(item) for item in cast("list[object]", value)]
    return [str(value)]


def _core_range(part: str, whole: str) -> range:
    match = _CORES.fullmatch(part)
    if match is None:
        raise UnreadableQuantity(f"`{whole}` is not a set of cores", _CORES_HINT)
    first = int(match[1])
    last = int(match[2] or first)
    if last < first or last >= _MOST_CORES:
        raise UnreadableQuantity(f"`{part}` is not a range of cores", _CORES_HINT)
    return range(first, last + 1)


def _split(value: object, noun: str, hint: str) -> tuple[Fraction, str]:
    """The exact number, and its unit."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise UnreadableQuantity(f"`{value}` is not a {noun}", hint)
    if isinstance(value, str):
        exact, unit = _split_text(value, noun, hint)
    elif isinstance(value, int) or math.isfinite(value):
        exact, unit = Fraction(value), ""
    else:
        raise UnreadableQuantity(f"`{value}` is not a {noun}", hint)
    if exact < 0:
        raise UnreadableQuantity(f"`{value}` is negative", hint)
    if exact > _MOST:
        raise UnreadableQuantity(f"`{str(value)[:_MOST_SHOWN]}` is too large", hint)
    return exact, unit


def _split_text(text: str, noun: str, hint: str) -> tuple[Fraction, str]:
    if len(text) > _LONGEST:
        raise UnreadableQuantity(f"`{text[:_MOST_SHOWN]}…` is too long for a {noun}", hint)
    match = _NUMBER.fullmatch(text.strip())
    if match is None:
        raise UnreadableQuantity(f"`{text}` is not a {noun}", hint)
    return Fraction(match["number"].replace("_", "")), match["unit"]
