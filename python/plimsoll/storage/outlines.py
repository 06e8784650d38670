"""Outlines of recordings: what a run that has nothing left to do must know of each.

Where values are drawn, a recording has 330 kB, so that reading a thousand of them takes seconds.
An outline holds as long as the file of its recording is the same, by inode, size and times.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from plimsoll.provenance import id_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from plimsoll.recording import Recording
    from plimsoll.storage.digests import State

FILE = ".outlines.json"
"""File in a folder of results with the outlines that are known."""


class Outline(NamedTuple):
    """What is known of a recording.

    Attributes:
        ending: How the trial ended: `completed`, or the kind of its error.
        application: Id of the application that ran; empty if nothing was recorded of it.
        measurement: Id of what measured it.
    """

    ending: str
    application: str
    measurement: str


Known = tuple["State", Outline]
"""An outline, and the state of the file of its recording."""


def of(recording: Recording) -> Outline:
    """The outline of a recording."""
    ran = recording.provenance
    return Outline(recording.ending.kind, id_of(ran.application), id_of(ran.measurement))


def read(path: Path) -> dict[str, Known]:
    """The outlines in a file, by the ids of their trials; none where it is absent or damaged."""
    try:
        content: dict[str, tuple[list[int], list[str]]] = json.loads(path.read_bytes())
        return {trial: _known(*parts) for trial, parts in content.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def text(known: Mapping[str, Known]) -> str:
    """The content of the file for some outlines."""
    return json.dumps(known) + "\n"


def _known(state: list[int], outline: list[str]) -> Known:
    inode, size, written_ns, changed_ns = state
    ending, application, measurement = outline
    return (inode, size, written_ns, changed_ns), Outline(ending, application, measurement)
