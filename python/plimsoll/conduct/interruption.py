"""Ctrl-C: the first ends what runs cleanly, the second at once."""

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


def nothing() -> None:
    """Does nothing."""


@dataclass
class Interruption:
    """Turns signals into a clean end.

    The first signal raises `KeyboardInterrupt` where the program stands, unless it stands in a
    `deferred` block: then the block is asked to end and goes on until it does. The second signal
    raises `KeyboardInterrupt` wherever it stands.

    Attributes:
        count: Signals so far.
    """

    count: int = 0
    _ask: Callable[[], None] | None = field(default=None, repr=False)

    @contextmanager
    def listening(self) -> Generator[Interruption]:
        """Handles SIGINT and SIGTERM for as long as the block runs.

        Python lets only the main thread handle signals; in others nothing changes.
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
        """Lets a block reach its end upon the first signal.

        Args:
            ask: Asks what the block waits for to end soon; called in the signal's handler.
        """
        before, self._ask = self._ask, ask
        try:
            yield
        finally:
            self._ask = before

    def check(self) -> None:
        """Ends what runs when a signal has come.

        Raises:
            Interrupted: A signal has come.
        """
        if self.count:
            raise Interrupted("the load was ended early by a signal")

    def handle(self, _number: int, _frame: FrameType | Any) -> None:
        """Handles one signal.

        Raises:
            KeyboardInterrupt: Nothing is deferred, or it is the second signal.
        """
        self.count += 1
        if self._ask is None or self.count > 1:
            raise KeyboardInterrupt
        self._ask()
