"""Is the processor time of the server possible?

- bound: a server keeps no more cores busy than it was given, nor more than the host has. More means
  that the figure includes other programs. The check allows a twentieth of a second at either end of
  the measurement windows, because readings take a moment and the kernel counts in hundredths of a
  second. Of a server in turns it takes the clocks of its processes in the turns of the window:
  readings at their ends also see it wake, and the warm-up, in which it may use every core;
- drift: by the utilisation law U = X · S the processor time of one response, S = U / X, is the cost
  of a request at any load. Over the levels of a ramp it may fall, because a busy server is not
  woken for each request. It should not rise by more than a fifth above the lowest of all lower
  levels. A rise means that the server spends time on something other than responses: it collects
  garbage, spins on locks, or moves between cores.

Only levels in which the server worked for half a second or longer are compared.

Source: the utilisation law; P. J. Denning, J. P. Buzen, ACM Computing Surveys 10(3), 1978;
proc_pid_stat(5).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.aggregate import cores, levels
from plimsoll.verdicts.finding import (
    Finding,
    found,
    meaning,
    not_checked,
    of_trial,
    unread_server,
)
from plimsoll.verdicts.limits import PROPOSAL, Limit
from plimsoll.verdicts.role import Role

if TYPE_CHECKING:
    from plimsoll.aggregate.levels import Level
    from plimsoll.aggregate.trial import Tables
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "cpu_bounds"
TITLE = "CPU bounds"
PROBLEM = "Impossible CPU use"
SOURCE = "cores kept busy / cores there are, and U = X · S; Denning and Buzen, 1978"
DRIFT_RATIO = Limit(
    NAME,
    "drift_ratio",
    "above",
    0.2,
    None,
    "ratio",
    "rise of the server's CPU time per response above the minimum at lower levels",
    PROPOSAL,
)
SERVER_RATIO = Limit(
    NAME,
    "server_ratio",
    "above",
    None,
    1.02,
    "ratio",
    "cores the server kept busy / cores available to it",
    "CPU use cannot exceed the available cores; 2 % for rounding",
)
LIMITS = (
    DRIFT_RATIO,
    SERVER_RATIO,
)
NEEDS = None
ROLE = Role()
SLACK_S = 0.1
"""Readings may be off by so much processor time, over all holds."""
SHORTEST = 2
"""Whole seconds that a level must last."""
LEAST_BUSY_S = 0.5
"""Processor time of a level below which hundredths of a second matter."""


def judge(tables: Tables, limits: Limits) -> Verdict:
    """Whether the processor time of the server is possible."""
    findings = [_bound(tables, limits), *_drift(tables, limits)]
    return of_trial(NAME, tables.recording, findings, SOURCE)


def _bound(tables: Tables, limits: Limits) -> Finding:
    limit = limits.of(SERVER_RATIO)
    busy, count = _busy_cores(tables), _cores(tables)
    held_s = tables.summary.duration_s
    if busy is None and tables.recording.held_turns:
        sentence = "processes of the server ended within turns, so its CPU time is unknown"
        return not_checked(limit, sentence)
    if busy is None or not count or not held_s:
        sentence = "the server's CPU time or its number of cores could not be read"
        return unread_server(limit, tables.recording, sentence)
    ratio = max(busy - SLACK_S / held_s, 0.0) / count
    sentence = (
        f"the server used {wording.cores(busy)}; {wording.several(count, 'core')} "
        f"{'was' if count == 1 else 'were'} available"
    )
    remedy = "Discard its CPU time: it includes other programs"
    return found(limit, ratio, sentence, remedy)


def _busy_cores(tables: Tables) -> float | None:
    """Cores that the server kept busy; None where that is unknown."""
    turns = tables.recording.held_turns
    if not turns:
        return tables.summary.server_busy_cores
    used_ns = [turn.server_cpu_ns for turn in turns if turn.server_cpu_ns is not None]
    worked_ns = sum(turn.duration_ns for turn in turns)
    return sum(used_ns) / worked_ns if len(used_ns) == len(turns) and worked_ns else None


def _cores(tables: Tables) -> int:
    """Cores that the server could use: those it was given, or all of the host."""
    server = tables.recording.server
    given = server.cores if server is not None else ()
    stated = server.workers if server is not None and tables.recording.found_running else 0
    return len(given) or stated or len(cores.all_cores(tables.usage))


def _drift(tables: Tables, limits: Limits) -> list[Finding]:
    """The greatest rise of the cost of a response, from lower levels to a higher one."""
    if tables.recording.load.model != "closed" or not tables.recording.stages:
        return []
    end_s = tables.recording.stages[-1].end_ns / 1e9
    known = [level for level in levels.rising(tables.counted_seconds, end_s) if _says(level)]
    rises = [
        (_cost_s(level) / min(map(_cost_s, known[:number])) - 1, level)
        for number, level in enumerate(known)
        if number
    ]
    if not rises:
        return []
    rise, level = max(rises, key=lambda one: one[0])
    sentence = (
        f"at {wording.count(level.connections)} connections a response cost the server "
        f"{wording.seconds(_cost_s(level))} of CPU time, {wording.percent(max(rise, 0.0))} more "
        "than at lower levels"
    )
    remedy = "Profile the server under load: garbage collection, locks, thread migration"
    finding = found(limits.of(DRIFT_RATIO), max(rise, 0.0), sentence, remedy)
    return [meaning(finding, "it works less efficiently under load")]


def _says(level: Level) -> bool:
    """Whether the processor time of a level is known well enough."""
    busy = level.server_busy_cores or 0.0
    long_enough = level.lasted >= SHORTEST and busy * level.counted >= LEAST_BUSY_S
    return long_enough and level.completed_per_s > 0


def _cost_s(level: Level) -> float:
    """Processor time of a response."""
    return (level.server_busy_cores or 0.0) / level.completed_per_s
