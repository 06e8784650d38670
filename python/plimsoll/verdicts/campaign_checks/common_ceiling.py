"""Do different servers stop at the same number, although none of them is at its own limit?

If three or more different frameworks lie within 2 % at the top of one table, and their own cores
had time to spare, they met a shared limit: the load generator, the network, or the load itself. The
ranking among them then means nothing. A server that kept its cores busy has a limit of its own and
is not counted; variants of one framework count once.

Only loads at full speed count: at a requested rate, servers are alike because they all kept up.

Source: comparison of throughputs at the top; the widths are first proposals.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.comparison.entries import entries, fields
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

NAME = "common_ceiling"
TITLE = "Common ceiling"
PROBLEM = "Common ceiling"
SOURCE = "different servers with the same throughput"
SERVERS = Limit(
    NAME,
    "servers",
    "above",
    2.0,
    None,
    "servers",
    "different servers with the same greatest throughput, none of them saturated",
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
    SERVERS,
    WITHIN_RATIO,
    SERVER_BUSY_RATIO,
)
FEWEST = 3
REMEDY = (
    "Do not rank these servers against each other; look for what they share: more cores for the "
    "load generator, another network, longer responses"
)


def judge(repetitions: Sequence[ComparedTrial], limits: Limits) -> tuple[Verdict, ...]:
    """Whether different servers stop at the same number, for each endpoint, load and driver.

    Args:
        repetitions: The trials of a campaign.
        limits: The limits of the campaign.
    """
    findings = [
        _field(field, limits)
        for field in fields(entries(repetitions))
        if field[0].is_saturating and len({entry.name for entry in field}) >= FEWEST
    ]
    return (verdict(NAME, CAMPAIGN, findings, SOURCE),) if findings else ()


def _field(field: Sequence[Entry], limits: Limits) -> Finding:
    """One endpoint and load, by one driver."""
    limit = limits.of(SERVERS)
    within = limits.of(WITHIN_RATIO).doubtful or 0.0
    by_title = {entry.framework: entry for entry in field}
    throughputs = {title: entry.throughput for title, entry in by_title.items()}
    top = [by_title[title] for title in sameness.top_group(throughputs, within)]
    busy = limits.of(SERVER_BUSY_RATIO)
    unexplained = [entry for entry in top if busy.level(entry.server_busy_ratio) != "sound"]
    count = len({entry.name for entry in unexplained})
    if limit.level(count) == "sound":
        sentence = "at every endpoint, servers differ or are saturated"
        return found(limit, count, sentence, "")
    names = wording.listed([entry.framework for entry in unexplained], most=6)
    sentence = (
        f"at {field[0].field}, {count} servers reach the same throughput ({names}: "
        f"{_span([entry.throughput for entry in unexplained])} requests/s), and "
        f"{_busy(unexplained)}: "
        "a shared limit was measured"
    )
    return found(limit, count, sentence, REMEDY, tables=(field[0].table,))


def _span(throughputs: Sequence[float]) -> str:
    least, most = wording.count(min(throughputs)), wording.count(max(throughputs))
    return least if least == most else f"{least} to {most}"


def _busy(group: Sequence[Entry]) -> str:
    ratios = [entry.server_busy_ratio for entry in group]
    known = [ratio for ratio in ratios if ratio is not None]
    if len(known) < len(group):
        return "CPU use of their cores could not be read"
    return f"the busiest of them used {wording.percent(round(max(known), 3))} of its cores"
