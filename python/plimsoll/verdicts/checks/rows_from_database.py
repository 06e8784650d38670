"""Did the rows of the responses come from the database?

A server that keeps rows in its memory, or writes fewer than its responses claim, is faster, and its
responses may still be correct. The database is a witness: it counts the rows read and written over
the life of the server, by any connection. Each right response of the warm-up of its runtime, of the
load and of the contract checks needs a known number of rows at least. The share of these rows that
the database did not count was not read, or not written.

The database of a server is used by no other program, so a surplus comes from a server that reads
more than it must, or a row twice; that is not a fault.

Source: PostgreSQL documentation, the cumulative statistics system: `seq_tup_read`, `idx_tup_fetch`
and `n_tup_upd` of `pg_stat_user_tables`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.aggregate import by_figures
from plimsoll.verdicts.finding import Finding, found, inapplicable, not_checked, of_trial, unknown
from plimsoll.verdicts.limits import PROPOSAL, Limit
from plimsoll.verdicts.role import Role

if TYPE_CHECKING:
    from plimsoll.aggregate.trial import Tables
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "rows_from_database"
TITLE = "Rows came from the database"
PROBLEM = "Rows not from the database"
SOURCE = "rows by PostgreSQL's own count, against those that the responses need"
UNREAD_RATIO = Limit(
    NAME,
    "unread_ratio",
    "above",
    0.001,
    0.01,
    "ratio",
    "rows that responses need and the database did not read / rows that they need",
    PROPOSAL,
)
UNWRITTEN_RATIO = Limit(
    NAME,
    "unwritten_ratio",
    "above",
    0.001,
    0.01,
    "ratio",
    "rows that responses need and the database did not write / rows that they need",
    PROPOSAL,
)
LIMITS = (UNREAD_RATIO, UNWRITTEN_RATIO)
NEEDS = None
ROLE = Role(blames_server=frozenset(one.name for one in LIMITS))
READ_REMEDY = "Have the server read the rows for each request: remove its cache"
WRITE_REMEDY = "Have the server write the rows before it responds"
UNCOUNTED_REMEDY = "Have the server close its connections to the database when it stops"


def judge(tables: Tables, limits: Limits) -> Verdict:
    """Whether the database counted the rows that the responses need."""
    return of_trial(NAME, tables.recording, _findings(tables, limits), SOURCE)


def _findings(tables: Tables, limits: Limits) -> list[Finding]:
    database, limit = tables.recording.database, limits.of(UNREAD_RATIO)
    if database is None:
        return [inapplicable(limit, "the endpoint needs no database")]
    if database.rows_read is None or database.rows_written is None:
        sentence = (
            "a connection to the database was open when the server had stopped, so its counts are "
            "incomplete"
        )
        return [unknown(limit, sentence, UNCOUNTED_REMEDY)]
    count = by_figures.responses_of_life(tables.recording, database.contract_responses)
    if count is None:
        return [not_checked(limit, "the load generator does not report successful responses")]
    each = database.read_per_response
    findings = [_missing(limit, count, each, database.rows_read, "read", READ_REMEDY)]
    if each := database.written_per_response:
        wrote = limits.of(UNWRITTEN_RATIO)
        written = database.rows_written
        findings.append(_missing(wrote, count, each, written, "wrote", WRITE_REMEDY))
    return findings


def _missing(limit: Limit, count: int, each: int, counted: int, did: str, remedy: str) -> Finding:
    needed = count * each
    ratio = max(needed - counted, 0) / needed if needed else 0.0
    sentence = (
        f"the database {did} {wording.count(counted)} rows for {wording.count(count)} responses "
        f"that need {wording.count(needed)}"
    )
    if ratio:
        sentence += f": {wording.percent(wording.significant(ratio, 3))} came from elsewhere"
    return found(limit, ratio, sentence, remedy)
