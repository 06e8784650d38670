"""The lab's side of a server that takes turns on a host of its own: its agent does the work.

Every order is answered before a turn begins, or given after it has ended.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Generator

    from plimsoll.hosts.lab.contact import Contact
    from plimsoll.serving.server_turns import ServerTurn


class HostTurns:
    """A server of another host that takes turns.

    Args:
        contact: Contact with its host.

    Attributes:
        freezes: Whether it is frozen while it rests, as was heard last.
    """

    def __init__(self, contact: Contact) -> None:
        """It works."""
        self._contact = contact
        self.freezes = False

    @contextmanager
    def widened(self) -> Generator[None]:
        """It may use every core of its machine for as long as the block runs."""
        self._contact.step("widen")
        try:
            yield
        finally:
            self._contact.step("narrow")

    def wait_until_idle(self) -> None:
        """Waits until it has nothing to do any more, 10 s at most."""
        self._contact.step("wait_until_idle")

    def settle(self) -> None:
        """Waits likewise after its warm-up; one that goes on working is frozen in its rests."""
        self.freezes = self._contact.step("settle")

    def wake(self) -> None:
        """It may work from now on."""
        self._contact.have_done("wake")

    def rest(self) -> None:
        """It rests from now on."""
        self._contact.have_done("rest")

    def begin(self, *, thorough: bool) -> None:
        """Reads it and its machine, and has it work.

        Args:
            thorough: Whether to read what disturbs or takes long, too.
        """
        self._contact.have_done("begin_turn", thorough)

    def end(self, *, thorough: bool) -> ServerTurn:
        """Has it rest, and reads it and its machine.

        Args:
            thorough: Whether to read what disturbs or takes long, too.
        """
        turn = cast("ServerTurn", self._contact.have_done("end_turn", thorough))
        self.freezes = turn.freezes
        before, after = self._contact.moved(turn.before), self._contact.moved(turn.after)
        return replace(turn, before=before, after=after)
