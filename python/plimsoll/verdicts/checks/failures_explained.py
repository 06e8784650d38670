"""Did few requests fail, and is the cause of each failure known?

The check measures the share of requests that ended in the measurement windows without a complete
response: no connection, connection lost, timed out, not HTTP, never sent. `responses_correct`
judges wrong responses. A few failures may pass, but not a connection that the server closed or
reset with requests on it: a server that closes in good order announces it with its last response. A
failure is explained if its outcome has a name and, where the system gives one, an error number.

A server's failures are a result, but latencies leave them out. So a trial is void from 1 % on: then
the 99th percentile of all requests is one that failed, however short that of the responses is. If
they are timeouts, the verdict says what the percentile is with them. Wrong responses void a trial
from the same share on.

A try of a load line may leave a hundredth of its requests unsent. Those that still waited for a
connection when it ended are no failures, because the line holds them against its own limits.

Nor do latencies have requests that were still in flight when the load ended. One that had waited
for a second, and for ten times the highest known percentile (of few responses: the longest), hung:
the load ended before its timeout did. One of a shorter wait was queued, or met a stall. But where
so many waited that a percentile of all requests is at least twice that of the responses, or five
times, latencies are wrong: `aggregate.unfinished` bounds them. A server that hangs before the end
of an open load does that, because a rate does not wait for responses.

Source: load tools that count "socket errors" without a number leave their users to guess whether
the server, the driver or the network failed.
"""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.aggregate import timeouts
from plimsoll.aggregate.outcomes import BY_NAME, COMPLETED, NOT_FAILED, UNENDED, error_name
from plimsoll.aggregate.query import SECOND_NS
from plimsoll.load_line.limits import SENDING
from plimsoll.load_line.tries import is_try
from plimsoll.verdicts import closed_connections, unanswered_load
from plimsoll.verdicts.finding import Finding, Remedy, found, led_by, not_checked, of_trial, unknown
from plimsoll.verdicts.limits import PROPOSAL, Limit
from plimsoll.verdicts.remedies import KEEP_OR_NOT, NO_RESPONSE, WHY_IT_STALLED
from plimsoll.verdicts.role import Role
from plimsoll.verdicts.verdict import LEVELS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plimsoll.aggregate.check_inputs import OutcomeCount
    from plimsoll.aggregate.trial import Tables
    from plimsoll.tool_output.reported import ReportedStatistics
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "failures_explained"
TITLE = "Failures explained"
PROBLEM = "Requests without response"
SOURCE = "requests without a complete response / requests that ended, in the measurement window"
FAILED_RATIO = Limit(
    NAME,
    "failed_ratio",
    "above",
    0.001,
    0.01,
    "ratio",
    "requests of the measurement window without a complete response / requests that ended in the "
    "measurement window",
    "from there on, p99.9 and p99 of the responses are not those of the requests",
)
LOST_REQUESTS = Limit(
    NAME,
    "lost_requests",
    "above",
    0.0,
    None,
    "requests",
    "requests of the measurement window lost with a connection that the server closed or reset",
    "RFC 9112, section 9.6: a server announces that it closes, so that no request is lost",
)
HUNG_RATIO = Limit(
    NAME,
    "hung_ratio",
    "above",
    0.0,
    0.01,
    "ratio",
    "requests that hung until the load ended / those and the requests of the measurement window "
    "that ended",
    "a server that does not respond has failed; from 1 % on, the 99th percentile is one of these",
)
HIDDEN_RATIO = Limit(
    NAME,
    "hidden_ratio",
    "above",
    2.0,
    5.0,
    "ratio",
    "percentile of all requests, at least, if those in flight at the end of the load had ended "
    "then / that of the responses",
    PROPOSAL,
)
UNEXPLAINED_RATIO = Limit(
    NAME,
    "unexplained_ratio",
    "above",
    0.0,
    0.001,
    "ratio",
    "failures with unknown outcome, or without their system error number / all requests",
    PROPOSAL,
)
LIMITS = (
    FAILED_RATIO,
    LOST_REQUESTS,
    HUNG_RATIO,
    HIDDEN_RATIO,
    UNEXPLAINED_RATIO,
)
NEEDS = None
ROLE = Role(
    misled_by=frozenset({"long_stall", "full_queue", "no_streams"}),
    misled_in={"no_streams": frozenset({FAILED_RATIO.name, HUNG_RATIO.name, HIDDEN_RATIO.name})},
    needs_no_time=True,
    blames_server=frozenset({FAILED_RATIO.name, HUNG_RATIO.name, HIDDEN_RATIO.name}),
    explains_goodput=True,
)
HUNG_TIMES = 10
"""Where the timeout is so many times the highest known percentile, requests hung: they were not
queued."""
HUNG_S = 1.0
"""A shorter wait at the end of a load may be a stall."""
HIDDEN = {"p99": 0.01, "p999": 0.001}
"""Percentiles, and the share of requests from which on each of them is one of these at least."""
LIKELY = 0.5
"""Waits for responses filled the pool where they took this share of what was not sent, or more."""
LONG_NS = 100_000_000
"""A shorter wait of a connection may be that of a queue."""
REMEDIES: dict[str, Remedy | str] = {
    "connect": "Check that the server listened, and that free ports and file descriptors remained",
    "lost": Remedy(
        "Find in `server.log` why it closed or reset connections",
        "Find in the server's log why it closed or reset connections",
    ),
    "timed_out": Remedy(
        "Request fewer connections, or allow more time for a response (`timeout`)",
        "Request fewer connections (`-c`), or allow more time for a response (`--timeout`)",
        "Use fewer users, or allow more time for a response",
    ),
    "open": Remedy(
        "Give the load more `connections`, or a lower rate",
        "Give the load more connections (`-c`), or a lower rate (`-R`)",
    ),
}
"""What to do about each group of failures."""
MALFORMED = "Inspect the bytes that the server sends: they are not valid {protocol}"
PROTOCOLS = {"http1": "HTTP/1.1", "http2": "HTTP/2", "websocket": "WebSocket"}
CUT = Remedy(
    "Find in `server.log` why it ended responses before their last byte",
    "Find in the server's log why it ended responses before their last byte",
)
"""What to do about bodies that are shorter than their head says."""


def judge(tables: Tables, limits: Limits) -> Verdict:
    """Whether failures are few and explained."""
    driver = tables.recording.driver
    if driver is not None and driver.figures is not None and driver.uses_reported_statistics:
        finding = _printed(driver.name, driver.figures, limits)
        return of_trial(NAME, tables.recording, [finding], SOURCE)
    few = _few(tables, limits)
    others = [_unfinished(tables, limits), _explained(tables, limits)]
    if few.level == "sound":
        others.append(_lost(tables, limits))
    return of_trial(NAME, tables.recording, led_by(few, *others), SOURCE)


def _printed(name: str, figures: ReportedStatistics, limits: Limits) -> Finding:
    """What a load generator printed of failures: never more than a kind and a number."""
    limit = limits.of(UNEXPLAINED_RATIO)
    if not any(figures.failures.values()):
        return found(limit, 0.0, f"`{name}` counted no request without a response", "")
    kinds = [f"{kind} {wording.count(number)}" for kind, number in figures.failures.items()]
    sentence = (
        f"`{name}` counted {wording.several(round(figures.without_response), 'request')} without a "
        f"response ({wording.listed(kinds)}) and reports no system error for them"
    )
    remedy = Remedy(
        "Use a load generator that records every request, such as our own engine",
        hosts="Fetch the rows, which say how each request ended: `plimsoll host rows`",
    )
    return unknown(limit, sentence, remedy)


def _few(tables: Tables, limits: Limits) -> Finding:
    limit = limits.of(FAILED_RATIO)
    if tables.recording.driver is None and tables.recording.ending.kind == "completed":
        return not_checked(limit, "this recording has no requests")
    driver = tables.recording.driver
    if driver is not None and not driver.has_outcomes:
        return not_checked(limit, "the load generator does not report which requests failed")
    return _counted(tables, limits, has_failures=driver is None or driver.has_failures)


def _counted(tables: Tables, limits: Limits, *, has_failures: bool) -> Finding:
    limit = limits.of(FAILED_RATIO)
    failures = [row for row in _failures(tables) if row.held]
    failed = sum(row.held for row in failures)
    ended = tables.summary.completed + failed
    driver = tables.recording.driver
    is_interrupted = driver is not None and driver.ended_by == "interrupt"
    if not tables.summary.completed and not failures and is_interrupted:
        return not_checked(limit, "the load was interrupted before a request ended")
    if (length_s := unanswered_load.length_s(tables)) is not None:
        sentence = (
            f"no request got a response in the load of {wording.seconds(length_s)}: responses take "
            "longer, or the server hung"
        )
        return found(limit, 1.0, sentence, unanswered_load.remedy(tables))
    if not tables.summary.completed:
        sentence = (
            "no request got a response in the measurement window: "
            f"{_reported(failures) or 'none ended'}"
        )
        return found(limit, 1.0, sentence, _remedy(tables, failures))
    if not failed and not has_failures:
        sentence = "the load generator does not record requests without a response"
        return not_checked(limit, sentence)
    if not failed:
        wrong = tables.summary.completed - tables.summary.ok
        some = f", {wording.count(wrong)} of them wrong" if wrong else ""
        sentence = (
            f"all {wording.count(ended)} requests of the measurement window got a complete "
            f"response{some}"
        )
        waiting = sum(row.held for row in _waiting(tables))
        if waiting:
            sentence = f"{sentence}; {wording.count(waiting)} more waited to be sent at the end"
        return found(limit, 0.0, sentence + _elsewhere(tables), "")
    sentence = (
        f"{wording.count(failed)} of {wording.several(ended, 'request')} in the measurement window "
        f"({wording.percent(failed / ended)}) got no complete response: {_reported(failures)}"
        f"{_elsewhere(tables)}"
    )
    further = (*_hidden(tables, failures), *_held_up(tables), *_closed(tables))
    return found(limit, failed / ended, sentence, _remedy(tables, failures), *further)


def _hidden(tables: Tables, failures: list[OutcomeCount]) -> Iterator[str]:
    """What a percentile of all requests is, where that of the responses leaves timeouts out."""
    times, timeout_s = tables.summary.response_time, tables.recording.load.timeout_s
    timed_out = timeouts.of_outcomes(failures, tables.summary.completed, timeout_s)
    for name in HIDDEN:
        measured_ns = times.of(name)
        if least_ns := timed_out.least_ns(name, measured_ns):
            instead = f", not {wording.seconds(measured_ns / SECOND_NS)}" if measured_ns else ""
            yield (
                f"latencies leave timeouts out: with them {name.replace('p999', 'p99.9')} is at "
                f"least {wording.seconds(least_ns / SECOND_NS)}{instead}"
            )
            return


def _held_up(tables: Tables) -> Iterator[str]:
    """That connections waited for the server while requests were due, which filled the pool."""
    if not _server_held_up(tables):
        return
    longest_ns, waited_ns = tables.summary.service_time.max_ns or 0.0, _waited_to_the_end_ns(tables)
    what = (
        f"requests waited until the load ended, for up to {wording.seconds(waited_ns / SECOND_NS)}"
        if waited_ns > longest_ns
        else f"responses took up to {wording.seconds(longest_ns / SECOND_NS)}"
    )
    yield f"{what}, and no connection was free meanwhile"


def _waited_to_the_end_ns(tables: Tables) -> int:
    """How long the first of the requests had waited that no response came to."""
    return tables.still_waiting(LONG_NS).longest_ns


def _server_held_up(tables: Tables) -> bool:
    """Whether long waits of single connections explain what was not sent."""
    unsent = sum(row.held for row in tables.outcome_counts if row.outcome == "not_sent")
    levels = [stage.mean_level for stage in tables.recording.holds]
    connections = max(tables.summary.open_connections or 0.0, 1.0)
    if tables.recording.load.model != "open" or not unsent or not sum(levels):
        return False
    lengths_ns = (end - start for start, end in tables.connection_stalls)
    at_the_end = tables.still_waiting(LONG_NS)
    until_the_end_ns = at_the_end.requests * (at_the_end.shortest_ns + at_the_end.longest_ns) / 2
    waited_ns = sum(one for one in lengths_ns if one >= LONG_NS) + until_the_end_ns
    waited_s = waited_ns / SECOND_NS / connections
    return waited_s >= LIKELY * unsent / fmean(levels)


def _lost(tables: Tables, limits: Limits) -> Finding:
    """Requests, however few, that went with a connection which the server closed or reset."""
    limit, lost = limits.of(LOST_REQUESTS), closed_connections.lost_requests(tables)
    ends = closed_connections.unannounced(tables)
    connections = f": {closed_connections.described(tables, ends)}" if ends else ""
    sentence = (
        f"{wording.several(lost, 'request')} were lost with connections that the server closed or "
        f"reset unannounced{connections}"
        if lost
        else "no request was lost with a connection"
    )
    return found(limit, float(lost), sentence, _why_lost(tables))


def _unfinished(tables: Tables, limits: Limits) -> Finding:
    """Requests without a response at the end: that they hide a percentile, or that some hung."""
    if tables.recording.load.events:
        sentence = "events come when the server sends them, so a stream that is quiet did not hang"
        return found(limits.of(HUNG_RATIO), 0.0, sentence, "")
    hung, hidden = _still_waiting(tables, limits), _hiding(tables, limits)
    return max(hidden, hung, key=lambda one: LEVELS.index(one.level))


def _hiding(tables: Tables, limits: Limits) -> Finding:
    """Requests in flight at the end of the load that waited for longer than responses took."""
    limit, unfinished = limits.of(HIDDEN_RATIO), tables.unfinished
    times = tables.summary.response_time
    ratios = {
        name: least_ns / measured_ns
        for name, least_ns in unfinished.at_least_ns.items()
        if name != "max" and (measured_ns := times.of(name))
    }
    if not ratios:
        return found(limit, 1.0, "no percentile is longer with requests that had not ended", "")
    name = max(ratios, key=lambda one: ratios[one])
    measured_ns, least_ns = times.of(name) or 0.0, unfinished.at_least_ns[name]
    sentence = (
        f"{wording.several(unfinished.requests, 'request')} had no response when the load ended, "
        f"after up to {wording.seconds(unfinished.longest_ns / SECOND_NS)}, and latencies leave "
        f"them out: with them {name.replace('p999', 'p99.9')} is at least "
        f"{wording.seconds(least_ns / SECOND_NS)}, not {wording.seconds(measured_ns / SECOND_NS)}"
    )
    return found(limit, ratios[name], sentence, NO_RESPONSE)


def _still_waiting(tables: Tables, limits: Limits) -> Finding:
    """Requests that hung until the load ended, so that no latency has them."""
    limit, slowest = limits.of(HUNG_RATIO), _slowest_known(tables)
    if slowest is None:
        return not_checked(limit, "too few responses to know which requests hung")
    name, time_ns = slowest
    hung = tables.still_waiting(int(max(HUNG_TIMES * time_ns, HUNG_S * SECOND_NS)))
    if not hung.requests:
        return found(limit, 0.0, "no request hung until the load ended", "")
    ended = sum(row.held for row in tables.outcome_counts if row.outcome not in UNENDED)
    ratio = hung.requests / (hung.requests + ended)
    sentence = (
        f"{wording.several(hung.requests, 'request')} hung until the load ended, for up to "
        f"{wording.seconds(hung.longest_ns / SECOND_NS)}, while {_named(name)} of the responses is "
        f"{wording.seconds(time_ns / SECOND_NS)}"
    )
    least = wording.seconds(hung.shortest_ns / SECOND_NS)
    meaning = (f"latencies leave them out: with them p99 is at least {least}",)
    return found(limit, ratio, sentence, NO_RESPONSE, *meaning * (ratio >= HIDDEN["p99"]))


def _named(percentile: str) -> str:
    return "the longest" if percentile == "max" else percentile


def _slowest_known(tables: Tables) -> tuple[str, float] | None:
    """The highest percentile of the response times that is known, up to p99; of few the longest."""
    times = tables.summary.response_time
    known = ((name, times.of(name)) for name in ("p99", "p95", "p90", "max"))
    return next(((name, time_ns) for name, time_ns in known if time_ns), None)


def _closed(tables: Tables) -> Iterator[str]:
    """Which connections the server closed so, if it did any with requests on them."""
    if closed_connections.abrupt(tables):
        ends = closed_connections.unannounced(tables)
        yield f"the server closed {closed_connections.described(tables, ends)}, unannounced"


def _failures(tables: Tables) -> list[OutcomeCount]:
    """How requests failed, most of them first; what a try of a load line may leave unsent did not.

    Args:
        tables: The tables of the trial.
    """
    waiting = _waiting(tables)
    return [row for row in tables.outcome_counts if _is_failure(row) and row not in waiting]


def _waiting(tables: Tables) -> list[OutcomeCount]:
    """Requests that waited to be sent when a try of a load line ended, no more than it may leave.

    The line holds them against its limits of sending and of latency.
    """
    unsent = [row for row in tables.outcome_counts if row.outcome == "not_sent"]
    due = sum(row.held for row in tables.outcome_counts)
    is_allowed = sum(row.held for row in unsent) <= SENDING.allowed * due
    return unsent if is_try(tables.recording) and is_allowed else []


def _is_failure(row: OutcomeCount) -> bool:
    return row.outcome not in NOT_FAILED and row.outcome not in COMPLETED


def _reported(failures: list[OutcomeCount]) -> str:
    ordered = sorted(failures, key=lambda row: -row.held)
    return wording.listed([f"{wording.count(row.held)} {_words(row)}" for row in ordered])


def _words(row: OutcomeCount) -> str:
    outcome = BY_NAME.get(row.outcome)
    words = f"with unknown outcome `{row.outcome}`" if outcome is None else outcome.words
    if row.errno is None:
        return words
    return f"{words} ({error_name(row.outcome, row.errno)})"


def _elsewhere(tables: Tables) -> str:
    outside = sum(row.requests - row.held for row in _failures(tables))
    return f", and {wording.count(outside)} outside the measurement window" if outside else ""


def _remedy(tables: Tables, failures: list[OutcomeCount]) -> Remedy | str:
    if not failures:
        return NO_RESPONSE
    # What was lost behind another failure is no cause.
    causes = [row for row in failures if row.outcome != closed_connections.BEHIND] or failures
    most = BY_NAME.get(max(causes, key=lambda row: row.held).outcome)
    if most is None:
        return ""
    if most.group == "malformed":
        return MALFORMED.format(protocol=PROTOCOLS[tables.recording.load.protocol])
    if most.group == "lost":
        return _why_lost(tables)
    if most.name == "not_sent" and _server_held_up(tables):
        longest_ns = tables.summary.service_time.max_ns or 0.0
        return NO_RESPONSE if _waited_to_the_end_ns(tables) > longest_ns else WHY_IT_STALLED
    return NO_RESPONSE if _hung(tables, most.group) else REMEDIES.get(most.group, "")


def _hung(tables: Tables, group: str) -> bool:
    """Whether requests timed out though responses took a fraction of the timeout."""
    timeout_s, slowest = tables.recording.load.timeout_s, _slowest_known(tables)
    if group != "timed_out" or not timeout_s or slowest is None:
        return False
    return slowest[1] * HUNG_TIMES <= timeout_s * SECOND_NS


def _why_lost(tables: Tables) -> Remedy | str:
    """What to do about connections that the server closed or reset."""
    if closed_connections.cuts_responses(tables):
        return CUT
    return KEEP_OR_NOT if closed_connections.closes_each(tables) else REMEDIES["lost"]


def _explained(tables: Tables, limits: Limits) -> Finding:
    limit = limits.of(UNEXPLAINED_RATIO)
    rows = [row for row in _failures(tables) if not _is_explained(row)]
    number = sum(row.requests for row in rows)
    total = sum(row.requests for row in tables.outcome_counts)
    names = wording.listed(sorted({f"`{row.outcome}`" for row in rows}))
    sentence = (
        f"the cause of {wording.several(number, 'failed request')} is unknown ({names}): outcome "
        "or "
        "system error number is missing"
        if number
        else "the cause of each failure is known"
    )
    remedy = "Use a load generator that records how each request failed"
    return found(limit, number / total if total else 0.0, sentence, remedy)


def _is_explained(row: OutcomeCount) -> bool:
    outcome = BY_NAME.get(row.outcome)
    return outcome is not None and (row.errno is not None or not outcome.has_errno)
