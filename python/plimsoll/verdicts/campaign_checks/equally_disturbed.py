"""Did other programs take about as much from each of the entries that are compared?

Each trial has the share of its time in which it waited for cores used by others (`undisturbed`).
What all entries lost alike changes no ratio, and variation between single trials is in the
intervals. An entry misleads if it lost more than another in all of its repetitions: by chance, or
because a server of many threads gets more of a contended core than one of few.

The check concerns neighbours that are ranked one ahead of the other, at loads at full speed. Each
throughput is divided by the share of the time in which its trial did not wait. The check measures
how much of the lead, by the model that ranks, is gone then. A rank is doubtful if other programs
account for half of its lead.

Source: `aggregate.disturbance`; decision 57.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.comparison.compared_table import by_table
from plimsoll.comparison.entries import THROUGHPUT, effects, entries, ranked_ahead
from plimsoll.verdicts.finding import Finding, found, verdict
from plimsoll.verdicts.limits import Limit
from plimsoll.verdicts.remedies import QUIET_HOST
from plimsoll.verdicts.verdict import CAMPAIGN

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plimsoll.comparison.comparisons import ComparedTrial
    from plimsoll.comparison.entries import Entry, RankedPair
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "equally_disturbed"
TITLE = "Equally disturbed"
PROBLEM = "Unequal interference"
SOURCE = "time that trials waited for cores used by others; schedstat, proc_stat(5)"
EXPLAINED_RATIO = Limit(
    NAME,
    "explained_ratio",
    "above",
    0.5,
    None,
    "ratio",
    "share of the lead of an entry over the next that other programs' CPU use explains",
    "most of the lead is then due to interference",
)
LIMITS = (EXPLAINED_RATIO,)


def judge(repetitions: Sequence[ComparedTrial], limits: Limits) -> tuple[Verdict, ...]:
    """Whether a rank is due to what others took.

    Args:
        repetitions: The trials of a campaign.
        limits: The limits of the campaign.

    Returns:
        Nothing if no trial has a record of what others took.
    """
    known = [
        entry
        for entry in entries(repetitions)
        if entry.is_saturating and any(one.lost_ratio is not None for one in entry.repetitions)
    ]
    if not known:
        return ()
    return (verdict(NAME, CAMPAIGN, _findings(known, limits.of(EXPLAINED_RATIO)), SOURCE),)


def _findings(known: Sequence[Entry], limit: Limit) -> list[Finding]:
    pairs = _explained(known)
    doubted = [pair for pair in pairs if limit.level(pair[0]) != "sound"]
    if doubted:
        each = by_table(doubted, lambda pair: pair[1].one.table).values()
        return [_finding(*most, limit) for most, *_ in each]
    lost = [entry.lost_ratio for entry in known]
    ends = dict.fromkeys(wording.percent(round(one, 3)) for one in (min(lost), max(lost)))
    sentence = (
        f"trials waited {' to '.join(ends)} of the time for cores that other programs used; "
        "no ranking depends on it"
    )
    return [found(limit, max((ratio for ratio, _ in pairs), default=0.0), sentence, "")]


def _finding(explained: float, pair: RankedPair, limit: Limit) -> Finding:
    """The finding on a rank that is due to what others took."""
    one, other, _ = pair
    lost = [wording.percent(round(entry.lost_ratio, 3)) for entry in (one, other)]
    sentence = (
        f"at {one.field}, {one.framework} is ranked ahead of {other.framework}, which waited "
        f"{lost[1]} of the time for cores that others used, {one.framework} only {lost[0]}"
    )
    return found(limit, explained, sentence, QUIET_HOST, tables=(one.table,))


def _explained(known: Sequence[Entry]) -> list[tuple[float, RankedPair]]:
    """Part of each lead that others made, on logarithms; the greatest part first.

    It is more than 1 where they turned the rank.
    """
    pairs = ranked_ahead(known)
    as_measured = effects(known, lambda entry: entry.in_blocks(THROUGHPUT))
    alone = effects(known, lambda entry: entry.alone_in_blocks(THROUGHPUT))
    shares = [(_share(pair, as_measured, alone), pair) for pair in pairs]
    return sorted(shares, key=lambda one: -one[0])


def _share(pair: RankedPair, as_measured: Mapping[str, float], alone: Mapping[str, float]) -> float:
    """Part of one lead that is gone in the numbers without what others took."""
    lead, left = (
        by_title.get(pair.one.title, 0.0) - by_title.get(pair.other.title, 0.0)
        for by_title in (as_measured, alone)
    )
    return (lead - left) / lead if lead else 0.0
