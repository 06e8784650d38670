"""What was recorded so far, read as reports read it, each trial once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.events import Listener, Step, ignore
from plimsoll.findings import gathering
from plimsoll.findings.derivation import kept_of_trial

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from plimsoll.findings.findings import Findings
    from plimsoll.findings.trial import TrialFindings
    from plimsoll.storage.documents import PlannedTrial
    from plimsoll.storage.results import Results


@dataclass(frozen=True)
class RecordedCampaign:
    """A campaign as far as it is recorded.

    Attributes:
        plan: Its trials in order; empty where there was no plan.
        recorded: Ids of the trials that are recorded.
        unjudged: Ids of those that were not derived and judged yet.
        findings: What is known of the others.
    """

    plan: tuple[PlannedTrial, ...]
    recorded: tuple[str, ...]
    unjudged: tuple[str, ...]
    findings: Findings


@dataclass
class CampaignReader:
    """Reads a campaign again and again; what is known of a trial is read once.

    Attributes:
        results: The campaign.
        on_event: Called with a `Step` before each trial is looked at.
    """

    results: Results
    on_event: Listener = ignore
    _known: dict[str, TrialFindings] = field(default_factory=dict[str, "TrialFindings"])
    _last: RecordedCampaign | None = None

    def read(self) -> RecordedCampaign:
        """The campaign as it is now; the same object as before if nothing has changed.

        Raises:
            StorageError: It cannot be read.
        """
        plan, recorded = tuple(self.results.plan()), self.results.trial_ids()
        known = dict(self._judged(recorded))
        last = self._last
        if (
            last is not None
            and (last.plan, last.recorded) == (plan, recorded)
            and known.keys() == self._known.keys()
            and all(found is self._known[key] for key, found in known.items())
        ):
            return last
        self._known = known
        self._last = RecordedCampaign(
            plan=plan,
            recorded=recorded,
            unjudged=tuple(key for key in recorded if key not in known),
            findings=gathering.of_trials(self.results, [*known.values()]),
        )
        return self._last

    def _judged(self, trial_ids: Sequence[str]) -> Iterator[tuple[str, TrialFindings]]:
        """Ids of the trials of which something is known, and what."""
        for number, trial_id in enumerate(trial_ids, 1):
            self.on_event(Step(f"reading trials: {wording.progress(number, len(trial_ids))}"))
            found = self._trial(trial_id)
            if found is not None:
                yield trial_id, found

    def _trial(self, trial_id: str) -> TrialFindings | None:
        """What is known of a trial; one that failed may have been repeated meanwhile."""
        found = self._known.get(trial_id)
        if found is not None and found.has_ended_well:
            self.results.verify(trial_id)
            return found
        recording = self.results.recording(trial_id)
        if found is not None and found.recording == recording:
            return found
        return kept_of_trial(self.results, recording)
