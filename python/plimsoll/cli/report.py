"""`plimsoll report`: write charts and the report."""

from __future__ import annotations

from pathlib import Path

import click

import plimsoll
from plimsoll.cli import options, reporting


@click.command(name="report")
@click.argument("results", type=options.FOLDER)
@click.option(
    "--format",
    "formats",
    multiple=True,
    type=click.Choice(reporting.EVERY_FORMAT),
    help="Repeatable.  [default: all formats]",
)
@options.storage
@options.accept
@options.strict
def command(
    *,
    results: Path,
    formats: tuple[str, ...],
    storage: str,
    accepted: tuple[str, ...],
    strict: bool,
) -> int:
    """Write the charts and the report of a results folder."""
    with plimsoll.read(results, storage=storage) as found:
        wanted = formats or reporting.EVERY_FORMAT
        return reporting.judge_and_report(found, wanted, accepted, strict=strict)
