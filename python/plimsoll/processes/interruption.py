"""Handles Ctrl-C: the first one stops cleanly, the second at once."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from plimsoll.errors import Interrupted

SIGNALS = (signal.SIGINT, signal.SIGTERM)

REPEAT = "repeat it"
"""What to do where a signal ended what cannot be resumed."""


def nothing() -> None:
    """Does nothing."""


@contextmanager
def ending_early(what: str) -> Generator[None]:
    """Has a signal end the block, or the decorated function, with an error of Plimsoll.

    Args:
        what: What ends early: `the comparison`.

    Raises:
        Interrupted: Ctrl-C, or SIGTERM while an `Interruption` listens.
    """
    try:
        yield
    except KeyboardInterrupt as error:
        raise Interrupted(f"a signal ended {what} early", REPEAT) from error


@dataclass
class Interruption:
    """Turns signals into a clean end.

    The first signal raises `KeyboardInterrupt`, unless the program is in a `deferred` block: then
    the block is requested to end, and continues until it does. The second signal always raises
    `KeyboardInterrupt`.

    Attributes:
        count: Signals so far.
        is_termination: Whether one of them was SIGTERM.
    """

    count: int = 0
    is_termination: bool = False
    _ask: Callable[[], None] | None = field(default=None, repr=False)

    @contextmanager
    def listening(self) -> Generator[Interruption]:
        """Handles SIGINT and SIGTERM during the block.

        Python allows only the main thread to handle signals; in other threads this does nothing.
        """
        if threading.current_thread() is not threading.main_thread():
            yield self
            return
        earlier = {number: signal.signal(number, self.handle) for number in SIGNALS}
        try:
            yield self
        finally:
            for number, handler in earlier.items():
                signal.signal(number, handler)

    @contextmanager
    def deferred(self, ask: Callable[[], None] = nothing) -> Generator[None]:
        """Lets a block end by itself after the first signal.

        Args:
            ask: Requests the end of what the block waits for; called in the signal handler.
        """
        before, self._ask = self._ask, ask
        try:
            yield
        finally:
            self._ask = before

    def defer(self) -> None:
        """Lets all that is left end by itself after the first signal."""
        self._ask = self._ask or nothing

    def check(self) -> None:
        """Ends the command if a signal has arrived.

        Raises:
            Interrupted: A signal has arrived.
        """
        if self.count:
            raise Interrupted("a signal ended the load early", REPEAT)

    def pass_on(self, tidy: Callable[[], None] = nothing) -> None:
        """Sends SIGTERM again where it arrived, to the handler of before; call after `listening`.

        Args:
            tidy: Called before, where the signal ends the process.
        """
        if self.is_termination:
            if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
                tidy()
            signal.raise_signal(signal.SIGTERM)

    def handle(self, number: int, _frame: FrameType | Any) -> None:
        """Handles one signal.

        Raises:
            KeyboardInterrupt: Nothing is deferred, or it is the second signal.
        """
        self.count += 1
        self.is_termination |= number == signal.SIGTERM
        if self._ask is None or self.count > 1:
            raise KeyboardInterrupt
        self._ask()
