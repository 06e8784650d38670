"""Checks after the load the bodies that the engine wrote down because it could not compare them.

The spelling of some right bodies varies from response to response, as the order of members in JSON.
The engine draws some of these and writes them into `bodies.bin`: a record, then the body.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from plimsoll.drivers import records
from plimsoll.errors import EngineFailed
from plimsoll.recording import Recomputed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from plimsoll.campaign.requests import Exchange
    from plimsoll.recording import RecordedStage

FILE = "bodies.bin"
"""The engine's file of bodies; at most some 16 MiB."""


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
    if not _files(folders):
        return ()
    first: dict[str, int] = {}
    kinds = [first.setdefault(one.request.name, at) for at, one in enumerate(exchanges)]
    recomputed = {
        kind: Recomputed(kind, 0, 0, 0, 0)
        for kind, one in zip(kinds, exchanges, strict=True)
        if one.expected.is_recomputed
    }
    holds = [(stage.start_ns, stage.end_ns) for stage in stages if stage.kind == "hold"]
    for request, done_ns, body in written(folders):
        check = exchanges[request].expected.check_body
        if kinds[request] not in recomputed:
            continue
        problem = check(body) if check else None
        is_held = any(start_ns <= done_ns < end_ns for start_ns, end_ns in holds)
        kind = kinds[request]
        recomputed[kind] = _with(recomputed[kind], problem, is_held)
    return tuple(recomputed.values())


def written(folders: Sequence[Path]) -> Iterator[tuple[int, int, bytes]]:
    """Every body that engines wrote down: index of the request, its end, and the body.

    Args:
        folders: Folders with the files of engines; each counts time from its own zero.

    Raises:
        EngineFailed: A file has a truncated last body.
    """
    return chain.from_iterable(map(_bodies, _files(folders)))


def _files(folders: Sequence[Path]) -> list[Path]:
    return [folder / FILE for folder in folders if (folder / FILE).exists()]


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


def _bodies(file: Path) -> Iterator[tuple[int, int, bytes]]:
    """Index of the request, end of the response in nanoseconds since zero, and body of each."""
    import numpy as np  # noqa: PLC0415

    layout = records.record_dtype("bodies")
    content, at = file.read_bytes(), 0
    while at < len(content):
        begins = at + layout.itemsize
        if begins > len(content):
            raise EngineFailed(f"`{FILE}` has a truncated last record", "report it to Plimsoll")
        (row,) = np.frombuffer(content, layout, count=1, offset=at)
        at = begins + int(row["length_bytes"])
        if at > len(content):
            raise EngineFailed(f"`{FILE}` has a truncated last body", "report it to Plimsoll")
        yield int(row["request"]), int(row["done_ns"]), content[begins:at]
