"""Finds frameworks, tools and campaigns: here, in a parent folder, or in Plimsoll's own folder.

`plimsoll/bundled` contains Plimsoll's own. In a checkout it consists of links to the folders at the
top. A wheel contains copies; builds must not write there, so the first use copies them to a user
folder.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import sys
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

from plimsoll import __version__, texts, user_folders
from plimsoll.campaign.documents import near
from plimsoll.errors import InputError, Problem, StorageError

BUNDLED = Path(__file__).resolve().parents[1] / "bundled"
"""Plimsoll's own frameworks, tools, campaigns and published figures, laid out as in a checkout."""

HOME = "PLIMSOLL_HOME"
"""Variable that names the folder for the copies of a wheel's frameworks, and their builds."""


CAMPAIGNS = "campaigns"
"""Name of a folder whose campaigns can be named without their path."""

_REMEDY = f"make it writable, or set {HOME} to another folder"
_LEFT_BY_PYTHON = "__pycache__"


def nearest(folder: str, pattern: str) -> Path | None:
    """The first folder of a name with matching files; Plimsoll's own comes last.

    Args:
        folder: `frameworks`, `tools` or `campaigns`; searched here and in every parent folder.
        pattern: What it must contain: `*/framework.toml`.
    """
    found = above(folder, pattern)
    if found is None and any(own(folder).glob(pattern)):
        return own(folder)
    return found


def above(folder: str, pattern: str) -> Path | None:
    """The first folder of a name with matching files, here and in every parent folder."""
    here = Path.cwd()
    places = [parent / folder for parent in (here, *here.parents)]
    return next((place for place in places if any(place.glob(pattern))), None)


def writable(folder: Path) -> Path:
    """A folder that builds may write to: the same one or, for one in a wheel, the user's copy.

    Args:
        folder: A folder found by `nearest`.

    Raises:
        StorageError: The copy cannot be made.
    """
    if folder.is_relative_to(BUNDLED):
        _make_copy_once()
    return copy_of(folder)


def copy_of(folder: Path) -> Path:
    """The folder that `writable` returns, which need not exist yet.

    Raises:
        StorageError: The user has no home folder for the copy.
    """
    return _copy() / folder.relative_to(BUNDLED) if folder.is_relative_to(BUNDLED) else folder


def own(folder: str) -> Path:
    """A folder that came with Plimsoll; in a checkout the one at the top."""
    own = BUNDLED / folder
    return own.resolve() if own.is_symlink() else own


def campaigns() -> dict[str, Path]:
    """Campaign files by name: those of the nearest `campaigns` folder, then Plimsoll's own."""
    places = (nearest(CAMPAIGNS, "*.toml"), own(CAMPAIGNS))
    files = [file for place in places if place for file in place.glob("*.toml")]
    nearest_last = {file.stem: file for file in reversed(files)}
    return dict(sorted(nearest_last.items()))


def campaign_file(given: Path) -> Path:
    """The file of a campaign: a path, or the name of one of `campaigns`.

    Args:
        given: As typed: `mine/quick.toml`, or `quick`.

    Raises:
        InputError: No such file or campaign exists.
        StorageError: It is in the wheel, whose copy cannot be made.
    """
    known = campaigns()
    is_name = given.name == str(given) and not given.suffix
    if _is_file(given) or (not is_name and given.stem not in known):
        return given
    if is_name and given.name in known:
        found = known[given.name]
        return writable(found.parent) / found.name
    where, what = ("", f"campaign `{given}`") if is_name else (texts.shown(given), "such file")
    hint = near(given.stem, known, "campaigns")
    raise InputError([Problem(where, f"there is no {what}", hint)])


def home() -> Path:
    """The user folder for the contents of a wheel.

    Source:
        XDG Base Directory Specification, `XDG_DATA_HOME`.

    Raises:
        StorageError: The user has no home folder.
    """
    if named := os.environ.get(HOME, ""):
        return Path(named).absolute()
    return user_folders.below("XDG_DATA_HOME", ".local/share", HOME)


def user_cache() -> Path:
    """The user's folder for what can be made again: builds, roots, revisions.

    Source:
        XDG Base Directory Specification, `XDG_CACHE_HOME`.

    Raises:
        StorageError: The user has no home folder.
    """
    return user_folders.below("XDG_CACHE_HOME", ".cache")


def _is_file(path: Path) -> bool:
    with suppress(OSError):  # of a name that no file system takes
        return path.is_file()
    return False


def _make_copy_once() -> None:
    """Copies what came with the wheel for the user, where that is not there yet."""
    folder = _copy()
    if not folder.is_dir():
        _make_copy(folder)
        note = f"frameworks, tools and campaigns were copied to `{texts.line(str(folder))}`"
        print(f"note: {note}", file=sys.stderr)


def _copy() -> Path:
    """Where the user's copy of what came with the wheel is: one for each version and content."""
    return home() / f"{__version__}-{_digest(BUNDLED)}"


def _make_copy(folder: Path) -> None:
    """Copies everything bundled; the folder appears when it is complete.

    Raises:
        StorageError: It cannot be written.
    """
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".copying-") as aside:
            _move(_written(Path(aside) / folder.name), folder)
    except OSError as error:
        message = f"`{folder}` cannot be written: {error.strerror}"
        raise StorageError(message, _REMEDY) from error


def _written(copy: Path) -> Path:
    """A copy whose files are writable even if those of the wheel are not."""
    left_out = shutil.ignore_patterns(_LEFT_BY_PYTHON)
    shutil.copytree(BUNDLED, copy, ignore=left_out, copy_function=shutil.copy)
    for path in (copy, *copy.rglob("*")):
        path.chmod(path.stat().st_mode | stat.S_IWUSR)
    return copy


def _move(copy: Path, folder: Path) -> None:
    """Gives a complete copy its name, unless another process was faster."""
    try:
        copy.rename(folder)
    except OSError:
        if not folder.is_dir():
            raise


@cache
def _digest(folder: Path) -> str:
    """Eight digits that differ when any file does."""
    found = hashlib.sha256()
    for file in sorted(folder.rglob("*")):
        if file.is_file() and _LEFT_BY_PYTHON not in file.parts:
            found.update(f"{file.relative_to(folder)}\0{file.stat().st_size}\0".encode())
            found.update(file.read_bytes())
    return found.hexdigest()[:8]
