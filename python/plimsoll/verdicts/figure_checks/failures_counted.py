"""How many requests failed, and does the throughput include them?

ab, hey and oha count failed requests in their requests per second, so a server that refuses
connections looks fast. wrk, autocannon and others count responses of any status. The check gives
the throughput without the failures. A run in which no request ended is void, though none failed.

Responses of another length than the first are failures by ab. Those of a page that changes are
correct, and nothing that ab prints tells them from truncated ones, except connections that were
closed. They are doubtful if nothing else failed.

Source: documentation and source of each tool, named in its reader.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.tool_output.reported import OTHER_LENGTH
from plimsoll.verdicts.finding import Finding, found, verdict
from plimsoll.verdicts.limits import PROPOSAL, Limit
from plimsoll.verdicts.needs import FigureComparison

if TYPE_CHECKING:
    from plimsoll.tool_output.reported import ReportedStatistics
    from plimsoll.verdicts.limits import Limit, Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "failures_counted"
TITLE = "Failures counted"
PROBLEM = "Failures"
IS_POSSIBLE = True
"""A void verdict says that requests failed, and not that figures cannot be."""
NEEDS = "how many requests failed, or that none did"
COMPARES: FigureComparison = "shares"
SOURCE = "what the tool's rate counts, by its documentation and source"
FAILED_RATIO = Limit(
    NAME,
    "failed_ratio",
    "above",
    0.001,
    0.05,
    "ratio",
    "requests without a correct response / requests that ended",
    PROPOSAL,
)
LIMITS = (FAILED_RATIO,)
SILENT = "Find out why the server responded to no request"


def judge(figures: ReportedStatistics, limits: Limits) -> Verdict | None:
    """Whether few requests failed; None if their number is unknown."""
    bad = figures.without_response + figures.wrong
    if not (figures.counts_failures or bad or figures.right_ratio is not None):
        return None
    findings = [_finding(figures, limits), *_never_sent(figures, limits)]
    return verdict(NAME, figures.label, findings, SOURCE)


def _never_sent(figures: ReportedStatistics, limits: Limits) -> list[Finding]:
    """Requests that the tool itself left out."""
    if not figures.never_sent or not figures.ended:
        return []
    ratio = figures.never_sent / (figures.never_sent + figures.ended)
    sentence = (
        f"{wording.count(figures.never_sent)} requests were never sent ({wording.percent(ratio)}): "
        "the offered load was lower than requested, and the time they waited is missing from "
        "every latency"
    )
    remedy = "Give the load generator more connections or users, or request a lower rate"
    return [found(limits.of(FAILED_RATIO), ratio, sentence, remedy)]


def _finding(figures: ReportedStatistics, limits: Limits) -> Finding:
    limit = limits.of(FAILED_RATIO)
    bad = figures.without_response + figures.wrong
    if not bad and figures.ended == 0:
        return Finding("void", None, limit, "no request ended, with or without a response", SILENT)
    if not bad:
        return _by_ratio(figures, limits)
    kinds = {**figures.failures, **figures.wrong_responses}
    reported = wording.listed([f"{kind} {wording.count(n)}" for kind, n in kinds.items()])
    remedy = "Find out why requests fail, and publish the failures beside the throughput"
    if not figures.ended:
        sentence = (
            f"{wording.several(round(bad), 'request')} failed ({reported}), of an unknown total"
        )
        return Finding("doubtful", None, limit, sentence, remedy)
    if _may_differ(figures):
        return _other_lengths(figures, limit)
    ratio = min(bad / figures.ended, 1.0)
    sentence = (
        f"{wording.percent(ratio)} of {wording.count(figures.ended)} requests failed: {reported}"
        f"{_without_them(figures)}"
    )
    return found(limit, ratio, sentence, remedy)


def _may_differ(figures: ReportedStatistics) -> bool:
    """Whether lengths alone are wrong, as of a page that changes."""
    return set(figures.wrong_responses) == {OTHER_LENGTH} and not figures.without_response


def _other_lengths(figures: ReportedStatistics, limit: Limit) -> Finding:
    """Responses of a dynamic page differ in length, and the tool calls them failed."""
    ratio = min(figures.wrong / (figures.ended or figures.wrong), 1.0)
    sentence = (
        f"{wording.percent(ratio)} of the responses were not as long as the first"
        f"{_lengths(figures)}; each had a status of 2xx, so the page may change"
    )
    remedy = "Allow the tool varying lengths (`ab -l`), and compare bodies"
    finding = found(limit, ratio, sentence, remedy)
    return replace(finding, level="doubtful") if finding.level == "void" else finding


def _lengths(figures: ReportedStatistics) -> str:
    """The first length and the mean, as far as they are known."""
    first, mean = figures.body_bytes, figures.mean_body_bytes
    if first is None:
        return ""
    stated = f", which had {wording.amount(first)} bytes"
    return stated if mean is None else f"{stated} (the mean is {wording.amount(mean)})"


def _by_ratio(figures: ReportedStatistics, limits: Limits) -> Finding:
    limit = limits.of(FAILED_RATIO)
    if figures.right_ratio is None or figures.right_ratio >= 1.0:
        return found(limit, 0.0, "no request failed, by the tool's own count", "")
    ratio = round(1.0 - figures.right_ratio, 9)
    sentence = f"{wording.percent(ratio)} of the requests failed"
    return found(limit, ratio, sentence, "Find out why requests fail, and publish how")


def _without_them(figures: ReportedStatistics) -> str:
    """What the printed rate counts, and what it is without failures."""
    rate, ended = figures.throughput_per_s, figures.ended
    if rate is None or not ended or not figures.requests:
        return ""
    right = max(ended - figures.without_response - figures.wrong, 0.0)
    left = rate * right / figures.requests
    if figures.counting == "successful" or round(left) >= round(rate):
        return f"; the printed {wording.amount(rate)} per second does not count them"
    return (
        f"; the printed {wording.amount(rate)} per second counts them, and without them it is "
        f"{wording.amount(left)}"
    )
