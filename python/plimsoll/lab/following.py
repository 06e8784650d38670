"""The trials of a campaign that follow from others: further blocks, tries of lines, steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import lab, plan
from plimsoll.campaign import as_run
from plimsoll.comparison import further_blocks
from plimsoll.errors import StorageError
from plimsoll.findings import gathering

if TYPE_CHECKING:
    from plimsoll.campaign.campaign import Campaign
    from plimsoll.conduct.campaign import Further
    from plimsoll.events import Listener
    from plimsoll.plan import Refuses, Trial
    from plimsoll.storage.results import Results


def begun(campaign: Campaign, refuses: Refuses, stored: Results) -> tuple[Trial, ...]:
    """The trials beyond the plan that are known: those of earlier runs, and steps of a ladder.

    Args:
        campaign: The campaign.
        refuses: Returns why a driver cannot generate a load.
        stored: Its results.
    """
    if campaign.line is not None:
        return lab.line_following.recorded(campaign, refuses, stored)
    if campaign.ladder is not None:
        return lab.ladder_following.steps(campaign, refuses, stored)
    planned = set(stored.planned_ids())
    further = range(campaign.repetitions + 1, further_blocks.MOST + 1) if campaign.until else ()
    return tuple(one for one in plan.blocks(campaign, further, refuses) if one.id in planned)


def further(campaign: Campaign, refuses: Refuses, stored: Results, on_event: Listener) -> Further:
    """Gives the next trials, group by group.

    Args:
        campaign: The campaign.
        refuses: Returns why a driver cannot generate a load.
        stored: Its results so far.
        on_event: Called with the state of each search for a load line.
    """
    if campaign.line is not None:
        return lab.line_following.LineTurns(campaign, refuses, stored, on_event).following
    if campaign.ladder is not None:
        return lambda: _steps(campaign, refuses, stored)
    return lambda: group(campaign, refuses, stored)


def _steps(campaign: Campaign, refuses: Refuses, stored: Results) -> tuple[Trial, ...]:
    """The steps of a ladder that are not recorded; empty when all are."""
    recorded = set(stored.trial_ids())
    found = lab.ladder_following.steps(campaign, refuses, stored)
    return tuple(one for one in found if one.id not in recorded)


def group(campaign: Campaign, refuses: Refuses, stored: Results) -> tuple[Trial, ...]:
    """The next block of the table that needs it most; empty when none begins.

    Args:
        campaign: The campaign.
        refuses: Returns why a driver cannot generate a load.
        stored: Its results so far.

    Raises:
        StorageError: They could not be read.
    """
    progress = gathering.gather(stored).progress if campaign.until else None
    following = progress and progress.following
    if following is None:
        return ()
    block = plan.blocks(campaign, (following.blocks + 1,), refuses)
    return tuple(one for one in block if plan.table(one) == following.table)


def require_until(campaign: Campaign, stored: Results) -> None:
    """Requires that a campaign which may have stopped early is still read as one.

    Args:
        campaign: The campaign.
        stored: Its results, of which there may be none yet.

    Raises:
        StorageError: It was run with `until` before, and intervals would no longer allow for that.
    """
    before = as_run.read(stored.campaign_resolved())
    if before is not None and before.until and not campaign.until:
        message = f"`{stored.place}` was run with `until`, and its intervals allow for that"
        raise StorageError(message, "keep `until`, or choose another folder with `into=`")
