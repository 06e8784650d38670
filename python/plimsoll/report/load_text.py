"""Loads as people read them: what was requested, and what came of TLS and redirects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.campaign.load import Load

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plimsoll.campaign.load import Stage, UnknownLoad
    from plimsoll.recording import Recording
    from plimsoll.recording.tls import NegotiatedTls


def is_imported(recording: Recording) -> bool:
    """Whether another tool generated the load and only its files were taken in."""
    return recording.load.model == "unknown"


def sentence(load: Load | UnknownLoad, *, unusual: bool = False) -> str:
    """A load in one sentence: what is requested, how long, on which connections.

    Args:
        load: The load.
        unusual: Whether what is so by default is left out.
    """
    if load.model == "unknown":
        return "recorded by another tool; the requested load is unknown"
    stages = ", ".join(map(_stage_text, load.stages))
    limit = load.request_limit if load.model == "closed" else None
    if limit and len(load.stages) == 1:
        (hold,) = load.stages
        most = f"up to {wording.seconds(hold.duration_s)} " if load.is_timed else ""
        stages = f"hold {most}at {_level(hold.end)}"
    unit = "connections" if load.model == "closed" else "arrivals per second"
    parts = [f"{load.model} model ({unit}): {stages}", *_arrival_text(load)]
    if not (unusual and load.keeps_connections):
        parts.append(_connection_text(load))
    parts.extend(_protocol_text(load))
    if load.think_time_s:
        parts.append(f"think time {wording.seconds(load.think_time_s)}")
    if load.timeout_s and not (unusual and load.timeout_s == Load.timeout_s):
        parts.append(f"timeout {wording.seconds(load.timeout_s)}")
    if limit:
        what = requests(load).removesuffix("s")
        parts.append(f"ends after {wording.several(limit, what)}")
    if load.threads:
        parts.append(wording.several(load.threads, "load generator thread"))
    if load.server_cores:
        parts.append(f"server on core {', '.join(map(str, load.server_cores))}")
    return "; ".join(parts)


def requests(load: Load | UnknownLoad) -> str:
    """What requests are called: messages of WebSocket, or events of a stream."""
    if load.events:
        return "events"
    return "messages" if load.protocol == "websocket" else "requests"


def streams(recording: Recording) -> str:
    """How many of the requested streams the server allowed; empty where it allowed all."""
    load, driver = recording.load, recording.driver
    fewest = None if driver is None else driver.fewest_streams
    if load.protocol != "http2" or fewest is None or fewest >= load.in_flight_each:
        return ""
    return f"{wording.count(fewest)} of {load.in_flight_each} allowed on a connection by the server"


def redirects(recording: Recording) -> str:
    """How many redirects were followed; empty where none is."""
    if recording.driver is None or not recording.load.follow:
        return ""
    return (
        f"{wording.count(recording.driver.redirects)} followed; times are of all hops of a request"
    )


def decoded(recording: Recording) -> str:
    """What bodies were decoded from and to; empty where compressed ones were not accepted."""
    codings = dict.fromkeys(name for one in recording.expected for name in one.codings)
    if recording.driver is None or not codings:
        return ""
    found = recording.driver.decoded
    if not found.bodies:
        return f"no body was compressed, though {', '.join(codings)} was accepted"
    bytes_each = (
        f"{wording.size(found.coded_bytes)} compressed, {wording.size(found.decoded_bytes)} decoded"
    )
    return f"bodies of {wording.several(found.bodies, 'response')}: {bytes_each}"


def tls(recording: Recording) -> str:
    """What handshakes of TLS agreed on, how many there were, and who was trusted.

    Empty without TLS. Where they agreed on several things, these are listed.
    """
    requested, driver = recording.tls, recording.driver
    if requested is None or driver is None:
        return ""
    agreed = dict.fromkeys(_agreed(one) for one in driver.tls if not one.resumed or one.group)
    full, resumed = (
        sum(one.connections for one in driver.tls if one.resumed == is_resumed)
        for is_resumed in (False, True)
    )
    parts = [
        " or ".join(agreed),
        f"{wording.several(full, 'full handshake')}, {wording.count(resumed)} resumed",
    ]
    if requested.trusted == "anyone":
        parts.append("any certificate accepted")
    return "; ".join(filter(None, parts))


def _agreed(one: NegotiatedTls) -> str:
    return ", ".join(filter(None, (one.version, one.cipher, one.group, one.alpn)))


def _protocol_text(load: Load) -> Iterator[str]:
    """What is spoken besides plain HTTP/1, and how much of it at one time on one connection."""
    over_tls = " over TLS" if load.tls else ""
    if load.protocol == "http2":
        yield f"HTTP/2{over_tls}, {wording.several(load.streams, 'stream')} on each"
    elif load.protocol == "websocket":
        yield f"WebSocket{over_tls}, {load.message} messages"
    elif load.tls:
        yield "HTTP/1.1 over TLS"
    if load.events:
        yield "each event is timed from the previous one"
    if load.pipeline > 1:
        yield f"{load.pipeline} {requests(load)} in flight on each"


def _stage_text(stage: Stage) -> str:
    kind = stage.kind.replace("_", "-")
    start, end = _level(stage.start), _level(stage.end)
    level = f"at {end}" if start == end else f"from {start} to {end}"
    stepped = f" in {stage.steps} steps" if start != end and stage.steps > 1 else ""
    return f"{kind} {wording.seconds(stage.duration_s)} {level}{stepped}"


def _level(requested: float) -> str:
    """Connections or a rate as they were typed: `1,000`, `0.5`."""
    return wording.every_digit(requested)


def _arrival_text(load: Load) -> Iterator[str]:
    """How the requests of an open load arrive, and on how many connections."""
    if load.model == "open":
        if load.arrivals == "poisson":
            yield "Poisson arrivals"
        if load.connections:
            yield f"a pool of {wording.several(load.connections, 'connection')}"
        if load.tolerance_s:
            yield f"sent up to {wording.seconds(load.tolerance_s)} late"


def _connection_text(load: Load) -> str:
    if not load.keep_alive:
        return f"a new connection for each {requests(load).removesuffix('s')}"
    each = load.requests_per_connection
    return (
        f"{wording.count(each)} {requests(load)} on a connection"
        if each
        else "connections kept alive"
    )
