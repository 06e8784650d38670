"""`plimsoll import`: files of another tool become a recording.

The module has an underscore more than the verb, which is a word of Python.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from plimsoll import storage as storages
from plimsoll.cli import EPILOGUE, messages, options
from plimsoll.errors import CampaignError, Problem

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from plimsoll.intake.importing import About, Cpu, Imported
    from plimsoll.intake.rows import Asked, Tally
    from plimsoll.storage.results import Results

CPU_UNITS = ("percent-of-all", "percent-of-one", "cores")

ZABBIX = "zabbix"

GROUPS = {
    "What was measured": ("framework", "endpoint", "labels", "warm_up"),
    "The server's CPU": ("cpu", "cores", "cpu_unit"),
    "How files are read": (
        "columns",
        "separator",
        "timestamp_format",
        "time_zone",
        "end_stamps",
        "strict",
        "partial",
    ),
    "What comes out": ("into", "storage", "no_judge", "as_json"),
}
"""Options of the help by heading."""

_TAB = {"tab": "\t", "\\t": "\t"}


@click.command(name="import", cls=options.Grouped, groups=GROUPS, epilog=EPILOGUE)
@click.argument("files", nargs=-1, required=True, metavar="[TOOL] FILE...", type=click.Path())
@click.option("--framework", metavar="NAME", help="What was measured; without it, the file's name.")
@click.option("--endpoint", metavar="NAME", help="What was asked of it; without it, the label.")
@click.option(
    "--label",
    "labels",
    multiple=True,
    metavar="NAME",
    help="Only requests that the tool calls so. Repeatable.",
)
@click.option(
    "--warm-up",
    type=options.DURATION,
    help="Not summarised; without it, the time until all users were active.",
)
@click.option(
    "--cpu",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The server's CPU as Zabbix exports it: clock,value.",
)
@click.option("--cores", type=options.COUNT, help="Cores of the server: the limit of the chart.")
@click.option(
    "--cpu-unit",
    type=click.Choice(CPU_UNITS),
    default=CPU_UNITS[0],
    show_default=True,
    help="What a reading of 100 means; `cores` are as many cores.",
)
@click.option("--columns", metavar="NAMES", help="Names of the columns of a file without a header.")
@click.option("--separator", metavar="SIGN", help="What separates columns; `tab` for a tab.")
@click.option(
    "--timestamp-format", metavar="PATTERN", help="Such as 'yyyy/MM/dd HH:mm:ss.SSS', or ms."
)
@click.option(
    "--time-zone",
    default="UTC",
    show_default=True,
    metavar="NAME",
    help="Of formatted timestamps that name none.",
)
@click.option(
    "--end-stamps", is_flag=True, help="Timestamps are the ends of requests, not their starts."
)
@click.option("--strict", is_flag=True, help="Stop at a broken line and keep nothing.")
@click.option("--partial", is_flag=True, help="Keep what can be read of a damaged file.")
@click.option(
    "--into",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Folder of the results; without it, results/ and the file's name.",
)
@options.storage
@click.option(
    "--no-judge", is_flag=True, help="Only keep the recording; `plimsoll judge` looks at it later."
)
@options.as_json
def command(
    files: tuple[str, ...],
    into: Path | None,
    storage: str,
    no_judge: bool,
    as_json: bool,
    **asked: Any,
) -> int:
    """Makes a recording of what another tool wrote about each of its requests.

    Files may be packed (zip, gz, zst, xz, bz2). Several files are several engines of one test.
    Without TOOL it is told from how the first file begins. What a tool does not say is null, and
    checks that need it say that they cannot know.

    The same import again takes the place of the earlier one.

    \b
    plimsoll import jmeter results.csv.zip --cpu cpu.csv.zip --cores 72
    plimsoll import jmeter engine1.jtl engine2.jtl --framework perfect-nio
    plimsoll import zabbix cpu.csv --cores 8
    """  # noqa: D301 - click reads the backspace as "do not wrap what follows"
    from plimsoll.intake.unpacked import stem  # noqa: PLC0415 - heavy

    tool, paths = _named(files)
    folder = into or Path("results") / stem(paths[0])
    with storages.opened(folder, storage) as results:
        imported = _imported(tool, paths, results, asked)
        for tally in imported.tallies:
            _tell(tally)
        driver = imported.recording.driver
        for note in driver.notes if driver else imported.recording.notes:
            messages.note(note)
        judge = _kept if no_judge else _judged
        return judge(results, imported, as_json=as_json)


def _named(files: tuple[str, ...]) -> tuple[str, list[Path]]:
    """The tool, empty when it is not named, and the files.

    Raises:
        CampaignError: A tool is named, and no file.
    """
    from plimsoll.intake import READERS  # noqa: PLC0415 - heavy

    tools = [*(reader.NAME for reader in READERS), ZABBIX]
    first = files[0]
    is_tool = first in tools and not Path(first).exists()
    rest = files[1:] if is_tool else files
    if not rest:
        message = f"no file of {first} is named"
        raise CampaignError([Problem("", message, f"`plimsoll import {first} FILE`")])
    if not is_tool and rest[1:] and not Path(first).exists():
        known = ", ".join(f"`{tool}`" for tool in tools)
        message = f"`{first}` is neither a file nor a tool{messages.meant(first, tools)}"
        raise CampaignError([Problem("", message, f"tools are {known}")])
    return first if is_tool else "", [Path(file) for file in rest]


def _imported(
    tool: str, paths: Sequence[Path], results: Results, asked: Mapping[str, Any]
) -> Imported:
    from plimsoll.intake import importing  # noqa: PLC0415 - heavy

    about = _about(paths[0], asked)
    if tool == ZABBIX:
        if paths[1:]:
            hint = "give the readings of one server"
            raise CampaignError([Problem(str(paths[1]), "is one file too many", hint)])
        return importing.readings(_cpu(paths[0], asked), about, results)
    reader = importing.reader_of(paths, tool, partial=about.partial)
    cpu = None if asked["cpu"] is None else _cpu(asked["cpu"], asked)
    return importing.rows(reader, paths, _asked(asked), about, cpu, results)


def _about(first: Path, asked: Mapping[str, Any]) -> About:
    from plimsoll.intake.importing import About  # noqa: PLC0415 - heavy
    from plimsoll.intake.unpacked import stem  # noqa: PLC0415 - heavy

    return About(
        framework=asked["framework"] or stem(first),
        endpoint=asked["endpoint"] or "",
        labels=asked["labels"],
        warm_up_s=asked["warm_up"],
        cores=asked["cores"],
        partial=asked["partial"],
    )


def _asked(asked: Mapping[str, Any]) -> Asked:
    """How files are to be read.

    Raises:
        CampaignError: The separator is no single sign.
    """
    from plimsoll.intake.rows import Asked  # noqa: PLC0415 - heavy

    separator = _TAB.get(asked["separator"], asked["separator"] or "")
    if len(separator) > 1 or separator in ('"', "\n", "\r"):
        message = f"`{separator}` cannot separate columns"
        raise CampaignError([Problem("--separator", message, "give one sign, or `tab`")])
    names = (asked["columns"] or "").split(",")
    return Asked(
        columns=tuple(name.strip() for name in names if name.strip()),
        separator=separator,
        timestamp_format=asked["timestamp_format"] or "",
        time_zone=asked["time_zone"],
        timestamp_is_end=asked["end_stamps"],
        strict=asked["strict"],
    )


def _cpu(file: Path, asked: Mapping[str, Any]) -> Cpu:
    from plimsoll.intake import importing, zabbix  # noqa: PLC0415 - heavy

    how = zabbix.Asked(unit=asked["cpu_unit"], cores=asked["cores"], strict=asked["strict"])
    return importing.Cpu(file, how)


def _tell(tally: Tally) -> None:
    """Says what became of the rows of a file, and which lines are broken."""
    messages.step(f"{tally.file}: {', '.join(_counts(tally))}")
    for broken in tally.broken_lines:
        messages.note(f"{tally.file}:{broken.line}: {broken.reason}")
    unnamed = tally.broken - len(tally.broken_lines)
    if unnamed:
        messages.note(f"{tally.file}: {unnamed} broken lines more")


def _counts(tally: Tally) -> Iterator[str]:
    yield f"{tally.read} rows read, {tally.kept} kept"
    if left_out := sum(tally.left_out.values()):
        yield f"{left_out} left out"
    if tally.broken:
        yield f"{tally.broken} broken"


def _kept(results: Results, imported: Imported, *, as_json: bool) -> int:
    """Prints where it is; gives the exit code."""
    trial = imported.recording.trial
    if as_json:
        found = {"trial": trial, "files": _accounts(imported), "recording": results.place}
        click.echo(json.dumps(found))
    else:
        messages.step(f"`{trial}` is kept in `{results.place}`, and not judged yet")
    return 0


def _accounts(imported: Imported) -> list[dict[str, Any]]:
    """What became of the rows of each file."""
    from dataclasses import asdict  # noqa: PLC0415 - heavy

    return [
        {**asdict(one), "read": one.read, "left_out": dict(one.left_out)}
        for one in imported.tallies
    ]


def _judged(results: Results, imported: Imported, *, as_json: bool) -> int:
    """Prints what came of it; gives the exit code."""
    from dataclasses import replace  # noqa: PLC0415 - heavy

    from plimsoll.cli import reporting  # noqa: PLC0415 - heavy

    every = reporting.judged(results, again=True)
    own = tuple(one for one in every.trials if one.recording.trial == imported.recording.trial)
    found = replace(every, trials=own)
    if as_json:
        (one,) = reporting.as_json(found)
        found_in = {"files": _accounts(imported), "recording": results.place}
        click.echo(json.dumps({**one, **found_in}))
    else:
        reporting.print_load(found)
    return reporting.exit_code(found)
