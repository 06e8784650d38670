"""Instructions of a request in the load generator's own code, counted by valgrind's callgrind.

A count hardly depends on what else the machine does, so it shows changes far below the noise of
processor time; it says nothing of the kernel, whose share is most of that time. Each load runs with
two numbers of requests, and the difference is divided by the requests between them: start-up and
opening connections cancel out. All threads count.

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

PATIENCE_S = 300.0
"""How long one load may take, which is some fifty times as slow as without valgrind."""

REQUESTS_A_CONNECTION = 3
"""Requests of the shorter load on each connection, so that all are open and busy at its end."""

LEAST_REQUESTS = 10_000
"""Requests of the shorter load, whatever the number of connections."""

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


def instructions(checkout: Path, load: Load, requests: int, profile: Path) -> int:
    """Counts the instructions of a whole load.

    Args:
        checkout: Whose engine runs; it is built when it has changed.
        load: What it does.
        requests: Requests after which it ends.
        profile: Where callgrind writes what each function took.

    Raises:
        SystemExit: The load did not get to its end.
    """
    library, cores = built(checkout), host.cores()
    with tempfile.TemporaryDirectory(prefix="plimsoll-bench-") as made:
        folder = Path(made)
        shown = certificate.made(folder) if load.by_tls else None
        with Reference((cores.server,), shown) as server:
            job = engine.DriverJob(
                *(server.address, folder, (cores.tool,), load.connections, PATIENCE_S),
                by_tls=load.by_tls,
                streams=load.streams,
                requests=requests,
            )
            *_, spec = engine.command(job)
            counting = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={profile}"]
            program = [sys.executable, "-P", "-c", RUN, str(library), "engine", spec]
            place = ["env", f"PYTHONPATH={checkout / 'python'}", "PYTHONHASHSEED=0"]
            replaced = f"LD_PRELOAD={_older_call(folder)}"
            ended = run([*place, replaced, *counting, *program], (cores.tool,), PATIENCE_S)
    found = re.search(r"Collected : (\d+)", ended.stderr)
    if ended.exit_code != 0 or not found or engine.finish(ended.stdout)["sent"] != requests:
        raise SystemExit(f"error: the load has failed\n{ended.stdout[-500:]}{ended.stderr[-500:]}")
    return int(found[1])


def per_request(checkout: Path, load: Load, requests: int, profile: Path) -> float:
    """Instructions of one request; the arguments are those of `instructions`."""
    fewer = max(LEAST_REQUESTS, REQUESTS_A_CONNECTION * load.connections)
    before = instructions(checkout, load, fewer, profile)
    return (instructions(checkout, load, fewer + requests, profile) - before) / requests


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--connections", default="64,1000,9000", help="default: 64,1000,9000")
    add("--requests", type=int, default=20_000, help="that make the difference; default: 20000")
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
        counts = [per_request(one, load, asked.requests, asked.profile) for one in checkouts]
        rows.append([f"{level:,}", *(f"{count:,.0f}" for count in counts)])
    names = [*(str(baseline) for baseline in asked.baseline), "this checkout"]
    print(page.table(["connections", *names], rows))


if __name__ == "__main__":
    main(sys.argv[1:])
