"""Were there enough ports and open files?

- failed: share of the requests that found no free port (EADDRNOTAVAIL) or file (EMFILE);
- files: open files of a process of server or load generator, as a share of its limit. A server at
  its limit accepts no more, and the next connection waits in its listen queue;
- ports: connections in TIME_WAIT, each of which keeps its port for a minute, as a share of the
  local ports and addresses for connections to the server. Only a load that keeps opening new
  connections uses them up.

Where several hosts generate the load, the one that has least left counts: each has its own ports
and limits.

Source: getrlimit(2), proc_pid_limits(5); ip(7), ip_local_port_range; RFC 9293 on TIME-WAIT.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.machine import LOOPBACK_SOURCES
from plimsoll.verdicts import read_hosts
from plimsoll.verdicts.finding import Finding, found, meaning, not_checked, of_trial
from plimsoll.verdicts.limits import PROPOSAL, Limit
from plimsoll.verdicts.role import Role

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.aggregate.trial import Tables
    from plimsoll.recording import Recording
    from plimsoll.recording.readings import ScopeName
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.read_hosts import ReadHost
    from plimsoll.verdicts.verdict import Verdict

NAME = "ports_and_files"
TITLE = "Ports and files"
PROBLEM = "Ports or files short"
SOURCE = "open files and ports against their limits; getrlimit(2), ip(7)"
FAILED_RATIO = Limit(
    NAME,
    "failed_ratio",
    "above",
    0.0,
    0.01,
    "ratio",
    "requests that failed for lack of a port or file / all requests",
    PROPOSAL,
)
FILES_RATIO = Limit(
    NAME,
    "files_ratio",
    "above",
    0.95,
    None,
    "ratio",
    "open files of a process / its limit, where this is highest",
    PROPOSAL,
)
PORTS_RATIO = Limit(
    NAME,
    "ports_ratio",
    "above",
    0.8,
    None,
    "ratio",
    "connections in TIME_WAIT / local ports for connections to the server",
    PROPOSAL,
)
LIMITS = (
    FAILED_RATIO,
    FILES_RATIO,
    PORTS_RATIO,
)
NEEDS = None
ROLE = Role()
LACKING = {"no_port": "port", "too_many_files": "file"}
SIDES: tuple[ScopeName, ...] = ("server", "driver")
RESTING = ("machine", "tcp_time_wait")
LOOPBACK = ("127.", "[::1]")


def judge(tables: Tables, limits: Limits) -> Verdict:
    """Whether there were enough ports and open files."""
    recording = tables.recording
    files = _files(tables, limits)
    ports = _ports(tables, limits)
    failed = [] if _is_by_figures(tables) and (files or ports) else [_failed(tables, limits)]
    findings = [*failed, *files, *ports]
    reported = {"requests that lacked one": failed, "open files": files}
    if recording.is_over_tcp:
        reported["ports"] = ports
    unread = [name for name, known in reported.items() if not known]
    return of_trial(NAME, recording, findings, SOURCE, unread)


def _is_by_figures(tables: Tables) -> bool:
    """Whether the end of each request was not recorded."""
    driver = tables.recording.driver
    return driver is not None and driver.uses_reported_statistics


def _failed(tables: Tables, limits: Limits) -> Finding:
    limit = limits.of(FAILED_RATIO)
    counts = tables.outcome_counts
    total = sum(row.requests for row in counts)
    if not total:
        return not_checked(limit, "no request was made")
    lacking = {name: sum(r.requests for r in counts if r.outcome == name) for name in LACKING}
    number = sum(lacking.values())
    stated = [
        f"{wording.count(lacking[name])} failed for lack of a {what}"
        for name, what in LACKING.items()
        if lacking[name]
    ]
    sentence = (
        f"of {wording.several(total, 'request')}, {' and '.join(stated)}"
        if number
        else "no request lacked a port or a file"
    )
    remedy = "Raise the limit of open files, widen the range of ports (`plimsoll machine`)"
    return found(limit, number / total, sentence, remedy)


def _files(tables: Tables, limits: Limits) -> list[Finding]:
    """The fullest process of each side."""
    windows = [(stage.start_ns, stage.end_ns) for stage in tables.recording.stages]

    def of_side(side: ScopeName, host: ReadHost) -> Finding | None:
        peak = host.readings.peak(side, "open_files_ratio", windows)
        if peak is None:
            return None
        sentence = (
            f"a process of the {side}{host.after('on')} reached {wording.percent(round(peak, 4))} "
            "of its limit of open files"
        )
        remedy = f"Raise the limit of open files for the {side} (`ulimit -n`)"
        return found(limits.of(FILES_RATIO), peak, sentence, remedy)

    hosts = read_hosts.every(tables)
    fullest = (read_hosts.worst(of_side(side, host) for host in hosts) for side in SIDES)
    return [finding for finding in fullest if finding is not None]


def _ports(tables: Tables, limits: Limits) -> list[Finding]:
    """Ports that rest after their connections, where most of a host's do."""
    windows = [(stage.start_ns, stage.end_ns) for stage in tables.recording.stages]

    def of_host(host: ReadHost) -> Finding | None:
        resting = host.readings.peak(*RESTING, windows)
        ports = _available(tables.recording, host)
        if resting is None or not ports:
            return None
        sentence = (
            f"{wording.count(resting)} of {wording.count(ports)} local ports{host.after('of')} for "
            "connections to the server were in TIME_WAIT"
        )
        ratio = 0.0 if tables.recording.load.keeps_connections else resting / ports
        remedy = "Keep connections alive, widen the range of ports, or set net.ipv4.tcp_tw_reuse"
        finding = found(limits.of(PORTS_RATIO), ratio, sentence, remedy)
        return meaning(finding, "new connections may find none")

    fullest = read_hosts.worst(map(of_host, _connecting(tables)))
    return [] if fullest is None else [fullest]


def _connecting(tables: Tables) -> Sequence[ReadHost]:
    """The hosts whose ports the load takes: those of the load generators, else what was read."""
    drivers = {one.host for one in tables.recording.hosts}
    connecting = [one for one in read_hosts.every(tables) if one.name in drivers]
    return connecting or read_hosts.of_server(tables, RESTING)


def _available(recording: Recording, host: ReadHost) -> int:
    """Ports of a host times its source addresses; 0 when unknown, and for a Unix socket."""
    if not recording.is_over_tcp:
        return 0
    first, last = host.facts.get("port_first"), host.facts.get("port_last")
    if recording.server is None or not isinstance(first, int) or not isinstance(last, int):
        return 0
    on_loopback = recording.server.address.startswith(LOOPBACK)
    return (last - first + 1) * (LOOPBACK_SOURCES if on_loopback else 1)
