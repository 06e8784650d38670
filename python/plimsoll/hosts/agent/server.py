"""What an agent does with a server: makes it ready, starts, reads and stops it.

Each is a step (`steps`). All that acts on a server is what one machine does with its own
(`serving.here`). Its turns (`server_turns`) and the database of a campaign (`database`) have
their steps beside them.
"""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING

from plimsoll.errors import HostLost, NotInstalled
from plimsoll.hosts.agent.database import DatabaseHere
from plimsoll.hosts.agent.readings import SecondReadings
from plimsoll.hosts.agent.server_turns import ServedTurns
from plimsoll.hosts.agent.steps import Steps
from plimsoll.hosts.answers import ServerState, StartedServer
from plimsoll.install import applications, readiness
from plimsoll.serving.here import LocalHost

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path
    from typing import Any

    from plimsoll.campaign.fixtures import ServedFile
    from plimsoll.hosts.orders import OrderedFramework, ServerOrder
    from plimsoll.provenance import Part
    from plimsoll.recording import RecordedServer
    from plimsoll.recording.readings import Reading
    from plimsoll.serving.here import LocalServer

LOG = "server.log"


class ServedHere:
    """Servers of this host, one after the other; its methods may be called from any thread.

    Args:
        folder: Where logs are written.
    """

    def __init__(self, folder: Path) -> None:
        """Has no server."""
        self.log = folder / LOG
        self._server: LocalServer | None = None
        self._stopping = ExitStack()
        self._readings = SecondReadings()
        self._database = DatabaseHere()
        self._turns = ServedTurns(self._running)
        steps: Mapping[str, Callable[..., Any]] = {
            "absent": self._absent,
            "make_ready": self._make_ready,
            "application": self._application,
            "start": self._start,
            "at_rest": self._at_rest,
            "write": self._write,
            "control": self._control,
            "idle": partial(self._idle, reads_server=False),
            "idle_with_server": partial(self._idle, reads_server=True),
            "sample": self._sample,
            "sampled": self._readings.taken,
            "check_alive": self._check_alive,
            "stop": self._stop,
            **self._turns.steps,
            **self._database.steps,
        }
        self._steps = Steps(steps)
        self._works: Mapping[str, Callable[..., Any]] = {
            **self._turns.works,
            **self._database.works,
        }

    def begin(self, step: str, arguments: tuple[object, ...]) -> None:
        """Begins a step, as soon as the one before it has ended."""
        self._steps.begin(step, arguments)

    def at_turn(self, work: str, arguments: tuple[object, ...]) -> Any:
        """Does at once what takes milliseconds, as soon as no step goes on.

        Raises:
            HostLost: The server, or the database, was stopped.
        """
        with self._steps.turn:
            return self._works[work](*arguments)

    def state(self) -> ServerState:
        """How the server and the last step stand."""
        server = self._server
        return ServerState(
            is_alive=server is not None and server.alive(),
            busy_cores=self._readings.busy_cores("server"),
            step=self._steps.state,
        )

    @property
    def is_busy(self) -> bool:
        """Whether there is a server or a database, or a step goes on."""
        is_there = self._server is not None or self._database.is_there
        return is_there or not self._steps.state.has_ended

    def align(self, zero_ns: int) -> None:
        """Has resources read at whole seconds after an instant of CLOCK_MONOTONIC."""
        self._readings.align(zero_ns)
        self._database.align(zero_ns)

    def kill(self) -> None:
        """Kills the server."""
        server = self._server
        if server is not None:
            server.kill()

    def abandon(self) -> None:
        """Waits for the step that goes on, and stops server and database."""
        with self._steps.turn:
            self._close()
            self._database.close()

    def _absent(self, ordered: OrderedFramework) -> NotInstalled | None:
        try:
            return readiness.absent(ordered.here())
        except NotInstalled as error:
            return error

    def _make_ready(self, ordered: OrderedFramework) -> tuple[str, ...]:
        """Builds a framework if it changed; what was built, and why."""
        done: list[str] = []
        readiness.make_ready([ordered.here()], done.append)
        return tuple(done)

    def _application(self, ordered: OrderedFramework) -> tuple[Part, ...]:
        return applications.of(ordered.here())

    def _start(self, order: ServerOrder) -> StartedServer:
        self._close()
        self.log.unlink(missing_ok=True)
        place = LocalHost(str(order.address), str(order.client))
        starting = place.started(
            order.ordered.here(),
            self.log,
            order.cores,
            order.service,
            order.environment,
            order.seed,
        )
        server = self._stopping.enter_context(starting)
        self._server = server
        proof = server.place.credentials
        return StartedServer(
            server.place, server.seen(), b"" if proof is None else proof.certificate.read_bytes()
        )

    def _at_rest(self) -> RecordedServer:
        return self._running().at_rest()

    def _write(self, file: ServedFile) -> None:
        self._running().write(file)

    def _control(self) -> list[Reading]:
        return self._running().control()

    def _idle(self, length_s: float, *, reads_server: bool) -> list[Reading]:
        return self._running().idle(length_s, None, reads_server=reads_server)

    def _sample(self) -> None:
        self._readings.begin(self._running().sampling())

    def _check_alive(self) -> None:
        self._running().check_alive()

    def _stop(self, side: RecordedServer) -> RecordedServer:
        self._turns.close()
        stopped = self._running().stop(side)
        self._close()
        return stopped

    def _running(self) -> LocalServer:
        """The server.

        Raises:
            HostLost: It was stopped because the lab was silent.
        """
        if self._server is None:
            message = "it stopped the server, because it lost contact with the lab"
            raise HostLost(message, "check the network between them")
        return self._server

    def _close(self) -> None:
        self._turns.close()
        self._readings.close()
        self._stopping.close()
        self._server = None
