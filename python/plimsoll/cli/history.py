"""`plimsoll history`: keep the estimates of campaigns, and show where they changed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

import plimsoll
from plimsoll import cli, history, report, wording
from plimsoll.cli import EPILOGUE, messages, options, reporting
from plimsoll.errors import LIMIT_MISSED, InputError, Problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.history.kept import KeptCampaign
    from plimsoll.history.series import Series

QUANTITIES = {
    "goodput": "goodput_per_s",
    "throughput": "throughput_per_s",
    "p50": "response_time_p50_ns",
    "p95": "response_time_p95_ns",
    "p99": "response_time_p99_ns",
    "cpu": "server_cpu_s_per_request",
    "memory": "server_peak_pss_bytes",
    "line": "line_rate_per_s",
}
"""Names of quantities, and their columns in a history."""

SHOWN = ("goodput", "p99", "cpu", "line")
"""Quantities that are shown where none is named."""

LEAST_RECENT = 2
"""Campaigns at a new level that a change needs, so the least age that it is known at."""

_CAUSE = "`plimsoll report` of the results of that campaign names the cause"

_FILE = click.option(
    "--history",
    "file",
    type=options.FILE,
    default="history.jsonl",
    show_default=True,
    metavar="FILE",
    help="File of the history: one line of JSON for each campaign.",
)


def _recent(ctx: click.Context, parameter: click.Parameter, value: int) -> int:
    """The age up to which a change fails: none is younger than the two campaigns that it takes."""
    if value < LEAST_RECENT:
        message = f"{value} is too few: a change needs {LEAST_RECENT} campaigns at the new level"
        hint = f"give `--recent {LEAST_RECENT}` or more"
        raise messages.UnreadableValue(message, hint, parameter, ctx)
    return value


@click.group(name="history", epilog=EPILOGUE)
def command() -> None:
    """Keep the estimates of campaigns, and find where they changed.

    \b
    plimsoll history add results/nightly --commit "$(git rev-parse HEAD)"
    plimsoll history show --endpoint json --html history.html
    """  # noqa: D301 - click reads the backspace as "do not wrap what follows"


@command.command(name="add")
@click.argument("results", type=options.FOLDER)
@options.stored
@_FILE
@click.option("--commit", metavar="REV", help="Revision to show for this campaign.")
def add(*, results: Path, storage: str, file: Path, commit: str | None) -> int:
    """Append the estimates of a campaign to a history.

    The line has the estimate and interval of each entry and quantity, load lines and costs of a
    request among them. It has digests, versions, the time, the commit and the fingerprint of the
    machine. Results already in the history are skipped.
    """
    with plimsoll.read(results, storage=storage) as found:
        line = history.adding.kept(reporting.gathered(found), commit)
    is_new = history.file.append(file, line, messages.note)
    entries = wording.several(len(line.entries), "entry", "entries")
    if is_new:
        messages.step(f"{entries} on machine {line.machine.fingerprint} added to `{file}`")
    else:
        messages.note(f"`{results}` is already in `{file}`")
    _note_void([line], results)
    return 0


@command.command(name="show")
@_FILE
@click.option("--framework", metavar="NAME", help="Show one framework: `go`, `go:one-core`.")
@click.option("--endpoint", metavar="NAME", help="Show one endpoint.")
@click.option(
    "--quantity",
    "quantities",
    multiple=True,
    type=click.Choice(tuple(QUANTITIES)),
    help=f"Repeatable.  [default: {', '.join(SHOWN)}]",
)
@click.option(
    "--last",
    type=options.COUNT,
    default=10,
    show_default=True,
    help="Campaigns of each series that are listed.",
)
@click.option("--html", type=options.FILE, metavar="FILE", help="Write charts as one HTML file.")
@click.option(
    "--fail-on-change",
    is_flag=True,
    help="Exit code 7 when the last change of a series is a recent regression, or its last "
    "campaign has no number.",
)
@click.option(
    "--recent",
    type=options.COUNT,
    default=5,
    show_default=True,
    callback=_recent,
    help="Campaigns since a change for which --fail-on-change fails.",
)
def show(
    *,
    file: Path,
    framework: str | None,
    endpoint: str | None,
    quantities: tuple[str, ...],
    last: int,
    html: Path | None,
    fail_on_change: bool,
    recent: int,
) -> int:
    """Show each entry over campaigns, with its change points.

    A change of the machine or of the load is a break: points are compared only within
    the same ones. A change needs two campaigns at the new level.
    """
    columns = [QUANTITIES[one] for one in quantities or SHOWN]
    every = history.file.read(file, messages.note)
    kept = history.series.selected(every, framework, endpoint)
    found = history.series.series(kept, columns)
    if not found:
        raise InputError([_nothing(file, every, kept)])
    click.echo(report.history_text.text(found, last))
    _note_void(kept, file)
    cli.outgoing.write(html, lambda: report.history_page.render(found))
    return _losses(found, recent) if fail_on_change else 0


def _note_void(kept: Sequence[KeptCampaign], where: Path) -> None:
    """Says which entries have no number, and why."""
    without = history.series.void_entries(kept)
    if without:
        names = wording.listed([str(one) for one in without])
        messages.note(f"without numbers, as every repetition in `{where}` is void: {names}")


def _nothing(file: Path, every: Sequence[KeptCampaign], kept: Sequence[KeptCampaign]) -> Problem:
    """Why no series is shown: no entry was selected, or those that were have no number."""
    names = history.series.names(kept)
    if not names:
        its = ", ".join(str(one) for one in history.series.names(every)) or "none"
        return Problem("", f"`{file}` has no such series", f"its entries are {its}")
    if history.series.void_entries(kept) == names:
        entries = "its entry is" if len(names) == 1 else f"all {len(names)} entries are"
        hint = (
            "`plimsoll report RESULTS` names the cause; add a campaign in which repetitions count"
        )
        return Problem("", f"`{file}` has no numbers: {entries} void", hint)
    return Problem("", f"`{file}` has no such series", "choose another `--quantity`")


def _losses(found: Sequence[Series], recent: int) -> int:
    """Prints recent changes for the worse, and numbers that are gone; the exit code, 0 for none."""
    said: list[tuple[str, str]] = []
    for one in found:
        title = report.history_text.title(one)
        if (change := one.recent_loss(recent)) is not None:
            said.append((f"{title}: {report.history_text.change(one, change)}", ""))
        if (last := one.recently_missing(recent)) is not None:
            said.append((f"{title}: {report.history_text.missing(last)}", _CAUSE))
    for message, hint in said:
        messages.error(message, hint)
    return LIMIT_MISSED if said else 0
