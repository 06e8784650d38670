"""Commands of Plimsoll that name frameworks, with the folder of these where it is needed.

Without `--frameworks`, a name is looked for in the default folder. A framework of another one is
not found by its name alone, or another one of the same name is.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from plimsoll.campaign import framework as frameworks
from plimsoll.errors import InputError, StorageError
from plimsoll.texts import shown

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from plimsoll.campaign.framework import Installable


def commands(verb: str, chosen: Sequence[Installable]) -> str:
    """The commands of a verb for some frameworks or tools: one for each folder of frameworks.

    Args:
        verb: Name of the verb.
        chosen: What it is for.

    Returns:
        Each of them in backticks.
    """
    names: dict[str, list[str]] = {}
    for one in chosen:
        where = option(one.folder) if one.is_framework else ""
        names.setdefault(where, []).append(one.reference)
    return " and ".join(f"`plimsoll {verb} {' '.join(of)}{where}`" for where, of in names.items())


def option(folder: Path) -> str:
    """What is typed behind the name of a framework, so that the one of a folder is found.

    Args:
        folder: Folder of the framework.

    Returns:
        ` --frameworks DIR`; empty if it is found by its name alone.
    """
    return "" if _is_found(folder) else f" --frameworks {shlex.quote(shown(folder.parent))}"


def _is_found(folder: Path) -> bool:
    """Whether the name of a framework alone leads to this folder."""
    try:
        found = frameworks.place_of(folder.name)
        return found is not None and found.resolve() == folder.resolve()
    except (InputError, StorageError):
        return False
