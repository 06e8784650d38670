"""Were the cores left to server and driver, and the host to itself?

Measured is how many of the cores of server and driver other programs took over the hold, at least:
busy time of these cores, less that of both process trees, less all interrupts. Some kernels count
interrupts with the process that was interrupted, so the true number may be somewhat higher.

A virtual machine can also lose time that none of its programs got: its host gave it to others.

Source: /proc/stat and /proc/<pid>/stat, proc_stat(5), proc_pid_stat(5).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.aggregate import cores
from plimsoll.verdicts import wording
from plimsoll.verdicts.finding import Finding, found, unknown, verdict

if TYPE_CHECKING:
    from plimsoll.aggregate.trial import Tables
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "undisturbed"
SOURCE = "busy time of cores less that of server and driver; proc_stat(5), proc_pid_stat(5)"
REMEDY = "Stop what else runs on this host and repeat the trial"


def judge(tables: Tables, limits: Limits) -> Verdict:
    """Whether other programs, or other virtual machines, took time from the trial."""
    stolen = _stolen(tables, limits)
    findings = [_others(tables, limits), *stolen]
    unread = [] if stolen else ["time withheld by the host of a virtual machine"]
    return verdict(NAME, tables.recording.trial, findings, SOURCE, unread)


def _others(tables: Tables, limits: Limits) -> Finding:
    limit = limits.of(NAME, "other_cores")
    others = cores.other_busy_cores(tables.recording, tables.usage)
    if others is None:
        sentence = (
            "it could not be read whose time the cores were, so other programs may have taken some"
        )
        return unknown(limit, sentence, "Measure a server that Plimsoll starts, on this host")
    sentence = (
        f"other programs took {wording.cores(others)} from server and driver in the hold"
        if limit.level(others) != "sound"
        else "server and driver had their cores to themselves in the hold"
    )
    return found(limit, others, sentence, REMEDY)


def _stolen(tables: Tables, limits: Limits) -> list[Finding]:
    stolen = tables.usage.rate("machine", "cpu_steal_s", tables.holds)
    count = len(cores.all_cores(tables.usage))
    if stolen is None or not count:
        return []
    sentence = (
        f"the host of this virtual machine withheld {wording.percent(round(stolen / count, 4))} of "
        "its processor time in the hold"
    )
    remedy = "Measure on a machine of your own, or at a quieter time"
    return [found(limits.of(NAME, "stolen_ratio"), stolen / count, sentence, remedy)]
