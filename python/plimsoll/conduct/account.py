"""What is known of a trial while it is conducted; at its end it becomes the recording."""

from __future__ import annotations

import json
import platform
import time
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import plimsoll
from plimsoll.conduct import commands
from plimsoll.conduct.recording import HOST
from plimsoll.conduct.sampler import Sampler
from plimsoll.conduct.sampling import sockets
from plimsoll.recording import Ending, Recording, Server

if TYPE_CHECKING:
    from plimsoll.campaign.framework import Framework
    from plimsoll.campaign.requests import Exchange
    from plimsoll.conduct.drive import Driven
    from plimsoll.conduct.scope import Reading
    from plimsoll.conduct.server import Server as RunningServer
    from plimsoll.conduct.server import Stopped
    from plimsoll.conduct.setting import Setting
    from plimsoll.errors import PlimsollError
    from plimsoll.plan import Trial

SOMAXCONN = Path("/proc/sys/net/core/somaxconn")


@dataclass
class Account:
    """What is known of a trial so far.

    Attributes:
        trial: The trial.
        setting: What it has in common with others.
        exchanges: What is sent under load; empty until the contract was checked.
        began_utc_ns: When it began; its zero as long as nothing was driven.
        ending: How it ended.
        server: The server's side; None until it answered.
        contract: What was wrong before and after the load.
        sampler: Has the readings of resources.
        driven: The driver's side; None until it ended.
    """

    trial: Trial
    setting: Setting
    exchanges: tuple[Exchange, ...] = ()
    began_utc_ns: int = field(default_factory=time.time_ns)
    ending: Ending = field(default_factory=Ending)
    server: Server | None = None
    contract: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    sampler: Sampler = field(default_factory=Sampler)
    driven: Driven | None = None

    def fail(self, error: PlimsollError) -> None:
        """Notes the error that ended the trial."""
        self.ending = Ending(type(error).__name__, error.message, error.hint)

    @property
    def readings(self) -> list[Reading]:
        """Every reading of a resource, and what the driver said of itself."""
        said = self.driven.readings if self.driven else ()
        return [*self.sampler.readings, *said]

    @property
    def zero_ns(self) -> int:
        """Zero of the trial by CLOCK_MONOTONIC; its first reading as long as nothing was driven."""
        if self.driven:
            return self.driven.zero_monotonic_ns
        return min((reading.at_ns for reading in self.sampler.readings), default=0)

    def recording(self) -> Recording:
        """What happened."""
        trial, driven = self.trial, self.driven
        return Recording(
            trial=trial.id,
            order=trial.order,
            framework=trial.framework.name,
            variant=trial.framework.variant,
            language=trial.framework.language,
            endpoint=trial.endpoint.name,
            load=json.loads(json.dumps(asdict(trial.load))),
            repetition=trial.repetition,
            driver_name=trial.driver,
            seed=trial.seed,
            zero_utc=utc(driven.zero_utc_ns if driven else self.began_utc_ns),
            stages=driven.stages if driven else (),
            requests=tuple(exchange.request.name for exchange in self.exchanges),
            machines={HOST: self.setting.machine},
            versions=versions(trial.framework, driven),
            clock_offsets_ns={HOST: 0},
            ending=self.ending,
            server=self._server(),
            driver=driven.driver if driven else None,
            contract=self.contract,
            notes=self._notes(),
            limits=self.setting.limits,
        )

    def _server(self) -> Server | None:
        """The server's side, with the memory that it held before the load."""
        if self.server is None:
            return None
        at_rest = [
            int(reading.value)
            for reading in self.sampler.readings
            if (reading.scope, reading.quantity) == ("server", "rss_bytes")
        ]
        return replace(self.server, rest_rss_bytes=at_rest[0] if at_rest else None)

    def _notes(self) -> tuple[str, ...]:
        """Notes of the framework and of all trials, and which resources could not be read."""
        unread = [f"{what} could not be read: {why}" for what, why in self.sampler.problems.items()]
        return (*self.trial.framework.notes, *self.setting.notes, *unread)


def serving(running: RunningServer) -> Server:
    """The server's side as long as it runs."""
    return replace(
        listening(running.place.address),
        cores=running.place.cores,
        workers=running.place.workers,
        start_s=running.start_s,
    )


def listening(address: str) -> Server:
    """What can be seen of a server on this host that somebody else may have started.

    Args:
        address: Its address and port: `127.0.0.1:8080`.
    """
    found = _listeners(int(address.rpartition(":")[2]))
    return Server(
        address=address,
        listeners=len(found) or None,
        backlog=max((listener.backlog for listener in found), default=None),
        somaxconn=_somaxconn(),
    )


def stopped(server: Server, how: Stopped) -> Server:
    """The server's side when it has stopped."""
    return replace(server, exit_code=how.exit_code, clean_stop=how.clean, killed=how.killed)


def versions(framework: Framework, driven: Driven | None) -> dict[str, str]:
    """Version of each part that took part."""
    known = {
        "plimsoll": plimsoll.__version__,
        "python": platform.python_version(),
        "framework": commands.version(framework),
        "driver": driven.driver.version if driven else "",
    }
    return {part: version for part, version in known.items() if version}


def utc(ns: int) -> str:
    """An instant of the wall clock in ISO 8601, to the microsecond.

    Args:
        ns: Nanoseconds since 1970.
    """
    return datetime.fromtimestamp(ns / 1e9, UTC).isoformat().replace("+00:00", "Z")


def _listeners(port: int) -> tuple[sockets.Listener, ...]:
    try:
        return sockets.listeners(port)
    except OSError:
        return ()


def _somaxconn() -> int | None:
    try:
        return int(SOMAXCONN.read_text())
    except (OSError, ValueError):
        return None
