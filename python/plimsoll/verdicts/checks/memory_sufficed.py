"""Was there memory enough?

Four numbers over the holds: pages that the host swapped, page faults of the server that needed a
disk, time in which some task waited for memory (PSI), and, over the whole load, processes that the
kernel killed for want of it. A server whose memory lies on a disk is as fast as that disk.

Some pages are always swapped or read again on behalf of others, so only many of them count.

Source: `/proc/vmstat`; proc_pid_stat(5), majflt; the kernel's document on pressure stall
information.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.verdicts import wording
from plimsoll.verdicts.finding import Finding, found, unknown, verdict

if TYPE_CHECKING:
    from plimsoll.aggregate.trial import Tables
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "memory_sufficed"
SOURCE = "swapping, page faults, kills and waits for memory; /proc/vmstat, PSI"
REMEDY = "Give the host more memory, or the server less to keep in it"
RATES = (
    (
        "swapped_per_s",
        "machine",
        "swapped_pages",
        "swapped pages",
        "{} pages a second were swapped",
    ),
    (
        "major_faults_per_s",
        "server",
        "major_faults",
        "page faults of the server",
        "the server waited for a page from a disk {} times a second",
    ),
)


def judge(tables: Tables, limits: Limits) -> Verdict:
    """Whether there was memory enough."""
    parts = {what: _rate(tables, limits, *rest) for *rest, what in map(_named, RATES)}
    parts["pressure on memory"] = _waited(tables, limits)
    parts["kills for want of memory"] = _killed(tables, limits)
    findings = [finding for finding in parts.values() if finding is not None]
    unread = [what for what, finding in parts.items() if finding is None]
    if not findings:
        sentence = "nothing could be read of how memory sufficed"
        findings = [unknown(limits.of(NAME, "swapped_per_s"), sentence, "Hold the load for longer")]
        unread = []
    return verdict(NAME, tables.recording.trial, findings, SOURCE, unread)


def _named(row: tuple[str, str, str, str, str]) -> tuple[str, str, str, str, str]:
    name, scope, quantity, what, sentence = row
    return name, scope, quantity, sentence, what


def _rate(
    tables: Tables, limits: Limits, name: str, scope: str, quantity: str, sentence: str
) -> Finding | None:
    per_s = tables.usage.rate(scope, quantity, tables.holds)
    if per_s is None:
        return None
    told = sentence.format(wording.amount(per_s)) + " in the hold"
    return found(limits.of(NAME, name), max(per_s, 0.0), told, REMEDY)


def _waited(tables: Tables, limits: Limits) -> Finding | None:
    ratio = tables.usage.rate("machine", "pressure_memory_s", tables.holds)
    if ratio is None:
        return None
    sentence = f"some task waited for memory {wording.percent(round(ratio, 4))} of the hold"
    return found(limits.of(NAME, "waited_ratio"), ratio, sentence, REMEDY)


def _killed(tables: Tables, limits: Limits) -> Finding | None:
    windows = [(stage.start_ns, stage.end_ns) for stage in tables.recording.stages]
    killed = tables.usage.growth("machine", "oom_kills", windows)
    if killed is None:
        return None
    sentence = (
        f"the kernel killed {wording.several(round(killed), 'process', 'processes')} for want of "
        "memory"
    )
    return found(limits.of(NAME, "kills"), round(killed), sentence, REMEDY)
