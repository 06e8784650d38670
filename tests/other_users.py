"""Commands run as a user who is not root and owns nothing here."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from command_line import CHECKOUT, PROGRAM

NOBODY = 65534
"""Number of the user and of the group that own nothing; `nobody` and `nogroup` on Debian."""


def as_nobody(folder: Path) -> tuple[str, ...]:
    """What stands before a command so that it runs as nobody, in a folder that becomes nobody's.

    What the command needs may lie below folders that only their owner enters: a home, a folder of
    tests. In a mount namespace of its own an empty folder that everybody enters lies over each of
    these, and what is needed, and nothing else, in its place in it. No right of a file is changed.

    The test is skipped where that cannot be done.

    Args:
        folder: Where the command works.
    """
    if os.geteuid() != 0:
        pytest.skip("only root can become another user: nobody is not tried")
    for tool in ("unshare", "setpriv"):
        if shutil.which(tool) is None:
            pytest.skip(f"there is no `{tool}`: nobody is not tried")
    os.chown(folder, NOBODY, NOBODY)
    needed = (Path(sys.base_prefix).resolve(), CHECKOUT, Path(sys.prefix), folder)
    script = "\n".join(["set -e", *_opened(needed), f"cd {shlex.quote(str(folder))}", 'exec "$@"'])
    become = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
    command = ("unshare", "--mount", "sh", "-c", script, "sh", "env", f"HOME={folder}", *become)
    tried = subprocess.run(
        [*command, PROGRAM, "--version"], capture_output=True, text=True, check=False
    )
    if tried.returncode:
        pytest.skip(f"nobody cannot run what is here: {tried.stderr.strip()}")
    return command


def _opened(needed: tuple[Path, ...]) -> Iterator[str]:
    """Lines of a shell that lay what is needed below folders that everybody enters."""
    closed = {path: barrier for path in needed if (barrier := _barrier(path)) is not None}
    places = {path: f"/mnt/{number}" for number, path in enumerate(closed)}
    if closed:
        yield "mount -t tmpfs plimsoll-test /mnt"
    for path, place in places.items():
        yield f"mkdir {place}; mount --bind {shlex.quote(str(path))} {place}"
    for barrier in sorted({*closed.values()}):
        yield f"mount -t tmpfs -o mode=755 plimsoll-test {shlex.quote(str(barrier))}"
    for path, place in places.items():
        quoted = shlex.quote(str(path))
        yield f"mkdir -p {quoted}; mount --bind {place} {quoted}"


def _barrier(path: Path) -> Path | None:
    """The highest folder above a path that others may not enter; None where there is none."""
    above = (one for one in reversed(path.parents) if not one.stat().st_mode & 0o001)
    return next(above, None)
