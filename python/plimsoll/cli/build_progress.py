"""Progress of a build: its time and the last line of its log, until it ends."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.status import Status
from rich.text import Text

from plimsoll import wording
from plimsoll.cli import messages
from plimsoll.processes import logs

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path

LINE_EVERY_S = 30.0
"""Time between two lines where stderr is no terminal."""

UPDATE_EVERY_S = 0.5
"""Time between two updates on a terminal."""


@contextmanager
def shown(title: str, log: Path) -> Generator[None]:
    """Shows how a build goes on for as long as the block runs.

    On a terminal, a line that is overwritten and then removed; else a line now and then.

    Args:
        title: What is built.
        log: Its log, which may be there from an earlier build.
    """
    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        with _reported(title, log, messages.step, LINE_EVERY_S):
            yield
        return
    with (
        Status(Text(title), console=console) as status,
        _reported(title, log, lambda line: status.update(Text(line)), UPDATE_EVERY_S),
    ):
        yield


@contextmanager
def _reported(
    title: str, log: Path, tell: Callable[[str], None], every_s: float
) -> Generator[None]:
    """Tells how a build goes on, at intervals, from a thread of its own."""
    ended = threading.Event()
    begun_s, before = time.monotonic(), _state(log)

    def follow() -> None:
        while not ended.wait(every_s):
            passed = wording.count(round(time.monotonic() - begun_s))
            line = "" if _state(log) == before else _last_line(log)
            tell(f"{title}: {passed} s{line}")

    follower = threading.Thread(target=follow, daemon=True)
    follower.start()
    try:
        yield
    finally:
        ended.set()
        follower.join()


def _state(log: Path) -> tuple[int, int] | None:
    """What changes when a log is written; None when there is none."""
    try:
        facts = log.stat()
    except OSError:
        return None
    return facts.st_mtime_ns, facts.st_size


def _last_line(log: Path) -> str:
    """`: ` and the last line of a log; nothing if it has none."""
    return "".join(f": {line.strip()}" for line in logs.last_lines(log, 1))
