"""One quantity of one framework beside the others of its table, as `tables.COMPARISONS` has it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from plimsoll.plan import ComparedTable
from plimsoll.statistics.intervals import Estimate, Interval

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class EntryComparison:
    """One quantity of one framework at one endpoint and load, by one driver, over repetitions.

    Attributes:
        framework: Framework and variant.
        endpoint: Name of the endpoint.
        load: Name of the load.
        driver: Name of the load generator.
        quantity: Column of `tables.SUMMARIES`.
        value: Median over the repetitions that count, with its interval; None where it is unknown.
        repetitions: Number of repetitions that count.
        excluded: Number of those that do not.
        rank_low: Best rank it may have; None where the quantity does not rank.
        rank_high: Worst rank it may have.
        scatter_ratio: Standard deviation of one repetition on logarithms, pooled over the table;
            None where nothing was repeated.
        best_framework: The best by this quantity; None where there is none.
        to_best: Its value / that of the best; None without a ratio.
        next_framework: The next one after it; None for the last.
        to_next: Its value / that of the next; None without a ratio.
    """

    framework: str
    endpoint: str
    load: str
    driver: str
    quantity: str
    value: Estimate | None
    repetitions: int
    excluded: int
    rank_low: int | None
    rank_high: int | None
    scatter_ratio: float | None
    best_framework: str | None
    to_best: Estimate | None
    next_framework: str | None
    to_next: Estimate | None

    @property
    def table(self) -> ComparedTable:
        """What it is compared in."""
        return ComparedTable(self.endpoint, self.load, self.driver)

    @property
    def median(self) -> float | None:
        """Median over the repetitions that count; None where it is unknown."""
        return None if self.value is None else self.value.value


def of_table(comparisons: pa.Table) -> list[EntryComparison]:
    """The rows of `tables.COMPARISONS`, in order."""
    return [_of_row(row) for row in comparisons.to_pylist()]


def _of_row(row: dict[str, Any]) -> EntryComparison:
    return EntryComparison(
        framework=row["framework"],
        endpoint=row["endpoint"],
        load=row["load"],
        driver=row["driver"],
        quantity=row["quantity"],
        value=_estimate(row["median"], row["low"], row["high"]),
        repetitions=row["repetitions"],
        excluded=row["excluded"],
        rank_low=row["rank_low"],
        rank_high=row["rank_high"],
        scatter_ratio=row["scatter_ratio"],
        best_framework=row["best_framework"],
        to_best=_ratio(row, "best"),
        next_framework=row["next_framework"],
        to_next=_ratio(row, "next"),
    )


def _ratio(row: dict[str, Any], role: str) -> Estimate | None:
    name = f"ratio_to_{role}"
    return _estimate(row[name], row[f"{name}_low"], row[f"{name}_high"])


def _estimate(value: float | None, low: float | None, high: float | None) -> Estimate | None:
    if value is None:
        return None
    return Estimate(value, None if low is None or high is None else Interval(low, high))
