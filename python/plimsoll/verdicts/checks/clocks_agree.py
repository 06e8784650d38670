"""Do all clocks of the trial agree?

Within one host every instant comes from the kernel's monotonic clock: rows of the load generator
and readings of resources need no translation, and there is nothing to compare. If several hosts
took part, each has its own clock. The check measures the greatest offset between any of them and
the first host's, as found by an exchange of messages. Rows are merged with these offsets, and their
error is in every time that begins on one host and ends on another.

Source: clock_gettime(2), CLOCK_MONOTONIC; D. L. Mills, RFC 5905, on offsets by exchange.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.verdicts.finding import Finding, found, not_checked, of_trial, unknown
from plimsoll.verdicts.limits import PROPOSAL, Limit

if TYPE_CHECKING:
    from plimsoll.aggregate.trial import Tables
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "clocks_agree"
TITLE = "Clocks agree"
SOURCE = "offsets of the hosts' clocks against the first host's; RFC 5905"
OFFSET_S = Limit(
    NAME,
    "offset_s",
    "above",
    0.005,
    0.05,
    "s",
    "greatest offset between the clock of a host and that of the first one",
    PROPOSAL,
)
LIMITS = (OFFSET_S,)
NEEDS = None


def judge(tables: Tables, limits: Limits) -> Verdict:
    """Whether all clocks agree."""
    return of_trial(NAME, tables.recording, [_finding(tables, limits)], SOURCE)


def _finding(tables: Tables, limits: Limits) -> Finding:
    limit = limits.of(OFFSET_S)
    hosts, offsets = tables.recording.machines, tables.recording.clock_offsets_ns
    if len(hosts) < 2:  # noqa: PLR2004
        return not_checked(limit, "one host took part, with one monotonic clock")
    missing = [host for host in hosts if host not in offsets]
    if missing:
        sentence = f"how far the clock of `{missing[0]}` is from the first host's is not recorded"
        return unknown(limit, sentence, "Repeat the trial, with all hosts reachable")
    host, offset_ns = max(offsets.items(), key=lambda item: abs(item[1]))
    sentence = (
        f"the clocks of {len(hosts)} hosts differ by up to {wording.seconds(abs(offset_ns) / 1e9)} "
        f"(`{host}`)"
    )
    remedy = "Synchronise the clocks of the hosts (chrony, PTP) and repeat the trial"
    return found(limit, abs(offset_ns) / 1e9, sentence, remedy)
