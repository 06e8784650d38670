"""Instructions of a request in the load generator's own code, counted by valgrind's callgrind.

A count hardly depends on what else the machine does, so it shows changes far below the noise of
processor time; it says nothing of the kernel, whose share is most of that time. Each load runs for
a time and for twice that time, and the difference is divided by the requests between them: start-up
and opening connections cancel out. All threads count. With `--misses` callgrind also simulates the
caches of a core, which the engine has to itself there.

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
from collections.abc import Mapping, Sequence
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


CACHES = ("--cache-sim=yes", "--D1=49152,12,64", "--LL=2097152,16,64")
"""Simulates the two data caches of a core of the machine that `docs/performance.md` is about."""

INSTRUCTIONS = {"instructions": ("Ir",)}
"""What is counted without caches, and callgrind's names of its parts."""

MISSES = {
    **INSTRUCTIONS,
    "misses of the first data cache": ("D1mr", "D1mw"),
    "misses of the second": ("DLmr", "DLmw"),
}
"""The same with caches."""


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


@dataclass(frozen=True)
class Counted:
    """What callgrind counted of a whole load.

    Attributes:
        events: Counts by callgrind's names.
        requests: Requests with a correct response.
    """

    events: Mapping[str, int]
    requests: int

    def each(self, longer: Counted, names: Sequence[str]) -> float:
        """The events of such names that one of the further requests of a longer load took."""
        more = sum(longer.events[name] - self.events[name] for name in names)
        return more / (longer.requests - self.requests)


def counted(
    checkout: Path, load: Load, seconds: float, profile: Path, options: Sequence[str]
) -> Counted:
    """Counts what a whole load takes.

    Args:
        checkout: Whose engine runs; it is built when it has changed.
        load: What it does.
        seconds: For how long.
        profile: Where callgrind writes what each function took.
        options: Further options of callgrind.

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
            counting = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={profile}", *options]
            program = [sys.executable, "-P", "-c", RUN, str(library), "engine", spec]
            place = ["env", f"PYTHONPATH={checkout / 'python'}", "PYTHONHASHSEED=0"]
            replaced = f"LD_PRELOAD={_older_call(folder)}"
            command = [*place, replaced, *counting, *program]
            ended = run(command, (cores.tool,), seconds + PATIENCE_S)
    found = re.search(r"Events +: (.+)\n.*Collected : ([\d ]+)", ended.stderr)
    if ended.exit_code != 0 or not found:
        raise SystemExit(f"error: the load has failed\n{ended.stdout[-500:]}{ended.stderr[-500:]}")
    finish = engine.finish(ended.stdout)
    if finish["opened"] < load.connections:
        raise SystemExit(f"error: {finish['opened']} connections opened\nhint: longer --seconds")
    events = dict(zip(found[1].split(), map(int, found[2].split()), strict=True))
    return Counted(events, int(finish["outcomes"]["ok"]))


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--connections", default="64,1000,9000", help="default: 64,1000,9000")
    add("--seconds", type=float, default=10, help="length of the shorter load; default: 10")
    add("--tls", action="store_true", help="by TLS")
    add("--streams", type=int, help="by HTTP/2 with so many streams on each connection")
    add("--baseline", type=Path, action="append", default=[], help="a checkout to compare with")
    add("--misses", action="store_true", help="also count misses of the caches; takes longer")
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
    lengths = (asked.seconds, 2 * asked.seconds)
    levels = [int(level) for level in asked.connections.split(",")]
    host.allow_connections(max(levels))
    checkouts = [checkout.resolve() for checkout in (*asked.baseline, CHECKOUT)]
    wanted, options = (MISSES, CACHES) if asked.misses else (INSTRUCTIONS, ())
    rows: list[list[str]] = []
    for level in levels:
        load = Load(level, asked.tls, asked.streams)
        pairs = [
            [counted(one, load, length, asked.profile, options) for length in lengths]
            for one in checkouts
        ]
        for what, parts in wanted.items():
            counts = [shorter.each(longer, parts) for shorter, longer in pairs]
            rows.append([f"{level:,}", what, *(f"{count:,.1f}" for count in counts)])
    names = [*(str(baseline) for baseline in asked.baseline), "this checkout"]
    print(page.table(["connections", "for a request", *names], rows, words=(0, 1)))


if __name__ == "__main__":
    main(sys.argv[1:])
