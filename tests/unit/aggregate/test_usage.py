import numpy as np
import pyarrow as pa
import pytest

from plimsoll.aggregate.usage import ReadingSeries, Usage, overlap, usage
from recordings import usage_rows

S = 1_000_000_000


def cpu(*readings):
    return usage(usage_rows(*((at_s, "server", "cpu_user_s", value) for at_s, value in readings)))


def test_the_growth_of_a_counter_is_interpolated_to_the_ends_of_the_window():
    readings = cpu((0.5, 10.0), (1.5, 11.0), (2.5, 13.0))
    assert readings.growth("server", "cpu_user_s", [(S, 2 * S)]) == pytest.approx(0.5 + 1.0)


def test_a_rate_is_of_the_time_that_readings_cover():
    readings = cpu((0.0, 10.0), (0.8, 10.4))
    assert readings.rate("server", "cpu_user_s", [(0, S)]) == pytest.approx(0.5)


def test_readings_that_cover_less_than_half_of_a_window_say_nothing_about_it():
    readings = cpu((0.0, 10.0), (0.4, 10.4))
    assert readings.rate("server", "cpu_user_s", [(0, S)]) is None
    assert readings.growth("server", "cpu_user_s", [(0, S)]) is None


def test_what_was_never_read_is_unknown():
    readings = usage(None)
    assert readings.rate("server", "cpu_user_s", [(0, S)]) is None
    assert readings.mean("server", "rss_bytes", [(0, S)]) is None
    assert readings.peak("server", "rss_bytes", [(0, S)]) is None
    assert readings.mean_of_intervals("driver", "in_flight_mean", (0, S)) is None
    assert np.isnan(readings.level("server", "rss_bytes", np.array([0]))).all()


def test_a_gauge_goes_straight_from_reading_to_reading():
    readings = usage(usage_rows((0.0, "server", "rss_bytes", 10), (2.0, "server", "rss_bytes", 30)))
    at_ns = np.array([S // 2, S, 2 * S + 1, 4 * S])
    levels = readings.level("server", "rss_bytes", at_ns)
    assert levels[:3].tolist() == [15, 20, 30]
    assert np.isnan(levels[3])


def test_a_peak_is_the_highest_reading_inside():
    rows = ((t, "server", "listen_queue", v) for t, v in ((0.5, 9), (1.2, 3), (1.8, 5), (2.5, 9)))
    assert usage(usage_rows(*rows)).peak("server", "listen_queue", [(S, 2 * S)]) == 5


def test_a_reading_that_is_a_mean_counts_by_the_time_it_shares_with_the_window():
    rows = ((t, "driver", "in_flight_mean", v) for t, v in ((1.0, 10), (2.0, 20), (3.0, 40)))
    readings = usage(usage_rows(*rows))
    mean = readings.mean_of_intervals("driver", "in_flight_mean", (S // 2, 5 * S // 2))
    assert mean == pytest.approx((0.5 * 10 + 1.0 * 20 + 0.5 * 40) / 2.0)


def test_the_overlap_of_windows_is_never_negative():
    assert overlap((0, 10), (5, 20)) == 5
    assert overlap((0, 10), (15, 20)) == 0


def test_means_since_the_last_reading_add_up_over_hosts() -> None:
    one = ReadingSeries(np.array([S, 2 * S]), np.array([4.0, 6.0]))
    other = ReadingSeries(np.array([S // 2, 2 * S, 3 * S]), np.array([1.0, 2.0, 9.0]))
    readings = Usage({("driver", "in_flight_mean"): (one, other)})
    assert readings.intervals("driver", "in_flight_mean") == (
        ((0, S // 2), 5.0),
        ((S // 2, S), 6.0),
        ((S, 2 * S), 8.0),
        ((2 * S, 3 * S), 9.0),
    ), "the first host has ended"
    assert readings.mean_of_intervals("driver", "in_flight_mean", (0, 2 * S)) == 6.75


def test_cores_of_hosts_that_only_generate_load_are_not_added_to_those_of_the_server() -> None:
    rows = ((t, "machine", "core0_busy_s", 0.5 * t) for t in (0.0, 1.0))
    driver = ((t, "driver", "cpu_user_s", 0.5 * t) for t in (0.0, 1.0))
    known = [*rows, *driver]
    both = pa.concat_tables([usage_rows(*known, host="one"), usage_rows(*known, host="server")])
    read = usage(both, "server")
    assert read.rate("machine", "core0_busy_s", [(0, S)]) == pytest.approx(0.5)
    assert read.rate("driver", "cpu_user_s", [(0, S)]) == pytest.approx(1.0)
    assert usage(both).rate("machine", "core0_busy_s", [(0, S)]) == pytest.approx(1.0)


def test_what_hosts_that_only_generate_load_draw_is_no_energy_of_the_server() -> None:
    drawn = [(t, "machine", "energy_j", 500.0 * t) for t in (0.0, 1.0)]
    switches = [(t, "machine", "context_switches", 7.0 * t) for t in (0.0, 1.0)]
    rows = usage_rows(*drawn, *switches, host="one")
    assert usage(rows, "server").of("machine", "energy_j") == ()
    assert usage(rows, "one").rate("machine", "energy_j", [(0, S)]) == pytest.approx(500.0)
    assert usage(rows, "server").rate("machine", "context_switches", [(0, S)]) is not None
