"""Density: how the latencies of some frameworks are spread, one outline for each.

Where a distribution by quantile shows the tail, this shows the body: two humps are two ways that
requests went.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from plimsoll import canvas, wording
from plimsoll import vega_lite as alt
from plimsoll.aggregate import latency_buckets

if TYPE_CHECKING:
    from plimsoll.canvas import Rows, Specification
    from plimsoll.findings.distributions import Distributions

NAME = "density"
TITLE = "Latency density"
CAPTION = (
    "Share of the responses of the measurement window in each bucket of latency, over all "
    "repetitions that count, or over all where none does. Buckets are logarithmic, each "
    f"{wording.decimals(latency_buckets.GROWTH, 2)} × as wide as the one before, so that equal "
    "areas are equally "
    "many responses."
)
TABLE = "density"
COLUMNS = {"framework": "framework", "low": "latency from, ms", "share": "responses, %"}

_TIMES = {"response_time": "response time", "service_time": "service time"}
_TICKS = [step * 10.0**power for power in range(-3, 6) for step in (1, 2, 5)]
_HEIGHT_PX = 260


def draw(data: Distributions, entries: tuple[str, ...] = ()) -> Specification:
    """The chart with its data; each outline begins and ends with an empty bucket.

    Args:
        data: What it shows.
        entries: Every entry of the report, for `canvas.entry_places`.
    """
    chart = _chart(data.frameworks, entries, _TIMES[data.time])
    counts = {name: _counts(data, name) for name in data.frameworks}
    rows = [row for name, counted in counts.items() for row in _rows(name, counted)]
    return canvas.finished(chart, {"density": rows}, _description(data, counts))


def _counts(data: Distributions, framework: str) -> Counter[int]:
    """Responses of a framework by bucket, over its repetitions."""
    counts = Counter[int]()
    for entry in data.entries:
        if entry.framework == framework:
            counts.update(entry.buckets)
    return counts


def _rows(framework: str, counts: Counter[int]) -> Rows:
    if not counts:
        return []
    total = counts.total()
    return [
        {
            "framework": framework,
            "low": canvas.scaled(latency_buckets.low_ns(bucket), 1e6),
            "share": wording.significant(100 * counts[bucket] / total),
        }
        for bucket in range(min(counts) - 1, max(counts) + 2)
    ]


def _description(data: Distributions, counts: dict[str, Counter[int]]) -> str:
    parts: list[str] = []
    for name, counted in counts.items():
        if not counted:
            parts.append(f"{name}: unknown")
            continue
        bucket, most = counted.most_common(1)[0]
        low, high = (
            wording.seconds(latency_buckets.low_ns(end) / 1e9) for end in (bucket, bucket + 1)
        )
        share = wording.percent(most / counted.total())
        parts.append(f"{name}: most, {share}, between {low} and {high}")
    return f"Density of the {_TIMES[data.time]} at {data.endpoint}. " + "; ".join(parts)


@canvas.built_once
def _chart(frameworks: tuple[str, ...], entries: tuple[str, ...], time: str) -> Specification:
    scale = canvas.entry_scale(frameworks, entries)
    shade = alt.Fill("framework:N", scale=scale, legend=None)
    line = alt.Stroke("framework:N", scale=scale, legend=None)
    source = alt.Chart(alt.NamedData(name="density"))
    areas = source.mark_area(interpolate="step-after", opacity=0.12).encode(
        x=_x(time), y=_y(), fill=shade
    )
    lines = source.mark_line(interpolate="step-after", strokeWidth=1.6).encode(
        x=_x(time), y=_y(), stroke=line, strokeDash=canvas.entry_dashes(frameworks, entries)
    )
    points = source.mark_point(size=60, opacity=0, filled=True).encode(
        x=_x(time),
        y=_y(),
        fill=shade,
        tooltip=[
            alt.Tooltip("framework:N"),
            alt.Tooltip("low:Q", title=f"{time} from, ms", format=canvas.NUMBERS),
            alt.Tooltip("share:Q", title="responses, %", format=canvas.NUMBERS),
        ],
    )
    chart = canvas.layered(areas, lines, points)
    return canvas.styled(chart.properties(width=canvas.WIDTH_PX, height=_HEIGHT_PX))


def _x(time: str) -> alt.X:
    return alt.X(
        "low:Q",
        title=f"{time} (ms), logarithmic",
        scale=alt.Scale(type="log", nice=False),
        axis=alt.Axis(
            format=canvas.NUMBERS,
            values=_TICKS,
            tickCount=len(_TICKS),
            grid=True,
            labelOverlap="greedy",
        ),
    )


def _y() -> alt.Y:
    return alt.Y(
        "share:Q",
        title="responses in the bucket, %",
        stack=None,
        axis=alt.Axis(format=canvas.NUMBERS),
    )
