"""A whole campaign: trial after trial, going on where an earlier run stopped."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from plimsoll import estimates, machine, plan
from plimsoll.conduct import compliance, resume, turns
from plimsoll.conduct import trial as one_trial
from plimsoll.conduct.group_room import GroupRoom
from plimsoll.errors import HostError, Interrupted
from plimsoll.events import (
    CampaignEnded,
    CampaignStarted,
    CoolingDown,
    GroupEnded,
    GroupStarted,
    Listener,
    TrialEnded,
    TrialSkipped,
    TrialsSetAside,
    TrialStarted,
    ignore,
)
from plimsoll.processes.interruption import Interruption

if TYPE_CHECKING:
    from plimsoll.conduct.run_config import RunConfig
    from plimsoll.plan import Trial
    from plimsoll.recording import Recording
    from plimsoll.storage.documents import CampaignFiles
    from plimsoll.storage.results import Results

COMPLETED = "completed"


@dataclass(frozen=True)
class Repeat:
    """Which trials that were recorded before are conducted again.

    Attributes:
        failed: Those that ended with an error; what they recorded is replaced.
        changed: Those of before a change of the application or of what measures it; they are kept
            aside. Without it, such a change is an error.
        void: Ids of trials that ended well, and whose numbers are void; they are kept aside.
    """

    failed: bool = False
    changed: bool = False
    void: tuple[str, ...] = ()


NOTHING = Repeat()
"""What was recorded stays."""

Further = Callable[[], "Sequence[Trial]"]
"""The next trials of a plan that is not settled in advance, one group; empty when it is over."""


def conduct(
    trials: Sequence[Trial],
    setting: RunConfig,
    results: Results,
    campaign: CampaignFiles,
    *,
    cool_down_s: float = 0.0,
    repeat: Repeat = NOTHING,
    further: Further = tuple,
    tell: Listener = ignore,
) -> CampaignEnded:
    """Conducts every trial that is not complete yet.

    A trial that a framework or a driver ended with an error counts as conducted: what it recorded
    is kept, and it is not tried again unless that is requested.

    Args:
        trials: The plan, as far as it is known.
        setting: What all of them have in common.
        results: Where the recordings go.
        campaign: The campaign as its results keep it.
        cool_down_s: Pause between two trials, in seconds.
        repeat: Which trials that were recorded before are conducted again.
        further: Asked when all are conducted for the next group of trials, until it has none.
        tell: Told each event.

    Returns:
        How the trials of the whole plan ended, those conducted earlier included.

    Raises:
        HostError: A host cannot conduct a trial, or is gone; the trial and the rest are left for
            later.
        StorageError: The results cannot be written, or belong to another campaign or run.
        MixedResults: An application, or what measures it, changed since trials were recorded.
        Interrupted: Ctrl-C or SIGTERM; complete trials are kept, running again goes on.
    """
    interruption = Interruption()
    planned = [*trials]
    done: dict[str, Recording] = {}
    with results.locked(), interruption.listening():
        try:
            results.prepare(campaign, trials)
            done |= earlier(trials, results, again=repeat.failed)
            void = tuple(key for key in repeat.void if done.pop(key, None) is not None)
            _set_aside_changed(trials, done, setting, results, repeat, tell)
            _set_aside(void, done, results, tell)
            to_do = [trial for trial in trials if trial.id not in done]
            _announce(trials, to_do, done, tell)
            _conduct_all(to_do, setting, results, interruption, cool_down_s, done, tell)
            while found := further():
                planned += found
                results.prepare(campaign, planned)
                _cool_down(cool_down_s, tell)
                _conduct_all(found, setting, results, interruption, cool_down_s, done, tell)
        except (KeyboardInterrupt, Interrupted) as error:
            raise _interrupted(len(done), len(planned)) from error
        except HostError as error:
            raise _stopped(error, len(done), len(planned)) from error
    ended = _ended(done)
    tell(ended)
    return ended


def earlier(trials: Sequence[Trial], results: Results, *, again: bool) -> dict[str, Recording]:
    """The recordings of the trials that need not be conducted.

    Args:
        trials: The plan.
        results: The recordings there are.
        again: Whether those that ended with an error are to be conducted.

    Returns:
        Each by the id of its trial.
    """
    recorded = set(results.trial_ids())
    found = {trial.id: results.recording(trial.id) for trial in trials if trial.id in recorded}
    return {key: one for key, one in found.items() if _is_completed(one) or not again}


def tell_complete(trials: Sequence[Trial], done: Mapping[str, Recording], tell: Listener) -> None:
    """Tells of a campaign of which every trial was conducted before.

    Args:
        trials: The plan.
        done: Their recordings, by the ids of the trials.
        tell: Told each event.
    """
    _announce(trials, (), done, tell)
    tell(_ended(done))


def _is_completed(recording: Recording) -> bool:
    return recording.ending.kind == COMPLETED


def _completed(done: Mapping[str, Recording]) -> dict[str, Recording]:
    """Those recordings that have numbers."""
    return {key: one for key, one in done.items() if _is_completed(one)}


def _set_aside(
    ids: tuple[str, ...], done: dict[str, Recording], results: Results, tell: Listener
) -> None:
    """Moves recordings of trials that are conducted again out of the way."""
    if ids:
        tell(TrialsSetAside(ids, results.set_aside(ids)))
    for key in ids:
        done.pop(key, None)


def _set_aside_changed(
    trials: Sequence[Trial],
    done: dict[str, Recording],
    setting: RunConfig,
    results: Results,
    repeat: Repeat,
    tell: Listener,
) -> None:
    """Takes those trials out of `done` that were recorded before something changed.

    Raises:
        MixedResults: There are some, and they are not to be repeated.
    """
    found = resume.changes(trials, _completed(done), setting)
    if not found:
        return
    if not repeat.changed:
        raise resume.mixed(found)
    ids = tuple(dict.fromkeys(key for change in found for key in change.trials))
    _set_aside(ids, done, results, tell)


def _announce(
    trials: Sequence[Trial], to_do: Sequence[Trial], done: Mapping[str, Recording], tell: Listener
) -> None:
    tell(CampaignStarted(len(trials), len(to_do), _load_s(to_do)))
    for trial in trials:
        if trial.id in done:
            tell(TrialSkipped(trial, done[trial.id].ending.kind))


def _conduct_all(
    to_do: Sequence[Trial],
    setting: RunConfig,
    results: Results,
    interruption: Interruption,
    cool_down_s: float,
    done: dict[str, Recording],
    tell: Listener,
) -> None:
    """Conducts trials one after the other, or group after group; `done` grows by each."""
    index, before = 0, None
    groups = deque(plan.groups(to_do) if setting.turn_s else [(trial,) for trial in to_do])
    while groups:
        group = groups.popleft()
        if index:
            _cool_down(cool_down_s, tell)
        setting.ready(before)
        for trial in group:
            resume.require_same(trial, _completed(done), setting)
        found = compliance.of_group(group, done.values(), setting, tell)
        setting = replace(setting, compliance=found)
        number, left_s = index + 1, _load_s(to_do[index:])
        if setting.turn_s:
            tell(GroupStarted(group, number, len(to_do), left_s))
            room = GroupRoom.of(setting.machine or machine.facts())
            recordings = turns.conduct(group, setting, results, interruption, tell, room=room)
            if left := tuple(trial for trial in group if trial.id not in recordings):
                groups.appendleft(left)
            tell(GroupEnded(tuple(_completed(recordings))))
        else:
            (trial,) = group
            tell(TrialStarted(trial, number, len(to_do), left_s))
            conducted = one_trial.conduct(trial, setting, results, interruption, tell)
            recordings = {trial.id: conducted}
        for trial in group:
            if trial.id in recordings:
                done[trial.id] = before = recordings[trial.id]
                tell(TrialEnded(trial, before))
        index += len(recordings)
        interruption.check()


def _cool_down(seconds: float, tell: Listener) -> None:
    if seconds:
        tell(CoolingDown(seconds))
        time.sleep(seconds)


def _load_s(trials: Sequence[Trial]) -> float:
    return estimates.loads_s(trials)


def _interrupted(conducted: int, planned: int) -> Interrupted:
    message = f"interrupted; {conducted} of {planned} trials are recorded"
    return Interrupted(message, "run the same command again to resume")


def _stopped(error: HostError, conducted: int, planned: int) -> HostError:
    """The error of a host that ended a campaign, with what is recorded, and how to resume."""
    message = f"{error.message}; {conducted} of {planned} trials are recorded"
    resumes = "run the same command again to resume"
    hint = error.hint if "same command" in error.hint else f"{error.hint}; then {resumes}"
    return type(error)(message, hint if error.hint else resumes)


def _ended(done: Mapping[str, Recording]) -> CampaignEnded:
    failed = tuple(key for key, one in done.items() if not _is_completed(one))
    return CampaignEnded(len(done) - len(failed), failed)
