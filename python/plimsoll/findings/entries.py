"""Entries of a campaign by their names, and the numbers that are kept and judged of them.

An entry is one framework at one endpoint and load, by one driver. Its number is the median of the
repetitions that count, as in the ranking.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.statistics import intervals
from plimsoll.statistics.intervals import Estimate

if TYPE_CHECKING:
    from collections.abc import Iterable

    from plimsoll.aggregate.summary import Summary
    from plimsoll.findings.trial import TrialFindings
    from plimsoll.recording import Recording

OWN_DRIVER = "plimsoll"


@dataclass(frozen=True, order=True)
class EntryName:
    """One framework at one endpoint and load, by one driver; written `go/json.steady`.

    Attributes:
        framework: As in campaign files: `go` or `go:one-core`.
        endpoint: Name of the endpoint.
        load: Name of the load.
        driver: Name of the load generator.
    """

    framework: str
    endpoint: str
    load: str
    driver: str = OWN_DRIVER

    @classmethod
    def of(cls, recording: Recording) -> EntryName:
        """The entry that a trial is a repetition of."""
        framework = reference(recording.framework, recording.variant)
        return cls(framework, recording.endpoint, recording.load.name, recording.driver_name)

    def __str__(self) -> str:
        """As people read and type it; with the driver where it is not Plimsoll's own."""
        by = "" if self.driver == OWN_DRIVER else f" by {self.driver}"
        return f"{self.framework}/{self.endpoint}.{self.load}{by}"


def by_entry(
    trials: Iterable[TrialFindings], planned: Iterable[EntryName] = ()
) -> dict[EntryName, list[TrialFindings]]:
    """Trials by their entry, in the order of the names.

    Args:
        trials: The trials.
        planned: Entries that are listed without a trial as well.
    """
    found: dict[EntryName, list[TrialFindings]] = {entry: [] for entry in planned}
    for trial in trials:
        found.setdefault(EntryName.of(trial.recording), []).append(trial)
    return dict(sorted(found.items()))


def counted(trials: Iterable[TrialFindings]) -> list[TrialFindings]:
    """The repetitions that count."""
    return [one for one in trials if one.level != "void" and one.summary is not None]


def counting(trials: Iterable[TrialFindings]) -> list[Summary]:
    """Summaries of the repetitions that count."""
    return [one.summary for one in counted(trials) if one.summary is not None]


def estimate(trials: Iterable[TrialFindings], column: str) -> Estimate | None:
    """The number of an entry with its interval; None where nobody knows it.

    Args:
        trials: Its repetitions.
        column: Column of `tables.SUMMARIES`.
    """
    known = [value for one in counting(trials) if (value := one.value(column)) is not None]
    return intervals.estimate(known) if known else None


def reference(framework: str, variant: str) -> str:
    """Name of a framework in campaign files: `go` or `go:one-core`."""
    return f"{framework}:{variant}" if variant else framework
