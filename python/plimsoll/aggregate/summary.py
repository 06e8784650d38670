"""Summary: what a trial amounts to over its holds, as a typed value.

It is one row of `tables.SUMMARIES`: a time has its statistics as attributes of an attribute, so the
column `response_time_p99_ns` is `response_time.p99_ns`.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


@dataclass(frozen=True)
class TimeStatistics:
    """Statistics of one time, in nanoseconds; one for each name in `tables.STATISTICS`.

    None stands where the time is not known, or where there are too few values for a percentile.
    """

    mean_ns: float | None = None
    min_ns: float | None = None
    p25_ns: float | None = None
    p50_ns: float | None = None
    p75_ns: float | None = None
    p90_ns: float | None = None
    p95_ns: float | None = None
    p99_ns: float | None = None
    p999_ns: float | None = None
    p9999_ns: float | None = None
    max_ns: float | None = None

    def of(self, statistic: str) -> float | None:
        """One statistic, in nanoseconds.

        Args:
            statistic: Its name in `tables.STATISTICS`: `p99`.
        """
        return getattr(self, f"{statistic}_ns")


STATISTICS = tuple(one.name.removesuffix("_ns") for one in fields(TimeStatistics))
"""The same as `tables.STATISTICS`, which are loaded with Arrow."""


@dataclass(frozen=True)
class Summary:
    """One trial, its holds only; each attribute is documented in `tables.SUMMARIES`."""

    trial: str
    duration_s: float
    completed: int
    ok: int
    failed: int
    unfinished: int | None
    throughput_per_s: float
    goodput_per_s: float | None
    failure_ratio: float | None
    response_time: TimeStatistics
    service_time: TimeStatistics
    first_byte: TimeStatistics
    connect: TimeStatistics
    lag: TimeStatistics
    received_bytes: int | None
    received_bytes_per_s: float | None
    sent_bytes: int | None
    connections_requested: int | None
    connections_opened: int | None
    connections_with_response: int | None
    connections_refused: int | None
    connections_lost: int | None
    connections_peak_open: int | None
    open_connections: float | None
    in_flight: float | None
    server_busy_cores: float | None
    server_cpu_s_per_request: float | None
    requests_per_core_s: float | None
    server_peak_rss_bytes: float | None
    server_peak_pss_bytes: float | None
    rapl_power_w: float | None
    rapl_idle_power_w: float | None
    rapl_net_power_w: float | None
    rapl_net_power_low_w: float | None
    rapl_net_power_high_w: float | None
    rapl_j_per_ok: float | None
    rapl_net_j_per_ok: float | None
    wall_power_w: float | None
    wall_idle_power_w: float | None
    wall_net_power_w: float | None
    wall_net_power_low_w: float | None
    wall_net_power_high_w: float | None
    wall_j_per_ok: float | None
    wall_net_j_per_ok: float | None
    driver_busy_cores: float | None
    driver_peak_busy_ratio: float | None
    source: str

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> Summary:
        """A summary from a row of `tables.SUMMARIES`.

        Args:
            row: Each column by its name.

        Raises:
            KeyError: A column is missing.
        """
        values: dict[str, Any] = {
            one.name: TimeStatistics(*(row[f"{one.name}_{name}_ns"] for name in STATISTICS))
            if one.name in TIMES
            else row[one.name]
            for one in fields(cls)
        }
        return cls(**values)

    @cached_property
    def row(self) -> Mapping[str, Any]:
        """Its row of `tables.SUMMARIES`: each column by its name, in order."""
        return dict(self._columns())

    def value(self, column: str) -> float | None:
        """The number in a column of `tables.SUMMARIES`; None where it is not known.

        Raises:
            KeyError: There is no such column.
        """
        return self.row[column]

    def time(self, name: str) -> TimeStatistics:
        """The statistics of one of `TIMES`."""
        return cast("TimeStatistics", getattr(self, name))

    @property
    def latency_kind(self) -> str:
        """The latency that its responses have, by the function of this name."""
        return latency_kind(self.response_time.max_ns, self.service_time.max_ns)

    def _columns(self) -> Iterator[tuple[str, Any]]:
        for one in fields(self):
            value = getattr(self, one.name)
            if isinstance(value, TimeStatistics):
                yield from ((f"{one.name}_{name}_ns", value.of(name)) for name in STATISTICS)
            else:
                yield one.name, value


def latency_kind(response_max_ns: float | None, service_max_ns: float | None) -> str:
    """The latency that some responses have: `response_time`, or `service_time`.

    If the driver does not record when requests were due, the wait before they were sent is unknown.

    Args:
        response_max_ns: The longest response time; None when unknown.
        service_max_ns: The longest service time; None when unknown.
    """
    is_unknown = response_max_ns is None and service_max_ns is not None
    return "service_time" if is_unknown else "response_time"


TIMES = tuple(one.name for one in fields(Summary) if one.type == TimeStatistics.__name__)
"""The times of a summary, by the names they have in columns."""

COLUMNS = tuple(
    column
    for one in fields(Summary)
    for column in (
        [f"{one.name}_{name}_ns" for name in STATISTICS] if one.name in TIMES else [one.name]
    )
)
"""The same as the columns of `tables.MEASURED`."""
