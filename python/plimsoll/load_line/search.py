"""The search of load lines: which rate is tried next, and what all tries say together.

Pure but for `measure`, which tries a rate, and the clock; `SteppedSearch` does without both. First
the rates climb from a quarter of the server's greatest throughput; then tries are drawn near the
edge, where they tell the most, in random order; then the winner is held for longer. Where a rate
failed though a higher one held, both are tried again: that tells a disturbance, a slowdown of the
server, and a gap apart.

Source:
    R. Waeber, *Probabilistic Bisection Search for Stochastic Root-finding*, 2013 (the next place is
    drawn by the posterior); W. R. Thompson, Biometrika 25, 1933 (drawing from it, not at its
    middle).
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Collection, Generator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

from plimsoll.load_line.goal import LONGEST_HOLD_S, warm_up_s
from plimsoll.load_line.limits import SENDING, LineLimit
from plimsoll.statistics.edge import Edge, edge

if TYPE_CHECKING:
    from plimsoll.load_line.goal import SearchGoal
    from plimsoll.load_line.tries import State, Try

Measure = Callable[[float, float], "Try"]
"""Tries a rate, in requests per second, for so many seconds."""

Found = Literal["found", "below", "above", "open"]
"""Whether a line was found, lies below or above every rate that was tried, or is open: a budget too
short to tell."""

HARDLY_KNOWN = 1.5
"""Upper / lower end of an interval from which on a line has no single number."""

CLIMB = (0.25, 0.5, 0.7, 0.85, 1.0)
"""The first rates, as shares of the start."""

_HIGHER = 1.25
_MOST_HIGHER = 8
_LOWEST = 1 / 100
_CLOSE = 3.0
_CONFIRM_HOLD = 2.0
_MISSES, _MISSES_OF_A_CLIMB = 5, 1
"""Misses that a try has at the edge, at least; on the way up a try only has to tell the side."""

_DRAWN = (0.2, 0.8)
_FARTHEST_DRAW = 0.05
_NEARLY = 0.9
_SAME = 0.02
_APART = 1.05
_REVISITS = 2
_BETWEEN = 1
_SLOW_TRIES = 4
_ENOUGH_TRIES = 4


class NextTry(NamedTuple):
    """A rate that is to be tried.

    Attributes:
        rate_per_s: The rate.
        hold_s: Length of its measurement window, in seconds.
    """

    rate_per_s: float
    hold_s: float


Steps = Generator[NextTry, "Try", None]
"""Yields what is to be tried, and is sent what it showed."""


@dataclass(frozen=True)
class Line:
    """The greatest rate inside one limit of latency, that of errors, and that of sending.

    Attributes:
        limit: The limit of latency.
        state: Whether it was found.
        binding: The limit that is missed first beyond it; None where none was missed.
        edge: Rate and interval; None where it was not found.
        held_per_s: The greatest rate below the first failing one that held; None for none.
        inside_per_s: The greatest rate below the first failing one that was inside all limits: it
            held, or is undecided; None for none.
        failed_per_s: The lowest rate that failed beyond chance; None for none.
        is_confirmed: Whether a longer try at the rate, or just below it, held.
        gap: A rate that failed, and a higher one that held, both beyond chance; None for none.
        held_above_per_s: The greatest rate that held above the first failing one, where the budget
            did not tell which of both was disturbed; None for none.
    """

    limit: LineLimit
    state: Found
    binding: LineLimit | None
    edge: Edge | None
    held_per_s: float | None
    inside_per_s: float | None
    failed_per_s: float | None
    is_confirmed: bool
    gap: tuple[float, float] | None = None
    held_above_per_s: float | None = None

    @property
    def rate_per_s(self) -> float | None:
        """The rate; None where it was not found."""
        return None if self.edge is None else self.edge.rate_per_s

    @property
    def is_hardly_known(self) -> bool:
        """Whether its interval spans so much that it is told instead of the rate."""
        if self.edge is None:
            return False
        found = self.edge.interval
        return found.high >= HARDLY_KNOWN * found.low

    def is_bracket(self, tries: Sequence[Try]) -> bool:
        """Whether no rate inside its interval was tried: it is what the climb left open.

        Args:
            tries: Every try.
        """
        if self.edge is None:
            return False
        found = self.edge.interval
        return not any(found.low < one.rate_per_s < found.high for one in tries)

    def is_narrow(self, within: float) -> bool:
        """Whether its interval is narrow enough."""
        return self.edge is not None and self.edge.reach <= within


@dataclass(frozen=True)
class Searched:
    """The end of a search.

    Attributes:
        wanted: What was searched.
        start_per_s: The server's greatest throughput, where the search began.
        lines: A line for each limit of latency, in their order.
        tries: Every try, in order of time.
        elapsed_s: Time it took, in seconds.
        is_narrow: Whether it ended because all intervals are narrow enough; else by the budget.
        forgotten: How many of the tries, the first ones, hold no more: the server slowed down.
    """

    wanted: SearchGoal
    start_per_s: float
    lines: tuple[Line, ...]
    tries: tuple[Try, ...]
    elapsed_s: float
    is_narrow: bool
    forgotten: int = 0


def searched(
    measure: Measure,
    wanted: SearchGoal,
    start_per_s: float,
    luck: random.Random,
    look: Callable[[Searched], None] = lambda _: None,
    is_over: Callable[[Searched], bool] = lambda _: False,
    clock_s: Callable[[], float] = time.monotonic,
) -> Searched:
    """Searches a line for each limit.

    Args:
        measure: Tries a rate; what it raises ends the search.
        wanted: What is searched, and when to end.
        start_per_s: The server's greatest throughput, or a guess of it.
        luck: Draws the rates.
        look: Called after each try with how things stand.
        is_over: Whether that leaves nothing to search, called after `look`.
        clock_s: Gives the time in seconds.
    """
    search = _Search(wanted, start_per_s, luck, clock_s, clock_s())
    steps = search.steps()
    following = next(steps, None)
    while following is not None:
        following = _sent(steps, measure(*following))
        now = search.end()
        look(now)
        if is_over(now):
            break
    return search.end()


def ended(
    wanted: SearchGoal,
    start_per_s: float,
    tries: Sequence[Try],
    *,
    forgotten: int,
    confirmed: Collection[str],
    elapsed_s: float,
) -> Searched:
    """A search that is over, worked out again from its tries.

    Args:
        wanted: What was searched.
        start_per_s: The server's greatest throughput, where the search began.
        tries: Every try, in order of time.
        forgotten: How many of the tries, the first ones, hold no more.
        confirmed: Names of the limits whose lines a longer try confirmed.
        elapsed_s: Time it took, in seconds.
    """
    luck = random.Random(0)  # noqa: S311 - nothing is drawn any more
    search = _Search(wanted, start_per_s, luck, lambda: elapsed_s, 0.0, [*tries], forgotten)
    search.confirmed = dict.fromkeys(confirmed, len(tries))
    return search.end()


class SteppedSearch:
    """A search that is told its tries, one by one: what is recorded of it, and what comes after.

    The same tries always have the same next one. Tries at other rates than were wanted, recorded
    again after a change for instance, count like any.

    Args:
        wanted: What is searched, and when to end.
        start_per_s: The server's greatest throughput, or a guess of it.
        luck: Draws the rates; as it was when the search began.

    Attributes:
        following: What is tried next; None when the search is over.
    """

    def __init__(self, wanted: SearchGoal, start_per_s: float, luck: random.Random) -> None:
        """Begin the search."""
        self._elapsed_s = 0.0
        self._search = _Search(wanted, start_per_s, luck, lambda: self._elapsed_s, 0.0)
        self._steps = self._search.steps()
        self.following = next(self._steps, None)

    def take(self, found: Try, took_s: float) -> None:
        """Counts a try in; one after the end as well.

        Args:
            found: What it showed.
            took_s: The time it took, in seconds.
        """
        self._elapsed_s += took_s
        if self.following is None:
            self._search.take(found)
        else:
            self.following = _sent(self._steps, found)

    def end(self) -> Searched:
        """How things stand."""
        return self._search.end()


def _sent(steps: Steps, found: Try) -> NextTry | None:
    """What is tried after a try; None when the search is over."""
    try:
        return steps.send(found)
    except StopIteration:
        return None


@dataclass
class _Search:
    """A search that runs."""

    wanted: SearchGoal
    start_per_s: float
    luck: random.Random
    clock_s: Callable[[], float]
    began_s: float
    tries: list[Try] = field(default_factory=list["Try"])
    forgotten: int = 0
    confirmed: dict[str, int] = field(default_factory=dict[str, int])
    """The number of the try that confirmed the line of a limit."""
    known: dict[tuple[str, int, int, int], Line] = field(
        default_factory=dict[tuple[str, int, int, int], "Line"]
    )
    """Lines by limit, number of tries, those forgotten, and the confirming one."""

    def steps(self) -> Steps:
        """Every try of the search."""
        yield from self._climb()
        yield from self._refine()

    def _climb(self) -> Steps:
        """Tries rates from below, then higher and lower ones until each limit has both sides."""
        hold_s = self.wanted.hold_s
        in_a_row = 0
        for share in CLIMB:
            if not self._has_time(hold_s):
                return
            yield from self._try(share * self.start_per_s, hold_s, _MISSES_OF_A_CLIMB)
            in_a_row = in_a_row + 1 if self._all_failed() else 0
            if in_a_row > 1:
                break
        for _ in range(_MOST_HIGHER):
            highest = max(one.rate_per_s for one in self.tries)
            is_possible = highest < self.wanted.most_per_s and self._has_time(hold_s)
            if not is_possible or all(self._is_failed(limit) for limit in self.wanted.limits):
                break
            yield from self._try(highest * _HIGHER, hold_s, _MISSES_OF_A_CLIMB)
        if not all(self._is_held(limit) for limit in self.wanted.limits):
            yield from self._descend(hold_s)

    def _descend(self, hold_s: float) -> Steps:
        """Tries the lowest rate, and halves the way from there to the first one that failed."""
        floor = self.start_per_s * _LOWEST
        rate_per_s = floor
        while self._has_time(self._long_enough(rate_per_s, hold_s)):
            found = yield from self._try(rate_per_s, hold_s)
            inside = [one for one in self.wanted.limits if self._is_inside(found, one)]
            if len(inside) < len(self.wanted.limits) and rate_per_s > floor:
                return
            above = min(one.rate_per_s for one in self.tries if one.rate_per_s > rate_per_s)
            if not inside or above / rate_per_s < _CLOSE:
                return
            rate_per_s = math.sqrt(rate_per_s * above)

    def _refine(self) -> Steps:
        """Tries rates near the edges until all are known well, or the budget is spent."""
        while (following := self._next()) is not None:
            rate_per_s, hold_s, confirms = following
            if not self._has_time(hold_s):
                return
            found = yield from self._try(rate_per_s, hold_s)
            is_as_wanted = found.rate_per_s == rate_per_s and found.hold_s >= _NEARLY * hold_s
            if confirms is not None and is_as_wanted and not self._fails(found, confirms):
                self.confirmed[confirms.name] = len(self.tries) - 1

    def take(self, found: Try) -> None:
        """Counts a try in."""
        self.tries.append(found)
        for limit in self.wanted.limits:
            self._forget(limit)

    def end(self) -> Searched:
        """How things stand."""
        lines = tuple(self._line(limit) for limit in self.wanted.limits)
        return Searched(
            wanted=self.wanted,
            start_per_s=self.start_per_s,
            lines=lines,
            tries=tuple(self.tries),
            elapsed_s=self._elapsed_s(),
            is_narrow=all(line.is_narrow(self.wanted.within) for line in lines),
            forgotten=self.forgotten,
        )

    def _next(self) -> tuple[float, float, LineLimit | None] | None:
        """Rate and length of the next try, and the limit whose line it is to confirm."""
        hold_s = self.wanted.hold_s
        for limit in self.wanted.limits:
            if (doubted := self._doubted(limit)) is not None:
                return doubted, hold_s, None
        lines = [line for line in map(self._line, self.wanted.limits) if line.state != "below"]
        for line in lines:
            if line.edge is None and (rate_per_s := self._outside(line)) is not None:
                return rate_per_s, hold_s, None
        found = [(line.edge, line) for line in lines if line.edge is not None]
        wide = [one for one in found if not one[1].is_narrow(self.wanted.within)]
        unconfirmed = [one for one in found if not one[1].is_confirmed]
        confirm_s = _CONFIRM_HOLD * hold_s
        is_late = not self._has_time(hold_s + confirm_s * len(unconfirmed))
        if unconfirmed and (is_late or not wide):
            known, line = unconfirmed[0]
            if self._has_time(confirm_s):
                return known.rate_per_s, confirm_s, line.limit
            return None
        if not wide:
            return None
        known, _ = max(wide, key=lambda one: one[0].reach)
        return self._drawn(known), hold_s, None

    def _drawn(self, known: Edge) -> float:
        """A rate near an edge, by its posterior, and a little aside, so that the slope is seen."""
        rate_per_s = known.quantile(self.luck.uniform(*_DRAWN))
        aside = min(1 / known.slope, _FARTHEST_DRAW)
        rate_per_s *= math.exp(self.luck.uniform(-aside, aside))
        least, most = known.rate_per_s / _HIGHER, known.rate_per_s * _HIGHER
        return min(max(rate_per_s, least), most, self.wanted.most_per_s)

    def _outside(self, line: Line) -> float | None:
        """The next rate while there is no edge: below or above all that still count."""
        rates = [one.rate_per_s for one in self._counting(line.limit)]
        if line.state == "open" and not self._is_held(line.limit):
            lower = min(rates) / _HIGHER
            # A lowest rate that may hold by chance is tried again.
            return lower if lower >= self.start_per_s * _LOWEST else min(rates)
        higher = max(rates) * _HIGHER
        return higher if line.state == "open" and higher <= self.wanted.most_per_s else None

    def _line(self, limit: LineLimit) -> Line:
        """The line of a limit as things stand, worked out once after each try."""
        confirmed = self.confirmed.get(limit.name, -1)
        key = (limit.name, len(self.tries), self.forgotten, confirmed)
        if key not in self.known:
            self.known[key] = self._worked_out(limit)
        return self.known[key]

    def _worked_out(self, limit: LineLimit) -> Line:
        counting = self._counting(limit)
        edges: list[tuple[Edge, LineLimit]] = []
        if any(self._is_inside(one, limit) for one in counting):
            criteria = self._criteria(limit)
            edges = [(found, one) for one in criteria if (found := self._edge(counting, one))]
        found, binding = min(edges, key=lambda one: one[0].rate_per_s, default=(None, None))
        failed = min((one.rate_per_s for one in counting if self._fails(one, limit)), default=None)
        below = [one for one in counting if failed is None or one.rate_per_s < failed]
        held = [one.rate_per_s for one in below if self._holds(one, limit)]
        inside = [one.rate_per_s for one in below if self._is_inside(one, limit)]
        if binding is None:
            binding = self._missed(limit, counting)
        return Line(
            limit=limit,
            state="found" if found else self._unfound(limit),
            binding=binding,
            edge=found,
            held_per_s=max(held, default=None),
            inside_per_s=max(inside, default=None),
            failed_per_s=failed,
            is_confirmed=self.confirmed.get(limit.name, -1) >= self.forgotten,
            gap=self._gap(limit),
            held_above_per_s=self._held_above(limit, counting, failed),
        )

    def _held_above(
        self, limit: LineLimit, counting: Sequence[Try], failed_per_s: float | None
    ) -> float | None:
        """The greatest rate that held although a lower one failed; None for none."""
        held = [one.rate_per_s for one in counting if self._holds(one, limit)]
        if failed_per_s is None or max(held, default=0.0) <= _APART * failed_per_s:
            return None
        return max(held)

    def _missed(self, limit: LineLimit, counting: Sequence[Try]) -> LineLimit | None:
        """What keeps a limit from having a line: what no try keeps, else what some do not."""
        criteria = self._criteria(limit)[::-1]
        never = [one for one in criteria if not any(each.is_inside(one) for each in counting)]
        missed = never or [one for one in criteria if not self._is_kept(one)]
        return missed[0] if missed else None

    def _edge(self, counting: Sequence[Try], limit: LineLimit) -> Edge | None:
        counts = [one.counts[limit.name] for one in counting]
        return edge(counts, limit.allowed, has_processes=self.wanted.has_processes)

    def _unfound(self, limit: LineLimit) -> Found:
        counting = self._counting(limit)
        rates = [one.rate_per_s for one in counting]
        if not counting:
            return "open"
        if self._is_held(limit):
            has_failed = any(self._fails(one, limit) for one in counting)
            return "above" if not has_failed and self._is_highest(max(rates)) else "open"
        lowest = min(counting, key=lambda one: one.rate_per_s)
        is_lowest = lowest.rate_per_s / _HIGHER < self.start_per_s * _LOWEST
        has_failed = any(self._fails(one, limit) for one in self._at(lowest))
        return "below" if is_lowest and has_failed else "open"

    def _is_highest(self, rate_per_s: float) -> bool:
        """Whether no higher rate is tried."""
        most = min(self.wanted.most_per_s, self.start_per_s * _HIGHER**_MOST_HIGHER)
        return rate_per_s * _HIGHER > most

    def _counting(self, limit: LineLimit) -> Sequence[Try]:
        """The tries that count: none of before a slowdown, none disturbed, none beyond a gap."""
        gap = self._gap(limit)
        return [
            one
            for one in self.tries[self.forgotten :]
            if not self._is_disturbed(one, limit)
            and (gap is None or one.rate_per_s <= gap[0] * (1 + _SAME))
        ]

    def _gap(self, limit: LineLimit) -> tuple[float, float] | None:
        """A rate that failed each time, and a higher one that held after that; None for none."""
        for failing, higher in self._contrary(limit):
            later = self._later(higher, failing)
            if later and all(self._holds(one, limit) for one in later):
                return failing.rate_per_s, higher.rate_per_s
        return None

    def _doubted(self, limit: LineLimit) -> float | None:
        """A rate that is tried again, because tries contradict each other; None for none."""
        for failing, higher in self._contrary(limit):
            again = None
            if len(self._at(failing)) < _REVISITS:
                again = failing
            elif not self._later(higher, failing):
                again = higher
            if again is not None and not self._is_recent(again):
                return again.rate_per_s
        return None

    def _is_recent(self, one: Try) -> bool:
        """Whether its rate was tried just now; what disturbed it may not be over yet."""
        return any(one is each or each in self._at(one) for each in self.tries[-_BETWEEN:])

    def _forget(self, limit: LineLimit) -> None:
        """Forgets the tries before a slowdown: several in a row failed below a rate that held.

        With little time left all tries count, and the interval is as wide as they differ.
        """
        first = len(self.tries) - _SLOW_TRIES
        earlier = self.tries[self.forgotten : max(first, 0)]
        most = max((one.rate_per_s for one in earlier if self._holds(one, limit)), default=0.0)
        last = self.tries[max(first, 0) :]
        if (
            earlier
            and min(one.rate_per_s for one in last) * _APART < most
            and all(self._fails(one, limit) and one.rate_per_s <= most for one in last)
            and self._has_time(_ENOUGH_TRIES * self.wanted.hold_s)
        ):
            self.forgotten = first

    def _contrary(self, limit: LineLimit) -> list[tuple[Try, Try]]:
        """Tries that failed, lowest first, each with the lowest higher one that held."""
        found = sorted(self.tries[self.forgotten :], key=lambda one: one.rate_per_s)
        pairs: list[tuple[Try, Try]] = []
        for place, failing in enumerate(found):
            higher = (
                one
                for one in found[place + 1 :]
                if one.rate_per_s > _APART * failing.rate_per_s and self._holds(one, limit)
            )
            if (
                self._fails(failing, limit)
                and (one := next(higher, None)) is not None
                and not self._is_disturbed(failing, limit)
            ):
                pairs.append((failing, one))
        return pairs

    def _is_disturbed(self, one: Try, limit: LineLimit) -> bool:
        """Whether a try failed, while others at its rate and at a higher one held."""
        return (
            self._fails(one, limit)
            and any(self._holds(each, limit) for each in self._at(one))
            and any(
                self._holds(each, limit)
                for each in self.tries[self.forgotten :]
                if each.rate_per_s > _APART * one.rate_per_s
            )
        )

    def _later(self, higher: Try, failing: Try) -> list[Try]:
        """The tries at a higher rate after the second one at a failing rate."""
        again = self._at(failing)[_REVISITS - 1 :]
        if not again:
            return []
        second = next(at for at, one in enumerate(self.tries) if one is again[0])
        return [
            one for one in self.tries[second + 1 :] if any(one is each for each in self._at(higher))
        ]

    def _at(self, one: Try) -> list[Try]:
        """Tries at about the same rate."""
        return [
            each
            for each in self.tries[self.forgotten :]
            if abs(each.rate_per_s / one.rate_per_s - 1) <= _SAME
        ]

    def _criteria(self, limit: LineLimit) -> tuple[LineLimit, ...]:
        """The limits that a line of one limit keeps."""
        return limit, SENDING, self.wanted.errors

    def _fails(self, one: Try, limit: LineLimit) -> bool:
        return self._state(one, limit) == "failed"

    def _holds(self, one: Try, limit: LineLimit) -> bool:
        """Whether it held what is known to hold beyond chance, and the rest by what was seen."""
        return self._state(one, limit) == "held"

    def _state(self, one: Try, limit: LineLimit) -> State:
        return one.state_beside(limit, (SENDING, self.wanted.errors))

    def _is_inside(self, one: Try, limit: LineLimit) -> bool:
        return all(one.is_inside(each) for each in self._criteria(limit))

    def _is_kept(self, limit: LineLimit) -> bool:
        return all(one.is_inside(limit) for one in self.tries[self.forgotten :])

    def _all_failed(self) -> bool:
        return all(self._fails(self.tries[-1], limit) for limit in self.wanted.limits)

    def _is_failed(self, limit: LineLimit) -> bool:
        return any(self._fails(one, limit) for one in self.tries[self.forgotten :])

    def _is_held(self, limit: LineLimit) -> bool:
        return any(self._is_inside(one, limit) for one in self.tries[self.forgotten :])

    def _try(
        self, rate_per_s: float, hold_s: float, misses: int = _MISSES
    ) -> Generator[NextTry, Try, Try]:
        left_s = max(hold_s, self.wanted.budget_s - self._elapsed_s())
        long_s = min(self._long_enough(rate_per_s, hold_s, misses), left_s)
        found = yield NextTry(min(rate_per_s, self.wanted.most_per_s), long_s)
        self.take(found)
        return found

    def _long_enough(self, rate_per_s: float, hold_s: float, misses: int = _MISSES) -> float:
        """A length in which a low rate has as many requests as a few misses need."""
        rarest = min(limit.allowed for limit in self.wanted.limits)
        return max(hold_s, min(misses / rarest / rate_per_s, LONGEST_HOLD_S))

    def _has_time(self, hold_s: float) -> bool:
        """Whether a try of this length fits into the budget; the first one always does."""
        if not self.tries:
            return True
        held_s = sum(one.hold_s for one in self.tries)
        beside_s = (self._elapsed_s() - held_s) / len(self.tries)
        usual_s = sum(warm_up_s(one.hold_s) for one in self.tries) / len(self.tries)
        longer_s = max(0.0, warm_up_s(hold_s) - usual_s)
        return self._elapsed_s() + hold_s + beside_s + longer_s <= self.wanted.budget_s

    def _elapsed_s(self) -> float:
        return self.clock_s() - self.began_s
