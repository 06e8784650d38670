"""A history for a terminal: each series with its last campaigns, change points and breaks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import texts, wording
from plimsoll.charts import history as chart

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from plimsoll.history.kept import KeptEntry
    from plimsoll.history.series import ChangePoint, Point, Series
    from plimsoll.statistics.intervals import Estimate

HEADINGS = ("measured", "commit", "value", "95 %", "")
"""Headings of the columns of `rows`."""

LONGEST_COMMIT = 12
"""Signs of a commit that are shown."""

WITHOUT_A_LINE = {
    "below": "no rate keeps the limit",
    "above": "every rate that was tried keeps the limit",
    "open": "the budget was too short to tell",
    "load_generator": "the load generator was the limit",
    "untried": "no rate was tried, as the closed load before it failed",
}
"""Ends of a search to why there is no load line."""


def text(found: Sequence[Series], last: int) -> str:
    """Every series, with an empty line between two.

    Args:
        found: The series.
        last: Campaigns of each that are listed; those of change points and breaks always are.
    """
    return "\n\n".join("\n".join(_lines(one, last)) for one in found)


def title(found: Series) -> str:
    """Entry and quantity: `go/json.steady: goodput, 12 campaigns`."""
    count = wording.several(len(found.points), "campaign")
    return f"{texts.line(str(found.entry))}: {chart.heading(found.quantity)}, {count}"


def summary(found: Series) -> str:
    """Its change points and breaks, in one sentence without a full stop."""
    if not found.changes:
        said = "no change point"
    else:
        said = "; ".join(change(found, one) for one in found.changes)
    machines = sum(one.what == "machine" for one in found.breaks)
    loads = len(found.breaks) - machines
    breaks = [
        f"{wording.several(count, 'break')}: another {what}"
        for count, what in ((machines, "machine"), (loads, "load"))
        if count
    ]
    gone = [missing(found.missing)] if found.missing else []
    return "; ".join([said, *breaks, *gone])


def missing(last: Point) -> str:
    """That the last campaign of a series has no number, and why, without a full stop."""
    commit = last.campaign.commit
    at = f" (commit {_commit(commit)})" if commit else ""
    why = reason(last.entry)
    said = f"no number in the last campaign, {_when(last.campaign.measured_at)}{at}"
    return f"{said}: {why}" if why else said


def reason(entry: KeptEntry) -> str:
    """Why an entry has no number; empty where that is not known."""
    if entry.line in WITHOUT_A_LINE:
        return WITHOUT_A_LINE[entry.line]
    if entry.level != "void":
        return ""
    return "every repetition is void" if entry.line is None else "the tries below it are void"


def change(found: Series, one: ChangePoint) -> str:
    """A change point in a few words: `−5.1 % since 2026-01-02 03:04 (commit abc), worse`."""
    point = found.points[one.index]
    by = f"{wording.signed_percent(one.after / one.before - 1)} " if one.before else ""
    at = f" (commit {_commit(point.campaign.commit)})" if point.campaign.commit else ""
    return f"{by}since {_when(point.campaign.measured_at)}{at}, {_direction(one)}"


def rows(found: Series) -> list[tuple[str, ...]]:
    """One row for each campaign, by `HEADINGS`."""
    return [
        (
            _when(point.campaign.measured_at),
            _commit(point.campaign.commit),
            value(found.quantity, point.estimate),
            _interval(found.quantity, point.estimate),
            _remark(found, index),
        )
        for index, point in enumerate(found.points)
    ]


def value(quantity: str, estimate: Estimate | None) -> str:
    """The number of a quantity in its natural unit."""
    return wording.ABSENT if estimate is None else _in_unit(quantity, estimate.value)


def _in_unit(quantity: str, number: float) -> str:
    if quantity.endswith("_ns"):
        return wording.duration(number)
    if quantity.endswith("_bytes"):
        return wording.size(number)
    if quantity.endswith("_s_per_request"):
        return wording.duration(1e9 * number)
    return wording.per_second(number) if quantity.endswith("_per_s") else wording.number(number)


def _interval(quantity: str, estimate: Estimate | None) -> str:
    ends = estimate and estimate.interval
    if ends is None:
        return wording.ABSENT
    return f"{_in_unit(quantity, ends.low)} – {_in_unit(quantity, ends.high)}"


def _lines(found: Series, last: int) -> Iterator[str]:
    table = rows(found)
    marked = {one.index for one in (*found.changes, *found.breaks)}
    kept = [row for at, row in enumerate(table) if at in marked or at >= len(table) - last]
    widths = [max(len(row[place]) for row in (HEADINGS, *kept)) for place in range(len(HEADINGS))]
    yield title(found)
    yield f"  {summary(found)}"
    for row in (HEADINGS, *kept):
        cells = (
            f"{cell:>{width}}" if place in (2, 3) else f"{cell:<{width}}"
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield f"  {'  '.join(cells)}".rstrip()


def _remark(found: Series, index: int) -> str:
    """What is said of one campaign: a break, a change point, a level that doubts it."""
    point = found.points[index]
    said = [f"another {one.what}" for one in found.breaks if one.index == index]
    said += [
        f"{wording.signed_percent(one.after / one.before - 1) if one.before else 'changed'}, "
        f"{_direction(one)}"
        for one in found.changes
        if one.index == index
    ]
    said += [point.entry.level] if point.entry.level in ("doubtful", "void") else []
    said += [WITHOUT_A_LINE[line]] if (line := point.entry.line) in WITHOUT_A_LINE else []
    return "; ".join(said)


def _direction(one: ChangePoint) -> str:
    return "worse" if one.is_worse else "better"


def _when(measured_at: str) -> str:
    """Minutes of an instant: `2026-01-02 03:04`."""
    return texts.line(measured_at)[:16].replace("T", " ")


def _commit(commit: str | None) -> str:
    return texts.line(commit or "")[:LONGEST_COMMIT]
