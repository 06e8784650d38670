"""Digests of the files of a trial: whether they still hold what was written.

A Parquet file with a damaged byte mostly still has rows, and other ones: DuckDB, which reads them,
does not verify checksums of pages (decision 118). `sha256sum -c SHA256SUMS` in the folder of a
trial verifies the same.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

FILE = "SHA256SUMS"
"""File with the digests, as the program `sha256sum` writes it."""

_HASHED = (".json", ".parquet")

State = tuple[int, int, int]
"""Inode, size and time of the last change of a file: as long as they stay, it holds the same."""

_HIDDEN = "."
"""Begins the name of what is not complete yet, or about to be removed."""


def state(path: Path | os.DirEntry[str]) -> State:
    """The state of a file.

    Raises:
        OSError: It cannot be read.
    """
    found = path.stat()
    return (found.st_ino, found.st_size, found.st_mtime_ns)


def states(folder: Path) -> Iterator[tuple[str, State]]:
    """The state of every file below a folder, in order, with its path; none without the folder.

    Hidden files and folders are left out. So is what is removed in the meantime.

    Raises:
        OSError: It cannot be read.
    """
    try:
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda one: one.name)
    except FileNotFoundError:
        return
    for one in entries:
        if one.name.startswith(_HIDDEN):
            continue
        if one.is_dir():
            yield from states(Path(one.path))
        else:
            with suppress(FileNotFoundError):
                yield one.path, state(one)


def keep(folder: Path) -> None:
    """Writes the digests of the tables and documents in a folder, when all are complete.

    Args:
        folder: The folder.

    Raises:
        OSError: One could not be read, or the digests not be written.
    """
    files = sorted(path for path in folder.iterdir() if path.suffix in _HASHED)
    (folder / FILE).write_text("".join(map(_line, files)), "utf-8")


def kept(folder: Path) -> str | None:
    """The digests of the tables and documents in a folder, as text; None where it has none.

    Raises:
        OSError: They cannot be read.
    """
    try:
        return (folder / FILE).read_text("utf-8", "replace")
    except FileNotFoundError:
        return None


def changed(files: Sequence[Path]) -> Path | None:
    """The first of some files of a folder that is not what was written; None where all are.

    What an earlier version wrote has no digests, and counts as unchanged.

    Args:
        files: Tables and documents, at least one.

    Raises:
        OSError: One, or the file of digests, cannot be read.
    """
    known = kept(files[0].parent)
    if known is None:
        return None
    lines = known.splitlines(keepends=True)
    return next((path for path in files if _line(path) not in lines), None)


def _line(path: Path) -> str:
    return f"{_digest(path, state(path))}  {path.name}\n"


@lru_cache(maxsize=1024)
def _digest(path: Path, _state: State) -> str:
    """The digest of a file, computed once as long as the file is the same."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
