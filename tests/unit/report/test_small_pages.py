"""What keeps a page and a document small: data that is kept once, and shapes that are joined."""

from __future__ import annotations

import re

import sample
from plimsoll import charts
from plimsoll.report.formats import html, pictures


def test_data_that_charts_of_a_group_share_is_kept_once() -> None:
    drawn, data = html.Charts(), sample.trial_data()
    for module in (charts.throughput, charts.memory):
        drawn.add("a trial", module, module.draw(data))
    other = charts.throughput
    drawn.add("another", other, other.draw(data))
    first, second = (drawn.groups["a trial"][one]["data"] for one in ("throughput", "memory"))  # pyright: ignore[reportIndexIssue, reportUnknownVariableType]
    assert second["stages"] == "throughput" == second["seconds"]["second"]
    assert isinstance(first["stages"], dict) and isinstance(first["seconds"]["second"], list)
    assert drawn.groups["another"]["throughput"] == drawn.groups["a trial"]["throughput"]


def cells(count: int) -> str:
    """A heat map of so many cells, in two colours that nobody tells apart and one other."""
    colours = ("rgb(10, 20, 30)", "rgb(11, 20, 30)", "rgb(200, 20, 30)")
    paths = "".join(
        f'<path aria-hidden="true" d="M{number}.123456,0h1v1h-1Z" fill="{colours[number % 3]}"/>'
        for number in range(count)
    )
    return (
        f'<svg><g class="mark-rect role-mark" aria-hidden="true">{paths}</g><path d="M0,0"/></svg>'
    )


def test_cells_of_one_colour_become_one_shape_and_none_is_lost() -> None:
    joined = pictures.joined(cells(300))
    assert joined.count("<path ") == 3
    places = re.findall(r"M(\d+)\.12,0h1v1h-1Z", joined)
    assert sorted(map(int, places)) == list(range(300))


def test_few_shapes_stay_as_they_are() -> None:
    assert pictures.joined(cells(12)) == cells(12)
