"""Compares with each other the bodies that the engine wrote down because none was expected.

A page that varies has bodies that hardly repeat, or, with the time in it, one after the other. A
server that sends two fixed bodies sends them in turns. So what counts is which bodies came while
the most frequent one of their request type came too, and had its length.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from hashlib import blake2b
from typing import TYPE_CHECKING

from plimsoll.conduct import written_bodies
from plimsoll.recording import SampledBodies

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from plimsoll.campaign.requests import Exchange
    from plimsoll.recording import RecordedStage

EDGE = 0.1
"""Share of the stretch of the most frequent body, at either end, that is left out: responses of a
moment come in any order."""


def of(
    exchanges: Sequence[Exchange], stages: Sequence[RecordedStage], folders: Sequence[Path]
) -> tuple[SampledBodies, ...]:
    """How alike the sampled bodies of a trial's holds are, by name of request.

    Args:
        exchanges: What was sent under load, in the order in which the engine counts it.
        stages: The stages as they ran.
        folders: Folders with the files of engines; each counts time from its own zero.

    Returns:
        One for each name of which bodies were drawn in the holds and nothing else could be known.

    Raises:
        EngineFailed: A file has a truncated last body.
    """
    if not any(one.expected.is_unknown for one in exchanges):
        return ()
    drawn: defaultdict[int, list[tuple[int, int, bytes]]] = defaultdict(list)
    for one in written_bodies.read(exchanges, stages, folders):
        if one.is_held and exchanges[one.request].expected.is_unknown:
            digest = blake2b(one.content, digest_size=16).digest()
            drawn[one.kind].append((one.done_ns, len(one.content), digest))
    return tuple(_compared(kind, bodies) for kind, bodies in sorted(drawn.items()))


def _compared(kind: int, bodies: Sequence[tuple[int, int, bytes]]) -> SampledBodies:
    """How alike some bodies are, each given by its end, its length and its digest."""
    counts = Counter(digest for _, _, digest in bodies)
    ((usual, number),) = counts.most_common(1)
    ends = [done_ns for done_ns, _, digest in bodies if digest == usual]
    length_bytes = next(length for _, length, digest in bodies if digest == usual)
    edge_ns = EDGE * (max(ends) - min(ends))
    others = [
        digest
        for done_ns, length, digest in bodies
        if digest != usual
        and length == length_bytes
        and min(ends) + edge_ns <= done_ns <= max(ends) - edge_ns
    ]
    return SampledBodies(kind, len(bodies), number, length_bytes, len(others), len({*others}))
