"""What a report says of a ranking: a row for each entry, who is ahead, and by how much."""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import median
from typing import TYPE_CHECKING

from plimsoll import charts, wording
from plimsoll.comparison import entry_comparison, turn_partners
from plimsoll.findings import ranking_margins
from plimsoll.findings.hold_length import hold_length
from plimsoll.findings.trial import RANKED_BY
from plimsoll.plan import ComparedTable
from plimsoll.report import estimate_text
from plimsoll.report.contents import naming, stopping
from plimsoll.report.contents.naming import anchor
from plimsoll.statistics.intervals import Estimate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from plimsoll.comparison.entry_comparison import EntryComparison
    from plimsoll.findings.findings import Findings
    from plimsoll.findings.rankings import RankedEntry, Ranking
    from plimsoll.findings.trial import State, TrialFindings
    from plimsoll.recording import Recording
    from plimsoll.report.contents.campaign import Facts

Key = tuple[ComparedTable, str]
"""Table and quantity."""

_MOST_GROUPS = 3
"""Groups of servers that took turns which are named."""

_OTHERS = (
    ("p50", "response_time_p50_ns", wording.duration),
    ("p99", "response_time_p99_ns", wording.duration),
    ("failed", "failure_ratio", wording.percent),
    ("server CPU", "server_busy_cores", wording.busy_cores),
    ("memory", "server_peak_rss_bytes", wording.size),
)
"""Columns of a ranking besides throughput: heading, quantity, how it is written."""

CPU_PER_REQUEST = "server_cpu_s_per_request"
"""The column of `tables.SUMMARIES` with the processor time of a response."""


@dataclass(frozen=True)
class Row:
    """One framework in a ranking.

    Attributes:
        rank: Its rank, or range of ranks.
        is_ranked: Whether it has one.
        framework: Framework and variant.
        anchor: Anchor of its first trial.
        number: Its median goodput.
        interval: The 95 % interval of it; empty when there is none.
        of_best: It as a share of the best, with the interval of that; `–` when it has none.
        to_next: It as a multiple of the next one in the ranking, with interval; `–` for the last.
        to_next_brief: The same without the name, which stands in the next line.
        others: Other quantities: heading and value.
        ratios: For each of them the ratio to the best by that quantity, with interval; empty where
            there is none.
        state: How far to believe it.
        reason: Why, in a few words.
        cpu_per_request: Processor time of the server per complete response.
    """

    rank: str
    is_ranked: bool
    framework: str
    anchor: str
    number: str
    interval: str
    of_best: str
    to_next: str
    to_next_brief: str
    others: Facts
    ratios: tuple[str, ...]
    state: State
    reason: str
    cpu_per_request: str


@dataclass(frozen=True)
class RankingContents:
    """One ranking.

    Attributes:
        anchor: Its anchor.
        title: Endpoint and load.
        subject: What its rows are: frameworks of a campaign, or the target of a load.
        is_alone: Whether it has one row, which has no rank and no ratio.
        headings: Headings of the other quantities.
        rows: The frameworks, the best first.
        lead: Who is ahead by the quantity that ranks; empty where fewer than two have a ratio.
        leads: Who is ahead by which quantity, and by how much; the ranking's own first.
        clear_lead: The best and the first one that it is ahead of, where that is not the next one.
        resolution: What differences it tells apart, and whether more repetitions or longer holds
            would tell more; of a campaign with `until`, which intervals are too wide. Also which
            servers took no turns with each other. Empty where nothing of it is known.
        ranking: What it is made from.
    """

    anchor: str
    title: str
    subject: str
    is_alone: bool
    headings: tuple[str, ...]
    rows: tuple[Row, ...]
    lead: str
    leads: tuple[str, ...]
    clear_lead: str
    resolution: str
    ranking: Ranking


def rankings(findings: Findings) -> list[RankingContents]:
    """Every ranking."""
    compared: dict[Key, list[EntryComparison]] = {}
    for one in entry_comparison.of_table(findings.comparisons):
        compared.setdefault((one.table, one.quantity), []).append(one)
    states: dict[str, State] = {trial.recording.trial: trial.state for trial in findings.trials}
    return [_ranking(ranking, findings, compared, states) for ranking in findings.rankings]


def detail(rankings: Sequence[RankingContents]) -> tuple[str, str]:
    """Heading and caption of the rankings; tables of one entry each rank nothing."""
    if any(ranking.rows[1:] for ranking in rankings):
        return "Ranking in detail", charts.comparison.CAPTION
    return "Results in detail", charts.comparison.CAPTION_OF_ONE


def _ranking(
    ranking: Ranking,
    findings: Findings,
    compared: Mapping[Key, Sequence[EntryComparison]],
    states: Mapping[str, State],
) -> RankingContents:
    def entries(quantity: str) -> Sequence[EntryComparison]:
        return compared.get((ranking.table, quantity), ())

    trials = _by_framework(ranking, findings)
    quantities = {
        (one.framework, one.quantity): _even_if_void(one, trials.get(one.framework, ()))
        for quantity in _columns()
        for one in entries(quantity)
    }
    reported = ranking_margins.leads([entries(quantity) for quantity in ranking_margins.QUANTITIES])
    clear = ranking_margins.clear_lead(entries(RANKED_BY))
    is_next = clear is None or (bool(reported) and reported[0].second == clear.second)
    resolution = ranking_margins.resolution(entries(RANKED_BY))
    counting = _counting(ranking, findings)
    length = None if resolution is None else hold_length(counting, resolution.scatter)
    return RankingContents(
        anchor=anchor("ranking", *_field(ranking, findings, always=(0, 1))),
        title=", ".join(_field(ranking, findings, always=(0, 1) if findings.lines else (0,))),
        subject=naming.subject(findings),
        is_alone=len(ranking.entries) == 1,
        headings=tuple(heading for heading, _, _ in _OTHERS),
        rows=tuple(
            replace(row, reason="; ".join(filter(None, (row.reason, _of_blocks(entry, ranking)))))
            for entry in ranking.entries
            for row in (_row(entry, quantities, states),)
        ),
        lead=next((lead.sentence for lead in reported if lead.quantity == RANKED_BY), ""),
        leads=tuple(lead.sentence for lead in reported),
        clear_lead="" if clear is None or is_next else clear.sentence,
        resolution=". ".join(
            one
            for one in (
                _told_apart(ranking, findings, resolution),
                length and length.sentence,
                _in_groups(counting),
            )
            if one
        ),
        ranking=ranking,
    )


def _by_framework(ranking: Ranking, findings: Findings) -> dict[str, list[TrialFindings]]:
    """Every trial of a ranking, whether it counts or not."""
    by_id = {one.recording.trial: one for one in findings.trials}
    return {
        entry.framework: [by_id[one.trial] for one in entry.repetitions if one.trial in by_id]
        for entry in ranking.entries
    }


def _even_if_void(one: EntryComparison, trials: Sequence[TrialFindings]) -> EntryComparison:
    """The same; where no repetition counts, with what was measured: the row says that it is void.

    Its throughput and the charts of its trials are shown, too.
    """
    if one.value is not None or one.repetitions:
        return one
    known = [
        value
        for trial in trials
        if trial.summary is not None and (value := trial.summary.value(one.quantity)) is not None
    ]
    return replace(one, value=Estimate(median(known))) if known else one


def _told_apart(
    ranking: Ranking, findings: Findings, resolution: ranking_margins.Resolution | None
) -> str:
    """What differences a ranking tells apart, or which of its intervals are still too wide."""
    if findings.progress is not None:
        return stopping.of_table(findings.progress, ranking.table)
    return "" if resolution is None else resolution.sentence


def _counting(ranking: Ranking, findings: Findings) -> list[TrialFindings]:
    """The trials of a ranking that count."""
    names = {
        repetition.trial
        for entry in ranking.entries
        for repetition in entry.repetitions
        if repetition.level != "void"
    }
    return [trial for trial in findings.trials if trial.recording.trial in names]


def _in_groups(counting: Sequence[TrialFindings]) -> str:
    """Which servers took no turns with each other, and what that means; empty where all did."""
    blocks: dict[int, list[Recording]] = {}
    for one in counting:
        blocks.setdefault(one.recording.repetition, []).append(one.recording)
    by_block = {block: turn_partners.groups(found) for block, found in blocks.items()}
    apart = {block: groups for block, groups in by_block.items() if len(groups) > 1}
    if not apart:
        return ""
    first = min(apart)
    named = "; ".join(
        wording.listed(sorted(one.title for one in group)) for group in apart[first][:_MOST_GROUPS]
    )
    more = len(apart[first]) - _MOST_GROUPS
    beyond = f"; {wording.several(more, 'further group')}" if more > 0 else ""
    began = "Servers took turns in several groups, one after the other"
    contains = "Between groups, a ratio contains what the machine did meanwhile"
    if len(blocks) == 1:
        return f"{began}: {named}{beyond}. {contains}, which one repetition does not show"
    where = f"in {wording.progress(len(apart), len(blocks))} repetitions, as in number {first}"
    return f"{began}, {where}: {named}{beyond}. {contains}; so does its interval"


def _columns() -> Iterator[str]:
    """Columns of summaries that a row of a ranking needs."""
    for _, quantity, _ in _OTHERS:
        yield quantity
        yield _instead(quantity)
    yield CPU_PER_REQUEST


def _instead(quantity: str) -> str:
    """The service time where the response time is unknown."""
    return quantity.replace("response_time", "service_time")


def _field(ranking: Ranking, findings: Findings, always: tuple[int, ...]) -> list[str]:
    """Endpoint, load and driver of a ranking; those named always, others where there are several.

    Args:
        ranking: The ranking.
        findings: All that there is.
        always: Places of what is named always.
    """
    return naming.parts(ranking.table, [one.table for one in findings.rankings], always)


def _row(
    entry: RankedEntry,
    quantities: Mapping[tuple[str, str], EntryComparison],
    states: Mapping[str, State],
) -> Row:
    others = [_other(entry.framework, quantities, *other) for other in _OTHERS]
    cpu = quantities.get((entry.framework, CPU_PER_REQUEST))
    return Row(
        rank=entry.rank,
        is_ranked=entry.rank_low is not None,
        framework=entry.framework,
        anchor=anchor("trial", entry.repetitions[0].trial),
        number=wording.per_second(entry.value),
        interval=_interval(entry),
        of_best=estimate_text.of_best(entry.to_best),
        to_next=estimate_text.times_as(entry.to_next, entry.next_framework),
        to_next_brief=estimate_text.times_as(entry.to_next),
        others=[(heading, value) for heading, value, _ in others],
        ratios=tuple(ratio for _, _, ratio in others),
        state=_state(entry, states),
        reason=_reason(entry),
        cpu_per_request=wording.seconds(cpu and cpu.median),
    )


def _other(
    framework: str,
    quantities: Mapping[tuple[str, str], EntryComparison],
    heading: str,
    quantity: str,
    write: Callable[[float | None], str],
) -> tuple[str, str, str]:
    """Heading, value and ratio to the best of another quantity."""
    own = quantities.get((framework, quantity))
    instead = quantities.get((framework, _instead(quantity)))
    if (own is None or own.median is None) and instead and instead.median is not None:
        return heading, f"{write(instead.median)} service", _to_least(instead)
    return heading, write(own and own.median), _to_least(own)


def _to_least(compared: EntryComparison | None) -> str:
    if compared is None or compared.to_best is None:
        return ""
    return "least" if compared.to_best.value == 1 else estimate_text.times_as(compared.to_best)


def _interval(entry: RankedEntry) -> str:
    if entry.low is None or entry.high is None:
        return ""
    return f"{wording.number(entry.low)}–{wording.number(entry.high)}"


def _state(entry: RankedEntry, states: Mapping[str, State]) -> State:
    every = {states[repetition.trial] for repetition in entry.repetitions}
    return "failed" if every == {"failed"} else entry.level


def _reason(entry: RankedEntry) -> str:
    repetitions = len(entry.repetitions)
    single = "one repetition" if repetitions == 1 and entry.rank_low else ""
    yardstick = "yardstick, not ranked" if entry.is_yardstick else ""
    return "; ".join(part for part in (yardstick, entry.reason, single) if part)


def _of_blocks(entry: RankedEntry, ranking: Ranking) -> str:
    """That its median contradicts a rank, since it is of fewer blocks; empty where it does not."""
    for other in ranking.entries:
        is_short = _counting_of(entry) < _counting_of(other)
        if is_short and (_is_turned(entry, other) or _is_turned(other, entry)):
            return f"median of fewer blocks than that of {other.framework}; ranks compare in blocks"
    return ""


def _counting_of(entry: RankedEntry) -> int:
    """How many of its repetitions count."""
    return sum(one.level != "void" for one in entry.repetitions)


def _is_turned(one: RankedEntry, other: RankedEntry) -> bool:
    """Whether an entry is ranked ahead of another that has the greater median."""
    if one.rank_high is None or other.rank_low is None or one.value is None or other.value is None:
        return False
    return one.rank_high < other.rank_low and one.value < other.value
