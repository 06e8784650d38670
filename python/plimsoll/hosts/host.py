"""The hosts of a lab: where a load is generated, and where the lab listens for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from ipaddress import IPv4Address, IPv6Address
    from pathlib import Path

Role = Literal["server", "driver", "database"]

LAB = "lab"
"""Name of the lab in certificates; no host may have it."""

PORT = 8786
"""Port on which the lab listens for hosts where the file names none."""

WAIT_S = 60.0
"""How long the lab waits for its hosts, in seconds, where the file does not say."""

LEAD_S = 3.0
"""From the order to start until the load's zero, in seconds, where the file does not say."""


@dataclass(frozen=True)
class Host:
    """A machine that takes part.

    Attributes:
        name: Its name in results and in its certificate.
        role: What it does.
        address: Its address, as a number.
        cores: Cores of its load generator, one thread on each; empty for `threads` anywhere.
        threads: Threads of its load generator.
        max_connections: The most connections it may open; None for what its limits allow.
    """

    name: str
    role: Role
    address: IPv4Address | IPv6Address
    cores: tuple[int, ...] = ()
    threads: int = 1
    max_connections: int | None = None

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
        certificates: Folder with the lab's certificate and key, and that of the authority.
        wait_s: How long the lab waits until all hosts are there, in seconds.
        lead_s: From the order to start until the load's zero, in seconds: every load generator
            must have started by then.
        hosts: Every host, in the order of the file.
    """

    address: IPv4Address | IPv6Address
    port: int
    certificates: Path
    wait_s: float
    lead_s: float
    hosts: tuple[Host, ...]

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
        host: The host; one that does not generate load has none.
        hosts: All hosts.
    """
    threads = hosts.thread_count
    first = 0
    for one in hosts.drivers:
        if one == host:
            numbers = range(first, first + one.thread_count)
            return sum(total // threads + (number < total % threads) for number in numbers)
        first += one.thread_count
    return 0
