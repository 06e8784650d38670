"""Canvas: what all charts share, namely their data, their colours and the axis of time.

A chart is drawn once, in light colours. Every colour has a twin for dark paper, so a reader's
machine can repaint a finished specification word by word (`repaint`) without drawing it again.
People who do not see red or green can distinguish the colours; no meaning rests on colour alone.
Source: M. Okabe and K. Ito, *Color Universal Design*, 2002, for the order of the hues.
"""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, ParamSpec, cast

from plimsoll import vega_lite as alt
from plimsoll import wording
from plimsoll.aggregate.seconds import AFTER, loaded_part

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import pyarrow as pa

    from plimsoll.findings.trial import TrialData
    from plimsoll.recording import RecordedStage, Recording
    from plimsoll.verdicts.verdict import Level


Specification = dict[str, Any]
"""A Vega-Lite specification with its data inside."""

Datum = float | str | list[int] | None
"""A value that a chart draws."""

Row = dict[str, Datum]
"""A row of a data set of a chart."""

Rows = list[Row]

Look = ParamSpec("Look")
"""What the specification of a chart depends on, without its data."""

WIDTH_PX = 640
"""Default width of the plot."""

AXIS_PX = 60
"""Room left of the plot, the same in each chart so that their axes of time lie upon each other."""

NAMES_PX = 160
"""The most room for names left of bars; longer ones are cut."""

MOST_LETTERS = 22
"""Letters of a name that there is room for in any font."""

_ENDS = (11, 8, 14, 5, 17)
"""Letters that a name which is cut keeps at its end, the first that keep all names apart."""

_LETTER_PX = 6.6

ASIDE_PX = 14
"""Room right of the plot."""

NUMBERS = ",~f"
"""Format of numbers in charts: `9,000`, `0.25`."""

FONTS = 'system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif'
"""Fonts in the order of preference; each machine has one of them."""


LETTER_PX, GAP_PX = 6.6, 5
"""Width of a letter of a stage's label in a wide font, and what stays free behind the label."""

_SYMBOL_PX = 32
"""Width of a symbol of a legend with the room to either side."""

LOGARITHMIC_FROM = 20.0
"""Ratio of the greatest value to the smallest one from which an axis is logarithmic."""

POINTER = "pointer_"
"""What the name of a layer begins with that is only there for the pointer."""

MOST_COLUMNS = 2 * WIDTH_PX
"""The most instants that a chart shows; in longer trials several seconds share one."""

NARROW_PX = 340
"""Width of a plot below which it is narrow."""

STRIP_PX = 4
"""Height of the strip above a plot whose colour is the requested level."""

TITLE_Y_PX = -21
"""Where the title of the upright axis stands, and what is written at the right of a chart."""

_DASHES = (
    *([1, 0], [6, 3], [2, 2]),
    *([14, 3], [8, 3, 2, 3], [2, 6]),
    *([14, 3, 5, 3], [8, 3, 2, 3, 2, 3], [6, 9]),
    *([2, 2, 2, 8], [5, 3, 5, 10], [14, 9]),
)
"""Lengths of dashes and gaps of lines of the same colour, for ends that are not round."""

_SHAPES = (
    *("circle", "square", "triangle-up", "diamond", "cross", "triangle-down"),
    "triangle-left",
    "M-1,-1L1,-1L-1,1L1,1Z",  # an hourglass
    "M-.6,-1L0,-.4L.6,-1L1,-.6L.4,0L1,.6L.6,1L0,.4L-.6,1L-1,.6L-.4,0L-1,-.6Z",  # a cross, askew
    "M0,-1.2L.35,-.4L1.2,0L.35,.4L0,1.2L-.35,.4L-1.2,0L-.35,-.4Z",  # a star
    "triangle-right",
    "M-1,-1L0,0L1,-1L1,1L0,0L-1,1Z",  # a bow tie
)
"""Of points of entries; the second half is for those that come after every pair of a colour and a
shape of the first half."""

_LEVEL_NAMES = {"open": "arrivals/s requested", "unknown": "users active"}
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
RESPONDING = Colour("#00857a", "#3cc4b4")
FAILED = Colour("#c8321f", "#ff7d66")

SOUND = Colour("#00746b", "#4cc9b8")
DOUBTFUL = Colour("#8f5f00", "#e8b23f")
VOID = Colour("#b32a1e", "#ff8672")

LEVEL_LOW = Colour("#cfe2ef", "#20384a")
LEVEL_HIGH = Colour("#2a78b3", "#4b9bd0")

HEAT = (
    Colour("#b5d5ec", "#26465e"),
    Colour("#5c9fce", "#3f83b5"),
    Colour("#1f69a3", "#73b9ea"),
    Colour("#0a2f52", "#e2f2fd"),
)
"""From one response in a cell to the most; each is further from the paper than the one before."""

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
    *(PAPER, INK, MUTED, LINE, BAND, SERVER, DRIVER, MACHINE, RESPONDING, FAILED),
    *(SOUND, DOUBTFUL, VOID, LEVEL_LOW, LEVEL_HIGH, *HEAT, *PERCENTILES, *KINDS),
)
"""Every colour."""

DARK = {colour.light: colour.dark for colour in COLOURS}
"""Light colour to its dark twin."""

LEVEL_COLOURS: dict[Level, Colour] = {
    "not_checked": MUTED,
    "sound": SOUND,
    "doubtful": DOUBTFUL,
    "void": VOID,
}
"""The colour of each level of a verdict."""

LEVEL_SHAPES: dict[Level, str] = {
    "not_checked": "square",
    "sound": "circle",
    "doubtful": "triangle-up",
    "void": "cross",
}
"""The shape of each level of a verdict, by its name in Vega."""


def names_px(labels: Sequence[str]) -> int:
    """Room that names left of bars need, in pixels."""
    longest = max((len(label) for label in labels), default=0)
    return 12 + min(NAMES_PX, round(longest * _LETTER_PX))


def shortened(names: Sequence[str], most: int = MOST_LETTERS) -> dict[str, str]:
    """Names that are too long, each without its middle: their ends tell variants apart.

    Args:
        names: The names of a chart.
        most: Letters that there is room for.
    """
    long = [name for name in names if len(name) > most]
    cut = [
        {name: f"{name[: most - 1 - end]}…{name[-end:]}" for name in long}
        for end in _ENDS
        if end < most - 1
    ]
    return next((one for one in cut if len(set(one.values())) == len(one)), cut[0])


def name_axis(names: Sequence[str]) -> Specification:
    """The part of a specification that says how names left of bars are shown.

    Args:
        names: The names.
    """
    cut = shortened(names)
    if not cut:
        return {"labelLimit": NAMES_PX}
    long, short = (json.dumps(list(some)) for some in (cut, cut.values()))
    place = f"indexof({long}, datum.label)"
    return {
        "labelLimit": NAMES_PX,
        "labelExpr": f"{place} < 0 ? datum.label : {short}[{place}]",
    }


def scaled(value: float | None, divisor: float) -> float | None:
    """A value in a larger unit, rounded for drawing; None stays None."""
    return None if value is None else wording.significant(value / divisor)


def is_wide(values: Sequence[float]) -> bool:
    """Whether positive values lie so far apart that their axis is to be logarithmic."""
    return bool(values) and max(values) >= LOGARITHMIC_FROM * min(values)


def chosen(table: pa.Table, columns: Iterable[str]) -> list[dict[str, Any]]:
    """The rows of some columns of a table, as Arrow gives them."""
    return table.select(list(columns)).to_pylist()


def number(row: Row, name: str) -> float:
    """The value in a column of numbers, in a row that has one."""
    return cast("float", row[name])


def numbers(rows: Iterable[Row], name: str) -> list[float]:
    """The known values in a column of numbers."""
    return [number(row, name) for row in rows if row[name] is not None]


def texts(rows: Iterable[Row], name: str) -> list[str]:
    """The values in a column of texts."""
    return [cast("str", row[name]) for row in rows]


def step_s(data: TrialData) -> int:
    """How many seconds share one column of a chart, so that its size does not grow with time."""
    return max(1, -(-data.seconds.num_rows // MOST_COLUMNS))


def thinned(rows: Rows, step_s: int, **rules: Callable[[list[Any]], Any]) -> Rows:
    """Rows with several seconds as one, whose `second` is the first of them.

    Args:
        rows: Rows in the order of their seconds.
        step_s: How many seconds become one row; 1 changes nothing.
        rules: Column to what becomes of its values that are known; of others the greatest is taken.
    """
    if step_s == 1:
        return rows
    groups = itertools.groupby(rows, key=lambda row: int(number(row, "second")) // step_s)
    return [_joined(list(group), step_s * number, rules) for number, group in groups]


def _joined(rows: Rows, second: int, rules: Mapping[str, Callable[[list[Any]], Any]]) -> Row:
    joined: Row = {"second": second}
    for name in rows[0].keys() - joined.keys():
        values = [row[name] for row in rows if row[name] is not None]
        joined[name] = rules.get(name, max)(values) if values else None
    return {name: joined[name] for name in rows[0]}


def loaded_until(rows: Rows, recording: Recording) -> Rows:
    """Rows of seconds, with a column `until` if the load ended within one of them.

    Args:
        rows: Rows in the order of their seconds.
        recording: The recording.
    """
    if not recording.stages:
        return rows
    at_s = recording.stages[-1].end_ns / 1e9
    second = int(at_s)
    _, until_ns = loaded_part(recording, second)
    if until_ns / 1e9 != at_s:
        return rows
    end_s = wording.significant(at_s, 6)
    return [row | {"until": end_s if row["second"] == second else None} for row in rows]


def end_of_row(step_s: int) -> str:
    """The expression for where a row of `loaded_until` ends on the axis of time.

    Args:
        step_s: How many seconds each row stands for.
    """
    return f"datum.until || datum.second + {step_s}"


def mean(values: list[float]) -> float | None:
    """Mean of some values, rounded for drawing."""
    return wording.significant(math.fsum(values) / len(values))


def first(values: list[Any]) -> Any:
    """The first of some values."""
    return values[0]


def last(values: list[Any]) -> Any:
    """The last of some values."""
    return values[-1]


def stage_rows(recording: Recording, until_s: int) -> Rows:
    """One row per stage, in seconds, with a long and a short label and its share of the plot.

    What lies behind the last stage is a row as well, so that the axes of time of all charts of a
    trial end at the same second.

    Args:
        recording: The recording.
        until_s: How many seconds the charts show.
    """
    last_ns = max((stage.end_ns for stage in recording.stages), default=0)
    end_s = wording.significant(last_ns / 1e9, 6) or 0
    whole_s = max(last_ns / 1e9, until_s)
    stages = [
        stage_row(
            stage.kind, stage.start_ns / 1e9, stage.end_ns / 1e9, whole_s, _stage_labels(stage)
        )
        for stage in recording.stages
    ]
    after = stage_row(AFTER, end_s, until_s, whole_s)
    return [*stages, after] if until_s > end_s else stages


def stage_row(
    kind: str, start_s: float, end_s: float, whole_s: float, labels: tuple[str, str] = ("", "")
) -> Row:
    """A row of `stage_bands`.

    Args:
        kind: Kind of the stage.
        start_s: Its begin, in seconds.
        end_s: Its end.
        whole_s: Seconds that the chart shows.
        labels: Its label where there is room for it, and a shorter one.
    """
    return {
        "start_s": wording.significant(start_s, 6),
        "end_s": wording.significant(end_s, 6),
        "kind": kind,
        "label": labels[0],
        "short": labels[1],
        "share": wording.significant((end_s - start_s) / whole_s, 3) if whole_s else 0,
    }


def _stage_labels(stage: RecordedStage) -> tuple[str, str]:
    name = stage.kind.replace("_", "-")
    level = f"{wording.number(stage.start)} → {wording.number(stage.end)}"
    if stage.start == stage.end:
        level = f"at {wording.number(stage.end)}"
    return f"{name} {level}", name


def stage_bands() -> alt.LayerChart:
    """The layer that shows where the stages lie; what is not summarised is shaded.

    Holds are drawn as well, unseen, so that the axis of time reaches over every stage. A label is
    the longest one that does not reach into the next stage, or none.
    """
    room = f"(item.mark.group.width * datum.share - {GAP_PX}) / {LETTER_PX}"
    short = f"length(datum.short) <= {room} ? datum.short : ''"
    source = alt.NamedData(name="stages")
    shaded = (
        alt.Chart(source)
        .mark_rect(color=INK.light)
        .encode(
            x=time("start_s"),
            x2=alt.X2("end_s"),
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
            text=alt.ExprRef(f"length(datum.label) <= {room} ? datum.label : {short}"),
        )
        .encode(x=time("start_s"), y=alt.YValue(0))
    )
    return layered(shaded, labels)


def level_name(recording: Recording) -> str:
    """What the level of a load counts: `connections requested`."""
    return _LEVEL_NAMES.get(recording.load.model, "connections requested")


def levels(table: pa.Table) -> list[float | None]:
    """The requested level in each second; None behind the load.

    Args:
        table: Rows of `tables.SECONDS`.
    """
    return [
        None if row["stage"] == AFTER else wording.significant(row["requested_level"], 6)
        for row in chosen(table, ["stage", "requested_level"])
    ]


def level_rows(recording: Recording, requested: Iterable[float | None]) -> Rows:
    """One row with the range of the levels in words, for wide and narrow; none without levels."""
    known = [level for level in requested if level is not None]
    if not any(known):
        return []
    write = wording.number if recording.load.model == "open" else wording.count
    low, high = write(min(known)), write(max(known))
    span = high if low == high else f"{low} to {high}"
    short = _SHORT_LEVEL_NAMES.get(recording.load.model, "requested")
    return [{"text": f"{span} {level_name(recording)}", "short": f"{span} {short}"}]


def level_colours() -> alt.Scale:
    """The higher the requested level, the further its colour is from the paper."""
    return alt.Scale(domainMin=0, range=[LEVEL_LOW.light, LEVEL_HIGH.light])


def level_strip(step_s: int = 1) -> alt.LayerChart:
    """The layer above the plot that shows the requested level: column `requested_level`.

    Args:
        step_s: How many seconds each row stands for.
    """
    strip = (
        alt.Chart(alt.NamedData(name="seconds"))
        .transform_filter("datum.requested_level > 0")
        .transform_calculate(end=end_of_row(step_s))
        .mark_rect()
        .encode(
            x=time("second"),
            x2=alt.X2("end"),
            y=alt.YValue(-STRIP_PX),
            y2=alt.Y2Value(0),
            fill=alt.Fill("requested_level:Q", scale=level_colours(), legend=None),
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
        .encode(x=alt.XValue("width"), y=alt.YValue(TITLE_Y_PX))
    )


def time(column: str) -> alt.X:
    """A column on the axis of time; a second lies between its number and the next one."""
    return alt.X(
        f"{column}:Q",
        title="seconds since the start",
        scale=alt.Scale(nice=False, zero=False),
        axis=alt.Axis(grid=False, format=NUMBERS, tickCount=8),
    )


def cursor(fields: Mapping[str, str], name: str, step_s: int = 1) -> alt.Chart:
    """The layer that shows the numbers of the second under the pointer.

    Args:
        fields: Column to its heading.
        name: A name for the pointer's second, unique in the specification.
        step_s: How many seconds each row stands for.
    """
    hover = alt.selection_point(
        name=name, on="pointerover", clear="pointerout", fields=["second"], empty=False
    )
    tooltips = [alt.Tooltip("second:Q", title="second")] + [
        alt.Tooltip(f"{column}:Q", title=heading, format=NUMBERS)
        for column, heading in fields.items()
    ]
    return (
        alt.Chart(alt.NamedData(name="seconds"))
        .transform_calculate(until=f"datum.second + {step_s}")
        .mark_rect(color=INK.light)
        .encode(
            x=time("second"),
            x2=alt.X2("until"),
            opacity=alt.condition(hover, alt.value(0.08), alt.value(0)),
            tooltip=tooltips,
        )
        .properties(name=POINTER + name)
        .add_params(hover)
    )


def seconds(step_s: int = 1) -> alt.Chart:
    """A chart of the data set `seconds`; `middle` is the middle of a row's seconds.

    Args:
        step_s: How many seconds each row stands for.
    """
    middle = f"datum.second + {step_s / 2:g}"
    return alt.Chart(alt.NamedData(name="seconds")).transform_calculate(middle=middle)


def coloured(layer: alt.Chart, name: str, among: Mapping[str, Colour]) -> alt.Chart:
    """A layer in the colour of its name, with a legend of all the names it is one of.

    Its name is a column, since the schema of Vega-Lite allows a `datum` neither scale nor legend.

    Args:
        layer: The layer, with one mark or line of each row.
        name: Its name.
        among: The colour of each name of the chart.
    """
    colour = alt.Color(
        "series:N",
        scale=alt.Scale(domain=list(among), range=[colour.light for colour in among.values()]),
        legend=alt.Legend(title=None),
    )
    return named(layer, name).encode(color=colour)


def named(layer: alt.Chart, name: str) -> alt.Chart:
    """A layer whose rows have its name as their column `series`."""
    return layer.transform_calculate(series=json.dumps(name))


def entry_places(names: Sequence[str], entries: Sequence[str]) -> dict[str, int]:
    """The place of each entry of a chart among those of its report, which decides on its look.

    So an entry looks the same in every chart of a report, whatever its rank.

    Args:
        names: The entries of the chart.
        entries: Every entry of the report; empty for a chart that stands alone.
    """
    places = {name: place for place, name in enumerate(entries or names)}
    return {name: places[name] for name in names}


def entries_apart(names: Iterable[str], together: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """The entries of a report, so placed that those seen together have colours of their own.

    Args:
        names: Every entry, in the order of preference.
        together: Entries that are seen in one chart, of each chart; no more than there are colours.

    Returns:
        An entry for each place, for `entry_places`; "" where nobody has a place.
    """
    groups = [set(group) for group in together]
    placed: dict[int, str] = {}
    for name in names:
        beside = {one for group in groups if name in group for one in group} - {name}
        taken = {place % len(KINDS) for place, other in placed.items() if other in beside}
        free = (place for place in itertools.count() if place not in placed)
        candidates = list(itertools.islice(free, 2 * len(KINDS)))
        fitting = (place for place in candidates if place % len(KINDS) not in taken)
        placed[next(fitting, candidates[0])] = name
    return tuple(placed.get(place, "") for place in range(max(placed, default=-1) + 1))


def entry_colours(names: Sequence[str], entries: Sequence[str] = ()) -> dict[str, Colour]:
    """The colour of each entry of a chart; `entry_places` describes the arguments."""
    places = entry_places(names, entries)
    return {name: KINDS[place % len(KINDS)] for name, place in places.items()}


def entry_scale(names: Sequence[str], entries: Sequence[str] = ()) -> alt.Scale:
    """The same as the scale of a channel."""
    shades = [colour.light for colour in entry_colours(names, entries).values()]
    return alt.Scale(domain=list(names), range=shades)


def dashes_of(names: Sequence[str], entries: Sequence[str] = ()) -> dict[str, list[int]]:
    """The lengths of dash and gap of each entry's line; `entry_places` describes the arguments."""
    places = entry_places(names, entries)
    return {name: _DASHES[place // len(KINDS) % len(_DASHES)] for name, place in places.items()}


def entry_dashes(names: Sequence[str], entries: Sequence[str] = ()) -> alt.StrokeDash:
    """The channel that tells lines of entries of the same colour apart."""
    scale = alt.Scale(domain=list(names), range=list(dashes_of(names, entries).values()))
    return alt.StrokeDash("framework:N", scale=scale, legend=None)


def entry_shape(names: Sequence[str], entries: Sequence[str] = ()) -> alt.Shape:
    """The channel that tells points of entries apart, whoever sees no colours."""
    places = entry_places(names, entries)
    scale = alt.Scale(domain=list(names), range=[_shape(place) for place in places.values()])
    return alt.Shape("framework:N", scale=scale, legend=entry_legend(names))


def entry_legend(names: Sequence[str]) -> alt.Legend:
    """The legend of all entries of a chart, in rows that are no wider than it.

    Vega leaves out those beyond the thirtieth, and has all in one row, which shrinks the chart.
    """
    wide_px = LETTER_PX * max(map(len, names), default=0) + _SYMBOL_PX
    columns = max(1, int(WIDTH_PX / wide_px))
    if len(names) <= columns:
        return alt.Legend(title=None)
    return alt.Legend(title=None, columns=columns, symbolLimit=0)


def _shape(place: int) -> str:
    """The shape of the points of an entry.

    Colours and the shapes of one half meet again after a round of places. The next round begins
    with the next shape, and the two after it have the shapes of the other half.
    """
    half = len(_SHAPES) // 2
    turn = place // math.lcm(len(KINDS), half)
    return _SHAPES[(place + turn % 2) % half + half * (turn // 2 % 2)]


def layered(*layers: alt.Chart | alt.LayerChart) -> alt.LayerChart:
    """Charts upon each other, the first one beneath."""
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
    style: Any = {"align": "right", "baseline": "bottom", "dx": -2, "dy": -4, **mark}
    words = alt.Chart(alt.NamedData(name=source)).encode(
        x=alt.XValue("width"), y=y, text=alt.Text("text:N")
    )
    halo = words.mark_text(stroke=PAPER.light, strokeWidth=4, strokeJoin="round", **style)
    return layered(halo, words.mark_text(color=colour.light, **style))


def built_once(build: Callable[Look, Specification]) -> Callable[Look, Specification]:
    """Has a chart built once for each of its looks, unchecked: tests check every chart as a whole.

    Args:
        build: Gives the specification of a chart without its data.
    """

    @cache
    def built(*look: Look.args, **named: Look.kwargs) -> Specification:
        with alt.debug_mode(False):  # else Altair checks each part when it is made
            return build(*look, **named)

    return cast("Callable[Look, Specification]", built)


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
        parts = cast("Specification", value)
        return {key: repaint(part, twins) for key, part in parts.items()}
    if isinstance(value, list):
        return [repaint(part, twins) for part in cast("list[Any]", value)]
    return twins.get(value, value) if isinstance(value, str) else value


def rows_as_columns(rows: Sequence[Mapping[str, object]]) -> dict[str, list[object]]:
    """Rows as one list per column: what a page stores, because it names each column once."""
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

CONFIG: Specification = {
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
