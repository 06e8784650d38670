"""`plimsoll host`: several machines work together: certificates, agents, fitness, and rows."""

from __future__ import annotations

import asyncio
import signal
import sys
from dataclasses import asdict
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit

import click

import plimsoll
from plimsoll import hosts, lab, wording
from plimsoll.cli import EPILOGUE, json_output, messages, options
from plimsoll.errors import HostError, InputError, Problem
from plimsoll.hosts.agent.agent import Agent
from plimsoll.hosts.host import DAYS, MOST_DAYS, PORT
from plimsoll.storage import scratch

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from ipaddress import IPv4Address, IPv6Address

    from plimsoll.hosts.answers import HostFacts
    from plimsoll.hosts.host import Host
    from plimsoll.hosts.lab.control import Lab
    from plimsoll.hosts.lab.fitness import Fitness
    from plimsoll.lab.host_rows import StayedRows
    from plimsoll.recording import Recording
    from plimsoll.storage.results import Results

_HOSTS = click.option(
    "--hosts", "file", type=options.FILE, required=True, metavar="FILE", help="File of the hosts."
)
_PEM = click.Path(path_type=Path, dir_okay=False, exists=True)


@click.group(name="host", epilog=EPILOGUE)
def command() -> None:
    """Let other machines generate load and run servers; docs/hosts.md shows every step.

    \b
    plimsoll host certificates certificates --hosts hosts.toml
    plimsoll host serve --join tls://10.0.0.1:8786 --name a --cert a.pem --key a.key --ca ca.pem
    plimsoll host check --hosts hosts.toml
    plimsoll load http://10.0.0.9:8080/ -c 300 --hosts hosts.toml
    plimsoll run campaigns/cengn.toml --hosts hosts.toml
    plimsoll host rows results/NAME --hosts hosts.toml
    """  # noqa: D301 - click reads the backspace as "do not wrap what follows"


@command.command(name="certificates")
@click.argument("folder", type=options.FOLDER)
@_HOSTS
@click.option(
    "--days",
    type=click.IntRange(1, MOST_DAYS),
    default=DAYS,
    show_default=True,
    help="How long the certificates are valid.",
)
def certificates(*, folder: Path, file: Path, days: int) -> int:
    """Make certificates for the lab and for every host of a file.

    Copy NAME.pem, NAME.key and ca.pem to the host NAME. A program with one of the keys can run
    programs on every host of the lab.
    """
    hosts.require()
    made = hosts.certificates.make(hosts.lab.hosts_file.read(file), folder, days)
    messages.step(f"certificates for {', '.join(made)} in `{folder}`, valid for {days} days")
    return 0


@command.command(name="serve")
@click.option("--join", required=True, metavar="tls://LAB:PORT", help="Address of the lab.")
@click.option("--name", required=True, metavar="NAME", help="Name of this host, as in the file.")
@click.option("--cert", type=_PEM, help="PEM file: certificate of this host.")
@click.option("--key", type=_PEM, help="PEM file: its private key.")
@click.option("--ca", type=_PEM, help="PEM file: certificate of the authority.")
@click.option(
    "--credentials-stdin",
    is_flag=True,
    help="Read all three from standard input, serve one lab, and end when that input ends.",
)
@click.option(
    "--address",
    metavar="ADDRESS",
    help="Address at which the lab reaches this host.  [default: that of its route to the lab]",
)
@click.option(
    "--rows",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("plimsoll-rows"),
    show_default=True,
    metavar="DIR",
    help="Folder for rows that stay on this host (`--keep-rows remote`).",
)
def serve(
    *,
    join: str,
    name: str,
    cert: Path | None,
    key: Path | None,
    ca: Path | None,
    credentials_stdin: bool,
    address: str | None,
    rows: Path,
) -> int:
    """Generate load for a lab, or run its servers, until Ctrl-C.

    The lab may start later or end earlier; the agent reconnects, and waits while a lab works that
    does not name this host. Exit code 3: a certificate is not trusted or not for this name, or
    another agent has it.
    """
    hosts.require()
    lab, port = _lab(join)
    own = None if address is None else _numbers(address, "--address")
    _require_credentials({"--cert": cert, "--key": key, "--ca": ca}, on_stdin=credentials_stdin)
    with scratch.folder() as folder:
        if cert is None or key is None or ca is None:
            _require_open_input()
            identity = hosts.certificates.received(sys.stdin.buffer, folder)
        else:
            identity = hosts.certificates.Identity(cert, key, ca)
        membership = hosts.agent.membership.Membership(lab, port, name, identity, own, folder)
        messages.step(f"`{name}` waits for the lab at {join}; {_key()} ends it")
        agent = Agent(folder, rows)
        try:
            asyncio.run(
                hosts.agent.membership.serve_one(agent, membership, messages.step, sys.stdin.buffer)
                if credentials_stdin
                else hosts.agent.membership.serve(agent, membership, messages.step)
            )
        except KeyboardInterrupt:
            if agent.has_lab:
                raise
            messages.step(f"`{name}` waits no longer")
    return 0


def _key() -> str:
    """What ends an agent: a script's shell has what it starts in the background ignore Ctrl-C."""
    return "SIGTERM" if signal.getsignal(signal.SIGINT) is signal.SIG_IGN else "Ctrl-C"


def _require_credentials(files: Mapping[str, Path | None], *, on_stdin: bool) -> None:
    """Requires all files of the credentials, or none of them where they are on standard input.

    Raises:
        InputError: Some are missing, or not needed.
    """
    given = [option for option, path in files.items() if path is not None]
    wrong = given if on_stdin else [option for option in files if option not in given]
    if wrong:
        message = f"{'unused' if on_stdin else 'missing'} beside the other options"
        hint = "give `--cert`, `--key` and `--ca`, or only `--credentials-stdin`"
        raise InputError([Problem(option, message, hint) for option in wrong])


def _require_open_input() -> None:
    """Requires a standard input, from which the credentials come.

    Raises:
        HostError: It is closed.
    """
    if cast("object", sys.stdin) is None:  # as the interpreter does, whatever types say
        raise HostError("standard input is closed", hosts.agent.membership.LIFELINE)


def _lab(join: str) -> tuple[IPv4Address | IPv6Address, int]:
    """Address and port of the option `--join`.

    Raises:
        InputError: It is not of the form.
    """
    try:
        parts = urlsplit(join)
        port = parts.port or PORT
    except ValueError as error:
        raise InputError([Problem("--join", str(error), "write `tls://10.0.0.1:8786`")]) from error
    if parts.scheme != "tls" or not parts.hostname:
        message = f"`{join}` is not the address of a lab"
        raise InputError([Problem("--join", message, "write `tls://10.0.0.1:8786`")])
    return _numbers(parts.hostname, "--join"), port


def _numbers(text: str, option: str) -> IPv4Address | IPv6Address:
    try:
        return ip_address(text)
    except ValueError as error:
        message = f"`{text}` is not a numeric IP address"
        raise InputError([Problem(option, message, "write `10.0.0.1`")]) from error


@command.command(name="check")
@_HOSTS
@click.option(
    "-c",
    "--connections",
    type=options.COUNT,
    default=9000,
    show_default=True,
    help="Connections of all hosts together.",
)
@options.as_json
def check(*, file: Path, connections: int, as_json: bool) -> int:
    """Check that all hosts are reachable and have sufficient limits, and say what to change.

    Every host of the file must have its agent running. Exit code 3 when one does not join, or
    cannot generate load. Whatever only weakens results is listed, with exit code 0.
    """
    hosts.require()
    known = hosts.lab.hosts_file.read(file)
    with hosts.lab.control.opened(known) as lab:
        lab.wait([host.name for host in known.hosts], messages.step)
        found = hosts.lab.fitness.of_hosts(lab, connections)
    if as_json:
        json_output.show([asdict(one) for one in found], indent=1, default=str)
    else:
        for one in found:
            _print(one)
    is_fatal = any(wrong.is_fatal for one in found for wrong in one.wrong)
    return HostError.exit_code if is_fatal else 0


def _print(one: Fitness) -> None:
    facts, clock = one.facts, one.clock
    seen = "does not respond"
    if facts is not None and clock is not None:
        seen = (
            f"Plimsoll {facts.version}, {facts.machine.get('cores_online')} cores, "
            f"{wording.size(facts.free_bytes)} free; clock known to "
            f"{wording.seconds(clock.bound_ns / 1e9)}{_drivers(one.host, facts)}"
        )
    click.echo(f"{one.host.name} ({one.host.role}, {one.host.address}): {seen}")
    for wrong in one.wrong:
        click.echo(f"  {'✗' if wrong.is_fatal else '!'} {wrong.message}: {wrong.hint}")


def _drivers(host: Host, facts: HostFacts) -> str:
    """The load generators that several hosts can use, as far as this one has them."""
    there = ", ".join(hosts.lab.fitness.drivers(facts))
    return f"; load generators {there}" if host.role == "driver" else ""


@command.command(name="rows")
@click.argument("results", type=options.FOLDER)
@_HOSTS
@click.option("--list", "only_listed", is_flag=True, help="Only show what is there.")
@options.stored
@options.as_json
def rows(*, results: Path, file: Path, only_listed: bool, storage: str, as_json: bool) -> int:
    """Fetch rows that stayed on their hosts (`--keep-rows remote`) into a results folder.

    Everything that needs rows works then: charts over time, exports, and the checks that were not
    checked, which the next `judge` or `report` computes. An interrupted copy continues where it
    stopped. The rows on the hosts are not removed.

    Exit code 3: a host did not join, or rows are gone or changed there; those of other trials are
    fetched.
    """
    with plimsoll.read(results, storage=storage) as found:
        stored = found.stored
        trials = lab.host_rows.stayed(stored)
        if not trials:
            messages.step(f"no rows of `{stored.place}` stayed on hosts")
            return 0
        with stored.locked(None), lab.host_rows.joined(trials, file, messages.step) as opened:
            there = {one.trial: lab.host_rows.seen(opened, stored, one) for one in trials}
            _show_rows([one for rows in there.values() for one in rows], as_json=as_json)
            whole = [one for one in trials if _are_there(there[one.trial])]
            if not only_listed:
                _fetch(opened, stored, whole, there)
    return _left_out(there)


def _show_rows(rows: Sequence[StayedRows], *, as_json: bool) -> None:
    if as_json:
        json_output.show([asdict(one) for one in rows], indent=1)
        return
    for one in rows:
        size = f", {wording.size(one.size_bytes)}" if one.size_bytes else ""
        copied = f", {wording.size(one.copied_bytes)} of them copied" if one.copied_bytes else ""
        requests = wording.several(one.requests, "request")
        click.echo(f"{one.trial}: {one.host}: {requests}{size}, {one.state}{copied}: {one.folder}")


def _fetch(
    opened: Lab,
    stored: Results,
    trials: Sequence[Recording],
    there: dict[str, tuple[StayedRows, ...]],
) -> None:
    """Fetches the rows of trials, one after the other; notes which turn out to have changed."""
    for trial in trials:
        rows = there[trial.trial]
        lab.host_rows.require_space(stored, rows)
        there[trial.trial] = lab.host_rows.fetch(opened, stored, trial, rows, messages.step)
        if _are_there(there[trial.trial]):
            requests = sum(one.requests for one in rows)
            messages.step(f"{trial.trial}: fetched {wording.several(requests, 'row')}")


def _are_there(rows: Sequence[StayedRows]) -> bool:
    return all(one.state == "there" for one in rows)


def _left_out(there: Mapping[str, Sequence[StayedRows]]) -> int:
    """Says which trials stay without rows; returns the exit code.

    Raises:
        HostError: There are some.
    """
    wrong = [one for rows in there.values() for one in rows if one.state != "there"]
    if wrong:
        first = wrong[0]
        count = wording.several(len({one.trial for one in wrong}), "trial")
        message = (
            f"{count} without rows: those of `{first.trial}` on `{first.host}` are {first.state}: "
            f"`{first.folder}`"
        )
        hint = "start its agent with `--rows` where they are now, or load again"
        raise HostError(message, hint)
    return 0
