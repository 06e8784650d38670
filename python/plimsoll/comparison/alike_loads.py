"""Alike loads: loads of a campaign that request the same, in another way each."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from plimsoll.campaign.load import Load
    from plimsoll.comparison.comparisons import ComparedTrial

    Subject = tuple[object, ...]
    """What the loads of a group have in common."""


def by_load(
    repetitions: Sequence[ComparedTrial], alike: Callable[[Load], Subject]
) -> dict[Subject, dict[str, list[ComparedTrial]]]:
    """Trials by what they have in common, then by load.

    What they have in common begins with endpoint, framework and driver.

    Args:
        repetitions: The trials of a campaign.
        alike: What else they must have in common, by their load.

    Returns:
        What they have in common to name of a load to its repetitions; unknown loads are left out.
    """
    grouped: dict[Subject, dict[str, list[ComparedTrial]]] = {}
    for one in repetitions:
        load = one.recording.load
        if load.model == "unknown":
            continue
        framework, endpoint, name, driver = one.key
        found = grouped.setdefault((endpoint, framework, driver, *alike(load)), {})
        found.setdefault(name, []).append(one)
    return grouped


def requested(load: Load) -> Subject:
    """What loads have in common that differ in protocol and requests on a connection alone."""
    each = load.in_flight_each if load.model == "closed" else 1
    holds = (stage for stage in load.stages if stage.kind == "hold")
    levels = tuple((stage.start * each, stage.end * each) for stage in holds)
    return load.model, levels, load.keeps_connections, load.think_time_s, load.server_cores
