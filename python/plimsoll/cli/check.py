"""`plimsoll check`: every endpoint of a framework asked, without load.

What asks is imported where it is used: help does without it.
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from plimsoll import machine
from plimsoll.cli import chosen, messages, options
from plimsoll.errors import FrameworkError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from plimsoll.campaign.framework import Framework
    from plimsoll.conduct import contract
    from plimsoll.conduct.server import Server, Stopped
    from plimsoll.recording import Server as Seen

    Found = tuple[str, Sequence[contract.Failure]]
    """Something that was looked at, and what is wrong with it."""

SEED = 1

SHOWN = 2
"""Failures against one rule of the contract that are shown at one endpoint."""

LOG_LINES = 6
"""Lines of the server's log that are shown when something is wrong."""

BACKLOG_RULE = "it listens with a backlog of 4096, or a note says why it does not"
STOP_RULE = (
    "it ends within ten seconds of the stop signal with all its processes, and leaves the port free"
)


@click.command(name="check")
@options.framework_names
@click.option("--seed", default=SEED, show_default=True, help="Seeds the values that are drawn.")
@click.option("--full", is_flag=True, help="Show every failure, and whole requests.")
@options.available
@options.frameworks_root
@options.as_json
def command(
    names: tuple[str, ...],
    seed: int,
    full: bool,
    available: bool,
    root: Path | None,
    as_json: bool,
) -> int:
    """Starts each framework, verifies its endpoints, stops it; no load.

    Each failure is shown with the request, the answer, and what the contract says. Looked at
    besides are the listen backlog that the kernel shows, and how the server stops.
    """
    wanted = chosen.named(names, root)
    wanted = chosen.ready(wanted) if available else wanted
    chosen.require_installed(wanted)
    found = [_check(framework, seed, full=full, quiet=as_json) for framework in wanted]
    if as_json:
        click.echo(json.dumps(found, indent=1))
    failed = any(one["error"] or one["failures"] for one in found)
    if failed and not as_json:
        messages.note("the contract is in `frameworks/README.md`")
    return FrameworkError.exit_code if failed else 0


def _check(framework: Framework, seed: int, *, full: bool, quiet: bool) -> dict[str, Any]:
    found: dict[str, Any] = {"framework": framework.reference, "failures": [], "error": None}
    said: set[str] = set()
    if framework.no_keep_alive and not quiet:
        messages.note(f"{framework.title} is asked without keep-alive: {framework.no_keep_alive}")
    try:
        with tempfile.TemporaryDirectory(prefix="plimsoll-check-") as folder:
            log = Path(folder) / "server.log"
            for name, failures in _looked_at(framework, log, seed, found):
                found["failures"] += [{"endpoint": name, **vars(failure)} for failure in failures]
                if not quiet:
                    _print(framework, name, failures, said, full=full)
            if found["failures"] and not quiet:
                _print_log(log)
    except FrameworkError as error:
        found["error"] = error.message
        messages.error(error.message, error.hint)
    return found


def _looked_at(
    framework: Framework, log: Path, seed: int, found: dict[str, Any]
) -> Iterator[Found]:
    """What is wrong with each endpoint, with the backlog, and with the way the server stops.

    Args:
        framework: What is started.
        log: Where its output goes.
        seed: Seeds the values that are drawn.
        found: Where start time, memory at rest, backlog and exit code are noted.

    Raises:
        FrameworkError: It did not start, or ended while it was asked.
    """
    from plimsoll.conduct import account, server  # noqa: PLC0415

    cores = machine.divide_cores(None, None).server
    with server.started(framework, log=log, cores=cores) as running:
        found["start_s"] = running.start_s
        yield from _endpoints(framework, running, seed)
        seen = account.at_rest(running)
        found |= {"rest_rss_bytes": seen.rest_rss_bytes, "backlogs": list(seen.backlogs)}
        yield "backlog", _backlog(framework, seen)
        stopped = running.stop()
    found |= {"exit_code": stopped.exit_code, "stop_s": stopped.duration_s}
    yield "stop", _stop(framework, stopped)


def _endpoints(framework: Framework, running: Server, seed: int) -> Iterator[Found]:
    from plimsoll.campaign.endpoints import ENDPOINTS  # noqa: PLC0415 - makes every body there is
    from plimsoll.conduct import contract  # noqa: PLC0415

    address, keeps = (running.place.host, running.place.port), not framework.no_keep_alive
    for endpoint in ENDPOINTS:
        if endpoint.name in framework.endpoints:
            found = contract.failures(address, endpoint, seed, keep_alive=keeps)
            yield endpoint.name, found
            running.check_alive(f"while it was asked for `{endpoint.name}`")


def _backlog(framework: Framework, seen: Seen) -> list[contract.Failure]:
    """A backlog that is shorter than the contract asks for without a note that says so."""
    from plimsoll.conduct.contract import Failure  # noqa: PLC0415

    least = min(seen.backlogs, default=machine.BACKLOG)
    allowed = min(machine.BACKLOG, seen.somaxconn or machine.BACKLOG)
    if least >= allowed or any("backlog" in note for note in framework.notes):
        return []
    answer = f"{least} places; this host allows {seen.somaxconn}"
    problem = f"the listen queue has {least} places, it should have {allowed}"
    return [Failure("the kernel, by `sock_diag`", answer, problem, BACKLOG_RULE)]


def _stop(framework: Framework, stopped: Stopped) -> list[contract.Failure]:
    """A stop that was not clean, and why not."""
    from plimsoll.conduct.contract import Failure  # noqa: PLC0415

    if stopped.clean and stopped.port_free:
        return []
    code = "none, it was killed" if stopped.exit_code is None else str(stopped.exit_code)
    known = " or ".join(map(str, framework.clean_exit_codes))
    problems = [
        "" if stopped.port_free else "its port is not free",
        f"{stopped.killed} processes had to be killed" if stopped.killed else "",
        f"{stopped.left} processes could not even be killed" if stopped.left else "",
        ""
        if stopped.exit_code in framework.clean_exit_codes
        else f"`clean_exit_codes` has {known}",
    ]
    answer = f"exit code {code}, after {stopped.duration_s:.1f} s"
    problem = ", ".join(filter(None, problems)) or "it had ended before"
    return [Failure(f"`SIG{framework.stop_signal}`", answer, problem, STOP_RULE)]


def _print(
    framework: Framework,
    name: str,
    found: Sequence[contract.Failure],
    said: set[str],
    *,
    full: bool,
) -> None:
    """Prints what was found of one thing.

    Args:
        framework: What was looked at.
        name: The endpoint, or what else.
        found: What is wrong with it.
        said: Rules of which failures were shown before; these are added.
        full: Whether every failure is shown, with its whole request.
    """
    verdict = messages.coloured(*(("wrong", "red") if found else ("right", "green")))
    click.echo(f"{framework.title:<24} {name:<20} {verdict}")
    for rule in dict.fromkeys(failure.rule for failure in found):
        against = [failure for failure in found if failure.rule == rule]
        if rule in said and not full:
            click.echo(f"  as above  {rule}{_times(len(against))}")
        else:
            _print_rule(against, len(against) if full else SHOWN, full=full)
        said.add(rule)


def _print_rule(against: Sequence[contract.Failure], most: int, *, full: bool) -> None:
    """Prints the failures against one rule, each that is the same only once."""
    counted = Counter(against)
    for failure, count in list(counted.items())[:most]:
        click.echo(f"  asked     {failure.request}{_times(count)}")
        for line in failure.sent.splitlines() if full else ():
            click.echo(f"          | {line}")
        click.echo(f"  answered  {failure.answer}")
        click.echo(f"  problem   {failure.problem}")
        click.echo(f"  contract  {failure.rule}")
    rest = sum(list(counted.values())[most:])
    if rest:
        click.echo(f"  and       {rest} more against this rule; `--full` shows them")


def _times(count: int) -> str:
    return f" ({count} times)" if count > 1 else ""


def _print_log(log: Path) -> None:
    """Prints the last lines that the server wrote, if any."""
    from plimsoll.conduct.logs import last_lines  # noqa: PLC0415

    for place, line in enumerate(last_lines(log, LOG_LINES)):
        click.echo(f"  {'' if place else 'log':<9} {line}")
