"""The section on energy: joules per correct response, by RAPL and at the wall."""

from __future__ import annotations

from itertools import groupby
from statistics import median
from typing import TYPE_CHECKING

from plimsoll.findings.trial import state_of
from plimsoll.report import words
from plimsoll.report.contents import anchor
from plimsoll.report.section import Section, SectionTable, TableRow
from plimsoll.statistics.intervals import Estimate, Interval
from plimsoll.verdicts.checks.energy_net import NAME as CHECK

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from plimsoll.aggregate.summary import Summary
    from plimsoll.findings.findings import Findings
    from plimsoll.findings.trial import TrialFindings
    from plimsoll.recording import PowerSources

    Key = tuple[str, str, str]
    """Endpoint, load and driver."""

    Rows = Mapping[tuple[str, ...], Mapping[str, float | None]]
    """Rows of `tables.COMPARISONS` by endpoint, load, driver, framework and quantity."""

ANCHOR = "energy"
TITLE = "Energy per response"
SOURCES = {"rapl": "RAPL", "wall": "wall"}
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
    sources = [source for source in SOURCES if _is_known(findings.trials, source)]
    read = [power for one in findings.trials if (power := one.recording.power) is not None]
    if not sources and not any(power.meter for power in read):
        return None
    rows = {
        (row["endpoint"], row["load"], row["driver"], row["framework"], row["quantity"]): row
        for row in findings.comparisons.to_pylist()
    }
    groups = groupby(sorted(findings.trials, key=_key), key=_key)
    return Section(
        anchor=ANCHOR,
        title=TITLE,
        short="Energy",
        caption=_caption(sources, read),
        tables=tuple(_table(key, list(trials), sources, rows) for key, trials in groups),
    )


def _is_known(trials: Sequence[TrialFindings], source: str) -> bool:
    return any(
        one.summary is not None and one.summary.value(f"{source}_power_w") is not None
        for one in trials
    )


def _key(trial: TrialFindings) -> Key:
    recording = trial.recording
    return recording.endpoint, recording.load.name, recording.driver_name


def _caption(sources: Sequence[str], read: Sequence[PowerSources]) -> str:
    sentences = [
        "Joules per successful response: by all power, and by what exceeds the power of the server "
        "without load (idle). Medians over repetitions with 95 % intervals; of a single trial the "
        "interval is that of its seconds."
    ]
    if "rapl" in sources:
        domains = dict.fromkeys(name for power in read for name in power.rapl)
        left_out = dict.fromkeys(name for power in read for name in power.rapl_left_out)
        sentences.append(f"RAPL counts {', '.join(domains)}; {_omitted(list(domains))}.")
        if left_out:
            sentences.append(f"Not counted: {', '.join(left_out)}.")
    reasons = dict.fromkeys(power.rapl_unreadable for power in read)
    sentences += [f"RAPL was not read: {reason}." for reason in reasons if reason]
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


def _table(
    key: Key, trials: Sequence[TrialFindings], sources: Sequence[str], rows: Rows
) -> SectionTable:
    by_framework: dict[str, list[TrialFindings]] = {}
    for trial in trials:
        by_framework.setdefault(trial.recording.title, []).append(trial)
    endpoint, load, driver = key
    return SectionTable(
        title=f"{endpoint}, {load}, by {driver}",
        headings=_HEADINGS,
        numbers=tuple(range(2, len(_HEADINGS))),
        lines=tuple(
            _line((*key, framework), ours, source, rows)
            for framework, ours in by_framework.items()
            for source in sources
        ),
        verdict="verdict",
        brief=(1, 2, 4),
        notes=tuple(_notes(trials)),
    )


def _line(
    key: tuple[str, ...], trials: Sequence[TrialFindings], source: str, rows: Rows
) -> TableRow:
    cells = (key[-1], SOURCES[source], *_cells(key, trials, source, rows))
    return TableRow(cells, state_of(trials), anchor=anchor("trial", trials[0].recording.trial))


def _cells(
    key: tuple[str, ...], trials: Sequence[TrialFindings], source: str, rows: Rows
) -> Iterator[str]:
    idle_w = _median(trials, f"{source}_idle_power_w")
    yield from _joules(_estimate(rows.get((*key, f"{source}_j_per_ok"))))
    net = _estimate(rows.get((*key, f"{source}_net_j_per_ok")))
    if any(_is_indistinct(one.summary, source) for one in trials):
        yield from (INDISTINCT, words.ABSENT)
    else:
        yield from _joules(net and _with_own_interval(net, trials, source))
    yield words.power(_median(trials, f"{source}_power_w"))
    yield words.power(idle_w)


def _is_indistinct(summary: Summary | None, source: str) -> bool:
    """Whether a trial is not distinguishable from idle; the others alone would be too high."""
    if summary is None or summary.value(f"{source}_idle_power_w") is None:
        return False
    return summary.value(f"{source}_net_power_w") is None


def _estimate(row: Mapping[str, float | None] | None) -> Estimate | None:
    """The median of repetitions that count, with its interval; None where there is none."""
    if row is None or row["median"] is None:
        return None
    low, high = row["low"], row["high"]
    return Estimate(row["median"], None if low is None or high is None else Interval(low, high))


def _with_own_interval(net: Estimate, trials: Sequence[TrialFindings], source: str) -> Estimate:
    """An estimate of one repetition with the interval of its seconds."""
    counted = [one.summary for one in trials if one.summary is not None and one.level != "void"]
    if net.interval is not None or len(counted) != 1:
        return net
    low_w, high_w = (counted[0].value(f"{source}_net_power_{end}_w") for end in ("low", "high"))
    rate_per_s = counted[0].goodput_per_s
    if low_w is None or high_w is None or not rate_per_s:
        return net
    return Estimate(net.value, Interval(low_w / rate_per_s, high_w / rate_per_s))


def _joules(found: Estimate | None) -> tuple[str, str]:
    if found is None:
        return words.ABSENT, words.ABSENT
    ends = found.interval
    if ends is None:
        return words.joules(found.value), words.ABSENT
    low, high = words.joules(ends.low), words.joules(ends.high)
    number, _, unit = low.partition(" ")
    return words.joules(found.value), f"{number if high.endswith(f' {unit}') else low}–{high}"


def _median(trials: Sequence[TrialFindings], column: str) -> float | None:
    values = [
        value
        for one in trials
        if one.summary is not None and (value := one.summary.value(column)) is not None
    ]
    return median(values) if values else None


def _notes(trials: Sequence[TrialFindings]) -> Iterator[str]:
    """Why trials have no energy, the first few of them."""
    found = [
        f"{trial.recording.trial}: {sentence.text}"
        for trial in trials
        for verdict in trial.verdicts
        if verdict.check == CHECK
        for sentence in verdict.sentences
        if sentence.level == "not_checked"
    ]
    yield from found[:MOST_NOTES]
    if found[MOST_NOTES:]:
        yield f"And {len(found) - MOST_NOTES} more."
