"""`plimsoll export`: recordings for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from plimsoll import storage as storages
from plimsoll.campaign.quantities import Unreadable
from plimsoll.cli import messages, options, reporting
from plimsoll.errors import CampaignError, Problem
from plimsoll.storage import parquet, postgres

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from plimsoll.storage.results import Results

FORMATS = {
    "seconds": "CSV of each second: `seconds_success.csv`, `seconds_failure.csv`",
    "jtl": "samples of JMeter: `requests.jtl`",
    "hlog": "interval logs of HdrHistogram: `response_time.hlog`, `service_time.hlog`",
    "parquet": "the tables of `docs/tables.md`, and `trial.json`",
}
"""Every format and what it is."""

EPILOGUE = "\b\nFormats:\n" + "\n".join(f"  {name:9}{what}" for name, what in FORMATS.items())


def _formats(text: str) -> tuple[str, ...]:
    """Formats as people write them: one, or some with commas between."""
    names = tuple(name.strip() for name in text.split(","))
    for name in names:
        if name not in FORMATS:
            message = f"there is no format `{name}`{messages.meant(name, FORMATS)}"
            raise Unreadable(message, f"formats are {_listed(FORMATS)}")
    return names


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


@click.command(name="export", epilog=EPILOGUE)
@click.argument("results", type=click.Path(path_type=Path))
@click.option(
    "--to",
    "target",
    required=True,
    callback=options.address,
    metavar="FOLDER|postgresql://…",
    help="Folder with one folder a trial, made when it is not there; or a database.",
)
@click.option(
    "--format",
    "--only",
    "formats",
    multiple=True,
    type=options.Quantity("FORMATS", _formats),
    help="Repeatable, or with commas between; without it, every format.",
)
@click.option(
    "--trial",
    "trials",
    multiple=True,
    metavar="ID",
    help="Repeatable; without it, every trial.",
)
@options.storage
def command(
    results: Path,
    target: str,
    formats: tuple[tuple[str, ...], ...],
    trials: tuple[str, ...],
    storage: str,
) -> int:
    """Writes the recordings in a folder of results for other programs.

    A trial that was exported before is replaced; other formats of the same recording stay.
    """
    names = [name for some in formats for name in some]
    _require_target(target, names)
    with storages.opened(results, storage) as stored:
        reporting.require_recordings(stored)
        chosen = _chosen(stored, trials)
        if postgres.serves(target):
            _copy(stored, chosen if trials else None, target)
        else:
            _write(stored, chosen, names or [*FORMATS], Path(target))
    return 0


def _require_target(target: str, names: Sequence[str]) -> None:
    """Does nothing when the target is one, and fits the formats that were asked for."""
    if postgres.serves(target):
        if names:
            message = "a database has tables and takes no `--format`"
            raise CampaignError([Problem("--format", message, "leave it out")])
    elif not target or "://" in target:
        message = "this is neither a folder nor the address of a PostgreSQL database"
        hint = "write `--to FOLDER` or `--to postgresql://USER@HOST/DATABASE`"
        raise CampaignError([Problem("--to", message, hint)])


def _chosen(results: Results, asked: Sequence[str]) -> Sequence[str]:
    """The trials that were asked for, in the order of the plan."""
    there = results.trial_ids()
    problems = [
        Problem(
            "--trial",
            f"`{results.place}` has no trial `{trial}`{messages.meant(trial, there)}",
            f"its trials are {_listed(there)}",
        )
        for trial in asked
        if trial not in there
    ]
    if problems:
        raise CampaignError(problems)
    return [trial for trial in there if not asked or trial in asked]


def _write(results: Results, trials: Sequence[str], names: Sequence[str], target: Path) -> None:
    """Writes trial after trial, and says what could not be said in a format."""
    from plimsoll.aggregate.trial import stored  # noqa: PLC0415 - heavy
    from plimsoll.export import folder  # noqa: PLC0415 - heavy

    with parquet.locked(target, folder.OPTION):
        folder.prepare(target)
        for number, trial in enumerate(trials, 1):
            messages.step(f"[{number}/{len(trials)}] {trial}")
            unsaid = folder.export(stored(results, results.recording(trial)), names, target)
            for name, sentences in unsaid.items():
                for sentence in sentences:
                    messages.note(f"{name}: {sentence}")
    messages.step(f"exported {_counted(len(trials), 'trial')} to `{target}`")


def _copy(results: Results, trials: Sequence[str] | None, target: str) -> None:
    """Copies tables into a database."""
    if trials is None:
        reporting.judged(results)  # what follows from the recordings goes with them
    copied = postgres.export(results, target, trials, messages.step)
    rows = _counted(copied.rows, "row")
    messages.step(f"exported {_counted(copied.trials, 'trial')}, {rows}, to `{copied.place}`")


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
