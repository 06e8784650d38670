"""`plimsoll audit`: check the printed or published results of other tools."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

import plimsoll
from plimsoll import cli, report
from plimsoll.cli import json_output, options
from plimsoll.errors import VERDICT_VOID, InputError

if TYPE_CHECKING:
    from plimsoll.lab.audits import AuditResult

STDIN = "-"


@click.command(name="audit")
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path())
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    help="Supply a fact that the file omits, for every result: `connections=50`, `timeout_s=10`, "
    "`link_bits_per_s=1e9`. Repeatable.",
)
@click.option("--all", "full", is_flag=True, help="Show sound verdicts and unknown facts too.")
@options.output("text", "json", "md")
def command(
    files: tuple[str, ...], settings: tuple[str, ...], full: bool, output: str, as_json: bool
) -> int:
    """Check the printed or published results of other tools.

    Reads the text output of wrk, wrk2, ab, hey, h2load, oha, k6, autocannon, bombardier, vegeta,
    rewrk and Gatling. Reads JSON and CSV, also of Fortio, Artillery and Locust, TechEmpower's
    `results.json`, and tables of published figures. A file may hold several runs, pasted from a
    terminal, an issue or a web page; `-` reads standard input. Each result is checked alone, then
    all together. Missing facts are never guessed.

    Exit code 1: a verdict is void. 2: a file or part of it could not be read; the rest is judged.

    \b
    wrk -c 50 -d 30s --latency http://127.0.0.1:8080/ | plimsoll audit -
    plimsoll audit hey.txt --set connections=50
    plimsoll audit docs/published/*.toml -o md
    """  # noqa: D301 - click reads the backspace as "do not wrap what follows"
    found = plimsoll.audit(*(_source(file) for file in files), settings=settings)
    _print(found, "json" if as_json else output, full=full)
    if found.unread.refused:
        raise InputError(found.unread.refused)
    return VERDICT_VOID if found.level == "void" else 0


def _source(file: str) -> Path | tuple[str, BinaryIO]:
    return ("stdin", cli.incoming.stdin("stdin")) if file == STDIN else Path(file)


def _print(found: AuditResult, form: str, *, full: bool) -> None:
    if form == "json":
        json_output.show(found.as_json())
    elif form == "md":
        click.echo(found.markdown(full=full))
    else:
        report.audited.show(found.audit, found.claims, found.unread, full=full)
