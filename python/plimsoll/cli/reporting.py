"""What the verbs share that judge recordings and write about them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plimsoll.cli import messages
from plimsoll.errors import VERDICT_VOID, CampaignError, Problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.report.findings import Findings
    from plimsoll.storage.parquet import Results

EVERY_FORMAT = ("html", "pdf", "markdown")


def judged(results: Results, *, again: bool = False) -> Findings:
    """What follows from every recording, kept for the next time.

    Args:
        results: The recordings.
        again: Whether everything is worked out anew, whatever was kept.

    Raises:
        CampaignError: There is no recording.
        StorageError: A recording cannot be read, or the results cannot be written.
    """
    from plimsoll.report import gathering  # noqa: PLC0415 - heavy

    _require_recordings(results)
    return gathering.gather(results, again=again)


def _require_recordings(results: Results) -> None:
    if results.trial_ids():
        return
    missing = "holds no recording" if results.folder.is_dir() else "is no folder"
    hint = "name the folder of results that `plimsoll run` or `plimsoll load --record` made"
    raise CampaignError([Problem("", f"`{results.folder}` {missing}", hint)])


def judge_and_report(results: Results, formats: Sequence[str]) -> int:
    """Judges, writes the report, and prints the table and where the report is."""
    from plimsoll import report  # noqa: PLC0415 - heavy

    _require_recordings(results)
    messages.step("judging the recordings and writing the report")
    found = judged(results)
    for module in report.FORMATS:
        if module.NAME in formats:
            path = module.write(found, results.report)
            messages.step(f"report: {path}")
    print_table(found)
    return exit_code(found)


def print_table(found: Findings) -> None:
    """Prints the rankings, each number with its verdict."""
    from plimsoll.report import terminal  # noqa: PLC0415 - heavy

    terminal.show(found)


def print_load(found: Findings) -> None:
    """Prints what came of one load, on one screen."""
    from plimsoll.report import screen  # noqa: PLC0415 - heavy

    for trial in found.trials:
        screen.show(trial)


def exit_code(found: Findings) -> int:
    """1 when a trial is void, else 0."""
    return VERDICT_VOID if any(trial.level == "void" for trial in found.trials) else 0


def as_json(found: Findings) -> list[dict[str, Any]]:
    """One object for each trial: summary, connections, failures, driver, verdicts, level."""
    from plimsoll.report import machine_readable  # noqa: PLC0415 - heavy

    return [machine_readable.trial(trial) for trial in found.trials]
