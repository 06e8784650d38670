"""The database of a trial on a host of its own: read under load, and missed where it is lost."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from plimsoll.conduct import wide_warm_up

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from plimsoll.conduct.trial_state import TrialState
    from plimsoll.databases.served import RowCounts
    from plimsoll.serving.database_host import DatabaseHost


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


def alive(known: TrialState) -> bool:
    """Whether the database of a trial is there, as far as is known."""
    host = host_of(known)
    return host is None or host.alive()


def counted(known: TrialState) -> RowCounts | None:
    """What was counted in the database; None without one, or where that is lost or incomplete."""
    return known.database.counted() if known.database is not None and alive(known) else None
