"""Was there enough memory?

The check takes four numbers over the measurement windows: pages that the host swapped, page faults
of the server that needed a disk, and time in which some task waited for memory (PSI). The fourth,
over the whole load, is processes that the kernel killed to free memory. A server whose memory is
swapped to a disk is as fast as that disk.

Some pages are always swapped or read again on behalf of others, so only large numbers count. Where
several hosts generated the load and the server's was not read, the worst of them counts.

Source: `/proc/vmstat`; proc_pid_stat(5), majflt; the kernel's document on pressure stall
information.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.verdicts import read_hosts
from plimsoll.verdicts.finding import Finding, found, meaning, of_trial, unread_host
from plimsoll.verdicts.limits import PROPOSAL, Limit
from plimsoll.verdicts.remedies import LONGER_HOLD
from plimsoll.verdicts.role import Role

if TYPE_CHECKING:
    from plimsoll.aggregate.trial import Tables
    from plimsoll.aggregate.usage import Quantity
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.read_hosts import ReadHost
    from plimsoll.verdicts.verdict import Verdict

NAME = "memory_headroom"
TITLE = "Memory headroom"
PROBLEM = "Memory at its limit"
SOURCE = "swapping, page faults, kills and waits for memory; /proc/vmstat, PSI"
SWAPPED_PER_S = Limit(
    NAME,
    "swapped_per_s",
    "above",
    10.0,
    None,
    "pages/s",
    "pages that the host swapped in or out in the measurement window",
    PROPOSAL,
)
MAJOR_FAULTS_PER_S = Limit(
    NAME,
    "major_faults_per_s",
    "above",
    10.0,
    None,
    "faults/s",
    "page faults of the server that needed a disk, in the measurement window",
    PROPOSAL,
)
WAITED_RATIO = Limit(
    NAME,
    "waited_ratio",
    "above",
    0.05,
    None,
    "ratio",
    "share of the measurement window in which some task waited for memory",
    PROPOSAL,
)
KILLS = Limit(
    NAME,
    "kills",
    "above",
    0.0,
    None,
    "processes",
    "processes that the kernel killed during the load because memory ran out",
    "every kill affects the result",
)
LIMITS = (
    SWAPPED_PER_S,
    MAJOR_FAULTS_PER_S,
    WAITED_RATIO,
    KILLS,
)
NEEDS = None
ROLE = Role(lacks="memory")
REMEDY = "Give the host more memory, or reduce the server's memory use"
RATES = (
    (
        SWAPPED_PER_S,
        "machine",
        "swapped_pages",
        "swapped pages",
        "{} pages a second were swapped{}",
    ),
    (
        MAJOR_FAULTS_PER_S,
        "server",
        "major_faults",
        "page faults of the server",
        "the server waited for a page from a disk {} times a second",
    ),
)
WAITED = ("machine", "pressure_memory_s")
KILLED = ("machine", "oom_kills")
WITNESSES = (
    *((scope, quantity) for _, scope, quantity, *_ in RATES),
    WAITED,
    KILLED,
)
"""Every quantity that shows it."""


def judge(tables: Tables, limits: Limits) -> Verdict:
    """Whether there was enough memory."""
    parts = {
        what: _rate(tables, limits.of(limit), (scope, quantity), sentence)
        for limit, scope, quantity, what, sentence in RATES
    }
    parts["pressure on memory"] = _waited(tables, limits)
    parts["kills because memory ran out"] = _killed(tables, limits)
    findings = [finding for finding in parts.values() if finding is not None]
    unread = [what for what, finding in parts.items() if finding is None]
    if not findings:
        sentence = "memory use of the host could not be read"
        limit = limits.of(SWAPPED_PER_S)
        findings = [unread_host(limit, tables.usage, WITNESSES, sentence, LONGER_HOLD)]
        unread = []
    return of_trial(NAME, tables.recording, findings, SOURCE, unread)


def _rate(tables: Tables, limit: Limit, read: Quantity, sentence: str) -> Finding | None:
    def on_host(host: ReadHost) -> Finding | None:
        per_s = host.readings.rate(*read, tables.holds)
        if per_s is None:
            return None
        reported = sentence.format(wording.amount(per_s), host.after("on"))
        return found(limit, max(per_s, 0.0), f"{reported} in the measurement window", REMEDY)

    return read_hosts.worst(map(on_host, read_hosts.of_server(tables, read)))


def _waited(tables: Tables, limits: Limits) -> Finding | None:
    def on_host(host: ReadHost) -> Finding | None:
        ratio = host.readings.rate(*WAITED, tables.holds)
        if ratio is None:
            return None
        sentence = (
            f"some task{host.after('on')} waited for memory {wording.percent(round(ratio, 4))} of "
            "the measurement window"
        )
        finding = found(limits.of(WAITED_RATIO), ratio, sentence, REMEDY)
        return meaning(finding, "responses may contain such waits")

    return read_hosts.worst(map(on_host, read_hosts.of_server(tables, WAITED)))


def _killed(tables: Tables, limits: Limits) -> Finding | None:
    windows = [(stage.start_ns, stage.end_ns) for stage in tables.recording.stages]

    def on_host(host: ReadHost) -> Finding | None:
        killed = host.readings.growth(*KILLED, windows)
        if killed is None:
            return None
        sentence = (
            f"the kernel{host.after('of')} killed "
            f"{wording.several(round(killed), 'process', 'processes')} because memory ran out"
        )
        finding = found(limits.of(KILLS), round(killed), sentence, REMEDY)
        return meaning(finding, "the numbers may be those of what was left")

    return read_hosts.worst(map(on_host, read_hosts.of_server(tables, KILLED)))
