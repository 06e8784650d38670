"""What a trial amounts to by the figures that a foreign driver printed.

A driver that keeps no record of its requests has printed all that can be known of them. What it
did not print is null. Its rate is given in complete responses, whatever it counts. Its times are
response times if they are from the intended start, else they stand where service times do. A time
of 0 is none: it is shorter than what the tool counts in, such as the whole milliseconds of ab.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import tables
from plimsoll.aggregate.outcomes import UNENDED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plimsoll.aggregate.query import Columns
    from plimsoll.recording import Driver, Recording
    from plimsoll.tool_output.reported import ReportedStatistics


def figures_of(recording: Recording) -> ReportedStatistics | None:
    """The figures that a trial is judged by; None where its rows say more."""
    driver = recording.driver
    return driver.figures if driver is not None and driver.uses_reported_statistics else None


def counted(figures: ReportedStatistics) -> Columns:
    """Counts, rates and times of the hold: columns of `tables.SUMMARIES`, the rest null."""
    columns: Columns = dict.fromkeys(column.name for column in tables.MEASURED)
    return columns | _counts(figures) | _rates(figures) | _times(figures)


def counted_beside(driver: Driver) -> Columns:
    """What the load generators of several hosts counted beside their figures, without rows.

    Connections stay null: checks on them need to know what became of each.

    Args:
        driver: All of them together; a tool that only prints figures counts nothing beside them.
    """
    if not driver.outcomes:
        return {}
    return {"unfinished": sum(driver.outcomes.get(name, 0) for name in UNENDED)}


def complete_responses(figures: ReportedStatistics) -> float:
    """Complete responses, right or wrong; 0 if unknown."""
    return max((figures.ended or 0.0) - figures.without_response, 0.0)


def right_responses(recording: Recording) -> int | None:
    """Successful responses of the whole load; of a tool that prints figures, those it printed.

    Args:
        recording: The recording.

    Returns:
        Their number; None where it is unknown.
    """
    figures, driver = figures_of(recording), recording.driver
    if figures is not None:
        return round(complete_responses(figures))
    return driver.outcomes.get("ok") if driver else None


def responses_of_life(recording: Recording, of_contract: int) -> int | None:
    """Successful responses of a server since its start.

    Args:
        recording: The recording.
        of_contract: Those of the contract checks.

    Returns:
        Those of the whole load, of loads that are not recorded, as the warm-up of a runtime, and of
        the contract checks; None where they are unknown.
    """
    of_load, server = right_responses(recording), recording.server
    if of_load is None:
        return None
    elsewhere = server.counted_elsewhere.get("right_responses", 0) if server else 0
    return of_load + elsewhere + of_contract


def _counts(figures: ReportedStatistics) -> Columns:
    completed, wrong = round(complete_responses(figures)), round(figures.wrong)
    received = figures.received_bytes
    return {
        "completed": completed,
        "ok": max(completed - wrong, 0),
        "failed": wrong + round(figures.without_response),
        "received_bytes": None if received is None else round(received),
    }


def _rates(figures: ReportedStatistics) -> Columns:
    """The printed rate, in responses and in successful responses."""
    completed = complete_responses(figures)
    per_s = (figures.throughput_per_s or 0.0) / figures.requests if figures.requests else 0.0
    return {
        "throughput_per_s": per_s * completed,
        "goodput_per_s": per_s * max(completed - figures.wrong, 0.0),
        "received_bytes_per_s": figures.received_per_s,
    }


def _times(figures: ReportedStatistics) -> Columns:
    """The printed times, from the intended start or from sending."""
    printed = "response_time" if figures.times == "response" else "service_time"
    columns = _statistics("response_time", figures.response_times_s)
    return columns | _statistics(printed, figures.times_s)


def _statistics(time: str, known_s: Mapping[str, float]) -> Columns:
    values_s = {name: known_s.get(name) for name in tables.STATISTICS}
    return {f"{time}_{name}_ns": value_s * 1e9 for name, value_s in values_s.items() if value_s}
