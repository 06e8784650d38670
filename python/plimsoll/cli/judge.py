"""`plimsoll judge`: aggregate and judge recordings again."""

from __future__ import annotations

import json
from pathlib import Path

import click

from plimsoll import storage as storages
from plimsoll.cli import options, reporting


@click.command(name="judge")
@click.argument("results", type=click.Path(path_type=Path))
@options.storage
@options.as_json
def command(results: Path, storage: str, as_json: bool) -> int:
    """Aggregates and judges the recordings in a folder of results again.

    Everything that is computed from recordings is thrown away and made anew.
    """
    with storages.opened(results, storage) as stored:
        found = reporting.judged(stored, again=True)
    if as_json:
        click.echo(json.dumps(reporting.as_json(found), indent=1))
    else:
        reporting.print_table(found)
    return reporting.exit_code(found)
