"""Formats numbers for sentences and charts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

_WHOLE_FROM = 1000
_ONE_DIGIT_FROM = 10
_WHOLE_SHARE_FROM = 0.0995
_ROUNDED_TO_NONE = 0.0005


def count(number: float) -> str:
    """A whole number: `12,345`."""
    return f"{round(number):,}"


def amount(number: float) -> str:
    """A number with decimals if small: `12,345`, `98.7`, `0.42`."""
    if abs(number) >= _WHOLE_FROM or number == round(number):
        return f"{number:,.0f}"
    return f"{number:.1f}" if abs(number) >= _ONE_DIGIT_FROM else f"{number:.2g}"


def factor(value: float) -> str:
    """A factor with about three digits: `1.35`, `12.4`, `1,350`."""
    decimals = 2 if value < _ONE_DIGIT_FROM else 1 if value < 100 else 0  # noqa: PLR2004
    return f"{value:,.{decimals}f}"


def percent(ratio: float) -> str:
    """A ratio in percent: `12 %`, `0.31 %`; rounds to 0 % or 100 % only exact values."""
    value = ratio * 100
    if value < _ONE_DIGIT_FROM:
        return f"{float(f'{value:.2g}'):.9f}".rstrip("0").rstrip(".") + " %"
    for digits in range(5):
        text = f"{value:.{digits}f}"
        if float(text) != 100 or round(value, 9) == 100:  # noqa: PLR2004
            return f"{text} %"
    return f"{value:.0f} %"


def signed_percent(share: float) -> str:
    """A change in percent: `+3.1 %`, `−12 %`."""
    return f"{sign(share)}{points(abs(share))} %"


def sign(share: float) -> str:
    """`+` or `−`; nothing before what is rounded to 0.0."""
    return "" if abs(share) < _ROUNDED_TO_NONE else "−" if share < 0 else "+"


def points(share: float) -> str:
    """A share in percent without its sign: `3.1`, `12`."""
    return f"{100 * share:,.0f}" if abs(share) >= _WHOLE_SHARE_FROM else f"{100 * share:.1f}"


def seconds(length_s: float) -> str:
    """A duration: `250 µs`, `4.1 ms`, `2.5 s`, `2,090 s`."""
    return _in_unit(length_s, "s")


def joules(energy_j: float) -> str:
    """An energy: `1.2 J`, `4.1 mJ`, `250 µJ`."""
    return _in_unit(energy_j, "J")


def _in_unit(value: float, unit: str) -> str:
    """A value in its unit, in thousandths or in millionths of it."""
    for factor, prefix in ((1.0, ""), (1e3, "m")):
        if value * factor >= 1:
            return f"{_three_digits(value * factor)} {prefix}{unit}"
    return f"{_three_digits(value * 1e6)} µ{unit}"


def _three_digits(number: float) -> str:
    """Three digits, all of a whole number that has more; never with an exponent."""
    return f"{number:,.0f}" if number >= _WHOLE_FROM - 0.5 else f"{number:.3g}"


def bits_per_s(value: float) -> str:
    """A rate of bits: `10 Gbit/s`."""
    for factor, unit in ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s")):
        if value >= factor:
            return f"{value / factor:.3g} {unit}"
    return f"{value:.0f} bit/s"


def cores(number: float) -> str:
    """A number of busy cores: `12 % of a core`, `1.1 cores`."""
    return f"{number:.1f} cores" if number >= 1 else f"{percent(round(number, 3))} of a core"


def from_whom(cores_by_side: Mapping[str, float]) -> str:
    """Cores taken from each side: `1.2 cores from the server and 30 % of a core from …`."""
    sides = {
        "server": "the server",
        "driver": "the load generator",
        "both": "server and load generator",
    }
    return " and ".join(
        f"{cores(taken)} from {sides[side]}" for side, taken in cores_by_side.items()
    )


def several(number: int, one: str, many: str = "") -> str:
    """A number with its noun: `1 row`, `2 rows`."""
    return f"{count(number)} {one if number == 1 else many or one + 's'}"


def listed(parts: Sequence[str], most: int = 4) -> str:
    """Parts of a list, the first few of them: `a, b, c and 2 more`."""
    if len(parts) <= most:
        return ", ".join(parts)
    return ", ".join(parts[: most - 1]) + f" and {len(parts) - most + 1} more"


def significant(value: float | None, digits: int = 4) -> float | None:
    """A value rounded to a number of significant digits; None stays None.

    Charts show no more digits, and pages of many trials stay small.
    """
    if value is None or value == 0 or not math.isfinite(value):
        return None if value is None or not math.isfinite(value) else 0
    rounded = round(value, digits - 1 - math.floor(math.log10(abs(value))))
    return int(rounded) if rounded == int(rounded) else rounded


def counted(number: float) -> str:
    """A count: `9,000`."""
    return f"{number:,.0f}"


def per_second(value: float) -> str:
    """A rate: `12,345/s`, `0.25/s`."""
    return f"{significant(value, 3)}/s" if abs(value) < 10 else f"{value:,.0f}/s"  # noqa: PLR2004
