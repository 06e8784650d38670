"""Facts of a trial as people read them: its server, its load generator, what ran, its machine."""

from __future__ import annotations

import shlex
from collections import Counter
from typing import TYPE_CHECKING, Any, cast

from plimsoll import texts, wording
from plimsoll.provenance import ID_LENGTH, STATED
from plimsoll.recording import HOST
from plimsoll.report import load_text
from plimsoll.report.load_text import is_imported

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plimsoll.machine import Fact
    from plimsoll.provenance import Part
    from plimsoll.recording import RecordedServer, Recording, ResponseHead

_RAN = {
    "version": "Versions",
    "file": "Files",
    "command": "Commands",
    "variable": "Environment",
    "program": "Programs",
}
"""Kinds of parts of an application, and how they are called."""

_DIGESTED = ("file", "program", "definition")

MOST_PARTS = 6
"""Versions, files or programs of one server that a page of paper has room for."""


def of_server(recording: Recording) -> list[tuple[str, str]]:
    """Facts of the server's side: name and value."""
    server = recording.server
    if server is None:
        return []
    if is_imported(recording):
        return [("Cores", wording.count(server.workers))] if server.workers else []
    facts = [
        ("Application", recording.provenance.application_id),
        ("Started with", texts.line(server.command)),
        ("Ready after", wording.seconds(server.start_s)),
        ("Started once for", ", ".join(server.shared_by)),
        ("Memory at rest", _rest(server)),
        ("Host", "" if server.host == HOST else server.host),
        ("Cores", _core_list(server.cores)),
        ("Workers configured", wording.count(server.workers or None)),
        ("Listening sockets", wording.count(server.listeners)),
        ("Listen backlog", _backlog(server)),
        ("Stopped", _stop(server.clean_stop, server.exit_code, server.killed)),
        *((f"Response head of {head.request}", _head(head)) for head in recording.heads),
    ]
    return [fact for fact in facts if fact[1]]


def ran(recording: Recording, *, is_brief: bool = False) -> list[tuple[str, str]]:
    """What ran in a trial, kind by kind: name and value; empty if unknown.

    Args:
        recording: The trial.
        is_brief: Whether there is room for `MOST_PARTS` of a kind; the others are counted.
    """
    known = recording.provenance
    parts = {kind: _of_kinds(known.application, kind) for kind in _RAN}
    told = {kind: _brief(found) if is_brief else _parts(found) for kind, found in parts.items()}
    facts = [("Application", known.application_id)]
    facts += [(name, told[kind]) for kind, name in _RAN.items()]
    facts += [("Measured by", known.measurement_id)]
    measured = _of_kinds(known.measurement, "version", "program", "setting")
    facts += [("Measured with", _parts(measured))]
    return (
        [(name, texts.line(value)) for name, value in facts if value] if known.application else []
    )


def _of_kinds(parts: Sequence[Part], *kinds: str) -> list[Part]:
    """Those of some kinds; what a framework states of its version comes first."""
    found = [part for part in parts if part.kind in kinds]
    return sorted(found, key=lambda part: not _is_stated(part))


def _is_stated(part: Part) -> bool:
    return (part.kind, part.name) == ("version", STATED)


def _brief(parts: Sequence[Part]) -> str:
    """Some parts, and how many more there are; of many versions, what the framework states."""
    if len(parts) <= MOST_PARTS:
        return _parts(parts)
    stated = [part for part in parts if _is_stated(part)]
    shown = stated or parts[:MOST_PARTS]
    return f"{_parts(shown)}, and {len(parts) - len(shown)} more in the HTML report"


def _parts(parts: Sequence[Part]) -> str:
    """Some parts, with digests as short as an id."""
    return ", ".join(
        f"{part.name} {part.value[:ID_LENGTH] if part.kind in _DIGESTED else part.value}"
        for part in parts
    )


def _rest(server: RecordedServer) -> str:
    if server.rest_pss_bytes is None:
        return wording.size(server.rest_rss_bytes)
    return f"{wording.size(server.rest_rss_bytes)}, PSS {wording.size(server.rest_pss_bytes)}"


def _backlog(server: RecordedServer) -> str:
    if server.backlog is None:
        return wording.ABSENT
    requested = (
        ""
        if server.backlog_required is None
        else f"requested {wording.count(server.backlog_required)}, "
    )
    return f"{_places(server)} ({requested}host allows {wording.count(server.somaxconn)})"


def _head(head: ResponseHead) -> str:
    """Length of a head and what of it is which field, the longest first."""
    fields = sorted(head.fields.items(), key=lambda field: -field[1])
    reported = ", ".join(f"{name} {length}" for name, length in fields)
    known = head.segments is not None
    segments = (
        f"; {wording.several(head.segments or 0, 'TCP segment')} with the body" if known else ""
    )
    return f"{wording.count(head.bytes)} bytes ({reported}){segments}"


def listen_queue(server: RecordedServer) -> str:
    """Places of each listening socket, and the requested number if that is more."""
    if server.backlog is None:
        return wording.ABSENT
    if not is_queue_short(server):
        return _places(server)
    host = server.somaxconn
    capped = (
        host is not None and server.backlog_required is not None and host < server.backlog_required
    )
    allowed = f", host allows {wording.count(host)}" if capped else ""
    return f"{_places(server)}, requested {wording.count(server.backlog_required)}{allowed}"


def is_queue_short(server: RecordedServer) -> bool:
    """Whether a listening socket has fewer places than the contract requires."""
    if server.backlog is None or server.backlog_required is None:
        return False
    return min(server.backlogs or (server.backlog,)) < server.backlog_required


def _places(server: RecordedServer) -> str:
    """Places of each listening socket: `4,096`, `2 × 4,096`, `128 and 2 × 4,096`."""
    sockets = Counter(server.backlogs or (server.backlog or 0,))
    return " and ".join(
        wording.count(places) if count == 1 else f"{count} × {wording.count(places)}"
        for places, count in sorted(sockets.items())
    )


def _stop(clean: bool | None, code: int | None, killed: int) -> str:
    if clean is None:
        return ""
    if clean:
        return "clean, in time"
    ways = [f"exit code {code}" if code is not None else "", f"{killed} killed" if killed else ""]
    return ", ".join(way for way in ways if way) or "not clean"


def _core_list(cores: tuple[int, ...]) -> str:
    if not cores:
        return "not confined"
    return f"{len(cores)} (number {', '.join(map(str, cores))})"


def of_driver(recording: Recording) -> list[tuple[str, str]]:
    """Facts of the driver's side: name and value; of an import only the tool is known."""
    driver = recording.driver
    if driver is None:
        return []
    if is_imported(recording):
        return [("Tool", f"{driver.name} {driver.version}".strip())]
    return [
        ("Load generator", f"{driver.name} {driver.version}".strip()),
        *([("Command", shlex.join(driver.command))] if driver.command else []),
        ("Cores", _core_list(driver.cores)),
        ("Threads", wording.count(driver.threads)),
        *([("TLS", load_text.tls(recording))] if recording.tls else []),
        *([("Redirects", text)] if (text := load_text.redirects(recording)) else []),
        *([("Streams", text)] if (text := load_text.streams(recording)) else []),
        *([("Compression", text)] if (text := load_text.decoded(recording)) else []),
        ("Memory, peak", wording.size(driver.peak_rss_bytes)),
        ("Longest pause", wording.duration(driver.longest_pause_ns)),
        ("Bodies compared in full", wording.count(driver.bodies_compared)),
        ("Rows lost", wording.count(driver.requests_lost_by_recorder)),
        ("Ended by", driver.ended_by.replace("_", " ")),
        ("Seed", str(recording.seed)),
    ]


def machine(facts: Mapping[str, Fact]) -> str:
    """A machine in one line: processor, cores, memory, system, and whether it is a virtual one."""
    memory = facts.get("memory_bytes")
    cores = facts.get("cores")
    parts = [
        facts.get("cpu_model"),
        wording.several(len(cores), "core") if isinstance(cores, list) and cores else None,
        wording.size(memory) if isinstance(memory, int) and memory else None,
        facts.get("distribution"),
        f"kernel {facts['kernel']}" if facts.get("kernel") else None,
        "virtual" if facts.get("virtual") else None,
    ]
    return ", ".join(str(part) for part in parts if part) or "an unknown machine"


def fact(name: str, value: Any) -> tuple[str, str]:
    """A fact of a machine, its unit read from its name: `memory_bytes`, 16e9: `Memory`, `16 GB`."""
    for suffix, write in (
        ("_bytes", wording.size),
        ("_ns", wording.duration),
        ("_s", wording.seconds),
    ):
        if name.endswith(suffix) and isinstance(value, int | float | None):
            return _sentence(name.removesuffix(suffix)), write(value)
    return _sentence(name), _plain(value)


def _sentence(name: str) -> str:
    words = name.replace("_", " ")
    return words[:1].upper() + words[1:]


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return wording.number(value, 6)
    if isinstance(value, list | tuple):
        parts = cast("Sequence[Any]", value)
        return ", ".join(_plain(part) for part in parts) or wording.ABSENT
    return wording.ABSENT if value is None else str(value)
