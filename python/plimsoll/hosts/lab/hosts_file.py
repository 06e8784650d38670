"""`hosts.toml`: its schema, and every mistake in one.

A model has None where a value was invalid, as in campaign files.
"""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import TYPE_CHECKING, Annotated, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict

from plimsoll import wording
from plimsoll.campaign import documents
from plimsoll.campaign.documents import Mistake
from plimsoll.campaign.load import MOST_THREADS
from plimsoll.campaign.quantities import UnreadableQuantity, cores, count, duration_s
from plimsoll.errors import InputError
from plimsoll.hosts.host import (
    CERTIFICATES,
    LEAD_S,
    PORT,
    PROGRAM,
    RESERVED,
    WAIT_S,
    Host,
    Hosts,
    Role,
    WhenLost,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from plimsoll.campaign.lines import KeyPath

_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
_DESTINATION = re.compile(r"[^\s-]\S*")
_HIGHEST_PORT = 65_535
_INTERFACE = "use the address of one interface, at which the other machines reach this one"
"""What to do about an address by which nobody else finds a machine."""

_SINGLE = {
    "server": "servers of a campaign run one after the other, on one host",
    "database": "a campaign has one PostgreSQL, on one host",
}
"""Roles that one host may have, with the reason."""


def _distinct_cores(value: object) -> tuple[int, ...]:
    """A set of cores whose list names none twice: each has one thread.

    Raises:
        UnreadableQuantity: One is named twice, or it is no set of cores.
    """
    found = cores(value)
    named = cast("list[object]", value) if isinstance(value, list) else []
    if len({str(core) for core in named}) < len(named):
        message = f"`{value}` names a core twice"
        raise UnreadableQuantity(message, "name each core once: it has one thread")
    return found


_STRICT = ConfigDict(extra="forbid", strict=True, frozen=True)
_Duration = Annotated[float, BeforeValidator(duration_s)]
_Count = Annotated[int, BeforeValidator(count)]
_Cores = Annotated[tuple[int, ...], BeforeValidator(_distinct_cores)]


class LabTable(BaseModel):
    """The table `[lab]`."""

    model_config = _STRICT

    address: str | None
    port: _Count | None = PORT
    certificates: str | None = None
    wait: _Duration | None = WAIT_S
    lead: _Duration | None = LEAD_S
    when_lost: WhenLost | None = "continue"


class HostTable(BaseModel):
    """One table `[[host]]`."""

    model_config = _STRICT

    name: str | None
    role: Role | None = "driver"
    address: str | None
    cores: _Cores | None = None
    threads: _Count | None = None
    max_connections: _Count | None = None
    ssh: str | None = None
    plimsoll: str | None = None


class HostsTable(BaseModel):
    """A whole file."""

    model_config = _STRICT

    lab: LabTable | None
    host: list[HostTable | None] | None


def read(path: Path) -> Hosts:
    """A file of hosts.

    Raises:
        InputError: It cannot be read, or has mistakes; contains all of them, with their lines.
    """
    document = documents.read(path)
    table, mistakes = documents.checked(HostsTable, document.table, known_keys)
    mistakes += _mistakes(table)
    if mistakes:
        raise InputError(documents.problems(document, mistakes))
    return _hosts(table, path.parent)


def known_keys(path: KeyPath) -> tuple[str, ...]:
    """The keys that the table at a path may have."""
    models: dict[str | int, type[BaseModel]] = {"lab": LabTable, "host": HostTable}
    return documents.keys_of(models[path[0]] if path else HostsTable)


def _mistakes(table: HostsTable) -> Iterator[Mistake]:
    """Mistakes in a file with a valid schema."""
    if table.lab is not None:
        yield from _address(table.lab.address, ("lab",))
        if table.lab.port is not None and not 0 < table.lab.port <= _HIGHEST_PORT:
            yield Mistake(("lab", "port"), f"`port` must lie between 1 and {_HIGHEST_PORT}")
    yield from _unreachable_lab(table)
    names: set[str] = set()
    addresses: dict[IPv4Address | IPv6Address, str | None] = {}
    for place, host in enumerate(table.host or ()):
        if host is not None:
            yield from _host(host, ("host", place), names)
            yield from _same_address(host, ("host", place), addresses)
    if table.host is not None and not any(
        host is None or host.role in ("driver", None) for host in table.host
    ):
        hint = 'add a `[[host]]` with `role = "driver"`'
        yield Mistake(("host",), "no host generates load", hint)
    for role, hint in _SINGLE.items():
        having = [at for at, host in enumerate(table.host or ()) if host and host.role == role]
        for place in having[1:]:
            message = f"a second host has the role `{role}`"
            yield Mistake(("host", place, "role"), message, hint)


def _host(host: HostTable, at: KeyPath, names: set[str]) -> Iterator[Mistake]:
    yield from _address(host.address, at)
    if host.name is not None:
        if not _NAME.fullmatch(host.name) or host.name in RESERVED:
            reserved = wording.listed([f"`{name}`" for name in RESERVED])
            hint = f"use small letters, digits and `-`, and none of {reserved}: these are the lab's"
            yield Mistake((*at, "name"), f"`{host.name}` cannot be the name of a host", hint)
        elif host.name in names:
            yield Mistake((*at, "name"), f"two hosts have the name `{host.name}`")
        names.add(host.name)
    if host.cores is not None and host.threads is not None:
        hint = "remove `threads`: each core has one thread"
        yield Mistake((*at, "threads"), "`cores` and `threads` exclude each other", hint)
    if host.threads is not None and not 0 < host.threads <= MOST_THREADS:
        yield Mistake((*at, "threads"), f"`threads` must lie between 1 and {MOST_THREADS}")
    if host.ssh is not None and not _DESTINATION.fullmatch(host.ssh):
        hint = "write what `ssh` connects to: `bench@10.0.0.2`, or a host of `~/.ssh/config`"
        yield Mistake((*at, "ssh"), f"`{host.ssh}` is not an SSH destination", hint)
    if host.plimsoll is not None and host.ssh is None:
        hint = "add `ssh`, or remove `plimsoll`: an agent started by hand is that program"
        yield Mistake((*at, "plimsoll"), "`plimsoll` has no effect without `ssh`", hint)
    if host.max_connections == 0:
        yield Mistake((*at, "max_connections"), "`max_connections` must be above 0")


def _same_address(
    host: HostTable, at: KeyPath, addresses: dict[IPv4Address | IPv6Address, str | None]
) -> Iterator[Mistake]:
    """Two hosts on one machine: their loads would share its cores, and count as two."""
    address = _known(host.address)
    if address is None:
        return
    if address in addresses:
        other = addresses[address]
        hint = "each host is a machine of its own: change the address, or join both tables"
        message = f"`{other}` has the address `{host.address}` as well"
        yield Mistake((*at, "address"), message, hint)
    addresses.setdefault(address, host.name)


def _unreachable_lab(table: HostsTable) -> Iterator[Mistake]:
    """A lab that listens on loopback, where hosts are other machines."""
    lab = None if table.lab is None else _known(table.lab.address)
    if lab is None or not lab.is_loopback:
        return
    for host in filter(None, table.host or ()):
        address = _known(host.address)
        if address is not None and not address.is_loopback:
            message = f"`{host.name}` cannot reach the lab at {lab}, which is a loopback address"
            yield Mistake(("lab", "address"), message, _INTERFACE)
            return


def _known(text: str | None) -> IPv4Address | IPv6Address | None:
    """An address; None where there is none, or it is a mistake of its own."""
    try:
        return None if text is None else ip_address(text)
    except ValueError:
        return None


def _address(text: str | None, at: KeyPath) -> Iterator[Mistake]:
    address = _known(text)
    if address is not None and address.is_unspecified:
        yield Mistake((*at, "address"), f"`{text}` is the address of no machine", _INTERFACE)
    if address is None and text is not None:
        hint = "use an IP address: DNS may resolve a name differently on each host"
        yield Mistake((*at, "address"), f"`{text}` is not a numeric IP address", hint)


def _hosts(table: HostsTable, folder: Path) -> Hosts:
    """A file without mistakes.

    Args:
        table: The file.
        folder: Its folder; the path of the certificates is relative to it.
    """
    lab = table.lab or LabTable(address="")
    hosts = tuple(map(_of_table, filter(None, table.host or ())))
    are_made = lab.certificates is None and all(host.ssh is not None for host in hosts)
    return Hosts(
        address=_numbers(lab.address),
        port=lab.port or PORT,
        certificates=None if are_made else folder / (lab.certificates or CERTIFICATES),
        wait_s=WAIT_S if lab.wait is None else lab.wait,
        lead_s=LEAD_S if lab.lead is None else lab.lead,
        hosts=hosts,
        when_lost=lab.when_lost or "continue",
    )


def _of_table(host: HostTable) -> Host:
    return Host(
        name=host.name or "",
        role=host.role or "driver",
        address=_numbers(host.address),
        cores=host.cores or (),
        threads=host.threads or 1,
        max_connections=host.max_connections,
        ssh=host.ssh,
        program=host.plimsoll or PROGRAM,
    )


def _numbers(text: str | None) -> IPv4Address | IPv6Address:
    return ip_address(text or "")
