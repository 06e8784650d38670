"""The requirements of a framework on the host, before it can be built."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll.campaign.framework import Requirement
from plimsoll.install import entering, mmdebstrap, roots, short_commands, typed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from plimsoll.campaign.framework import Installable

JVM_FOLDER = Path("/usr/lib/jvm")
"""Debian's folder of JDKs."""

NAMESPACES_REMEDY = (
    "run as root, or allow user namespaces (user_namespaces(7)), install the package `uidmap` and "
    "give this user subordinate ids (subuid(5))"
)
"""How a user may mount folders in a root."""

VERSION_S = 20.0
"""Timeout of `--version` in seconds."""


def missing(
    framework: Installable, environment: Mapping[str, str] = os.environ
) -> list[Requirement]:
    """The requirements that this host does not meet, in the order of the framework's file.

    Packages of a root of its own are no requirements on the host; the root is one, until it is
    made.

    Args:
        framework: The framework.
        environment: Variables with the locations of programs: `PATH`, `JAVA_HOME`.
    """
    given = {**environment, **framework.environment}
    root = roots.of(framework)
    if root is None:
        return [need for need in framework.needs if not _met(need, given)]
    needs = [need for need in framework.needs if need.kind != "apt" and not _met(need, given)]
    return needs if root.is_made else [*needs, *_missing_for(root, framework)]


def _missing_for(root: roots.DebianRoot, framework: Installable) -> Iterator[Requirement]:
    """What this host lacks before it has a root: the root, and what makes and enters it."""
    if shutil.which(mmdebstrap.PROGRAM, path=entering.PATH) is None:
        yield Requirement("apt", mmdebstrap.PROGRAM)
    if not entering.may_mount():
        yield Requirement("namespaces", root.name, NAMESPACES_REMEDY)
    yield Requirement("root", root.name, f"run {typed.commands('install', [framework])}")


def spoken(need: Requirement) -> str:
    """A requirement in words: `` `mvn` ``, `a JDK 17 or newer`, `` the package `php-fpm` ``."""
    if need.kind == "java":
        return f"a JDK {need.name} or newer"
    if need.kind == "folder":
        return f"a folder that `{need.name}` names"
    if need.kind == "root":
        return f"a root of `{need.name}`"
    if need.kind == "namespaces":
        return f"the right to enter a root of `{need.name}`"
    if need.kind == "apt":
        return f"the package `{need.name}`"
    bounds = [f"{need.least} or newer"] if need.least else []
    bounds += [f"older than {need.below}"] if need.below else []
    return " ".join([f"`{need.name}`", " and ".join(bounds)]).strip()


def listed(framework: Installable) -> list[str]:
    """The requirements of a framework in words; packages of a root with the root."""
    root = roots.of(framework)
    if root is None:
        return [spoken(need) for need in framework.needs]
    named = ", ".join(f"`{name}`" for name in root.packages)
    others = [spoken(need) for need in framework.needs if need.kind != "apt"]
    return [
        f"a root of `{root.name}` with {named}" if named else f"a root of `{root.name}`",
        *others,
    ]


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
    program = program_of(need, environment)
    if program is None or not (need.least or need.below):
        return program is not None
    return _lies_within(program_version(program), need)


def program_of(need: Requirement, environment: Mapping[str, str] = os.environ) -> str | None:
    """The program that meets a requirement of the kind `command`; None if there is none."""
    return shutil.which(need.name, path=search_path([need], environment))


def search_path(needs: Iterable[Requirement], environment: Mapping[str, str] = os.environ) -> str:
    """The PATH with the folders of programs before it that variables of requirements name.

    Args:
        needs: Requirements.
        environment: `PATH`, and these variables.
    """
    variables = [need.variable for need in needs if need.variable]
    folders = [str(Path(environment[name]) / "bin") for name in variables if environment.get(name)]
    return os.pathsep.join([*folders, environment.get("PATH", os.defpath)])


def program_version(program: str) -> tuple[int, ...]:
    """The first number with a dot in the output of `--version`; empty if there is none."""
    try:
        requested = short_commands.run([program, "--version"], timeout_s=VERSION_S)
    except (OSError, subprocess.TimeoutExpired):
        return ()
    printed = b"\n".join((requested.stdout, requested.stderr)).decode("utf-8", "replace")
    found = re.search(r"\d+(?:\.\d+)+", printed)
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
