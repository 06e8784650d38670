"""`plimsoll judge`: recompute statistics and verdicts from recordings."""

from __future__ import annotations

from pathlib import Path

import click

import plimsoll
from plimsoll import cli
from plimsoll.cli import json_output, messages, options, reporting


@click.command(name="judge")
@click.argument("results", type=options.FOLDER)
@options.stored
@options.fail_if
@options.thresholds_junit
@options.accept
@options.strict
@options.as_json
def command(
    *,
    results: Path,
    storage: str,
    fail_if: tuple[str, ...],
    junit: Path | None,
    accepted: tuple[str, ...],
    strict: bool,
    as_json: bool,
) -> int:
    """Recompute all statistics and verdicts from the recordings of a results folder."""
    cli.judging.require_thresholds(fail_if, junit)
    with plimsoll.read(results, storage=storage, again=True, fail_if=fail_if) as judged:
        found = reporting.gathered(judged)
    if as_json:
        json_output.show(reporting.as_json(found, accepted), indent=1)
    else:
        reporting.print_table(found)
    if note := cli.judging.accepted_note_of(found, accepted):
        messages.note(note)
    crossed = cli.judging.threshold_exit_code(found, junit)
    missed = cli.judging.lines_missed(found)
    code = cli.judging.exit_code(found, accepted, strict=strict)
    return cli.judging.worst((crossed, missed, code))
