"""The blocks of a campaign that goes on until its intervals are narrow enough."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import plan
from plimsoll.errors import StorageError
from plimsoll.findings import gathering
from plimsoll.statistics import block_looks

if TYPE_CHECKING:
    from plimsoll.campaign.campaign import Campaign
    from plimsoll.plan import Refuses, Trial
    from plimsoll.storage.results import Results


def begun(asked: Campaign, refuses: Refuses, stored: Results) -> tuple[Trial, ...]:
    """The trials of the further blocks that earlier runs began.

    Args:
        asked: The campaign.
        refuses: Returns why a driver cannot generate a load.
        stored: Its results.
    """
    planned = set(stored.planned_ids())
    further = range(asked.repetitions + 1, block_looks.MOST + 1) if asked.until else ()
    return tuple(one for one in plan.blocks(asked, further, refuses) if one.id in planned)


def group(asked: Campaign, refuses: Refuses, stored: Results) -> tuple[Trial, ...]:
    """The next block of the table that needs it most; empty when none begins.

    Args:
        asked: The campaign.
        refuses: Returns why a driver cannot generate a load.
        stored: Its results so far.

    Raises:
        StorageError: They could not be read.
    """
    progress = gathering.gather(stored).progress if asked.until else None
    following = progress and progress.following
    if following is None:
        return ()
    block = plan.blocks(asked, (following.blocks + 1,), refuses)
    return tuple(one for one in block if plan.table(one) == following.table)


def require_same_looks(asked: Campaign, stored: Results) -> None:
    """Requires that intervals of a campaign with `until` allow for every look at its results.

    They do whatever becomes of `until` and `budget`, as long as the first look stays where it was.

    Args:
        asked: The campaign.
        stored: Its results, of which there may be none yet.

    Raises:
        StorageError: Earlier results were looked at after another number of blocks.
    """
    before = stored.campaign_resolved()
    if before is None or not (asked.until or before.get("until")):
        return
    if not asked.until:
        message = "was run with `until`, so its intervals allow for stopping early"
        raise StorageError(f"`{stored.place}` {message}", "keep `until`, or use `--into DIR`")
    if before["repetitions"] != asked.repetitions:
        message = f"was run with `repetitions = {before['repetitions']}`, which intervals allow for"
        hint = "keep `repetitions` and change `until` or `budget`, or use `--into DIR`"
        raise StorageError(f"`{stored.place}` {message}", hint)
