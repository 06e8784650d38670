"""Ranking by load line: the rate each framework carries inside a limit, beside its closed peak."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import canvas, wording
from plimsoll import vega_lite as alt

if TYPE_CHECKING:
    from plimsoll.canvas import Row, Specification
    from plimsoll.findings.load_lines import LineRanking, RankedLine
    from plimsoll.statistics.intervals import Interval

NAME = "line_ranking"
TITLE = "Ranking by load line"
CAPTION = (
    "The upper bar is the load line, the greatest rate inside the limit; the lower one the closed "
    "peak, the greatest throughput without a limit. Rules are 95 % intervals. A void line is "
    "hollow and has no rank. A line that is hardly known has its interval alone."
)
TABLE = "lines"
COLUMNS = {
    "label": "framework",
    "what": "rate",
    "value": "requests/s",
    "low": "95 % from",
    "high": "95 % to",
    "level": "verdict",
}

LINE, PEAK = "load line", "closed peak"
HARDLY_KNOWN = "hardly known"
"""What stands in place of the number of a line whose interval is too wide for one."""

_ROW_PX = 46
_BAR_PX = 13
_NUMBER_PX = 76


def draw(data: LineRanking) -> Specification:
    """The chart with its data; `usermeta.outside_px` is the room it needs beside the plot."""
    labels = tuple(_label(one) for one in data.places)
    rows = [row for one in data.places for row in _rows(one)]
    outside_px = canvas.names_px(labels) + _NUMBER_PX + 8
    specification = canvas.finished(
        _chart(labels, canvas.WIDTH_PX + canvas.AXIS_PX - outside_px),
        {"lines": rows},
        _description(data),
    )
    specification["usermeta"] = {"outside_px": outside_px}
    return specification


def _rows(one: RankedLine) -> list[Row]:
    edge = None if one.line is None else one.line.edge
    peak = one.entry.peak
    is_hardly_known = one.line is not None and one.line.is_hardly_known
    rate_per_s = None if edge is None or is_hardly_known else edge.rate_per_s
    line = _row(one, LINE, rate_per_s, edge and edge.interval, one.state)
    if is_hardly_known:
        line["number"] = HARDLY_KNOWN
    return [line, _row(one, PEAK, peak and peak.value, peak and peak.interval, "")]


def _row(one: RankedLine, what: str, value: float | None, ends: Interval | None, level: str) -> Row:
    return {
        "label": _label(one),
        "what": what,
        "value": wording.significant(value),
        "low": wording.significant(ends.low if ends else None),
        "high": wording.significant(ends.high if ends else None),
        "level": level.replace("_", " "),
        "number": "none" if value is None else f"{wording.four_digits(value)}/s",
    }


def _label(one: RankedLine) -> str:
    if one.entry.is_yardstick and one.rank_low is None:
        return f"{one.entry.framework} (yardstick)"
    return f"{one.rank} · {one.entry.framework}" if one.rank else one.entry.framework


def _description(data: LineRanking) -> str:
    parts = [f"{row['label']} {row['number']}" for one in data.places for row in _rows(one)[:1]]
    return f"Load lines at {data.endpoint}: {'; '.join(parts)}"


@canvas.built_once
def _chart(labels: tuple[str, ...], width_px: int) -> Specification:
    y = alt.Y(
        "label:N",
        scale=alt.Scale(domain=list(labels), paddingInner=0.3),
        title=None,
        axis=alt.Axis(
            domain=False,
            ticks=False,
            labelFontSize=12,
            labelColor=canvas.INK.light,
            **canvas.name_axis(labels),
            labelPadding=10,
        ),
    )
    beside = alt.YOffset("what:N", scale=alt.Scale(domain=[LINE, PEAK]))
    chart = canvas.layered(_bars(y, beside), _intervals(y, beside), _numbers(y, beside))
    return canvas.styled(chart.properties(width=width_px, height=len(labels) * _ROW_PX))


def _source() -> alt.Chart:
    return alt.Chart(alt.NamedData(name="lines"))


def _x(column: str) -> alt.X:
    return alt.X(
        f"{column}:Q",
        title="requests/s",
        scale=alt.Scale(zero=True),
        axis=alt.Axis(format=canvas.NUMBERS, tickCount=4),
    )


def _bars(y: alt.Y, beside: alt.YOffset) -> alt.Chart:
    colours = [canvas.SERVER.light, canvas.MACHINE.light]
    scale = alt.Scale(domain=[LINE, PEAK], range=colours)
    return (
        _source()
        .mark_bar(size=_BAR_PX, strokeWidth=1.4)
        .encode(
            y=y,
            yOffset=beside,
            x=_x("value"),
            color=alt.Color("what:N", scale=scale, legend=alt.Legend(title=None)),
            stroke=alt.Stroke("what:N", scale=scale, legend=None),
            fillOpacity=alt.condition("datum.level === 'void'", alt.value(0), alt.value(0.75)),
            tooltip=[
                alt.Tooltip("label:N", title="framework"),
                alt.Tooltip("what:N", title="rate"),
                alt.Tooltip("value:Q", title="requests/s", format=canvas.NUMBERS),
                alt.Tooltip("low:Q", title="95 % from", format=canvas.NUMBERS),
                alt.Tooltip("high:Q", title="95 % to", format=canvas.NUMBERS),
            ],
        )
    )


def _intervals(y: alt.Y, beside: alt.YOffset) -> alt.Chart:
    return (
        _source()
        .mark_rule(strokeWidth=2, color=canvas.INK.light)
        .encode(y=y, yOffset=beside, x=_x("low"), x2=alt.X2("high"))
    )


def _numbers(y: alt.Y, beside: alt.YOffset) -> alt.Chart:
    return (
        _source()
        .mark_text(align="right", baseline="middle", dx=_NUMBER_PX, fontSize=12)
        .encode(
            y=y,
            yOffset=beside,
            x=alt.XValue("width"),
            text=alt.Text("number:N"),
            color=alt.ColorValue(canvas.INK.light),
        )
    )
