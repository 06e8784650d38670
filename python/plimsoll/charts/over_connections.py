"""Over connections: throughput, success, memory and power of each server as connections grow."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from plimsoll import canvas, wording
from plimsoll import vega_lite as alt

if TYPE_CHECKING:
    from plimsoll.canvas import Row, Specification
    from plimsoll.comparison.over_connections import ConnectionsPoint, ConnectionsSeries

NAME = "over_connections"
TITLE = "Over connections"
CAPTION = (
    "Each point is a load with a constant number of connections: median over repetitions "
    "with its 95 % interval. From the top: goodput, share of successful requests, peak "
    "memory of the server, and power of the host above idle, where known. A hollow point "
    "is void."
)
TABLE = "points"
COLUMNS = {
    "framework": "framework",
    "connections": "connections",
    "goodput": "goodput, /s",
    "goodput_low": "95 % from",
    "goodput_high": "95 % to",
    "right": "successful, %",
    "memory": "server RSS, MB",
    "power": "net power, W",
    "level": "verdict",
}

_PANELS = {
    "goodput": "goodput, responses/s",
    "right": "successful, %",
    "memory": "memory, MB",
    "power": "net power, W",
}
_HEIGHT_PX = 130


class _Look(NamedTuple):
    """The entries of the chart, and those of the report that decide on how they look."""

    names: tuple[str, ...]
    entries: tuple[str, ...]


def draw(data: ConnectionsSeries, entries: tuple[str, ...] = ()) -> Specification:
    """The chart with its data; a panel without any number is left out.

    Args:
        data: What it shows.
        entries: Every entry of the report, for `canvas.entry_places`.
    """
    rows = [_row(point, data.power) for point in data.points]
    panels = tuple(name for name in _PANELS if any(row[name] is not None for row in rows))
    drawn = _chart(_Look(data.frameworks, entries), panels or ("goodput",))
    return canvas.finished(drawn, {"points": rows}, _description(data))


def _row(point: ConnectionsPoint, power: str) -> Row:
    return {
        "framework": point.framework,
        "connections": point.connections,
        **_scaled(point, "goodput", "goodput_per_s", 1.0),
        **_right(point),
        **_scaled(point, "memory", "server_peak_rss_bytes", 1e-6),
        **_scaled(point, "power", power, 1.0),
        "level": "counts" if point.counts else "void",
    }


def _scaled(
    point: ConnectionsPoint, name: str, quantity: str, factor: float
) -> dict[str, float | str | None]:
    estimate = point.numbers.get(quantity)
    ends = estimate and estimate.interval
    return {
        name: estimate and wording.significant(estimate.value * factor),
        f"{name}_low": ends and wording.significant(ends.low * factor),
        f"{name}_high": ends and wording.significant(ends.high * factor),
    }


def _right(point: ConnectionsPoint) -> dict[str, float | str | None]:
    """The share that is left beside the failures; where their interval is high, it is low."""
    failed = point.numbers.get("failure_ratio")
    ends = failed and failed.interval
    return {
        "right": failed and _percent(failed.value),
        "right_low": ends and _percent(ends.high),
        "right_high": ends and _percent(ends.low),
    }


def _percent(failed: float) -> float | None:
    return wording.significant(100 * max(0.0, 1 - failed), 6)


def _description(data: ConnectionsSeries) -> str:
    levels = sorted({point.connections for point in data.points})
    return (
        f"{', '.join(data.frameworks)} at {data.endpoint}, on {wording.count(levels[0])} to "
        f"{wording.count(levels[-1])} connections"
    )


@canvas.built_once
def _chart(look: _Look, panels: tuple[str, ...]) -> Specification:
    drawn = [_panel(name, look, is_last=name == panels[-1]) for name in panels]
    chart = alt.vconcat(*drawn, spacing=34)
    return canvas.styled(chart)


def _panel(name: str, look: _Look, *, is_last: bool) -> alt.LayerChart:
    layers = (_lines(name, look), _intervals(name, look), _points(name, look))
    chart = canvas.layered(*(layer.encode(x=_x(is_titled=is_last)) for layer in layers))
    return chart.properties(width=canvas.WIDTH_PX, height=_HEIGHT_PX)


def _source() -> alt.Chart:
    return alt.Chart(alt.NamedData(name="points"))


def _x(*, is_titled: bool) -> alt.X:
    return alt.X(
        "connections:Q",
        title="connections" if is_titled else None,
        scale=alt.Scale(type="log", nice=False, padding=8),
        axis=alt.Axis(format=canvas.NUMBERS, grid=False, tickCount=6),
    )


def _y(column: str, name: str) -> alt.Y:
    is_share = name == "right"
    return alt.Y(
        f"{column}:Q",
        title=_PANELS[name],
        scale=alt.Scale(domain=[0, 100]) if is_share else alt.Scale(zero=True),
        axis=alt.Axis(format=canvas.NUMBERS),
    )


def _colour(look: _Look) -> alt.Color:
    legend = canvas.entry_legend(look.names)
    return alt.Color("framework:N", scale=canvas.entry_scale(*look), legend=legend)


def _lines(name: str, look: _Look) -> alt.Chart:
    return (
        _source()
        .transform_filter(f"isValid(datum.{name})")
        .mark_line(strokeWidth=1.6, strokeCap="round", strokeJoin="round")
        .encode(y=_y(name, name), color=_colour(look))
    )


def _intervals(name: str, look: _Look) -> alt.Chart:
    return (
        _source()
        .transform_filter(f"isValid(datum.{name}_low)")
        .mark_rule(strokeWidth=2.2, opacity=0.6)
        .encode(y=_y(f"{name}_low", name), y2=f"{name}_high", color=_colour(look))
    )


def _points(name: str, look: _Look) -> alt.Chart:
    fill = alt.Fill("framework:N", scale=canvas.entry_scale(*look), legend=None)
    return (
        _source()
        .transform_filter(f"isValid(datum.{name})")
        .mark_point(size=46, opacity=1, strokeWidth=1.6)
        .encode(
            y=_y(name, name),
            color=_colour(look),
            shape=canvas.entry_shape(*look),
            fill=alt.condition("datum.level === 'void'", alt.value(canvas.PAPER.light), fill),
            tooltip=[
                alt.Tooltip("framework:N"),
                *(
                    alt.Tooltip(f"{column}:Q", title=heading, format=canvas.NUMBERS)
                    for column, heading in COLUMNS.items()
                    if column not in ("framework", "level")
                ),
                alt.Tooltip("level:N", title="verdict"),
            ],
        )
    )
