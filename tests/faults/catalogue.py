"""Every planted fault, named once: what is done, how large, and which check must find it.

A fault of size 0 is its twin: the same trial without the fault. `test_faults.py` makes each fault
at one size, and its twin; `benches/fault_sizes.py` climbs the ladder of sizes, smallest first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from faults.trials import (
    JUDGED,
    Seen,
    Server,
    Stops,
    Trial,
    content,
    faulty,
    kills,
    reference,
)

Side = Literal["server", "load generator", "machine"]

REFUSED = "refused"
"""What finds a fault that `load` refuses with an error, before or instead of a verdict."""
NO_CHECK = ""

BODY = "A" * 2048


@dataclass(frozen=True)
class Fault:
    """A fault that can be made.

    Attributes:
        name: Its name.
        what: What is done, with X for its size.
        side: What is at fault.
        unit: Unit of its size.
        sizes: The ladder, smallest first.
        at: The size at which it must be found, on any machine.
        found_by: Name of a check, `REFUSED`, or `NO_CHECK` where none finds it.
        make: The trial with the fault of a size, 0 for none.
        why: Why no check finds it; or what a reader must know of a check that does.
        needs_quiet: Whether other programs on the cores hide it, or look like it.
    """

    name: str
    what: str
    side: Side
    unit: str
    sizes: tuple[float, ...]
    at: float
    found_by: str
    make: Callable[[float], Trial]
    why: str = ""
    needs_quiet: bool = False

    def is_found(self, given: Seen) -> bool:
        """Whether that which must find it has found it."""
        if self.found_by == REFUSED:
            return given.code not in JUDGED
        return given.doubts(self.found_by)


@dataclass(frozen=True)
class Proved:
    """A fault that a test of its own makes, at all of its sizes.

    Attributes:
        name: Its name.
        what: What is done, with X for its size.
        side: What is at fault.
        unit: Unit of its size.
        sizes: Sizes at which it is found.
        found_by: Name of a check.
        test: The test, in `tests`.
    """

    name: str
    what: str
    side: Side
    unit: str
    sizes: tuple[float, ...]
    found_by: str
    test: str


TIMED = ("-c", "8", "-d", "4s", "--timeout", "10s")
"""The load on a server that takes 5 ms for a response."""
SHORT = ("-c", "4", "-n", "6000", "--timeout", "5s")
"""The load on a server that responds at once: 2 in 10,000 happen once in it, on any machine."""
SERVICE_MS = 5
RAMP = ("--ramp", "500ms")
"""Connections open before the hold."""


def _timed(load: tuple[str, ...] = TIMED, **options: object) -> Trial:
    return Trial(faulty(service_ms=SERVICE_MS, **options), load)


def _short(**options: object) -> Trial:
    return Trial(faulty(**options), SHORT)


def _bodies(*load: str, **options: object) -> Trial:
    return Trial(content(**options), (*SHORT, *load))


def _closing(per_10_000: float) -> Trial:
    server = content(announce_after=_every(per_10_000))
    return Trial(server, ("-c", "4", "-d", "1s", *RAMP, "--timeout", "5s"))


def _every(per_10_000: float) -> int:
    """The n of every nth, for so many of ten thousand."""
    return round(10_000 / per_10_000) if per_10_000 else 0


def _unevenly(slow: int) -> Callable[[float], Trial]:
    load = ("-c", "20", "-d", "3s", "--timeout", "10s")
    return lambda size: _timed(load, slow_connections=slow if size else 0, slow_times=size)


def _mute(size: float) -> Trial:
    load = ("-c", "8", "-d", "2s", "--timeout", "3s")
    return Trial(faulty(service_ms=SERVICE_MS, mute_connections=int(size)), load)


def _late(size: float) -> Trial:
    load = ("-c", "8", "-d", "3s", "--timeout", "300ms")
    return Trial(faulty(service_ms=SERVICE_MS, mute_every=_every(size * 100)), load)


def _parts(size: float) -> Trial:
    every = round(100 / size) if size else 0
    return Trial(faulty(parts_every=every), ("-c", "40", "-d", "2s", "--timeout", "10s"))


def _lock(size: float) -> Trial:
    """Without the lock the server is busy itself."""
    return Trial(faulty(service_ms=size, serial=bool(size)), ("-c", "40", "-d", "2s"))


def _few_places(size: float) -> Trial:
    """The size is how many connections come for each place of the listen queue."""
    stalls = {"stall": "900ms", "stall_every": "1s"}
    places = round(200 / size) if size else 512
    load = ("-c", "200", "-d", "3s")
    return Trial(reference(backlog=places, **stalls), load, "/empty")


def _beyond_rate(size: float) -> Trial:
    """A server that gives 200 responses per second, and a pool that is large enough."""
    rate = ("-R", f"{200 * size:.0f}" if size else "100", "-c", "64", "-d", "3s")
    return Trial(faulty(service_ms=SERVICE_MS, serial=True), (*rate, "--timeout", "10s"))


def _few_connections(size: float) -> Trial:
    """200 arrivals per second of 50 ms each keep 10 connections in flight."""
    pool = round(10 / size) if size else 30
    load = ("-R", "200", "-c", str(pool), "-d", "3s", "--timeout", "10s")
    return Trial(faulty(service_ms=50), load)


def _refusing(size: float) -> Trial:
    listens_for = round(20 * (1 - size / 100)) if size else 0
    # So few requests have the last response long before the end, on a busy machine, too.
    load = ("-c", "20", "-d", "1s", "--requests-per-connection", "20", "--timeout", "5s")
    return Trial(faulty(service_ms=SERVICE_MS, listen_for=listens_for), load)


def _few_files_of_server(size: float) -> Trial:
    server = reference()
    files = 64 if size else 0
    load = ("-c", str(round(40 + size)), "-d", "1s", *RAMP, "--timeout", "5s")
    return Trial(Server(server.arguments, files), load, "/empty")


def _few_files(size: float) -> Trial:
    connections = str(round(100 + size))
    return Trial(reference(), ("-c", connections, "-d", "1s"), "/empty", files=256)


def _few_ports(size: float) -> Trial:
    connections = str(round(254 * size)) if size else "100"
    return Trial(None, ("-c", connections, "-d", "1s"), "/empty", ports=256)


def _full_disk(size: float) -> Trial:
    disk = round(64 / size) if size else 256
    return Trial(reference(), ("-c", "16", "-d", "3s"), "/empty", disk_mebibytes=disk)


def _status(code: int) -> Callable[[float], Trial]:
    return lambda size: _short(status=code, status_every=_every(size * 100))


FAULTS = (
    Fault(
        "slower each second",
        "Service time grows by X % each second",
        "server",
        "%/s",
        (1, 2, 5, 10, 20, 40),
        40,
        "steady",
        lambda size: _timed(slower_each_second=size),
        needs_quiet=True,
    ),
    Fault(
        "slower after half",
        "Service time steps up by X % at half of the measurement window",
        "server",
        "%",
        (5, 10, 20, 50, 100),
        100,
        "steady",
        lambda size: _timed(slower_by=size, slower_from=2.0 if size else 0),
        needs_quiet=True,
    ),
    Fault(
        "slow first responses",
        "For the first X seconds responses take five times as long",
        "server",
        "s",
        (0.1, 0.2, 0.5, 1),
        1,
        "steady",
        lambda size: _timed(slow_first=size),
        needs_quiet=True,
    ),
    Fault(
        "full stop",
        "The server stops once for X seconds",
        "server",
        "s",
        (0.1, 0.3, 0.5, 1, 2),
        2.2,
        "steady",
        lambda size: _timed(stop=size),
        needs_quiet=True,
    ),
    Fault(
        "freeze in each second",
        "The server stops for X ms in each second",
        "server",
        "ms",
        (5, 10, 20, 50, 100),
        100,
        "hidden_stalls",
        lambda size: _timed(freeze=size),
        needs_quiet=True,
    ),
    Fault(
        "every second connection slower",
        "Responses on every second connection take X times as long",
        "server",
        "times",
        (1.5, 2, 3, 5, 10),
        10,
        "evenly_served",
        _unevenly(5),
    ),
    Fault(
        "two of twenty connections fast",
        "On 18 of 20 connections responses take X times as long",
        "server",
        "times",
        (1.5, 2, 5, 10, 30),
        30,
        "evenly_served",
        _unevenly(9),
    ),
    Fault(
        "connections without a response",
        "X of 8 connections are accepted and never get a response",
        "server",
        "connections",
        (1, 2, 4),
        2,
        "evenly_served",
        _mute,
    ),
    Fault(
        "requests without a response",
        "X % of the requests get no response within the time limit",
        "server",
        "%",
        (0.05, 0.1, 0.2, 1),
        1,
        "failures_explained",
        _late,
    ),
    Fault(
        "responses in two segments",
        "On X % of the connections head and body are sent apart, with Nagle's algorithm on",
        "server",
        "%",
        (2, 10, 50, 100),
        100,
        "delayed_ack",
        _parts,
        needs_quiet=True,
    ),
    Fault(
        "one lock for all",
        "Each response holds a lock for X ms without using a core",
        "server",
        "ms",
        (0.5, 1, 2, 10),
        10,
        "bottleneck_identified",
        _lock,
        needs_quiet=True,
    ),
    Fault(
        "other body",
        "The last byte of X in 10,000 bodies differs, `--expect-body`",
        "server",
        "in 10,000",
        (2, 10, 100, 1000),
        100,
        "responses_correct",
        lambda size: _bodies("--expect-body", BODY, wrong_every=_every(size)),
    ),
    Fault(
        "other body, not requested",
        "The last byte of X in 10,000 bodies differs, and no body is requested",
        "server",
        "in 10,000",
        (100, 10_000),
        10_000,
        NO_CHECK,
        lambda size: _bodies(wrong_every=_every(size)),
        why="no expected body was given; `responses_correct` reports that no body was checked",
    ),
    Fault(
        "wrong under load only",
        "All bodies are wrong while more than X % of the connections are open, `--expect-body`",
        "server",
        "%",
        (50,),
        50,
        "responses_correct",
        lambda size: _bodies("--expect-body", BODY, wrong_every=int(size > 0), above=2),
    ),
    Fault(
        "longer body",
        "X in 10,000 bodies are a byte longer",
        "server",
        "in 10,000",
        (2, 10, 100),
        100,
        "responses_correct",
        lambda size: _bodies(longer_every=_every(size)),
    ),
    Fault(
        "byte too many",
        "A byte follows X in 10,000 responses",
        "server",
        "in 10,000",
        (2, 10, 100),
        100,
        "responses_correct",
        lambda size: _bodies(extra_every=_every(size)),
    ),
    Fault(
        "response sent twice",
        "X in 10,000 responses are sent twice",
        "server",
        "in 10,000",
        (2, 10, 100),
        100,
        "responses_correct",
        lambda size: _short(twice_every=_every(size)),
    ),
    Fault(
        "empty body",
        "X in 10,000 bodies are empty",
        "server",
        "in 10,000",
        (2, 10, 100),
        100,
        "responses_correct",
        lambda size: _short(empty_every=_every(size)),
    ),
    Fault(
        "all bodies empty",
        "All bodies are empty, and no length is requested",
        "server",
        "in 10,000",
        (10_000,),
        10_000,
        NO_CHECK,
        lambda size: _short(empty_every=_every(size)),
        why="no expected length was given; with `--expect-length` all are found",
    ),
    Fault(
        "error pages",
        "X % of the responses are short pages with status 503",
        "server",
        "%",
        (0.02, 0.1, 1, 100),
        1,
        "responses_correct",
        _status(503),
    ),
    Fault(
        "login pages",
        "X % of the responses have status 401",
        "server",
        "%",
        (0.02, 1, 100),
        100,
        "responses_correct",
        _status(401),
    ),
    Fault(
        "redirects",
        "X % of the responses have status 302, where no status is requested",
        "server",
        "%",
        (1, 100),
        100,
        NO_CHECK,
        _status(302),
        why="without `--expect-status` each status from 200 to 399 is right",
    ),
    Fault(
        "redirects, 200 requested",
        "X % of the responses have status 302, `--expect-status 200`",
        "server",
        "%",
        (0.02, 1, 100),
        1,
        "responses_correct",
        lambda size: Trial(
            faulty(status=302, status_every=_every(size * 100)), (*SHORT, "--expect-status", "200")
        ),
    ),
    Fault(
        "not HTTP",
        "X in 10,000 responses are not HTTP",
        "server",
        "in 10,000",
        (2, 10, 20, 100),
        100,
        "failures_explained",
        lambda size: _short(garbage_every=_every(size)),
    ),
    Fault(
        "reset in a body",
        "A reset ends X in 10,000 bodies at half of their length",
        "server",
        "in 10,000",
        (2, 10, 100),
        100,
        "failures_explained",
        lambda size: _short(reset_every=_every(size)),
    ),
    Fault(
        "cut body",
        "The connection is closed at half of X in 10,000 bodies",
        "server",
        "in 10,000",
        (2, 10, 100),
        100,
        "failures_explained",
        lambda size: _short(cut_every=_every(size)),
    ),
    Fault(
        "closed without a word",
        "A connection is dropped at the request behind each X in 10,000",
        "server",
        "in 10,000",
        (2, 10, 100),
        100,
        "failures_explained",
        lambda size: _bodies(drop_after=_every(size)),
    ),
    Fault(
        "keep-alive ignored",
        "X % of the responses close their connection, and say so",
        "server",
        "%",
        (0.1, 1, 2, 10, 100),
        10,
        "connection_target_met",
        lambda size: _closing(size * 100),
        needs_quiet=True,
    ),
    Fault(
        "refuses connections",
        "X % of the connections come after the server stopped listening",
        "server",
        "%",
        (5, 20, 50),
        50,
        "trial_completed",
        _refusing,
    ),
    Fault(
        "short listen queue",
        "X connections come for each place of the listen queue, while the server is blocked",
        "server",
        "for a place",
        (2, 12.5, 50, 200),
        200,
        "backlog",
        _few_places,
    ),
    Fault(
        "server out of files",
        "The server may open 64 files, and X connections more than 40 come",
        "server",
        "connections",
        (20, 40, 80),
        80,
        "connection_target_met",
        _few_files_of_server,
        needs_quiet=True,
    ),
    Fault(
        "server dies",
        "The server dies X seconds before the end",
        "server",
        "s",
        (0.2, 0.5, 1),
        1,
        "trial_completed",
        lambda size: Trial(faulty(die_after=2 - size if size else 0), ("-c", "4", "-d", "2s")),
    ),
    Fault(
        "memory grows",
        "The server takes X MiB more in each second",
        "server",
        "MiB/s",
        (1, 10, 50),
        50,
        NO_CHECK,
        lambda size: Trial(faulty(service_ms=SERVICE_MS, grow=size), ("-c", "4", "-d", "2s")),
        why="memory is in the report; `memory_headroom` judges a host that has too little of it",
    ),
    Fault(
        "responses from a cache",
        "The first response of a URL takes X ms, the others come from a cache",
        "server",
        "ms",
        (5, 50),
        50,
        NO_CHECK,
        lambda size: Trial(faulty(service_ms=size, cached=bool(size)), SHORT),
        why="with one URL a cache is a server that is fast; vary URLs, or use the contract",
    ),
    Fault(
        "beyond the server's rate",
        "Arrivals come at X times the rate that the server can give",
        "load generator",
        "times",
        (1.02, 1.05, 1.2, 2),
        2,
        "offered_rate_met",
        _beyond_rate,
        needs_quiet=True,
    ),
    Fault(
        "too few connections",
        "Arrivals at a rate keep X times as many connections in flight as the pool has",
        "load generator",
        "times",
        (1.25, 2, 5),
        5,
        "offered_rate_met",
        _few_connections,
        needs_quiet=True,
    ),
    Fault(
        "load generator stopped",
        "The load generator is stopped for X s",
        "load generator",
        "s",
        (0.01, 0.03, 0.1, 0.3, 1),
        0.3,
        "driver_uninterrupted",
        lambda size: Trial(
            faulty(service_ms=SERVICE_MS), TIMED, meanwhile=Stops(size) if size else None
        ),
        needs_quiet=True,
    ),
    Fault(
        "load generator stutters",
        "The load generator is stopped for X s ten times",
        "load generator",
        "s",
        (0.01, 0.03, 0.1),
        0.1,
        "driver_uninterrupted",
        lambda size: Trial(
            faulty(service_ms=SERVICE_MS), TIMED, meanwhile=Stops(size, 10) if size else None
        ),
        needs_quiet=True,
    ),
    Fault(
        "load generator killed",
        "The load generator is killed after one second",
        "load generator",
        "time",
        (1,),
        1,
        REFUSED,
        lambda size: Trial(faulty(service_ms=SERVICE_MS), TIMED, meanwhile=kills if size else None),
    ),
    Fault(
        "load generator out of files",
        "256 files may be opened, and X connections more than 100 are requested",
        "load generator",
        "connections",
        (100, 200, 400),
        400,
        REFUSED,
        _few_files,
    ),
    Fault(
        "too few ports",
        "X times as many connections are requested as there are ports",
        "machine",
        "times",
        (0.5, 1.5, 2),
        2,
        REFUSED,
        _few_ports,
        why="in a network of its own",
    ),
    Fault(
        "wrong port",
        "Nothing listens at the address",
        "load generator",
        "time",
        (1,),
        1,
        REFUSED,
        lambda size: Trial(None if size else faulty(), ("-c", "4", "-d", "1s", *RAMP)),
    ),
    Fault(
        "disk full",
        "The disk for the recording is X times too small",
        "machine",
        "times",
        (1, 4, 16, 64),
        64,
        REFUSED,
        _full_disk,
    ),
)

PROVED = (
    Proved(
        "thief on the server's core",
        "Another program uses X % of the server's core",
        "machine",
        "%",
        (5, 15, 30, 70),
        "undisturbed",
        "end_to_end/test_theft.py",
    ),
    Proved(
        "thief on the load generator's core",
        "Another program uses X % of the load generator's core",
        "machine",
        "%",
        (5, 15, 30, 70),
        "undisturbed",
        "end_to_end/test_theft.py",
    ),
    Proved(
        "slow disk",
        "The disk takes no rows for X s",
        "machine",
        "s",
        (4,),
        "conservation",
        "end_to_end/test_slow_disk.py",
    ),
    Proved(
        "rows from a cache",
        "Under load, the server takes X % of its rows from its memory, not from the database",
        "server",
        "%",
        (10, 50, 100),
        "rows_from_database",
        "cheats/test_database_gallery.py",
    ),
    Proved(
        "upstream spared",
        "Under load, the server takes X % of what the upstream said from its memory",
        "server",
        "%",
        (50,),
        "responses_from_upstream",
        "cheats/test_upstream_gallery.py",
    ),
    Proved(
        "upstream is the limit",
        "The upstream takes X % of the time of a response, the server next to nothing",
        "load generator",
        "%",
        (90,),
        "upstream_headroom",
        "cheats/test_upstream_gallery.py",
    ),
    Proved(
        "slow to accept",
        "The server accepts a connection each X ms",
        "server",
        "ms",
        (50,),
        "backlog",
        "end_to_end/test_listen_queue.py",
    ),
)
"""Faults that need more than a load: cores of their own, a stopped thread, an account."""
