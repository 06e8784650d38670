"""What a report was made of: whether the one in a folder is the one that would be written.

Judging a thousand trials takes half a minute, and drawing their charts takes minutes. Whoever asks
again for the report of an unchanged campaign waits for neither.
"""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import plimsoll
from plimsoll.errors import StorageError
from plimsoll.storage import digests
from plimsoll.storage.parquet import keep

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

FILE = ".made.json"
"""File in the folder of a report that says what it was made of."""

_DRAWN_BY = ("vl-convert-python", "typst", "rich")
"""Distributions that decide what charts, pages and tables look like."""


class _Made(TypedDict):
    """What `FILE` says.

    Attributes:
        of: Digest of what the report was made of.
        formats: Main file of each of its formats, by the name of the format.
        files: Digest of each of its files.
        states: Digest of their states: as long as it stays, they hold the same.
    """

    of: str
    formats: dict[str, str]
    files: dict[str, str]
    states: str


def current(folder: Path, formats: Sequence[str], of: str) -> tuple[Path, ...] | None:
    """The main files of a report that is what would be written.

    Args:
        folder: Folder of the report.
        formats: Names of formats.
        of: Digest of what it would be made of now.

    Returns:
        None if it lacks a format, was made of something else, or somebody has changed it since.
    """
    try:
        made: _Made = json.loads((folder / FILE).read_bytes())
        is_current = (
            made["of"] == of_program(of)
            and {*formats} <= {*made["formats"]}
            and _are_unchanged(folder, made)
        )
        if is_current:
            there = made["formats"].items()
            return tuple(folder / file for name, file in there if name in formats)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return None


def remember(folder: Path, formats: Mapping[str, str], of: str) -> None:
    """Keeps what a report was made of, once it is written.

    Args:
        folder: Folder of the report.
        formats: Main file of each of its formats, by the name of the format.
        of: Digest of what it was made of.

    Raises:
        StorageError: It could not be written.
    """
    there = (str(path.relative_to(folder)) for path in sorted(folder.rglob("*")) if path.is_file())
    states = digests.states(folder)
    files = _digests(folder, (name for name in there if not name.startswith(".")))
    _keep(folder, _Made(of=of_program(of), formats={**formats}, files=files, states=states))


def of_program(*parts: object) -> str:
    """A digest of something and of what writes reports."""
    return _digest((*map(repr, parts), _program()))


def _are_unchanged(folder: Path, made: _Made) -> bool:
    """Whether the files of a report hold what was written; of a copy that is kept as its own.

    Raises:
        OSError: One is not there.
    """
    states = digests.states(folder)
    if states == made["states"]:
        return True
    if _digests(folder, made["files"]) != made["files"]:
        return False
    with suppress(StorageError):
        _keep(folder, {**made, "states": states})
    return True


def _digests(folder: Path, names: Iterable[str]) -> dict[str, str]:
    """Digests of files by their names.

    Raises:
        OSError: One is not there.
    """
    return {name: digests.of_file(folder / name) for name in names}


def _keep(folder: Path, made: _Made) -> None:
    keep(folder / FILE, (json.dumps(made) + "\n").encode())


@cache
def _program() -> str:
    """Digest of what writes reports: in a checkout it changes without a new version."""
    root = Path(plimsoll.__file__).parent
    files = (one for one in sorted(root.rglob("*")) if one.suffix != ".pyc" and one.is_file())
    states = (f"{one.relative_to(root)} {one.stat().st_mtime_ns}" for one in files)
    return _digest((plimsoll.__version__, *map(metadata.version, _DRAWN_BY), *states))


def _digest(parts: Iterable[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()
