"""Do the kernel's counters, and the server's where it has them, agree with the load generator's?

The kernel counts independently of both sides. Over the whole load it must have seen at least what
the load generator claims:

- completed handshakes, against ActiveOpens, and on the server's host PassiveOpens;
- bytes of requests and responses, against those of the interfaces. A server may respond before it
  has the whole request. So bytes of requests are no more than the load generator gave to the
  kernel. What that had not sent when a connection ended is left out;
- requests, and on the server's host also responses, against segments sent: without pipelining each
  needs a segment of its own.

Of several load generators these are the counters of all of their hosts, added up. Rows and counters
of one that was lost are missing, while the server counted its requests: nothing is compared then.

Counters cover the whole host, so an excess may belong to another program, and only a deficit is
judged. If the kernel counted more than twice as many, other traffic would hide what is missing,
so they are not compared.

If connections are kept open, the kernel's connections on the server's port are compared with those
that the load generator holds open, in both directions; a server that was already running may have
other clients, so there only a deficit is judged. They are compared at each reading of the
kernel between two of the load generator that differ by 10 % at most, and half of the readings must
agree: while the pool opens or closes, neither count is wrong. So a load of less than a second has
no such reading. A difference of one connection is none, because the two do not count at the same
instant. If each connection is lost and opened again once a second or more often, they are not
compared.

The reference server keeps a third, independent count over its whole life: requests received,
responses and bytes sent. It must have sent every response that the load generator counts as
complete. Requests that it received and the load generator did not send came from another client,
except those of the contract, which are recorded, and some tens of readiness probes. If several
trials shared one start of it, what the load generators of the others count is subtracted. Events of
a stream have no requests of their own, so only their bytes are compared.

Source: `Tcp` in the kernel's document on SNMP counters; `/proc/net/dev`; sock_diag(7).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from plimsoll import wording
from plimsoll.aggregate import by_figures
from plimsoll.aggregate.cores import total
from plimsoll.aggregate.outcomes import COMPLETED
from plimsoll.verdicts.finding import (
    Finding,
    found,
    inapplicable,
    not_checked,
    of_trial,
    unread_host,
)
from plimsoll.verdicts.limits import PROPOSAL, Limit
from plimsoll.verdicts.remedies import REPEAT
from plimsoll.verdicts.role import Role

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plimsoll.aggregate.trial import Tables
    from plimsoll.aggregate.usage import Instants, ReadingSeries, Usage, Values
    from plimsoll.tool_output.reported import ReportedStatistics
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "counters_agree"
TITLE = "Counters agree"
PROBLEM = "Counters disagree"
SOURCE = (
    "the load generator's count against the kernel's (Tcp, /proc/net/dev, sock_diag(7)), and the "
    "server's"
)
UNSEEN_RATIO = Limit(
    NAME,
    "unseen_ratio",
    "above",
    0.001,
    0.01,
    "ratio",
    "events counted by the load generator and not by the kernel, or the server / events counted "
    "by the load generator",
    PROPOSAL,
)
UNCOUNTED_RATIO = Limit(
    NAME,
    "uncounted_ratio",
    "above",
    0.001,
    0.01,
    "ratio",
    "requests counted by the server and not by the load generator / requests counted by the server",
    PROPOSAL,
)
SOCKETS_DIFFERENCE = Limit(
    NAME,
    "sockets_difference",
    "above",
    0.01,
    0.05,
    "ratio",
    "difference between connections by the kernel and by the load generator / the latter",
    PROPOSAL,
)
LIMITS = (
    UNSEEN_RATIO,
    UNCOUNTED_RATIO,
    SOCKETS_DIFFERENCE,
)
NEEDS = None
ROLE = Role(misled_by=frozenset({"long_stall", "full_queue"}))
WITNESSES = (
    ("machine", "tcp_active_opens"),
    ("machine", "tcp_segments_out"),
    ("machine", "network_received_bytes"),
    ("server", "connections_established"),
)
"""What the kernel counts itself of that which the driver counts."""
HERE = "lo"
ASKED_WHETHER_READY = 100
"""Requests that the lab itself sends at most until the server is ready."""
MUCH_MORE, MANY = 2.0, 1000.0
"""More than so many times the claim, and so many more, is the traffic of other programs."""
LEVEL = 0.1
"""Two counts of the driver that differ by a larger share are of a pool that opens or closes."""


def judge(tables: Tables, limits: Limits) -> Verdict:
    """Whether driver, kernel and server agree."""
    if lost := [one.host for one in tables.recording.hosts if one.driver is None]:
        hosts = wording.listed([f"`{host}`" for host in lost])
        sentence = f"the load lost {hosts}, whose rows and counters are missing"
        return of_trial(
            NAME, tables.recording, [not_checked(limits.of(UNSEEN_RATIO), sentence)], SOURCE
        )
    counted = _by_the_kernel(tables, limits) if tables.recording.is_over_tcp else {}
    findings = [finding for finding in counted.values() if finding is not None]
    findings += _by_the_server(tables, limits)
    compared = _compared(tables)
    unread = [what for what, one in counted.items() if one is None and compared.get(what, True)]
    if not findings and not counted:
        sentence = "the kernel has no counters for Unix sockets"
        findings = [inapplicable(limits.of(UNSEEN_RATIO), sentence)]
    if not findings:
        sentence = "no counter of the load generator could be compared with the kernel"
        limit = limits.of(UNSEEN_RATIO)
        findings = [unread_host(limit, tables.usage, WITNESSES, sentence)]
        unread = []
    return of_trial(NAME, tables.recording, findings, SOURCE, unread)


def _by_the_kernel(tables: Tables, limits: Limits) -> dict[str, Finding | None]:
    """What TCP has counted; None where that is unknown, or cannot be compared."""
    return {
        "handshakes": _handshakes(tables, limits),
        "segments": _segments(tables, limits),
        "bytes": _bytes(tables, limits),
        "connections of the server": _sockets(tables, limits),
    }


def _compared(tables: Tables) -> dict[str, bool]:
    """What only some loads allow to compare."""
    load = tables.recording.load
    is_kept = load.keeps_connections
    is_kept = is_kept and not _is_reopened(tables)
    is_alone = load.in_flight_each == 1 and not load.events
    return {"connections of the server": is_kept, "segments": is_alone}


def _is_reopened(tables: Tables) -> bool:
    """Whether connections are lost and opened again so often that no two counts are of the same."""
    stages, summary = tables.recording.stages, tables.summary
    requested, opened = summary.connections_requested or 0, summary.connections_opened or 0
    ran_s = stages[-1].end_ns / 1e9 if stages else 0.0
    return opened - requested > requested * ran_s


def _handshakes(tables: Tables, limits: Limits) -> Finding | None:
    driver = tables.recording.driver
    counts = [_grown(tables, "tcp_active_opens"), _accepted(tables)]
    grown = [number for number in counts if number is not None]
    if driver is None or driver.opened is None or not grown:
        return None
    return _claimed(tables, limits, driver.opened, min(grown), "handshakes")


def _segments(tables: Tables, limits: Limits) -> Finding | None:
    if not _compared(tables)["segments"]:
        return None
    sent, responded = _counted(tables)
    responded = responded if _is_here(tables) else 0
    grown = _grown(tables, "tcp_segments_out")
    if grown is None or not sent:
        return None
    what = "requests and responses" if responded else "requests"
    return _claimed(tables, limits, sent + responded, grown, f"segments of {what}")


def _counted(tables: Tables) -> tuple[float, float]:
    """Requests sent and responses that the driver knows of, by its rows or by its figures.

    Figures have requests that ended and were never sent, unless the driver counts what it sends.
    """
    figures, driver = by_figures.figures_of(tables.recording), tables.recording.driver
    if figures is not None and driver is not None and driver.sent is not None:
        return driver.sent, sum(driver.outcomes.get(name, 0) for name in COMPLETED)
    if figures is not None:
        return figures.ended or 0.0, by_figures.complete_responses(figures)
    kinds = tables.kind_counts
    return sum(kind.sent for kind in kinds), sum(kind.responded for kind in kinds)


def _bytes(tables: Tables, limits: Limits) -> Finding | None:
    figures = by_figures.figures_of(tables.recording)
    if figures is not None:
        return _bytes_printed(tables, figures, limits)
    kinds, lengths = tables.kind_counts, tables.recording.request_bytes
    received = sum(kind.received_bytes for kind in kinds)
    here = _is_here(tables)
    grown = _grown(tables, "network_received_bytes" if here else "link_received_bytes")
    if grown is None or (here and not _has_lengths(tables)):
        return None
    responded = {kind.request: kind.responded for kind in kinds}
    is_asked_each = here and not tables.recording.load.events
    sent = sum(lengths[kind] * number for kind, number in responded.items()) if is_asked_each else 0
    driver = tables.recording.driver
    if driver is not None and driver.sent_bytes is not None:
        sent = min(sent, max(driver.sent_bytes - driver.unsent_bytes, 0))
    return _claimed(tables, limits, received + sent, grown, "bytes of requests and responses")


def _bytes_printed(tables: Tables, figures: ReportedStatistics, limits: Limits) -> Finding | None:
    """Bytes of responses that a foreign driver printed; it does not print those of requests."""
    name = "network_received_bytes" if _is_here(tables) else "link_received_bytes"
    grown = _grown(tables, name)
    if grown is None or not figures.received_bytes:
        return None
    return _claimed(tables, limits, figures.received_bytes, grown, "bytes of responses")


def _has_lengths(tables: Tables) -> bool:
    return len(tables.recording.request_bytes) >= len(tables.recording.requests)


def _claimed(tables: Tables, limits: Limits, claimed: float, seen: float, what: str) -> Finding:
    """What the load generator counted against what the kernel has seen at least."""
    where = "their hosts" if tables.recording.hosts else "the whole host"
    if seen > MUCH_MORE * claimed and seen - claimed > MANY:
        sentence = (
            f"the kernel counted {wording.count(seen)} {what} on {where}, the load "
            f"generator {wording.count(claimed)}: other traffic would hide missing ones"
        )
        return not_checked(limits.of(UNSEEN_RATIO), sentence)
    by = f"the kernel {wording.count(seen)} on {where}"
    return _missing(limits, claimed, seen, what, by)


def _missing(limits: Limits, claimed: float, seen: float, what: str, by: str) -> Finding:
    """What the driver claims, less what a witness has seen."""
    ratio = max(claimed - seen, 0.0) / claimed if claimed else 0.0
    sentence = f"the load generator counted {wording.count(claimed)} {what}, {by}"
    return found(limits.of(UNSEEN_RATIO), ratio, sentence, REPEAT)


def _by_the_server(tables: Tables, limits: Limits) -> list[Finding]:
    """What the driver counts against what the server counted itself."""
    recording = tables.recording
    server, driver = recording.server, recording.driver
    if server is None or server.counted is None or driver is None:
        return []
    elsewhere = server.counted_elsewhere
    own = {name: count - elsewhere.get(name, 0) for name, count in server.counted.items()}
    figures = by_figures.figures_of(recording)
    if figures is not None:
        return _printed_and_given(figures, own, limits)
    if driver.sent is None:
        return []
    responses = sum(driver.outcomes.get(name, 0) for name in COMPLETED)
    received = sum(kind.received_bytes for kind in tables.kind_counts)
    given = own.get("responses_sent", 0) + own.get("requests_refused", 0)
    given_bytes = _given(limits, received, own.get("sent_bytes", 0), "bytes of responses")
    if recording.load.events:
        return [given_bytes]
    return [
        _given(limits, responses, given, "complete responses"),
        given_bytes,
        _unknown_of(
            limits, driver.sent + recording.contract_requests, own.get("requests_received", 0)
        ),
    ]


def _printed_and_given(
    figures: ReportedStatistics, own: Mapping[str, int], limits: Limits
) -> list[Finding]:
    """What a foreign driver printed of its hold against what the server gave in its whole life."""
    given = own.get("responses_sent", 0) + own.get("requests_refused", 0)
    responses = _given(limits, by_figures.complete_responses(figures), given, "complete responses")
    if not figures.received_bytes:
        return [responses]
    sent = own.get("sent_bytes", 0)
    return [responses, _given(limits, figures.received_bytes, sent, "bytes of responses")]


def _given(limits: Limits, claimed: float, given: float, what: str) -> Finding:
    """What the driver got against what the server gave."""
    by = f"the server itself counted {wording.count(given)}"
    return _missing(limits, claimed, given, what, by)


def _unknown_of(limits: Limits, sent: int, received: int) -> Finding:
    """Requests that the server received and neither the driver nor the lab knows of."""
    unknown_of = max(received - sent - ASKED_WHETHER_READY, 0)
    sentence = (
        f"the server itself received {wording.count(received)} requests, load generator and "
        "contract sent "
        f"{wording.count(sent)}"
    )
    ratio = unknown_of / received if received else 0.0
    return found(limits.of(UNCOUNTED_RATIO), ratio, sentence, REPEAT)


def _sockets(tables: Tables, limits: Limits) -> Finding | None:
    """Connections of the server's port against those that the driver holds open."""
    if not _compared(tables)["connections of the server"]:
        return None
    pairs = [pair for window in tables.holds for pair in _pairs(tables, *window)]
    if not pairs:
        return None
    seen, claimed = sorted(pairs, key=lambda pair: abs(pair[0] - pair[1]))[(len(pairs) - 1) // 2]
    difference = max(abs(seen - claimed) - 1, 0.0) / claimed if claimed else 0.0
    sentence = (
        f"the load generator held {wording.amount(claimed)} connections open, the server's port "
        "had "
        f"{wording.amount(seen)} by the kernel"
    )
    if difference and seen > claimed and tables.recording.found_running:
        others = f"{sentence}; the others may be those of other clients"
        return found(limits.of(SOCKETS_DIFFERENCE), 0.0, others, "")
    return found(limits.of(SOCKETS_DIFFERENCE), difference, sentence, REPEAT)


def _pairs(tables: Tables, start_ns: int, end_ns: int) -> list[tuple[float, float]]:
    """Connections by the kernel and by the driver at each reading within a stretch of time.

    Only where the driver counted about as many before it and after it: of these two the number that
    is closer to the kernel's. Thousands are opened or closed within milliseconds.
    """
    reported = tables.usage.of("driver", "connections_open")
    if not reported:
        return []
    start_ns = max([start_ns, *(int(series.at_ns[0]) for series in reported)])
    end_ns = min([end_ns, *(int(series.at_ns[-1]) for series in reported)])
    pairs: list[tuple[float, float]] = []
    for series in tables.usage.of("server", "connections_established"):
        inside = (series.at_ns >= start_ns) & (series.at_ns <= end_ns)
        at_ns, seen = series.at_ns[inside], series.values[inside]
        around = np.sum([_around(one, at_ns) for one in reported], axis=0)
        low, high = around.min(axis=0), around.max(axis=0)
        is_level = high - low <= np.maximum(LEVEL * high, 1.0)
        claimed = np.clip(seen, low, high)
        pairs += zip(seen[is_level].tolist(), claimed[is_level].tolist(), strict=True)
    return pairs


def _around(series: ReadingSeries, at_ns: Instants) -> Values:
    """The reading before and the one after some instants between the first and the last one."""
    before = series.values[np.searchsorted(series.at_ns, at_ns, side="right") - 1]
    after = series.values[np.searchsorted(series.at_ns, at_ns, side="left")]
    return np.stack([before, after])


def _grown(tables: Tables, quantity: str) -> float | None:
    """Growth of a counter of the load generators' hosts over the whole load; None unless read."""
    hosts = [one.host for one in tables.recording.hosts]
    if not hosts:
        return _whole(tables, tables.usage, quantity)
    return total([_whole(tables, tables.usage.of_host(host), quantity) for host in hosts])


def _accepted(tables: Tables) -> float | None:
    """Connections that the server's host accepted over the whole load; None unless all was read."""
    if tables.recording.hosts:
        readings = tables.usage.of_host(tables.recording.server_host)
        return _whole(tables, readings, "tcp_passive_opens")
    return _whole(tables, tables.usage, "tcp_passive_opens") if _is_here(tables) else None


def _whole(tables: Tables, readings: Usage, quantity: str) -> float | None:
    """Growth of a counter of one host over the whole load; None unless all of it was read."""
    stages, found = tables.recording.stages, readings.of("machine", quantity)
    if not stages or len(found) != 1:
        return None
    series = found[0]
    is_whole = series.at_ns[0] <= stages[0].start_ns and series.at_ns[-1] >= stages[-1].end_ns
    return float(series.values[-1] - series.values[0]) if is_whole else None


def _is_here(tables: Tables) -> bool:
    """Whether the server is on the driver's host, where the kernel counts for both."""
    server = tables.recording.server
    return server is not None and server.link == HERE
