"""One line of a history: the estimates of one campaign, as JSON.

`docs/schemas/history-1.json` is the schema of these types.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import pydantic

from plimsoll.findings.entries import EntryName, reference
from plimsoll.statistics.intervals import Estimate, Interval

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plimsoll.recording import Recording

FORMAT = 1
"""Version of a line; it changes when a field is removed or changes its meaning."""

Level = Literal["not_checked", "sound", "doubtful", "void"]


LineEnd = Literal["found", "below", "above", "open", "load_generator", "untried"]


class _Kept(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(
        frozen=True, allow_inf_nan=False, use_attribute_docstrings=True
    )


class KeptEstimate(_Kept):
    """One quantity of an entry."""

    value: float
    """Median over the repetitions that count, in the unit of its column in `summaries`;
    of a load line its rate per second, of a ladder the CPU seconds that each request adds."""
    low: float | None
    """Lower end of the 95 % interval; null below two repetitions or two rates."""
    high: float | None
    """Upper end."""

    @classmethod
    def of(cls, estimate: Estimate) -> KeptEstimate:
        """The estimate as it is kept."""
        ends = estimate.interval
        return cls(value=estimate.value, low=ends and ends.low, high=ends and ends.high)

    @property
    def estimate(self) -> Estimate:
        """The estimate."""
        if self.low is None or self.high is None:
            return Estimate(self.value)
        return Estimate(self.value, Interval(self.low, self.high))


class KeptEntry(_Kept):
    """One entry of a campaign."""

    framework: str
    """As in campaign files: `go`, `go:one-core`."""
    endpoint: str
    """Name of the endpoint."""
    load: str
    """Name of the load; of a load line its limit, as `p99 ≤ 20 ms`; of a ladder `ladder`."""
    driver: str
    """Name of the load generator."""
    level: Level
    """The worst level of the repetitions that count; void where none does."""
    repetitions: int
    """How many count; tries of a load line, steps of a ladder."""
    excluded: int
    """How many do not count."""
    application_id: str
    """Digest of what was measured: sources, commands, versions; empty if unknown."""
    load_id: str
    """Digest of endpoint, load, cores and turns; empty if unknown."""
    versions: dict[str, str]
    """Versions that were recorded, by name."""
    estimates: dict[str, KeptEstimate]
    """Column of `summaries`, or `line_rate_per_s`, to its estimate; without those that nobody
    measured."""
    line: LineEnd | None = None
    """How the search of a load line ended: no rate keeps the limit (`below`), every rate does
    (`above`), the budget was too short to tell (`open`), or the load generator or its connections
    were the limit. `untried` is one that the closed load before it gave no rate for. Null in other
    entries, and in lines of before."""

    @classmethod
    def of(
        cls,
        recording: Recording,
        load: str,
        load_id: str,
        *,
        level: Level,
        counting: int,
        excluded: int,
        numbers: Mapping[str, Estimate | None],
        line: LineEnd | None = None,
    ) -> KeptEntry:
        """The entry of which a recording is a trial.

        Args:
            recording: The recording of one of its trials.
            load: Name of its load.
            load_id: Digest of endpoint, load, cores and turns.
            level: How far to believe it.
            counting: How many trials count.
            excluded: How many do not.
            numbers: Quantities and their estimates; None for those that nobody measured.
            line: How the search of a load line ended; None for other entries.
        """
        return cls(
            framework=reference(recording.framework, recording.variant),
            endpoint=recording.endpoint,
            load=load,
            driver=recording.driver_name,
            level=level,
            repetitions=counting,
            excluded=excluded,
            application_id=recording.provenance.application_id,
            load_id=load_id,
            versions=dict(recording.versions),
            estimates={
                name: KeptEstimate.of(one) for name, one in numbers.items() if one is not None
            },
            line=line,
        )

    @property
    def name(self) -> EntryName:
        """Its name."""
        return EntryName(self.framework, self.endpoint, self.load, self.driver)


class KeptMachine(_Kept):
    """The machine of a campaign."""

    fingerprint: str
    """Digest of the facts."""
    facts: dict[str, bool | int | float | str | None]
    """What makes the fingerprint."""


class KeptCampaign(_Kept):
    """One campaign."""

    format: Literal[1]
    """Version of the line."""
    campaign: str
    """Its name."""
    results_id: str
    """Digest of its trials and their beginnings; a campaign that was enlarged has another."""
    trials: tuple[str, ...] = ()
    """Digest of each trial and its beginning: lines of one campaign that share one are of the same
    results, of which the last line counts. Empty in lines of before, where `measured_at` tells."""
    measured_at: str
    """When its first trial began, in UTC: `2026-01-02T03:04:05Z`."""
    commit: str | None
    """Revision of what was measured, as given; null if none was."""
    plimsoll: str
    """Version of Plimsoll that made the line."""
    machine: KeptMachine
    """The machine."""
    entries: tuple[KeptEntry, ...]
    """Its entries."""
