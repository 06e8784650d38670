"""Do repetitions agree, well enough for the differences that are claimed?

Four things, over the repetitions that count of each framework at each endpoint and load:

- how many there are: with one nothing is known of the spread, with two next to nothing. That is no
  fault of a number that claims nothing: it is said to be unknown. It is doubtful where a rank rests
  on fewer than three, or where some of those that were asked for do not count;
- the standard deviation over repetitions, divided by their mean, where it is greatest;
- the same against the difference by which a framework is ahead of the next one: where single
  repetitions scatter more than that, the rank rests on their number alone;
- whether throughput took the same course in each: steady in one repetition and not in another is
  "inconsistent", and the median then mixes two kinds of numbers.

Source: T. Kalibera and R. Jones, Rigorous Benchmarking in Reasonable Time, ISMM 2013; classes of E.
Barrett et al., Virtual machine warmup blows hot and cold, OOPSLA 2017; limits are proposals.
"""

from __future__ import annotations

from itertools import pairwise
from statistics import mean, stdev
from typing import TYPE_CHECKING

from plimsoll.aggregate.comparisons import is_ahead
from plimsoll.aggregate.courses import SHORT
from plimsoll.aggregate.entries import entries, fields
from plimsoll.verdicts import wording
from plimsoll.verdicts.finding import Finding, found, not_asked, verdict
from plimsoll.verdicts.verdict import CAMPAIGN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.aggregate.comparisons import Repetition
    from plimsoll.aggregate.entries import Entry
    from plimsoll.verdicts.limits import Limit, Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "repetitions_agree"
SOURCE = "spread over repetitions; T. Kalibera and R. Jones, ISMM 2013"
SPREAD_FROM = 3
"""Repetitions from which on their spread says something."""
LOST = "See why the others do not count, and repeat them with `--again`, or the campaign elsewhere"
MORE = "Ask for three repetitions or more; ten for ranks that are to be published"


def judge(repetitions: Sequence[Repetition], limits: Limits) -> tuple[Verdict, ...]:
    """Whether the repetitions of each entry agree.

    Args:
        repetitions: The trials of a campaign.
        limits: The limits of the campaign.
    """
    found_entries = entries(repetitions)
    if not found_entries:
        return ()
    findings = [
        _number(found_entries, _asked(repetitions), limits),
        *_spread(found_entries, limits),
        *_claims(found_entries, limits),
        *_courses(found_entries, limits),
    ]
    return (verdict(NAME, CAMPAIGN, findings, SOURCE),)


def _asked(repetitions: Sequence[Repetition]) -> int:
    """Repetitions that the campaign has begun with, whether they count or not."""
    return len({one.recording.repetition for one in repetitions})


def _number(found_entries: Sequence[Entry], asked: int, limits: Limits) -> Finding:
    """How many repetitions there are, and the spread that they have."""
    limit = limits.of(NAME, "repetitions")
    fewest = min(len(entry.repetitions) for entry in found_entries)
    few = [entry for entry in found_entries if limit.level(len(entry.repetitions)) != "sound"]
    if not few:
        sentence = f"{wording.several(fewest, 'repetition')} or more of everything agree"
        widest = max(found_entries, key=_deviation)
        sentence += (
            f"; the numbers of {widest.title} scatter the most, with a standard deviation of "
            f"{wording.percent(round(_deviation(widest), 4))}"
        )
        return found(limit, fewest, sentence, "")
    told = _of_few(few, len(found_entries))
    bold = [_claimed(*pair) for pair in _ahead(found_entries) if _is_bold(pair, limit)]
    if bold:
        return found(limit, fewest, f"{told}; yet {wording.listed(bold)}", MORE)
    if fewest < asked:
        return found(limit, fewest, f"{told}, of {asked} that were asked for", LOST)
    return not_asked(limit, f"{told}; no rank is claimed")


def _of_few(few: Sequence[Entry], total: int) -> str:
    counts = [len(entry.repetitions) for entry in few]
    fewest, most = min(counts), max(counts)
    named = wording.listed([entry.title for entry in few])
    which = "every entry" if len(few) == total else named
    if most == 1:
        return (
            f"of {which} one repetition counts, so it is unknown whether the number would come out "
            "again, or whether the order of trials mattered"
        )
    return (
        f"of {which} only {'' if fewest == most else f'{fewest} to '}"
        f"{wording.several(most, 'repetition')} count, which says little about how far numbers "
        "scatter"
    )


def _ahead(found_entries: Sequence[Entry]) -> list[tuple[Entry, Entry]]:
    """Neighbours in a ranking of which the first is said to be ahead of the second."""
    return [
        (one, other)
        for field in fields(found_entries)
        for one, other in pairwise(sorted(field, key=_middle, reverse=True))
        if is_ahead(one.values("goodput_per_s"), other.values("goodput_per_s"))
    ]


def _is_bold(pair: tuple[Entry, Entry], limit: Limit) -> bool:
    """Whether a rank rests on too few repetitions."""
    return limit.level(min(len(entry.repetitions) for entry in pair)) != "sound"


def _claimed(one: Entry, other: Entry) -> str:
    return f"{one.framework} is said to be ahead of {other.framework} at {one.field}"


def _deviation(entry: Entry) -> float:
    """Standard deviation over repetitions / their mean; 0 where there is none to speak of."""
    numbers = entry.values("goodput_per_s")
    if len(numbers) < SPREAD_FROM or not mean(numbers):
        return 0.0
    return stdev(numbers) / mean(numbers)


def _spread(found_entries: Sequence[Entry], limits: Limits) -> list[Finding]:
    """The entry whose repetitions scatter the most."""
    limit = limits.of(NAME, "spread_ratio")
    known = [entry for entry in found_entries if len(entry.repetitions) >= SPREAD_FROM]
    wide = [entry for entry in known if limit.level(_deviation(entry)) != "sound"]
    if not wide:
        return []
    widest = max(wide, key=_deviation)
    numbers = widest.values("goodput_per_s")
    others = f", and {len(wide) - 1} more scatter too much" if wide[1:] else ""
    sentence = (
        f"repetitions of {widest.title} differ: {wording.count(min(numbers))} to "
        f"{wording.count(max(numbers))} right answers per second, a standard deviation of "
        f"{wording.percent(round(_deviation(widest), 4))}{others}"
    )
    remedy = "See whether the machine or the server changed between them, and add repetitions"
    return [found(limit, _deviation(widest), sentence, remedy)]


def _claims(found_entries: Sequence[Entry], limits: Limits) -> list[Finding]:
    """Neighbours in a ranking that differ by less than their repetitions scatter."""
    limit = limits.of(NAME, "claim_ratio")
    claims = [
        (_deviations(one, other) / (_middle(one) / _middle(other) - 1), one, other)
        for one, other in _ahead(found_entries)
        if _middle(other) > 0
    ]
    bold = [claim for claim in claims if limit.level(claim[0]) != "sound"]
    if not bold:
        return []
    ratio, one, other = max(bold, key=lambda claim: claim[0])
    sentence = (
        f"at {one.field}, {one.framework} is ahead of {other.framework} by "
        f"{wording.percent(round(_middle(one) / _middle(other) - 1, 4))}, less than their "
        f"repetitions scatter ({wording.percent(round(_deviations(one, other), 4))})"
    )
    return [found(limit, ratio, sentence, "Believe this rank only with many repetitions")]


def _middle(entry: Entry) -> float:
    return mean(entry.values("goodput_per_s"))


def _deviations(one: Entry, other: Entry) -> float:
    return max(_deviation(one), _deviation(other))


def _courses(found_entries: Sequence[Entry], limits: Limits) -> list[Finding]:
    """Entries that were steady in one repetition and not in another."""
    limit = limits.of(NAME, "inconsistent")
    mixed = [entry for entry in found_entries if len(_kinds(entry)) > 1]
    if not mixed:
        return []
    told = [f"{entry.title} ({', '.join(_kinds(entry))})" for entry in mixed]
    sentence = f"the course of throughput differs between repetitions of {wording.listed(told)}"
    remedy = "Lengthen the warm-up, look at the charts of these trials, and do not trust a median"
    return [found(limit, len(mixed), sentence, remedy)]


def _kinds(entry: Entry) -> list[str]:
    """The courses of an entry, as far as its holds were long enough to tell."""
    return sorted({one.course for one in entry.repetitions} - {"", SHORT})
