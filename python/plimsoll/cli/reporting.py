"""What the verbs share that judge recordings and write about them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plimsoll.cli import messages
from plimsoll.errors import VERDICT_VOID, CampaignError, Problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.recording import Recording
    from plimsoll.report.findings import Findings
    from plimsoll.storage.results import Results

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

    require_recordings(results)
    return gathering.gather(results, again=again)


def require_recordings(results: Results) -> None:
    """Does nothing when there is a recording.

    Raises:
        CampaignError: There is none.
        StorageError: The results cannot be read.
    """
    if results.trial_ids():
        return
    is_nothing = results.place == str(results.folder) and not results.folder.is_dir()
    missing = "is no folder" if is_nothing else "holds no recording"
    hint = "name the folder of results that `plimsoll run` or `plimsoll load --record` made"
    raise CampaignError([Problem("", f"`{results.place}` {missing}", hint)])


def judge_and_report(results: Results, formats: Sequence[str]) -> int:
    """Judges, writes the report, and prints the table and where the report is."""
    from plimsoll.report.formats import FORMATS  # noqa: PLC0415 - heavy

    require_recordings(results)
    messages.step("judging the recordings and writing the report")
    found = judged(results)
    for module in FORMATS:
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
    """1 when a trial, or a verdict on the campaign, is void, else 0."""
    levels = {*(trial.level for trial in found.trials), *(one.level for one in found.verdicts)}
    return VERDICT_VOID if "void" in levels else 0


def as_json(found: Findings) -> list[dict[str, Any]]:
    """One object for each trial: summary, connections, failures, driver, verdicts, level."""
    from plimsoll.report import machine_readable  # noqa: PLC0415 - heavy

    return machine_readable.trials(found)


def verdict_text(results: Results, recording: Recording) -> str:
    """What the checks say of a trial that has just ended: its level and the worst sentence.

    Args:
        results: Where its recording is.
        recording: The recording.

    Returns:
        One line; empty where an error ended the trial, which says more.
    """
    from plimsoll.report import gathering, words  # noqa: PLC0415 - heavy

    if recording.ending.kind != "completed":
        return ""
    try:
        verdicts = gathering.verdicts(results, recording)
    except Exception as error:  # a fault in a check must not end a campaign that goes on for hours
        return f"not judged yet: {type(error).__name__}: {error}".partition("\n")[0]
    return words.verdicts_text(verdicts)
