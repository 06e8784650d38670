"""Listeners of the verbs without a panel: what happens meanwhile, on stderr."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.cli import messages
from plimsoll.events import Notice, Step

if TYPE_CHECKING:
    from plimsoll.events import Event


def notes(event: Event) -> None:
    """Prints notices, and nothing else."""
    if isinstance(event, Notice):
        messages.note(event.message)


def steps(event: Event) -> None:
    """Prints notices and steps."""
    notes(event)
    if isinstance(event, Step):
        messages.step(event.message)
