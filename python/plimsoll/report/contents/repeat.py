"""Repeat: how to run a campaign again, and what it must be run with to be the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.campaign.toml_writer import as_toml
from plimsoll.provenance import digest
from plimsoll.report import contents

if TYPE_CHECKING:
    from collections.abc import Iterable

    from plimsoll.findings.findings import Findings
    from plimsoll.report.contents import Facts

HEADING = "How to repeat this"
"""Heading of the section."""

CAPTION = "These lines write the campaign as run, with every default and setting, and run it."
"""The text of the section."""

_END = "PLIMSOLL"
"""What ends the campaign file within the command."""


@dataclass(frozen=True)
class HowToRepeat:
    """How to run a campaign again.

    Attributes:
        command: Lines for a shell.
        facts: What was measured, with what, and where: name and value.
    """

    command: str
    facts: Facts


def repeat(findings: Findings) -> HowToRepeat | None:
    """How to run a campaign again; None where it had no campaign file.

    Args:
        findings: What was reported.
    """
    if findings.as_run is None:
        return None
    text = as_toml(findings.as_run.document)
    file = f"{contents.anchor(findings.as_run.name)}.toml"
    command = f"cat > {file} <<'{_END}'\n{text}{_END}\nplimsoll run {file}"
    return HowToRepeat(command, [("Campaign digest", digest(text.encode())), *_facts(findings)])


def _facts(findings: Findings) -> Facts:
    recordings = [trial.recording for trial in findings.trials]
    applications = (
        " ".join(
            part
            for part in (
                one.title,
                one.versions.get("framework", ""),
                one.provenance.application_id and f"({one.provenance.application_id})",
            )
            if part
        )
        for one in recordings
    )
    engines = (
        part.value
        for one in recordings
        for part in one.provenance.measurement
        if (part.kind, part.name) == ("program", "engine")
    )
    facts = [
        ("Plimsoll", _listed(one.versions.get("plimsoll", "") for one in recordings)),
        ("Commit", _listed(one.versions.get("commit", "") for one in recordings)),
        ("Engine", _listed(engines)),
        ("Python", _listed(one.versions.get("python", "") for one in recordings)),
        ("Applications", _listed(applications)),
        *(("Machine", reported) for reported, _ in contents.machines(findings).values()),
    ]
    return [fact for fact in facts if fact[1] not in ("", wording.ABSENT)]


def _listed(texts: Iterable[str]) -> str:
    return ", ".join(sorted({text for text in texts if text}))
