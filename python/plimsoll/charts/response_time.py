"""Response time: 25, 50, 75, 95 and 99 % in each second, and the failures by kind beneath.

Percentiles cover complete responses, so a second whose requests all failed has none: it is a gap
in the lines, and the bars below it show why. The scale is logarithmic where the slowest percentile
is far from the fastest, else it starts at zero.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from plimsoll import canvas, wording
from plimsoll import vega_lite as alt
from plimsoll.aggregate.outcomes import error_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.canvas import Rows, Specification
    from plimsoll.findings.trial import TrialData

NAME = "response_time"
TITLE = "Response time and failures"
CAPTION = (
    "Time from the intended start of a request to its complete response: percentiles 25, "
    "50, 75, 95 and 99 of each second, drawn where at least ten responses lie above. "
    "Where intended starts are unknown, it is the service time, from the send time, and "
    "the axis says so. Bars below count failures per second by outcome. Strip above: the "
    "stronger its contrast, the higher the requested level."
)
TABLE = "seconds"
COLUMNS = {
    "second": "second",
    "p25": "25 %, ms",
    "p50": "50 %, ms",
    "p75": "75 %, ms",
    "p95": "95 %, ms",
    "p99": "99 %, ms",
    "failed": "failed",
    "requested_level": "requested level",
}

_AXES = {"response_time": "response time", "service_time": "service time"}
_PERCENTILES = ("p25", "p50", "p75", "p95", "p99")
_NAMES: dict[str, canvas.Colour] = dict(
    zip(("25 %", "50 %", "75 %", "95 %", "99 %"), canvas.PERCENTILES, strict=True),
)
_TICKS = [step * 10.0**power for power in range(-3, 6) for step in (1, 3)]
_OTHER = "other kinds"


def draw(data: TrialData) -> Specification:
    """The chart with its data."""
    requested = canvas.levels(data.seconds)
    rows = canvas.loaded_until(_rows(data, requested), data.recording)
    failures = _failure_rows(data)
    kinds = tuple(dict.fromkeys(canvas.texts(failures, "kind")))
    step_s = canvas.step_s(data)
    return canvas.finished(
        _chart(
            canvas.is_wide(
                [ms for name in _PERCENTILES for ms in canvas.numbers(rows, name) if ms]
            ),
            kinds,
            _AXES[data.latency_kind],
            canvas.level_name(data.recording),
            step_s,
        ),
        {
            "seconds": canvas.thinned(rows, step_s, failed=canvas.mean),
            "stages": canvas.stage_rows(data.recording, data.seconds.num_rows),
            "level": canvas.level_rows(data.recording, requested),
            **({"failures": failures} if failures else {}),
        },
        _description(data, kinds),
    )


def _rows(data: TrialData, requested: Sequence[float | None]) -> Rows:
    time = data.latency_kind
    columns = {f"{time}_{name}_ns": name for name in _PERCENTILES}
    return [
        {
            "second": row["second"],
            **{name: canvas.scaled(row[column], 1e6) for column, name in columns.items()},
            "failed": row["failed"],
            "requested_level": level,
        }
        for row, level in zip(
            canvas.chosen(data.seconds, ["second", *columns, "failed"]), requested, strict=True
        )
    ]


def _failure_rows(data: TrialData) -> Rows:
    """Failures by second with the name of their kind; kinds in order of their frequency.

    Where several seconds share a column it is their mean.
    """
    rows, step_s = data.failures.to_pylist(), canvas.step_s(data)
    totals = Counter[str]()
    for row in rows:
        row["kind"] = _kind(row["outcome"], row["errno"])
        totals[row["kind"]] += row["count"]
    order = [kind for kind, _ in totals.most_common()]
    shown = order if len(order) <= len(canvas.KINDS) else order[: len(canvas.KINDS) - 1]
    counts = Counter[tuple[str, int]]()
    for row in rows:
        kind = row["kind"] if row["kind"] in shown else _OTHER
        counts[kind, row["second"] // step_s * step_s] += row["count"]
    rank = {kind: place for place, kind in enumerate([*shown, _OTHER])}
    ordered = sorted(counts.items(), key=lambda item: (rank[item[0][0]], item[0][1]))
    end = data.seconds.num_rows
    return [
        {
            "second": second,
            "kind": kind,
            "count": wording.significant(count / max(min(step_s, end - second), 1), 6),
        }
        for (kind, second), count in ordered
    ]


def _kind(outcome: str, number: int | None) -> str:
    name = error_name(outcome, number)
    return f"{outcome} ({name})" if name else outcome


def _description(data: TrialData, kinds: tuple[str, ...]) -> str:
    time = data.latency_kind
    median = None if data.summary is None else data.summary.time(time).p50_ns
    reported = "unknown" if median is None else f"{canvas.scaled(median, 1e6)} ms"
    return (
        f"{_AXES[time].capitalize()} of {data.recording.title} second by second at five "
        f"percentiles; median of the measurement window {reported}; "
        f"kinds of failure: {', '.join(kinds) or 'none'}"
    )


@canvas.built_once
def _chart(wide: bool, kinds: tuple[str, ...], name: str, level: str, step_s: int) -> Specification:
    times = _times(wide, name, level, step_s, with_axis=not kinds)
    if not kinds:
        return canvas.styled(times)
    resolve = alt.Resolve(
        scale=alt.ScaleResolveMap(x="shared", color="independent"),
        legend=alt.LegendResolveMap(color="independent"),
    )
    chart = alt.vconcat(times, _failures(kinds, step_s), spacing=12, resolve=resolve)
    return canvas.styled(chart)


def _times(wide: bool, name: str, level: str, step_s: int, with_axis: bool) -> alt.LayerChart:
    scale = (
        alt.Scale(type="log", nice=False, padding=6)
        if wide
        else alt.Scale(type="linear", zero=True, nice=True)
    )
    lines = [
        _line(column, share, _y(column, name, scale, wide), step_s, with_axis)
        for column, share in zip(_PERCENTILES, _NAMES, strict=True)
    ]
    headings = {column: COLUMNS[column] for column in (*_PERCENTILES, "failed")} | {
        "requested_level": level
    }
    cursor = canvas.cursor(headings, "response_time_second", step_s)
    above = (canvas.stage_bands(), canvas.level_strip(step_s))
    return canvas.layered(*above, *lines, cursor).properties(width=canvas.WIDTH_PX, height=200)


def _y(column: str, name: str, scale: alt.Scale, wide: bool) -> alt.Y:
    return alt.Y(
        f"{column}:Q",
        title=f"{name} (ms)" + (", logarithmic" if wide else ""),
        scale=scale,
        axis=alt.Axis(format=canvas.NUMBERS, values=_TICKS, tickCount=len(_TICKS))
        if wide
        else alt.Axis(format=canvas.NUMBERS),
    )


def _line(column: str, share: str, y: alt.Y, step_s: int, with_axis: bool) -> alt.Chart:
    width = 2.4 if column == "p50" else 1.4
    line = (
        canvas.seconds(step_s)
        .mark_line(strokeWidth=width, strokeCap="round", strokeJoin="round", clip=True)
        .encode(
            x=canvas.time("middle") if with_axis else _without_labels(canvas.time("middle")),
            y=y,
        )
    )
    return canvas.coloured(line, share, among=_NAMES)


def _without_labels(x: alt.X) -> alt.X:
    """The axis of time of a plot that stands upon another one."""
    return x.title(None).axis(grid=False, labels=False)


def _failures(kinds: tuple[str, ...], step_s: int) -> alt.Chart:
    colours = [colour.light for colour in canvas.KINDS[: len(kinds)]]
    return (
        alt.Chart(alt.NamedData(name="failures"))
        .transform_calculate(until=f"datum.second + {step_s}")
        .transform_stack(stack="count", groupby=["second"], as_=["bottom", "top"])
        .mark_rect()
        .encode(
            x=canvas.time("second"),
            x2=alt.X2("until"),
            y=alt.Y(
                "bottom:Q",
                title="failed per second",
                scale=alt.Scale(zero=True),
                axis=alt.Axis(format=canvas.NUMBERS, tickCount=3),
            ),
            y2=alt.Y2("top"),
            color=alt.Color(
                "kind:N",
                scale=alt.Scale(domain=list(kinds), range=colours),
                legend=alt.Legend(title=None, orient="bottom", columns=1, offset=8),
            ),
            tooltip=[
                alt.Tooltip("second:Q"),
                alt.Tooltip("kind:N"),
                alt.Tooltip("count:Q", format=canvas.NUMBERS),
            ],
        )
        .properties(width=canvas.WIDTH_PX, height=80)
    )
