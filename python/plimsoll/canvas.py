"""Canvas: what all charts share, namely their data, their colours and the axis of time.

A chart is drawn once, in light colours. Every colour has a twin for dark paper, so a reader's
machine can repaint a finished specification word by word (`repaint`) without drawing it again.
Colours are told apart by people who do not see red or green; no meaning rests on colour alone.
Source: M. Okabe and K. Ito, *Color Universal Design*, 2002, for the order of the hues.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from plimsoll.aggregate.seconds import AFTER

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import altair as alt
    import pyarrow as pa

    from plimsoll.recording import RecordedStage, Recording
    from plimsoll.verdicts.verdict import Level

Specification = dict[str, Any]
"""A Vega-Lite specification with its data inside."""

Rows = list[dict[str, Any]]
"""Rows of a data set of a chart."""

WIDTH_PX = 640
"""Width of the plot where nobody says otherwise."""

AXIS_PX = 60
"""Room left of the plot, the same in each chart so that their axes of time lie upon each other."""

ASIDE_PX = 14
"""Room right of the plot."""

NUMBERS = ",~f"
"""Format of numbers in charts: `9,000`, `0.25`."""

FONTS = 'system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif'
"""Fonts in the order of preference; each machine has one of them."""


SHORT_SHARE, LONG_SHARE = 0.12, 0.3
"""Share of a trial from which a stage has room for its name in a wide plot, and for its level."""

POINTER = "pointer_"
"""What the name of a layer begins with that is only there for the pointer."""

NARROW_PX = 340
"""Width of a plot below which it is narrow."""

STRIP_PX = 4
"""Height of the strip above a plot whose colour is the level asked for."""

TITLE_Y_PX = -21
"""Where the title of the upright axis stands, and what is said of a chart at its right."""

_LEVEL_NAMES = {"open": "arrivals/s asked", "unknown": "users active"}
_SHORT_LEVEL_NAMES = {"open": "arrivals/s", "unknown": "users"}


@dataclass(frozen=True)
class Colour:
    """A colour on light paper and its twin on dark paper, as `#rrggbb`."""

    light: str
    dark: str


PAPER = Colour("#ffffff", "#12181f")
INK = Colour("#1c2530", "#e4e9ee")
MUTED = Colour("#5a6775", "#9dabb8")
LINE = Colour("#dbe1e7", "#2c3742")
BAND = Colour("#eef1f4", "#1b232c")

SERVER = Colour("#0f6cab", "#5fb3ea")
DRIVER = Colour("#c25e00", "#f0994a")
MACHINE = Colour("#8a96a3", "#75828f")
ANSWERED = Colour("#00857a", "#3cc4b4")
FAILED = Colour("#c8321f", "#ff7d66")

SOUND = Colour("#00746b", "#4cc9b8")
DOUBTFUL = Colour("#8f5f00", "#e8b23f")
VOID = Colour("#b32a1e", "#ff8672")

LEVEL_LOW = Colour("#cfe2ef", "#20384a")
LEVEL_HIGH = Colour("#2a78b3", "#4b9bd0")

PERCENTILES = (
    Colour("#5f95bb", "#7f9db3"),
    Colour("#0e69a6", "#58b0e8"),
    Colour("#5c55a8", "#a49df0"),
    Colour("#a23a8c", "#e58bd2"),
    Colour("#ce4a3c", "#ff8f78"),
)
"""For 25, 50, 75, 95 and 99 %."""

KINDS = (
    Colour("#d0531b", "#f5854f"),
    Colour("#3a6fb0", "#6aa5ec"),
    Colour("#e0a100", "#f4c542"),
    Colour("#8e4a9e", "#c98bda"),
    Colour("#1c9078", "#45c2a8"),
    Colour("#5aaed6", "#9ad6f2"),
    Colour("#7a5c3a", "#b8966e"),
    Colour("#6b7580", "#98a3ae"),
)
"""For kinds of failure, the most frequent first; the last one is what is left."""

COLOURS = (
    *(PAPER, INK, MUTED, LINE, BAND, SERVER, DRIVER, MACHINE, ANSWERED, FAILED),
    *(SOUND, DOUBTFUL, VOID, LEVEL_LOW, LEVEL_HIGH, *PERCENTILES, *KINDS),
)
"""Every colour."""

DARK = {colour.light: colour.dark for colour in COLOURS}
"""Light colour to its dark twin."""

LEVEL_COLOURS: dict[Level, Colour] = {"sound": SOUND, "doubtful": DOUBTFUL, "void": VOID}
"""The colour of each level of a verdict."""

LEVEL_SHAPES: dict[Level, str] = {"sound": "circle", "doubtful": "triangle-up", "void": "cross"}
"""The shape of each level of a verdict, by its name in Vega."""


@dataclass(frozen=True)
class TrialData:
    """What the charts of one trial are drawn from.

    Attributes:
        recording: The recording.
        summary: Its row of `tables.SUMMARIES`; None when there is none.
        seconds: Its rows of `tables.SECONDS`, in order.
        memory: Memory by second, as `aggregate.memory.by_second` gives it.
        connections: Connections by second, as `aggregate.connections.by_second` gives it.
        failures: Failures by second and kind, as `aggregate.failures.by_second` gives it.
    """

    recording: Recording
    summary: Mapping[str, Any] | None
    seconds: pa.Table
    memory: pa.Table
    connections: pa.Table
    failures: pa.Table


@dataclass(frozen=True)
class Repetition:
    """One repetition in a ranking.

    Attributes:
        trial: Id of the trial.
        value: Its goodput in right answers per second; None when there is none.
        level: Its level; `void` also where there is no result.
    """

    trial: str
    value: float | None
    level: Level


@dataclass(frozen=True)
class Standing:
    """One framework in a ranking.

    Attributes:
        framework: Framework and variant.
        rank_low: Best rank it may have; None when it is not ranked.
        rank_high: Worst rank it may have.
        value: Median goodput of the repetitions that count, in right answers per second; of all of
            them when none counts.
        low: Lower end of the 95 % interval; None below two repetitions.
        high: Upper end of it.
        level: How far to believe it.
        repetitions: Each of them, also those that do not count.
        reason: Why it is not ranked, or what is doubtful; empty when sound.
    """

    framework: str
    rank_low: int | None
    rank_high: int | None
    value: float | None
    low: float | None
    high: float | None
    level: Level
    repetitions: tuple[Repetition, ...]
    reason: str = ""

    @property
    def rank(self) -> str:
        """Its rank as people read it: `1`, a tie as `2–4`, `–` when it has none."""
        if self.rank_low is None or self.rank_high is None:
            return "–"
        if self.rank_low == self.rank_high:
            return str(self.rank_low)
        return f"{self.rank_low}–{self.rank_high}"


@dataclass(frozen=True)
class Ranking:
    """The frameworks at one endpoint and load by one driver, the best first.

    Attributes:
        endpoint: Name of the endpoint.
        load: Name of the load.
        standings: One per framework; those without a rank come last.
        driver: Name of the program that put on the load.
    """

    endpoint: str
    load: str
    standings: tuple[Standing, ...]
    driver: str = "plimsoll"


def significant(value: float | None, digits: int = 4) -> float | None:
    """A value rounded to so many significant digits; None stays None.

    A chart shows no more than that, and a page of many trials stays small.
    """
    if value is None or value == 0 or not math.isfinite(value):
        return None if value is None or not math.isfinite(value) else 0
    rounded = round(value, digits - 1 - math.floor(math.log10(abs(value))))
    return int(rounded) if rounded == int(rounded) else rounded


def scaled(value: float | None, divisor: float) -> float | None:
    """A value in a larger unit, rounded for drawing; None stays None."""
    return None if value is None else significant(value / divisor)


def chosen(table: pa.Table, columns: Iterable[str]) -> Rows:
    """The rows of some columns of a table."""
    return table.select(list(columns)).to_pylist()


def counted(number: float) -> str:
    """A count as people read it: `9,000`."""
    return f"{number:,.0f}"


def per_second(value: float) -> str:
    """A rate as people read it: `12,345/s`, `0.25/s`."""
    return f"{significant(value, 3)}/s" if abs(value) < 10 else f"{value:,.0f}/s"  # noqa: PLR2004


def stage_rows(recording: Recording, until_s: int) -> Rows:
    """One row per stage, in seconds, with labels for a wide and for a narrow plot.

    A label is empty where it would reach into the next stage. What lies behind the last stage is
    a row as well, so that the axes of time of all charts of a trial end at the same second.

    Args:
        recording: The recording.
        until_s: How many seconds the charts show.
    """
    last_ns = max((stage.end_ns for stage in recording.stages), default=0)
    end_s = significant(last_ns / 1e9, 6) or 0
    whole_ns = max(last_ns, until_s * 1_000_000_000)
    after = {"start_s": end_s, "end_s": until_s, "kind": AFTER, "label": "", "short": ""}
    stages = [
        {
            "start_s": significant(stage.start_ns / 1e9, 6),
            "end_s": significant(stage.end_ns / 1e9, 6),
            "kind": stage.kind,
            **_stage_labels(stage, (stage.end_ns - stage.start_ns) / max(whole_ns, 1)),
        }
        for stage in recording.stages
    ]
    return [*stages, after] if until_s > end_s else stages


def _stage_labels(stage: RecordedStage, share: float) -> dict[str, str]:
    name = stage.kind.replace("_", "-")
    level = f"{counted(stage.start)} → {counted(stage.end)}"
    if stage.start == stage.end:
        level = f"at {counted(stage.end)}"
    is_long = share >= LONG_SHARE
    return {
        "label": f"{name} {level}" if is_long else name if share >= SHORT_SHARE else "",
        "short": name if is_long else "",
    }


def stage_bands() -> alt.LayerChart:
    """The layer that shows where the stages lie; what is not summarised is shaded.

    Holds are drawn as well, unseen, so that the axis of time reaches over every stage.
    """
    import altair as alt  # noqa: PLC0415 - heavy, and needed to draw only

    source = alt.NamedData(name="stages")
    shaded = (
        alt.Chart(source)
        .mark_rect(color=INK.light)
        .encode(
            x=time("start_s"),
            x2="end_s",
            opacity=alt.condition("datum.kind === 'hold'", alt.value(0), alt.value(0.05)),
        )
    )
    labels = (
        alt.Chart(source)
        .mark_text(
            align="left",
            baseline="bottom",
            dx=1,
            dy=-STRIP_PX - 2,
            color=MUTED.light,
            fontSize=10,
            text=alt.ExprRef(f"item.mark.group.width < {NARROW_PX} ? datum.short : datum.label"),
        )
        .encode(x=time("start_s"), y=alt.value(0))
    )
    return layered(shaded, labels)


def level_name(recording: Recording) -> str:
    """What the level of a load counts: `connections asked`."""
    return _LEVEL_NAMES.get(recording.load.get("model", ""), "connections asked")


def levels(table: pa.Table) -> list[float | None]:
    """The level asked for in each second; None behind the load.

    Args:
        table: Rows of `tables.SECONDS`.
    """
    return [
        None if row["stage"] == AFTER else significant(row["asked"], 6)
        for row in chosen(table, ["stage", "asked"])
    ]


def level_rows(recording: Recording, asked: Iterable[float | None]) -> Rows:
    """One row with the range of the levels in words, for wide and narrow; none without levels."""
    known = [level for level in asked if level is not None]
    if not any(known):
        return []
    low, high = counted(min(known)), counted(max(known))
    span = high if low == high else f"{low} to {high}"
    short = _SHORT_LEVEL_NAMES.get(recording.load.get("model", ""), "asked")
    return [{"text": f"{span} {level_name(recording)}", "short": f"{span} {short}"}]


def level_colours() -> alt.Scale:
    """The deeper the colour, the higher the level asked for."""
    import altair as alt  # noqa: PLC0415 - heavy, and needed to draw only

    return alt.Scale(domainMin=0, range=[LEVEL_LOW.light, LEVEL_HIGH.light])


def level_strip() -> alt.LayerChart:
    """The layer that shows above the plot what was asked for: column `asked`, and data `level`."""
    import altair as alt  # noqa: PLC0415 - heavy, and needed to draw only

    strip = (
        alt.Chart(alt.NamedData(name="seconds"))
        .transform_filter("datum.asked > 0")
        .transform_calculate(until="datum.second + 1")
        .mark_rect()
        .encode(
            x=time("second"),
            x2="until",
            y=alt.value(-STRIP_PX),
            y2=alt.value(0),
            fill=alt.Fill("asked:Q", scale=level_colours(), legend=None),
        )
    )
    return layered(strip, cornered("level", MUTED))


def cornered(source: str, colour: Colour, **mark: Any) -> alt.Chart:
    """Words of the column `text` above the upper right corner of a plot.

    Where it is narrow they are those of the column `short`, if there is one.

    Args:
        source: Name of the data set.
        colour: Colour of the words.
        mark: Properties of the mark that differ.
    """
    import altair as alt  # noqa: PLC0415 - heavy, and needed to draw only

    narrow = f"item.mark.group.width < {NARROW_PX}"
    return (
        alt.Chart(alt.NamedData(name=source))
        .mark_text(
            align="right",
            baseline="bottom",
            color=colour.light,
            fontSize=11,
            text=alt.ExprRef(f"{narrow} && datum.short ? datum.short : datum.text"),
            **mark,
        )
        .encode(x=alt.value("width"), y=alt.value(TITLE_Y_PX))
    )


def time(column: str) -> alt.X:
    """A column on the axis of time; a second lies between its number and the next one."""
    import altair as alt  # noqa: PLC0415 - heavy, and needed to draw only

    return alt.X(
        f"{column}:Q",
        title="seconds since the start",
        scale=alt.Scale(nice=False, zero=False),
        axis=alt.Axis(grid=False, format=NUMBERS, tickCount=8),
    )


def cursor(fields: Mapping[str, str], name: str) -> alt.Chart:
    """The layer that shows the numbers of the second under the pointer.

    Args:
        fields: Column to its heading.
        name: A name for the pointer's second, unique in the specification.
    """
    import altair as alt  # noqa: PLC0415 - heavy, and needed to draw only

    hover = alt.selection_point(
        name=name, on="pointerover", clear="pointerout", fields=["second"], empty=False
    )
    tooltips = [alt.Tooltip("second:Q", title="second")] + [
        alt.Tooltip(f"{column}:Q", title=heading, format=NUMBERS)
        for column, heading in fields.items()
    ]
    return (
        alt.Chart(alt.NamedData(name="seconds"))
        .transform_calculate(until="datum.second + 1")
        .mark_rect(color=INK.light)
        .encode(
            x=time("second"),
            x2="until",
            opacity=alt.condition(hover, alt.value(0.08), alt.value(0)),
            tooltip=tooltips,
        )
        .properties(name=POINTER + name)
        .add_params(hover)
    )


def seconds(source: str = "seconds") -> alt.Chart:
    """A chart of a data set with one row a second; `middle` is the middle of the second."""
    import altair as alt  # noqa: PLC0415 - heavy, and needed to draw only

    return alt.Chart(alt.NamedData(name=source)).transform_calculate(middle="datum.second + 0.5")


def colour_of(name: str, among: Mapping[str, Colour]) -> alt.ColorDatum:
    """The colour of a layer, with a legend of all the names it is one of."""
    import altair as alt  # noqa: PLC0415 - heavy, and needed to draw only

    return alt.ColorDatum(
        name,
        scale=alt.Scale(domain=list(among), range=[colour.light for colour in among.values()]),
        legend=alt.Legend(title=None),
    )


def layered(*layers: alt.Chart | alt.LayerChart) -> alt.LayerChart:
    """Charts upon each other, the first one beneath."""
    import altair as alt  # noqa: PLC0415 - heavy, and needed to draw only

    return cast("alt.LayerChart", alt.layer(*layers))


def labelled(source: str, y: alt.Y, colour: Colour, **mark: Any) -> alt.LayerChart:
    """Words of the column `text` at the right edge of a plot.

    They stand on a halo, so that they can be read across whatever they lie on.

    Args:
        source: Name of the data set.
        y: How high they stand.
        colour: Colour of the words.
        mark: Properties of the mark that differ.
    """
    import altair as alt  # noqa: PLC0415 - heavy, and needed to draw only

    style: dict[str, Any] = {"align": "right", "baseline": "bottom", "dx": -2, "dy": -4, **mark}
    words = alt.Chart(alt.NamedData(name=source)).encode(x=alt.value("width"), y=y, text="text:N")
    halo = words.mark_text(stroke=PAPER.light, strokeWidth=4, strokeJoin="round", **style)
    return layered(halo, words.mark_text(color=colour.light, **style))


def styled(chart: alt.LayerChart | alt.VConcatChart) -> Specification:
    """The specification of a chart without its data, with the style of all charts.

    Args:
        chart: The chart; its data sets are named.
    """
    specification: Specification = chart.to_dict(validate=False)
    return {**specification, "config": CONFIG, "background": PAPER.light}


def finished(
    specification: Specification, data: Mapping[str, Rows], description: str
) -> Specification:
    """A specification with its data, and a sentence for those who cannot see it.

    Args:
        specification: What `styled` gave.
        data: Rows of each data set.
        description: What the chart shows, with its main numbers.
    """
    return {**specification, "description": description, "datasets": dict(data)}


def repaint(value: Any, twins: Mapping[str, str] = DARK) -> Any:
    """A specification, or any part of it, with each colour exchanged for its twin."""
    if isinstance(value, dict):
        parts = cast("dict[str, Any]", value)
        return {key: repaint(part, twins) for key, part in parts.items()}
    if isinstance(value, list):
        return [repaint(part, twins) for part in cast("list[Any]", value)]
    return twins.get(value, value) if isinstance(value, str) else value


def rows_as_columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Rows as one list per column: what a page stores, for it names each column once."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    return {name: [row.get(name) for row in rows] for name in names}


_AXIS = {
    "labelColor": MUTED.light,
    "titleColor": MUTED.light,
    "domainColor": LINE.light,
    "tickColor": LINE.light,
    "gridColor": LINE.light,
    "labelFontSize": 11,
    "titleFontSize": 11,
    "titleFontWeight": "normal",
    "labelOverlap": True,
    "labelSeparation": 6,
    "tickSize": 4,
}

CONFIG: dict[str, Any] = {
    "font": FONTS,
    "view": {"stroke": None},
    "mark": {"aria": False},
    "axis": _AXIS,
    "axisY": {
        "minExtent": AXIS_PX - 14,
        "maxExtent": AXIS_PX - 14,
        "domain": False,
        "ticks": False,
        "tickCount": 5,
        "titleAngle": 0,
        "titleAlign": "left",
        "titleAnchor": "end",
        "titleX": 14 - AXIS_PX,
        "titleY": TITLE_Y_PX,
        "titleBaseline": "bottom",
    },
    "legend": {
        "labelColor": INK.light,
        "titleColor": MUTED.light,
        "labelFontSize": 11,
        "titleFontSize": 11,
        "titleFontWeight": "normal",
        "orient": "top",
        "direction": "horizontal",
        "offset": 36,
        "symbolStrokeWidth": 2,
        "labelLimit": 260,
        "columnPadding": 12,
    },
}
"""Style of every chart."""
