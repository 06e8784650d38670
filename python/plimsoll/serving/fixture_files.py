"""The folder that a server gets by its environment as `FILES`, with the files of its fixtures."""

from __future__ import annotations

import os
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll.errors import StorageError
from plimsoll.storage import scratch

if TYPE_CHECKING:
    from collections.abc import Generator

    from plimsoll.campaign.fixtures import Fixtures, ServedFile

_FOLDER_MODE = 0o755
_FILE_MODE = 0o644
"""A server may have workers of another user."""


@dataclass(frozen=True)
class FixtureFolder:
    """The folder of a server.

    Attributes:
        path: Where it is.
        fixtures: What the server is given.
    """

    path: Path
    fixtures: Fixtures

    @property
    def environment(self) -> dict[str, str]:
        """What the server's environment has of its fixtures."""
        return {"FILES": str(self.path), "AUTH_KEY": self.fixtures.key}

    def write(self, file: ServedFile) -> None:
        """Puts a file into the place of the one with its name, at once and as a whole.

        Raises:
            StorageError: It cannot be written.
        """
        to = self.path / file.path
        beside = to.with_name(f".{to.name}.new")
        try:
            beside.write_bytes(file.content)
            beside.chmod(_FILE_MODE)
            os.utime(beside, (file.modified_s, file.modified_s))
            beside.replace(to)
        except OSError as error:
            raise _not_written(error) from error


@contextmanager
def made(fixtures: Fixtures) -> Generator[FixtureFolder]:
    """The files of a server for as long as it runs.

    Args:
        fixtures: What it is given.

    Yields:
        Their folder.

    Raises:
        StorageError: They cannot be written.
    """
    with ExitStack() as closing:
        try:
            path = closing.enter_context(scratch.folder())
        except OSError as error:
            raise _not_written(error) from error
        folder = FixtureFolder(path, fixtures)
        folder.path.chmod(_FOLDER_MODE)
        for file in fixtures.files:
            within = (folder.path / file.path).parent
            within.mkdir(exist_ok=True)
            within.chmod(_FOLDER_MODE)
            folder.write(file)
        yield folder


def _not_written(error: OSError) -> StorageError:
    message = f"the files of the server cannot be written: {error.strerror}"
    return StorageError(message, "free space in the folder for temporary files")
