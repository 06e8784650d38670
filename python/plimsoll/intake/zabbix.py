"""Readings of a server's CPU, as Zabbix exports the history of an item: `clock` and `value`.

`clock` are whole seconds since 1970, `ns` the nanoseconds within one where they are exported. What
Zabbix calls CPU utilisation is a share of all cores in percent; other templates sum the cores up.

Source: Zabbix manual, item `system.cpu.util`; tables `history` and `history_uint`.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, Literal, get_args

from plimsoll.errors import CampaignError, Problem
from plimsoll.intake.recorded import Reading

if TYPE_CHECKING:
    from plimsoll.intake.rows import Tally

NAME = "zabbix"

Unit = Literal["percent-of-all", "percent-of-one", "cores"]

UNITS: tuple[Unit, ...] = get_args(Unit)
"""What 100 may mean: all cores, one core, or a hundred cores."""

BUSY = "busy_cores"
"""Quantity of the readings."""

HOST = "server"
"""Name of the host that was read."""

REPEATED = "readings of an instant that had one already"
OUTSIDE = "readings from long before or after the load"

_SECOND_NS = 1_000_000_000
_AROUND_NS = 60 * _SECOND_NS
_LEAST_CLOCK = 100_000_000
_TOLERANCE_PERCENT = 101.0
_SEPARATORS = ",;\t "


@dataclass(frozen=True)
class Asked:
    """How readings are to be understood.

    Attributes:
        unit: What a value means.
        cores: Cores of the server; None when not said.
        strict: Whether a broken line ends the reading.
    """

    unit: Unit = "percent-of-all"
    cores: int | None = None
    strict: bool = False


@dataclass(frozen=True)
class Busy:
    """One reading.

    Attributes:
        clock_ns: Its instant since 1970.
        cores: Cores that were busy.
    """

    clock_ns: int
    cores: float


def read(stream: BinaryIO, asked: Asked, tally: Tally) -> tuple[Busy, ...]:
    """The readings of a file, by rising instant.

    Args:
        stream: The file, unpacked, from its beginning.
        asked: How it is to be understood.
        tally: What keeps account of every line.

    Raises:
        CampaignError: It holds no reading, the unit cannot be meant, or a line is broken and
            `asked` is strict.
    """
    if asked.unit == "percent-of-all" and not asked.cores:
        hint = "say how many cores the server has with `--cores`"
        raise CampaignError([Problem(tally.file, "holds shares of all cores", hint)])
    found: dict[int, float] = {}
    for clock_ns, value in _values(stream, asked, tally):
        if clock_ns in found:
            tally.leave_out(REPEATED)
        else:
            tally.keep()
            found[clock_ns] = _cores(value, asked, tally)
    if not found:
        hint = "export the history of an item as `clock,value`"
        raise CampaignError([Problem(tally.file, "holds no reading", hint)])
    return tuple(Busy(clock_ns, found[clock_ns]) for clock_ns in sorted(found))


def readings(found: Sequence[Busy], zero_ns: int, end_ns: int, tally: Tally) -> list[Reading]:
    """Readings as rows of the table `usage`; those from long before or after the load are left out.

    Args:
        found: The readings.
        zero_ns: Zero of the trial since 1970.
        end_ns: Its end, since its zero.
        tally: What keeps account of them.

    Raises:
        CampaignError: All are left out: they are of another time.
    """
    near = [
        Reading(one.clock_ns - zero_ns, HOST, "server", BUSY, one.cores)
        for one in found
        if -_AROUND_NS <= one.clock_ns - zero_ns <= end_ns + _AROUND_NS
    ]
    if not near:
        apart_s = min(abs(one.clock_ns - zero_ns) for one in found) / _SECOND_NS
        message = f"its readings are {apart_s:.0f} s or more away from the load"
        hint = "give the history of the same time; formatted timestamps may need `--time-zone`"
        raise CampaignError([Problem(tally.file, message, hint)])
    left = len(found) - len(near)
    tally.kept -= left
    tally.leave_out(OUTSIDE, left)
    tally.remarks.append(_summed_up(near))
    return near


def _summed_up(near: Sequence[Reading]) -> str:
    """Mean, most, and the seconds of which nothing is known."""
    values = [reading.value for reading in near]
    seconds = {reading.at_ns // _SECOND_NS for reading in near}
    missing = max(seconds) - min(seconds) + 1 - len(seconds)
    return (
        f"the server kept {sum(values) / len(values):.2f} cores busy on average, {max(values):.2f}"
        f" at most; {missing} of {len(seconds) + missing} seconds have no reading"
    )


def _values(stream: BinaryIO, asked: Asked, tally: Tally) -> Iterator[tuple[int, float]]:
    """Instant and value of each line; broken lines are told to the tally."""
    text = io.TextIOWrapper(stream, "utf-8-sig", "replace", newline="")
    places: _Places | None = None
    separator = ","
    for number, line in enumerate(text, 1):
        if not line.strip():
            continue
        if places is None:
            separator = next((one for one in _SEPARATORS if one in line.strip()), ",")
        values = _fields(line, separator)
        if places is None:
            places = _places(values, tally, number)
            if places.headed:
                continue
        found = _reading(values, places)
        if isinstance(found, str):
            tally.break_line(number, found, asked.strict)
        else:
            yield found


def _fields(line: str, separator: str) -> list[str]:
    values = next(csv.reader([line.strip()], delimiter=separator))
    return [value.strip() for value in values if value.strip() or separator != " "]


@dataclass(frozen=True)
class _Places:
    """Where in a line the parts of a reading stand.

    Attributes:
        clock: Place of the instant.
        value: Place of the value.
        ns: Place of the nanoseconds; None when they are not there.
        headed: Whether the first line names the columns.
    """

    clock: int
    value: int
    ns: int | None
    headed: bool


def _places(first: Sequence[str], tally: Tally, number: int) -> _Places:
    """Where the parts stand: by a header, or by which of the first values is an instant.

    Raises:
        CampaignError: It cannot be told.
    """
    names = [name.lower() for name in first]
    if "clock" in names and "value" in names:
        ns = names.index("ns") if "ns" in names else None
        return _Places(names.index("clock"), names.index("value"), ns, headed=True)
    clocks = [place for place, text in enumerate(first) if _is_clock(text)]
    if len(first) < 2 or len(clocks) != 1:  # noqa: PLR2004
        hint = "export the history of an item as `clock,value`"
        raise CampaignError([Problem(f"{tally.file}:{number}", "is no reading of Zabbix", hint)])
    others = [place for place in range(len(first)) if place != clocks[0]]
    return _Places(clocks[0], others[0], None, headed=False)


def _is_clock(text: str) -> bool:
    return text.isascii() and text.isdigit() and int(text) >= _LEAST_CLOCK


def _reading(values: Sequence[str], places: _Places) -> tuple[int, float] | str:
    """Instant and value of a line, or why it is broken."""
    needed = max(places.clock, places.value, places.ns or 0)
    if len(values) <= needed:
        return f"has {len(values)} values where {needed + 1} are needed"
    clock, text = values[places.clock], values[places.value].removesuffix("%").strip()
    ns = values[places.ns] if places.ns is not None else "0"
    if not _is_clock(clock) or not ns.isdigit():
        return f"`{clock}` is no instant in whole seconds since 1970"
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or value < 0:
        return f"`{text}` is no share of the CPU"
    return int(clock) * _SECOND_NS + int(ns), value


def _cores(value: float, asked: Asked, tally: Tally) -> float:
    """Cores that a value means.

    Raises:
        CampaignError: It is more than there can be.
    """
    if asked.unit == "cores":
        busy = value
    elif asked.unit == "percent-of-one":
        busy = value / 100
    else:
        busy = value / 100 * (asked.cores or 0)
    most = (asked.cores or math.inf) * _TOLERANCE_PERCENT / 100
    if busy > most:
        message = f"`{value:g}` would be {busy:g} cores, and the server has {asked.cores}"
        hint = f"say what it means with `--cpu-unit`: `{'`, `'.join(UNITS)}`"
        raise CampaignError([Problem(tally.file, message, hint)])
    return busy
