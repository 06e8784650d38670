"""Does one number stand for two measurements of a server?

Two measurements hardly ever agree to the last of five digits. If they do at two endpoints or loads,
one number may have been copied into the other's place. Only throughputs of the same server are
compared, with five digits or more and not round: among hundreds of results of different servers
some agree by chance. Loads at a requested rate are left out, because they agree if they kept up.

Source: comparison of throughputs; the limit is a first proposal.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations
from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.verdicts.finding import found, verdict
from plimsoll.verdicts.limits import PROPOSAL, Limit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.tool_output.reported import ReportedStatistics
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "repeated_numbers"
TITLE = "Repeated numbers"
PROBLEM = "Repeated numbers"
NEEDS = "two throughputs of one server with five digits or more"
SOURCE = "one number in two places"
PAIRS = Limit(
    NAME,
    "pairs",
    "above",
    0.0,
    None,
    "pairs",
    "pairs of measurements of one server with the same throughput to the last digit",
    PROPOSAL,
)
LIMITS = (PAIRS,)
SUBJECT = "all together"
DIGITS = 5
TWO = 2


def judge(results: Sequence[ReportedStatistics], limits: Limits) -> Verdict | None:
    """Whether one throughput stands in two places; None where no server has two of them."""
    servers = [several for several in _servers(results) if len(several) >= TWO]
    if not servers:
        return None
    limit = limits.of(PAIRS)
    pairs = [
        f"{wording.every_digit(one.throughput_per_s or 0.0)} per second for {one.label} "
        f"and for {other.label}"
        for several in servers
        for one, other in combinations(several, TWO)
        if one.throughput_per_s == other.throughput_per_s
    ]
    if not pairs:
        sentence = "no two throughputs of one server are the same to the last digit"
        return verdict(NAME, SUBJECT, [found(limit, 0, sentence, "")], SOURCE)
    sentence = (
        f"the same number appears for two measurements: {wording.listed(pairs)}; two measurements "
        "hardly ever agree to the last digit"
    )
    remedy = "Check whether a number was copied into the wrong place"
    return verdict(NAME, SUBJECT, [found(limit, len(pairs), sentence, remedy)], SOURCE)


def _servers(results: Sequence[ReportedStatistics]) -> list[list[ReportedStatistics]]:
    """The results of each server whose throughputs have digits enough."""
    servers: dict[tuple[str, str], list[ReportedStatistics]] = defaultdict(list)
    for one in results:
        if one.subject and one.throughput_per_s and not one.is_open and _digits(one) >= DIGITS:
            servers[(one.tool, one.subject)].append(one)
    return list(servers.values())


def _digits(figures: ReportedStatistics) -> int:
    """Digits of a throughput; none of a round one, such as 20,000."""
    digits = f"{figures.throughput_per_s:.10g}".replace(".", "").lstrip("0")
    return 0 if digits.endswith("00") else len(digits)
