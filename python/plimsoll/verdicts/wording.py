"""Wording: numbers as a sentence says them."""

from __future__ import annotations

from collections.abc import Sequence

_WHOLE_FROM = 1000
_ONE_DIGIT_FROM = 10


def count(number: float) -> str:
    """A whole number: `12,345`."""
    return f"{round(number):,}"


def amount(number: float) -> str:
    """A number that need not be whole: `12,345`, `98.7`, `0.42`."""
    if abs(number) >= _WHOLE_FROM or number == round(number):
        return f"{number:,.0f}"
    return f"{number:.1f}" if abs(number) >= _ONE_DIGIT_FROM else f"{number:.2g}"


def percent(ratio: float) -> str:
    """A ratio in percent: `12 %`, `0.31 %`; never rounded to 0 % or 100 % when it is not."""
    value = ratio * 100
    if value < _ONE_DIGIT_FROM:
        return f"{float(f'{value:.2g}'):.9f}".rstrip("0").rstrip(".") + " %"
    for digits in range(5):
        text = f"{value:.{digits}f}"
        if float(text) != 100 or round(value, 9) == 100:  # noqa: PLR2004
            return f"{text} %"
    return f"{value:.0f} %"


def seconds(length_s: float) -> str:
    """A length of time: `250 µs`, `4.1 ms`, `2.5 s`."""
    for factor, unit in ((1.0, "s"), (1e3, "ms"), (1e6, "µs")):
        if length_s * factor >= 1 or unit == "µs":
            return f"{length_s * factor:.3g} {unit}"
    raise AssertionError


def cores(number: float) -> str:
    """An amount of processor time for each unit of time: `12 % of a core`, `1.1 cores`."""
    return f"{number:.1f} cores" if number >= 1 else f"{percent(round(number, 3))} of a core"


def several(number: int, one: str, many: str = "") -> str:
    """A number with its noun: `1 row`, `2 rows`."""
    return f"{count(number)} {one if number == 1 else many or one + 's'}"


def listed(parts: Sequence[str], most: int = 4) -> str:
    """Parts of a list, the first few of them: `a, b, c and 2 more`."""
    if len(parts) <= most:
        return ", ".join(parts)
    return ", ".join(parts[: most - 1]) + f" and {len(parts) - most + 1} more"
