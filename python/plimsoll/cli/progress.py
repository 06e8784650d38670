"""Progress of what takes long: one line on stderr, which follows it until it ends."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.live import Live
from rich.text import Text

from plimsoll.cli import messages

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

LINE_EVERY_S = 30.0
"""Time between two lines where stderr is no terminal."""

UPDATE_EVERY_S = 0.5
"""Time until the first line on a terminal, and between two updates."""


@contextmanager
def shown(line: Callable[[int], str]) -> Generator[None]:
    """Shows how something goes on for as long as the block runs.

    On a terminal, a line that is overwritten and then removed; else a line now and then.

    Args:
        line: The line after some seconds; empty for none.
    """
    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        with followed(line, messages.step, LINE_EVERY_S):
            yield
        return
    # Whoever asks in the block whether stdout is a terminal needs stdout as it is.
    live = Live(
        console=console,
        auto_refresh=False,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )

    def update(text: str) -> None:
        live.start()
        live.update(Text(text, no_wrap=True, overflow="ellipsis"), refresh=True)

    try:
        with followed(line, update, UPDATE_EVERY_S):
            yield
    finally:
        live.stop()


@contextmanager
def followed(
    line: Callable[[int], str], tell: Callable[[str], None], every_s: float
) -> Generator[None]:
    """Tells a line at intervals for as long as the block runs, from a thread of its own.

    Args:
        line: The line after some seconds; empty for none.
        tell: Is given it.
        every_s: Time between two lines, in seconds.
    """
    ended = threading.Event()
    begun_s = time.monotonic()

    def follow() -> None:
        while not ended.wait(every_s):
            text = line(round(time.monotonic() - begun_s))
            if text:
                tell(text)

    follower = threading.Thread(target=follow, daemon=True)
    follower.start()
    try:
        yield
    finally:
        ended.set()
        follower.join()
