"""Were all answers of one run as long as each other?

A server that is asked the same thing again and again answers the same. Some tools count an answer
that was cut off as right, but print how long the shortest and the longest were. Where these differ
although no request failed, either answers are meant to differ, or some were cut off or others.
Heads differ by a few bytes, for dates and lengths do.

Source: what the tool counts, by its reader; the width is a first proposal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.verdicts import wording
from plimsoll.verdicts.finding import found, verdict

if TYPE_CHECKING:
    from plimsoll.published.figures import Figures
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "one_length"
NEEDS = "lengths of the shortest and the longest answer of a run without failures"
SOURCE = "shortest against longest answer"


def judge(figures: Figures, limits: Limits) -> Verdict | None:
    """Whether answers were as long as each other; None where nobody said, or some failed."""
    shortest, longest = figures.shortest_bytes, figures.longest_bytes
    if shortest is None or not longest or figures.unanswered or figures.wrong:
        return None
    limit = limits.of(NAME, "apart_ratio")
    ratio = (longest - shortest) / longest
    lengths = f"answers had {wording.count(shortest)} to {wording.count(longest)} bytes"
    if limit.level(ratio) == "sound":
        return verdict(NAME, figures.label, [found(limit, ratio, lengths, "")], SOURCE)
    sentence = f"{lengths} with their heads, and the tool counted none of them as failed"
    remedy = "If all answers should be one and the same, some were cut off; compare their bodies"
    return verdict(NAME, figures.label, [found(limit, ratio, sentence, remedy)], SOURCE)
