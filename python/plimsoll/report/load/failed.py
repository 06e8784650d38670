"""How the requests of a load failed, as each of its formats names it.

Wrong status codes are named with the other codes. Lines count the whole load, with its times, and
say how many are outside of the measurement window, as in a ramp. What stands beside the counts of
the window, in one line and in CSV, is of the window.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from plimsoll import wording
from plimsoll.aggregate.outcomes import BY_NAME

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from plimsoll.aggregate.counted import Failure

MOST_KINDS = 4

BRIEF_KINDS = 2
"""Kinds that a load in one line names."""


class CountedFailures(Protocol):
    """What is known of the failures of a load."""

    @property
    def failures(self) -> Sequence[Failure]:
        """How its requests failed, the most frequent kind first."""
        ...


def lines(found: CountedFailures, *, verbose: bool = False) -> Iterator[str]:
    """A line for each kind: `43 timed out, between 0.0 and 3.0 s of the load`.

    Args:
        found: What is known of the failures.
        verbose: Whether wrong status codes are named here as well.
    """
    kinds = [one for one in found.failures if verbose or one.outcome != "wrong_status"]
    for kind in kinds[:MOST_KINDS]:
        yield f"{_counted(kind)}, {_when(kind)} of the load"
    if kinds[MOST_KINDS:]:
        yield f"and {len(kinds) - MOST_KINDS} more kinds"
    if outside := _outside(found):
        yield f"{wording.count(outside)} of them outside of the measurement window"


def brief(found: CountedFailures) -> str:
    """The most frequent kinds of the window without their times; empty where there are none."""
    kinds = [_counted(one) for one in _of_window(found) if one.outcome != "wrong_status"]
    return wording.listed(kinds, BRIEF_KINDS)


def names(found: CountedFailures) -> str:
    """Every kind of the window for a program: `closed_waiting=43 reset_waiting:ECONNRESET=12`."""
    kinds = ((one, one.errno_name or one.status) for one in _of_window(found))
    return " ".join(
        f"{one.outcome}{f':{detail}' if detail else ''}={one.count}" for one, detail in kinds
    )


def _of_window(found: CountedFailures) -> list[Failure]:
    """The kinds with their counts of the measurement window, the most frequent first."""
    held = [replace(one, count=one.held) for one in found.failures if one.held]
    return sorted(held, key=lambda one: -one.count)


def _counted(kind: Failure) -> str:
    known = BY_NAME.get(kind.outcome)
    detail = kind.errno_name or kind.status
    noted = f" ({detail})" if detail else ""
    return f"{wording.count(kind.count)} {known.words if known else kind.outcome}{noted}"


def _when(kind: Failure) -> str:
    first, last = (wording.decimals(at_s, 1) for at_s in (kind.first_at_s, kind.last_at_s))
    return f"at {first} s" if first == last else f"between {first} and {last} s"


def _outside(found: CountedFailures) -> int:
    """Failures other than wrong status codes that ended outside of the measurement window."""
    return sum(one.count - one.held for one in found.failures if one.outcome != "wrong_status")
