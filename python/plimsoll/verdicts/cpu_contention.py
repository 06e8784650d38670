"""Who else had the cores of server and load generator, in the words of a verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.aggregate import disturbance

if TYPE_CHECKING:
    from plimsoll.aggregate.trial import Tables


def cpu_contention(tables: Tables) -> str:
    """What other programs, and the host of a virtual machine, took over the holds.

    Args:
        tables: The tables of the trial.

    Returns:
        `Other programs took 1.2 cores from the server`; empty where it is too little to matter.
    """
    others = disturbance.noted(tables.recording, tables.usage)
    taken: dict[str, dict[str, float]] = {
        "other programs": {whose: one.missed_cores for whose, one in others.items()},
        "the hypervisor": {**disturbance.withheld(tables.recording, tables.usage)},
    }
    parts = [f"{who} took {wording.from_whom(cores)}" for who, cores in taken.items() if cores]
    sentence = ", and ".join(parts)
    return wording.capital(sentence)
