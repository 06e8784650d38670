"""Progress of a build: its time and the last line of its log, until it ends."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.cli import progress
from plimsoll.processes import logs

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path


@contextmanager
def shown(title: str, log: Path) -> Generator[None]:
    """Shows how a build goes on for as long as the block runs.

    Args:
        title: What is built.
        log: Its log, which may be there from an earlier build.
    """
    before = _state(log)

    def line(passed_s: int) -> str:
        last = "" if _state(log) == before else _last_line(log)
        return f"{title}: {wording.count(passed_s)} s{last}"

    with progress.shown(line):
        yield


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
