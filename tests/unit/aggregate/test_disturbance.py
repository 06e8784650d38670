from dataclasses import replace

import numpy as np
import pytest

from plimsoll.aggregate import disturbance
from plimsoll.aggregate.cores import are_apart
from plimsoll.aggregate.disturbance import (
    TakenTime,
    full_ratio,
    longest_pauses_s,
    noted,
    taken,
    taken_from,
)
from plimsoll.aggregate.usage import usage
from plimsoll.recording import HostClock, HostDriver
from recordings import simulate, usage_rows

HELD = [(1_000_000_000, 5_000_000_000)]
CLEAN = simulate(warm_up_s=1.0, ramp_s=0, hold_s=4.0).recording
ROBBED = {"others_busy": 0.2, "others_on": (0,), "stolen": 0.1}
RATES = {
    ("server", "cpu_user_s"): 0.4,
    ("server", "cpu_system_s"): 0.2,
    ("server", "run_delay_s"): 0.25,
    ("server", "run_time_s"): 0.6,
    ("driver", "cpu_user_s"): 0.1,
    ("driver", "cpu_system_s"): 0.2,
    ("driver", "run_delay_s"): 0.01,
    ("driver", "run_time_s"): 0.3,
    ("machine", "core0_busy_s"): 0.9,
    ("machine", "core1_busy_s"): 0.5,
    ("machine", "core0_interrupt_s"): 0.1,
    ("machine", "core1_interrupt_s"): 0.05,
    ("machine", "core0_steal_s"): 0.0,
    ("machine", "core1_steal_s"): 0.0,
}


def readings(without=(), **changes):
    """Readings of counters that grow evenly; `core0_busy_s=0.3` changes how fast."""
    rates = {name: changes.get(name[1], rate) for name, rate in RATES.items()}
    return usage(
        usage_rows(
            *(
                (float(at_s), *name, at_s * rate)
                for name, rate in rates.items()
                if name[1] not in without
                for at_s in range(6)
            )
        )
    )


def counting(interrupt_time):
    return replace(CLEAN, machines={"local": {"interrupt_time": interrupt_time}})


def shared():
    assert CLEAN.server is not None
    return replace(CLEAN, server=replace(CLEAN.server, cores=(0, 1)))


def test_what_was_not_its_own_others_took_from_each_side():
    found = taken(CLEAN, readings(), HELD)
    assert found["server"].cores == pytest.approx(0.9 - 0.6)
    assert found["driver"].cores == pytest.approx(0.5 - 0.3)


@pytest.mark.parametrize("told", ["apart", None])
def test_interrupts_that_are_or_may_be_in_nobodys_time_are_taken_off(told):
    found = taken(counting(told), readings(), HELD)
    assert found["server"].cores == pytest.approx(0.9 - 0.1 - 0.6)


def test_only_what_was_waited_for_was_missing():
    found = taken(CLEAN, readings(), HELD)
    assert found["server"].missed_cores == pytest.approx(0.25)
    assert found["driver"].missed_cores == pytest.approx(0.01)


def test_a_server_that_waits_for_itself_misses_no_more_than_others_took():
    found = taken_from(CLEAN, readings(run_delay_s=7.0), "server", HELD)
    assert found is not None
    assert found.missed_cores == found.cores == pytest.approx(0.3)


def test_threads_that_were_not_seen_waited_like_those_that_were():
    half = taken_from(CLEAN, readings(run_delay_s=0.1, run_time_s=0.4), "server", HELD)
    assert half is not None
    assert half.run_delay_cores == pytest.approx(0.1 * 0.6 / 0.4)


@pytest.mark.parametrize("unseen", [{"without": ("run_delay_s",)}, {"run_time_s": 0.1}])
def test_where_run_delay_is_unknown_all_that_others_took_was_missing(unseen):
    found = taken_from(CLEAN, readings(**unseen), "server", HELD)
    assert found is not None
    assert found.run_delay_cores is None
    assert found.missed_cores == pytest.approx(0.3)


def test_others_never_took_less_than_nothing():
    found = taken_from(CLEAN, readings(core0_busy_s=0.3), "server", HELD)
    assert found is not None
    assert found.cores == 0.0


@pytest.mark.parametrize(
    "missing", ["cpu_user_s", "cpu_system_s", "core0_busy_s", "core0_interrupt_s"]
)
def test_what_others_took_is_unknown_when_any_part_is(missing):
    assert taken(counting("apart"), readings(without=(missing,)), HELD) == {}


def test_on_shared_cores_it_is_one_number_for_both():
    found = taken(shared(), readings(), HELD)
    assert found.keys() == {"both"}
    assert found["both"].cores == pytest.approx(1.4 - 0.6 - 0.3)
    assert found["both"].run_delay_cores == pytest.approx(0.26)
    assert taken_from(shared(), readings(), "server", HELD) is None


def test_the_servers_cores_are_full_with_what_others_took():
    assert full_ratio(CLEAN, readings()) == pytest.approx(0.85)
    assert full_ratio(shared(), readings()) == pytest.approx(0.3)
    assert full_ratio(CLEAN, readings(without=("cpu_user_s",))) is None


def test_a_core_that_the_hypervisor_withheld_is_not_free():
    stolen = {"core0_steal_s": 0.05, "core1_steal_s": 0.2}
    assert full_ratio(CLEAN, readings(**stolen)) == pytest.approx(0.9)
    assert disturbance.withheld(CLEAN, readings(**stolen)) == pytest.approx({"driver": 0.2})
    assert disturbance.withheld(shared(), readings(**stolen)) == pytest.approx({"both": 0.25})
    assert disturbance.withheld(CLEAN, readings(without=("core1_steal_s",), **stolen)) == {}
    clean = disturbance.driver_peak(CLEAN, readings())
    robbed = disturbance.driver_peak(CLEAN, readings(**stolen))
    assert clean is not None
    assert robbed is not None
    assert robbed.own == clean.own
    assert robbed.wanted == pytest.approx(clean.wanted + 0.2)


@pytest.mark.parametrize(
    ("server_busy", "lost"),
    [
        (0.3, 1 - 0.9 * 0.8 * 0.99),  # each idles while the other has no core, or waits for one
        (0.89, 0.1),  # a server that never idles lost what its own core lost
    ],
)
def test_a_core_that_the_hypervisor_withheld_stands_still(server_busy, lost):
    changed = {"cpu_user_s": 0.0, "cpu_system_s": server_busy, "core0_busy_s": server_busy}
    stolen = {"core0_steal_s": 0.1, "core1_steal_s": 0.2}
    found = disturbance.lost(CLEAN, readings(**changed, **stolen), HELD)
    assert found is not None
    assert found.ratio == pytest.approx(lost)
    assert found.stolen == pytest.approx({"server": 0.1, "driver": 0.2})
    assert found.least <= found.ratio


@pytest.mark.parametrize(
    ("busy", "least"),
    [
        (0.3, 0.25),  # the driver waited for longer, and worked or waited for more than half
        (0.2, 0.0),  # neither side was busy, or waited, for half of the time
    ],
)
def test_waits_of_both_sides_that_fall_together_cost_the_longer_one(busy, least):
    server = {("server", "cpu_user_s"): 0.0, ("server", "cpu_system_s"): 0.2}
    driver = {("driver", "cpu_user_s"): 0.0, ("driver", "cpu_system_s"): busy}
    machine = {("machine", "core0_busy_s"): 0.4, ("machine", "core1_busy_s"): busy + 0.25}
    delays = {("server", "run_delay_s"): 5.0, ("driver", "run_delay_s"): 5.0}
    ran = {("server", "run_time_s"): 0.2, ("driver", "run_time_s"): busy}
    quiet = {name: 0.0 for name in RATES if name[1].endswith(("interrupt_s", "steal_s"))}
    rates = {**quiet, **server, **driver, **machine, **delays, **ran}
    rows = ((float(at_s), *name, at_s * rate) for name, rate in rates.items() for at_s in range(6))
    found = disturbance.lost(CLEAN, usage(usage_rows(*rows)), HELD)
    assert found is not None
    assert found.least == pytest.approx(least)
    assert found.ratio == pytest.approx(1 - 0.8 * 0.75)


@pytest.mark.parametrize(
    ("busy", "lost"),
    [
        (0.3, 1 - 0.8 * 0.75),  # both wait, each while the other works or waits
        (0.7, 0.3),  # a driver that used 70 % of its core cannot do more than 1 / 0.7 of that
    ],
)
def test_no_side_lost_more_than_it_left_of_its_own_cores(busy, lost):
    server = {("server", "cpu_user_s"): 0.0, ("server", "cpu_system_s"): 0.3}
    driver = {("driver", "cpu_user_s"): 0.0, ("driver", "cpu_system_s"): busy}
    machine = {("machine", "core0_busy_s"): 0.5, ("machine", "core1_busy_s"): busy + 0.25}
    delays = {("server", "run_delay_s"): 5.0, ("driver", "run_delay_s"): 5.0}
    ran = {("server", "run_time_s"): 0.3, ("driver", "run_time_s"): busy}
    quiet = {name: 0.0 for name in RATES if name[1].endswith(("interrupt_s", "steal_s"))}
    rates = {**quiet, **server, **driver, **machine, **delays, **ran}
    rows = ((float(at_s), *name, at_s * rate) for name, rate in rates.items() for at_s in range(6))
    found = disturbance.lost(CLEAN, usage(usage_rows(*rows)), HELD)
    assert found is not None
    assert found.ratio == pytest.approx(lost)


def test_threads_that_wait_for_each_other_on_shared_cores_lose_no_more_than_others_had():
    """Two cores, 1.2 of them busy with server and driver: at most 40 % was lost."""
    changed = {"core0_busy_s": 1.0, "core1_busy_s": 1.0, "run_delay_s": 4.0, "run_time_s": 0.6}
    cpu = {"cpu_user_s": 0.3, "cpu_system_s": 0.3, "core0_interrupt_s": 0.0}
    found = disturbance.lost(shared(), readings(**changed, **cpu, core1_interrupt_s=0.0), HELD)
    assert found is not None
    assert found.ratio <= 0.4 + 1e-9


def test_only_what_was_missing_is_worth_a_word():
    assert noted(CLEAN, readings()).keys() == {"server"}
    assert noted(CLEAN, readings(run_delay_s=0.01)) == {}


def test_the_drivers_longest_pause_is_that_of_the_readings_that_touch_a_stretch():
    pauses = ((1.0, 0.001), (2.0, 0.3), (3.0, 0.002), (4.0, 0.004))
    rows = ((at_s, "driver", "longest_pause_s", pause_s) for at_s, pause_s in pauses)
    read = usage(usage_rows(*rows))
    starts = np.array([1_500_000_000, 2_100_000_000, 4_100_000_000])
    ends = np.array([1_600_000_000, 3_500_000_000, 4_200_000_000])
    assert longest_pauses_s(read, starts, ends).tolist() == [0.3, 0.004, 0.0]
    assert longest_pauses_s(usage(None), starts, ends).tolist() == [0.0, 0.0, 0.0]


def test_limits_of_a_share_that_speaks_are_within_it():
    assert 0 < disturbance.LEAST_SEEN <= 1
    assert TakenTime(0.2, None).missed_cores == 0.2


def test_a_driver_on_other_hosts_takes_nothing_from_the_server_and_shares_no_core_with_it():
    assert CLEAN.driver is not None
    clock = HostClock(0, 0.0, 1000, 500)
    driver = replace(CLEAN.driver, cores=())
    one = HostDriver("one", 1.0, clock, 0, 4_000_000_000, driver)
    apart = replace(CLEAN, driver=driver, hosts=(one,))
    assert are_apart(apart)
    assert not are_apart(replace(CLEAN, driver=driver))
    assert [*taken(apart, readings(), HELD)] == ["server"]
    assert taken(apart, readings(), HELD)["server"].cores == pytest.approx(0.9 - 0.6)
    assert taken_from(apart, readings(), "driver", HELD) is None
