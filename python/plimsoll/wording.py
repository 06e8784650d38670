"""Formats numbers for sentences and charts."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

ABSENT = "–"
"""Stands for a number that there is not."""

_TIME_UNITS = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns"))
_BYTE_UNITS = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B"))
_BIT_UNITS = ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1.0, "bit/s"))
_JOULE_UNITS = ((1.0, "J"), (1e-3, "mJ"), (1e-6, "µJ"))
_MINUTE_S = 60
_BEFORE_UNIT = re.compile(r"(?<=\d) (?=(?:[nµm]?s|min|[kMGT]?B|cores?)\b|%)")

_WHOLE_FROM = 1000
_ONE_DIGIT_FROM = 10
_TWO_DECIMALS_FROM = 0.1
_WHOLE_SHARE_FROM = 0.0995
_ROUNDED_TO_NONE = 0.0005


def bound(text: str) -> str:
    """A text whose numbers stay on one line with their units."""
    return _BEFORE_UNIT.sub("\u00a0", text)


def count(number: float | None) -> str:
    """A whole number: `12,345`; `–` for none."""
    return ABSENT if number is None else f"{round(number):,}"


def exact(value: float) -> str:
    """A number with all digits that people write: `0.5`, `12`, `99.99`."""
    return f"{value:.10g}"


def every_digit(value: float) -> str:
    """The same with its thousands apart: `39,070.25`."""
    return f"{value:,.10g}"


def written_digits(value: float) -> int:
    """The significant digits of a number as people write it; noughts at its end are none."""
    return len(f"{value:.15e}".partition("e")[0].replace(".", "").rstrip("0"))


def decimals(value: float, places: int) -> str:
    """A number with as many decimals as its neighbours: `1,234.50`, `−0.5`."""
    return _with_minus(f"{value:,.{places}f}")


def number(value: float | None, digits: int = 4) -> str:
    """A number with a few significant digits and its thousands apart: `−12.5`; `–` for none."""
    if value is None or not math.isfinite(value):
        return ABSENT
    if abs(value) >= 10 ** (digits - 1):
        return _with_minus(f"{value:,.0f}")
    return _with_minus(f"{significant(value, digits):,}")


def _with_minus(text: str) -> str:
    """A number with the sign of minus, which is as wide as that of plus; none before 0."""
    if not text.startswith("-"):
        return text
    return text[1:] if not text.strip("-0.") else f"−{text[1:]}"


def amount(number: float) -> str:
    """A number with decimals if small: `12,345`, `98.7`, `0.42`."""
    if abs(number) >= _WHOLE_FROM or number == round(number):
        return f"{number:,.0f}"
    return f"{number:.1f}" if abs(number) >= _ONE_DIGIT_FROM else f"{number:.2g}"


def factor(value: float, width: float = math.inf) -> str:
    """A factor with two or three digits: `1.35`, `12.4`, `1,350`, `0.73`, `0.00027`.

    Args:
        value: The factor, or one end of its interval.
        width: How wide its interval is. Below 10, a narrow one deserves one more decimal.
    """
    if value >= _ONE_DIGIT_FROM:
        return decimals(value, 1 if value < 100 else 0)  # noqa: PLR2004
    places = 1 - math.floor(math.log10(value)) if 0 < value < _TWO_DECIMALS_FROM else 2
    return decimals(value, places + 1 if width <= 2 * 10**-places else places)


def four_digits(value: float) -> str:
    """A number of which no more than four digits were measured: `9,810`, `59,280`, `98.7`."""
    return amount(significant(value, 4) or 0.0)


def percent(ratio: float | None) -> str:
    """A ratio in percent: `12 %`, `0.31 %`, `–` for none; only exact values become 0 or 100 %."""
    if ratio is None or not math.isfinite(ratio):
        return ABSENT
    value = ratio * 100
    if value < _ONE_DIGIT_FROM:
        return f"{float(f'{value:.2g}'):.9f}".rstrip("0").rstrip(".") + " %"
    for digits in range(5):
        text = f"{value:.{digits}f}"
        if float(text) != 100 or round(value, 9) == 100:  # noqa: PLR2004
            return f"{text} %"
    return f"{value:.0f} %"


def share(ratio: float) -> str:
    """A share to a tenth of a percent: `12.3 %`."""
    return percent(round(ratio, 3))


def signed_percent(share: float) -> str:
    """A change in percent: `+3.1 %`, `−12 %`."""
    return f"{signed_points(share)} %"


def signed_points(share: float) -> str:
    """A change in percent, without the sign of percent: `+3.1`, `−12`."""
    return f"{sign(share)}{points(abs(share))}"


def sign(share: float) -> str:
    """`+` or `−`; nothing before what is rounded to 0.0."""
    return "" if abs(share) < _ROUNDED_TO_NONE else "−" if share < 0 else "+"


def points(share: float) -> str:
    """A share in percent without its sign: `3.1`, `12`."""
    return f"{100 * share:,.0f}" if abs(share) >= _WHOLE_SHARE_FROM else f"{100 * share:.1f}"


def seconds(length_s: float | None) -> str:
    """A time given in seconds: `250 µs`, `4.1 ms`, `2.5 s`, `4 min`; `–` for none."""
    if length_s is None:
        return ABSENT
    if length_s >= 2 * _MINUTE_S and length_s % _MINUTE_S == 0:
        return f"{exact(length_s / _MINUTE_S)} min"
    return duration(length_s * 1e9)


def seconds_in_steps(length_s: float, step_s: float) -> str:
    """A time that was rounded to a step: `4 ms`; `< 1 ms` where it was rounded to nothing."""
    return f"< {seconds(step_s)}" if length_s < step_s else seconds(length_s)


def duration(value_ns: float | None) -> str:
    """A time given in nanoseconds: `250 µs`, `4.1 ms`, `2,090 s`; `–` for none."""
    return _in_unit(value_ns, _TIME_UNITS)


def size(value_bytes: float | None) -> str:
    """An amount of memory or traffic: `22.4 MB`; `–` for none."""
    return _in_unit(value_bytes, _BYTE_UNITS)


def bits_per_second(value: float) -> str:
    """A speed of a link: `1.25 Gbit/s`, `800 bit/s`."""
    return _in_unit(value, _BIT_UNITS)


def joules(energy_j: float | None) -> str:
    """An energy: `1.2 J`, `4.1 mJ`, `250 µJ`; `–` for none."""
    return _in_unit(energy_j, _JOULE_UNITS)


def joules_between(low_j: float, high_j: float) -> str:
    """An interval of energies: `1.2–1.4 mJ`, `980 µJ–1.1 mJ`."""
    (low, of_low), (high, of_high) = _parts(low_j, _JOULE_UNITS), _parts(high_j, _JOULE_UNITS)
    return f"{low}–{high} {of_high}" if of_low == of_high else f"{low} {of_low}–{high} {of_high}"


def power(value_w: float | None) -> str:
    """A power: `12.3 W`; `–` for none."""
    return ABSENT if value_w is None else f"{number(value_w, 3)} W"


def per_second(value: float | None) -> str:
    """A rate: `12,345/s`, `0.25/s`; `–` for none."""
    return ABSENT if value is None else f"{rate(value)}/s"


def rate(value: float) -> str:
    """The number of a rate, whole unless it is small: `12,345`, `0.25`."""
    return f"{significant(value, 3)}" if abs(value) < _ONE_DIGIT_FROM else f"{value:,.0f}"


def _in_unit(value: float | None, units: Sequence[tuple[float, str]]) -> str:
    """A value in the greatest unit that it has one of, with three digits."""
    if value is None or not math.isfinite(value):
        return ABSENT
    return " ".join(_parts(value, units))


def _parts(value: float, units: Sequence[tuple[float, str]]) -> tuple[str, str]:
    """Number and unit."""
    factor, unit = next((pair for pair in units if abs(value) >= pair[0]), units[-1])
    return number(value / factor, 3), unit


def busy_cores(number_of: float | None) -> str:
    """Busy cores with three digits: `1.93 cores`; `–` for none."""
    text = number(number_of, 3)
    return text if text == ABSENT else f"{text} core" if text == "1" else f"{text} cores"


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


def capital(clause: str) -> str:
    """A clause as the beginning of a sentence."""
    return f"{clause[:1].upper()}{clause[1:]}"


def several(number: int, one: str, many: str = "") -> str:
    """A number with its noun: `1 row`, `2 rows`."""
    return f"{count(number)} {one if number == 1 else many or one + 's'}"


def progress(number: int, of: int) -> str:
    """How far something has got: `12 of 1,000`."""
    return f"{count(number)} of {count(of)}"


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
