"""Which trials took turns with everything that they are compared with.

Servers that took turns had the same machine. A trial that was repeated alone, after a failure or a
kill, has turns as well, and had the machine of another time.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from plimsoll.comparison.compared_table import by_table, table_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.comparison.comparisons import ComparedTrial
    from plimsoll.recording import Recording


@dataclass(frozen=True)
class _Span:
    """From the first turn of a trial to its last.

    Attributes:
        by_boot_s: Its begin by CLOCK_MONOTONIC, in seconds.
        by_wall_s: The same by the wall clock; 0 when unknown.
        length_s: Its length in seconds.
    """

    by_boot_s: float
    by_wall_s: float
    length_s: float


def blocks_in_turns(repetitions: Sequence[ComparedTrial]) -> frozenset[int]:
    """Blocks in which every trial took turns with all others of its table.

    Args:
        repetitions: The trials of a campaign; those that do not count are compared with nothing.
    """
    blocks: dict[int, list[Recording]] = {}
    for one in repetitions:
        if one.counts:
            blocks.setdefault(one.recording.repetition, []).append(one.recording)
    return frozenset(
        block
        for block, recordings in blocks.items()
        if all(map(_side_by_side, by_table(recordings, table_of).values()))
    )


def groups(recordings: Sequence[Recording]) -> tuple[tuple[Recording, ...], ...]:
    """Trials that all took turns with each other, the earliest group first.

    Args:
        recordings: The trials of one table and block; none where nothing took turns.
    """
    if not any(one.turns for one in recordings):
        return ()
    found: list[list[Recording]] = []
    for one in sorted(recordings, key=lambda each: each.turns[0].start_ns if each.turns else 0):
        own = next((group for group in found if _side_by_side([*group, one])), None)
        if own is None:
            found.append([one])
        else:
            own.append(one)
    return tuple(map(tuple, found))


def _side_by_side(recordings: Sequence[Recording]) -> bool:
    """Whether some trials all took turns, and within a round of each other.

    Within a round, since a load that is over after one turn overlaps with no other.
    """
    if not all(one.turns for one in recordings):
        return False
    held_ns = (turn.duration_ns for one in recordings for turn in one.turns if turn.round)
    round_s = len(recordings) * max(held_ns, default=0) / 1e9
    spans = [_span(one) for one in recordings]
    # Clocks of two boots have nothing in common, and a wall clock may be set: both must agree.
    return _overlap([(one.by_boot_s, one.length_s) for one in spans], round_s) and _overlap(
        [(one.by_wall_s, one.length_s) for one in spans], round_s
    )


def _overlap(spans: Sequence[tuple[float, float]], round_s: float) -> bool:
    """Whether spans of begin and length have an instant in common if each is a round longer."""
    latest = max(begin for begin, _ in spans)
    return latest <= min(begin + length for begin, length in spans) + round_s


def _span(recording: Recording) -> _Span:
    first, last = recording.turns[0], recording.turns[-1]
    length_ns = last.start_ns + last.duration_ns - first.start_ns
    zero_utc = recording.zero_utc
    by_wall_s = datetime.fromisoformat(zero_utc).timestamp() if zero_utc else 0.0
    return _Span(first.start_ns / 1e9, by_wall_s, length_ns / 1e9)
