"""Servers with a known line: queues with one server, simulated, and what theory says of them."""

from __future__ import annotations

import math
import random
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, localcontext
from functools import cache
from typing import Any

import numpy as np
from scipy.stats import poisson

from plimsoll.load_line import goal, search
from plimsoll.load_line.counting import DueRequests, tried
from plimsoll.load_line.goal import SearchGoal
from plimsoll.load_line.limits import SENDING, LineLimit, errors, latency
from plimsoll.load_line.search import Searched
from plimsoll.load_line.tries import Try

Array = np.ndarray[Any, np.dtype[np.float64]]
Mask = np.ndarray[Any, np.dtype[np.bool_]]
Services = Callable[[np.random.Generator, Array], Array]
"""Service times, in seconds, of requests that arrive at some instants of the search."""

BESIDE_S = 0.6
"""What starting and counting takes, for each try."""

RARE = 1e-9
"""Numbers of requests inside that are less probable are left out."""

SETTLED = 1e-5
"""A queue is that of long runs when a further cycle has no greater share of late requests."""


@dataclass
class Queue:
    """One worker, first come, first served, with Poisson arrivals; time passes as it is tried.

    Attributes:
        services: Gives service times.
        limits: What is judged.
        luck: Draws arrivals and service times.
        vacation: Length and period of stops, in seconds; zeros for none.
        fails: Gives the share of requests that fail at a rate.
        unsent: Gives the share of requests that are not sent at a rate.
        places: Requests that may wait or be served; more are refused. 0 for any number.
        now_s: Seconds since the beginning.
        rates: Every rate that was tried.
    """

    services: Services
    limits: Sequence[LineLimit]
    luck: np.random.Generator
    vacation: tuple[float, float] = (0.0, 0.0)
    fails: Callable[[float], float] = lambda _rate: 0.0
    unsent: Callable[[float], float] = lambda _rate: 0.0
    places: int = 0
    now_s: float = 0.0
    rates: list[float] = field(default_factory=list)

    def clock_s(self) -> float:
        return self.now_s

    def measure(self, rate_per_s: float, hold_s: float) -> Try:
        self.rates.append(rate_per_s)
        warm_up_s = goal.warm_up_s(hold_s)
        length_s = warm_up_s + hold_s
        count = self.luck.poisson(rate_per_s * length_s)
        due_s = np.sort(self.luck.uniform(0.0, length_s, count))
        services = self.services(self.luck, self.now_s + due_s)
        done_s, refused = self._ended(due_s, services)
        held = due_s >= warm_up_s
        due_ns, ends_ns = due_s[held] * 1e9, np.minimum(done_s[held], length_s) * 1e9
        failed = refused[held] | (self.luck.uniform(size=len(due_ns)) < self.fails(rate_per_s))
        sent = _all_but(len(due_ns), self.unsent(rate_per_s))
        ends_ns[~sent], ends_ns[refused[held]] = length_s * 1e9, np.nan
        ended = sent & (done_s[held] < length_s)
        self.now_s += length_s + BESIDE_S
        rows = DueRequests(due_ns, ends_ns - due_ns, sent, ended, failed & ended)
        window_ns = (warm_up_s * 1e9, length_s * 1e9)
        return tried(rows, window_ns, rate_per_s, self.limits)

    def _ended(self, due_s: Array, services: Array) -> tuple[Array, np.ndarray[Any, Any]]:
        """When each request ends, and which are refused, at once."""
        if not self.places:
            return self._done(due_s, services), np.zeros(len(due_s), np.bool_)
        ends, refused = due_s.copy(), np.zeros(len(due_s), np.bool_)
        inside: deque[float] = deque()
        for number, (at_s, service_s) in enumerate(
            zip(due_s.tolist(), services.tolist(), strict=True)
        ):
            while inside and inside[0] <= at_s:
                inside.popleft()
            if len(inside) == self.places:
                refused[number] = True
                continue
            inside.append(max(at_s, inside[-1] if inside else at_s) + service_s)
            ends[number] = inside[-1]
        return ends, refused

    def _done(self, due_s: Array, services: Array) -> Array:
        """When each response is complete; the recursion runs in time without the stops."""
        stop_s, period_s = self.vacation
        if not stop_s:
            return lindley(due_s, services)
        work_s = period_s - stop_s
        since = (self.now_s + due_s) % period_s
        worked = np.floor((self.now_s + due_s) / period_s) * work_s + np.minimum(since, work_s)
        done = lindley(worked, services)
        return np.floor(done / work_s) * period_s + done % work_s - self.now_s


def _all_but(count: int, share: float) -> Mask:
    """All of so many but an evenly spaced share."""
    passed = np.floor(np.arange(count + 1) * share)
    return passed[1:] == passed[:-1]


def lindley(due_s: Array, services: Array) -> Array:
    """When each response is complete, of requests that are served in turn (Lindley's recursion)."""
    ends = np.cumsum(services)
    return ends + np.maximum.accumulate(due_s - ends + services)


def fixed(service_s: float) -> Services:
    return lambda _luck, due: np.full(len(due), service_s)


def exponential(service_s: float) -> Services:
    return lambda luck, due: luck.exponential(service_s, len(due))


def mm1_quantile_s(share: float, rate_per_s: float, service_s: float) -> float:
    """Response time of M/M/1: exponential, with the mean 1 / (μ − λ).

    Source:
        L. Kleinrock, *Queueing Systems I*, 1975, section 5.7.
    """
    return -math.log(1 - share) / (1 / service_s - rate_per_s)


def mm1_within(most_s: float, rate_per_s: float, service_s: float) -> float:
    """Share of the requests that take no longer."""
    return 1 - math.exp(-(1 / service_s - rate_per_s) * most_s)


def mm1_refused(load: float, places: int) -> float:
    """Share of the requests that M/M/1 with so many places refuses."""
    return (1 - load) * load**places / (1 - load ** (places + 1))


def md1_quantile_s(share: float, rate_per_s: float, service_s: float) -> float:
    """Response time of M/D/1, by the distribution of waits and bisection.

    Source:
        A. K. Erlang, Nyt Tidsskrift for Matematik B 20, 1909; for several servers C. D. Crommelin,
        Post Office Electrical Engineers' Journal 25, 1932, and G. J. Franx, Operations Research
        Letters 29, 2001.
    """
    load = rate_per_s * service_s
    low, high = 0.0, 400.0
    while high - low > 1e-6:
        middle = (low + high) / 2
        low, high = (low, middle) if _md1_waits(middle, load) >= share else (middle, high)
    return (high + 1) * service_s


def md1_within(most_s: float, rate_per_s: float, service_s: float) -> float:
    """Share of the requests that take no longer; at least one service time."""
    return _md1_waits(most_s / service_s - 1, rate_per_s * service_s)


def _md1_waits(length: float, load: float) -> float:
    """Share of requests that wait no longer than so many service times.

    The terms of the sum alternate and are far larger than the sum, so they have 400 digits. An
    exponential of so many takes long: that of each step follows from the one before.
    """
    with localcontext() as context:
        context.prec = 400
        share, wait = Decimal(load), Decimal(length)
        summed, factorial = Decimal(0), Decimal(1)
        growth, each = (share * wait).exp(), (-share).exp()
        for step in range(math.floor(length) + 1):
            factorial *= max(step, 1)
            past = share * (wait - step)
            summed += ((-past) ** step if step else 1) / factorial * growth
            growth *= each
        return float((1 - share) * summed)


@cache
def line_beside_stops(
    limit: LineLimit, service_s: float, vacation: tuple[float, float], within: float
) -> float:
    """Line of a server that stops and takes equally long for each request, to a share of it.

    Args:
        limit: The limit of latency; a whole number of service times.
        service_s: Service time of each request.
        vacation: Length and period of stops, whole numbers of service times.
        within: Greatest distance from the line, as a share of it.
    """
    low, high = 0.3 / service_s, 1 / service_s
    while high / low > 1 + within:
        middle = (low * high) ** 0.5
        is_inside = _is_met_beside_stops(limit, middle * service_s, service_s, vacation)
        low, high = (middle, high) if is_inside else (low, middle)
    return low


def _is_met_beside_stops(
    limit: LineLimit, load: float, service_s: float, vacation: tuple[float, float]
) -> bool:
    """Whether no more requests than allowed take longer than the limit.

    One service time later those are inside who were, but for the one that was served, and those who
    arrived. A request is in time if fewer are before it than are served until its limit; Poisson
    arrivals see the averages of time. Each cycle of work and stop ends with a longer queue than
    the one before, until the queue is that of long runs.

    Source:
        C. D. Crommelin, Post Office Electrical Engineers' Journal 25, 1932.
    """
    stop, period = (round(length_s / service_s) for length_s in vacation)
    serves = np.arange(2 * period) % period < period - stop
    done = np.concatenate(([0], np.cumsum(serves)))
    in_time = done[round((limit.most_ns or 0) / 1e9 / service_s) :][:period] - done[:period]
    arriving = poisson.pmf(np.arange(30), load)
    arriving = arriving[arriving > RARE]
    inside = np.array([1.0, 0.0])
    before, late = -1.0, 0.0
    while before + SETTLED < late <= limit.allowed:
        before, late = late, 0.0
        for is_serving, most in zip(serves.tolist(), in_time.tolist(), strict=False):
            late += inside[most:].sum() / period
            if is_serving:
                inside[1] += inside[0]
                inside = inside[1:]
            inside = np.convolve(inside, arriving)
            inside = inside[: np.flatnonzero(inside > RARE)[-1] + 1]
    return late <= limit.allowed


def line_of_a_listen_queue(allowed: float, places: int, stop_s: float, period_s: float) -> float:
    """Rate at which a listen queue drops a share of the connections, one for each request.

    The server accepts nothing in the stop of each period, and all that waits right after it. Of a
    number of arrivals in the stop that is Poisson distributed, those beyond the places are dropped.
    """
    low, high = 0.0, 10 * places / stop_s
    while high - low > 1e-6 * high:
        middle = (low + high) / 2
        dropped = _expected_excess(middle * stop_s, places) / (middle * period_s)
        low, high = (middle, high) if dropped < allowed else (low, middle)
    return low


def _expected_excess(mean: float, places: int) -> float:
    """Expected number by which a Poisson variable exceeds so many: mean − E(min(N, places))."""
    chance, within = math.exp(-mean), 0.0
    below = 0.0
    for number in range(places):
        within += number * chance
        below += chance
        chance *= mean / (number + 1)
    return mean - within - places * (1 - below)


def searched_once() -> Searched:
    """One search of two lines, always the same."""
    wanted = (latency(50, 0.0005), latency(99, 0.002))
    failing = errors(0.001)
    queue = Queue(fixed(200e-6), (*wanted, failing, SENDING), np.random.default_rng(1))
    return search.searched(
        queue.measure,
        SearchGoal(wanted, failing, 60.0),
        5000.0,
        random.Random(1),
        clock_s=queue.clock_s,
    )


def searched_with(
    most_s: float = 0.002,
    *,
    fails: float = 0.0,
    unsent: float = 0.0,
    most_per_s: float = 1e7,
    budget_s: float = 60.0,
    is_over: Callable[[Searched], bool] = lambda _: False,
) -> Searched:
    """One search of a server that has 200 µs of work for each request, always the same."""
    limit, failing = latency(99, most_s), errors(0.001)
    judged = (limit, failing, SENDING)
    queue = Queue(
        fixed(200e-6),
        judged,
        np.random.default_rng(1),
        fails=lambda _: fails,
        unsent=lambda _: unsent,
    )
    wanted = SearchGoal((limit,), failing, budget_s, most_per_s=most_per_s)
    start = min(5000.0, most_per_s)
    return search.searched(
        queue.measure,
        wanted,
        start,
        random.Random(1),
        is_over=is_over,
        clock_s=queue.clock_s,
    )
