"""Gist: how fast one target was, as a few numbers, for a first screen, a first page and a card."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.report import trial_numbers

if TYPE_CHECKING:
    from plimsoll.aggregate.summary import Summary
    from plimsoll.findings.trial import State, TrialFindings

Tile = tuple[str, str, str]
"""Name, number, and what belongs to it; may be empty."""


@dataclass(frozen=True)
class JudgedTile:
    """A number of one of several frameworks, and how far to believe it.

    Attributes:
        name: Its name.
        number: The number.
        about: What belongs to it; may be empty.
        state: How far to believe it; None where that is said elsewhere.
        is_yardstick: Whether it is Plimsoll's own server beside others.
    """

    name: str
    number: str
    about: str
    state: State | None = None
    is_yardstick: bool = False


_TIMES = {"p50": "p50", "p99": "p99", "p999": "p99.9", "max": "max"}
"""Statistics of a time, and their names."""

_OPTIONAL = "p999"
"""The one that is left out where too few responses came for it."""


def of_trial(trial: TrialFindings) -> tuple[Tile, ...]:
    """Rate, times, failures, connections, duration and processor of one trial.

    Args:
        trial: The trial; one without a summary has none.
    """
    summary = trial.summary
    if summary is None:
        return ()
    return (
        _rate(summary),
        *_times(trial, summary),
        _failed(summary),
        *_connections(summary),
        _duration(summary),
    )


def _rate(summary: Summary) -> Tile:
    right, all_of_them = summary.goodput_per_s, summary.throughput_per_s
    if right is None or right == all_of_them:
        return "Throughput", wording.per_second(all_of_them), ""
    return "Goodput", wording.per_second(right), f"throughput {wording.per_second(all_of_them)}"


def _times(trial: TrialFindings, summary: Summary) -> Iterator[Tile]:
    kind = summary.latency_kind
    for statistic, name in _TIMES.items():
        value_ns = summary.time(kind).of(statistic)
        if value_ns is None and statistic == _OPTIONAL:
            continue
        needs = trial_numbers.percentile_needs(summary, {statistic: name}, kind).partition(", ")[0]
        about = needs.removeprefix(f"{name} ") or trial_numbers.time_name(
            kind, trial.recording.load
        )
        yield name, trial_numbers.measured_time(value_ns, trial.recording), about


def _failed(summary: Summary) -> Tile:
    of = f"{wording.count(summary.failed)} of {wording.count(summary.ok + summary.failed)}"
    return "Failed", wording.percent(summary.failure_ratio), of


def _connections(summary: Summary) -> Iterator[Tile]:
    """How many were opened; nothing where the load generator does not count them."""
    opened, responded = summary.connections_opened, summary.connections_with_response
    if opened is not None:
        without = 0 if responded is None else opened - responded
        about = f"{wording.count(without)} without response" if without > 0 else "opened"
        yield "Connections", wording.count(opened), about


def _duration(summary: Summary) -> Tile:
    return "Duration", wording.seconds(summary.duration_s), "measurement window"
