"""Paces: what trials and reports took on this host, so that the next plan is estimated well.

They are in a user file, and may be deleted.
"""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll import capacity, events, plan
from plimsoll.plan import ROW_S, TrialPace

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plimsoll.campaign.framework import Framework
    from plimsoll.events import Event, Listener
    from plimsoll.plan import Trial
    from plimsoll.recording import Recording

_REPORT = "report"
"""The key of the report of one trial, among the keys of frameworks, which have a `:`."""

BESIDE_S = 1.5
"""Seconds of a trial besides its load, its server and contract: versions, digests, verdicts."""


def known(frameworks: Sequence[Framework]) -> dict[str, TrialPace]:
    """What is known of some frameworks, by their references."""
    kept = _read()
    return {one.reference: kept[_key(one)] for one in frameworks if _key(one) in kept}


def keep(paces: Sequence[tuple[Framework, TrialPace]]) -> None:
    """Keeps paces in place of earlier ones, and forgets frameworks whose folder is gone.

    Without a writable file, nothing is kept.
    """
    earlier = _read().items()
    there = {key: pace for key, pace in earlier if key == _REPORT or _folder(key).is_dir()}
    _write(there | {_key(one): pace for one, pace in paces})


def _write(content: Mapping[str, TrialPace]) -> None:
    with suppress(OSError, RuntimeError):
        path = _file()
        partial = path.with_name(f"{path.name}.{os.getpid()}")
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text(json.dumps({key: asdict(one) for key, one in content.items()}), "utf-8")
        partial.replace(path)


def report_factor() -> float:
    """How much longer the last report took than `plan.report_s` says; 1 where there was none."""
    found = _read().get(_REPORT)
    return found.around_s / plan.report_s(1) if found else 1.0


def keep_report(trials: int, passed_s: float) -> None:
    """Keeps how long a report took.

    Args:
        trials: The number of its trials; without any, nothing is kept.
        passed_s: Seconds that it took.
    """
    if trials:
        factor = passed_s / plan.report_s(trials)
        _write(_read() | {_REPORT: TrialPace(factor * plan.report_s(1))})


def keep_check(framework: Framework, started_and_stopped_s: float, checked_s: float) -> None:
    """Keeps what a check tells of trials to come, unless there were trials.

    Args:
        framework: The framework.
        started_and_stopped_s: Seconds of its start and of its stop.
        checked_s: Mean seconds of the contract check of an endpoint; a trial has two.
    """
    if not known([framework]):
        around_s = started_and_stopped_s + 2 * checked_s + BESIDE_S
        keep([(framework, TrialPace(around_s))])


@dataclass
class PaceKeeper:
    """A listener that passes events on, and keeps the pace of each trial that completes.

    Attributes:
        on_event: The listener that events are passed on to.
        idle_s: Seconds for which the idle host is read before and after each trial.
    """

    on_event: Listener
    idle_s: float = 0.0
    _begun_s: float = 0.0
    _ended: list[tuple[Trial, Recording]] = field(default_factory=list["tuple[Trial, Recording]"])

    def __call__(self, event: Event) -> None:
        """Passes an event on."""
        match event:
            case events.TrialStarted() | events.GroupStarted():
                self._keep()
                self._begun_s = time.monotonic()
            case events.CoolingDown() | events.Step() | events.CampaignEnded():
                self._keep()
            case _:
                pass
        self.on_event(event)
        if isinstance(event, events.TrialEnded):
            self._ended.append((event.trial, event.recording))

    def _keep(self) -> None:
        """Keeps what the trials took that ran since the last beginning, those of a turn alike."""
        if not self._ended:
            return
        ended, self._ended = self._ended, []
        load_s = plan.estimate([trial for trial, _ in ended], 0.0).load_s
        sent = {trial.id: one.driver.sent if one.driver else None for trial, one in ended}
        rows_s = ROW_S * sum(count or 0 for count in sent.values())
        passed_s = time.monotonic() - self._begun_s
        idle_s = plan.idle_around_s(self.idle_s)
        around_s = max(0.0, (passed_s - load_s - rows_s) / len(ended) - idle_s)
        keep(
            [
                (trial.framework, TrialPace(around_s, _closed_per_s(trial, count)))
                for trial, recording in ended
                if recording.ending.kind == "completed" and (count := sent[trial.id])
            ]
        )


def _closed_per_s(trial: Trial, sent: int) -> float:
    """Requests per second of a closed load; of another load those that were known before."""
    if trial.load.is_saturating:
        return sent / trial.load.duration_s
    earlier = known([trial.framework]).get(trial.framework.reference, plan.ASSUMED)
    return earlier.requests_per_s


def _key(framework: Framework) -> str:
    return f"{framework.folder.resolve()}:{framework.variant}"


def _folder(key: str) -> Path:
    return Path(key.rpartition(":")[0])


def _read() -> dict[str, TrialPace]:
    """All that is kept; nothing of what is damaged."""
    try:
        content = json.loads(_file().read_text("utf-8"))
        return {str(key): TrialPace(**value) for key, value in content.items()}
    except (OSError, RuntimeError, ValueError, TypeError, AttributeError):
        return {}


def _file() -> Path:
    return capacity.state_folder() / "paces.json"
