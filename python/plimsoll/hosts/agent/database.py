"""What an agent does with the database of a campaign: starts, reads and stops it."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from plimsoll import databases
from plimsoll.errors import HostLost
from plimsoll.hosts.agent.readings import SecondReadings
from plimsoll.processes.tree import ProcessTree
from plimsoll.sampling.sampler import Sampler, sampling
from plimsoll.sampling.scope import Scope

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.databases.running import RunningDatabase
    from plimsoll.hosts.orders import DatabaseOrder
    from plimsoll.recording.readings import Reading, ScopeName


class DatabaseHere:
    """The database of this host; its methods are called one after the other, but for `align`."""

    def __init__(self) -> None:
        """Has none."""
        self._running: RunningDatabase | None = None
        self._at_turns: Sampler | None = None
        self._stopping = ExitStack()
        self._readings = SecondReadings()
        self.steps = {
            "start_database": self._start,
            "sample_database": self._sample,
            "sampled_database": self._readings.taken,
            "stop_database": self.close,
        }
        self.works = {"read_database": self._read}

    @property
    def is_there(self) -> bool:
        """Whether it was started."""
        return self._running is not None

    def align(self, zero_ns: int) -> None:
        """Has resources read at whole seconds after an instant of CLOCK_MONOTONIC."""
        self._readings.align(zero_ns)

    def close(self) -> None:
        """Stops it, if it was started."""
        self._readings.close()
        self._stopping.close()
        self._running = self._at_turns = None

    def _start(self, order: DatabaseOrder) -> RunningDatabase:
        self.close()
        starting = databases.running.started(order.cores, str(order.address))
        self._running = self._stopping.enter_context(starting)
        return self._running

    def _sample(self) -> None:
        self._readings.begin(sampling(*self._scopes()))

    def _read(
        self, thorough: bool, order: Sequence[ScopeName]
    ) -> tuple[list[Reading], dict[str, str]]:
        """What is read now, and what could not be read."""
        scopes = self._scopes()
        if self._at_turns is None:
            self._at_turns = Sampler()
            for scope in scopes:
                self._at_turns.watch(scope)
        readings = self._at_turns.read_alone(thorough=thorough, order=order)
        return readings, self._at_turns.problems

    def _scopes(self) -> list[Scope]:
        """Its resources, and those of its machine.

        Raises:
            HostLost: It was stopped because the lab was silent.
        """
        if self._running is None:
            message = "it stopped the database, because it lost contact with the lab"
            raise HostLost(message, "check the network between them")
        pid = self._running.supervisor_pid
        trees = [] if pid is None else [Scope("database", ProcessTree(pid, with_root=False))]
        return [Scope("machine"), *trees]
