"""A first signal after a load of several hosts waits for its figures, which come last."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, Any, Self

from plimsoll.processes.interruption import SIGNALS

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

SAID = b"interrupted: the figures of the load come first; a second signal ends at once\n"
"""What a first signal says; a handler may not use buffers that the program writes to."""


class FiguresFirst:
    """Handles signals for as long as the block runs.

    Args:
        has_ended: Says whether the load has ended; before, a signal ends the command.

    Attributes:
        count: Signals so far.
    """

    def __init__(self, has_ended: Callable[[], bool]) -> None:
        """No signal has come."""
        self._has_ended = has_ended
        self.count = 0

    def __enter__(self) -> Self:
        """Handles signals that are not ignored, as those of a program in the background are."""
        heard = [one for one in SIGNALS if signal.getsignal(one) is not signal.SIG_IGN]
        self._earlier = {number: signal.signal(number, self.handle) for number in heard}
        return self

    def __exit__(self, *_: object) -> None:
        """Leaves them to whoever handled them before."""
        for number, handler in self._earlier.items():
            signal.signal(number, handler)

    def handle(self, _number: int, _frame: FrameType | Any) -> None:
        """Handles one signal.

        Raises:
            KeyboardInterrupt: The load has not ended, or it is the second signal.
        """
        self.count += 1
        if self.count > 1 or not self._has_ended():
            raise KeyboardInterrupt
        os.write(2, SAID)
