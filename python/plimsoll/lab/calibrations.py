"""`plimsoll.calibrate`: the load generator against a server with known service times."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll import _engine, capacity, lab, machine
from plimsoll.calibration import calibration
from plimsoll.calibration.bench import Bench
from plimsoll.errors import InputError, Problem, StorageError
from plimsoll.events import Listener, Notice, Step, ignore
from plimsoll.lab import arguments, one_line
from plimsoll.processes.interruption import Interruption
from plimsoll.report.results import calibrated

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from plimsoll.calibration.calibration import Calibration
    from plimsoll.machine import Fact
    from plimsoll.report.results.machine_readable import JsonObject

QUICK = tuple(part for part in calibration.PARTS if part not in ("protocols", "tools"))
"""The parts of a quick calibration where none is named."""


@dataclass(frozen=True, repr=False)
class CalibrationResult:
    """What a calibration found.

    Attributes:
        calibration: What was found, part by part; times in nanoseconds, rates per second.
        kept: File that now has the most this host's load generator can do; None where that was not
            measured, or could not be written in the end.
    """

    calibration: Calibration
    kept: Path | None

    @property
    def misses(self) -> tuple[str, ...]:
        """Names of what is beyond its limits; empty when the load generator is right."""
        return self.calibration.misses

    def as_json(self) -> JsonObject:
        """Everything, ready for JSON: what `plimsoll calibrate --json` prints."""
        return calibrated.document(self.calibration, self.kept)

    def markdown(self) -> str:
        """The tables as Markdown."""
        return calibrated.markdown(self.calibration, self.kept)

    def __repr__(self) -> str:
        """Whether the load generator is within its limits."""
        return one_line.shown(self, lambda: calibrated.verdict(self.calibration))

    def _repr_markdown_(self) -> str:
        """The tables, for a notebook."""
        return self.markdown()

    def _repr_html_(self) -> str:
        """The same from the report's parts."""
        return lab.charts.calibration_html(self.calibration, self.kept)


@arguments.checked()
def calibrate(
    parts: Sequence[str] = (),
    *,
    quick: bool = False,
    into: str | os.PathLike[str] | None = None,
    on_event: Listener = ignore,
) -> CalibrationResult:
    """Checks the load generator and measures the most this host can do; takes three minutes.

    Trials look up what it found, so that a verdict can tell the load generator's limit from the
    server's. Call it on a quiet host.

    Args:
        parts: Of `accuracy`, `protocols`, `pacing`, `stalls`, `capacity`, `tools`; empty for all.
        quick: Half a minute: shorter, fewer cases, HTTP/1.1 alone, no other tools.
        into: File that keeps the most this host can do; None is where trials look for it.
        on_event: Called with each `Step` and `Notice`.

    Raises:
        InputError: There is no such part, or `into` is given and no capacity is measured.
        Interrupted: Ctrl-C in the main thread.
        FrameworkError: The reference server failed.
        DriverError: The load generator failed.
        HostError: This host cannot hold even the smallest load.
        StorageError: What will be found cannot be kept; nothing is measured.
    """
    for part in parts:
        if part not in calibration.PARTS:
            hint = f"parts are {', '.join(f'`{one}`' for one in calibration.PARTS)}"
            raise InputError([Problem("parts", f"a calibration has no part `{part}`", hint)])
    extent = calibration.QUICK if quick else calibration.FULL
    chosen = parts or (QUICK if quick else tuple(calibration.PARTS))
    facts = machine.facts()
    place = _place(None if into is None else Path(into).absolute(), chosen, facts)
    division = machine.divide_cores(None, None)
    if division.note:
        on_event(Notice(division.note))
    interruption = Interruption()
    bench = Bench(
        division.server, division.driver, interruption, lambda message: on_event(Step(message))
    )
    with interruption.listening():
        found = calibration.calibrate(bench, extent, chosen, facts)
    return CalibrationResult(found, _kept(found, place, on_event))


def _place(into: Path | None, chosen: Sequence[str], facts: Mapping[str, Fact]) -> Path | None:
    """The file for what is measured, which can be written; None where no capacity is measured.

    Raises:
        InputError: A file is given, but no capacity is measured.
        StorageError: The file cannot be written.
    """
    if "capacity" not in chosen:
        if into is None:
            return None
        message = "nothing is kept without the part `capacity`"
        raise InputError([Problem("into", message, "add that part, or remove `into=`")])
    place = into or capacity.file(facts, capacity.engine("plimsoll", _engine.__version__))
    capacity.require_writable(place)
    return place


def _kept(found: Calibration, place: Path | None, on_event: Listener) -> Path | None:
    """The file that now has the capacities; a remark where it can no longer be written."""
    if place is None or found.capacities is None or not found.capacities.reached:
        return None
    engine = capacity.engine("plimsoll", found.engine)
    try:
        return capacity.keep(found.capacities.reached, found.machine, engine, place)
    except StorageError as error:
        on_event(Notice(f"the capacity is not stored: {error.message}"))
        return None
