"""The commands of a framework: their folder and environment."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll import texts, wording
from plimsoll.campaign.places import user_cache
from plimsoll.install import entering, roots, short_commands
from plimsoll.install.requirements import java_home, search_path
from plimsoll.processes.ports import LOOPBACK

if TYPE_CHECKING:
    from plimsoll.campaign.framework import Installable
    from plimsoll.campaign.load import Protocol

VERSION_S = 60.0
"""Timeout of a framework's version command in seconds."""

_SAID_CHARACTERS = 200
_TLS = ("TLS_CERT", "TLS_KEY")
_OF_A_TRIAL = ("DATABASE_URL", "UPSTREAM_URL")
_OF_LIBPQ = "PG"
_PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")
_OF_FRAMEWORKS = (
    # Java: Quarkus by SmallRye Config, Micronaut, Spring Boot.
    *("QUARKUS_", "SMALLRYE_", "MP_", "MICRONAUT_", "DATASOURCES_", "LOGGER_"),
    *("SPRING_", "SERVER_", "MANAGEMENT_", "LOGGING_"),
    # Python and its servers, which record traces where OTEL_ says so.
    *("UVICORN_", "GRANIAN_", "GUNICORN_", "FLASK_", "DJANGO_", "OTEL_"),
    # JavaScript: packages log what DEBUG names.
    *("BUN_", "DENO_", "NODE_CLUSTER_", "NODE_DEBUG", "NEST_", "DEBUG"),
    # Ruby, and the number of processes that Puma, gunicorn and uvicorn take from one name.
    *("RAILS_", "RACK_", "PUMA_", "PASSENGER_", "MIN_THREADS", "MAX_THREADS", "WEB_CONCURRENCY"),
    # PHP: Symfony and Laravel.
    *("APP_", "SYMFONY_"),
    # .NET, Rust, Go, Swift, C++.
    *("DOTNET_", "COMPLUS_", "ASPNETCORE_", "KESTREL_", "ROCKET_", "GIN_", "FIBER_"),
    *("VAPOR_", "SWIFTNIO_", "QT_"),
)
"""How variables begin by which a framework, or its server, takes settings; in any case."""
_FIND_PROGRAMS = (
    *("BUN_INSTALL", "DENO_DIR", "DENO_INSTALL", "DOTNET_ROOT", "DOTNET_HOST_PATH", "DOTNET_CLI_"),
    *("DOTNET_MULTILEVEL_LOOKUP", "QT_PLUGIN_PATH"),
)
"""How those of them begin that say where programs are."""
_IN_A_ROOT = {"PATH": entering.PATH, "PYTHON": "/usr/bin/python3", "LANG": "C.UTF-8"}


@dataclass(frozen=True)
class AskedVersion:
    """What came of a version command.

    Attributes:
        text: The first line that it printed; empty if it failed.
        problem: How it failed, as a clause; empty if it did not.
    """

    text: str = ""
    problem: str = ""


def shell(framework: Installable, command: str) -> tuple[str, ...]:
    """Program and arguments that run a command of a framework, in its root if it has one."""
    root = roots.of(framework)
    if root is None:
        return ("sh", "-c", command)
    given = {**os.environ, **framework.environment}
    named = [given.get(need.name) for need in framework.needs if need.kind == "folder"]
    folders = (build_folder(framework), *(Path(name) for name in named if name))
    return entering.command(root, command, framework.folder, folders)


def inherited(framework: Installable, *, listens: bool = False) -> dict[str, str]:
    """The variables of the lab's own environment that commands of a framework get.

    What a trial gives is left out: a server would take a database of the user's shell for its own.
    A server gets no proxies either: some clients would ask the upstream through one, others not.
    Nor does it get settings of frameworks, which would change what is measured: those are in its
    file. A mere command is the user's own server, and keeps all of that.

    Args:
        framework: The framework.
        listens: Whether the command is a server.
    """
    left_out = (*_TLS, *(entering.HOST_ONLY if framework.root else ()))
    kept = {name: value for name, value in os.environ.items() if name not in left_out}
    if not framework.is_framework:
        return kept
    kept = {
        name: value
        for name, value in kept.items()
        if name not in _OF_A_TRIAL and not name.startswith(_OF_LIBPQ)
    }
    if not listens:
        return kept
    folders = {need.name for need in framework.needs if need.kind == "folder"}
    return {
        name: value
        for name, value in kept.items()
        if name in folders or not (name.lower() in _PROXIES or _is_setting(name.upper()))
    }


def _is_setting(name: str) -> bool:
    return name.startswith(_OF_FRAMEWORKS) and not name.startswith(_FIND_PROGRAMS)


def environment(
    framework: Installable,
    *,
    host: str = LOOPBACK,
    port: int = 0,
    workers: int | None = None,
    protocol: Protocol = "http1",
    certificate: Path | None = None,
    key: Path | None = None,
) -> dict[str, str]:
    """The environment of a framework's commands.

    What is `inherited` from the lab with `HOST`, `PORT`, `WORKERS`, `BUILD`, `PROTOCOL` (`http1` or
    `http2`), `TLS_CERT` and `TLS_KEY`; `PYTHON`, the interpreter of the lab; `JAVA_HOME` and its
    programs if a JDK is required; and finally the variables of the framework's file. In a root of
    its own, `PATH` and `PYTHON` are Debian's, and variables that name something of the host are
    left out.

    Args:
        framework: The framework.
        host: Address to listen on.
        port: Port to listen on; 0 for commands that do not listen.
        workers: Cores to use; None for all that this process may use.
        protocol: What clients speak; WebSocket begins with `http1`.
        certificate: Certificate of the server; None without TLS.
        key: The private key to it.
    """
    files = dict(zip(_TLS, (certificate, key), strict=True))
    return {
        **inherited(framework, listens=port != 0),
        **{name: str(file) for name, file in files.items() if file is not None},
        **(_IN_A_ROOT if framework.root else _tools(framework)),
        "HOST": host,
        "PORT": str(port),
        "WORKERS": str(workers or len(os.sched_getaffinity(0))),
        "BUILD": str(build_folder(framework)),
        "PROTOCOL": protocol,
        **framework.environment,
    }


def build_folder(framework: Installable) -> Path:
    """The build folder of a framework; variants that are built alike share it.

    Below its own folder or, if that is not writable, below the user's cache.
    """
    variant = f"-{framework.builds_as}" if framework.builds_as else ""
    folder = framework.folder.resolve()
    beside = folder / f".build{variant}"
    if os.access(beside if beside.exists() else folder, os.W_OK):
        return beside
    mark = hashlib.sha256(str(folder).encode()).hexdigest()[:8]
    return user_cache() / f"{folder.name}{variant}-{mark}"


def version(framework: Installable) -> str:
    """The first line of a framework's version command; empty if it fails."""
    return asked_version(framework).text


def asked_version(framework: Installable) -> AskedVersion:
    """What a framework's version command printed, or how it failed; neither if there is none."""
    if not framework.version:
        return AskedVersion()
    try:
        ran = short_commands.run(
            shell(framework, framework.version),
            folder=framework.folder,
            environment=environment(framework),
            timeout_s=VERSION_S,
        )
    except OSError as error:
        return AskedVersion(problem=f"`version` cannot be run ({error.strerror})")
    except subprocess.TimeoutExpired:
        return AskedVersion(problem=f"`version` did not end within {wording.exact(VERSION_S)} s")
    if ran.returncode:
        said = [*_lines(ran.stdout), *_lines(ran.stderr)]
        last = f" and said `{said[-1][:_SAID_CHARACTERS]}`" if said else " and said nothing"
        return AskedVersion(problem=f"`version` {_ended(ran.returncode)}{last}")
    lines = _lines(ran.stdout) or _lines(ran.stderr)
    return AskedVersion(lines[0]) if lines else AskedVersion(problem="`version` printed nothing")


def _lines(output: bytes) -> list[str]:
    """The lines of an output that are not blank."""
    lines = output.decode("utf-8", "replace").splitlines()
    return [text for line in lines if (text := texts.line(line).strip())]


def _ended(code: int) -> str:
    return f"was killed by signal {-code}" if code < 0 else f"exited with code {code}"


def _tools(framework: Installable) -> dict[str, str]:
    """Where the host's own tools are: the lab's Python, a JDK, and what variables name."""
    path = search_path(framework.needs)
    least = [int(need.name) for need in framework.needs if need.kind == "java"]
    home = java_home(max(least), {**os.environ, **framework.environment}) if least else None
    if home is None:
        return {"PYTHON": sys.executable, "PATH": path}
    return {"PYTHON": sys.executable, "JAVA_HOME": str(home), "PATH": f"{home / 'bin'}:{path}"}
