"""The tools that are compared: how each is run, and how what it says is read.

Every tool sends `GET /2048` with keep-alive, and with the headers that it sends by itself. It has
one core, and one thread where it can be told so. Some also send messages of WebSocket of 2,048
bytes that are echoed, or open a connection by TLS for each request.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Literal

from workbench import engine

Kind = Literal["requests", "messages", "handshakes"]
"""What a run does again and again: requests on connections that are kept, messages of WebSocket, or
full handshakes of TLS, with one request on each connection."""

CHECKOUT = Path(__file__).resolve().parents[2]

ALL: tuple[Kind, ...] = ("requests", "messages", "handshakes")

HANDSHAKES_OF_H2LOAD = 4_000
"""Connections of h2load where each is for one request: it opens all of them at the beginning."""

_UNITS_S = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}


@dataclass(frozen=True)
class Way:
    """What a run does, and by which protocol.

    Attributes:
        kind: What it does.
        by_tls: Whether the server speaks TLS; its certificate is not verified.
        streams: Streams of HTTP/2 on each connection; None for HTTP/1.1.
    """

    kind: Kind = "requests"
    by_tls: bool = False
    streams: int | None = None

    @property
    def section(self) -> str:
        """Where the findings stand in a page."""
        protocol = [] if self.streams is None else [f"http2_{self.streams}"]
        kind = [] if self.kind == "requests" else [self.kind]
        return "_".join(["load_tools", *kind, *protocol, *(["tls"] if self.by_tls else [])])


@dataclass(frozen=True)
class Bench:
    """One run of one tool.

    Attributes:
        address: Address and port of the server.
        connections: Connections that are kept busy.
        seconds: Length of the run.
        core: Core of the tool.
        folder: Folder for its files.
        way: What it does, and by which protocol.
    """

    address: str
    connections: int
    seconds: int
    core: int
    folder: Path
    way: Way = field(default_factory=Way)

    @property
    def url(self) -> str:
        """What is requested."""
        secured = "s" if self.way.by_tls else ""
        if self.way.kind == "messages":
            return f"ws{secured}://{self.address}{engine.ECHO}"
        return f"http{secured}://{self.address}{engine.PATH}"


@dataclass(frozen=True)
class Said:
    """What a tool says of its run.

    Attributes:
        requests: Requests that were answered, or messages.
        duration_s: Length of the run in seconds, by the tool's own clock.
        failed: Requests and connections that failed.
    """

    requests: int
    duration_s: float
    failed: int = 0


@dataclass(frozen=True)
class Tool:
    """A tool and how it is used.

    Attributes:
        name: Its name on the command line.
        title: Its name in tables.
        program: What must be installed; empty when nothing must.
        command: The command of a run.
        said: Reads what it printed; ValueError when it does not say what is needed.
        version: The command that prints its version; empty when it has none.
        has_tls: Whether it speaks TLS.
        speaks_http2: Whether it speaks HTTP/2.
        kinds: What it can do.
        fine: Exit codes of a run that got to its end.
    """

    name: str
    title: str
    program: str
    command: Callable[[Bench], list[str]]
    said: Callable[[str], Said]
    version: tuple[str, ...] = ()
    has_tls: bool = True
    speaks_http2: bool = False
    kinds: tuple[Kind, ...] = ("requests",)
    fine: tuple[int, ...] = (0,)

    @property
    def is_installed(self) -> bool:
        """Whether its program is found."""
        return not self.program or shutil.which(self.program) is not None

    def goes(self, way: Way) -> bool:
        """Whether it can do that."""
        is_spoken = self.speaks_http2 or way.streams is None
        return way.kind in self.kinds and is_spoken and (self.has_tls or not way.by_tls)


def _plimsoll(bench: Bench, *, record: bool = True) -> list[str]:
    load = (bench.connections, bench.seconds)
    place = (bench.address, bench.folder, (bench.core,))
    job = engine.DriverJob(
        *(*place, *load),
        record=record,
        by_tls=bench.way.by_tls,
        streams=bench.way.streams,
        is_kept=bench.way.kind != "handshakes",
        by_messages=bench.way.kind == "messages",
    )
    return engine.command(job)


def baseline(checkout: Path) -> Tool:
    """The engine of another checkout, built there by `make setup`, as a tool beside this one.

    Args:
        checkout: Folder of the checkout.
    """
    place = f"PYTHONPATH={checkout.resolve() / 'python'}"
    return Tool(
        "baseline",
        "plimsoll, baseline",
        "",
        lambda bench: ["env", place, *_plimsoll(bench)],
        said_by_plimsoll,
        speaks_http2=True,
        kinds=ALL,
    )


def _plimsoll_without_rows(bench: Bench) -> list[str]:
    return _plimsoll(bench, record=False)


def said_by_plimsoll(text: str) -> Said:
    """Reads the last line of the engine."""
    finish = engine.finish(text)
    outcomes: Mapping[str, int] = finish["outcomes"]
    right = outcomes.get("ok", 0)
    cut = sum(outcomes.get(name, 0) for name in ("unfinished", "not_sent", "cancelled"))
    failed = sum(outcomes.values()) - right - cut
    return Said(right, finish["ended_ns"] / 1e9, failed + finish["lost_rows"])


def _whole_command(bench: Bench) -> list[str]:
    load = ["-c", str(bench.connections), "-d", f"{bench.seconds}s"]
    compiled = ["env", "-u", "PYTHONDONTWRITEBYTECODE"]  # as pip leaves what it installs
    return [*compiled, sys.executable, "-m", "plimsoll", "load", bench.url, *load]


def said_by_whole_command(text: str) -> Said:
    """Reads the screen of `plimsoll load`: rate and counts of the measurement window."""
    (rate_per_s,) = _found(r"^throughput +([\d,]+)/s", text)
    counts = r"^requests +([\d,]+) (?:complete|successful), ([\d,]+) failed"
    complete, failed = _found(counts, text)
    requests = int(complete.replace(",", ""))
    duration_s = requests / int(rate_per_s.replace(",", ""))
    return Said(requests, duration_s, int(failed.replace(",", "")))


def _ceiling(bench: Bench) -> list[str]:
    numbers = [str(bench.connections), str(bench.seconds)]
    return [str(ceiling()), bench.address, engine.PATH, *numbers]


@cache
def ceiling() -> Path:
    """The bare loop, built when it is not there or has changed."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", CHECKOUT / "target")) / "ceiling"
    where = ["--manifest-path", str(CHECKOUT / "benches/ceiling/Cargo.toml"), "--target-dir"]
    build = ["cargo", "build", "--release", "--quiet", "--locked", *where, str(target)]
    subprocess.run(build, check=True)
    return target / "release" / "plimsoll-ceiling"


def said_by_ceiling(text: str) -> Said:
    """Reads the one line of the bare loop."""
    said = json.loads(text)
    return Said(said["requests"], said["duration_s"])


def _wrk(bench: Bench) -> list[str]:
    return ["wrk", "-t1", f"-c{bench.connections}", f"-d{bench.seconds}s", bench.url]


def said_by_wrk(text: str) -> Said:
    """Reads the summary of wrk."""
    requests, duration = _found(r"(\d+) requests in ([\d.]+[a-z]+),", text)
    errors = re.search(r"Socket errors: (.*)", text)
    wrong = re.search(r"Non-2xx or 3xx responses: (\d+)", text)
    failed = sum(map(int, re.findall(r"\d+", errors[1]))) if errors else 0
    return Said(int(requests), _seconds(duration), failed + (int(wrong[1]) if wrong else 0))


def _ab(bench: Bench) -> list[str]:
    limits = ["-c", str(bench.connections), "-t", str(bench.seconds), "-n", "100000000"]
    return ["ab", "-q", "-k", *limits, bench.url]


def said_by_ab(text: str) -> Said:
    """Reads the summary of ApacheBench."""
    (requests,) = _found(r"Complete requests:\s+(\d+)", text)
    (duration_s,) = _found(r"Time taken for tests:\s+([\d.]+) seconds", text)
    (failed,) = _found(r"Failed requests:\s+(\d+)", text)
    return Said(int(requests), float(duration_s), int(failed))


def _h2load(bench: Bench) -> list[str]:
    streams = bench.way.streams
    protocol = ["--h1"] if streams is None else [f"-m{streams}"]
    load = [f"-c{bench.connections}", f"-D{bench.seconds}"]
    if bench.way.kind == "handshakes":
        load = [f"-c{HANDSHAKES_OF_H2LOAD}", f"-n{HANDSHAKES_OF_H2LOAD}"]
    return ["h2load", *protocol, "-t1", *load, bench.url]


def said_by_h2load(text: str) -> Said:
    """Reads the summary of h2load; what failed at the socket is part of what failed."""
    (duration,) = _found(r"finished in ([\d.]+[a-z]+),", text)
    done, failed = _found(r"requests: .* (\d+) done, .* (\d+) failed", text)
    return Said(int(done), _seconds(duration), int(failed))


def _hey(bench: Bench) -> list[str]:
    return ["hey", "-z", f"{bench.seconds}s", "-c", str(bench.connections), "-cpus", "1", bench.url]


def said_by_hey(text: str) -> Said:
    """Reads the summary of hey.

    Its counts by status end at a million, so requests are its rate times its duration; that counts
    failures too, which are taken off.
    """
    (duration_s,) = _found(r"Total:\s+([\d.]+) secs", text)
    (rate_per_s,) = _found(r"Requests/sec:\s+([\d.]+)", text)
    errors = text.partition("Error distribution:")[2]
    failed = sum(int(count) for count in re.findall(r"^\s*\[(\d+)\]", errors, re.MULTILINE))
    return Said(round(float(rate_per_s) * float(duration_s)) - failed, float(duration_s), failed)


def _oha(bench: Bench) -> list[str]:
    form = ["--no-tui", "--output-format", "json", *(["--insecure"] if bench.way.by_tls else [])]
    return ["oha", "-z", f"{bench.seconds}s", "-c", str(bench.connections), *form, bench.url]


def said_by_oha(text: str) -> Said:
    """Reads the JSON of oha; requests that its end cut off are no failures."""
    said = json.loads(text)
    errors = said["errorDistribution"].items()
    failed = sum(count for error, count in errors if error != "aborted due to deadline")
    return Said(sum(said["statusCodeDistribution"].values()), said["summary"]["total"], failed)


def _s_time(bench: Bench) -> list[str]:
    request = ["-connect", bench.address, "-new", "-www", engine.PATH]
    return ["openssl", "s_time", *request, "-time", str(bench.seconds)]


def said_by_s_time(text: str) -> Said:
    """Reads the last line of `openssl s_time`, whose seconds are whole."""
    connections, duration_s = _found(r"(\d+) connections in (\d+) real seconds", text)
    return Said(int(connections), float(duration_s))


_ECHOES = Path(__file__).with_name("echoes.js")


def _k6(bench: Bench) -> list[str]:
    asked = {"URL": bench.url, "CONNECTIONS": bench.connections, "SECONDS": bench.seconds}
    given = [part for name, value in asked.items() for part in ("-e", f"{name}={value}")]
    alone = ["--quiet", "--no-usage-report", "--address", "", "--insecure-skip-tls-verify"]
    return ["env", "GOMAXPROCS=1", "k6", "run", *alone, *given, str(_ECHOES)]


def said_by_k6(text: str) -> Said:
    """Reads the one line that `echoes.js` prints at its end."""
    said = json.loads(text)
    return Said(said["messages"], said["duration_s"], said["failed"])


TOOLS = (
    Tool("plimsoll", "plimsoll", "", _plimsoll, said_by_plimsoll, speaks_http2=True, kinds=ALL),
    Tool(
        *("no-rows", "plimsoll, no rows", "", _plimsoll_without_rows, said_by_plimsoll),
        speaks_http2=True,
        kinds=ALL,
    ),
    Tool(
        "load",
        "`plimsoll load`, whole",
        "",
        _whole_command,
        said_by_whole_command,
        has_tls=False,
        fine=(0, 1),  # 1: a verdict is void, as it must be with everything on one core
    ),
    Tool(
        *("ceiling", "a bare loop that only counts", "cargo", _ceiling, said_by_ceiling),
        has_tls=False,
    ),
    Tool("wrk", "wrk", "wrk", _wrk, said_by_wrk, ("wrk", "-v")),
    Tool("ab", "ab", "ab", _ab, said_by_ab, ("ab", "-V")),
    Tool(
        *("h2load", "h2load", "h2load", _h2load, said_by_h2load, ("h2load", "--version")),
        speaks_http2=True,
        kinds=("requests", "handshakes"),
    ),
    Tool("hey", "hey", "hey", _hey, said_by_hey),
    Tool("oha", "oha", "oha", _oha, said_by_oha, ("oha", "--version")),
    Tool(
        *("s_time", "openssl s_time", "openssl", _s_time, said_by_s_time, ("openssl", "version")),
        kinds=("handshakes",),
    ),
    Tool("k6", "k6", "k6", _k6, said_by_k6, ("k6", "version"), kinds=("messages",)),
)
"""In the order of the table."""


def version(tool: Tool) -> str:
    """Its name with its version, when it has one."""
    if not tool.version:
        return tool.title
    ran = subprocess.run(tool.version, capture_output=True, text=True, check=False)
    found = re.search(r"\d+\.\d[\d.]*", ran.stdout + ran.stderr)
    return f"{tool.title} {found[0]}" if found else tool.title


def _found(pattern: str, text: str) -> tuple[str, ...]:
    found = re.search(pattern, text, re.MULTILINE)
    if found is None:
        message = f"no `{pattern}` in what the tool said"
        raise ValueError(message)
    return found.groups()


def _seconds(text: str) -> float:
    """A duration such as `4.01s` or `850.20ms`, in seconds."""
    number, unit = _found(r"([\d.]+)([a-z]+)", text)
    return float(number) * _UNITS_S[unit]
