"""The database beside servers: whether endpoints need one, and one that runs while they do."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from plimsoll import databases
from plimsoll.databases import installed
from plimsoll.events import Step
from plimsoll.processes import ports

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Sequence

    from plimsoll.campaign.requests import Endpoint
    from plimsoll.databases.running import RunningDatabase
    from plimsoll.errors import NotInstalled
    from plimsoll.events import Listener


def needed(endpoints: Iterable[Endpoint]) -> bool:
    """Whether one of some endpoints needs a database."""
    return any(endpoint.database is not None for endpoint in endpoints)


def has_third_party(endpoints: Iterable[Endpoint]) -> bool:
    """Whether one of some endpoints needs a database or an upstream, which need cores."""
    return any(one.database is not None or one.upstream_s is not None for one in endpoints)


def lacking(endpoints: Iterable[Endpoint], *, is_here: bool = True) -> NotInstalled | None:
    """Why endpoints that need a database have none; None if they need or have one.

    Args:
        endpoints: Endpoints.
        is_here: Whether it would run on this host, and not on another one.
    """
    if not needed(endpoints):
        return None
    return installed.missing() if is_here else installed.client_missing()


def require(endpoints: Iterable[Endpoint], *, is_here: bool = True) -> None:
    """Requires a database for endpoints that need one.

    Args:
        endpoints: Endpoints.
        is_here: Whether it would run on this host, and not on another one.

    Raises:
        NotInstalled: None can be started, or none can be spoken to.
    """
    if (error := lacking(endpoints, is_here=is_here)) is not None:
        raise error


def available(
    endpoints: Sequence[Endpoint], note: Callable[[str], None], *, is_here: bool = True
) -> tuple[Endpoint, ...]:
    """The endpoints that there is a database for, if they need one.

    Args:
        endpoints: Endpoints.
        note: Called with what is skipped, and how to include it.
        is_here: Whether it would run on this host, and not on another one.
    """
    error = lacking(endpoints, is_here=is_here)
    if error is None:
        return tuple(endpoints)
    names = ", ".join(f"`{one.name}`" for one in endpoints if one.database is not None)
    note(f"skipped: {names}: {error.message}")
    note(f"to include them: {error.hint}")
    return tuple(one for one in endpoints if one.database is None)


@contextmanager
def running(
    endpoints: Iterable[Endpoint],
    cores: Sequence[int],
    on_event: Listener,
    address: str = ports.LOOPBACK,
) -> Generator[RunningDatabase | None]:
    """PostgreSQL for as long as the block runs, if one of some endpoints needs it.

    Args:
        endpoints: The endpoints.
        cores: Cores of the database.
        on_event: Called when it starts.
        address: Where it listens, in numbers: servers on another host must reach it.

    Yields:
        It; None if no endpoint needs it.

    Raises:
        NotInstalled: None can be started here.
        DatabaseFailed: It does not start.
    """
    if not needed(endpoints):
        yield None
        return
    on_event(Step("starting PostgreSQL"))
    with databases.running.started(cores, address) as found:
        yield found
