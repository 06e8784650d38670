"""Is the throughput of a server independent of the length of its responses?

If a server gives the same responses per second at four or more endpoints, although the longest
response is ten times the shortest, length is not what costs: something else was the limit. If that
was the server's own processors, it is a fact about the server and is noted. If they had time to
spare, the limit was outside of it, and the numbers do not distinguish the endpoints.

Lengths are those received, heads included, so a difference in bodies can look smaller here than it
is, never greater.

Source: comparison of throughputs over endpoints; the widths are first proposals.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.comparison.entries import entries
from plimsoll.verdicts import sameness
from plimsoll.verdicts.finding import Finding, found, verdict
from plimsoll.verdicts.limits import PROPOSAL, Limit
from plimsoll.verdicts.verdict import CAMPAIGN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.comparison.comparisons import ComparedTrial
    from plimsoll.comparison.entries import Entry
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "payload_insensitive"
TITLE = "Payload insensitive"
PROBLEM = "Payload makes no difference"
SOURCE = "different work, the same throughput"
ENDPOINTS = Limit(
    NAME,
    "endpoints",
    "above",
    3.0,
    None,
    "endpoints",
    "endpoints with the same throughput, responses ten times as long and more, no core saturated",
    PROPOSAL,
)
WITHIN_RATIO = Limit(
    NAME,
    "within_ratio",
    "above",
    0.02,
    None,
    "ratio",
    "largest difference between throughputs that count as equal",
    "as for ranks: smaller differences count as equal",
)
SERVER_BUSY_RATIO = Limit(
    NAME,
    "server_busy_ratio",
    "below",
    0.9,
    None,
    "ratio",
    "cores a server kept busy / cores available to it; saturated from here on",
    PROPOSAL,
)
LIMITS = (
    ENDPOINTS,
    WITHIN_RATIO,
    SERVER_BUSY_RATIO,
)
FEWEST = 4
REMEDY = (
    "These numbers do not show what an endpoint costs; look for another limit: load generator, "
    "locks or pauses in the server, connections"
)


def judge(repetitions: Sequence[ComparedTrial], limits: Limits) -> tuple[Verdict, ...]:
    """Whether throughput depends on the length of the responses, for each server and load.

    Args:
        repetitions: The trials of a campaign.
        limits: The limits of the campaign.
    """
    grouped: dict[tuple[str, str, str], dict[str, Entry]] = {}
    for entry in entries(repetitions):
        if entry.is_saturating:
            server = (entry.framework, entry.load, entry.driver)
            grouped.setdefault(server, {})[entry.endpoint] = entry
    findings = [
        _server(by_endpoint, limits) for by_endpoint in grouped.values() if _can_tell(by_endpoint)
    ]
    notes_first = sorted(findings, key=lambda finding: not finding.remedy)
    return (verdict(NAME, CAMPAIGN, notes_first, SOURCE),) if findings else ()


def _can_tell(by_endpoint: dict[str, Entry]) -> bool:
    """Whether one server and load has both short and long responses."""
    lengths = _lengths(by_endpoint).values()
    return len(by_endpoint) >= FEWEST and max(lengths, default=0.0) >= sameness.FACTOR * min(
        lengths, default=1.0
    )


def _lengths(by_endpoint: dict[str, Entry]) -> dict[str, float]:
    lengths = {name: entry.response_bytes for name, entry in by_endpoint.items()}
    return {name: length for name, length in lengths.items() if length is not None}


def _server(by_endpoint: dict[str, Entry], limits: Limits) -> Finding:
    """One server and load."""
    limit = limits.of(ENDPOINTS)
    within = limits.of(WITHIN_RATIO).doubtful or 0.0
    lengths = _lengths(by_endpoint)
    throughputs = {name: entry.throughput for name, entry in by_endpoint.items()}
    names = sameness.insensitive_group(throughputs, lengths, within)
    if limit.level(len(names)) == "sound":
        return found(limit, len(names), "longer responses cost every server throughput", "")
    group = [by_endpoint[name] for name in names]
    sentence = (
        f"{group[0].framework} completes {wording.count(group[0].throughput)} requests/s "
        f"whether a response has {wording.count(lengths[names[0]])} or "
        f"{wording.count(lengths[names[-1]])} bytes ({wording.listed(list(names), most=8)})"
    )
    busy = limits.of(SERVER_BUSY_RATIO)
    if all(busy.level(entry.server_busy_ratio) == "sound" for entry in group):
        sentence += "; its cores were saturated: this is its cost per request"
        return found(limit, 0, sentence, "")
    sentence += ": its cores were not saturated, so another limit was measured"
    return found(limit, len(names), sentence, REMEDY, tables=[entry.table for entry in group])
