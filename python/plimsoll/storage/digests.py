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
    from collections.abc import Container, Iterable, Iterator

FILE = "SHA256SUMS"
"""File with the digests, as the program `sha256sum` writes it."""

_HASHED = (".json", ".parquet")

_BETWEEN = "  "

_NAME_FROM = 2 * hashlib.sha256().digest_size + len(_BETWEEN)
"""Column of a line at which the name of its file begins."""

State = tuple[int, int, int, int]
"""Inode, size and times of the last changes of a file and of its entry, in nanoseconds: as long as
they stay, it holds the same. Whoever sets the first time back changes the second one."""

_HIDDEN = "."
"""Begins the name of what is not complete yet, or about to be removed."""


def state(path: Path | os.DirEntry[str]) -> State:
    """The state of a file.

    Raises:
        OSError: It cannot be read.
    """
    found = path.stat()
    return (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def states(folder: Path) -> str:
    """A digest of the states of all files below a folder that are not hidden, and of their names.

    Raises:
        OSError: It cannot be read.
    """
    return of_parts(_states(folder, ""))


def _states(folder: Path, inside: str) -> Iterator[tuple[str, State]]:
    """Name and state of each file, in order; what is removed in the meantime is left out."""
    for one in entries(folder):
        name = f"{inside}{one.name}"
        if one.is_dir():
            yield from _states(Path(one.path), f"{name}/")
        else:
            with suppress(FileNotFoundError):
                yield name, state(one)


def entries(folder: Path) -> list[os.DirEntry[str]]:
    """Files and folders in a folder that are not hidden, in order; none without the folder.

    Raises:
        OSError: It cannot be read.
    """
    try:
        with os.scandir(folder) as found:
            shown = [one for one in found if not one.name.startswith(_HIDDEN)]
    except FileNotFoundError:
        return []
    return sorted(shown, key=lambda one: one.name)


def of_parts(parts: Iterable[object]) -> str:
    """A digest of values, by their representations in order."""
    return hashlib.sha256(repr([*parts]).encode()).hexdigest()


def of_file(path: Path) -> str:
    """The digest of what a file holds, computed once as long as the file is the same.

    Raises:
        OSError: It cannot be read.
    """
    return _digest(path, state(path))


def keep(folder: Path) -> None:
    """Writes the digests of the tables and documents in a folder, when all are complete.

    Args:
        folder: The folder.

    Raises:
        OSError: One could not be read, or the digests not be written.
    """
    (folder / FILE).write_text("".join(map(_line, hashed(folder))), "utf-8")


def hashed(folder: Path) -> list[Path]:
    """The tables and documents in a folder, in order: what gets digests.

    Raises:
        OSError: It cannot be read.
    """
    return sorted(path for path in folder.iterdir() if path.suffix in _HASHED)


def kept(folder: Path) -> str | None:
    """The digests of the tables and documents in a folder, as text; None where it has none.

    Raises:
        OSError: They cannot be read.
    """
    try:
        return (folder / FILE).read_text("utf-8", "replace")
    except FileNotFoundError:
        return None


def changed(files: Iterable[Path], known: str | None) -> Path | None:
    """The first of some files that is missing, or not what was written; None where all are.

    What an earlier version wrote has no digests, and counts as unchanged.

    Args:
        files: Tables and documents.
        known: The digests of their folder as text; None where it has none.

    Raises:
        OSError: One cannot be read.
    """
    if known is None:
        return None
    lines = {*known.splitlines(keepends=True)}
    return next((path for path in files if not _is_among(path, lines)), None)


def listed(folder: Path, known: str | None) -> list[Path]:
    """The files of a folder that have a digest.

    Args:
        folder: The folder.
        known: Its digests as text; None where it has none.
    """
    return [folder / line[_NAME_FROM:] for line in (known or "").splitlines()]


def _is_among(path: Path, lines: Container[str]) -> bool:
    """Whether the digest of a file is one of some; no file has a name with a null character."""
    try:
        return _line(path) in lines
    except (FileNotFoundError, ValueError):
        return False


def _line(path: Path) -> str:
    return f"{of_file(path)}{_BETWEEN}{path.name}\n"


@lru_cache(maxsize=1024)
def _digest(path: Path, _state: State) -> str:
    """The digest of a file, computed once as long as the file is the same."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
