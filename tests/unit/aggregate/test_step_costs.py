"""What a server needed at a rate, and without load."""

from __future__ import annotations

import pytest

from plimsoll.aggregate import step_costs
from plimsoll.aggregate.usage import usage
from recordings import request_rows, usage_rows

S = 1_000_000_000
HOLD = [(1 * S, 3 * S)]


def counters(*parts: tuple[str, float]) -> list[tuple[float, str, str, float]]:
    """Counters of the server that grow by so much each second of a load of four."""
    return [(float(at), "server", name, at * rate) for name, rate in parts for at in range(5)]


def standing(start_s: float, cores: float, rss_bytes: float) -> list[tuple[float, str, str, float]]:
    """Three readings of the server without load."""
    return [
        (start_s + second, "server", quantity, value)
        for second in range(3)
        for quantity, value in (
            ("idle_cpu_user_s", second * cores),
            ("idle_cpu_system_s", 0.0),
            ("idle_rss_bytes", rss_bytes),
        )
    ]


def test_a_step_has_user_and_system_time_switches_and_memory_of_its_hold() -> None:
    rows = counters(
        *(("cpu_user_s", 0.5), ("cpu_system_s", 0.25)),
        *(("voluntary_switches", 300.0), ("involuntary_switches", 100.0)),
    )
    rows += [(float(at), "server", "rss_bytes", 1e6 * at) for at in range(5)]
    found = step_costs.of_trial(usage(usage_rows(*rows)), HOLD, 200.0)
    assert (found.user_cores, found.system_cores) == pytest.approx((0.5, 0.25))
    assert found.busy_cores == pytest.approx(0.75)
    assert found.switches_per_request == pytest.approx(2.0)
    assert found.rss_bytes == pytest.approx(2e6)
    assert found.before is None and found.after is None and not found.power


def test_system_calls_are_shared_by_the_responses_between_their_readings() -> None:
    rows = [(0.4, "server", "system_calls", 100.0), (0.9, "server", "system_calls", 160.0)]
    done = [
        {"sent_ns": 0, "first_byte_ns": at_ns, "done_ns": at_ns}
        for at_ns in (S // 10, S // 2, S * 6 // 10, S * 8 // 10, S)
    ]
    read = usage(usage_rows(*rows))
    found = step_costs.of_trial(read, HOLD, 200.0, request_rows(*done))
    assert found.system_calls_per_request == pytest.approx(20.0)
    assert step_costs.of_trial(read, HOLD, 200.0).system_calls_per_request is None


def test_without_load_before_and_after_are_apart() -> None:
    rows = standing(-5.0, 0.01, 1e6) + standing(6.0, 0.03, 3e6)
    found = step_costs.of_trial(usage(usage_rows(*rows)), HOLD, 200.0)
    for side, cores, held in ((found.before, 0.01, 1e6), (found.after, 0.03, 3e6)):
        assert side is not None
        assert (side.busy_cores, side.rss_bytes) == pytest.approx((cores, held))


def test_what_was_not_read_is_unknown() -> None:
    found = step_costs.of_trial(usage(None), HOLD, 0.0)
    assert found.busy_cores is None and found.switches_per_request is None
    assert found.system_calls_per_request is None
    (only,) = {found.before, found.after}
    assert only is None


def test_power_is_known_by_each_source() -> None:
    rows = [(float(at), "machine", "energy_j", 40.0 * at) for at in range(5)]
    idle = [(at, "machine", "idle_energy_j", 10.0 * at) for at in (-3.0, -2.0, -1.0, 5.0, 6.0, 7.0)]
    found = step_costs.of_trial(usage(usage_rows(*rows, *idle)), HOLD, 200.0)
    assert found.power.keys() == {"rapl"}
    assert found.power["rapl"].gross_w == pytest.approx(40.0)
    assert found.power["rapl"].idle_w == pytest.approx(10.0)
    wall = [(at / 10, "machine", "wall_power_w", 80.0 + at % 2) for at in range(50)]
    found = step_costs.of_trial(usage(usage_rows(*rows, *idle, *wall)), HOLD, 200.0)
    assert found.power["wall"].gross_w == pytest.approx(80.5)
    assert found.power["rapl"].gross_w == pytest.approx(40.0)
