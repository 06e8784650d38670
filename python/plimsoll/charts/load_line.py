"""Load line: latency over rate, with every try, the limits, and the lines with their intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import canvas, wording
from plimsoll import vega_lite as alt

if TYPE_CHECKING:
    from plimsoll.canvas import Row, Specification
    from plimsoll.load_line.search import Line, Searched
    from plimsoll.load_line.tries import Try
    from plimsoll.statistics.edge import Edge

NAME = "load_line"
TITLE = "Load line"
CAPTION = (
    "Each point is a percentile of one try: latency from the intended start at a rate of an open "
    "load. A horizontal rule is a limit, a vertical one the line that keeps it, with its 95 % "
    "interval; one that is hardly known has the interval alone. A hollow point belongs to a try "
    "that missed a limit beyond chance. Both axes are logarithmic."
)
TABLE = "tries"
COLUMNS = {
    "rate": "rate, /s",
    "percentile": "percentile",
    "latency": "latency, ms",
    "state": "limits",
    "hold": "length, s",
}

_PERCENTILES = {"p50": "p50", "p90": "p90", "p99": "p99", "p999": "p99.9"}
_HEIGHT_PX = 260


def draw(data: Searched) -> Specification:
    """The chart with its data."""
    rows = [row for one in data.tries for row in _rows(data, one)]
    limits: list[Row] = [
        {"most": (limit.most_ns or 0.0) / 1e6, "text": limit.text} for limit in data.wanted.limits
    ]
    lines = [_line(line, line.edge) for line in data.lines if line.edge is not None]
    sets = {"tries": rows, "limits": limits, "lines": lines}
    return canvas.finished(_chart(), sets, _description(data))


def _line(line: Line, edge: Edge) -> Row:
    """A line with its interval; one that is hardly known has no rule, and no number."""
    known = f"{wording.amount(wording.significant(edge.rate_per_s) or 0)}/s"
    return {
        "rate": None if line.is_hardly_known else edge.rate_per_s,
        "at": edge.rate_per_s,
        "low": edge.interval.low,
        "high": edge.interval.high,
        "text": "hardly known" if line.is_hardly_known else known,
    }


def _rows(data: Searched, one: Try) -> list[Row]:
    judged = (*data.wanted.limits, data.wanted.errors)
    has_failed = any(one.state(limit) == "failed" for limit in judged)
    return [
        {
            "rate": wording.significant(one.rate_per_s),
            "percentile": shown,
            "latency": wording.significant(one.times_ns[name] / 1e6),
            "state": "missed" if has_failed else "kept",
            "hold": round(one.hold_s, 2),
        }
        for name, shown in _PERCENTILES.items()
        if name in one.times_ns
    ]


def _description(data: Searched) -> str:
    limits = ", ".join(limit.text for limit in data.wanted.limits)
    return f"{wording.several(len(data.tries), 'try', 'tries')} of an open load; {limits}"


@canvas.built_once
def _chart() -> Specification:
    chart = canvas.layered(_intervals(), _lines(), _limits(), _points())
    return canvas.styled(chart.properties(width=canvas.WIDTH_PX, height=_HEIGHT_PX))


def _x(column: str) -> alt.X:
    return alt.X(
        f"{column}:Q",
        title="requests/s",
        scale=alt.Scale(type="log", nice=False, padding=10),
        axis=alt.Axis(format=canvas.NUMBERS, grid=False),
    )


def _y(column: str) -> alt.Y:
    return alt.Y(
        f"{column}:Q",
        title="latency, ms",
        scale=alt.Scale(type="log", nice=False, padding=10),
        axis=alt.Axis(format=canvas.NUMBERS),
    )


def _points() -> alt.Chart:
    names = list(_PERCENTILES.values())
    colours = [canvas.SERVER, canvas.RESPONDING, canvas.DRIVER, canvas.VOID]
    scale = alt.Scale(domain=names, range=[colour.light for colour in colours])
    colour = alt.Color("percentile:N", scale=scale, legend=alt.Legend(title=None))
    fill = alt.Fill("percentile:N", scale=scale, legend=None)
    return (
        alt.Chart(alt.NamedData(name="tries"))
        .mark_point(size=34, opacity=1, strokeWidth=1.4)
        .encode(
            x=_x("rate"),
            y=_y("latency"),
            color=colour,
            fill=alt.condition("datum.state === 'missed'", alt.value(canvas.PAPER.light), fill),
            tooltip=[
                alt.Tooltip("rate:Q", title=COLUMNS["rate"], format=canvas.NUMBERS),
                alt.Tooltip("percentile:N"),
                alt.Tooltip("latency:Q", title=COLUMNS["latency"], format=canvas.NUMBERS),
                alt.Tooltip("state:N", title=COLUMNS["state"]),
            ],
        )
    )


def _limits() -> alt.LayerChart:
    source = alt.Chart(alt.NamedData(name="limits")).encode(y=_y("most"))
    rules = source.mark_rule(strokeDash=[4, 3], color=canvas.MUTED.light)
    words = source.mark_text(
        align="left", baseline="bottom", dx=4, dy=-2, fontSize=11, color=canvas.MUTED.light
    ).encode(x=alt.XValue(0), text=alt.Text("text:N"))
    return canvas.layered(rules, words)


def _lines() -> alt.LayerChart:
    source = alt.Chart(alt.NamedData(name="lines"))
    rules = source.mark_rule(strokeWidth=1.8, color=canvas.SOUND.light).encode(x=_x("rate"))
    words = source.mark_text(
        align="center", baseline="bottom", dy=-2, fontSize=11, color=canvas.SOUND.light
    ).encode(x=_x("at"), y=alt.YValue(0), text=alt.Text("text:N"))
    return canvas.layered(rules, words)


def _intervals() -> alt.Chart:
    return (
        alt.Chart(alt.NamedData(name="lines"))
        .mark_rect(opacity=0.18, color=canvas.SOUND.light)
        .encode(x=_x("low"), x2=alt.X2("high"))
    )
