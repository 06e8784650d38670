"""The host of a campaign's database, where that is not this one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from plimsoll.machine import Fact
    from plimsoll.recording import HostClock
    from plimsoll.recording.readings import Reading, ScopeName
    from plimsoll.sampling.sampler import Sampler

    ReadAtTurn = Callable[[bool, Sequence[ScopeName]], tuple[list[Reading], dict[str, str]]]
    """Reads the database and its machine now: whether thoroughly, and in which order.

    Gives the readings, and what could not be read.
    """


class DatabaseHost(Protocol):
    """Another host that runs PostgreSQL."""

    @property
    def host(self) -> str:
        """Its name in results."""
        ...

    @property
    def machine(self) -> Mapping[str, Fact]:
        """Facts of it."""
        ...

    @property
    def clock(self) -> HostClock:
        """Its clock."""
        ...

    def alive(self) -> bool:
        """Whether it is there, as far as is known."""
        ...

    def check(self) -> None:
        """Does nothing as long as it is there.

        Raises:
            HostLost: It is gone.
        """
        ...

    def sampling(self) -> AbstractContextManager[Sampler]:
        """Reads the database and its machine once a second for as long as the block runs."""
        ...

    def at_turns(self) -> AbstractContextManager[ReadAtTurn]:
        """Gives what reads them at both ends of turns, which the block lasts for."""
        ...
