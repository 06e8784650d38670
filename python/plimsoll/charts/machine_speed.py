"""Machine speed: how fast the machine was in each second, in per cent of its median.

It stands beneath throughput, so that a dip of both is not taken for the server's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import canvas, wording
from plimsoll import vega_lite as alt

if TYPE_CHECKING:
    from plimsoll.canvas import Rows, Specification
    from plimsoll.findings.trial import TrialData

NAME = "machine_speed"
TITLE = "Machine speed"
CAPTION = (
    "Speed of the machine in each second, in % of its median: by the load generator's processor "
    "time for a request, corrected for its wake-ups, and by the control, a fixed piece of "
    "work on the server's cores between turns. Where throughput dips with it, the machine slowed, "
    "not the server."
)
TABLE = "seconds"
COLUMNS = {
    "second": "second",
    "driver": "by the load generator, %",
    "control": "by the control, %",
}

_FIELDS = {"driver_speed_ratio": "driver", "control_speed_ratio": "control"}
_NAMES = {"by the load generator": canvas.DRIVER, "by the control": canvas.MACHINE}


def draw(data: TrialData) -> Specification:
    """The chart with its data."""
    rows, step_s = _rows(data), canvas.step_s(data)
    rules = {"driver": canvas.mean, "control": canvas.mean}
    varied = _varied(rows)
    return canvas.finished(
        _chart(step_s),
        {
            "seconds": canvas.thinned(rows, step_s, **rules),
            "stages": canvas.stage_rows(data.recording, data.seconds.num_rows),
            "level": [{"text": varied, "short": varied}],
        },
        f"Speed of the machine in the trial of {data.recording.title}: {varied}",
    )


def _rows(data: TrialData) -> Rows:
    """One row for each second of the trial; null where the speed is unknown."""
    table = data.machine_speed.select(["second", *_FIELDS]).to_pylist()
    found = {row["second"]: row for row in table}
    return [
        {
            "second": second,
            **{
                name: _percent(found.get(second, {}).get(column))
                for column, name in _FIELDS.items()
            },
        }
        for second in data.seconds["second"].to_pylist()
    ]


def _percent(ratio: float | None) -> float | None:
    return None if ratio is None else wording.significant(100 * ratio, 4)


def _varied(rows: Rows) -> str:
    """How far the speed went to either side: `varied by ±12 %`."""
    for name in _FIELDS.values():
        known = canvas.numbers(rows, name)
        if known:
            half = (max(known) - min(known)) / 200
            return f"varied by ±{wording.percent(round(half, 3))}"
    return "not measured within the load"


@canvas.built_once
def _chart(step_s: int) -> Specification:
    headings = {"driver": "by the load generator, %", "control": "by the control, %"}
    chart = canvas.layered(
        canvas.stage_bands(),
        _line("control", "by the control", step_s),
        _line("driver", "by the load generator", step_s),
        canvas.cornered("level", canvas.MUTED),
        canvas.cursor(headings, "machine_speed_second", step_s),
    ).properties(width=canvas.WIDTH_PX, height=70)
    return canvas.styled(chart)


def _line(column: str, name: str, step_s: int) -> alt.Chart:
    """A line through the seconds that are known; the control does not run in each of them."""
    line = (
        canvas.seconds(step_s)
        .transform_filter(f"isValid(datum.{column})")
        .mark_line(strokeWidth=1.25, strokeCap="round", strokeJoin="round")
        .encode(
            x=canvas.time("middle"),
            y=alt.Y(
                f"{column}:Q",
                title="% of its median",
                scale=alt.Scale(zero=False),
                axis=alt.Axis(tickCount=3),
            ),
        )
    )
    return canvas.coloured(line, name, among=_NAMES)
