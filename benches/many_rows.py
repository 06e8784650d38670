"""What counting many rows on several hosts takes: memory, processor time, and the lab's part.

Each host is a process of its own, one after the other. It counts rows that were generated, times
with a long tail in whole nanoseconds, as an agent does for `--keep-rows remote`; the lab then adds
what the hosts wrote. Sizes double, so that growth shows.

    python benches/many_rows.py --rows 100000000 --hosts 8

Exit codes: 0 every host stayed below 2 GiB, 1 one did not.
"""

from __future__ import annotations

import argparse
import json
import pickle
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
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
        host_peak_bytes: The most memory of a host.
        host_cpu_s: Processor time of a host, mean.
        packed_bytes: What the lab takes of all hosts.
        lab_cpu_s: Processor time of the lab.
        p50_s: Median of all times.
        p9999_s: Their 99.99th percentile.
    """

    rows: int
    host_peak_bytes: int
    host_cpu_s: float
    packed_bytes: int
    lab_cpu_s: float
    p50_s: float
    p9999_s: float


def main() -> int:
    """Measures, and prints a line of JSON for each size; 1 when a host needed too much."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rows", type=int, default=100_000_000)
    parser.add_argument("--hosts", type=int, default=8)
    parser.add_argument("--of-host", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.of_host is not None:
        return of_host(asked.of_host)
    is_small = True
    for part in (8, 4, 2, 1):
        found = measured(asked.rows // part, asked.hosts)
        print(json.dumps(asdict(found)), flush=True)
        is_small &= found.host_peak_bytes <= MOST_BYTES
    return int(not is_small)


def measured(rows: int, hosts: int) -> ManyRows:
    """Counts so many rows on hosts, and adds what they counted."""
    with tempfile.TemporaryDirectory(prefix="plimsoll-bench-") as scratch:
        folders = [Path(scratch, str(host)) for host in range(hosts)]
        used = [counted(folder, rows // hosts) for folder in folders]
        began_s = time.process_time()
        parts = [pickle.loads((folder / "counts").read_bytes()) for folder in folders]
        found = counts.figures(parts, LOAD, DRIVER, 1.0)
        lab_cpu_s = time.process_time() - began_s
        if found.requests != rows // hosts * hosts:
            raise SystemExit(f"{found.requests} of {rows} rows were counted")
        return ManyRows(
            rows=rows,
            host_peak_bytes=max(peak for peak, _ in used),
            host_cpu_s=sum(cpu_s for _, cpu_s in used) / hosts,
            packed_bytes=sum(len(packed) for part in parts for packed in part.times.values()),
            lab_cpu_s=lab_cpu_s,
            p50_s=found.times_s["p50"],
            p9999_s=found.times_s["p9999"],
        )


def counted(folder: Path, rows: int) -> tuple[int, float]:
    """Has a host of its own count generated rows; its greatest memory and its processor time."""
    folder.mkdir()
    generate(folder / "requests.bin", rows, seed=int(folder.name))
    command = [sys.executable, __file__, "--of-host", str(folder)]
    said = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    (folder / "requests.bin").unlink()
    return said["peak_bytes"], said["cpu_s"]


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


def of_host(folder: Path) -> int:
    """Counts the rows in a folder, and prints what that took."""
    found = counts.counted(folder, [(0, 1 << 62)], 0)
    (folder / "counts").write_bytes(pickle.dumps(found))
    used = resource.getrusage(resource.RUSAGE_SELF)
    peak_bytes, cpu_s = used.ru_maxrss * 1024, used.ru_utime + used.ru_stime
    json.dump({"peak_bytes": peak_bytes, "cpu_s": cpu_s}, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
