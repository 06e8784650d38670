"""Installs the requirements of a framework on this host, and builds it."""

from __future__ import annotations

import json
import os
import time
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.errors import BuildFailed, NotInstalled, StorageError
from plimsoll.install import apt, commands, mmdebstrap, roots, sources, waiting
from plimsoll.install.locks import alone
from plimsoll.install.requirements import missing, spoken
from plimsoll.processes.logs import quoted
from plimsoll.processes.supervised import SupervisedProcess
from plimsoll.provenance import Part, differences

if TYPE_CHECKING:
    import threading
    from collections.abc import Sequence

    from plimsoll.campaign.framework import Installable, Requirement

BUILD_S = 1800.0
"""Timeout of a build in seconds."""

_STAMP = ".built"
_LOG = "build.log"
_GRACE_S = 5.0


@dataclass(frozen=True)
class Built:
    """The result of `build`.

    Attributes:
        done: Whether something was built; False if all was up to date.
        duration_s: Duration in seconds.
        log: The build's output; the file does not exist without a build command.
    """

    done: bool
    duration_s: float
    log: Path


@dataclass(frozen=True)
class Installed:
    """The result of `install`.

    Attributes:
        framework: Title of the framework.
        packages: Debian packages it installed.
        root: The root that was made; empty if there is none, or if it was there.
        services: Their services, none of which is started or enabled.
        built: The result of the build.
    """

    framework: str
    packages: tuple[str, ...]
    services: tuple[str, ...]
    built: Built
    root: str = ""

    @property
    def sentence(self) -> str:
        """The result in words."""
        done = [f"installed {' '.join(self.packages)}"] if self.packages else []
        done += [f"kept {' '.join(self.services)} disabled"] if self.services else []
        done += [f"made a root of {self.root}"] if self.root else []
        done += [f"built in {wording.count(self.built.duration_s)} s"] if self.built.done else []
        return f"{self.framework}: {', '.join(done) or 'nothing to do'}"


def install(
    framework: Installable, *, timeout_s: float = BUILD_S, stop: threading.Event = waiting.NEVER
) -> Installed:
    """Installs the requirements of a framework, as far as this user may, and builds it.

    Packages are installed only by root; a root of its own is made by whoever may enter it.
    Repeating it does nothing.

    Args:
        framework: The framework.
        timeout_s: Timeout of the build in seconds.
        stop: Ends it when it is set, for a thread that cannot hear of a signal itself.

    Raises:
        Interrupted: `stop` is set.
        NotInstalled: Something is missing; the hint is the command that installs it.
        RootFailed: Its root could not be made.
        BuildFailed: The build command failed or timed out.
        StorageError: The root or the build folder cannot be written.
    """
    packages = [need.name for need in missing(framework) if need.kind == "apt"]
    services: tuple[str, ...] = ()
    if packages and os.geteuid() == 0:
        services = apt.install(packages, _made(commands.build_folder(framework)) / "apt.log")
    elif packages:
        raise not_installed(framework, missing(framework))
    if left := [need for need in missing(framework) if need.kind != "root"]:
        raise not_installed(framework, left)
    root = roots.of(framework)
    made = root.name if root and mmdebstrap.make(root, stop=stop) else ""
    built = build(framework, timeout_s=timeout_s, stop=stop)
    return Installed(framework.title, tuple(packages), services, built, made)


def not_installed(framework: Installable, needs: Sequence[Requirement]) -> NotInstalled:
    """The error that names what is missing and how to install it."""
    names = [spoken(need) for need in needs]
    listed = " and ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)
    verb = "are" if names[1:] else "is"
    return NotInstalled(
        f"`{framework.title}` needs {listed}, which {verb} not installed", _remedy(needs)
    )


def build(
    framework: Installable, *, timeout_s: float = BUILD_S, stop: threading.Event = waiting.NEVER
) -> Built:
    """Runs the build command of a framework, unless nothing changed since it last succeeded.

    Args:
        framework: The framework.
        timeout_s: Timeout in seconds.
        stop: Ends it when it is set.

    Raises:
        Interrupted: `stop` is set.
        BuildFailed: It failed or timed out; the message contains the last lines of its log.
        StorageError: The build folder cannot be written.
    """
    folder = commands.build_folder(framework)
    if not framework.build:
        return Built(False, 0.0, build_log(framework))
    began_s = time.monotonic()
    try:
        with alone(_made(folder), stop):
            done = not is_built(framework)
            if done:
                _build(framework, folder, timeout_s, stop)
    except OSError as error:
        message = f"`{folder}` cannot be written: {error.strerror}"
        raise StorageError(message, "make it writable, or set `XDG_CACHE_HOME`") from error
    return Built(done, time.monotonic() - began_s, build_log(framework))


def build_log(framework: Installable) -> Path:
    """The log of a framework's build; the file does not exist before the first one."""
    return commands.build_folder(framework) / _LOG


def is_built(framework: Installable) -> bool:
    """Whether a framework was built from the current files, command, environment and tools."""
    return not framework.build or _built_from(framework) == _state(framework)


def stale(framework: Installable) -> tuple[str, ...]:
    """What changed since a framework was built; empty if it never was, or is up to date."""
    before = _built_from(framework)
    return differences(before, _state(framework)) if framework.build and before else ()


def _built_from(framework: Installable) -> tuple[Part, ...]:
    """What a framework was built from; empty if it never was, or if unknown."""
    try:
        stamp = json.loads((commands.build_folder(framework) / _STAMP).read_bytes())
        return tuple(Part(*part) for part in stamp)
    except (OSError, ValueError, TypeError):
        return ()


def _state(framework: Installable) -> tuple[Part, ...]:
    """Everything a build depends on."""
    return (*sources.built_from(framework), *sources.tool_marks(framework))


def _build(framework: Installable, folder: Path, timeout_s: float, stop: threading.Event) -> None:
    """Runs the build and, if it succeeds, stores what it was built from."""
    state = _state(framework)
    (folder / _STAMP).unlink(missing_ok=True)
    _run(framework, folder / _LOG, timeout_s, stop)
    folder.mkdir(parents=True, exist_ok=True)
    aside = folder / f"{_STAMP}.new"
    aside.write_text(json.dumps([astuple(part) for part in state]))
    aside.replace(folder / _STAMP)


def _run(framework: Installable, log: Path, timeout_s: float, stop: threading.Event) -> None:
    log.unlink(missing_ok=True)
    given = commands.environment(framework)
    command = commands.shell(framework, framework.build)
    with SupervisedProcess(
        command, folder=framework.folder, environment=given, log=log, grace_s=_GRACE_S
    ) as supervised:
        ended = waiting.wait(supervised.wait, timeout_s, stop)
        code = supervised.exit_code
    if not ended:
        what = (
            f"the build of `{framework.title}` did not finish within {wording.count(timeout_s)} s"
        )
    elif code != 0:
        what = f"the build of `{framework.title}` exited with code {code}"
    else:
        return
    raise BuildFailed(f"{what}; {quoted(log)}", f"see the log, `{log}`")


def _remedy(needs: Sequence[Requirement]) -> str:
    packages = [need.name for need in needs if need.kind == "apt"]
    stated = [need.remedy for need in needs if need.remedy and need.kind != "apt"]
    if packages:
        stated.insert(0, f"sudo {' '.join(apt.install_command(packages))}")
    return "; ".join(dict.fromkeys(stated)) or "install it and add it to the PATH"


def _made(folder: Path) -> Path:
    """The folder, created if necessary, and ignored by git."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ".gitignore").write_text("*\n")
    return folder
