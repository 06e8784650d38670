"""Did as many connections open as requested, and did all of them get responses?

Connections can be missing in two ways, close too soon, or carry too few streams:

- open: mean connections open in the measurement window, divided by the requested number. Both the
  load generator's count and the rows are compared with it; for a driver that does not count, the
  kernel's count at the server. Opening them may take a load that begins with its window 20 ms, and
  0.5 ms for each (10 ms with TLS), up to 0.9 s. If they are missing only because the load generator
  itself began to connect late, the trial is doubtful, and not void for the server. It is doubtful
  too if every connection opened, none was refused or lost, and they are missing only because they
  opened late, as behind slow handshakes; or if all were open at one time, no attempt failed, and
  those that closed had to be opened again. They must have been open for half of the window;
- no response: connections that the kernel opened and on which the server never responded. While the
  accept queue is full, a client sees connections as open that the server has not accepted. A server
  that hangs looks the same;
- closed: connections that the server closed, per response, if it closed any in good order. One that
  it closes without announcing it loses a request by chance: `failures_explained` judges those;
- streams: over HTTP/2, requests that the open connections could carry at one time, divided by the
  number with all requested streams. A server that allows fewer makes the load smaller. An open load
  and one with think time are doubted only if four fifths of these places were in use or waited for.
  A connection on which the server allows no stream carries no request: it is judged like one that
  is not open.

Connections that carry one request each are not held open. `evenly_served` judges how evenly
responses spread over those that are.

Source: conservation of connections; RFC 9113, section 5.1.2, for streams; listen(2), where the
kernel opens what the server has not accepted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.aggregate.outcomes import BY_NAME
from plimsoll.verdicts import closed_connections, streams, unanswered_load
from plimsoll.verdicts.finding import Finding, Remedy, found, not_checked, of_trial, unknown
from plimsoll.verdicts.limits import PROPOSAL, Limit
from plimsoll.verdicts.remedies import KEEP_OR_NOT, NO_RESPONSE, QUIET_HOST, REPEAT
from plimsoll.verdicts.request_limits import tail_ratio
from plimsoll.verdicts.role import Cause, Role

if TYPE_CHECKING:
    from plimsoll.aggregate.check_inputs import OutcomeCount
    from plimsoll.aggregate.trial import Tables
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.streams import Places
    from plimsoll.verdicts.verdict import Verdict

NAME = "connection_target_met"
TITLE = "Connection target met"
PROBLEM = "Connection target missed"
KEPT = "the server kept every connection open"
LISTENS = "Check that the server runs, and listens on this address and port"
HANDSHAKES = ("tls_", "upgrade_")
"""How outcomes begin of connections that opened, and whose handshake above TCP failed."""
WHY_CLOSED = Remedy(
    "Find in `server.log` why connections ended", "Find in the server's log why connections ended"
)
HANDSHAKE = Remedy(
    "Find in `server.log` why it refuses the handshake",
    "Find in the server's log why it refuses the handshake",
)
LONGER = Remedy(
    "Allow more time for a handshake (`timeout`), or find why the server takes so long",
    "Allow more time for a handshake (`--timeout`), or find why the server takes so long",
)
SOURCE = "connections requested, open and with a response, by the load generator and by the rows"
OPEN_RATIO = Limit(
    NAME,
    "open_ratio",
    "below",
    0.999,
    0.99,
    "ratio",
    "mean connections open in the measurement window / connections requested",
    PROPOSAL + "; a thousandth for readings taken while a connection reopens",
)
UNANSWERED_RATIO = Limit(
    NAME,
    "no_response_ratio",
    "above",
    0.0,
    0.01,
    "ratio",
    "connections open long enough for a response that received no byte of one / opened",
    PROPOSAL,
)
CLOSED_RATIO = Limit(
    NAME,
    "closed_ratio",
    "above",
    0.01,
    None,
    "ratio",
    "connections that the server closed in the measurement window / complete responses of the "
    "measurement window",
    PROPOSAL + "; a connection costs `reference` as much time as 3 responses: 1 in 100 is 3 %",
)
STREAMS_RATIO = Limit(
    NAME,
    "streams_ratio",
    "below",
    0.99,
    None,
    "ratio",
    "requests that the open connections could carry at one time / with the requested streams",
    PROPOSAL,
)
USABLE_RATIO = Limit(
    NAME,
    "usable_ratio",
    "below",
    0.999,
    0.99,
    "ratio",
    "mean open connections on which the server allowed a stream / mean open connections",
    PROPOSAL + "; as for connections that are not open",
)
LIMITS = (
    OPEN_RATIO,
    UNANSWERED_RATIO,
    CLOSED_RATIO,
    STREAMS_RATIO,
    USABLE_RATIO,
)
NEEDS = None
SHORTEST_S = 0.5
"""In a shorter hold opening the connections takes up too much of the time to count them."""
OPENING_NS = 1_000_000_000
"""A foreign driver may take so long to start and to open its connections."""
LIVED_S = 1.0
"""A connection that was open for so long should have a response."""
LEAST_OPEN = 0.5
"""Connections that open late, or again, only doubt a trial if they are open for so much of the
window; a window that mostly passed without them never had its load."""
WARM_UP = Remedy(
    campaign="Give the load a warm-up, in which its connections open (a stage `warm_up`)",
    load="Give the load a warm-up, in which its connections open (`--warm-up 5s`)",
    imported="Leave the beginning of the test out (`--warm-up 5s`)",
    counted="Give the load a warm-up, in which its connections open (`--warm-up 5s`)",
)
"""What to do about connections that open late."""
KEEP = Remedy(
    campaign="Let the server keep connections open for more requests, or request its limit "
    "explicitly (`requests_per_connection`)",
    load="Let the server keep connections open for more requests, or request its limit "
    "explicitly (`--requests-per-connection`)",
)
"""What to do about connections that the server closes."""
SOME_STREAMS = f"Let the server allow streams on each connection (`{streams.SETTING}`)"
"""What to do about a server that allows no stream."""
STREAMS = Remedy(
    f"Let the server allow more streams (`{streams.SETTING}`), or request fewer (`streams`) on "
    "more `connections`",
    f"Let the server allow more streams (`{streams.SETTING}`), or request fewer (`--streams`) on "
    "more connections (`-c`)",
)
"""What to do about a server that allows fewer streams than requested."""
TURNS = 5
"""It should have one at the latest after so many mean response times."""


def judge(tables: Tables, limits: Limits) -> Verdict:
    """Whether as many connections worked as were requested."""
    if unconnected := _unconnected(tables, limits):
        return of_trial(NAME, tables.recording, [unconnected], SOURCE)
    if 0 < tables.held_s < SHORTEST_S:
        return of_trial(NAME, tables.recording, [_too_short(tables, limits)], SOURCE)
    findings = [_open(tables, limits), _responded(tables, limits)]
    if _is_kept(tables):
        findings += [*_open_by_rows(tables, limits), *_kept_open(tables, limits)]
    return of_trial(NAME, tables.recording, [*findings, *_streams(tables, limits)], SOURCE)


def _streams(tables: Tables, limits: Limits) -> list[Finding]:
    """Whether the server allowed as many streams as requested, if the load needed them."""
    limit, places = limits.of(STREAMS_RATIO), streams.places(tables)
    if places is None or not streams.are_needed(tables, places):
        return []
    if (shut := _without_streams(limits, places)).level != "sound":
        return [shut]
    if limit.level(places.ratio) == "sound":
        requested = wording.several(places.streams, "requested stream")
        sentence = f"the server allowed the {requested} on a connection"
        return [found(limit, places.ratio, sentence, "")]
    sentence = (
        f"{places.allowed} (`{streams.SETTING}`), {places.streams} were requested: up to "
        f"{wording.amount(places.offered)} requests were in flight at one time, not "
        f"{wording.amount(places.requested)}"
    )
    return [found(limit, places.ratio, sentence, STREAMS)]


def _without_streams(limits: Limits, places: Places) -> Finding:
    """Open connections that could carry no request, because the server allowed no stream."""
    unusable = (1 - places.usable_ratio) * places.is_open
    sentence = (
        f"the server allowed no stream (`{streams.SETTING}` = 0) on "
        f"{wording.amount(unusable)} of {wording.amount(places.is_open)} open connections on "
        "average, so they carried no request"
    )
    return found(limits.of(USABLE_RATIO), places.usable_ratio, sentence, SOME_STREAMS)


def _unconnected(tables: Tables, limits: Limits) -> Finding | None:
    """That not one of all attempts to connect succeeded, and why; None when one did."""
    opened, refused = tables.summary.connections_opened, tables.summary.connections_refused
    if opened != 0 or not refused:
        return None
    causes = [words for row in tables.outcome_counts if (words := _why(row))]
    reported = f": {wording.listed(list(dict.fromkeys(causes)))}" if causes else ""
    attempts = wording.several(refused, "attempt")
    sentence = f"no connection could be opened{reported}, in {attempts}"
    return found(limits.of(OPEN_RATIO), 0.0, sentence, _why_unconnected(tables))


def _why_unconnected(tables: Tables) -> Remedy | str:
    """What to do where nothing connects: a server that fails within a handshake does listen."""
    rows = [row for row in tables.outcome_counts if _why(row)]
    most = max(rows, key=lambda row: row.requests, default=None)
    if most is None or not most.outcome.startswith(HANDSHAKES):
        return LISTENS
    return LONGER if most.outcome.endswith("_timeout") else HANDSHAKE


def _why(row: OutcomeCount) -> str:
    """Why requests had no connection; empty where they had one."""
    outcome = BY_NAME.get(row.outcome)
    return outcome.words if outcome is not None and outcome.group == "connect" else ""


def _too_short(tables: Tables, limits: Limits) -> Finding:
    held = wording.seconds(tables.held_s)
    sentence = f"the measurement window of {held} is too short to count connections"
    return not_checked(limits.of(OPEN_RATIO), sentence)


def _is_kept(tables: Tables) -> bool:
    return tables.recording.load.keeps_connections


def _open(tables: Tables, limits: Limits) -> Finding:
    limit = limits.of(OPEN_RATIO)
    requested, is_open = _requested(tables), _open_connections(tables)
    driver = tables.recording.driver
    if requested and is_open is None and driver is not None and driver.opened is None:
        by_kernel = _open_by_kernel(tables, limits, requested)
        if by_kernel is not None:
            return by_kernel
    if not requested or is_open is None:
        sentence = "the number of open connections in the measurement window could not be read"
        return unknown(limit, sentence, REPEAT)
    opened = tables.summary.connections_opened or 0
    responded = tables.summary.connections_with_response or 0
    sentence = (
        f"{wording.amount(is_open)} of {wording.amount(requested)} requested connections were "
        f"open; over the whole trial {wording.count(opened)} were opened and "
        f"{wording.count(responded)} got a response"
    )
    if not _is_kept(tables):
        return found(limit, 1.0, sentence + ", each for a few requests", "")
    explained = _explained(tables, limit, is_open, requested)
    return explained or _missing(tables, limit, is_open, requested, sentence)


def _missing(
    tables: Tables, limit: Limit, is_open: float, requested: float, sentence: str
) -> Finding:
    """The same of connections that are kept, with those that the server closed."""
    ratio, remedy = _ratio(tables, is_open, requested), _why_not_open(tables)
    if closed_connections.closes_each(tables):
        return found(limit, ratio, _closed_each(tables, is_open, requested), remedy)
    if closed_connections.orderly(tables):
        which = closed_connections.described(tables, closed_connections.by_server(tables))
        unharmed = "" if closed_connections.abrupt(tables) else ", and no request was lost"
        return found(limit, ratio, sentence, remedy, f"the server closed {which}{unharmed}")
    return found(limit, ratio, sentence, remedy)


def _open_connections(tables: Tables) -> float | None:
    """Mean connections open in the hold, by the load generator, or by the rows if these have more.

    Its readings, once a second, meet connections between two opens, and those of the first instant.
    """
    counted = tables.summary.open_connections
    if counted is None or not _is_kept(tables) or tables.summary.connections_opened is None:
        return counted
    return max(counted, tables.open_connections or 0.0)


def _closed_each(tables: Tables, is_open: float, requested: float) -> str:
    ends = closed_connections.by_server(tables)
    return (
        f"{wording.amount(is_open)} of {wording.amount(requested)} requested connections were open "
        f"on average; the server closed {closed_connections.described(tables, ends)}"
    )


def _open_by_kernel(tables: Tables, limits: Limits, requested: float) -> Finding | None:
    """Connections of the server's port, for a driver that does not count its own.

    Such a driver opens them when its hold begins, so the first second of it does not count.
    """
    opened = [(start + OPENING_NS, end) for start, end in tables.holds if end - start > OPENING_NS]
    seen = tables.usage.mean("server", "connections_established", opened)
    if seen is None or not _is_kept(tables):
        return None
    sentence = (
        f"{wording.amount(seen)} of {wording.amount(requested)} requested connections were open "
        "at the server, by the kernel's count"
    )
    remedy = "Find why connections are missing: some tools open fewer than requested"
    return found(limits.of(OPEN_RATIO), seen / requested, sentence, remedy)


def _kept_open(tables: Tables, limits: Limits) -> list[Finding]:
    """Whether the server kept connections for long enough that opening them is not measured.

    To close a connection in good order is its right, after a number of responses or when idle.
    """
    limit = limits.of(CLOSED_RATIO)
    completed, ends = tables.summary.completed, closed_connections.by_server(tables)
    if not completed or not tables.summary.connections_opened:
        return []
    if not closed_connections.orderly(tables):
        kept = "the server closed no connection without a request on it" if ends else KEPT
        return [found(limit, 0.0, kept, "")]
    ratio = closed_connections.closed(ends) / completed
    for_each = wording.amount(1 / ratio)
    every = "each response" if for_each == "1" else f"every {for_each} responses"
    sentence = (
        f"the server closed {closed_connections.described(tables, ends)}: one for {every}, so the "
        "numbers include opening connections"
    )
    return [found(limit, ratio, sentence, _keep(tables))]


def _keep(tables: Tables) -> Remedy:
    """What to do about connections that the server closes, by how soon it does."""
    return KEEP_OR_NOT if closed_connections.closes_each(tables) else KEEP


def _requested(tables: Tables) -> float | None:
    """Mean connections requested in the hold; None if unknown."""
    requested = tables.usage.mean("driver", "connections_requested", tables.holds)
    return tables.summary.connections_requested if requested is None else requested


def _open_by_rows(tables: Tables, limits: Limits) -> list[Finding]:
    """The same from the rows, which know nothing of the driver's count."""
    requested, is_open = _requested(tables), tables.open_connections
    is_counted = tables.summary.connections_opened is not None
    if not requested or is_open is None or not is_counted or is_open == _open_connections(tables):
        return []
    sentence = (
        f"the recorded rows show {wording.amount(is_open)} of {wording.amount(requested)} "
        "requested connections open on average"
    )
    limit, ratio = limits.of(OPEN_RATIO), _ratio(tables, is_open, requested)
    explained = _explained(tables, limit, is_open, requested)
    return [explained or found(limit, ratio, sentence, _why_not_open(tables))]


def _explained(tables: Tables, limit: Limit, is_open: float, requested: float) -> Finding | None:
    """That connections are missing only because they opened late, or had to be opened again."""
    if limit.level(_ratio(tables, is_open, requested)) == "sound":
        return None
    return (
        _late_by_driver(tables, limit, is_open, requested)
        or _opened_late(tables, limit, is_open, requested)
        or _reopened(tables, limit, is_open, requested)
    )


def _reopened(tables: Tables, limit: Limit, is_open: float, requested: float) -> Finding | None:
    """That all connections were open, and are missing only while closed ones were opened again.

    Why they closed, and what was lost with them, is judged on its own.
    """
    summary, ratio = tables.summary, _ratio(tables, is_open, requested)
    was_full = (summary.connections_peak_open or 0) >= round(requested)
    has_more = (summary.connections_opened or 0) > round(requested)
    if summary.connections_refused or not was_full or not has_more or ratio < LEAST_OPEN:
        return None
    sentence = (
        f"{wording.amount(is_open)} of {wording.amount(requested)} requested connections were open "
        "on average, because those that closed had to be opened again"
    )
    by_server = closed_connections.orderly(tables)
    return Finding("doubtful", ratio, limit, sentence, _keep(tables) if by_server else WHY_CLOSED)


def _opened_late(tables: Tables, limit: Limit, is_open: float, requested: float) -> Finding | None:
    """That all connections opened and stayed open, and are missing only until they did.

    A handshake of TLS or WebSocket may take its time, and the numbers of the window say little of
    it; but its beginning had fewer connections than requested.
    """
    summary, held_s = tables.summary, tables.held_s
    if summary.connections_refused or summary.connections_lost:
        return None
    late = tables.late_openings(round(requested))
    if late.opened < round(requested) or late.most_ns / 1e9 > (1 - LEAST_OPEN) * held_s:
        return None
    if limit.level(_ratio(tables, is_open + late.sum_ns / 1e9 / held_s, requested)) != "sound":
        return None
    mean = wording.seconds(late.sum_ns / late.late / 1e9)
    sentence = (
        f"{wording.amount(is_open)} of {wording.amount(requested)} requested connections were open "
        f"on average, because {wording.count(late.late)} opened late: on average {mean} after the "
        f"beginning, the last one after {wording.seconds(late.most_ns / 1e9)}"
    )
    return Finding("doubtful", _ratio(tables, is_open, requested), limit, sentence, WARM_UP)


def _late_by_driver(
    tables: Tables, limit: Limit, is_open: float, requested: float
) -> Finding | None:
    """That connections are missing only because the load generator began to connect late.

    It had no core, or was stopped, when the load began: nothing of that is the server's. Requests
    that were due meanwhile are late, so the trial is doubtful.
    """
    ratio = _ratio(tables, is_open, requested)
    if tables.recording.driver is None:
        return None
    late = tables.late_connects(round(requested))
    missing = late.sum_ns / 1e9 / tables.held_s
    if limit.level(_ratio(tables, is_open + missing, requested)) != "sound":
        return None
    sentence = (
        f"{wording.amount(is_open)} of {wording.amount(requested)} requested connections were open "
        f"on average, because the load generator began to connect up to "
        f"{wording.seconds(late.most_ns / 1e9)} late; it took "
        f"{wording.seconds(late.connect_ns / 1e9)} at most"
    )
    return Finding("doubtful", ratio, limit, sentence, QUIET_HOST)


def _ratio(tables: Tables, is_open: float, requested: float) -> float:
    """Open connections / requested ones; 1 where a sentence would say the same number twice.

    At the end of a number of requests connections run out of them, one after the other.
    """
    if wording.amount(is_open) == wording.amount(requested):
        return 1.0
    return min(is_open / requested + tail_ratio(tables), 1.0)


def _why_not_open(tables: Tables) -> str | Remedy:
    refused = tables.summary.connections_refused or 0
    lost = tables.summary.connections_lost or 0
    if closed_connections.closes_each(tables) and not closed_connections.cuts_responses(tables):
        return KEEP_OR_NOT
    if not refused and not lost:
        return "Find why connections open late or close early: no attempt to connect failed"
    return (
        f"Find why connections are missing ({wording.count(refused)} attempts failed, "
        f"{wording.count(lost)} connections were lost), or request fewer"
    )


def _responded(tables: Tables, limits: Limits) -> Finding:
    limit = limits.of(UNANSWERED_RATIO)
    opened = tables.summary.connections_opened
    if opened is None or tables.summary.connections_with_response is None:
        sentence = "the load generator does not report which connections got a response"
        return not_checked(limit, sentence)
    if not opened:
        return not_checked(limit, "no connection was opened")
    turn_s = (tables.summary.response_time.mean_ns or 0.0) / 1e9
    least_ns = int(max(LIVED_S, TURNS * turn_s) * 1e9)
    without = max(tables.without_response(least_ns) - _sent_late(tables, least_ns), 0)
    if not without:
        sentence = "every connection that was open long enough got a response"
        return found(limit, 0.0, sentence, "")
    why, remedy = _why_silent(tables, without, opened)
    sentence = (
        f"{wording.count(without)} of {wording.count(opened)} connections never received a "
        f"response byte: {why}"
    )
    return found(limit, without / opened, sentence, remedy)


def _sent_late(tables: Tables, least_ns: int) -> int:
    """Requests of the last moment, which may be the first ones of their connections.

    In a closed load without think time each connection has one from the beginning.
    """
    if tables.recording.load.is_saturating:
        return 0
    return tables.still_waiting(0).requests - tables.still_waiting(least_ns).requests


def _why_silent(tables: Tables, without: int, opened: int) -> tuple[str, Remedy | str]:
    """Why connections got no response, and what to do: requests that hang time out."""
    if _were_shut(tables, without / opened):
        return "the server allowed no stream on them", SOME_STREAMS
    timed_out = sum(row.requests for row in tables.outcome_counts if _is_timeout(row))
    if timed_out >= without:
        return "their requests timed out: the server hung, or never accepted them", NO_RESPONSE
    if _was_queued(tables, without):
        why = "the kernel completed their handshakes, the server never accepted them"
        return why, "Raise the server's listen backlog, or let it accept faster"
    if (length_s := unanswered_load.length_s(tables)) is not None:
        why = (
            f"responses take longer than the load, {wording.seconds(length_s)}, or the server hung"
        )
        return why, unanswered_load.remedy(tables)
    return "their requests hung: the server never responded, or never accepted them", NO_RESPONSE


def _were_shut(tables: Tables, share: float) -> bool:
    """Whether the server allowed no stream, on so large a share of connections or half of it.

    A connection whose requests time out is replaced, so shares are compared, and not numbers.
    """
    places = streams.places(tables)
    return places is not None and places.fewest == 0 and 1 - places.ratio >= share / 2


def _was_queued(tables: Tables, number: int) -> bool:
    """Whether so many connections, or half of them, waited in the listen queue, or did not fit."""
    queued = tables.usage.peak("server", "listen_queue", tables.holds) or 0.0
    windows = [(stage.start_ns, stage.end_ns) for stage in tables.recording.stages]
    dropped = (
        tables.usage.growth(scope, "listen_drops", windows) or 0.0
        for scope in ("server", "machine")
    )
    return queued + max(dropped) >= number / 2


def _is_timeout(row: OutcomeCount) -> bool:
    outcome = BY_NAME.get(row.outcome)
    return outcome is not None and outcome.group == "timed_out"


def _cause(tables: Tables, verdict: Verdict) -> Cause | None:
    """That no connection could be opened, or that the server allowed no stream on those that were.

    Requests then wait unsent until they time out, and responses stop.
    """
    opened, refused = tables.summary.connections_opened, tables.summary.connections_refused
    if opened == 0 and refused:
        return Cause(verdict.check, "no connection could be opened")
    if any(one.level == "void" and one.limit == USABLE_RATIO.name for one in verdict.sentences):
        return Cause(verdict.check, "the server allowed no stream", "no_streams")
    return None


ROLE = Role(
    tells=_cause,
    misled_by=frozenset({"interruption", "long_stall", "full_queue"}),
    needs_no_time=True,
    blames_server=frozenset({OPEN_RATIO.name, UNANSWERED_RATIO.name, USABLE_RATIO.name}),
)
