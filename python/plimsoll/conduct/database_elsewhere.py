"""The database of a trial on a host of its own: read under load, and missed where it is lost."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from plimsoll.conduct import wide_warm_up
from plimsoll.sampling.rests import TurnReadings

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence
    from contextlib import ExitStack

    from plimsoll.conduct.trial_state import TrialState
    from plimsoll.databases.served import RowCounts
    from plimsoll.recording.readings import Reading, ScopeName
    from plimsoll.serving.database_host import DatabaseHost, ReadAtTurn


def host_of(known: TrialState) -> DatabaseHost | None:
    """The other host that runs the database of a trial; None for this one, or no database."""
    return None if known.database is None else known.setting.database_host


@contextmanager
def read(known: TrialState) -> Generator[Callable[[int], None]]:
    """Reads the database as long as the block runs; gives what is told the zero of the load.

    Raises:
        HostLost: Its host is gone.
    """
    host = host_of(known)
    if host is None:
        yield wide_warm_up.idle_at_zero
        return
    with host.sampling() as known.of_database:
        yield known.of_database.align
    host.check()


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
        host = host_of(self.known)
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


def alive(known: TrialState) -> bool:
    """Whether the database of a trial is there, as far as is known."""
    host = host_of(known)
    return host is None or host.alive()


def counted(known: TrialState) -> RowCounts | None:
    """What was counted in the database; None without one, or where that is lost or incomplete."""
    return known.database.counted() if known.database is not None and alive(known) else None
