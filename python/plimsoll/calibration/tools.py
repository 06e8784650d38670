"""Times that other load generators report of the same stalls.

Each is run the way its users run it. A tool with a closed model cannot generate the same load: it
sends as fast as it can while the server runs, and stops with it, so that few of its requests see
stalls that take a fifth of the time. wrk (from 4.0 on) corrects for that with computed latencies of
requests that it did not send.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from plimsoll.calibration import stalls
from plimsoll.processes.supervised import SupervisedProcess
from plimsoll.storage import scratch

if TYPE_CHECKING:
    from plimsoll.calibration.bench import Bench, Reference
    from plimsoll.calibration.truth import Stall

PATIENCE_S = 20.0
"""Seconds by which a tool may exceed its duration."""

_UNITS_NS = {"us": 1e3, "ms": 1e6, "s": 1e9, "m": 60e9, "secs": 1e9}


class NotReported(Exception):  # noqa: N818 - it never leaves this module
    """The output of a tool lacks the expected values."""


@dataclass(frozen=True)
class CalibrationTool:
    """A load tool.

    Attributes:
        title: Its name, with the options that matter.
        program: Its program.
        get: How to install it.
        command: Program and arguments for a URL and a number of seconds.
        read: Reads the times from its output, in nanoseconds, by name.
    """

    title: str
    program: str
    get: str
    command: Callable[[str, int], list[str]]
    read: Callable[[str], dict[str, int]]


@dataclass(frozen=True)
class ToolFound:
    """Times reported by a tool.

    Attributes:
        title: The tool.
        times: The times in nanoseconds, by name; empty if it is missing or failed.
        missing: How to install it; empty if it is installed.
        failed: The error; empty if there was none.
    """

    title: str
    times: dict[str, int]
    missing: str = ""
    failed: str = ""


def measured(bench: Bench, stall: Stall) -> tuple[ToolFound, ...]:
    """Runs every tool that is installed, one after the other, for one period each.

    Args:
        bench: The bench.
        stall: The server's stalls.
    """
    return tuple(_measured(bench, tool, stall) for tool in TOOLS)


def _measured(bench: Bench, tool: CalibrationTool, stall: Stall) -> ToolFound:
    if shutil.which(tool.program) is None:
        return ToolFound(tool.title, {}, missing=tool.get)
    bench.tell(f"{tool.title} on a stalling server")
    with bench.reference(*stalls.options(stall)) as reference:
        stated = _run(bench, reference, tool, round(stall.period_ns / 1e9))
    try:
        return ToolFound(tool.title, tool.read(stated))
    except NotReported as error:
        return ToolFound(tool.title, {}, failed=str(error))


def _run(bench: Bench, reference: Reference, tool: CalibrationTool, seconds: int) -> str:
    """Runs a tool and returns its output; stops it if it does not end."""
    with scratch.folder() as folder:
        log = folder / "said.txt"
        command = tool.command(reference.url, seconds)
        with SupervisedProcess(
            command, folder=folder, environment=os.environ, log=log, cores=bench.driver_cores
        ) as supervised:
            supervised.wait(seconds + PATIENCE_S)
        return log.read_text("utf-8", "replace")


def _wrk(url: str, seconds: int) -> list[str]:
    return ["wrk", "-t1", f"-c{stalls.POOL}", f"-d{seconds}s", "--latency", url]


def _ab(url: str, seconds: int) -> list[str]:
    limits = ["-t", str(seconds), "-n", "5000000"]
    return ["ab", "-q", "-k", "-c", str(stalls.POOL), *limits, url]


def _hey(url: str, seconds: int) -> list[str]:
    each = stalls.RATE_PER_S // stalls.POOL
    return ["hey", "-z", f"{seconds}s", "-c", str(stalls.POOL), "-q", str(each), url]


def _oha(url: str, seconds: int) -> list[str]:
    rate = ["-z", f"{seconds}s", "-c", str(stalls.POOL), "-q", str(stalls.RATE_PER_S)]
    return ["oha", "--no-tui", "--output-format", "json", *rate, url]


def _oha_corrected(url: str, seconds: int) -> list[str]:
    *command, last = _oha(url, seconds)
    return [*command, "--latency-correction", last]


def read_wrk(stated: str) -> dict[str, int]:
    """The times in the output of `wrk --latency`."""
    found = {
        name: _found(rf"^\s+{share}%\s+([\d.]+)(us|ms|s|m)\s*$", stated)
        for name, share in (("p50", 50), ("p90", 90), ("p99", 99))
    }
    return {**found, "max": _found(r"^\s+Latency\s+\S+\s+\S+\s+([\d.]+)(us|ms|s|m)", stated)}


def read_ab(stated: str) -> dict[str, int]:
    """The times in ab's output, in whole milliseconds."""
    shares = {"p50": 50, "p90": 90, "p95": 95, "p99": 99, "max": 100}
    return {name: _found(rf"^\s+{share}%\s+(\d+)", stated, "ms") for name, share in shares.items()}


def read_hey(stated: str) -> dict[str, int]:
    """The times in hey's output."""
    shares = {"p50": 50, "p90": 90, "p95": 95, "p99": 99}
    found = {
        name: _found(rf"^\s+{share}%+ in ([\d.]+) (secs)", stated) for name, share in shares.items()
    }
    return {**found, "max": _found(r"^\s+Slowest:\s+([\d.]+) (secs)", stated)}


def read_oha(stated: str) -> dict[str, int]:
    """The times in oha's JSON."""
    try:
        document: Mapping[str, Any] = json.loads(stated[stated.index("{") :])
        shares = document["latencyPercentiles"]
        names = {"p50": "p50", "p90": "p90", "p95": "p95", "p99": "p99", "p999": "p99.9"}
        found = {name: round(shares[key] * 1e9) for name, key in names.items()}
        return {**found, "max": round(document["summary"]["slowest"] * 1e9)}
    except (ValueError, KeyError, TypeError) as error:
        raise NotReported(_complaint(stated)) from error


def _found(pattern: str, stated: str, unit: str = "") -> int:
    found = re.search(pattern, stated, re.MULTILINE)
    if found is None:
        raise NotReported(_complaint(stated))
    return round(float(found[1]) * _UNITS_NS[unit or found[2]])


def _complaint(stated: str) -> str:
    """The last non-blank line, which contains the reason for missing times."""
    lines = [line.strip() for line in stated.splitlines() if line.strip()]
    return f"it printed no times; its last output: `{lines[-1]}`" if lines else "it printed nothing"


TOOLS = (
    CalibrationTool("wrk", "wrk", "apt-get install wrk", _wrk, read_wrk),
    CalibrationTool("ab -k", "ab", "apt-get install apache2-utils", _ab, read_ab),
    CalibrationTool("hey -q", "hey", "apt-get install hey", _hey, read_hey),
    CalibrationTool("oha -q", "oha", "cargo install oha", _oha, read_oha),
    CalibrationTool(
        "oha -q --latency-correction", "oha", "cargo install oha", _oha_corrected, read_oha
    ),
)  # fmt: skip
"""Every tool, those with only a closed model first."""
