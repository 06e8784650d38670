"""Canvas: colours, rounding and labels."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest

import sample
from plimsoll import canvas, charts, wording
from plimsoll.campaign.load import Load, UnknownLoad
from plimsoll.canvas import Colour
from plimsoll.findings.rankings import RankedEntry
from plimsoll.recording import RecordedStage
from plimsoll.report.formats import converter, pictures

READ = (canvas.INK, canvas.MUTED, canvas.SOUND, canvas.DOUBTFUL, canvas.VOID, canvas.SERVER)


def luminance(colour: str) -> float:
    """Relative luminance; WCAG 2.2."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("behind", [canvas.PAPER, canvas.BAND])
@pytest.mark.parametrize("colour", READ)
def test_text_can_be_read_on_light_and_on_dark_paper(colour: Colour, behind: Colour) -> None:
    assert contrast(colour.light, behind.light) >= 4.5
    assert contrast(colour.dark, behind.dark) >= 4.5


@pytest.mark.parametrize("colour", [*canvas.PERCENTILES, *canvas.KINDS[:2], canvas.DRIVER])
def test_lines_and_bars_can_be_seen(colour: Colour) -> None:
    assert contrast(colour.light, canvas.PAPER.light) >= 3
    assert contrast(colour.dark, canvas.PAPER.dark) >= 3


def test_every_colour_has_one_dark_twin_of_its_own() -> None:
    assert len(canvas.DARK) == len(canvas.COLOURS)


def test_repainting_changes_colours_at_any_depth_and_nothing_else() -> None:
    value = {"a": [canvas.INK.light, 1, None, "ink"], "b": {"c": canvas.PAPER.light}}
    assert canvas.repaint(value) == {
        "a": [canvas.INK.dark, 1, None, "ink"],
        "b": {"c": canvas.PAPER.dark},
    }


@pytest.mark.parametrize(
    ("value", "rounded"),
    [(None, None), (0.0, 0), (123456.0, 123500), (0.00123456, 0.001235), (float("nan"), None)],
)
def test_numbers_are_kept_to_four_significant_digits(
    value: float | None, rounded: float | None
) -> None:
    assert wording.significant(value) == rounded


@pytest.mark.parametrize(
    ("rate", "text"), [(12345.4, "12,345/s"), (0.254, "0.254/s"), (0.0, "0/s")]
)
def test_rates_are_written_as_people_read_them(rate: float, text: str) -> None:
    assert wording.per_second(rate) == text


def test_rows_become_columns_with_nothing_where_a_row_has_nothing() -> None:
    assert canvas.rows_as_columns([{"a": 1}, {"a": 2, "b": 3}]) == {"a": [1, 2], "b": [None, 3]}


@pytest.mark.parametrize(
    ("width_px", "labels"),
    [
        (60, ["hold"]),
        (200, ["hold at 10"]),
        (400, ["warm-up", "hold at 10"]),
        (800, ["warm-up at 10", "hold at 10"]),
    ],
)
def test_a_stage_has_the_longest_label_that_it_has_room_for(
    width_px: int, labels: list[str]
) -> None:
    second = 1_000_000_000
    stages = (
        RecordedStage("warm_up", 0, second, 10.0, 10.0, 1),
        RecordedStage("hold", second, 6 * second, 10.0, 10.0, 1),
    )
    rows = canvas.stage_rows(sample.recording(stages=stages), 6)
    chart = canvas.styled(canvas.stage_bands().properties(width=width_px, height=50))
    (drawn,) = converter.convert([json.dumps({**chart, "datasets": {"stages": rows}})])
    assert [text for text in re.findall(r"<text[^>]*>([^<]+)<", drawn) if text[0] in "wh"] == labels


@pytest.mark.parametrize(
    ("start", "end", "label"),
    [(0.5, 0.5, "hold at 0.5"), (0.5, 1250.0, "hold 0.5 → 1,250"), (64, 64, "hold at 64")],
)
def test_a_small_rate_of_a_stage_is_not_rounded_to_none(
    start: float, end: float, label: str
) -> None:
    stages = (RecordedStage("hold", 0, 1_000_000_000, start, end, 1),)
    assert canvas.stage_rows(sample.recording(stages=stages), 1)[0]["label"] == label


def test_what_lies_behind_the_last_stage_is_a_row_without_a_label() -> None:
    stages = (RecordedStage("hold", 0, 1_500_000_000, 10.0, 10.0, 1),)
    after = canvas.stage_rows(sample.recording(stages=stages), 3)[-1]
    assert (after["start_s"], after["end_s"], after["kind"]) == (1.5, 3, "after")
    assert (after["label"], after["short"]) == ("", "")


@pytest.mark.parametrize(
    ("load", "asked", "text"),
    [
        (sample.load(), [16.0, 16.0, None], "16 connections requested"),
        (sample.load(model="open"), [100.0, 2000.0], "100 to 2,000 arrivals/s requested"),
        (sample.load(model="open"), [0.5, 0.5], "0.5 arrivals/s requested"),
        (sample.load(), [1.4, 16.0], "1 to 16 connections requested"),
        (UnknownLoad("imported"), [1.0, 10.0], "1 to 10 users active"),
    ],
)
def test_the_range_of_the_levels_is_said_in_words(
    load: Load | UnknownLoad, asked: list[float | None], text: str
) -> None:
    recording = sample.recording(load=load)
    assert [row["text"] for row in canvas.level_rows(recording, asked)] == [text]


def test_without_any_level_nothing_is_said_of_it() -> None:
    assert canvas.level_rows(sample.recording(), [None, 0.0]) == []


@pytest.mark.parametrize(("low", "high", "text"), [(1, 1, "1"), (2, 4, "2–4"), (None, None, "–")])
def test_a_tie_is_a_range_of_ranks(low: int | None, high: int | None, text: str) -> None:
    assert RankedEntry("x", low, high, 1.0, None, None, "sound", ()).rank == text


def test_an_entry_has_one_colour_in_every_chart_of_a_report_whatever_its_rank() -> None:
    entries = ("axum", "go", "node", "php")
    first = canvas.entry_colours(("go", "axum", "php"), entries)
    second = canvas.entry_colours(("php", "go"), entries)
    assert list(first) == ["go", "axum", "php"]
    assert {name: first[name] for name in second} == second
    assert len(set(first.values())) == len(first)


def test_entries_beyond_the_colours_there_are_differ_by_their_dashes() -> None:
    entries = tuple(f"entry {number}" for number in range(len(canvas.KINDS) + 1))
    names = (entries[-1], entries[0])
    colours = canvas.entry_colours(names, entries)
    assert colours[names[0]] == colours[names[1]]
    channel: Any = canvas.entry_dashes(names, entries).to_dict()
    dashes = channel["scale"]["range"]
    assert dashes[0] != dashes[1]


def test_96_entries_differ_by_colour_and_dash_and_by_colour_and_shape() -> None:
    names = tuple(f"entry {number}" for number in range(96))
    colours = canvas.entry_colours(names).values()
    shape: Any = canvas.entry_shape(names).to_dict()
    dashes = map(tuple, canvas.dashes_of(names).values())
    assert len(set(zip(colours, dashes, strict=True))) == len(names)
    assert len(set(zip(colours, shape["scale"]["range"], strict=True))) == len(names)


def test_entries_that_are_seen_together_have_colours_of_their_own() -> None:
    names = [f"entry {number}" for number in range(3 * len(canvas.KINDS))]
    few = len(canvas.KINDS)
    together = [(names[0], names[few], names[2 * few]), (names[few], names[1], names[2 * few])]
    entries = canvas.entries_apart(names, together)
    assert sorted(filter(None, entries)) == sorted(names)
    for group in together:
        assert len(set(canvas.entry_colours(group, entries).values())) == len(group)
    looks = [
        (colour, tuple(canvas.dashes_of(names, entries)[name]))
        for name, colour in canvas.entry_colours(names, entries).items()
    ]
    assert len(set(looks[: 2 * few])) == 2 * few
    assert canvas.entries_apart(names[:few], [names[:few]]) == tuple(names[:few])


def test_names_that_are_too_long_keep_both_of_their_ends() -> None:
    names = ["go", "django-apache-mod-wsgi.one-core", "django-apache-mod-wsgi.two-cores"]
    cut = canvas.shortened(names)
    assert cut == {
        "django-apache-mod-wsgi.one-core": "django-apa…gi.one-core",
        "django-apache-mod-wsgi.two-cores": "django-apa…i.two-cores",
    }
    assert all(len(one) == canvas.MOST_LETTERS for one in cut.values())
    assert canvas.shortened(["go", "x" * canvas.MOST_LETTERS]) == {}


@pytest.mark.parametrize("differ_at", [*range(0, 16, 3), *range(23, 40, 3)])
def test_long_names_stay_apart_wherever_they_differ(differ_at: int) -> None:
    names = [f"{'a' * differ_at}{letter}{'z' * (39 - differ_at)}" for letter in "mn"]
    assert len(set(canvas.shortened(names).values())) == len(names)


def test_the_axis_of_a_ranking_shows_names_without_their_middle() -> None:
    (ranking, *_) = sample.findings().rankings
    first, *others = ranking.entries
    long = replace(first, framework="a-very-long-name-of-a-server.variant-one")
    drawn = charts.comparison.draw(replace(ranking, entries=(long, *others)))
    assert "t-one" in (picture := pictures.svg(drawn))
    assert "a-very-long-name-of" not in re.sub(
        r"<title>.*?</title>|aria-label=\"[^\"]*\"", "", picture
    )
