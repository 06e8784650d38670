"""Was the listen queue long enough?

Connections that a server has not yet accepted wait in a queue. Its length is limited by the lower
of what the program passed to listen(2) and the host's `net.core.somaxconn`. When it is full, the
kernel drops attempts to connect, and the client retries after a second: a configured limit then
looks like a slow or faulty server.

The check measures how often the queue was full during the load, stage by stage. Two witnesses must
agree: the drops of the server's own listening sockets, and the growth of the host's counters
ListenOverflows and ListenDrops. One attempt to connect can count many times: the kernel counts the
first and the last packet of a handshake, and each repetition of them. If the sockets could not be
read, and all attempts of the trial together fit into the server's queue, the host's counters belong
to another program. The queue itself is read once a second.

The kernel sends SYN cookies when the queue of half-open connections is full. They turn nothing
away, but they show that connections come in a burst that the queue is too short for. That queue is
as long as the listen queue, so if all attempts fit, the cookies belong to another server, too.

Source: listen(2); sock_diag(7); SNMP counters in the documentation of the Linux kernel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.aggregate import links
from plimsoll.aggregate import seconds as of_seconds
from plimsoll.verdicts.finding import (
    Finding,
    found,
    inapplicable,
    led_by,
    not_checked,
    of_trial,
    unread_host,
)
from plimsoll.verdicts.limits import PROPOSAL, Limit
from plimsoll.verdicts.role import Cause, Role

if TYPE_CHECKING:
    from plimsoll.aggregate.trial import Tables
    from plimsoll.recording import RecordedStage, Recording
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

    Turned = list[tuple[RecordedStage, int]]
    """Stages, and how often something was turned away in each."""

NAME = "backlog"
TITLE = "Backlog"
PROBLEM = "Listen queue too short"
SOURCE = "listen(2), sock_diag(7), and TcpExt ListenOverflows and ListenDrops"
TURNED_AWAY_LIMIT = Limit(
    NAME,
    "turned_away",
    "above",
    0.0,
    None,
    "times",
    "handshake packets that full listen queues of the server dropped during the load",
    "TCP retries a dropped packet after 1 s",
)
TURNED_AWAY_RATIO = Limit(
    NAME,
    "turned_away_ratio",
    "above",
    None,
    0.01,
    "ratio",
    "the same in the measurement window / connections of the load or attempts of the measurement "
    "window, whichever are more",
    PROPOSAL,
)
COOKIES = Limit(
    NAME,
    "cookies",
    "above",
    0.0,
    None,
    "cookies",
    "SYN cookies that the host sent during the load",
    "the kernel sends them when a queue of half-open connections is full",
)
QUEUE_RATIO = Limit(
    NAME,
    "queue_ratio",
    "above",
    0.8,
    None,
    "ratio",
    "longest listen queue / its backlog",
    PROPOSAL,
)
LIMITS = (
    TURNED_AWAY_LIMIT,
    TURNED_AWAY_RATIO,
    COOKIES,
    QUEUE_RATIO,
)
NEEDS = None
STAGES = {"warm_up": "warm-up", "ramp": "ramp", "hold": "hold"}
COUNTERS = {"ListenOverflows": "listen_overflows", "ListenDrops": "listen_drops"}
"""Counters of the host, and the quantities that hold them."""
TURNED_AWAY = (
    ("server", "listen_drops"),
    *(("machine", quantity) for quantity in COUNTERS.values()),
)
"""Each witness of a full queue."""


def judge(tables: Tables, limits: Limits) -> Verdict:
    """Whether the listen queue was long enough."""
    if not tables.recording.is_over_tcp:
        sentence = "the kernel does not report the listen queue of a Unix socket"
        findings = [inapplicable(limits.of(TURNED_AWAY_LIMIT), sentence)]
        return of_trial(NAME, tables.recording, findings, SOURCE)
    turned = _turned_away(tables)
    if not (_knows_own(tables) or links.is_server_read(tables.recording)):
        sentence = "the listen queue is that of another host, whose kernel was not read"
        findings = [not_checked(limits.of(TURNED_AWAY_LIMIT), sentence)]
        return of_trial(NAME, tables.recording, findings, SOURCE)
    if turned is None:
        sentence = "the state of the listen queue could not be read for the whole load"
        findings = [unread_host(limits.of(TURNED_AWAY_LIMIT), tables.usage, TURNED_AWAY, sentence)]
    else:
        findings = [_overflowed(tables, limits, turned), _in_hold(tables, limits, turned)]
    findings = led_by(*findings, *_queued(tables, limits), *_cookies(tables, limits))
    return of_trial(NAME, tables.recording, findings, SOURCE)


def _turned_away(tables: Tables) -> Turned | None:
    """How often something was turned away in each stage; None when that is unknown for one.

    Where a stage ends between two readings it is about so many.
    """
    stages = tables.recording.stages
    found = [
        of_seconds.turned_away(tables.recording, tables.usage, (s.start_ns, s.end_ns))
        for s in stages
    ]
    known = [number for number in found if number is not None]
    if not found or len(known) < len(found):
        return None
    could = _knows_own(tables) or not _all_had_places(tables)
    return [(s, max(round(number), 0) * could) for s, number in zip(stages, known, strict=True)]


def _knows_own(tables: Tables) -> bool:
    """Whether the drops of the server's own sockets are known."""
    return bool(tables.usage.of("server", "listen_drops"))


def _all_had_places(tables: Tables) -> bool:
    """Whether all attempts of the trial together fit into the queue, so that it was never full."""
    backlog = _backlog(tables.recording)
    opened, refused = tables.summary.connections_opened, tables.summary.connections_refused
    if backlog is None or opened is None or refused is None:
        return False
    return opened + refused < backlog


def _overflowed(tables: Tables, limits: Limits, turned: Turned) -> Finding:
    total = sum(number for _, number in turned)
    length = _places(tables.recording)
    limit, remedy = limits.of(TURNED_AWAY_LIMIT), _remedy(tables.recording)
    if not total:
        sentence = f"no connection attempt was dropped by a full listen queue{length}"
        return found(limit, total, sentence, remedy)
    marked = [_in_stage(tables, stage, number) for stage, number in turned if number > 0]
    sentence = (
        f"the listen queue{length}{_allowed(tables.recording)} was full "
        f"{wording.several(total, 'time')}: {wording.listed(marked)}"
    )
    retried = "TCP retries dropped connection attempts after 1 s or more"
    return found(limit, total, sentence, remedy, retried, _what_became(tables))


def _in_stage(tables: Tables, stage: RecordedStage, number: int) -> str:
    """How often it was full in a stage, and the growth of the host's counters meanwhile."""
    window = (stage.start_ns, stage.end_ns)
    grown = {
        name: tables.usage.growth("machine", quantity, [window])
        for name, quantity in COUNTERS.items()
    }
    stated = [f"{name} {wording.count(rise)}" for name, rise in grown.items() if rise is not None]
    by_host = f" (on this host {', '.join(stated)})" if stated else ""
    return f"{wording.count(number)} in the {STAGES.get(stage.kind, stage.kind)}{by_host}"


def _what_became(tables: Tables) -> str:
    """Connections requested, opened, and with a response."""
    requested = tables.summary.connections_requested
    opened = tables.summary.connections_opened or 0
    responded = tables.summary.connections_with_response or 0
    wanted = (
        "" if requested is None else f"of {wording.several(requested, 'connection')} requested, "
    )
    return (
        f"{wanted}{wording.count(opened)} were opened and {wording.count(responded)} got a response"
    )


def _in_hold(tables: Tables, limits: Limits, turned: Turned) -> Finding:
    held = sum(number for stage, number in turned if stage.kind == "hold")
    of = max(tables.summary.connections_requested or 0, tables.summary.connections_opened or 0, 1)
    sentence = (
        "in the measurement window alone the listen queue was full "
        f"{wording.several(held, 'time')}, for "
        f"{wording.several(of, 'connection')}"
    )
    limit = limits.of(TURNED_AWAY_RATIO)
    return found(limit, held / of, sentence, _remedy(tables.recording))


def _cookies(tables: Tables, limits: Limits) -> list[Finding]:
    """Cookies that the host sent instead of keeping half-open connections."""
    windows = [(stage.start_ns, stage.end_ns) for stage in tables.recording.stages]
    sent = tables.usage.growth("machine", "syncookies_sent", windows)
    if sent is None:
        return []
    cookies = wording.several(round(sent), "SYN cookie")
    if round(sent) > 0 and _all_had_places(tables):
        sentence = (
            f"this host sent {cookies} for another server: the listen queue of this one has room "
            "for all connections of this trial"
        )
        return [not_checked(limits.of(COOKIES), sentence)]
    sentence = f"the queue of half-open connections was full: this host sent {cookies}"
    return [found(limits.of(COOKIES), round(sent), sentence, _remedy(tables.recording))]


def _queued(tables: Tables, limits: Limits) -> list[Finding]:
    """How full the queue was seen at its fullest, in any stage."""
    seen = [_fullest(tables, stage) for stage in tables.recording.stages]
    known = [one for one in seen if one is not None]
    if not known:
        return []
    ratio, queue, stage = max(known, key=lambda one: one[0])
    sentence = (
        f"the listen queue{_places(tables.recording)} was {wording.percent(round(ratio, 3))} full "
        f"in the {STAGES.get(stage.kind, stage.kind)}: {wording.count(queue)} connections waited "
        "to be accepted"
    )
    return [found(limits.of(QUEUE_RATIO), ratio, sentence, _remedy(tables.recording))]


def _fullest(tables: Tables, stage: RecordedStage) -> tuple[float, float, RecordedStage] | None:
    window = [(stage.start_ns, stage.end_ns)]
    queue = tables.usage.peak("server", "listen_queue", window)
    backlog = tables.usage.peak("server", "listen_backlog", window) or _backlog(tables.recording)
    return None if queue is None or not backlog else (queue / backlog, queue, stage)


def _backlog(recording: Recording) -> int | None:
    return None if recording.server is None else recording.server.backlog


def _places(recording: Recording) -> str:
    backlog = _backlog(recording)
    return "" if backlog is None else f" of {wording.count(backlog)} places"


def _allowed(recording: Recording) -> str:
    """What the host would allow."""
    most = None if recording.server is None else recording.server.somaxconn
    return "" if most is None else f" (`net.core.somaxconn` {wording.count(most)})"


def _remedy(recording: Recording) -> str:
    """What to make longer: the server's own limit or the host's."""
    backlog = _backlog(recording)
    most = None if recording.server is None else recording.server.somaxconn
    if backlog is None or most is None:
        return "Raise the backlog that the server passes to listen, and `net.core.somaxconn`"
    if backlog < most:
        return (
            f"Raise the backlog that the server passes to listen ({wording.count(backlog)}; this "
            f"host allows {wording.count(most)})"
        )
    return (
        f"Raise this host's limit, `sysctl net.core.somaxconn` (now {wording.count(most)}), and "
        "the backlog that the server passes to listen"
    )


def _cause(tables: Tables, verdict: Verdict) -> Cause | None:
    """So many attempts met a full queue that the connections of the load are not those asked for.

    The client of a dropped handshake believes that it is connected: its requests hang.
    """
    del tables
    levels = {one.limit: one.level for one in verdict.sentences}
    if levels.get(TURNED_AWAY_RATIO.name) != "void":
        return None
    return Cause(
        verdict.check, "the listen queue was full, so connections were not accepted", "full_queue"
    )


ROLE = Role(tells=_cause, lacks="queue", blames_server=frozenset({TURNED_AWAY_RATIO.name}))
