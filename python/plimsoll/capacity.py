"""Capacity: the maximum rate of the engine on this host, measured once and stored.

`plimsoll calibrate` stores it in a user file, one for each machine and version of the engine. A
trial looks up the nearest case and writes its rate into the recording, so that verdicts need only
the recording.
"""

from __future__ import annotations

import errno
import hashlib
import json
import math
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from plimsoll import user_folders
from plimsoll.errors import StorageError

FORMAT = 1
"""Version of the format of the file."""

IDENTITY = (
    "cores",
    "cores_online",
    "physical_cores",
    "cpu_model",
    "architecture",
    "kernel",
    "hypervisor",
    "container",
    "cgroup_cores",
)
"""Facts of a host on which its capacity depends; if one differs, a stored capacity does not apply.
"""


@dataclass(frozen=True)
class EngineCapacity:
    """The capacity in one case.

    Attributes:
        connections: Number of connections.
        response_bytes: Mean length of a response with its head.
        throughput_per_s: Responses per second of engine and reference server together.
        threads: Threads of the engine.
        cpu_per_request_s: CPU time of the engine per request, with every row recorded.
        driver_busy_ratio: Busy share of the engine's threads.
        server_busy_ratio: Busy share of the reference server's cores.
        protocol: `http1`, `http2` or `websocket`.
        tls: Whether connections were secured by TLS.
        in_flight_each: Requests in flight on each connection.
    """

    connections: int
    response_bytes: float
    throughput_per_s: float
    threads: int
    cpu_per_request_s: float
    driver_busy_ratio: float
    server_busy_ratio: float
    protocol: str = "http1"
    tls: bool = False
    in_flight_each: int = 1

    @property
    def thread_per_s(self) -> float:
        """Requests per second that one thread of the engine could send on its own core."""
        return 1 / self.cpu_per_request_s


def engine(name: str, version: str) -> str:
    """The name of a driver in stored capacities."""
    return f"{name} {version}"


def identity(machine: Mapping[str, object], engine: str) -> dict[str, object]:
    """The key of a capacity: the facts it depends on, and the version of the engine.

    Args:
        machine: Facts of a host from `machine.facts`; missing ones are null.
        engine: Name and version of the engine.
    """
    return {**{name: machine.get(name) for name in IDENTITY}, "engine": engine}


def file(machine: Mapping[str, object], engine: str) -> Path:
    """The file with the capacities of a host and an engine.

    Raises:
        StorageError: The user has no home folder.
    """
    text = json.dumps(identity(machine, engine), sort_keys=True)
    mark = hashlib.sha256(text.encode()).hexdigest()[:12]
    return state_folder() / f"capacity-{mark}.json"


def state_folder() -> Path:
    """The user's folder for what is known of this host.

    Source:
        XDG Base Directory Specification, `XDG_STATE_HOME`.

    Raises:
        StorageError: The user has no home folder.
    """
    return user_folders.below("XDG_STATE_HOME", ".local/state")


def keep(
    capacities: Sequence[EngineCapacity],
    machine: Mapping[str, object],
    engine: str,
    into: Path | None = None,
) -> Path:
    """Stores the capacities of a host.

    Args:
        capacities: The capacities.
        machine: Facts of the host.
        engine: Name and version of the engine.
        into: The file; None for the one that trials read.

    Returns:
        The file.

    Raises:
        StorageError: It cannot be written.
    """
    path = into or file(machine, engine)
    content = {
        "format": FORMAT,
        "identity": identity(machine, engine),
        "capacities": [asdict(one) for one in capacities],
    }
    partial = path.with_name(f"{path.name}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text(json.dumps(content, indent=1) + "\n", "utf-8")
        partial.replace(path)
    except OSError as error:
        raise _unwritable(path, error) from error
    return path


def require_writable(path: Path) -> None:
    """Does nothing where a file of capacities can be written; makes its folder.

    Raises:
        StorageError: It cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise _unwritable(path, error) from error


def _unwritable(path: Path, error: OSError) -> StorageError:
    message = f"`{path}` cannot be written: {error.strerror}"
    return StorageError(message, "choose another file with `into=`")


def kept(machine: Mapping[str, object], engine: str) -> tuple[EngineCapacity, ...]:
    """The capacities of a host; none if it is not calibrated, or the file is invalid."""
    try:
        content = json.loads(file(machine, engine).read_text("utf-8"))
        if content["format"] != FORMAT or content["identity"] != identity(machine, engine):
            return ()
        return tuple(EngineCapacity(**one) for one in content["capacities"])
    except (OSError, StorageError, ValueError, KeyError, TypeError):
        return ()


def nearest(
    capacities: Sequence[EngineCapacity],
    connections: int,
    response_bytes: float,
    *,
    protocol: str = "http1",
    tls: bool = False,
    in_flight_each: int = 1,
) -> EngineCapacity | None:
    """The case nearest to a trial by the same protocol.

    Near are small ratios of connections, of lengths and of requests on a connection.

    Args:
        capacities: The cases.
        connections: Connections of the trial.
        response_bytes: Mean length of its responses with their heads.
        protocol: What it speaks.
        tls: Whether its connections are secured.
        in_flight_each: Requests in flight on each of them.

    Returns:
        The case; None if there is none.
    """

    def distance(one: EngineCapacity) -> float:
        return (
            abs(math.log((one.connections + 1) / (connections + 1)))
            + abs(math.log((one.response_bytes + 1) / (response_bytes + 1)))
            + abs(math.log(one.in_flight_each / in_flight_each))
        )

    alike = [one for one in capacities if (one.protocol, one.tls) == (protocol, tls)]
    return min(alike, key=distance, default=None)
