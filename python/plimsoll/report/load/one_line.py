"""One load in one line: for people in a hurry, and as a row of CSV for spreadsheets."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from plimsoll import texts, wording
from plimsoll.report import words
from plimsoll.report.load import screen

if TYPE_CHECKING:
    from plimsoll.findings.trial import TrialFindings

STATISTICS = ("p50", "p90", "p99", "max")


def line(found: TrialFindings) -> str:
    """Level, throughput, response times, failures and status codes.

    Args:
        found: What is known of the load's trial.
    """
    level, summary = words.level_text(found.level), found.summary
    if summary is None:
        return f"{level}  {texts.line(found.recording.ending.message)}"
    time = summary.time(summary.latency_kind)
    times = [f"{screen.STATISTICS[name]} {wording.duration(time.of(name))}" for name in STATISTICS]
    failed = f"{wording.count(summary.failed)} failed"
    rate = wording.per_second(summary.throughput_per_s)
    return "  ".join(filter(None, [level, rate, *times, failed, screen.status_codes(found)]))


def as_csv(found: TrialFindings) -> str:
    """The row of `tables.SUMMARIES` with its header, and level and status codes behind it.

    Args:
        found: What is known of the load's trial.
    """
    summary = found.summary
    row = {} if summary is None else dict(summary.row)
    row["level"] = found.level
    row["statuses"] = " ".join(f"{one.status}={one.held}" for one in found.statuses)
    text = io.StringIO()
    writer = csv.DictWriter(text, list(row), lineterminator="\n")
    writer.writeheader()
    writer.writerow(row)
    return text.getvalue()
