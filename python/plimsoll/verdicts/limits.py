"""Limits: from which number on a check doubts, and from which on it voids.

This is the one table of them. A campaign may change any, as `[limits.<check>]` with
`<name>_doubtful` or `<name>_void`; a verdict then says so in its source. A limit whose source is
`first proposal` rests on no publication and no calibration yet.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from plimsoll.verdicts.verdict import Level

Changes = Mapping[str, Mapping[str, float]]
"""Check to name to value, as a campaign gives them and a recording keeps them."""

PROPOSAL = "first proposal"
"""Source of a limit that nobody published and no calibration gave."""


@dataclass(frozen=True)
class Limit:
    """One limit of one check.

    Attributes:
        check: Name of the check.
        name: What is limited, with its unit: `failed_ratio`.
        bad: Whether a number `above` or `below` the limit is bad; the limit itself is good.
        doubtful: Where doubt begins; None when nothing is merely doubtful.
        void: Where a number is void; None when nothing is.
        unit: Unit of both.
        meaning: What is measured, in one line.
        source: Where the numbers come from.
        changed: What the campaign changed: the default in words; empty when it changed nothing.
    """

    check: str
    name: str
    bad: Literal["above", "below"]
    doubtful: float | None
    void: float | None
    unit: str
    meaning: str
    source: str
    changed: str = ""

    @property
    def setting_names(self) -> tuple[str, str]:
        """The names under which a campaign changes it."""
        return f"{self.name}_doubtful", f"{self.name}_void"

    def level(self, measured: float | None) -> Level:
        """The level of a number; what could not be measured is doubtful."""
        if measured is None or measured != measured:  # noqa: PLR0124
            return "doubtful"
        if _is_beyond(measured, self.void, self.bad):
            return "void"
        return "doubtful" if _is_beyond(measured, self.doubtful, self.bad) else "sound"

    def decisive(self, level: Level) -> float | None:
        """The value that decided a level; for a sound one the first that it held."""
        first, last = self.doubtful, self.void
        if level == "void":
            return last
        return last if first is None else first


LIMITS = (
    Limit(
        "littles_law",
        "accounted_ratio",
        "below",
        0.95,
        0.85,
        "ratio",
        "requests in flight by the rows / by the driver's clock",
        PROPOSAL,
    ),
    Limit(
        "littles_law",
        "excess_ratio",
        "above",
        None,
        1.02,
        "ratio",
        "requests in flight by the rows / by the driver's clock",
        PROPOSAL,
    ),
    Limit(
        "littles_law",
        "occupied_ratio",
        "below",
        0.95,
        0.85,
        "ratio",
        "closed model: requests in flight, or waiting to be sent / places of open connections",
        PROPOSAL,
    ),
    Limit(
        "connections_as_asked",
        "open_ratio",
        "below",
        0.999,
        0.99,
        "ratio",
        "mean connections open in the hold / connections asked for",
        PROPOSAL + "; a thousandth for readings that fall on a connection being opened again",
    ),
    Limit(
        "connections_as_asked",
        "unanswered_ratio",
        "above",
        0.0,
        0.01,
        "ratio",
        "opened connections that had time for an answer and got no byte of one / opened",
        PROPOSAL,
    ),
    Limit(
        "evenly_served",
        "starved_ratio",
        "above",
        0.0,
        0.01,
        "ratio",
        "connections open in the hold without one complete answer in it / open in the hold",
        PROPOSAL,
    ),
    Limit(
        "evenly_served",
        "fairness",
        "below",
        0.9,
        0.5,
        "Jain's index",
        "how evenly answers fell on connections; 1 is all alike",
        PROPOSAL,
    ),
    Limit(
        "scaling",
        "fall_ratio",
        "above",
        0.1,
        None,
        "ratio",
        "fall of throughput from one level of connections to the next while fewer of them are used",
        PROPOSAL,
    ),
    Limit(
        "scalability_law",
        "efficiency",
        "above",
        1.5,
        None,
        "ratio",
        "throughput per connection at a level / the best at a lower one",
        PROPOSAL + "; 1 by the law, more where a ramp begins cold",
    ),
    Limit(
        "scalability_law",
        "r_squared",
        "below",
        0.95,
        None,
        "ratio",
        "variance of throughput over levels of connections that the law explains / all of it",
        PROPOSAL,
    ),
    Limit(
        "scalability_law",
        "missed_ratio",
        "above",
        0.1,
        None,
        "ratio",
        "greatest difference between a level and the law / the level; within it the law fits",
        PROPOSAL,
    ),
    Limit(
        "scalability_law",
        "loads_efficiency",
        "above",
        1.2,
        None,
        "ratio",
        "throughput per connection of a load / that of a load with fewer of them, each warmed up",
        PROPOSAL + "; 1 by the law; not void, for no single trial need be wrong",
    ),
    Limit(
        "arrivals_as_asked",
        "rate_difference",
        "above",
        0.01,
        0.05,
        "ratio",
        "difference between requests sent and asked for in the holds / asked for",
        PROPOSAL,
    ),
    Limit(
        "arrivals_as_asked",
        "lag_ratio",
        "above",
        0.1,
        1.0,
        "ratio",
        "99th percentile of sent − due / median service time or 10 ms, the longer",
        PROPOSAL,
    ),
    Limit(
        "mix_as_intended",
        "share_difference",
        "above",
        0.01,
        0.03,
        "ratio",
        "greatest difference of a kind's share from the one asked for, beyond chance",
        PROPOSAL,
    ),
    Limit(
        "timeout_floor",
        "ended_ratio",
        "below",
        None,
        1.0,
        "ratio",
        "(requests ended + in flight) · time limit / (in flight · length of the hold)",
        "no request is in flight for longer than its time limit",
    ),
    Limit(
        "round_trip_floor",
        "floor_ratio",
        "below",
        None,
        0.9,
        "ratio",
        "least service time / least round trip by the kernel",
        PROPOSAL,
    ),
    Limit(
        "link_headroom",
        "used_ratio",
        "above",
        0.85,
        0.95,
        "ratio",
        "bytes of the busier direction on the wire / what the link carries",
        PROPOSAL,
    ),
    Limit(
        "ceiling_explained",
        "fullest_ratio",
        "below",
        0.8,
        None,
        "ratio",
        "fullest resource of all that can be read",
        PROPOSAL,
    ),
    Limit(
        "both_ends_agree",
        "unseen_ratio",
        "above",
        0.001,
        0.01,
        "ratio",
        "what the driver counted and the kernel, or the server, did not / what the driver counted",
        PROPOSAL,
    ),
    Limit(
        "both_ends_agree",
        "uncounted_ratio",
        "above",
        0.001,
        0.01,
        "ratio",
        "requests that the server itself counted and the driver did not / what the server counted",
        PROPOSAL,
    ),
    Limit(
        "both_ends_agree",
        "sockets_difference",
        "above",
        0.01,
        0.05,
        "ratio",
        "difference between connections by the kernel and by the driver / the latter",
        PROPOSAL,
    ),
    Limit(
        "segments_lost",
        "retransmitted_ratio",
        "above",
        0.001,
        None,
        "ratio",
        "segments that the host sent again in the holds / segments sent",
        PROPOSAL,
    ),
    Limit(
        "segments_lost",
        "broken_ratio",
        "above",
        0.001,
        None,
        "ratio",
        "connections that the host saw reset, or not opened, in the holds / segments sent",
        PROPOSAL,
    ),
    Limit(
        "ports_and_files",
        "failed_ratio",
        "above",
        0.0,
        0.01,
        "ratio",
        "requests for which no port or file was left / all requests",
        PROPOSAL,
    ),
    Limit(
        "ports_and_files",
        "files_ratio",
        "above",
        0.95,
        None,
        "ratio",
        "open files of the fullest process / the most it may open",
        PROPOSAL,
    ),
    Limit(
        "ports_and_files",
        "ports_ratio",
        "above",
        0.8,
        None,
        "ratio",
        "connections in TIME_WAIT / ports towards the server",
        PROPOSAL,
    ),
    Limit(
        "memory_sufficed",
        "swapped_per_s",
        "above",
        10.0,
        None,
        "pages/s",
        "pages that the host swapped in or out in the holds",
        PROPOSAL,
    ),
    Limit(
        "memory_sufficed",
        "major_faults_per_s",
        "above",
        10.0,
        None,
        "faults/s",
        "page faults of the server that needed a disk, in the holds",
        PROPOSAL,
    ),
    Limit(
        "memory_sufficed",
        "waited_ratio",
        "above",
        0.05,
        None,
        "ratio",
        "share of the holds in which some task waited for memory",
        PROPOSAL,
    ),
    Limit(
        "memory_sufficed",
        "kills",
        "above",
        0.0,
        None,
        "processes",
        "processes that the kernel killed for want of memory during the load",
        "a kill is never without effect",
    ),
    Limit(
        "host_kept_pace",
        "withheld_ratio",
        "above",
        0.001,
        0.05,
        "ratio",
        "share of the holds for which a quota stopped a control group of Plimsoll",
        PROPOSAL,
    ),
    Limit(
        "host_kept_pace",
        "disk_ratio",
        "above",
        0.2,
        None,
        "ratio",
        "share of the holds in which some task waited for a disk",
        PROPOSAL,
    ),
    Limit(
        "host_kept_pace",
        "frequency_fall",
        "above",
        0.1,
        None,
        "ratio",
        "fall of the mean frequency of the cores within the holds",
        PROPOSAL,
    ),
    Limit(
        "host_kept_pace",
        "throttles",
        "above",
        0.0,
        None,
        "times",
        "times that a core was slowed by its heat in the holds",
        "a core that was slowed is another core",
    ),
    Limit(
        "answers_right",
        "contract_problems",
        "above",
        None,
        0.0,
        "problems",
        "what the contract check found wrong before and after the load",
        "a server that does not do the work is not measured",
    ),
    Limit(
        "answers_right",
        "wrong_ratio",
        "above",
        0.0,
        0.01,
        "ratio",
        "complete answers of the hold that were not as expected / complete answers of the hold",
        PROPOSAL,
    ),
    Limit(
        "failures_explained",
        "failed_ratio",
        "above",
        0.001,
        0.05,
        "ratio",
        "requests of the hold without a complete answer / requests that ended in the hold",
        PROPOSAL,
    ),
    Limit(
        "failures_explained",
        "unexplained_ratio",
        "above",
        0.0,
        0.001,
        "ratio",
        "failures without a kind, or without the error number they must have / all requests",
        PROPOSAL,
    ),
    Limit(
        "backlog",
        "turned_away",
        "above",
        0.0,
        None,
        "times",
        "packets of handshakes that full listen queues of the server turned away during the load",
        "what is turned away is repeated after a second",
    ),
    Limit(
        "backlog",
        "turned_away_ratio",
        "above",
        None,
        0.01,
        "ratio",
        "the same in the hold / connections of the load or attempts of the hold, the greater",
        PROPOSAL,
    ),
    Limit(
        "backlog",
        "cookies",
        "above",
        0.0,
        None,
        "cookies",
        "SYN cookies that the host sent during the load",
        "they are sent when a queue of half-open connections is full",
    ),
    Limit(
        "backlog",
        "queue_ratio",
        "above",
        0.8,
        None,
        "ratio",
        "longest listen queue seen / the most that may wait",
        PROPOSAL,
    ),
    Limit(
        "driver_headroom",
        "driver_busy_ratio",
        "above",
        0.8,
        0.9,
        "ratio",
        "busiest second of the busiest core of the driver",
        "load tools warn of themselves from 80 % (Hyperfoil) and 90 % (Locust) on",
    ),
    Limit(
        "driver_headroom",
        "server_busy_ratio",
        "below",
        0.95,
        None,
        "ratio",
        "cores the server kept busy in the hold / cores it was given; at its limit from here on",
        PROPOSAL,
    ),
    Limit(
        "driver_headroom",
        "ceiling_ratio",
        "above",
        0.8,
        None,
        "ratio",
        "throughput / what the driver can do at most, by `plimsoll calibrate`",
        "as for its busiest second; never void, for a busy driver spends less on a request",
    ),
    Limit(
        "driver_headroom",
        "machine_busy_ratio",
        "above",
        0.95,
        None,
        "ratio",
        "busiest second of all cores, where server and driver share them",
        PROPOSAL,
    ),
    Limit(
        "driver_headroom",
        "longest_pause_s",
        "above",
        0.02,
        0.1,
        "s",
        "longest stop of a thread of the driver",
        PROPOSAL,
    ),
    Limit(
        "undisturbed",
        "other_cores",
        "above",
        0.05,
        0.25,
        "cores",
        "cores that other programs took from server and driver in the hold, at least",
        PROPOSAL,
    ),
    Limit(
        "undisturbed",
        "stolen_ratio",
        "above",
        0.01,
        0.05,
        "ratio",
        "time that the host of a virtual machine withheld / time of all its cores",
        PROPOSAL,
    ),
    Limit(
        "cpu_bounds",
        "drift_ratio",
        "above",
        0.2,
        None,
        "ratio",
        "rise of the server's processor time for an answer above the least at lower levels",
        PROPOSAL,
    ),
    Limit(
        "clocks_agree",
        "offset_s",
        "above",
        0.005,
        0.05,
        "s",
        "greatest offset between the clock of a host and that of the first one",
        PROPOSAL,
    ),
    Limit(
        "energy_net",
        "deviations",
        "below",
        3.0,
        None,
        "deviations",
        "power above that of the idle host / standard deviation of its single seconds",
        "as of a usual test of a mean",
    ),
    Limit(
        "energy_net",
        "idle_s",
        "below",
        30.0,
        None,
        "s",
        "seconds for which the idle host was measured, before or after, whichever is less",
        PROPOSAL,
    ),
    Limit(
        "conservation",
        "rows_lost",
        "above",
        None,
        0.0,
        "rows",
        "rows that the recorder could not keep",
        "every request is a row",
    ),
    Limit(
        "conservation",
        "rows_differ",
        "above",
        None,
        0.0,
        "rows",
        "rows more or less than the driver's own counters say",
        "every request is a row",
    ),
    Limit(
        "conservation",
        "rows_impossible",
        "above",
        None,
        0.0,
        "rows",
        "rows whose instants run backwards, or of unknown outcome",
        "an answer comes after its request",
    ),
    Limit(
        "steady",
        "trend_ratio",
        "above",
        0.1,
        0.5,
        "ratio",
        "change of throughput from the beginning to the end of the hold / its median",
        PROPOSAL,
    ),
    Limit(
        "steady",
        "silent_ratio",
        "above",
        0.0,
        0.02,
        "ratio",
        "whole seconds of the holds without an answer / whole seconds of the holds",
        PROPOSAL,
    ),
    Limit(
        "ran_to_its_end",
        "short_ratio",
        "above",
        0.01,
        0.05,
        "ratio",
        "difference between the length of the holds and what was asked for / what was asked for",
        PROPOSAL,
    ),
    # Checks on a campaign.
    Limit(
        "drivers_agree",
        "apart_ratio",
        "above",
        0.1,
        None,
        "ratio",
        "throughput by one driver / that by our engine, or the other way round, less 1",
        PROPOSAL + "; drivers that share a machine with the server take cores from it",
    ),
    Limit(
        "common_ceiling",
        "servers",
        "above",
        2.0,
        None,
        "servers",
        "different servers at one number at the top, none of them at its own limit",
        PROPOSAL,
    ),
    Limit(
        "common_ceiling",
        "within_ratio",
        "above",
        0.02,
        None,
        "ratio",
        "numbers no further apart than this are one number",
        "as for ranks: a smaller difference is no difference",
    ),
    Limit(
        "common_ceiling",
        "server_busy_ratio",
        "below",
        0.9,
        None,
        "ratio",
        "cores a server kept busy / cores it was given; at its own limit from here on",
        PROPOSAL,
    ),
    Limit(
        "payload_insensitive",
        "endpoints",
        "above",
        3.0,
        None,
        "endpoints",
        "endpoints at one number, their answers ten times as long and more, no core at its limit",
        PROPOSAL,
    ),
    Limit(
        "payload_insensitive",
        "within_ratio",
        "above",
        0.02,
        None,
        "ratio",
        "numbers no further apart than this are one number",
        "as for ranks: a smaller difference is no difference",
    ),
    Limit(
        "payload_insensitive",
        "server_busy_ratio",
        "below",
        0.9,
        None,
        "ratio",
        "cores a server kept busy / cores it was given; at its own limit from here on",
        PROPOSAL,
    ),
    Limit(
        "identical_series",
        "pairs",
        "above",
        0.0,
        None,
        "pairs",
        "pairs of trials of different servers with the same answers in every second",
        PROPOSAL,
    ),
    Limit(
        "identical_series",
        "within_ratio",
        "above",
        0.005,
        None,
        "ratio",
        "seconds no further apart than this are the same",
        PROPOSAL,
    ),
    Limit(
        "reference_drift",
        "drift_ratio",
        "above",
        0.02,
        0.05,
        "ratio",
        "the reference server in a block against its median over the blocks",
        PROPOSAL,
    ),
    Limit(
        "order_neutral",
        "drift_ratio",
        "above",
        0.02,
        None,
        "ratio",
        "change of the same servers from the first trial of a campaign to the last",
        "as for ranks: a smaller difference is no difference",
    ),
    Limit(
        "repetitions_agree",
        "repetitions",
        "below",
        3.0,
        None,
        "repetitions",
        "fewest repetitions that count, of any framework at any endpoint and load",
        "two numbers have a difference, and no spread",
    ),
    Limit(
        "repetitions_agree",
        "spread_ratio",
        "above",
        0.05,
        None,
        "ratio",
        "standard deviation over repetitions / their mean, of the entry where it is greatest",
        PROPOSAL,
    ),
    Limit(
        "repetitions_agree",
        "claim_ratio",
        "above",
        1.0,
        None,
        "ratio",
        "standard deviation over repetitions / the difference by which an entry is ahead of the "
        "next",
        PROPOSAL,
    ),
    Limit(
        "repetitions_agree",
        "inconsistent",
        "above",
        0.0,
        None,
        "entries",
        "entries that were steady in one repetition and not in another",
        "as in E. Barrett et al., OOPSLA 2017",
    ),
    # Steady state.
    Limit(
        "steady",
        "start_ratio",
        "above",
        0.02,
        None,
        "ratio",
        "mean throughput of the hold against that of its steady state",
        "as for ranks: a smaller difference is no difference",
    ),
    Limit(
        "steady",
        "levels_ratio",
        "above",
        0.1,
        None,
        "ratio",
        "greatest difference between levels of a hold without steady state / its mean",
        PROPOSAL,
    ),
    Limit(
        "steady",
        "times_start_ratio",
        "above",
        0.1,
        None,
        "ratio",
        "pace by the median time of the hold against that of its steady state",
        PROPOSAL + "; wider than throughput, for a median may step where load hardly changes",
    ),
    Limit(
        "steady",
        "times_levels_ratio",
        "above",
        0.2,
        None,
        "ratio",
        "greatest difference between levels of the median time without steady state / its mean",
        PROPOSAL + "; wider than throughput, for a median may step where load hardly changes",
    ),
    # Checks on published figures; those that trials share stand above.
    Limit(
        "quantile_bounds",
        "upper_ratio",
        "above",
        1.0,
        1.02,
        "ratio",
        "mean time by connections and throughput / the most that percentiles allow",
        "a bound; 2 % for figures that were rounded",
    ),
    Limit(
        "quantile_bounds",
        "lower_ratio",
        "below",
        1.0,
        0.98,
        "ratio",
        "mean time by connections and throughput / the least that percentiles allow",
        "a bound; 2 % for figures that were rounded",
    ),
    Limit(
        "quantile_bounds",
        "needed_max_ratio",
        "above",
        10.0,
        None,
        "ratio",
        "what the unpublished maximum must be at least / the highest percentile published",
        PROPOSAL,
    ),
    Limit(
        "timeout_floor",
        "floor_ratio",
        "below",
        None,
        1.0,
        "ratio",
        "published throughput / the least that time limit and share in time demand",
        "a bound",
    ),
    Limit(
        "link_headroom",
        "link_ratio",
        "above",
        0.85,
        0.95,
        "ratio",
        "published bytes per second with the overhead of packets / speed of the link",
        PROPOSAL,
    ),
    Limit(
        "cpu_bounds",
        "server_ratio",
        "above",
        None,
        1.02,
        "ratio",
        "cores the server kept busy / cores it had",
        "no more than there are; 2 % for figures that were rounded",
    ),
    Limit(
        "cpu_bounds",
        "driver_ratio",
        "above",
        0.8,
        0.9,
        "ratio",
        "cores the load tool kept busy / cores it had",
        "load tools warn of themselves from 80 % (Hyperfoil) and 90 % (Locust) on",
    ),
    Limit(
        "percentile_order",
        "disorder",
        "above",
        None,
        0.0,
        "pairs",
        "times that are shorter than one that they cannot be shorter than",
        "the definition of a quantile",
    ),
    Limit(
        "own_counts",
        "apart_ratio",
        "above",
        0.01,
        0.05,
        "ratio",
        "difference between rate × duration and the tool's own count / the greater",
        PROPOSAL,
    ),
    Limit(
        "own_counts",
        "threads_apart_ratio",
        "above",
        0.1,
        None,
        "ratio",
        "rate of all threads by the mean of one against that by the whole: difference / greater",
        PROPOSAL,
    ),
    Limit(
        "failures_counted",
        "failed_ratio",
        "above",
        0.001,
        0.05,
        "ratio",
        "requests without a right answer / requests that ended",
        PROPOSAL,
    ),
    Limit(
        "sample_size",
        "samples_ratio",
        "below",
        1.0,
        None,
        "ratio",
        "requests behind the highest percentile up to p99 / requests it needs",
        "ten requests beyond a percentile, a usual rule",
    ),
    Limit(
        "hidden_waits",
        "left_ratio",
        "above",
        10.0,
        None,
        "ratio",
        "time that requests in flight at a random instant still take / mean time of a request",
        PROPOSAL + "; times of steady servers stay below 5",
    ),
    Limit(
        "one_length",
        "apart_ratio",
        "above",
        0.02,
        None,
        "ratio",
        "longest answer - shortest / longest, with their heads",
        PROPOSAL + "; 2 % for heads that differ",
    ),
    Limit(
        "labels",
        "equal_ratio",
        "above",
        0.2,
        0.5,
        "ratio",
        "results with two equal times that have no reason to be equal / results with such times",
        PROPOSAL,
    ),
    Limit(
        "common_ceiling",
        "results",
        "above",
        2.0,
        None,
        "results",
        "best results of different servers at different endpoints at one number",
        PROPOSAL,
    ),
    Limit(
        "answer_lengths",
        "apart_ratio",
        "above",
        0.01,
        None,
        "ratio",
        "length of answers by bytes and requests per second, against the median of its runs",
        PROPOSAL + "; 1 % for figures that were rounded",
    ),
    Limit(
        "repeated_numbers",
        "pairs",
        "above",
        0.0,
        None,
        "pairs",
        "pairs of measurements of one server with the same throughput to the last digit",
        PROPOSAL,
    ),
)
"""Every limit of every check."""


@dataclass(frozen=True)
class Limits:
    """The limits of one trial.

    Attributes:
        changes: What its campaign changed.
    """

    changes: Changes = field(default_factory=dict[str, dict[str, float]])

    def of(self, check: str, name: str) -> Limit:
        """One limit, as the campaign has it.

        Raises:
            KeyError: There is no such limit.
        """
        found = [limit for limit in LIMITS if (limit.check, limit.name) == (check, name)]
        if not found:
            raise KeyError(f"{check}.{name}")
        return _changed(found[0], self.changes.get(check, {}))

    @property
    def changed(self) -> tuple[Limit, ...]:
        """The limits that the campaign changed, in the order of the table."""
        limits = (self.of(limit.check, limit.name) for limit in LIMITS)
        return tuple(limit for limit in limits if limit.changed)


def problems(changes: Changes) -> tuple[str, ...]:
    """What is wrong with changes of limits, one sentence each.

    Args:
        changes: Check to name to value.
    """
    names = {f"{limit.check}.{name}" for limit in LIMITS for name in limit.setting_names}
    given = [f"{check}.{name}" for check, values in changes.items() for name in values]
    unknown = [_unknown(name, names) for name in given if name not in names]
    crossed = [
        f"limit `{limit.check}.{limit.name}`: `doubtful` ({limit.doubtful:g}) lies beyond"
        f" `void` ({limit.void:g})"
        for limit in Limits(changes).changed
        if limit.doubtful is not None
        and limit.void is not None
        and limit.doubtful != limit.void
        and _is_beyond(limit.doubtful, limit.void, limit.bad)
    ]
    return (*unknown, *crossed)


def _unknown(name: str, names: set[str]) -> str:
    near = difflib.get_close_matches(name, sorted(names), n=1)
    return f"no limit `{name}`" + (f"; did you mean `{near[0]}`?" if near else "")


def _changed(limit: Limit, values: Mapping[str, float]) -> Limit:
    doubtful_name, void_name = limit.setting_names
    if doubtful_name not in values and void_name not in values:
        return limit
    return replace(
        limit,
        doubtful=values.get(doubtful_name, limit.doubtful),
        void=values.get(void_name, limit.void),
        changed=f"by default doubtful {_or_never(limit.doubtful)}, void {_or_never(limit.void)}",
    )


def _or_never(value: float | None) -> str:
    return "never" if value is None else f"{value:g}"


def _is_beyond(measured: float, limit: float | None, bad: str) -> bool:
    if limit is None:
        return False
    return measured > limit if bad == "above" else measured < limit
