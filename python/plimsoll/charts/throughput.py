"""Throughput: responses completed in each second, coloured by the requested level.

A second without a response is a bar of no height with a mark on it, never a gap. Where the load
ended within a second, the bar is as wide as the part that it lasted, and as high as the rate in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import canvas, wording
from plimsoll import vega_lite as alt
from plimsoll.aggregate.seconds import AFTER

if TYPE_CHECKING:
    from plimsoll.canvas import Rows, Specification
    from plimsoll.findings.trial import TrialData

NAME = "throughput"
TITLE = "Throughput"
CAPTION = (
    "Responses in each second; the stronger the contrast of a bar, the higher the requested "
    "level. The line is the mean of the measurement window. A triangle counts the requests that "
    "failed in its second; a cross marks a second without a response. The bar of a second in which "
    "the load ended is as wide as the load lasted, and as high as its rate."
)
TABLE = "seconds"
COLUMNS = {
    "second": "second",
    "stage": "stage",
    "requested_level": "requested level",
    "completed": "completed",
    "failed": "failed",
}

MANY_SECONDS = 90
"""Seconds from which on marks are small."""

_BAR = "isValid(datum.per_s) ? datum.per_s : datum.completed"
"""The height of a bar."""


def draw(data: TrialData) -> Specification:
    """The chart with its data."""
    rows = canvas.chosen(data.seconds, COLUMNS)
    for row, requested in zip(rows, canvas.levels(data.seconds), strict=True):
        row["requested_level"] = requested or 0
        row["silent"] = _is_silent(row)
        row["failed"] = row["failed"] or 0
    step_s = canvas.step_s(data)
    shown = _thinned(_with_rates(canvas.loaded_until(rows, data.recording)), step_s)
    return canvas.finished(
        _chart(
            canvas.level_name(data.recording),
            _has_levels(rows),
            _mark_size(shown),
            step_s,
        ),
        {
            "seconds": shown,
            "stages": canvas.stage_rows(data.recording, data.seconds.num_rows),
            "mean": _mean_rows(data),
        },
        _description(data, rows),
    )


def _with_rates(rows: Rows) -> Rows:
    """Rows with `per_s` if the load ended within one of them: its responses per second there."""
    if not rows or "until" not in rows[0]:
        return rows
    return [row | {"per_s": _rate(row)} for row in rows]


def _rate(row: canvas.Row) -> float | None:
    if row["until"] is None or row["completed"] is None:
        return None
    part_s = canvas.number(row, "until") - canvas.number(row, "second")
    return wording.significant(canvas.number(row, "completed") / part_s, 6)


def _thinned(rows: Rows, step_s: int) -> Rows:
    """Rows with the mean of their seconds, and the lowest and the highest of these."""
    if step_s == 1:
        return rows
    rates = [row | {"completed": row.get("per_s") or row["completed"]} for row in rows]
    spread = [row | {"low": row["completed"], "high": row["completed"]} for row in rates]
    means = {"completed": canvas.mean, "failed": canvas.mean}
    rules = {"stage": canvas.first, **means, "low": min}
    return canvas.thinned(spread, step_s, **rules)


def _has_levels(rows: Rows) -> bool:
    """Whether more than one level was requested while there was a load."""
    loaded = [row for row in rows if row["stage"] != AFTER]
    return len(set(canvas.numbers(loaded, "requested_level"))) > 1


def _is_silent(row: canvas.Row) -> bool:
    """Whether a second of the load had no response; what lies behind it does not count."""
    return row["completed"] == 0 and row["stage"] != AFTER


def _mark_size(rows: Rows) -> int:
    """Size of the marks of failures and silent seconds, smaller where many must fit; 0 for none."""
    if not any(row["failed"] or row["silent"] for row in rows):
        return 0
    return 46 if len(rows) <= MANY_SECONDS else 16


def _mean_rows(data: TrialData) -> Rows:
    if data.summary is None:
        return []
    value = data.summary.throughput_per_s
    last = data.recording.holds[-1:]
    return [
        {
            "start_s": wording.significant(hold.start_ns / 1e9, 6),
            "end_s": wording.significant(hold.end_ns / 1e9, 6),
            "value": wording.significant(value, 6),
            "text": f"mean {wording.per_second(value)}" if hold in last else "",
        }
        for hold in data.recording.holds
    ]


def _description(data: TrialData, rows: Rows) -> str:
    silent = sum(canvas.numbers(rows, "silent"))
    failed = sum(canvas.numbers(rows, "failed"))
    mean = "" if data.summary is None else wording.per_second(data.summary.throughput_per_s)
    return (
        f"Throughput of {data.recording.title} over {len(rows)} seconds: mean of the window "
        f"{mean or 'unknown'}, {silent} seconds without a response, "
        f"{wording.count(failed)} requests failed"
    )


@canvas.built_once
def _chart(requested: str, has_levels: bool, mark_size: int, step_s: int) -> Specification:
    headings = {"completed": "completed", "failed": "failed", "requested_level": requested}
    marks = (
        _marked("datum.failed > 0", "failed", mark_size, step_s).encode(y=alt.Y("failed:Q")),
        _marked("datum.silent", "no response", mark_size, step_s).encode(y=alt.datum(0)),
    )
    chart = canvas.layered(
        canvas.stage_bands(),
        _bars(requested, has_levels, step_s),
        *((_spread(step_s),) if step_s > 1 else ()),
        *(marks if mark_size else ()),
        _mean(),
        canvas.cursor(headings, "throughput_second", step_s),
    ).properties(width=canvas.WIDTH_PX, height=200)
    return canvas.styled(chart)


def _spread(step_s: int) -> alt.Chart:
    """From the lowest to the highest of the seconds that share a column."""
    return (
        canvas.seconds(step_s)
        .mark_rule(strokeWidth=1, opacity=0.35, color=canvas.INK.light)
        .encode(x=canvas.time("middle"), y=alt.Y("low:Q"), y2=alt.Y2("high:Q"))
    )


def _bars(requested: str, has_levels: bool, step_s: int) -> alt.Chart:
    return (
        canvas.seconds(step_s)
        .transform_calculate(end=canvas.end_of_row(step_s), rate=_BAR)
        .mark_rect()
        .encode(
            x=canvas.time("second"),
            x2=alt.X2("end"),
            y=alt.Y("rate:Q", title="responses per second", axis=alt.Axis(format=canvas.NUMBERS)),
            y2=alt.Y2Datum(0),
            color=alt.Color(
                "requested_level:Q",
                title=requested,
                scale=canvas.level_colours(),
                legend=_level_legend() if has_levels else None,
            ),
        )
    )


def _level_legend() -> alt.Legend:
    return alt.Legend(gradientLength=120, gradientThickness=8, format=canvas.NUMBERS, tickCount=2)


def _marked(condition: str, name: str, size: int, step_s: int) -> alt.Chart:
    marks = (
        canvas.seconds(step_s)
        .transform_filter(condition)
        .mark_point(filled=True, size=size, yOffset=-4, color=canvas.FAILED.light, opacity=1)
        .encode(
            x=canvas.time("middle"),
            shape=alt.Shape(
                "series:N",
                scale=alt.Scale(domain=["failed", "no response"], range=["triangle-up", "cross"]),
                legend=alt.Legend(title=None, symbolFillColor=canvas.FAILED.light),
            ),
        )
    )
    return canvas.named(marks, name)


def _mean() -> alt.LayerChart:
    line = (
        alt.Chart(alt.NamedData(name="mean"))
        .mark_rule(color=canvas.INK.light, strokeWidth=1.5)
        .encode(x=canvas.time("start_s"), x2=alt.X2("end_s"), y=alt.Y("value:Q"))
    )
    return canvas.layered(line, canvas.cornered("mean", canvas.INK, fontWeight="bold"))
