"""Folders of the user, of which each is below the one that a variable names, or below the home.

Source: XDG Base Directory Specification.
"""

from __future__ import annotations

import os
from pathlib import Path

from plimsoll.errors import StorageError


def below(variable: str, below_home: str, remedy: str = "") -> Path:
    """Plimsoll's folder in the one that a variable names by its absolute path, or below the home.

    Args:
        variable: The variable: `XDG_CACHE_HOME`.
        below_home: Where the folder is without it, relative to the home: `.cache`.
        remedy: The variable that names a folder for a user without a home; empty for the same one.

    Raises:
        StorageError: The user has no home folder, as an id without an account.
    """
    named = os.environ.get(variable, "")
    try:
        base = Path(named) if named.startswith("/") else Path.home() / below_home
    except RuntimeError as error:
        hint = f"set {remedy or variable} to a folder"
        raise StorageError("this user has no home folder", hint) from error
    return base / "plimsoll"
