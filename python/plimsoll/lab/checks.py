"""`plimsoll.check`: frameworks that are started and verified, without load."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll import lab, machine, wording
from plimsoll.campaign.documents import near
from plimsoll.campaign.endpoints import ENDPOINTS
from plimsoll.errors import InputError, Problem
from plimsoll.events import Listener, Notice, Step, ignore
from plimsoll.install import typed
from plimsoll.lab import arguments, databases, framework_check, one_line, selection
from plimsoll.lab.framework_check import CheckSettings
from plimsoll.processes.interruption import Interruption, ending_early
from plimsoll.report.results import checked

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Sequence

    from plimsoll.campaign.framework import Framework
    from plimsoll.recording.framework_check import FrameworkCheck
    from plimsoll.report.results.machine_readable import JsonObject

_SHOWN = 3

SEED = 1
"""Seed of random request values where none is given."""


@dataclass(frozen=True, repr=False)
class CheckResult:
    """What a check found.

    Attributes:
        frameworks: The outcome for each framework, in the order of their names.
    """

    frameworks: tuple[FrameworkCheck, ...]

    @property
    def failed(self) -> tuple[FrameworkCheck, ...]:
        """Frameworks that break the contract, did not start or died."""
        return tuple(one for one in self.frameworks if not one.is_passed)

    def as_json(self) -> list[JsonObject]:
        """One object for each framework, ready for JSON: what `plimsoll check --json` prints."""
        return checked.documents(self.frameworks)

    def markdown(self) -> str:
        """What was verified, as a table in Markdown, with every violation below."""
        return checked.markdown(self.frameworks)

    def __repr__(self) -> str:
        """How many frameworks passed."""
        return one_line.shown(self, lambda: checked.verdict(self.frameworks))

    def _repr_markdown_(self) -> str:
        """What was verified, for a notebook."""
        return self.markdown()

    def _repr_html_(self) -> str:
        """The same from the report's parts."""
        return lab.charts.check_html(self.frameworks)


@ending_early("the check")
@arguments.checked()
def check(
    *names: str,
    endpoints: Sequence[str] = (),
    seed: int = SEED,
    compliance: bool = False,
    available: bool = False,
    frameworks: str | os.PathLike[str] | None = None,
    on_event: Listener = ignore,
) -> CheckResult:
    """Starts each framework, verifies its endpoints against the contract and stops it.

    The listen backlog and a clean stop are verified too. Endpoints that use a database are skipped
    where PostgreSQL is not installed, and named as a `Notice`. A `version` command that fails is
    named so too, and fails no check.

    Args:
        names: Frameworks or variants, as campaigns name them; none for every framework.
        endpoints: Names of the endpoints to verify; empty for all that a framework serves. One that
            serves none of them is left out, named as a `Notice`.
        seed: Seed of the random request values.
        compliance: Whether a second start of each framework gets requests that few clients send,
            and what it does is compared with the RFCs. What differs fails no check.
        available: Whether frameworks that cannot run here are left out, each named as a `Notice`.
        frameworks: Folder of the frameworks; None is `frameworks/` here, in a parent, or
            Plimsoll's own.
        on_event: Called with each `Notice`, `Step`, `PartChecked` and `FrameworkChecked`.

    Raises:
        InputError: There is no such framework or endpoint, none serves any of these endpoints, or
            the file of a framework has mistakes.
        NotInstalled: A framework is not installed or was never built.
        BuildFailed: A framework changed since it was built, and its build failed.
        HostError: This host cannot conduct it.
        Interrupted: Ctrl-C in the main thread, or SIGTERM while it verifies; what was started is
            stopped.
    """

    def note(message: str) -> None:
        on_event(Notice(message))

    wanted = selection.named(names, None if frameworks is None else Path(frameworks))
    if endpoints:
        wanted = tuple(_serving(wanted, endpoints, note))
    wanted = selection.ready(wanted, note) if available else wanted
    selection.make_ready(wanted, lambda step: on_event(Step(step)))
    served = {name for one in wanted for name in framework_check.verified(one, endpoints)}
    verified = [endpoint for endpoint in ENDPOINTS if endpoint.name in served]
    verified = databases.available(verified, note)
    cores = machine.divide_cores(None, None, with_third_party=databases.has_third_party(verified))
    with (
        Interruption().listening(),
        databases.running(verified, cores.third_party, on_event) as database,
    ):
        settings = CheckSettings(
            seed, cores.server, cores.third_party, database, compliance, tuple(endpoints)
        )
        return CheckResult(_verified(wanted, settings, on_event))


def _serving(
    wanted: Sequence[Framework], chosen: Sequence[str], note: Callable[[str], None]
) -> Iterator[Framework]:
    """The frameworks that serve some of the endpoints.

    Raises:
        InputError: There is no such endpoint, or no framework serves any of them.
    """
    known = [endpoint.name for endpoint in ENDPOINTS]
    for name in chosen:
        if name not in known:
            hint = near(name, known, "endpoints")
            raise InputError([Problem("endpoints", f"unknown endpoint `{name}`", hint)])
    serving = [one for one in wanted if not set(one.endpoints).isdisjoint(chosen)]
    names = ", ".join(f"`{name}`" for name in chosen)
    if not serving:
        titles = wording.listed([one.title for one in wanted], _SHOWN)
        listed = f"`plimsoll list{typed.option(wanted[0].folder)}`"
        hint = f"{listed} names the endpoints of each framework"
        raise InputError([Problem("endpoints", f"none of {titles} serves {names}", hint)])
    for one in wanted:
        if one in serving:
            yield one
        else:
            note(f"left out: {one.title} does not serve {names}")


def _verified(
    wanted: tuple[Framework, ...], settings: CheckSettings, on_event: Listener
) -> tuple[FrameworkCheck, ...]:
    return tuple(framework_check.verify(one, settings, on_event) for one in wanted)
