"""Does a result depend on when in the campaign it was taken?

Each repetition is a block with its combinations in shuffled order, so a drift of the machine
spreads over all of them. It makes numbers scatter and should be known. The check takes each trial's
throughput, without what other programs took from it (`undisturbed`), relative to the others of its
combination (their mean, on logarithms). It fits a straight line through all of them over their
position in the plan, from the first trial of the campaign to the last. A slope that chance could
have made (Student's t, 99 %) is none.

Only loads at full speed count, and only combinations that were measured more than once. Servers
that take turns have the same machine, turn by turn, so nothing about them depends on the order,
unless one of a block was repeated alone. A campaign with a single repetition gets no verdict here;
`repetitions_agree` reports that its order may have mattered.

Source: analysis of covariance with position as covariate; D. C. Montgomery, Design and Analysis of
Experiments; the limit is that below which rankings see no difference.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.comparison.entries import entries
from plimsoll.comparison.turn_partners import blocks_in_turns
from plimsoll.statistics.intervals import Slope, slope
from plimsoll.verdicts.finding import Finding, found, not_checked, verdict
from plimsoll.verdicts.limits import Limit
from plimsoll.verdicts.verdict import CAMPAIGN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.comparison.comparisons import ComparedTrial
    from plimsoll.comparison.entries import Entry
    from plimsoll.verdicts.limits import Limit, Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "order_neutral"
TITLE = "Order neutral"
PROBLEM = "Drift over the campaign"
SOURCE = "throughput within each combination over its position in the plan, least squares"
DRIFT_RATIO = Limit(
    NAME,
    "drift_ratio",
    "above",
    0.02,
    None,
    "ratio",
    "change of the same servers from the first trial of a campaign to the last",
    "as for ranks: smaller differences count as equal",
)
LIMITS = (DRIFT_RATIO,)
FEWEST_FREEDOM = 4
"""With fewer trials to spare, a slope cannot be distinguished from chance."""
REMEDY = (
    "Give the machine time to warm up or cool down (`cool_down`), stop other programs, and add "
    "repetitions"
)


def judge(repetitions: Sequence[ComparedTrial], limits: Limits) -> tuple[Verdict, ...]:
    """Whether throughput rises or falls with the position in the plan.

    Args:
        repetitions: The trials of a campaign.
        limits: The limits of the campaign.
    """
    in_turns = blocks_in_turns(repetitions)
    repeated = [
        entry
        for entry in entries(repetitions)
        if entry.is_saturating
        and len(entry.repetitions) > 1
        and min(entry.throughputs) > 0
        and not all(one.recording.repetition in in_turns for one in entry.repetitions)
    ]
    if not repeated:
        return ()
    return (verdict(NAME, CAMPAIGN, [_finding(repeated, limits)], SOURCE),)


def _finding(repeated: Sequence[Entry], limits: Limits) -> Finding:
    limit = limits.of(DRIFT_RATIO)
    orders, logarithms, groups = _points(repeated)
    line = slope(orders, logarithms, groups, FEWEST_FREEDOM)
    if line is None:
        trials = wording.several(len(orders), "trial")
        sentence = f"{trials} are too few to detect drift over the campaign"
        return not_checked(limit, sentence)
    return _reported(limit, line, max(orders) - min(orders))


def _reported(limit: Limit, line: Slope, length: float) -> Finding:
    drift = math.expm1(line.slope * length)
    if not line.is_beyond_chance:
        return found(limit, 0.0, "throughput did not drift over the campaign", "")
    sentence = (
        f"from the first trial of the campaign to the last, servers became "
        f"{wording.percent(round(abs(drift), 4))} {'faster' if drift > 0 else 'slower'}"
    )
    return found(limit, abs(drift), sentence, REMEDY)


def _points(repeated: Sequence[Entry]) -> tuple[list[float], list[float], list[int]]:
    """Position, logarithm of throughput and number of the entry, of each trial."""
    points = [
        (float(one.recording.order), math.log(throughput), place)
        for place, entry in enumerate(repeated)
        for one, throughput in zip(entry.repetitions, entry.throughputs_alone, strict=True)
    ]
    orders, logarithms, groups = zip(*points, strict=True)
    return list(orders), list(logarithms), list(groups)
