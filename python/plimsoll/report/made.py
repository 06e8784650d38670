"""What a report was made of: whether the one in a folder is the one that would be written.

Drawing the charts of a thousand trials takes minutes; whoever asks again for the report of an
unchanged campaign waits for nothing.
"""

from __future__ import annotations

import hashlib
import json
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import plimsoll
from plimsoll.storage.parquet import keep

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

FILE = ".made.json"
"""File in the folder of a report that says what it was made of."""

_DRAWN_BY = ("vl-convert-python", "typst")
"""Distributions that decide what charts and pages look like."""


class _Made(TypedDict):
    """What `FILE` says.

    Attributes:
        of: Digest of what the report was made of.
        formats: Names of its formats.
        files: Size and time of the last change of each of its files.
    """

    of: str
    formats: list[str]
    files: dict[str, list[int]]


def is_current(folder: Path, formats: Sequence[str], of: str) -> bool:
    """Whether a report has these formats, was made of this, and nobody has changed it since.

    Args:
        folder: Folder of the report.
        formats: Names of formats.
        of: Digest of what it would be made of now.
    """
    try:
        made: _Made = json.loads((folder / FILE).read_bytes())
        return (
            made["of"] == _digest((of, _program()))
            and {*formats} <= {*made["formats"]}
            and _states(folder, made["files"]) == made["files"]
        )
    except (OSError, ValueError, KeyError, TypeError):
        return False


def remember(folder: Path, formats: Sequence[str], of: str) -> None:
    """Keeps what a report was made of, once it is written.

    Args:
        folder: Folder of the report.
        formats: Names of its formats.
        of: Digest of what it was made of.

    Raises:
        StorageError: It could not be written.
    """
    there = (str(path.relative_to(folder)) for path in sorted(folder.rglob("*")) if path.is_file())
    files = _states(folder, (name for name in there if name != FILE))
    made = _Made(of=_digest((of, _program())), formats=[*formats], files=files)
    keep(folder / FILE, (json.dumps(made) + "\n").encode())


def _states(folder: Path, names: Iterable[str]) -> dict[str, list[int]]:
    """Size and time of the last change of files.

    Raises:
        OSError: One is not there.
    """
    found = ((name, (folder / name).stat()) for name in names)
    return {name: [one.st_size, one.st_mtime_ns] for name, one in found}


@cache
def _program() -> str:
    """Digest of what writes reports: in a checkout it changes without a new version."""
    root = Path(plimsoll.__file__).parent
    files = (one for one in sorted(root.rglob("*")) if one.suffix != ".pyc" and one.is_file())
    states = (f"{one.relative_to(root)} {one.stat().st_mtime_ns}" for one in files)
    return _digest((plimsoll.__version__, *map(metadata.version, _DRAWN_BY), *states))


def _digest(parts: Iterable[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()
