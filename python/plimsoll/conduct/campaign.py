"""A whole campaign: trial after trial, going on where an earlier run stopped."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from plimsoll import plan
from plimsoll.conduct import trial as one_trial
from plimsoll.conduct.events import (
    CampaignEnded,
    CampaignStarted,
    CoolingDown,
    Listener,
    TrialEnded,
    TrialSkipped,
    TrialStarted,
    nobody,
)
from plimsoll.conduct.interruption import Interruption
from plimsoll.errors import Interrupted

if TYPE_CHECKING:
    from plimsoll.conduct.setting import Setting
    from plimsoll.plan import Trial
    from plimsoll.storage.results import Results

COMPLETED = "completed"


def conduct(
    trials: Sequence[Trial],
    setting: Setting,
    results: Results,
    campaign_toml: str,
    *,
    cool_down_s: float = 0.0,
    again: bool = False,
    published_toml: str | None = None,
    tell: Listener = nobody,
) -> CampaignEnded:
    """Conducts every trial that is not complete yet.

    A trial that a framework or a driver ended with an error counts as conducted: what it recorded
    is kept, and it is not tried again unless that is asked for.

    Args:
        trials: The plan.
        setting: What all of them have in common.
        results: Where the recordings go.
        campaign_toml: The campaign file as given.
        cool_down_s: Pause between two trials, in seconds.
        again: Whether trials that ended with an error are conducted again; those that went well
            never are.
        published_toml: The published figures that the campaign names; None when it names none.
        tell: Told each event.

    Returns:
        How the trials of the whole plan ended, those conducted earlier included.

    Raises:
        HostError: This host cannot conduct a trial; its trial and the rest are left for later.
        StorageError: The results cannot be written, or belong to another campaign or run.
        Interrupted: Ctrl-C or SIGTERM; complete trials are kept, running again goes on.
    """
    interruption = Interruption()
    endings: dict[str, str] = {}
    with results.locked(), interruption.listening():
        try:
            results.prepare(campaign_toml, trials, published_toml)
            endings |= earlier_endings(trials, results, again=again)
            to_do = [trial for trial in trials if trial.id not in endings]
            _announce(trials, to_do, endings, tell)
            _conduct_all(to_do, setting, results, interruption, cool_down_s, endings, tell)
        except (KeyboardInterrupt, Interrupted) as error:
            raise _interrupted(len(endings), len(trials)) from error
    ended = _ended(endings)
    tell(ended)
    return ended


def earlier_endings(trials: Sequence[Trial], results: Results, *, again: bool) -> dict[str, str]:
    """How the trials ended that need not be conducted.

    Args:
        trials: The plan.
        results: The recordings there are.
        again: Whether those that ended with an error are to be conducted.

    Returns:
        Id of each such trial, and `completed` or the class of the error.
    """
    recorded = set(results.trial_ids())
    endings = {
        trial.id: results.recording(trial.id).ending.kind
        for trial in trials
        if trial.id in recorded
    }
    return {key: kind for key, kind in endings.items() if kind == COMPLETED or not again}


def _announce(
    trials: Sequence[Trial], to_do: Sequence[Trial], endings: dict[str, str], tell: Listener
) -> None:
    tell(CampaignStarted(len(trials), len(to_do), _load_s(to_do)))
    for trial in trials:
        if trial.id in endings:
            tell(TrialSkipped(trial, endings[trial.id]))


def _conduct_all(
    to_do: Sequence[Trial],
    setting: Setting,
    results: Results,
    interruption: Interruption,
    cool_down_s: float,
    endings: dict[str, str],
    tell: Listener,
) -> None:
    """Conducts trials one after the other; `endings` grows by one with each."""
    for index, trial in enumerate(to_do):
        if index and cool_down_s:
            tell(CoolingDown(cool_down_s))
            time.sleep(cool_down_s)
        tell(TrialStarted(trial, index + 1, len(to_do), _load_s(to_do[index:])))
        recording = one_trial.conduct(trial, setting, results, interruption, tell)
        endings[trial.id] = recording.ending.kind
        tell(TrialEnded(trial, recording))
        interruption.check()


def _load_s(trials: Sequence[Trial]) -> float:
    return plan.estimate(trials, 0.0).load_s


def _interrupted(conducted: int, planned: int) -> Interrupted:
    message = f"interrupted; {conducted} of {planned} trials are recorded"
    return Interrupted(message, "the same command goes on with the next trial")


def _ended(endings: dict[str, str]) -> CampaignEnded:
    failed = tuple(key for key, kind in endings.items() if kind != COMPLETED)
    return CampaignEnded(len(endings) - len(failed), failed)
