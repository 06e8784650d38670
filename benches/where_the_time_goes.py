"""Where the processor time of the engine goes, by samples of its stacks.

`make bench` runs it where `perf` is installed. The engine drives the reference server for some
seconds under `perf record -e cpu-clock -g`; each sample is then given to the first place whose
functions are in its stack, from the outermost to the innermost. A sample is 1 ms of processor time.

Exit code 3: `perf` is not installed, or may not be used here.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from workbench import engine, host, page
from workbench.engine import DriverJob
from workbench.processes import Reference, run

SECTION = "where_the_time_goes"
"""Where the findings stand in a page."""

SAMPLES_PER_S = 999
"""Not a round number, so that samples do not fall into step with a timer."""

NOT_FIT = 3
"""Exit code of a host on which this cannot be measured."""

WRITER = "plimsoll-writer"
"""Name of the thread that writes rows."""

START = "start-up, progress, end"
USER = "the engine's own code"
OTHER = "the rest of the kernel"


@dataclass(frozen=True)
class Place:
    """Where time is spent.

    Attributes:
        title: Its name in the table.
        functions: A stack that has one of these, by a regular expression on the whole name, is
            there, when no place before it was.
    """

    title: str
    functions: re.Pattern[str]


def _place(title: str, *functions: str) -> Place:
    return Place(title, re.compile("|".join(functions)))


PLACES = (
    _place(
        "loopback's receive side (softirq)",
        r"(__)?do_softirq.*",
        r"handle_softirqs",
        r"net_rx_action",
        r"process_backlog",
    ),
    _place("send", r"__x64_sys_sendto", r"__sys_sendto", r"__arm64_sys_sendto"),
    _place("recv", r"__x64_sys_recvfrom", r"__sys_recvfrom", r"__arm64_sys_recvfrom"),
    _place("epoll", r"__(x64|arm64)_sys_epoll_.*", r"do_epoll_.*"),
    _place("the clock", r".*clock_gettime.*", r"__cvdso_.*", r"do_hres.*"),
    _place(
        "opening and closing connections",
        r"__(x64|arm64)_sys_(connect|close|socket|bind|setsockopt|exit|exit_group)",
        r"__fput.*",
        r"task_work_run",
    ),
)
"""Looked at in this order: what loopback delivers is delivered within `send`, and counts apart."""

ENTRIES = re.compile(r"entry_SYSCALL_64|do_syscall_64|asm_(sysvec|exc|common)|el0t?_|ret_from_")
"""How the names of functions begin by which a thread gets into the kernel."""

KERNEL_TITLES = frozenset(place.title for place in PLACES[:4])
"""Rows that no load is without."""

TITLES = (*(place.title for place in PLACES), OTHER, USER, "the writer of rows", START)
"""Rows of the table."""

MEANINGS = {
    "send": "the system call: the request's path through TCP and IP to the device",
    PLACES[
        0
    ].title: "the server's side of the same segment and its acknowledgement, run by the sender",
    "recv": "the system call that reads the response",
    "epoll": "waiting for ready sockets",
    "the clock": "timestamps of each request",
    PLACES[5].title: "at the beginning and the end",
    OTHER: "entry and exit of system calls, interrupts, scheduling, page faults",
    USER: "parsing and checking responses, filling rows, scheduling",
    "the writer of rows": "the thread that writes rows to disk",
    START: "the interpreter, the progress thread",
}
"""What each row means."""


@dataclass(frozen=True)
class Sample:
    """One stack.

    Attributes:
        thread: Name of its thread.
        is_main: Whether it is the first thread of the process.
        functions: From the innermost to the outermost.
    """

    thread: str
    is_main: bool
    functions: tuple[str, ...]


def samples(script: Iterable[str]) -> Iterator[Sample]:
    """The stacks in what `perf script -F comm,pid,tid,ip,sym` prints.

    Args:
        script: Its lines: a head, one line a function, and an empty line after each stack.
    """
    head: re.Match[str] | None = None
    functions: list[str] = []
    for line in (*script, ""):
        if line.strip() and head is None:
            head = re.match(r"\s*(.+?)\s+(\d+)/(\d+)", line)
        elif line.strip():
            functions.append(_function(line))
        elif head is not None:
            yield Sample(head[1], head[2] == head[3], tuple(functions))
            head, functions = None, []


def _function(line: str) -> str:
    """The function of a line such as `ffffffff8 tcp_sendmsg+0x1f`."""
    name = line.split(maxsplit=1)[1] if len(line.split(maxsplit=1)) > 1 else "[unknown]"
    return re.sub(r"\+0x[0-9a-f]+$", "", name.strip())


def title(sample: Sample) -> str:
    """The row of the table that a sample belongs to."""
    if sample.thread == WRITER:
        return "the writer of rows"
    if sample.is_main:
        return START
    for place in PLACES:
        if any(place.functions.fullmatch(function) for function in sample.functions):
            return place.title
    return OTHER if _is_in_kernel(sample) else USER


def _is_in_kernel(sample: Sample) -> bool:
    return any(ENTRIES.match(function) for function in sample.functions)


def shares(found: Iterable[Sample]) -> dict[str, float]:
    """Share of each row among all samples."""
    counts = Counter(map(title, found))
    return {row: counts[row] / max(1, counts.total()) for row in TITLES}


def recorded(connections: int, seconds: int) -> list[Sample]:
    """Stacks of the engine while it drives a fresh reference server.

    Args:
        connections: Connections that it keeps busy.
        seconds: Length of the load.
    """
    cores = host.cores()
    with tempfile.TemporaryDirectory(prefix="plimsoll-bench-") as folder:
        data = str(Path(folder) / "perf.data")
        with Reference([cores.server]) as server:
            load = DriverJob(server.address, Path(folder), (cores.tool,), connections, seconds)
            perf = ["perf", "record", "-q", "-F", str(SAMPLES_PER_S), "-e", "cpu-clock", "-g"]
            command = [*perf, "-o", data, "--", *engine.command(load)]
            ended = run(command, (cores.tool,), seconds * 3 + 60.0)
        if ended.exit_code:
            _give_up(f"perf can't record here: {ended.stderr.strip()[:400]}")
        return _named(list(samples(_script(data).splitlines())))


def _named(found: list[Sample]) -> list[Sample]:
    """The same stacks, when the functions of the kernel have names in them."""
    if not any(title(sample) in KERNEL_TITLES for sample in found):
        _give_up("perf can't name the functions of the kernel here, which are most of it")
    return found


def _script(data: str) -> str:
    fields = ["-F", "comm,pid,tid,ip,sym"]
    command = ["perf", "script", "-i", data, *fields]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def report(found: dict[int, dict[str, float]], seconds: int) -> str:
    """The findings as Markdown.

    Args:
        found: Share of each row, by number of connections.
        seconds: Length of each run.
    """
    head = ("where", *(f"{level:,} connections" for level in found), "what it is")
    rows = [
        (row, *(f"{by_row[row] * 100:.1f} %" for by_row in found.values()), MEANINGS[row])
        for row in TITLES
    ]
    said = (
        f"Shares of the engine's processor time; {SAMPLES_PER_S} samples a second for {seconds} s."
    )
    return f"{said}\n\n{page.table(head, rows, words=(0, len(head) - 1))}"


def _give_up(reason: str) -> NoReturn:
    print(f"error: {reason}", file=sys.stderr)
    print("hint: on Debian `apt-get install linux-perf`; perf_event_paranoid(2)", file=sys.stderr)
    sys.exit(NOT_FIT)


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--connections", default="64,1000", help="default: 64,1000")
    add("--seconds", type=int, default=5, help="length of each run; default: 5")
    add("--json", type=Path, help="also write the shares into this file")
    add("--page", type=Path, help="also put the findings into this page")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str]) -> None:
    """Measures and prints.

    Args:
        arguments: The command line without the program.
    """
    asked = _options(arguments)
    if shutil.which("perf") is None:
        _give_up("`perf` is not installed, so where the time goes is not known")
    levels = [int(level) for level in asked.connections.split(",")]
    found = {level: shares(recorded(level, asked.seconds)) for level in levels}
    text = report(found, asked.seconds)
    print(text)
    if asked.json:
        asked.json.write_text(json.dumps(found, indent=1), encoding="utf-8")
    if asked.page:
        page.put(asked.page, SECTION, text)


if __name__ == "__main__":
    main(sys.argv[1:])
