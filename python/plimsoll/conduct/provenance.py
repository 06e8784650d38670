"""What a trial runs, read from this host: the application, and what measures it."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import plimsoll
from plimsoll import machine
from plimsoll.install import commands, dependencies, sources
from plimsoll.install.requirements import java_home, java_version
from plimsoll.provenance import Part, Provenance, digest, short_id

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from plimsoll.campaign.framework import Framework, Requirement
    from plimsoll.conduct.run_config import RunConfig
    from plimsoll.plan import Trial

VERSION_S = 10.0
"""Seconds that a tool has to say its version."""

TUNING = (
    *("NODE_OPTIONS", "NODE_ENV", "UV_THREADPOOL_SIZE", "GOGC", "GOMAXPROCS", "GOMEMLIMIT"),
    *("GODEBUG", "PYTHONOPTIMIZE", "PYTHONPATH", "PYTHONMALLOC", "PYTHONDEVMODE", "PYTHON_GIL"),
    *("PYTHON_JIT", "PYTHONASYNCIODEBUG", "RUBYOPT", "RUBY_YJIT_ENABLE", "RAILS_ENV", "RACK_ENV"),
    *("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "PHP_INI_SCAN_DIR", "APP_ENV"),
    *("WEB_CONCURRENCY", "GUNICORN_CMD_ARGS", "TOKIO_WORKER_THREADS", "OMP_NUM_THREADS"),
    *("MALLOC_ARENA_MAX", "MALLOC_CONF", "GLIBC_TUNABLES", "LD_PRELOAD", "LD_LIBRARY_PATH"),
    "OPENSSL_CONF",
)
"""Variables of the lab's own environment that a server inherits and that change how fast it is."""

_NUMBER = re.compile(r"\d+(?:\.\d+)+\S*")
_VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)(?::?-([^}]*))?\})")
_ASSIGNED = re.compile(r"\w+=")
_BEFORE_PROGRAM = ("exec", "env")
_SAID: dict[tuple[str, str], str] = {}
_HOST_FACTS = ("kernel", "cpu_model")


def of(trial: Trial, setting: RunConfig) -> Provenance:
    """What a trial with a server of its own runs.

    Args:
        trial: The trial.
        setting: What it has in common with others.
    """
    return Provenance(application(trial.framework), measurement(trial, setting))


def application(framework: Framework) -> tuple[Part, ...]:
    """What is measured: sources, commands, environment, versions, and the programs it starts."""
    parts = (
        *sources.of(framework),
        Part("command", "start", sources.without_secrets(framework.start)),
        *sources.variables(_inherited()),
        *_tools(framework),
        *dependencies.resolved(commands.build_folder(framework), framework.folder),
        *_programs(framework),
    )
    stated = _framework_version(framework, short_id(parts))
    return (*parts, *((Part("version", "framework", stated),) if stated else ()))


def measurement(trial: Trial, setting: RunConfig) -> tuple[Part, ...]:
    """What measures it: driver, endpoint, load, cores, and the host they share."""
    server_cores = trial.load.server_cores or setting.server_cores
    host = setting.machine or machine.facts()
    return (
        *_driver(trial.driver),
        Part("definition", "endpoint", _endpoint(trial)),
        Part("definition", "load", digest(json.dumps(asdict(trial.load)).encode())),
        Part("setting", "server cores", _cores(server_cores)),
        Part("setting", "driver cores", _cores(setting.driver_cores)),
        Part("setting", "body_sample", f"{setting.body_sample_ratio:g}"),
        *_database(trial, setting),
        *((Part("setting", "turns", f"{setting.turn_s:g} s"),) if setting.turn_s else ()),
        *(Part("setting", name, str(host[name])) for name in _HOST_FACTS if host.get(name)),
    )


def _database(trial: Trial, setting: RunConfig) -> Iterator[Part]:
    """Version and cores of the database, if the trial uses one."""
    if setting.database is not None and trial.endpoint.database is not None:
        yield Part("version", "PostgreSQL", setting.database.version)
        yield Part("setting", "database cores", _cores(setting.database.cores))


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


def _inherited() -> dict[str, str]:
    return {name: os.environ[name] for name in TUNING if name in os.environ}


def _tools(framework: Framework) -> Iterator[Part]:
    """Version of each tool and package that the framework needs."""
    for need in framework.needs:
        version = _tool_version(need)
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
    found = shutil.which(need.name)
    return "" if found is None else _program_version(*_identity(Path(found)))


def _java_version(home: Path) -> str:
    """The full version of a JDK, by the file `release` of JEP 223."""
    found = re.search(r'^JAVA_VERSION="([^"]+)"', _text(home / "release"), re.MULTILINE)
    return found[1] if found else str(java_version(home))


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""


@cache
def _package_version(name: str) -> str:
    """Version of a Debian package; dpkg-query(1)."""
    return _output("dpkg-query", "-W", "-f", "${Version}", name).strip()


@cache
def _program_version(path: Path, *_changes_with: int) -> str:
    """The first number with a dot that a program prints of itself; run once per program."""
    for question in ("--version", "version"):
        if found := _NUMBER.search(_output(str(path), question)):
            return found[0]
    return ""


def _framework_version(framework: Framework, parts_id: str) -> str:
    """The version that the framework prints, run once as long as nothing else has changed."""
    key = (framework.version, parts_id)
    if key not in _SAID:
        _SAID[key] = commands.version(framework)
    return _SAID[key]


def _output(*command: str) -> str:
    """The output of a program; empty when it fails."""
    try:
        requested = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=VERSION_S,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    stated = requested.stdout if requested.returncode == 0 else b""
    return stated.decode("utf-8", "replace")


def _programs(framework: Framework) -> Iterator[Part]:
    """Digest of each file that the start command names and that is no source: its program too."""
    environment = commands.environment(framework)
    folder, built = framework.folder.resolve(), commands.build_folder(framework)
    for path in dict.fromkeys(_named_files(framework.start, folder, environment)):
        if path.is_relative_to(built) or not path.is_relative_to(folder):
            yield Part("program", path.name, _digest_of(*_identity(path)))


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


def _identity(path: Path) -> tuple[Path, int, int]:
    facts = path.stat()
    return path, facts.st_size, facts.st_mtime_ns


@cache
def _digest_of(path: Path, *_changes_with: int) -> str:
    """Digest of a file; read again only when its size or time has changed."""
    return digest(path.read_bytes())


def _driver(name: str) -> Iterator[Part]:
    """The program that generates the load, and the version of the lab."""
    yield Part("version", "plimsoll", plimsoll.__version__)
    if name == "plimsoll":
        from plimsoll import _engine  # noqa: PLC0415 - not needed for other load generators

        yield Part("program", "engine", _digest_of(*_identity(Path(_engine.__file__))))
        return
    version = _driver_version(name)
    if version:
        yield Part("version", name, version)


@cache
def _driver_version(name: str) -> str:
    from plimsoll.drivers.tools import DRIVERS  # noqa: PLC0415

    return next((one.version() for one in DRIVERS if one.NAME == name and one.needs() is None), "")


def _endpoint(trial: Trial) -> str:
    """Digest of what is sent and what is right; where values are drawn, that they are."""
    endpoint = trial.endpoint
    reported: list[object] = [
        (repr(one.request), one.expected.status, one.expected.length_bytes, one.expected.body)
        for one in endpoint.exchanges
    ]
    if endpoint.drawn is not None:
        reported.append(trial.values)
    return digest(repr(reported).encode())


def _cores(cores: tuple[int, ...]) -> str:
    return ",".join(map(str, cores)) or "all"
