"""Files that an option names, and that a verb writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.errors import StorageError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def write(file: Path | None, render: Callable[[], str]) -> None:
    """Writes a report to a file, where one is named.

    Args:
        file: The file; None for none.
        render: Gives its content.

    Raises:
        StorageError: It cannot be written.
    """
    if file is None:
        return
    try:
        file.write_text(render(), encoding="utf-8")
    except OSError as error:
        message = f"`{file}` cannot be written: {error.strerror}"
        raise StorageError(message, "name another file") from error
