"""Speed of the machine: told by the load generator's work, and never by the server's."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from plimsoll.aggregate import machine_speed
from plimsoll.aggregate.usage import ReadingSeries, Usage
from recordings import SECOND_NS, simulate

SECONDS = 20
WINDOWS = [(second * SECOND_NS, (second + 1) * SECOND_NS) for second in range(SECONDS)]
WORK_S = 10e-6
"""Processor time of the load generator for a request, without wake-ups."""
WAKE_UP_S = 15e-6
RATE = 30_000.0


def usage(rates, woken, speeds, work_s=WORK_S):
    """Readings of a load generator that does the same work for each request, and for each wake-up.

    Args:
        rates: Requests in each second.
        woken: Wake-ups for a request in each second.
        speeds: The machine's speed in each second.
        work_s: Processor time for a request.
    """
    scatter = np.random.default_rng(1).normal(1, 0.005, SECONDS)
    ran = rates * (work_s + WAKE_UP_S * woken) / speeds * scatter
    series = {"requests_ended": rates, "voluntary_switches": rates * woken, "run_time_s": ran}
    at_ns = np.arange(SECONDS + 1, dtype=np.int64) * SECOND_NS
    return Usage(
        {
            ("driver", name): (ReadingSeries(at_ns, np.concatenate([[0.0], np.cumsum(values)])),)
            for name, values in series.items()
        }
    )


def slowed(by, creeping):
    """Speed of a server that loses so much, at once or creeping."""
    line = np.linspace(0, 1, SECONDS)
    return 1 - by * (line if creeping else (line > 0.5))


def batched(server):
    """Wake-ups for a request of a load generator that waits the more the slower the server is."""
    return 0.1 / server**3


WANDER = 1 + 0.2 * np.sin(np.arange(SECONDS))


def test_a_machine_that_wanders_is_told_second_by_second():
    found = machine_speed.speeds(usage(RATE * WANDER, np.full(SECONDS, 0.1), WANDER), WINDOWS)
    assert found == pytest.approx(WANDER / np.median(WANDER), rel=0.04)


@pytest.mark.parametrize(
    ("generating", "server", "is_known"),
    [
        (["lab"], "lab", True),
        (["one"], "server", False),
        (["one", "two"], "server", False),
        (["server", "two"], "server", False),
    ],
)
def test_a_load_generator_is_a_clock_of_its_own_machine_alone(generating, server, is_known):
    alone = usage(RATE * WANDER, np.full(SECONDS, 0.1), WANDER).series
    busy = ReadingSeries(np.array([0, SECOND_NS * SECONDS]), np.array([0.0, SECONDS]))
    machine = ("machine", "core_busy_s")
    hosts = {host: {key: one for key, (one,) in usage_of(alone).items()} for host in generating}
    hosts.setdefault(server, {})[machine] = busy
    series = {key: tuple(hosts[host][key] for host in generating) for key in alone}
    found = machine_speed.speeds(Usage({**series, machine: (busy,)}, hosts), WINDOWS)
    assert (not np.isnan(found).any()) is is_known


def usage_of(alone):
    """The same readings of another host."""
    return {key: (replace(one),) for key, (one,) in alone.items()}


@pytest.mark.parametrize("creeping", [False, True])
@pytest.mark.parametrize("by", [0.03, 0.1, 0.3])
def test_a_server_that_slows_by_itself_is_not_taken_for_the_machine(by, creeping):
    server = slowed(by, creeping)
    quiet = usage(RATE * server, batched(server), np.ones(SECONDS))
    raw = quiet.rates("driver", "run_time_s", WINDOWS) / (RATE * server)
    assert raw[-1] / raw[0] > 1 + by / 4
    found = machine_speed.speeds(quiet, WINDOWS)
    assert found == pytest.approx(np.ones(SECONDS), abs=0.05 * by + 0.02)


@pytest.mark.parametrize("creeping", [False, True])
@pytest.mark.parametrize("by", [0.03, 0.1, 0.3])
def test_on_a_machine_that_wanders_a_server_keeps_its_loss(by, creeping):
    server = slowed(by, creeping)
    rates = RATE * server * WANDER
    found = machine_speed.speeds(usage(rates, batched(server), WANDER), WINDOWS)
    left = rates / found
    half = SECONDS // 2
    truth = np.mean(server[half:]) / np.mean(server[:half])
    by_chance = 2 * WANDER.std() * np.sqrt(2 / half)
    assert np.mean(left[half:]) / np.mean(left[:half]) == pytest.approx(truth, abs=by_chance)


def test_what_goes_with_wake_ups_is_left_with_the_server_even_if_it_was_the_machine():
    slower = slowed(0.3, creeping=False)
    found = machine_speed.speeds(usage(RATE * slower, 0.1 / slower, slower), WINDOWS)
    assert np.ptp(found) < 0.1


def test_an_idle_load_generator_is_no_clock():
    idle = usage(np.full(SECONDS, 1000.0), np.full(SECONDS, 1.0), WANDER, work_s=20e-6)
    assert np.isnan(machine_speed.speeds(idle, WINDOWS)).all()


def test_few_seconds_tell_no_speed():
    busy = usage(np.full(SECONDS, RATE), np.full(SECONDS, 0.1), WANDER)
    few = machine_speed.FEWEST - 1
    assert np.isnan(machine_speed.speeds(busy, WINDOWS[:few])).all()
    assert not np.isnan(machine_speed.speeds(busy, WINDOWS[: few + 1])).any()


def test_a_last_second_in_which_the_threads_of_the_load_generator_had_ended_is_unknown():
    """Their last nanoseconds are nowhere, but the ticks of the process have them."""
    whole = usage(RATE * WANDER, np.full(SECONDS, 0.1), WANDER)
    (ran,) = whole.of("driver", "run_time_s")
    stale = ReadingSeries(ran.at_ns, np.append(ran.values[:-1], ran.values[-2] + 0.004))
    none = ReadingSeries(ran.at_ns, 0.0 * ran.values)
    told = {
        **whole.series,
        ("driver", "cpu_user_s"): (ReadingSeries(ran.at_ns, np.round(ran.values, 2)),),
        ("driver", "cpu_system_s"): (none,),
    }
    found = machine_speed.speeds(Usage({**told, ("driver", "run_time_s"): (stale,)}), WINDOWS)
    assert np.isnan(found[-1])
    assert found[:-1] == pytest.approx(WANDER[:-1] / np.median(WANDER[:-1]), rel=0.05)
    assert not np.isnan(machine_speed.speeds(Usage(told), WINDOWS)).any()


def controlled(speeds, at_s, parts=machine_speed.CONTROL):
    """Readings of a control that runs at some instants, on a machine of these speeds."""
    at_ns = np.array(np.asarray(at_s) * SECOND_NS, dtype=np.int64)
    took = {part: 0.005 * (place + 1) / np.asarray(speeds) for place, part in enumerate(parts)}
    return Usage({("machine", part): (ReadingSeries(at_ns, one),) for part, one in took.items()})


MIDDLES = np.arange(SECONDS) + 0.5


def test_the_control_tells_the_speed_where_the_load_generator_is_no_clock():
    assert np.isnan(machine_speed.speeds(controlled(WANDER, MIDDLES), WINDOWS)).all()
    found = machine_speed.measured_speeds(controlled(WANDER, MIDDLES), WINDOWS)
    assert found == pytest.approx(WANDER / np.median(WANDER), rel=1e-3)


def test_the_load_generator_tells_the_speed_where_it_is_a_clock():
    busy = usage(np.full(SECONDS, RATE), np.full(SECONDS, 0.1), WANDER)
    both = Usage({**busy.series, **controlled(1 / WANDER, MIDDLES).series})
    found = machine_speed.measured_speeds(both, WINDOWS)
    assert found == pytest.approx(machine_speed.speeds(busy, WINDOWS))


def test_a_control_without_loopback_has_the_other_parts():
    parts = machine_speed.CONTROL[:2]
    found = machine_speed.by_control(controlled(WANDER, MIDDLES, parts), WINDOWS)
    assert found == pytest.approx(WANDER / np.median(WANDER), rel=1e-3)


def test_a_control_that_ran_before_and_after_tells_no_seconds_of_the_load():
    found = machine_speed.by_control(controlled([1, 1, 0.9], [-0.2, -0.1, 20.5]), WINDOWS)
    assert np.isnan(found).all()


def test_seconds_have_what_was_measured_in_them():
    recording = simulate(ramp_s=0, warm_up_s=1.0, hold_s=4.0).recording
    readings = controlled([1.0, 0.5, 1.0], [-0.5, 2.5, 5.5])
    table = machine_speed.by_second(recording, readings)
    assert table.schema == machine_speed.BY_SECOND
    rows = {row.pop("second"): row for row in table.to_pylist()}
    assert sorted(rows) == [-1, 2, 5]
    assert [rows[second]["control_speed_ratio"] for second in (-1, 2, 5)] == [1.0, 0.5, 1.0]
    assert rows[2]["control_s"] == pytest.approx(2 * rows[5]["control_s"])
    assert {row["driver_speed_ratio"] for row in rows.values()} == {None}


def test_a_trial_without_any_clock_has_no_rows():
    recording = simulate(ramp_s=0, warm_up_s=1.0, hold_s=4.0).recording
    assert machine_speed.by_second(recording, Usage({})).num_rows == 0


SEEDS = 2000


def wandering(random, noise):
    """Logarithms of the machine's speed in each second of many trials: a wander with steps."""
    wander = np.cumsum(random.normal(0, 0.04, (SEEDS, SECONDS)), axis=1)
    steps = 0.2 * (np.cumsum(random.random((SEEDS, SECONDS)) < 0.2, axis=1) % 2)
    return noise * (wander + steps)


def left_of(losses, found):
    """How much of each loss is left, and the share of 95 % intervals that hold the true one."""
    half = SECONDS // 2
    late, early = found[:, half:], found[:, :half]
    mean = late.mean(axis=1) - early.mean(axis=1)
    error = np.sqrt((late.var(axis=1, ddof=1) + early.var(axis=1, ddof=1)) / half)
    truth = losses[half:].mean() - losses[:half].mean()
    holds = np.abs(mean - truth) <= stats.t.ppf(0.975, SECONDS - 2) * error
    return mean.mean() / truth, holds.mean()


@pytest.mark.parametrize("noise", [0, 1], ids=["quiet", "noisy"])
@pytest.mark.parametrize("creeping", [False, True], ids=["at once", "creeping"])
@pytest.mark.parametrize("by", [0.03, 0.1, 0.3])
def test_by_the_control_a_server_keeps_its_loss_in_full(by, creeping, noise):
    random = np.random.default_rng(round(1000 * by) + 2 * noise + creeping)
    speed, losses = wandering(random, noise), np.log(slowed(by, creeping))
    rates = losses + speed + random.normal(0, 0.02, speed.shape)
    control = speed + random.normal(0, 0.01, speed.shape)
    left, held = left_of(losses, rates - control)
    assert left == pytest.approx(1.0, abs=0.05)
    assert held >= 0.945 - 2 * np.sqrt(0.05 * 0.95 / SEEDS)
    if noise:
        raw_left, raw_held = left_of(losses, rates)
        assert raw_held < held
        assert abs(raw_left - 1) >= abs(left - 1) - 0.05


@pytest.mark.parametrize("by", [0.03, 0.1, 0.3])
def test_a_clock_that_moves_with_the_server_would_be_caught(by):
    random = np.random.default_rng(round(1000 * by))
    speed, losses = wandering(random, 1), np.log(slowed(by, creeping=False))
    rates = losses + speed + random.normal(0, 0.02, speed.shape)
    left, _ = left_of(losses, rates - (speed + 0.5 * losses))
    assert left < 0.6
