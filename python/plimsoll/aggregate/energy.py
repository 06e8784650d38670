"""Energy: what the host drew under the load, in all and above what it draws without it.

    energy of the window = growth of RAPL's counters, or ∫ power at the wall dt (trapezoids)
    net power = energy of the window / its length − mean power without load
    joules per correct response = power / correct responses per second

Power without load is measured before and after, second by second, while the server runs. So it is
known how far it scatters by itself: a net power of less than three standard deviations of these
seconds cannot be distinguished from that scatter, and gives no figure. A meter that always shows
full watts seems not to scatter at all; its step / √12 is the least that is taken for it.

What a meter at the wall says is checked before it is believed: see `wall`. A meter shows one number
until it has the next, so what it shows after a load may still be of the load. Readings without load
count once its number must have changed since.

Source: the kernel's document on power capping; B. L. Welch, Biometrika 34, 1947 (interval of the
difference of two means); the limit of three deviations is that of a usual test of a mean. Seconds
are taken as independent, and one trial knows nothing of how trials differ: what repetitions say
counts where there are some.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import groupby, pairwise
from statistics import mean, median, stdev
from typing import TYPE_CHECKING, Literal

import numpy as np

from plimsoll import wording
from plimsoll.aggregate.query import SECOND_NS
from plimsoll.aggregate.usage import ReadingSeries, Usage
from plimsoll.campaign.power import SETTLE_S
from plimsoll.statistics.intervals import Interval, difference_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.aggregate.query import Columns
    from plimsoll.aggregate.usage import Window

Source = Literal["rapl", "wall"]
SOURCES: tuple[Source, ...] = ("rapl", "wall")

DEVIATIONS = 3.0
"""A net power of fewer standard deviations of the seconds without load is none."""
FEWEST = 2
"""Numbers without load on either side, below which nothing is known of their scatter."""

_SHARE = 0.5
"""By how much of a number fewer than `FEWEST` may be, since instants scatter."""

_MOST = 0.8
"""Share of readings that show one number: it may change where the load begins or ends."""

FEWEST_CHANGES = 10
"""A window needs as many numbers of a meter, each read once."""
STALLED_NS = 3 * SECOND_NS
"""A meter that says nothing for so long, or for half of a window, has stalled; not before three of
its usual intervals."""
GREATEST_W = 22_000.0
"""More than a socket of three phases and 32 A gives."""


@dataclass(frozen=True)
class Energy:
    """Power of the host in the holds, beside that without load.

    Attributes:
        gross_w: Mean power in the holds, in watts.
        idle_w: Mean power without load; None if it was not measured.
        deviation_w: Standard deviation of its single seconds; None if it was not measured.
        idle_s: Whole seconds for which it was measured, before or after, whichever is less.
        net_interval_w: 95 % interval of net power by the seconds of this trial; None if unknown.
        idle_problem: Why it is unknown although it was read, without a full stop; empty if it is
            known, or was not read.
    """

    gross_w: float
    idle_w: float | None = None
    deviation_w: float | None = None
    idle_s: float = 0.0
    net_interval_w: Interval | None = None
    idle_problem: str = ""

    @property
    def net_w(self) -> float | None:
        """Power above that without load; None if that was not measured."""
        return None if self.idle_w is None else self.gross_w - self.idle_w

    @property
    def deviations(self) -> float | None:
        """Net power in standard deviations of single seconds without load."""
        if self.net_w is None or self.deviation_w is None:
            return None
        return self.net_w / self.deviation_w if self.deviation_w else math.inf

    @property
    def is_significant(self) -> bool:
        """Whether a figure of net power follows from it."""
        deviations, net_w = self.deviations, self.net_w
        return deviations is not None and (net_w or 0.0) > 0 and deviations >= DEVIATIONS


@dataclass(frozen=True)
class NoEnergy:
    """Why a meter's readings give no energy.

    Attributes:
        sentence: What is wrong with them, without a full stop.
    """

    sentence: str


def columns(
    readings: Usage, holds: Sequence[Window], correct_per_s: float | None, *, has_net: bool = True
) -> Columns:
    """What `summaries` has of power and energy.

    Args:
        readings: The readings of a trial.
        holds: Its holds.
        correct_per_s: Correct responses per second; None if unknown.
        has_net: Whether power above that without load was requested; if not, neither is given.
    """
    at_wall = wall(readings, holds)
    found = {
        "rapl": rapl(readings, holds),
        "wall": at_wall if isinstance(at_wall, Energy) else None,
    }
    if not has_net:
        found = {source: one and Energy(one.gross_w) for source, one in found.items()}
    return {
        name: value
        for source in SOURCES
        for name, value in _columns(source, found[source], correct_per_s).items()
    }


def _columns(source: Source, found: Energy | None, correct_per_s: float | None) -> Columns:
    is_net = found is not None and found.is_significant
    net_w = found.net_w if found and is_net else None
    ends = found.net_interval_w if found and is_net else None
    gross_w = None if found is None else found.gross_w
    return {
        f"{source}_power_w": gross_w,
        f"{source}_idle_power_w": None if found is None else found.idle_w,
        f"{source}_net_power_w": net_w,
        f"{source}_net_power_low_w": None if ends is None else ends.low,
        f"{source}_net_power_high_w": None if ends is None else ends.high,
        f"{source}_j_per_ok": _per(gross_w, correct_per_s),
        f"{source}_net_j_per_ok": _per(net_w, correct_per_s),
    }


def _per(power_w: float | None, rate_per_s: float | None) -> float | None:
    return power_w / rate_per_s if power_w is not None and rate_per_s else None


def rapl(readings: Usage, holds: Sequence[Window]) -> Energy | None:
    """Power by RAPL; None where no domain was read.

    Args:
        readings: The readings of a trial.
        holds: Its holds.
    """
    gross_w = readings.rate("machine", "energy_j", holds)
    loaded = readings.of("machine", "energy_j")
    if gross_w is None or len(loaded) != 1:
        return None
    idle = readings.of("machine", "idle_energy_j")
    sides = _sides(idle, holds)
    held = [power for hold in holds for power in _growth_w(_within(loaded[0], *hold))]
    lengths_s = [_span_s(side) for side in sides]
    return _beside_idle(gross_w, held, [_growth_w(side) for side in sides], lengths_s)


def wall(readings: Usage, holds: Sequence[Window]) -> Energy | NoEnergy | None:
    """Power at the wall, integrated over the holds; None where no meter was read.

    Args:
        readings: The readings of a trial.
        holds: Its holds.

    Returns:
        `NoEnergy` if the meter stalled or died, or if it says what cannot be: less than nothing,
        more than a socket gives, or always the same. Also if a hold is too short for how often
        its number changes.
    """
    loaded, idle = (readings.of("machine", name) for name in ("wall_power_w", "idle_wall_power_w"))
    if len(loaded) != 1:
        return None
    every = _joined(loaded[0], *idle)
    refused = _refused(every, loaded[0], holds)
    if refused:
        return NoEnergy(refused)
    length_ns = sum(end - start for start, end in holds)
    joules = sum(integral_j(loaded[0], hold) for hold in holds)
    gross_w = joules / length_ns * SECOND_NS
    held = [power for hold in holds for power in loaded[0].inside(hold).tolist()]
    sides, changes_s = _sides(idle, holds), refresh_s(every) or 0.0
    fresh = [_later(side, changes_s - SETTLE_S) for side in sides]
    is_read = bool(sides) and min(len(side.values) for side in sides) >= FEWEST
    if is_read and min(map(_shown_s, fresh)) < (FEWEST - _SHARE) * changes_s:
        return Energy(gross_w, idle_problem=_too_slow(changes_s))
    powers = [side.values.tolist() for side in fresh]
    lengths_s = [_shown_s(side) for side in sides]
    return _beside_idle(gross_w, held, powers, lengths_s, _step_w(every))


def integral_j(series: ReadingSeries, window: Window) -> float:
    """Energy of a stretch of time by readings of power: the area of trapezoids between instants.

    Args:
        series: Readings of power, in watts.
        window: The stretch; power at its ends is interpolated, or that of the nearest reading.
    """
    start_ns, end_ns = window
    inside = (series.at_ns > start_ns) & (series.at_ns < end_ns)
    at_ns = np.concatenate([[start_ns], series.at_ns[inside], [end_ns]])
    powers_w = np.interp(at_ns, series.at_ns, series.values)
    return float(np.trapezoid(powers_w, (at_ns - start_ns) / SECOND_NS))


def refresh_s(series: ReadingSeries) -> float | None:
    """How often a meter's number changes: the median time from one change to the next, in seconds.

    Returns:
        None where it changed fewer than twice.
    """
    starts = [next(run)[0] for _, run in groupby(_pairs(series), key=lambda pair: pair[1])]
    changes = [after - before for before, after in pairwise(starts[1:])]
    return median(changes) / SECOND_NS if changes else None


def _refused(every: ReadingSeries, loaded: ReadingSeries, holds: Sequence[Window]) -> str:
    """Why no energy follows from the readings of a meter; empty if it does."""
    least_w, most_w = float(every.values.min()), float(every.values.max())
    if least_w < 0 or most_w > GREATEST_W:
        wrong_w = least_w if least_w < 0 else most_w
        return f"the power meter reported {wording.amount(wrong_w)} W, which is impossible"
    if not holds:
        return "the load has no measurement window"
    for hold in holds:
        silence_ns = _longest_silence_ns(loaded, hold)
        if silence_ns > _stalled_ns(every, hold):
            silence = wording.seconds(silence_ns / SECOND_NS)
            return f"the power meter gave no reading for {silence} of the load"
    if least_w == most_w and len(every.values) >= FEWEST_CHANGES:
        count = len(every.values)
        return (
            f"the power meter gave {wording.exact(least_w)} W in all {count} readings, with load "
            "and without"
        )
    return _too_rare(every, loaded, holds)


def _too_rare(every: ReadingSeries, loaded: ReadingSeries, holds: Sequence[Window]) -> str:
    """Why a meter's number changes too rarely for the holds; empty if it does not."""
    length_s = max(end - start for start, end in holds) / SECOND_NS
    changes_s = refresh_s(every) or length_s
    if length_s >= FEWEST_CHANGES * changes_s:
        return ""
    if (shown_w := _whole_watts(every, loaded, holds)) is not None:
        return (
            f"the power meter shows whole watts, and {wording.exact(shown_w)} W in most of the "
            "measurement window: too coarse to tell whether it follows the power; let it show "
            "decimals (`WattRes 1` with Tasmota), or use another meter"
        )
    needed_s = math.ceil(FEWEST_CHANGES * changes_s)
    return (
        f"the power meter has a new number every {wording.number(changes_s, 2)} s, too rarely "
        f"for a hold of {wording.number(length_s, 3)} s; {needed_s} s would suffice"
    )


def _whole_watts(
    every: ReadingSeries, loaded: ReadingSeries, holds: Sequence[Window]
) -> float | None:
    """The number that a meter without decimals showed in most of the holds; None for other meters.

    It may change no sooner in a longer hold: power that is steady to a watt needs no other number.
    """
    shown = np.concatenate([loaded.inside(hold) for hold in holds])
    if not len(shown) or not np.all(every.values == np.round(every.values)):
        return None
    numbers, counts = np.unique(shown, return_counts=True)
    most = int(counts.argmax())
    return float(numbers[most]) if counts[most] >= _MOST * len(shown) else None


def _longest_silence_ns(series: ReadingSeries, window: Window) -> int:
    """The longest time within a stretch in which no reading came."""
    start_ns, end_ns = window
    before = series.at_ns[series.at_ns <= start_ns]
    after = series.at_ns[series.at_ns >= end_ns]
    inside = series.at_ns[(series.at_ns > start_ns) & (series.at_ns < end_ns)].tolist()
    first = int(before[-1]) if len(before) else start_ns
    last = int(after[0]) if len(after) else end_ns
    return max(later - earlier for earlier, later in pairwise([first, *inside, last]))


def _stalled_ns(series: ReadingSeries, window: Window) -> float:
    """How long a meter may say nothing in a stretch, by how often it says something."""
    usual_ns = float(np.median(np.diff(series.at_ns))) if len(series.at_ns) > 1 else 0.0
    return max(min(STALLED_NS, (window[1] - window[0]) / 2), 3 * usual_ns)


def _step_w(series: ReadingSeries) -> float:
    """The smallest step of a meter's number; 0 where it never changed."""
    distinct = np.unique(series.values)
    return float(np.diff(distinct).min()) if len(distinct) > 1 else 0.0


def _beside_idle(
    gross_w: float,
    held: Sequence[float],
    sides: Sequence[Sequence[float]],
    lengths_s: Sequence[float],
    step_w: float = 0.0,
) -> Energy:
    """Power in the holds beside that without load, if that is known from before and after."""
    if not sides or min(map(len, sides)) < FEWEST:
        return Energy(gross_w)
    idle = [power for side in sides for power in side]
    return Energy(
        gross_w,
        mean(idle),
        max(stdev(idle), step_w / math.sqrt(12)),
        float(round(min(lengths_s))),
        difference_interval(held, idle, gross_w - mean(idle)),
    )


def _sides(idle: Sequence[ReadingSeries], holds: Sequence[Window]) -> list[ReadingSeries]:
    """The readings without load before the holds, and those after them; nothing without any."""
    if len(idle) != 1 or not holds:
        return []
    first_ns, last_ns = int(idle[0].at_ns[0]), int(idle[0].at_ns[-1])
    return [_within(idle[0], first_ns, holds[0][0]), _within(idle[0], holds[-1][1], last_ns)]


def _later(side: ReadingSeries, after_s: float) -> ReadingSeries:
    """The readings of a side from some seconds after its first one on."""
    if len(side.at_ns) == 0 or after_s <= 0:
        return side
    return _within(side, int(side.at_ns[0]) + round(after_s * SECOND_NS), int(side.at_ns[-1]))


def _too_slow(changes_s: float) -> str:
    """Why power without load is unknown by a meter with too few numbers."""
    needed_s = math.ceil(FEWEST * changes_s + max(0.0, changes_s - SETTLE_S))
    return f"its number changes every {wording.number(changes_s, 2)} s; {needed_s} s would suffice"


def _span_s(series: ReadingSeries) -> float:
    """Seconds from the first reading to the last one."""
    return float(np.ptp(series.at_ns)) / SECOND_NS if len(series.at_ns) else 0.0


def _shown_s(series: ReadingSeries) -> float:
    """Seconds for which a meter was read: its last reading stands for as long as the others."""
    if len(series.at_ns) < FEWEST:
        return 0.0
    return _span_s(series) + float(np.median(np.diff(series.at_ns))) / SECOND_NS


def _growth_w(series: ReadingSeries) -> list[float]:
    """Power between each two readings of a counter of joules."""
    return (np.diff(series.values) / np.diff(series.at_ns) * SECOND_NS).tolist()


def _within(series: ReadingSeries, start_ns: int, end_ns: int) -> ReadingSeries:
    chosen = (series.at_ns >= start_ns) & (series.at_ns <= end_ns)
    return ReadingSeries(series.at_ns[chosen], series.values[chosen])


def _joined(*parts: ReadingSeries) -> ReadingSeries:
    """Readings of several quantities of one meter, in order of time."""
    at_ns = np.concatenate([one.at_ns for one in parts])
    order = np.argsort(at_ns, kind="stable")
    return ReadingSeries(at_ns[order], np.concatenate([one.values for one in parts])[order])


def _pairs(series: ReadingSeries) -> zip[tuple[int, float]]:
    return zip(series.at_ns.tolist(), series.values.tolist(), strict=True)
