"""Laws: what must hold between figures of any tool; plain arithmetic on numbers.

Trials and published figures are judged by the same formulas, and these are they.

Source: J. D. C. Little, Operations Research 9(3), 1961; IEEE 802.3.
"""

from __future__ import annotations

from collections.abc import Sequence

PAYLOAD = 1448
"""Bytes of payload in a full packet at an MTU of 1,500, with TCP's time stamps."""

ON_THE_WIRE = 1538
"""Bytes that such a packet takes on Ethernet, with preamble, frame check and gap."""

BEYOND = 10.0
"""Requests that must lie beyond a percentile before it is meaningful."""

CLOCK_STEP_S = 1e-6
"""What wrk counts time in."""

EARLY_RATIO = 1e-3
"""Share of a run by which the threads of wrk may begin before its clock."""

Quantiles = Sequence[tuple[float, float]]
"""Shares of requests from 0 to 1, ascending, each with the time that they kept."""


def in_flight(rate_per_s: float, time_s: float) -> float:
    """Requests in flight on average: Little's law, L = λ · W.

    Args:
        rate_per_s: Requests that end per second.
        time_s: Mean time for which each was in flight.
    """
    return rate_per_s * time_s


def mean_time_s(in_flight: float, rate_per_s: float) -> float:
    """The mean time that so many requests in flight at such a rate take: W = L / λ."""
    return in_flight / rate_per_s


def least_per_s(in_flight: float, in_time_ratio: float, timeout_s: float) -> float:
    """The least rate at which requests can end when so many of them end within a limit.

    Args:
        in_flight: Requests in flight, all the time.
        in_time_ratio: Share of the requests that end within the limit.
        timeout_s: The limit.
    """
    return in_flight * in_time_ratio / timeout_s


def link_ratio(payload_bytes_per_s: float, link_bits_per_s: float) -> float:
    """The share of a link that a stream of full packets takes, with all that surrounds them."""
    return payload_bytes_per_s * 8 * ON_THE_WIRE / PAYLOAD / link_bits_per_s


def least_mean_s(quantiles: Quantiles) -> float:
    """The least mean that times with these quantiles can have.

    Requests between two quantiles took at least as long as the lower one; those below the
    lowest took no time at all.
    """
    ends = [share for share, _ in quantiles[1:]] + [1.0]
    return sum((end - share) * time for (share, time), end in zip(quantiles, ends, strict=True))


def most_mean_s(quantiles: Quantiles) -> float | None:
    """The greatest mean that times with these quantiles can have; None when it has no bound.

    It has none when the greatest time is not among them.
    """
    if not quantiles or quantiles[-1][0] < 1.0:
        return None
    return _most_up_to_last(quantiles)


def needed_max_s(mean_s: float, quantiles: Quantiles) -> float | None:
    """The least that the greatest time must be for a mean, when it is not published.

    What is above the highest quantile must have taken this long on average.

    Returns:
        None when it is published, or there are no quantiles.
    """
    if not quantiles or quantiles[-1][0] >= 1.0:
        return None
    rest = 1.0 - quantiles[-1][0]
    return (mean_s - _most_up_to_last(quantiles)) / rest


def _most_up_to_last(quantiles: Quantiles) -> float:
    starts = [0.0] + [share for share, _ in quantiles[:-1]]
    return sum(
        (share - start) * time for (share, time), start in zip(quantiles, starts, strict=True)
    )


def most_corrected_median_s(in_flight: float, rate_per_s: float, longest_s: float) -> float:
    """The greatest median that wrk can print of requests sent one at a time on each connection.

    wrk expects a request to take `E = connections / rate`. To a measured time `x` it adds `x − E`,
    `x − 2E`, … while they are above `E` (`stats_correct`). No connection is busy for longer than
    the run, so the measured times have a mean of `E` at most.

    Take a time `v > 2E`. A measured time `x` adds `a` rows from `v` on, and `b` below. If `x < v`,
    then `a − b ≤ −1`. If not, `a ≤ 1 + (x − v) / E` and `b ≥ ceil(v / E) − 2`, so `a − b` is below
    `x / E − 1`. The sum over all requests is negative: most rows, and the median, are below `v`.

    wrk rounds `E` down to microseconds, and its threads begin a little before its clock. So the
    mean may be `d · E`, with `d` slightly above 1. Up to the longest time `M`, `a − b` is below the
    chord from `x = 0`. Hence `v ≤ 2E + (1 − 1 / d) · M / 2`.

    Requests that are sent together are timed together, which makes `d` their number. Higher
    percentiles have no such bound: one stall may add as many rows as there were requests.

    Args:
        in_flight: Requests in flight, one on each connection.
        rate_per_s: Requests that end per second.
        longest_s: The longest measured time.

    Source: wg/wrk, `src/stats.c` and `src/wrk.c`; the bound is of this project.
    """
    expected_s = mean_time_s(in_flight, rate_per_s)
    uneven = min(CLOCK_STEP_S / expected_s + EARLY_RATIO, 1.0)
    return 2.0 * expected_s + uneven * longest_s / 2.0


def enough(share: float) -> float:
    """Requests that a percentile needs, so that ten of them lie beyond it.

    Args:
        share: The share of requests, below 1: 0.99 needs 1,000.
    """
    return BEYOND / (1.0 - share)


def left_to_wait_s(mean_s: float, stddev_s: float) -> float:
    """How long the requests in flight at an instant picked at random still take, on average.

    Long requests are met more often than short ones, because they are in flight longer, so that
    this is no half of the mean: E[T²] / 2 E[T].

    Args:
        mean_s: Mean time of all requests.
        stddev_s: Standard deviation of their times.

    Source: the residual life of a renewal process; W. Feller, An Introduction to Probability Theory
    and Its Applications, volume II, 1971, XI.4.
    """
    return (mean_s**2 + stddev_s**2) / (2.0 * mean_s)


def least_stddev_s(mean_s: float, longest_s: float, count: float) -> float:
    """The least standard deviation that times with such a mean and such a longest one can have."""
    return (longest_s - mean_s) / count**0.5
