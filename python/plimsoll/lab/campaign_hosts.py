"""The hosts that a campaign is conducted on, and what cannot be conducted on several."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from plimsoll import hosts, machine, wording
from plimsoll.databases import installed
from plimsoll.drivers import choosing
from plimsoll.drivers.tools.plimsoll import NAME as ENGINE
from plimsoll.errors import InputError, Problem
from plimsoll.events import Notice, Step
from plimsoll.hosts.host import LAB, REMOTE_ALONE, require_divisible, share_of
from plimsoll.lab import databases
from plimsoll.recording import HOST, Recording

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from pathlib import Path

    from plimsoll.campaign.campaign import Campaign
    from plimsoll.conduct.run_config import RunConfig
    from plimsoll.drivers.job import DriverModule
    from plimsoll.events import Listener
    from plimsoll.hosts.host import Host, Hosts, KeepRows
    from plimsoll.hosts.lab.campaign import CampaignHosts

MOST_NAMED = 3
"""Numbers of connections of which the part of each host is named."""

_ALONE = "remove `hosts=`, or {} from the campaign"
_COPIED = "leave out `keep_rows=`"


def read(file: Path, keep_rows: KeepRows = "lab") -> Hosts:
    """A file of hosts.

    Args:
        file: The file.
        keep_rows: Where the rows of loads stay.

    Raises:
        HostError: A package that they need is not installed.
        InputError: The file has mistakes.
    """
    hosts.require()
    return replace(hosts.lab.hosts_file.read(file), keep_rows=keep_rows)


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
    requested: Campaign, file: Path | None, keep_rows: KeepRows, on_event: Listener
) -> Generator[CampaignHosts | None]:
    """The hosts of a campaign once they have joined, for as long as the block runs.

    Args:
        requested: The campaign.
        file: File of the hosts; None for this machine alone.
        keep_rows: Where the rows of loads stay.
        on_event: Called with the hosts that the lab waits for.

    Raises:
        InputError: The file has mistakes, or the campaign cannot be conducted on several hosts.
        HostError: A host does not join, or is not fit for the campaign.
    """
    if file is None:
        if keep_rows == "remote":
            raise InputError([Problem("keep_rows", REMOTE_ALONE, "add `hosts=`")])
        yield None
        return
    known = read(file, keep_rows)
    require_conductable(requested, known)
    cores = requested.server_cores or ()
    with hosts.lab.campaign.joined(
        known,
        requested.loads,
        cores,
        lambda message: on_event(Step(message)),
        with_database=databases.needed(requested.endpoints),
    ) as found:
        yield found


def placed(
    setting: RunConfig, requested: Campaign, found: CampaignHosts, on_event: Listener
) -> RunConfig:
    """What all trials have in common, with what each host does.

    Args:
        setting: What they have in common on any machines.
        requested: The campaign.
        found: Its hosts.
        on_event: Called with each setting of the campaign that does not apply.

    Raises:
        LimitTooLow: Servers run on this machine, and it cannot hold so many connections.
    """
    if found.serve.host == HOST:
        machine.check_connections(max(load.peak_connections for load in requested.loads))
    note = "Hosts generate the load: `driver_cores` of the campaign does not apply."
    notes = (note,) if requested.driver_cores else ()
    for text in notes:
        on_event(Notice(text))
    return replace(
        _reachable(setting, found),
        server_cores=found.server_cores,
        machine=found.server_machine,
        notes=notes,
        drive=found.driver.drive,
        turning=found.turning.resting,
        serve=found.serve,
        ready=found.ready,
        hosts=found.parts,
    )


def _reachable(setting: RunConfig, found: CampaignHosts) -> RunConfig:
    """With database and upstreams, which run in the lab, where other hosts reach them."""
    if found.serve.host == HOST:
        return setting
    cores = tuple(machine.allowed_cores())
    return replace(setting, upstream_cores=cores, upstream_address=str(found.address))


@contextmanager
def stored(
    setting: RunConfig, requested: Campaign, found: CampaignHosts, on_event: Listener
) -> Generator[RunConfig]:
    """With PostgreSQL, if the campaign needs it, for as long as the block runs.

    Args:
        setting: What all trials have in common.
        requested: The campaign.
        found: Its hosts.
        on_event: Called when PostgreSQL starts.

    Raises:
        NotInstalled: None can be started where it should run.
        DatabaseFailed: It does not start.
        HostLost: Its host is gone.
    """
    if found.database is None:
        place = (setting.upstream_cores, on_event, setting.upstream_address)
        with databases.running(requested.endpoints, *place) as database:
            yield replace(setting, database=database)
        return
    on_event(Step(f"starting PostgreSQL on `{found.database.name}`"))
    with found.stored(found.database) as running:

        def ready(before: Recording | None) -> None:
            setting.ready(before)
            running.check()

        yield replace(setting, database=running.running, database_host=running, ready=ready)


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
    known = hosts.lab.hosts_file.read(file)
    require_conductable(requested, known)
    server = known.server
    name, address = (LAB, known.address) if server is None else (server.name, server.address)
    serving = Task(name, str(address), f"runs the servers{_cores(server)}")
    generating = (
        Task(one.name, str(one.address), _work(one, known, requested)) for one in known.drivers
    )
    return (serving, *_storing(requested, known), *generating)


def has_database_here(file: Path) -> bool:
    """Whether a campaign on some hosts has its database on the lab's machine, if it needs one.

    Args:
        file: File of the hosts.

    Raises:
        InputError: The file has mistakes.
    """
    return hosts.lab.hosts_file.read(file).database is None


def _storing(requested: Campaign, known: Hosts) -> Iterator[Task]:
    """Who runs the database of a campaign, if it needs one."""
    if not databases.needed(requested.endpoints):
        return
    host = known.database
    if host is not None:
        yield Task(host.name, str(host.address), f"runs PostgreSQL{_cores(host)}")
    elif not installed.named():
        yield Task(LAB, str(known.address), "runs PostgreSQL")


def _work(host: Host, known: Hosts, requested: Campaign) -> str:
    """What a host does that generates load."""
    threads = wording.several(host.thread_count, "thread")
    parts = _parts(host, known, requested)
    return f"generates load with {threads}{_cores(host)}: {', '.join(parts)}"


def _parts(host: Host, known: Hosts, requested: Campaign) -> Iterator[str]:
    """Its parts of the loads: whole connections, and as many arrivals for each of them."""
    totals = sorted({load.peak_connections for load in requested.loads}, reverse=True)
    for total in totals[:MOST_NAMED]:
        own = share_of(total, host, known)
        share = wording.percent(own / total)
        yield f"{wording.count(own)} of {wording.count(total)} connections ({share})"
    if totals[MOST_NAMED:]:
        yield f"{wording.several(len(totals[MOST_NAMED:]), 'smaller number')} likewise"
    if _has_arrivals(requested):
        yield "arrivals of open loads in proportion to connections"


def _has_arrivals(requested: Campaign) -> bool:
    """Whether a load is open: one of the campaign, a try of a load line, or a step of a ladder."""
    follow = requested.line is not None or requested.ladder is not None
    return follow or any(load.model == "open" for load in requested.loads)


def _cores(host: Host | None) -> str:
    return f" on cores {','.join(map(str, host.cores))}" if host and host.cores else ""


def _problems(requested: Campaign, known: Hosts) -> Iterator[Problem]:
    """What of a campaign needs one machine."""
    for driver in requested.drivers:
        for message in _against(choosing.named(driver), requested):
            yield Problem("driver", f"`{driver}` {message}", _ALONE.format(f"`{driver}`"))
    if known.keep_rows == "remote":
        yield from _against_staying(requested)


def _against_staying(requested: Campaign) -> Iterator[Problem]:
    """What of a campaign needs its rows in the lab."""
    for driver in requested.drivers:
        if driver != ENGINE and choosing.named(driver).KEEPS_ROWS:
            message = (
                f"`{driver}` has its rows counted by the lab, so they cannot stay on the hosts"
            )
            yield Problem("driver", message, _COPIED)
    if requested.turn_s:
        message = "rows of loads that take turns cannot stay on the hosts"
        yield Problem("turns", message, _COPIED)


def _against(driver: DriverModule, requested: Campaign) -> Iterator[str]:
    """Why a load generator cannot generate the loads of a campaign on several hosts."""
    if driver.NAME == ENGINE:
        return
    if not driver.KEEPS_ROWS:
        yield (
            "does not log every request in full, and percentiles of several hosts cannot be merged"
        )
    for load in requested.loads:
        if any(stage.start != stage.end for stage in load.stages):
            yield f"cannot divide the ramp of `{load.name}` among hosts"
