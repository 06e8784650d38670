"""What is seen of a server on this host: its sockets, its memory, its command, the way to it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll import machine
from plimsoll.install import applications, sources
from plimsoll.processes.tree import ProcessTree
from plimsoll.recording import RecordedServer
from plimsoll.sampling import link, sock_diag
from plimsoll.sampling.samplers import memory
from plimsoll.sampling.scope import Scope

if TYPE_CHECKING:
    from plimsoll.serving.server import RunningServer, Stopped

SOMAXCONN = Path("/proc/sys/net/core/somaxconn")


def serving(running: RunningServer, client: str = "") -> RecordedServer:
    """The server's side as long as it runs.

    Args:
        running: The server.
        client: Address of one of its clients, as a number; empty for this host.
    """
    return replace(
        listening(running.place.address, client),
        cores=running.place.cores,
        workers=running.place.workers,
        start_s=running.start_s,
        backlog_required=machine.BACKLOG,
        command=_command(running),
    )


def at_rest(running: RunningServer, client: str = "") -> RecordedServer:
    """The server's side after the contract check: all its workers are up, no load is on it.

    A server whose workers come one after the other may not listen with all of them when the first
    one responses, so the sockets are looked at again.

    Args:
        running: The server.
        client: Address of one of its clients, as a number; empty for this host.
    """
    held = _held(running)
    return replace(
        serving(running, client),
        rest_rss_bytes=held.get("rss_bytes"),
        rest_pss_bytes=held.get("pss_bytes"),
        rest_threads=held.get("threads"),
    )


def listening(address: str, client: str = "") -> RecordedServer:
    """What can be seen of a server on this host that another user may have started.

    Args:
        address: Its address and port: `127.0.0.1:8080`.
        client: Address of one of its clients, as a number; empty for this host.
    """
    host, _, port = address.rpartition(":")
    found = _listeners(int(port), host)
    seen = RecordedServer(
        address=address,
        listeners=len(found) or None,
        backlog=max((listener.backlog for listener in found), default=None),
        backlogs=tuple(listener.backlog for listener in found),
        somaxconn=_somaxconn(),
    )
    return _linked(seen, client)


def elsewhere(address: str) -> RecordedServer:
    """A server of which nothing can be seen but the way to it.

    Args:
        address: Its address and port: `192.0.2.1:8080`.
    """
    return _linked(RecordedServer(address))


def stopped(
    server: RecordedServer, how: Stopped, counted: dict[str, int] | None = None
) -> RecordedServer:
    """The server's side when it has stopped.

    Args:
        server: The server's side as long as it ran.
        how: How it stopped.
        counted: What it counted itself.
    """
    return replace(
        server,
        exit_code=how.exit_code,
        clean_stop=how.clean,
        killed=how.killed,
        counted=counted,
    )


def _command(running: RunningServer) -> str:
    """The start command of a server, with what it was given and without secrets."""
    framework, place = running.framework, running.place
    given = place.environment(framework)
    shown = dict(zip(given, map(sources.shown, given, given.values()), strict=True))
    return sources.without_secrets(applications.resolved(framework.start, shown)).strip()


def _linked(server: RecordedServer, client: str = "") -> RecordedServer:
    """The server's side with the interface between it and its clients, where it is known."""
    found = link.towards(f"{client}:0" if client else server.address)
    if found is None:
        return server
    return replace(
        server,
        link=found.interface,
        link_bits_per_s=found.bits_per_s,
        link_is_virtual=found.is_virtual,
    )


def _listeners(port: int, host: str) -> tuple[sock_diag.Listener, ...]:
    try:
        return sock_diag.serving(sock_diag.listeners(port), host)
    except OSError:
        return ()


def _held(running: RunningServer) -> dict[str, int]:
    """Memory of a server's processes, in bytes, and their threads; nothing when they are gone."""
    tree = ProcessTree(running.supervisor_pid, with_root=False)
    try:
        tree.refresh()
        read = memory.read(Scope("server", tree)) if tree.stats else {}
    except OSError:
        return {}
    held = {quantity: int(value) for quantity, value in read.items()}
    return held | {"threads": sum(stat.threads for stat in tree.stats.values())} if held else {}


def _somaxconn() -> int | None:
    try:
        return int(SOMAXCONN.read_text())
    except (OSError, ValueError):
        return None
