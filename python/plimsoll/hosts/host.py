"""The hosts of a lab: where a load is generated, and where the lab listens for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from plimsoll.errors import InputError, Problem
from plimsoll.recording import HOST

if TYPE_CHECKING:
    from ipaddress import IPv4Address, IPv6Address
    from pathlib import Path

Role = Literal["server", "driver", "database"]
WhenLost = Literal["continue", "stop"]

KeepRows = Literal["lab", "remote"]
"""Where the rows of a load stay: with the lab, which copies them, or on the hosts."""

REMOTE_ALONE = "rows stay on other hosts only where these generate the load"
"""Why one machine cannot keep rows elsewhere."""

LAB = "lab"
"""Name of the lab in certificates."""

TAKEN = "another agent has joined as"
"""How the lab refuses a second agent of a name."""

UNLISTED = "is not in the file of hosts"
"""How the lab refuses an agent that another lab may want."""

GONE = "its agent was started again, or cut off under load: its rows are gone"
"""Why an agent cannot hand over what a load has left."""

PORT = 8786
"""Port on which the lab listens for hosts where the file names none."""

CERTIFICATES = "certificates"
"""Folder of certificates beside a file that does not say, where somebody starts agents by hand."""

DAYS = 30
"""How many days certificates are valid where nobody says."""

MOST_DAYS = 3650
"""How many days they may be valid at most."""

WAIT_S = 60.0
"""How long the lab waits for its hosts, in seconds, where the file does not say."""

AUTHORITY = "ca"
"""Name of the authority that signs certificates, and of its file."""

RESERVED = (LAB, HOST, AUTHORITY)
"""Names that no host may have: those of the lab in certificates and results, and of a file."""

PROGRAM = "plimsoll"
"""Plimsoll on a host where the file does not say."""

LEAD_S = 3.0
"""From the order to start until the load's zero, in seconds, where the file does not say."""


@dataclass(frozen=True)
class Host:
    """A machine that takes part.

    Attributes:
        name: Its name in results and in its certificate.
        role: What it does.
        address: Its address, as a number.
        cores: Cores of its load generator, one thread on each, or of servers or PostgreSQL on it;
            empty for `threads` anywhere, and for all cores.
        threads: Threads of its load generator.
        max_connections: The most connections it may open; None for what its limits allow.
        ssh: Destination by which the lab starts its agent over SSH; None where somebody else does.
        program: Plimsoll on that host.
    """

    name: str
    role: Role
    address: IPv4Address | IPv6Address
    cores: tuple[int, ...] = ()
    threads: int = 1
    max_connections: int | None = None
    ssh: str | None = None
    program: str = PROGRAM

    @property
    def thread_count(self) -> int:
        """Threads that generate load there; the load is divided by these."""
        return len(self.cores) or self.threads


@dataclass(frozen=True)
class Hosts:
    """A lab and its hosts.

    Attributes:
        address: Address on which the lab listens, as a number.
        port: Its port.
        certificates: Folder with the lab's certificate and key, and that of the authority; None for
            certificates that are made for each command, since the lab starts every agent.
        wait_s: How long the lab waits until all hosts are there, in seconds.
        lead_s: From the order to start until the load's zero, in seconds: every load generator
            must have started by then.
        hosts: Every host, in the order of the file.
        keep_rows: Where the rows of loads stay.
        when_lost: Whether a campaign goes on after a trial in which a host was lost, as soon as
            that is there again, or stops.
    """

    address: IPv4Address | IPv6Address
    port: int
    certificates: Path | None
    wait_s: float
    lead_s: float
    hosts: tuple[Host, ...]
    when_lost: WhenLost = "continue"
    keep_rows: KeepRows = "lab"

    @property
    def server(self) -> Host | None:
        """The host on which a campaign runs servers; None for the machine of the lab."""
        return next((host for host in self.hosts if host.role == "server"), None)

    @property
    def database(self) -> Host | None:
        """The host on which a campaign runs PostgreSQL; None for the machine of the lab."""
        return next((host for host in self.hosts if host.role == "database"), None)

    @property
    def drivers(self) -> tuple[Host, ...]:
        """The hosts that generate load, at least one."""
        return tuple(host for host in self.hosts if host.role == "driver")

    @property
    def thread_count(self) -> int:
        """Threads of all of them together."""
        return sum(host.thread_count for host in self.drivers)


def share_of(total: int, host: Host, hosts: Hosts) -> int:
    """A host's share of a number of connections, as the engine divides it among all threads.

    Args:
        total: Connections of the whole load.
        host: The host; a server has all of them, a database none.
        hosts: All hosts.
    """
    if host.role == "server":
        return total
    threads = hosts.thread_count
    first = 0
    for one in hosts.drivers:
        if one == host:
            numbers = range(first, first + one.thread_count)
            return share_of_threads(total, numbers, threads)
        first += one.thread_count
    return 0


def share_of_threads(total: int, numbers: range, of: int) -> int:
    """The share of some threads in a number of connections.

    Args:
        total: Connections of the whole load.
        numbers: Numbers of the threads.
        of: Threads of all hosts.
    """
    return sum(total // of + (number < total % of) for number in numbers)


def require_divisible(hosts: Hosts, connections: int, where: str) -> None:
    """Requires a connection for each thread, and no more on a host than it may open.

    Args:
        hosts: The hosts.
        connections: The most connections that a load requests at one time.
        where: What requests them: an option, or a load of a campaign.

    Raises:
        InputError: There are too few connections, or too many for some hosts.
    """
    problems: list[Problem] = []
    if connections < hosts.thread_count:
        message = f"{connections} connections for {hosts.thread_count} threads of all hosts"
        hint = f"request at least {hosts.thread_count}, or use fewer threads"
        problems.append(Problem(where, message, hint))
    for host in hosts.drivers:
        own = share_of(connections, host, hosts)
        if host.max_connections is not None and own > host.max_connections:
            message = (
                f"`{host.name}` would open {own} connections, more than its {host.max_connections}"
            )
            problems.append(Problem(where, message, "add hosts, or request fewer"))
    if problems:
        raise InputError(problems)
