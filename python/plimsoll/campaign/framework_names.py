"""Names that a framework or a variant may have."""

from __future__ import annotations

import re

from plimsoll.campaign.documents import ALL
from plimsoll.errors import InputError, Problem

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
HINT = "use up to 64 lower-case letters, digits, `-` and `_`; the name is part of file names"
"""What a valid name is."""


def is_valid(name: str) -> bool:
    """Whether a framework or a variant may have a name."""
    return bool(_NAME.fullmatch(name)) and name != ALL


def require(name: str) -> None:
    """Requires a name that a framework may have.

    Raises:
        InputError: It may not have this one.
    """
    if not is_valid(name):
        message = f"`{name}` is not a valid framework name"
        raise InputError([Problem("", message, HINT)])
