"""Was the listen queue long enough?

Connections that a server has not yet accepted wait in a queue of limited length, the least of what
the program passed to listen(2) and the host's `net.core.somaxconn`. When it is full the kernel
drops attempts to connect, and the client tries again after a second: a limit of the configuration
then looks like a slow or faulty server.

Measured is how often the queue was found full during the load, stage by stage, as two witnesses
agree: the drops of the server's own listening sockets, and the growth of the host's counters
ListenOverflows and ListenDrops. One attempt to connect may find it full many times: the kernel
counts the first packet and the last one of a handshake, and each repetition of them. Where the
sockets could not be asked, the host's counters are another program's when all attempts of the trial
together would have found a place in the server's queue. The queue itself is read once a second.
SYN cookies are what the kernel sends when the queue of half-open connections is full: nothing is
turned away by them, but the connections come in a burst that the queue is too short for.

Source: listen(2); sock_diag(7); SNMP counters in the documentation of the Linux kernel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.aggregate import seconds as of_seconds
from plimsoll.verdicts import wording
from plimsoll.verdicts.finding import Finding, found, unknown, verdict

if TYPE_CHECKING:
    from plimsoll.aggregate.trial import Tables
    from plimsoll.recording import RecordedStage, Recording
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

    Turned = list[tuple[RecordedStage, int]]
    """Stages, and how often something was turned away in each."""

NAME = "backlog"
SOURCE = "listen(2), sock_diag(7), and TcpExt ListenOverflows and ListenDrops"
STAGES = {"warm_up": "warm-up", "ramp": "ramp", "hold": "hold"}
COUNTERS = {"ListenOverflows": "listen_overflows", "ListenDrops": "listen_drops"}
"""Counters of the host, and the quantities that hold them."""


def judge(tables: Tables, limits: Limits) -> Verdict:
    """Whether the listen queue was long enough."""
    turned = _turned_away(tables)
    if turned is None:
        sentence = "whether the listen queue was full could not be read for the whole load"
        remedy = "Measure a server on a host whose sockets and counters can be read"
        findings = [unknown(limits.of(NAME, "turned_away"), sentence, remedy)]
    else:
        findings = [_overflowed(tables, limits, turned), _in_hold(tables, limits, turned)]
    findings += [*_queued(tables, limits), *_cookies(tables, limits)]
    return verdict(NAME, tables.recording.trial, findings, SOURCE)


def _turned_away(tables: Tables) -> Turned | None:
    """How often something was turned away in each stage; None when that is unknown for one.

    Where a stage ends between two readings it is about so many.
    """
    stages = tables.recording.stages
    found = [of_seconds.turned_away(tables.usage, (s.start_ns, s.end_ns)) for s in stages]
    known = [number for number in found if number is not None]
    if not found or len(known) < len(found):
        return None
    could = _knows_own(tables) or not _all_had_places(tables)
    return [(s, max(round(number), 0) * could) for s, number in zip(stages, known, strict=True)]


def _knows_own(tables: Tables) -> bool:
    """Whether the server's own sockets said what they dropped."""
    return bool(tables.usage.of("server", "listen_drops"))


def _all_had_places(tables: Tables) -> bool:
    """Whether all attempts of the trial together fit into the queue, so that it was never full."""
    backlog = _backlog(tables.recording)
    counts = [tables.summary[f"connections_{name}"] for name in ("opened", "refused")]
    return backlog is not None and None not in counts and sum(counts) < backlog


def _overflowed(tables: Tables, limits: Limits, turned: Turned) -> Finding:
    total = sum(number for _, number in turned)
    length = _places(tables.recording)
    sentence = f"no attempt to connect was turned away by a full listen queue{length}"
    if total:
        marked = [_in_stage(tables, stage, number) for stage, number in turned if number > 0]
        sentence = (
            f"the listen queue{length}{_allowed(tables.recording)} was full "
            f"{wording.several(total, 'time')}: {wording.listed(marked)}. What finds no place is "
            f"repeated after a second or more. {_what_became(tables)}"
        )
    return found(limits.of(NAME, "turned_away"), total, sentence, _remedy(tables.recording))


def _in_stage(tables: Tables, stage: RecordedStage, number: int) -> str:
    """How often it was full in a stage, and the growth of the host's counters meanwhile."""
    window = (stage.start_ns, stage.end_ns)
    grown = {
        name: tables.usage.growth("machine", quantity, [window])
        for name, quantity in COUNTERS.items()
    }
    said = [f"{name} {wording.count(rise)}" for name, rise in grown.items() if rise is not None]
    by_host = f" (on this host {', '.join(said)})" if said else ""
    return f"{wording.count(number)} in the {STAGES.get(stage.kind, stage.kind)}{by_host}"


def _what_became(tables: Tables) -> str:
    """Connections asked for, opened and answered."""
    asked = tables.summary["connections_asked"]
    opened, answered = (tables.summary[f"connections_{name}"] for name in ("opened", "answered"))
    wanted = "" if asked is None else f"Of {wording.several(asked, 'connection')} asked for, "
    sentence = f"{wanted}{wording.count(opened)} were opened and {wording.count(answered)} answered"
    return sentence if wanted else sentence[0].upper() + sentence[1:]


def _in_hold(tables: Tables, limits: Limits, turned: Turned) -> Finding:
    held = sum(number for stage, number in turned if stage.kind == "hold")
    counts = [tables.summary[f"connections_{name}"] or 0 for name in ("asked", "opened")]
    of = max(*counts, 1)
    sentence = (
        f"in the hold alone the listen queue was full {wording.several(held, 'time')}, for "
        f"{wording.several(of, 'connection')}"
    )
    limit = limits.of(NAME, "turned_away_ratio")
    return found(limit, held / of, sentence, _remedy(tables.recording))


def _cookies(tables: Tables, limits: Limits) -> list[Finding]:
    """Cookies that the host sent instead of keeping half-open connections."""
    windows = [(stage.start_ns, stage.end_ns) for stage in tables.recording.stages]
    sent = tables.usage.growth("machine", "syncookies_sent", windows)
    if sent is None:
        return []
    sentence = (
        f"the queue of half-open connections was full: this host sent "
        f"{wording.several(round(sent), 'SYN cookie')}"
    )
    return [found(limits.of(NAME, "cookies"), round(sent), sentence, _remedy(tables.recording))]


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
    return [found(limits.of(NAME, "queue_ratio"), ratio, sentence, _remedy(tables.recording))]


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
