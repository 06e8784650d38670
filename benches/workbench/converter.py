"""The converter of the study's way, for results that have quotes: `converter.py CPU.csv BASE_S`.

Reads a result file of JMeter from standard input and writes to standard output what goes into the
database: instants counted from the first line, the CPU of its second beside each request, and no
column that is not needed. A comma or a line end within quotes belongs to its value, as RFC 4180
has it and as JMeter's messages need it.
"""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

COLUMNS = ("elapsed", "responseCode", "success", "bytes", "allThreads", "Latency")


def converted(
    rows: Iterator[list[str]], cpu_percent: dict[int, str], base_s: int
) -> Iterator[Iterable[str | int]]:
    """Rows of the database.

    Args:
        rows: The lines of a result file, the header first.
        cpu_percent: Seconds since `base_s`, and the CPU in each.
        base_s: A second since 1970.
    """
    header = next(rows)
    at = header.index("timeStamp")
    elapsed, code, success, received, threads, latency = map(header.index, COLUMNS)
    first_ms = None
    shift_s = 0
    for row in rows:
        stamp_ms = int(row[at])
        if first_ms is None:
            first_ms = stamp_ms
            shift_s = stamp_ms // 1000 - base_s
        at_ms = stamp_ms - first_ms
        cpu = cpu_percent.get(at_ms // 1000 + shift_s, "")
        yield (
            at_ms, row[elapsed], row[code], row[success], row[received], row[threads],
            row[latency], cpu,
        )  # fmt: skip


def main(cpu: Path, base_s: int) -> None:
    """Converts what comes.

    Args:
        cpu: File of `clock,value`.
        base_s: The second since 1970 that its readings are counted from.
    """
    with cpu.open(encoding="ascii", newline="") as file:
        readings = list(csv.reader(file))[1:]
    cpu_percent = {int(clock) - base_s: value for clock, value in readings}
    given = io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8", newline="")
    csv.writer(sys.stdout, lineterminator="\n").writerows(
        converted(csv.reader(given), cpu_percent, base_s)
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
