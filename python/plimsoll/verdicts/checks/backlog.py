"""Was the listen queue long enough?

Connections that a server has not yet accepted wait in a queue of limited length, the least of what
the program passed to listen(2) and the host's `net.core.somaxconn`. When it is full the kernel
drops attempts to connect, and the client tries again after a second: a limit of the configuration
then looks like a slow or faulty server.

Measured is by how much the kernel's counters ListenOverflows and ListenDrops grew during the load,
stage by stage; the greater of the two, for each overflow is also a drop. Both are of the whole
host, so another program may have a part in them. The queue itself is read once a second.

Source: listen(2); SNMP counters in the documentation of the Linux kernel; sock_diag(7).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.verdicts import wording
from plimsoll.verdicts.finding import Finding, found, unknown, verdict

if TYPE_CHECKING:
    from plimsoll.aggregate.trial import Tables
    from plimsoll.aggregate.usage import Window
    from plimsoll.recording import RecordedStage, Recording
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "backlog"
SOURCE = "listen(2) and TcpExt ListenOverflows, ListenDrops"
STAGES = {"warm_up": "warm-up", "ramp": "ramp", "hold": "hold"}


def judge(tables: Tables, limits: Limits) -> Verdict:
    """Whether the listen queue was long enough."""
    stages = tables.recording.stages
    grown = [(stage, _turned_away(tables, (stage.start_ns, stage.end_ns))) for stage in stages]
    known = [(stage, number) for stage, number in grown if number is not None]
    limit = limits.of(NAME, "turned_away")
    if not known or len(known) < len(grown):
        sentence = "the counters of full listen queues could not be read for the whole load"
        findings = [unknown(limit, sentence, "Measure a server on a host whose counters are read")]
    else:
        findings = [_overflowed(tables, limits, known), _in_hold(tables, limits, known)]
    return verdict(NAME, tables.recording.trial, [*findings, *_queued(tables, limits)], SOURCE)


def _turned_away(tables: Tables, window: Window) -> int | None:
    """Attempts turned away in some time; where a stage ends between readings, about so many."""
    names = ("listen_overflows", "listen_drops")
    grown = [tables.usage.growth("machine", name, [window]) for name in names]
    known = [round(number) for number in grown if number is not None]
    return max(known, default=None)


def _overflowed(tables: Tables, limits: Limits, known: list[tuple[RecordedStage, int]]) -> Finding:
    total = sum(number for _, number in known)
    marked = [
        f"{wording.count(number)} in the {STAGES.get(stage.kind, stage.kind)}"
        for stage, number in known
        if number > 0
    ]
    length = _places(tables.recording)
    sentence = (
        f"the listen queue{length} was full: {wording.count(total)} attempts to connect were "
        f"turned away and had to be repeated ({wording.listed(marked)})"
        if total > 0
        else f"no attempt to connect was turned away by a full listen queue{length}"
    )
    return found(limits.of(NAME, "turned_away"), total, sentence, _remedy(tables.recording))


def _in_hold(tables: Tables, limits: Limits, known: list[tuple[RecordedStage, int]]) -> Finding:
    held = sum(number for stage, number in known if stage.kind == "hold")
    of = max(tables.summary["connections_asked"] or 0, tables.summary["connections_opened"], 1)
    sentence = (
        f"in the hold alone {wording.count(held)} attempts to connect were turned away, for "
        f"{wording.count(of)} connections"
    )
    limit = limits.of(NAME, "turned_away_ratio")
    return found(limit, held / of, sentence, _remedy(tables.recording))


def _queued(tables: Tables, limits: Limits) -> list[Finding]:
    """How full the queue was seen at its fullest, in any stage."""
    seen = [_fullest(tables, stage) for stage in tables.recording.stages]
    seen = [(ratio, queue, stage) for ratio, queue, stage in seen if ratio is not None]
    if not seen:
        return []
    ratio, queue, stage = max(seen, key=lambda entry: entry[0])
    sentence = (
        f"the listen queue{_places(tables.recording)} was {wording.percent(ratio)} full in the "
        f"{STAGES.get(stage.kind, stage.kind)}: {wording.count(queue)} connections waited to be "
        "accepted"
    )
    return [found(limits.of(NAME, "queue_ratio"), ratio, sentence, _remedy(tables.recording))]


def _fullest(
    tables: Tables, stage: RecordedStage
) -> tuple[float, float, RecordedStage] | tuple[None, float, RecordedStage]:
    window = [(stage.start_ns, stage.end_ns)]
    queue = tables.usage.peak("server", "listen_queue", window)
    backlog = tables.usage.peak("server", "listen_backlog", window) or _backlog(tables.recording)
    if queue is None or not backlog:
        return None, 0.0, stage
    return queue / backlog, queue, stage


def _backlog(recording: Recording) -> int | None:
    return None if recording.server is None else recording.server.backlog


def _places(recording: Recording) -> str:
    backlog = _backlog(recording)
    return "" if backlog is None else f" of {wording.count(backlog)} places"


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
