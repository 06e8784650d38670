"""What counting many rows on several hosts takes: memory, processor time, and the lab's part.

Each host is a process of its own, one after the other or some at once. It counts rows that were
generated, times with a long tail in whole nanoseconds, as an agent does for `--keep-rows remote`;
the lab then adds what the hosts wrote, in a process of its own as well. Sizes double, so that
growth shows. Records of the hosts at work lie in the folder for temporary files: 7 GB each, of a
billion rows on eight.

    python benches/many_rows.py --rows 1000000000 --hosts 8

Exit codes: 0 every host stayed below 2 GiB, 1 one did not.
"""

from __future__ import annotations

import argparse
import json
import pickle
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from itertools import repeat
from pathlib import Path

import numpy as np

from plimsoll.campaign.load import Load, Stage
from plimsoll.drivers import records
from plimsoll.hosts import counts
from plimsoll.recording import Driver

MOST_BYTES = 2 << 30
"""What a host may need."""

CHUNK_ROWS = 1 << 20
"""Rows that are generated at a time."""

RATE_PER_S = 100_000
"""Requests per second of each host."""

LOAD = Load("many", "closed", (Stage("hold", 1.0, 1, 1),))
DRIVER = Driver("plimsoll", "", (), 1, "schedule")


@dataclass(frozen=True)
class ManyRows:
    """What was measured of one size.

    Attributes:
        rows: Rows of all hosts together.
        host_peak_bytes: The most memory of a host (`VmHWM`).
        host_s: How long a host took, mean, from the start of its process.
        host_cpu_s: Its processor time, mean.
        packed_bytes: What the lab takes of all hosts.
        lab_peak_bytes: The most memory of the lab (`VmHWM`).
        lab_s: How long the lab took, from the start of its process.
        lab_cpu_s: Its processor time.
        p50_s: Median of all times.
        p9999_s: Their 99.99th percentile.
    """

    rows: int
    host_peak_bytes: int
    host_s: float
    host_cpu_s: float
    packed_bytes: int
    lab_peak_bytes: int
    lab_s: float
    lab_cpu_s: float
    p50_s: float
    p9999_s: float


@dataclass(frozen=True)
class Used:
    """What a process took.

    Attributes:
        peak_bytes: The most memory.
        took_s: How long, from its start.
        cpu_s: Processor time.
        found: What it found out.
    """

    peak_bytes: int
    took_s: float
    cpu_s: float
    found: dict[str, float]


def main() -> int:
    """Measures, and prints a line of JSON for each size; 1 when a host needed too much."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rows", type=int, default=100_000_000)
    parser.add_argument("--hosts", type=int, default=8)
    parser.add_argument("--parts", type=int, nargs="+", default=[8, 4, 2, 1], help="of the rows")
    parser.add_argument("--at-once", type=int, default=1, help="hosts that count at the same time")
    parser.add_argument("--of-host", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--of-lab", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.of_host is not None:
        return said(of_host(asked.of_host))
    if asked.of_lab is not None:
        return said(of_lab(asked.of_lab))
    is_small = True
    for part in asked.parts:
        found = measured(asked.rows // part, asked.hosts, asked.at_once)
        print(json.dumps(asdict(found)), flush=True)
        is_small &= found.host_peak_bytes <= MOST_BYTES
    return int(not is_small)


def measured(rows: int, hosts: int, at_once: int) -> ManyRows:
    """Counts so many rows on hosts, some at once, and adds what they counted."""
    with tempfile.TemporaryDirectory(prefix="plimsoll-bench-") as scratch:
        folders = [Path(scratch, str(host)) for host in range(hosts)]
        with ThreadPoolExecutor(at_once) as pool:
            used = [*pool.map(counted, folders, repeat(rows // hosts))]
        lab = process("--of-lab", Path(scratch))
        if lab.found["requests"] != rows // hosts * hosts:
            raise SystemExit(f"{lab.found['requests']} of {rows} rows were counted")
        return ManyRows(
            rows=rows,
            host_peak_bytes=max(one.peak_bytes for one in used),
            host_s=sum(one.took_s for one in used) / hosts,
            host_cpu_s=sum(one.cpu_s for one in used) / hosts,
            packed_bytes=sum(round(one.found["packed_bytes"]) for one in used),
            lab_peak_bytes=lab.peak_bytes,
            lab_s=lab.took_s,
            lab_cpu_s=lab.cpu_s,
            p50_s=lab.found["p50_s"],
            p9999_s=lab.found["p9999_s"],
        )


def counted(folder: Path, rows: int) -> Used:
    """Has a host of its own count generated rows."""
    folder.mkdir()
    generate(folder / "requests.bin", rows, seed=int(folder.name))
    used = process("--of-host", folder)
    (folder / "requests.bin").unlink()
    return used


def process(option: str, folder: Path) -> Used:
    """Does one side's part in a process of its own, so that its memory is its own."""
    began_s = time.monotonic()
    command = [sys.executable, __file__, option, str(folder)]
    given = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    return Used(took_s=time.monotonic() - began_s, **given)


def said(found: dict[str, float]) -> int:
    """Prints what this process found out and what it took; the exit code."""
    # `ru_maxrss` would have that of the process that started this one.
    peak = re.search(r"^VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text(), re.MULTILINE)
    if peak is None:
        raise SystemExit("this kernel does not tell a process its peak memory")
    peak_bytes = int(peak.group(1)) * 1024
    json.dump({"peak_bytes": peak_bytes, "cpu_s": time.process_time(), "found": found}, sys.stdout)
    return 0


def generate(path: Path, rows: int, seed: int) -> None:
    """Writes rows of a host that all ended well."""
    random = np.random.default_rng(seed)
    with path.open("wb") as file:
        for chunk in chunks(random, rows):
            chunk.tofile(file)


def chunks(random: np.random.Generator, rows: int) -> Iterator[np.ndarray]:
    """Rows some at a time, in the order of time."""
    for first in range(0, rows, CHUNK_ROWS):
        count = min(CHUNK_ROWS, rows - first)
        chunk = np.zeros(count, records.record_dtype("requests"))
        chunk["due_ns"] = chunk["sent_ns"] = np.arange(first, first + count) * 10**9 // RATE_PER_S
        took_ns = random.lognormal(np.log(1e6), 0.8, count).astype(np.uint64)
        chunk["done_ns"] = chunk["sent_ns"] + took_ns
        chunk["first_byte_ns"] = chunk["done_ns"] - took_ns // 10
        chunk["status"] = 200
        yield chunk


def of_host(folder: Path) -> dict[str, float]:
    """Counts the rows in a folder, as an agent does."""
    found = counts.counted(folder, [(0, 1 << 62)], 0)
    (folder / "counts").write_bytes(pickle.dumps(found))
    return {"packed_bytes": sum(map(len, found.times.values()))}


def of_lab(folder: Path) -> dict[str, float]:
    """Adds what all hosts counted, as the lab does."""
    parts = [pickle.loads(path.read_bytes()) for path in folder.glob("*/counts")]
    found = counts.figures(parts, LOAD, DRIVER, 1.0)
    times_s = found.times_s
    return {"requests": found.requests or 0, "p50_s": times_s["p50"], "p9999_s": times_s["p9999"]}


if __name__ == "__main__":
    sys.exit(main())
