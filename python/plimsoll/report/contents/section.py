"""Section: a part of a report that is tables and remarks; every format lays it out the same way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType

    from plimsoll.canvas import Specification
    from plimsoll.findings.trial import State
    from plimsoll.report.contents import Remark
    from plimsoll.report.contents.gist import JudgedTile


@dataclass(frozen=True)
class TableRow:
    """One line of a table.

    Attributes:
        cells: Its texts.
        state: How far to believe it; None where that does not arise.
        reason: Why, in a few words.
        anchor: Anchor of the trial that its first cell leads to; empty for none.
    """

    cells: tuple[str, ...]
    state: State | None = None
    reason: str = ""
    anchor: str = ""


@dataclass(frozen=True)
class SectionTable:
    """One table.

    Attributes:
        title: Its title.
        headings: Headings of the cells.
        numbers: Places of the cells that are set right.
        lines: Its lines.
        verdict: Heading above the states; empty where there are none.
        brief: Places of the cells that are shown besides the first where there is little room;
            empty for all.
        notes: Sentences below it.
        is_detail: Whether terminals leave it out.
    """

    title: str
    headings: tuple[str, ...]
    numbers: tuple[int, ...]
    lines: tuple[TableRow, ...]
    verdict: str = ""
    brief: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()
    is_detail: bool = False


@dataclass(frozen=True)
class Picture:
    """One chart.

    Attributes:
        anchor: Its anchor, also fit for a file name.
        title: Its title.
        module: The chart's module.
        specification: What it drew.
    """

    anchor: str
    title: str
    module: ModuleType
    specification: Specification


@dataclass(frozen=True)
class Section:
    """One section.

    Attributes:
        anchor: Its anchor.
        title: Its title.
        short: The same in a list of contents.
        caption: What it shows and how it is read.
        tables: Its tables.
        remarks_title: Title of what checks say; empty where they say nothing.
        remarks: What checks say.
        pictures: Its charts, which stand before the tables.
        headlines: What it amounts to, a sentence each without a full stop.
        is_answer: Whether it is the answer of the campaign, which stands before everything else.
    """

    anchor: str
    title: str
    short: str
    caption: str
    tables: tuple[SectionTable, ...]
    remarks_title: str = ""
    remarks: tuple[Remark, ...] = ()
    pictures: tuple[Picture, ...] = ()
    headlines: tuple[str, ...] = ()
    is_answer: bool = False


@dataclass(frozen=True)
class SectionAnswer:
    """What a section answers where there is room for a few lines.

    Attributes:
        place: What the headline is about.
        headline: The answer.
        counts: How many of its numbers are in each state, without that of the yardstick.
        total: How many there are, in words; empty for that of one server.
        doubts: State and reason of each that is not sound; what it is of, where there are several.
        tiles: The numbers.
        more: How many frameworks have no tile.
    """

    place: str
    headline: str
    counts: tuple[tuple[State, int], ...]
    total: str
    doubts: tuple[tuple[State, str], ...]
    tiles: tuple[JudgedTile, ...]
    more: int = 0
