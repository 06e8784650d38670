"""Readings of a server's CPU, as Zabbix exports the history of an item: `clock` and `value`.

`clock` are whole seconds since 1970, `ns` the nanoseconds within one if they are exported. Zabbix's
CPU utilisation is a share of all cores in percent; other templates sum the cores up.

Source: Zabbix manual, item `system.cpu.util`; tables `history` and `history_uint`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, Literal, get_args

from plimsoll import texts, wording
from plimsoll.errors import InputError, Problem
from plimsoll.intake import limits
from plimsoll.recording.readings import Reading

if TYPE_CHECKING:
    from plimsoll.intake.rows import ImportStats

NAME = "zabbix"

Unit = Literal["percent-of-all", "percent-of-one", "cores"]

UNITS: tuple[Unit, ...] = get_args(Unit)
"""Meaning of 100: all cores, one core, or a hundred cores."""

BUSY = "busy_cores"
"""Quantity of the readings."""

HOST = "server"
"""Name of the sampled host."""

REPEATED = "duplicate readings of one time"
OUTSIDE = "readings far outside the load"

_SECOND_NS = 1_000_000_000
_AROUND_NS = 60 * _SECOND_NS
_LEAST_CLOCK = 100_000_000
_MOST_DIGITS = 10
_TOLERANCE_PERCENT = 101.0
_SEPARATORS = ",;\t "


@dataclass(frozen=True)
class CpuOptions:
    """How to interpret readings.

    Attributes:
        unit: Unit of the values.
        cores: Cores of the server; None if unknown.
        strict: Whether a broken line is an error.
    """

    unit: Unit = "percent-of-all"
    cores: int | None = None
    strict: bool = False


@dataclass(frozen=True)
class Busy:
    """One reading.

    Attributes:
        clock_ns: Its time since 1970.
        cores: Busy cores.
    """

    clock_ns: int
    cores: float


def read(stream: BinaryIO, options: CpuOptions, tally: ImportStats) -> tuple[Busy, ...]:
    """The readings of a file, in order of time.

    Args:
        stream: The file, unpacked, from its beginning.
        options: How to interpret it.
        tally: Counts every line.

    Raises:
        InputError: It contains no reading, the unit is impossible, or a line is broken and
            `options` is strict.
    """
    if options.unit == "percent-of-all" and not options.cores:
        hint = "give the server's cores with `cores=`"
        raise InputError([Problem(tally.file, "gives CPU usage as a share of all cores", hint)])
    found: dict[int, float] = {}
    for clock_ns, value in _values(stream, options, tally):
        if len(found) >= limits.CPU_READINGS.most:
            raise limits.CPU_READINGS.refused(tally.file)
        if clock_ns in found:
            tally.leave_out(REPEATED)
        else:
            tally.keep()
            found[clock_ns] = _cores(value, options, tally)
    if not found:
        hint = "export the history of an item as `clock,value`"
        raise InputError([Problem(tally.file, f"contains no reading{tally.instead}", hint)])
    return tuple(Busy(clock_ns, found[clock_ns]) for clock_ns in sorted(found))


def readings(found: Sequence[Busy], zero_ns: int, end_ns: int, tally: ImportStats) -> list[Reading]:
    """Readings as rows of the table `usage`, without those long before or after the load.

    Args:
        found: The readings.
        zero_ns: Zero of the trial since 1970.
        end_ns: Its end, since its zero.
        tally: Counts them.

    Raises:
        InputError: All are left out, because they are of another time.
    """
    near = [
        Reading(one.clock_ns - zero_ns, "server", BUSY, one.cores)
        for one in found
        if -_AROUND_NS <= one.clock_ns - zero_ns <= end_ns + _AROUND_NS
    ]
    if not near:
        apart_s = min(abs(one.clock_ns - zero_ns) for one in found) / _SECOND_NS
        message = f"its readings are at least {wording.count(apart_s)} s away from the load"
        hint = "export the same time span; formatted timestamps may need `time_zone=`"
        raise InputError([Problem(tally.file, message, hint)])
    left = len(found) - len(near)
    tally.kept -= left
    tally.leave_out(OUTSIDE, left)
    tally.remarks.append(_summed_up(near))
    return near


def _summed_up(near: Sequence[Reading]) -> str:
    """Mean, maximum, and the number of seconds without a reading."""
    values = [reading.value for reading in near]
    seconds = {reading.at_ns // _SECOND_NS for reading in near}
    missing = max(seconds) - min(seconds) + 1 - len(seconds)
    return (
        f"the server kept {wording.decimals(sum(values) / len(values), 2)} cores busy on average, "
        f"{wording.decimals(max(values), 2)}"
        f" at most; {missing} of {len(seconds) + missing} seconds have no reading"
    )


def _values(
    stream: BinaryIO, options: CpuOptions, tally: ImportStats
) -> Iterator[tuple[int, float]]:
    """Time and value of each line; broken lines are counted in the tally."""
    places: _Places | None = None
    separator = ","
    for number, line in _lines(stream, tally):
        if not line.strip():
            continue
        if places is None:
            separator = next((one for one in _SEPARATORS if one in line.strip()), ",")
        try:
            values = _fields(line, separator)
        except ValueError as error:
            tally.break_line(number, str(error), options.strict)
            continue
        if places is None:
            places = _places(values, tally, number)
            if places.headed:
                continue
        found = _reading(values, places)
        if isinstance(found, str):
            tally.break_line(number, found, options.strict)
        else:
            yield found


def _lines(stream: BinaryIO, tally: ImportStats) -> Iterator[tuple[int, str]]:
    """Every line with its number.

    Raises:
        InputError: One is too long.
    """
    limit, number = limits.HEADER_BYTES, 0
    while line := stream.readline(limit.most + 1):
        number += 1
        if len(line) > limit.most:
            raise limits.LINE_BYTES.refused(f"{tally.file}:{number}")
        yield number, line.decode("utf-8", "replace")


def _fields(line: str, separator: str) -> list[str]:
    values = texts.values(line.strip(), separator)
    return [value.strip() for value in values if value.strip() or separator != " "]


@dataclass(frozen=True)
class _Places:
    """Columns of the parts of a reading.

    Attributes:
        clock: Column of the time.
        value: Column of the value.
        ns: Column of the nanoseconds; None if there is none.
        headed: Whether the first line names the columns.
    """

    clock: int
    value: int
    ns: int | None
    headed: bool


def _places(first: Sequence[str], tally: ImportStats, number: int) -> _Places:
    """The columns: by a header, or by which of the first values is a timestamp.

    Raises:
        InputError: The columns are ambiguous.
    """
    names = [name.lower() for name in first]
    if "clock" in names and "value" in names:
        ns = names.index("ns") if "ns" in names else None
        return _Places(names.index("clock"), names.index("value"), ns, headed=True)
    clocks = [place for place, text in enumerate(first) if _is_clock(text)]
    if len(first) < 2 or len(clocks) != 1:  # noqa: PLR2004
        hint = "export the history of an item as `clock,value`"
        raise InputError([Problem(f"{tally.file}:{number}", "is not a Zabbix reading", hint)])
    others = [place for place in range(len(first)) if place != clocks[0]]
    return _Places(clocks[0], others[0], None, headed=False)


def _is_clock(text: str) -> bool:
    is_number = text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS
    return is_number and int(text) >= _LEAST_CLOCK


def _reading(values: Sequence[str], places: _Places) -> tuple[int, float] | str:
    """Time and value of a line, or why it is broken."""
    needed = max(places.clock, places.value, places.ns or 0)
    if len(values) <= needed:
        return f"has {len(values)} values instead of {needed + 1}"
    clock, text = values[places.clock], values[places.value].removesuffix("%").strip()
    ns = values[places.ns] if places.ns is not None else "0"
    if not _is_clock(clock) or not (ns.isascii() and ns.isdigit() and len(ns) <= _MOST_DIGITS):
        return f"`{clock}` is not a Unix timestamp in whole seconds"
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or value < 0:
        return f"`{text}` is not a CPU reading"
    return int(clock) * _SECOND_NS + int(ns), value


def _cores(value: float, options: CpuOptions, tally: ImportStats) -> float:
    """The number of cores of a value.

    Raises:
        InputError: It exceeds the number of cores.
    """
    most = (options.cores or math.inf) * _TOLERANCE_PERCENT / 100
    busy = _in_unit(value, options.unit, options.cores)
    if busy > most:
        message = (
            f"`{wording.exact(value)}` would be {wording.exact(busy)} cores, but the server has "
            f"{options.cores}"
        )
        in_units = {unit: _in_unit(value, unit, options.cores) for unit in UNITS}
        fitting = [
            f"`{unit}` ({wording.exact(cores)} cores)"
            for unit, cores in in_units.items()
            if cores <= most
        ]
        hint = f"give the unit with `cpu_unit=`: {' or '.join(fitting)}"
        if not fitting:
            hint = "give more `cores=`, or export the CPU usage of this server"
        raise InputError([Problem(tally.file, message, hint)])
    return busy


def _in_unit(value: float, unit: Unit, cores: int | None) -> float:
    """Busy cores of a value in a unit."""
    if unit == "cores":
        return value
    return value / 100 * (1 if unit == "percent-of-one" else cores or 0)
