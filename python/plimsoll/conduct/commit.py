"""Commit: where the repository stood that a framework's folder belongs to."""

from __future__ import annotations

import os
import subprocess
from functools import cache
from typing import TYPE_CHECKING

from plimsoll.campaign.framework import FILE

if TYPE_CHECKING:
    from pathlib import Path

GIT_S = 5.0
"""Seconds that git has to answer."""


@cache
def commit(folder: Path) -> str:
    """The commit of a framework's folder: `1e4e98da3c0f`, `1e4e98da3c0f-dirty` with changes.

    Empty where git does not know the folder, as in an installed package. The answer of the first
    call holds for the process.

    Args:
        folder: The framework's folder.
    """
    if not (folder / FILE).is_file() or not _git(folder, "ls-files", "--error-unmatch", FILE):
        return ""
    return _git(folder, "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*")


def _git(folder: Path, *words: str) -> str:
    """What git prints; empty where it fails or is not installed."""
    command = ["git", "--no-optional-locks", "-C", os.fspath(folder), *words]
    try:
        done = subprocess.run(command, capture_output=True, timeout=GIT_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return "" if done.returncode else done.stdout.decode(errors="replace").strip()
