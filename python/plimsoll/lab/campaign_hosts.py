"""The hosts that a campaign is conducted on, and what cannot be conducted on several."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from plimsoll import hosts, machine, wording
from plimsoll.drivers.tools.plimsoll import NAME as ENGINE
from plimsoll.errors import InputError, Problem
from plimsoll.events import Notice, Step
from plimsoll.hosts.host import LAB, require_divisible, share_of
from plimsoll.recording import HOST

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from pathlib import Path

    from plimsoll.campaign.campaign import Campaign
    from plimsoll.conduct.run_config import RunConfig
    from plimsoll.events import Listener
    from plimsoll.hosts.campaign import CampaignHosts
    from plimsoll.hosts.host import Host, Hosts

_ALONE = "remove `--hosts`, or {} from the campaign"


def read(file: Path) -> Hosts:
    """A file of hosts.

    Raises:
        HostError: A package that they need is not installed.
        InputError: The file has mistakes.
    """
    hosts.require()
    return hosts.hosts_file.read(file)


def require_conductable(requested: Campaign, known: Hosts) -> None:
    """Requires a campaign whose every part several hosts can do.

    Raises:
        InputError: Something of it needs one machine; contains all of it.
    """
    if problems := tuple(_problems(requested, known)):
        raise InputError(problems)
    for load in requested.loads:
        where = f"load `{load.name}`"
        require_divisible(known, load.peak_connections, where)


@contextmanager
def joined(
    requested: Campaign, file: Path | None, tell: Listener
) -> Generator[CampaignHosts | None]:
    """The hosts of a campaign once they have joined, for as long as the block runs.

    Args:
        requested: The campaign.
        file: File of the hosts; None for this machine alone.
        tell: Told whom the lab waits for.

    Raises:
        InputError: The file has mistakes, or the campaign cannot be conducted on several hosts.
        HostError: A host does not join, or is not fit for the campaign.
    """
    if file is None:
        yield None
        return
    known = read(file)
    require_conductable(requested, known)
    cores = requested.server_cores or ()
    with hosts.campaign.joined(
        known, requested.loads, cores, lambda message: tell(Step(message))
    ) as found:
        yield found


def placed(
    setting: RunConfig, requested: Campaign, found: CampaignHosts, tell: Listener
) -> RunConfig:
    """What all trials have in common, with what each host does.

    Args:
        setting: What they have in common on any machines.
        requested: The campaign.
        found: Its hosts.
        tell: Told which setting of the campaign does not apply.

    Raises:
        LimitTooLow: Servers run on this machine, and it cannot hold so many connections.
    """
    if found.serve.host == HOST:
        machine.check_connections(max(load.peak_connections for load in requested.loads))
    note = "Hosts generate the load: `driver_cores` of the campaign does not apply."
    notes = (note,) if requested.driver_cores else ()
    for text in notes:
        tell(Notice(text))
    return replace(
        setting,
        server_cores=found.server_cores,
        machine=found.server_machine,
        notes=notes,
        drive=found.driver.drive,
        serve=found.serve,
        ready=found.ready,
        hosts=found.parts,
    )


@dataclass(frozen=True)
class Task:
    """What a machine does in a campaign.

    Attributes:
        host: Its name; `lab` for that of the lab.
        address: Its address.
        work: What it does.
    """

    host: str
    address: str
    work: str


def planned(requested: Campaign, file: Path) -> tuple[Task, ...]:
    """What each machine will do in a campaign; nothing is asked of any.

    Args:
        requested: The campaign.
        file: File of the hosts.

    Raises:
        InputError: The file has mistakes, or the campaign cannot be conducted on several hosts.
    """
    known = hosts.hosts_file.read(file)
    require_conductable(requested, known)
    most = max(load.peak_connections for load in requested.loads)
    server = known.server
    name, address = (LAB, known.address) if server is None else (server.name, server.address)
    serving = Task(name, str(address), f"runs the servers{_cores(server)}")
    generating = (
        Task(one.name, str(one.address), _work(one, known, most)) for one in known.drivers
    )
    return (serving, *generating)


def _work(host: Host, known: Hosts, most: int) -> str:
    """What a host does that generates load."""
    share = wording.percent(round(host.thread_count / known.thread_count, 3))
    threads = wording.several(host.thread_count, "thread")
    own = wording.count(share_of(most, host, known))
    return (
        f"generates {share} of each load with {threads}{_cores(host)}: "
        f"{own} of {wording.count(most)} connections"
    )


def _cores(host: Host | None) -> str:
    return f" on cores {','.join(map(str, host.cores))}" if host and host.cores else ""


def _problems(requested: Campaign, known: Hosts) -> Iterator[Problem]:
    """What of a campaign needs one machine."""
    for driver in requested.drivers:
        if driver != ENGINE:
            message = f"`{driver}` cannot generate one load on several hosts"
            yield Problem("driver", message, _ALONE.format(f"`{driver}`"))
    if requested.turn_s:
        message = "servers take turns on one machine only, with the load generator"
        yield Problem("turns", message, _ALONE.format("`turns`"))
    services = dict.fromkeys(load.service for load in requested.loads if load.service)
    for service in services:
        message = f"`{service}` is served and measured on one machine only"
        yield Problem("load", message, _ALONE.format(f"`{service}`"))
    if known.server is not None and (requested.power or requested.idle_s):
        message = f"power is read on the lab's machine, and servers run on `{known.server.name}`"
        yield Problem("power", message, "remove the host with the role `server`")
