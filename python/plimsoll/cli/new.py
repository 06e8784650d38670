"""`plimsoll new`: make the folder of a new framework."""

from __future__ import annotations

from pathlib import Path

import click

from plimsoll.cli import messages, options
from plimsoll.install import new_framework, typed
from plimsoll.texts import shown


@click.command(name="new")
@click.argument("name")
@click.option(
    "--like",
    required=True,
    metavar="FRAMEWORK",
    shell_complete=options.completed("frameworks"),
    help="The framework to copy; `plimsoll list` shows all.",
)
@options.frameworks_root
def command(name: str, like: str, root: Path | None) -> int:
    """Make the folder of a new framework, as a copy of another one.

    The copy has its own name and passes `check`. Edit its application and the `endpoints` of its
    `framework.toml`. It is made in `frameworks/`, here or in a parent folder. One with the name of
    a framework of Plimsoll's is used instead of that one, and a note says so.
    """
    made = new_framework.create(name, like, root)
    where = typed.option(made.folder)
    click.echo(f"made `{shown(made.folder)}`, a copy of `{like}` in {made.files} files; next:")
    for words, what in (
        (f"install {name}", "dependencies and build"),
        (f"check {name}", "again after each edit; what changed is built first"),
        (f"run quick --set frameworks=reference,{name}", "measure, and write the report"),
    ):
        click.echo(f"  plimsoll {words}{where}  # {what}")
    if made.hides_own:
        folder, below = shown(made.folder), shown(made.folder.parent)
        messages.note(
            f"Plimsoll has a framework `{name}` too; whatever takes frameworks from `{below}`, "
            f"campaigns included, now uses this copy: delete `{folder}` to use Plimsoll's again"
        )
    return 0
