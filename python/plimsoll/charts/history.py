"""History: one quantity of one entry over campaigns, with change points and breaks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plimsoll import canvas, wording
from plimsoll import vega_lite as alt

if TYPE_CHECKING:
    from plimsoll.canvas import Row, Specification
    from plimsoll.history.series import Series

NAME = "history"
TITLE = "History"
CAPTION = (
    "Each point is a campaign: median over repetitions with its 95 % interval. A solid rule is a "
    "change point, with the change of the level; a dashed rule is a break, where the machine or "
    "the load changed. Points are compared only within the same machine and load."
)
TABLE = "points"
COLUMNS = {
    "campaign": "campaign",
    "when": "measured",
    "commit": "commit",
    "value": "value",
    "low": "95 % from",
    "high": "95 % to",
    "machine": "machine",
    "level": "verdict",
}

_HEIGHT_PX = 160
_UNITS = {
    "_per_s": (1.0, "/s"),
    "_ns": (1e6, "ms"),
    "_bytes": (1e6, "MB"),
    "cpu_s_per_request": (1e-6, "µs"),
}
"""End of a column to the divisor and the unit in which it is drawn."""

_COLOURS = {"worse": canvas.VOID, "better": canvas.SOUND}


def draw(data: Series) -> Specification:
    """The chart with its data."""
    divisor, unit = _unit(data.quantity)
    title = ", ".join(part for part in (heading(data.quantity), unit) if part)
    rows = [_row(data, index, divisor) for index in range(len(data.points))]
    changes: list[Row] = [
        {
            "at": one.index + 0.5,
            "text": wording.signed_percent(one.after / one.before - 1) if one.before else "",
            "kind": "worse" if one.is_worse else "better",
        }
        for one in data.changes
    ]
    breaks: list[Row] = [{"at": one.index + 0.5, "text": one.what} for one in data.breaks]
    sets = {"points": rows, "changes": changes, "breaks": breaks}
    return canvas.finished(_chart(title), sets, _description(data))


def heading(quantity: str) -> str:
    """A column as people read it: `goodput`, `response time p99`."""
    ends = ("_per_s", "_ns", "_bytes")
    name = next((quantity.removesuffix(end) for end in ends if quantity.endswith(end)), quantity)
    named = {"server_cpu_s_per_request": "server CPU time per request"}
    return named.get(name, name.replace("_", " "))


def _unit(quantity: str) -> tuple[float, str]:
    found = (unit for end, unit in _UNITS.items() if quantity.endswith(end))
    return next(found, (1.0, ""))


def _row(data: Series, index: int, divisor: float) -> Row:
    point = data.points[index]
    ends = point.estimate and point.estimate.interval
    return {
        "place": index + 1,
        "campaign": point.campaign.campaign,
        "when": point.campaign.measured_at,
        "commit": point.campaign.commit or "",
        "value": canvas.scaled(point.estimate and point.estimate.value, divisor),
        "low": canvas.scaled(ends and ends.low, divisor),
        "high": canvas.scaled(ends and ends.high, divisor),
        "machine": point.campaign.machine.fingerprint,
        "level": point.entry.level,
        "run": sum(one.index <= index for one in (*data.breaks, *data.changes)),
    }


def _description(data: Series) -> str:
    return (
        f"{data.entry}, {heading(data.quantity)} in "
        f"{wording.several(len(data.points), 'campaign')}; "
        f"{wording.several(len(data.changes), 'change point')}, "
        f"{wording.several(len(data.breaks), 'break')}"
    )


@canvas.built_once
def _chart(title: str) -> Specification:
    points = alt.Chart(alt.NamedData(name="points")).encode(x=_x("place"))
    known = points.transform_filter("isValid(datum.value)")
    y = alt.Y("value:Q", title=title, scale=alt.Scale(zero=False), axis=_axis())
    lines = known.mark_line(color=canvas.SERVER.light, strokeWidth=1.2, opacity=0.6).encode(
        y=y, detail=alt.Detail("run:N")
    )
    intervals = known.mark_rule(color=canvas.SERVER.light, strokeWidth=2, opacity=0.5).encode(
        y=alt.Y("low:Q", title=title), y2=alt.Y2("high")
    )
    dots = known.mark_point(
        color=canvas.SERVER.light, fill=canvas.SERVER.light, size=22, opacity=1
    ).encode(y=y, tooltip=_tooltips())
    layers = (_breaks(), _changes(), lines, intervals, dots)
    chart = canvas.layered(*layers).properties(width=canvas.WIDTH_PX, height=_HEIGHT_PX)
    return canvas.styled(chart)


def _x(column: str) -> alt.X:
    return alt.X(
        f"{column}:Q",
        title="campaign",
        scale=alt.Scale(nice=False, zero=False, padding=10),
        axis=alt.Axis(format="d", grid=False, tickMinStep=1),
    )


def _axis() -> alt.Axis:
    return alt.Axis(format=canvas.NUMBERS)


def _tooltips() -> list[alt.Tooltip]:
    numbers = ("value", "low", "high")
    return [
        alt.Tooltip(f"{name}:Q", title=shown, format=canvas.NUMBERS)
        if name in numbers
        else alt.Tooltip(f"{name}:N", title=shown)
        for name, shown in COLUMNS.items()
    ]


def _changes() -> alt.LayerChart:
    colours = alt.Color(
        "kind:N",
        scale=alt.Scale(
            domain=list(_COLOURS), range=[colour.light for colour in _COLOURS.values()]
        ),
        legend=None,
    )
    source = alt.Chart(alt.NamedData(name="changes")).encode(x=_x("at"), color=colours)
    rules = source.mark_rule(strokeWidth=1.6)
    return canvas.layered(rules, _worded(source))


def _breaks() -> alt.LayerChart:
    source = alt.Chart(alt.NamedData(name="breaks")).encode(x=_x("at"))
    rules = source.mark_rule(strokeWidth=1.2, strokeDash=[4, 3], color=canvas.MUTED.light)
    return canvas.layered(rules, _worded(source, color=canvas.MUTED.light))


def _worded(source: alt.Chart, **mark: Any) -> alt.Chart:
    """The words of a rule above its upper end, where no point is."""
    return source.mark_text(align="center", baseline="bottom", dy=-2, fontSize=11, **mark).encode(
        y=alt.YValue(0), text=alt.Text("text:N")
    )
