"""One load in one line: for people in a hurry, and as a row of CSV for spreadsheets."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from plimsoll import texts, wording
from plimsoll.aggregate import outcomes
from plimsoll.recording.ran import ran
from plimsoll.report import level_text, status_codes, trial_numbers
from plimsoll.report.load import failed, screen
from plimsoll.verdicts import catalogue

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.findings.trial import TrialFindings
    from plimsoll.recording import Recording
    from plimsoll.verdicts.verdict import Verdict

STATISTICS = ("p50", "p90", "p99", "max")


def line(found: TrialFindings, accepted: Sequence[str] = ()) -> str:
    """Level, who doubts, interruption, throughput, response times, failures, status codes.

    Args:
        found: What is known of the load's trial.
        accepted: Checks whose verdicts the exit code leaves out.
    """
    level, summary = level_text.marked(found.level), found.summary
    if summary is None:
        return f"{level}  {texts.line(found.recording.ending.message)}"
    time = summary.time(summary.latency_kind)
    times = [
        f"{screen.STATISTICS[name]} {trial_numbers.measured_time(time.of(name), found.recording)}"
        for name in STATISTICS
    ]
    how = failed.brief(found)
    failures = f"{wording.count(summary.failed)} failed{how and f' ({how})'}"
    rate = wording.per_second(summary.throughput_per_s)
    first = level + _doubts(found, accepted)
    parts = [
        first,
        _interruption(found.recording),
        rate,
        *times,
        _of_sent(found.recording),
        failures,
        status_codes.told(found),
    ]
    return "  ".join(filter(None, parts))


def _of_sent(recording: Recording) -> str:
    """How many requests the times are of, where some were never sent; empty where all were."""
    counts = recording.driver.outcomes if recording.driver else {}
    unsent = counts.get("not_sent", 0)
    if not unsent:
        return ""
    return f"(of the {wording.percent(1 - unsent / outcomes.ended(counts))} that were sent)"


def _interruption(recording: Recording) -> str:
    """How much of an interrupted load ran; empty where none was interrupted."""
    if not recording.is_interrupted:
        return ""
    return f"interrupted {ran(recording.stages, recording.load)}"


def _doubts(found: TrialFindings, accepted: Sequence[str]) -> str:
    """The checks that made it void, or doubtful, those accepted last; empty where it is sound."""
    worst = _worst(found)
    others, excepted = (
        wording.listed(
            [catalogue.title_of(one) for one in worst if (one.check in accepted) is way], 2
        )
        for way in (False, True)
    )
    parts = filter(None, (others, excepted and f"accepted: {excepted}"))
    return f" ({'; '.join(parts)})" if worst else ""


def _worst(found: TrialFindings) -> list[Verdict]:
    return [one for one in found.verdicts if one.is_doubting and one.level == found.level]


def _reasons(found: TrialFindings) -> Sequence[str]:
    """Names of what gave a load its level; none where it is sound."""
    if not found.has_ended_well:
        return (found.recording.ending.kind,)
    return tuple(dict.fromkeys(one.check for one in _worst(found)))


def as_csv(found: TrialFindings) -> str:
    """The row of `tables.SUMMARIES`; behind it level and reasons, status codes, failures.

    Reasons are the error that ended the load, or the checks of its level. Status codes and failures
    are those of the measurement window, as all other counts.

    Args:
        found: What is known of the load's trial.
    """
    summary = found.summary
    row = {} if summary is None else dict(summary.row)
    row["level"] = found.level
    row["reasons"] = " ".join(_reasons(found))
    row["statuses"] = " ".join(f"{one.status}={one.held}" for one in found.statuses)
    row["failures"] = failed.names(found)
    text = io.StringIO()
    writer = csv.DictWriter(text, list(row), lineterminator="\n")
    writer.writeheader()
    writer.writerow(row)
    return text.getvalue()
