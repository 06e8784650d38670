"""Was the server the limit, or the time that its upstream takes?

Of the time of each response, the upstream takes a known part. If that is nearly all of it, two
servers that do little themselves differ by little, and throughput is the number of connections
divided by the upstream's service time. More connections show more of the server.

Open loads, and loads with think time, do not look for a limit: at a rate that a server carries, a
response takes about as long as the upstream does, and the less the server adds the better it is.

Source: the response time law, R = N / X - Z; P. J. Denning, J. P. Buzen, ACM Computing Surveys
10(3), 1978.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.verdicts.finding import Finding, found, inapplicable, not_checked, of_trial
from plimsoll.verdicts.limits import PROPOSAL, Limit
from plimsoll.verdicts.role import Role

if TYPE_CHECKING:
    from plimsoll.aggregate.trial import Tables
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "upstream_headroom"
TITLE = "Upstream headroom"
PROBLEM = "Upstream at its limit"
SOURCE = "service time of the upstream by the time of responses; Denning and Buzen, 1978"
WAITING_RATIO = Limit(
    NAME,
    "waiting_ratio",
    "above",
    0.8,
    None,
    "ratio",
    "service time of the upstream / median time of a response",
    PROPOSAL,
)
LIMITS = (WAITING_RATIO,)
NEEDS = None
ROLE = Role()
REMEDY = "Measure with more `connections`, to keep the server busier"


def judge(tables: Tables, limits: Limits) -> Verdict:
    """Whether the server had work besides waiting."""
    return of_trial(NAME, tables.recording, [_finding(tables, limits)], SOURCE)


def _finding(tables: Tables, limits: Limits) -> Finding:
    limit, upstream = limits.of(WAITING_RATIO), tables.recording.upstream
    if upstream is None:
        return inapplicable(limit, "the endpoint needs no upstream")
    load = tables.recording.load
    if load.model != "unknown" and not load.is_saturating:
        return inapplicable(
            limit,
            "the load is limited on purpose, so neither server nor upstream has to be its limit",
        )
    median_ns = tables.summary.service_time.p50_ns
    if not median_ns:
        return not_checked(limit, "there were no responses in the measurement window")
    ratio = upstream.service_s / (median_ns / 1e9)
    share = wording.percent(round(min(ratio, 1.0), 3))
    sentence = f"the upstream took {share} of the median time of a response"
    if limit.level(ratio) == "sound":
        return found(limit, ratio, sentence, "")
    return found(limit, ratio, f"{sentence}: it was the limit, not the server", REMEDY)
