"""Printing of findings, shared by several verbs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import cli, report, texts
from plimsoll.cli import messages

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.findings.findings import Findings
    from plimsoll.lab.results import CampaignResults
    from plimsoll.report.results.machine_readable import JsonObject

EVERY_FORMAT = ("html", "pdf", "markdown", "card")


def judge_and_report(
    results: CampaignResults, formats: Sequence[str], accepted: Sequence[str], *, strict: bool
) -> int:
    """Judges, writes the report, prints its path and the table; returns the exit code."""
    messages.step("judging the recordings and writing the report")
    written = results.report(formats)
    print_table(results.findings)
    for path in written:
        messages.step(f"report: {texts.shown(path)}")
    cli.judging.note_accepted_in(results.findings, accepted)
    return cli.judging.exit_code(results.findings, accepted, strict=strict)


def print_table(found: Findings) -> None:
    """Prints the rankings, each number with its level."""
    report.terminal.show(found)


def as_json(found: Findings, accepted: Sequence[str]) -> list[JsonObject]:
    """One object for each trial: summary, connections, failures, driver, verdicts, level."""
    return report.machine_readable.trials(found, accepted)
