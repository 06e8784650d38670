"""Plimsoll's engine as a process: its specification, and its report at the end."""

from __future__ import annotations

import json
import sys
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PATH = "/2048"
ECHO = "/echo"
"""Where messages of WebSocket are returned."""

BODY = b"A" * 2048
NO_STATUS = 0
"""That of a message of WebSocket."""

NS_PER_S = 10**9

STEPS = 50
"""Steps of a ramp: of 20,000 connections, 400 at a time."""


@dataclass(frozen=True)
class DriverJob:
    """One load of the engine.

    Attributes:
        address: Address and port of the server.
        into: Folder for its files.
        cores: One thread on each.
        connections: Connections that are kept busy, or the pool of an open load.
        seconds: Length of what is measured.
        record: Whether rows are kept.
        rate_per_s: Arrivals per second of an open load; None for the closed model.
        tolerance_s: Open load: how much later than due a request may be sent, in seconds.
        warm_up_s: Seconds before at the same level.
        ramp_s: Seconds before in which the level rises from 0 in steps, so that no listen queue has
            to hold every connection at once.
        by_tls: Whether the server speaks TLS; its certificate is not verified.
        streams: Streams of HTTP/2 on each connection; None for HTTP/1.1.
        is_kept: Whether a connection carries more than one request.
        by_messages: Whether messages of WebSocket, as long as the body, are echoed instead.
    """

    address: str
    into: Path
    cores: Sequence[int]
    connections: int
    seconds: float
    record: bool = True
    rate_per_s: float | None = None
    tolerance_s: float = 0.0
    warm_up_s: float = 0.0
    ramp_s: float = 0.0
    by_tls: bool = False
    streams: int | None = None
    is_kept: bool = True
    by_messages: bool = False


def command(drive: DriverJob) -> list[str]:
    """Writes the specification of a drive; gives the command that runs it."""
    path = drive.into / "spec.json"
    path.write_text(json.dumps(spec(drive)), encoding="utf-8")
    return [sys.executable, "-P", "-m", "plimsoll.engine", str(path)]


def finish(said: str) -> dict[str, Any]:
    """The content of `finish.json`, from the last line of the engine.

    Raises:
        ValueError: The engine did not get to its end.
    """
    lines = said.splitlines() or [""]
    last = json.loads(lines[-1])
    if last.get("event") != "finished":
        raise ValueError(lines[-1])
    return last


def spec(drive: DriverJob) -> dict[str, Any]:
    """The specification of a drive."""
    status = NO_STATUS if drive.by_messages else 200
    expected = {"status": [status, status], "length_bytes": len(BODY), "body": _base64(BODY)}
    request = BODY if drive.by_messages else _head(drive, PATH)
    host = drive.address.rpartition(":")[0]
    tls = {"server_name": host, "insecure": True, "alpn": [] if drive.streams is None else ["h2"]}
    return {
        **({"tls": tls} if drive.by_tls else {}),
        "format": 1,
        "into": str(drive.into),
        "address": drive.address,
        "requests": [{"name": PATH, "bytes": _base64(request), "expected": expected}],
        "load": _load(drive),
        "cores": list(drive.cores),
        "body_sample_ratio": 0.01,
        "record": drive.record,
    }


def _head(drive: DriverJob, target: str) -> bytes:
    closed = "" if drive.is_kept else "Connection: close\r\n"
    return f"GET {target} HTTP/1.1\r\nHost: {drive.address}\r\n{closed}\r\n".encode()


def _load(drive: DriverJob) -> Mapping[str, Any]:
    kind: dict[str, object] = {"model": "closed"}
    level = float(drive.connections)
    if drive.rate_per_s is not None:
        tolerance_ns = round(drive.tolerance_s * NS_PER_S)
        kind = {"model": "open", "connections": drive.connections, "tolerance_ns": tolerance_ns}
        level = drive.rate_per_s
    stages = [
        _stage("ramp", drive.ramp_s, 0.0, level),
        _stage("warm_up", drive.warm_up_s, level, level),
        _stage("hold", drive.seconds, level, level),
    ]
    asked = [stage for stage in stages if stage["duration_ns"]]
    connections = {"keep_alive": drive.is_kept, "timeout_ns": 10 * NS_PER_S}
    return {**kind, **_spoken(drive), **connections, "stages": asked}


def _spoken(drive: DriverJob) -> Mapping[str, Any]:
    """The protocol; nothing for HTTP/1.1."""
    if drive.by_messages:
        upgrade = {"upgrade": _base64(_head(drive, ECHO)), "message": "text"}
        return {"protocol": {"websocket": upgrade}}
    if drive.streams is not None:
        return {"protocol": "http2", "streams": drive.streams}
    return {}


def _stage(kind: str, seconds: float, start: float, end: float) -> dict[str, Any]:
    duration_ns = round(seconds * NS_PER_S)
    return {"kind": kind, "duration_ns": duration_ns, "start": start, "end": end, "steps": STEPS}


def _base64(content: bytes) -> str:
    return b64encode(content).decode()
