"""`plimsoll calibrate`: check the engine against a server with known service times."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

import plimsoll
from plimsoll import report
from plimsoll.cli import json_output, listeners, options
from plimsoll.errors import VERDICT_VOID

if TYPE_CHECKING:
    from plimsoll.lab.calibrations import CalibrationResult

PARTS = ("accuracy", "protocols", "pacing", "stalls", "capacity", "tools")


@click.command(name="calibrate")
@click.option(
    "--quick",
    is_flag=True,
    help="Half a minute: shorter, fewer cases, HTTP/1.1 alone, without other tools.",
)
@click.option(
    "--only",
    "parts",
    type=click.Choice(PARTS),
    multiple=True,
    help="Run only this part. Repeatable.",
)
@click.option(
    "--into",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Store the measured capacity there instead of in the default place.",
)
@options.output("text", "json", "md")
def command(
    quick: bool, parts: tuple[str, ...], into: Path | None, output: str, as_json: bool
) -> int:
    """Check the engine against a server with known service times; measure its maximum rate.

    The reference server logs the service time of each request by its own clock; the engine must
    report the same, by HTTP/1.1, TLS, HTTP/2 and WebSocket. Further parts measure how precisely
    requests are sent at their intended times, and what Plimsoll and other installed tools report
    when a server stalls. The last part measures the capacity of the load generator on this host,
    which trials use to tell its limit from the server's.

    Exit code 1 when a limit is exceeded. Run it on an idle host.

    \b
    plimsoll calibrate                        three minutes
    plimsoll calibrate --quick                half a minute
    plimsoll calibrate --only protocols       one part; repeatable
    """  # noqa: D301 - click reads the backspace as "do not wrap what follows"
    found = plimsoll.calibrate(parts, quick=quick, into=into, on_event=listeners.steps)
    _print(found, "json" if as_json else output)
    return VERDICT_VOID if found.misses else 0


def _print(found: CalibrationResult, form: str) -> None:
    if form == "json":
        json_output.show(found.as_json())
    elif form == "md":
        click.echo(found.markdown())
    else:
        report.calibrated.show(found.calibration, found.kept)
