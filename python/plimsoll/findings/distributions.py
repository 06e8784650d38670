"""Distributions: the latency of the frameworks of one ranking, quantile by quantile."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

    from plimsoll.aggregate.distribution import Quantile
    from plimsoll.findings.rankings import Ranking
    from plimsoll.findings.trial import TrialFindings


@dataclass(frozen=True)
class Distribution:
    """The distribution of the latency in one repetition.

    Attributes:
        framework: Framework and variant.
        repetition: Number of the repetition, from 1.
        quantiles: Its quantiles, the least first.
        buckets: Responses of its measurement window by bucket of `aggregate.latency_buckets`.
    """

    framework: str
    repetition: int
    quantiles: tuple[Quantile, ...]
    buckets: Mapping[int, int]


@dataclass(frozen=True)
class Distributions:
    """The distributions of one ranking.

    Attributes:
        endpoint: Name of the endpoint.
        time: `response_time`, or `service_time` where the intended starts are unknown.
        entries: The repetitions in the order of the ranking.
    """

    endpoint: str
    time: str
    entries: tuple[Distribution, ...]

    @property
    def frameworks(self) -> tuple[str, ...]:
        """Each framework once, in the order of the ranking."""
        return tuple(dict.fromkeys(entry.framework for entry in self.entries))


def of_ranking(ranking: Ranking, trials: Mapping[str, TrialFindings]) -> Distributions | None:
    """The distributions of one ranking; None where no quantile is known.

    Of a framework the repetitions that count are taken, all of them where none does.

    Args:
        ranking: The ranking.
        trials: Each trial by its id.
    """
    entries: list[Distribution] = []
    for entry in ranking.entries:
        counting = [one.trial for one in entry.repetitions if one.level != "void"]
        for name in counting or [one.trial for one in entry.repetitions]:
            trial = trials[name]
            if trial.quantiles:
                number, buckets = trial.recording.repetition, _buckets(trial.data.latencies)
                entries.append(Distribution(entry.framework, number, trial.quantiles, buckets))
    if not entries:
        return None
    return Distributions(ranking.endpoint, entries[0].quantiles[0].time, tuple(entries))


def _buckets(latencies: pa.Table) -> Mapping[int, int]:
    found = Counter[int]()
    for row in latencies.select(["bucket", "held"]).to_pylist():
        found[row["bucket"]] += row["held"]
    return +found
