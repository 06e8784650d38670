"""Do unrelated servers have the same series, step for step?

Two servers do not give the same number at each step of a load. If they do, within half a percent,
the series shows the load and not the servers, or one run was published twice. Results of one server
and endpoint, in the order in which they were published, are a series. Fewer than five steps may be
alike by chance, and series that hardly change must be equal to the last digit.

Source: comparison of series; the width is a first proposal.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.verdicts import sameness
from plimsoll.verdicts.campaign_checks.identical_series import PAIRS, WITHIN_RATIO
from plimsoll.verdicts.finding import found, verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.tool_output.reported import ReportedStatistics
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "identical_series"
TITLE = "Identical series"
PROBLEM = "Identical series"
NEEDS = "two named servers with five results or more each, distinguished by `at`"
SOURCE = "two servers with identical counts in every second"
LIMITS = ()
SUBJECT = "all together"
TWO = 2


def judge(results: Sequence[ReportedStatistics], limits: Limits) -> Verdict | None:
    """Whether servers have the same series; None where fewer than two have one."""
    endpoints = [
        (endpoint, series) for endpoint, series in _series(results).items() if len(series) >= TWO
    ]
    if not endpoints:
        return None
    limit = limits.of(PAIRS)
    within = limits.of(WITHIN_RATIO).doubtful or 0.0
    pairs = [
        f"{one} and {other}" + (f" at {endpoint}" if endpoint else "")
        for endpoint, series in endpoints
        for one, other in sameness.identical_pairs(series, within)
    ]
    if not pairs:
        sentence = "no two servers have the same series"
        return verdict(NAME, SUBJECT, [found(limit, 0, sentence, "")], SOURCE)
    sentence = (
        f"{wording.several(len(pairs), 'pair')} of servers have the same number at every step: "
        f"{wording.listed(pairs)}"
    )
    remedy = "Check whether one run was published twice, or the load generator was the limit"
    return verdict(NAME, SUBJECT, [found(limit, len(pairs), sentence, remedy)], SOURCE)


def _series(results: Sequence[ReportedStatistics]) -> dict[str, dict[str, list[float]]]:
    """Endpoint to server to its throughputs, where there are enough of them."""
    endpoints: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for one in results:
        if one.subject and one.at and one.throughput_per_s and not one.is_open:
            endpoints[one.endpoint][one.subject].append(one.throughput_per_s)
    return {
        endpoint: {
            name: rates for name, rates in series.items() if len(rates) >= sameness.FEWEST_STEPS
        }
        for endpoint, series in endpoints.items()
    }
