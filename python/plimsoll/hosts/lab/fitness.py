"""Whether hosts are fit for a load: versions, cores, limits, space and clocks."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit

import plimsoll
from plimsoll import machine, wording
from plimsoll.drivers import tools
from plimsoll.drivers.tools.plimsoll import FULL_BYTES
from plimsoll.errors import DriverMissing, HostError, PlimsollError
from plimsoll.hosts import disk
from plimsoll.hosts.host import share_of
from plimsoll.hosts.lab import clocks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from plimsoll.hosts.answers import HostFacts
    from plimsoll.hosts.host import Host
    from plimsoll.hosts.lab.clocks import ClockRelation
    from plimsoll.hosts.lab.control import Lab

LEAST_FREE_BYTES = 1 << 30
"""Free space below which a host is warned of: rows of ten million requests."""

WALL_CLOCK_S = 1.0
"""Difference of wall clocks above which logs of two hosts cannot be read side by side."""

RUNS = {"server": "the servers", "database": "PostgreSQL"}
"""What a host of a role runs, in messages."""

CLOCK_BOUND_S = 0.001
"""Error of an instant, moved between hosts, above which a load would be doubted."""


@dataclass(frozen=True)
class Unfitness:
    """Something about a host that should be changed.

    Attributes:
        host: Name of the host.
        message: What is wrong.
        hint: What to change there.
        is_fatal: Whether no load is possible before that.
    """

    host: str
    message: str
    hint: str
    is_fatal: bool


@dataclass(frozen=True)
class Fitness:
    """What was found out about one host.

    Attributes:
        host: The host.
        facts: Its facts; None where it does not respond.
        clock: Its clock against the lab's; None where it does not respond.
        wrong: What should be changed.
    """

    host: Host
    facts: HostFacts | None
    clock: ClockRelation | None
    wrong: tuple[Unfitness, ...]


def of_hosts(lab: Lab, connections: int) -> tuple[Fitness, ...]:
    """How fit every host of a lab is; they have joined.

    Args:
        lab: The lab.
        connections: Connections of all hosts that generate load, together.
    """
    return tuple(_of_host(lab, host, connections) for host in lab.hosts.hosts)


def require(lab: Lab, hosts: Iterable[Host], connections: int) -> dict[str, HostFacts]:
    """Requires that some hosts can do their part of a load.

    Args:
        lab: The lab.
        hosts: The hosts; they have joined.
        connections: Connections of all hosts that generate load, together.

    Returns:
        The facts of each, by its name.

    Raises:
        HostError: One cannot; the first reason, with its remedy.
    """
    found: dict[str, HostFacts] = {}
    for host in hosts:
        one = _of_host(lab, host, connections)
        for wrong in one.wrong:
            if wrong.is_fatal:
                raise HostError(f"`{wrong.host}`: {wrong.message}", wrong.hint)
        if one.facts is not None:
            found[host.name] = one.facts
    return found


def drivers(facts: HostFacts) -> tuple[str, ...]:
    """The load generators that a host has, of those that generate load on several hosts."""
    return tuple(
        one.NAME for one in tools.DRIVERS if one.KEEPS_ROWS and one.NAME not in facts.lacking
    )


def lacking(hosts: Iterable[Host], facts: Mapping[str, HostFacts]) -> dict[str, DriverMissing]:
    """The load generators that are missing on a host that should generate load, by name.

    Args:
        hosts: The hosts that generate load.
        facts: The facts of each, by its name.
    """
    names = [host.name for host in hosts]
    found: dict[str, list[str]] = {}
    for name in names:
        for driver in facts[name].lacking:
            found.setdefault(driver, []).append(name)
    return {
        driver: DriverMissing(
            f"`{driver}` is not installed on {wording.listed([f'`{name}`' for name in without])}",
            f"there: {facts[without[0]].lacking[driver].hint}",
        )
        for driver, without in found.items()
    }


def _of_host(lab: Lab, host: Host, connections: int) -> Fitness:
    try:
        before_ns = time.time_ns()
        facts = cast("HostFacts", lab.order(host.name, "facts"))
        apart_s = _apart_s(before_ns, facts.utc_ns, time.time_ns())
        clock = clocks.related([lab.clock(host.name)])
    except PlimsollError as error:
        gone = Unfitness(host.name, error.message, error.hint, is_fatal=True)
        return Fitness(host, None, None, (gone,))
    own = share_of(connections, host, lab.hosts)
    wrong = (
        *_wrong(host, facts, own),
        *_unreached(lab, host),
        *_wrong_clocks(host, clock, apart_s),
    )
    return Fitness(host, facts, clock, wrong)


def _unreached(lab: Lab, host: Host) -> Iterator[Unfitness]:
    """Whether a host reaches whom it connects to in a campaign: the port of the agent there."""
    connected = {"driver": lab.hosts.server, "server": lab.hosts.database}
    other = connected.get(host.role)
    if other is None:
        return
    agent = urlsplit(lab.joined().get(other.name, ""))
    try:
        if agent.port is not None:
            lab.order(host.name, "reach", str(other.address), agent.port)
    except PlimsollError as error:
        message = f"{error.message} (`{other.name}`, which runs {RUNS[other.role]})"
        yield Unfitness(host.name, message, error.hint, is_fatal=True)


def _apart_s(before_ns: int, asked_ns: int, after_ns: int) -> float:
    """How far a wall clock is outside of the time in which it was read, in seconds."""
    return max(before_ns - asked_ns, asked_ns - after_ns, 0) / 1e9


def _wrong(host: Host, facts: HostFacts, connections: int) -> Iterator[Unfitness]:
    if facts.version != plimsoll.__version__:
        message = f"has Plimsoll {facts.version}, and the lab {plimsoll.__version__}"
        yield Unfitness(host.name, message, "install the same version on both", is_fatal=True)
    known = facts.machine.get("cores")
    allowed = set(known) if isinstance(known, list) else set[int]()
    missing = [core for core in host.cores if known is not None and core not in allowed]
    if missing:
        message = f"has no core {missing[0]}"
        yield Unfitness(host.name, message, "change `cores` in the file of hosts", is_fatal=True)
    if lacking := [*_lacking(host, facts, connections)]:
        yield from lacking
    elif connections:
        for sentence in machine.advice(
            connections,
            facts.machine,
            is_shared=False,
            is_driver=host.role == "driver",
            is_server=host.role == "server",
        ):
            said, _, command = sentence.partition(": ")
            yield Unfitness(host.name, said, command, is_fatal=False)
    if host.role == "database" and (error := facts.database_error) is not None:
        yield Unfitness(host.name, error.message, error.hint, is_fatal=True)
    yield from _full(host, facts)


def _full(host: Host, facts: HostFacts) -> Iterator[Unfitness]:
    """Disks without space for rows; a full one lets nothing begin."""
    if facts.free_bytes < LEAST_FREE_BYTES:
        message = f"has {wording.size(facts.free_bytes)} of free space for rows"
        is_fatal = facts.free_bytes < FULL_BYTES
        yield Unfitness(host.name, message, disk.ELSEWHERE, is_fatal=is_fatal)
    kept_bytes = facts.kept_free_bytes
    if host.role == "driver" and kept_bytes is not None and kept_bytes < LEAST_FREE_BYTES:
        message = f"has {wording.size(kept_bytes)} of free space for rows that stay there"
        yield Unfitness(host.name, message, disk.ROWS_ELSEWHERE, is_fatal=False)


def _lacking(host: Host, facts: HostFacts, connections: int) -> Iterator[Unfitness]:
    """Files and ports without which the load generator would not begin."""
    files = facts.machine.get("open_files_hard")
    needed = connections + machine.SPARE_FILES
    if isinstance(files, int) and 0 <= files < needed:
        message = f"allows {files} open files, and {needed} are needed"
        hint = f"raise the limit there: `ulimit -Hn {needed}`"
        yield Unfitness(host.name, message, hint, is_fatal=True)
    ports = machine.outgoing(facts.machine)
    if host.role != "driver" or host.address.is_loopback or ports is None:
        return
    if ports < connections:
        message = f"has ports for {ports} connections to one server, and {connections} are needed"
        most = machine.MOST_OUTGOING
        hint = (
            f"give it more there: `{machine.ports_command(connections)}`"
            if connections <= most
            else f"use more hosts: one source address has ports for {most} at most"
        )
        yield Unfitness(host.name, message, hint, is_fatal=True)


def _wrong_clocks(host: Host, clock: ClockRelation, apart_s: float) -> Iterator[Unfitness]:
    if clock.bound_ns > CLOCK_BOUND_S * 1e9:
        bound = wording.seconds(clock.bound_ns / 1e9)
        message = f"its clock is known to {bound} only: round trips took that long"
        hint = "free the lab's and the host's cores, or use a shorter network path"
        yield Unfitness(host.name, message, hint, is_fatal=False)
    if apart_s > WALL_CLOCK_S:
        message = f"its wall clock is {wording.seconds(apart_s)} apart"
        yield Unfitness(host.name, message, "synchronise clocks, with chrony", is_fatal=False)
