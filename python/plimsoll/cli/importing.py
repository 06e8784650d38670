"""Files of another tool become a recording, which is judged and printed."""

from __future__ import annotations

import json
import shlex
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from plimsoll import cli
from plimsoll import storage as storages
from plimsoll.cli import messages, reporting
from plimsoll.errors import InputError, Problem
from plimsoll.findings import gathering
from plimsoll.intake import READERS, importing, zabbix
from plimsoll.intake.importing import About
from plimsoll.intake.rows import ReadOptions
from plimsoll.intake.unpacked import stem

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from plimsoll.intake.importing import Cpu, Imported
    from plimsoll.intake.rows import ImportStats
    from plimsoll.intake.zabbix import Unit
    from plimsoll.storage.results import Results

ZABBIX = "zabbix"

_TAB = {"tab": "\t", "\\t": "\t"}


@dataclass(frozen=True)
class ImportOptions:
    """The options of `plimsoll import` that say how files are read; those not given are None.

    Attributes:
        framework: Name of the measured server.
        endpoint: Measured endpoint.
        labels: Requests with these labels only; empty for all.
        warm_up: Length of what is excluded, in seconds.
        cpu: File of CPU readings.
        cores: Cores of the server.
        cpu_unit: Unit of CPU readings.
        run: Number of the run; 0 for all.
        columns: Names of columns, with commas between them.
        separator: Separator of columns.
        timestamp_format: Format of timestamps.
        time_zone: Time zone of timestamps without one.
        end_stamps: Whether timestamps mark the end of a request.
        strict: Whether a malformed line is an error.
        partial: Whether the readable part of a damaged file is imported.
    """

    framework: str | None
    endpoint: str | None
    labels: tuple[str, ...]
    warm_up: float | None
    cpu: Path | None
    cores: int | None
    cpu_unit: Unit
    run: int | None
    columns: str | None
    separator: str | None
    timestamp_format: str | None
    time_zone: str
    end_stamps: bool
    strict: bool
    partial: bool


def imported(
    files: tuple[str, ...],
    into: Path | None,
    storage: str,
    chosen: ImportOptions,
    *,
    judge: bool,
    as_json: bool,
) -> int:
    """Makes a recording of files, and prints what came of them.

    Args:
        files: The files, perhaps with the name of their tool in front.
        into: Folder of the results; None for `results/` and the name of the first file.
        storage: Address of a database; empty for the folder.
        chosen: The other options.
        judge: Whether the recording is judged.
        as_json: Whether JSON is printed.

    Returns:
        The exit code.
    """
    tool, paths = _named(files)
    run = chosen.run
    name = f"{stem(paths[0])}-run-{run}" if run else stem(paths[0])
    folder = into or Path("results") / name
    with storages.opened(folder, storage) as results:
        found = _imported(tool, paths, results, chosen)
        for tally in found.tallies:
            _tell(tally)
        driver = found.recording.driver
        for note in driver.notes if driver else found.recording.notes:
            messages.note(note)
        tell = _judged if judge else _kept
        return tell(results, found, as_json=as_json)


def _named(files: tuple[str, ...]) -> tuple[str, list[Path]]:
    """The tool (empty when not given), and the files.

    Raises:
        InputError: A tool is given without a file, or it is neither a tool nor a file.
    """
    tools = [*(reader.NAME for reader in READERS), ZABBIX]
    first = files[0]
    is_tool = first in tools and not Path(first).exists()
    rest = files[1:] if is_tool else files
    if not rest:
        message = f"no {first} file is given"
        raise InputError([Problem("", message, f"write `plimsoll import {first} FILE`")])
    if not is_tool and rest[1:] and not Path(first).exists():
        known = ", ".join(f"`{tool}`" for tool in tools)
        message = f"`{first}` is neither a file nor a tool{messages.meant(first, tools)}"
        raise InputError([Problem("", message, f"tools: {known}")])
    return first if is_tool else "", [Path(file) for file in rest]


def _imported(
    tool: str, paths: Sequence[Path], results: Results, chosen: ImportOptions
) -> Imported:
    about = _about(paths[0], chosen)
    if tool == ZABBIX:
        if paths[1:]:
            hint = "give one file, with the CPU readings of one server"
            raise InputError([Problem(str(paths[1]), "Zabbix import takes one file", hint)])
        return importing.readings(_cpu(paths[0], chosen), about, results)
    reader = importing.reader_of(paths, tool, partial=about.partial)
    cpu = None if chosen.cpu is None else _cpu(chosen.cpu, chosen)
    return importing.rows(reader, paths, _read_options(chosen), about, cpu, results)


def _about(first: Path, chosen: ImportOptions) -> About:
    return About(
        framework=chosen.framework or stem(first),
        is_named_by_file=not chosen.framework,
        endpoint=chosen.endpoint or "",
        labels=chosen.labels,
        warm_up_s=chosen.warm_up,
        cores=chosen.cores,
        partial=chosen.partial,
        run=chosen.run,
    )


def _read_options(chosen: ImportOptions) -> ReadOptions:
    """The file format options.

    Raises:
        InputError: The separator is not a single character.
    """
    separator = _TAB.get(chosen.separator or "", chosen.separator or "")
    if len(separator) > 1 or separator in ('"', "\n", "\r"):
        message = f"`{separator}` is not a valid column separator"
        raise InputError([Problem("--separator", message, "give one character, or `tab`")])
    names = (chosen.columns or "").split(",")
    return ReadOptions(
        columns=tuple(name.strip() for name in names if name.strip()),
        separator=separator,
        timestamp_format=chosen.timestamp_format or "",
        time_zone=chosen.time_zone,
        timestamp_is_end=chosen.end_stamps,
        strict=chosen.strict,
    )


def _cpu(file: Path, chosen: ImportOptions) -> Cpu:
    how = zabbix.CpuOptions(unit=chosen.cpu_unit, cores=chosen.cores, strict=chosen.strict)
    return importing.Cpu(file, how)


def _tell(tally: ImportStats) -> None:
    """Prints the import statistics of a file, and its malformed lines."""
    messages.step(f"{tally.file}: {', '.join(_counts(tally))}")
    for broken in tally.broken_lines:
        messages.note(f"{tally.file}:{broken.line}: {broken.reason}")
    unnamed = tally.broken - len(tally.broken_lines)
    if unnamed:
        messages.note(f"{tally.file}: {unnamed} more malformed lines")


def _counts(tally: ImportStats) -> Iterator[str]:
    yield f"{tally.read} rows read, {tally.kept} kept"
    if left_out := sum(tally.left_out.values()):
        yield f"{left_out} excluded"
    if tally.broken:
        yield f"{tally.broken} malformed"


def _kept(results: Results, imported: Imported, *, as_json: bool) -> int:
    """Prints where the recording is; returns the exit code."""
    trial = imported.recording.trial
    if as_json:
        found = {"trial": trial, "files": _accounts(imported), "recording": results.place}
        click.echo(json.dumps(found))
    else:
        messages.step(f"`{trial}` is stored in `{results.place}`, not judged yet")
    return 0


def _accounts(imported: Imported) -> list[dict[str, object]]:
    """The import statistics of each file."""
    return [
        {**asdict(one), "read": one.read, "left_out": dict(one.left_out)}
        for one in imported.tallies
    ]


def _judged(results: Results, imported: Imported, *, as_json: bool) -> int:
    """Judges and prints the recording; returns the exit code."""
    every = gathering.gather(results, again=True)
    own = tuple(one for one in every.trials if one.recording.trial == imported.recording.trial)
    found = replace(every, trials=own)
    if as_json:
        (one,) = reporting.as_json(found)
        found_in = {"files": _accounts(imported), "recording": results.place}
        click.echo(json.dumps({**one, **found_in}))
    else:
        reporting.print_load(found, verbose=True)
        messages.step(f"`{imported.recording.trial}` is kept in `{results.place}`")
        messages.step(f"`plimsoll report {shlex.quote(str(results.folder))}` draws its charts")
    return cli.judging.exit_code(found)
