from dataclasses import replace

import pytest

from plimsoll.aggregate.cores import (
    all_cores,
    driver_peak_busy_ratio,
    other_busy_cores,
    own_cores,
    server_busy_ratio,
)
from plimsoll.aggregate.usage import usage
from recordings import simulate, usage_rows

CLEAN = simulate(warm_up_s=1.0, ramp_s=0, hold_s=4.0).recording


def constant(**rates):
    """Readings of counters that grow at some rates; `server__cpu_user_s` is one of them."""
    rows = (
        (float(at_s), name.split("__")[0], name.split("__")[1], at_s * rate)
        for name, rate in rates.items()
        for at_s in range(6)
    )
    return usage(usage_rows(*rows))


def shared(recording):
    assert recording.server is not None
    return replace(recording, server=replace(recording.server, cores=(0, 1)))


BOTH = {
    "server__cpu_user_s": 0.4,
    "server__cpu_system_s": 0.2,
    "driver__cpu_user_s": 0.1,
    "driver__cpu_system_s": 0.2,
    "machine__core0_busy_s": 0.9,
    "machine__core1_busy_s": 0.5,
    "machine__core0_interrupt_s": 0.1,
    "machine__core1_interrupt_s": 0.05,
}


def test_what_nobody_of_the_trial_did_others_did():
    assert other_busy_cores(CLEAN, constant(**BOTH)) == pytest.approx(1.4 - 0.15 - 0.6 - 0.3)


def test_others_never_took_less_than_nothing():
    idle = BOTH | {"machine__core0_busy_s": 0.3}
    assert other_busy_cores(CLEAN, constant(**idle)) == 0.0


@pytest.mark.parametrize("missing", list(BOTH))
def test_what_others_took_is_unknown_when_any_part_is(missing):
    rates = {name: rate for name, rate in BOTH.items() if name != missing}
    assert other_busy_cores(CLEAN, constant(**rates)) is None


def test_interrupts_on_its_cores_are_the_servers_but_never_more_than_these_were_busy():
    assert server_busy_ratio(CLEAN, constant(**BOTH)) == pytest.approx(0.7)
    capped = BOTH | {"machine__core0_busy_s": 0.65}
    assert server_busy_ratio(CLEAN, constant(**capped)) == pytest.approx(0.65)


def test_on_shared_cores_the_server_is_its_processes():
    assert server_busy_ratio(shared(CLEAN), constant(**BOTH)) == pytest.approx(0.3)
    assert server_busy_ratio(replace(CLEAN, server=None), constant(**BOTH)) is None


def test_the_driver_has_cores_of_its_own_only_if_both_were_given_some():
    assert own_cores(CLEAN) == (1,)
    assert own_cores(shared(CLEAN)) == ()
    assert own_cores(replace(CLEAN, driver=None)) == ()


def test_cores_are_found_by_their_readings():
    assert all_cores(constant(**BOTH)) == (0, 1)


def test_the_drivers_busiest_second_is_that_of_its_own_core():
    busy_s = {0: 0.0, 1: 0.0, 2: 0.4, 3: 1.2, 4: 1.6, 5: 2.0}
    rows = ((at_s, "machine", "core1_busy_s", busy) for at_s, busy in busy_s.items())
    ratio = driver_peak_busy_ratio(CLEAN, usage(usage_rows(*rows)))
    assert ratio == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("busy", "interrupts", "own", "expected"),
    [
        (0.92, 0.87, 0.28, 0.56),  # a timer that fires in step with the ticks
        (1.0, 0.4, 0.98, 1.0),  # full, and the kernel's part counted with the process
        (0.95, 0.4, 0.55, 0.95),  # full, and the kernel's part counted apart
        (0.9, 0.0, 0.2, 0.9),  # taken by others
        (0.01, 0.0, 0.3, 0.3),  # busy between the ticks
    ],
)
def test_interrupts_seen_at_ticks_count_no_more_than_the_drivers_own_time(
    busy, interrupts, own, expected
):
    rates = {
        ("machine", "core1_busy_s"): busy,
        ("machine", "core1_interrupt_s"): interrupts,
        ("driver", "cpu_user_s"): own,
        ("driver", "cpu_system_s"): 0.0,
    }
    rows = [(at_s, *name, rate * at_s) for name, rate in rates.items() for at_s in range(6)]
    assert driver_peak_busy_ratio(CLEAN, usage(usage_rows(*rows))) == pytest.approx(expected)


def test_on_shared_cores_only_the_drivers_own_time_counts():
    assert CLEAN.server is not None
    shared = replace(CLEAN, server=replace(CLEAN.server, cores=(0, 1)))
    rows = [(at_s, "machine", "core1_busy_s", at_s) for at_s in range(6)]
    rows += [(at_s, "driver", "cpu_user_s", 0.25 * at_s) for at_s in range(6)]
    rows += [(at_s, "driver", "cpu_system_s", 0.25 * at_s) for at_s in range(6)]
    readings = usage(usage_rows(*rows))
    assert driver_peak_busy_ratio(shared, readings) == pytest.approx(0.5)
    assert driver_peak_busy_ratio(CLEAN, readings) == 1.0
