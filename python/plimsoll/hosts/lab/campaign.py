"""The hosts of a campaign: which generate its loads, and which runs its servers."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll import machine, wording
from plimsoll.errors import CoreMissing, HostError, HostLost
from plimsoll.hosts.lab import control, database, fitness
from plimsoll.hosts.lab.driver import HostsDriver
from plimsoll.hosts.lab.server import HostServers
from plimsoll.hosts.lab.turns import TurningHosts
from plimsoll.provenance import Part
from plimsoll.serving.here import LocalHost

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
    from ipaddress import IPv4Address, IPv6Address

    from plimsoll.campaign.load import Load
    from plimsoll.errors import DriverMissing
    from plimsoll.hosts.answers import HostFacts
    from plimsoll.hosts.host import Host, Hosts
    from plimsoll.hosts.lab.control import Lab
    from plimsoll.hosts.lab.database import HostDatabase
    from plimsoll.machine import Fact
    from plimsoll.recording import Recording
    from plimsoll.serving.place import ServerPlace

SHOWN_FACTS = ("kernel", "cpu_model")
"""Facts of a host that are parts of a measurement."""


@dataclass(frozen=True)
class CampaignHosts:
    """The hosts of a campaign, which have joined.

    Attributes:
        driver: The load generators of all hosts that have some.
        turning: The same for loads that take turns.
        serve: The machine that runs servers.
        server_cores: Their cores.
        server_machine: Facts of that machine.
        parts: What of the measurement is on which host.
        address: Address of the lab, as the hosts reach it.
        database: The host that runs PostgreSQL for the campaign; None for that of the lab, or none.
        lacking: The load generators that are missing on one of them, by name.
    """

    driver: HostsDriver
    turning: TurningHosts
    serve: ServerPlace
    server_cores: tuple[int, ...]
    server_machine: dict[str, Fact]
    parts: tuple[Part, ...]
    address: IPv4Address | IPv6Address
    database: Host | None
    lacking: Mapping[str, DriverMissing]
    _lab: Lab
    _facts: Mapping[str, HostFacts]
    _tell: Callable[[str], None]

    def ready(self, before: Recording | None) -> None:
        """Waits until every host is there, again if one was lost.

        Args:
            before: The trial before; None for the first one.

        Raises:
            HostError: One does not join in time; or one was lost, and the campaign is to stop then.
        """
        hosts = self._lab.hosts
        if before is not None and hosts.when_lost == "stop" and (lost := _lost(before)):
            hint = "the same command resumes; with `again=True` it repeats void trials"
            raise HostError(f"stopped, because a host was lost: {lost}", hint)
        self._lab.wait(names(hosts, with_database=self.database is not None), self._tell)

    @contextmanager
    def stored(self, host: Host) -> Generator[HostDatabase]:
        """PostgreSQL on a host for as long as the block runs.

        Raises:
            NotInstalled: None can be had there, or it is too old.
            DatabaseFailed: It does not start.
            HostLost: The host is gone.
        """
        with database.started(self._lab, host, self._facts[host.name].machine) as found:
            yield found


@contextmanager
def joined(
    hosts: Hosts,
    loads: Sequence[Load],
    server_cores: tuple[int, ...],
    tell: Callable[[str], None],
    *,
    with_database: bool = False,
) -> Generator[CampaignHosts]:
    """The hosts of a campaign, for as long as the block runs.

    Args:
        hosts: The hosts.
        loads: The loads of the campaign.
        server_cores: Cores that it gives to servers, where the file of hosts names none; empty for
            all.
        tell: Told whom the lab waits for, and who is lost.
        with_database: Whether the campaign needs PostgreSQL.

    Raises:
        HostError: The lab cannot listen, or a host does not join or is not fit for a load.
    """
    with control.opened(hosts) as lab:
        lab.wait(names(hosts, with_database=with_database), tell)
        most = max(load.peak_connections for load in loads)
        taking = taking_part(hosts, with_database=with_database)
        facts = fitness.require(lab, taking, most)
        found = facts[hosts.server.name].machine if hosts.server else machine.facts()
        cores = _server_cores(hosts.server, loads, server_cores, found)
        yield CampaignHosts(
            driver=HostsDriver(lab, tell),
            turning=TurningHosts(lab),
            serve=_place(lab, facts),
            server_cores=cores,
            server_machine=found,
            parts=tuple(_parts(taking, facts)),
            address=hosts.address,
            database=hosts.database if with_database else None,
            lacking=fitness.lacking(hosts.drivers, facts),
            _lab=lab,
            _facts=facts,
            _tell=tell,
        )


def taking_part(hosts: Hosts, *, with_database: bool) -> tuple[Host, ...]:
    """The hosts that a campaign needs: all that generate load, those of servers and database.

    Args:
        hosts: All hosts.
        with_database: Whether the campaign needs PostgreSQL.
    """
    beside = [hosts.server, hosts.database if with_database else None]
    return (*(host for host in beside if host is not None), *hosts.drivers)


def names(hosts: Hosts, *, with_database: bool) -> tuple[str, ...]:
    """Their names, as `taking_part` gives the hosts."""
    return tuple(host.name for host in taking_part(hosts, with_database=with_database))


def _lost(trial: Recording) -> str:
    """Which hosts were lost in a trial, and why; empty if none was."""
    if trial.ending.kind == HostLost.__name__:
        return trial.ending.message
    return wording.listed([f"`{one.host}`: {one.error}" for one in trial.hosts if one.error])


def _place(lab: Lab, facts: Mapping[str, HostFacts]) -> ServerPlace:
    """The machine that runs servers: the host of that role, else that of the lab."""
    server, client = lab.hosts.server, lab.hosts.drivers[0].address
    if server is None:
        return LocalHost(str(lab.hosts.address), str(client))
    return HostServers(lab, server, client, facts[server.name].rapl)


def _server_cores(
    server: Host | None,
    loads: Iterable[Load],
    requested: tuple[int, ...],
    found: dict[str, Fact],
) -> tuple[int, ...]:
    """Cores of servers: no load generator is beside them, so all where none are named.

    Raises:
        CoreMissing: A load names a core that the machine does not have.
    """
    known = found["cores"]
    every = tuple(known) if isinstance(known, list) else ()
    cores = (server.cores if server else ()) or requested or every
    for core in {*cores, *(core for load in loads for core in load.server_cores or ())}:
        if core not in every:
            where = f"`{server.name}`" if server else "the machine of the lab"
            hint = "change `server_cores` of the campaign, or `cores` in the file of hosts"
            raise CoreMissing(f"{where} has no core {core}", hint)
    return cores


def _parts(hosts: Iterable[Host], facts: dict[str, HostFacts]) -> Iterable[Part]:
    """What each host does, and on what machine."""
    for host in hosts:
        known = facts[host.name].machine
        shown = [str(known[name]) for name in SHOWN_FACTS if known.get(name)]
        task = f"load, {_threads(host)}" if host.role == "driver" else host.role
        yield Part("setting", f"host {host.name}", ", ".join((task, *shown)))


def _threads(host: Host) -> str:
    if host.cores:
        return f"cores {','.join(map(str, host.cores))}"
    return wording.several(host.thread_count, "thread")
