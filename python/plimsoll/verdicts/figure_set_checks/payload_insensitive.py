"""Is the throughput of a server independent of the length of its responses?

Longer responses cost more to send. If throughput is the same within 2 % at four endpoints or more
although their bodies differ tenfold, what was measured does not depend on what was sent. A limit
per request, of the load tool or of the server, hides the rest. A body of 0 bytes counts as 1 byte.

Source: comparison of throughputs; the widths are first proposals.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.verdicts import sameness
from plimsoll.verdicts.campaign_checks.payload_insensitive import ENDPOINTS, WITHIN_RATIO
from plimsoll.verdicts.finding import Finding, found, verdict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plimsoll.tool_output.reported import ReportedStatistics
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "payload_insensitive"
TITLE = "Payload insensitive"
PROBLEM = "Payload makes no difference"
NEEDS = "throughput of a named server at four endpoints whose lengths of bodies are known"
SOURCE = "one throughput for short and long responses"
LIMITS = ()
SUBJECT = "all together"
FEWEST = 4
REMEDY = (
    "Find out which limit per request it is: cores of the load generator, its connections, or one "
    "server process that accepts all requests"
)


def judge(results: Sequence[ReportedStatistics], limits: Limits) -> Verdict | None:
    """Whether throughput depends on the length of responses; None without enough endpoints."""
    servers = _servers(results)
    findings = [_server(name, best, limits) for name, best in servers.items()]
    return verdict(NAME, SUBJECT, findings, SOURCE) if findings else None


def _servers(results: Sequence[ReportedStatistics]) -> dict[str, dict[str, ReportedStatistics]]:
    """The best result of each server at each endpoint with a known length of its responses."""
    servers: dict[str, dict[str, ReportedStatistics]] = defaultdict(dict)
    for one in results:
        if one.body_bytes is None or not one.throughput_per_s or one.is_open or not one.subject:
            continue
        known = servers[one.subject].get(one.endpoint)
        if known is None or (known.throughput_per_s or 0.0) < one.throughput_per_s:
            servers[one.subject][one.endpoint] = one
    return {name: best for name, best in servers.items() if len(best) >= FEWEST}


def _server(name: str, best: Mapping[str, ReportedStatistics], limits: Limits) -> Finding:
    limit = limits.of(ENDPOINTS)
    rates = {endpoint: one.throughput_per_s or 0.0 for endpoint, one in best.items()}
    bodies = {endpoint: one.body_bytes or 0.0 for endpoint, one in best.items()}
    within = limits.of(WITHIN_RATIO).doubtful or 0.0
    group = sameness.insensitive_group(rates, bodies, within)
    if limit.level(len(group)) == "sound":
        sentence = "throughput depends on the length of the responses, as it should"
        return found(limit, len(group), sentence, "")
    alike = [rates[endpoint] for endpoint in group]
    sentence = (
        f"{name} completes {wording.count(min(alike))} to {wording.count(max(alike))} requests/s "
        f"({wording.percent(round(sameness.spread_ratio(alike), 4))} apart) at "
        f"{len(group)} endpoints ({', '.join(group)}) with {wording.count(bodies[group[0]])} to "
        f"{wording.count(bodies[group[-1]])} bytes"
    )
    meaning = "response length makes no difference: a limit per request was measured"
    return found(limit, len(group), sentence, REMEDY, meaning)
