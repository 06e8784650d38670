"""What an agent reads once a second of what runs here under load, until the lab takes it."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from plimsoll.recording.readings import Reading, ScopeName
    from plimsoll.sampling.sampler import Sampler


class SecondReadings:
    """Readings of a load, one set after the other; `align` may be called from any thread."""

    def __init__(self) -> None:
        """Reads nothing."""
        self._sampler: Sampler | None = None
        self._reading = ExitStack()

    def begin(self, sampling: AbstractContextManager[Sampler]) -> None:
        """Reads from now on.

        Args:
            sampling: What reads once a second as long as it is entered.
        """
        self._sampler = self._reading.enter_context(sampling)

    def align(self, zero_ns: int) -> None:
        """Has resources read at whole seconds after an instant of CLOCK_MONOTONIC."""
        sampler = self._sampler
        if sampler is not None:
            sampler.align(zero_ns)

    def busy_cores(self, scope: ScopeName) -> float | None:
        """Cores that a scope keeps busy; None before the second reading, or without any."""
        sampler = self._sampler
        return None if sampler is None else sampler.busy_cores(scope)

    def taken(self) -> tuple[list[Reading], dict[str, str]]:
        """Ends; every reading, and what could not be read."""
        self._reading.close()
        sampler, self._sampler = self._sampler, None
        return ([], {}) if sampler is None else (sampler.readings, sampler.problems)

    def close(self) -> None:
        """Ends, and forgets what was read."""
        self.taken()
