"""Ceilings: how much the engine can do at most on this host, measured once and kept.

`plimsoll calibrate` measures them and keeps them in a file of the user, one for each machine and
version of the engine. Whoever conducts a trial looks up the case that is nearest to it and writes
its ceiling into the recording, so that a verdict needs nothing but the recording.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from plimsoll.errors import StorageError

FORMAT = 1
"""Version of the format of the file."""

IDENTITY = (
    "cores",
    "cores_online",
    "physical_cores",
    "cpu_model",
    "architecture",
    "kernel",
    "hypervisor",
    "container",
    "cgroup_cores",
)
"""Facts of a host that a ceiling depends on; where one differs the ceiling is another's."""


@dataclass(frozen=True)
class Ceiling:
    """What was reached in one case.

    Attributes:
        connections: Connections that were kept busy.
        answer_bytes: Mean length of an answer with its head.
        throughput_per_s: Answers per second of engine and reference server together.
        threads: Threads of the engine.
        cpu_per_request_s: Processor time of the engine for one request, every row recorded.
        driver_busy_ratio: Share of its threads' time that the engine was busy.
        server_busy_ratio: Share of its cores' time that the reference server was busy.
    """

    connections: int
    answer_bytes: float
    throughput_per_s: float
    threads: int
    cpu_per_request_s: float
    driver_busy_ratio: float
    server_busy_ratio: float

    @property
    def thread_per_s(self) -> float:
        """Requests per second that one thread of the engine could do on a core of its own."""
        return 1 / self.cpu_per_request_s


def engine(name: str, version: str) -> str:
    """A driver, as its ceilings are kept."""
    return f"{name} {version}"


def identity(machine: Mapping[str, Any], engine: str) -> dict[str, Any]:
    """What a ceiling belongs to: the facts it depends on, and the version of the engine.

    Args:
        machine: Facts of a host, as `machine.facts` gives them; those that are not there are null.
        engine: Name and version of the engine.
    """
    return {**{name: machine.get(name) for name in IDENTITY}, "engine": engine}


def file(machine: Mapping[str, Any], engine: str) -> Path:
    """Where the ceilings of a host and an engine are kept.

    Source:
        XDG Base Directory Specification, `XDG_STATE_HOME`.
    """
    text = json.dumps(identity(machine, engine), sort_keys=True)
    mark = hashlib.sha256(text.encode()).hexdigest()[:12]
    return _state_folder() / "plimsoll" / f"ceiling-{mark}.json"


def keep(
    ceilings: Sequence[Ceiling], machine: Mapping[str, Any], engine: str, into: Path | None = None
) -> Path:
    """Writes the ceilings of a host.

    Args:
        ceilings: What was measured.
        machine: Facts of the host.
        engine: Its name and version.
        into: The file; None for the one where trials look.

    Returns:
        The file.

    Raises:
        StorageError: It cannot be written.
    """
    path = into or file(machine, engine)
    content = {
        "format": FORMAT,
        "identity": identity(machine, engine),
        "ceilings": [asdict(ceiling) for ceiling in ceilings],
    }
    partial = path.with_name(f"{path.name}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text(json.dumps(content, indent=1) + "\n", "utf-8")
        partial.replace(path)
    except OSError as error:
        message = f"`{path}` cannot be written: {error.strerror}"
        raise StorageError(message, "name another file with `--into`") from error
    return path


def kept(machine: Mapping[str, Any], engine: str) -> tuple[Ceiling, ...]:
    """The ceilings of a host; none when it was not calibrated, or the file cannot be understood."""
    try:
        content = json.loads(file(machine, engine).read_text("utf-8"))
        if content["format"] != FORMAT or content["identity"] != identity(machine, engine):
            return ()
        return tuple(Ceiling(**ceiling) for ceiling in content["ceilings"])
    except (OSError, ValueError, KeyError, TypeError):
        return ()


def nearest(
    ceilings: Sequence[Ceiling], connections: int, answer_bytes: float
) -> Ceiling | None:  # fmt: skip
    """The case that is most like a trial, by the ratios of connections and of lengths.

    Args:
        ceilings: The cases.
        connections: Connections of the trial.
        answer_bytes: Mean length of its answers with their heads.

    Returns:
        The case; None when there is none.
    """

    def distance(ceiling: Ceiling) -> float:
        return abs(math.log((ceiling.connections + 1) / (connections + 1))) + abs(
            math.log((ceiling.answer_bytes + 1) / (answer_bytes + 1))
        )

    return min(ceilings, key=distance, default=None)


def _state_folder() -> Path:
    named = os.environ.get("XDG_STATE_HOME", "")
    return Path(named) if named.startswith("/") else Path.home() / ".local" / "state"
