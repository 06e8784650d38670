"""Thresholds on the result of a load: `--fail-if 'p99>250ms'`.

A threshold names a quantity, `>` or `<`, and a value with its unit. `min`, `mean`, `max` and `p50`
to `p99.99` are response times. `failures` is the failure ratio (`1%`), `failed` the number of
failed requests, `throughput` is responses and `goodput` successful responses per second; `rate` is
a synonym of `goodput`.

A percentile that takes more responses than came is judged by what encloses it: it is no less than
a lower percentile and no more than a higher one or the maximum. Where those do not tell, the
threshold is undecided, as is one on response times where none are known: other load generators do
not record when requests were due.

So it is where requests that timed out (`aggregate.timeouts`), or without a response at the end of
the load (`aggregate.unfinished`), make a percentile longer than that of the responses: it is known
from below only.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from plimsoll import wording
from plimsoll.aggregate.timeouts import NO_TIMEOUTS
from plimsoll.aggregate.unfinished import NOTHING
from plimsoll.campaign import quantities
from plimsoll.statistics import quantiles

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from plimsoll.aggregate.summary import Summary
    from plimsoll.aggregate.timeouts import Timeouts
    from plimsoll.aggregate.unfinished import Unfinished

TIMES = {
    "min": "min",
    "mean": "mean",
    "p25": "p25",
    "p50": "p50",
    "p75": "p75",
    "p90": "p90",
    "p95": "p95",
    "p99": "p99",
    "p99.9": "p999",
    "p99.99": "p9999",
    "max": "max",
}
"""Response time statistics, and the suffixes of their columns."""

COUNTS = {
    "failures": "failure_ratio",
    "failed": "failed",
    "throughput": "throughput_per_s",
    "goodput": "goodput_per_s",
}
"""Other quantities, and their columns."""

_RISING = ("min", *quantiles.QUANTILES, "max")
"""Statistics of which each is at least the one before it, by the suffixes of their columns."""

_FAILED = ("failure_ratio", "failed")
"""Columns that count failures."""

_NO_TIMES = "response times are unknown: when requests were due was not recorded"
_OTHER_DRIVER = "measure with the driver `plimsoll`, which records when requests were due"
_ONCE_IT_RESPONDS = "a longer load, once the server responds"
_LONGER_TIMEOUT = "a timeout that is longer than the threshold"

State = Literal["kept", "crossed", "undecided"]

Bounds = tuple[float, float]
"""The least and the most that a value is; the most may be infinite."""

ALSO = {"p999": "p99.9", "p9999": "p99.99", "rate": "goodput"}
"""Synonyms."""

NAMES = (*TIMES, *COUNTS, *ALSO)
"""Everything that a threshold can name."""

_PREFIX, _SUFFIX = "response_time_", "_ns"
_TYPED = {suffix: name for name, suffix in TIMES.items()}
_THRESHOLD = re.compile(r"\s*(?P<name>[\w.]+)\s*(?P<bad>[<>])\s*(?P<value>[^<>=\s].*?)\s*")
_EXAMPLE = "write a quantity, `>` or `<`, and a value: 'p99>250ms'"
_COUNTED = {
    COUNTS["failures"]: "failures",
    COUNTS["failed"]: "failures",
    COUNTS["throughput"]: "responses",
    COUNTS["goodput"]: "successful responses",
}
"""What other quantities count, by their columns."""

_NAMES = f"quantities: {', '.join((*TIMES, *COUNTS))}"


@dataclass(frozen=True)
class Threshold:
    """One threshold.

    Attributes:
        text: As it was typed.
        column: Column of `tables.SUMMARIES`.
        bad: Whether a value above (`>`) or below (`<`) the threshold is a failure.
        value: The threshold in the unit of the column.
    """

    text: str
    column: str
    bad: Literal["<", ">"]
    value: float

    @property
    def doubt(self) -> str:
        """A question, where low latency, few failures or a high rate fail; else empty.

        Thresholds of k6 say what must hold: `p(99)<250`.
        """
        more_is_better = self.column in (COUNTS["throughput"], COUNTS["goodput"])
        if (self.bad == ">") is not more_is_better:
            return ""
        meant = self.text.translate({ord("<"): ">", ord(">"): "<"})
        return f"`--fail-if` says what fails, not what must hold as in k6: did you mean `{meant}`?"

    def is_crossed_by(self, measured: float) -> bool:
        """Whether a measured value, in the unit of the column, is beyond the threshold."""
        return measured > self.value if self.bad == ">" else measured < self.value

    def state_by(self, measured: float) -> State:
        """What a measured value, in the unit of the column, says."""
        return "crossed" if self.is_crossed_by(measured) else "kept"

    def spoken(self, measured: float) -> str:
        """A measured value in the unit in which thresholds are typed."""
        if self.column.endswith("_ns"):
            return f"{wording.decimals(measured / 1e6, 3)} ms"
        is_share = self.column.endswith("_ratio")
        return wording.percent(measured) if is_share else wording.count(measured)

    def judged(self, known: Callable[[str], float | None], responses: int) -> Judgement:
        """What the threshold says of a load.

        Args:
            known: The value in a column of `tables.SUMMARIES`; None where it is not known.
            responses: Complete responses, in the repetition with the most of them.
        """
        measured = known(self.column)
        if measured is not None:
            return Judgement(self.state_by(measured), f"measured {self.spoken(measured)}")
        statistic, quantile = self._percentile()
        if responses and statistic in _TYPED and _nearest(known, _RISING) is None:
            return Judgement("undecided", _NO_TIMES, _OTHER_DRIVER)
        if quantile is None or not responses or quantiles.enough(responses, quantile):
            return Judgement("crossed", "not measured")
        enclosed = self._by_what_encloses(known, _RISING.index(statistic))
        return enclosed or _too_few(statistic, quantile, responses)

    @property
    def enough_requests(self) -> str:
        """The option of a load with which a percentile has enough responses; else empty."""
        _, quantile = self._percentile()
        return "" if quantile is None else f"`-n {quantiles.rows_needed(quantile)}` or more"

    def state_within(self, bounds: Bounds) -> State:
        """What bounds of the value, in the unit of the column, say."""
        least, most = map(self.state_by, bounds)
        return least if least == most else "undecided"

    def hidden(
        self, summary: Summary, unfinished: Unfinished, timed_out: Timeouts
    ) -> Hidden | None:
        """What requests without a response hide of the quantity; None where they change nothing.

        Args:
            summary: What the load amounts to.
            unfinished: What its requests in flight at the end hide.
            timed_out: Its requests that timed out.
        """
        if self.column in _FAILED:
            return self._hidden_failures(summary, unfinished)
        statistic, _ = self._percentile()
        if statistic not in _RISING:
            return None
        unfinished_ns = _least_ns(statistic, unfinished) or 0.0
        timeout_ns = timed_out.least_ns(statistic, summary.value(self.column)) or 0.0
        if timeout_ns > unfinished_ns:
            return Hidden((timeout_ns, math.inf), timeouts=timed_out.requests)
        if unfinished_ns:
            return Hidden((unfinished_ns, math.inf), unfinished=unfinished.requests)
        return None

    def judged_within(self, hidden: Hidden, by_responses: Judgement) -> Judgement | None:
        """What bounds say of a load; None where they say the same of failures as the responses.

        Args:
            hidden: The bounds, and the requests they come from.
            by_responses: What the threshold says of the responses.
        """
        state = self.state_within(hidden.bounds)
        remedy = hidden.remedy if state == "undecided" else ""
        if self.column not in _FAILED:
            joined = ":" if remedy else " with"
            least = f"at least {self.spoken(hidden.bounds[0])}"
            return Judgement(state, f"{least}{joined} {hidden.sentence}", remedy)
        if state == by_responses.state:
            return None
        return Judgement(state, f"{by_responses.reason}, and {hidden.sentence}", remedy)

    def _hidden_failures(self, summary: Summary, unfinished: Unfinished) -> Hidden | None:
        """Requests in flight at the end may have failed; timeouts have, and are counted."""
        if not unfinished.requests:
            return None
        failed = summary.failed + unfinished.requests
        is_ratio = self.column == COUNTS["failures"]
        most = failed / (summary.ok + failed) if is_ratio else float(failed)
        least = summary.value(self.column) or 0.0
        return Hidden((least, most), unfinished=unfinished.requests)

    def _percentile(self) -> tuple[str, float | None]:
        """The statistic that is judged, and its quantile; None of what is no percentile."""
        statistic = self.column.removeprefix(_PREFIX).removesuffix(_SUFFIX)
        return statistic, quantiles.QUANTILES.get(statistic)

    def _by_what_encloses(
        self, known: Callable[[str], float | None], place: int
    ) -> Judgement | None:
        """What the nearest known statistics decide of an unknown one; None where they do not."""
        lower, higher = (
            _nearest(known, _RISING[:place][::-1]),
            _nearest(known, _RISING[place + 1 :]),
        )
        most, least = (lower, higher) if self.bad == ">" else (higher, lower)
        if most is not None and self.is_crossed_by(most[1]):
            return Judgement("crossed", f"measured {most[0]} {self.spoken(most[1])}")
        if least is not None and not self.is_crossed_by(least[1]):
            return Judgement("kept", f"measured {least[0]} {self.spoken(least[1])}")
        return None


@dataclass(frozen=True)
class Hidden:
    """What requests without a response hide of a quantity.

    Attributes:
        bounds: The least and the most that it is, had all requests ended.
        unfinished: Requests in flight at the end of the load that the bounds come from.
        timeouts: Requests that timed out that the bounds come from.
    """

    bounds: Bounds
    unfinished: int = 0
    timeouts: int = 0

    @property
    def sentence(self) -> str:
        """The requests, in a few words: `80 timeouts`."""
        in_flight = wording.several(self.unfinished, "request")
        parts = (
            wording.several(self.timeouts, "timeout") if self.timeouts else "",
            f"{in_flight} without a response when the load ended" if self.unfinished else "",
        )
        return " and ".join(filter(None, parts))

    @property
    def remedy(self) -> str:
        """What would decide a threshold that the bounds do not."""
        parts = (
            _LONGER_TIMEOUT if self.timeouts else "",
            _ONCE_IT_RESPONDS if self.unfinished else "",
        )
        return ", and ".join(filter(None, parts))


@dataclass(frozen=True)
class Judgement:
    """What a threshold says of a load.

    Attributes:
        state: Whether it is kept or crossed; crossed, too, where nothing was measured.
        reason: The measured value, or why there is none: `measured 25.000 ms`.
        remedy: What would decide it; empty unless it is undecided, and where more requests would.
    """

    state: State
    reason: str
    remedy: str = ""


def of_load(
    limit: Threshold,
    summary: Summary | None,
    unfinished: Unfinished = NOTHING,
    timed_out: Timeouts = NO_TIMEOUTS,
) -> Judgement:
    """What a threshold says of a load.

    Args:
        limit: The threshold.
        summary: What the load amounts to; None when nothing was measured.
        unfinished: What its requests in flight at the end hide.
        timed_out: Its requests that timed out.
    """
    if summary is None:
        return Judgement("crossed", "not measured")
    by_responses = limit.judged(summary.value, summary.completed)
    if by_responses.state == "undecided" and not by_responses.remedy:
        by_responses = replace(by_responses, remedy=limit.enough_requests)
    hidden = limit.hidden(summary, unfinished, timed_out)
    if hidden is None:
        return by_responses
    return limit.judged_within(hidden, by_responses) or by_responses


def _least_ns(statistic: str, unfinished: Unfinished) -> float | None:
    """The least that a statistic is with unfinished requests; None where they hide none."""
    upwards = _RISING[: _RISING.index(statistic) + 1]
    return next(
        (known for one in upwards[::-1] if (known := unfinished.at_least_ns.get(one))), None
    )


def _nearest(
    known: Callable[[str], float | None], statistics: Sequence[str]
) -> tuple[str, float] | None:
    """The first known statistic, by its name, and its value in nanoseconds."""
    for statistic in statistics:
        value = known(f"{_PREFIX}{statistic}{_SUFFIX}")
        if value is not None:
            return _TYPED[statistic], value
    return None


def _too_few(statistic: str, quantile: float, responses: int) -> Judgement:
    needed = quantiles.rows_needed(quantile)
    came = wording.count(responses)
    reason = f"{_TYPED[statistic]} needs {wording.count(needed)} responses, {came} came"
    return Judgement("undecided", reason)


def read(text: str) -> Threshold:
    """Parses a threshold.

    Raises:
        UnreadableQuantity: It is not a threshold.
    """
    match = _THRESHOLD.fullmatch(text)
    if match is None:
        raise quantities.UnreadableQuantity(f"`{text}` is not a threshold", _EXAMPLE)
    name = ALSO.get(match["name"], match["name"])
    if name not in NAMES:
        raise quantities.UnreadableQuantity(f"unknown quantity `{match['name']}`", _NAMES)
    column = COUNTS.get(name) or f"{_PREFIX}{TIMES[name]}{_SUFFIX}"
    bad: Literal["<", ">"] = "<" if match["bad"] == "<" else ">"
    value = _value(name, match["value"])
    _require_use(text, column, bad, value)
    return Threshold(text, column, bad, value)


def _require_use(text: str, column: str, bad: Literal["<", ">"], value: float) -> None:
    """Refuses a threshold that no load crosses, or that every load does: it tests nothing.

    Raises:
        UnreadableQuantity: It is such a one.
    """
    is_time, is_share = column.endswith(_SUFFIX), column == COUNTS["failures"]
    if bad == ">" and is_share and value >= 1:
        raise quantities.UnreadableQuantity(
            f"no load crosses `{text}`: at most 100 % of its requests fail",
            "write `failures>1%`, or `failed>0` for a number of requests",
        )
    if bad == "<" and value <= 0:
        what = "no response time is" if is_time else f"there are no fewer {_COUNTED[column]} than"
        end = "shorter than 0" if is_time else "0"
        raise quantities.UnreadableQuantity(f"no load crosses `{text}`: {what} {end}", _how(column))
    if bad == ">" and is_time and value <= 0:
        raise quantities.UnreadableQuantity(
            f"every load crosses `{text}`: every response takes time", _how(column)
        )


def _how(column: str) -> str:
    """How a threshold on a quantity is written that tests something."""
    if column in _FAILED:
        return "write `>`: `failures>1%`, `failed>0`"
    if column.endswith(_SUFFIX):
        return "write the longest time that passes: `p99>250ms`"
    return "write the lowest rate that passes: `throughput<5k`"


def _value(name: str, text: str) -> float:
    readers: dict[str, Callable[[str], float]] = {
        "failures": _ratio,
        "failed": quantities.count,
        "throughput": quantities.number,
        "goodput": quantities.number,
    }
    return readers.get(name, _time_ns)(text)


def _time_ns(text: str) -> float:
    """A time; the unit is required, since a bare number could be seconds or milliseconds."""
    if not text[-1:].isalpha():
        raise quantities.UnreadableQuantity(
            f"`{text}` has no unit of time", "write `250ms` or `2s`"
        )
    return quantities.duration_s(text) * 1e9


def _ratio(text: str) -> float:
    ratio = quantities.number(text.removesuffix("%").strip()) / (100 if text[-1:] == "%" else 1)
    if ratio > 1:
        raise quantities.UnreadableQuantity(f"`{text}` is more than 100 %", "write `1%` or `0.01`")
    return ratio
