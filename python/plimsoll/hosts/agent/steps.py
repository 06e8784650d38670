"""Steps: what an agent does for longer than the lab waits for an answer.

A step is begun by one order and asked about by others. Steps come one after the other.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from plimsoll.errors import EngineFailed, PlimsollError
from plimsoll.hosts.answers import StepState
from plimsoll.hosts.disk import disk_error

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any


@dataclass
class _Step:
    """A step that was begun."""

    state: StepState = field(default_factory=lambda: StepState(has_ended=False))


class Steps:
    """The steps of an agent; its methods may be called from any thread.

    Args:
        known: What each step does, by its name.
    """

    def __init__(self, known: Mapping[str, Callable[..., Any]]) -> None:
        """Has begun none."""
        self.turn = threading.Lock()
        self._known = known
        self._step = _Step(StepState())

    @property
    def state(self) -> StepState:
        """How the last step stands."""
        return self._step.state

    def begin(self, step: str, arguments: tuple[object, ...]) -> None:
        """Begins a step, as soon as the one before it has ended."""
        self._step = begun = _Step()
        work = (begun, self._known[step], arguments)
        threading.Thread(target=self._run, args=work, daemon=True).start()

    def _run(
        self, begun: _Step, work: Callable[..., object], arguments: tuple[object, ...]
    ) -> None:
        with self.turn:
            begun.state = ended(work, *arguments)


def ended(work: Callable[..., object], *arguments: object) -> StepState:
    """Does some work; how it ended, where it raised an error as well."""
    try:
        return StepState(given=work(*arguments))
    except PlimsollError as error:
        return StepState(error=error)
    except OSError as error:
        return StepState(error=disk_error(error))
    except Exception as error:
        return StepState(
            error=EngineFailed(f"the agent failed: {error!r}", "report it to Plimsoll")
        )
