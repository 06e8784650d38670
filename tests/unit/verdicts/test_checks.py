"""Each check on recordings that pass and recordings that do not."""

import importlib
import pkgutil
import re
from dataclasses import replace
from itertools import cycle
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import sample
import turns
from plimsoll import wording
from plimsoll.aggregate import by_figures
from plimsoll.aggregate.check_inputs import ConnectionEnd, OutcomeCount
from plimsoll.aggregate.cores import all_cores as cores_read
from plimsoll.aggregate.engine_records import as_stored
from plimsoll.aggregate.rates import offered_s
from plimsoll.aggregate.trial import Tables
from plimsoll.aggregate.usage import ReadingSeries, Usage
from plimsoll.campaign.line_settings import TRY
from plimsoll.campaign.load import COUNTED_S, Stage, UnknownLoad
from plimsoll.recording import (
    HOST,
    ClockSetBack,
    Driver,
    Ending,
    ExpectedResponse,
    HostClock,
    HostDriver,
    NetworkLink,
    PowerSources,
    SampledBodies,
)
from plimsoll.report import contents
from plimsoll.sampling.samplers import power
from plimsoll.verdicts import catalogue, checks
from plimsoll.verdicts import judge as judging
from plimsoll.verdicts.catalogue import LIMITS
from plimsoll.verdicts.limits import Limit, Limits
from recordings import (
    as_load,
    as_mix,
    as_open,
    hung,
    request_rows,
    simulate,
    usage_rows,
    with_speeds,
    with_stalled_connections,
)
from roles import misled_by

CLEAN = simulate()
STALLED_80_MS = {"longest_pause_ns": 80_000_000, "freeze_s": (4.0, 4.08)}
STALLED_12_MS_OF_1_S = {
    "longest_pause_ns": 12_000_000,
    "freeze_s": (4.5, 4.512),
    "connections": 64,
    "throughput_per_s": 4000.0,
    "hold_s": 1.0,
    "ramp_s": 3.0,
}
"""A slow server in turns: as many requests in flight as 1.6 % of its responses."""


def on_two_hosts(trial, offset_ns):
    """The same trial, as if a second host had taken part."""
    machines = {**trial.recording.machines, "other": {}}
    offsets = {"local": 0} if offset_ns is None else {"local": 0, "other": offset_ns}
    recording = replace(trial.recording, machines=machines, clock_offsets_ns=offsets)
    return replace(trial, recording=recording)


def driver_of(trial) -> Driver:
    driver = trial.recording.driver
    assert driver is not None
    return driver


def of_two_hosts(
    trial, *, late_ns=0, bound_ns=300_000, slower=1.0, lost_s=None, uncounted=0, unopened=0
):
    """The same trial, as if two hosts had generated its load."""
    rows = trial.requests
    is_other = np.arange(len(rows)) % 2 == 1
    names = pa.array(np.where(is_other, "two", "one")).dictionary_encode()
    rows = rows.set_column(rows.schema.get_field_index("host"), rows.schema.field("host"), names)
    done, sent = (rows[name].to_numpy(zero_copy_only=False) for name in ("done_ns", "sent_ns"))
    later = np.where(is_other, sent + (done - sent) * slower, done)
    moved = pa.array(later, pa.float64(), from_pandas=True).cast(pa.int64(), safe=False)
    rows = rows.set_column(rows.schema.get_field_index("done_ns"), "done_ns", moved)
    hosts = []
    for host, mask in (("one", ~is_other), ("two", is_other)):
        count = int(mask.sum())
        driver = replace(
            driver_of(trial),
            outcomes={"ok": count + (uncounted if host == "two" else 0)},
            connections_requested=10,
            opened=10 - (unopened if host == "two" else 0),
        )
        ran_s = lost_s if host == "two" else None
        hosts.append(
            HostDriver(
                host=host,
                share=0.5,
                clock=HostClock(5_000_000_000, 0.0, 200_000, bound_ns),
                zero_ns=late_ns if host == "two" else 0,
                ended_ns=trial.recording.stages[-1].end_ns if ran_s is None else round(ran_s * 1e9),
                driver=driver if ran_s is None else None,
                error="" if ran_s is None else "`two` did not respond for 10 s",
            )
        )
    recording = replace(trial.recording, hosts=tuple(hosts))
    return replace(trial, recording=recording, requests=rows)


LADDER = {"warm_up_s": 0, "ramp_s": 9.0, "ramp_steps": 3, "connections": 36}
CLEAN_OF = {
    "offered_rate_met": as_open(CLEAN, 1995.0),
    "request_mix_met": as_mix(CLEAN, 0.25),
    "link_headroom": simulate(link_bits_per_s=1e9),
    "scalability_law": simulate(**LADDER),
    "clocks_agree": on_two_hosts(CLEAN, 1_000_000),
    "energy_net": simulate(power_w=(20.0, 55.0)),
    "rows_from_database": simulate(database_busy=0.5),
    "database_headroom": simulate(database_busy=0.5),
    "responses_from_upstream": simulate(upstream_s=1e-6),
    "upstream_headroom": simulate(upstream_s=1e-6),
    "started_together": of_two_hosts(CLEAN),
    "drivers_completed": of_two_hosts(CLEAN),
    "hosts_agree": of_two_hosts(CLEAN),
    "long_enough": as_load(CLEAN),
}
"""Trials that a check applies to, where it does not to every one."""
OF_FIGURES = {
    ("timeout_floor", "floor_ratio"),
    ("hidden_stalls", "left_ratio"),
    ("littles_law", "busy_ratio"),
    ("link_headroom", "link_ratio"),
    ("cpu_bounds", "driver_ratio"),
}
"""Limits that only published figures have, under the name of a check that trials have, too."""
OF_CAMPAIGNS = {("scalability_law", "loads_efficiency")}
"""Limits that only campaigns have."""
STATUS_EXPECTED = ExpectedResponse((200, 200))
BUSY = {"failures": {"reset_waiting": 0.0004}, "overflows": 0, "queue": 60, "backlog": 128}

SCATTER = {2.0 + 0.2 * step: 0.3 if step % 2 else 1.0 for step in range(20)}
"""A server whose speed goes up and down all the time."""
WIDE_SCATTER = {2.0 + 0.6 * step: 0.02 if step % 2 else 1.0 for step in range(8)}
"""A server that hardly works half of the time."""
SLOW_AND_RESENT = {"retransmits": 90, "freeze_s": (4.0, 4.5)}
RESET = {"rising": {"machine.tcp_resets_sent": 30.0}, "failures": {"reset_waiting": 0.02}}
COOKIES = {"rising": {"machine.syncookies_sent": 3.0}, "backlog": 10}


TRIALS = [
    # check, level, what is wrong, what the statement must say
    ("trial_completed", "doubtful", {"hold_s": 4.0, "hold_requested_s": 4.1}, ["4.1 s", "4 s"]),
    ("trial_completed", "void", {"hold_s": 2.0, "hold_requested_s": 4.0}, ["4 s", "2 s"]),
    (
        "trial_completed",
        "void",
        {"ending": Ending("DiedUnderLoad", "`go` ended with signal 9", "Look into `server.log`")},
        ["`go` ended with signal 9"],
    ),
    ("trial_completed", "void", {"ended_by": "storage"}, ["could not write"]),
    ("conservation", "void", {"drop_ratio": 0.001}, ["against", "rows"]),
    ("conservation", "void", {"lost_rows": 4}, ["4 requests"]),
    (
        "responses_correct",
        "doubtful",
        {"failures": {"wrong_body": 0.004}},
        ["bodies (0.", "were wrong; they count as throughput"],
    ),
    ("responses_correct", "void", {"failures": {"wrong_status": 0.02}}, ["status 502 × 1"]),
    (
        "responses_correct",
        "void",
        {"failures": {"wrong_body": 0.5}, "compared_ratio": 0.01},
        ["that were compared (", "at 95 %", "were not compared, so goodput is not reported"],
    ),
    (
        "responses_correct",
        "doubtful",
        {"expected": STATUS_EXPECTED, "lengths": {2049: 0.001}},
        ["had 2,049 bytes", "had 2,048; no length was expected"],
    ),
    (
        "responses_correct",
        "doubtful",
        {"closings": {"unsolicited": (7, 5000)}},
        ["On 7 connections the server sent bytes beyond"],
    ),
    (
        "responses_correct",
        "doubtful",
        {"closings": {"unsolicited": (7, 0)}},
        ["On 7 connections the server sent bytes before any request"],
    ),
    (
        "responses_correct",
        "void",
        {"contract": {"before": [], "after": ["`/2048` answered 500"]}},
        ["after the load `/2048` answered 500"],
    ),
    ("responses_correct", "doubtful", {"contract": {}}, ["before and after", "contract"]),
    ("responses_correct", "doubtful", {"compared_ratio": 0.0}, ["no body of"]),
    (
        "failures_explained",
        "doubtful",
        {"failures": {"closed_waiting": 0.0005}},
        ["were lost with connections that the server closed", "responses"],
    ),
    (
        "connection_target_met",
        "doubtful",
        {"closings": {"closed_as_announced": (200, 10)}},
        ["200 of 240 connections, each after 10 responses: one for every"],
    ),
    (
        "failures_explained",
        "doubtful",
        {"failures": {"reset_waiting": 0.005}},
        ["reset while waiting for the response (ECONNRESET)", " %"],
    ),
    (
        "failures_explained",
        "void",
        {"failures": {"timed_out_waiting": 0.036}},
        ["got no complete response", "with them p99 is at least 2 s, not "],
    ),
    (
        "failures_explained",
        "doubtful",
        {"failures": {"timed_out_waiting": 0.005}},
        ["with them p99.9 is at least 2 s"],
    ),
    ("failures_explained", "void", {"failures": {"closed_early": 0.08}}, ["closed by the server"]),
    (
        "failures_explained",
        "doubtful",
        {"failures": {"reset_waiting": 0.0005}, "forget_errno": True},
        ["`reset_waiting`", "error number is missing"],
    ),
    ("failures_explained", "void", {"starved": 20}, ["no request got a response"]),
    (
        "failures_explained",
        "doubtful",
        {"starved": 1, "timeout_s": 60.0},
        ["1 request hung until the load ended, for up to ", "while p99 of the responses is"],
    ),
    ("connection_target_met", "void", {"missing": 1}, ["19 of 20"]),
    ("connection_target_met", "doubtful", {"missing": 1, "connections": 150}, ["149 of 150"]),
    ("connection_target_met", "void", {"starved": 2}, ["never received"]),
    ("evenly_served", "void", {"idle": 2}, ["2 of 20", "no complete response"]),
    (
        "evenly_served",
        "doubtful",
        {"connections": 2000, "throughput_per_s": 1000.0},
        ["2,000 connections", "may be chance"],
    ),
    ("connection_target_met", "doubtful", {"without": ("connections_open",)}, ["not be read"]),
    (
        "timeout_floor",
        "void",
        {"drop_ratio": 0.99, "timeout_s": 0.2},
        ["a timeout of 200 ms"],
    ),
    ("round_trip_floor", "void", {"round_trip_s": 0.05}, ["least round trip", "50 ms"]),
    ("counters_agree", "doubtful", {"unseen": 0.005}, ["the load generator counted", "the kernel"]),
    ("counters_agree", "void", {"unseen": 0.1}, ["40 handshakes, the kernel 36"]),
    ("counters_agree", "void", {"server_sockets": 0.7}, ["20 connections open", "had 14"]),
    ("counters_agree", "doubtful", {"server_sockets": 1.08}, ["had 22"]),
    (
        "cpu_bounds",
        "void",
        {"server_busy": 1.2},
        ["the server used 1.2 cores; 1 core was available"],
    ),
    ("cpu_bounds", "doubtful", {"without": ("cpu_user_s",)}, ["could not be read"]),
    (
        "cpu_bounds",
        "doubtful",
        {**LADDER, "speeds": {6.0: 0.7}},
        ["a response cost the server", "more than at lower levels"],
    ),
    ("segments_lost", "doubtful", SLOW_AND_RESENT, ["90 of", "at most 20 of this load"]),
    ("segments_lost", "doubtful", RESET, ["were reset"]),
    ("backlog", "doubtful", COOKIES, ["SYN cookies"]),
    ("link_headroom", "doubtful", {"link_bits_per_s": 42e6}, ["42 Mbit/s of the link"]),
    ("link_headroom", "void", {"link_bits_per_s": 38e6}, ["38 Mbit/s of the link"]),
    ("rows_from_database", "doubtful", {"database_busy": 0.5, "rows_read": 0.995}, ["0.5 %"]),
    ("rows_from_database", "void", {"database_busy": 0.5, "rows_read": 0.1}, ["read", "90 %"]),
    ("rows_from_database", "doubtful", {"database_busy": 0.5, "rows_written": 0.995}, ["wrote"]),
    (
        "rows_from_database",
        "void",
        {"database_busy": 0.5, "rows_written": 0.5},
        ["wrote", "50 %"],
    ),
    ("rows_from_database", "doubtful", {"database_busy": 0.5, "rows_read": None}, ["incomplete"]),
    ("database_headroom", "doubtful", {"database_busy": 0.93}, ["93 %", "of its own", "limit"]),
    (
        "database_headroom",
        "doubtful",
        {"database_busy": 0.85, "server_busy": 0.1, "database_cores": (0,)},
        ["shares with the server"],
    ),
    (
        "responses_from_upstream",
        "doubtful",
        {"upstream_s": 1e-6, "upstream_asked": 0.995},
        ["0.5 %", "from elsewhere"],
    ),
    (
        "responses_from_upstream",
        "void",
        {"upstream_s": 1e-6, "upstream_asked": 0.5},
        ["50 %", "from elsewhere"],
    ),
    (
        "responses_from_upstream",
        "doubtful",
        {"upstream_s": 1e-6, "upstream_asked": None},
        ["without its count"],
    ),
    ("responses_from_upstream", "void", {"upstream_s": 10.0}, ["fastest response", "10 s"]),
    ("upstream_headroom", "doubtful", {"upstream_s": 10.0}, ["100 %", "it was the limit"]),
    ("ports_and_files", "doubtful", {"files_ratio": 0.97}, ["97 % of its limit of open files"]),
    ("ports_and_files", "doubtful", {"failures": {"no_port": 0.002}}, ["lack of a port"]),
    ("ports_and_files", "void", {"failures": {"too_many_files": 0.05}}, ["lack of a file"]),
    ("host_speed_stable", "doubtful", {"frequency_fall": 0.4}, ["2.49 GHz", "mean frequency"]),
    ("host_speed_stable", "doubtful", {"throttled": 0.02}, ["2 % of the processor time"]),
    ("host_speed_stable", "void", {"throttled": 0.25}, ["20 % of the processor time"]),
    ("memory_headroom", "doubtful", {"swapped_per_s": 500.0}, ["pages a second were swapped"]),
    ("memory_headroom", "doubtful", {"rising": {"server.major_faults": 50.0}}, ["disk 50.0 times"]),
    ("memory_headroom", "doubtful", {"rising": {"machine.pressure_memory_s": 0.2}}, ["20 %"]),
    (
        "host_speed_stable",
        "doubtful",
        {"rising": {"machine.pressure_io_s": 0.5}},
        ["waited for a disk"],
    ),
    (
        "host_speed_stable",
        "doubtful",
        {"rising": {"machine.thermal_throttles": 3.0}},
        ["thermally throttled 12 times"],
    ),
    ("memory_headroom", "doubtful", {"killed": 1}, ["killed 1 process because"]),
    (
        "bottleneck_identified",
        "doubtful",
        {"server_busy": 0.4, "driver_busy": 0.3},
        ["server's cores were 40 % busy", "no measured resource was saturated"],
    ),
    ("bottleneck_identified", "doubtful", {"without": ("cpu_user_s",)}, ["bottleneck is unknown"]),
    ("littles_law", "doubtful", {"drop_ratio": 0.1}, ["20", "rows or times are missing"]),
    ("littles_law", "void", {"drop_ratio": 0.2}, ["rows or times are missing"]),
    ("littles_law", "void", {"in_flight_factor": 0.9}, ["more than possible"]),
    (
        "littles_law",
        "doubtful",
        {"idle": 2},
        ["can carry", "waited to be sent", "were idle"],
    ),
    ("littles_law", "void", {"idle": 4}, ["were idle"]),
    ("littles_law", "doubtful", {"without": ("in_flight_mean",)}, ["could not be read"]),
    ("backlog", "doubtful", {"overflows": 9, "overflow_stage": "ramp"}, ["9 in the ramp"]),
    (
        "backlog",
        "void",
        {"overflows": 9, "overflow_stage": "hold", "backlog": 128},
        [
            "in the measurement window alone the listen queue was full 9 times",
            "128 places (`net.core.somaxconn` 4,096)",
            "9 in the hold (on this host ListenOverflows 9, ListenDrops 9)",
            "of 20 connections requested, 40 were opened and 40 got a response",
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
        "steady",
        "doubtful",
        {"growth": 1.0},
        ["throughput rose within the measurement window from 2,881 to 3,986", "requests/s (±"],
    ),
    (
        "steady",
        "doubtful",
        {"growth": -0.3},
        ["throughput fell within the measurement window from"],
    ),
    ("steady", "void", {"growth": 19.0, "warm_up_s": 0, "ramp_s": 0}, ["throughput rose"]),
    (
        "steady",
        "doubtful",
        {"ramp_s": 0, "hold_s": 12.0, "speeds": {0.0: 1.0, 2.0: 0.6, 4.0: 1.0}},
        ["(warm-up), so the mean of the measurement window is", "below the steady state"],
    ),
    (
        "steady",
        "doubtful",
        {"ramp_s": 0, "hold_s": 12.0, "speeds": {2.0: 1.4, 4.0: 1.0}},
        ["(slowdown), so the mean of the measurement window is", "above the steady state"],
    ),
    (
        "steady",
        "doubtful",
        {"ramp_s": 0, "hold_s": 12.0, "speeds": {4.0: 0.6, 7.0: 1.0, 10.0: 0.7}},
        ["apart, without a steady state"],
    ),
    (
        "steady",
        "doubtful",
        {"ramp_s": 0, "hold_s": 5.0, "speeds": WIDE_SCATTER},
        ["throughput scattered within the measurement window"],
    ),
    (
        "steady",
        "void",
        {"freeze_s": (3.9, 5.1)},
        ["no response in 1 second of the measurement window (4)"],
    ),
    (
        "hidden_stalls",
        "doubtful",
        {"freeze_s": (3.9, 4.5)},
        ["stalled 1 time", "a p99 of at least"],
    ),
    (
        "hidden_stalls",
        "doubtful",
        {"freeze_s": (4.3, 5.7)},
        ["stalled 1 time, for up to 1.4 s", "a p99 of at least"],
    ),
    (
        "driver_headroom",
        "doubtful",
        {"driver_busy": 0.95, "server_busy": 0.92},
        ["95 % of its busiest core", "the server 92 %", "up to 8.8 % too low"],
    ),
    (
        "driver_headroom",
        "void",
        {"driver_busy": 0.95, "server_busy": 0.5},
        ["the throughput is the load generator's, not the server's"],
    ),
    (
        "driver_headroom",
        "doubtful",
        {"driver_busy": 0.85, "server_busy": 0.5},
        ["the load generator was close to its limit"],
    ),
    (
        "undisturbed",
        "doubtful",
        {"others_busy": 0.4, "others_on": (0,), "server_busy": 0.6},
        ["about 40 % too low", "the server waited 40 %", "that other programs used"],
    ),
    (
        "undisturbed",
        "void",
        {"others_busy": 0.6, "others_on": (1,), "driver_busy": 0.4, "server_busy": 0.3},
        ["about 60 % too low", "the load generator waited 60 % of the time"],
    ),
    (
        "undisturbed",
        "doubtful",
        {"others_busy": 0.25, "server_busy": 0.5},
        ["25 to 44 % too low", "the server waited 25 % and the load generator waited 25 %"],
    ),
    (
        "undisturbed",
        "void",
        {"others_busy": 0.55, "server_busy": 0.35, "driver_busy": 0.3},
        ["55 to 65 % too low", "the server waited 55 % and the load generator waited 55 %"],
    ),
    (
        "undisturbed",
        "doubtful",
        {"others_busy": 0.2, "server_busy": 0.02, "driver_busy": 0.02},
        ["up to 36 % too low"],
    ),
    (
        "undisturbed",
        "doubtful",
        {"others_busy": 0.4, "server_busy": 0.6, "without": ("run_delay_s",)},
        ["the server waited 40 %"],
    ),
    (
        "undisturbed",
        "doubtful",
        {"stolen": 0.4, "server_busy": 0.6},
        ["waited 40 %", "the hypervisor withheld"],
    ),
    (
        "undisturbed",
        "void",
        {"stolen": 0.6, "server_busy": 0.4, "driver_busy": 0.3},
        ["waited 60 %", "the hypervisor withheld"],
    ),
    ("undisturbed", "doubtful", {"without": ("core0_busy_s",)}, ["could not be read"]),
    (
        "driver_headroom",
        "doubtful",
        {
            "driver_cores": (0, 1),
            "server_cores": (0, 1),
            "server_busy": 0.75,
            "driver_busy": 1.2,
            "workers": 2,
        },
        ["the 2 cores that server and load generator share", "more than the server"],
    ),
    (
        "driver_headroom",
        "doubtful",
        {"capacity_per_s": 2200.0},
        ["calibrated maximum of 2,200 requests/s"],
    ),
    (
        "driver_uninterrupted",
        "doubtful",
        {**STALLED_80_MS, "connections": 150},
        ["stalled for 80 ms: p99 is 164 ms, without that it is 144 ms or more"],
    ),
    (
        "driver_uninterrupted",
        "void",
        {"longest_pause_ns": 300_000_000, "freeze_s": (4.0, 4.3)},
        [
            "stalled for 300 ms, 7.5 % of the measurement window",
            "at most that much too low by it alone",
        ],
    ),
    (
        "driver_uninterrupted",
        "void",
        {"longest_pause_ns": 300_000_000, "workers": 2},
        ["stalled for 300 ms, 7.5 % of the measurement window"],
    ),
    (
        "driver_headroom",
        "doubtful",
        {"without": ("cpu_user_s", "run_time_s"), "others_busy": 0.9},
        ["could not be read"],
    ),
]

PASSES = [
    ("rows_from_database", {"database_busy": 0.5, "rows_read": 2.0, "rows_written": 1.1}),
    ("rows_from_database", {"database_busy": 0.5, "rows_read": 0.9995}),
    ("responses_from_upstream", {"upstream_s": 1e-6, "upstream_asked": 1.5}),
    ("responses_from_upstream", {"upstream_s": 1e-6, "upstream_asked": 0.9995}),
    ("upstream_headroom", {"upstream_s": 1e-6}),
    ("database_headroom", {"database_busy": 0.7}),
    ("database_headroom", {"database_busy": 1.4, "database_cores": (2, 3)}),
    ("bottleneck_identified", {"server_busy": 0.2, "database_busy": 0.95}),
    (
        "bottleneck_identified",
        {"server_busy": 0.45, "database_busy": 0.5, "database_cores": (0,)},
    ),
    ("undisturbed", {"server_busy": 0.45, "database_busy": 0.5, "database_cores": (0,)}),
    ("trial_completed", {"hold_s": 4.0, "hold_requested_s": 4.03}),
    ("conservation", {"failures": {"reset_waiting": 0.05, "wrong_body": 0.05}, "missing": 1}),
    ("responses_correct", {"failures": {"reset_waiting": 0.05}}),
    ("responses_correct", {"compared_ratio": 0.05}),
    ("failures_explained", {"failures": {"malformed_head": 0.0004}}),
    ("failures_explained", {"freeze_s": (6.3, 7.5)}),
    ("connection_target_met", {"closings": {"closed_as_announced": (5, 1000)}}),
    ("connection_target_met", {"closings": {"closed_by_driver": (500, 1)}}),
    ("connection_target_met", {"connections": 150, "throughput_per_s": 20_000.0}),
    ("evenly_served", {"connections": 150, "throughput_per_s": 20_000.0}),
    ("timeout_floor", {"starved": 20}),
    ("timeout_floor", {"timeout_s": 0.5, "starved": 3}),
    (
        "round_trip_floor",
        {"without": ("round_trip_min_s",), "service_ns": 90_000, "connections": 1},
    ),
    ("counters_agree", {"failures": {"reset_waiting": 0.01}}),
    ("counters_agree", {"without": ("connections_established",)}),
    ("cpu_bounds", {"server_busy": 1.02}),
    ("cpu_bounds", {**LADDER, "speeds": {6.0: 0.9}}),
    ("segments_lost", {"retransmits": 9}),
    ("ports_and_files", {"resting_ports": 9_000_000}),
    ("host_speed_stable", {"without": ("frequency_hz", "thermal_throttles")}),
    ("memory_headroom", {"without": ("pressure_memory_s", "oom_kills"), "swapped_per_s": 3.0}),
    ("bottleneck_identified", {"connections": 4, "server_busy": 0.4, "driver_busy": 0.3}),
    ("bottleneck_identified", {"server_busy": 0.4, "driver_busy": 0.95}),
    ("littles_law", {"failures": {"timed_out_waiting": 0.05}, "freeze_s": (4.0, 5.0)}),
    ("littles_law", {"starved": 3, "lag_ns": 100_000}),
    ("littles_law", {"lag_ns": 3_000_000}),
    ("backlog", BUSY),
    ("backlog", {"others_overflows": 50}),
    ("backlog", {"others_overflows": 50, "own_drops": False}),
    ("backlog", {"stray_drops": 50}),
    ("steady", {"growth": 0.08}),
    ("steady", {"ramp_s": 0, "hold_s": 12.0, "speeds": {2.0: 1.12, 4.0: 1.0}}),
    ("hidden_stalls", {"freeze_s": (4.0, 4.02)}),
    ("hidden_stalls", {"freeze_s": (3.9, 5.1)}),
    ("steady", {"ramp_s": 0, "hold_s": 12.0}),
    ("steady", {"ramp_s": 0, "hold_s": 12.0, "speeds": {0.0: 0.92, 2.0: 1.0}}),
    ("undisturbed", {"others_busy": 0.02, "server_busy": 0.8}),
    (
        "undisturbed",
        {"others_busy": 0.6, "others_on": (1,), "driver_busy": 0.4, "spread": 0.0},
    ),
    ("undisturbed", {"others_busy": 0.4, "server_busy": 0.5, "run_delay": 0.02}),
    ("undisturbed", {"others_busy": 0.3, "others_on": (0,), "server_busy": 0.7}),
    ("undisturbed", {"stolen": 0.1}),
    ("driver_headroom", {"driver_busy": 0.95, "server_busy": 0.97}),
    ("driver_headroom", {**STALLED_80_MS, "connections": 150}),
    ("driver_uninterrupted", {"longest_pause_ns": 30_000_000, "freeze_s": (4.0, 4.03)}),
    ("driver_uninterrupted", {**STALLED_80_MS, "connections": 20}),
    ("driver_uninterrupted", {"longest_pause_ns": 600_000, "hold_s": 0.05, "ramp_s": 0.0}),
    ("driver_uninterrupted", {"longest_pause_ns": 300_000_000, "freeze_s": (1.0, 1.3)}),
    ("driver_uninterrupted", STALLED_12_MS_OF_1_S),
    ("driver_headroom", {"driver_busy": 0.79}),
    ("driver_headroom", {"driver_busy": 0.1, "others_busy": 0.85, "without": ("cpu_user_s",)}),
    ("driver_headroom", {"driver_cores": (0, 1), "server_cores": (0, 1), "server_busy": 1.0}),
    (
        "steady",
        {"ramp_s": 0, "hold_s": 12.0, "speeds": {5.0: 0.915, 9.0: 1.0}},
    ),
    (
        "driver_headroom",
        {
            "driver_cores": (0, 1),
            "server_cores": (0, 1),
            "server_busy": 1.56,
            "driver_busy": 0.44,
        },
    ),
    ("driver_headroom", {"driver_busy": 0.2, "others_busy": 0.79, "run_delay": 0.02}),
    ("driver_headroom", {"capacity_per_s": 20_000.0}),
]


MADE = {}


def made(options):
    """A simulated trial; each is made once."""
    key = repr(sorted(options.items()))
    if key not in MADE:
        MADE[key] = simulate(**options)
    return MADE[key]


def judged(check, trial):
    module = importlib.import_module(f"plimsoll.verdicts.checks.{check}")
    return module.judge(trial, Limits(trial.recording.limits))


def test_every_module_of_the_folder_is_a_check():
    names = [module.name for module in pkgutil.iter_modules(checks.__path__)]
    assert sorted(check.NAME for check in checks.CHECKS) == sorted(names)


@pytest.mark.parametrize(
    ("check", "options"),
    [
        ("segments_lost", {"retransmits": 90}),
        ("segments_lost", {"rising": {"machine.tcp_resets_sent": 30.0}}),
        ("backlog", {"rising": {"machine.syncookies_sent": 3.0}}),
        ("backlog", {"others_overflows": 50}),
    ],
)
def test_what_this_host_counts_for_another_program_is_not_doubted(check, options):
    assert not judged(check, simulate(**options)).is_doubting


@pytest.mark.parametrize("check", checks.CHECKS, ids=lambda check: check.NAME)
def test_every_check_says_its_formula_and_its_source(check):
    assert "\nSource:" in check.__doc__
    assert check.SOURCE


@pytest.mark.parametrize("check", checks.CHECKS, ids=lambda check: check.NAME)
def test_a_clean_trial_passes(check):
    given = check.judge(CLEAN_OF.get(check.NAME, CLEAN), Limits())
    assert given.level == "sound", given
    assert given.measured is not None
    assert given.remedies == ()
    assert given.subject == CLEAN.recording.trial


@pytest.mark.parametrize("check", CLEAN_OF)
def test_what_a_load_does_not_ask_for_is_not_doubted_and_says_why(check):
    given = judged(check, CLEAN)
    assert (given.level, given.measured, given.remedies) == ("not_checked", None, ())
    assert given.text.endswith(".")


@pytest.mark.parametrize(
    ("trial", "level", "words"),
    [
        (as_open(CLEAN, 2050.0), "doubtful", "2,050 arrivals per second were requested"),
        (as_open(CLEAN, 1940.0), "doubtful", "1,940 arrivals per second were requested"),
        (as_open(CLEAN, 2500.0), "void", "2,500 arrivals per second were requested"),
        (
            as_open(CLEAN, 1995.0, late_ns=4_000_000),
            "doubtful",
            "4 ms or more after its intended start",
        ),
        (
            as_open(CLEAN, 1995.0, late_ns=40_000_000),
            "void",
            "40 ms or more after its intended start",
        ),
        (as_open(CLEAN, 2050.0, arrivals="poisson"), "sound", "2,050 arrivals per second"),
    ],
)
def test_arrivals_that_differ_from_the_schedule_do_not_pass(trial, level, words):
    given = judged("offered_rate_met", trial)
    assert given.level == level, given
    assert words in given.text


def test_which_side_was_measured_is_told_beside_a_busy_load_generator():
    at_its_limit = judged("driver_headroom", simulate(driver_busy=0.98, server_busy=0.85))
    against = contents.remark(at_its_limit, {}).against
    assert re.fullmatch(r"measured 8[\d.]+ % of the server's cores, minimum 90 %", against)
    close = judged("driver_headroom", simulate(driver_busy=0.85, server_busy=0.85))
    against = contents.remark(close, {}).against
    assert re.fullmatch(r"measured 8[\d.]+ % of the load generator's time, limit 80 %", against)


@pytest.mark.parametrize("server_busy", [0.6, 0.97])
def test_a_busy_load_generator_delays_an_open_load_and_is_not_its_limit(server_busy):
    made = simulate(driver_busy=0.95, server_busy=server_busy)
    assert judged("driver_headroom", made).level == ("void" if server_busy < 0.9 else "sound")
    given = judged("driver_headroom", as_open(made, 2000.0))
    assert given.level == "doubtful", given
    assert "latencies contain client delays" in given.text
    assert "throughput" not in given.text


@pytest.mark.parametrize(
    ("stalled_s", "paused_s", "level"),
    [(0.5, 0.0, "doubtful"), (0.03, 0.0, "void"), (0.5, 0.4, "void")],
)
def test_arrivals_that_waited_for_a_stalled_server_are_doubted_and_it_is_named(
    stalled_s, paused_s, level
):
    pauses = {"freeze_s": (4.0, 4.0 + stalled_s), "longest_pause_ns": int(paused_s * 1e9)}
    made = as_open(simulate(**pauses, hold_s=10.0), 2000.0 - 200 * stalled_s, late_ns=40_000_000)
    given = judged("offered_rate_met", made)
    assert given.level == level, given
    assert ("The server stalled 1 time" in given.text) is (level == "doubtful")


@pytest.mark.parametrize(("paused_at_s", "level"), [(6, "doubtful"), (5, "void")])
def test_late_arrivals_are_the_stalled_servers_unless_the_load_generator_stopped_then(
    paused_at_s, level
):
    pauses = {"freeze_s": (4.2, 4.7), "longest_pause_ns": 450_000_000}
    made = as_open(simulate(**pauses, hold_s=10.0), 1900.0, late_ns=40_000_000)
    with_pauses(made, {paused_at_s: 0.45})
    given = judged("offered_rate_met", made)
    assert given.level == level, given
    assert ("The server stalled 1 time" in given.text) is (level == "doubtful")


def late_between(trial, from_s, until_s, late_ns):
    """An open load whose requests were sent late between two instants, and on time elsewhere."""
    made = as_open(trial, 2000.0)
    rows: Any = made.requests
    sent, due = (rows[name].to_numpy() for name in ("sent_ns", "due_ns"))
    is_late = (sent >= from_s * 1e9) & (sent < until_s * 1e9)
    column = pa.array(np.where(is_late, due - late_ns, due).astype(np.int64))
    place = rows.schema.get_field_index("due_ns")
    field = rows.schema.field(place)
    return replace(made, requests=rows.set_column(place, field, column))


@pytest.mark.parametrize(
    ("taken_s", "paused_at_s", "level"),
    [
        ((3.9, 4.9), 5, "sound"),
        ((5.5, 6.5), 5, "void"),
        ((1.0, 2.0), 5, "void"),
        ((3.9, 4.9), 7, "void"),
    ],
    ids=["same time", "later", "before the hold", "stalled later"],
)
def test_late_requests_are_excused_only_by_waits_and_stalls_of_their_own_time(
    taken_s, paused_at_s, level
):
    options = {"stolen": 0.4, "taken_s": taken_s, "longest_pause_ns": 80_000_000}
    made = late_between(simulate(**options), 4.0, 4.4, 80_000_000)
    with_pauses(made, {paused_at_s: 0.08})
    given = judged("offered_rate_met", made)
    assert given.level == level, given
    told = [one.text for one in given.sentences]
    assert any("about that time" in one for one in told) is (level == "sound")


@pytest.mark.parametrize(
    ("taken_s", "paused_at_s", "level"),
    [
        ((6.0, 7.0), 7, "sound"),
        ((3.0, 4.0), 7, "doubtful"),
        ((6.0, 7.0), 5, "doubtful"),
        ((3.0, 4.0), 4, "doubtful"),
        ((3.0, 4.0), None, "sound"),
    ],
    ids=["at the end", "at the beginning", "stalled before", "both before", "not told when"],
)
def test_arrivals_that_are_missing_are_excused_only_by_a_stall_at_the_end_of_the_hold(
    taken_s, paused_at_s, level
):
    made = as_open(simulate(stolen=0.4, taken_s=taken_s, longest_pause_ns=250_000_000), 2100.0)
    if paused_at_s is not None:
        with_pauses(made, {paused_at_s: 0.25})
    given = judged("offered_rate_met", made)
    assert given.level == level, given


@pytest.mark.parametrize(("share", "level"), [(0.25, "sound"), (0.29, "doubtful"), (0.4, "void")])
def test_a_mix_other_than_asked_for_does_not_pass(share, level):
    given = judged("request_mix_met", as_mix(CLEAN, share))
    assert given.level == level, given
    assert "were requested" in given.text


def test_requests_of_the_same_name_are_one_kind_of_a_mix():
    mixed = as_mix(CLEAN, 0.25)
    recording = replace(mixed.recording, requests=("json", "json"))
    given = judged("request_mix_met", replace(mixed, recording=recording))
    assert given.level == "not checked" or "one request type" in given.text


def test_a_level_that_gains_by_more_connections_is_doubtful():
    given = judged("scalability_law", simulate(**LADDER, speeds={0.0: 0.1, 6.0: 1.0}))
    assert given.level == "doubtful"
    assert "none gets faster by more of them" in given.text


JUMPS = {"warm_up_s": 0, "ramp_s": 15.0, "ramp_steps": 5, "connections": 100}


def test_levels_that_follow_the_scalability_law_are_sound_and_told():
    given = judged("scalability_law", simulate(**JUMPS))
    assert given.level == "sound"


def test_a_throughput_that_jumps_between_levels_follows_no_law():
    given = judged("scalability_law", simulate(**JUMPS, speeds={6.0: 0.4, 9.0: 1.0}))
    assert given.level == "doubtful"
    assert "the universal scalability law explains" in given.text.lower()
    assert "it is off by" in given.text


@pytest.mark.parametrize(
    ("offset_ns", "level", "words"),
    [
        (-4_000_000, "sound", "differ by up to 4 ms"),
        (6_000_000, "doubtful", "`other`"),
        (-60_000_000, "void", "60 ms"),
        (None, "doubtful", "was not recorded"),
    ],
)
def test_clocks_of_several_hosts_must_agree(offset_ns, level, words):
    given = judged("clocks_agree", on_two_hosts(CLEAN, offset_ns))
    assert given.level == level
    assert words in given.text


@pytest.mark.parametrize(
    ("check", "options", "level", "words"),
    [
        ("clocks_agree", {}, "sound", "known to 300 µs"),
        ("clocks_agree", {"bound_ns": 1_500_000}, "doubtful", "known to 1.5 ms"),
        ("clocks_agree", {"bound_ns": 600_000_000}, "void", "known to 600 ms"),
        ("started_together", {"late_ns": 9_000_000}, "sound", "within 9 ms (`two` last)"),
        ("started_together", {"late_ns": 25_000_000}, "doubtful", "within 25 ms"),
        ("started_together", {"late_ns": 700_000_000}, "void", "within 700 ms"),
        ("drivers_completed", {}, "sound", "all 2 load generators ran to their end"),
        ("drivers_completed", {"lost_s": 1.5}, "void", "`two` was lost, last report at 1.5 s"),
        ("drivers_completed", {"lost_s": 1.5}, "void", "did not respond for 10 s"),
        ("counters_agree", {"lost_s": 1.5}, "not_checked", "lost `two`, whose rows"),
        ("drivers_completed", {"uncounted": 1}, "void", "`two` counted"),
        ("drivers_completed", {"unopened": 1}, "void", "`two` did not open 10 %"),
        ("hosts_agree", {"slower": 1.2}, "sound", "by a factor of 1."),
        ("hosts_agree", {"slower": 1.8}, "doubtful", "than the other hosts"),
    ],
)
def test_hosts_that_generate_a_load_together_are_judged_one_by_one(check, options, level, words):
    given = judged(check, of_two_hosts(CLEAN, **options))
    assert given.level == level, given
    assert words.lower() in given.text.lower()


@pytest.mark.parametrize(("refused", "level"), [(0, "sound"), (3, "void")])
def test_connections_of_a_host_that_ran_out_of_requests_are_missing_where_it_tried(refused, level):
    trial = of_two_hosts(CLEAN, unopened=4)
    hosts = tuple(
        replace(one, driver=replace(driver, ended_by="request_limit", refused=refused))
        for one in trial.recording.hosts
        if (driver := one.driver) is not None
    )
    trial = replace(trial, recording=replace(trial.recording, hosts=hosts))
    assert judged("drivers_completed", trial).level == level


def late_in_turns(late_ratio):
    """Turns on two hosts, of which the second one misses a share of each."""
    trial = in_turns(of_two_hosts(CLEAN), 1.0)
    length_ns = sum(turn.duration_ns for turn in trial.recording.turns)
    one, two = trial.recording.hosts
    late = replace(two, late_ns=20_000_000, late_sum_ns=round(late_ratio * length_ns))
    return replace(trial, recording=replace(trial.recording, hosts=(one, late)))


@pytest.mark.parametrize(
    ("late_ratio", "level", "words"),
    [(0.02, "sound", "within 2 % of its length"), (0.2, "doubtful", "20 %"), (0.6, "void", "60 %")],
)
def test_load_generators_in_turns_begin_together_by_the_length_of_a_turn(late_ratio, level, words):
    given = judged("started_together", late_in_turns(late_ratio))
    assert given.level == level, given
    assert words in given.text
    assert "(`two` last), and within 20 ms at worst" in given.text


def test_the_share_of_the_load_that_ran_is_told():
    length_s = sum(stage.duration_s for stage in CLEAN.recording.load.stages)
    given = judged("drivers_completed", of_two_hosts(CLEAN, lost_s=length_s / 2))
    assert given.measured == 0.5
    assert "75 % of the requested load ran; rows are missing from `two`" in given.text


def test_no_share_of_a_load_is_told_that_ends_with_its_requests():
    load = replace(
        CLEAN.recording.load,
        model="closed",
        stages=(Stage("hold", COUNTED_S, 4, 4),),
        request_limit=1000,
    )
    trial = replace(CLEAN, recording=replace(CLEAN.recording, load=load))
    given = judged("drivers_completed", of_two_hosts(trial, lost_s=1.0))
    assert given.level == "void"
    assert "Rows are missing from `two`" in given.text
    assert "of the requested load ran" not in given.text


@pytest.mark.parametrize(
    ("options", "level", "words"),
    [
        ({"power_w": (20.0, 55.0)}, "sound", "per successful response above idle"),
        ({"power_w": (20.0, 20.5)}, "not_checked", "not distinguishable from idle"),
        ({"power_w": (20.0, 55.0), "idle_s": 5}, "doubtful", "measured for 5 s on each side"),
    ],
)
def test_energy_is_told_net_of_the_idle_host(options, level, words):
    trial = simulate(**options)
    given = judged("energy_net", trial)
    assert given.level == level, given
    assert words in given.text
    known = trial.summary.rapl_net_j_per_ok
    assert (known is None) == ("there is no energy figure" in given.text)
    if known is not None:
        assert trial.summary.goodput_per_s
        assert known == pytest.approx(35.0 / trial.summary.goodput_per_s, rel=0.02)


def test_net_power_that_nobody_asked_for_is_neither_judged_nor_given():
    simulated = simulate(power_w=(20.0, 55.0), idle_s=2)
    counted = PowerSources(("package-0",), has_net=False)
    trial = replace(simulated, recording=replace(simulated.recording, power=counted))
    given = judged("energy_net", trial)
    assert given.level == "not_checked" and not given.applies
    assert "drew 55.0 W" in given.text and "not requested" in given.text
    summary = trial.summary
    assert summary.rapl_power_w == pytest.approx(55, rel=0.02) and summary.rapl_j_per_ok
    assert summary.rapl_idle_power_w is summary.rapl_net_j_per_ok is None


@pytest.mark.parametrize(
    ("goodput_per_s", "words"),
    [(0.0, "no response was successful"), (None, "the number of correct responses is unknown")],
)
def test_net_power_without_correct_responses_is_not_called_idle(goodput_per_s, words):
    simulated = simulate(power_w=(20.0, 55.0))
    trial = replace(simulated)
    trial.__dict__["summary"] = sample.changed(
        simulated.summary, goodput_per_s=goodput_per_s, rapl_net_j_per_ok=None
    )
    given = judged("energy_net", trial)
    assert given.level == "not_checked"
    assert words in given.text
    assert "not distinguishable from idle" not in given.text


@pytest.mark.parametrize("without", [("energy_j", "idle_energy_j"), ("idle_energy_j",)])
def test_energy_that_is_not_known_is_said_to_be_unknown_and_no_figure_is_given(without):
    trial = simulate(power_w=(20.0, 55.0), without=without)
    given = judged("energy_net", trial)
    assert given.measured is None
    assert given.level == "not_checked"
    assert trial.summary.rapl_net_j_per_ok is None
    assert trial.summary.rapl_net_power_w is None


COUNTED = {
    "round_trip_floor": ("round_trip_min_s",),
    "counters_agree": (
        "tcp_active_opens", "tcp_passive_opens", "tcp_segments_out", "network_received_bytes",
        "link_received_bytes", "connections_established",
    ),
    "segments_lost": (
        "tcp_retransmits", "tcp_resets_sent", "tcp_established_resets", "tcp_attempt_fails",
    ),
    "backlog": ("listen_overflows", "listen_drops"),
    "memory_headroom": ("swapped_pages", "major_faults", "pressure_memory_s", "oom_kills"),
    "host_speed_stable": (
        "core_busy_s", "cgroup_throttled_s", "pressure_io_s", "frequency_hz", "thermal_throttles",
    ),
}  # fmt: skip
"""What a check lives on, all of which a host may be without."""


def on_a_host_without(quantities):
    """A trial on a host that shows less, whose handshakes say nothing either."""
    simulated = simulate(without=quantities, own_drops=False)
    trial = replace(simulated)
    trial.__dict__["summary"] = sample.changed(simulated.summary, connect_min_ns=None)
    return trial


@pytest.mark.parametrize("check", COUNTED)
def test_what_a_host_does_not_show_is_not_available_and_doubts_nothing(check):
    given = judged(check, on_a_host_without(COUNTED[check]))
    assert (given.level, given.measured, given.remedies) == ("not_checked", None, ())
    assert "not available on this host" in given.text


@pytest.mark.parametrize(
    "check", sorted(COUNTED.keys() - {"round_trip_floor", "host_speed_stable"})
)
def test_what_a_host_shows_and_nobody_read_in_the_hold_is_doubted(check):
    trial = on_a_host_without(COUNTED[check])
    for quantity in COUNTED[check]:
        trial = with_readings(trial, "machine", quantity, (-9.0, 1.0))
    assert judged(check, trial).level == "doubtful"


def with_readings(trial, scope, quantity, *readings):
    """The same trial with other readings of one quantity: instants in seconds, and values."""
    at_s, values = zip(*readings, strict=True)
    series = ReadingSeries(np.array([int(s * 1e9) for s in at_s]), np.array(values, dtype=float))
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
        "counters_agree", with_readings(told, "server", "connections_established", *kernels)
    )
    assert given.level == level, given


@pytest.mark.parametrize(
    ("seen", "found_running", "level"),
    [(26, True, "sound"), (26, False, "void"), (14, True, "void"), (14, False, "void")],
)
def test_other_clients_of_a_running_server_are_no_connections_of_the_load(
    seen, found_running, level
):
    trial = simulate(warm_up_s=0, ramp_s=0, connections=20)
    trial = as_load(trial) if found_running else trial
    told = with_readings(trial, "server", "connections_established", (2.0, seen), (3.0, seen))
    given = judged("counters_agree", told)
    assert given.level == level, given


@pytest.mark.parametrize(
    ("drivers", "kernels", "level"),
    [
        ([(0.1, 20)], [(0.009, 6)], "sound"),
        ([(0.06, 20)], [(0.004, 0)], "sound"),
        ([(0.5, 4), (1.0, 20)], [(0.009, 0), (0.502, 19)], "sound"),
        ([(1.0, 20), (2.0, 20), (3.0, 2)], [(1.01, 20), (2.01, 1), (2.99, 1)], "sound"),
        ([(1.0, 20), (2.0, 20), (3.0, 20)], [(0.01, 0), (1.01, 6), (2.01, 6)], "void"),
        ([(1.0, 20), (2.0, 19), (3.0, 18)], [(0.01, 0), (1.01, 20), (2.01, 6)], "sound"),
        ([(1.0, 20), (2.0, 19), (3.0, 18)], [(0.01, 0), (1.01, 6), (2.01, 6)], "void"),
        ([(1.0, 20), (1.5, 20)], [(0.01, 0), (1.01, 6)], "void"),
    ],
)
def test_connections_are_compared_where_the_pool_neither_opens_nor_closes(drivers, kernels, level):
    trial = simulate(warm_up_s=0, ramp_s=0, hold_s=drivers[-1][0], connections=20)
    told = with_readings(trial, "driver", "connections_open", *drivers)
    told = with_readings(told, "server", "connections_established", *kernels)
    given = judged("counters_agree", told)
    assert given.level == level, given


def test_a_core_that_other_programs_filled_was_not_the_drivers_limit():
    made = simulate(others_busy=0.5, server_busy=0.4, driver_busy=0.45)
    given = judged("bottleneck_identified", made)
    assert given.level == "sound"
    assert "Other programs took" in given.text
    assert "the load generator was the limit" not in given.text


@pytest.mark.parametrize(
    ("each_ns", "level", "words"),
    [
        (240_000_000, "sound", "used 96 % of a core"),
        (300_000_000, "void", "used 1.2 cores"),
        (None, "not_checked", "ended within turns"),
    ],
)
def test_the_cpu_time_of_a_server_in_turns_is_that_of_its_turns(each_ns, level, words):
    """By readings it used 1.3 cores: they also see a server wake that has thousands of threads."""
    made = simulate(server_busy=1.3, warm_up_s=0, ramp_s=0, hold_s=1.0)
    assert judged("cpu_bounds", made).level == "void"
    one = replace(turns.turns([turns.Pair()])[0], server_cpu_ns=each_ns)
    own = tuple(replace(one, round=number) for number in range(4))
    given = judged("cpu_bounds", replace(made, recording=replace(made.recording, turns=own)))
    assert given.level == level, given
    assert words in given.text


def with_warm_up_turn(length_s):
    """A load with a warm-up of 1 s and a window of 4 s, whose first turn took so long."""
    made = simulate(warm_up_s=1.0, ramp_s=0, hold_s=4.0)
    first = replace(turns.turns([turns.Pair()])[0], round=0, duration_ns=int(length_s * 1e9))
    left_ns = int((5.0 - length_s) * 1e9)
    then = (replace(first, round=1, duration_ns=left_ns),) if left_ns else ()
    return replace(made, recording=replace(made.recording, turns=(first, *then)))


@pytest.mark.parametrize(
    ("first_s", "level", "words"),
    [
        (1.1, "sound", "as requested"),
        (2.0, "doubtful", "25 % into the window"),
        (5.0, "void", "when the measurement window was over"),
    ],
)
def test_a_warm_up_whose_last_responses_come_late_leaves_less_to_measure(first_s, level, words):
    """Its turn ends with them, and turns that count begin after it."""
    made = with_warm_up_turn(first_s)
    given = judged("trial_completed", made)
    assert given.level == level, given
    assert words in given.text
    assert judged("littles_law", made).level == "sound"


@pytest.mark.parametrize(("run_delay", "level"), [(0.02, "doubtful"), (0.25, "sound")])
def test_a_server_without_work_while_the_load_generator_waits_for_a_core_was_full(run_delay, level):
    apart = {"server_cores": (0,), "driver_cores": (1,), "others_busy": 0.25}
    made = simulate(server_busy=0.5, driver_busy=0.5, run_delay=run_delay, **apart)
    given = judged("bottleneck_identified", made)
    assert given.level == level, given
    assert ("a part of the limit" in given.text) is (level == "sound")


SLEEPING = {"server_busy": 0.1, "driver_busy": 0.1, "spread": 0.0, "ramp_s": 0}


def test_streams_of_events_have_no_bodies_that_lack_a_comparison():
    """Each of their events is compared as it comes."""
    made = simulate(expected=ExpectedResponse((200, 200), has_events=True), compared_ratio=0.0)
    assert made.summary.completed > 1000
    assert judged("responses_correct", made).level == "sound"
    bodies = simulate(expected=ExpectedResponse((200, 200), has_body=True), compared_ratio=0.0)
    assert judged("responses_correct", bodies).level == "doubtful"


@pytest.mark.parametrize(
    ("options", "level"),
    [
        ({"warm_up_s": 0}, "sound"),
        ({"warm_up_s": 0, "spread": 0.4}, "doubtful"),
        ({"warm_up_s": 1.0}, "sound"),
    ],
)
def test_where_no_request_waits_for_another_their_number_is_the_limit(options, level):
    given = judged("bottleneck_identified", simulate(**{**SLEEPING, **options}))
    assert given.level == level, given
    assert ("more connections would get more" in given.text) is (level == "sound")


@pytest.mark.parametrize("warm_up_s", [0, 1.0])
def test_a_first_request_that_is_served_at_once_shows_that_the_others_wait(warm_up_s):
    made = simulate(**SLEEPING, warm_up_s=warm_up_s)
    stored: Any = made.requests
    rows = stored.sort_by("sent_ns")
    done = rows["done_ns"].to_numpy(zero_copy_only=False).copy()
    done[0] = rows["sent_ns"][0].as_py() + 1_000_000
    queued = replace(made, requests=with_column(rows, "done_ns", done))
    assert judged("bottleneck_identified", queued).level == "doubtful"


@pytest.mark.parametrize(("connections", "level"), [(20, "sound"), (12, "doubtful")])
def test_requests_of_one_type_are_compared_one_by_one_on_many_connections(connections, level):
    """Streams of five lengths; on few connections, the first of each length may have waited."""
    made = simulate(**SLEEPING, connections=connections, warm_up_s=1.0)
    rows: Any = made.requests
    number = np.arange(rows.num_rows) % 5
    sent = rows["sent_ns"].to_numpy(zero_copy_only=False)
    rows = with_column(rows, "done_ns", sent + 20_000_000 * (1 + number))
    rows = with_column(rows, "request", number.astype(np.uint16))
    lengths = made.recording.request_bytes * 5
    recording = replace(made.recording, requests=("stream",) * 5, request_bytes=lengths)
    mixed = replace(made, recording=recording, requests=rows)
    given = judged("bottleneck_identified", mixed)
    assert given.level == level, given


@pytest.mark.parametrize(("run_delay", "level"), [(0.02, "doubtful"), (1.0, "sound")])
def test_cores_full_of_others_are_a_limit_for_who_waits_for_them(run_delay, level):
    shared = {"server_cores": (0, 1), "driver_cores": (0, 1), "run_delay": run_delay}
    made = simulate(server_busy=0.1, driver_busy=0.1, others_busy=0.85, **shared)
    assert judged("bottleneck_identified", made).level == level


def test_what_nobody_waited_for_is_told_and_not_doubted():
    made = simulate(others_busy=0.4, others_on=(0,), server_busy=0.5, run_delay=0.0)
    given = judged("undisturbed", made)
    assert given.level == "sound"
    assert given.measured == pytest.approx(0.0, abs=0.01)
    assert "40 % of a core from the server's cores" in given.text
    assert "no side waited noticeably" in given.text


@pytest.mark.parametrize(("spread", "level"), [(0.0, "sound"), (1.0, "void")])
def test_waits_explain_no_more_than_each_kind_of_request_took_beyond_its_shortest(spread, level):
    """Half of the requests take a hundredth of what the others do, waits or not."""
    taken = {"others_busy": 0.6, "others_on": (1,), "driver_busy": 0.4, "server_busy": 0.3}
    made = as_mix(simulate(**taken, spread=spread), 0.5)
    requests: Any = made.requests
    sent_ns, done_ns = (requests[name].to_numpy() for name in ("sent_ns", "done_ns"))
    is_fast = requests["request"].to_numpy() == 1
    sent_ns = np.where(is_fast, done_ns - (done_ns - sent_ns) // 100, sent_ns)
    place = requests.schema.get_field_index("sent_ns")
    column = pa.array(np.nan_to_num(sent_ns).astype(np.int64))
    fast = replace(made, requests=requests.set_column(place, requests.schema.field(place), column))
    assert judged("undisturbed", fast).level == level


def test_what_a_trial_lost_is_told_where_it_is_not_doubted():
    given = judged("undisturbed", simulate(others_busy=0.06, others_on=(0,), server_busy=0.94))
    assert given.level == "sound"
    cause, _, meaning = given.text.partition(": ")
    assert cause.startswith("The server waited 6 % ")
    assert meaning.startswith("throughput is about 6 % too low, and latencies contain")


def test_an_open_load_does_not_lose_throughput():
    robbed = simulate(others_busy=0.2, others_on=(0,), server_busy=0.3, run_delay=0.1)
    given = judged("undisturbed", as_open(robbed, 1995.0))
    assert "too low" not in given.text
    assert given.text.endswith("used: latencies contain these waits, 10 % of the time.")


ONE_AT_A_TIME = {
    "server_cores": (0, 2),
    "server_busy": 0.75,
    "others_busy": 0.25,
    "others_on": (0, 2),
    "driver_busy": 0.3,
    "run_delay": 0.3,
}
"""A server with two cores, of whose threads hardly more than one can run at a time."""
ON_SHARED_CORES = {"server_cores": (0, 1), "driver_cores": (0, 1), "others_on": None}


@pytest.mark.parametrize(
    ("options", "lost"),
    [
        ({}, 0.286),
        (ON_SHARED_CORES, 0.429),
        ({"server_busy": 1.5}, 0.15),
        ({"server_busy": 0.5}, 0.15),
        ({"connections": 2}, 0.15),
        ({"driver_busy": 0.6}, 0.15),
        ({"database_busy": 0.1, "database_cores": (3,)}, 0.15),
    ],
    ids=["apart", "shared", "parallel", "idle", "few requests", "driver", "database"],
)
def test_a_server_that_does_one_thing_at_a_time_loses_all_that_it_waits_for(options, lost):
    """It waits for 0.3 of 1.05 threads, and one that uses both cores for 0.3 of 2."""
    given = judged("undisturbed", as_load(simulate(**{**ONE_AT_A_TIME, **options})))
    assert given.measured == pytest.approx(lost, abs=0.01)


@pytest.mark.parametrize(("taken", "level"), [(0.05, "sound"), (0.2, "doubtful"), (0.6, "void")])
def test_a_single_load_is_doubted_from_a_tenth_on(taken, level):
    robbed = simulate(others_busy=taken, others_on=(0,), server_busy=1 - taken)
    assert judged("undisturbed", as_load(robbed)).level == level


WANDERING = (1.1, 0.9) * 4
WILD = (3.0, 0.3) * 4


def test_a_machine_whose_speed_wanders_is_named_with_its_reach():
    given = judged("host_speed_stable", with_speeds(simulate(), *WANDERING))
    assert given.level == "sound"
    assert "machine speed varied by ±1" in given.text.lower()
    given = judged("host_speed_stable", with_speeds(as_load(simulate()), *WANDERING))
    assert given.level == "doubtful"


@pytest.mark.parametrize(
    ("check", "without", "title"),
    [
        ("undisturbed", ("core0_busy_s",), "Undisturbed (unknown)"),
        ("driver_headroom", ("cpu_user_s", "run_time_s"), "Driver headroom (unknown)"),
        ("cpu_bounds", ("cpu_user_s",), "CPU bounds (unknown)"),
    ],
)
def test_a_title_names_no_problem_that_was_not_seen(check, without, title):
    given = judged(check, simulate(without=without))
    assert (given.level, catalogue.title_of(given)) == ("doubtful", title)


def test_where_interrupts_are_counted_is_named_when_it_is_unknown():
    given = judged("undisturbed", simulate(interrupt_time=None))
    assert "how interrupts are counted" in given.text


@pytest.mark.parametrize("check", ["driver_headroom", "bottleneck_identified"])
def test_no_verdict_gets_better_by_theft(check):
    """A thief on the server's core takes 30 %, and server and driver do 30 % less."""
    alone = judged(check, simulate(server_busy=1.0, driver_busy=0.97))
    robbed = simulate(
        server_busy=0.7, driver_busy=0.68, others_busy=0.3, others_on=(0,), run_delay=0.3
    )
    robbed = as_load(robbed)
    given = judged(check, robbed)
    assert not (alone.is_doubting and given.level == "sound")
    assert "programs took 30 % of a core from the server" in given.text
    assert "the server was saturated" not in given.text
    assert judged("undisturbed", robbed).level == "doubtful"


@pytest.mark.parametrize("check", ["driver_headroom", "bottleneck_identified"])
def test_no_verdict_gets_better_by_what_a_hypervisor_withholds(check):
    """It withholds 30 % of both cores, and server and driver do 30 % less."""
    alone = judged(check, simulate(server_busy=1.0, driver_busy=0.97))
    robbed = as_load(simulate(server_busy=0.7, driver_busy=0.68, stolen=0.3))
    given = judged(check, robbed)
    assert not (alone.is_doubting and given.level == "sound")
    assert "hypervisor took 30 % of a core from the server and 30 % of a core from" in given.text
    assert "the bottleneck is unknown" not in given.text
    assert judged("undisturbed", robbed).level == "doubtful"


def test_a_stall_that_a_hypervisor_explains_is_told_once():
    stalled = {**STALLED_80_MS, "server_busy": 0.9, "connections": 150}
    assert judged("driver_uninterrupted", simulate(**stalled)).level == "doubtful"
    assert judged("driver_uninterrupted", simulate(**stalled, stolen=0.004)).level == "doubtful"
    given = judged("driver_uninterrupted", simulate(**stalled, stolen=0.1))
    assert given.level == "not_checked"
    assert "because others had its core" in given.text


@pytest.mark.parametrize(("taken_s", "level"), [((3.5, 4.5), "not_checked"), ((1.0, 2.0), "void")])
def test_a_hypervisor_explains_only_a_stall_of_its_own_time(taken_s, level):
    stalled = {"longest_pause_ns": 300_000_000, "freeze_s": (4.0, 4.3)}
    made = simulate(**stalled, stolen=0.4, taken_s=taken_s)
    assert judged("driver_uninterrupted", made).level == level


def test_a_load_generator_that_others_robbed_is_not_called_the_limit():
    made = simulate(others_busy=0.5, server_busy=0.4, driver_busy=0.45, run_delay=0.6)
    given = judged("driver_headroom", made)
    assert given.level == "not_checked"
    assert "its own limit is unknown" in given.text
    assert judged("undisturbed", made).level == "void"


@pytest.mark.parametrize(
    ("others", "level"),
    [
        ({"others_busy": 0.4, "run_delay": 0.6}, "not_checked"),
        ({"others_busy": 0.02, "run_delay": 0.6}, "sound"),
        ({"others_busy": 0.4, "run_delay": 0.02}, "sound"),
    ],
)
def test_a_load_generator_on_shared_cores_may_want_what_others_took(others, level):
    cores = {"driver_cores": (0, 1), "server_cores": (0, 1)}
    given = judged("driver_headroom", simulate(server_busy=0.5, driver_busy=0.6, **cores, **others))
    assert given.level == level, given.text


def test_a_second_in_which_the_load_generator_ended_fills_no_cores_that_others_had():
    """What others used of it is unknown: the cores were full, and not with what is measured."""
    cores = {"driver_cores": (0, 1), "server_cores": (0, 1), "others_on": (0, 1)}
    made = replace(simulate(server_busy=0.001, driver_busy=0.004, others_busy=0.99, **cores))
    made.__dict__["usage"] = without_the_last_reading(made.usage, "driver")
    given = judged("driver_headroom", made)
    assert "were busy" not in given.text
    assert not given.is_doubting


def without_the_last_reading(usage: Usage, scope: str) -> Usage:
    """The readings without what was read of a process tree after the last second of the load."""
    cut = {
        key: tuple(replace(one, at_ns=one.at_ns[:-2], values=one.values[:-2]) for one in series)
        for key, series in usage.series.items()
        if key[0] == scope
    }
    return replace(usage, series={**usage.series, **cut})


def test_a_server_with_time_to_spare_is_not_robbed_of_what_it_did_not_want():
    made = simulate(server_busy=0.3, driver_busy=0.5, others_busy=0.1, others_on=(0,))
    given = judged("driver_headroom", made)
    assert given.measured == pytest.approx(0.5, abs=0.02)
    assert given.level == "sound"


def counted_by_the_server(trial, **changes):
    """The same trial, of a server that counts itself."""
    driver, server = trial.recording.driver, trial.recording.server
    received = sum(kind.received_bytes for kind in trial.kind_counts)
    own = {
        "requests_received": driver.sent + 40,
        "responses_sent": driver.outcomes["ok"] + 40,
        "sent_bytes": received + 90_000,
        **changes,
    }
    recording = replace(trial.recording, server=replace(server, counted=own))
    return replace(trial, recording=recording)


@pytest.mark.parametrize(
    ("changes", "level", "words"),
    [
        ({}, "sound", ""),
        (
            {"responses_sent": 9_000},
            "void",
            "responses, the server itself counted 9,000",
        ),
        ({"requests_received": 100_000}, "void", "server itself received 100,000 requests"),
        ({"sent_bytes": 1_000}, "void", "bytes of responses, the server itself counted 1,000"),
    ],
)
def test_the_servers_own_count_is_a_third_witness(changes, level, words):
    given = judged("counters_agree", counted_by_the_server(CLEAN, **changes))
    assert given.level == level, given
    assert words in given.text


@pytest.mark.parametrize(
    ("counted", "level"),
    [
        ({}, "void"),
        ({"sent_bytes": 2_000}, "sound"),
        ({"sent_bytes": 1 << 40}, "void"),
        ({"sent_bytes": 1 << 40, "unsent_bytes": (1 << 40) - 2_000}, "sound"),
    ],
)
def test_requests_that_got_their_response_first_were_not_sent_whole(
    counted: dict[str, int], level: str
):
    recording = CLEAN.recording
    assert recording.driver is not None
    longer = tuple(1_000_000 for _ in recording.requests)
    driver = replace(recording.driver, **counted)
    trial = replace(CLEAN, recording=replace(recording, request_bytes=longer, driver=driver))
    given = judged("counters_agree", trial)
    assert given.level == level, given


@pytest.mark.parametrize(("missing", "level"), [(0, "sound"), (500, "void")])
def test_of_a_server_that_trials_share_what_others_count_is_taken_off(missing, level):
    trial = counted_by_the_server(CLEAN)
    server = trial.recording.server
    assert server is not None
    assert server.counted is not None
    both = {name: 2 * count for name, count in server.counted.items()}
    both["responses_sent"] -= missing
    shared = replace(server, counted=both, counted_elsewhere=server.counted)
    given = judged(
        "counters_agree", replace(trial, recording=replace(trial.recording, server=shared))
    )
    assert given.level == level, given


@pytest.mark.parametrize(("read", "level"), [(1.0, "void"), (2.0, "sound")])
@pytest.mark.parametrize(
    ("check", "changes", "share"),
    [
        ("rows_from_database", {"database_busy": 0.5, "rows_written": 2.0}, "rows_read"),
        ("responses_from_upstream", {"upstream_s": 1e-6}, "upstream_asked"),
    ],
)
def test_a_warm_up_hides_no_cache_after_it(check, changes, share, read, level):
    trial = simulate(**changes, **{share: read})
    recording = trial.recording
    of_load = by_figures.right_responses(recording)
    assert recording.server is not None
    server = replace(recording.server, counted_elsewhere={"right_responses": of_load})
    given = judged(check, replace(trial, recording=replace(recording, server=server)))
    assert given.level == level, given


def test_what_a_host_does_not_say_is_named_as_unknown_and_not_passed():
    hidden = ("frequency_hz", "thermal_throttles")
    given = judged("host_speed_stable", simulate(without=hidden))
    assert given.level == "sound"
    assert given.text.endswith("Not available on this host: frequency, thermal throttling, energy.")
    every = (*hidden, "core_busy_s", "cgroup_throttled_s", "pressure_io_s")
    assert judged("host_speed_stable", simulate(without=every)).level == "not_checked"


@pytest.mark.parametrize(
    ("quota_cores", "told"), [(0.1, "95 %"), (0.5, "80 %"), (2.0, "50 %"), (None, "67 %")]
)
def test_time_withheld_on_several_cores_at_once_is_a_share_of_all_that_was_asked_for(
    quota_cores: float | None, told: str
) -> None:
    trial = simulate(throttled=2.0)
    machines = {HOST: {"cgroup_cores": quota_cores}}
    recording = replace(trial.recording, machines=machines)
    given = judged("host_speed_stable", replace(trial, recording=recording))
    assert f"A CPU quota withheld {told} of the processor time" in given.text


def test_time_that_a_host_may_have_withheld_is_unknown_where_nothing_says_it():
    given = judged("undisturbed", simulate(without=("cpu_steal_s",)))
    assert given.text.endswith(
        "Not available on this host: time withheld by the host of a virtual machine."
    )


@pytest.mark.parametrize("changes", [{"overflows": 9}, {"rising": {"machine.syncookies_sent": 3}}])
def test_a_full_queue_of_the_load_generators_host_is_none_of_a_server_elsewhere(changes):
    def reached_by(link):
        trial = simulate(own_drops=False, backlog=16, **changes)
        assert trial.recording.server is not None
        server = replace(trial.recording.server, link=link)
        return replace(trial, recording=replace(trial.recording, server=server))

    assert judged("backlog", reached_by("lo")).level in {"doubtful", "void"}
    elsewhere = judged("backlog", reached_by("eth0"))
    assert elsewhere.level == "not_checked"
    assert "another host" in elsewhere.text


def test_a_link_of_unknown_speed_is_doubted_only_where_much_is_carried():
    def without_speed(trial):
        recording = trial.recording
        server = replace(recording.server, link="eth0", link_bits_per_s=None)
        return replace(trial, recording=replace(recording, server=server))

    assert judged("link_headroom", without_speed(CLEAN)).level == "sound"
    much = judged("link_headroom", without_speed(simulate(body_bytes=8000)))
    assert much.level == "doubtful"
    assert "cannot be read" in much.text


@pytest.mark.parametrize(("speed", "level"), [(38e6, "void"), (30e6, "not_checked")])
def test_a_link_that_carried_more_than_its_speed_has_another(speed, level):
    """It carried 36.8 Mbit/s."""
    made = simulate(link_bits_per_s=speed, server_busy=0.3, driver_busy=0.3)
    given = judged("link_headroom", made)
    assert given.level == level, given
    assert ("this speed is wrong" in given.text.lower()) is (level == "not_checked")
    bottleneck = judged("bottleneck_identified", made)
    assert ("link was saturated" in bottleneck.text) is (level == "void")


@pytest.mark.parametrize(("is_virtual", "level"), [(False, "doubtful"), (True, "not_checked")])
@pytest.mark.parametrize("body_bytes", [2048, 8000])
def test_nobody_can_read_the_speed_of_an_interface_without_a_device(is_virtual, level, body_bytes):
    trial = simulate(body_bytes=body_bytes)
    facts = {"link": "docker0", "link_bits_per_s": None, "link_is_virtual": is_virtual}
    assert trial.recording.server is not None
    server = replace(trial.recording.server, **facts)
    trial = replace(trial, recording=replace(trial.recording, server=server))
    given = judged("link_headroom", trial)
    assert given.level == ("sound" if body_bytes < 8000 else level), given
    assert ("over a virtual interface" in given.text) is is_virtual


def over_links(trial, **speeds):
    """The same trial, generated by hosts `one` and `two` over links of these speeds."""
    trial = of_two_hosts(trial)
    hosts = [
        replace(one, link=NetworkLink("eth0", speeds[one.host])) for one in trial.recording.hosts
    ]
    server = replace(
        trial.recording.server, link="eth0", link_bits_per_s=speeds["server"], command="./app"
    )
    recording = replace(trial.recording, hosts=tuple(hosts), server=server)
    changed = replace(trial, recording=recording)
    carried = ReadingSeries(np.array([-(10**9), 10**10]), np.array([0.0, 11e7]))  # 80 Mbit/s
    more = ReadingSeries(carried.at_ns, 2 * carried.values)
    of_link = {"one": carried, "two": more, server.host: carried}
    return with_readings_of_hosts(
        changed, {host: {("machine", "link_sent_bytes"): one} for host, one in of_link.items()}
    )


def with_readings_of_hosts(trial, hosts):
    """The same trial with readings by host, scope and quantity."""
    changed = replace(trial)
    changed.__dict__["usage"] = replace(trial.usage, hosts=hosts)
    return changed


def growing(per_s):
    """Readings of a counter that grows so much in a second."""
    return ReadingSeries(np.array([-(10**9), 10**10]), np.array([0.0, 11.0 * per_s]))


def with_busy_drivers(trial, **busy):
    """The same trial, whose load generators on two hosts each keep so much of a core busy."""
    times = {
        host: {("driver", "cpu_user_s"): growing(used), ("driver", "cpu_system_s"): growing(0.0)}
        for host, used in busy.items()
    }
    return with_readings_of_hosts(of_two_hosts(trial), times)


@pytest.mark.parametrize(
    ("busy", "level", "words"),
    [
        ({"one": 0.6, "two": 0.4}, "sound", "of `one`, the busiest one, was not the limit"),
        ({"one": 0.2, "two": 0.97}, "void", "The load generator of `two` used 97 %"),
        ({"one": 0.85, "two": 0.3}, "doubtful", "The load generator of `one` used 85 %"),
    ],
)
def test_of_several_load_generators_the_busiest_counts(busy, level, words):
    """Their mean is 58 % at most: what one has to spare does not help the other."""
    given = judged("driver_headroom", with_busy_drivers(simulate(server_busy=0.5), **busy))
    assert given.level == level, given
    assert words in given.text


def beside_plimsoll(trial, cores, host):
    """The same trial on several hosts, with so much of the server's used by Plimsoll itself."""
    changed = of_two_hosts(trial)
    server = replace(changed.recording.server, host=host)
    made = replace(changed, recording=replace(changed.recording, server=server))
    made.__dict__["usage"] = replace(
        trial.usage,
        series={**trial.usage.series, ("machine", "plimsoll_cpu_s"): (growing(cores),)},
    )
    return made


@pytest.mark.parametrize(
    ("host", "others", "cores", "level", "words"),
    [
        ("server", 0.03, 0.01, "sound", "used 2 % of a core from the server's cores, Plimsoll's a"),
        ("local", 0.03, 0.01, "sound", "Plimsoll's lab up to 1 % of a core"),
        ("server", 0.4, 0.3, "doubtful", "for cores that Plimsoll's agent used"),
        ("server", 0.4, 0.01, "doubtful", "for cores that other programs used"),
        ("server", 0.03, 0.0, "sound", "3 % of a core from the server's cores, and"),
    ],
)
def test_what_plimsoll_used_beside_a_server_is_told_as_its_own(host, others, cores, level, words):
    """It costs the trial as much as any other program would: the level is the same."""
    waited = {} if level == "doubtful" else {"run_delay": 0.001}
    made = simulate(others_busy=others, others_on=(0,), server_busy=0.6, **waited)
    given = judged("undisturbed", beside_plimsoll(made, cores, host))
    assert given.level == level, given
    assert words in given.text


def with_handshakes(trial, accepted, **opened):
    """The same trial, whose load generators opened connections to a server on a third host."""
    changed = of_two_hosts(trial)
    server = replace(changed.recording.server, host="server", link="eth0")
    recording = replace(changed.recording, server=server)
    counts = {host: {("machine", "tcp_active_opens"): count} for host, count in opened.items()}
    counts["server"] = {
        ("machine", "tcp_active_opens"): 0,
        ("machine", "tcp_passive_opens"): accepted,
    }
    readings = {
        host: {
            name: ReadingSeries(np.array([-(10**9), 10**11]), np.array([7.0, 7.0 + count]))
            for name, count in of_host.items()
        }
        for host, of_host in counts.items()
    }
    return with_readings_of_hosts(replace(changed, recording=recording), readings)


@pytest.mark.parametrize(
    ("accepted", "opened", "level", "words"),
    [
        (41, {"one": 20, "two": 20}, "sound", "40 handshakes, the kernel 40"),
        (41, {"one": 20, "two": 10}, "void", "40 handshakes, the kernel 30"),
        (20, {"one": 20, "two": 20}, "void", "40 handshakes, the kernel 20"),
        (41, {"one": 20}, "sound", "40 handshakes, the kernel 41"),
    ],
)
def test_each_host_counts_the_handshakes_of_its_side(accepted, opened, level, words):
    """A server's host opens no connections, and load generators accept none."""
    given = judged("counters_agree", with_handshakes(CLEAN, accepted, **opened))
    assert given.level == level, given
    assert words in given.text


@pytest.mark.parametrize(("arrived", "level"), [(85.0, "sound"), (0.0, "doubtful")])
def test_segments_that_had_arrived_before_they_were_sent_again_are_not_lost(arrived, level):
    """The receiver reports duplicates: an acknowledgement was late, as on a busy host."""
    counted = ((3.0, 0.0), (7.0, arrived))
    told = with_readings(simulate(**SLOW_AND_RESENT), "machine", "tcp_duplicates", *counted)
    given = judged("segments_lost", told)
    assert given.level == level, given
    assert ("and 85 that had arrived" in given.text) is (level == "sound")


def with_segments_lost(trial, **again):
    """The same trial, in which hosts repeat so many segments of 5,000 in a second."""
    counters = {
        host: {
            ("machine", "tcp_retransmits"): growing(per_s),
            ("machine", "tcp_segments_out"): growing(5000.0),
        }
        for host, per_s in again.items()
    }
    return with_readings_of_hosts(of_two_hosts(trial), counters)


@pytest.mark.parametrize(
    ("again", "level", "words"),
    [
        ({"server": 0.0, "one": 0.0, "two": 1.0}, "sound", "fewer than 10 segments"),
        ({"server": 0.0, "one": 3.0, "two": 50.0}, "doubtful", "segments of `two` were"),
        ({"server": 40.0, "one": 0.0, "two": 0.0}, "doubtful", "segments of `server` were"),
    ],
)
def test_segments_are_lost_on_the_way_from_any_host(again, level, words):
    trial = simulate(link_bits_per_s=1e9)
    given = judged("segments_lost", with_segments_lost(trial, **again))
    assert given.level == level, given
    assert words in given.text.lower()
    assert all("switch" in remedy for remedy in given.remedies)
    assert bool(given.remedies) == (level != "sound")


def with_resets(outcomes, opened=10):
    """A load whose rows stayed on two hosts, on machines where connections are reset."""
    trial = simulate(rising={"machine.tcp_resets_sent": 30.0})
    driver = replace(driver_of(trial), outcomes=outcomes, opened=opened, connections_requested=10)
    made = of_two_hosts(trial)
    made = replace(made, recording=replace(made.recording, driver=replace(driver, refused=0)))
    resets = {("machine", "tcp_resets_sent"): growing(30.0)}
    changed = with_readings_of_hosts(made, {"one": resets, "two": resets})
    row = {**trial.summary.row, "connections_lost": None}
    changed.__dict__["summary"] = type(trial.summary).of_row(row)
    return changed


@pytest.mark.parametrize(
    ("outcomes", "opened", "level"),
    [
        ({"ok": 4000, "unfinished": 10}, 10, "not_checked"),
        ({"ok": 4000, "reset_waiting": 20}, 10, "doubtful"),
        ({"ok": 4000}, 30, "doubtful"),
    ],
)
def test_resets_are_no_loss_of_a_load_whose_connections_were_all_fine(outcomes, opened, level):
    given = judged("segments_lost", with_resets(outcomes, opened))
    (resets,) = (one for one in given.sentences if one.limit == "broken_ratio")
    assert resets.level == level, given
    assert "connections of `one`, `two` were reset" in resets.text
    assert ("other programs" in resets.text) == (level == "not_checked")


@pytest.mark.parametrize(
    ("speeds", "level", "words"),
    [
        ({"one": 1e9, "two": 1e9, "server": 1e9}, "sound", "of the link of `two`"),
        ({"one": 1e9, "two": 165e6, "server": 1e9}, "void", "of the link of `two`"),
        ({"one": 90e6, "two": 1e9, "server": 1e9}, "doubtful", "of the link of `one`"),
        ({"one": 1e9, "two": 1e9, "server": 82e6}, "void", "of the link of the machine of the lab"),
        ({"one": 1e9, "two": None, "server": 1e9}, "doubtful", "`two` whose speed cannot be read"),
        ({"one": 84e6, "two": 10e6, "server": 1e9}, "void", "of the link of `one`"),
        ({"one": 1e9, "two": 10e6, "server": 1e9}, "not_checked", "the link of `two` is said"),
    ],
)
def test_of_several_hosts_the_fullest_link_counts(speeds, level, words):
    given = judged("link_headroom", over_links(CLEAN, **speeds))
    assert given.level == level, given
    assert words in given.text


@pytest.mark.parametrize(("check", "options"), PASSES)
def test_a_trial_within_the_limits_passes(check, options):
    given = judged(check, made(options))
    assert given.level == "sound", given


@pytest.mark.parametrize(("check", "level", "options", "words"), TRIALS)
def test_a_trial_beyond_a_limit_does_not_pass(check, level, options, words):
    given = judged(check, made(options))
    assert given.level == level, given
    assert all(word.lower() in given.text.lower() for word in words), given.text
    assert given.remedies
    assert given.text.endswith(".")


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
    assert words in judged("backlog", trial).remedies[0]


@pytest.mark.parametrize(
    ("responses", "words"),
    [
        (1, "measure it without keep-alive (`keep_alive = false`)"),
        (10, "(`requests_per_connection`)"),
    ],
)
def test_a_server_that_closes_every_connection_can_be_measured_as_it_is(responses, words):
    trial = simulate(closings={"closed_as_announced": (200, responses)})
    assert words in judged("connection_target_met", trial).remedies[0]


def test_a_server_that_closes_after_each_response_unannounced_can_be_measured_without_keep_alive():
    trial = simulate(failures={"closed_waiting": 0.3})
    ends = tuple(
        replace(end, most_responses=1) if end.outcome == "closed_waiting" else end
        for end in trial.connection_ends
    )
    remedies = judged("failures_explained", trial).remedies
    assert remedies == ("Find in `server.log` why it closed or reset connections.",)
    trial.__dict__["connection_ends"] = ends
    remedies = judged("failures_explained", trial).remedies
    del trial.__dict__["connection_ends"]
    assert "measure it without keep-alive (`keep_alive = false`)" in remedies[0]


def with_ends(trial, **connections):
    """The same trial, whose server closed so many connections in each way after 10 responses."""
    trial = replace(trial)
    ends = [ConnectionEnd(outcome, n, 0, n, 10, 10) for outcome, n in connections.items()]
    trial.__dict__["connection_ends"] = tuple(ends)
    return trial


def test_what_a_server_loses_by_closing_is_chance_and_it_closed_all_alike():
    lost = {"reset_waiting": 200, "closed_waiting": 100}
    trial = with_ends(simulate(failures={"reset_waiting": 0.02}), closed_idle=300, **lost)
    assert "closed 600 of" in judged("connection_target_met", trial).text
    assert "closed 600 of" in judged("failures_explained", trial).text
    harmed = judged("connection_target_met", with_ends(trial, **lost))
    assert ("closed" in harmed.text, harmed.level) == (False, "sound"), harmed.text


def test_a_close_frame_between_messages_loses_nothing():
    given = judged("connection_target_met", with_ends(simulate(), close_received=300))
    assert given.level == "doubtful"
    assert "The server closed 300 of" in given.text
    assert judged("failures_explained", with_ends(simulate(), close_received=300)).level == "sound"


def test_a_server_that_cuts_responses_is_not_helped_by_a_connection_for_each():
    trial = simulate(failures={"closed_early": 0.3})
    trial = replace(trial)
    trial.__dict__["connection_ends"] = (ConnectionEnd("closed_early", 99, 0, 99, 1, 1),)
    (remedy,) = judged("failures_explained", trial).remedies
    assert remedy == "Find in `server.log` why it ended responses before their last byte."


@pytest.mark.parametrize(
    ("protocol", "name"), [("http1", "HTTP/1.1"), ("http2", "HTTP/2"), ("websocket", "WebSocket")]
)
def test_what_a_server_violates_is_the_protocol_of_the_load(protocol, name):
    trial = simulate(failures={"http2_error": 0.1, "lost_behind": 0.3})
    load = replace(trial.recording.load, protocol=protocol)
    trial = replace(trial, recording=replace(trial.recording, load=load))
    (remedy,) = judged("failures_explained", trial).remedies
    assert remedy == f"Inspect the bytes that the server sends: they are not valid {name}."


@pytest.mark.parametrize(("protocol", "said"), [("http1", "204 or 304"), ("websocket", "message")])
def test_bytes_beyond_a_response_are_those_of_the_protocol(protocol, said):
    trial = simulate(closings={"unsolicited": (7, 5000)})
    load = replace(trial.recording.load, protocol=protocol)
    trial = replace(trial, recording=replace(trial.recording, load=load))
    (remedy,) = judged("responses_correct", trial).remedies
    assert said in remedy


@pytest.mark.parametrize(
    ("outcome", "said"),
    [
        ("connect_refused", "listens on this address"),
        ("tls_timeout", "(`timeout`)"),
        ("tls_alert", "refuses the handshake"),
    ],
)
def test_a_server_whose_handshakes_fail_does_listen(outcome, said):
    trial = replace(CLEAN)
    summary = replace(CLEAN.summary, connections_opened=0, connections_refused=9)
    counts = (OutcomeCount(outcome, None, 9, 9, 0, 0),)
    trial.__dict__.update(summary=summary, outcome_counts=counts)
    (remedy,) = judged("connection_target_met", trial).remedies
    assert said in remedy


@pytest.mark.parametrize(("hung_ns", "level"), [(3_000_000_000, "void"), (500_000_000, "sound")])
def test_a_server_that_hangs_after_few_responses_is_compared_with_the_longest(hung_ns, level):
    options = {"connections": 4, "warm_up_s": 0.0, "ramp_s": 0.0, "hold_s": 4.0}
    trial = hung(simulate(**options), hung_ns)
    few: Any = as_stored(trial.requests)
    unended = pc.is_null(few["done_ns"])
    few = pa.concat_tables([few.filter(pc.invert(unended))[:10], few.filter(unended)[:4]])
    given = judged("failures_explained", replace(trial, requests=few))
    assert given.level == level
    assert ("4 requests hung until the load ended" in given.text) is (level == "void")
    assert ("while the longest of the responses is" in given.text) is (level == "void")


@pytest.mark.parametrize(("timeout_s", "is_hung"), [(10.0, True), (0.05, False)])
def test_timeouts_far_beyond_other_responses_are_requests_that_hung(timeout_s, is_hung):
    trial = simulate(failures={"timed_out_waiting": 0.02})
    load = replace(trial.recording.load, timeout_s=timeout_s)
    trial = replace(trial, recording=replace(trial.recording, load=load))
    (remedy,) = judged("failures_explained", trial).remedies
    assert ("why it did not respond" in remedy) is is_hung
    assert ("Request fewer connections" in remedy) is not is_hung


@pytest.mark.parametrize(
    ("hung_ns", "level"), [(1_000_000, "sound"), (500_000_000, "void"), (1_500_000_000, "void")]
)
def test_a_hang_before_the_end_of_an_open_load_hides_latencies(hung_ns, level):
    given = judged("failures_explained", as_open(hung(simulate(), hung_ns), rate_per_s=2000.0))
    assert given.level == level
    assert ("and latencies leave them out: with them p" in given.text) is (level == "void")


@pytest.mark.parametrize(("timeout_s", "is_short"), [(60.0, True), (2.0, False)])
@pytest.mark.parametrize("check", ["failures_explained", "connection_target_met"])
def test_a_load_shorter_than_a_response_says_so(check, timeout_s, is_short):
    given = judged(check, simulate(starved=20, timeout_s=timeout_s, ramp_s=0.0, warm_up_s=0.0))
    assert given.level == "void"
    assert ("responses take longer" in given.text) is is_short
    assert any("Hold the load for longer" in one for one in given.remedies) is is_short


@pytest.mark.parametrize(
    ("most", "option"), [(12_000, "`-n`, 2,000 for each second"), (None, "`-d`")]
)
@pytest.mark.parametrize("check", ["failures_explained", "connection_target_met"])
def test_a_load_shorter_than_a_response_names_the_option_that_gave_its_length(
    check: str, most: int | None, option: str
) -> None:
    made = simulate(starved=20, timeout_s=60.0, ramp_s=0.0, warm_up_s=0.0)
    given = judged(check, by_number(as_open(made, rate_per_s=2000.0), most))
    (remedy,) = (one for one in given.remedies if "longer than a response" in one)
    assert f"takes ({option}), or" in remedy


def by_number(trial, most):
    """An open load that `plimsoll load` put on, of so many requests; None for some time."""
    recording = trial.recording
    hold = recording.stages[-1]
    stages = (Stage("hold", (hold.end_ns - hold.start_ns) / 1e9, hold.start, hold.end),)
    load = replace(recording.load, stages=stages, request_limit=most)
    return as_load(replace(trial, recording=replace(recording, load=load)))


@pytest.mark.parametrize(
    ("most", "remedy"),
    [
        (1800, "`-n 10000` or more"),
        (None, "`-d 5s` or more"),
    ],
)
def test_a_short_open_load_of_some_requests_needs_more_of_them(most, remedy):
    made = as_open(simulate(ramp_s=0.0, hold_s=0.9), rate_per_s=2000.0)
    given = judged("long_enough", by_number(made, most))
    assert given.remedies == (f"Load for longer: {remedy}.",)


def test_a_hang_that_fills_the_pool_is_not_blamed_on_the_pool():
    trial = as_open(hung(simulate(failures={"not_sent": 0.2}), 1_000_000_000), rate_per_s=2000.0)
    given = judged("failures_explained", trial)
    assert "Requests waited until the load ended, for up to" in given.text
    assert given.remedies[0] == "Find in `server.log` why it did not respond."


@pytest.mark.parametrize(
    ("name", "failures", "level"),
    [
        (TRY, {"not_sent": 0.005}, "sound"),
        (TRY, {"not_sent": 0.05}, "void"),
        (TRY, {"not_sent": 0.005, "closed_waiting": 0.005}, "doubtful"),
        ("steady", {"not_sent": 0.005}, "doubtful"),
    ],
    ids=["as allowed", "more", "beside others", "no try"],
)
def test_what_a_try_of_a_load_line_may_leave_unsent_did_not_fail(name, failures, level):
    made = as_open(simulate(failures=failures), rate_per_s=2000.0)
    load = replace(made.recording.load, name=name)
    given = judged(
        "failures_explained", replace(made, recording=replace(made.recording, load=load))
    )
    assert given.level == level, given
    assert ("more waited to be sent at the end" in given.text) is (level == "sound")
    assert ("due but never sent" in given.text) is (name != TRY or failures["not_sent"] > 0.01)


def slower_answers(from_s=8):
    """Answers that take twice as long from some instant on, and are as many."""
    trial = simulate(ramp_s=0, hold_s=12.0)
    rows: Any = trial.requests
    sent, done = rows["sent_ns"], rows["done_ns"]
    earlier = pc.subtract(sent, pc.subtract(done, sent))
    longer = pc.if_else(pc.greater(done, from_s * 10**9), earlier, sent)
    index = rows.schema.get_field_index("sent_ns")
    rows = rows.set_column(index, rows.schema.field(index), longer)
    return replace(trial, requests=rows)


def test_answers_that_take_longer_at_the_same_throughput_are_no_steady_state():
    given = judged("steady", slower_answers())
    assert given.level == "doubtful"
    assert "The median latency went from" in given.text
    assert "without a steady state" in given.text


def test_a_slowdown_of_latency_is_said_in_the_units_of_the_screen():
    trial = slower_answers(4)
    median_ns = trial.summary.service_time.p50_ns
    given = judged("steady", trial)
    assert median_ns is not None
    assert f"over the measurement window it is {wording.seconds(median_ns / 1e9)}." in given.text


def test_little_is_checked_against_the_drivers_clock_not_against_the_rows():
    rows: Any = CLEAN.requests
    done = pc.add(rows["sent_ns"], pc.divide(pc.subtract(rows["done_ns"], rows["sent_ns"]), 2))
    first = pc.min_element_wise(rows["first_byte_ns"], done, skip_nulls=False)
    shorter = rows.set_column(3, rows.schema.field(3), done)
    shorter = shorter.set_column(2, rows.schema.field(2), first)
    given = judged("littles_law", replace(CLEAN, requests=shorter))
    assert given.level == "void"
    assert given.measured == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize(
    ("counted", "apart_s", "level", "said"),
    [
        (1 / 1.05, None, "void", "(105 %): more than possible"),
        (1 / 1.05, 0.001, "void", " %): more than possible"),
        (1 / 1.05, 0.1, "sound", " ± "),
        (1 / 1.05, 0.0, "void", "(105 %): more than possible"),
        (1 / 1.5, 0.1, "void", " %): more than possible"),
        (1 / 0.9, None, "doubtful", "rows or times are missing"),
        (1 / 0.9, 0.15, "sound", " ± "),
        (1 / 0.7, 0.15, "void", "rows or times are missing"),
    ],
)
def test_threads_that_count_at_different_instants_leave_open_what_changed_between_them(
    counted: float, apart_s: float | None, level: str, said: str
):
    """Two edges, in a window of 4 s, of 20 connections with nearly 20 requests in flight."""
    trial = simulate(in_flight_factor=counted, counts_apart_s=apart_s)
    given = judged("littles_law", trial)
    assert given.level == level, given.text
    assert said in given.text


def test_rows_that_are_there_twice_are_more_than_can_be_in_flight():
    trial = simulate(counts_apart_s=0.04)
    rows: Any = as_stored(trial.requests)
    given = judged("littles_law", replace(trial, requests=pa.concat_tables([rows, rows])))
    assert given.level == "void"
    assert given.measured == pytest.approx(2.0, abs=0.05)


@pytest.mark.parametrize(
    ("places", "level"), [(20.0, "sound"), (40.0, "void"), (0.0, "sound"), (None, "sound")]
)
def test_streams_that_the_server_does_not_take_are_no_places(places: float | None, level: str):
    """A server takes one of two requested streams; later engines say how many places there are."""
    trial, readings = sent_by_streams(2), []
    if places is not None:
        readings = [usage_rows(*((float(s), "driver", "places_open", places) for s in range(12)))]
    trial = replace(trial, readings=pa.concat_tables([trial.readings, *readings]))
    given = judged("littles_law", trial)
    assert given.level == level, given
    assert given.text.endswith("connections were idle.") is (level == "void")


def sent_by_streams(streams: int, trial: Any = CLEAN) -> Any:
    load = replace(trial.recording.load, protocol="http2", streams=streams)
    return replace(trial, recording=replace(trial.recording, load=load))


def by_streams(streams: int, places: float, trial: Any = CLEAN, **counted: Any) -> Any:
    """A load by HTTP/2 whose server allows so many requests on its 20 connections."""
    trial = sent_by_streams(streams, trial)
    readings = usage_rows(*((float(s), "driver", "places_open", places) for s in range(12)))
    assert trial.recording.driver is not None
    driver = replace(trial.recording.driver, **counted)
    recording = replace(trial.recording, driver=driver)
    trial = replace(trial, recording=recording)
    return replace(trial, readings=pa.concat_tables([trial.readings, readings]))


@pytest.mark.parametrize(
    ("streams", "places", "level"),
    [(8, 160.0, "sound"), (8, 159.9, "sound"), (8, 40.0, "doubtful"), (1, 20.0, "sound")],
)
def test_a_server_that_allows_fewer_streams_makes_the_load_smaller(
    streams: int, places: float, level: str
):
    given = judged("connection_target_met", by_streams(streams, places, fewest_streams=2))
    assert given.level == level, given
    told = (
        "The server allowed 2 streams on a connection (`SETTINGS_MAX_CONCURRENT_STREAMS`), 8 were "
        "requested: up to 40 requests were in flight at one time, not 160."
    )
    assert (told in given.text) is (level == "doubtful"), given.text


@pytest.mark.parametrize("streams", [1, 8])
@pytest.mark.parametrize("share", [0.0, 0.5, 0.98])
def test_connections_without_a_stream_carry_no_request(streams: int, share: float):
    trial = by_streams(streams, share * 20, fewest_streams=0)
    given = judged("connection_target_met", trial)
    assert given.level == "void", given
    assert given.text.startswith(
        "The server allowed no stream (`SETTINGS_MAX_CONCURRENT_STREAMS` = 0) on "
    ), given.text
    verdicts = {one.check: one for one in judging.judge(trial)}
    assert not {name for name, one in verdicts.items() if one.is_doubting} & misled_by("no_streams")


def test_half_of_the_places_may_be_those_of_half_the_connections():
    given = judged("connection_target_met", by_streams(8, 80.0, fewest_streams=0))
    assert given.level == "doubtful", given
    assert given.text.startswith("The server allowed 0 streams on a connection")


@pytest.mark.parametrize("fewest", [None, 1, 100])
def test_a_connection_about_to_close_has_no_places_and_is_no_limit_of_streams(fewest: int | None):
    """After GOAWAY it takes no further request, and is open until its last response."""
    given = judged("connection_target_met", by_streams(1, 12.0, fewest_streams=fewest))
    assert given.level == "sound", given


def test_connections_are_silent_on_which_no_stream_is_allowed():
    trial = by_streams(8, 80.0, simulate(starved=10), fewest_streams=0)
    given = judged("connection_target_met", trial)
    assert "never received a response byte: the server allowed no stream on them" in given.text


@pytest.mark.parametrize(("places", "level"), [(20.0, "doubtful"), (40.0, "sound")])
def test_an_open_load_is_short_of_streams_only_if_it_needed_them(places: float, level: str):
    trial = by_streams(8, places, fewest_streams=1)
    load = replace(trial.recording.load, model="open")
    trial = replace(trial, recording=replace(trial.recording, load=load))
    given = judged("connection_target_met", trial)
    assert given.level == level, given


@pytest.mark.parametrize("places", [160.0, 40.0])
def test_where_streams_are_missing_requests_waited_for_others(places: float):
    trial = by_streams(8, places, simulate(server_busy=0.2), fewest_streams=2)
    text = judged("bottleneck_identified", trial).text
    assert ("the server allowed 2 streams" in text) is (places < 160), text


@pytest.mark.parametrize(("is_of_events", "level"), [(False, "void"), (True, "sound")])
def test_a_stream_that_ends_after_its_last_event_is_no_idle_connection(
    is_of_events: bool, level: str
):
    trial = simulate(idle=4)
    given = judged("littles_law", of_events(trial) if is_of_events else trial)
    assert given.level == level, given


def in_turns(trial: Any, planned_ratio: float) -> Any:
    """The trial as if it had taken turns, with requests that begin for a share of each."""
    recording = trial.recording
    length_ns = recording.stages[-1].end_ns // 10
    one = turns.turns([turns.Pair()])[0]
    one = replace(one, duration_ns=length_ns, planned_ns=round(length_ns * planned_ratio))
    return replace(trial, recording=replace(recording, turns=(one,) * 10))


def test_places_that_empty_at_the_end_of_a_turn_are_not_idle():
    trial = simulate(idle=2)
    assert judged("littles_law", trial).level == "doubtful"
    assert judged("littles_law", in_turns(trial, 0.9)).level == "sound"
    assert judged("littles_law", in_turns(trial, 1.0)).level == "doubtful"
    assert judged("littles_law", in_turns(simulate(idle=4), 0.98)).level == "void"


def test_while_a_turn_waits_for_its_last_responses_no_rate_is_requested():
    trial = as_open(simulate(warm_up_s=2.0, ramp_s=0, hold_s=8.0), 2500.0)
    assert judged("offered_rate_met", trial).level == "void"
    assert judged("offered_rate_met", in_turns(trial, 0.8)).level == "sound"
    assert judged("offered_rate_met", in_turns(trial, 1.0)).level == "void"
    assert offered_s(in_turns(trial, 0.8).recording) == pytest.approx(6.4)
    closed = in_turns(simulate(warm_up_s=2.0, ramp_s=0, hold_s=8.0), 0.8)
    assert offered_s(closed.recording) == 8.0, "a server that is slow at the end bears it"


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
    assert "In part 3 of 3 of the ramp" in given.text
    assert "part 2" not in given.text


def half_used(used_ratio=0.5, **in_flight_each):
    """A ramp whose last levels have half the throughput, and less of the connections in use.

    Args:
        used_ratio: Requests in flight at these levels / at others, by connection.
        in_flight_each: The streams or the pipeline of each connection, all of them taken before.
    """
    trial = simulate(ramp_s=8.0, hold_s=2.0, warm_up_s=0, connections=40, starved=0)
    load = replace(trial.recording.load, **in_flight_each)
    trial = replace(trial, recording=replace(trial.recording, load=load))
    seconds: Any = trial.seconds
    later = pc.greater(seconds["second"], 5)
    fewer = pc.if_else(later, pc.divide(seconds["completed"], 2), seconds["completed"])
    full = pc.multiply(seconds["in_flight"], float(load.in_flight_each))
    used = pc.if_else(later, pc.multiply(full, used_ratio), full)
    for name, values in (("completed", fewer), ("in_flight", used)):
        index = seconds.schema.get_field_index(name)
        seconds = seconds.set_column(index, seconds.schema.field(index), values)
    trial.__dict__["counted_seconds"] = seconds
    return trial


def test_more_connections_that_are_not_used_are_doubtful():
    given = judged("scaling", half_used())
    assert given.level == "doubtful"
    assert "from 30 to 40 connections" in given.text.lower()


@pytest.mark.parametrize(
    ("used_ratio", "level"), [(1.0, "sound"), (0.98, "sound"), (0.5, "doubtful")]
)
@pytest.mark.parametrize("in_flight_each", [{}, {"streams": 32}, {"pipeline": 32}])
def test_a_connection_is_used_as_far_as_it_has_all_its_requests_in_flight(
    used_ratio, level, in_flight_each
):
    """Of 32 streams 2 % are 0.64 requests for each connection, which are no unused connections."""
    given = judged("scaling", half_used(used_ratio, **in_flight_each))
    assert given.level == level, given


@pytest.mark.parametrize(
    "limited",
    [
        lambda trial: as_open(trial, 4000.0),
        lambda trial: replace(
            trial,
            recording=replace(
                trial.recording, load=replace(trial.recording.load, think_time_s=1.0)
            ),
        ),
    ],
    ids=["open", "think time"],
)
def test_an_upstream_is_no_limit_of_a_load_that_looks_for_none(limited):
    """The upstream is 92 % of a response: at a rate that the server carries, it adds little."""
    trial = simulate(upstream_s=0.0044, connections=20, throughput_per_s=4000.0)
    saturated = judged("upstream_headroom", trial)
    assert (saturated.level, round(saturated.measured, 2)) == ("doubtful", 0.92), saturated
    given = judged("upstream_headroom", limited(trial))
    assert (given.level, given.measured, given.remedies) == ("not_checked", None, ())
    assert not given.applies
    assert "not the server" not in given.text


def backwards():
    """Rows of requests that were sent before they were due."""
    rows: Any = CLEAN.requests
    late = rows.set_column(0, rows.schema.field(0), pc.add(rows["sent_ns"], 1))
    return replace(CLEAN, requests=late)


def with_malformed(lines: int):
    """A log of another tool in which some lines could not be read."""
    driver = replace(driver_of(CLEAN), lines_malformed=lines)
    return replace(CLEAN, recording=replace(CLEAN.recording, driver=driver))


@pytest.mark.parametrize(("lines", "level"), [(1, "sound"), (40, "doubtful"), (4000, "void")])
def test_malformed_lines_of_a_log_are_requests_without_a_row(lines: int, level: str):
    given = judged("conservation", with_malformed(lines))
    assert given.level == level
    assert ("malformed" in given.text) == (level != "sound")


def without_ports():
    """A load that opens a connection for each request, and has used up its ports."""
    trial = made({"resting_ports": 20_000_000})
    load = sample.load(keep_alive=False)
    return replace(trial, recording=replace(trial.recording, load=load))


def test_ports_that_rest_after_their_connections_are_doubtful():
    given = judged("ports_and_files", without_ports())
    assert given.level == "doubtful"
    assert "were in TIME_WAIT" in given.text


@pytest.mark.parametrize(("more", "level"), [(0, "sound"), (1, "void")])
def test_a_driver_that_counts_requests_and_no_outcomes_is_compared_by_that(more, level):
    driver = driver_of(CLEAN)
    counting = replace(driver, outcomes={}, sent=(driver.sent or 0) + more)
    trial = replace(CLEAN, recording=replace(CLEAN.recording, driver=counting))
    assert judged("conservation", trial).level == level


def test_rows_that_cannot_have_happened_void_a_trial():
    given = judged("conservation", backwards())
    assert given.level == "void"
    assert "before they were sent" in given.text


def test_connections_that_carry_one_request_each_need_not_be_held_open():
    load = sample.load(keep_alive=False)
    trial = simulate(idle=2)
    trial = replace(trial, recording=replace(trial.recording, load=load))
    given = judged("littles_law", trial)
    assert given.level == "sound"


@pytest.mark.parametrize(("capacity_per_s", "is_told"), [(20_000.0, True), (None, False)])
def test_a_calibrated_driver_says_what_it_could_have_done_alone(capacity_per_s, is_told):
    given = judged("driver_headroom", simulate(capacity_per_s=capacity_per_s))
    assert given.level == "sound"
    assert ("calibrated maximum is 20,000 requests/s" in given.text) is is_told


def test_a_calibrated_maximum_that_was_exceeded_doubts_nothing():
    given = judged("driver_headroom", simulate(capacity_per_s=1900.0))
    assert given.level == "sound"
    assert "That maximum is outdated" in given.text


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"hold_s": 2.5}, "below 3 s"),
        ({"hold_s": 4.0, "throughput_per_s": 40.0, "growth": 0.3}, "too few responses"),
    ],
)
def test_a_hold_too_short_to_tell_a_change_is_not_checked_for_one(options, words):
    given = judged("steady", simulate(**{"ramp_s": 0, "growth": 9.0, **options}))
    assert given.level == "not_checked"
    assert words in given.text


STALLED = {"hold_s": 10.0, "freeze_s": (3.9, 4.5)}


@pytest.mark.parametrize(
    ("others", "level"),
    [
        ({"others_busy": 0.3, "taken_s": (3.0, 5.0)}, "not_checked"),
        ({"others_busy": 0.1, "taken_s": (3.0, 5.0)}, "doubtful"),
        ({"others_busy": 0.3, "taken_s": (6.0, 8.0)}, "doubtful"),
        ({"stolen": 0.3, "taken_s": (3.0, 5.0)}, "not_checked"),
        ({"stolen": 0.1, "taken_s": (3.0, 5.0)}, "doubtful"),
        ({"stolen": 0.3, "taken_s": (6.0, 8.0)}, "doubtful"),
    ],
)
def test_stalls_are_not_the_servers_where_it_waited_for_cores_then(others, level):
    """A stall of 0.6 s is explained by 0.3 s of waits in the seconds that it is in."""
    given = judged("hidden_stalls", simulate(**STALLED, **others, server_busy=0.5))
    assert given.level == level, given
    assert ("which may explain it" in given.text) is (level == "not_checked")


EVERY_SECOND = {
    at_s + part: 1e-9 if part == 0.4 else 1.0 for at_s in range(12) for part in (0.4, 0.5)
}
WAITS = (0.1, 0.4, 0.2, 0.45, 0.05, 0.3, 0.15, 0.4, 0.1, 0.35, 0.2, 0.3)


def disturbed_by(trial, each_second):
    """The same trial, while others took so much of the server's core in each second."""
    busy = trial.usage.of("machine", "core0_busy_s")[0]
    edges_s, taken = np.arange(len(each_second) + 1), np.cumsum([0.0, *each_second])
    values = busy.values + np.interp(busy.at_ns / 1e9, edges_s, taken)
    more = ReadingSeries(busy.at_ns, values)
    trial = replace(trial)
    trial.__dict__["usage"] = Usage({**trial.usage.series, ("machine", "core0_busy_s"): (more,)})
    return trial


def stalled_where_it_waited(waits):
    """Stalls of a quarter of the waits for a core in each second."""
    speeds = {}
    for at_s, waited in enumerate(waits):
        speeds |= {at_s + 0.4: 1e-9, at_s + 0.4 + waited / 4: 1.0}
    return speeds


@pytest.mark.parametrize(
    ("speeds", "waits", "level"),
    [
        (EVERY_SECOND, WAITS, "doubtful"),
        (EVERY_SECOND, (0.0,) * 12, "doubtful"),
        (EVERY_SECOND, (0.3,) * 12, "not_checked"),
        (stalled_where_it_waited(WAITS), WAITS, "not_checked"),
        (stalled_where_it_waited(WAITS[1:]), WAITS, "not_checked"),
    ],
    ids=["own rhythm", "no waits", "even waits", "as waits", "counted a second late"],
)
def test_a_server_that_stalls_in_every_second_is_not_excused_by_waits_of_some(speeds, waits, level):
    few = {"connections": 8, "throughput_per_s": 4000.0, "ramp_s": 0.0, "warm_up_s": 0.0}
    trial = simulate(**few, hold_s=11.0, speeds=speeds, server_busy=0.5)
    given = judged("hidden_stalls", disturbed_by(trial, waits))
    assert given.level == level, given
    assert ("which may explain it" in given.text) is (level == "not_checked")


@pytest.mark.parametrize(
    ("waits", "level"),
    [
        ((0.5, 0.05, 0.85, 0.05, 0.9, 0.85, 0.05, 0.85, 0.05), "doubtful"),
        ((0.5, 0.05, 0.1, 0.05, 0.1, 0.05, 0.1, 0.05, 0.1), "not_checked"),
    ],
    ids=["as in other seconds", "then"],
)
def test_a_stall_is_excused_by_waits_of_its_own_second_alone(waits, level):
    once = {"ramp_s": 0.0, "warm_up_s": 0.0, "hold_s": 8.0, "freeze_s": (0.2, 0.7)}
    trial = simulate(**once, connections=8, throughput_per_s=4000.0, server_busy=0.1)
    given = judged("hidden_stalls", disturbed_by(trial, waits))
    assert (given.level, "may explain it" in given.text) == (level, level == "not_checked"), given


def disturbed_from(trial, at_s, cores_taken):
    """The same trial, while others took so much of the server's core from some second on."""
    busy = trial.usage.of("machine", "core0_busy_s")[0]
    after_s = np.maximum(busy.at_ns / 1e9 - at_s, 0.0)
    more = ReadingSeries(busy.at_ns, busy.values + cores_taken * after_s)
    trial.__dict__["usage"] = Usage({**trial.usage.series, ("machine", "core0_busy_s"): (more,)})
    return trial


@pytest.mark.parametrize(
    ("cores_taken", "level", "words"),
    [
        (0.4, "not_checked", "because the speed of the machine changed"),
        (0.1, "doubtful", "fell within the measurement window"),
    ],
)
def test_a_fall_is_the_machines_only_where_others_took_as_much(cores_taken, level, words):
    slower = {"ramp_s": 0, "warm_up_s": 1.0, "hold_s": 8.0, "speeds": {5.0: 0.6}}
    trial = simulate(**slower, server_busy=0.5)
    given = judged("steady", disturbed_from(trial, 5.0, cores_taken))
    assert given.level == level, given
    assert words in given.text


@pytest.mark.parametrize(
    ("hold_s", "clock", "words", "remedy"),
    [
        (8.0, True, "requests/s (±", "Find what fills up"),
        (3.5, True, "machine was meanwhile is unknown", "what the server does happens again"),
        (8.0, False, "machine was meanwhile is unknown", "what the server does happens again"),
    ],
)
def test_a_fall_blames_the_server_only_where_the_machines_speed_is_known(
    hold_s, clock, words, remedy
):
    """The load generator is no clock in so few seconds, or where its time was not read."""
    trial = simulate(ramp_s=0, warm_up_s=1.0, hold_s=hold_s, growth=-0.4)
    given = judged("steady", with_speeds(replace(trial), 1.0) if clock else trial)
    assert given.level == "doubtful", given
    assert "fell within the measurement window" in given.text
    assert words in given.text
    assert remedy in given.remedies[0]


SLOWDOWNS = {"at once": {"speeds": {5.0: 0.7}}, "creeping": {"growth": -0.3}}


@pytest.mark.parametrize("slower", SLOWDOWNS.values(), ids=SLOWDOWNS)
@pytest.mark.parametrize(
    "machine",
    [{}, {"others_busy": 0.25, "server_busy": 0.5}, {"stolen": 0.2}],
    ids=["quiet", "robbed", "stolen"],
)
def test_a_server_that_slows_by_itself_is_not_excused_by_what_others_always_take(slower, machine):
    trial = simulate(ramp_s=0, warm_up_s=1.0, hold_s=8.0, **slower, **machine)
    given = judged("steady", trial)
    assert given.level == "doubtful", given
    assert "fell within the measurement window" in given.text


@pytest.mark.parametrize("slower", SLOWDOWNS.values(), ids=SLOWDOWNS)
def test_a_load_generator_that_wakes_more_often_for_a_slow_server_does_not_excuse_it(slower):
    """Its processor time stays, its requests do not: each costs more, by its wake-ups alone."""
    trial = simulate(ramp_s=0, warm_up_s=1.0, hold_s=8.0, **slower)
    ended = trial.usage.of("driver", "requests_ended")[0]
    at_s = ended.at_ns / 1e9
    woken = ReadingSeries(ended.at_ns, 20_000 * at_s - 8 * ended.values)
    series = {
        **trial.usage.series,
        ("driver", "run_time_s"): (ReadingSeries(ended.at_ns, 0.5 * at_s),),
        ("driver", "voluntary_switches"): (woken,),
    }
    trial.__dict__["usage"] = Usage(series)
    assert judged("steady", trial).level == "doubtful"


def test_a_change_that_only_the_machine_shows_is_none_of_the_server():
    scattered = {at_s: 0.8 if at_s % 2 else 1.2 for at_s in range(1, 9)}
    trial = as_load(simulate(ramp_s=0, warm_up_s=1.0, hold_s=8.0, speeds=scattered))
    raw = judged("steady", trial)
    assert "scattered within the measurement window" in raw.text
    given = judged("steady", with_speeds(trial, *(1.0,) * 5, 0.6, 0.5, 0.4, 0.3))
    assert (given.level, given.text) == (raw.level, raw.text)


def test_a_machine_that_slows_is_not_told_as_the_server():
    trial = simulate(ramp_s=0, warm_up_s=1.0, hold_s=8.0, speeds={5.0: 0.7})
    given = judged("steady", with_speeds(trial, *(1.0,) * 5, 0.7))
    assert given.level == "not_checked", given
    assert "because the speed of the machine changed" in given.text


@pytest.mark.parametrize(("spread", "level"), [(0.0, "not_checked"), (1.0, "doubtful")])
def test_what_the_machine_changed_is_no_more_than_response_times_leave_room_for(spread, level):
    """The load generator waited 60 % of the time, and throughput fell by 20 % meanwhile."""
    slower = {"ramp_s": 0, "warm_up_s": 1.0, "hold_s": 8.0, "speeds": {5.0: 0.8}}
    taken = {"others_busy": 0.6, "others_on": (1,), "taken_s": (5.0, 9.0), "driver_busy": 0.4}
    given = judged("steady", simulate(**slower, **taken, server_busy=0.3, spread=spread))
    assert given.level == level, given


def test_a_steady_hold_says_how_well_its_mean_is_known():
    given = judged("steady", simulate(ramp_s=0, hold_s=4.0))
    assert given.level == "sound"
    assert "the mean of the measurement window is known to ±" in given.text


@pytest.mark.parametrize(("pause_s", "level"), [(0.0, "doubtful"), (0.55, "sound")])
def test_a_stop_of_the_load_generator_is_no_stall_of_the_server(pause_s, level):
    trial = replace(simulate(freeze_s=(3.9, 4.5)))
    with_pauses(trial, {5: pause_s})
    assert judged("hidden_stalls", trial).level == level


def test_a_load_generator_that_tells_its_longest_stop_alone_may_have_made_each_stall():
    stalled = {"freeze_s": (3.9, 4.5)}
    assert judged("hidden_stalls", simulate(**stalled)).level == "doubtful"
    assert judged("hidden_stalls", simulate(**stalled, longest_pause_ns=550_000_000)).level == (
        "sound"
    )


def with_pauses(trial, pauses_s):
    """The trial with readings of the load generator's longest stop in the second that ends then."""
    seconds = np.arange(1, 13, dtype=np.int64)
    values = np.array([pauses_s.get(int(second), 0.001) for second in seconds])
    pauses = ReadingSeries(seconds * 10**9, values)
    series = {**trial.usage.series, ("driver", "longest_pause_s"): (pauses,)}
    trial.__dict__["usage"] = Usage(series)


def test_requests_without_an_answer_that_are_missing_are_not_taken_for_none():
    driver = replace(driver_of(CLEAN), has_failures=False)
    trial = replace(CLEAN, recording=replace(CLEAN.recording, driver=driver))
    given = judged("failures_explained", trial)
    assert (given.level, given.measured) == ("not_checked", None)
    assert "does not record requests without a response" in given.text


def test_instants_in_steps_of_a_second_do_not_tell_whether_a_hold_was_steady():
    trial = simulate(growth=9.0)
    driver = replace(driver_of(trial), instants_step_s=1.0)
    given = judged("steady", replace(trial, recording=replace(trial.recording, driver=driver)))
    assert (given.level, given.measured) == ("not_checked", None)
    assert "to 1 s" in given.text


def waiting_for_acks():
    """All but the first response on each connection end 43.9 ms after their first byte."""
    table: Any = CLEAN.requests
    done_ns = table["done_ns"].to_numpy()
    connections = table["connection"].to_numpy()
    in_order = np.lexsort((done_ns, connections))
    _, first = np.unique(connections[in_order], return_index=True)
    first_byte_ns = done_ns - 43_900_000
    first_byte_ns[in_order[first]] = done_ns[in_order[first]]
    place = table.schema.get_field_index("first_byte_ns")
    column = pa.array(np.nan_to_num(first_byte_ns).astype(np.int64))
    return replace(CLEAN, requests=table.set_column(place, "first_byte_ns", column))


def as_import(trial, users=None, rows=None, **facts):
    """The same rows, as if another tool had logged them; it may have counted its users."""
    series = {key: read for key, read in trial.usage.series.items() if key[0] != "driver"}
    if users is not None:
        at_ns = np.arange(1, 8, dtype=np.int64) * 10**9
        series["driver", "users_active"] = (ReadingSeries(at_ns, np.full(7, float(users))),)
    unknown = {"sent": None, "outcomes": {}, "opened": None, "refused": None, "threads": 0}
    of_a_log = {"name": "jmeter", "users_bound": "certain", **unknown, **facts}
    driver = replace(driver_of(trial), **of_a_log)
    recording = replace(
        trial.recording, load=UnknownLoad("imported"), driver=driver, server=None, expected=()
    )
    requests = trial.requests if rows is None else rows
    imported = replace(trial, recording=recording, requests=requests, connections=None)
    unread = dict.fromkeys(("open_connections", "in_flight", "connections_requested"))
    imported.__dict__["summary"] = replace(imported.summary, **unread)
    imported.__dict__["usage"] = Usage(series)
    return imported


def with_column(rows: Any, name: str, values: Any):
    """The same rows with other values in a column."""
    field = rows.schema.field(name)
    column = pa.array(values, field.type, from_pandas=True)
    return rows.set_column(rows.schema.get_field_index(name), field, column)


def every_row_twice():
    rows: Any = CLEAN.requests
    return pa.concat_tables([rows, rows])


def a_second_twice():
    """All rows once, and those of the fifth second once more."""
    rows: Any = CLEAN.requests
    again = pc.equal(pc.divide(rows["sent_ns"], 10**9), 4)
    return pa.concat_tables([rows, rows.filter(again)])


def with_times(ratio: float):
    """Rows whose times are in another unit."""
    rows: Any = CLEAN.requests
    sent, done = (rows[name].to_numpy(zero_copy_only=False) for name in ("sent_ns", "done_ns"))
    rows = with_column(rows, "first_byte_ns", [None] * len(rows))
    return with_column(rows, "done_ns", np.floor(sent + (done - sent) * ratio))


def with_every_tenth(name: str, value: Any, usual: Any = None):
    """Rows of which each tenth has another value."""
    rows: Any = CLEAN.requests
    values = rows[name].to_pylist() if usual is None else [usual] * len(rows)
    return with_column(rows, name, [value if n % 10 == 0 else v for n, v in enumerate(values)])


def with_heads(length: int):
    """Rows of a log that has lengths with heads alone, of which each tenth is different."""
    rows = with_every_tenth("received_bytes", length, 1200)
    return with_column(rows, "body_bytes", [None] * len(rows))


def without_rows(begin_s: float, end_s: float):
    """Rows of which those that began in some time are missing."""
    rows: Any = CLEAN.requests
    sent_ns = rows["sent_ns"]
    is_kept = pc.or_(
        pc.less(sent_ns, round(begin_s * 1e9)), pc.greater(sent_ns, round(end_s * 1e9))
    )
    return rows.filter(is_kept)


@pytest.mark.parametrize(
    ("users", "facts", "rows", "level", "said"),
    [
        (20, {}, None, "sound", "with 20 active users."),
        (500, {}, None, "sound", "with 500 active users."),
        (10, {}, None, "void", "with 10 active users: more than possible."),
        (20, {}, every_row_twice, "void", "with 20 active users: more than possible."),
        (10, {"users_bound": "likely"}, None, "doubtful", "more than one for each of them."),
        (10, {"users_bound": "none"}, None, "not_checked", "of one of its load generators only."),
        (26, {}, None, "sound", "with 26 active users."),
        (26, {}, a_second_twice, "doubtful", "From 4 s on, "),
        (None, {}, None, "not_checked", "own count of requests in flight could not be read"),
        (None, {"threads": 10}, None, "void", "with 10 active users: more than possible."),
    ],
)
def test_no_more_requests_are_in_flight_than_another_tool_has_users(
    users, facts, rows, level, said
):
    given = judged("littles_law", as_import(CLEAN, users, rows and rows(), **facts))
    assert (given.level, said in given.text) == (level, True), given.text


def with_rows_twice(share, step_ns=1):
    """The rows of a log with times in steps, and of a share of them a copy behind them."""
    rows = as_stored(CLEAN.requests)
    assert rows is not None
    for name in ("due_ns", "sent_ns", "first_byte_ns", "done_ns"):
        place, coarse = rows.schema.get_field_index(name), pc.divide(rows[name], step_ns)
        rows = rows.set_column(place, rows.schema.field(name), pc.multiply(coarse, step_ns))
    count = round(share * rows.num_rows)
    return pa.concat_tables([rows, rows.slice(rows.num_rows // 3, count)])


@pytest.mark.parametrize(
    ("share", "step_ns", "level"),
    [
        (0.0, 1, "not_checked"),
        (0.0, 1_000_000, "not_checked"),
        (0.0, 10_000_000, "not_checked"),
        (0.005, 1, "doubtful"),
        (0.1, 1, "void"),
        (0.5, 1000, "void"),
        (0.995, 1000, "void"),
    ],
)
def test_a_log_with_some_rows_twice_is_doubted_unless_chance_explains_them(share, step_ns, level):
    given = judged("conservation", as_import(CLEAN, rows=with_rows_twice(share, step_ns)))
    assert given.level == level
    assert ("repeat another one" in given.text) is (level != "not_checked")


@pytest.mark.parametrize(
    ("rows", "level"), [(lambda: None, "not_checked"), (every_row_twice, "void")]
)
def test_a_log_with_every_row_twice_is_void(rows, level):
    given = judged("conservation", as_import(CLEAN, rows=rows()))
    assert given.level == level
    assert ("Every row is there twice" in given.text) == (level == "void")


def test_a_part_of_a_log_that_is_there_twice_is_not_every_row():
    given = judged("conservation", as_import(CLEAN, rows=a_second_twice()))
    assert given.level == "void"
    assert "Every row" not in given.text


@pytest.mark.parametrize(
    ("missing", "level"), [(0, "not_checked"), (1, "not_checked"), (40, "doubtful"), (4000, "void")]
)
def test_numbers_of_a_log_without_a_row_are_requests_that_are_missing(missing, level):
    given = judged("conservation", as_import(CLEAN, rows_missing=missing))
    assert given.level == level
    assert ("of its requests have no row" in given.text) == (level != "not_checked")


@pytest.mark.parametrize(
    ("never_sent", "level"),
    [(0, "not_checked"), (1, "not_checked"), (200, "doubtful"), (5000, "void")],
)
def test_requests_that_another_tool_dropped_are_missing_from_its_rate(never_sent, level):
    given = judged("offered_rate_met", as_import(CLEAN, never_sent=never_sent))
    assert given.level == level
    assert ("requests were never sent" in given.text) == (level != "not_checked")


def test_a_first_byte_after_the_end_of_a_response_is_named():
    rows: Any = CLEAN.requests
    late = with_column(rows, "first_byte_ns", pc.add(rows["done_ns"], 20_000_000))
    given = judged("conservation", as_import(CLEAN, rows=late))
    assert given.level == "void"
    assert "recorded: the first byte comes after the end of the response." in given.text


@pytest.mark.parametrize(
    ("ratio", "facts", "level", "said"),
    [
        (1.0, {}, "not_checked", "the least round trip to the server could not be read"),
        (1e-6, {}, "void", "no response takes less than 1 µs"),
        (1e-6, {"durations_step_s": 1e-6}, "doubtful", "took less than 1 µs, the resolution"),
        (0.0, {"durations_step_s": 0.001}, "doubtful", "took less than 1 ms, the resolution"),
        (1.0, {"durations_step_s": 0.001}, "not_checked", "could not be read"),
    ],
)
def test_times_in_another_unit_than_the_log_states_are_not_believed(ratio, facts, level, said):
    trial = as_import(CLEAN, rows=with_times(ratio), **facts)
    trial.__dict__["usage"] = Usage({})
    given = judged("round_trip_floor", trial)
    assert (given.level, said in given.text) == (level, True), given.text


@pytest.mark.parametrize(
    ("users", "facts", "level", "said"),
    [
        (20, {}, "doubtful", "the server stalled"),
        (None, {"threads": 20}, "doubtful", "the server stalled"),
        (None, {}, "not_checked", "whether the load was open is unknown"),
        (20, {"instants_step_s": 1.0}, "not_checked", "too coarse to show stalls"),
    ],
)
def test_stalls_are_hidden_from_users_of_another_tool_as_well(users, facts, level, said):
    stalled = simulate(freeze_s=(3.9, 4.5))
    given = judged("hidden_stalls", as_import(stalled, users, **facts))
    assert (given.level, said in given.text.lower()) == (level, True), given.text


def with_scattered_times(users: int):
    """Rows of users without think time, whose responses take exponential times."""
    draw = np.random.default_rng(4)
    rows = []
    for user in range(users):
        done = np.cumsum(draw.exponential(0.1, 200) * 1e9).astype(np.int64)
        starts = [0, *done[:-1].tolist()]
        rows += [
            {"due_ns": start, "sent_ns": start, "first_byte_ns": end, "done_ns": end,
             "connection": user, "status": 200, "received_bytes": 100}
            for start, end in zip(starts, done.tolist(), strict=True)
            if end < 10**10
        ]  # fmt: skip
    return request_rows(*rows)


@pytest.mark.parametrize(
    ("users", "facts"),
    [(400, {}), (None, {"threads": 400}), (40, {"users_bound": "none"})],
    ids=["by second", "as a whole", "of one of its engines"],
)
def test_each_user_of_another_tool_waits_on_a_connection_of_its_own(users, facts):
    made = simulate(warm_up_s=0.0, ramp_s=0.0, hold_s=10.0)
    given = judged("hidden_stalls", as_import(made, users, with_scattered_times(400), **facts))
    assert given.level == "sound", given


@pytest.mark.parametrize(("stalled", "level"), [(0, "sound"), (16, "doubtful"), (1, "doubtful")])
def test_connections_that_stall_are_found_in_the_log_of_another_tool(stalled, level):
    rows = with_stalled_connections(simulate(**MANY), stalled, 200_000_000).requests
    assert judged("hidden_stalls", as_import(simulate(**MANY), 64, rows)).level == level


def test_a_stall_beside_one_that_another_check_names_is_not_called_the_only_one():
    rows = in_step(50, 0.01, 0.0, stalled_s=[(2.5, 4.1), (6.3, 7.8)])
    trial = with_rows(rows)
    assert "no response in 1 second" in judged("steady", trial).text
    text = judged("hidden_stalls", trial).text
    assert text.startswith("The server stalled 1 time, for up to 1.5 s: ")
    assert text.endswith("`steady` names further stalls, of whole seconds.")


def test_an_import_without_stalls_hides_none():
    assert judged("hidden_stalls", as_import(CLEAN, 20)).level == "sound"


@pytest.mark.parametrize(
    ("rows", "level", "said"),
    [
        (lambda: None, "sound", "according to `jmeter`: status 200."),
        (lambda: with_every_tenth("body_bytes", 17), "doubtful", "bodies had 17 bytes, the other"),
        (lambda: with_every_tenth("body_bytes", 1998), "doubtful", "had 1,998 bytes, the other"),
        (lambda: with_every_tenth("body_bytes", 10, 24), "doubtful", "had 10 bytes, the other"),
        (lambda: with_every_tenth("body_bytes", 2049), "sound", "vary from 2,048 to 2,049 bytes"),
        (lambda: with_every_tenth("body_bytes", 12, 13), "sound", "vary from 12 to 13 bytes"),
        (lambda: with_heads(300), "doubtful", "responses had 300 bytes, the other"),
        (lambda: with_heads(1150), "sound", "correct according to `jmeter`"),
        (lambda: with_heads(1600), "sound", "correct according to `jmeter`"),
        (lambda: with_every_tenth("status", 500), "doubtful", "the contrary: 500 × "),
        (lambda: with_every_tenth("status", 302), "sound", ": status 200 × "),
    ],
)
def test_what_another_tool_takes_for_correct_is_looked_at(rows, level, said):
    given = judged("responses_correct", as_import(CLEAN, rows=rows()))
    assert (given.level, said in given.text) == (level, True), given.text


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (lambda: without_rows(3.9, 6.1), "Nothing was sent for 2.2 s: rows are missing, "),
        (lambda: as_stored(simulate(freeze_s=(3.9, 6.1)).requests), "The server stalled: "),
    ],
)
def test_seconds_in_which_nothing_was_sent_are_no_stall_of_the_server(rows, said):
    given = judged("steady", as_import(CLEAN, 20, rows()))
    assert (given.level, given.text.startswith(said)) == ("void", True), given.text


def in_step(connections, service_s, think_s, length_s=10, stalled_s=(), apart_s=0.0004):
    """Requests of connections that begin together and stay together, but for milliseconds.

    Where `service_s` has several times, each is that of a request type, one after the other.
    """
    services_s = service_s if isinstance(service_s, tuple) else (service_s,)
    rows = []
    for connection in range(connections):
        at_s, types = apart_s * connection, cycle(enumerate(services_s))
        while at_s < length_s:
            until_s = next((end for start, end in stalled_s if start <= at_s < end), 0.0)
            request, takes_s = next(types)
            done_s = max(at_s, until_s) + takes_s
            ends = {"first_byte_ns": int(done_s * 1e9) - 1, "status": 200, "received_bytes": 100}
            is_over = done_s < length_s
            rows.append(
                {
                    "due_ns": int(at_s * 1e9),
                    "sent_ns": int(at_s * 1e9),
                    "done_ns": int(min(done_s, length_s) * 1e9),
                    "connection": connection,
                    "request": request,
                    **(ends if is_over else {"first_byte_ns": None, "outcome": "unfinished"}),
                }
            )
            at_s = done_s + think_s
    return request_rows(*rows)


def with_rows(rows, *, imported=False, **load):
    made = simulate(warm_up_s=0.0, ramp_s=0.0, hold_s=10.0, connections=50)
    if len(pc.unique(rows["request"])) > 1:
        made = as_mix(made, 0.5)
    changed = replace(made.recording.load, **load)
    made = replace(made, recording=replace(made.recording, load=changed), requests=rows)
    return as_import(made, 50, rows) if imported else made


@pytest.mark.parametrize("imported", [False, True])
@pytest.mark.parametrize(("service_s", "think_s"), [(0.005, 2.0), (1.5, 0.0), (0.3, 0.9)])
def test_seconds_between_bursts_of_connections_in_step_are_no_stall(service_s, think_s, imported):
    rows = in_step(50, service_s, think_s)
    given = judged("steady", with_rows(rows, imported=imported, think_time_s=think_s))
    assert given.level == "not_checked", given


@pytest.mark.parametrize(
    ("service_s", "think_s", "apart_s"),
    [
        (2.0, 0.0, 0.0004),
        (2.5, 0.0, 0.0004),
        (3.0, 0.0, 0.0004),
        ((0.01, 3.0), 0.0, 0.0004),
        (0.005, 3.2, 0.032),
        (3.2, 0.0, 0.032),
    ],
    ids=["2 s", "2.5 s", "3 s", "fast and slow", "ramped users think", "ramped and slow"],
)
def test_a_server_that_is_slow_does_not_stall(service_s, think_s, apart_s):
    rows = in_step(50, service_s, think_s, apart_s=apart_s)
    given = judged("steady", with_rows(rows, think_time_s=think_s))
    assert given.level == "not_checked", given
    assert "too few responses" in given.text, given


@pytest.mark.parametrize("imported", [False, True])
def test_a_slow_server_in_the_log_of_another_tool_does_not_stall(imported):
    given = judged("steady", with_rows(in_step(50, 3.0, 0.0), imported=imported))
    assert given.level == "not_checked", given


@pytest.mark.parametrize(("service_s", "think_s"), [(4.0, 0.0), (0.005, 4.0), (1.0, 3.0)])
def test_bursts_of_few_rounds_do_not_tell_whether_the_server_stalled(service_s, think_s):
    given = judged("steady", with_rows(in_step(50, service_s, think_s), think_time_s=think_s))
    assert given.level == "not_checked", given
    assert "one about every 4 s: the measurement window has 2.5 such rounds" in given.text, given


@pytest.mark.parametrize(
    ("service_s", "think_s", "imported"), [(0.005, 4.0, False), (3.0, 0.0, False), (3.0, 0.0, True)]
)
def test_one_request_without_a_response_is_no_stall_for_the_others(service_s, think_s, imported):
    rows = in_step(50, service_s, think_s).to_pylist()
    ended = (10**10, "timed_out_waiting") if imported else (None, "unfinished")
    hung = {"first_byte_ns": None, "status": None, "done_ns": ended[0], "outcome": ended[1]}
    rows = [one for one in rows if one["connection"] or not one["sent_ns"]]
    rows = [one if one["connection"] else {**one, **hung} for one in rows]
    trial = with_rows(request_rows(*rows), imported=imported, think_time_s=think_s)
    given = judged("steady", trial)
    assert given.level == "not_checked", given


@pytest.mark.parametrize("stalled_s", [(3.9, 5.2), (2.9, 5.2)])
def test_a_stall_that_is_shorter_than_the_think_time_is_found(stalled_s):
    """Users come evenly, so a second without a response is no pause of theirs."""
    rows = in_step(200, 0.005, 4.0, apart_s=0.02, stalled_s=[stalled_s])
    given = judged("steady", with_rows(rows, think_time_s=4.0))
    assert (given.level, given.text[:20]) == ("void", "The server stalled: "), given


@pytest.mark.parametrize("imported", [False, True])
@pytest.mark.parametrize(
    ("service_s", "think_s", "stalled_s"),
    [
        (0.005, 0.0, [(0.9, 2.5), (3.9, 5.5), (6.9, 8.5)]),
        (0.05, 0.2, [(2.5, 8.5)]),
        (0.01, 0.0, [(4.0, 7.0)]),
        (0.005, 2.0, [(2.0, 7.9)]),
    ],
)
def test_a_server_that_stalls_for_longer_than_think_times_is_found(
    service_s, think_s, stalled_s, imported
):
    rows = in_step(50, service_s, think_s, stalled_s=stalled_s)
    given = judged("steady", with_rows(rows, imported=imported, think_time_s=think_s))
    assert (given.level, given.text[:20]) == ("void", "The server stalled: "), given


@pytest.mark.parametrize(("apart_s", "is_told"), [(0.005, True), (0.0004, False)])
def test_a_rhythm_that_a_stall_begins_does_not_excuse_it(apart_s: float, is_told: bool):
    """Users who think for a second wait for the end of a stall, and then respond in step.

    They come evenly before it, or in step from the beginning.
    """
    stalled = [(2.05, 4.1)] if is_told else []
    rows = in_step(200, 0.01, 1.0, apart_s=apart_s, stalled_s=stalled)
    given = judged("steady", with_rows(rows, think_time_s=1.0))
    assert (given.level == "void") is is_told, given
    assert given.text.startswith("The server stalled: no response in") is is_told, given


def test_a_clock_that_jumps_once_makes_no_rhythm():
    rows = in_step(50, 0.005, 0.05, length_s=3)
    jumped, is_late = rows, pc.greater(rows["due_ns"].cast("int64"), 10**9)
    for name in ("due_ns", "sent_ns", "first_byte_ns", "done_ns"):
        column = jumped[name].cast("int64")
        moved = pc.if_else(is_late, pc.add(column, 7 * 10**9), column)
        place = jumped.schema.get_field_index(name)
        jumped = jumped.set_column(place, jumped.schema.field(name), moved)
    given = judged("steady", with_rows(jumped, imported=True))
    assert (given.level, "the clock jumped" in given.text) == ("void", True), given


BACK = ClockSetBack(by_ns=1_500_000_000, after_rows=8_000, at_ns=5_000_000_000)


def test_a_clock_that_was_set_back_explains_what_it_does_to_rates():
    trial = as_import(CLEAN, 10, clock_set_back=BACK)
    given = {one.check: one for one in judging.judge(trial)}
    clocks = given["clocks_agree"]
    assert clocks.level == "void"
    assert clocks.text.startswith(
        "The clock of the log was set back by 1.5 s, at 5 s, after 8,000 rows. 1.5 s of the load "
    )
    assert judged("littles_law", trial).level == "void"
    assert given["littles_law"].level == "not_checked"
    assert given["littles_law"].text.startswith("See Clocks differ: the clock of the log was set")


def test_the_log_of_one_of_several_load_generators_is_named():
    given = judged("clocks_agree", as_import(CLEAN, clock_set_back=replace(BACK, host="two")))
    assert given.text.startswith("The clock of the log of `two` was set back by 1.5 s")


def test_a_clock_that_went_back_as_summer_time_ended_is_told_so():
    ended = replace(BACK, by_ns=3_600 * 10**9, is_summer_time=True)
    given = judged("clocks_agree", as_import(CLEAN, clock_set_back=ended))
    assert given.level == "void"
    assert given.text.startswith("Summer time ended at 5 s, after 8,000 rows")
    assert any("timestamp_format=ms" in one.remedy for one in given.sentences)


def test_a_small_step_back_excuses_no_more_requests_than_users():
    small = replace(BACK, by_ns=50_000_000)
    given = {one.check: one for one in judging.judge(as_import(CLEAN, 10, clock_set_back=small))}
    assert (given["clocks_agree"].level, given["littles_law"].level) == ("doubtful", "void")


def with_sampled_bodies(others):
    sampled = SampledBodies(0, 1_000, 1_000 - others, 2048, others, min(others, 1))
    return replace(CLEAN, recording=replace(CLEAN.recording, sampled_bodies=(sampled,)))


BRIEF = {"ramp_s": 0.0, "hold_s": 0.9}
MANY = {"connections": 64, "throughput_per_s": 16_000.0, "hold_s": 4.0}
COLD = {"warm_up_s": 0.0, "ramp_s": 0.0, "connections": 20, "throughput_per_s": 40.0}
BEYOND = [
    ("connection_target_met", lambda: by_streams(8, 40.0, fewest_streams=2)),
    ("connection_target_met", lambda: by_streams(1, 10.0, fewest_streams=0)),
    ("long_enough", lambda: as_load(simulate(**BRIEF))),
    ("long_enough", lambda: as_load(simulate(**COLD, hold_s=4.0))),
    ("failures_explained", lambda: as_open(hung(CLEAN, 500_000_000), 2000.0)),
    ("hidden_stalls", lambda: with_stalled_connections(simulate(**MANY), 1, 200_000_000)),
    ("delayed_ack", waiting_for_acks),
    ("conservation", backwards),
    ("conservation", lambda: with_malformed(4000)),
    ("conservation", lambda: as_import(CLEAN, rows_missing=4000)),
    ("conservation", lambda: as_import(CLEAN, rows=every_row_twice())),
    ("conservation", lambda: as_import(CLEAN, rows=with_rows_twice(0.1))),
    ("clocks_agree", lambda: as_import(CLEAN, clock_set_back=BACK)),
    ("littles_law", lambda: as_import(CLEAN, 10)),
    ("littles_law", lambda: as_import(CLEAN, 26, a_second_twice())),
    ("round_trip_floor", lambda: as_import(CLEAN, rows=with_times(1e-6))),
    ("round_trip_floor", lambda: as_import(CLEAN, rows=with_times(0.0), durations_step_s=0.001)),
    ("responses_correct", lambda: as_import(CLEAN, rows=with_every_tenth("status", 500))),
    ("responses_correct", lambda: with_sampled_bodies(500)),
    ("ports_and_files", without_ports),
    ("offered_rate_met", lambda: as_open(CLEAN, 2500.0)),
    ("offered_rate_met", lambda: as_import(CLEAN, never_sent=5000)),
    ("offered_rate_met", lambda: as_open(CLEAN, 1995.0, late_ns=40_000_000)),
    ("request_mix_met", lambda: as_mix(CLEAN, 0.4)),
    ("clocks_agree", lambda: on_two_hosts(CLEAN, 60_000_000)),
    ("energy_net", lambda: simulate(power_w=(20.0, 55.0), idle_s=5)),
    ("clocks_agree", lambda: of_two_hosts(CLEAN, bound_ns=2_000_000)),
    ("started_together", lambda: of_two_hosts(CLEAN, late_ns=30_000_000)),
    ("started_together", lambda: late_in_turns(0.2)),
    ("drivers_completed", lambda: of_two_hosts(CLEAN, lost_s=1.0)),
    ("drivers_completed", lambda: of_two_hosts(CLEAN, uncounted=3)),
    ("drivers_completed", lambda: of_two_hosts(CLEAN, unopened=1)),
    ("hosts_agree", lambda: of_two_hosts(CLEAN, slower=2.0)),
    ("scalability_law", lambda: simulate(**LADDER, speeds={0.0: 0.1, 6.0: 1.0})),
    ("scalability_law", lambda: simulate(**JUMPS, speeds={6.0: 0.4, 9.0: 1.0})),
    ("counters_agree", lambda: counted_by_the_server(CLEAN, requests_received=100_000)),
    ("scaling", half_used),
    ("steady", lambda: as_load(simulate(ramp_s=0, speeds=SCATTER))),
    ("steady", slower_answers),
    ("steady", lambda: slower_answers(4)),
    ("undisturbed", lambda: as_load(simulate(others_busy=0.2, server_busy=0.8))),
    ("host_speed_stable", lambda: with_speeds(as_load(simulate()), *WANDERING)),
    ("host_speed_stable", lambda: with_speeds(simulate(), *WILD)),
    ("trial_completed", lambda: with_warm_up_turn(5.0)),
]
"""Trials beyond limits that no option makes."""

WITHIN = [
    ("long_enough", lambda: as_load(simulate(**COLD, hold_s=12.0))),
    *((check, lambda trial=trial: trial) for check, trial in CLEAN_OF.items()),
    ("counters_agree", lambda: counted_by_the_server(CLEAN)),
    ("clocks_agree", lambda: of_two_hosts(CLEAN)),
    ("connection_target_met", lambda: by_streams(8, 160.0)),
    ("started_together", lambda: late_in_turns(0.02)),
    ("scalability_law", lambda: simulate(**JUMPS)),
    ("hidden_stalls", lambda: with_stalled_connections(simulate(**MANY), 1, 60_000_000)),
    ("conservation", lambda: with_malformed(1)),
    ("conservation", lambda: as_import(CLEAN, rows_missing=1)),
    ("offered_rate_met", lambda: as_import(CLEAN, never_sent=1)),
    ("clocks_agree", lambda: as_import(CLEAN)),
    ("littles_law", lambda: as_import(CLEAN, 20)),
    ("round_trip_floor", lambda: as_import(CLEAN, durations_step_s=0.001)),
    ("responses_correct", lambda: as_import(CLEAN)),
    ("responses_correct", lambda: with_sampled_bodies(0)),
    ("steady", lambda: as_load(CLEAN)),
    ("undisturbed", lambda: as_load(CLEAN)),
    ("host_speed_stable", lambda: with_speeds(as_load(simulate()), 1.0)),
    ("host_speed_stable", lambda: with_speeds(simulate(), *WANDERING)),
    ("trial_completed", lambda: with_warm_up_turn(1.1)),
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


@pytest.mark.parametrize(
    ("hold_s", "most", "ended_by", "level", "remedy"),
    [
        (0.9, 0, "schedule", "doubtful", "Load for longer: `-d 5s` or more."),
        (0.9, 1800, "request_limit", "doubtful", "Load for longer: `-n 10000` or more."),
        (0.9, 9000, "schedule", "doubtful", "Load for longer: `-d 5s` or more."),
        (0.0002, 0, "schedule", "doubtful", "Load for longer: `-d 5s` or more."),
        (0.9996, 0, "schedule", "sound", ""),
        (1.0, 0, "schedule", "sound", ""),
    ],
)
def test_a_load_of_less_than_a_second_is_doubtful_and_says_how_long_is_enough(
    hold_s: float, most: int, ended_by: str, level: str, remedy: str
) -> None:
    trial = as_load(simulate(ramp_s=0.0, hold_s=hold_s))
    recording = trial.recording
    assert recording.driver is not None
    recording = replace(
        recording,
        load=replace(recording.load, request_limit=most),
        driver=replace(recording.driver, ended_by=ended_by),
    )
    given = judged("long_enough", replace(trial, recording=recording))
    assert given.level == level, given
    assert "".join(given.remedies) == remedy


@pytest.mark.parametrize(
    ("most", "ended_by", "option"),
    [(0, "schedule", "`-d`"), (900, "schedule", "`-d`"), (900, "request_limit", "`-n`")],
)
@pytest.mark.parametrize(
    ("check", "changes"),
    [
        ("evenly_served", {"idle": 2, "throughput_per_s": 20.0}),
        ("steady", {"freeze_s": (4.0, 4.4)}),
    ],
)
def test_remedies_name_the_option_that_gives_the_length_of_a_load(
    check: str, changes: dict[str, Any], most: int, ended_by: str, option: str
) -> None:
    trial = as_load(simulate(ended_by=ended_by, **changes))
    load = replace(trial.recording.load, request_limit=most)
    given = judged(check, replace(trial, recording=replace(trial.recording, load=load)))
    (remedy,) = (one for one in given.remedies if "`-d`" in one or "`-n`" in one)
    assert option in remedy


@pytest.mark.parametrize(
    ("ended_by", "level"), [("request_limit", "sound"), ("schedule", "doubtful")]
)
def test_a_load_that_ends_with_its_last_response_lacks_none(ended_by, level):
    """40 requests on 10 connections to a server that takes 500 ms: 2 s, and 20 per second."""
    rows = [
        {"due_ns": start_ns, "sent_ns": start_ns, "first_byte_ns": end_ns, "done_ns": end_ns}
        | {"connection": connection, "status": 200, "received_bytes": 10}
        for connection in range(10)
        for start_ns, end_ns in ((n * 500_000_000, (n + 1) * 500_000_000 - 1) for n in range(4))
    ]
    trial = as_load(
        simulate(
            warm_up_s=0.0, ramp_s=0.0, hold_s=2.0, connections=10, throughput_per_s=20.0,
            ended_by=ended_by,
        )
    )  # fmt: skip
    load = replace(trial.recording.load, request_limit=40)
    recording = replace(trial.recording, load=load)
    found = Tables(recording, request_rows(*rows), None, trial.readings)
    assert found.summary.throughput_per_s == pytest.approx(20.0)
    given = judged("long_enough", found)
    assert given.level == level, given
    assert ("throughput is up to 25 % too low" in given.text) == (level == "doubtful")
    assert ("with the last response, so the window has every request" in given.text) == (
        level == "sound"
    )


def test_rounds_of_responses_are_not_taken_for_scatter():
    few = judged("steady", simulate(connections=60, throughput_per_s=240.0, spread=0.0))
    assert few.level == "not_checked", few


def test_a_short_log_of_another_tool_is_doubtful_and_needs_a_longer_test():
    trial = as_load(simulate(**BRIEF))
    imported = replace(trial.recording, load=UnknownLoad("imported"))
    given = judged("long_enough", replace(trial, recording=imported))
    assert given.remedies == ("Record a test of 5 s or more.",)


def opened_late(*, begun_ns: int, connected_ns: int = 144_000, of_all: float = 1.0):
    """A load of 10 connections that began to connect late, or to servers that accept late."""
    trial = simulate(ramp_s=0.0, warm_up_s=0.0, hold_s=4.0, connections=10)
    rows: Any = as_stored(trial.connections)
    late = np.where(np.arange(len(rows)) < of_all * len(rows), begun_ns, 0)
    rows = with_column(rows, "due_ns", late)
    opened = late + connected_ns
    is_open = 10 - (opened / 4e9).sum()
    series = dict(trial.usage.series)
    at_ns = np.arange(1, 4, dtype=np.int64) * 10**9
    series["driver", "connections_open"] = (ReadingSeries(at_ns, np.full(3, is_open)),)
    found = replace(trial, connections=with_column(rows, "connected_ns", opened))
    summary = replace(trial.summary, open_connections=is_open)
    found.__dict__.update(usage=Usage(series), summary=summary)
    return found


def test_connections_that_the_load_generator_began_late_are_no_fault_of_the_server():
    given = judged("connection_target_met", opened_late(begun_ns=160_000_000))
    assert given.level == "doubtful"
    assert given.text == (
        "9.6 of 10 requested connections were open on average, because the load generator began "
        "to connect up to 160 ms late; it took 144 µs at most."
    )
    half = judged("connection_target_met", opened_late(begun_ns=400_000_000, of_all=0.5))
    assert (half.level, "up to 400 ms late" in half.text) == ("doubtful", True), half.text


@pytest.mark.parametrize(
    ("begun_ns", "connected_ns"), [(0, 160_000_000), (160_000_000, 160_000_000), (0, 1_900_000_000)]
)
def test_connections_that_all_open_but_late_are_doubtful_with_a_warm_up(begun_ns, connected_ns):
    trial = opened_late(begun_ns=begun_ns, connected_ns=connected_ns)
    given = judged("connection_target_met", trial)
    after = wording.duration(begun_ns + connected_ns)
    assert given.level == "doubtful"
    assert f"because 10 opened late: on average {after} after the beginning, the last" in given.text
    assert "(a stage `warm_up`)" in given.remedies[0]


def test_a_window_that_mostly_passed_before_connections_opened_is_void():
    given = judged("connection_target_met", opened_late(begun_ns=0, connected_ns=2_100_000_000))
    assert given.level == "void"
    assert "Find why connections open late" in " ".join(given.remedies)


@pytest.mark.parametrize("change", [{"connections_refused": 1}, {"connections_lost": 1}])
def test_late_connections_of_which_some_were_refused_or_lost_are_void(change):
    trial = opened_late(begun_ns=0, connected_ns=160_000_000)
    failed = replace(trial, connections=trial.connections)
    summary = replace(trial.summary, **change)
    failed.__dict__.update(usage=trial.usage, summary=summary)
    assert judged("connection_target_met", failed).level == "void"


@pytest.mark.parametrize(
    ("connected_ns", "change", "level"),
    [
        (160_000_000, {}, "doubtful"),
        (160_000_000, {"connections_refused": 1}, "void"),
        (160_000_000, {"connections_peak_open": 9}, "void"),
        (2_100_000_000, {}, "void"),
    ],
)
def test_connections_that_close_and_open_again_are_doubtful_if_most_of_the_time_all_are_open(
    connected_ns, change, level
):
    trial = opened_late(begun_ns=0, connected_ns=connected_ns)
    closing = replace(trial, connections=trial.connections)
    counted = {"connections_opened": 500, "connections_lost": 490, "connections_peak_open": 10}
    summary = replace(trial.summary, **counted | change)
    closing.__dict__.update(usage=trial.usage, summary=summary)
    given = judged("connection_target_met", closing)
    assert given.level == level
    assert ("those that closed had to be opened again" in given.text) is (level == "doubtful")


def test_connections_that_never_open_are_void_beside_those_that_open_late():
    trial = opened_late(begun_ns=0, connected_ns=160_000_000)
    rows: Any = as_stored(trial.connections)
    opened = pa.array([160_000_000] * (len(rows) - 1) + [None], pa.int64())
    at = rows.schema.get_field_index("connected_ns")
    failed = replace(trial, connections=rows.set_column(at, rows.schema.field(at), opened))
    failed.__dict__.update(usage=trial.usage, summary=replace(trial.summary, open_connections=8.6))
    assert judged("connection_target_met", failed).level == "void"


def test_a_short_trial_of_a_campaign_is_not_judged_by_its_length():
    assert judged("long_enough", simulate(**BRIEF)).level == "not_checked"


@pytest.mark.parametrize(("connections", "percentile"), [(16, "p99 of"), (1, "p99.9 of")])
def test_stalls_of_some_connections_are_found_while_others_are_served(connections, percentile):
    trial = simulate(**MANY)
    assert judged("hidden_stalls", trial).level == "sound"
    given = judged("hidden_stalls", with_stalled_connections(trial, connections, 200_000_000))
    assert "not the service time's " in given.text
    assert given.level == "doubtful"
    assert "single connections stalled" in given.text.lower()
    assert percentile in given.text


@pytest.mark.parametrize(
    ("per_s", "connections", "said"),
    [
        (2000.0, 10, "Single connections stalled 40 times"),
        (4000.0, 20, "The server stalled 4 times"),
    ],
)
def test_short_gaps_do_not_make_a_stall_one_of_all_connections(per_s, connections, said):
    few = simulate(connections=20, throughput_per_s=per_s, spread=0.05)
    given = judged("hidden_stalls", with_stalled_connections(few, connections, 300_000_000))
    assert given.level == "doubtful"
    assert given.text.startswith(said)


@pytest.mark.parametrize("share", [0.0005, 0.005, 0.02, 0.1, 0.3])
def test_a_minority_of_lengths_is_named_whatever_its_share(share):
    trial = simulate(expected=STATUS_EXPECTED, lengths={2049: share})
    given = judged("responses_correct", trial)
    assert given.level == "doubtful"
    assert "had 2,049 bytes" in given.text


def test_a_server_that_dies_under_load_is_said_once():
    trial = simulate()
    requests = as_stored(trial.requests)
    assert requests is not None
    index = requests.schema.get_field_index("outcome")
    gone = pc.greater(requests["done_ns"], 5_000_000_000)
    outcomes = pc.if_else(gone, "connect_refused", requests["outcome"].cast("string"))
    died = replace(
        trial,
        requests=requests.set_column(
            index, requests.schema.field(index), outcomes.cast(requests.schema.field(index).type)
        ),
    )
    given = {one.check: one for one in judging.judge(died)}
    assert [name for name, one in given.items() if one.is_doubting] == ["trial_completed"]
    assert "from 5 s on, nothing listened on the port" in given["trial_completed"].text.lower()


def test_segments_that_others_lost_are_not_this_loads():
    options = {"retransmits": 500, "freeze_s": (4.0, 4.5)}
    assert "at most 20 of this load" in judged("segments_lost", simulate(**options)).text
    given = judged("segments_lost", simulate(retransmits=500))
    assert given.level == "not_checked"
    assert "none of this load" in given.text


def test_a_full_table_of_a_firewall_is_the_remedy_of_lost_segments():
    full = {"machine.tracking_drops": 30.0}
    given = judged("segments_lost", simulate(**SLOW_AND_RESENT, rising=full))
    (remedy,) = given.remedies
    assert "nf_conntrack_max` on this host" in remedy
    (remedy,) = judged("segments_lost", simulate(**SLOW_AND_RESENT)).remedies
    assert "nf_conntrack_max" not in remedy


def test_far_more_traffic_of_others_proves_nothing():
    busy = {f"machine.{name}": 1e9 for name in ("tcp_segments_out", "network_received_bytes")}
    given = judged("counters_agree", simulate(rising={**busy, "machine.tcp_active_opens": 1e5}))
    assert given.level == "sound"
    without = ("connections_established", "tcp_passive_opens")
    given = judged(
        "counters_agree",
        simulate(rising={**busy, "machine.tcp_active_opens": 1e5}, without=without),
    )
    assert given.level == "not_checked"
    assert "other traffic" in given.text


def of_events(trial):
    """The same trial, as if its rows were events of streams."""
    load = replace(trial.recording.load, events=True)
    return replace(trial, recording=replace(trial.recording, load=load))


@pytest.mark.parametrize(
    ("check", "trial"),
    [
        ("round_trip_floor", simulate(round_trip_s=0.05)),
        ("hidden_stalls", simulate(freeze_s=(3.9, 4.5))),
        ("bottleneck_identified", simulate(server_busy=0.2)),
        ("evenly_served", simulate(starved=4)),
    ],
)
def test_events_are_not_judged_as_responses_to_requests(check, trial):
    assert judged(check, trial).level in ("doubtful", "void")
    assert judged(check, of_events(trial)).level == "not_checked"


def test_a_stream_that_is_quiet_until_the_end_is_no_request_that_hung():
    hanging = simulate(starved=4, hold_s=15.0, ramp_s=0, warm_up_s=0, timeout_s=60.0)
    given = judged("failures_explained", hanging)
    assert given.level in ("doubtful", "void")
    assert "hung until the load ended" in given.text
    given = judged("failures_explained", of_events(hanging))
    assert given.level == "sound", given


def test_a_server_counts_the_bytes_of_events_and_no_request_of_each():
    trial = counted_by_the_server(CLEAN, responses_sent=20, requests_received=20)
    assert judged("counters_agree", trial).level == "void"
    assert judged("counters_agree", of_events(trial)).level == "sound"
    short = counted_by_the_server(CLEAN, sent_bytes=1_000)
    assert judged("counters_agree", of_events(short)).level == "void"


def unpinned(**options):
    """A load on a server that shares both cores, and of whose workers nothing is known."""
    made = as_load(
        simulate(**{"run_delay": 0.0, "server_cores": (0, 1), "driver_cores": (0, 1)} | options)
    )
    assert made.recording.server is not None
    server = replace(made.recording.server, cores=(), workers=0)
    driver = replace(driver_of(made), cores=())
    return replace(made, recording=replace(made.recording, server=server, driver=driver))


@pytest.mark.parametrize(
    ("options", "level", "words"),
    [
        ({"server_busy": 0.3, "driver_busy": 0.98}, "void", "30 % of a core: the throughput is"),
        ({"server_busy": 0.3, "driver_busy": 0.85}, "doubtful", "close to its limit"),
        ({"server_busy": 0.95, "driver_busy": 0.98}, "doubtful", "may have been the limit"),
        ({"server_busy": 1.7, "driver_busy": 0.98}, "doubtful", "may have been the limit"),
        (
            {"server_busy": 0.96, "driver_busy": 0.85, "run_delay": 0.1},
            "doubtful",
            "may have been the limit",
        ),
        ({"server_busy": 0.3, "driver_busy": 0.6}, "sound", "was not the limit"),
    ],
)
def test_beside_a_server_without_cores_of_its_own_an_unknown_only_doubts(options, level, words):
    given = judged("driver_headroom", unpinned(**options))
    assert given.level == level, given
    assert words in given.text
    assert "of its threads' time in its busiest second" in given.text


@pytest.mark.parametrize(("busy", "level"), [(0.99, "sound"), (0.93, "doubtful")])
def test_a_server_that_does_one_thing_at_a_time_was_the_limit_if_never_out_of_work(busy, level):
    """The load generator was busy in one second, and not on average."""
    made = unpinned(server_busy=busy, driver_busy=0.0)
    seconds = [(one, 0.5 * one + 0.4 * (one >= 6)) for one in range(12)]
    for quantity in ("cpu_user_s", "run_time_s"):
        made = with_readings(made, "driver", quantity, *seconds)
    given = judged("driver_headroom", made)
    assert given.level == level, given
    assert ("never out of work" in given.text) is (level == "sound")


@pytest.mark.parametrize(("others", "level"), [(0.3, "sound"), (0.0, "doubtful")])
def test_a_thread_that_ran_or_waited_for_others_all_the_time_was_the_limit(others, level):
    """It ran for 72 % of the time, and waited for the rest of it while others had its core."""
    made = unpinned(server_busy=0.72, driver_busy=0.2, others_busy=others, run_delay=0.3)
    given = judged("bottleneck_identified", made)
    assert given.level == level, given
    assert ("busiest core was 100 % busy" in given.text) is (level == "sound")


def at_frequencies(trial, folder, khz_at, cores=16):
    """The trial on a host whose cores run so fast at each reading, by the sampler's own reader."""
    at_s = trial.usage.of("machine", "frequency_hz")[0].at_ns / 1e9
    found = {}
    for place, second in enumerate(at_s):
        for core in range(cores):
            path = folder / f"cpu{core}/cpufreq/scaling_cur_freq"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(str(khz_at(place, core)))
        for quantity, value in power.of_hardware(folder).items():
            found.setdefault(quantity, []).append((second, value))
    for quantity, readings in found.items():
        trial = with_readings(trial, "machine", quantity, *readings)
    for core in set(range(cores)) - set(cores_read(trial.usage)):
        readings = [(second, 100 + 0.02 * second) for second in at_s]
        trial = with_readings(trial, "machine", f"core{core}_busy_s", *readings)
    return trial


def resting(place, core):
    """Busy cores 0 to 3; of the others some rise at times."""
    if core < 4:
        return 4_000_000
    return 3_600_000 if (place + core) % 5 < core % 3 else 1_200_000


def falling(place, core):
    """The same with a core that falls by 30 %."""
    return 2_800_000 if core == 2 and place >= 5 else resting(place, core)


PINNED_TO_4 = {"server_cores": (0, 1), "driver_cores": (2, 3), "server_busy": 1.9}


@pytest.mark.parametrize("without_cores", [False, True])
def test_idle_cores_that_rise_slow_down_nobody(tmp_path, without_cores):
    made = simulate(**PINNED_TO_4, driver_busy=1.6)
    if without_cores:
        assert made.recording.server is not None
        server, driver = replace(made.recording.server, cores=()), driver_of(made)
        recording = replace(made.recording, server=server, driver=replace(driver, cores=()))
        made = replace(made, recording=recording)
    given = judged("host_speed_stable", at_frequencies(made, tmp_path, resting))
    assert given.level == "sound", given


def test_a_used_core_that_gets_slower_is_doubted_whatever_the_others_do(tmp_path):
    made = simulate(**PINNED_TO_4, driver_busy=1.6)
    given = judged("host_speed_stable", at_frequencies(made, tmp_path, falling))
    assert given.level == "doubtful", given
    assert given.measured == pytest.approx(0.3)
    assert "frequency of core 2 was between 2.80 and 4.00 GHz" in given.text


def test_without_cores_of_their_own_the_fastest_busy_core_must_not_get_slower(tmp_path):
    made = unpinned(server_busy=0.9, driver_busy=0.9)

    def slower(place, core):
        return 2_800_000 if core < 2 and place >= 5 else 4_000_000

    given = judged("host_speed_stable", at_frequencies(made, tmp_path, slower))
    assert given.level == "doubtful", given
    assert "frequency of the fastest busy core was between 2.80 and 4.00 GHz" in given.text


def test_frequencies_of_a_used_core_that_idles_mean_little(tmp_path):
    made = simulate(**PINNED_TO_4 | {"server_busy": 0.2}, driver_busy=0.2)
    at = at_frequencies(made, tmp_path, falling)
    given = judged("host_speed_stable", at)
    assert given.level == "sound", given
    assert "its frequency means little when idle" in given.text


def unpinned_of_16(**options):
    """The same on a host of 16 cores, whose threads hardly ever wait for one."""
    every = tuple(range(16))
    spread = {"server_cores": every, "driver_cores": every, "run_delay": 0.02, "connections": 200}
    return unpinned(**(spread | options))


@pytest.mark.parametrize(
    ("busy", "level", "words"),
    [
        (1.0, "sound", "one core of the server was saturated"),
        (2.4, "doubtful", "the cores that both share were 18 % busy: no measured resource"),
        (6.0, "doubtful", "the cores that both share were 40 % busy"),
        (15.0, "sound", "the host that both share was saturated"),
    ],
)
def test_several_cores_of_a_server_without_its_own_are_no_full_core(busy, level, words):
    given = judged("bottleneck_identified", unpinned_of_16(server_busy=busy))
    assert given.level == level, given
    assert words in given.text
    assert ("he server's busiest core" in given.text) is (busy <= 1)


def with_threads(trial, ran, busiest):
    """The trial whose server's threads ran for so many cores' worth, and the busiest of them."""
    for quantity, per_s in (("run_time_s", ran), ("busiest_thread_s", busiest)):
        course = [(second, per_s * second) for second in range(9)]
        trial = with_readings(trial, "server", quantity, *course)
    return trial


@pytest.mark.parametrize(
    ("busy", "thread", "words"),
    [
        (0.98, 0.97, "one core of the server was saturated"),
        (0.98, 0.85, "one core of the server was saturated"),
        (0.98, 0.15, "the server does one thing at a time"),
        (0.88, 0.85, "one core of the server was saturated"),
        (0.88, 0.15, "no measured resource was saturated"),
        (0.88, 0.5, "no measured resource was saturated"),
    ],
)
def test_threads_that_share_about_one_core_fill_none(busy, thread, words):
    """They are the limit together only where they were never out of work, as behind a lock."""
    made = with_threads(unpinned_of_16(server_busy=busy), busy, thread)
    given = judged("bottleneck_identified", made)
    assert words in given.text
    assert given.level == ("doubtful" if words.startswith("no measured") else "sound")


def test_threads_that_wait_for_requests_are_not_held_up_by_a_lock():
    made = unpinned_of_16(server_busy=0.98, connections=20, driver_busy=0.97)
    given = judged("bottleneck_identified", with_threads(made, 0.98, 0.15))
    assert "one thing at a time" not in given.text


@pytest.mark.parametrize(
    ("busy", "thread", "seen", "level"),
    [
        (1.2, 0.98, 1.0, "sound"),
        (4.0, 0.99, 1.0, "sound"),
        (2.4, 0.1, 1.0, "doubtful"),
        (2.4, 0.98, 0.3, "doubtful"),
    ],
)
def test_a_full_thread_of_several_is_a_full_core(busy, thread, seen, level):
    """Such as the event loop of a runtime that collects garbage beside it, or a worker of four."""
    made = with_threads(unpinned_of_16(server_busy=busy), busy * seen, thread)
    given = judged("bottleneck_identified", made)
    assert given.level == level, given
    assert ("one core of the server was saturated" in given.text) is (level == "sound")


def test_several_cores_of_an_unknown_number_are_not_checked():
    made = unpinned_of_16(server_busy=2.4)
    series = {key: one for key, one in made.usage.series.items() if key[0] != "machine"}
    made.__dict__["usage"] = Usage(series)
    given = judged("bottleneck_identified", made)
    assert given.level == "not_checked", given
    assert "server used 2.4 cores, and of how many could not be read" in given.text


OWN = ("cpu_user_s", "cpu_system_s", "run_time_s", "run_delay_s")


def read_between(usage: Usage, first_s: float, last_s: float, scope: str = "driver") -> Usage:
    """The same readings, those of a process tree taken only between two instants."""
    at_ns = np.array([first_s * 1e9, last_s * 1e9], dtype=np.int64)
    cut = {
        key: tuple(replace(one, at_ns=at_ns, values=one.at(at_ns)) for one in series)
        for key, series in usage.series.items()
        if key[0] == scope
    }
    return replace(usage, series={**usage.series, **cut})


@pytest.mark.parametrize(
    ("last_s", "hold_s", "level", "words"),
    [
        (3.3, 2.0, "void", "for cores that other programs used"),
        (2.45, 2.0, "doubtful", "CPU time was read too late to know what other programs took"),
        (2.45, 1.0, "not_checked", "Load for 2 s or longer (`-d`) to know it."),
    ],
)
def test_a_late_sampler_does_not_hide_what_others_took(last_s, hold_s, level, words):
    made = as_load(
        simulate(others_busy=0.9, server_busy=0.05, driver_busy=0.05, hold_s=hold_s, ramp_s=0.0)
    )
    start_s = made.recording.holds[0].start_ns / 1e9
    usage = read_between(made.usage, start_s + 0.42, start_s + last_s - 2.0)
    made.__dict__["usage"] = usage
    given = judged("undisturbed", made)
    assert given.level == level, given
    assert words in given.text


@pytest.mark.parametrize(
    ("others", "cpu_s", "level"),
    [
        (0.9, 0.05, "void"),
        (0.0, 0.05, "sound"),
        (0.9, None, "not_checked"),
    ],
)
def test_a_load_generator_read_once_is_judged_by_what_it_used_in_all(others, cpu_s, level):
    """A load of a second, in which the sampler had no core before the load generator ended."""
    made = as_load(
        simulate(
            others_busy=others,
            server_busy=0.05,
            driver_busy=0.05,
            hold_s=1.0,
            ramp_s=0.0,
            warm_up_s=0.0,
            run_delay=0.5 * others,
        )
    )
    rows: Any = made.readings
    is_late = pc.and_(
        pc.equal(rows["scope"].cast(pa.string()), "driver"), pc.greater(rows["at_ns"], 0)
    )
    is_own = pc.is_in(rows["quantity"].cast(pa.string()), pa.array([*OWN]))
    rows = rows.filter(pc.invert(pc.and_(is_late, is_own)))
    recording = replace(made.recording, driver=replace(driver_of(made), cpu_s=cpu_s))
    made = replace(made, readings=rows, recording=recording)
    given = judged("undisturbed", made)
    assert given.level == level, given
    assert judged("driver_headroom", made).is_doubting is False
