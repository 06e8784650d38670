"""`plimsoll calibrate`: the instrument against a server whose truth is known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from plimsoll import ceiling, machine
from plimsoll.cli import messages, options
from plimsoll.conduct.interruption import Interruption
from plimsoll.errors import VERDICT_VOID

if TYPE_CHECKING:
    from plimsoll.calibration.calibration import Calibration

PARTS = ("accuracy", "pacing", "freeze", "ceiling", "tools")
QUICK = PARTS[:-1]
"""The parts of a quick calibration where nobody says which."""

FORMATS = ("table", "markdown")


@click.command(name="calibrate")
@click.option("--quick", is_flag=True, help="Half a minute: shorter, fewer cases, no other tools.")
@click.option(
    "--only",
    "parts",
    type=click.Choice(PARTS),
    multiple=True,
    help="This part and no other. Repeatable.",
)
@click.option(
    "--into",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Keep the ceilings there instead of where trials look for them.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="table",
    show_default=True,
    help="How the tables are printed.",
)
@options.as_json
def command(
    quick: bool, parts: tuple[str, ...], into: Path | None, form: str, as_json: bool
) -> int:
    """Checks the instrument against a server whose truth is known, and finds its ceiling.

    A server with known service times says by its own clock how long it had each request; the
    engine must report the same. Then: how exactly requests are sent when they are due, what is
    reported of a server that stands still, by Plimsoll and by other tools that are installed, and
    the most this host can do. Trials look the ceiling up, so that a verdict can tell the driver's
    limit from the server's.

    Ends with exit code 1 when something is beyond its limits. Run it on a quiet host.

    \b
    plimsoll calibrate                        two minutes
    plimsoll calibrate --quick                half a minute
    plimsoll calibrate --only pacing          one part; repeatable
    """  # noqa: D301 - click reads the backspace as "do not wrap what follows"
    found = _calibrated(parts or (QUICK if quick else PARTS), quick=quick)
    kept = _keep(found, into)
    _print(found, kept, "json" if as_json else form)
    return VERDICT_VOID if found.misses else 0


def _calibrated(parts: tuple[str, ...], *, quick: bool) -> Calibration:
    from plimsoll.calibration import calibration  # noqa: PLC0415 - heavy
    from plimsoll.calibration.bench import Bench  # noqa: PLC0415

    division = machine.divide_cores(None, None)
    if division.note:
        messages.note(division.note)
    interruption = Interruption()
    bench = Bench(division.server, division.driver, interruption, messages.step)
    extent = calibration.QUICK if quick else calibration.FULL
    with interruption.listening():
        return calibration.calibrate(bench, extent, parts, machine.facts())


def _keep(found: Calibration, into: Path | None) -> Path | None:
    if found.ceilings is None or not found.ceilings.reached:
        return None
    engine = ceiling.engine("plimsoll", found.engine)
    return ceiling.keep(found.ceilings.reached, found.machine, engine, into)


def _print(found: Calibration, kept: Path | None, form: str) -> None:
    from plimsoll.report import calibrated  # noqa: PLC0415 - heavy

    if form == "json":
        click.echo(json.dumps(calibrated.document(found, kept)))
    elif form == "markdown":
        click.echo(calibrated.markdown(found, kept))
    else:
        from rich.console import Console  # noqa: PLC0415

        calibrated.show(found, kept, Console(highlight=False, emoji=False))
