"""The bodies that engines wrote down during a load because they could not compare them.

The engine draws some of these and writes them into `bodies.bin`: a record, then the body.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.drivers import records
from plimsoll.errors import EngineFailed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from plimsoll.campaign.requests import Exchange
    from plimsoll.recording import RecordedStage

FILE = "bodies.bin"
"""The engine's file of bodies; at most some 16 MiB."""


@dataclass(frozen=True)
class WrittenBody:
    """One body.

    Attributes:
        request: Index of its request among the exchanges.
        kind: Index of the first request of its name.
        done_ns: When the response ended, in nanoseconds since the zero of its engine.
        is_held: Whether that was in a hold.
        content: The body.
    """

    request: int
    kind: int
    done_ns: int
    is_held: bool
    content: bytes


def kinds(exchanges: Sequence[Exchange]) -> list[int]:
    """For each exchange the index of the first one whose request has the same name."""
    first: dict[str, int] = {}
    return [first.setdefault(one.request.name, at) for at, one in enumerate(exchanges)]


def files(folders: Sequence[Path]) -> list[Path]:
    """The files of those engines that wrote any."""
    return [folder / FILE for folder in folders if (folder / FILE).exists()]


def read(
    exchanges: Sequence[Exchange], stages: Sequence[RecordedStage], folders: Sequence[Path]
) -> Iterator[WrittenBody]:
    """Every body of a trial.

    Args:
        exchanges: What was sent under load, in the order in which the engine counts it.
        stages: The stages as they ran.
        folders: Folders with the files of engines; each counts time from its own zero.

    Raises:
        EngineFailed: A file has a truncated last body.
    """
    kind_of = kinds(exchanges)
    holds = [(stage.start_ns, stage.end_ns) for stage in stages if stage.kind == "hold"]
    for file in files(folders):
        for request, done_ns, content in _bodies(file):
            is_held = any(start_ns <= done_ns < end_ns for start_ns, end_ns in holds)
            yield WrittenBody(request, kind_of[request], done_ns, is_held, content)


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
