"""What a framework needs is brought to this host, then it is built."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll.conduct import apt, commands
from plimsoll.conduct.logs import quoted
from plimsoll.conduct.requirements import java_home, missing, spoken
from plimsoll.conduct.ward import Ward
from plimsoll.errors import BuildFailed, NotInstalled, StorageError

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from plimsoll.campaign.framework import Installable, Requirement

BUILD_S = 1800.0
"""Seconds a build may take."""

_PACKAGES = Path("/var/lib/dpkg/info")
_STAMP = ".built"
_LOG = "build.log"
_GRACE_S = 5.0
_NOT_SOURCES = frozenset({".git", "__pycache__", "node_modules", "target", ".venv", ".gradle"})


@dataclass(frozen=True)
class Built:
    """What `build` did.

    Attributes:
        done: Whether there was something to do; False when all was up to date.
        duration_s: Seconds it took.
        log: The build's output; the file is not there when there is no build command.
    """

    done: bool
    duration_s: float
    log: Path


@dataclass(frozen=True)
class Installed:
    """What `install` did.

    Attributes:
        framework: Title of the framework.
        packages: Debian packages it installed.
        services: What they brought that could be started; none of it was, and none is enabled.
        built: What the build did.
    """

    framework: str
    packages: tuple[str, ...]
    services: tuple[str, ...]
    built: Built

    @property
    def sentence(self) -> str:
        """What was done, as people read it."""
        done = [f"installed {' '.join(self.packages)}"] if self.packages else []
        done += [f"left {' '.join(self.services)} off"] if self.services else []
        done += [f"built in {self.built.duration_s:.0f} s"] if self.built.done else []
        return f"{self.framework}: {', '.join(done) or 'nothing to do'}"


def install(framework: Installable, *, timeout_s: float = BUILD_S) -> Installed:
    """Brings what a framework needs, as far as this user may, and builds it.

    Packages are installed by root only. Done again, it does nothing.

    Args:
        framework: The framework.
        timeout_s: Seconds the build may take.

    Raises:
        NotInstalled: Something is missing; the hint is what a person must type.
        BuildFailed: The build command failed or took too long.
    """
    packages = [need.name for need in missing(framework) if need.kind == "apt"]
    services: tuple[str, ...] = ()
    if packages and os.geteuid() == 0:
        services = apt.install(packages, _made(commands.build_folder(framework)) / "apt.log")
    elif packages:
        raise not_installed(framework, missing(framework))
    if left := missing(framework):
        raise not_installed(framework, left)
    built = build(framework, timeout_s=timeout_s)
    return Installed(framework.title, tuple(packages), services, built)


def not_installed(framework: Installable, needs: Sequence[Requirement]) -> NotInstalled:
    """The error that names what is missing and what to type."""
    names = [spoken(need) for need in needs]
    listed = " and ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)
    verb = "are" if names[1:] else "is"
    return NotInstalled(
        f"`{framework.title}` needs {listed}, which {verb} not here", _remedy(needs)
    )


def build(framework: Installable, *, timeout_s: float = BUILD_S) -> Built:
    """Runs the build command of a framework, unless nothing changed since it last succeeded.

    Args:
        framework: The framework.
        timeout_s: Seconds it may take.

    Raises:
        BuildFailed: It failed or took too long; the last lines of its log are in the message.
        StorageError: The build folder cannot be written.
    """
    folder = commands.build_folder(framework)
    if not framework.build:
        return Built(False, 0.0, folder / _LOG)
    began_s = time.monotonic()
    try:
        with _alone(_made(folder)):
            done = not is_built(framework)
            if done:
                _build(framework, folder, timeout_s)
    except OSError as error:
        message = f"`{folder}` cannot be written: {error.strerror}"
        raise StorageError(message, "make it writable, or set XDG_CACHE_HOME") from error
    return Built(done, time.monotonic() - began_s, folder / _LOG)


def is_built(framework: Installable) -> bool:
    """Whether a framework was built from the files, command, environment and tools of now."""
    if not framework.build:
        return True
    try:
        stamp = (commands.build_folder(framework) / _STAMP).read_text()
    except OSError:
        return False
    return stamp == _state(framework)


def _build(framework: Installable, folder: Path, timeout_s: float) -> None:
    """Runs the build and, when it succeeds, writes down from what it was built."""
    state = _state(framework)
    (folder / _STAMP).unlink(missing_ok=True)
    _run(framework, folder / _LOG, timeout_s)
    folder.mkdir(parents=True, exist_ok=True)
    aside = folder / f"{_STAMP}.new"
    aside.write_text(state)
    aside.replace(folder / _STAMP)


def _run(framework: Installable, log: Path, timeout_s: float) -> None:
    log.unlink(missing_ok=True)
    given = commands.environment(framework)
    command = commands.shell(framework.build)
    with Ward(
        command, folder=framework.folder, environment=given, log=log, grace_s=_GRACE_S
    ) as ward:
        ended = ward.wait(timeout_s)
        code = ward.exit_code
    if not ended:
        what = f"the build of `{framework.title}` did not end within {timeout_s:.0f} s"
    elif code != 0:
        what = f"the build of `{framework.title}` ended with exit code {code}"
    else:
        return
    raise BuildFailed(f"{what}; {quoted(log)}", f"the whole log is `{log}`")


def _state(framework: Installable) -> str:
    """A digest of all that a build depends on: files, environment, command, tools."""
    pieces = [("command", framework.build.encode())]
    for path in _sources(framework.folder):
        name = path.relative_to(framework.folder).as_posix()
        pieces.append((f"file {name} {os.access(path, os.X_OK)}", _content(path)))
    pieces += [(f"variable {k}", v.encode()) for k, v in sorted(framework.environment.items())]
    pieces += [(f"tool {need.kind} {need.name}", _tool(need).encode()) for need in framework.needs]
    digest = hashlib.sha256()
    for what, content in pieces:  # each with its length, so that they cannot run into each other
        digest.update(f"{what}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


def _sources(folder: Path) -> list[Path]:
    """Files below a framework's folder, but for what builds and tools leave there."""
    found: list[Path] = []
    for parent, folders, files in os.walk(folder):
        folders[:] = [n for n in folders if n not in _NOT_SOURCES and not n.startswith(".build")]
        found += [Path(parent, name) for name in files]
    return sorted(found)


def _content(path: Path) -> bytes:
    if path.is_symlink():
        return os.fsencode(path.readlink())
    return path.read_bytes() if path.is_file() else b""


def _tool(need: Requirement) -> str:
    """What changes when a tool is replaced by another version."""
    if need.kind == "java":
        return str(java_home(int(need.name)))
    if need.kind == "apt":
        return _package(need.name)
    if need.kind == "folder":
        return os.environ.get(need.name, "")
    return _program(need.name)


def _package(name: str) -> str:
    """When a Debian package was unpacked last; empty when it never was.

    Source:
        dpkg(1), `/var/lib/dpkg/info`: the list of a package's files, of one architecture or all.
    """
    lists = [*_PACKAGES.glob(f"{name}.list"), *_PACKAGES.glob(f"{name}:*.list")]
    return " ".join(str(path.stat().st_mtime_ns) for path in lists)


def _program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        return ""
    facts = Path(found).stat()
    return f"{Path(found).resolve()} {facts.st_size} {facts.st_mtime_ns}"


def _remedy(needs: Sequence[Requirement]) -> str:
    packages = [need.name for need in needs if need.kind == "apt"]
    said = [need.remedy for need in needs if need.remedy and need.kind != "apt"]
    if packages:
        said.insert(0, f"sudo {' '.join(apt.install_command(packages))}")
    return "; ".join(dict.fromkeys(said)) or "install it and make sure that it is on the PATH"


def _made(folder: Path) -> Path:
    """The folder, made when it was not there, and invisible to git."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ".gitignore").write_text("*\n")
    return folder


@contextmanager
def _alone(folder: Path) -> Generator[None]:
    """Waits until no other Plimsoll builds in a folder, and keeps others waiting."""
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
