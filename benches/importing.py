"""From a zipped JMeter result file to seconds with percentiles: the study's way, and Plimsoll's.

`make bench` runs it. All ways read the same files and write the same two tables as CSV: successful
responses and failures by the second, with count, means and percentiles. Their counts must agree.
The study's way is measured with two converters: one handles quotes, as JMeter's results need and as
Plimsoll's import does, the other does not. The output is Markdown.
"""

from __future__ import annotations

import argparse
import csv
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench import database, host, jtl, page, study, watching
from workbench.jtl import Files

SECTION = "importing"
"""Where the findings stand in a page."""

PROGRAM = Path(sys.executable).with_name("plimsoll")
"""The installed command."""

MIB = 2**20
TARGET = 5.0
"""How many times as fast as the study's way ours is to be."""


@dataclass(frozen=True)
class Step:
    """A step of one way.

    Attributes:
        what: What is done in it.
        duration_s: How long it took.
    """

    what: str
    duration_s: float


@dataclass(frozen=True)
class Way:
    """One way from the file to the seconds.

    Attributes:
        name: Whose it is.
        steps: Its steps in order.
        beyond: What the other way has nothing like, which does not count.
        peak_pss_bytes: The most memory it held, all processes together.
        stored_bytes: Room that its requests take on the disk.
        counted: Requests in both tables: right ones and failures.
    """

    name: str
    steps: tuple[Step, ...]
    peak_pss_bytes: int
    stored_bytes: int
    counted: tuple[int, int]
    beyond: tuple[Step, ...] = ()

    @property
    def duration_s(self) -> float:
        """How long all steps took."""
        return sum(step.duration_s for step in self.steps)


def of_study(files: Files, folder: Path, converter: str) -> Way:
    """The study's way.

    Args:
        files: What is read.
        folder: Where everything is written.
        converter: Which of its converters is taken.
    """
    command = study.converters(files)[converter]
    with database.served({}) as server:
        server.execute(study.TABLE)
        steps: list[Step] = []
        peak_bytes = 0
        tables = (folder / "study_success.csv", folder / "study_failure.csv")
        acts = (
            ("unzip, convert, COPY", lambda: study.load(files, command, server)),
            ("seconds of successes", lambda: study.seconds(server, "success", tables[0])),
            ("seconds of failures", lambda: study.seconds(server, "NOT success", tables[1])),
        )
        for what, act in acts:
            with watching.watched() as seen:
                act()
            steps.append(Step(what, seen.duration_s))
            peak_bytes = max(peak_bytes, seen.peak_pss_bytes)
        counted = (_counted(tables[0]), _counted(tables[1]))
        return Way(
            f"the study's, {converter}",
            tuple(steps),
            peak_bytes,
            study.stored_bytes(server),
            counted,
        )


def of_plimsoll(files: Files, folder: Path) -> Way:
    """Plimsoll's way.

    Args:
        files: What is read.
        folder: Where everything is written.
    """
    results, exported = folder / "results", folder / "exported"
    for earlier in (results, exported):
        shutil.rmtree(earlier, ignore_errors=True)
    commands = (
        (
            "import",
            ("import", "jmeter", files.requests, "--cpu", files.cpu, "--cores", jtl.CORES,
             "--into", results, "--no-judge"),
        ),
        ("export of seconds", ("export", results, "--to", exported, "--format", "seconds")),
    )  # fmt: skip
    steps: list[Step] = []
    peak_bytes = 0
    for what, arguments in commands:
        with watching.watched() as seen:
            _run([str(PROGRAM), *map(str, arguments)])
        steps.append(Step(what, seen.duration_s))
        peak_bytes = max(peak_bytes, seen.peak_pss_bytes)
    with watching.watched() as seen:
        _run([str(PROGRAM), "judge", str(results)])
    judging = Step("judging, which does not count", seen.duration_s)
    peak_bytes = max(peak_bytes, seen.peak_pss_bytes)
    stored = sum(file.stat().st_size for file in (results / "trials").rglob("*.parquet"))
    counted = tuple(
        _counted(next(exported.rglob(name)))
        for name in ("seconds_success.csv", "seconds_failure.csv")
    )
    return Way("Plimsoll's", tuple(steps), peak_bytes, stored, (counted[0], counted[1]), (judging,))


def report(ways: Sequence[Way], files: Files, rows: int, others_ratio: float) -> str:
    """The findings as Markdown.

    Args:
        ways: The study's way with its right converter, ours, and then others.
        files: What was read.
        rows: Requests in it.
        others_ratio: Share of all cores that other programs took meanwhile.
    """
    first, ours = ways[:2]
    steps = [
        (way.name, step.what, f"{step.duration_s:,.1f}")
        for way in ways
        for step in (*way.steps, *way.beyond)
    ]
    zipped = files.requests.stat().st_size
    sums = [
        (
            way.name,
            f"{way.duration_s:,.1f}",
            f"{way.duration_s / ours.duration_s:.1f}",
            f"{way.peak_pss_bytes / MIB:,.0f}",
            f"{way.stored_bytes / MIB:,.0f}",
            f"{way.stored_bytes / zipped:.2f}",
        )
        for way in ways
    ]
    head = ("way", "s", "÷ Plimsoll's", "memory MiB", "on disk MiB", "on disk ÷ zip")
    met = "reached" if first.duration_s / ours.duration_s >= TARGET else "not reached"
    return "\n\n".join(
        (
            f"{host.described()}. {rows:,} requests, {files.csv_bytes / MIB:,.0f} MiB of CSV, "
            f"{zipped / MIB:,.0f} MiB zipped. {host.others([others_ratio])} "
            f"The aim of {TARGET:.0f} times as fast is {met}.",
            page.table(("way", "step", "s"), steps, words=(0, 1)),
            page.table(head, sums),
        )
    )


def _run(command: Sequence[str]) -> None:
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode not in (0, 1):  # 1: done, and some verdict is void
        raise SystemExit(f"error: `{' '.join(command)}` failed: {ran.stderr.strip()}")


def _counted(path: Path) -> int:
    """Requests of a table of seconds."""
    with path.open(encoding="utf-8", newline="") as file:
        return sum(int(row["requests"]) for row in csv.DictReader(file))


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--rows", type=int, default=10_000_000, help="requests in the file; default: 10,000,000")
    add("--folder", type=Path, help="where files are written; one of its own without it")
    add("--page", type=Path, help="also put the findings into this page")
    return parser.parse_args(arguments)


def _measured(rows: int, folder: Path) -> str:
    files = jtl.write(rows, folder)
    began_s, busy_s, own_s = time.monotonic(), host.busy_s(), _own_s()
    right, fast = study.converters(files)
    ways = (
        of_study(files, folder, right),
        of_plimsoll(files, folder),
        of_study(files, folder, fast),
    )
    others_s = host.busy_s() - busy_s - (_own_s() - own_s)
    wall_s = time.monotonic() - began_s
    counted = [way.counted for way in ways]
    if len(set(counted)) > 1:
        raise SystemExit(f"error: the ways disagree: {counted} requests")
    return report(ways, files, rows, max(0.0, others_s / wall_s / len(host.cores().all)))


def _own_s() -> float:
    """Processor time of this process and of all that it started and that has ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def _require_tools() -> None:
    missing = [name for name in ("unzip", "awk") if shutil.which(name) is None]
    if missing:
        raise SystemExit(f"error: `{missing[0]}` is not on the PATH\nhint: install it first")


def main(arguments: Sequence[str]) -> None:
    """Measures and prints.

    Args:
        arguments: The command line without the program.
    """
    asked = _options(arguments)
    _require_tools()
    with tempfile.TemporaryDirectory(prefix="plimsoll-bench-") as own:
        folder = asked.folder or Path(own)
        try:
            text = _measured(asked.rows, folder)
        except database.NoServerError as error:
            message = f"error: {error}\nhint: on Debian `apt-get install postgresql`"
            raise SystemExit(message) from error
    print(text)
    if asked.page:
        page.put(asked.page, SECTION, text)


if __name__ == "__main__":
    main(sys.argv[1:])
