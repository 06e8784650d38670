"""How long a new trial waits for its verdict, in a small folder of results and in a large one.

A trial is derived and judged when it ends, and that must cost the same however many trials there
are. Each folder is filled with copies of one small recording. A new trial is put into each of them
in turn, timed from its end to its verdict, and taken out again, so that a busy machine slows down
all folders alike. Other programs can only make a time longer, so the least of each counts; the
ratio is that of processor times, which they change least.

Exit codes: 0 the time is flat, 1 it grows with the folder.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import recordings
from plimsoll.findings import derivation
from plimsoll.recording import Recording
from plimsoll.storage import documents
from plimsoll.storage.parquet import ParquetResults

SMALL = {"connections": 10, "throughput_per_s": 500.0, "ramp_s": 0.0, "hold_s": 2.0}
"""The recording: 1,000 requests, so that what depends on other trials stands out."""

NEW = "new"
"""Id of the trial that is timed."""

FLAT = 1.2
"""The large folder may take longer than the small one by this ratio."""


@dataclass
class Filled:
    """A folder of results, and what new trials in it took.

    Attributes:
        results: The results.
        trials: How many trials are in it.
        times_s: From the end of a new trial to its verdict, in seconds.
        cpu_s: Processor time of all threads in it, in seconds.
    """

    results: ParquetResults
    trials: int
    times_s: list[float] = field(default_factory=list[float])
    cpu_s: list[float] = field(default_factory=list[float])


def main(arguments: Sequence[str] | None = None) -> int:
    """Times new trials and prints a table; 1 when the time grows with the folder."""
    asked = _parser().parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="plimsoll-bench-") as scratch:
        pattern = Path(scratch) / "pattern"
        recording = recordings.write_trial(pattern, **SMALL)
        folders = [filled(Path(scratch) / str(n), pattern, recording, n) for n in asked.trials]
        for _ in range(asked.repetitions):
            for folder in folders:
                time_new(folder, pattern, recording)
    return _printed(folders)


def filled(folder: Path, pattern: Path, recording: Recording, trials: int) -> Filled:
    """A folder with copies of a recording, each with what was derived from it.

    Args:
        folder: Where to make it.
        pattern: Folder of the trial that is copied.
        recording: Its recording.
        trials: How many copies.
    """
    results = ParquetResults(folder)
    put(results, pattern, recording, "trial-0")
    derivation.of_trial(results, results.recording("trial-0"))
    for number in range(1, trials):
        trial = f"trial-{number}"
        put(results, pattern, recording, trial)
        shutil.copytree(results.derived / "trial-0", results.derived / trial, copy_function=os.link)
    return Filled(results, trials)


def put(results: ParquetResults, pattern: Path, recording: Recording, trial: str) -> Recording:
    """Copies a recording into some results under another id."""
    into = results.trials / trial
    shutil.copytree(pattern, into, copy_function=os.link)
    (into / documents.TRIAL).unlink()
    named = replace(recording, trial=trial)
    documents.keep_recording(named, into)
    return named


def time_new(folder: Filled, pattern: Path, recording: Recording) -> None:
    """Times one new trial from its end to its verdict, and takes it out again."""
    results = folder.results
    named = put(results, pattern, recording, NEW)
    begun_s, begun_cpu_s = time.perf_counter(), time.process_time()
    verdicts = derivation.of_trial(results, named).verdicts
    folder.times_s.append(time.perf_counter() - begun_s)
    folder.cpu_s.append(time.process_time() - begun_cpu_s)
    if results.read_derived_trial(NEW) is None:
        raise SystemExit(f"no verdict was kept: {verdicts}")
    shutil.rmtree(results.trials / NEW)
    shutil.rmtree(results.derived / NEW)


def _printed(folders: Sequence[Filled]) -> int:
    print("| trials in the folder | time, least | median | CPU time, least | ratio to the first |")
    print("| ---: | ---: | ---: | ---: | ---: |")
    ratios = [min(folder.cpu_s) / min(folders[0].cpu_s) for folder in folders]
    for folder, ratio in zip(folders, ratios, strict=True):
        times_s = (min(folder.times_s), median(folder.times_s), min(folder.cpu_s))
        cells = (f"{folder.trials:,}", *(f"{1e3 * one:.0f} ms" for one in times_s), f"{ratio:.2f}")
        print(f"| {' | '.join(cells)} |")
    return 0 if max(ratios) <= FLAT else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--trials", type=_numbers, default=[10, 1000], help="sizes of folders")
    parser.add_argument("--repetitions", type=int, default=15, help="new trials in each folder")
    return parser


def _numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


if __name__ == "__main__":
    sys.exit(main())
