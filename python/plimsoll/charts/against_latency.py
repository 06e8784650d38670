"""Against latency: throughput and latency of the frameworks at one endpoint, as points.

Names stand beside their points where there is room, so that no name lies upon another; the others
are listed below the plot. Which have room is worked out for plots of several widths.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from plimsoll import canvas, wording
from plimsoll import vega_lite as alt
from plimsoll.canvas import LEVEL_SHAPES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from plimsoll.canvas import Row, Rows, Specification
    from plimsoll.findings.against_latency import AgainstLatency, LatencyPoint
    from plimsoll.verdicts.verdict import Level

NAME = "against_latency"
TITLE = "Throughput against latency"
CAPTION = (
    "Each point is a framework: median over repetitions of goodput (successful responses per "
    "second) and of latency, with 95 % intervals, cut at the edges; further right and lower is "
    "better. Under several loads a line joins the points of a framework. The shape is the verdict; "
    "void numbers are left out. Points without room for their name are listed below. Axes are "
    "logarithmic where values lie far apart."
)
TABLE = "points"
COLUMNS = {
    "framework": "framework",
    "load": "load",
    "goodput": "goodput, /s",
    "goodput_low": "95 % from",
    "goodput_high": "95 % to",
    "latency": "latency, ms",
    "latency_low": "95 % from",
    "latency_high": "95 % to",
    "level": "verdict",
}

_AXES = {
    "response_time_p99_ns": "response time, 99 %",
    "service_time_p99_ns": "service time, 99 %",
    "response_time_p50_ns": "response time, median",
    "service_time_p50_ns": "service time, median",
}
_TICKS = [step * 10.0**power for power in range(-4, 9) for step in (1, 2, 5)]
_HEIGHT_PX = 300
_WIDTHS_PX = (210, 280, 480, 620, 790, 1000)
"""Widths of plots that names are placed for: on small and large screens and on paper."""

_LETTER_PX, _LINE_PX, _OFF_PX, _NEAR_PX = 6.2, 13, 9, 7
_LONGEST = 20
"""Letters of a shortened name."""

_LISTED_PX = _HEIGHT_PX + 52
"""Where the list of points without a name begins: below the axis and its title."""

_LISTED_FROM_PX = 12 - canvas.AXIS_PX
_MARK_PX, _BETWEEN_PX = 10, 16
"""Room of the mark before an entry of that list, and behind it."""
_ROOM = 1.25


class _Axis(NamedTuple):
    """Title and ends of an axis, and whether it is logarithmic."""

    title: str
    low: float
    high: float
    is_logarithmic: bool

    def share(self, value: float) -> float:
        """Where a value lies, from 0 at the lower end to 1."""
        if self.is_logarithmic:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)


class _Box(NamedTuple):
    left: float
    top: float
    right: float
    bottom: float

    def is_upon(self, other: _Box) -> bool:
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )


def draw(data: AgainstLatency, entries: tuple[str, ...] = ()) -> Specification:
    """The chart with its data.

    Args:
        data: What it shows.
        entries: Every entry of the report, for `canvas.entry_places`.
    """
    loads = Counter(point.framework for point in data.points)
    rows = [_row(point, has_loads=loads[point.framework] > 1) for point in data.points]
    x = _axis("goodput, responses/s", canvas.numbers(rows, "goodput"))
    y = _axis(f"{_AXES[data.latency]} (ms)", canvas.numbers(rows, "latency"))
    for width_px in _WIDTHS_PX:
        for row, place in zip(rows, _placed(rows, x, y, width_px), strict=True):
            row[_column(width_px)] = place
    frameworks = tuple(dict.fromkeys(point.framework for point in data.points))
    found = {point.level for point in data.points}
    levels: tuple[Level, ...] = tuple(level for level in LEVEL_SHAPES if level in found)
    chart = _chart(frameworks, entries, levels, x, y)
    return canvas.finished(chart, {"points": rows}, _description(data))


def _row(point: LatencyPoint, *, has_loads: bool) -> Row:
    goodput, latency = point.goodput.interval, point.latency.interval
    name = f"{point.framework}, {point.load}" if has_loads else point.framework
    rate, time = wording.per_second(point.goodput.value), wording.seconds(point.latency.value / 1e9)
    role = " (yardstick)" if point.is_yardstick else ""
    return {
        "framework": point.framework,
        "load": point.load,
        "label": f"{name}{role}",
        "short": _shortened(name),
        "listed": f"{_shortened(name)}{role}: {rate}, {time}",
        "goodput": wording.significant(point.goodput.value),
        "goodput_low": goodput and wording.significant(goodput.low),
        "goodput_high": goodput and wording.significant(goodput.high),
        "latency": canvas.scaled(point.latency.value, 1e6),
        "latency_low": latency and canvas.scaled(latency.low, 1e6),
        "latency_high": latency and canvas.scaled(latency.high, 1e6),
        "level": point.level,
    }


def _shortened(name: str) -> str:
    """A name of few letters; names often differ only at their end, so that stays."""
    half = _LONGEST // 2
    return name if len(name) <= _LONGEST else f"{name[:half]}…{name[1 - half :]}"


def _column(width_px: int) -> str:
    return f"at_{width_px}"


def _axis(title: str, values: Iterable[float]) -> _Axis:
    known = list(values)
    if canvas.is_wide(known):
        return _Axis(f"{title}, logarithmic", min(known) / _ROOM, max(known) * _ROOM, True)
    return _Axis(title, 0.0, max(known) * _ROOM, False)


def _placed(rows: Rows, x: _Axis, y: _Axis, width_px: float) -> list[str | list[int]]:
    """Where the name of each point is.

    Args:
        rows: Rows of points.
        x: The axis of throughput.
        y: The axis of latency.
        width_px: Width of the plot.

    Returns:
        The side of its point on which it stands, with `short` behind it for the shortened one; for
        one that is listed, how far right and how far below the plot it is, in pixels.
    """
    places = [
        (x.share(goodput) * width_px, (1 - y.share(latency)) * _HEIGHT_PX)
        for goodput, latency in zip(
            canvas.numbers(rows, "goodput"), canvas.numbers(rows, "latency"), strict=True
        )
    ]
    taken = [_Box(left - 6, top - 6, left + 6, top + 6) for left, top in places]
    taken += [
        box
        for row, place in zip(rows, places, strict=True)
        for box in _intervals(row, *place, x, y, width_px)
    ]
    found: list[str | list[int]] = []
    left, top = _LISTED_FROM_PX, _LISTED_PX
    for row, place in zip(rows, places, strict=True):
        label, short, listed = (str(row[name]) for name in ("label", "short", "listed"))
        boxes = _boxes(*place, len(label) * _LETTER_PX)
        if short != label:
            shorter = _boxes(*place, len(short) * _LETTER_PX)
            boxes |= {f"{side} short": box for side, box in shorter.items()}
        free = (side for side, box in boxes.items() if _is_free(box, taken, width_px))
        if side := next(free, None):
            found.append(side)
            taken.append(boxes[side])
            continue
        length_px = round(_MARK_PX + len(listed) * _LETTER_PX)
        if left > _LISTED_FROM_PX and left + length_px > width_px + canvas.ASIDE_PX:
            left, top = _LISTED_FROM_PX, top + _LINE_PX + 2
        found.append([left, top])
        left += length_px + _BETWEEN_PX
    return found


def _intervals(
    row: Row, left: float, top: float, x: _Axis, y: _Axis, width_px: float
) -> Iterator[_Box]:
    """Where the lines of a point's intervals are: no name stands on them."""
    across = [row["goodput_low"], row["goodput_high"]]
    along = [row["latency_low"], row["latency_high"]]
    if known := [max(one, x.low) for one in across if isinstance(one, int | float)]:
        first, last = (x.share(one) * width_px for one in (known[0], known[-1]))
        yield _Box(first, top - 1, last, top + 1)
    if known := [max(one, y.low) for one in along if isinstance(one, int | float)]:
        low, high = ((1 - y.share(one)) * _HEIGHT_PX for one in (known[0], known[-1]))
        yield _Box(left - 1, high, left + 1, low)


def _boxes(left: float, top: float, length_px: float) -> dict[str, _Box]:
    """Where a name can stand beside a point, the best place first."""
    half_px = _LINE_PX / 2
    middle = (left - length_px / 2, left + length_px / 2)
    return {
        "right": _Box(left + _OFF_PX, top - half_px, left + _OFF_PX + length_px, top + half_px),
        "left": _Box(left - _OFF_PX - length_px, top - half_px, left - _OFF_PX, top + half_px),
        "above": _Box(middle[0], top - _OFF_PX - _LINE_PX, middle[1], top - _OFF_PX),
        "below": _Box(middle[0], top + _OFF_PX, middle[1], top + _OFF_PX + _LINE_PX),
        **{
            f"{height}-{side}": _Box(first, upper, first + length_px, upper + _LINE_PX)
            for height, upper in (("above", top - 3 - _LINE_PX), ("below", top + 3))
            for side, first in (("right", left + _NEAR_PX), ("left", left - _NEAR_PX - length_px))
        },
    }


def _is_free(box: _Box, taken: Sequence[_Box], width_px: float) -> bool:
    is_inside = box.left >= 0 and box.right <= width_px and box.top >= 0
    return is_inside and box.bottom <= _HEIGHT_PX and not any(map(box.is_upon, taken))


def _description(data: AgainstLatency) -> str:
    parts = [
        f"{point.framework} {wording.per_second(point.goodput.value)} at "
        f"{wording.seconds(point.latency.value / 1e9)}, {point.level.replace('_', ' ')}"
        for point in data.points
    ]
    return f"Goodput against {_AXES[data.latency]} at {data.endpoint}: {'; '.join(parts)}"


@canvas.built_once
def _chart(
    frameworks: tuple[str, ...],
    entries: tuple[str, ...],
    levels: tuple[Level, ...],
    x: _Axis,
    y: _Axis,
) -> Specification:
    colour = alt.Color("framework:N", scale=canvas.entry_scale(frameworks, entries), legend=None)
    source = alt.Chart(alt.NamedData(name="points"))
    lines = source.mark_line(strokeWidth=1.2, opacity=0.5).encode(
        x=_x("goodput", x), y=_y("latency", y), color=colour
    )
    intervals = (
        _cut(source, "goodput", x).encode(
            x=_x("low", x), x2=alt.X2("high"), y=_y("latency", y), color=colour
        ),
        _cut(source, "latency", y).encode(
            x=_x("goodput", x), y=_y("low", y), y2=alt.Y2("high"), color=colour
        ),
    )
    legend = alt.Legend(
        title=None, symbolFillColor=canvas.INK.light, labelExpr="replace(datum.label, '_', ' ')"
    )
    shape = alt.Shape(
        "level:N",
        scale=alt.Scale(domain=list(levels), range=[LEVEL_SHAPES[name] for name in levels]),
        legend=legend if set(levels) - {"sound"} else None,
    )
    points = source.mark_point(size=80, opacity=1, filled=True).encode(
        x=_x("goodput", x),
        y=_y("latency", y),
        color=colour,
        shape=shape,
        tooltip=[_tooltip(name, heading) for name, heading in COLUMNS.items()],
    )
    layers = (lines, *intervals, points, *_listed(colour, shape), _names(x, y))
    chart = canvas.layered(*layers).properties(width=canvas.WIDTH_PX, height=_HEIGHT_PX)
    return canvas.styled(chart)


def _cut(source: alt.Chart, column: str, axis: _Axis) -> alt.Chart:
    """Intervals of a column as lines, from `low` to `high`, which end where their axis does.

    They are not clipped, for Vega numbers what it clips: two pictures of a chart would differ.
    """
    return (
        source.transform_filter(f"isValid(datum.{column}_low)")
        .transform_calculate(
            low=f"max(datum.{column}_low, {axis.low})",
            high=f"min(datum.{column}_high, {axis.high})",
        )
        .mark_rule(strokeWidth=1.6, opacity=0.55)
    )


_TEXTS = ("framework", "load", "level")


def _tooltip(name: str, heading: str) -> alt.Tooltip:
    if name in _TEXTS:
        return alt.Tooltip(f"{name}:N", title=heading)
    return alt.Tooltip(f"{name}:Q", title=heading, format=canvas.NUMBERS)


def _by_width(are: str) -> alt.Chart:
    """The points with the column `place` for the width of the plot.

    Args:
        are: Which of them, by that column.
    """
    place = ""
    for narrower, width_px in itertools.pairwise(_WIDTHS_PX):
        place += f"width < {width_px} ? datum.{_column(narrower)} : "
    source = alt.Chart(alt.NamedData(name="points"))
    return source.transform_calculate(
        place=f"{place}datum.{_column(_WIDTHS_PX[-1])}"
    ).transform_filter(are)


def _listed(colour: alt.Color, shape: alt.Shape) -> tuple[alt.Chart, alt.Chart]:
    """The list of the points that have no room for their name: marks and words."""
    source = _by_width("isArray(datum.place)")
    top = alt.ExprRef("datum.place[1]")
    marks = source.mark_point(
        size=50, opacity=1, filled=True, x=alt.ExprRef("datum.place[0]"), y=top
    )
    words = source.mark_text(
        fontSize=11,
        align="left",
        baseline="middle",
        color=canvas.INK.light,
        text=alt.ExprRef("datum.listed"),
        x=alt.ExprRef(f"datum.place[0] + {_MARK_PX}"),
        y=top,
    )
    return marks.encode(color=colour, shape=shape), words


def _names(x: _Axis, y: _Axis) -> alt.LayerChart:
    """Names of the points on the sides that have room, on a halo."""
    halo = _words(x, y, stroke=canvas.PAPER.light, strokeWidth=3, strokeJoin="round", opacity=0.8)
    return canvas.layered(halo, _words(x, y, color=canvas.INK.light))


def _words(x: _Axis, y: _Axis, **look: Any) -> alt.Chart:
    return (
        _by_width("!isArray(datum.place)")
        .mark_text(
            fontSize=11,
            text=alt.ExprRef("indexof(datum.place, 'short') >= 0 ? datum.short : datum.label"),
            align=_by_side(right="'left'", left="'right'", otherwise="'center'"),
            baseline=_by_side(above="'bottom'", below="'top'", otherwise="'middle'"),
            dx=_off(right="", left="-", near_px=_NEAR_PX),
            dy=_off(below="", above="-", near_px=3),
            **look,
        )
        .encode(x=_x("goodput", x), y=_y("latency", y))
    )


def _by_side(*, otherwise: str, **values: str) -> alt.ExprRef:
    chosen = " : ".join(
        f"indexof(datum.place, '{name}') >= 0 ? {value}" for name, value in values.items()
    )
    return alt.ExprRef(f"{chosen} : {otherwise}")


def _off(*, near_px: float, **signs: str) -> alt.ExprRef:
    """How far a name is off its point; one that stands askew of it is nearer."""
    length = f"(indexof(datum.place, '-') >= 0 ? {near_px} : {_OFF_PX})"
    chosen = {name: f"{sign}{length}" for name, sign in signs.items()}
    return _by_side(otherwise="0", **chosen)


def _x(column: str, axis: _Axis) -> alt.X:
    return alt.X(f"{column}:Q", title=axis.title, scale=_scale(axis), axis=_labels(axis))


def _y(column: str, axis: _Axis) -> alt.Y:
    return alt.Y(f"{column}:Q", title=axis.title, scale=_scale(axis), axis=_labels(axis))


def _scale(axis: _Axis) -> alt.Scale:
    kind = "log" if axis.is_logarithmic else "linear"
    return alt.Scale(type=kind, domain=[axis.low, axis.high], nice=False)


def _labels(axis: _Axis) -> alt.Axis:
    if axis.is_logarithmic:
        return alt.Axis(
            format=canvas.NUMBERS, values=_TICKS, tickCount=len(_TICKS), labelOverlap="greedy"
        )
    return alt.Axis(format=canvas.NUMBERS, tickCount=6)
