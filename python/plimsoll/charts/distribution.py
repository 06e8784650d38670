"""Distribution: the latency of some frameworks by quantile, one line for each repetition.

The axis of quantiles is logarithmic in 1 / (1 − q), so that 90 %, 99 % and 99.9 % lie equally far
apart. A stall is a step, and a line that ends early had fewer responses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import canvas, wording
from plimsoll import vega_lite as alt

if TYPE_CHECKING:
    from plimsoll.canvas import Rows, Specification
    from plimsoll.findings.distributions import Distributions

NAME = "distribution"
TITLE = "Latency distribution"
CAPTION = (
    "Latency that a share of the responses did not exceed, one line for each repetition, from "
    "every response of the measurement window. Both axes are logarithmic; quantiles are spaced "
    "by 1 / (1 − q) and drawn where at least ten responses lie above."
)
TABLE = "quantiles"
COLUMNS = {
    "framework": "framework",
    "repetition": "repetition",
    "quantile": "quantile",
    "value": "latency, ms",
}

_TIMES = {"response_time": "response time", "service_time": "service time"}
_TOLD = (0.9, 0.99)
_TAILS = [1, 2, 10, 100, 1_000, 10_000, 100_000, 1_000_000]
_TICKS = [step * 10.0**power for power in range(-3, 6) for step in (1, 2, 5)]
_HEIGHT_PX = 260


def draw(data: Distributions, entries: tuple[str, ...] = ()) -> Specification:
    """The chart with its data.

    Args:
        data: What it shows.
        entries: Every entry of the report, for `canvas.entry_places`.
    """
    chart = _chart(data.frameworks, entries, _TIMES[data.time])
    return canvas.finished(chart, {"quantiles": _rows(data)}, _description(data))


def _rows(data: Distributions) -> Rows:
    return [
        {
            "framework": entry.framework,
            "repetition": entry.repetition,
            "quantile": wording.significant(one.quantile, 7),
            "value": canvas.scaled(one.value_ns, 1e6),
        }
        for entry in data.entries
        for one in entry.quantiles
        if one.value_ns > 0
    ]


def _description(data: Distributions) -> str:
    parts: list[str] = []
    for name in data.frameworks:
        first = next(entry for entry in data.entries if entry.framework == name)
        values = {one.quantile: one.value_ns for one in first.quantiles}
        reported = [
            f"{wording.percent(quantile)} below {wording.seconds(values[quantile] / 1e9)}"
            for quantile in _TOLD
            if quantile in values
        ]
        parts.append(f"{name}: {', '.join(reported) or 'too few responses'}")
    return f"{_TIMES[data.time].capitalize()} at {data.endpoint} by quantile. " + "; ".join(parts)


@canvas.built_once
def _chart(frameworks: tuple[str, ...], entries: tuple[str, ...], time: str) -> Specification:
    shade = alt.Color("framework:N", scale=canvas.entry_scale(frameworks, entries), legend=None)
    dashes = canvas.entry_dashes(frameworks, entries)
    chart = canvas.layered(_lines(time, shade, dashes), _points(time, shade))
    return canvas.styled(chart.properties(width=canvas.WIDTH_PX, height=_HEIGHT_PX))


def _source() -> alt.Chart:
    tail = "1 / (1 - datum.quantile)"
    return alt.Chart(alt.NamedData(name="quantiles")).transform_calculate(tail=tail)


def _lines(time: str, shade: alt.Color, dashes: alt.StrokeDash) -> alt.Chart:
    return (
        _source()
        .mark_line(strokeWidth=1.8, strokeJoin="round", opacity=0.9)
        .encode(
            x=_x(),
            y=_y(time),
            color=shade,
            detail=alt.Detail("repetition:N"),
            strokeDash=dashes,
        )
    )


def _points(time: str, shade: alt.Color) -> alt.Chart:
    """Points for the pointer, unseen."""
    return (
        _source()
        .mark_point(size=60, opacity=0, filled=True)
        .encode(
            x=_x(),
            y=_y(time),
            color=shade,
            tooltip=[
                alt.Tooltip("framework:N"),
                alt.Tooltip("repetition:Q"),
                alt.Tooltip("quantile:Q", format=".6~%"),
                alt.Tooltip("value:Q", title=f"{time}, ms", format=canvas.NUMBERS),
            ],
        )
    )


def _x() -> alt.X:
    share = "format(100 - 100 / datum.value, '.4~f') + ' %'"
    return alt.X(
        "tail:Q",
        title="share of the responses that took no longer",
        scale=alt.Scale(type="log", nice=False),
        axis=alt.Axis(values=_TAILS, labelExpr=share, grid=True, labelOverlap="greedy"),
    )


def _y(time: str) -> alt.Y:
    return alt.Y(
        "value:Q",
        title=f"{time} (ms), logarithmic",
        scale=alt.Scale(type="log", nice=False, padding=6),
        axis=alt.Axis(
            format=canvas.NUMBERS, values=_TICKS, tickCount=len(_TICKS), labelOverlap="greedy"
        ),
    )
