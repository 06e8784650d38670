"""Folders whose files were compared with their digests: not again as long as no file changes.

The tables of a thousand trials have gigabytes. A file that was touched, or copied with its folder,
is verified again; what the folder holds is the same if its digests are (decision 144).
"""

from __future__ import annotations

import json
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from plimsoll.storage import digests

if TYPE_CHECKING:
    from pathlib import Path

FILE = ".verified.json"
"""File in a folder of results with what was verified."""


class _Verified(NamedTuple):
    """A folder that was verified.

    Attributes:
        states: Digest of the states of its files then.
        content: Digest of its digests.
    """

    states: str
    content: str


class VerifiedFolders:
    """The folders of trials, and of what is derived from them, that were verified.

    Args:
        root: The folder of results.

    Attributes:
        has_new: Whether some were verified since they were read.
    """

    def __init__(self, root: Path) -> None:
        """Read nothing yet."""
        self._root = root
        self.has_new = False

    @cached_property
    def _known(self) -> dict[str, _Verified]:
        """What was verified, by its path below the root; nothing where the file is damaged."""
        try:
            content: dict[str, list[str]] = json.loads((self._root / FILE).read_bytes())
            return {name: _Verified(*parts) for name, parts in content.items()}
        except (OSError, ValueError, TypeError, AttributeError):
            return {}

    def text(self) -> str:
        """The content of the file: the folders that are still there."""
        there = {name: one for name, one in self._known.items() if (self._root / name).is_dir()}
        return json.dumps(there) + "\n"

    def content(self, folder: Path) -> str | None:
        """A digest of what a folder holds, whose files are read if one has changed.

        Args:
            folder: The folder of a trial: its recording, or what is derived from it.

        Returns:
            None where it has no digests, or a file is not what was written.

        Raises:
            OSError: The folder cannot be read.
        """
        name = f"{folder.parent.name}/{folder.name}"
        states = digests.states(folder)
        known = self._known.get(name)
        if known is not None and known.states == states:
            return known.content
        text = digests.kept(folder)
        if text is None or not _is_sound(folder, text):
            return None
        self._known[name] = _Verified(states, digests.of_parts([text]))
        self.has_new = True
        return self._known[name].content


def _is_sound(folder: Path, known: str) -> bool:
    """Whether each file that has a digest, or should have one, is what was written."""
    try:
        files = [*digests.listed(folder, known), *digests.hashed(folder)]
        return digests.changed(files, known) is None
    except OSError:  # whoever needs the file says why
        return False
