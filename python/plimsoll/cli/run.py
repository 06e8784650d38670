"""`plimsoll run`: run the trials of a campaign, judge them, write the report."""

from __future__ import annotations

import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

import plimsoll
from plimsoll import cli, errors, lab, texts
from plimsoll.campaign import as_run
from plimsoll.cli import messages, options, reporting
from plimsoll.processes import process_table

if TYPE_CHECKING:
    from collections.abc import Generator

    from plimsoll.hosts.host import KeepRows
    from plimsoll.lab.results import CampaignResults

MOST_SAID = 10
"""The most failed trials that are printed."""

MOST_LINES = 12
"""The most lines of one error message that are printed."""


@click.command(name="run")
@options.campaign_file
@click.option(
    "--into",
    type=options.FOLDER,
    metavar="DIR",
    help="Results folder.  [default: results/<campaign name>]",
)
@options.storage
@options.settings
@options.available
@options.power
@options.hosts
@options.keep_rows
@click.option("--again", is_flag=True, help="Run failed and void trials again.")
@click.option(
    "--repeat-changed",
    is_flag=True,
    help="Run trials again whose application, driver or load changed; keep the earlier ones aside.",
)
@options.fail_if
@options.thresholds_junit
@click.option("--no-report", is_flag=True, help="Skip verdicts and report at the end.")
@options.accept
@options.strict
@options.frameworks_root
def command(  # noqa: PLR0913 - one argument for each option
    *,
    campaign: Path,
    into: Path | None,
    storage: str,
    settings: tuple[str, ...],
    available: bool,
    power: str,
    hosts: Path | None,
    keep_rows: KeepRows,
    again: bool,
    repeat_changed: bool,
    fail_if: tuple[str, ...],
    junit: Path | None,
    no_report: bool,
    accepted: tuple[str, ...],
    strict: bool,
    root: Path | None,
) -> int:
    """Run the trials of a campaign, judge them and write the report.

    The same command resumes where it stopped, also with more repetitions or a greater budget. It
    refuses to mix results when an application changed since it was measured. Ctrl-C aborts the
    current trial, stops its server and keeps every completed trial.
    """
    if junit is not None:
        cli.judging.require_thresholds(fail_if, junit)
    conduct = plimsoll.run  # its imports are part of the start
    if click.get_current_context().obj:
        lab.paces.keep_program(process_table.own_age_s())
    with cli.panel.showing(cli.panel.Scene()) as tell:
        results = conduct(
            campaign,
            into=into,
            storage=storage,
            settings=(*settings, f"power={power}") if power else settings,
            frameworks=root,
            available=available,
            again=again,
            repeat_changed=repeat_changed,
            judge=not no_report,
            fail_if=fail_if,
            hosts=hosts,
            keep_rows=keep_rows,
            on_event=tell,
        )
    with results, _naming_results(results):
        code = missed = 0
        if not no_report:
            formats = reporting.EVERY_FORMAT
            begun_s = time.monotonic()
            code = reporting.judge_and_report(results, formats, accepted, strict=strict)
            lab.paces.keep_report(len(results.trials), time.monotonic() - begun_s)
            missed = _lines_missed(results)
        if code:
            _note_void(results)
        crossed = (
            cli.judging.threshold_exit_code(reporting.gathered(results), junit) if fail_if else 0
        )
        return _failures(results) or cli.judging.worst((crossed, missed, code))


def _note_void(results: CampaignResults) -> None:
    """Says how many trials are void, and what repeats them."""
    reporting.gathered(results)
    if void := results.void:
        trials_are = "1 trial is" if len(void) == 1 else f"{len(void)} trials are"
        messages.note(f"{trials_are} void; the same command with `--again` repeats them")


@contextmanager
def _naming_results(results: CampaignResults) -> Generator[None]:
    """Has a signal that ends the block say how to go on: every trial is recorded.

    Raises:
        Interrupted: A signal ended the block.
    """
    try:
        yield
    except KeyboardInterrupt as error:
        message = "interrupted; every trial is recorded"
        hint = f"`plimsoll report {texts.shown(Path(results.stored.place))}` judges them"
        raise errors.Interrupted(message, hint) from error


def _lines_missed(results: CampaignResults) -> int:
    """Prints which load lines are missing; a campaign of another kind needs no findings for it."""
    ran = as_run.read(results.stored.campaign_resolved())
    return (
        0
        if ran is not None and ran.line is None
        else cli.judging.lines_missed(reporting.gathered(results))
    )


def _failures(results: CampaignResults) -> int:
    """Prints which trials failed, and why; the exit code of the first one, else 0."""
    failed = results.failed
    for one in failed[:MOST_SAID]:
        ending = one.recording.ending
        messages.error(f"{one.id}: {_shortened(ending.message)}", ending.hint)
    if not failed:
        return 0
    trials = "1 trial" if len(failed) == 1 else f"{len(failed)} trials"
    messages.note(f"{trials} failed; logs are in `{results.stored.logs_place}`")
    messages.note("run the same command with `--again` to repeat failed trials")
    return errors.exit_code_of(failed[0].recording.ending.kind)


def _shortened(message: str) -> str:
    """A message without repeated lines, cut to `MOST_LINES`."""
    lines = list(dict.fromkeys(message.splitlines()))
    return "\n".join([*lines[:MOST_LINES], *(["…"] if lines[MOST_LINES:] else [])])
