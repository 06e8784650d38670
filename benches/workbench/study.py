"""The way of the CENGN study from a zipped result file to seconds, as fast as it can be had.

The file is unzipped into a converter, which counts time from the first request, puts the CPU of its
second beside each request and drops the columns that are not needed; its output goes into
PostgreSQL by COPY while it comes. Then two grouped statements give the seconds of the successful
responses and of the failures as CSV. The study's converter was a program in Swift. Here are two:
`converter.py`, which reads quotes as a converter of JMeter's results must, and awk, which cuts a
line at every comma and so only does for files without quotes; nothing can convert faster. The
server has the settings that it comes with.

Source:
    *Perfect-NIO-CENGN*, on how its results were processed.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from workbench import database
from workbench.jtl import BASE_MS, Files

TABLE = """
CREATE TABLE requests (
    at_ms integer, elapsed_ms integer, response_code text, success boolean, received_bytes integer,
    threads integer, latency_ms integer, cpu_percent real
)
"""

_AWK = r"""
NR == FNR { if (FNR > 1) cpu[$1 - base_s] = $2; next }
FNR == 1 { next }
first == "" { first = $1; shift_s = int(first / 1000) - base_s }
{
    at = $1 - first
    print at, $2, $4, $8, $10, $13, $15, cpu[int(at / 1000) + shift_s]
}
"""
"""One request a line: instants count from the first line of the file."""

_SECONDS = """
COPY (
    SELECT at_ms / 1000 AS second, count(*) AS requests, avg(elapsed_ms), avg(threads),
        avg(latency_ms), percentile_cont(ARRAY[0.25, 0.5, 0.75, 0.95])
        WITHIN GROUP (ORDER BY elapsed_ms), avg(cpu_percent)
    FROM requests WHERE {} GROUP BY 1 ORDER BY 1
) TO STDOUT (FORMAT csv, HEADER)
"""


_BASE_S = str(BASE_MS // 1000)


def converters(files: Files) -> Mapping[str, Sequence[str]]:
    """Commands that convert what comes, by what they are called.

    Args:
        files: The result file and the CPU.
    """
    program = Path(__file__).with_name("converter.py")
    awk = ("awk", "-F,", "-v", "OFS=,", "-v", f"base_s={_BASE_S}", _AWK, str(files.cpu), "-")
    return {
        "reads quotes": (sys.executable, str(program), str(files.cpu), _BASE_S),
        "cuts at commas": awk,
    }


def load(files: Files, converter: Sequence[str], server: database.Server) -> None:
    """Unzips, converts and loads, all at once.

    Args:
        files: The result file and the CPU.
        converter: The command that converts.
        server: Where to.
    """
    copy = _psql(server, "COPY requests FROM STDIN (FORMAT csv)")
    commands = (["unzip", "-p", str(files.requests)], converter, copy)
    running: list[subprocess.Popen[bytes]] = []
    for command in commands:
        given = running[-1].stdout if running else subprocess.DEVNULL
        running.append(subprocess.Popen(command, stdin=given, stdout=subprocess.PIPE))
        if len(running) > 1 and (before := running[-2].stdout):
            before.close()
    running[-1].communicate()
    for command, process in zip(commands, running, strict=True):
        if process.wait():
            raise SystemExit(f"error: `{command[0]}` failed")


def seconds(server: database.Server, which: str, into: Path) -> None:
    """Writes the seconds of some requests as CSV.

    Args:
        server: Where the requests are.
        which: A condition: `success`.
        into: The file.
    """
    with into.open("wb") as file:
        subprocess.run(_psql(server, _SECONDS.format(which)), stdout=file, check=True)


def stored_bytes(server: database.Server) -> int:
    """Room that the requests take in the database."""
    return int(server.execute("SELECT pg_total_relation_size('requests')")[0][0])


def _psql(server: database.Server, statement: str) -> Sequence[str]:
    program = server.binaries / "psql"
    return [str(program), "-X", "-q", "-d", server.url(), "-c", statement]
