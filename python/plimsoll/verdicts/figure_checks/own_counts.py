"""Does a tool agree with itself: its rate with its count, its bytes with their rate?

Rate × duration is the number of requests, and bytes per second × duration are the bytes. Both are
printed, rounded, so they agree within that. wrk prints the rate of a thread too, as the mean over
short stretches. ab's "time per request" is connections / rate by definition: it agrees whatever
happened, and where it does not, the two were not printed by the same run.

Source: arithmetic; what each tool prints is told by its own documentation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.verdicts import wording
from plimsoll.verdicts.finding import Finding, found, verdict

if TYPE_CHECKING:
    from plimsoll.published.figures import Figures
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "own_counts"
NEEDS = "throughput, and requests with the duration"
SOURCE = "rate × duration against the tool's own count"
REMEDY = "See whether the figures are of one and the same run"


def judge(figures: Figures, limits: Limits) -> Verdict | None:
    """Whether a tool's figures agree with each other; None where none can be compared."""
    findings = [
        *_requests(figures, limits),
        *_bytes(figures, limits),
        *_threads(figures, limits),
        *_time_per_request(figures, limits),
    ]
    return verdict(NAME, figures.label, findings, SOURCE) if findings else None


def _apart(one: float, other: float) -> float:
    """How far apart two numbers are, as a share of the greater."""
    most = max(one, other)
    return abs(one - other) / most if most else 0.0


def _requests(figures: Figures, limits: Limits) -> list[Finding]:
    return _over_time(figures, limits, "requests", figures.throughput_per_s, figures.requests)


def _bytes(figures: Figures, limits: Limits) -> list[Finding]:
    rate_per_s, counted = figures.received_per_s, figures.received_bytes
    return _over_time(figures, limits, "bytes", rate_per_s, counted)


def _over_time(
    figures: Figures, limits: Limits, what: str, rate_per_s: float | None, counted: float | None
) -> list[Finding]:
    """A rate × the length of the measurement, against what was counted."""
    lasted_s = figures.duration_s
    if rate_per_s is None or lasted_s is None or counted is None:
        return []
    sentence = (
        f"{wording.count(rate_per_s)} {what} per second for {wording.seconds(lasted_s)} are "
        f"{wording.count(rate_per_s * lasted_s)}, and {wording.count(counted)} were counted"
    )
    limit = limits.of(NAME, "apart_ratio")
    return [found(limit, _apart(rate_per_s * lasted_s, counted), sentence, REMEDY)]


def _threads(figures: Figures, limits: Limits) -> list[Finding]:
    each, rate, threads = figures.thread_throughput_per_s, figures.throughput_per_s, figures.threads
    if each is None or rate is None or not threads:
        return []
    sentence = (
        f"{wording.several(threads, 'thread')} with {wording.count(each)} requests per second each "
        f"are {wording.count(each * threads)}, and the rate of all is {wording.count(rate)}"
    )
    remedy = "The rate was not steady, or some threads had less to do; measure for longer"
    return [
        found(
            limits.of(NAME, "threads_apart_ratio"), _apart(each * threads, rate), sentence, remedy
        )
    ]


def _time_per_request(figures: Figures, limits: Limits) -> list[Finding]:
    each_s, rate, asked = (
        figures.time_per_request_s, figures.throughput_per_s, figures.connections
    )  # fmt: skip
    if each_s is None or rate is None or not asked:
        return []
    sentence = (
        f"{wording.amount(rate)} requests per second × {wording.seconds(each_s)} for each are "
        f"{wording.amount(rate * each_s)}, and {wording.amount(asked)} connections were asked for; "
        "the tool works this time out from the other two, so that it agrees says nothing of the "
        "server"
    )
    limit = limits.of(NAME, "apart_ratio")
    return [found(limit, _apart(rate * each_s, asked), sentence, REMEDY)]
