"""Are there enough requests behind each percentile?

A percentile is meaningful if about ten requests lie beyond it: p99 needs 1,000 requests, p99.9
needs 10,000. With fewer, another run gives another number. A result with too few for p99 or a
percentile below is doubtful. Tools print rarer percentiles in any case; the check lists those not
to quote.

Source: ten observations beyond a quantile, a usual rule; a first proposal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.statistics import laws
from plimsoll.verdicts.finding import found, verdict
from plimsoll.verdicts.limits import Limit
from plimsoll.verdicts.needs import FigureComparison

if TYPE_CHECKING:
    from plimsoll.tool_output.reported import ReportedStatistics
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "sample_size"
TITLE = "Sample size"
PROBLEM = "Sample too small"
NEEDS = "number of requests, and percentiles"
COMPARES: FigureComparison = "one_run"
SOURCE = "ten requests beyond a percentile"
SAMPLES_RATIO = Limit(
    NAME,
    "samples_ratio",
    "below",
    1.0,
    None,
    "ratio",
    "requests that the highest percentile up to p99 is based on / requests it needs",
    "ten requests beyond a percentile, a usual rule",
)
LIMITS = (SAMPLES_RATIO,)
USUAL = 0.99
"""The highest percentile that every reader takes for granted."""


def judge(figures: ReportedStatistics, limits: Limits) -> Verdict | None:
    """Whether there are enough requests; None without their number or without percentiles."""
    shares = [share for share, _ in figures.quantiles_s if 0.0 < share < 1.0]
    usual = [share for share in shares if share <= USUAL]
    if not usual or figures.ended is None:
        return None
    count = _timed(figures, figures.ended)
    needed = laws.enough(max(usual))
    limit = limits.of(SAMPLES_RATIO)
    sentence = (
        f"{_name(max(usual))} is based on {wording.count(count)} requests and needs "
        f"{wording.count(needed)}{_rarer(shares, count)}"
    )
    remedy = "Measure for longer before quoting it"
    finding = found(limit, count / needed, sentence, remedy)
    return verdict(NAME, figures.label, [finding], SOURCE)


def _timed(figures: ReportedStatistics, ended: float) -> float:
    """Requests behind the times."""
    if figures.timed_requests is not None:
        return figures.timed_requests
    return ended - (0.0 if figures.timed == "ends" else figures.without_response)


def _name(share: float) -> str:
    return f"p{wording.exact(share * 100)}"


def _rarer(shares: list[float], count: float) -> str:
    """Percentiles that ought not to be quoted."""
    few = [_name(share) for share in shares if share > USUAL and laws.enough(share) > count]
    return f"; too few for {', '.join(few)}" if few else ""
