"""What an agent does with a server that takes turns: what one machine does with its own."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from plimsoll.errors import EngineFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from plimsoll.serving.here import LocalServer
    from plimsoll.serving.server_turns import ServerTurn, ServerTurns


class ServedTurns:
    """The turns of a server of this host; its methods are called one after the other.

    Args:
        running: Gives the server; raises `HostLost` where it was stopped.

    Attributes:
        steps: What takes long, by the name of its step.
        works: What is done at once, by its name.
    """

    def __init__(self, running: Callable[[], LocalServer]) -> None:
        """It takes none yet."""
        self._running = running
        self._turns: ServerTurns | None = None
        self._taking = ExitStack()
        self._widened = ExitStack()
        self.steps: Mapping[str, Callable[..., Any]] = {
            "take_turns": self._take_turns,
            "widen": self._widen,
            "narrow": self._narrow,
            "wait_until_idle": lambda: self._required().wait_until_idle(),
            "settle": self._settle,
        }
        self.works: Mapping[str, Callable[..., Any]] = {
            "wake": lambda: self._required().wake(),
            "rest": lambda: self._required().rest(),
            "begin_turn": self._begin,
            "end_turn": self._end,
        }

    def close(self) -> None:
        """It works as before, on its own cores."""
        self._widened.close()
        self._taking.close()
        self._turns = None

    def _take_turns(self) -> None:
        self._turns = self._taking.enter_context(self._running().in_turns())

    def _widen(self) -> None:
        self._widened.enter_context(self._required().widened())

    def _narrow(self) -> None:
        self._widened.close()

    def _settle(self) -> bool:
        """Whether it is frozen in its rests."""
        turns = self._required()
        turns.settle()
        return turns.freezes

    def _begin(self, thorough: bool) -> None:
        self._required().begin(thorough=thorough)

    def _end(self, thorough: bool) -> ServerTurn:
        return self._required().end(thorough=thorough)

    def _required(self) -> ServerTurns:
        """The turns.

        Raises:
            HostLost: The server was stopped.
            EngineFailed: It takes no turns.
        """
        self._running()
        if self._turns is None:
            raise EngineFailed("the server takes no turns here", "report it to Plimsoll")
        return self._turns
