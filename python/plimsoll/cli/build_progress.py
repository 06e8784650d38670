"""Progress of builds: the time and the last line of the log of each, until it ends."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rich.console import Console
from rich.live import Live
from rich.text import Text

from plimsoll import wording
from plimsoll.cli import messages, progress
from plimsoll.processes import logs

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from contextlib import AbstractContextManager
    from pathlib import Path

    Follow = Callable[["Build"], AbstractContextManager[None]]

UPDATES_PER_S = 2
"""Updates in a second on a terminal."""


@dataclass(frozen=True)
class Build:
    """A build that goes on.

    Attributes:
        title: What is built.
        log: Its log, which may be there from an earlier build.
        before: The state of the log when the build began.
        begun_s: When it began, by the monotonic clock, in seconds.
    """

    title: str
    log: Path
    before: tuple[int, int] | None
    begun_s: float = field(default_factory=time.monotonic)

    @classmethod
    def of(cls, title: str, log: Path) -> Build:
        """A build that begins now."""
        return cls(title, log, _state(log))

    @property
    def line(self) -> str:
        """Its title, its time and, once it has written one, the last line of its log."""
        passed = wording.count(round(time.monotonic() - self.begun_s))
        written = logs.last_lines(self.log, 1) if _state(self.log) != self.before else ()
        return ": ".join([f"{self.title}: {passed} s", *(line.strip() for line in written)])


@contextmanager
def shown() -> Generator[Follow]:
    """Shows how builds go on for as long as the block runs.

    On a terminal, a line for each that is overwritten and then removed; else a line now and then.

    Yields:
        What follows a build for as long as a block runs; several threads may call it at a time.
    """
    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        yield _reported
        return
    running: list[Build] = []
    live = Live(
        get_renderable=lambda: _lines(running),
        console=console,
        refresh_per_second=UPDATES_PER_S,
        transient=True,
    )
    with live:
        yield lambda build: _among(running, build)


def _lines(running: list[Build]) -> Text:
    """A line for each build, cut to the width of the terminal."""
    lines = [build.line for build in tuple(running)]
    return Text("\n".join(lines), no_wrap=True, overflow="ellipsis")


@contextmanager
def _among(running: list[Build], build: Build) -> Generator[None]:
    """Has a build among those that are running during the block."""
    running.append(build)
    try:
        yield
    finally:
        running.remove(build)


def _reported(build: Build) -> AbstractContextManager[None]:
    """Reports how a build goes on, now and then."""
    return progress.followed(lambda _: build.line, messages.step, progress.LINE_EVERY_S)


def _state(log: Path) -> tuple[int, int] | None:
    """What changes when a log is written; None when there is none."""
    try:
        facts = log.stat()
    except OSError:
        return None
    return facts.st_mtime_ns, facts.st_size
