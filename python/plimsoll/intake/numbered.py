"""Logs that number their requests: how many numbers have no line.

Only the least number, the greatest and the count of lines are kept, so memory does not depend on
the length of a log. Where logs of several load generators are merged, each with numbers of its own,
lines of one hide what is missing of another; nothing is ever missing by mistake.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import pyarrow as pa

MOST_SERIES = 1_000
"""Series that are counted; requests of further ones are not."""


@dataclass
class Numbered:
    """The numbers of the requests of a log, in one series or several.

    Attributes:
        series: Least number, greatest number and count of lines, by the name of the series.
    """

    series: dict[str, tuple[int, int, int]] = field(default_factory=dict[str, tuple[int, int, int]])

    def add(self, numbers: pa.Array, names: pa.Array) -> None:
        """Takes the numbers of some lines, and the name of the series of each."""
        lines = pa.table([names.cast(pa.string()), numbers], names=["name", "number"])
        found = lines.group_by("name").aggregate(
            [("number", "min"), ("number", "max"), ("number", "count")]
        )
        for row in found.to_pylist():
            name = row["name"] or ""
            known = self.series.get(name)
            if row["number_count"] and (known or len(self.series) < MOST_SERIES):
                least, greatest, lines_before = known or (row["number_min"], row["number_max"], 0)
                self.series[name] = (
                    min(least, row["number_min"]),
                    max(greatest, row["number_max"]),
                    lines_before + row["number_count"],
                )

    @property
    def missing(self) -> int:
        """Numbers between the least and the greatest that have no line."""
        return sum(
            max(greatest - least + 1 - lines, 0) for least, greatest, lines in self.series.values()
        )
