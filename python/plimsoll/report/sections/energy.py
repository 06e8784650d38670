"""The section on energy: joules per correct response, by RAPL and at the wall."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.findings import energy
from plimsoll.findings.trial import state_of
from plimsoll.report.contents import anchor
from plimsoll.report.contents.section import Section, SectionTable, TableRow
from plimsoll.verdicts.catalogue import role

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from plimsoll.findings.energy import EntryEnergy
    from plimsoll.findings.findings import Findings
    from plimsoll.findings.trial import TrialFindings
    from plimsoll.plan import ComparedTable
    from plimsoll.recording import PowerSources
    from plimsoll.statistics.intervals import Estimate

ANCHOR = "energy"
TITLE = "Energy per response"
SOURCES: dict[str, str] = dict(zip(energy.SOURCES, ("RAPL", "wall"), strict=True))
"""Sources of power, and their names."""

_HEADINGS = ("framework", "source", "in all", "95 %", "above idle", "95 %", "power", "idle")

INDISTINCT = "not distinguishable from idle"
MOST_NOTES = 4
"""Sentences on single trials that a table has."""


def section(findings: Findings) -> Section | None:
    """The section; None where no power was measured.

    Args:
        findings: What to report.
    """
    sources = energy.sources(findings)
    read = [power for one in findings.trials if (power := one.recording.power) is not None]
    if not sources and not any(power.meter for power in read):
        return None
    return Section(
        anchor=ANCHOR,
        title=TITLE,
        short="Energy",
        caption=_caption(sources, read),
        tables=tuple(_table(*one) for one in energy.of_findings(findings).items()),
    )


def _caption(sources: Sequence[str], read: Sequence[PowerSources]) -> str:
    sentences = [
        "Joules per successful response: total, and above the power of the server without load "
        "(idle). Medians over repetitions with 95 % intervals; the interval of a single trial is "
        "over its seconds."
    ]
    if "rapl" in sources:
        domains = dict.fromkeys(name for power in read for name in power.rapl)
        left_out = dict.fromkeys(name for power in read for name in power.rapl_left_out)
        sentences.append(f"RAPL counts {', '.join(domains)}; {_omitted(list(domains))}.")
        if left_out:
            sentences.append(f"Not counted: {', '.join(left_out)}.")
    reasons = dict.fromkeys(power.rapl_unreadable for power in read)
    sentences += [f"RAPL was unavailable: {reason}." for reason in reasons if reason]
    kinds = dict.fromkeys(power.meter for power in read if power.meter)
    if kinds:
        sentences.append(
            f"The meter at the wall ({', '.join(kinds)}) sees the whole host with its power supply."
        )
    return " ".join(sentences)


def _omitted(domains: Sequence[str]) -> str:
    """What the domains leave out."""
    has_memory = any(name.startswith("dram") for name in domains)
    memory = "" if has_memory else "memory, "
    return (
        f"it omits {memory}mainboard, disks, network cards, fans and the loss of the power supply"
    )


def _table(key: ComparedTable, entries: Sequence[EntryEnergy]) -> SectionTable:
    endpoint, load, driver = key
    trials = {trial.recording.trial: trial for one in entries for trial in one.trials}
    return SectionTable(
        title=f"{endpoint}, {load}, by {driver}",
        headings=_HEADINGS,
        numbers=tuple(range(2, len(_HEADINGS))),
        lines=tuple(map(_line, entries)),
        verdict="verdict",
        brief=(1, 2, 4),
        notes=tuple(_notes(list(trials.values()))),
    )


def _line(found: EntryEnergy) -> TableRow:
    above_idle = (INDISTINCT, wording.ABSENT) if found.is_indistinct else _joules(found.above_idle)
    cells = (
        found.framework,
        SOURCES[found.source],
        *_joules(found.total),
        *above_idle,
        wording.power(found.power_w),
        wording.power(found.idle_w),
    )
    first = found.trials[0].recording.trial
    return TableRow(cells, state_of(found.trials), anchor=anchor("trial", first))


def _joules(found: Estimate | None) -> tuple[str, str]:
    """Energy of a response and its interval; a dash where there is none."""
    if found is None:
        return wording.ABSENT, wording.ABSENT
    ends = found.interval
    between = wording.ABSENT if ends is None else wording.joules_between(ends.low, ends.high)
    return wording.joules(found.value), between


def _notes(trials: Sequence[TrialFindings]) -> Iterator[str]:
    """Why trials have no energy, the first few of them."""
    found = [
        f"{trial.recording.trial}: {sentence.text}"
        for trial in trials
        for verdict in trial.verdicts
        if role(verdict.check).shown_in == "energy"
        for sentence in verdict.sentences
        if sentence.level == "not_checked"
    ]
    yield from found[:MOST_NOTES]
    if found[MOST_NOTES:]:
        yield f"And {len(found) - MOST_NOTES} more."
