"""How much of its load a trial ran, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import wording

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.campaign.load import Load, UnknownLoad
    from plimsoll.recording import RecordedStage


def ran(stages: Sequence[RecordedStage], load: Load | UnknownLoad) -> str:
    """How long a load ran that was to run longer: `after 1.8 of 10 s`.

    Args:
        stages: Its stages as they ran.
        load: The load as requested; one that ends after some requests alone has no length.
    """
    if not stages:
        return "before it began"
    ran_s = stages[-1].end_ns / 1e9
    if load.model == "unknown" or not load.is_timed:
        return f"after {wording.seconds(ran_s)}"
    return f"after {wording.decimals(ran_s, 1)} of {wording.seconds(load.duration_s)}"


def ended_early(stages: Sequence[RecordedStage], load: Load | UnknownLoad) -> str:
    """What a signal did to a load, in a sentence.

    Args:
        stages: Its stages as they ran.
        load: The load as requested.
    """
    return f"a signal ended the load {ran(stages, load)}"
