"""How large the HTML report of a campaign is, and how long it takes to write.

A campaign is simulated: some recordings that differ are derived, and every trial is one of them by
another name, with a throughput of its own. So charts have as much data as those of real trials of
that length, and nothing is started. Targets: 3 MB for 36 trials, 15 MB for 330.

Exit codes: 0 every page is within its target, 1 one is larger.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice, product
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import recordings
from plimsoll.comparison.comparisons import ComparedTrial, comparisons
from plimsoll.findings import derivation
from plimsoll.findings.findings import Findings
from plimsoll.findings.trial import TrialFindings
from plimsoll.report.formats import html
from plimsoll.storage.parquet import ParquetResults

TARGETS = {36: 3_000_000, 330: 15_000_000}
"""Trials, and the most bytes their page may have."""

KINDS = 6
"""Recordings that differ."""

FRAMEWORKS = tuple(f"framework-{number}" for number in range(1, 12))
ENDPOINTS = ("2048", "json", "empty", "fibonacci", "products", "echo")


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes pages and prints a table; 1 when one is larger than its target."""
    asked = _parser().parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="plimsoll-bench-") as scratch:
        kinds = derived(Path(scratch), asked.hold)
        sizes = {trials: _written(kinds, trials, asked.into or Path(scratch)) for trials in TARGETS}
    return int(any(size > TARGETS[trials] for trials, size in sizes.items()))


def derived(folder: Path, hold_s: float) -> tuple[TrialFindings, ...]:
    """Trials that differ, with everything that follows from them.

    Args:
        folder: Folder for their rows.
        hold_s: Length of their hold; ten seconds of ramp come before it.
    """
    options = (
        {
            "framework": f"kind-{number}",
            "seed": number,
            "throughput_per_s": 600.0 + 150 * number,
            "spread": 0.3 + 0.1 * number,
            "ramp_s": 10.0,
            "hold_s": hold_s,
            "failures": {"reset_waiting": 0.001} if number % 2 else {},
        }
        for number in range(KINDS)
    )
    results = ParquetResults(folder / "kinds")
    written = recordings.write_results(folder / "kinds", *options)
    return tuple(derivation.of_trial(results, recording) for recording in written)


def campaign(kinds: Sequence[TrialFindings], trials: int) -> Findings:
    """So many trials of frameworks at endpoints, repetition by repetition.

    Args:
        kinds: What they are copies of.
        trials: How many.
    """
    made = tuple(islice(_trials(kinds, trials), trials))
    compared = [ComparedTrial(one.recording, one.summary, one.level == "void") for one in made]
    return Findings(f"{trials} trials", "0.1.0", made, comparisons(compared))


def _trials(kinds: Sequence[TrialFindings], trials: int) -> Iterator[TrialFindings]:
    repetitions = 5 if trials > 3 * len(FRAMEWORKS) * 3 else 3
    endpoints = ENDPOINTS[: max(1, trials // len(FRAMEWORKS) // repetitions)]
    every = product(range(1, repetitions + 2), endpoints, enumerate(FRAMEWORKS))
    for order, (repetition, endpoint, (place, framework)) in enumerate(every):
        of = kinds[place % len(kinds)]
        factor = 1 + 0.4 * place + 0.01 * repetition
        yield _renamed(of, framework, endpoint, repetition, order, factor)


def _renamed(
    of: TrialFindings, framework: str, endpoint: str, repetition: int, order: int, factor: float
) -> TrialFindings:
    """A trial by another name, whose throughput is another."""
    trial = f"{framework}.{endpoint}.steady.{repetition}"
    names = {"framework": framework, "endpoint": endpoint, "repetition": repetition}
    machines = {"local": {"cores": [0, 1], "virtual": None}}
    recording = replace(of.recording, trial=trial, order=order, machines=machines, **names)
    summary = of.summary and replace(
        of.summary,
        trial=trial,
        throughput_per_s=of.summary.throughput_per_s * factor,
        goodput_per_s=of.summary.throughput_per_s * factor,
    )
    verdicts = tuple(replace(verdict, subject=trial) for verdict in of.verdicts)
    data = replace(of.data, recording=recording, summary=summary)
    return replace(of, data=data, verdicts=verdicts)


def _written(kinds: Sequence[TrialFindings], trials: int, into: Path) -> int:
    """Writes a page, prints its line, and returns its bytes."""
    findings = campaign(kinds, trials)
    begun_s = time.perf_counter()
    page = html.write(findings, into / str(trials))
    passed_s = time.perf_counter() - begun_s
    size = page.stat().st_size
    print(f"{trials} trials: {size / 1e6:.2f} MB of {TARGETS[trials] / 1e6:.0f}, {passed_s:.1f} s")
    return size


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--hold", type=float, default=50.0, help="seconds; default: %(default)s")
    parser.add_argument("--into", type=Path, help="folder that keeps the pages")
    return parser


if __name__ == "__main__":
    sys.exit(main())
