"""`plimsoll report`: write charts and the report."""

from __future__ import annotations

from pathlib import Path

import click

import plimsoll
from plimsoll import cli
from plimsoll.cli import options, reporting


@click.command(name="report")
@click.argument("results", type=options.FOLDER)
@options.formats(reporting.EVERY_FORMAT, {"json": "`plimsoll judge RESULTS --json` prints JSON"})
@options.stored
@options.fail_if
@options.thresholds_junit
@options.accept
@options.strict
def command(
    *,
    results: Path,
    formats: tuple[str, ...],
    storage: str,
    fail_if: tuple[str, ...],
    junit: Path | None,
    accepted: tuple[str, ...],
    strict: bool,
) -> int:
    """Write the charts and the report of a results folder."""
    if junit is not None:
        cli.judging.require_thresholds(fail_if, junit)
    with plimsoll.read(results, storage=storage, fail_if=fail_if) as found:
        wanted = formats or reporting.EVERY_FORMAT
        code = reporting.judge_and_report(found, wanted, accepted, strict=strict)
        crossed = (
            cli.judging.threshold_exit_code(reporting.gathered(found), junit) if fail_if else 0
        )
        return crossed or code
