"""`plimsoll report`: charts and report of recordings."""

from __future__ import annotations

from pathlib import Path

import click

from plimsoll import storage as storages
from plimsoll.cli import options, reporting


@click.command(name="report")
@click.argument("results", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "formats",
    multiple=True,
    type=click.Choice(reporting.EVERY_FORMAT),
    help="Repeatable; without it, every format.",
)
@options.storage
def command(results: Path, formats: tuple[str, ...], storage: str) -> int:
    """Writes charts and report of the recordings in a folder of results."""
    with storages.opened(results, storage) as stored:
        return reporting.judge_and_report(stored, formats or reporting.EVERY_FORMAT)
