"""Do different servers stop at the same number?

If three or more different servers lie within 2 % at the top of one endpoint, something that they
share was the limit: the load tool, the network, or the load itself. The same holds if the best
results of two servers meet at one number although the endpoints differ. Servers that kept their own
cores busy have limits of their own and are not counted.

Only results of one tool with the same number of connections are compared, and none at a requested
rate: there, servers are alike because they all kept up. Of repeated results the best counts.

Source: comparison of throughputs at the top; the widths are first proposals.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.verdicts import sameness
from plimsoll.verdicts.campaign_checks.common_ceiling import (
    SERVER_BUSY_RATIO,
    SERVERS,
    WITHIN_RATIO,
)
from plimsoll.verdicts.finding import Finding, found, verdict
from plimsoll.verdicts.limits import PROPOSAL, Limit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plimsoll.tool_output.reported import ReportedStatistics
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

    Best = Mapping[tuple[str, str], ReportedStatistics]
    """Subject and endpoint to the best result."""

NAME = "common_ceiling"
TITLE = "Common ceiling"
PROBLEM = "Common ceiling"
NEEDS = "throughput of three or more results of named servers"
SOURCE = "different servers with the same throughput"
RESULTS = Limit(
    NAME,
    "results",
    "above",
    2.0,
    None,
    "results",
    "best results of different servers at different endpoints with the same throughput",
    PROPOSAL,
)
LIMITS = (RESULTS,)
SUBJECT = "all together"
FEWEST = 3
SHOWN = 6
SHARED = "a shared limit is likely"
REMEDY = (
    "Do not rank these servers against each other; look for what they share: the load generator "
    "and its cores, the network, a fixed number of connections with pauses"
)


def judge(results: Sequence[ReportedStatistics], limits: Limits) -> Verdict | None:
    """Whether servers stop at one number; None where there are too few to compare."""
    fields = [best for best in _fields(results) if len(best) >= FEWEST]
    findings = [finding for best in fields for finding in _findings(best, limits)]
    return verdict(NAME, SUBJECT, findings, SOURCE) if findings else None


def _fields(results: Sequence[ReportedStatistics]) -> list[Best]:
    """The best results of each server at each endpoint, by tool and connections."""
    fields: dict[tuple[str, float | None], dict[tuple[str, str], ReportedStatistics]] = defaultdict(
        dict
    )
    for one in results:
        if not one.subject or one.is_open or not one.throughput_per_s:
            continue
        best = fields[(one.tool, one.connections)]
        known = best.get((one.subject, one.endpoint))
        if known is None or (known.throughput_per_s or 0.0) < one.throughput_per_s:
            best[(one.subject, one.endpoint)] = one
    return list(fields.values())


def _findings(best: Best, limits: Limits) -> list[Finding]:
    endpoints = dict.fromkeys(endpoint for _, endpoint in best)
    by_endpoint = [
        _at(endpoint, {key: one for key, one in best.items() if key[1] == endpoint}, limits)
        for endpoint in endpoints
    ]
    return [*_across(best, limits), *(finding for finding in by_endpoint if finding)]


def _at(endpoint: str, best: Best, limits: Limits) -> Finding | None:
    """One endpoint."""
    if len(best) < FEWEST:
        return None
    limit = limits.of(SERVERS)
    top = _top(best, limits)
    if limit.level(len(top)) == "sound":
        sentence = "at no endpoint do three servers reach the same throughput"
        return found(limit, len(top), sentence, "")
    where = f"at {endpoint} " if endpoint else ""
    sentence = f"{where}{len(top)} servers reach the same throughput, {_reported(top)}"
    return found(limit, len(top), sentence, REMEDY, SHARED)


def _across(best: Best, limits: Limits) -> list[Finding]:
    """All endpoints: the best results of several servers."""
    if len({endpoint for _, endpoint in best}) < 2:  # noqa: PLR2004
        return []
    limit = limits.of(RESULTS)
    top = _top(best, limits)
    is_shared = len({one.subject for one in top}) > 1 and len({one.endpoint for one in top}) > 1
    count = len(top) if is_shared else 0
    if limit.level(count) == "sound":
        sentence = "the best results of different servers at different endpoints do not meet"
        return [found(limit, count, sentence, "")]
    rates = [one.throughput_per_s or 0.0 for one in top]
    sentence = (
        f"the {count} best results lie within "
        f"{wording.percent(round(sameness.spread_ratio(rates), 4))} of each other at different "
        f"endpoints: {_reported(top)}"
    )
    return [found(limit, count, sentence, REMEDY, SHARED)]


def _top(best: Best, limits: Limits) -> list[ReportedStatistics]:
    """The results within the width of the greatest, without servers at limits of their own."""
    within = limits.of(WITHIN_RATIO).doubtful or 0.0
    by_name = {f"{subject}\0{endpoint}": one for (subject, endpoint), one in best.items()}
    rates = {name: one.throughput_per_s or 0.0 for name, one in by_name.items()}
    top = [by_name[name] for name in sameness.top_group(rates, within)]
    return [one for one in top if not _is_at_its_limit(one, limits)]


def _is_at_its_limit(figures: ReportedStatistics, limits: Limits) -> bool:
    if figures.server_busy_cores is None or not figures.server_cores:
        return False
    ratio = figures.server_busy_cores / figures.server_cores
    return limits.of(SERVER_BUSY_RATIO).level(ratio) == "sound"


def _reported(top: Sequence[ReportedStatistics]) -> str:
    parts = [
        f"{wording.count(one.throughput_per_s or 0.0)}/s ("
        f"{' '.join(filter(None, (one.subject, one.endpoint)))})"
        for one in top
    ]
    return wording.listed(parts, most=SHOWN)
