"""The agent's side of the network: joins the lab, carries out its orders, and waits for the next.

The lab listens while it has something to do. Until then, and after it, the agent tries to reach it
once a second, which costs nothing.
"""

from __future__ import annotations

import ast
import asyncio
import errno
import os
import socket
import ssl
import struct
import time
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address
from typing import IO, TYPE_CHECKING, Any

from distributed import Worker
from distributed.protocol.serialize import to_serialize

from plimsoll import wording
from plimsoll.errors import HostError, PlimsollError
from plimsoll.hosts import certificates, network
from plimsoll.hosts.disk import disk_error
from plimsoll.hosts.host import LAB, TAKEN, UNLISTED
from plimsoll.hosts.orders import ORDERS

if TYPE_CHECKING:
    from collections.abc import Callable
    from ipaddress import IPv4Address, IPv6Address
    from pathlib import Path

    from plimsoll.hosts.agent.agent import Agent
    from plimsoll.hosts.certificates import Identity

QUICK = frozenset({"poll", "server"})
"""Orders that only look at what is known, and need no thread of their own."""

FULL = (errno.ENOSPC, errno.EDQUOT)
"""Error numbers of a full disk, which no network has."""

KNOWN_S = 2 * network.LOST_S + 2.0
"""How long an agent waits for the lab to notice that the one before it is gone, in seconds.

The lab looks every `LOST_S` who has been silent for that long.
"""

NO_LINGER = struct.pack("ii", 1, 0)
"""Has a socket closed at once, so that its port is free: `SO_LINGER`, socket(7)."""

SENT_AWAY = "scheduler-close"
"""The reason that dask's scheduler gives its workers when it ends."""

RETRY_S = 1.0
"""From one attempt to reach the lab to the next, in seconds."""

REFUSED_S = 5.0
"""The same where a lab does without this host, in seconds: it may work for long."""

LIFELINE = "give the files by `--cert`, `--key` and `--ca`, or write them to a pipe that stays open"
"""What to do where standard input is no lifeline."""

RETURN_S = 600.0
"""How long an agent that the lab started tries to reach it again, in seconds.

Where the network is cut for good, nothing else tells it that the lab is gone.
"""


@dataclass(frozen=True)
class Membership:
    """What an agent needs to join.

    Attributes:
        lab: Address of the lab, as a number.
        port: Its port.
        name: Name of this host.
        identity: Its certificate.
        own: Address at which the lab reaches this host; None for that of its route to the lab.
        folder: For files of dask.
    """

    lab: IPv4Address | IPv6Address
    port: int
    name: str
    identity: Identity
    own: IPv4Address | IPv6Address | None
    folder: Path


class _Member(Worker):
    """A worker of dask that carries out orders.

    Attributes:
        has_lab_ended: Whether the lab sent it away; else the connection broke.
    """

    def __init__(self, agent: Agent, membership: Membership) -> None:
        self._agent = agent
        self.has_lab_ended = False
        super().__init__(
            network.address(membership.lab, membership.port),
            nthreads=1,
            name=membership.name,
            host=network.bracketed(membership.own or _towards(membership)),
            protocol="tls",
            security=network.security(membership.identity),
            local_directory=str(membership.folder),
            memory_limit=0,
            dashboard=False,
            dashboard_address=network.HTTP_ADDRESS,
            death_timeout=network.LOST_S,
        )
        self.handlers |= {network.CLOCK: _clock, network.ORDER: self._carry_out}

    async def close(self, *args: Any, reason: str = "worker-close", **told: Any) -> None:
        """Ends the membership; the first reason is why."""
        self.has_lab_ended |= reason == SENT_AWAY
        await super().close(*args, reason=reason, **told)

    async def _carry_out(self, order: str, arguments: tuple[Any, ...]) -> dict[str, to_serialize]:
        """Carries out an order of the lab; gives what it gives, or its error."""
        if order not in ORDERS:
            raise ValueError(order)
        method = getattr(self._agent, order)
        try:
            if order in QUICK:
                given = method(*arguments)
            else:
                given = await asyncio.to_thread(method, *arguments)
        except PlimsollError as error:
            given = error
        except OSError as error:  # to the lab it would be the network's
            given = disk_error(error)
        return {"given": to_serialize(given)}


async def _clock() -> int:
    return time.monotonic_ns()


async def serve(agent: Agent, membership: Membership, tell: Callable[[str], None]) -> None:
    """Serves one lab after the other, until cancelled.

    Args:
        agent: Carries out the orders.
        membership: How to join.
        tell: Told when the agent joins a lab and when that is gone.

    Raises:
        HostError: The lab and this host do not trust each other, another agent has its name, or its
            own certificate or address is of no use.
    """
    _make_ready(membership)
    while True:
        has_ended = await _serve_one(agent, membership, tell, is_by_hand=True)
        how = "the lab has ended" if has_ended else "lost the connection to the lab"
        tell(f"{how}; waiting for the next one")


async def serve_one(
    agent: Agent, membership: Membership, tell: Callable[[str], None], lifeline: IO[bytes]
) -> None:
    """Serves one lab; ends with it, or with what that holds open.

    Where only the connection breaks, it joins again: it has the rows of the last load.

    Args:
        agent: Carries out the orders.
        membership: How to join.
        tell: Told when the agent joins the lab, and when it loses that.
        lifeline: A pipe; its end is the end of the lab.

    Raises:
        HostError: The lab and this host do not trust each other, the lab refuses it, its own
            certificate or address is of no use, or the lifeline is a file.
    """
    _make_ready(membership)
    reader = asyncio.StreamReader()
    try:
        pipe, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), lifeline
        )
    except ValueError as error:  # files have no end that the lab decides on
        raise HostError("standard input is a file, and no pipe of the lab", LIFELINE) from error
    serving = asyncio.ensure_future(_serve_until_sent_away(agent, membership, tell))
    held = asyncio.ensure_future(reader.read())
    await asyncio.wait((serving, held), return_when=asyncio.FIRST_COMPLETED)
    if not serving.done():
        serving.cancel()
    held.cancel()
    pipe.close()
    with suppress(asyncio.CancelledError):
        await serving


async def _serve_until_sent_away(
    agent: Agent, membership: Membership, tell: Callable[[str], None]
) -> None:
    while not await _serve_one(agent, membership, tell, is_by_hand=False):
        tell("lost the connection to the lab; joining it again")
        try:
            async with asyncio.timeout(RETURN_S):
                await _reachable(membership, tell, is_by_hand=False)
        except TimeoutError:
            tell(f"the lab was out of reach for {wording.exact(RETURN_S)} s")
            return


def _make_ready(membership: Membership) -> None:
    """Applies dask's settings, and looks at what an agent has of its own.

    Raises:
        HostError: Its certificate, or its address, is of no use.
    """
    network.configure()
    certificates.require_usable(membership.identity)
    if membership.own is None:
        return
    try:
        with socket.socket(_family(membership.own)) as probe:
            probe.bind((str(membership.own), 0))
    except OSError as error:
        message = f"`{membership.own}` is not an address of this host: {error.strerror}"
        raise HostError(message, "change `--address`; without it, the lab finds one") from error


async def _serve_one(
    agent: Agent, membership: Membership, tell: Callable[[str], None], *, is_by_hand: bool
) -> bool:
    """Waits for a lab, and serves it until it is gone.

    An agent that was killed, or whose host restarted, may still be known to the lab for a while.
    One that somebody started by hand waits until a lab that does without it is gone.

    Returns:
        Whether the lab sent it away; else the connection broke.
    """
    until_s, is_told = time.monotonic() + KNOWN_S, False
    while True:
        await _reachable(membership, tell, is_by_hand=is_by_hand)
        try:
            member = await _Member(agent, membership)
        except (OSError, ValueError, RuntimeError) as error:
            cause = error.__cause__ or error
            if not isinstance(cause, OSError):
                refused = _refused(error)
                if UNLISTED in refused.message and is_by_hand:
                    if not is_told:
                        tell(f"{refused.message}; waiting for the next one")
                    is_told = True
                    await asyncio.sleep(REFUSED_S)
                    continue
                if TAKEN not in refused.message or time.monotonic() >= until_s:
                    raise refused from error
            elif cause.filename is not None or cause.errno in FULL:
                raise disk_error(cause) from error
            await asyncio.sleep(RETRY_S)  # it is gone again, or knows another one
            continue
        tell("joined the lab")
        agent.has_lab = True
        try:
            await member.finished()
            agent.has_lab = False
        finally:
            await asyncio.to_thread(agent.abandon)
            await member.close()
        return member.has_lab_ended


async def _reachable(
    membership: Membership, tell: Callable[[str], None], *, is_by_hand: bool
) -> None:
    """Waits until the lab listens; whatever else listens there before is no lab, and no error.

    An agent that somebody started by hand waits as well while a lab with other certificates works:
    it may be the lab that has the wrong ones.

    Raises:
        HostError: One of both does not accept the other's certificate, and the lab started this.
    """
    is_told = False
    while True:
        try:
            context = network.context(membership.identity)  # its files may be copied meanwhile
            # `wait_for` of Python 3.11 loses a cancellation that comes with an error.
            async with asyncio.timeout(network.LOST_S):
                await _greeted(membership, context)
        except ssl.SSLError as error:
            untrusted = await _untrusted(error, membership)
            if untrusted is not None and not is_by_hand:
                raise untrusted from error
            if not is_told:
                tell(_waiting_because(untrusted, membership))
            is_told = True
            await asyncio.sleep(RETRY_S if untrusted is None else REFUSED_S)
        except (TimeoutError, OSError, EOFError):
            await asyncio.sleep(RETRY_S)
        else:
            return


async def _untrusted(error: ssl.SSLError, membership: Membership) -> HostError | None:
    """The error of a lab and an agent that do not trust each other; None if it is no lab's."""
    hint = _copy_again(membership)
    if isinstance(error, ssl.SSLCertVerificationError):
        await _introduced(membership)
        message = f"the lab's certificate is not accepted: {error.verify_message}"
        return HostError(message, hint)
    reason = network.tls_reason(error)
    if not any(word in reason for word in network.OF_CERTIFICATES):
        return None
    message = f"the lab does not accept the certificate of `{membership.name}`: {reason}"
    return HostError(message, hint)


def _waiting_because(untrusted: HostError | None, membership: Membership) -> str:
    """Why an agent waits although a program listens at the lab's port."""
    place = network.place(membership.lab, membership.port)
    if untrusted is None:
        return f"a program that is not the lab listens on {place}; waiting for the lab"
    return (
        f"{untrusted.message}; waiting until that changes: if these are the wrong certificates, "
        f"{untrusted.hint}"
    )


async def _introduced(membership: Membership) -> None:
    """Shows this host's certificate to a lab that is not trusted, so that it says who was there.

    Nothing else is sent.
    """
    with suppress(OSError, EOFError):
        context = network.context(membership.identity)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        async with asyncio.timeout(network.LOST_S):
            connected = await _connected(membership)
            reader, writer = await asyncio.open_connection(
                sock=connected, ssl=context, server_hostname=str(membership.lab)
            )
            try:
                await reader.readexactly(1)
            finally:
                writer.close()


def _copy_again(membership: Membership) -> str:
    """What to do about certificates of another authority than the lab's."""
    name = membership.name
    return (
        f"copy `{name}.pem`, `{name}.key` and `ca.pem` again from the folder of certificates of "
        f"this lab, all three, over {', '.join(f'`{one}`' for one in _files(membership))}"
    )


def _files(membership: Membership) -> tuple[Path, ...]:
    identity = membership.identity
    return identity.certificate, identity.key, identity.authority


async def _greeted(membership: Membership, context: ssl.SSLContext) -> None:
    """Connects and reads one byte: in TLS 1.3 a refused certificate is known no sooner."""
    connected = await _connected(membership)
    reader, writer = await asyncio.open_connection(
        sock=connected, ssl=context, server_hostname=str(membership.lab)
    )
    try:
        certificate: network.PeerCertificate = writer.get_extra_info("peercert") or {}
        if LAB not in network.names(certificate):
            place = network.place(membership.lab, membership.port)
            message = f"the program that listens on {place} is not the lab"
            raise HostError(message, "give `--join` the address in the table `[lab]`")
        await reader.readexactly(1)
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


async def _connected(membership: Membership) -> socket.socket:
    """A connection to whoever listens at the lab's port.

    Where nobody does, on the lab's own machine, the kernel may choose that very port for this end:
    then the agent would be connected with itself, and keep the port from the lab.

    Raises:
        OSError: Nobody listens there.
    """
    made = socket.socket(_family(membership.lab))
    try:
        made.setblocking(False)
        if membership.own is not None and membership.own.version == membership.lab.version:
            made.bind((str(membership.own), 0))  # the lab knows its hosts by their addresses
        place = (str(membership.lab), membership.port)
        await asyncio.get_running_loop().sock_connect(made, place)
    except BaseException:
        made.close()
        raise
    if not is_with_itself(made):
        return made
    made.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, NO_LINGER)
    made.close()
    raise ConnectionRefusedError(errno.ECONNREFUSED, os.strerror(errno.ECONNREFUSED))


def is_with_itself(connected: socket.socket) -> bool:
    """Whether both ends of a connection are one socket."""
    return connected.getsockname()[:2] == connected.getpeername()[:2]


def _family(address: IPv4Address | IPv6Address) -> socket.AddressFamily:
    return socket.AF_INET if address.version == 4 else socket.AF_INET6  # noqa: PLR2004


def _refused(error: Exception) -> HostError:
    """The error of a lab that does not let this host join."""
    stated = str(error.__cause__ or error)
    answer = stated.partition("Unexpected response from register: ")[2]
    if answer:  # dask shows the lab's answer, a dictionary
        stated = ast.literal_eval(answer)["message"]
    return HostError(f"the lab refuses this host: {stated}", "compare with its `hosts.toml`")


def _towards(membership: Membership) -> IPv4Address | IPv6Address:
    """The address of this host on the way to the lab; nothing is sent."""
    with socket.socket(_family(membership.lab), socket.SOCK_DGRAM) as probe:
        probe.connect((str(membership.lab), membership.port))
        return ip_address(probe.getsockname()[0])
