"""Do repetitions agree well enough for the differences that are claimed?

Four things, over the repetitions that count of each framework at each endpoint and load:

- how many there are: with one, the spread is unknown, with two it is nearly so. That is no fault of
  a number that claims nothing: the verdict reports it as unknown. It is doubtful if a rank rests on
  fewer than three, or if some of those that its table has begun with do not count;
- the greatest standard deviation over repetitions / their mean, corrected for the machine: for what
  other programs took from each, and for how fast the machine was, by the control or by what the
  other entries of the block have in common. What each has in a typical block is by the model that
  ranks. Tables compare within blocks, and `reference_drift` judges blocks. Where servers take
  turns, the scatter that their turns explain is subtracted, too: intervals contain it, and fresh
  processes add nothing to it;
- the same against the difference by which the ranking has a framework ahead of the next one: if
  single repetitions scatter more than that, the rank rests on their number alone;
- whether throughput was alike in each: steady in one repetition and not in another is
  "inconsistent", and the median then mixes two kinds of numbers. A repetition counts as steady
  unless `steady` doubts its throughput: a change may be small, or the machine's.

Source: T. Kalibera and R. Jones, Rigorous Benchmarking in Reasonable Time, ISMM 2013; classes of E.
Barrett et al., Virtual machine warmup blows hot and cold, OOPSLA 2017; limits are proposals.
"""

from __future__ import annotations

from collections import Counter
from statistics import mean, median, stdev
from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.aggregate.steady_state import SHORT
from plimsoll.comparison.compared_table import by_table
from plimsoll.comparison.entries import entries, ranked_ahead, typical_ratios
from plimsoll.statistics.repetitions import beyond_chance
from plimsoll.verdicts.finding import Finding, Remedy, found, not_checked, verdict
from plimsoll.verdicts.limits import PROPOSAL, Limit
from plimsoll.verdicts.verdict import CAMPAIGN

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plimsoll.comparison.comparisons import ComparedTrial, Key
    from plimsoll.comparison.entries import Entry, RankedPair
    from plimsoll.plan import ComparedTable
    from plimsoll.statistics.comparison import Observation
    from plimsoll.verdicts.limits import Limit, Limits
    from plimsoll.verdicts.verdict import Verdict

    Deviations = Mapping[str, float]
    """Title of an entry to its standard deviation over repetitions / their mean."""

    Ratios = Mapping[str, Sequence[Observation]]
    """Title of an entry to blocks, and its number in each / its typical one."""

    Recorded = Mapping[Key, int]
    """What a trial is a repetition of to how many were recorded, whether they count or not."""

NAME = "repetitions_agree"
TITLE = "Repetitions agree"
PROBLEM = "Repetitions differ"
SOURCE = "spread over repetitions; T. Kalibera and R. Jones, ISMM 2013"
REPETITIONS = Limit(
    NAME,
    "repetitions",
    "below",
    3.0,
    None,
    "repetitions",
    "fewest repetitions that count, of any framework at any endpoint and load",
    "two numbers are too few to estimate a spread",
)
SPREAD_RATIO = Limit(
    NAME,
    "spread_ratio",
    "above",
    0.05,
    None,
    "ratio",
    "standard deviation over repetitions / their mean, of the entry with the greatest",
    PROPOSAL,
)
CLAIM_RATIO = Limit(
    NAME,
    "claim_ratio",
    "above",
    1.0,
    None,
    "ratio",
    "standard deviation over repetitions / the difference by which an entry is ahead of the next",
    PROPOSAL,
)
INCONSISTENT = Limit(
    NAME,
    "inconsistent",
    "above",
    0.0,
    None,
    "entries",
    "entries that were steady in one repetition and not in another",
    "as in E. Barrett et al., OOPSLA 2017",
)
LIMITS = (
    REPETITIONS,
    SPREAD_RATIO,
    CLAIM_RATIO,
    INCONSISTENT,
)
SPREAD_FROM = 3
"""Repetitions from which on their spread is meaningful."""
COUNTED = "goodput_per_s"
"""The number of a repetition: correct responses per second."""
OTHERS = 2
"""Other entries of a block from which on they tell its level."""
LOST = Remedy(
    "find why the others do not count; the same command with `--again` repeats failed and void "
    "trials",
    "find why the others do not count, and repeat those loads",
)
UNFINISHED = Remedy(
    "run the same command again, which goes on with the trials that are missing",
    "repeat the loads that are missing",
)
MORE = "request three repetitions or more; ten for published ranks"


def judge(repetitions: Sequence[ComparedTrial], limits: Limits) -> tuple[Verdict, ...]:
    """Whether the repetitions of each entry agree.

    Args:
        repetitions: The trials of a campaign.
        limits: The limits of the campaign.
    """
    found_entries = entries(repetitions)
    if not found_entries:
        return ()
    ratios = typical_ratios(
        [one for one in found_entries if one.is_saturating],
        lambda entry: entry.alone_in_blocks(COUNTED),
    )
    deviations = {one.title: _deviation(one, ratios) for one in found_entries}
    findings = [
        *_number(found_entries, Counter(one.key for one in repetitions), deviations, limits),
        *_spread(found_entries, deviations, limits),
        *_claims(found_entries, deviations, limits),
        *_steady_states(found_entries, limits),
    ]
    return (verdict(NAME, CAMPAIGN, findings, SOURCE),)


def _number(
    found_entries: Sequence[Entry], recorded: Recorded, deviations: Deviations, limits: Limits
) -> list[Finding]:
    """How many repetitions there are, and the spread that they have."""
    limit = limits.of(REPETITIONS)
    fewest = min(len(entry.repetitions) for entry in found_entries)
    few = [entry for entry in found_entries if limit.level(len(entry.repetitions)) != "sound"]
    if not few:
        sentence = f"{wording.several(fewest, 'repetition')} or more of everything agree"
        widest = max(found_entries, key=lambda entry: deviations[entry.title])
        sentence += (
            f"; the numbers of {widest.title} scatter the most, with a standard deviation of "
            f"{wording.percent(round(deviations[widest.title], 4))}"
        )
        return [found(limit, fewest, sentence, "")]
    few_of = by_table(few, lambda entry: entry.table)
    reported = _of_few(few, len(found_entries))
    bold = [pair for pair in ranked_ahead(found_entries) if _is_bold(pair, limit)]
    if bold:
        return [
            found(
                limit,
                fewest,
                reported,
                _remedy(few_of[table], recorded, limit),
                f"yet {_claimed(pairs)}",
                tables=(table,),
            )
            for table, pairs in by_table(bold, lambda pair: pair.one.table).items()
        ]
    short: dict[tuple[int, str], list[Entry]] = {}
    for table, each in few_of.items():
        requested = _requested(table, recorded)
        if any(len(entry.repetitions) < requested for entry in each):
            short.setdefault((requested, _remedy(each, recorded, limit)), []).extend(each)
    findings = [
        found(
            limit,
            min(len(entry.repetitions) for entry in each),
            f"{_of_few(each, len(found_entries))}, of {requested} that were requested",
            remedy,
            tables=[entry.table for entry in each],
        )
        for (requested, remedy), each in short.items()
    ]
    return findings or [not_checked(limit, f"{reported}; no rank is claimed")]


def _requested(table: ComparedTable, recorded: Recorded) -> int:
    """Repetitions that a table has begun with, whether they count or not."""
    return max(number for (_, *place), number in recorded.items() if tuple(place) == table)


def _remedy(few: Sequence[Entry], recorded: Recorded, limit: Limit) -> str:
    """What gets entries of one table more repetitions that count.

    The command that repeats void trials conducts those that are missing as well.
    """
    requested = _requested(few[0].table, recorded)
    numbers = [(len(entry.repetitions), recorded[entry.repetitions[0].key]) for entry in few]
    origin = few[0].repetitions[0].recording.origin
    remedies: list[str] = []
    if any(counting < number for counting, number in numbers):
        remedies.append(LOST.of(origin))
    elif any(number < requested for _, number in numbers):
        remedies.append(UNFINISHED.of(origin))
    if limit.level(requested) != "sound":
        remedies.append(MORE)
    return wording.capital("; then ".join(remedies))


def _of_few(few: Sequence[Entry], total: int) -> str:
    counts = [len(entry.repetitions) for entry in few]
    fewest, most = min(counts), max(counts)
    named = wording.listed([entry.title for entry in few])
    which = "every entry" if len(few) == total else named
    if most == 1:
        return f"one repetition of {which} counts, so the scatter between repetitions is unknown"
    return (
        f"only {'' if fewest == most else f'{fewest} to '}"
        f"{wording.several(most, 'repetition')} of {which} count, too few to show the scatter"
    )


def _is_bold(pair: RankedPair, limit: Limit) -> bool:
    """Whether a rank rests on too few repetitions."""
    fewest = min(len(entry.repetitions) for entry in (pair.one, pair.other))
    return limit.level(fewest) != "sound"


def _claimed(pairs: Sequence[RankedPair]) -> str:
    """Ranks that one table claims, the first by name."""
    (one, other, _), *others = pairs
    more = f" (and {len(others)} more there)" if others else ""
    return f"{one.framework} is ranked ahead of {other.framework} at {one.field}{more}"


def _deviation(entry: Entry, ratios: Ratios) -> float:
    """Standard deviation over repetitions / their mean; 0 where there is none to speak of.

    Of a load at full speed, without what the machine did. It is the least of three: without what
    other programs took, also without the machine's speed by the control, or also without what the
    entries of a block have in common.
    """
    if not entry.is_saturating:
        return _relative_deviation(entry.values(COUNTED))
    alone = entry.alone(COUNTED)
    return min(
        _relative_deviation(alone),
        _relative_deviation(entry.steadied(COUNTED)),
        _relative_deviation(_within_blocks(entry, ratios) or alone),
    )


def _relative_deviation(numbers: Sequence[float]) -> float:
    if len(numbers) < SPREAD_FROM or not mean(numbers):
        return 0.0
    return stdev(numbers) / mean(numbers)


def _within_blocks(entry: Entry, ratios: Ratios) -> list[float]:
    """Numbers of an entry, each divided by the level of its block, which the others tell.

    Where others tell levels at all, one of them is enough in a block in which the rest is missing.
    """
    others: dict[int, list[float]] = {}
    for title, of_other in ratios.items():
        for block, ratio in of_other if title != entry.title else ():
            others.setdefault(block, []).append(ratio)
    levels: dict[int, float] = {}
    if any(len(each) >= OTHERS for each in others.values()):
        levels = {block: median(each) for block, each in others.items()}
    return [ratio / levels.get(block, 1.0) for block, ratio in ratios.get(entry.title, ())]


def _spread(
    found_entries: Sequence[Entry], deviations: Deviations, limits: Limits
) -> list[Finding]:
    """The entry of each table that scatters the most beyond what the scatter of turns explains."""
    limit = limits.of(SPREAD_RATIO)
    # The level of a block, which deviations are taken about, is known better than one entry.
    spreads = [
        (beyond_chance(deviations[entry.title], entry.turn_error, len(entry.repetitions)), entry)
        for entry in found_entries
        if len(entry.repetitions) >= SPREAD_FROM
    ]
    wide = [one for one in spreads if limit.level(one[0]) != "sound"]
    wide.sort(key=lambda one: -one[0])
    return [_differing(each, limit) for each in by_table(wide, lambda one: one[1].table).values()]


def _differing(wide: Sequence[tuple[float, Entry]], limit: Limit) -> Finding:
    """Entries of one table that scatter too much, the widest first."""
    (deviation, widest), *others = wide
    numbers = widest.values(COUNTED)
    so_do = wording.listed([entry.framework for _, entry in others])
    sentence = (
        f"repetitions of {widest.title} differ: {wording.count(min(numbers))} to "
        f"{wording.count(max(numbers))} correct responses/s, a standard deviation of "
        f"{wording.percent(round(deviation, 4))} without what the machine did"
        f"{f'; so do those of {so_do}' if so_do else ''}"
    )
    remedy = "Find what changed on the machine or the server, and add repetitions"
    return found(limit, deviation, sentence, remedy, tables=(widest.table,))


def _claims(
    found_entries: Sequence[Entry], deviations: Deviations, limits: Limits
) -> list[Finding]:
    """Of each table the neighbours whose difference their scatter exceeds the most."""
    limit = limits.of(CLAIM_RATIO)
    claims = [
        (_scatter(pair, deviations) / (pair.ratio - 1), pair)
        for pair in ranked_ahead(found_entries)
    ]
    bold = [claim for claim in claims if limit.level(claim[0]) != "sound"]
    bold.sort(key=lambda claim: -claim[0])
    findings: list[Finding] = []
    for table, ((ratio, pair), *_) in by_table(bold, lambda claim: claim[1].one.table).items():
        sentence = (
            f"at {pair.one.field}, {pair.one.framework} is ahead of {pair.other.framework} by "
            f"{wording.percent(round(pair.ratio - 1, 4))}, less than their "
            f"repetitions scatter ({wording.percent(round(_scatter(pair, deviations), 4))})"
        )
        remedy = "Add repetitions before you trust this rank"
        findings.append(found(limit, ratio, sentence, remedy, tables=(table,)))
    return findings


def _scatter(pair: RankedPair, deviations: Deviations) -> float:
    return max(deviations[pair.one.title], deviations[pair.other.title])


def _steady_states(found_entries: Sequence[Entry], limits: Limits) -> list[Finding]:
    """Entries of each table that were steady in one repetition and not in another."""
    limit = limits.of(INCONSISTENT)
    mixed = [entry for entry in found_entries if len(_kinds(entry)) > 1]
    findings: list[Finding] = []
    for table, each in by_table(mixed, lambda entry: entry.table).items():
        reported = [f"{entry.title} ({', '.join(_kinds(entry))})" for entry in each]
        sentence = f"repetitions disagree on the steady state of {wording.listed(reported)}"
        remedy = "Lengthen the warm-up, and do not trust a median of these trials"
        findings.append(found(limit, len(each), sentence, remedy, tables=(table,)))
    return findings


def _kinds(entry: Entry) -> list[str]:
    """How steady an entry was, as far as its holds were long enough to tell."""
    return sorted({one.steady_state for one in entry.repetitions} - {"", SHORT})
