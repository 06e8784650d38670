"""Thresholds on the entries of a campaign: `--fail-if 'go/json.p99>20ms'`.

In front of a threshold (`findings.thresholds`) stands what it applies to,
`[framework/]endpoint.[load.]`, each part a name or a pattern with `*`, `?` and `[…]`. A threshold
alone applies to every entry. An entry is judged by its median over the repetitions that count, the
number that the ranking shows; an entry without a number crosses every threshold. Of a load without
a campaign its own numbers are judged, whatever its verdict. A percentile that
takes more responses than came may be undecided, as of a load. So may one that requests hide which
timed out, or had no response at the end of some repetitions: the median is then judged by its
bounds.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from statistics import median
from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.campaign import quantities
from plimsoll.errors import InputError, Problem
from plimsoll.findings import entries, thresholds
from plimsoll.findings.entries import EntryName, reference
from plimsoll.findings.rankings import causes
from plimsoll.findings.thresholds import Hidden, Judgement
from plimsoll.statistics import intervals

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from plimsoll.aggregate.summary import Summary
    from plimsoll.findings.thresholds import Bounds, State, Threshold
    from plimsoll.findings.trial import TrialFindings
    from plimsoll.plan import Trial
    from plimsoll.statistics.intervals import Estimate
    from plimsoll.storage.documents import PlannedTrial

MOST_LISTED = 12
"""Entries that the error of a threshold lists that applies to none."""

_PARTS = re.compile(r"(?P<left>[^<>]+)(?P<right>[<>].*)")
_SELECTED = re.compile(
    rf"(?:(?:(?P<framework>[^/]*)/)?(?P<place>.+)\.)?"
    rf"(?P<quantity>{'|'.join(map(re.escape, sorted(thresholds.NAMES, key=len, reverse=True)))})"
)
_GRAMMAR = "write it as 'p99>20ms', 'json.p99>20ms' or 'go/json.steady.p99>20ms'"


@dataclass(frozen=True)
class CampaignThreshold:
    """A threshold and the entries that it applies to.

    Attributes:
        text: As it was typed.
        framework: Pattern of the framework, `go` or `go:one-core`.
        place: Pattern of the endpoint, or of endpoint and load: `json`, `json.steady`.
        threshold: The threshold.
    """

    text: str
    framework: str
    place: str
    threshold: Threshold

    @property
    def doubt(self) -> str:
        """A question, where low latency, few failures or a high rate fail; else empty."""
        return replace(self.threshold, text=self.text).doubt

    def applies_to(self, entry: EntryName) -> bool:
        """Whether an entry is selected."""
        places = (entry.endpoint, f"{entry.endpoint}.{entry.load}")
        return fnmatchcase(entry.framework, self.framework) and any(
            fnmatchcase(place, self.place) for place in places
        )


@dataclass(frozen=True)
class JudgedEntry:
    """What a threshold says of one entry.

    Attributes:
        threshold: The threshold.
        entry: The entry.
        estimate: The measured quantity in the unit of its column; None when there is no number.
        state: Whether it is kept or crossed; crossed, too, when there is no number to judge.
        reason: What decided it where the quantity is unknown, or hidden by requests without a
            response; empty when the number did.
        remedy: What would decide it where such requests hide it, where no response times are
            known, or of a load where too few responses came; else empty.
    """

    threshold: CampaignThreshold
    entry: EntryName
    estimate: Estimate | None
    state: State
    reason: str = ""
    remedy: str = ""

    @property
    def is_crossed(self) -> bool:
        """Whether the threshold is crossed, or there is no number to judge."""
        return self.state == "crossed"

    @property
    def is_undecided(self) -> bool:
        """Whether what is known does not tell."""
        return self.state == "undecided"

    @property
    def sentence(self) -> str:
        """Entry, threshold and measured value: `go/json.steady: p99>20ms, measured 25.000 ms`."""
        return f"{self.entry}: {self.without_entry}"

    @property
    def without_entry(self) -> str:
        """Threshold and measured value: `p99>20ms, measured 25.000 ms`."""
        limit = self.threshold.threshold
        if self.estimate is None or self.reason:
            return f"{limit.text}, {self.reason}"
        return f"{limit.text}, {_measured(limit, self.estimate.value)}"


def read(texts: Iterable[str]) -> tuple[CampaignThreshold, ...]:
    """Parses thresholds of a campaign.

    Raises:
        InputError: Some are none; it has every problem.
    """
    found: list[CampaignThreshold] = []
    problems: list[Problem] = []
    for text in texts:
        try:
            found.append(_read(text))
        except quantities.UnreadableQuantity as error:
            problems.append(Problem(f"threshold `{text}`", error.message, error.hint))
    if problems:
        raise InputError(problems)
    return tuple(found)


def require_entries(wanted: Iterable[CampaignThreshold], listed: Iterable[EntryName]) -> None:
    """Requires that every threshold applies to an entry.

    Raises:
        InputError: One applies to none; it names what there is.
    """
    known = sorted(set(listed))
    hint = f"its entries are {wording.listed([f'`{one}`' for one in known], MOST_LISTED)}"
    problems = [
        Problem("", f"threshold `{one.text}` applies to no entry of the campaign", hint)
        for one in wanted
        if not any(one.applies_to(entry) for entry in known)
    ]
    if problems:
        raise InputError(problems)


def judged(
    wanted: Sequence[CampaignThreshold],
    trials: Iterable[TrialFindings],
    planned: Iterable[EntryName] = (),
) -> tuple[JudgedEntry, ...]:
    """Every entry that a threshold applies to, in the order of thresholds and entries.

    Args:
        wanted: The thresholds.
        trials: What is known of each trial.
        planned: Entries of the plan, which need not have a trial.

    Raises:
        InputError: A threshold applies to no entry.
    """
    found = entries.by_entry(trials, planned)
    require_entries(wanted, found)
    return tuple(
        _judged(threshold, entry, repetitions)
        for threshold in wanted
        for entry, repetitions in found.items()
        if threshold.applies_to(entry)
    )


def of_load(limits: Iterable[Threshold], found: TrialFindings) -> tuple[JudgedEntry, ...]:
    """What thresholds say of a load, which is judged even if its verdict is void.

    Args:
        limits: The thresholds.
        found: What is known of the load's trial.
    """
    entry = EntryName.of(found.recording)
    wanted = (CampaignThreshold(limit.text, "*", "*", limit) for limit in limits)
    return tuple(_of_load(threshold, entry, found) for threshold in wanted)


def of_recorded_load(
    wanted: Sequence[CampaignThreshold], found: TrialFindings
) -> tuple[JudgedEntry, ...]:
    """The same of a load that was recorded, and is read again.

    Args:
        wanted: The thresholds, each of which may name the load's server and path.
        found: What is known of the load's trial.

    Raises:
        InputError: A threshold does not apply to the load.
    """
    entry = EntryName.of(found.recording)
    require_entries(wanted, [entry])
    return tuple(_of_load(threshold, entry, found) for threshold in wanted)


def entry_of(trial: Trial) -> EntryName:
    """The entry of a planned trial."""
    return EntryName(trial.framework.reference, trial.endpoint.name, trial.load.name, trial.driver)


def entry_of_stored(planned: PlannedTrial) -> EntryName:
    """The entry of a trial of a stored plan."""
    framework = reference(planned["framework"], planned["variant"])
    return EntryName(framework, planned["endpoint"], planned["load"]["name"], planned["driver"])


def _read(text: str) -> CampaignThreshold:
    parts = _PARTS.fullmatch(text.strip())
    if parts is None:
        raise quantities.UnreadableQuantity("it is not a threshold", _GRAMMAR)
    left = parts["left"].strip()
    found = _SELECTED.fullmatch(left)
    if found is None:
        name = left.rpartition(".")[2]
        hint = f"{_GRAMMAR}; quantities: {', '.join(thresholds.NAMES)}"
        raise quantities.UnreadableQuantity(f"unknown quantity `{name}`", hint)
    limit = thresholds.read(f"{found['quantity']}{parts['right']}")
    return CampaignThreshold(text.strip(), found["framework"] or "*", found["place"] or "*", limit)


def _of_load(threshold: CampaignThreshold, entry: EntryName, found: TrialFindings) -> JudgedEntry:
    limit = threshold.threshold
    judged = thresholds.of_load(limit, found.summary, found.unfinished, found.timeouts)
    value = None if found.summary is None else found.summary.value(limit.column)
    if value is None:
        return JudgedEntry(threshold, entry, None, judged.state, judged.reason, judged.remedy)
    reason = "" if judged.reason == _measured(limit, value) else judged.reason
    return JudgedEntry(
        threshold, entry, intervals.estimate([value]), judged.state, reason, judged.remedy
    )


def _measured(limit: Threshold, value: float) -> str:
    return f"measured {limit.spoken(value)}"


def _judged(
    threshold: CampaignThreshold, entry: EntryName, trials: Sequence[TrialFindings]
) -> JudgedEntry:
    limit = threshold.threshold
    found = entries.estimate(trials, limit.column)
    counting = entries.counting(trials)
    if not counting:
        reason = f"no number to judge: {_why_none(trials)}"
        return JudgedEntry(threshold, entry, None, "crossed", reason)
    responses = max(one.completed for one in counting)
    by_responses = limit.judged(lambda column: _median(counting, column), responses)
    if found is not None:
        by_responses = Judgement(limit.state_by(found.value), _measured(limit, found.value))
    if hidden := _without_response(limit, by_responses, trials):
        return JudgedEntry(threshold, entry, found, hidden.state, hidden.reason, hidden.remedy)
    reason = "" if found is not None else by_responses.reason
    return JudgedEntry(threshold, entry, found, by_responses.state, reason, by_responses.remedy)


def _without_response(
    limit: Threshold, by_responses: Judgement, trials: Sequence[TrialFindings]
) -> Judgement | None:
    """What a threshold says of the median with all requests; None where they change nothing.

    The median is no less than that of the least values, and no more than that of the greatest.
    """
    given = [
        (limit.hidden(summary, one.unfinished, one.timeouts), summary.value(limit.column))
        for one in entries.counted(trials)
        if (summary := one.summary) is not None
    ]
    hiding = [hidden for hidden, _ in given if hidden is not None]
    if not hiding:
        return None
    each = [hidden.bounds if hidden else _as_bounds(measured) for hidden, measured in given]
    least, most = (median(ends) for ends in zip(*each, strict=True))
    measured = [value for _, value in given if value is not None]
    if least == most == median(measured or [math.nan]):
        return None
    hidden = Hidden(
        (least, most),
        unfinished=sum(one.unfinished for one in hiding),
        timeouts=sum(one.timeouts for one in hiding),
    )
    return limit.judged_within(hidden, by_responses)


def _as_bounds(measured: float | None) -> Bounds:
    return (0.0, math.inf) if measured is None else (measured, measured)


def _median(counting: Sequence[Summary], column: str) -> float | None:
    """The median over repetitions that all know a quantity; None where one does not.

    Of the same repetitions, a lower statistic has a median that is no higher.
    """
    known = [value for one in counting if (value := one.value(column)) is not None]
    return median(known) if len(known) == len(counting) else None


def _why_none(trials: Sequence[TrialFindings]) -> str:
    """Why no repetition of an entry counts, in a few words."""
    if not trials:
        return "no trial was run"
    return ", ".join(causes(trials)) or "no trial counts"
