"""A framework, verified without load: started, asked everything, and stopped."""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll import databases, lab, machine, wording
from plimsoll.campaign.endpoints import ENDPOINTS, by_name
from plimsoll.conduct import compliance
from plimsoll.errors import FrameworkError
from plimsoll.events import FrameworkChecked, Notice, PartChecked
from plimsoll.install import commands
from plimsoll.lab import contract_exceptions
from plimsoll.processes.logs import last_lines
from plimsoll.recording.framework_check import (
    CheckedPart,
    ContractViolation,
    FrameworkCheck,
    ServerMeasurements,
)
from plimsoll.serving import contract, observed, server, upstream
from plimsoll.serving.here import LocalHost
from plimsoll.storage import scratch

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from plimsoll.campaign.framework import Framework
    from plimsoll.campaign.load import Service
    from plimsoll.databases.running import RunningDatabase
    from plimsoll.databases.served import ServedDatabase
    from plimsoll.events import Listener
    from plimsoll.recording import RecordedServer
    from plimsoll.recording.compliance import ComplianceResult
    from plimsoll.serving.server import RunningServer, Stopped

ENDING_S = 0.5
"""How long a server whose responses fail may take to be seen to end, in seconds."""

LOG_LINES = 6
"""Lines of the server's log that a result has."""

BACKLOG_RULE = "the listen backlog is 4096, or a note gives the reason"
STOP_RULE = "within ten seconds of the stop signal, all processes have exited and the port is free"


@dataclass(frozen=True)
class CheckSettings:
    """What all frameworks of a check have in common.

    Attributes:
        seed: Seed of the random request values.
        cores: Cores of the server.
        upstream_cores: Cores of the upstream, for a framework that asks one.
        database: PostgreSQL; without it, endpoints that need it are skipped.
        has_gate: Whether the compliance gate is passed too, in a second start.
        endpoints: Names of the endpoints that are verified; empty for all.
    """

    seed: int
    cores: tuple[int, ...]
    upstream_cores: tuple[int, ...]
    database: RunningDatabase | None
    has_gate: bool
    endpoints: tuple[str, ...] = ()


@dataclass
class _CheckSoFar:
    """What is known so far of a framework that is being verified.

    Attributes:
        parts: What was verified.
        measurements: What was measured of its server.
        compliance: Results of the compliance gate.
        error: What ended the check early.
    """

    parts: list[CheckedPart] = field(default_factory=list[CheckedPart])
    measurements: ServerMeasurements = field(default_factory=ServerMeasurements)
    compliance: tuple[ComplianceResult, ...] = ()
    error: FrameworkError | None = None


def verify(framework: Framework, settings: CheckSettings, tell: Listener) -> FrameworkCheck:
    """Starts a framework, verifies its endpoints, and stops it.

    Args:
        framework: The framework.
        settings: What it has in common with others.
        tell: Told what was verified as soon as it is known.

    Returns:
        The violations and measurements; an error of the framework is in it.
    """
    if framework.no_keep_alive:
        tell(Notice(f"{framework.title} is tested without keep-alive: {framework.no_keep_alive}"))
    found = _CheckSoFar()
    with scratch.folder() as folder:
        log = folder / "server.log"
        try:
            for part in _parts(framework, log, settings, found):
                found.parts.append(part)
                tell(PartChecked(framework, part))
            if problem := commands.asked_version(framework).problem:
                remedy = "correct `version` in framework.toml"
                tell(Notice(f"the version of {framework.title} is unknown: {problem}; {remedy}"))
            if settings.has_gate:
                found.compliance = compliance.of_framework(framework, settings.cores, LocalHost())
        except FrameworkError as error:
            error.hint = server.without_log(error.hint, log.name, "a check")
            found.error = error
        result = FrameworkCheck(
            framework.reference,
            tuple(found.parts),
            found.error,
            found.measurements,
            tuple(last_lines(log, LOG_LINES)),
            compliance=found.compliance,
        )
    if result.error is None:
        result = replace(result, exceptions=tuple(contract_exceptions.lines(framework, result)))
    tell(FrameworkChecked(framework, result))
    return result


def verified(framework: Framework, endpoints: Sequence[str]) -> tuple[str, ...]:
    """Names of the endpoints of a framework that are verified.

    Args:
        framework: The framework.
        endpoints: Names of some; empty for all.
    """
    return tuple(name for name in framework.endpoints if not endpoints or name in endpoints)


def _parts(
    framework: Framework, log: Path, settings: CheckSettings, found: _CheckSoFar
) -> Iterator[CheckedPart]:
    """The violations of each endpoint, of the backlog and of the stop.

    Args:
        framework: The framework to start.
        log: File for its output.
        settings: What it has in common with others.
        found: Receives what is measured.

    Raises:
        FrameworkError: It did not start, or died during the check.
    """
    with ExitStack() as stack:
        database = settings.database and stack.enter_context(
            databases.served.made(settings.database)
        )
        environment = {} if database is None else database.environment
        names = verified(framework, settings.endpoints)
        service_s = _upstream_s(names)
        if service_s is not None:
            running = upstream.started(settings.seed, service_s, settings.upstream_cores)
            environment = {**environment, **stack.enter_context(running).environment}
        running = stack.enter_context(
            server.started(
                framework,
                log=log,
                cores=settings.cores,
                environment=environment,
                seed=settings.seed,
            )
        )
        found.measurements = ServerMeasurements(start_s=running.start_s)
        begun_s = time.monotonic()
        yield from _endpoints(framework, running, settings, database)
        checked_s = time.monotonic() - begun_s
        seen = observed.at_rest(running)
        found.measurements = replace(
            found.measurements, rest_rss_bytes=seen.rest_rss_bytes, backlogs=seen.backlogs
        )
        yield CheckedPart("backlog", _backlog(framework, seen))
        stopped = running.stop()
    found.measurements = replace(
        found.measurements, exit_code=stopped.exit_code, stop_s=stopped.duration_s
    )
    yield CheckedPart("stop", _stop(framework, stopped))
    for service in framework.services:
        yield from _service(framework, service, log, settings)
    began_and_ended_s = (running.start_s or 0.0) + stopped.duration_s
    lab.paces.keep_check(framework, began_and_ended_s, checked_s / len(names))


def _upstream_s(names: Sequence[str]) -> float | None:
    """Service time of the upstream that one of some endpoints needs, in seconds; or None."""
    needed = (by_name(name).upstream_s for name in names)
    return next((service_s for service_s in needed if service_s is not None), None)


def _service(
    framework: Framework, service: Service, log: Path, settings: CheckSettings
) -> Iterator[CheckedPart]:
    """The violations of each endpoint, and of the stop, of a server started for a service."""
    with server.started(
        framework, log=log, cores=settings.cores, service=service, seed=settings.seed
    ) as running:
        for part in _endpoints(framework, running, settings, None):
            yield replace(part, name=f"{part.name}, {service}")
        stopped = running.stop()
    yield CheckedPart(f"stop, {service}", _stop(framework, stopped))


def _endpoints(
    framework: Framework,
    running: RunningServer,
    settings: CheckSettings,
    database: ServedDatabase | None,
) -> Iterator[CheckedPart]:
    checked = contract.CheckedServer(
        (running.place.host, running.place.port),
        keep_alive=not framework.no_keep_alive,
        excepted=framework.contract_notes,
        execute=database and database.execute,
        write=running.files.write,
        tls=running.place.tls,
        protocol=running.place.protocol,
    )
    names = verified(framework, settings.endpoints)
    for endpoint in ENDPOINTS:
        is_served = endpoint.name in names and (database is not None or endpoint.database is None)
        is_served &= endpoint.upstream_s is None or upstream.VARIABLE in running.place.given
        if is_served and endpoint.goes_by(running.place.protocol):
            found = contract.failures(checked, endpoint, settings.seed)
            yield CheckedPart(endpoint.name, tuple(found))
            running.check_alive(
                f"while `{endpoint.name}` was checked", within_s=ENDING_S if found else 0.0
            )


def _backlog(framework: Framework, seen: RecordedServer) -> tuple[ContractViolation, ...]:
    """A listen backlog shorter than the contract requires, without a note."""
    least = min(seen.backlogs, default=machine.BACKLOG)
    allowed = min(machine.BACKLOG, seen.somaxconn or machine.BACKLOG)
    if least >= allowed or any("backlog" in note for note in framework.notes):
        return ()
    response = f"{least}; this host allows {seen.somaxconn}"
    problem = f"the listen backlog is {least}, expected {allowed}"
    return (ContractViolation("listen backlog from `sock_diag`", response, problem, BACKLOG_RULE),)


def _stop(framework: Framework, stopped: Stopped) -> tuple[ContractViolation, ...]:
    """A stop that was not clean, and the reasons."""
    if stopped.clean and stopped.port_free:
        return ()
    code = "none, it was killed" if stopped.exit_code is None else str(stopped.exit_code)
    known = " or ".join(map(str, framework.clean_exit_codes))
    problems = [
        "" if stopped.port_free else "its port is still in use",
        f"{stopped.killed} processes had to be killed" if stopped.killed else "",
        f"{stopped.left} processes could not be killed" if stopped.left else "",
        ""
        if stopped.exit_code in framework.clean_exit_codes
        else f"`clean_exit_codes` allows {known}",
    ]
    response = f"exit code {code}, after {wording.decimals(stopped.duration_s, 1)} s"
    problem = ", ".join(filter(None, problems)) or "it had exited before"
    return (ContractViolation(f"`SIG{framework.stop_signal}`", response, problem, STOP_RULE),)
