"""Progress of what goes step by step: reading the trials of a folder, drawing its report."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.cli import progress
from plimsoll.events import Event, Listener, Step

if TYPE_CHECKING:
    from collections.abc import Generator


@contextmanager
def shown() -> Generator[Listener]:
    """Shows the last step that was told for as long as the block runs.

    Yields:
        Is told of each step.
    """
    step = ""

    def tell(event: Event) -> None:
        nonlocal step
        if isinstance(event, Step):
            step = event.message

    with progress.shown(lambda passed_s: step and f"{step}, {wording.count(passed_s)} s"):
        yield tell
