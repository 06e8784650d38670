from dataclasses import replace

import pytest

from plimsoll.aggregate.cores import (
    all_cores,
    driver_peak_busy_ratio,
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


def counting(interrupt_time):
    """The clean recording, on a kernel that counts interrupts in some way."""
    return replace(CLEAN, machines={"local": {"interrupt_time": interrupt_time}})


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


def test_interrupts_that_are_counted_with_the_server_are_not_added_to_it():
    for told in ("task", None):
        assert server_busy_ratio(counting(told), constant(**BOTH)) == pytest.approx(0.6)


def test_interrupts_apart_are_the_servers_but_never_more_than_its_cores_were_busy():
    assert server_busy_ratio(counting("apart"), constant(**BOTH)) == pytest.approx(0.7)
    capped = BOTH | {"machine__core0_busy_s": 0.65}
    assert server_busy_ratio(counting("apart"), constant(**capped)) == pytest.approx(0.65)


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


def test_on_shared_cores_only_the_drivers_own_time_counts():
    assert CLEAN.server is not None
    shared = replace(CLEAN, server=replace(CLEAN.server, cores=(0, 1)))
    rows = [(at_s, "machine", "core1_busy_s", at_s) for at_s in range(6)]
    rows += [(at_s, "driver", "cpu_user_s", 0.25 * at_s) for at_s in range(6)]
    rows += [(at_s, "driver", "cpu_system_s", 0.25 * at_s) for at_s in range(6)]
    readings = usage(usage_rows(*rows))
    assert driver_peak_busy_ratio(shared, readings) == pytest.approx(0.5)
    assert driver_peak_busy_ratio(CLEAN, readings) == 1.0
