"""Do different servers stop at the same number, although none of them is at its own limit?

Where three or more different frameworks lie within 2 % at the top of one endpoint and load, and
their own cores had time to spare, something that they share was the limit: the driver, the network,
or the load itself. The ranking among them then says nothing. A server that kept its cores busy has
a limit of its own and is not counted; variants of one framework count once.

Only loads that ask for as much as can be had are looked at: at a rate that was asked for, servers
are alike because they all kept up.

Source: comparison of throughputs at the top; the widths are first proposals.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.aggregate.entries import entries, fields
from plimsoll.verdicts import sameness, wording
from plimsoll.verdicts.finding import Finding, found, verdict
from plimsoll.verdicts.verdict import CAMPAIGN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.aggregate.comparisons import Repetition
    from plimsoll.aggregate.entries import Entry
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "common_ceiling"
SOURCE = "different servers, one number"
FEWEST = 3
REMEDY = (
    "Do not rank these servers against each other; look for what they share: more cores for the "
    "driver, another network, longer answers"
)


def judge(repetitions: Sequence[Repetition], limits: Limits) -> tuple[Verdict, ...]:
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
    limit = limits.of(NAME, "servers")
    within = limits.of(NAME, "within_ratio").doubtful or 0.0
    by_title = {entry.framework: entry for entry in field}
    throughputs = {title: entry.throughput for title, entry in by_title.items()}
    top = [by_title[title] for title in sameness.top_group(throughputs, within)]
    unexplained = [entry for entry in top if not _is_at_its_limit(entry, limits)]
    count = len({entry.name for entry in unexplained})
    if limit.level(count) == "sound":
        sentence = "at no endpoint do different servers stop at one number without reason"
        return found(limit, count, sentence, "")
    names = wording.listed([entry.framework for entry in unexplained], most=6)
    sentence = (
        f"at {field[0].field}, {count} different servers stop at one number: {names} answer "
        f"{_span([entry.throughput for entry in unexplained])} requests per second, and "
        f"{_busy(unexplained)}; so something else was the limit"
    )
    return found(limit, count, sentence, REMEDY)


def _is_at_its_limit(entry: Entry, limits: Limits) -> bool:
    ratio = entry.server_busy_ratio
    return ratio is not None and limits.of(NAME, "server_busy_ratio").level(ratio) == "sound"


def _span(throughputs: Sequence[float]) -> str:
    least, most = wording.count(min(throughputs)), wording.count(max(throughputs))
    return least if least == most else f"{least} to {most}"


def _busy(group: Sequence[Entry]) -> str:
    ratios = [entry.server_busy_ratio for entry in group]
    known = [ratio for ratio in ratios if ratio is not None]
    if len(known) < len(group):
        return "how busy their cores were could not be read"
    return f"the busiest of them used {wording.percent(round(max(known), 3))} of its cores"
