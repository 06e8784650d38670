"""Did the server call the upstream for each response?

A server that caches the upstream's responses is faster, and its own may still be correct.
The upstream is a witness: it counts the requests that it received over the life of the server. Each
right response of the warm-up of its runtime, of the load and of the contract checks needs one of
them. A response that takes less time than the upstream did not wait for it.

No other program calls the upstream, so a surplus comes from a server that calls it more than once;
that is not a fault.

Source: the reference server's own count of requests, and its service time (docs/calibration.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.aggregate import by_figures
from plimsoll.verdicts.finding import (
    Finding,
    found,
    inapplicable,
    meaning,
    not_checked,
    of_trial,
    unknown,
)
from plimsoll.verdicts.limits import PROPOSAL, Limit
from plimsoll.verdicts.role import Role

if TYPE_CHECKING:
    from plimsoll.aggregate.trial import Tables
    from plimsoll.recording import RecordedUpstream
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "responses_from_upstream"
TITLE = "Responses came from the upstream"
PROBLEM = "Responses not from the upstream"
SOURCE = "requests by the upstream's own count, against responses; its service time"
UNCALLED_RATIO = Limit(
    NAME,
    "uncalled_ratio",
    "above",
    0.001,
    0.01,
    "ratio",
    "responses for which the upstream received no request / responses",
    PROPOSAL,
)
LEAST_RATIO = Limit(
    NAME,
    "least_ratio",
    "below",
    None,
    1.0,
    "ratio",
    "time of the fastest response / service time of the upstream",
    PROPOSAL,
)
LIMITS = (UNCALLED_RATIO, LEAST_RATIO)
NEEDS = None
ROLE = Role(blames_server=frozenset(one.name for one in LIMITS))
REMEDY = "Make the server call the upstream for every response; disable its cache"
STOPPED = "Check whether the upstream was killed, and measure again"


def judge(tables: Tables, limits: Limits) -> Verdict:
    """Whether the server called the upstream for each response, and waited for it."""
    return of_trial(NAME, tables.recording, _findings(tables, limits), SOURCE)


def _findings(tables: Tables, limits: Limits) -> list[Finding]:
    upstream, limit = tables.recording.upstream, limits.of(UNCALLED_RATIO)
    if upstream is None:
        return [inapplicable(limit, "the endpoint needs no upstream")]
    least_ns = tables.summary.service_time.min_ns
    is_recorded = by_figures.figures_of(tables.recording) is None
    fastest = (
        [] if least_ns is None or not is_recorded else [_fastest(limits, least_ns / 1e9, upstream)]
    )
    return [_asked(tables, limit, upstream), *fastest]


def _asked(tables: Tables, limit: Limit, upstream: RecordedUpstream) -> Finding:
    if upstream.requests is None:
        return unknown(limit, "the upstream ended without its count", STOPPED)
    count = by_figures.responses_of_life(tables.recording, upstream.contract_responses)
    if count is None:
        return not_checked(limit, "the load generator does not report successful responses")
    ratio = max(count - upstream.requests, 0) / count if count else 0.0
    sentence = (
        f"the upstream received {wording.count(upstream.requests)} requests for "
        f"{wording.count(count)} responses"
    )
    if ratio:
        sentence += f": {wording.percent(wording.significant(ratio, 3) or 0.0)} came from elsewhere"
    return found(limit, ratio, sentence, REMEDY)


def _fastest(limits: Limits, least_s: float, upstream: RecordedUpstream) -> Finding:
    sentence = (
        f"the fastest response took {wording.seconds(least_s)}, the upstream takes "
        f"{wording.seconds(upstream.service_s)}"
    )
    finding = found(limits.of(LEAST_RATIO), least_s / upstream.service_s, sentence, REMEDY)
    return meaning(finding, "it did not wait for the upstream")
