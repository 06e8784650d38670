"""`plimsoll report`: charts and report of recordings."""

from __future__ import annotations

from pathlib import Path

import click

from plimsoll.cli import reporting
from plimsoll.storage import parquet


@click.command(name="report")
@click.argument("results", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "formats",
    multiple=True,
    type=click.Choice(reporting.EVERY_FORMAT),
    help="Repeatable; without it, every format.",
)
def command(results: Path, formats: tuple[str, ...]) -> int:
    """Writes charts and report of the recordings in a folder of results."""
    return reporting.judge_and_report(parquet.results(results), formats or reporting.EVERY_FORMAT)
