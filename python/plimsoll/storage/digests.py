"""Digests of the files of a trial: whether they still hold what was written.

A Parquet file with a damaged byte mostly still has rows, and other ones: DuckDB, which reads them,
does not verify checksums of pages (decision 118). `sha256sum -c SHA256SUMS` in the folder of a
trial verifies the same.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

FILE = "SHA256SUMS"
"""File with the digests, as the program `sha256sum` writes it."""

_HASHED = (".json", ".parquet")


def keep(folder: Path) -> None:
    """Writes the digests of the tables and documents in a folder, when all are complete.

    Args:
        folder: The folder.

    Raises:
        OSError: One could not be read, or the digests not be written.
    """
    files = sorted(path for path in folder.iterdir() if path.suffix in _HASHED)
    (folder / FILE).write_text("".join(map(_line, files)), "utf-8")


def changed(files: Sequence[Path]) -> Path | None:
    """The first of some files of a folder that is not what was written; None where all are.

    What an earlier version wrote has no digests, and counts as unchanged.

    Args:
        files: Tables and documents, at least one.

    Raises:
        OSError: One, or the file of digests, cannot be read.
    """
    known = files[0].with_name(FILE)
    if not known.exists():
        return None
    lines = known.read_text("utf-8", "replace").splitlines(keepends=True)
    return next((path for path in files if _line(path) not in lines), None)


def _line(path: Path) -> str:
    found = path.stat()
    digest = _digest(path, found.st_ino, found.st_size, found.st_mtime_ns)
    return f"{digest}  {path.name}\n"


@lru_cache(maxsize=1024)
def _digest(path: Path, _inode: int, _size: int, _changed_ns: int) -> str:
    """The digest of a file, computed once as long as the file is the same."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
