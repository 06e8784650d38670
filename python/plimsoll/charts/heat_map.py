"""Heat map: how many responses took how long in each second, every one of them.

A percentile hides what most of the responses did, and how many there were of the others; here two
modes are two bands, and a stall is a column that reaches up. A row of the data set `columns` holds
all buckets of one column of time, from the bucket `first` on, so that a page stays small.
"""

from __future__ import annotations

import itertools
from collections import Counter
from typing import TYPE_CHECKING

from plimsoll import canvas, wording
from plimsoll import vega_lite as alt
from plimsoll.aggregate import latency_buckets

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from plimsoll.canvas import Row, Rows, Specification
    from plimsoll.findings.trial import TrialData

NAME = "heat_map"
TITLE = "Latency of every response"
CAPTION = (
    "Each cell counts the responses that ended in its second with its latency: the stronger its "
    "contrast, the more there are, on a logarithmic scale, and a single one is visible. Each "
    f"bucket of latency is {wording.decimals(latency_buckets.GROWTH, 2)} × as wide as the one "
    "below. Every complete response of the "
    "trial is in it; failed requests are not, because they have no latency. In trials above "
    f"{latency_buckets.MOST_COLUMNS} s several seconds share a column."
)
TABLE = "buckets"
COLUMNS = {
    "low": "latency from, ms",
    "high": "to, ms",
    "completed": "responses",
    "held": "in the measurement window",
}

_AXES = {"response_time": "response time", "service_time": "service time"}
_TICKS = [step * 10.0**power for power in range(-3, 6) for step in (1, 3)]
_HEIGHT_PX = 200


def draw(data: TrialData) -> Specification:
    """The chart with its data; `buckets` is the sum over time."""
    table = data.latencies
    first = canvas.chosen(table.slice(0, 1), ["time", "seconds"])
    time = _AXES[first[0]["time"] if first else data.latency_kind]
    return canvas.finished(
        _chart(time, first[0]["seconds"] if first else 1),
        {
            "columns": _columns(table),
            "stages": canvas.stage_rows(data.recording, data.seconds.num_rows),
            "buckets": _buckets(table),
        },
        _description(data, time),
    )


def _columns(table: pa.Table) -> Rows:
    rows = canvas.chosen(table, ["second", "bucket", "completed"])
    groups = itertools.groupby(rows, key=lambda row: row["second"])
    return [
        _column(second, {row["bucket"]: row["completed"] for row in group})
        for second, group in groups
    ]


def _column(second: int, counts: Mapping[int, int]) -> Row:
    first, last = min(counts), max(counts)
    return {
        "second": second,
        "first": first,
        "counts": [counts.get(bucket, 0) for bucket in range(first, last + 1)],
    }


def _buckets(table: pa.Table) -> Rows:
    completed, held = Counter[int](), Counter[int]()
    for row in canvas.chosen(table, ["bucket", "completed", "held"]):
        completed[row["bucket"]] += row["completed"]
        held[row["bucket"]] += row["held"]
    return [
        {
            "low": canvas.scaled(latency_buckets.low_ns(bucket), 1e6),
            "high": canvas.scaled(latency_buckets.low_ns(bucket + 1), 1e6),
            "completed": completed[bucket],
            "held": held[bucket],
        }
        for bucket in sorted(completed)
    ]


def _description(data: TrialData, time: str) -> str:
    rows = _buckets(data.latencies)
    whole = f"{time.capitalize()} of every response of {data.recording.title} over time"
    if not rows:
        return f"{whole}: no response"
    completed = canvas.numbers(rows, "completed")
    count, most = sum(completed), max(completed)
    fullest = rows[completed.index(most)]
    return (
        f"{whole}: {wording.count(count)} responses, {_span(rows[0], rows[-1])}; "
        f"{wording.percent(most / count)} of them {_span(fullest, fullest)}"
    )


def _span(first: Row, last: Row) -> str:
    low_ms, high_ms = canvas.number(first, "low"), canvas.number(last, "high")
    return f"between {wording.seconds(low_ms / 1e3)} and {wording.seconds(high_ms / 1e3)}"


@canvas.built_once
def _chart(time: str, seconds: int) -> Specification:
    chart = canvas.layered(canvas.stage_bands(), _cells(time, seconds))
    return canvas.styled(chart.properties(width=canvas.WIDTH_PX, height=_HEIGHT_PX))


def _cells(time: str, seconds: int) -> alt.Chart:
    place = f"(datum.first + datum.place - 1) / {latency_buckets.PER_DECADE}"
    upper = f"(datum.first + datum.place) / {latency_buckets.PER_DECADE}"
    return (
        alt.Chart(alt.NamedData(name="columns"))
        .transform_flatten(["counts"], ["count"])
        .transform_window(place="row_number()", groupby=["second"])
        .transform_filter("datum.count > 0")
        .transform_calculate(
            until=f"datum.second + {seconds}",
            low=f"pow(10, {place} - 6)",
            high=f"pow(10, {upper} - 6)",
        )
        .mark_rect()
        .encode(
            x=canvas.time("second"),
            x2=alt.X2("until"),
            y=alt.Y(
                "low:Q",
                title=f"{time} (ms), logarithmic",
                scale=alt.Scale(type="log", nice=False),
                axis=alt.Axis(format=canvas.NUMBERS, values=_TICKS, tickCount=len(_TICKS)),
            ),
            y2=alt.Y2("high"),
            fill=_shade(seconds),
            tooltip=[
                alt.Tooltip("second:Q", title="second"),
                alt.Tooltip("low:Q", title="from, ms", format=".4~r"),
                alt.Tooltip("high:Q", title="to, ms", format=".4~r"),
                alt.Tooltip("count:Q", title="responses", format=canvas.NUMBERS),
            ],
        )
    )


def _shade(seconds: int) -> alt.Fill:
    each = "a second" if seconds == 1 else f"{seconds} seconds"
    return alt.Fill(
        "count:Q",
        scale=alt.Scale(type="log", domainMin=1, range=_shades(), nice=False),
        legend=alt.Legend(
            title=f"responses in {each}", format=canvas.NUMBERS, gradientLength=160, tickCount=4
        ),
    )


def _shades() -> list[str]:
    return [colour.light for colour in canvas.HEAT]
