"""Do unrelated servers have the same series, second for second?

Two servers that share no code do not give the same number of responses in each second of a load. If
they do, within half a percent, the series shows the load and not the servers, or one trial was
counted twice. Series that hardly change are alike whenever their levels are (`common_ceiling`
judges that), so they must be equal to the last request. The check compares whole seconds of ramp
and hold, at one endpoint and load at full speed. Fewer than five seconds may be alike by chance.

Source: comparison of series; the width is a first proposal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.comparison.entries import Entry, entries, fields
from plimsoll.verdicts import sameness
from plimsoll.verdicts.finding import Finding, found, verdict
from plimsoll.verdicts.limits import PROPOSAL, Limit
from plimsoll.verdicts.verdict import CAMPAIGN

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from plimsoll.comparison.comparisons import ComparedTrial
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "identical_series"
TITLE = "Identical series"
PROBLEM = "Identical series"
SOURCE = "two servers with identical counts in every second"
PAIRS = Limit(
    NAME,
    "pairs",
    "above",
    0.0,
    None,
    "pairs",
    "pairs of trials of different servers with the same responses in every second",
    PROPOSAL,
)
WITHIN_RATIO = Limit(
    NAME,
    "within_ratio",
    "above",
    0.005,
    None,
    "ratio",
    "largest difference between seconds that count as equal",
    PROPOSAL,
)
LIMITS = (
    PAIRS,
    WITHIN_RATIO,
)
REMEDY = "Check that both trials reached their own server, and repeat them"


def judge(repetitions: Sequence[ComparedTrial], limits: Limits) -> tuple[Verdict, ...]:
    """Whether trials of different frameworks have the same series.

    Args:
        repetitions: The trials of a campaign.
        limits: The limits of the campaign.
    """
    competing = [
        field
        for field in fields(entries(repetitions))
        if field[0].is_saturating and _comparable(field)
    ]
    findings = [_field(field, limits) for field in competing]
    return (verdict(NAME, CAMPAIGN, findings, SOURCE),) if findings else ()


def _comparable(field: Sequence[Entry]) -> bool:
    """Whether two frameworks have series that are long enough."""
    return len({entry.name for entry in field if any(_series(entry))}) > 1


def _series(entry: Entry) -> list[tuple[int, ...]]:
    return [one.steps for one in entry.repetitions if len(one.steps) >= sameness.FEWEST_STEPS]


def _field(field: Sequence[Entry], limits: Limits) -> Finding:
    limit = limits.of(PAIRS)
    pairs = list(_pairs(field, limits.of(WITHIN_RATIO).doubtful or 0.0))
    if not pairs:
        sentence = "no two servers have the same throughput in every second"
        return found(limit, 0, sentence, "")
    reported = [f"{one} and {other}" for one, other in pairs]
    sentence = (
        f"{wording.several(len(pairs), 'pair')} of trials of different servers have the same "
        f"responses in every second: {wording.listed(reported)}"
    )
    return found(limit, len(pairs), sentence, REMEDY, tables=(field[0].table,))


def _pairs(field: Sequence[Entry], within_ratio: float) -> Iterator[tuple[str, str]]:
    """Ids of trials of different frameworks with the same series."""
    trials = {one.recording.trial: one for entry in field for one in entry.repetitions}
    series = {trial: one.steps for trial, one in trials.items()}
    for one, other in sameness.identical_pairs(series, within_ratio):
        if trials[one].recording.framework != trials[other].recording.framework:
            yield one, other
