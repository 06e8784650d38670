"""The lab's side: who is there, their clocks, and orders to one host or to all."""

from __future__ import annotations

import asyncio
import errno
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from distributed import Scheduler
from distributed.protocol.serialize import deserialize, to_serialize

from plimsoll import wording
from plimsoll.errors import HostError, HostLost, PlimsollError, StorageError
from plimsoll.hosts import certificates, network
from plimsoll.hosts.host import LAB, TAKEN, UNLISTED
from plimsoll.hosts.lab import ssh
from plimsoll.hosts.lab.clocks import ClockExchange
from plimsoll.storage import scratch

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Generator, Iterable, Mapping
    from concurrent.futures import Future
    from pathlib import Path
    from typing import TypeVar

    from plimsoll.hosts.certificates import Identity
    from plimsoll.hosts.host import Hosts
    from plimsoll.hosts.lab.ssh import RemoteAgents
    from plimsoll.hosts.network import RefusedHandshakes

    T = TypeVar("T")

EXCHANGES = 50
"""Readings of a clock in one burst; the one with the shortest round trip counts.

With ten, on busy cores, clocks were known to 2.4 ms instead of 0.8 ms, for a tenth less of an
agent's time.
"""

LOOK_S = 0.1
"""How often the lab looks who has joined, in seconds."""


class _LabScheduler(Scheduler):
    """A scheduler that lets nobody join but its hosts, each under its own name."""

    def __init__(self, hosts: Hosts, identity: Identity) -> None:
        self._hosts = {host.name: host for host in hosts.hosts}
        self.refused: dict[str, str] = {}
        super().__init__(
            host=network.bracketed(hosts.address),
            port=hosts.port,
            protocol="tls",
            security=network.security(identity),
            dashboard=False,
            dashboard_address=network.HTTP_ADDRESS,
        )

    async def add_worker(self, comm: Any, **sent: Any) -> None:
        """Adds a host, or says why not."""
        reason = self._reason_against(sent["name"], comm.extra_info.get("peercert") or {})
        if not reason:
            await super().add_worker(comm, **sent)
            return
        self.refused[str(sent["name"])] = reason
        await comm.write({"status": "error", "message": reason, "time": time.time()})

    def heartbeat_worker(self, *args: Any, **sent: Any) -> dict[str, object]:
        """Takes an agent's sign of life, and says when the next is due."""
        return {
            **super().heartbeat_worker(*args, **sent),
            "heartbeat-interval": network.HEARTBEAT_S,
        }

    def _reason_against(self, name: str, certificate: network.PeerCertificate) -> str:
        """Why a host may not join; empty when it may."""
        if name not in network.names(certificate):
            named = ", ".join(f"`{one}`" for one in network.names(certificate)) or "no host"
            return f"`{name}` has a certificate for {named}"
        if name not in self._hosts:
            return f"`{name}` {UNLISTED}"
        if name in self.aliases:
            return f"{TAKEN} `{name}`"
        return ""


class Lab:
    """The hosts that have joined; every method may be called from any thread but the loop's."""

    def __init__(
        self,
        hosts: Hosts,
        identity: Identity,
        agents: RemoteAgents,
        loop: asyncio.AbstractEventLoop,
        handshakes: RefusedHandshakes,
    ) -> None:
        """Knows of no host yet; `opened` makes one that listens."""
        self._handshakes = handshakes
        self.hosts = hosts
        self._identity = identity
        self._agents = agents
        self._loop = loop
        self._comparing = asyncio.Lock()
        self._scheduler: _LabScheduler | None = None

    def wait(self, names: Iterable[str], tell: Callable[[str], None]) -> None:
        """Waits until hosts are there, as long as the file of hosts says.

        Args:
            names: Their names.
            tell: Told which are missing, whenever that changes.

        Raises:
            HostError: Some have not joined, or the agent of one cannot be started over SSH.
        """
        names, announced, told = tuple(names), (), 0
        until_s = time.monotonic() + self.hosts.wait_s
        while missing := tuple(name for name in names if name not in self.joined()):
            self._agents.tend(missing)
            if time.monotonic() >= until_s:
                raise self._missing(missing)
            if missing != announced:
                tell(f"waiting for {_listed(missing)}")
                announced = missing
            for reason in self._untrusted()[told:]:
                tell(reason)
                told += 1
            time.sleep(LOOK_S)
        self._agents.joined(names)

    def joined(self) -> Mapping[str, str]:
        """The hosts that are there, with the addresses of their agents."""
        return {} if self._scheduler is None else dict(self._scheduler.aliases)

    def refusals(self) -> Mapping[str, str]:
        """Who was not let in, and why."""
        return {} if self._scheduler is None else dict(self._scheduler.refused)

    def _untrusted(self) -> list[str]:
        """Who failed by certificates, in the order in which they came, and what to do there."""
        named = {str(host.address): host.name for host in self.hosts.hosts}
        return [
            f"{f'`{named[address]}`' if address in named else f'an agent at {address}'} has other "
            f"certificates ({reason}): copy its own and `ca.pem` of this lab there again"
            for address, reason in self._handshakes.reasons.items()
        ]

    def order(self, host: str, order: str, *arguments: object) -> Any:
        """Has a host carry out an order.

        Args:
            host: Its name.
            order: One of `orders.ORDERS`.
            arguments: What it is given.

        Returns:
            What the method returns.

        Raises:
            HostLost: It is gone, or has not answered for `network.ANSWER_S`.
            PlimsollError: What the method raised.
        """
        return self._result(self._order(host, order, arguments))

    def order_each(
        self, order: str, arguments: Mapping[str, tuple[object, ...]]
    ) -> dict[str, Any | PlimsollError]:
        """Has several hosts carry out an order at the same time.

        Args:
            order: One of `orders.ORDERS`.
            arguments: What each host is given.

        Returns:
            What the method returns on each host, or its error.
        """
        return self._result(self._order_each(order, arguments))

    def clock(self, host: str) -> tuple[ClockExchange, ...]:
        """A burst of exchanges of readings with a host's clock.

        Raises:
            HostLost: It is gone, or has not answered for `network.ANSWER_S`.
        """
        return self.begin_clock(host).result()

    def begin_order(self, host: str, order: str) -> Future[Any]:
        """What `order` gives, without waiting: a host that is silent holds up no other."""
        return asyncio.run_coroutine_threadsafe(self._order(host, order, ()), self._loop)

    def begin_clock(self, host: str) -> Future[tuple[ClockExchange, ...]]:
        """What `clock` gives, without waiting."""
        return asyncio.run_coroutine_threadsafe(self._clock(host), self._loop)

    def _missing(self, missing: tuple[str, ...]) -> HostError:
        refusals = [
            *(f"{name}: {why}" for name, why in self.refusals().items()),
            *self._untrusted(),
        ]
        message = f"{_listed(missing)} did not join in {wording.exact(self.hosts.wait_s)} s"
        hint = (
            "start `plimsoll host serve --join "
            f"{network.address(self.hosts.address, self.hosts.port)} --name NAME …` there"
        )
        return HostError(message, "; ".join((*refusals, hint)))

    def _result(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def _order_each(
        self, order: str, arguments: Mapping[str, tuple[object, ...]]
    ) -> dict[str, Any | PlimsollError]:
        async def caught(host: str) -> Any:
            try:
                return await self._order(host, order, arguments[host])
            except PlimsollError as error:
                return error

        given = await asyncio.gather(*map(caught, arguments))
        return dict(zip(arguments, given, strict=True))

    async def _order(self, host: str, order: str, arguments: tuple[object, ...]) -> Any:
        answer = await self._called(
            host, network.ORDER, order=order, arguments=to_serialize(arguments)
        )
        sent = answer["given"]  # a scheduler leaves what it receives as it came
        given = deserialize(sent.header, sent.frames)
        if isinstance(given, PlimsollError):
            raise given
        return given

    async def _clock(self, host: str) -> tuple[ClockExchange, ...]:
        found: list[ClockExchange] = []
        # One host at a time: an answer that waits for those of others has a longer round trip.
        async with self._comparing:
            for _ in range(EXCHANGES):
                sent_ns = time.monotonic_ns()
                host_ns = await self._called(host, network.CLOCK)
                found.append(ClockExchange(sent_ns, host_ns, time.monotonic_ns()))
        return tuple(found)

    async def _called(self, host: str, handler: str, **arguments: object) -> Any:
        """What a handler of an agent gives.

        Raises:
            HostLost: The agent is gone, or does not respond in time.
        """
        address = self.joined().get(host)
        if address is None or self._scheduler is None:
            raise HostLost(f"`{host}` disconnected", "see the output of its agent")
        try:
            called = getattr(self._scheduler.rpc(address), handler)(**arguments)
            return await asyncio.wait_for(called, network.ANSWER_S)
        except OSError as error:
            # It may join again under its name as soon as it is reached, and not before: whoever
            # waits for it would take the one that is gone for it.
            await self._scheduler.remove_worker(address, stimulus_id="gone")
            is_silent = isinstance(error, TimeoutError)
            silent = f"`{host}` did not respond for {wording.exact(network.ANSWER_S)} s"
            message = silent if is_silent else f"the connection to `{host}` broke"
            raise HostLost(message, "check its agent and the network") from error

    async def listen(self) -> None:
        """Listens for hosts.

        Raises:
            HostError: The address is taken, or not one of this host.
        """
        try:
            self._scheduler = await _LabScheduler(self.hosts, self._identity)
        except (OSError, RuntimeError) as error:
            cause = error if isinstance(error, OSError) else error.__cause__
            reason = getattr(cause, "strerror", None) or str(cause or error)
            place = network.place(self.hosts.address, self.hosts.port)
            message = f"the lab cannot listen on {place}: {reason}"
            raise HostError(message, _hint_of_listening(cause)) from error

    async def close(self) -> None:
        """Sends the hosts away."""
        if self._scheduler is not None:
            await self._scheduler.close()


@contextmanager
def opened(hosts: Hosts) -> Generator[Lab]:
    """A lab that listens for its hosts for as long as the block runs.

    Raises:
        HostError: It cannot listen, or its certificate is missing or has expired.
    """
    with scratch.folder() as folder:
        trusted = _certificates(hosts, folder / "certificates")
        identity = certificates.identity(trusted, LAB)
        with (
            ssh.RemoteAgents(hosts, trusted, folder) as agents,
            network.refused_handshakes() as handshakes,
            _loop() as loop,
        ):
            lab = Lab(hosts, identity, agents, loop, handshakes)
            try:
                asyncio.run_coroutine_threadsafe(lab.listen(), loop).result()
                yield lab
            finally:
                asyncio.run_coroutine_threadsafe(lab.close(), loop).result()


def _certificates(hosts: Hosts, made: Path) -> Path:
    """The folder of the lab's certificates; made for this command where the lab starts all agents.

    Raises:
        HostError: One is missing, or of no use any more.
    """
    if hosts.certificates is None:
        certificates.make(hosts, made)
        return made
    holders = [LAB, *(host.name for host in hosts.hosts if host.ssh is not None)]
    for identity in (certificates.identity(hosts.certificates, holder) for holder in holders):
        for path in (identity.certificate, identity.key, identity.authority):
            if not path.exists():
                hint = (
                    f"make them with `plimsoll host certificates {hosts.certificates} --hosts FILE`"
                )
                raise HostError(f"`{path}` is missing", hint)
        certificates.require_usable(identity)
    return hosts.certificates


@contextmanager
def _loop() -> Generator[asyncio.AbstractEventLoop]:
    """A loop in a thread of its own."""
    network.configure()
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="lab", daemon=True)
    thread.start()
    try:
        yield loop
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def _hint_of_listening(cause: BaseException | None) -> str:
    """What to do where the lab cannot listen."""
    if isinstance(cause, OSError) and cause.errno == errno.EADDRNOTAVAIL:
        return "change `address` in the table `[lab]` to an address of this machine"
    return "end the other lab, or change the table `[lab]`"


def of_host(host: str, error: PlimsollError) -> PlimsollError:
    """An error that names the host, in front if not anywhere."""
    named = f"`{host}`"
    message = error.message if named in error.message else f"{named}: {error.message}"
    return type(error)(message, error.hint)


def of_work(host: str, error: PlimsollError) -> PlimsollError:
    """The same of a host at work: a disk of it that fails costs its trial, as its loss does."""
    named = of_host(host, error)
    return HostLost(named.message, named.hint) if isinstance(error, StorageError) else named


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
