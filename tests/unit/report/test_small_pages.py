"""What keeps a page and a document small: data that is kept once, and shapes that are joined."""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING

import pytest

import sample
from plimsoll import charts
from plimsoll.report.formats import html, pictures

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plimsoll.canvas import Specification


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


def chart(value: int) -> Specification:
    """A bar behind a clip."""
    return {
        "data": {"values": [{"height": value}]},
        "mark": {"type": "bar", "clip": True},
        "encoding": {"y": {"field": "height", "type": "quantitative"}},
        "config": {},
    }


def test_many_charts_are_drawn_as_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = [chart(value % 9) for value in range(12)]
    one_by_one = [pictures.svg(one) for one in wanted]
    monkeypatch.setattr(pictures, "MANY", 3)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2})
    assert pictures.svgs(wanted) == one_by_one
    assert len(set(one_by_one)) == 9
    clips = [set(re.findall(r'clipPath id="([^"]*)"', picture)) for picture in one_by_one[:9]]
    assert all(clips) and len(set.union(*clips)) == sum(map(len, clips))


@pytest.mark.parametrize("program", ["/nonexistent", "/bin/false"])
def test_charts_are_drawn_here_where_no_other_process_draws(
    program: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pictures, "MANY", 3)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    monkeypatch.setattr(sys, "executable", program)
    assert len(pictures.svgs([chart(value) for value in range(5)])) == 5


def test_a_batch_is_drawn_before_the_next_chart_is_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pictures, "BATCH", 2)
    asked: list[int] = []

    def coming() -> Iterator[tuple[str, Specification]]:
        for value in range(5):
            asked.append(value)
            yield f"{value}.svg", chart(value)

    drawn = pictures.named(coming())
    assert next(drawn)[0] == "0.svg" and asked == [0, 1]
    assert [name for name, _ in drawn] == ["1.svg", "2.svg", "3.svg", "4.svg"]
