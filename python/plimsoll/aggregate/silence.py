"""Silence: whole seconds of the holds without a response, and whether the server stalled in them.

Connections that begin together and take as long, or think as long, stay together: their responses
come in bursts. A run of seconds between two bursts is no stall. What tells them apart is how long
requests had waited at its end. If a server stalls, those that it would have answered meanwhile wait
for longer than requests of their type usually take. If it is slow and correct, they do not. If
users think, hardly any wait; then the run is no longer than a round, from one response of a
connection to its next. Pauses that recur and take most of the window are a rhythm, too. But a stall
puts users in step who think: a rhythm that begins with a run does not explain that run.

Where fewer than `FEWEST_PER_S` responses come in a second, one without a response means nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from plimsoll.aggregate import check_inputs
from plimsoll.aggregate import users as users_of
from plimsoll.aggregate.query import SECOND_NS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from plimsoll.aggregate.check_inputs import InFlight
    from plimsoll.aggregate.trial import Tables
    from plimsoll.aggregate.usage import Window

Run = tuple[int, int]
"""The first and the last of seconds that follow each other."""

FEWEST_PER_S = 10.0
"""Where fewer responses come in a second, one without a response means nothing."""
BURSTS = 3
"""Pauses between bursts of responses that make a rhythm; rounds that tell a stall from a pause."""
PAUSED_RATIO = 0.5
"""Share of the window that they take at least; a clock that jumped makes one long pause."""
HALF = 0.5
"""Of the length of a run that requests wait too long, and of those that were due in that time."""
MOST_IDLE_RATIO = 0.1
"""Of requests usually in flight: a request at either end of a pause may lie in its seconds."""


@dataclass(frozen=True)
class Silence:
    """Whole seconds of the holds without a response.

    Attributes:
        held: Whole seconds of the holds.
        stalls: Runs in which the server stalled, or which nothing explains.
        pauses: Runs between bursts of responses.
        round_s: The time from one response of a connection to its next; 0 where it is unknown.
    """

    held: int = 0
    stalls: tuple[Run, ...] = ()
    pauses: tuple[Run, ...] = ()
    round_s: float = 0.0


NOTHING = Silence()
"""Few responses were due."""


def of_trial(tables: Tables) -> Silence:
    """The seconds without a response of a trial.

    Args:
        tables: The tables of the trial.
    """
    rows = tables.counted_seconds.select(["second", "completed"]).to_pylist()
    held = [row for row in rows if row["completed"] is not None and _is_held(tables, row["second"])]
    completed = sum(row["completed"] for row in held)
    if not held or completed < FEWEST_PER_S * len(held):
        return NOTHING
    runs = _runs([row["second"] for row in held if not row["completed"]])
    pauses = {*_served_as_usual(tables, runs, completed / len(held))}
    pauses |= _in_rhythm(tables, [run for run in runs if run not in pauses])
    round_s = max([_round_s(tables), *map(length_s, pauses)])
    stalls = tuple(run for run in runs if run not in pauses)
    return Silence(len(held), stalls, tuple(sorted(pauses)), round_s)


def length_s(run: Run) -> int:
    """How many seconds a run has."""
    return run[1] - run[0] + 1


def window(run: Run) -> Window:
    """The stretch of time of a run."""
    return run[0] * SECOND_NS, (run[1] + 1) * SECOND_NS


def is_idle(flown: InFlight, usual: InFlight) -> bool:
    """Whether hardly anything was in flight in a stretch of the load."""
    return flown.mean <= MOST_IDLE_RATIO * usual.mean


def _served_as_usual(tables: Tables, runs: Sequence[Run], per_s: float) -> Iterator[Run]:
    """Runs at whose end hardly any request had waited for longer than usual.

    Responses that were due in half of a run are missing if the server stalled. A connection misses
    no more than one, because it sends nothing while it waits.
    """
    if tables.recording.load.model == "open" or not runs:
        return
    summary, round_s = tables.summary, _round_s(tables)
    active = users_of.most_at_once(tables.recording, tables.usage)
    users = summary.connections_requested or summary.in_flight or active or 1.0
    ends_ns = [window(run)[1] for run in runs]
    over_ns = [int(HALF * length_s(run) * SECOND_NS) for run in runs]
    waits = tables.waits_at(ends_ns, over_ns)
    for run, (in_flight, overdue) in zip(runs, waits, strict=True):
        missing = HALF * min(HALF * length_s(run) * per_s, users)
        is_known = in_flight >= missing or length_s(run) <= round_s
        if is_known and overdue < missing:
            yield run


def _in_rhythm(tables: Tables, runs: Sequence[Run]) -> set[Run]:
    """Runs that lie between bursts of responses which come in step."""
    of_length = {length_s(run): run for run in reversed(runs)}
    usual = {length for length, run in of_length.items() if _is_between_bursts(tables, run)}
    return {run for run in runs if length_s(run) in usual and not _begins_rhythm(tables, run)}


def _begins_rhythm(tables: Tables, run: Run) -> bool:
    """Whether responses came without such a pause for more than a round before a run.

    Connections that are in step by themselves have a pause in each round. Where nothing was in
    flight, as in another tool's pause, no round is known that would be long enough.
    """
    start_ns, end_ns = tables.holds[-1][0], window(run)[0]
    if length_s(run) > _round_s(tables) or end_ns - start_ns <= _round_s(tables) * SECOND_NS:
        return False
    least_ns = int(HALF * length_s(run) * SECOND_NS)
    return not check_inputs.pauses(tables.requests, (start_ns, end_ns), least_ns).count


def _is_between_bursts(tables: Tables, run: Run) -> bool:
    silent_s = length_s(run)
    if silent_s > _round_s(tables) and not _users_paused(tables, window(run)):
        return False
    pauses = tables.pauses(silent_s * SECOND_NS // 2)
    start_ns, end_ns = tables.holds[-1]
    is_most = pauses.length_ns >= PAUSED_RATIO * (end_ns - start_ns)
    return pauses.count >= BURSTS and is_most


def _round_s(tables: Tables) -> float:
    """The time from one response of a connection to its next, where it is known; 0 elsewhere."""
    load = tables.recording.load
    if load.model == "open":
        return 0.0
    return _service_ns(tables) / SECOND_NS + (load.think_time_s if load.model == "closed" else 0.0)


def _service_ns(tables: Tables) -> float:
    service = tables.summary.service_time
    return service.p50_ns or service.mean_ns or 0.0


def _users_paused(tables: Tables, silent: Window) -> bool:
    """Whether another tool's log has nothing in flight there, but what is served as usual."""
    if tables.recording.origin != "import":
        return False
    idle = tables.idle_stretch(silent)
    if idle[0] >= idle[1] or silent[1] - idle[1] > _service_ns(tables):
        return False
    usual, flown = tables.in_flight([tables.holds[-1], idle])
    return is_idle(flown, usual)


def _runs(seconds: Sequence[int]) -> list[Run]:
    """The first and last of each run of seconds that follow each other."""
    if not seconds:
        return []
    breaks = [place for place, (one, next_) in enumerate(pairwise(seconds), 1) if next_ > one + 1]
    edges = [0, *breaks, len(seconds)]
    return [(seconds[first], seconds[end - 1]) for first, end in pairwise(edges)]


def _is_held(tables: Tables, second: int) -> bool:
    """Whether a second lies within a hold as a whole."""
    start_ns, end_ns = second * SECOND_NS, (second + 1) * SECOND_NS
    return any(start <= start_ns and end_ns <= end for start, end in tables.holds)
