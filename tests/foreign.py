"""Trials that a foreign driver put on, made of simulated ones and of what real tools printed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import recordings
from plimsoll.aggregate.trial import Tables
from plimsoll.recording import Driver
from plimsoll.tool_output import readers
from plimsoll.tool_output.reported import ReportedStatistics, Source

GOLDEN = Path(__file__).parent / "golden" / "published"

FIGURES = ReportedStatistics(
    source=Source("wrk.txt"),
    tool="wrk",
    endpoint="/2048",
    connections=20,
    timeout_s=10.0,
    duration_s=10.0,
    threads=2,
    requests=20_000.0,
    counts_failures=True,
    throughput_per_s=2000.0,
    counting="responses",
    times_s={"mean": 0.01, "p50": 0.009, "p99": 0.02, "max": 0.03},
    times="synthetic",
    timed="responses",
    received_bytes=43_000_000.0,
    received_per_s=4_300_000.0,
)
"""What wrk might have printed of a hold of ten seconds."""

OWN = ("in_flight_mean", "in_flight", "connections_open", "places_open", "connections_requested")
"""What only our own engine says of itself each second."""


def printed(name: str) -> ReportedStatistics:
    """What a real tool printed."""
    return readers.read((GOLDEN / name).read_text(), name)[0]


def trial(
    figures: ReportedStatistics | None = FIGURES,
    tool: str = "wrk",
    *,
    rows: bool = False,
    by_figures: bool = True,
    **options: Any,
) -> Tables:
    """A trial that a tool put on.

    Args:
        figures: What it printed.
        tool: Its name.
        rows: Whether it wrote down each request.
        by_figures: Whether its figures say more than its rows.
        options: Fields of `recordings.Options`.
    """
    made = recordings.simulate(**{"without": OWN, **options})
    driver = Driver(
        tool, "1.0", (1,), 2, "schedule", connections_requested=20,
        figures=figures, uses_reported_statistics=by_figures, has_connects=False,
        command=(tool, "-c20"), notes=("it is another tool",),
    )  # fmt: skip
    recording = replace(made.recording, driver=driver, driver_name=tool)
    if not rows:
        return Tables(recording, None, None, made.readings)
    return Tables(recording, made.requests, None, made.readings)
