"""A clock that was set back is found by the order of a log; other disorder is not taken for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

from plimsoll.intake import set_back
from plimsoll.intake.set_back import LogOrder

if TYPE_CHECKING:
    from collections.abc import Callable

    from plimsoll.recording import ClockSetBack

    Instants = np.ndarray[Any, np.dtype[np.float64]]
    Log = tuple[Instants, Instants]
    """Beginnings and ends in seconds, in the order of the log."""

SECONDS = 20
PER_S = 200
WHEN = 1_700_000_000 * 10**9


def ended(seed: int = 1, slow: float = 0.0, seconds: float = SECONDS) -> Log:
    """A log in the order in which requests ended, some of which took five seconds."""
    draws = np.random.default_rng(seed)
    begins = np.sort(draws.uniform(0, seconds, round(seconds * PER_S)))
    took = draws.lognormal(-3, 0.5, len(begins)) + 5.0 * (draws.random(len(begins)) < slow)
    return in_order(begins, begins + took, begins + took)


def in_order(begins: Instants, ends: Instants, by: Instants) -> Log:
    order = np.argsort(by, kind="stable")
    return begins[order], ends[order]


def sent(slow: float) -> Log:
    """The same in the order in which they were sent."""
    begins, ends = ended(slow=slow)
    return in_order(begins, ends, begins)


def jumped(log: Log, by_s: float, at_s: float) -> Log:
    """The same, whose clock was set by so much, while durations were measured by another."""
    begins, ends = log
    moved = np.where(begins >= at_s, by_s, 0.0)
    return begins + moved, ends + moved


def joined(*logs: Log) -> Log:
    begins, ends = zip(*logs, strict=True)
    return np.concatenate(begins), np.concatenate(ends)


def from_(log: Log, at_s: float) -> Log:
    return log[0] + at_s, log[1] + at_s


def buffered(writers: int, rows: int) -> Log:
    """A log of several writers, each of which writes so many rows at once."""
    begins, ends = ended()
    of = np.arange(len(begins)) % writers
    place = np.arange(len(begins)) // writers // rows * writers + of
    return in_order(begins, ends, place.astype(float))


def in_batches(every_s: float, later_s: float = 0.0) -> Log:
    """A log of two load generators, which both send their rows after so long and at the end."""
    logs = (ended(), from_(ended(2), later_s))
    bounds = ((-1.0, every_s), (every_s, 2.0 * SECONDS))
    return joined(*(between(log, *bound) for bound in bounds for log in logs))


def between(log: Log, from_s: float, until_s: float) -> Log:
    chosen = (log[1] >= from_s) & (log[1] < until_s)
    return log[0][chosen], log[1][chosen]


def shuffled() -> Log:
    begins, ends = ended()
    return in_order(begins, ends, np.random.default_rng(2).random(len(begins)))


def by_duration() -> Log:
    begins, ends = ended()
    return in_order(begins, ends, ends - begins)


def with_late_rows() -> Log:
    """A log with rows of five seconds ago here and there, which a writer had held."""
    begins, ends = ended()
    begins[400::400] -= 5
    ends[400::400] -= 5
    return begins, ends


def rounded(log: Log) -> Log:
    return np.floor(log[0]), np.floor(log[0]) + log[1] - log[0]


def growing() -> Log:
    begins = SECONDS * np.sqrt(np.linspace(0, 1, 3_000))
    return begins, begins + 0.1


def paused() -> Log:
    begins, ends = ended()
    is_on = (begins < 8) | (begins > 11)
    return begins[is_on], ends[is_on]


def judged(log: Log, *, step_s: float = 0.0, batches: int = 3) -> ClockSetBack | None:
    order = LogOrder()
    columns = [WHEN + pa.array(np.round(one * 1e9).astype(np.int64)).to_numpy() for one in log]
    for begins, ends in zip(*(np.array_split(one, batches) for one in columns), strict=True):
        rows = {"sent_ns": begins, "due_ns": begins, "done_ns": ends}
        order.add(pa.RecordBatch.from_pydict({name: pa.array(one) for name, one in rows.items()}))
    return order.set_back(WHEN, step_s)


@pytest.mark.parametrize(
    ("by_s", "at_s"),
    [(0.7, 3.0), (2.0, 3.0), (0.7, 10.0), (2.0, 10.0), (4.0, 10.0), (0.7, 17.0), (4.0, 17.0)],
)
@pytest.mark.parametrize("log", [ended(), ended(slow=0.01), sent(0.01)])
def test_a_clock_that_was_set_back_is_found(log: Log, at_s: float, by_s: float) -> None:
    found = judged(jumped(log, -by_s, at_s))
    assert found is not None
    assert found.by_ns / 1e9 == pytest.approx(by_s, abs=0.2)
    assert found.after_rows / PER_S == pytest.approx(at_s, abs=0.3)
    assert found.at_ns / 1e9 == pytest.approx(at_s, abs=0.3)


def test_the_greatest_of_two_steps_back_is_told() -> None:
    found = judged(jumped(jumped(ended(), -1.0, 5.0), -2.0, 12.0))
    assert found is not None
    assert found.by_ns / 1e9 == pytest.approx(2.0, abs=0.2)
    assert found.after_rows / PER_S == pytest.approx(13.0, abs=0.3)


def test_a_step_back_by_several_times_the_step_of_timestamps_is_found() -> None:
    found = judged(rounded(jumped(ended(), -5.0, 10.0)), step_s=1.0)
    assert found is not None
    assert found.by_ns / 1e9 == pytest.approx(5.0, abs=1.1)


@pytest.mark.parametrize(
    "log",
    [
        ended,
        lambda: ended(slow=0.02),
        lambda: sent(0.02),
        lambda: sent(0.6),
        lambda: jumped(ended(), 2.0, 10.0),
        shuffled,
        by_duration,
        with_late_rows,
        growing,
        paused,
        lambda: in_batches(12.0),
        lambda: in_batches(12.0, 1.5),
        lambda: buffered(2, 400),
        lambda: buffered(8, 100),
        lambda: joined(ended(), ended(2)),
        lambda: joined(ended(), from_(ended(2), 1.5)),
        lambda: joined(ended(), from_(ended(2), 3), from_(ended(3), 6)),
        lambda: joined(*(ended(seed, seconds=5) for seed in range(20))),
        lambda: joined(ended(seconds=0.2), from_(ended(2, seconds=0.2), -5)),
    ],
)
def test_an_order_that_tools_write_is_no_clock_that_was_set_back(log: Callable[[], Log]) -> None:
    assert judged(log()) is None


def dense(seed: int, seconds: float = SECONDS) -> Log:
    """A log with many requests in flight at once."""
    draws = np.random.default_rng(seed)
    begins = np.sort(draws.uniform(0, seconds, round(seconds * 1_000)))
    ends = begins + draws.lognormal(-3, 0.5, len(begins))
    return in_order(begins, ends, ends)


@pytest.mark.parametrize("by_s", [2.0, 20.0])
@pytest.mark.parametrize("at_s", [3.0, 10.0, 17.0])
@pytest.mark.parametrize("seed", range(1, 6))
def test_a_clock_that_was_set_forward_was_not_set_back(seed: int, at_s: float, by_s: float) -> None:
    """Rows of before and after are mixed as long as requests are in flight."""
    assert judged(jumped(dense(seed), by_s, at_s)) is None


@pytest.mark.parametrize(("first_s", "then_s"), [(5.0, -5.0), (2.0, -5.0), (-2.0, 2.0)])
def test_a_clock_that_was_set_back_before_or_after_it_was_set_forward_is_found(
    first_s: float, then_s: float
) -> None:
    back_s = -min(first_s, then_s)
    found = judged(jumped(jumped(dense(1), first_s, 7.0), then_s, 12.0 + max(first_s, 0.0)))
    assert found is not None
    assert found.by_ns / 1e9 == pytest.approx(back_s, abs=0.2)
    assert found.after_rows / 1_000 == pytest.approx(7.0 if first_s < 0 else 12.0, abs=0.3)


def test_a_clock_of_a_log_with_few_rows_that_was_set_back_is_found() -> None:
    begins = np.arange(0.0, 200.0, 1.0)
    found = judged(jumped((begins, begins + 0.1), -30.0, 100.0))
    assert found is not None
    assert found.by_ns / 1e9 == pytest.approx(30.0, abs=10.0)


def test_timestamps_in_whole_seconds_are_no_clock_that_was_set_back() -> None:
    assert judged(rounded(ended()), step_s=1.0) is None


def test_a_long_log_is_looked_at_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    log = jumped(ended(slow=0.01), -2.0, 10.0)
    monkeypatch.setattr(set_back, "MOST_ROWS", 700)
    monkeypatch.setattr(set_back, "MOST_WINDOWS", 60)
    for batches in (1, 7, 90):
        found = judged(log, batches=batches)
        assert found is not None
        assert found.by_ns / 1e9 == pytest.approx(2.0, abs=0.4)
        assert found.after_rows / PER_S == pytest.approx(10.0, abs=0.5)
