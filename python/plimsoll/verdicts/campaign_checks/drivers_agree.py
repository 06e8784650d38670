"""Do different drivers report the same for one server under one load?

This concerns each framework, endpoint and load that several drivers generate. The throughput that a
driver reports is compared with that of Plimsoll's engine (without it, of the first driver by name):

    apart = max(ratio, 1 / ratio) − 1,  ratio = median by the driver / median by the other

A difference within chance, where the 95 % interval of the ratio contains 1, is none. Beyond the
limit, a number depends on the tool as much as on the server: tools differ in when they open
connections, in what they count, and in how much of the machine they take.

Only repetitions that count are compared. A campaign with one driver gets no verdict.

Source: method comparison as in J. M. Bland and D. G. Altman, Statistical methods for assessing
agreement between two methods of clinical measurement, Lancet 327, 1986; the limit is a proposal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.comparison.driver_comparison import THROUGHPUT, disagreements
from plimsoll.plan import ComparedTable
from plimsoll.verdicts.finding import Finding, found, verdict
from plimsoll.verdicts.limits import PROPOSAL, Limit
from plimsoll.verdicts.verdict import CAMPAIGN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.comparison.comparisons import ComparedTrial
    from plimsoll.comparison.driver_comparison import ByDriver, Disagreement
    from plimsoll.verdicts.limits import Limit, Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "drivers_agree"
TITLE = "Drivers agree"
PROBLEM = "Load generators disagree"
SOURCE = (
    "throughput by each load generator against that by our engine; J. M. Bland and D. G. Altman, "
    "1986"
)
APART_RATIO = Limit(
    NAME,
    "apart_ratio",
    "above",
    0.1,
    None,
    "ratio",
    "throughput by one driver / that by our engine, or its inverse if greater, minus 1",
    PROPOSAL + "; drivers that share a machine with the server take cores from it",
)
LIMITS = (APART_RATIO,)
REMEDY = (
    "See in the section on drivers which checks each of them fails; where no load generator was "
    "short of "
    "cores, quote these numbers with the name of the tool"
)


def judge(repetitions: Sequence[ComparedTrial], limits: Limits) -> tuple[Verdict, ...]:
    """Whether several drivers report the same throughput of each server.

    Args:
        repetitions: The trials of a campaign.
        limits: The limits of the campaign.
    """
    limit = limits.of(APART_RATIO)
    compared = [
        (one, by, by.apart)
        for one in disagreements(repetitions)
        for by in one.drivers
        if by.apart is not None and by.counts
    ]
    if not compared:
        return ()
    beyond = [_finding(*pair, limit) for pair in compared if not pair[1].may_agree]
    doubted = [finding for finding in beyond if finding.level != "sound"]
    return (verdict(NAME, CAMPAIGN, doubted or [_agreeing(compared, limit)], SOURCE),)


def _finding(one: Disagreement, by: ByDriver, apart: float, limit: Limit) -> Finding:
    """The finding on one driver that reports another throughput."""
    ours = next(other for other in one.drivers if other.driver == one.against)
    verb = "more" if by.ratio is not None and by.ratio.value > 1 else "fewer"
    numbers = (wording.count(other.numbers[THROUGHPUT].value) for other in (by, ours))
    reported, expected = numbers
    sentence = (
        f"of {one.title}, {by.driver} reports {reported} requests/s and {one.against} "
        f"{expected}: {wording.percent(round(apart, 4))} {verb}"
    )
    tables = [ComparedTable(one.endpoint, one.load, name) for name in (by.driver, one.against)]
    return found(limit, apart, sentence, REMEDY, tables=tables)


def _agreeing(compared: Sequence[tuple[Disagreement, ByDriver, float]], limit: Limit) -> Finding:
    """The finding if no driver lies beyond the limit."""
    one, by, apart = max(compared, key=lambda pair: pair[2])
    sentence = (
        f"{wording.several(len(compared), 'comparison')} of drivers agree; farthest apart is "
        f"{by.driver} on {one.title}, {wording.percent(round(apart, 4))} from {one.against}"
    )
    within = apart if limit.level(apart) == "sound" else 0.0
    if within != apart:
        sentence += ", within chance"
    return found(limit, within, sentence, "")
