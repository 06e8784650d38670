"""Parses numbers as tools print them and people write them, completely or not at all.

`398,334.02`, `6 014 809`, `6'014'809`, `398.334,02`, `1,42`, `4.53k` are unambiguous. `1,234` and
`1.234` are not: their meaning follows from the other numbers of the same text, or from the
quantity, since requests have no decimals. If both leave it open, the number is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from plimsoll import wording

SECONDS = {
    "ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3,
    "s": 1.0, "sec": 1.0, "secs": 1.0, "seconds": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0,
    "10 sec": 10.0, "10 min": 600.0, "hr": 3600.0,
}  # fmt: skip
"""Seconds in each unit of time; oha counts long times in tens."""

_MULTIPLES = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9}
_BYTES = {
    f"{prefix}{unit}": base**power
    for unit, base in (("B", 2.0**10), ("iB", 2.0**10))
    for power, prefix in enumerate(("", "K", "M", "G", "T"))
} | {"kB": 2.0**10, "bytes": 1.0, "Bytes": 1.0, "b": 1.0}
_DECIMAL_BYTES = {"B": 1.0, "kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12}

_TENS = r"(?:(?<=\s)10\s(?=sec|min))?"
_QUANTITY = re.compile(
    rf"[~≈]?(-?(?:\d[\d.,'’_ ]*?|\.\d+)(?:[eE][-+]?\d+)?)\s*({_TENS}[A-Za-zµμ]*)"
)
_NONE = re.compile(rf"[-+]?(?:nan|inf)[a-zµμ]*(?:\s{_TENS}[a-zµμ]+)?|-|∞|N/A", re.IGNORECASE)
_PLAIN = re.compile(r"-?(?:\d+|\d*\.\d+)(?:[eE][-+]?\d+)?")
_BODY = re.compile(r"(-?)(\d[\d.,'’_ ]*)")
_CLOCK = re.compile(r"(?:(\d+)h)?(?:(\d+)m)?([\d.,]+)s")
_GROUPS = re.compile(r"\d{1,3}(?:[ '’_]\d{3})+(?=[.,]|$)")
_THOUSANDS = {
    ",": re.compile(r"\d{1,3}(?:,\d{3})+|\d{1,2}(?:,\d{2})+,\d{3}"),
    ".": re.compile(r"\d{1,3}(?:\.\d{3})+"),
}
_OTHER = {",": ".", ".": ","}
_ROUNDED = re.compile(r"\d.*[kKMG]")
_UNSURE = re.compile(r"[1-9]\d{0,2}[.,]\d{3}")
_LAST_DIGIT = re.compile(rf"\d(?=\D*{_TENS}\D*$)")
_WRITTEN = re.compile(r"(?<![\w.,:/@-])\d[\d.,'’_]*\d(?![:/\d])")


class UnreadableNumber(ValueError):  # noqa: N818 - a reason, reported with its line by the caller
    """A number that cannot be read completely, or that is ambiguous."""


@dataclass(frozen=True)
class Marks:
    """The meaning of commas and points in a text, from its unambiguous numbers.

    Attributes:
        thousands: Thousands separators: `,` or `.`.
        decimals: Decimal separators: `,` or `.`.
    """

    thousands: frozenset[str] = frozenset()
    decimals: frozenset[str] = frozenset()

    def sets_thousands(self, sign: str) -> bool | None:
        """Whether a sign before three digits is a thousands separator; None if unknown.

        Args:
            sign: `,` or `.`.
        """
        for_it = sign in self.thousands or _OTHER[sign] in self.decimals
        against = sign in self.decimals or _OTHER[sign] in self.thousands
        if (
            sign == "."
        ):  # what tools print has points; only a text without any is another language's
            return for_it and "." not in self.decimals
        return None if for_it == against else for_it


def marks(lines: Iterable[str]) -> Marks:
    """The meaning of commas and points in a text.

    Args:
        lines: Its lines.
    """
    thousands: set[str] = set()
    decimals: set[str] = set()
    for line in lines:
        for match in _WRITTEN.finditer(line):
            _learn(match[0], thousands, decimals)
    return Marks(frozenset(thousands), frozenset(decimals))


def _learn(token: str, thousands: set[str], decimals: set[str]) -> None:
    signs = [sign for sign in token if sign in ",."]
    if not signs or _UNSURE.fullmatch(token):
        return
    last = signs[-1]
    if signs.count(last) > 1:
        if _THOUSANDS[last].fullmatch(token):
            thousands.add(last)
        return
    before = token.rpartition(last)[0]
    if _OTHER[last] in signs:
        if not _THOUSANDS[_OTHER[last]].fullmatch(before):
            return
        thousands.add(_OTHER[last])
    decimals.add(last)


def number(text: str, known: Marks = Marks()) -> float | None:
    """A number with an optional multiple: `4.53k`; None if a tool prints that there is none.

    Args:
        text: The complete number.
        known: The meaning of commas and points in its text.

    Raises:
        UnreadableNumber: It is not a number, or is ambiguous.
    """
    return _scaled(text, _MULTIPLES, known)


def count(text: str, known: Marks = Marks()) -> float | None:
    """A count, without decimals and not rounded to thousands; None if there is none.

    Raises:
        UnreadableNumber: It is not a number, has decimals, or is rounded: `19.63 k`.
    """
    if _ROUNDED.fullmatch(text.strip()):
        raise UnreadableNumber(f"`{text.strip()[:40]}` is a count, but is rounded")
    return rounded_count(text, known)


def rounded_count(text: str, known: Marks = Marks()) -> float | None:
    """A count of a tool that rounds its counts: `33k`.

    Raises:
        UnreadableNumber: It is not a number, or has decimals and no multiple.
    """
    return _scaled(text, _MULTIPLES, known, whole=True)


def seconds(text: str, known: Marks = Marks()) -> float | None:
    """A duration in seconds: `438.06us`, `1.2ms`, `2.00s`, `1m30.5s`; None for `-nanus` and such.

    Raises:
        UnreadableNumber: It is not a duration, or is ambiguous.
    """
    clock = _CLOCK.fullmatch(text.strip())
    if clock is not None and (clock[1] or clock[2]):
        rest = _value(clock[3], known, whole=False)
        return float(clock[1] or 0) * 3600 + float(clock[2] or 0) * 60 + rest
    return _scaled(text, SECONDS, known)


def size(text: str, known: Marks = Marks(), *, decimal: bool = False) -> float | None:
    """A number of bytes: `25.91MB`; None if a tool prints that there is none.

    Args:
        text: The number with its unit.
        known: The meaning of commas and points in its text.
        decimal: Whether a kB of the tool has 1,000 bytes instead of 1,024.

    Raises:
        UnreadableNumber: It is not a size, or is ambiguous.
    """
    return _scaled(text, {**_BYTES, **_DECIMAL_BYTES} if decimal else _BYTES, known)


def step(text: str, form: Callable[[str, Marks], float | None], known: Marks = Marks()) -> float:
    """The unit of the last printed digit: 0.01 of `4.53`, 10 of `4.53k`; 0 if there is none.

    Args:
        text: The number as it was printed.
        form: What reads it, such as `seconds`.
        known: The meaning of commas and points in its text.

    Raises:
        UnreadableNumber: It is not a number, or is ambiguous.
    """
    last = _LAST_DIGIT.search(text)
    if last is None:
        return 0.0
    other = "8" if last[0] == "9" else chr(ord(last[0]) + 1)
    changed = f"{text[: last.start()]}{other}{text[last.end() :]}"
    one, two = form(text, known), form(changed, known)
    return abs(one - two) if one is not None and two is not None else 0.0


def _scaled(
    text: str, units: Mapping[str, float], known: Marks, *, whole: bool = False
) -> float | None:
    stripped = text.strip()
    if _NONE.fullmatch(stripped):
        return None
    match = _QUANTITY.fullmatch(stripped)
    if match is None or match[2] not in units:
        raise UnreadableNumber(f"`{stripped[:40]}` is not a valid number")
    factor = units[match[2]]
    return _value(match[1].strip(), known, whole=whole and factor == 1.0) * factor


def _value(written: str, known: Marks, *, whole: bool) -> float:
    plain = _PLAIN.fullmatch(written)
    if plain is not None and not (_UNSURE.fullmatch(written) or (whole and "." in written)):
        return float(written)
    match = _BODY.fullmatch(written)
    if match is None:
        raise UnreadableNumber(f"`{written[:40]}` is not a valid number")
    value = float(_ungrouped(match[2], known, whole=whole))
    return -value if match[1] else value


def _ungrouped(body: str, known: Marks, *, whole: bool) -> str:
    """The digits with a point before the decimals."""
    grouped = _GROUPS.match(body)
    if grouped is not None:
        whole_part = re.sub(r"[ '’_]", "", grouped[0])
        rest = body[grouped.end() :]
        if re.fullmatch(r"(?:[.,]\d+)?", rest) and not (whole and rest):
            return whole_part + rest.replace(",", ".")
        raise UnreadableNumber(f"`{body[:40]}` is not a valid number")
    signs = [sign for sign in body if sign in ",."]
    last = signs[-1] if signs else "."
    before, _, after = body.rpartition(last)
    other = _OTHER[last]
    if signs.count(last) > 1 and _THOUSANDS[last].fullmatch(body):
        return body.replace(last, "")
    is_mixed = other in signs and _THOUSANDS[other].fullmatch(before) is not None
    if signs.count(last) != 1 or not after.isdigit() or not (before.isdigit() or is_mixed):
        raise UnreadableNumber(f"`{body[:40]}` is not a valid number")
    if not is_mixed and _UNSURE.fullmatch(body) and _is_thousands(body, last, known, whole=whole):
        return before + after
    if whole:
        raise UnreadableNumber(f"`{body[:40]}` is a count, but has decimals")
    return f"{before.replace(other, '')}.{after}"


def _is_thousands(body: str, sign: str, known: Marks, *, whole: bool) -> bool:
    """Whether `1,234` is above one thousand.

    Raises:
        UnreadableNumber: Neither the quantity nor the text determines it.
    """
    stated = True if whole else known.sets_thousands(sign)
    if stated is None:
        digits = body.replace(sign, "")
        raise UnreadableNumber(
            f"`{body}` may be {wording.count(int(digits))} or {body.replace(sign, '.')} (with "
            "decimals); "
            "the text does not tell which"
        )
    return stated
