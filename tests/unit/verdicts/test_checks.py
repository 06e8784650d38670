"""Each check on recordings that pass and recordings that do not."""

import importlib
import pkgutil
from dataclasses import replace
from typing import Any

import pyarrow.compute as pc
import pytest

from plimsoll.recording import Ending
from plimsoll.verdicts import checks
from plimsoll.verdicts.limits import Limits
from recordings import simulate

CLEAN = simulate()
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
    ("connections_as_asked", "void", {"idle": 2}, ["2 of 20", "no complete answer"]),
    (
        "connections_as_asked",
        "doubtful",
        {"connections": 2000, "throughput_per_s": 1000.0},
        ["2,000 connections", "may be chance"],
    ),
    ("connections_as_asked", "doubtful", {"without": ("connections_open",)}, ["not be read"]),
    ("littles_law", "doubtful", {"drop_ratio": 0.1}, ["20", "missing from the record"]),
    ("littles_law", "void", {"drop_ratio": 0.2}, ["missing from the record"]),
    ("littles_law", "void", {"in_flight_factor": 0.9}, ["more than can have been"]),
    ("littles_law", "doubtful", {"lag_ns": 1_000_000}, ["waited for the driver"]),
    ("littles_law", "void", {"lag_ns": 3_000_000}, ["waited for the driver"]),
    ("littles_law", "doubtful", {"without": ("in_flight_mean",)}, ["could not be read"]),
    ("backlog", "doubtful", {"overflows": 9, "overflow_stage": "ramp"}, ["9 in the ramp"]),
    ("backlog", "void", {"overflows": 9, "overflow_stage": "hold"}, ["in the hold alone 9"]),
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
    ("littles_law", {"failures": {"timed_out_waiting": 0.05}, "freeze_s": (4.0, 5.0)}),
    ("littles_law", {"starved": 3, "lag_ns": 100_000}),
    ("backlog", BUSY),
    ("backlog", {"others_overflows": 50}),
    ("backlog", {"others_overflows": 50, "own_drops": False}),
    ("backlog", {"stray_drops": 50}),
    ("steady", {"growth": 0.1}),
    ("steady", {"throughput_per_s": 50.0, "growth": 0.3, "connections": 2}),
    ("undisturbed", {"others_busy": 0.02, "server_busy": 0.8}),
    ("driver_headroom", {"driver_busy": 0.79}),
]


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
    given = check.judge(CLEAN, Limits())
    assert given.level == "sound", given
    assert given.measured is not None
    assert given.remedy == ""
    assert given.subject == CLEAN.recording.trial


@pytest.mark.parametrize(("check", "options"), PASSES)
def test_a_trial_within_the_limits_passes(check, options):
    given = judged(check, simulate(**options))
    assert given.level == "sound", given


@pytest.mark.parametrize(("check", "level", "options", "words"), TRIALS)
def test_a_trial_beyond_a_limit_does_not_pass(check, level, options, words):
    given = judged(check, simulate(**options))
    assert given.level == level, given
    assert all(word.lower() in given.statement.lower() for word in words), given.statement
    assert given.remedy
    assert given.statement.endswith(".")


@pytest.mark.parametrize("check", checks.CHECKS, ids=lambda check: check.NAME)
def test_a_trial_that_left_no_tables_is_never_sound(check):
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


def test_little_is_checked_against_the_drivers_clock_not_against_the_rows():
    rows: Any = CLEAN.requests
    done = pc.add(rows["sent_ns"], pc.divide(pc.subtract(rows["done_ns"], rows["sent_ns"]), 2))
    first = pc.min_element_wise(rows["first_byte_ns"], done, skip_nulls=False)
    shorter = rows.set_column(3, rows.schema.field(3), done)
    shorter = shorter.set_column(2, rows.schema.field(2), first)
    given = judged("littles_law", replace(CLEAN, requests=shorter))
    assert given.level == "void"
    assert given.measured == pytest.approx(0.5, abs=0.01)


def test_more_connections_that_are_not_used_are_doubtful():
    trial = simulate(ramp_s=8.0, hold_s=2.0, warm_up_s=0, connections=40, starved=0)
    seconds: Any = trial.seconds
    later = pc.greater(seconds["second"], 5)
    fewer = pc.if_else(later, pc.divide(seconds["completed"], 2), seconds["completed"])
    used = pc.if_else(later, pc.multiply(seconds["in_flight"], 0.5), seconds["in_flight"])
    for name, values in (("completed", fewer), ("in_flight", used)):
        index = seconds.schema.get_field_index(name)
        seconds = seconds.set_column(index, seconds.schema.field(index), values)
    trial.__dict__["seconds"] = seconds
    given = judged("connections_as_asked", trial)
    assert given.level == "doubtful"
    assert "from 30 to 40 connections" in given.statement.lower()


def test_rows_that_cannot_have_happened_void_a_trial():
    rows: Any = CLEAN.requests
    backwards = rows.set_column(0, rows.schema.field(0), pc.add(rows["sent_ns"], 1))
    given = judged("conservation", replace(CLEAN, requests=backwards))
    assert given.level == "void"
    assert "before they were sent" in given.statement


def test_connections_that_carry_one_request_each_need_not_be_held_open():
    load = CLEAN.recording.load | {"keep_alive": False}
    trial = simulate(idle=2)
    trial = replace(trial, recording=replace(trial.recording, load=load))
    given = judged("littles_law", trial)
    assert given.level == "sound"
