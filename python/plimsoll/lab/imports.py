"""`plimsoll.import_recording`: a per-request log of another load generator becomes a recording."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from plimsoll import report, texts, wording
from plimsoll import storage as storages
from plimsoll.errors import InputError, Problem
from plimsoll.intake import READERS, importing, instants, runs, unpacked, zabbix
from plimsoll.intake.importing import About, Cpu
from plimsoll.intake.rows import ReadOptions
from plimsoll.intake.unpacked import stem
from plimsoll.lab import arguments
from plimsoll.lab.results import RESULTS, CampaignResults, SingleResult

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from plimsoll.intake.importing import Imported
    from plimsoll.intake.rows import ImportStats
    from plimsoll.intake.zabbix import Unit
    from plimsoll.report.results.machine_readable import JsonObject
    from plimsoll.storage.results import Results

TOOLS = (*(reader.NAME for reader in READERS), zabbix.NAME)
"""Names of the tools whose files can be imported."""

DEFAULT_UNIT: Unit = "percent-of-all"
"""Unit of CPU readings where none is given."""

_SEPARATORS = {"tab": "\t", "\\t": "\t"}


@dataclass(frozen=True, repr=False)
class ImportResult(SingleResult):
    """An imported recording, with everything a trial has.

    Attributes:
        files: Of each file, how many rows were read, kept, left out and malformed, and why.
    """

    files: tuple[ImportStats, ...] = ()

    def files_as_json(self) -> list[JsonObject]:
        """The row counts of each file, ready for JSON."""
        return [one.as_json() for one in self.files]

    def as_json(self) -> JsonObject:
        """Everything that is known of it, ready for JSON: what `plimsoll import --json` prints.

        Raises:
            StorageError: The rows cannot be read.
        """
        own = replace(self.campaign.findings, trials=(self.findings,))
        (listed,) = report.machine_readable.trials(own)
        return {**listed, "files": self.files_as_json(), "recording": self.campaign.place}


@arguments.checked(Unit=get_args(zabbix.Unit))
def import_recording(  # noqa: PLR0913 - one argument for each option
    *files: str | os.PathLike[str],
    tool: str = "",
    into: str | os.PathLike[str] | None = None,
    storage: str = "",
    framework: str = "",
    endpoint: str = "",
    labels: Sequence[str] = (),
    warm_up_s: float | None = None,
    cpu: str | os.PathLike[str] | None = None,
    cores: int | None = None,
    cpu_unit: Unit = DEFAULT_UNIT,
    run: int | Literal["all"] | None = None,
    columns: Sequence[str] = (),
    separator: str = "",
    timestamp_format: str = "",
    time_zone: str = "UTC",
    end_stamps: bool = False,
    strict: bool = False,
    partial: bool = False,
) -> ImportResult:
    """Imports the per-request log of another load generator as a recording.

    Files may be compressed (zip, gz, zst, xz, bz2). What a log does not contain is null, and checks
    that need it are not made. The same files, imported again, replace the earlier recording.

    Args:
        files: The files; several are those of several load generators of one test.
        tool: `jmeter`, `ab`, `h2load`, `k6`, `oha` or `vegeta`; empty recognises it by the
            beginning of the first file. `zabbix` imports CPU readings alone, of one file.
        into: Folder of the results; None is `results/` and the name of the first file.
        storage: Address of a PostgreSQL database that keeps the recording; empty for the folder.
        framework: Name of the measured server; empty for the name of the file.
        endpoint: Measured endpoint; empty for the label of the requests.
        labels: Only requests with these labels are imported; empty for all.
        warm_up_s: Excluded from the statistics, in seconds; None until all users are active.
        cpu: File with the CPU usage of the server, exported from Zabbix: clock and value.
        cores: Cores of the server; None if unknown.
        cpu_unit: Unit of CPU readings: `percent-of-all`, where 100 is all cores,
            `percent-of-one`, or `cores`.
        run: Number of one of several runs in a file, from 1; `all` merges them.
        columns: Names of the columns of a file without a header.
        separator: Separator of columns, `tab` for a tab; empty recognises it.
        timestamp_format: Pattern of formatted timestamps, `yyyy/MM/dd HH:mm:ss.SSS`; empty
            recognises it.
        time_zone: Zone of timestamps without one: `Europe/Berlin`.
        end_stamps: Whether timestamps mark the end of a request, not its start.
        strict: Whether a malformed line is an error.
        partial: Whether the readable part of a damaged file is imported.

    Raises:
        InputError: A file cannot be read, no request is left, or an option is wrong.
        StorageError: The recording cannot be written, or the folder holds a campaign.
    """
    paths = [Path(file) for file in files]
    _require_files(paths, tool)
    if cpu is None and tool != zabbix.NAME and cpu_unit != DEFAULT_UNIT:
        message = "no CPU readings are given"
        raise InputError([Problem("cpu_unit", message, "add `cpu=`, or remove `cpu_unit=`")])
    _require_possible(cores, warm_up_s, run, time_zone)
    readings_file = None if cpu is None else Path(cpu)
    _require_packed([*paths, *([readings_file] if readings_file else [])], partial=partial)
    _require_different(paths, partial=partial)
    about = About(
        framework=framework or stem(paths[0]),
        is_named_by_file=not framework,
        endpoint=endpoint,
        labels=tuple(labels),
        warm_up_s=warm_up_s,
        cores=cores,
        partial=partial,
        run=runs.ALL if run == "all" else run,
    )
    how = zabbix.CpuOptions(unit=cpu_unit, cores=cores, strict=strict)
    options = ReadOptions(
        columns=tuple(columns),
        separator=_separator(separator),
        timestamp_format=timestamp_format,
        time_zone=time_zone,
        timestamp_is_end=end_stamps,
        strict=strict,
    )
    readings = None if readings_file is None else Cpu(readings_file, how)
    if tool == zabbix.NAME:
        _require_of_readings(options, about, readings)
    folder = RESULTS / _name(paths[0], about.run) if into is None else Path(into)
    with ExitStack() as closing:
        stored = closing.enter_context(storages.opened(folder, storage))
        if tool == zabbix.NAME:
            found = importing.readings(Cpu(paths[0], how), about, stored)
        else:
            found = _imported(tool, paths, options, about, readings, stored)
        campaign = CampaignResults(stored, closing.pop_all(), again=True)
        return ImportResult(campaign, found.recording.trial, found.tallies)


def _imported(
    tool: str,
    paths: Sequence[Path],
    options: ReadOptions,
    about: About,
    cpu: Cpu | None,
    stored: Results,
) -> Imported:
    reader = importing.reader_of(paths, tool, partial=about.partial)
    return importing.rows(reader, paths, options, about, cpu, stored)


def _require_files(paths: Sequence[Path], tool: str) -> None:
    """Requires a file, a known tool, and of Zabbix no second file.

    Raises:
        InputError: One of it is missing or too much.
    """
    if tool and tool not in TOOLS:
        hint = f"tools: {', '.join(f'`{one}`' for one in TOOLS)}"
        raise InputError([Problem("tool", f"there is no tool `{tool}`", hint)])
    if not paths:
        raise InputError([Problem("", "no file is given", "give the tool's per-request log")])
    if tool == zabbix.NAME and paths[1:]:
        hint = "give one file, with the CPU readings of one server"
        raise InputError([Problem(str(paths[1]), "Zabbix import takes one file", hint)])


def _require_packed(paths: Sequence[Path], *, partial: bool) -> None:
    """Requires a compressed file where the readable part of a damaged one is wanted.

    Raises:
        InputError: None is compressed, or one cannot be read.
    """
    if partial and not any(map(unpacked.is_packed, paths)):
        message = "has no effect on files that are not compressed"
        hint = "remove `partial=`: their malformed lines are skipped and counted"
        raise InputError([Problem("partial", message, hint)])


def _require_different(paths: Sequence[Path], *, partial: bool) -> None:
    """Requires that no file is given twice: its requests would count twice.

    Raises:
        InputError: Two are one file, or have the same content, compressed or not.
    """
    if not paths[1:]:
        return
    every = (one for path in paths for one in unpacked.streams(path, partial=partial))
    found = unpacked.repeated(every, partial=partial)
    if found is None:
        return
    one, other = found
    is_one = one.member == other.member and one.path.samefile(other.path)
    message = "is given twice" if is_one else f"has the same content as `{one.name}`"
    hint = "give the log of each load generator once: its requests would count twice"
    raise InputError([Problem(other.name, message, hint)])


def _require_of_readings(options: ReadOptions, about: About, cpu: Cpu | None) -> None:
    """Requires only options of CPU readings, where nothing else is imported.

    Raises:
        InputError: One is about requests.
    """
    requests = {"labels": about.labels, "run": about.run is not None, "cpu": cpu is not None}
    given = (*(name for name, is_given in requests.items() if is_given), *options.given)
    if given:
        message = "has no effect on CPU readings that are imported alone"
        raise InputError([Problem(name, message, f"remove `{name}=`") for name in given])


def _require_possible(
    cores: int | None, warm_up_s: float | None, run: int | Literal["all"] | None, time_zone: str
) -> None:
    number = None if run == "all" else run
    least = (("cores", cores, 1), ("warm_up_s", warm_up_s, 0), ("run", number, 1))
    problems = [
        Problem(name, f"`{wording.exact(value)}` is too small", f"give {smallest} or more")
        for name, value, smallest in least
        if value is not None and value < smallest
    ]
    if not instants.is_zone(time_zone):
        problems.append(instants.unknown_zone(time_zone))
    if problems:
        raise InputError(problems)


def _separator(given: str) -> str:
    """The separator of columns as one character; empty to recognise it.

    Raises:
        InputError: It is not a single character.
    """
    found = _SEPARATORS.get(given, given)
    if len(found) > 1 or found in ('"', "\n", "\r"):
        message = f"`{texts.line(found)}` is not a valid column separator"
        raise InputError([Problem("separator", message, "give one character, or `tab`")])
    return found


def _name(first: Path, run: int | None) -> str:
    """Name of the results of a file."""
    return f"{stem(first)}-run-{run}" if run else stem(first)
