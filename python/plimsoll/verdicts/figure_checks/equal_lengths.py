"""Did all responses of one run have the same length?

A server that gets the same request again and again sends the same response. Some tools count a
truncated response as correct, but print the shortest and the longest length. If these differ
although no request failed, either the responses are meant to differ, or some were truncated or
wrong. Heads differ by a few bytes, because dates and lengths do.

Source: what the tool counts, by its reader; the width is a first proposal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.verdicts.finding import found, verdict
from plimsoll.verdicts.limits import PROPOSAL, Limit
from plimsoll.verdicts.needs import FigureComparison

if TYPE_CHECKING:
    from plimsoll.tool_output.reported import ReportedStatistics
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "equal_lengths"
TITLE = "Equal lengths"
PROBLEM = "Unequal lengths"
NEEDS = "lengths of the shortest and the longest response of a run without failures"
COMPARES: FigureComparison = "shares"
SOURCE = "shortest against longest response"
APART_RATIO = Limit(
    NAME,
    "apart_ratio",
    "above",
    0.02,
    None,
    "ratio",
    "longest response - shortest / longest, with their heads",
    PROPOSAL + "; 2 % for heads that differ",
)
LIMITS = (APART_RATIO,)


def judge(figures: ReportedStatistics, limits: Limits) -> Verdict | None:
    """Whether all responses had the same length; None if unknown, or if some failed."""
    shortest, longest = figures.shortest_bytes, figures.longest_bytes
    if shortest is None or not longest or figures.without_response or figures.wrong:
        return None
    limit = limits.of(APART_RATIO)
    ratio = (longest - shortest) / longest
    lengths = f"responses had {wording.count(shortest)} to {wording.count(longest)} bytes"
    if limit.level(ratio) == "sound":
        return verdict(NAME, figures.label, [found(limit, ratio, lengths, "")], SOURCE)
    sentence = f"{lengths} with their heads, and the tool counted none of them as failed"
    remedy = "If all responses should be identical, some were truncated; compare their bodies"
    return verdict(NAME, figures.label, [found(limit, ratio, sentence, remedy)], SOURCE)
