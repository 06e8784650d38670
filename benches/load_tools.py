"""What a request costs the client: Plimsoll's engine and other load tools, side by side.

`make bench` runs it. The reference server has one core, the tool another. Each repetition runs
every tool once at every number of connections, so that a busy moment of the machine hits all of
them; medians over the repetitions are printed, and ratios to wrk. Read ratios, not seconds.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

PATH = "/2048"
BODY = b"A" * 2048


@dataclass(frozen=True)
class Bench:
    """One run of one tool.

    Attributes:
        port: Port of the server.
        connections: Connections that are kept busy.
        seconds: Length of the run.
        core: Core of the tool.
        folder: Folder for its files.
    """

    port: int
    connections: int
    seconds: int
    core: int
    folder: Path


@dataclass(frozen=True)
class Cost:
    """What a run cost: user and system time of the tool in seconds, and requests it made."""

    cpu_s: float
    requests: int

    @property
    def per_million_s(self) -> float:
        """Seconds of processor time for a million requests."""
        return self.cpu_s / self.requests * 1e6


def engine(bench: Bench, *, record: bool = True) -> Cost:
    """Plimsoll's engine."""
    path = bench.folder / "spec.json"
    path.write_text(json.dumps(_spec(bench, record=record)))
    said, _ = _run([sys.executable, "-m", "plimsoll.engine", str(path)])
    finish = json.loads(said.splitlines()[-1])
    return Cost(finish["cpu_s"], sum(finish["outcomes"].values()))


def engine_without_record(bench: Bench) -> Cost:
    """Plimsoll's engine, keeping no rows."""
    return engine(bench, record=False)


def wrk(bench: Bench) -> Cost:
    """The tool wrk with one thread."""
    command = ["wrk", "-t1", f"-c{bench.connections}", f"-d{bench.seconds}s", _url(bench)]
    said, cpu_s = _run(["taskset", "-c", str(bench.core), *command])
    return Cost(cpu_s, _number(r"(\d+) requests in", said))


def ab(bench: Bench) -> Cost:
    """ApacheBench with keep-alive."""
    limits = ["-q", "-k", "-c", str(bench.connections), "-t", str(bench.seconds), "-n", "100000000"]
    said, cpu_s = _run(["taskset", "-c", str(bench.core), "ab", *limits, _url(bench)])
    return Cost(cpu_s, _number(r"Complete requests:\s+(\d+)", said))


TOOLS: dict[str, tuple[str, Callable[[Bench], Cost]]] = {
    "plimsoll": ("", engine),
    "plimsoll, no rows": ("", engine_without_record),
    "wrk": ("wrk", wrk),
    "ab": ("ab", ab),
}
"""Name of each tool, the program it needs, and how it is run."""


def _spec(bench: Bench, *, record: bool) -> dict[str, object]:
    request = f"GET {PATH} HTTP/1.1\r\nHost: 127.0.0.1:{bench.port}\r\n\r\n".encode()
    level = {"start": bench.connections, "end": bench.connections}
    stage = {"kind": "hold", "duration_ns": bench.seconds * 10**9, **level}
    expected = {"status": [200, 200], "length_bytes": len(BODY), "body": _base64(BODY)}
    return {
        "format": 1,
        "into": str(bench.folder),
        "address": f"127.0.0.1:{bench.port}",
        "requests": [{"name": PATH, "bytes": _base64(request), "expected": expected}],
        "load": {"model": "closed", "stages": [stage], "timeout_ns": 10**10},
        "cores": [bench.core],
        "body_sample_ratio": 0.01,
        "record": record,
    }


def _base64(content: bytes) -> str:
    return b64encode(content).decode()


def _url(bench: Bench) -> str:
    return f"http://127.0.0.1:{bench.port}{PATH}"


def _number(pattern: str, text: str) -> int:
    found = re.search(pattern, text)
    if found is None:
        message = f"the tool did not say how many requests it made:\n{text}"
        raise SystemExit(message)
    return int(found[1])


def _run(command: list[str]) -> tuple[str, float]:
    """What a command printed, and the processor time it took in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return said, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@contextmanager
def _reference(core: int) -> Iterator[int]:
    """The reference server on a core of its own; its port."""
    command = [sys.executable, "-m", "plimsoll.reference", "--workers", "1", "--port", "0"]
    server = subprocess.Popen(
        ["taskset", "-c", str(core), *command], stdout=subprocess.PIPE, text=True
    )
    try:
        said = json.loads(server.stdout.readline() if server.stdout else "{}")
        yield int(said["address"].rpartition(":")[2])
    finally:
        server.terminate()
        server.wait(timeout=20)


def main() -> None:
    """Runs every tool that is installed and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--connections", default="64,1000,9000")
    parser.add_argument("--seconds", type=int, default=4)
    parser.add_argument("--repetitions", type=int, default=3)
    asked = parser.parse_args()
    levels = [int(text) for text in asked.connections.split(",")]
    tools = {name: run for name, (needs, run) in TOOLS.items() if not needs or shutil.which(needs)}
    costs: dict[tuple[int, str], list[float]] = {}
    with tempfile.TemporaryDirectory() as folder, _reference(core=0) as port:
        for _ in range(asked.repetitions):
            for level in levels:
                for name, run in tools.items():
                    cost = run(Bench(port, level, asked.seconds, 1, Path(folder)))
                    costs.setdefault((level, name), []).append(cost.per_million_s)
    _print(levels, list(tools), costs)


def _print(levels: list[int], tools: list[str], costs: dict[tuple[int, str], list[float]]) -> None:
    print("client CPU seconds per million requests (how many times cheaper than wrk)\n")
    print("| tool | " + " | ".join(f"{level:,} connections" for level in levels) + " |")
    print("| --- |" + " ---: |" * len(levels))
    for tool in tools:
        cells = [_cell(costs, level, tool) for level in levels]
        print(f"| {tool} | " + " | ".join(cells) + " |")


def _cell(costs: dict[tuple[int, str], list[float]], level: int, tool: str) -> str:
    own = median(costs[level, tool])
    if (level, "wrk") not in costs:
        return f"{own:.2f}"
    return f"{own:.2f} ({median(costs[level, 'wrk']) / own:.2f})"


if __name__ == "__main__":
    main()
