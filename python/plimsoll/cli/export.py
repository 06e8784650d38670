"""`plimsoll export`: recordings in the formats of other programs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

import plimsoll
from plimsoll import lab, wording
from plimsoll.cli import messages, options, reporting
from plimsoll.errors import InputError, Problem
from plimsoll.storage import postgres

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.lab.results import CampaignResults
    from plimsoll.storage.results import Results

FORMATS = {
    "seconds": "CSV, a row per second: `seconds_success.csv`, `seconds_failure.csv`",
    "jtl": "JMeter samples: `requests.jtl`",
    "hlog": "HdrHistogram interval logs: `response_time.hlog`, `service_time.hlog`",
    "parquet": "the tables in `docs/tables.md`, and `trial.json`",
}
"""Every format and what it is."""

EPILOGUE = "\b\nFormats:\n" + "\n".join(f"  {name:9}{what}" for name, what in FORMATS.items())


@click.command(name="export", epilog=EPILOGUE)
@click.argument("results", type=options.FOLDER)
@click.option(
    "--to",
    "target",
    required=True,
    callback=options.address,
    metavar="FOLDER|postgresql://…",
    help="Target folder, one subfolder per trial, created if missing; or a database.",
)
@options.formats(tuple(FORMATS), None, "--only")
@click.option(
    "--trial",
    "trials",
    multiple=True,
    metavar="ID",
    help="Repeatable.  [default: all trials]",
)
@options.stored
def command(
    results: Path,
    target: str,
    formats: tuple[str, ...],
    trials: tuple[str, ...],
    storage: str,
) -> int:
    """Export the recordings of a results folder.

    An earlier export of the same trial and format is replaced.
    """
    _require_target(target, formats)
    with plimsoll.read(results, storage=storage) as found:
        stored = found.stored
        chosen = _chosen(stored, trials)
        lab.exports.require_rows(stored, chosen)
        if postgres.serves(target):
            _copy(found, chosen if trials else None, target)
        else:
            _write(
                stored,
                chosen,
                formats or [*FORMATS],
                Path(target).absolute() if ":" in target else Path(target),
            )
    return 0


def _require_target(target: str, names: Sequence[str]) -> None:
    """Requires a valid target that fits the formats."""
    if postgres.serves(target):
        if names:
            message = "a database export has no formats"
            raise InputError([Problem("--format", message, "remove `--format`")])
    elif not target or "://" in target:
        message = "the target is neither a folder nor a PostgreSQL URL"
        hint = "write `--to FOLDER` or `--to postgresql://USER@HOST/DATABASE`"
        raise InputError([Problem("--to", message, hint)])


def _chosen(results: Results, names: Sequence[str]) -> Sequence[str]:
    """The selected trials, or all, in the order of the plan."""
    there = results.trial_ids()
    problems = [
        Problem(
            "--trial",
            f"`{results.place}` has no trial `{trial}`{messages.meant(trial, there)}",
            f"trials: {', '.join(f'`{one}`' for one in there)}",
        )
        for trial in names
        if trial not in there
    ]
    if problems:
        raise InputError(problems)
    return [trial for trial in there if not names or trial in names]


def _write(results: Results, trials: Sequence[str], names: Sequence[str], target: Path) -> None:
    """Writes each trial, and notes what a format cannot hold."""
    with lab.exports.opened(target, trials):
        for number, trial in enumerate(trials, 1):
            messages.step(f"[{number}/{len(trials)}] {trial}")
            for name, sentences in lab.exports.write(results, trial, names, target).items():
                for sentence in sentences:
                    messages.note(f"{name}: {sentence}")
    messages.step(f"exported {_counted(len(trials), 'trial')} to `{target}`")


def _copy(results: CampaignResults, trials: Sequence[str] | None, target: str) -> None:
    """Copies tables into a database."""
    if trials is None:
        reporting.gathered(results)  # derived tables are exported too
    copied = postgres.export(results.stored, target, trials, messages.step)
    rows = _counted(copied.rows, "row")
    messages.step(f"exported {_counted(copied.trials, 'trial')}, {rows}, to `{copied.place}`")


def _counted(number: int, noun: str) -> str:
    return f"{wording.count(number)} {noun}" if number == 1 else f"{wording.count(number)} {noun}s"
