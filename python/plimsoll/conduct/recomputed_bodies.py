"""Checks after the load the bodies that the engine wrote down because it could not compare them.

The spelling of some right bodies varies from response to response, as the order of members in JSON.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.conduct import written_bodies
from plimsoll.recording import Recomputed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from plimsoll.campaign.requests import Exchange
    from plimsoll.recording import RecordedStage


def of(
    exchanges: Sequence[Exchange], stages: Sequence[RecordedStage], folders: Sequence[Path]
) -> tuple[Recomputed, ...]:
    """What is found in the bodies of a trial, by name of request in the order of the exchanges.

    Args:
        exchanges: What was sent under load, in the order in which the engine counts it.
        stages: The stages as they ran.
        folders: Folders with the files of engines; each counts time from its own zero.

    Returns:
        One for each name of which a body could be checked after the load only, also where none was
        drawn; nothing where the driver writes no bodies.

    Raises:
        EngineFailed: The file has a truncated last body.
    """
    recomputed = {
        kind: Recomputed(kind, 0, 0, 0, 0)
        for kind, one in zip(written_bodies.kinds(exchanges), exchanges, strict=True)
        if one.expected.is_recomputed
    }
    if not recomputed or not written_bodies.files(folders):
        return ()
    for one in written_bodies.read(exchanges, stages, folders):
        if one.kind in recomputed:
            check = exchanges[one.request].expected.check_body
            problem = check(one.content) if check else None
            recomputed[one.kind] = _with(recomputed[one.kind], problem, one.is_held)
    return tuple(recomputed.values())


def _with(known: Recomputed, problem: str | None, is_held: bool) -> Recomputed:
    is_wrong = problem is not None
    return Recomputed(
        known.request,
        known.bodies + 1,
        known.wrong + is_wrong,
        known.held + is_held,
        known.held_wrong + (is_held and is_wrong),
        known.problem or problem or "",
    )
