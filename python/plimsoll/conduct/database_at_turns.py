"""The database of a trial that takes turns, on a host of its own: read at both ends of each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from plimsoll.conduct import database_elsewhere
from plimsoll.sampling.rests import TurnReadings

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import ExitStack

    from plimsoll.conduct.trial_state import TrialState
    from plimsoll.recording.readings import Reading, ScopeName
    from plimsoll.serving.database_host import ReadAtTurn

BEFORE: tuple[ScopeName, ...] = ("database", "machine")
"""In which scopes are read before a turn: the machine, whose idle time also passes, last."""

AFTER: tuple[ScopeName, ...] = ("machine", "database")
"""In which scopes are read after a turn."""


@dataclass
class DatabaseAtTurns:
    """The database of a trial that takes turns, where that is on a host of its own.

    Attributes:
        known: The trial.
    """

    known: TrialState
    _read: ReadAtTurn | None = None
    _readings: TurnReadings = field(default_factory=TurnReadings)
    _before: list[Reading] = field(default_factory=list["Reading"])
    _after: list[Reading] = field(default_factory=list["Reading"])

    def begin(self, processes: ExitStack) -> None:
        """It is read until `processes` are closed; nothing without such a host.

        Raises:
            HostLost: Its host is gone.
        """
        host = database_elsewhere.host_of(self.known)
        if host is not None:
            self._read = processes.enter_context(host.at_turns())

    def read_before(self, *, thorough: bool) -> None:
        """Reads it right before a turn.

        Raises:
            HostLost: Its host is gone.
        """
        self._before = self._taken(BEFORE, thorough=thorough)

    def read_after(self, *, thorough: bool) -> None:
        """Reads it right after a turn.

        Raises:
            HostLost: Its host is gone.
        """
        self._after = self._taken(AFTER, thorough=thorough)

    def keep(self, start_ns: int, end_ns: int, *, ends_stage: bool) -> None:
        """Keeps what was read, without its rests; see `TurnReadings`."""
        self._readings.begin(self._before, start_ns)
        self._readings.end(self._after, end_ns, ends_stage=ends_stage)
        self.known.of_database.readings = self._readings.kept

    def _taken(self, order: Sequence[ScopeName], *, thorough: bool) -> list[Reading]:
        if self._read is None:
            return []
        readings, problems = self._read(thorough, order)
        self.known.of_database.problems.update(problems)
        return readings
