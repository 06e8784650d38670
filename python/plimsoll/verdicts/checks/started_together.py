"""Did all load generators of a load start together?

Several hosts start at one instant, each by its own clock. The check measures how much
later than the first one the last one began, by clocks that were compared. A load that begins in
pieces has a lower level than requested at first, and its seconds mix hosts at different stages.

A load in turns begins with each of them, so a time says little: 10 ms are a fifth of a turn of
50 ms. What counts there is the share of all turns in which the last load generator had not begun.

Source: the zero of each engine, moved to the lab's clock by the offset of its host.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.verdicts.finding import Finding, found, inapplicable, of_trial
from plimsoll.verdicts.limits import PROPOSAL, Limit
from plimsoll.verdicts.role import Role

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.aggregate.trial import Tables
    from plimsoll.recording import HostDriver
    from plimsoll.recording.turns import Turn
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "started_together"
TITLE = "Started together"
PROBLEM = "Started apart"
SOURCE = "zero of each load generator by compared clocks"
LATE_S = Limit(
    NAME,
    "late_s",
    "above",
    0.02,
    0.5,
    "s",
    "how much later than the first one the last load generator began",
    PROPOSAL,
)
LATE_RATIO = Limit(
    NAME,
    "late_ratio",
    "above",
    0.1,
    0.5,
    "ratio",
    "in turns, how much later than the first one the last load generator began / length of the "
    "turns, all together",
    PROPOSAL,
)
LIMITS = (LATE_S, LATE_RATIO)
NEEDS = None
ROLE = Role()


def judge(tables: Tables, limits: Limits) -> Verdict:
    """Whether all load generators started together."""
    return of_trial(NAME, tables.recording, [_finding(tables, limits)], SOURCE)


def _finding(tables: Tables, limits: Limits) -> Finding:
    limit = limits.of(LATE_S)
    began = [one for one in tables.recording.hosts if one.driver is not None]
    if len(began) < 2:  # noqa: PLR2004
        return inapplicable(limit, "one load generator took part")
    if tables.recording.turns:
        return _of_turns(tables.recording.turns, began, limits)
    last = max(began, key=_late_ns)
    late_s = _late_ns(last) / 1e9
    sentence = (
        f"{len(began)} load generators began within {wording.seconds(late_s)} (`{last.host}` last)"
    )
    remedy = "Raise `lead` in the file of hosts, or free the cores of that host"
    return found(limit, late_s, sentence, remedy)


def _of_turns(turns: Sequence[Turn], began: Sequence[HostDriver], limits: Limits) -> Finding:
    last = max(began, key=_late_sum_ns)
    ratio = last.late_sum_ns / max(sum(turn.duration_ns for turn in turns), 1)
    worst_s = max(one.late_ns for one in began) / 1e9
    sentence = (
        f"{len(began)} load generators began each turn within "
        f"{wording.percent(round(ratio, 3))} of its length on average (`{last.host}` last), and "
        f"within {wording.seconds(worst_s)} at worst"
    )
    remedy = "Free the cores of that host, or take longer turns (`turns`)"
    return found(limits.of(LATE_RATIO), ratio, sentence, remedy)


def _late_ns(one: HostDriver) -> int:
    """How much later than the first host it began."""
    return one.zero_ns


def _late_sum_ns(one: HostDriver) -> int:
    """The same of all its turns, added up."""
    return one.late_sum_ns
