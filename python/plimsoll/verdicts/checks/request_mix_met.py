"""Were the request types mixed as the load specifies?

The check compares each request type's share of the requests sent in the measurement windows with
the share that its weight specifies, and measures the greatest difference. Types are drawn at
random, so a difference within four standard deviations of a drawn share, √(p (1 − p) / n), is
chance.

A mix that lost some of its slow requests is faster than the requested one.

Source: the variance of a binomial share.
"""

from __future__ import annotations

from collections import Counter
from math import sqrt
from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.verdicts.finding import Finding, found, inapplicable, not_checked, of_trial
from plimsoll.verdicts.limits import PROPOSAL, Limit
from plimsoll.verdicts.needs import EveryRequest
from plimsoll.verdicts.remedies import REPEAT
from plimsoll.verdicts.role import Role

if TYPE_CHECKING:
    from plimsoll.aggregate.trial import Tables
    from plimsoll.recording import Recording
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "request_mix_met"
TITLE = "Request mix met"
PROBLEM = "Request mix missed"
SOURCE = "share of each kind among the requests sent, against its weight"
SHARE_DIFFERENCE = Limit(
    NAME,
    "share_difference",
    "above",
    0.01,
    0.03,
    "ratio",
    "greatest difference of a kind's share from the one requested, beyond chance",
    PROPOSAL,
)
LIMITS = (SHARE_DIFFERENCE,)
NEEDS = EveryRequest(
    SHARE_DIFFERENCE, "how often each request type was sent is unknown", of_one_type=False
)
ROLE = Role(needs_no_time=True)
CHANCE = 4.0
"""A drawn share differs by so many standard deviations by chance."""


def judge(tables: Tables, limits: Limits) -> Verdict:
    """Whether the request types were mixed as the load specifies."""
    return of_trial(NAME, tables.recording, [_finding(tables, limits)], SOURCE)


def _finding(tables: Tables, limits: Limits) -> Finding:
    recording = tables.recording
    limit = limits.of(SHARE_DIFFERENCE)
    if len({*recording.requests}) == 1:
        return inapplicable(limit, "the load has one request type, so there is no mix")
    if recording.load.model == "unknown":
        sentence = "the requested mix is unknown"
        return not_checked(limit, sentence)
    planned = _planned(recording)
    counts = _held(tables)
    total = counts.total()
    if not planned or not total:
        sentence = "the requested mix is not recorded, or no request was sent"
        return not_checked(limit, sentence)
    differences = [
        (_beyond_chance(counts[kind] / total, share, total), kind)
        for kind, share in planned.items()
    ]
    worst, kind = max(differences)
    sentence = (
        f"of {wording.count(total)} requests {wording.percent(counts[kind] / total)} were "
        f"`{kind}`; {wording.percent(planned[kind])} were requested"
    )
    return found(limit, worst, sentence, REPEAT)


def _held(tables: Tables) -> Counter[str]:
    """Requests of each kind that were sent in the holds; those of the same name are one kind."""
    held = Counter[str]()
    for kind in tables.kind_counts:
        held[tables.recording.requests[kind.request]] += kind.held
    return held


def _planned(recording: Recording) -> dict[str, float]:
    """Share of each kind by its weight; empty when the recording does not say."""
    weights = recording.request_weights
    total = sum(weights)
    planned = dict.fromkeys(recording.requests, 0.0) if total else {}
    for name, weight in zip(recording.requests, weights, strict=False):
        planned[name] += weight / total
    return planned


def _beyond_chance(share: float, planned: float, total: int) -> float:
    chance = CHANCE * sqrt(planned * (1 - planned) / total)
    return max(abs(share - planned) - chance, 0.0)
