"""Adding: the findings of a campaign become one line of a history."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.comparison.comparisons import LESS_IS_BETTER, MORE_IS_BETTER
from plimsoll.errors import InputError, Problem
from plimsoll.findings import entries
from plimsoll.history import lines_and_costs
from plimsoll.history.fingerprint import facts, fingerprint
from plimsoll.history.kept import FORMAT, KeptCampaign, KeptEntry, KeptMachine
from plimsoll.provenance import digest, short_id
from plimsoll.verdicts.verdict import worst_trial

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.findings.entries import EntryName
    from plimsoll.findings.findings import Findings
    from plimsoll.findings.trial import TrialFindings
    from plimsoll.provenance import Part

QUANTITIES = (*MORE_IS_BETTER, *LESS_IS_BETTER)
"""Columns of `summaries` that are kept."""

SETTINGS = ("server cores", "driver cores", "body_sample", "turns")
"""Settings of a measurement that numbers depend on; other settings are those of the machine."""

TRIAL_DIGITS = 12
"""Hexadecimal digits of the digest of a trial."""


def kept(findings: Findings, commit: str | None = None) -> KeptCampaign:
    """The line of a campaign.

    Args:
        findings: What was found.
        commit: Revision of what was measured; None if unknown.

    Raises:
        InputError: There is no trial, or trials were measured on several machines.
    """
    recordings = [trial.recording for trial in findings.trials]
    if not recordings:
        raise InputError([Problem("", f"`{findings.campaign}` has no trial", "run it first")])
    begun = sorted(f"{one.trial} {one.zero_utc}" for one in recordings)
    return KeptCampaign(
        format=FORMAT,
        campaign=findings.campaign,
        results_id=digest("\n".join(begun).encode()),
        trials=tuple(digest(one.encode())[:TRIAL_DIGITS] for one in begun),
        measured_at=min(one.zero_utc for one in recordings),
        commit=commit,
        plimsoll=findings.version,
        machine=_machine(findings),
        entries=(
            *(_entry(*one) for one in entries.by_entry(findings.measured).items()),
            *lines_and_costs.kept(findings, SETTINGS),
        ),
    )


def _machine(findings: Findings) -> KeptMachine:
    found = {
        fingerprint(known): known
        for trial in findings.trials
        for known in (facts(trial.recording.machines),)
    }
    if len(found) > 1:
        message = f"`{findings.campaign}` was measured on {len(found)} machines: {', '.join(found)}"
        hint = "a changed kernel or governor counts as another machine; run the campaign again"
        raise InputError([Problem("", message, hint)])
    ((known_as, known),) = found.items()
    return KeptMachine(fingerprint=known_as, facts=known)


def _entry(name: EntryName, trials: Sequence[TrialFindings]) -> KeptEntry:
    counting = [one for one in trials if one.level != "void" and one.summary is not None]
    recording = (counting or trials)[-1].recording
    return KeptEntry.of(
        recording,
        name.load,
        short_id(filter(_is_of_load, recording.provenance.measurement)),
        level=worst_trial(one.level for one in counting) if counting else "void",
        counting=len(counting),
        excluded=len(trials) - len(counting),
        numbers={one: entries.estimate(trials, one) for one in QUANTITIES},
    )


def _is_of_load(part: Part) -> bool:
    return part.kind == "definition" or (part.kind == "setting" and part.name in SETTINGS)
