"""Printing of findings, shared by several verbs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from rich.console import Console

from plimsoll import cli, report, texts
from plimsoll.cli import messages, step_progress
from plimsoll.report import answers
from plimsoll.report.answers import Answer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.findings.findings import Findings
    from plimsoll.lab.results import CampaignResults
    from plimsoll.report.results.machine_readable import JsonObject

EVERY_FORMAT = ("html", "pdf", "markdown", "card")


def judge_and_report(
    results: CampaignResults, formats: Sequence[str], accepted: Sequence[str], *, strict: bool
) -> int:
    """Judges, writes the report, prints its path and the table; returns the exit code.

    Where nothing has changed since the same was asked, it is there and known.
    """
    messages.step("judging the recordings and writing the report")
    with step_progress.shown() as results.on_event:
        written = results.report(formats)
        answer = _answer(results, accepted, strict=strict)
    sys.stdout.write(answer["printed"])
    for path in written:
        messages.step(f"report: {texts.shown(path)}")
    if answer["note"]:
        messages.note(answer["note"])
    return answer["exit_code"]


def gathered(results: CampaignResults) -> Findings:
    """The findings of results; shows which trial is read where that takes long."""
    with step_progress.shown() as results.on_event:
        return results.findings


def _answer(results: CampaignResults, accepted: Sequence[str], *, strict: bool) -> Answer:
    """What is said of results whose report is written."""
    console = Console(emoji=False)
    terminal = (console.width, console.color_system, console.is_terminal, console.encoding)
    question = (results.reported_of, terminal, sorted(accepted), strict)
    folder = results.stored.report
    found = answers.known(folder, *question)
    if found is None:
        with console.capture() as printed:
            report.terminal.show(results.findings, console)
        found = Answer(
            printed=printed.get(),
            note=cli.judging.accepted_note_of(results.findings, accepted),
            exit_code=cli.judging.exit_code(results.findings, accepted, strict=strict),
        )
        answers.remember(folder, found, *question)
    return found


def print_table(found: Findings) -> None:
    """Prints the rankings, each number with its level."""
    report.terminal.show(found)


def as_json(found: Findings, accepted: Sequence[str]) -> list[JsonObject]:
    """One object for each trial: summary, connections, failures, driver, verdicts, level."""
    return report.machine_readable.trials(found, accepted)
