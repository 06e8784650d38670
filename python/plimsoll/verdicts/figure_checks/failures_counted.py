"""How many requests failed, and does the throughput have them in it?

ab, hey and oha count requests that failed in their requests per second, so a server that refuses
connections looks fast. wrk, autocannon and others count answers of any status. The check says what
throughput is left when what failed is taken out.

Source: documentation and source of each tool, named in its reader.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.verdicts import wording
from plimsoll.verdicts.finding import Finding, found, verdict

if TYPE_CHECKING:
    from plimsoll.published.figures import Figures
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "failures_counted"
NEEDS = "how many requests failed, or that none did"
SOURCE = "what the tool's rate counts, by its documentation and source"


def judge(figures: Figures, limits: Limits) -> Verdict | None:
    """Whether few requests failed; None where nobody said how many."""
    bad = figures.unanswered + figures.wrong
    if not (figures.counts_failures or bad or figures.right_ratio is not None):
        return None
    findings = [_finding(figures, limits), *_never_sent(figures, limits)]
    return verdict(NAME, figures.label, findings, SOURCE)


def _never_sent(figures: Figures, limits: Limits) -> list[Finding]:
    """Requests that the tool itself left out."""
    if not figures.never_sent or not figures.ended:
        return []
    ratio = figures.never_sent / (figures.never_sent + figures.ended)
    sentence = (
        f"{wording.count(figures.never_sent)} requests were due and were never sent "
        f"({wording.percent(ratio)}): the load was less than was asked for, and "
        "their waiting is in no time"
    )
    remedy = "Give the load tool more connections or users, or ask for less"
    return [found(limits.of(NAME, "failed_ratio"), ratio, sentence, remedy)]


def _finding(figures: Figures, limits: Limits) -> Finding:
    limit = limits.of(NAME, "failed_ratio")
    bad = figures.unanswered + figures.wrong
    if not bad:
        return _by_ratio(figures, limits)
    kinds = {**figures.failures, **figures.wrong_answers}
    told = wording.listed([f"{kind} {wording.count(n)}" for kind, n in kinds.items()])
    remedy = "Find out why requests fail, and publish the failures beside the throughput"
    if not figures.ended:
        sentence = f"{wording.several(round(bad), 'request')} failed ({told}), of a number unknown"
        return Finding("doubtful", None, limit, sentence, remedy)
    ratio = min(bad / figures.ended, 1.0)
    sentence = (
        f"{wording.percent(ratio)} of {wording.count(figures.ended)} requests failed: {told}"
        f"{_without_them(figures)}"
    )
    return found(limit, ratio, sentence, remedy)


def _by_ratio(figures: Figures, limits: Limits) -> Finding:
    limit = limits.of(NAME, "failed_ratio")
    if figures.right_ratio is None or figures.right_ratio >= 1.0:
        return found(limit, 0.0, "no request failed, by the tool's own count", "")
    ratio = round(1.0 - figures.right_ratio, 9)
    sentence = f"{wording.percent(ratio)} of the requests failed"
    return found(limit, ratio, sentence, "Find out why requests fail, and publish how")


def _without_them(figures: Figures) -> str:
    """What the printed rate counts, and what it is without failures."""
    rate, ended = figures.throughput_per_s, figures.ended
    if rate is None or not ended or not figures.requests:
        return ""
    right = max(ended - figures.unanswered - figures.wrong, 0.0)
    left = rate * right / figures.requests
    if figures.counting == "right" or round(left) >= round(rate):
        return f"; the printed {wording.count(rate)} per second does not count them"
    return (
        f"; the printed {wording.count(rate)} per second counts them, and without them it is "
        f"{wording.count(left)}"
    )
