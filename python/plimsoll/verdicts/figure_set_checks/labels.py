"""Do columns contain what their heads claim?

p99 is hardly ever the mean, the maximum or p95 to the last digit. If it is, in row after row, one
column was printed twice, or under another's name. Times that were rounded to a tenth of themselves
or more are left out, and so are maxima of fewer than 1,000 requests, which may well be p99.

Source: comparison of columns; the limits are first proposals.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.statistics import laws
from plimsoll.verdicts.finding import found, verdict
from plimsoll.verdicts.limits import PROPOSAL, Limit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.tool_output.reported import ReportedStatistics
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "labels"
TITLE = "Labels"
PROBLEM = "Wrong labels"
NEEDS = "p99 with mean, p95 or maximum"
SOURCE = "times that are equal without a reason"
EQUAL_RATIO = Limit(
    NAME,
    "equal_ratio",
    "above",
    0.2,
    0.5,
    "ratio",
    "results with two equal times without a reason / results with both times",
    PROPOSAL,
)
LIMITS = (EQUAL_RATIO,)
SUBJECT = "all together"
PAIRS = (("p99", "mean"), ("p99", "max"), ("p99", "p95"))
FEW = 5
"""With fewer results, equal times may be chance: they are doubtful at the worst."""
COARSE = 10


def judge(results: Sequence[ReportedStatistics], limits: Limits) -> Verdict | None:
    """Whether times are equal that should differ; None where no result has two such times."""
    compared = [one for one in results if any(_comparable(one, *pair) for pair in PAIRS)]
    if not compared:
        return None
    limit = limits.of(EQUAL_RATIO)
    equal = {one.label: pair for one in compared for pair in PAIRS if _is_equal(one, *pair)}
    count = sum(any(_is_equal(one, *pair) for pair in PAIRS) for one in compared)
    if not count:
        sentence = "p99 differs from mean, p95 and maximum, as it should"
        return verdict(NAME, SUBJECT, [found(limit, 0.0, sentence, "")], SOURCE)
    reported = [f"{label}: {one} = {other}" for label, (one, other) in equal.items()]
    sentence = (
        f"{wording.count(count)} of {wording.several(len(compared), 'result')} with p99 have it "
        f"equal to another time ({wording.listed(reported)}): a column is mislabelled"
    )
    remedy = "Check how the table was made, and publish the output of the tool"
    finding = found(limit, count / len(compared), sentence, remedy)
    if finding.level == "void" and len(compared) < FEW:
        finding = replace(finding, level="doubtful")
    return verdict(NAME, SUBJECT, [finding], SOURCE)


def _comparable(figures: ReportedStatistics, one: str, other: str) -> bool:
    first, second = figures.times_s.get(one), figures.times_s.get(other)
    if first is None or second is None or first <= COARSE * figures.times_step_s:
        return False
    enough = figures.requests is None or figures.requests >= laws.enough(0.99)
    return enough


def _is_equal(figures: ReportedStatistics, one: str, other: str) -> bool:
    if not _comparable(figures, one, other):
        return False
    return figures.times_s[one] == figures.times_s[other]
