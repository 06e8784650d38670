"""Are failures few, and is it known of each how it failed?

Measured is the share of the requests ended within the holds that got no complete answer: no
connection, connection lost, too late, not HTTP, never sent. Wrong answers are another check's.
A failure is explained when its outcome has a name, and an error number where the system gives one.

Source: load tools that count "socket errors" without a number leave their users to guess whether
the server, the driver or the network failed.
"""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

from plimsoll.aggregate.outcomes import BY_NAME, COMPLETED, NOT_FAILED
from plimsoll.verdicts import wording
from plimsoll.verdicts.finding import Finding, found, unknown, verdict

if TYPE_CHECKING:
    from plimsoll.aggregate.evidence import OutcomeCount
    from plimsoll.aggregate.trial import Tables
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "failures_explained"
SOURCE = "requests without a complete answer / requests that ended, in the holds"
REMEDIES = {
    "connect": (
        "See whether the server was up and its listen queue long enough, and whether ports and "
        "file descriptors sufficed"
    ),
    "lost": "Look into the server's log for why it closed or reset connections",
    "timed_out": "Ask for fewer connections, or allow more time for an answer",
    "malformed": "Look at the bytes the server sends; they are not HTTP/1.1",
    "open": "Give the driver more connections or a longer hold",
}
"""What to do about each group of failures."""


def judge(tables: Tables, limits: Limits) -> Verdict:
    """Whether failures are few and explained."""
    findings = [_few(tables, limits), _explained(tables, limits)]
    return verdict(NAME, tables.recording.trial, findings, SOURCE)


def _few(tables: Tables, limits: Limits) -> Finding:
    limit = limits.of(NAME, "failed_ratio")
    if tables.recording.driver is None and tables.recording.ending.kind == "completed":
        return unknown(limit, "this recording has no requests", "")
    driver = tables.recording.driver
    if driver is not None and not driver.outcomes_said:
        return unknown(limit, "which requests failed is not said", "Have the driver say so")
    failures = [row for row in tables.outcome_counts if _is_failure(row) and row.held]
    failed = sum(row.held for row in failures)
    ended = tables.summary["completed"] + failed
    if not tables.summary["completed"]:
        sentence = f"not one request was answered in the hold; {_told(failures) or 'none ended'}"
        return found(limit, 1.0, sentence, _remedy(failures))
    if not failed and driver is not None and not driver.failures_said:
        sentence = "requests without an answer are missing in what the driver wrote"
        return unknown(limit, sentence, "Look at what it printed of them")
    if not failed:
        sentence = f"none of the {wording.count(ended)} requests of the hold failed"
        return found(limit, 0.0, sentence + _elsewhere(tables), "")
    sentence = (
        f"{wording.count(failed)} of {wording.several(ended, 'request')} in the hold "
        f"({wording.percent(failed / ended)}) failed: {_told(failures)}{_elsewhere(tables)}"
    )
    return found(limit, failed / ended, sentence, _remedy(failures))


def _is_failure(row: OutcomeCount) -> bool:
    return row.outcome not in NOT_FAILED and row.outcome not in COMPLETED


def _told(failures: list[OutcomeCount]) -> str:
    ordered = sorted(failures, key=lambda row: -row.held)
    return wording.listed([f"{wording.count(row.held)} {_words(row)}" for row in ordered])


def _words(row: OutcomeCount) -> str:
    outcome = BY_NAME.get(row.outcome)
    words = f"of unknown kind `{row.outcome}`" if outcome is None else outcome.words
    if row.errno is None:
        return words
    return f"{words} ({errno.errorcode.get(row.errno, f'error {row.errno}')})"


def _elsewhere(tables: Tables) -> str:
    outside = sum(row.requests - row.held for row in tables.outcome_counts if _is_failure(row))
    return f", and {wording.count(outside)} outside the hold" if outside else ""


def _remedy(failures: list[OutcomeCount]) -> str:
    if not failures:
        return "Look into the server's log for why it did not answer"
    most = BY_NAME.get(max(failures, key=lambda row: row.held).outcome)
    return "" if most is None else REMEDIES.get(most.group, "")


def _explained(tables: Tables, limits: Limits) -> Finding:
    limit = limits.of(NAME, "unexplained_ratio")
    rows = [row for row in tables.outcome_counts if _is_failure(row) and not _is_explained(row)]
    number = sum(row.requests for row in rows)
    total = sum(row.requests for row in tables.outcome_counts)
    names = wording.listed(sorted({f"`{row.outcome}`" for row in rows}))
    sentence = (
        f"it is not known why {wording.several(number, 'request')} failed ({names}): the kind or "
        "the system's error number is missing"
        if number
        else "it is known of each failure how it came about"
    )
    remedy = "Use a driver that records how each request failed"
    return found(limit, number / total if total else 0.0, sentence, remedy)


def _is_explained(row: OutcomeCount) -> bool:
    outcome = BY_NAME.get(row.outcome)
    return outcome is not None and (row.errno is not None or not outcome.has_errno)
