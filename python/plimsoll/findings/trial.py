"""What is known of one trial: its derived tables and its verdicts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from plimsoll import texts
from plimsoll.aggregate import timeouts
from plimsoll.aggregate.steady_state import FLAT, SHORT
from plimsoll.aggregate.unfinished import NOTHING
from plimsoll.comparison.compared_table import table_of
from plimsoll.comparison.comparisons import RANKED
from plimsoll.plan import ComparedTable
from plimsoll.verdicts.catalogue import role
from plimsoll.verdicts.levels import of_trial
from plimsoll.verdicts.verdict import TRIAL_LEVELS, worst_trial

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pyarrow as pa

    from plimsoll.aggregate.counted import Failure, StatusTotal
    from plimsoll.aggregate.distribution import Quantile
    from plimsoll.aggregate.kinds import KindRow
    from plimsoll.aggregate.rate_levels import RateLevelRow
    from plimsoll.aggregate.stalls import StallsRow
    from plimsoll.aggregate.steady_state import SteadyState
    from plimsoll.aggregate.summary import Summary
    from plimsoll.aggregate.timeouts import Timeouts
    from plimsoll.aggregate.unfinished import Unfinished
    from plimsoll.recording import Recording
    from plimsoll.verdicts.verdict import Level, Verdict

State = Literal["not_checked", "sound", "doubtful", "void", "failed"]
"""The level of a trial, or `failed` when an error ended it."""

STATES: tuple[State, ...] = (*TRIAL_LEVELS, "failed")
"""From the best to the worst."""

RANKED_BY = RANKED[0]
"""The column of `tables.SUMMARIES` that rankings are made of."""


@dataclass(frozen=True)
class TrialData:
    """What the charts of one trial are drawn from.

    Attributes:
        recording: The recording.
        summary: Its summary; None when there is none.
        seconds: Its rows of `tables.SECONDS`, in order.
        memory: Memory by second, as `aggregate.memory.by_second` gives it.
        connections: Connections by second, as `aggregate.connections.by_second` gives it.
        failures: Failures by second and kind, as `aggregate.failures.by_second` gives it.
        latencies: Its rows of `tables.LATENCY_BUCKETS`.
        machine_speed: Its rows of `tables.MACHINE_SPEED`.
    """

    recording: Recording
    summary: Summary | None
    seconds: pa.Table
    memory: pa.Table
    connections: pa.Table
    failures: pa.Table
    latencies: pa.Table
    machine_speed: pa.Table

    @property
    def latency_kind(self) -> str:
        """The latency that its responses have: `response_time`, or `service_time`."""
        return "response_time" if self.summary is None else self.summary.latency_kind


@dataclass(frozen=True, repr=False)
class TrialFindings:
    """What is known of one trial.

    Attributes:
        data: What its charts are drawn from, with its recording and its summary.
        verdicts: What the checks say of it.
        failures: How its requests failed, the most frequent kind first.
        kinds: Rows of `aggregate.kinds`, where the load mixes several requests.
        rate_levels: Rows of `tables.RATE_LEVELS`, where its load had several rates.
        stalls: Row of `aggregate.stalls`; None where the load was open.
        steady_state: How throughput went in the last hold; None where nothing was held.
        statuses: Complete responses by status code, the most frequent first.
        quantiles: The distribution of its response times, or service times.
        unfinished: What its requests in flight at the end of the load hide of its latencies.
    """

    data: TrialData
    verdicts: tuple[Verdict, ...] = ()
    failures: tuple[Failure, ...] = ()
    kinds: tuple[KindRow, ...] = ()
    rate_levels: tuple[RateLevelRow, ...] = ()
    stalls: StallsRow | None = None
    steady_state: SteadyState | None = None
    statuses: tuple[StatusTotal, ...] = ()
    quantiles: tuple[Quantile, ...] = ()
    unfinished: Unfinished = NOTHING

    def __repr__(self) -> str:
        """Its trial, and how far to believe it."""
        return texts.object_line(self, f"{self.recording.trial}: {self.state}")

    @property
    def recording(self) -> Recording:
        """Its recording."""
        return self.data.recording

    @property
    def summary(self) -> Summary | None:
        """Its summary; None when there is none."""
        return self.data.summary

    @property
    def timeouts(self) -> Timeouts:
        """Its requests of the measurement window that timed out; none where it has no summary."""
        if self.summary is None:
            return timeouts.NO_TIMEOUTS
        timeout_s = self.recording.load.timeout_s
        return timeouts.of_outcomes(self.failures, self.summary.completed, timeout_s)

    @property
    def steadiness(self) -> str:
        """The name of its steady state, as its repetitions are compared by it; empty for none.

        It is flat where `steady` does not doubt its throughput: a change may be small, or the
        machine's. A doubt about scatter or latency makes no change of throughput greater.
        """
        name = "" if self.steady_state is None else self.steady_state.name
        is_doubted = any(
            sentence.is_doubting and sentence.limit in role(one.check).on_levels
            for one in self.verdicts
            for sentence in one.sentences
        )
        return name if is_doubted or name in ("", SHORT) else FLAT

    @property
    def has_ended_well(self) -> bool:
        """Whether no error ended it."""
        return self.recording.ending.kind == "completed"

    @property
    def level(self) -> Level:
        """How far to believe its numbers; void also when an error ended it, or none came of it.

        A recording of readings alone has no summary; what is known of it is not checked.
        """
        if not self.has_ended_well or (self.summary is None and self.recording.requests):
            return "void"
        return of_trial(self.verdicts)

    @property
    def state(self) -> State:
        """Its level, or `failed` when an error ended it; a signal is none."""
        is_failed = not (self.has_ended_well or self.recording.is_interrupted)
        return "failed" if is_failed else self.level

    @property
    def value(self) -> float | None:
        """Its goodput in successful responses per second; None when it is not known."""
        if self.summary is None or not (self.has_ended_well or self.summary.completed):
            return None
        return self.summary.value(RANKED_BY)


def by_table(
    trials: Iterable[TrialFindings],
) -> dict[ComparedTable, dict[str, list[TrialFindings]]]:
    """Trials by endpoint, load and driver, in their order; then by framework and variant."""
    found: dict[ComparedTable, dict[str, list[TrialFindings]]] = {}
    for one in trials:
        table = table_of(one.recording)
        found.setdefault(table, {}).setdefault(one.recording.title, []).append(one)
    return dict(sorted(found.items()))


def state_of(trials: Sequence[TrialFindings]) -> State:
    """How far to believe a number over some trials: by those that count, or all if none does."""
    if all(trial.state == "failed" for trial in trials):
        return "failed"
    return worst_trial(trial.level for trial in counting(trials))


def counting(trials: Sequence[TrialFindings]) -> Sequence[TrialFindings]:
    """The trials of a number that are not void, which it is made of; all if none is left."""
    return [trial for trial in trials if trial.level != "void"] or trials


def state_of_ratio(own: Sequence[TrialFindings], against: Sequence[TrialFindings]) -> State:
    """How far to believe a ratio of numbers over some trials: no further than either of the two.

    Args:
        own: Trials of what is divided.
        against: Those of what it is divided by.
    """
    return STATES[max(STATES.index(state_of(own)), STATES.index(state_of(against)))]


def load_name(recording: Recording) -> str:
    """Name of the load of a trial."""
    return recording.load.name
