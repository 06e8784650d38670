"""Were the kinds of request mixed as the load says?

Measured is the greatest difference, over the kinds, between the share of a kind among the requests
sent in the holds and the share that its weight gives it. Kinds are drawn at random, so four
standard deviations of a drawn share, √(p (1 − p) / n), are no difference.

A mix that lost some of its slow requests is faster than the one that was asked for.

Source: the variance of a binomial share.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

from plimsoll.verdicts import wording
from plimsoll.verdicts.finding import Finding, found, not_asked, unknown, verdict

if TYPE_CHECKING:
    from plimsoll.aggregate.trial import Tables
    from plimsoll.recording import Recording
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "mix_as_intended"
SOURCE = "share of each kind among the requests sent, against its weight"
CHANCE = 4.0
"""A drawn share differs by so many standard deviations by chance."""


def judge(tables: Tables, limits: Limits) -> Verdict:
    """Whether the kinds of request were mixed as the load says."""
    return verdict(NAME, tables.recording.trial, [_finding(tables, limits)], SOURCE)


def _finding(tables: Tables, limits: Limits) -> Finding:
    recording = tables.recording
    limit = limits.of(NAME, "share_difference")
    if len(recording.requests) == 1:
        return not_asked(limit, "the load has one kind of request, so there is no mix")
    if recording.load.get("model") == "unknown":
        sentence = "how the kinds of request should be mixed is not known"
        return unknown(limit, sentence, "Put on the load with Plimsoll")
    planned = _planned(recording)
    counts = {kind.request: kind.held for kind in tables.kind_counts}
    total = sum(counts.values())
    if not planned or not total:
        sentence = "how the kinds of request should be mixed is not recorded, or none was sent"
        return unknown(limit, sentence, "Repeat the trial with this version of Plimsoll")
    differences = [
        (_beyond_chance(counts.get(kind, 0) / total, share, total), kind)
        for kind, share in enumerate(planned)
    ]
    worst, kind = max(differences)
    sentence = (
        f"of {wording.count(total)} requests {wording.percent(counts.get(kind, 0) / total)} were "
        f"`{recording.requests[kind]}`, of which {wording.percent(planned[kind])} were asked for"
    )
    remedy = "Do not compare this trial with others; repeat it, and report a fault if it recurs"
    return found(limit, worst, sentence, remedy)


def _planned(recording: Recording) -> list[float]:
    """Share of each kind by its weight; empty when the recording does not say."""
    weights = recording.request_weights
    total = sum(weights)
    return [weight / total for weight in weights] if total else []


def _beyond_chance(share: float, planned: float, total: int) -> float:
    chance = CHANCE * sqrt(planned * (1 - planned) / total)
    return max(abs(share - planned) - chance, 0.0)
