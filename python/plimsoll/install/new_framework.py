"""A new framework: a copy of another one's folder with a name of its own."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from plimsoll.campaign import framework as frameworks
from plimsoll.campaign import framework_names, places, tool
from plimsoll.errors import InputError, Problem, StorageError
from plimsoll.install import sources
from plimsoll.texts import shown

_FOLDER = "frameworks"
_NAME_LINE = re.compile(r"""^name\s*=\s*(?:"[^"]*"|'[^']*')""", re.MULTILINE)


@dataclass(frozen=True)
class NewFramework:
    """A folder that `create` made.

    Attributes:
        folder: The folder.
        files: Number of files in it.
        hides_own: Whether Plimsoll has a framework of this name, in whose place it is used.
    """

    folder: Path
    files: int
    hides_own: bool


def create(name: str, like: str, root: Path | None) -> NewFramework:
    """Copies the files of a framework, without its builds, and gives the copy a name.

    Args:
        name: Name of the new framework.
        like: Name of the framework to copy, without a variant; all variants are copied.
        root: Folder of the frameworks; None for `PLIMSOLL_FRAMEWORKS`, the nearest `frameworks`
            or, where there is none, a new `frameworks` in the current folder.

    Raises:
        InputError: The name is invalid or that of a tool, the folder exists, or there is no such
            framework to copy.
        StorageError: The folder cannot be written.
    """
    framework_names.require(name)
    if name in tool.names():
        message = f"`{name}` is a tool, which `plimsoll install` and `list` take first"
        raise InputError([Problem("", message, "choose another name")])
    model = frameworks.choose(frameworks.locate(_filled(root)), (like,))[0]
    if model.variant:
        hint = f"give `{model.name}`: the copy has all of its variants"
        raise InputError([Problem("--like", f"`{like}` is one variant of a framework", hint)])
    folder = (root or _default()) / name
    if folder.exists() or folder.is_symlink():
        raise InputError([Problem("", f"`{shown(folder)}` exists already", "choose another name")])
    try:
        files = _copy(model.folder, folder)
    except OSError as error:
        message = f"`{shown(folder)}` cannot be written: {error.strerror}"
        raise StorageError(message, "name another folder with `--frameworks DIR`") from error
    own = {one.name for one in frameworks.find(places.own(_FOLDER))}
    return NewFramework(folder, files, name in own)


def _filled(root: Path | None) -> Path | None:
    """A folder that contains frameworks; None for one that has yet to get its first."""
    return root if root and frameworks.find(root) else None


def _default() -> Path:
    """The folder of the user's own frameworks, which need not exist."""
    if named := os.environ.get(frameworks.VARIABLE):
        return Path(named)
    return places.above(_FOLDER, f"*/{frameworks.FILE}") or Path.cwd() / _FOLDER


def _copy(model: Path, folder: Path) -> int:
    """Copies files, and gives the folder its name when all are there; their number."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    paths = [path.relative_to(model) for path in sources.found(model)]
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".new-") as aside:
        made = Path(aside) / folder.name
        made.mkdir()
        for path in paths:
            (made / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(model / path, made / path)
        text = (model / frameworks.FILE).read_text(encoding="utf-8")
        named = _NAME_LINE.sub(f'name = "{folder.name}"', text, count=1)
        (made / frameworks.FILE).write_text(named, encoding="utf-8")
        made.rename(folder)
    return len(paths) + 1
