"""Instructions of a request in the load generator's own code, counted by valgrind's callgrind.

A count hardly depends on what else the machine does, so it shows changes far below the noise of
processor time; it says nothing of the kernel, whose share is most of that time. Each load runs for
a time and for twice that time, and the difference is divided by the requests between them: start-up
and opening connections cancel out. All threads count.

Valgrind has neither the kernel's page with the clock that rustix looks for, nor, in most versions,
`epoll_pwait2(2)`: engines are built to call libc instead, where that call is replaced by an older
one. Needs `valgrind`, `cargo` and `cc`.

Exit code 3: `valgrind` is not installed.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench import certificate, engine, host, page
from workbench.processes import Reference, run

NOT_FIT = 3
"""Exit code of a host on which this cannot be measured."""

PATIENCE_S = 120.0
"""How much longer than its load an engine may take; valgrind makes it some fifty times as slow."""

CHECKOUT = Path(__file__).resolve().parents[1]

RUN = """
import importlib.util, runpy, sys
name, library, *sys.argv = "plimsoll._engine", *sys.argv[1:]
spec = importlib.util.spec_from_file_location(name, library)
sys.modules[name] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sys.modules[name])
runpy.run_module("plimsoll.engine", run_name="__main__")
"""
"""Runs an engine that lies elsewhere than in its package."""

OLDER_CALL = """
#define _GNU_SOURCE
#include <sys/epoll.h>
int epoll_pwait2(int epoll, struct epoll_event *events, int most, const struct timespec *timeout,
                 const sigset_t *signals) {
    int ms = timeout ? timeout->tv_sec * 1000 + (timeout->tv_nsec + 999999) / 1000000 : -1;
    return epoll_pwait(epoll, events, most, ms, signals);
}
"""
"""Waits for sockets to the millisecond."""


@dataclass(frozen=True)
class Load:
    """What an engine does.

    Attributes:
        connections: Connections that are kept busy.
        by_tls: Whether the server speaks TLS.
        streams: Streams of HTTP/2 on each connection; None for HTTP/1.1.
    """

    connections: int
    by_tls: bool
    streams: int | None


def built(checkout: Path) -> Path:
    """Builds the engine of a checkout for valgrind; gives its library."""
    target = checkout / "target" / "instructions"
    flags = {"RUSTFLAGS": "--cfg rustix_use_libc", "CARGO_TARGET_DIR": str(target)}
    command = ["cargo", "build", "--release", "--quiet", "--package", "plimsoll-engine-python"]
    subprocess.run(command, cwd=checkout, env={**os.environ, **flags}, check=True)
    return target / "release" / "lib_engine.so"


def _older_call(folder: Path) -> Path:
    """A library with `OLDER_CALL`, built in a folder."""
    library = folder / "older_call.so"
    command = ["cc", "-shared", "-fPIC", "-O2", "-x", "c", "-", "-o", str(library)]
    subprocess.run(command, input=OLDER_CALL, text=True, check=True)
    return library


def instructions(checkout: Path, load: Load, seconds: float, profile: Path) -> tuple[int, int]:
    """Counts the instructions of a whole load, and its requests.

    Args:
        checkout: Whose engine runs; it is built when it has changed.
        load: What it does.
        seconds: For how long.
        profile: Where callgrind writes what each function took.

    Raises:
        SystemExit: The load did not get to its end, or not all of its connections were opened.
    """
    library, cores = built(checkout), host.cores()
    with tempfile.TemporaryDirectory(prefix="plimsoll-bench-") as made:
        folder = Path(made)
        shown = certificate.made(folder) if load.by_tls else None
        with Reference((cores.server,), shown) as server:
            job = engine.DriverJob(
                *(server.address, folder, (cores.tool,), load.connections, seconds),
                by_tls=load.by_tls,
                streams=load.streams,
            )
            *_, spec = engine.command(job)
            counting = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={profile}"]
            program = [sys.executable, "-P", "-c", RUN, str(library), "engine", spec]
            place = ["env", f"PYTHONPATH={checkout / 'python'}", "PYTHONHASHSEED=0"]
            replaced = f"LD_PRELOAD={_older_call(folder)}"
            command = [*place, replaced, *counting, *program]
            ended = run(command, (cores.tool,), seconds + PATIENCE_S)
    found = re.search(r"Collected : (\d+)", ended.stderr)
    if ended.exit_code != 0 or not found:
        raise SystemExit(f"error: the load has failed\n{ended.stdout[-500:]}{ended.stderr[-500:]}")
    finish = engine.finish(ended.stdout)
    if finish["opened"] < load.connections:
        raise SystemExit(f"error: {finish['opened']} connections opened\nhint: longer --seconds")
    return int(found[1]), int(finish["outcomes"]["ok"])


def per_request(checkout: Path, load: Load, seconds: float, profile: Path) -> float:
    """Instructions of one request; the arguments are those of `instructions`."""
    before = instructions(checkout, load, seconds, profile)
    after = instructions(checkout, load, 2 * seconds, profile)
    return (after[0] - before[0]) / (after[1] - before[1])


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--connections", default="64,1000,9000", help="default: 64,1000,9000")
    add("--seconds", type=float, default=10, help="length of the shorter load; default: 10")
    add("--tls", action="store_true", help="by TLS")
    add("--streams", type=int, help="by HTTP/2 with so many streams on each connection")
    add("--baseline", type=Path, action="append", default=[], help="a checkout to compare with")
    add("--profile", type=Path, default="/dev/null", help="keep what callgrind wrote last")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str]) -> None:
    """Counts and prints.

    Args:
        arguments: The command line without the program.
    """
    asked = _options(arguments)
    if shutil.which("valgrind") is None:
        print("valgrind is not installed", file=sys.stderr)
        sys.exit(NOT_FIT)
    levels = [int(level) for level in asked.connections.split(",")]
    host.allow_connections(max(levels))
    checkouts = [checkout.resolve() for checkout in (*asked.baseline, CHECKOUT)]
    rows: list[list[str]] = []
    for level in levels:
        load = Load(level, asked.tls, asked.streams)
        counts = [per_request(one, load, asked.seconds, asked.profile) for one in checkouts]
        rows.append([f"{level:,}", *(f"{count:,.0f}" for count in counts)])
    names = [*(str(baseline) for baseline in asked.baseline), "this checkout"]
    print(page.table(["connections", *names], rows))


if __name__ == "__main__":
    main(sys.argv[1:])
