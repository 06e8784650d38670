"""The server's side of turns, wherever the server runs.

It rests while others work, and is read with its machine at both ends of its own turns: here
(`turns_here`), or by the agent of its host (`hosts.server_turns`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractContextManager

    from plimsoll.recording.readings import Reading


@dataclass(frozen=True)
class ServerTurn:
    """What was read of a server and its machine at both ends of a turn.

    Attributes:
        before: Readings made right before it.
        after: Readings made right after it.
        cpu_ns: CPU time of the server's processes within it; None where one of them ended in it,
            and of a server whose short-lived processes take a part of it.
        is_alive: Whether the server runs.
        freezes: Whether it is frozen while it rests.
        problems: What could not be read, and why.
    """

    before: Sequence[Reading]
    after: Sequence[Reading]
    cpu_ns: int | None
    is_alive: bool
    freezes: bool
    problems: Mapping[str, str]


class ServerTurns(Protocol):
    """A server that takes turns.

    Every method may raise `HostLost` where it runs on another host.
    """

    @property
    def freezes(self) -> bool:
        """Whether it is frozen while it rests, since it went on working."""
        ...

    def widened(self) -> AbstractContextManager[None]:
        """It may use every core of its machine for as long as the block runs."""
        ...

    def wait_until_idle(self) -> None:
        """Waits until it has nothing to do any more, 10 s at most."""
        ...

    def settle(self) -> None:
        """Waits likewise after its warm-up; one that goes on working is frozen in its rests."""
        ...

    def wake(self) -> None:
        """It may work from now on."""
        ...

    def rest(self) -> None:
        """It rests from now on."""
        ...

    def begin(self, *, thorough: bool) -> None:
        """Reads it and its machine, and has it work.

        Args:
            thorough: Whether to read what disturbs or takes long, too.
        """
        ...

    def end(self, *, thorough: bool) -> ServerTurn:
        """Has it rest, and reads it and its machine.

        Args:
            thorough: Whether to read what disturbs or takes long, too.
        """
        ...
