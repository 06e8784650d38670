"""Causes: what explains several findings at once, so that one check reports it.

A load generator that was killed leaves no rows, and twenty checks then find something missing; one
that was stopped for two seconds leaves a server that "stalled". A cause belongs to one check,
its owner, which judges it. Other checks that doubt the trial for the same reason become "not
checked" and refer to it, so they do not blame the server.

Causes are looked for in this order, and the first one counts: the load generator failed, the server
died, no connection could be opened, the load was interrupted, the load generator stalled, other
programs took time. The first three leave nothing to check at all. The others explain those checks
only that they can mislead, and only where these doubt the trial.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.aggregate.machine_speed import WANDERED
from plimsoll.verdicts.catalogue import title
from plimsoll.verdicts.verdict import DOUBTING, Sentence, Verdict

if TYPE_CHECKING:
    from plimsoll.aggregate.trial import Tables
    from plimsoll.recording import Recording

DRIVER_FAILED = frozenset({"EngineFailed", "DriverFailed", "DriverMissing", "StorageError"})
"""Errors that end a trial by the load generator."""

SERVER_FAILED = frozenset({"DiedUnderLoad", "StartFailed", "NotReady"})
"""Errors that end a trial by the server."""

STOP_S = 0.5
"""A stop of the load generator so long leaves a second with hardly any response."""

STOP_RATIO = 0.05
"""A stop of this share of the hold changes its throughput as much as `steady` doubts."""

_PACE = ("steady", "offered_rate_met", "scaling", "scalability_law", "bottleneck_identified")
"""Checks on how throughput went, which anything that takes time from either side can mislead."""

BY_INTERRUPTION = frozenset({*_PACE, "connection_target_met", "evenly_served", "littles_law"})
BY_SHORT_STOP = frozenset({*_PACE, "littles_law"})
BY_STOP = BY_SHORT_STOP | {"failures_explained", "connection_target_met", "counters_agree"}
"""A short stop changes how throughput went; only a long one fails requests and connections."""
BY_OTHERS = frozenset(_PACE)
"""Reported by one check if others had more than the trial. Below that, `steady` and
`offered_rate_met` take off by themselves what the machine changed."""


@dataclass(frozen=True)
class Cause:
    """Something that explains several findings.

    Attributes:
        owner: Name of the check that judges it.
        clause: What happened, to stand behind a colon.
        explains: Names of the checks that it explains where they doubt; None when it leaves
            nothing to check, whatever they say.
    """

    owner: str
    clause: str
    explains: frozenset[str] | None = None


def explained(tables: Tables, verdicts: Sequence[Verdict]) -> tuple[Verdict, ...]:
    """The verdicts, with those that a common cause explains as not checked.

    Args:
        tables: The tables of the trial.
        verdicts: The verdict of each check on its own.
    """
    cause = of(tables, {one.check: one for one in verdicts})
    if cause is None:
        return tuple(verdicts)
    return tuple(_explained(one, cause) for one in verdicts)


def _explained(verdict: Verdict, cause: Cause) -> Verdict:
    if verdict.check == cause.owner:
        return verdict
    if cause.explains is None:
        return _not_checked(verdict, f"Not checked: {cause.clause}.")
    if verdict.is_doubting and verdict.check in cause.explains:
        return _not_checked(verdict, f"See {title(cause.owner)}: {cause.clause}.")
    return verdict


def _not_checked(verdict: Verdict, text: str) -> Verdict:
    sentences = (Sentence("not_checked", text),)
    return replace(verdict, level="not_checked", measured=None, sentences=sentences)


def of(tables: Tables, judged: Mapping[str, Verdict]) -> Cause | None:
    """What explains several findings of a trial; None when nothing does.

    Args:
        tables: The tables of the trial.
        judged: The verdict of each check on its own, by its name.
    """
    recording = tables.recording
    return (
        _failed(tables)
        or _unconnected(tables)
        or _interrupted(recording)
        or _stopped(recording, judged)
        or _others(judged)
    )


def _failed(tables: Tables) -> Cause | None:
    """The load generator, or the server, ended before the trial did."""
    kind = tables.recording.ending.kind
    if kind in DRIVER_FAILED:
        return Cause("trial_completed", "the load generator failed, and its rows are lost")
    if kind in SERVER_FAILED or tables.gone_ns is not None:
        return Cause("trial_completed", "the server ended before the load did")
    return None


def _unconnected(tables: Tables) -> Cause | None:
    """Not one connection could be opened, though it was tried."""
    opened, refused = tables.summary.connections_opened, tables.summary.connections_refused
    if opened == 0 and refused:
        return Cause("connection_target_met", "no connection could be opened")
    return None


def _interrupted(recording: Recording) -> Cause | None:
    driver = recording.driver
    if driver is None or driver.ended_by != "interrupt":
        return None
    return Cause("trial_completed", "the load was interrupted", BY_INTERRUPTION)


def _stopped(recording: Recording, judged: Mapping[str, Verdict]) -> Cause | None:
    """The load generator stalled for so long that it shows in what it measured."""
    pause_ns = None if recording.driver is None else recording.driver.longest_pause_ns
    owner = judged.get("driver_headroom")
    if pause_ns is None or owner is None or not owner.is_doubting:
        return None
    held_s = sum(hold.end_ns - hold.start_ns for hold in recording.holds) / 1e9
    if pause_ns / 1e9 < min(STOP_S, STOP_RATIO * held_s):
        return None
    clause = f"the load generator stalled for {wording.seconds(pause_ns / 1e9)}"
    explains = BY_STOP if pause_ns / 1e9 >= STOP_S else BY_SHORT_STOP
    return Cause("driver_headroom", clause, explains)


def _others(judged: Mapping[str, Verdict]) -> Cause | None:
    """Other programs, or other virtual machines, took time from server and driver.

    Where they had more than the trial, that explains its pace. They also share caches and memory
    with it, so what they took explains a speed that wandered, whatever they had.
    """
    owner = judged.get("undisturbed")
    if owner is None or not owner.is_doubting:
        return None
    speed = judged.get("host_speed_stable")
    explains = BY_OTHERS if owner.level == "void" else frozenset[str]()
    if speed is not None and _is_of_speed(speed):
        explains |= {speed.check}
    if not explains:
        return None
    clause = owner.sentences[0].clause
    return Cause("undisturbed", clause[:1].lower() + clause[1:], explains)


def _is_of_speed(verdict: Verdict) -> bool:
    """Whether all that a verdict doubts is how far the machine's speed wandered."""
    doubts = [one.text.lower() for one in verdict.sentences if one.level in DOUBTING]
    return bool(doubts) and all(text.startswith(WANDERED) for text in doubts)
