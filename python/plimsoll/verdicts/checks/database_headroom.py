"""Did the database have time to spare?

A server that waits for its database is as fast as that database, and two servers that both wait for
it differ by little. The check divides the CPU time of the database's processes in the measurement
windows by the time of its cores. Where the database shares the server's cores, its CPU time is lost
to the server, and a host with more cores shows more of the server.

Source: the utilisation law, U = X · S; P. J. Denning, J. P. Buzen, ACM Computing Surveys 10(3),
1978; proc_pid_stat(5).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.aggregate import cores
from plimsoll.verdicts.finding import Finding, found, inapplicable, not_checked, of_trial, unknown
from plimsoll.verdicts.limits import PROPOSAL, Limit
from plimsoll.verdicts.role import Role

if TYPE_CHECKING:
    from plimsoll.aggregate.trial import Tables
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "database_headroom"
TITLE = "Database headroom"
PROBLEM = "Database at its limit"
SOURCE = "CPU time of the database by the time of its cores; Denning and Buzen, 1978"
BUSY_RATIO = Limit(
    NAME,
    "busy_ratio",
    "above",
    0.8,
    None,
    "ratio",
    "CPU time of the database in the measurement window / time of its cores",
    PROPOSAL,
)
LIMITS = (BUSY_RATIO,)
NEEDS = None
ROLE = Role(shown_in="database")
REMEDY = "Give the database more cores, or measure with fewer `connections`"
READABLE = "Measure on a host whose `/proc` shows the database's processes"


def judge(tables: Tables, limits: Limits) -> Verdict:
    """Whether the database had time to spare."""
    return of_trial(NAME, tables.recording, [_finding(tables, limits)], SOURCE)


def _finding(tables: Tables, limits: Limits) -> Finding:
    limit, database = limits.of(BUSY_RATIO), tables.recording.database
    if database is None:
        return inapplicable(limit, "the endpoint needs no database")
    if not database.started:
        sentence = "the database was not started by Plimsoll, so its CPU time is unknown"
        return not_checked(limit, sentence)
    ratio = cores.database_busy_ratio(tables.recording, tables.usage)
    if ratio is None:
        return unknown(limit, "CPU time of the database could not be read", READABLE)
    busy = wording.percent(round(ratio, 3))
    shared = cores.shared_with_database(tables.recording)
    whose = "it shares with the server" if shared else "of its own"
    took = f"the database took {busy} of the {wording.several(len(database.cores), 'core')} {whose}"
    if limit.level(ratio) == "sound":
        return found(limit, ratio, took, "")
    return found(limit, ratio, f"{took}: it was the limit, not the server", REMEDY)
