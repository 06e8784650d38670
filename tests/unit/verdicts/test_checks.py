"""Each check on recordings that pass and recordings that do not."""

import importlib
import pkgutil
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow.compute as pc
import pytest

from plimsoll.aggregate.usage import Series, Usage
from plimsoll.recording import Driver, Ending
from plimsoll.verdicts import checks
from plimsoll.verdicts.limits import LIMITS, Limit, Limits
from recordings import as_mix, as_open, simulate

CLEAN = simulate()


def on_two_hosts(trial, offset_ns):
    """The same trial, as if a second host had taken part."""
    machines = {**trial.recording.machines, "other": {}}
    offsets = {"local": 0} if offset_ns is None else {"local": 0, "other": offset_ns}
    recording = replace(trial.recording, machines=machines, clock_offsets_ns=offsets)
    return replace(trial, recording=recording)


LADDER = {"warm_up_s": 0, "ramp_s": 9.0, "ramp_steps": 3, "connections": 36}
CLEAN_OF = {
    "arrivals_as_asked": as_open(CLEAN, 1995.0),
    "mix_as_intended": as_mix(CLEAN, 0.25),
    "link_headroom": simulate(link_bits_per_s=1e9),
    "scalability_law": simulate(**LADDER),
    "clocks_agree": on_two_hosts(CLEAN, 1_000_000),
    "energy_net": simulate(power_w=(20.0, 55.0)),
}
"""Trials that a check applies to, where it does not to every one."""
OF_FIGURES = {
    ("timeout_floor", "floor_ratio"),
    ("link_headroom", "link_ratio"),
    ("cpu_bounds", "driver_ratio"),
}
"""Limits that only published figures have, under the name of a check that trials have, too."""
OF_CAMPAIGNS = {("scalability_law", "loads_efficiency")}
"""Limits that only campaigns have."""
BUSY = {"failures": {"reset_waiting": 0.0004}, "overflows": 0, "queue": 60, "backlog": 128}

TRIALS = [
    # check, level, what is wrong, what the statement must say
    ("ran_to_its_end", "doubtful", {"hold_s": 4.0, "hold_asked_s": 4.1}, ["4.1 s", "4 s"]),
    ("ran_to_its_end", "void", {"hold_s": 2.0, "hold_asked_s": 4.0}, ["4 s", "2 s"]),
    (
        "ran_to_its_end",
        "void",
        {"ending": Ending("DiedUnderLoad", "`go` ended with signal 9", "Look into `server.log`")},
        ["`go` ended with signal 9"],
    ),
    ("ran_to_its_end", "void", {"ended_by": "storage"}, ["could not write"]),
    ("conservation", "void", {"drop_ratio": 0.001}, ["against", "rows"]),
    ("conservation", "void", {"lost_rows": 4}, ["4 requests"]),
    ("answers_right", "doubtful", {"failures": {"wrong_body": 0.004}}, ["other content"]),
    ("answers_right", "void", {"failures": {"wrong_status": 0.02}}, ["another status code"]),
    (
        "answers_right",
        "void",
        {"contract": {"before": [], "after": ["`/2048` answered 500"]}},
        ["after the load `/2048` answered 500"],
    ),
    ("answers_right", "doubtful", {"contract": {}}, ["before and after", "contract"]),
    ("answers_right", "doubtful", {"bodies_compared": 0}, ["not one body"]),
    (
        "failures_explained",
        "doubtful",
        {"failures": {"reset_waiting": 0.02}},
        ["reset while waiting for the answer (ECONNRESET)", " %"],
    ),
    ("failures_explained", "void", {"failures": {"closed_early": 0.08}}, ["closed by the server"]),
    (
        "failures_explained",
        "doubtful",
        {"failures": {"reset_waiting": 0.0005}, "forget_errno": True},
        ["`reset_waiting`", "error number is missing"],
    ),
    ("failures_explained", "void", {"starved": 20}, ["not one request was answered"]),
    ("connections_as_asked", "void", {"missing": 1}, ["19 of 20"]),
    ("connections_as_asked", "doubtful", {"missing": 1, "connections": 150}, ["149 of 150"]),
    ("connections_as_asked", "void", {"starved": 2}, ["never got a byte"]),
    ("evenly_served", "void", {"idle": 2}, ["2 of 20", "no complete answer"]),
    (
        "evenly_served",
        "doubtful",
        {"connections": 2000, "throughput_per_s": 1000.0},
        ["2,000 connections", "may be chance"],
    ),
    ("connections_as_asked", "doubtful", {"without": ("connections_open",)}, ["not be read"]),
    (
        "timeout_floor",
        "void",
        {"drop_ratio": 0.99, "timeout_s": 0.2},
        ["none for longer than 200 ms"],
    ),
    ("round_trip_floor", "void", {"round_trip_s": 0.05}, ["least round trip", "50 ms"]),
    ("both_ends_agree", "doubtful", {"unseen": 0.005}, ["the driver counted", "the kernel"]),
    ("both_ends_agree", "void", {"unseen": 0.1}, ["40 handshakes, the kernel 36"]),
    ("both_ends_agree", "void", {"server_sockets": 0.7}, ["20 connections open", "had 14"]),
    ("both_ends_agree", "doubtful", {"server_sockets": 1.08}, ["had 22"]),
    ("cpu_bounds", "void", {"server_busy": 1.2}, ["1.2 cores busy of the 1 core"]),
    ("cpu_bounds", "doubtful", {"without": ("cpu_user_s",)}, ["could not be read"]),
    (
        "cpu_bounds",
        "doubtful",
        {**LADDER, "speeds": {6.0: 0.7}},
        ["an answer cost the server", "more than at lower levels"],
    ),
    ("segments_lost", "doubtful", {"retransmits": 90}, ["90 of", "sent again"]),
    ("segments_lost", "doubtful", {"without": ("tcp_retransmits",)}, ["could not be read"]),
    ("segments_lost", "doubtful", {"rising": {"machine.tcp_resets_sent": 30.0}}, ["were reset"]),
    ("backlog", "doubtful", {"rising": {"machine.syncookies_sent": 3.0}}, ["SYN cookies"]),
    ("link_headroom", "doubtful", {"link_bits_per_s": 42e6}, ["42 Mbit/s of the link"]),
    ("link_headroom", "void", {"link_bits_per_s": 30e6}, ["30 Mbit/s of the link"]),
    ("ports_and_files", "doubtful", {"files_ratio": 0.97}, ["97 % of the files"]),
    ("ports_and_files", "doubtful", {"failures": {"no_port": 0.002}}, ["no port"]),
    ("ports_and_files", "void", {"failures": {"too_many_files": 0.05}}, ["no file"]),
    ("host_kept_pace", "doubtful", {"frequency_fall": 0.4}, ["2.49 GHz", "mean frequency"]),
    ("host_kept_pace", "doubtful", {"throttled": 0.02}, ["2 % of the hold"]),
    ("host_kept_pace", "void", {"throttled": 0.2}, ["20 % of the hold"]),
    ("memory_sufficed", "doubtful", {"swapped_per_s": 500.0}, ["pages a second were swapped"]),
    ("memory_sufficed", "doubtful", {"rising": {"server.major_faults": 50.0}}, ["disk 50.0 times"]),
    ("memory_sufficed", "doubtful", {"rising": {"machine.pressure_memory_s": 0.2}}, ["20 %"]),
    (
        "host_kept_pace",
        "doubtful",
        {"rising": {"machine.pressure_io_s": 0.5}},
        ["waited for a disk"],
    ),
    (
        "host_kept_pace",
        "doubtful",
        {"rising": {"machine.thermal_throttles": 3.0}},
        ["by their heat"],
    ),
    ("memory_sufficed", "doubtful", {"killed": 1}, ["killed 1 process for want"]),
    (
        "ceiling_explained",
        "doubtful",
        {"server_busy": 0.4, "driver_busy": 0.3},
        ["40 % of its cores", "nothing that can be read was full"],
    ),
    ("ceiling_explained", "doubtful", {"without": ("cpu_user_s",)}, ["nobody knows"]),
    ("littles_law", "doubtful", {"drop_ratio": 0.1}, ["20", "missing from the record"]),
    ("littles_law", "void", {"drop_ratio": 0.2}, ["missing from the record"]),
    ("littles_law", "void", {"in_flight_factor": 0.9}, ["more than can have been"]),
    ("littles_law", "doubtful", {"idle": 2}, ["room for", "waited in the driver", "not used"]),
    ("littles_law", "void", {"idle": 4}, ["not used"]),
    ("littles_law", "doubtful", {"without": ("in_flight_mean",)}, ["could not be read"]),
    ("backlog", "doubtful", {"overflows": 9, "overflow_stage": "ramp"}, ["9 in the ramp"]),
    (
        "backlog",
        "void",
        {"overflows": 9, "overflow_stage": "hold", "backlog": 128},
        [
            "in the hold alone the listen queue was full 9 times",
            "128 places (`net.core.somaxconn` 4,096)",
            "9 in the hold (on this host ListenOverflows 9, ListenDrops 9)",
            "of 20 connections asked for, 40 were opened and 40 answered",
        ],
    ),
    (
        "backlog",
        "doubtful",
        {"overflows": 9, "overflow_stage": "ramp", "own_drops": False, "backlog": 16},
        ["9 in the ramp", "16 places"],
    ),
    ("backlog", "doubtful", {"queue": 120, "backlog": 128}, ["94 % full", "120"]),
    (
        "backlog",
        "doubtful",
        {"without": ("listen_overflows", "listen_drops"), "own_drops": False},
        ["could not be read"],
    ),
    ("steady", "doubtful", {"growth": 1.0}, ["rose by", "% of its median"]),
    ("steady", "doubtful", {"growth": -0.3}, ["fell by", "% of its median"]),
    ("steady", "void", {"growth": 9.0}, ["rose by"]),
    (
        "steady",
        "doubtful",
        {"ramp_s": 0, "hold_s": 12.0, "speeds": {0.0: 0.6, 4.0: 1.0}},
        ["the hold has a warm-up", " to 1,99", "below its steady state"],
    ),
    (
        "steady",
        "doubtful",
        {"ramp_s": 0, "hold_s": 12.0, "speeds": {5.0: 0.7}},
        ["the hold has a slowdown", "above its steady state"],
    ),
    (
        "steady",
        "doubtful",
        {"ramp_s": 0, "hold_s": 12.0, "speeds": {4.0: 0.6, 7.0: 1.0, 10.0: 0.7}},
        ["no steady state"],
    ),
    ("steady", "void", {"freeze_s": (3.9, 5.1)}, ["nothing was answered in 1 second", ": 4"]),
    (
        "driver_headroom",
        "doubtful",
        {"driver_busy": 0.95, "server_busy": 0.97},
        ["95 % busy", "the server was at its limit", "3.2 % more", "contain its delays"],
    ),
    (
        "driver_headroom",
        "void",
        {"driver_busy": 0.95, "server_busy": 0.5},
        ["the driver was the limit"],
    ),
    (
        "driver_headroom",
        "doubtful",
        {"driver_busy": 0.85, "server_busy": 0.5},
        ["the driver was close to its limit"],
    ),
    (
        "driver_headroom",
        "void",
        {"others_busy": 0.5, "server_busy": 0.4, "driver_busy": 0.45},
        ["other programs took", "nobody knows"],
    ),
    ("undisturbed", "doubtful", {"others_busy": 0.1, "server_busy": 0.8}, ["20 % of a core"]),
    ("undisturbed", "void", {"others_busy": 0.2, "server_busy": 0.8}, ["40 % of a core"]),
    ("undisturbed", "doubtful", {"stolen": 0.02}, ["2 % of its processor time"]),
    ("undisturbed", "void", {"stolen": 0.2}, ["20 % of its processor time"]),
    ("undisturbed", "doubtful", {"without": ("core0_interrupt_s",)}, ["could not be read"]),
    (
        "driver_headroom",
        "doubtful",
        {
            "driver_cores": (0, 1),
            "server_cores": (0, 1),
            "server_busy": 1.6,
            "driver_busy": 0.35,
        },
        ["share 2 cores", "each took time from the other"],
    ),
    (
        "driver_headroom",
        "doubtful",
        {"ceiling_per_s": 2200.0},
        ["of the 2,200 that the driver can do at most"],
    ),
    ("driver_headroom", "doubtful", {"longest_pause_ns": 50_000_000}, ["50 ms"]),
    ("driver_headroom", "void", {"longest_pause_ns": 200_000_000}, ["200 ms"]),
    (
        "driver_headroom",
        "doubtful",
        {"without": ("cpu_user_s", "core1_busy_s")},
        ["could not be read"],
    ),
]

PASSES = [
    ("ran_to_its_end", {"hold_s": 4.0, "hold_asked_s": 4.03}),
    ("conservation", {"failures": {"reset_waiting": 0.05, "wrong_body": 0.05}, "missing": 1}),
    ("answers_right", {"failures": {"reset_waiting": 0.05}}),
    ("failures_explained", BUSY),
    ("connections_as_asked", {"connections": 150, "throughput_per_s": 20_000.0}),
    ("evenly_served", {"connections": 150, "throughput_per_s": 20_000.0}),
    ("timeout_floor", {"starved": 20}),
    ("timeout_floor", {"timeout_s": 0.5, "starved": 3}),
    (
        "round_trip_floor",
        {"without": ("round_trip_min_s",), "service_ns": 90_000, "connections": 1},
    ),
    ("both_ends_agree", {"failures": {"reset_waiting": 0.01}}),
    ("both_ends_agree", {"without": ("connections_established",)}),
    ("cpu_bounds", {"server_busy": 1.02}),
    ("cpu_bounds", {**LADDER, "speeds": {6.0: 0.9}}),
    ("segments_lost", {"retransmits": 9}),
    ("ports_and_files", {"resting_ports": 9_000_000}),
    ("host_kept_pace", {"without": ("frequency_hz", "thermal_throttles")}),
    ("memory_sufficed", {"without": ("pressure_memory_s", "oom_kills"), "swapped_per_s": 3.0}),
    ("ceiling_explained", {"connections": 4, "server_busy": 0.4, "driver_busy": 0.3}),
    ("ceiling_explained", {"server_busy": 0.4, "driver_busy": 0.95}),
    ("littles_law", {"failures": {"timed_out_waiting": 0.05}, "freeze_s": (4.0, 5.0)}),
    ("littles_law", {"starved": 3, "lag_ns": 100_000}),
    ("littles_law", {"lag_ns": 3_000_000}),
    ("backlog", BUSY),
    ("backlog", {"others_overflows": 50}),
    ("backlog", {"others_overflows": 50, "own_drops": False}),
    ("backlog", {"stray_drops": 50}),
    ("steady", {"growth": 0.1}),
    ("steady", {"ramp_s": 0, "hold_s": 12.0}),
    ("steady", {"ramp_s": 0, "hold_s": 12.0, "speeds": {0.0: 0.9, 2.0: 1.0}}),
    ("steady", {"throughput_per_s": 50.0, "growth": 0.3, "connections": 2}),
    ("undisturbed", {"others_busy": 0.02, "server_busy": 0.8}),
    ("driver_headroom", {"driver_busy": 0.79}),
    ("driver_headroom", {"driver_cores": (0, 1), "server_cores": (0, 1), "server_busy": 1.0}),
    (
        "steady",
        {"ramp_s": 0, "hold_s": 12.0, "speeds": {5.0: 0.915, 9.0: 1.0}},
    ),
    ("driver_headroom", {"ceiling_per_s": 20_000.0}),
]


MADE = {}


def made(options):
    """A simulated trial; each is made once."""
    key = repr(sorted(options.items()))
    if key not in MADE:
        MADE[key] = simulate(**options)
    return MADE[key]


def driver_of(trial) -> Driver:
    driver = trial.recording.driver
    assert driver is not None
    return driver


def judged(check, trial):
    module = importlib.import_module(f"plimsoll.verdicts.checks.{check}")
    return module.judge(trial, Limits(trial.recording.limits))


def test_every_module_of_the_folder_is_a_check():
    names = [module.name for module in pkgutil.iter_modules(checks.__path__)]
    assert sorted(check.NAME for check in checks.CHECKS) == sorted(names)


@pytest.mark.parametrize("check", checks.CHECKS, ids=lambda check: check.NAME)
def test_every_check_says_its_formula_and_its_source(check):
    assert "\nSource:" in check.__doc__
    assert check.SOURCE


@pytest.mark.parametrize("check", checks.CHECKS, ids=lambda check: check.NAME)
def test_a_clean_trial_passes(check):
    given = check.judge(CLEAN_OF.get(check.NAME, CLEAN), Limits())
    assert given.level == "sound", given
    assert given.measured is not None
    assert given.remedy == ""
    assert given.subject == CLEAN.recording.trial


@pytest.mark.parametrize("check", CLEAN_OF)
def test_what_a_load_does_not_ask_for_is_not_doubted_and_says_why(check):
    given = judged(check, CLEAN)
    assert (given.level, given.measured, given.remedy) == ("sound", None, "")
    assert given.statement.endswith(".")


@pytest.mark.parametrize(
    ("trial", "level", "words"),
    [
        (as_open(CLEAN, 2050.0), "doubtful", "2,050 arrivals per second were asked for"),
        (as_open(CLEAN, 1940.0), "doubtful", "1,940 arrivals per second were asked for"),
        (as_open(CLEAN, 2500.0), "void", "2,500 arrivals per second were asked for"),
        (as_open(CLEAN, 1995.0, late_ns=4_000_000), "doubtful", "4 ms after it was due"),
        (as_open(CLEAN, 1995.0, late_ns=40_000_000), "void", "40 ms after it was due"),
        (as_open(CLEAN, 2050.0, arrivals="poisson"), "sound", "2,050 arrivals per second"),
    ],
)
def test_arrivals_that_differ_from_the_schedule_do_not_pass(trial, level, words):
    given = judged("arrivals_as_asked", trial)
    assert given.level == level, given
    assert words in given.statement


@pytest.mark.parametrize(("share", "level"), [(0.25, "sound"), (0.29, "doubtful"), (0.4, "void")])
def test_a_mix_other_than_asked_for_does_not_pass(share, level):
    given = judged("mix_as_intended", as_mix(CLEAN, share))
    assert given.level == level, given
    assert "were asked for" in given.statement


def test_a_level_that_gains_by_more_connections_is_doubtful():
    given = judged("scalability_law", simulate(**LADDER, speeds={0.0: 0.1, 6.0: 1.0}))
    assert given.level == "doubtful"
    assert "a server cannot gain by more connections" in given.statement


JUMPS = {"warm_up_s": 0, "ramp_s": 15.0, "ramp_steps": 5, "connections": 100}


def test_levels_that_follow_the_scalability_law_are_sound_and_told():
    given = judged("scalability_law", simulate(**JUMPS))
    assert given.level == "sound"


def test_a_throughput_that_jumps_between_levels_follows_no_law():
    given = judged("scalability_law", simulate(**JUMPS, speeds={6.0: 0.4, 9.0: 1.0}))
    assert given.level == "doubtful"
    assert "the universal scalability law explains" in given.statement.lower()
    assert "it is wrong by" in given.statement


@pytest.mark.parametrize(
    ("offset_ns", "level", "words"),
    [
        (-4_000_000, "sound", "differ by up to 4 ms"),
        (6_000_000, "doubtful", "`other`"),
        (-60_000_000, "void", "60 ms"),
        (None, "doubtful", "is not recorded"),
    ],
)
def test_clocks_of_several_hosts_must_agree(offset_ns, level, words):
    given = judged("clocks_agree", on_two_hosts(CLEAN, offset_ns))
    assert given.level == level
    assert words in given.statement


@pytest.mark.parametrize(
    ("options", "level", "words"),
    [
        ({"power_w": (20.0, 55.0)}, "sound", "answers per joule of the difference"),
        ({"power_w": (20.0, 20.5)}, "doubtful", "cannot be told from its scatter"),
        ({"power_w": (20.0, 55.0), "idle_s": 10}, "doubtful", "measured for 10 s before"),
    ],
)
def test_energy_is_told_net_of_the_idle_host(options, level, words):
    trial = simulate(**options)
    given = judged("energy_net", trial)
    assert given.level == level, given
    assert words in given.statement
    known = trial.summary["requests_per_joule"]
    assert (known is None) == ("cannot be told" in words)
    if known is not None:
        assert known == pytest.approx(trial.summary["throughput_per_s"] / 35.0, rel=0.02)


@pytest.mark.parametrize("without", [("energy_j", "idle_energy_j"), ("idle_energy_j",)])
def test_energy_that_is_not_known_is_said_to_be_unknown_and_no_figure_is_given(without):
    trial = simulate(power_w=(20.0, 55.0), without=without)
    given = judged("energy_net", trial)
    assert given.measured is None
    assert given.statement.startswith("Unknown, for ")
    assert trial.summary["requests_per_joule"] is None
    assert trial.summary["net_power_w"] is None


def with_readings(trial, scope, quantity, *readings):
    """The same trial with other readings of one quantity: instants in seconds, and values."""
    at_s, values = zip(*readings, strict=True)
    series = Series(np.array([int(s * 1e9) for s in at_s]), np.array(values, dtype=float))
    changed = replace(trial)
    changed.__dict__["usage"] = Usage({**trial.usage.series, (scope, quantity): (series,)})
    return changed


@pytest.mark.parametrize(
    ("kernels", "level"),
    [
        ([(2.0, 1), (3.0, 20)], "sound"),
        ([(2.0, 1), (3.0, 20), (4.0, 1)], "sound"),
        ([(3.0, 1), (4.0, 1), (4.9, 20)], "void"),
    ],
)
def test_a_reading_before_the_drivers_first_word_is_not_held_against_it(kernels, level):
    trial = simulate(warm_up_s=0, ramp_s=0, connections=20)
    told = with_readings(trial, "driver", "connections_open", (3.0, 20), (4.0, 20), (5.0, 20))
    given = judged(
        "both_ends_agree", with_readings(told, "server", "connections_established", *kernels)
    )
    assert given.level == level, given


@pytest.mark.parametrize(
    ("p25_ms", "p75_ms", "told"), [(43.6, 43.9, True), (40.1, 44.0, True), (20.0, 43.9, False)]
)
def test_answers_that_wait_for_an_acknowledgement_are_known_by_their_time(p25_ms, p75_ms, told):
    trial = simulate(server_busy=0.04, driver_busy=0.02)
    times = {"service_time_p25_ns": p25_ms * 1e6, "service_time_p75_ns": p75_ms * 1e6}
    changed = replace(trial)
    changed.__dict__["summary"] = {**trial.summary, **times}
    given = judged("ceiling_explained", changed)
    assert given.level == "doubtful"
    assert ("but half of all answers took" in given.statement) is told
    assert ("TCP_NODELAY" in given.remedy) is told


def test_a_core_that_other_programs_filled_was_not_the_drivers_limit():
    made = simulate(others_busy=0.5, server_busy=0.4, driver_busy=0.45)
    given = judged("ceiling_explained", made)
    assert given.level == "sound"
    assert "other programs took" in given.statement
    assert "the driver was the limit" not in given.statement


def counted_by_the_server(trial, **changes):
    """The same trial, of a server that counts itself."""
    driver, server = trial.recording.driver, trial.recording.server
    received = sum(kind.received_bytes for kind in trial.kind_counts)
    own = {
        "requests_received": driver.sent + 40,
        "requests_answered": driver.outcomes["ok"] + 40,
        "sent_bytes": received + 90_000,
        **changes,
    }
    recording = replace(trial.recording, server=replace(server, counted=own))
    return replace(trial, recording=recording)


@pytest.mark.parametrize(
    ("changes", "level", "words"),
    [
        ({}, "sound", ""),
        ({"requests_answered": 9_000}, "void", "complete answers, the server itself gave 9,000"),
        ({"requests_received": 100_000}, "void", "server itself received 100,000 requests"),
        ({"sent_bytes": 1_000}, "void", "bytes of answers, the server itself gave 1,000"),
    ],
)
def test_the_servers_own_count_is_a_third_witness(changes, level, words):
    given = judged("both_ends_agree", counted_by_the_server(CLEAN, **changes))
    assert given.level == level, given
    assert words in given.statement


def test_what_a_host_does_not_say_is_named_as_unknown_and_not_passed():
    hidden = ("frequency_hz", "thermal_throttles")
    given = judged("host_kept_pace", simulate(without=hidden))
    assert given.level == "sound"
    assert given.statement.endswith("does not say: frequency, thermal throttling, energy.")
    every = (*hidden, "core_busy_s", "cgroup_throttled_s", "pressure_io_s")
    assert judged("host_kept_pace", simulate(without=every)).level == "doubtful"


def test_time_that_a_host_may_have_withheld_is_unknown_where_nothing_says_it():
    given = judged("undisturbed", simulate(without=("cpu_steal_s",)))
    assert given.statement.endswith("does not say: time withheld by the host of a virtual machine.")


def test_a_link_of_unknown_speed_is_doubted_only_where_much_is_carried():
    def without_speed(trial):
        recording = trial.recording
        server = replace(recording.server, link="eth0", link_bits_per_s=None)
        return replace(trial, recording=replace(recording, server=server))

    assert judged("link_headroom", without_speed(CLEAN)).level == "sound"
    much = judged("link_headroom", without_speed(simulate(body_bytes=8000)))
    assert much.level == "doubtful"
    assert "cannot be read" in much.statement


@pytest.mark.parametrize(("check", "options"), PASSES)
def test_a_trial_within_the_limits_passes(check, options):
    given = judged(check, made(options))
    assert given.level == "sound", given


@pytest.mark.parametrize(("check", "level", "options", "words"), TRIALS)
def test_a_trial_beyond_a_limit_does_not_pass(check, level, options, words):
    given = judged(check, made(options))
    assert given.level == level, given
    assert all(word.lower() in given.statement.lower() for word in words), given.statement
    assert given.remedy
    assert given.statement.endswith(".")


@pytest.mark.parametrize("check", checks.CHECKS, ids=lambda check: check.NAME)
def test_a_trial_that_left_no_tables_is_never_sound(check):
    if check.NAME in CLEAN_OF:
        return  # what was not asked for is nothing to doubt
    trial = simulate(tables=False)
    trial = replace(trial, recording=replace(trial.recording, driver=None, stages=()))
    assert check.judge(trial, Limits()).level != "sound"


@pytest.mark.parametrize(
    ("backlog", "somaxconn", "words"),
    [
        (128, 4096, "passes to listen (128; this host allows 4,096)"),
        (4096, 4096, "`sysctl net.core.somaxconn` (now 4,096)"),
    ],
)
def test_the_remedy_of_a_full_queue_names_what_to_change(backlog, somaxconn, words):
    trial = simulate(overflows=5, backlog=backlog, somaxconn=somaxconn, queue=1)
    assert words in judged("backlog", trial).remedy


def slower_answers():
    """Answers that take twice as long from some instant on, and are as many."""
    trial = simulate(ramp_s=0, hold_s=12.0)
    rows: Any = trial.requests
    sent, done = rows["sent_ns"], rows["done_ns"]
    earlier = pc.subtract(sent, pc.subtract(done, sent))
    longer = pc.if_else(pc.greater(done, 8 * 10**9), earlier, sent)
    index = rows.schema.get_field_index("sent_ns")
    rows = rows.set_column(index, rows.schema.field(index), longer)
    return replace(trial, requests=rows)


def test_answers_that_take_longer_at_the_same_throughput_are_no_steady_state():
    given = judged("steady", slower_answers())
    assert given.level == "doubtful"
    assert "The median answer took" in given.statement
    assert "without a steady state" in given.statement


def test_little_is_checked_against_the_drivers_clock_not_against_the_rows():
    rows: Any = CLEAN.requests
    done = pc.add(rows["sent_ns"], pc.divide(pc.subtract(rows["done_ns"], rows["sent_ns"]), 2))
    first = pc.min_element_wise(rows["first_byte_ns"], done, skip_nulls=False)
    shorter = rows.set_column(3, rows.schema.field(3), done)
    shorter = shorter.set_column(2, rows.schema.field(2), first)
    given = judged("littles_law", replace(CLEAN, requests=shorter))
    assert given.level == "void"
    assert given.measured == pytest.approx(0.5, abs=0.01)


def test_littles_law_is_checked_in_each_step_of_a_ramp():
    trial = simulate(**LADDER)
    rows: Any = trial.requests
    in_last_step = pc.greater(rows["due_ns"], 6 * 10**9)
    in_ramp = pc.less(rows["due_ns"], 9 * 10**9)
    dropped = pc.and_(
        pc.and_(in_last_step, in_ramp), pc.equal(pc.bit_wise_and(rows["sent_ns"], 3), 0)
    )
    given = judged("littles_law", replace(trial, requests=rows.filter(pc.invert(dropped))))
    assert given.level == "void"
    assert "In part 3 of 3 of the ramp" in given.statement
    assert "part 2" not in given.statement


def half_used():
    """A ramp whose last levels have half the throughput, and half of the connections in use."""
    trial = simulate(ramp_s=8.0, hold_s=2.0, warm_up_s=0, connections=40, starved=0)
    seconds: Any = trial.seconds
    later = pc.greater(seconds["second"], 5)
    fewer = pc.if_else(later, pc.divide(seconds["completed"], 2), seconds["completed"])
    used = pc.if_else(later, pc.multiply(seconds["in_flight"], 0.5), seconds["in_flight"])
    for name, values in (("completed", fewer), ("in_flight", used)):
        index = seconds.schema.get_field_index(name)
        seconds = seconds.set_column(index, seconds.schema.field(index), values)
    trial.__dict__["seconds"] = seconds
    return trial


def test_more_connections_that_are_not_used_are_doubtful():
    given = judged("scaling", half_used())
    assert given.level == "doubtful"
    assert "from 30 to 40 connections" in given.statement.lower()


def backwards():
    """Rows of requests that were sent before they were due."""
    rows: Any = CLEAN.requests
    late = rows.set_column(0, rows.schema.field(0), pc.add(rows["sent_ns"], 1))
    return replace(CLEAN, requests=late)


def without_ports():
    """A load that opens a connection for each request, and has used up its ports."""
    trial = made({"resting_ports": 20_000_000})
    load = trial.recording.load | {"keep_alive": False}
    return replace(trial, recording=replace(trial.recording, load=load))


def test_ports_that_rest_after_their_connections_are_doubtful():
    given = judged("ports_and_files", without_ports())
    assert given.level == "doubtful"
    assert "rested after their connections" in given.statement


@pytest.mark.parametrize(("more", "level"), [(0, "sound"), (1, "void")])
def test_a_driver_that_counts_requests_and_no_outcomes_is_compared_by_that(more, level):
    driver = driver_of(CLEAN)
    counting = replace(driver, outcomes={}, sent=(driver.sent or 0) + more)
    trial = replace(CLEAN, recording=replace(CLEAN.recording, driver=counting))
    assert judged("conservation", trial).level == level


def test_rows_that_cannot_have_happened_void_a_trial():
    given = judged("conservation", backwards())
    assert given.level == "void"
    assert "before they were sent" in given.statement


def test_connections_that_carry_one_request_each_need_not_be_held_open():
    load = CLEAN.recording.load | {"keep_alive": False}
    trial = simulate(idle=2)
    trial = replace(trial, recording=replace(trial.recording, load=load))
    given = judged("littles_law", trial)
    assert given.level == "sound"


@pytest.mark.parametrize(("ceiling_per_s", "is_told"), [(20_000.0, True), (None, False)])
def test_a_calibrated_driver_says_what_it_could_have_done_alone(ceiling_per_s, is_told):
    given = judged("driver_headroom", simulate(ceiling_per_s=ceiling_per_s))
    assert given.level == "sound"
    assert ("could have done 20,000 requests per second" in given.statement) is is_told


@pytest.mark.parametrize(
    ("hold_s", "words"), [(4.0, "cannot be told"), (12.0, "stayed on one level")]
)
def test_a_hold_without_a_trend_says_whether_it_was_long_enough_to_tell_more(hold_s, words):
    given = judged("steady", simulate(ramp_s=0, hold_s=hold_s))
    assert given.level == "sound"
    assert words in given.statement


def test_requests_without_an_answer_that_are_missing_are_not_taken_for_none():
    driver = replace(driver_of(CLEAN), failures_said=False)
    trial = replace(CLEAN, recording=replace(CLEAN.recording, driver=driver))
    given = judged("failures_explained", trial)
    assert (given.level, given.measured) == ("doubtful", None)
    assert "without an answer are missing" in given.statement


def test_instants_in_steps_of_a_second_do_not_tell_whether_a_hold_was_steady():
    trial = simulate(growth=9.0)
    driver = replace(driver_of(trial), instants_step_s=1.0)
    given = judged("steady", replace(trial, recording=replace(trial.recording, driver=driver)))
    assert (given.level, given.measured) == ("doubtful", None)
    assert "in steps of 1 s" in given.statement


BEYOND = [
    ("conservation", backwards),
    ("ports_and_files", without_ports),
    ("arrivals_as_asked", lambda: as_open(CLEAN, 2500.0)),
    ("arrivals_as_asked", lambda: as_open(CLEAN, 1995.0, late_ns=40_000_000)),
    ("mix_as_intended", lambda: as_mix(CLEAN, 0.4)),
    ("clocks_agree", lambda: on_two_hosts(CLEAN, 60_000_000)),
    ("energy_net", lambda: simulate(power_w=(20.0, 20.5), idle_s=10)),
    ("scalability_law", lambda: simulate(**LADDER, speeds={0.0: 0.1, 6.0: 1.0})),
    ("scalability_law", lambda: simulate(**JUMPS, speeds={6.0: 0.4, 9.0: 1.0})),
    ("both_ends_agree", lambda: counted_by_the_server(CLEAN, requests_received=100_000)),
    ("scaling", half_used),
    ("steady", slower_answers),
]
"""Trials beyond limits that no option makes."""

WITHIN = [
    *((check, lambda trial=trial: trial) for check, trial in CLEAN_OF.items()),
    ("both_ends_agree", lambda: counted_by_the_server(CLEAN)),
    ("scalability_law", lambda: simulate(**JUMPS)),
]
"""Trials within limits that no option makes."""


@pytest.mark.timeout(300)
def test_every_limit_of_a_check_has_a_recording_on_either_side(monkeypatch):
    """By the numbers that each check really compares: one within the limit, and one beyond it."""
    compared = set()
    level = Limit.level

    def noting(limit, measured):
        found = level(limit, measured)
        if measured is not None:
            compared.add((limit.check, limit.name, found != "sound"))
        return found

    monkeypatch.setattr(Limit, "level", noting)
    for check, _, options, _ in TRIALS:
        judged(check, made(options))
    for check, options in PASSES:
        judged(check, made(options))
    for check, trial in (*BEYOND, *WITHIN):
        judged(check, trial())
    for check in checks.CHECKS:
        check.judge(CLEAN, Limits())
    names = {check.NAME for check in checks.CHECKS}
    ours = {(limit.check, limit.name) for limit in LIMITS if limit.check in names}
    ours -= OF_FIGURES | OF_CAMPAIGNS
    sides = {(*limit, beyond) for limit in ours for beyond in (False, True)}
    missing = [f"{check}.{name} {beyond}" for check, name, beyond in sorted(sides - compared)]
    assert "\n".join(missing) == ""
