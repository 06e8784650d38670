"""Comparison: the frameworks at one endpoint and load, with intervals, ties and verdicts.

Each repetition is a small ring, the median a mark whose shape is its verdict, the line through it
the 95 % interval over repetitions. Frameworks that may hold the same rank share a shade. A void
number is drawn hollow at the end and has no rank.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import canvas, wording
from plimsoll import vega_lite as alt
from plimsoll.canvas import LEVEL_COLOURS, LEVEL_SHAPES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.canvas import Row, Rows, Specification
    from plimsoll.findings.rankings import RankedEntry, Ranking

NAME = "comparison"
TITLE = "Ranking"
CAPTION = (
    "Median goodput (successful responses per second) with its 95 % interval over "
    "repetitions; rings are the repetitions. Frameworks on the same shade are not "
    "significantly different: each may hold any of the ranks at its left. A void number "
    "is shown, not ranked. Ratios compare frameworks within each repetition, so they are not "
    "exactly the ratios of medians."
)
CAPTION_OF_ONE = (
    "Median goodput (successful responses per second) with its 95 % interval over repetitions; "
    "rings are the repetitions."
)
"""The caption where no table has a second entry."""
TABLE = "entries"
COLUMNS = {
    "rank": "rank",
    "framework": "framework",
    "value": "goodput, /s",
    "low": "95 % from",
    "high": "95 % to",
    "level": "verdict",
}

_ROW_PX = 30
_NUMBER_PX = 66
_LEVEL_PX = 66


def draw(data: Ranking) -> Specification:
    """The chart with its data; `usermeta.outside_px` is the room it needs beside the plot."""
    groups = tie_groups(data.entries)
    rows = [_row(entry, group) for entry, group in zip(data.entries, groups, strict=True)]
    labels = tuple(_label(entry) for entry in data.entries)
    outside_px = canvas.names_px(labels) + _NUMBER_PX + _LEVEL_PX + 16
    specification = canvas.finished(
        _chart(labels, canvas.WIDTH_PX + canvas.AXIS_PX - outside_px),
        {"entries": rows, "repetitions": _repetition_rows(data)},
        _description(data),
    )
    specification["usermeta"] = {"outside_px": outside_px}
    return specification


def tie_groups(entries: Sequence[RankedEntry]) -> list[int]:
    """The group of each entry, from 0; a group ends where no range of ranks reaches over.

    Args:
        entries: In order; each of those without a rank is a group of its own.
    """
    ranges = [(one.rank_low or 0, one.rank_high or 0) for one in entries]
    groups: list[int] = []
    for place, (low, _) in enumerate(ranges):
        lowest = min((low for low, _ in ranges[place:] if low), default=0)
        highest = max((high for _, high in ranges[:place]), default=0)
        is_new = not low or lowest > highest
        groups.append(groups[-1] + is_new if groups else 0)
    return groups


def _row(entry: RankedEntry, group: int) -> Row:
    return {
        "label": _label(entry),
        "rank": entry.rank,
        "framework": entry.framework,
        "value": wording.significant(entry.value, 6),
        "low": wording.significant(entry.low, 6),
        "high": wording.significant(entry.high, 6),
        "level": entry.level,
        "number": _number(entry),
        "text": "" if entry.value is None else entry.level.replace("_", " "),
        "shaded": entry.rank_low is not None and group % 2 == 0,
    }


def _label(entry: RankedEntry) -> str:
    if entry.is_yardstick:
        return f"{entry.framework} (yardstick)"
    if entry.rank_low is None:
        return entry.framework
    return f"{entry.rank} · {entry.framework}"


def _number(entry: RankedEntry) -> str:
    return "no result" if entry.value is None else wording.per_second(entry.value)


def _repetition_rows(data: Ranking) -> Rows:
    return [
        {
            "label": _label(entry),
            "trial": repetition.trial,
            "value": wording.significant(repetition.value, 6),
            "level": repetition.level,
        }
        for entry in data.entries
        for repetition in entry.repetitions
        if repetition.value is not None
    ]


def _description(data: Ranking) -> str:
    parts = [f"{_label(row)} {_number(row)} {row.level.replace('_', ' ')}" for row in data.entries]
    by = "" if data.driver == "plimsoll" else f", by {data.driver}"
    what = "Ranking" if data.entries[1:] else "Goodput"
    return f"{what} at {data.endpoint} under {data.load}{by}: " + "; ".join(parts)


@canvas.built_once
def _chart(labels: tuple[str, ...], width_px: int) -> Specification:
    y = _y(labels)
    layers = (_shades(y), _rings(y), _intervals(y), _medians(y), _numbers(y), _levels(y))
    chart = canvas.layered(*layers).properties(width=width_px, height=len(labels) * _ROW_PX)
    return canvas.styled(chart)


def _entries() -> alt.Chart:
    return alt.Chart(alt.NamedData(name="entries"))


def _y(labels: Sequence[str]) -> alt.Y:
    return alt.Y(
        "label:N",
        scale=alt.Scale(domain=list(labels)),
        title=None,
        axis=alt.Axis(
            domain=False,
            ticks=False,
            labelFontSize=12,
            labelColor=canvas.INK.light,
            **canvas.name_axis(labels),
            minExtent=0,
            maxExtent=1000,
            labelPadding=10,
        ),
    )


def _x(column: str) -> alt.X:
    return alt.X(
        f"{column}:Q",
        title="goodput, responses/s",
        scale=alt.Scale(zero=True),
        axis=alt.Axis(format=canvas.NUMBERS, tickCount=4),
    )


def _shades(y: alt.Y) -> alt.Chart:
    return (
        _entries()
        .transform_filter("datum.shaded")
        .mark_rect(color=canvas.BAND.light)
        .encode(y=y, x=alt.XValue(0), x2=alt.X2Value("width"))
    )


def _intervals(y: alt.Y) -> alt.Chart:
    return (
        _entries()
        .mark_rule(strokeWidth=2.5)
        .encode(y=y, x=_x("low"), x2=alt.X2("high"), color=_colour())
    )


def _medians(y: alt.Y) -> alt.Chart:
    return (
        _entries()
        .mark_point(size=90, opacity=1, strokeWidth=2)
        .encode(
            y=y,
            x=_x("value"),
            color=_colour(),
            shape=alt.Shape(
                "level:N",
                scale=alt.Scale(domain=list(LEVEL_SHAPES), range=list(LEVEL_SHAPES.values())),
                legend=None,
            ),
            fill=alt.condition("datum.level === 'void'", alt.value(canvas.PAPER.light), _fill()),
            tooltip=[
                alt.Tooltip("framework:N"),
                alt.Tooltip("rank:N"),
                alt.Tooltip("value:Q", title="median, /s", format=canvas.NUMBERS),
                alt.Tooltip("low:Q", title="95 % from", format=canvas.NUMBERS),
                alt.Tooltip("high:Q", title="95 % to", format=canvas.NUMBERS),
                alt.Tooltip("level:N", title="verdict"),
            ],
        )
    )


def _rings(y: alt.Y) -> alt.Chart:
    return (
        alt.Chart(alt.NamedData(name="repetitions"))
        .mark_point(size=36, shape="circle", strokeWidth=1, color=canvas.MUTED.light, opacity=0.9)
        .encode(
            y=y,
            x=_x("value"),
            tooltip=[
                alt.Tooltip("trial:N"),
                alt.Tooltip("value:Q", title="goodput, /s", format=canvas.NUMBERS),
                alt.Tooltip("level:N", title="verdict"),
            ],
        )
    )


def _numbers(y: alt.Y) -> alt.Chart:
    return (
        _entries()
        .mark_text(align="right", baseline="middle", dx=_NUMBER_PX, fontSize=12)
        .encode(
            y=y,
            x=alt.XValue("width"),
            text=alt.Text("number:N"),
            color=alt.ColorValue(canvas.INK.light),
        )
    )


def _levels(y: alt.Y) -> alt.Chart:
    return (
        _entries()
        .mark_text(align="left", baseline="middle", dx=_NUMBER_PX + 10, fontSize=12)
        .encode(y=y, x=alt.XValue("width"), text=alt.Text("text:N"), color=_colour())
    )


def _colour() -> alt.Color:
    return alt.Color("level:N", scale=_level_scale(), legend=None)


def _fill() -> alt.Fill:
    return alt.Fill("level:N", scale=_level_scale(), legend=None)


def _level_scale() -> alt.Scale:
    return alt.Scale(
        domain=list(LEVEL_COLOURS),
        range=[colour.light for colour in LEVEL_COLOURS.values()],
    )
