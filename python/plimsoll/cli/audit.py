"""`plimsoll audit`: figures that another tool printed, or somebody published, are judged."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from plimsoll.cli import options
from plimsoll.errors import VERDICT_VOID, CampaignError, Problem

if TYPE_CHECKING:
    from plimsoll.published.claims import Answered
    from plimsoll.published.figures import Figures
    from plimsoll.verdicts.audit import Audit

FORMATS = ("text", "markdown")

STDIN = "-"
HINT = "name a file in which a load tool's output was kept, or `-` for what comes in by a pipe"


@click.command(name="audit")
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path())
@click.option(
    "--set",
    "said",
    multiple=True,
    metavar="KEY=VALUE",
    help="Say what a file does not, of every result: `connections=50`, `timeout_s=10`, "
    "`link_bits_per_s=1e9`. Repeatable.",
)
@click.option("--all", "full", is_flag=True, help="Show sound verdicts too, and what was unknown.")
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="text",
    show_default=True,
    help="How it is printed.",
)
@options.as_json
def command(
    files: tuple[str, ...], said: tuple[str, ...], full: bool, form: str, as_json: bool
) -> int:
    """Judges figures that another tool printed, or somebody published.

    Reads the text of wrk, wrk2, ab, hey and h2load, the JSON of oha, autocannon, k6, vegeta and
    Fortio, TechEmpower's `results.json`, and tables of published figures as TOML or CSV. `-` is
    what comes in by a pipe. Each result is judged alone, and all of them together. What a file
    does not say is not guessed.

    Ends with exit code 1 when something is void, 2 when a file cannot be read.

    \b
    wrk -c 50 -d 30s --latency http://127.0.0.1:8080/ | plimsoll audit -
    plimsoll audit hey.txt --set connections=50
    plimsoll audit docs/published/*.toml --format markdown
    """  # noqa: D301 - click reads the backspace as "do not wrap what follows"
    from plimsoll.published.readers import table  # noqa: PLC0415 - help does without it
    from plimsoll.verdicts.audit import audit  # noqa: PLC0415

    added = table.said(said)
    results, claimed = _read(files)
    found = audit([table.with_said(one, added) for one in results])
    _print(found, claimed, "json" if as_json else form, full=full)
    return VERDICT_VOID if found.level == "void" else 0


def _read(files: tuple[str, ...]) -> tuple[list[Figures], list[Answered]]:
    """The results in all files, and what their documents claim of them.

    Raises:
        CampaignError: Files cannot be read; every one of them is told.
    """
    from plimsoll.published import claims, readers  # noqa: PLC0415

    results: list[Figures] = []
    claimed: list[Answered] = []
    problems: list[Problem] = []
    for file in files:
        name = "stdin" if file == STDIN else file
        try:
            text = _text(file, name)
            found = readers.read(text, name)
            claimed += claims.answered(text, name, found, found[0].source.name)
        except CampaignError as error:
            problems += error.problems
        else:
            results += found
    if problems:
        raise CampaignError(problems)
    return results, claimed


def _text(file: str, name: str) -> str:
    """The text of a file, or of what comes in by a pipe; signs that are no UTF-8 become `?`.

    Raises:
        CampaignError: There is no such file, or it cannot be read.
    """
    if file == STDIN:
        return sys.stdin.buffer.read().decode("utf-8", "replace")
    try:
        return Path(file).read_bytes().decode("utf-8", "replace")
    except OSError as error:
        message = f"cannot be read: {error.strerror}"
        raise CampaignError([Problem(name, message, HINT)]) from error


def _print(found: Audit, claimed: list[Answered], form: str, *, full: bool) -> None:
    from plimsoll.report import audited  # noqa: PLC0415 - heavy

    if form == "json":
        click.echo(json.dumps(audited.document(found, claimed)))
    elif form == "markdown":
        click.echo(audited.markdown(found, claimed, full=full))
    else:
        from rich.console import Console  # noqa: PLC0415

        audited.show(found, claimed, Console(highlight=False, emoji=False), full=full)
