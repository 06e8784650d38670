"""Frameworks as they were at a git revision."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll.campaign import framework as frameworks
from plimsoll.campaign.places import user_cache
from plimsoll.errors import InputError, Problem, StorageError
from plimsoll.install import typed

if TYPE_CHECKING:
    from plimsoll.campaign.framework import Framework

GIT_S = 60.0
"""Seconds that git has to look something up, or to write a folder."""


def framework(revision: str, reference: str, root: Path | None) -> Framework:
    """A framework as it was at a revision of the repository that its folder is in.

    The folder is written to the user's cache once for each content, and built there, so a later
    comparison builds only what changed.

    Args:
        revision: Commit, branch or tag: `main`, `HEAD~1`.
        reference: The framework, as campaigns name it: `go`, `go:one-core`.
        root: Folder of the frameworks; None to look for it.

    Raises:
        InputError: There is no such revision or framework, or the folder is in no repository.
        StorageError: The folder cannot be written.
    """
    name, _, variant = reference.partition(":")
    here = frameworks.locate(root).resolve()
    tree = _tree(here, revision, name)
    into = user_cache() / "revisions" / tree
    if not (into / name).is_dir():
        _write(here, tree, into, name)
    (found,) = frameworks.choose(into, (f"{name}:{variant}" if variant else name,))
    return found


def commit(revision: str, root: Path | None) -> str:
    """The short name of a revision's commit: `1a2b3c4`; empty where it is none.

    Args:
        revision: Commit, branch or tag.
        root: Folder of the frameworks; None to look for it.
    """
    here = frameworks.locate(root).resolve()
    wanted = ("--verify", "--quiet", "--short=7", "--end-of-options", f"{revision}^{{commit}}")
    return _git(here, "rev-parse", *wanted).decode()


def _tree(root: Path, revision: str, name: str) -> str:
    """The hash of the content of a framework's folder at a revision."""
    if not _git(root, "rev-parse", "--is-inside-work-tree"):
        hint = "name the frameworks of a checkout with `frameworks=`"
        raise InputError([Problem("", f"`{root}` is not in a git repository", hint)])
    if not _git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{}}"):
        raise InputError([Problem("", f"unknown revision `{revision}`", "see `git log`")])
    where = f"{revision}:./{name}/{frameworks.FILE}"
    if not _git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", where):
        message = f"revision `{revision}` has no framework `{name}`"
        raise InputError([Problem("", message, f"see `plimsoll list{typed.option(root / name)}`")])
    return _git(root, "rev-parse", "--verify", "--end-of-options", f"{revision}:./{name}").decode()


def _write(root: Path, tree: str, into: Path, name: str) -> None:
    """Writes the content of a tree to a folder, which appears when it is complete."""
    top = Path(os.fsdecode(_git(root, "rev-parse", "--show-toplevel")))
    archive = _git(top, "archive", "--format=tar", tree)  # elsewhere, only part of a tree
    try:
        into.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=into) as made:
            folder = Path(made) / name
            folder.mkdir()
            command = ("tar", "-x", "-C", str(folder))
            subprocess.run(command, input=archive, check=True, capture_output=True, timeout=GIT_S)
            folder.rename(into / name)
    except (OSError, subprocess.SubprocessError) as error:
        message = f"`{into / name}` cannot be written: {error}"
        raise StorageError(message, "name another folder with `XDG_CACHE_HOME`") from error


def _git(root: Path, *arguments: str) -> bytes:
    """What git prints, without white space around it; empty when it fails."""
    command = ("git", "-C", str(root), *arguments)
    try:
        ran = subprocess.run(command, capture_output=True, check=True, timeout=GIT_S)
    except FileNotFoundError as error:
        message = "git is not installed"
        raise InputError([Problem("", message, "install it, or compare commands")]) from error
    except subprocess.SubprocessError:
        return b""
    return ran.stdout if arguments[0] == "archive" else ran.stdout.strip()
