"""Going on with a campaign: whether what is there was measured from what would be measured now.

A median over trials of two programs describes neither. Trials that failed do not matter: they have
no number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.conduct import provenance
from plimsoll.errors import MixedResults
from plimsoll.provenance import differences, named

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from plimsoll.conduct.run_config import RunConfig
    from plimsoll.plan import Trial
    from plimsoll.provenance import Part
    from plimsoll.recording import Recording

LAB = "the measurement"
"""Stands for what measures, where an application would be named."""

MOST_SUBJECTS = 3
"""Applications that one sentence names."""

_UNKNOWN = "the earlier application was not recorded"
_REMEDY = (
    "`repeat_changed=True` runs the changed trials again and keeps the old ones aside; `into=` "
    "starts in a new folder"
)


@dataclass(frozen=True)
class Change:
    """Something that is not what it was when trials were recorded.

    Attributes:
        subject: Title of the framework, or `LAB`.
        differences: What differs, in a few words each.
        trials: Ids of the trials that were recorded before.
    """

    subject: str
    differences: tuple[str, ...]
    trials: tuple[str, ...]


def changes(
    trials: Iterable[Trial], earlier: Mapping[str, Recording], setting: RunConfig
) -> tuple[Change, ...]:
    """What changed since some trials of a plan were recorded.

    Args:
        trials: The plan.
        earlier: Recordings that completed, by id; those of other trials are not looked at.
        setting: What the trials to come have in common.

    Returns:
        A change for each framework, and one for what measures them; a trial may be in both.
    """
    found: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    applications: dict[str, tuple[Part, ...]] = {}
    there = [trial for trial in trials if trial.id in earlier]
    for trial, measured in zip(there, provenance.measurements(there, setting), strict=True):
        title = trial.framework.title
        if title not in applications:
            applications[title] = setting.place.application(trial.framework)
        was = earlier[trial.id].provenance
        compared = (
            (title, was.application, applications[title]),
            (LAB, was.measurement, measured),
        )
        for subject, before, now in compared:
            if differing := (differences(before, now) if before else (_UNKNOWN,)):
                found.setdefault((subject, differing), []).append(trial.id)
    return tuple(Change(*change, tuple(ids)) for change, ids in found.items())


def mixed(found: Iterable[Change]) -> MixedResults:
    """The error with what changed, and what to do."""
    changed = tuple(found)
    reported = [
        f"{_called(one.subject)} changed since {_trials(len(one.trials))} recorded: "
        f"{named(one.differences)}"
        for one in changed[:MOST_SUBJECTS]
    ]
    more = len(changed) - MOST_SUBJECTS
    reported += [f"and {more} more changes"] if more > 0 else []
    return MixedResults("; ".join(reported), _REMEDY)


def require_same(trial: Trial, earlier: Mapping[str, Recording], setting: RunConfig) -> None:
    """Does nothing as long as a framework is what the trials before it measured.

    Args:
        trial: The trial that is to be conducted.
        earlier: Recordings that completed, by id.
        setting: What the trials have in common.

    Raises:
        MixedResults: The framework was changed while the campaign ran.
    """
    framework = trial.framework
    of_it = {
        key: one
        for key, one in earlier.items()
        if (one.framework, one.variant) == (framework.name, framework.variant)
    }
    if not of_it:
        return
    before = next(iter(of_it.values())).provenance.application
    if differing := differences(before, setting.place.application(framework)):
        raise mixed([Change(framework.title, differing, tuple(of_it))])


def _called(subject: str) -> str:
    return subject if subject == LAB else f"`{subject}`"


def _trials(count: int) -> str:
    return "1 trial was" if count == 1 else f"{count} trials were"
