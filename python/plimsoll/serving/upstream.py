"""The upstream of a server: Plimsoll's reference server with a service time.

Each server has one of its own. What it counts is a witness of what the server asked.
"""

from __future__ import annotations

import json
import os
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import plimsoll
from plimsoll.errors import UpstreamFailed
from plimsoll.processes import ports
from plimsoll.processes.logs import quoted
from plimsoll.processes.supervised import SupervisedProcess
from plimsoll.serving import server_counters
from plimsoll.storage import scratch

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

VARIABLE = "UPSTREAM_URL"
"""Variable with its address, in the environment of the server."""

_START_S = 60.0
_LOOK_S = 0.02
_RECEIVED = "requests_received"


@dataclass
class Upstream:
    """An upstream that runs.

    Attributes:
        url: Its address, without a path.
        cores: Its cores; empty for all.
        supervisor_pid: The process that all of its processes are below.
    """

    url: str
    cores: tuple[int, ...]
    supervisor_pid: int
    _process: SupervisedProcess = field(repr=False)
    _log: Path = field(repr=False)

    @property
    def environment(self) -> dict[str, str]:
        """What the server's environment has of it."""
        return {VARIABLE: self.url}

    def stop(self) -> int | None:
        """Stops it; the requests that it received in its life, or None if it did not say."""
        self._process.stop()
        counts = server_counters.read(server_counters.COUNTING, self._log)
        return None if counts is None else counts.get(_RECEIVED)


@contextmanager
def started(
    seed: int, service_s: float, cores: Sequence[int] = (), address: str = ports.LOOPBACK
) -> Generator[Upstream]:
    """An upstream for as long as the block runs.

    Args:
        seed: Seed of its values.
        service_s: How long it takes for a response, in seconds.
        cores: Its cores; empty for all.
        address: Where it listens, in numbers.

    Yields:
        The upstream, which accepts connections.

    Raises:
        UpstreamFailed: It does not start.
    """
    workers = len(cores) or 1
    service = f"{round(service_s * 1e9)}ns"
    place = ("--host", address, "--port", "0")
    options = (*place, "--service-time", service, "--seed", str(seed))
    command = (sys.executable, "-P", "-m", "plimsoll.reference", *options)
    with scratch.folder() as folder:
        log = folder / "upstream.log"
        try:
            process = SupervisedProcess(
                (*command, "--workers", str(workers)),
                folder=folder,
                environment=_environment(),
                log=log,
                cores=cores,
            )
        except OSError as error:
            raise UpstreamFailed(f"the upstream cannot start: {error}") from error
        with process:
            found = _address(process, log)
            yield Upstream(f"http://{found}", tuple(cores), process.supervisor_pid, process, log)


def _environment() -> dict[str, str]:
    """The lab's environment without what a reference server takes from it."""
    taken = ("HOST", "PORT", "WORKERS", "FILES", "AUTH_KEY", "TLS_CERT", "TLS_KEY")
    kept = {name: text for name, text in os.environ.items() if name not in taken}
    return {**kept, "PYTHONPATH": str(Path(plimsoll.__file__).parent.parent)}


def _address(process: SupervisedProcess, log: Path) -> str:
    """Where it listens, as soon as it says so.

    Raises:
        UpstreamFailed: It ended before, or takes too long.
    """
    end_s = time.monotonic() + _START_S
    while time.monotonic() < end_s:
        line, end, _ = log.read_bytes().partition(b"\n")
        if end and line.startswith(b"{"):
            return str(json.loads(line)["address"])
        if process.wait(_LOOK_S):
            break
    raise UpstreamFailed(f"the upstream did not start; {quoted(log)}")
