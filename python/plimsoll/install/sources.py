"""The sources of a framework's build: files of its folder, commands, environment and tools.

Only what a build or a server reads counts. `framework.toml` is not a source: its keys that build or
run something are separate parts, so that changing a note or an address has no effect.
"""

from __future__ import annotations

import os
import re
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll.campaign import framework as frameworks
from plimsoll.campaign import tool as tools
from plimsoll.install import roots
from plimsoll.install.requirements import java_home, program_of
from plimsoll.provenance import Part, digest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plimsoll.campaign.framework import Installable, Requirement

_PACKAGES = Path("/var/lib/dpkg/info")

_MANIFESTS = (frameworks.FILE, tools.FILE)
_NO_FOLDERS = (
    *(".git", ".venv", ".gradle", ".idea", ".vscode", ".build*"),
    *("__pycache__", "node_modules", "target", "tmp"),
)
"""Folders written by builds, servers and editors."""

_NO_FILES = ("*.log", "*.pid", "*.sock", "*.pyc", "*.swp", "*~", ".DS_Store", "nohup.out")
"""Files written by servers and editors."""

_DOCUMENT = re.compile(
    r"(README|LICEN[CS]E|COPYING|CHANGELOG|NOTES|CONTRIBUTING|\.gitignore)(\.(md|rst|txt|adoc))?"
)
"""Names of documents at the top of the folder."""

_HIDDEN = "hidden"
"""Replaces the value of a secret, which is never recorded."""

_SECRET = re.compile(r"secret|token|passw|pwd|credential|private|api_?key|access_?key", re.I)
_USER_OF_URL = re.compile(r"(?<=://)[^/@\s]+(?=@)")
_SECRET_ARGUMENT = re.compile(
    rf"(--[\w-]*(?:{_SECRET.pattern})[\w-]*(?:=|\s+)|\b\w*(?:{_SECRET.pattern})\w*=)\S+", re.I
)


def of(framework: Installable) -> tuple[Part, ...]:
    """Files, build command and environment: the sources in the framework's folder."""
    return (*files(framework.folder), *_build(framework))


def built_from(framework: Installable) -> tuple[Part, ...]:
    """The sources that its build reads."""
    read = framework.build_reads
    return (
        *(part for part in files(framework.folder) if not read or _is_read(part.name, read)),
        *_build(framework),
    )


def _build(framework: Installable) -> tuple[Part, ...]:
    return (
        *((Part("command", "build", without_secrets(framework.build)),) if framework.build else ()),
        *variables(framework.environment),
    )


def tool_marks(framework: Installable) -> tuple[Part, ...]:
    """A mark of each tool that changes when the tool is replaced; no tool is started."""
    root = roots.of(framework)
    if root is None:
        return tuple(Part("program", need.name, _mark(need)) for need in framework.needs)
    others = [need for need in framework.needs if need.kind != "apt"]
    return (
        Part("version", root.name, root.digest),
        *(Part("program", need.name, _mark(need)) for need in others),
    )


def files(folder: Path) -> tuple[Part, ...]:
    """Every source file of a folder: digest, and whether it is executable."""
    return tuple(
        Part("file", path.relative_to(folder).as_posix(), _content(path))
        for path in sorted(found(folder))
    )


def found(folder: Path) -> Iterator[Path]:
    """The sources below a folder: links followed, each folder once, nothing that a build left."""
    seen: set[str] = set()
    for parent, folders, names in os.walk(folder, followlinks=True):
        here = os.path.realpath(parent)
        if here in seen:
            folders.clear()
            continue
        seen.add(here)
        folders[:] = [name for name in folders if not _matches(name, _NO_FOLDERS)]
        is_top = Path(parent) == folder
        for name in names:
            path = Path(parent, name)
            is_told_elsewhere = is_top and (name in _MANIFESTS or _DOCUMENT.fullmatch(name))
            is_left_out = is_told_elsewhere or _matches(name, _NO_FILES)
            if not is_left_out and (path.is_file() or path.is_symlink()):
                yield path


def variables(environment: dict[str, str]) -> tuple[Part, ...]:
    """Variables of an environment; values of possible secrets are hidden."""
    return tuple(
        Part("variable", name, shown(name, value)) for name, value in sorted(environment.items())
    )


def shown(name: str, value: str) -> str:
    """The value of a variable; hidden if the name indicates a secret."""
    return _HIDDEN if _SECRET.search(name) else without_secrets(value)


def without_secrets(text: str) -> str:
    """A command or a value without the passwords of URLs and of password options."""
    return _SECRET_ARGUMENT.sub(rf"\1{_HIDDEN}", _USER_OF_URL.sub(_HIDDEN, text))


def _is_read(name: str, patterns: tuple[str, ...]) -> bool:
    """Whether a file is named by one of some patterns, or lies in a folder that is."""
    return any(fnmatch(name, one) or fnmatch(name, f"{one.rstrip('/')}/*") for one in patterns)


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatch(name, pattern) for pattern in patterns)


def _content(path: Path) -> str:
    """Digest of a file's content; of a broken link, of its target."""
    try:
        content = path.read_bytes() if path.is_file() else os.fsencode(path.readlink())
    except OSError:
        return "unreadable"
    return digest(content) + ("+x" if os.access(path, os.X_OK) else "")


def _mark(need: Requirement) -> str:
    if need.kind == "java":
        return str(java_home(int(need.name)))
    if need.kind == "apt":
        return _package(need.name)
    if need.kind == "folder":
        return os.environ.get(need.name, "")
    return _program(need)


def _package(name: str) -> str:
    """When a Debian package was last unpacked; empty if it never was.

    Source:
        dpkg(1), `/var/lib/dpkg/info`: the list of a package's files, of one architecture or all.
    """
    lists = [*_PACKAGES.glob(f"{name}.list"), *_PACKAGES.glob(f"{name}:*.list")]
    return " ".join(str(path.stat().st_mtime_ns) for path in lists)


def _program(need: Requirement) -> str:
    found = program_of(need)
    if found is None:
        return ""
    facts = Path(found).stat()
    return f"{Path(found).resolve()} {facts.st_size} {facts.st_mtime_ns}"
