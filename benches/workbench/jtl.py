"""A result file as JMeter writes it, of any length, zipped; and the server's CPU beside it.

The load is that of the CENGN study: threads climb in a straight line for four minutes and are held
for three. Rows stand in the order in which requests ended, and one in a hundred has failed.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv

BASE_MS = 1_700_000_000_000
"""The first instant, in milliseconds since 1970."""

CLIMB_S, HOLD_S = 240, 180
THREADS = 9_000
ENGINES = 3
FAILED = 0.01
CORES = 72

_CHUNK_ROWS = 500_000
_THREAD_NAMES = [f"Thread Group 1-{n}" for n in range(1, THREADS // ENGINES + 2)]
_FAILURE = "Non HTTP response code: java.net.SocketTimeoutException"


@dataclass(frozen=True)
class Files:
    """What was written.

    Attributes:
        requests: The zipped result file.
        cpu: Seconds since 1970 and percent of all cores, as Zabbix exports them.
        csv_bytes: Length of the result file before it was zipped.
    """

    requests: Path
    cpu: Path
    csv_bytes: int


def write(rows: int, folder: Path) -> Files:
    """Writes both files; a result file of so many rows that is there already is taken.

    Args:
        rows: Requests.
        folder: Where they are written.
    """
    requests, cpu = folder / f"requests-{rows}.csv.zip", folder / "cpu.csv"
    if not requests.exists():
        partial = requests.with_suffix(".partial")
        _write_requests(rows, partial)
        partial.rename(requests)
    _write_cpu(cpu)
    with zipfile.ZipFile(requests) as packed:
        length = packed.infolist()[0].file_size
    return Files(requests, cpu, length)


def _write_requests(rows: int, path: Path) -> None:
    member = zipfile.ZipInfo("requests.csv")
    member.compress_type = zipfile.ZIP_DEFLATED
    with zipfile.ZipFile(path, "w") as packed, packed.open(member, "w", force_zip64=True) as file:
        for number, chunk in enumerate(_chunks(rows)):
            csv.write_csv(chunk, file, _plain(with_header=number == 0))


def _plain(*, with_header: bool) -> csv.WriteOptions:
    """Nothing that is written here needs quotes."""
    return csv.WriteOptions(include_header=with_header, quoting_style="none", quoting_header="none")


def _chunks(rows: int) -> Iterator[pa.Table]:
    random = np.random.default_rng(1)
    for first in range(0, rows, _CHUNK_ROWS):
        yield _chunk(np.arange(first, min(first + _CHUNK_ROWS, rows)), rows, random)


def _chunk(numbers: np.ndarray, rows: int, random: np.random.Generator) -> pa.Table:
    count = len(numbers)
    ended_s = _ended_s((numbers + 0.5) / rows)
    elapsed_ms = np.minimum(random.lognormal(3.0, 0.7, count), 9_000).astype(np.int64)
    threads = np.maximum(np.minimum(ended_s / CLIMB_S, 1) * THREADS, 1).astype(np.int64)
    failed = random.random(count) < FAILED
    latency_ms = np.where(failed, 0, np.maximum(elapsed_ms - random.integers(0, 4, count), 0))
    thread = (random.random(count) * (threads // ENGINES + 1)).astype(np.int64)
    pick = failed.astype(np.int8)
    return pa.table(
        {
            "timeStamp": BASE_MS + (ended_s * 1e3).astype(np.int64) - elapsed_ms,
            "elapsed": elapsed_ms,
            "label": _repeated(["json"], count),
            "responseCode": _chosen(["200", _FAILURE], pick),
            "responseMessage": _chosen(["OK", "Non HTTP response message: Read timed out"], pick),
            "threadName": _chosen(_THREAD_NAMES, thread),
            "dataType": _chosen(["text", ""], pick),
            "success": _chosen(["true", "false"], pick),
            "failureMessage": _repeated([""], count),
            "bytes": np.where(failed, 2_500, 2_231),
            "sentBytes": np.where(failed, 0, 412),
            "grpThreads": threads // ENGINES + 1,
            "allThreads": threads,
            "URL": _repeated(["http://10.0.0.5:8080/json"], count),
            "Latency": latency_ms,
            "IdleTime": np.zeros(count, np.int64),
            "Connect": np.zeros(count, np.int64),
        }
    )


def _ended_s(share: np.ndarray) -> np.ndarray:
    """When that share of all requests had ended: their rate climbs with the threads, then stays."""
    climbed = CLIMB_S / 2 / (CLIMB_S / 2 + HOLD_S)
    climbing = CLIMB_S * np.sqrt(share / climbed)
    holding = CLIMB_S + (share - climbed) / (1 - climbed) * HOLD_S
    return np.where(share < climbed, climbing, holding)


def _repeated(text: list[str], count: int) -> pa.Array:
    return _chosen(text, np.zeros(count, np.int8))


def _chosen(texts: list[str], indices: np.ndarray) -> pa.Array:
    picked = pa.DictionaryArray.from_arrays(pa.array(indices.astype(np.int32)), pa.array(texts))
    return picked.cast(pa.string())


def _write_cpu(path: Path) -> None:
    first_s = BASE_MS // 1000
    busy = (f"{first_s + s},{min(s / CLIMB_S, 1) * 90:.2f}" for s in range(CLIMB_S + HOLD_S + 10))
    path.write_text("\n".join(("clock,value", *busy)) + "\n", encoding="ascii")
