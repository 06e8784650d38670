"""Limits: from which number on a check doubts, and from which on it voids.

This is the one table of them. A campaign may change any, as `[limits.<check>]` with
`<name>_doubtful` or `<name>_void`; a verdict then says so in its source. A limit whose source is
`first proposal` rests on no publication and no calibration yet.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from plimsoll.verdicts.verdict import Level

Changes = Mapping[str, Mapping[str, float]]
"""Check to name to value, as a campaign gives them and a recording keeps them."""

PROPOSAL = "first proposal"
"""Source of a limit that nobody published and no calibration gave."""


@dataclass(frozen=True)
class Limit:
    """One limit of one check.

    Attributes:
        check: Name of the check.
        name: What is limited, with its unit: `failed_ratio`.
        bad: Whether a number `above` or `below` the limit is bad; the limit itself is good.
        doubtful: Where doubt begins; None when nothing is merely doubtful.
        void: Where a number is void; None when nothing is.
        unit: Unit of both.
        meaning: What is measured, in one line.
        source: Where the numbers come from.
        changed: What the campaign changed: the default in words; empty when it changed nothing.
    """

    check: str
    name: str
    bad: Literal["above", "below"]
    doubtful: float | None
    void: float | None
    unit: str
    meaning: str
    source: str
    changed: str = ""

    @property
    def setting_names(self) -> tuple[str, str]:
        """The names under which a campaign changes it."""
        return f"{self.name}_doubtful", f"{self.name}_void"

    def level(self, measured: float | None) -> Level:
        """The level of a number; what could not be measured is doubtful."""
        if measured is None or measured != measured:  # noqa: PLR0124
            return "doubtful"
        if _is_beyond(measured, self.void, self.bad):
            return "void"
        return "doubtful" if _is_beyond(measured, self.doubtful, self.bad) else "sound"

    def decisive(self, level: Level) -> float | None:
        """The value that decided a level; for a sound one the first that it held."""
        first, last = self.doubtful, self.void
        if level == "void":
            return last
        return last if first is None else first


LIMITS = (
    Limit(
        "littles_law",
        "accounted_ratio",
        "below",
        0.95,
        0.85,
        "ratio",
        "requests in flight by the rows / by the driver's clock",
        PROPOSAL,
    ),
    Limit(
        "littles_law",
        "excess_ratio",
        "above",
        None,
        1.02,
        "ratio",
        "requests in flight by the rows / by the driver's clock",
        PROPOSAL,
    ),
    Limit(
        "littles_law",
        "occupied_ratio",
        "below",
        0.95,
        0.85,
        "ratio",
        "closed model: requests in flight by the driver's clock / connections open",
        PROPOSAL,
    ),
    Limit(
        "connections_as_asked",
        "open_ratio",
        "below",
        0.999,
        0.99,
        "ratio",
        "mean connections open in the hold / connections asked for",
        PROPOSAL + "; a thousandth for readings that fall on a connection being opened again",
    ),
    Limit(
        "connections_as_asked",
        "unanswered_ratio",
        "above",
        0.0,
        0.01,
        "ratio",
        "opened connections that had time for an answer and got no byte of one / opened",
        PROPOSAL,
    ),
    Limit(
        "connections_as_asked",
        "starved_ratio",
        "above",
        0.0,
        0.01,
        "ratio",
        "connections open in the hold without one complete answer in it / open in the hold",
        PROPOSAL,
    ),
    Limit(
        "connections_as_asked",
        "fairness",
        "below",
        0.9,
        0.5,
        "Jain's index",
        "how evenly answers fell on connections; 1 is all alike",
        PROPOSAL,
    ),
    Limit(
        "connections_as_asked",
        "fall_ratio",
        "above",
        0.1,
        None,
        "ratio",
        "fall of throughput from one level of connections to the next while fewer of them are used",
        PROPOSAL,
    ),
    Limit(
        "answers_right",
        "contract_problems",
        "above",
        None,
        0.0,
        "problems",
        "what the contract check found wrong before and after the load",
        "a server that does not do the work is not measured",
    ),
    Limit(
        "answers_right",
        "wrong_ratio",
        "above",
        0.0,
        0.01,
        "ratio",
        "complete answers of the hold that were not as expected / complete answers of the hold",
        PROPOSAL,
    ),
    Limit(
        "failures_explained",
        "failed_ratio",
        "above",
        0.001,
        0.05,
        "ratio",
        "requests of the hold without a complete answer / requests that ended in the hold",
        PROPOSAL,
    ),
    Limit(
        "failures_explained",
        "unexplained_ratio",
        "above",
        0.0,
        0.001,
        "ratio",
        "failures without a kind, or without the error number they must have / all requests",
        PROPOSAL,
    ),
    Limit(
        "backlog",
        "turned_away",
        "above",
        0.0,
        None,
        "connections",
        "attempts to connect that full listen queues of the server turned away during the load",
        "an attempt that is turned away is repeated after a second",
    ),
    Limit(
        "backlog",
        "turned_away_ratio",
        "above",
        None,
        0.01,
        "ratio",
        "the same in the hold / connections of the load or attempts of the hold, the greater",
        PROPOSAL,
    ),
    Limit(
        "backlog",
        "queue_ratio",
        "above",
        0.8,
        None,
        "ratio",
        "longest listen queue seen / the most that may wait",
        PROPOSAL,
    ),
    Limit(
        "driver_headroom",
        "driver_busy_ratio",
        "above",
        0.8,
        0.9,
        "ratio",
        "busiest second of the busiest core of the driver",
        "load tools warn of themselves from 80 % (Hyperfoil) and 90 % (Locust) on",
    ),
    Limit(
        "driver_headroom",
        "server_busy_ratio",
        "below",
        0.95,
        None,
        "ratio",
        "cores the server kept busy in the hold / cores it was given; at its limit from here on",
        PROPOSAL,
    ),
    Limit(
        "driver_headroom",
        "machine_busy_ratio",
        "above",
        0.95,
        None,
        "ratio",
        "busiest second of all cores, where server and driver share them",
        PROPOSAL,
    ),
    Limit(
        "driver_headroom",
        "longest_pause_s",
        "above",
        0.02,
        0.1,
        "s",
        "longest stop of a thread of the driver",
        PROPOSAL,
    ),
    Limit(
        "undisturbed",
        "other_cores",
        "above",
        0.05,
        0.25,
        "cores",
        "cores that other programs took from server and driver in the hold, at least",
        PROPOSAL,
    ),
    Limit(
        "undisturbed",
        "stolen_ratio",
        "above",
        0.01,
        0.05,
        "ratio",
        "time that the host of a virtual machine withheld / time of all its cores",
        PROPOSAL,
    ),
    Limit(
        "conservation",
        "rows_lost",
        "above",
        None,
        0.0,
        "rows",
        "rows that the recorder could not keep",
        "every request is a row",
    ),
    Limit(
        "conservation",
        "rows_differ",
        "above",
        None,
        0.0,
        "rows",
        "rows more or less than the driver's own counters say",
        "every request is a row",
    ),
    Limit(
        "conservation",
        "rows_impossible",
        "above",
        None,
        0.0,
        "rows",
        "rows whose instants run backwards, or of unknown outcome",
        "an answer comes after its request",
    ),
    Limit(
        "steady",
        "trend_ratio",
        "above",
        0.1,
        0.5,
        "ratio",
        "change of throughput from the beginning to the end of the hold / its median",
        PROPOSAL,
    ),
    Limit(
        "steady",
        "silent_ratio",
        "above",
        0.0,
        0.02,
        "ratio",
        "whole seconds of the holds without an answer / whole seconds of the holds",
        PROPOSAL,
    ),
    Limit(
        "ran_to_its_end",
        "short_ratio",
        "above",
        0.01,
        0.05,
        "ratio",
        "difference between the length of the holds and what was asked for / what was asked for",
        PROPOSAL,
    ),
)
"""Every limit of every check."""


@dataclass(frozen=True)
class Limits:
    """The limits of one trial.

    Attributes:
        changes: What its campaign changed.
    """

    changes: Changes = field(default_factory=dict[str, dict[str, float]])

    def of(self, check: str, name: str) -> Limit:
        """One limit, as the campaign has it.

        Raises:
            KeyError: There is no such limit.
        """
        found = [limit for limit in LIMITS if (limit.check, limit.name) == (check, name)]
        if not found:
            raise KeyError(f"{check}.{name}")
        return _changed(found[0], self.changes.get(check, {}))

    @property
    def changed(self) -> tuple[Limit, ...]:
        """The limits that the campaign changed, in the order of the table."""
        limits = (self.of(limit.check, limit.name) for limit in LIMITS)
        return tuple(limit for limit in limits if limit.changed)


def problems(changes: Changes) -> tuple[str, ...]:
    """What is wrong with changes of limits, one sentence each.

    Args:
        changes: Check to name to value.
    """
    names = {f"{limit.check}.{name}" for limit in LIMITS for name in limit.setting_names}
    given = [f"{check}.{name}" for check, values in changes.items() for name in values]
    unknown = [_unknown(name, names) for name in given if name not in names]
    crossed = [
        f"limit `{limit.check}.{limit.name}`: `doubtful` ({limit.doubtful:g}) lies beyond"
        f" `void` ({limit.void:g})"
        for limit in Limits(changes).changed
        if limit.doubtful is not None
        and limit.void is not None
        and limit.doubtful != limit.void
        and _is_beyond(limit.doubtful, limit.void, limit.bad)
    ]
    return (*unknown, *crossed)


def _unknown(name: str, names: set[str]) -> str:
    near = difflib.get_close_matches(name, sorted(names), n=1)
    return f"no limit `{name}`" + (f"; did you mean `{near[0]}`?" if near else "")


def _changed(limit: Limit, values: Mapping[str, float]) -> Limit:
    doubtful_name, void_name = limit.setting_names
    if doubtful_name not in values and void_name not in values:
        return limit
    return replace(
        limit,
        doubtful=values.get(doubtful_name, limit.doubtful),
        void=values.get(void_name, limit.void),
        changed=f"by default doubtful {_or_never(limit.doubtful)}, void {_or_never(limit.void)}",
    )


def _or_never(value: float | None) -> str:
    return "never" if value is None else f"{value:g}"


def _is_beyond(measured: float, limit: float | None, bad: str) -> bool:
    if limit is None:
        return False
    return measured > limit if bad == "above" else measured < limit
