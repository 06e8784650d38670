"""`plimsoll import`: turn the per-request log of another load generator into a recording.

The underscore in the module's name avoids the Python keyword.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import click

import plimsoll
from plimsoll import cli
from plimsoll.cli import EPILOGUE, options

CPU_UNITS = ("percent-of-all", "percent-of-one", "cores")

GROUPS = {
    "Measured system": ("framework", "endpoint", "labels", "warm_up_s"),
    "Server CPU": ("cpu", "cores", "cpu_unit"),
    "File format": (
        "run",
        "columns",
        "separator",
        "timestamp_format",
        "time_zone",
        "end_stamps",
        "strict",
        "partial",
    ),
    "Output": ("into", "storage", "no_judge", "as_json"),
}
"""Options of the help by heading."""


class _Run(click.ParamType):  # pyright: ignore[reportMissingTypeArgument]
    """The number of a run, or `all`."""

    name = "N"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | Literal["all"]:
        """The number, or `all`.

        Raises:
            UsageError: It is neither a number from 1 nor `all`.
        """
        if value == "all":
            return "all"
        text = str(value)
        if not (text.isascii() and text.isdigit() and len(text) < _MOST_DIGITS and int(text)):
            self.fail(f"`{value}` is neither a number from 1 nor `all`", param, ctx)
        return int(text)


RUN = _Run()
_MOST_DIGITS = 10


@click.command(name="import", cls=options.Grouped, groups=GROUPS, epilog=EPILOGUE)
@click.argument("files", nargs=-1, required=True, metavar="[TOOL] FILE...", type=click.Path())
@click.option(
    "--framework",
    default="",
    metavar="NAME",
    help="Name of the measured server.  [default: file name]",
)
@click.option("--endpoint", default="", metavar="NAME", help="Measured endpoint.  [default: label]")
@click.option(
    "--label",
    "labels",
    multiple=True,
    metavar="NAME",
    help="Only requests with this label. Repeatable.",
)
@click.option(
    "--warm-up",
    "warm_up_s",
    type=options.DURATION,
    help="Excluded from the statistics.  [default: until all users are active]",
)
@click.option(
    "--cpu",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="CPU usage of the server, exported from Zabbix: clock,value.",
)
@click.option(
    "--cores", type=options.COUNT, help="Cores of the server: the upper end of the CPU chart."
)
@click.option(
    "--cpu-unit",
    type=click.Choice(CPU_UNITS),
    default=CPU_UNITS[0],
    show_default=True,
    help="Unit of CPU readings: 100 is all cores or one core, or the number of busy cores.",
)
@click.option(
    "--run",
    type=RUN,
    metavar="N",
    help="Import the Nth of several runs in one file; `all` merges them.",
)
@click.option("--columns", metavar="NAMES", help="Column names, for a file without a header.")
@click.option("--separator", default="", metavar="CHAR", help="Column separator; `tab` for a tab.")
@click.option(
    "--timestamp-format",
    default="",
    metavar="PATTERN",
    help="Timestamp format: 'yyyy/MM/dd HH:mm:ss.SSS', or ms.",
)
@click.option(
    "--time-zone",
    default="UTC",
    show_default=True,
    metavar="NAME",
    help="Time zone of timestamps without one.",
)
@click.option(
    "--end-stamps", is_flag=True, help="Timestamps mark the end of a request, not its start."
)
@click.option("--strict", is_flag=True, help="Fail at the first malformed line; keep nothing.")
@click.option("--partial", is_flag=True, help="Import the readable part of a damaged file.")
@click.option(
    "--into",
    type=options.FOLDER,
    metavar="DIR",
    help="Results folder.  [default: results/<file name>]",
)
@options.storage
@click.option(
    "--no-judge",
    is_flag=True,
    help="Store the recording without verdicts; run `plimsoll judge` later.",
)
@options.as_json
def command(
    files: tuple[str, ...],
    columns: str | None,
    no_judge: bool,
    as_json: bool,
    **chosen: Any,
) -> int:
    """Import the per-request log of another load generator as a recording.

    Files may be compressed (zip, gz, zst, xz, bz2). Several files are several load generators of
    one test. Without TOOL, the format is detected from the start of the first file. What a log
    does not contain is null; checks that need it report "not checked".

    Importing the same files again replaces the earlier recording; other labels
    or another run of them are recordings of their own.

    \b
    plimsoll import jmeter results.csv.zip --framework perfect-nio
    plimsoll import jmeter engine1.jtl engine2.jtl
    plimsoll import jmeter results.csv.zip --cpu cpu.csv.zip --cores 72 --cpu-unit percent-of-one
    plimsoll import zabbix cpu.csv --cores 8
    """  # noqa: D301 - click reads the backspace as "do not wrap what follows"
    tool, paths = cli.importing.tool_and_files(files)
    names = [name.strip() for name in (columns or "").split(",") if name.strip()]
    with plimsoll.import_recording(*paths, tool=tool, columns=names, **chosen) as result:
        return cli.importing.show(result, judge=not no_judge, as_json=as_json)
