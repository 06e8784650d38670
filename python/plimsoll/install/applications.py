"""What a server runs, read from this host: sources, commands, versions and programs."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll.install import commands, dependencies, roots, sources
from plimsoll.install.host_answers import output_of, text_of
from plimsoll.install.requirements import java_home, java_version, program_of
from plimsoll.provenance import STATED, Part, digest, short_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from plimsoll.campaign.framework import Framework, Requirement

VERSION_S = 10.0
"""Seconds that a tool has to say its version."""

TUNING = (
    *("NODE_OPTIONS", "NODE_ENV", "UV_THREADPOOL_SIZE", "GOGC", "GOMAXPROCS", "GOMEMLIMIT"),
    *("GODEBUG", "PYTHONOPTIMIZE", "PYTHONPATH", "PYTHONMALLOC", "PYTHONDEVMODE", "PYTHON_GIL"),
    *("PYTHON_JIT", "PYTHONASYNCIODEBUG", "RUBYOPT", "RAILS_ENV", "RACK_ENV"),
    *("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "PHP_INI_SCAN_DIR", "APP_ENV"),
    *("WEB_CONCURRENCY", "GUNICORN_CMD_ARGS", "TOKIO_WORKER_THREADS", "OMP_NUM_THREADS"),
    *("GLIBC_TUNABLES", "LD_PRELOAD", "LD_LIBRARY_PATH", "OPENSSL_CONF"),
)
"""Variables of the lab's own environment that a server inherits and that change how fast it is."""

TUNING_FAMILIES = ("RUBY_", "MALLOC_", "MIMALLOC_", "_RJEM_")
"""How the names begin of others like them: Ruby's collector and YJIT, and allocators."""

_NUMBER = re.compile(r"\d+(?:\.\d+)+(?:[.+~-]?\w+)*")
_VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)(?::?-([^}]*))?\})")
_ASSIGNED = re.compile(r"\w+=")
_BEFORE_PROGRAM = ("exec", "env")
_SAID: dict[tuple[str, str], str] = {}


def of(framework: Framework, version: str | None = None) -> tuple[Part, ...]:
    """What is measured: sources, commands, environment, versions, and the programs it starts.

    Args:
        framework: What is measured.
        version: What its version command has just printed; None to run it.
    """
    parts = (
        *sources.of(framework),
        Part("command", "start", sources.without_secrets(framework.start)),
        *((Part("command", "processes", "one for each core"),) if framework.processes else ()),
        *sources.variables(_inherited(framework)),
        *_tools(framework),
        *dependencies.resolved(commands.build_folder(framework), framework.folder),
        *_programs(framework),
    )
    stated = _framework_version(framework, short_id(parts)) if version is None else version
    return (*parts, *((Part("version", STATED, stated),) if stated else ()))


def stated_version(parts: Iterable[Part]) -> str:
    """The version that a framework printed; empty where it prints none."""
    found = (part.value for part in parts if (part.kind, part.name) == ("version", STATED))
    return next(found, "")


def of_process(pid: int) -> tuple[Part, ...]:
    """What is known of a server that runs already: the program of its process.

    Args:
        pid: Its process. That of another user may not be looked at; then nothing is known.

    Source:
        proc_pid_exe(5): the link can be opened even when the file was replaced meanwhile.
    """
    link = Path(f"/proc/{pid}/exe")
    try:
        name = link.readlink().name.removesuffix(" (deleted)")
        return (Part("program", name, digest(link.read_bytes())),)
    except OSError:
        return ()


def resolved(command: str, environment: Mapping[str, str]) -> str:
    """A command with variables replaced by their values, as a shell has them: `$A`, `${A:-b}`.

    Args:
        command: The command.
        environment: The variables; one that is not there is nothing.
    """

    def value(found: re.Match[str]) -> str:
        name = found[1] or found[2]
        return environment.get(name) or found[3] or ""

    return _VARIABLE.sub(value, command)


def _inherited(framework: Framework) -> dict[str, str]:
    given = commands.inherited(framework, listens=True)
    tuning = (name for name in given if name in TUNING or name.startswith(TUNING_FAMILIES))
    return {name: given[name] for name in sorted(tuning)}


def _tools(framework: Framework) -> Iterator[Part]:
    """Version of each tool and package that the framework needs, and of its root as a whole."""
    root = roots.of(framework)
    if root is not None:
        yield Part("version", root.name, root.digest)
    versions = root.versions() if root else {}
    for need in framework.needs:
        in_root = root is not None and need.kind == "apt"
        version = versions.get(need.name, "") if in_root else _tool_version(need)
        if version:
            yield Part("version", "java" if need.kind == "java" else need.name, version)


def _tool_version(need: Requirement) -> str:
    if need.kind == "java":
        home = java_home(int(need.name))
        return "" if home is None else _java_version(home)
    if need.kind == "apt":
        return _package_version(need.name)
    if need.kind == "folder":
        return os.environ.get(need.name, "")
    found = program_of(need)
    return "" if found is None else _program_version(*identity(Path(found)))


def _java_version(home: Path) -> str:
    """The full version of a JDK, by the file `release` of JEP 223."""
    found = re.search(r'^JAVA_VERSION="([^"]+)"', text_of(home / "release"), re.MULTILINE)
    return found[1] if found else str(java_version(home))


@cache
def _package_version(name: str) -> str:
    """Version of a Debian package; dpkg-query(1)."""
    return output_of("dpkg-query", "-W", "-f", "${Version}", name, timeout_s=VERSION_S).strip()


@cache
def _program_version(path: Path, *_changes_with: int) -> str:
    """The first number with a dot that a program prints of itself; run once per program."""
    for question in ("--version", "version"):
        if found := _NUMBER.search(output_of(str(path), question, timeout_s=VERSION_S)):
            return found[0]
    return ""


def _framework_version(framework: Framework, parts_id: str) -> str:
    """The version that the framework prints, run once as long as nothing else has changed."""
    key = (framework.version, parts_id)
    if key not in _SAID:
        _SAID[key] = commands.version(framework)
    return _SAID[key]


def _programs(framework: Framework) -> Iterator[Part]:
    """Digest of each file that the start command names and that is no source: its program too.

    In a root of its own only what was built: the versions of packages name all other programs.
    """
    environment = commands.environment(framework)
    folder, built = framework.folder.resolve(), commands.build_folder(framework)
    for path in dict.fromkeys(_named_files(framework.start, folder, environment)):
        is_built = path.is_relative_to(built)
        if is_built or not (framework.root or path.is_relative_to(folder)):
            yield Part("program", path.name, digest_of(*identity(path)))


def _named_files(start: str, folder: Path, environment: Mapping[str, str]) -> Iterator[Path]:
    try:
        words = shlex.split(resolved(start, environment), comments=True)
    except ValueError:
        return
    is_program = True
    for word in words:
        if is_program and (word in _BEFORE_PROGRAM or _ASSIGNED.match(word)):
            continue
        found = shutil.which(word, path=environment.get("PATH")) if is_program else word
        path = folder / (found or word)
        if path.is_file() and ("/" in word or is_program):
            yield path
        is_program = False


def identity(path: Path) -> tuple[Path, int, int]:
    """A file with what changes when it is replaced: what `digest_of` takes."""
    facts = path.stat()
    return path, facts.st_size, facts.st_mtime_ns


@cache
def digest_of(path: Path, *_changes_with: int) -> str:
    """Digest of a file; read again only when its size or time has changed."""
    return digest(path.read_bytes())
