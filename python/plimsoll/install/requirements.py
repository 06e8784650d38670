"""The requirements of a framework on the host, before it can be built."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plimsoll.campaign.framework import Installable, Requirement

JVM_FOLDER = Path("/usr/lib/jvm")
"""Debian's folder of JDKs."""

VERSION_S = 20.0
"""Timeout of `--version` in seconds."""


def missing(
    framework: Installable, environment: Mapping[str, str] = os.environ
) -> list[Requirement]:
    """The requirements that this host does not meet, in the order of the framework's file.

    Args:
        framework: The framework.
        environment: Variables with the locations of programs: `PATH`, `JAVA_HOME`.
    """
    given = {**environment, **framework.environment}
    return [need for need in framework.needs if not _met(need, given)]


def spoken(need: Requirement) -> str:
    """A requirement in words: `` `mvn` ``, `a JDK 17 or newer`, `` the package `php-fpm` ``."""
    if need.kind == "java":
        return f"a JDK {need.name} or newer"
    if need.kind == "folder":
        return f"a folder that `{need.name}` names"
    if need.kind == "apt":
        return f"the package `{need.name}`"
    bounds = [f"{need.least} or newer"] if need.least else []
    bounds += [f"older than {need.below}"] if need.below else []
    return " ".join([f"`{need.name}`", " and ".join(bounds)]).strip()


def java_home(
    least: int, environment: Mapping[str, str] = os.environ, folder: Path = JVM_FOLDER
) -> Path | None:
    """The home of a JDK that is new enough.

    Args:
        least: Lowest major version.
        environment: `JAVA_HOME` is tried first, then the `javac` on `PATH`.
        folder: Tried last, with the oldest JDK that is new enough.
    """
    known = [Path(environment["JAVA_HOME"])] if environment.get("JAVA_HOME") else []
    compiler = shutil.which("javac", path=environment.get("PATH"))
    known += [Path(compiler).resolve().parent.parent] if compiler else []
    others = sorted({home.resolve() for home in _folders(folder)}, key=java_version)
    return next((home for home in (*known, *others) if java_version(home) >= least), None)


def java_version(home: Path) -> int:
    """The major version of the JDK in a folder; 0 if there is none.

    Source:
        JEP 223: `17.0.15` is 17; before it, `1.8.0_392` was 8.
    """
    if not os.access(home / "bin" / "javac", os.X_OK):
        return 0
    found = re.search(r'^JAVA_VERSION="(?:1\.)?(\d+)', _release(home), re.MULTILINE)
    return int(found[1]) if found else 0


def package_installed(name: str) -> bool:
    """Whether a Debian package is installed.

    Source:
        dpkg-query(1), `db:Status-Status`.
    """
    command = ["dpkg-query", "-W", "-f", "${db:Status-Status}\n", name]
    try:
        requested = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return False
    return requested.stdout.startswith("installed\n")


def _met(need: Requirement, environment: Mapping[str, str]) -> bool:
    if need.kind == "java":
        return java_home(int(need.name), environment) is not None
    if need.kind == "apt":
        return package_installed(need.name)
    if need.kind == "folder":
        return Path(environment.get(need.name) or "/dev/null").is_dir()
    program = shutil.which(need.name, path=environment.get("PATH"))
    if program is None or not (need.least or need.below):
        return program is not None
    return _lies_within(program_version(program), need)


def program_version(program: str) -> tuple[int, ...]:
    """The first number with a dot in the output of `--version`; empty if there is none."""
    try:
        requested = subprocess.run(
            [program, "--version"], capture_output=True, text=True, check=False, timeout=VERSION_S
        )
    except (OSError, subprocess.TimeoutExpired):
        return ()
    found = re.search(r"\d+(?:\.\d+)+", f"{requested.stdout}\n{requested.stderr}")
    return _numbers(found[0]) if found else ()


def _lies_within(version: tuple[int, ...], need: Requirement) -> bool:
    old = bool(need.least) and version < _numbers(need.least)
    new = bool(need.below) and version >= _numbers(need.below)
    return bool(version) and not old and not new


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in version.split("."))


def _folders(folder: Path) -> list[Path]:
    try:
        return [entry for entry in folder.iterdir() if entry.is_dir()]
    except OSError:
        return []


def _release(home: Path) -> str:
    try:
        return (home / "release").read_text("utf-8", "replace")
    except OSError:
        return ""
