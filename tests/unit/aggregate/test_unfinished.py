"""What requests in flight at the end of a load hide of its latencies."""

from dataclasses import replace

import numpy as np
import pyarrow.compute as pc
import pytest

from plimsoll.aggregate import unfinished
from plimsoll.aggregate.engine_records import as_stored
from plimsoll.aggregate.trial import Tables
from plimsoll.aggregate.usage import ReadingSeries, Usage
from plimsoll.statistics.quantiles import QUANTILES
from recordings import as_open, hung, simulate

END_S = 0.5


def of_hang(for_ns: int = 500_000_000, **options):
    return as_open(hung(simulate(**options), for_ns), rate_per_s=2000.0)


def test_a_hang_before_the_end_bounds_the_percentiles_that_it_hides():
    trial = of_hang()
    found = trial.unfinished
    times = trial.summary.response_time
    assert {"p90", "p99", "max"} <= found.at_least_ns.keys()
    assert "p50" not in found.at_least_ns
    for name in ("p90", "p99"):
        measured_ns, least_ns = times.of(name), found.at_least_ns[name]
        assert measured_ns is not None
        assert unfinished.FACTOR * measured_ns <= least_ns <= END_S * 1e9
    assert list(found.at_least_ns.values()) == sorted(found.at_least_ns.values())


def test_so_many_requests_are_beyond_a_bound_as_its_percentile_has_above_it():
    trial = of_hang()
    rows = as_stored(trial.requests)
    assert rows is not None
    end_ns = trial.recording.stages[-1].end_ns
    waits = pc.subtract(end_ns, rows.filter(pc.is_null(rows["done_ns"]))["sent_ns"])
    held = sum(row.held for row in trial.outcome_counts if row.outcome != "unfinished")
    beyond = pc.sum(pc.greater_equal(waits, trial.unfinished.at_least_ns["p90"])).as_py()
    assert beyond == pytest.approx(0.1 * (held + len(waits)), rel=0.02)


TIMEOUT_S = 0.3


def with_timeouts(trial: Tables) -> Tables:
    """The same requests, of which those that timed out took as long as the timeout."""
    rows = as_stored(trial.requests)
    assert rows is not None
    is_late = pc.equal(rows["outcome"].cast("string"), "timed_out_waiting")
    done_ns = pc.if_else(is_late, pc.add(rows["sent_ns"], int(TIMEOUT_S * 1e9)), rows["done_ns"])
    place = rows.schema.get_field_index("done_ns")
    return replace(trial, requests=rows.set_column(place, rows.schema.field(place), done_ns))


@pytest.mark.parametrize("ratio", [0.0, 0.006])
def test_timeouts_and_what_is_unfinished_hide_a_percentile_together(ratio: float):
    options = {"failures": {"timed_out_waiting": ratio}} if ratio else {}
    trial = with_timeouts(of_hang(60_000_000, timeout_s=TIMEOUT_S, **options))
    beyond = trial.still_waiting(unfinished.FACTOR * int(trial.summary.response_time.p99_ns or 0))
    ended = sum(row.held for row in trial.outcome_counts)
    assert 0.001 * ended < beyond.requests < 0.01 * ended
    assert ("p99" in trial.unfinished.at_least_ns) is bool(ratio)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"throughput_per_s": 100.0},
        {"connections": 200, "throughput_per_s": 400.0},
        {"spread": 1.0},
    ],
)
def test_what_the_end_of_a_load_cuts_short_hides_nothing(options):
    assert simulate(**options).unfinished == unfinished.NOTHING


def test_a_stall_of_the_load_generator_at_the_end_is_not_the_servers():
    trial = of_hang()
    seconds = np.arange(1, 8, dtype=np.int64) * 10**9
    pauses = ReadingSeries(seconds, np.where(seconds == 7 * 10**9, 0.495, 0.001))
    series = {**trial.usage.series, ("driver", "longest_pause_s"): (pauses,)}
    trial.__dict__["usage"] = Usage(series)
    assert trial.unfinished == unfinished.NOTHING


def test_a_load_that_does_not_end_with_its_hold_hides_nothing():
    trial = of_hang()
    *before, hold = trial.recording.stages
    down = replace(hold, kind="ramp", start_ns=hold.end_ns - 1_000_000_000)
    stages = (*before, replace(hold, end_ns=down.start_ns), down)
    later = replace(trial, recording=replace(trial.recording, stages=stages))
    assert later.unfinished == unfinished.NOTHING


def test_the_rows_are_read_once_for_all_percentiles(monkeypatch: pytest.MonkeyPatch):
    trial = of_hang()
    reads = {"still_waiting": 0, "slower_than": 0, "longest_times_ns": 0}

    def counting(name: str, read):
        def counted(self: Tables, *given):
            reads[name] += 1
            return read(self, *given)

        return counted

    for name in reads:
        monkeypatch.setattr(Tables, name, counting(name, getattr(Tables, name)))
    assert len(trial.unfinished.at_least_ns) > 2
    assert reads["longest_times_ns"] == 1
    assert reads["slower_than"] <= len(QUANTILES)


def test_what_waits_for_less_than_a_percentile_is_not_looked_at(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Tables, "slower_than", None)
    assert simulate().unfinished == unfinished.NOTHING
