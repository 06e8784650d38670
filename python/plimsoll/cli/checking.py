"""The contract of a framework, verified without load and printed."""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from plimsoll import databases, lab, machine, wording
from plimsoll.campaign.endpoints import ENDPOINTS, by_name
from plimsoll.cli import messages, pasting
from plimsoll.errors import FrameworkError
from plimsoll.processes.logs import last_lines
from plimsoll.serving import contract, observed, server, upstream
from plimsoll.serving.contract import ContractViolation

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from plimsoll.campaign.framework import Framework
    from plimsoll.campaign.load import Service
    from plimsoll.cli.checked import Checked, CheckedViolation
    from plimsoll.databases.running import RunningDatabase
    from plimsoll.databases.served import ServedDatabase
    from plimsoll.recording import RecordedServer
    from plimsoll.serving.server import RunningServer, Stopped

    Found = tuple[str, Sequence[ContractViolation]]
    """What was checked, and the violations found."""

SHOWN = 2
"""The most violations of one rule that are printed per endpoint."""

ENDING_S = 0.5
"""How long a server whose responses fail may take to be seen to end, in seconds."""

LOG_LINES = 6
"""Lines of the server's log that are printed after a violation."""

BACKLOG_RULE = "the listen backlog is 4096, or a note gives the reason"
STOP_RULE = "within ten seconds of the stop signal, all processes have exited and the port is free"


@dataclass(frozen=True)
class Surroundings:
    """What all frameworks of a check have in common.

    Attributes:
        seed: Seed of the random request values.
        cores: Cores of the server.
        upstream_cores: Cores of the upstream, for a framework that asks one.
        database: PostgreSQL; without it, endpoints that need it are skipped.
    """

    seed: int
    cores: tuple[int, ...]
    upstream_cores: tuple[int, ...]
    database: RunningDatabase | None


def checked(framework: Framework, here: Surroundings, *, full: bool, quiet: bool) -> Checked:
    """Starts a framework, verifies its endpoints, stops it, and prints the violations.

    Args:
        framework: The framework.
        here: What it has in common with others.
        full: Whether to print every violation, with its complete request.
        quiet: Whether to print nothing.

    Returns:
        The violations and measurements, ready for JSON.
    """
    found: Checked = {
        "framework": framework.reference,
        "failures": [],
        "error": None,
        "to_paste": [],
    }
    shown: set[str] = set()
    if framework.no_keep_alive and not quiet:
        messages.note(f"{framework.title} is tested without keep-alive: {framework.no_keep_alive}")
    try:
        with tempfile.TemporaryDirectory(prefix="plimsoll-check-") as folder:
            log = Path(folder) / "server.log"
            for name, failures in _looked_at(framework, log, here, found):
                found["failures"] += [_violation(name, failure) for failure in failures]
                if not quiet:
                    _print(framework, name, failures, shown, full=full)
            found["to_paste"] = pasting.lines(framework, found)
            if found["failures"] and not quiet:
                _print_log(log)
                _print_to_paste(found["to_paste"])
    except FrameworkError as error:
        found["error"] = error.message
        messages.error(error.message, error.hint)
    return found


def _violation(name: str, failure: ContractViolation) -> CheckedViolation:
    return {
        "endpoint": name,
        "request": failure.request,
        "response": failure.response,
        "problem": failure.problem,
        "rule": failure.rule,
        "sent": failure.sent,
    }


def _looked_at(
    framework: Framework, log: Path, here: Surroundings, found: Checked
) -> Iterator[Found]:
    """The violations of each endpoint, of the backlog and of the stop.

    Args:
        framework: The framework to start.
        log: File for its output.
        here: What it has in common with others.
        found: Receives start time, memory at rest, backlog and exit code.

    Raises:
        FrameworkError: It did not start, or died during the check.
    """
    with ExitStack() as stack:
        database = here.database and stack.enter_context(databases.served.made(here.database))
        environment = {} if database is None else database.environment
        service_s = _upstream_s(framework)
        if service_s is not None:
            running = upstream.started(here.seed, service_s, here.upstream_cores)
            environment = {**environment, **stack.enter_context(running).environment}
        running = stack.enter_context(
            server.started(
                framework, log=log, cores=here.cores, environment=environment, seed=here.seed
            )
        )
        found["start_s"] = running.start_s
        begun_s = time.monotonic()
        yield from _endpoints(framework, running, here.seed, database)
        checked_s = time.monotonic() - begun_s
        seen = observed.at_rest(running)
        found["rest_rss_bytes"], found["backlogs"] = seen.rest_rss_bytes, list(seen.backlogs)
        yield "backlog", _backlog(framework, seen)
        stopped = running.stop()
    found["exit_code"], found["stop_s"] = stopped.exit_code, stopped.duration_s
    yield "stop", _stop(framework, stopped)
    for service in framework.services:
        yield from _service(framework, service, log, here)
    began_and_ended_s = (running.start_s or 0.0) + stopped.duration_s
    lab.paces.keep_check(framework, began_and_ended_s, checked_s / len(framework.endpoints))


def _upstream_s(framework: Framework) -> float | None:
    """Service time of the upstream that an endpoint of a framework needs, in seconds; or None."""
    needed = (by_name(name).upstream_s for name in framework.endpoints)
    return next((service_s for service_s in needed if service_s is not None), None)


def _service(
    framework: Framework, service: Service, log: Path, here: Surroundings
) -> Iterator[Found]:
    """The violations of each endpoint, and of the stop, of a server started for a service."""
    with server.started(
        framework, log=log, cores=here.cores, service=service, seed=here.seed
    ) as running:
        for name, found in _endpoints(framework, running, here.seed, None):
            yield f"{name}, {service}", found
        stopped = running.stop()
    yield f"stop, {service}", _stop(framework, stopped)


def _endpoints(
    framework: Framework, running: RunningServer, seed: int, database: ServedDatabase | None
) -> Iterator[Found]:
    address, keeps = (running.place.host, running.place.port), not framework.no_keep_alive
    for endpoint in ENDPOINTS:
        is_served = endpoint.name in framework.endpoints and (
            database is not None or endpoint.database is None
        )
        is_served &= endpoint.upstream_s is None or upstream.VARIABLE in running.place.given
        if is_served and endpoint.goes_by(running.place.protocol):
            found = contract.failures(
                address,
                endpoint,
                seed,
                keep_alive=keeps,
                excepted=framework.contract_notes,
                execute=database and database.execute,
                write=running.files.write,
                tls=running.place.tls,
                protocol=running.place.protocol,
            )
            yield endpoint.name, found
            running.check_alive(
                f"while `{endpoint.name}` was checked", within_s=ENDING_S if found else 0.0
            )


def _backlog(framework: Framework, seen: RecordedServer) -> list[ContractViolation]:
    """A listen backlog shorter than the contract requires, without a note."""
    least = min(seen.backlogs, default=machine.BACKLOG)
    allowed = min(machine.BACKLOG, seen.somaxconn or machine.BACKLOG)
    if least >= allowed or any("backlog" in note for note in framework.notes):
        return []
    response = f"{least}; this host allows {seen.somaxconn}"
    problem = f"the listen backlog is {least}, expected {allowed}"
    return [ContractViolation("listen backlog from `sock_diag`", response, problem, BACKLOG_RULE)]


def _stop(framework: Framework, stopped: Stopped) -> list[ContractViolation]:
    """A stop that was not clean, and the reasons."""
    if stopped.clean and stopped.port_free:
        return []
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
    return [ContractViolation(f"`SIG{framework.stop_signal}`", response, problem, STOP_RULE)]


def _print(
    framework: Framework,
    name: str,
    found: Sequence[ContractViolation],
    shown: set[str],
    *,
    full: bool,
) -> None:
    """Prints the violations of one endpoint, or of the backlog or the stop.

    Args:
        framework: The framework.
        name: The endpoint, `backlog` or `stop`.
        found: Its violations.
        shown: Rules printed before; the ones printed now are added.
        full: Whether to print every violation, with its complete request.
    """
    verdict = messages.coloured(*(("failed", "red") if found else ("ok", "green")))
    click.echo(f"{framework.title:<24} {name:<20} {verdict}")
    for rule in dict.fromkeys(failure.rule for failure in found):
        against = [failure for failure in found if failure.rule == rule]
        if rule in shown and not full:
            click.echo(f"  as above  {rule}{_times(len(against))}")
        else:
            _print_rule(against, len(against) if full else SHOWN, full=full)
        shown.add(rule)


def _print_rule(against: Sequence[ContractViolation], most: int, *, full: bool) -> None:
    """Prints the violations of one rule, identical ones once."""
    counted = Counter(against)
    for failure, count in list(counted.items())[:most]:
        click.echo(f"  request   {failure.request}{_times(count)}")
        for line in failure.sent.splitlines() if full else ():
            click.echo(f"          | {line}")
        click.echo(f"  response  {failure.response}")
        click.echo(f"  problem   {failure.problem}")
        click.echo(f"  rule      {failure.rule}")
    rest = sum(list(counted.values())[most:])
    if rest:
        click.echo(f"  …         {rest} more violations of this rule; `--full` shows them")


def _times(count: int) -> str:
    return f" ({count} times)" if count > 1 else ""


def _print_log(log: Path) -> None:
    """Prints the last lines of the server's log, if any."""
    for place, line in enumerate(last_lines(log, LOG_LINES)):
        click.echo(f"  {'' if place else 'log':<9} {line}")


def _print_to_paste(lines: Sequence[str]) -> None:
    """Prints lines of `framework.toml`, if any."""
    if lines:
        click.echo("  if the framework cannot do otherwise, put into `framework.toml`:\n")
    for line in lines:
        click.echo(f"    {line}")
