"""Charts of the load that runs: drawn once for a trial, then given new seconds.

A trial has throughput, response time and CPU. Servers that take turns have throughput and CPU, a
line each.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal

from plimsoll import canvas
from plimsoll import vega_lite as alt

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plimsoll.canvas import Colour, Specification

HEIGHT_PX = 120

LATENCIES = {"p50": canvas.PERCENTILES[1], "p99": canvas.PERCENTILES[4]}
"""Percentiles that are drawn, and their colours."""

BY_DRIVER = ("throughput", "latency")
"""Charts of what the load generator counts; some say nothing of it before they end."""

BUSY = {"server": canvas.SERVER, "load generator": canvas.DRIVER}
"""Whose busy cores are drawn, and their colours."""


POWERS_OF_TEN = [10.0**power for power in range(-3, 6)]
"""Where a logarithmic axis has its ticks."""


@dataclass(frozen=True)
class LiveView:
    """One of the charts.

    Attributes:
        name: Its name in the page.
        title: Its heading.
        specification: Without rows in its data set `seconds`.
    """

    name: str
    title: str
    specification: Specification


@cache
def of_trial(*, wide: bool) -> tuple[LiveView, ...]:
    """The charts of a trial that runs alone.

    Args:
        wide: Whether its response times lie so far apart that their axis is logarithmic.
    """
    times = _axis("ms, logarithmic", "log") if wide else _axis("ms")
    throughput = {"throughput": canvas.SERVER}
    return (
        _view("throughput", "Throughput", _axis("responses per second"), throughput),
        _view("latency", "Response time", times, LATENCIES),
        _view("cpu", "CPU", _axis("busy cores"), BUSY),
    )


@cache
def of_group(frameworks: tuple[str, ...]) -> tuple[LiveView, ...]:
    """The charts of servers that take turns.

    Args:
        frameworks: Their names, each once.
    """
    return (
        _turns("throughput", "Throughput", "responses per second", frameworks),
        _turns("server", "CPU of the server", "busy cores", frameworks),
    )


def _view(name: str, title: str, y: alt.Y, colours: Mapping[str, Colour]) -> LiveView:
    lines = [_line(column, y, colours) for column in colours]
    cursor = canvas.cursor({column: column for column in colours}, f"live_{name}")
    return LiveView(name, title, _finished(*lines, cursor))


def _line(column: str, y: alt.Y, colours: Mapping[str, Colour]) -> alt.Chart:
    line = (
        canvas.seconds()
        .mark_line(strokeWidth=2, strokeCap="round", strokeJoin="round")
        .encode(x=canvas.time("middle"), y=_of(column, y))
    )
    if len(colours) > 1:
        return canvas.coloured(line, column, colours)
    return line.encode(color=alt.value(colours[column].light))


def _turns(name: str, title: str, unit: str, frameworks: Sequence[str]) -> LiveView:
    lines = (
        alt.Chart(alt.NamedData(name="seconds"))
        .mark_line(strokeWidth=1.6, point=alt.OverlayMarkDef(size=12))
        .encode(
            x=canvas.time("second"),
            y=_of(name, _axis(unit)),
            color=alt.Color(
                "framework:N",
                scale=canvas.entry_scale(frameworks),
                legend=alt.Legend(title=None),
            ),
            tooltip=[
                alt.Tooltip("framework:N"),
                alt.Tooltip(f"{name}:Q", title=unit, format=canvas.NUMBERS),
            ],
        )
    )
    return LiveView(name, title, _finished(lines))


def _axis(unit: str, kind: Literal["linear", "log"] = "linear") -> alt.Y:
    """An upright axis of some unit, without its column."""
    if kind == "log":
        scale = alt.Scale(type="log", nice=False, padding=6)
        return alt.Y(
            title=unit, scale=scale, axis=alt.Axis(format=canvas.NUMBERS, values=POWERS_OF_TEN)
        )
    axis = alt.Axis(format=canvas.NUMBERS, tickCount=4)
    return alt.Y(title=unit, scale=alt.Scale(zero=True), axis=axis)


def _of(column: str, axis: alt.Y) -> alt.Y:
    return axis.copy(deep=False).field(column).type("quantitative")


def _finished(*layers: alt.Chart) -> Specification:
    chart = canvas.layered(canvas.stage_bands(), *layers)
    drawn = canvas.styled(chart.properties(width=canvas.WIDTH_PX, height=HEIGHT_PX))
    outside_px = canvas.AXIS_PX + canvas.ASIDE_PX
    return {**drawn, "usermeta": {"outside_px": outside_px}}
