"""Campaign files and settings: what they amount to, and every mistake in them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from plimsoll.campaign import as_run, campaign
from plimsoll.campaign.campaign import Campaign
from plimsoll.campaign.endpoints import ENDPOINTS
from plimsoll.campaign.load import Load, Stage
from plimsoll.campaign.toml_writer import as_toml
from plimsoll.errors import InputError, Problem
from plimsoll.lab import finished
from plimsoll.plan import plan

FRAMEWORK = """\
name = "{name}"
language = "Go"
version = "true"
start = "true"
endpoints = {endpoints}

[variant.one-core]
environment = {{ GOMAXPROCS = "1" }}
"""

FULL = """\
name = "full"
frameworks = ["go", "go:one-core", "node"]
endpoints = ["2048", "json"]
repetitions = 3
driver = "plimsoll"
server_cores = "0-1"
driver_cores = [2, 3]
cool_down = "500ms"
seed = 7
body_sample = 0.5

[limits.backlog]
drops = 3

[[load]]
name = "climb"
model = "closed"
timeout = "2s"
keep_alive = true
requests_per_connection = "1k"
think_time = "10ms"
request_limit = "1m"
stages = [
    { kind = "warm_up", duration = "10s", at = 100 },
    { kind = "ramp", duration = "240s", from = 0, to = 9_000, steps = 100 },
    { kind = "hold", duration = "3m", at = "9k" },
]

[[load]]
name = "arrivals"
model = "open"
connections = 200
arrivals = "poisson"
tolerance = "50us"

[[load.stages]]
kind = "hold"
duration = 30
at = 0.5
"""

SHORT = """\
name = "short"
frameworks = "go"
endpoints = "2048"

[[load]]
name = "steady"
stages = [{ kind = "hold", duration = "5s", at = 64 }]
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder of two frameworks."""
    names = [endpoint.name for endpoint in ENDPOINTS]
    for name in ("go", "node"):
        (tmp_path / "frameworks" / name).mkdir(parents=True)
        text = FRAMEWORK.format(name=name, endpoints=names)
        (tmp_path / "frameworks" / name / "framework.toml").write_text(text)
    return tmp_path / "frameworks"


def read(root: Path, text: str, *overrides: str) -> Campaign:
    path = root.parent / "a.toml"
    path.write_text(text)
    return campaign.read(path, overrides, root)


def problems(root: Path, text: str, *overrides: str) -> list[Problem]:
    with pytest.raises(InputError) as raised:
        read(root, text, *overrides)
    prefix = f"{root.parent}/a.toml:"
    return [
        Problem(problem.where.removeprefix(prefix), problem.message, problem.hint)
        for problem in raised.value.problems
    ]


def said(root: Path, text: str, *overrides: str) -> list[tuple[str, str]]:
    return [(problem.where, problem.message) for problem in problems(root, text, *overrides)]


def test_a_file_says_everything(root: Path) -> None:
    full = read(root, FULL)
    assert [one.reference for one in full.frameworks] == ["go", "go:one-core", "node"]
    assert [endpoint.name for endpoint in full.endpoints] == ["2048", "json"]
    assert full.loads == (
        Load(
            name="climb",
            model="closed",
            stages=(
                Stage("warm_up", 10.0, 100.0, 100.0),
                Stage("ramp", 240.0, 0.0, 9000.0, 100),
                Stage("hold", 180.0, 9000.0, 9000.0),
            ),
            requests_per_connection=1000,
            think_time_s=0.01,
            timeout_s=2.0,
            request_limit=1_000_000,
        ),
        Load(
            name="arrivals",
            model="open",
            stages=(Stage("hold", 30.0, 0.5, 0.5),),
            arrivals="poisson",
            connections=200,
            tolerance_s=0.00005,
        ),
    )
    assert (full.name, full.repetitions, full.drivers, full.seed) == ("full", 3, ("plimsoll",), 7)
    assert (full.server_cores, full.driver_cores) == ((0, 1), (2, 3))
    assert (full.cool_down_s, full.body_sample_ratio) == (0.5, 0.5)
    assert full.limits == {"backlog": {"drops": 3.0}}


def test_a_campaign_may_have_the_idle_host_measured(root: Path) -> None:
    asked = SHORT.replace("[[load]]", 'idle = "30s"\n\n[[load]]', 1)
    assert (read(root, asked).idle_s, read(root, SHORT).idle_s) == (30.0, 0.0)


def test_a_campaign_may_have_a_power_meter_and_then_power_without_load_is_measured(
    root: Path,
) -> None:
    asked = SHORT.replace("[[load]]", 'power = "shelly://plug/1"\n\n[[load]]', 1)
    assert (read(root, asked).power, read(root, asked).idle_s) == ("shelly://plug/1", 10.0)
    assert read(root, asked, "idle=0").idle_s == 0.0
    assert read(root, SHORT, "power=exec:ipmi --watts").power == "exec:ipmi --watts"
    assert read(root, SHORT).power == ""


def test_a_load_may_have_several_requests_in_flight_on_a_connection(root: Path) -> None:
    deep = SHORT.replace("[[load]]\n", "[[load]]\npipeline = 8\n")
    assert (read(root, deep).loads[0].pipeline, read(root, SHORT).loads[0].pipeline) == (8, 1)
    spoken = SHORT.replace("[[load]]\n", '[[load]]\nprotocol = "http2"\nstreams = 8\n')
    load = read(root, spoken).loads[0]
    assert (load.protocol, load.streams, load.in_flight_each) == ("http2", 8, 8)


def test_what_a_file_does_not_say_has_a_default(root: Path) -> None:
    short = read(root, SHORT)
    stages = (Stage("hold", 5.0, 64.0, 64.0),)
    assert short == Campaign(
        "short", short.frameworks, short.endpoints, (Load("steady", "closed", stages),)
    )


def test_all_stands_for_every_plain_framework_and_every_endpoint(root: Path) -> None:
    text = SHORT.replace('"go"', '"all"').replace('"2048"', '["json", "all"]')
    everything = read(root, text)
    assert [one.reference for one in everything.frameworks] == ["go", "node"]
    names = [endpoint.name for endpoint in everything.endpoints]
    assert names[0] == "json"
    assert sorted(names) == sorted(endpoint.name for endpoint in ENDPOINTS)


def test_every_mistake_is_named_at_once_with_its_line(root: Path) -> None:
    text = (
        FULL.replace('name = "full"', 'name = "a/b"')
        .replace('"go:one-core", "node"', '"go:two-cores", "nod", "go", 4')
        .replace('"2048", "json"]', '"2048", "jsno"]')
        .replace("repetitions = 3", 'repetitions = "three"')
        .replace('driver = "plimsoll"', 'driver = "wrkk"')
        .replace('"0-1"', '"0-x"')
        .replace('"500ms"', '"-1s"')
        .replace("seed = 7", "sead = 7")
        .replace("= 0.5\n\n", "= 1.5\n\n")
        .replace("drops = 3", 'drops = "few"')
        .replace('"closed"', '"close"')
        .replace('timeout = "2s"', "timeout = 0")
        .replace("keep_alive = true", "keep_alive = false")
        .replace('duration = "10s", at', 'duration = "10 seconds", att')
        .replace("from = 0, to", "form = 0, to")
        .replace('at = "9k"', 'at = "9.5"')
        .replace('"poisson"', '"poison"')
        .replace("connections = 200", "think_time = 1")
    )
    assert said(root, text) == [
        ("1", "`a/b` is not a valid name"),
        ("2", "item 5 of `frameworks` must be a quoted string, not `4`"),
        ("2", "`go` is listed twice"),
        ("2", "`go` has no variant `two-cores`"),
        ("2", f"unknown framework `nod` in `{root}`"),
        ("3", "unknown endpoint `jsno`"),
        ("4", "`repetitions`: `three` is not a count"),
        ("5", "unknown driver `wrkk`"),
        ("6", "`server_cores`: `0-x` is not a set of cores"),
        ("8", "`cool_down`: `-1s` is negative"),
        ("9", "unknown key `sead` here"),
        ("10", "`body_sample` must be from 0 to 1, not `1.5`"),
        ("13", '`drops` in `[limits.backlog]` must be a number, not `"few"`'),
        ("17", "`model` must be `closed` or `open`, not `close`"),
        ("18", "`timeout` must be more than 0"),
        ("20", "`requests_per_connection` needs `keep_alive = true`"),
        ("24", "`duration`: `10 seconds` is not a duration: unknown unit `seconds`"),
        ("24", "unknown key `att` here"),
        ("24", "the warm-up has no `at`"),
        ("25", "unknown key `form` here"),
        ("25", "the ramp has no `from`"),
        ("26", "`at` must be a whole number of connections, not `9.5`"),
        ("29", "an open load needs `connections`, its pool size"),
        ("32", "`think_time` is for closed loads only"),
        ("33", "`arrivals` must be `constant` or `poisson`, not `poison`"),
    ]


def test_two_levels_of_mistakes_in_one_load_are_both_named(root: Path) -> None:
    text = SHORT.replace('kind = "hold"', 'kind = "warm_up"').replace(
        'name = "steady"', 'name = "steady"\ntimeot = "5s"\nkeep_alive = "no"'
    )
    assert said(root, text) == [
        ("7", "unknown key `timeot` here"),
        ("8", '`keep_alive` must be `true` or `false`, not `"no"`'),
        ("9", "no stage is a `hold`, which is the measurement window"),
    ]


@pytest.mark.parametrize(
    ("stage", "message"),
    [
        ('{ kind = "hold", duration = "5s" }', "the hold has no `at`"),
        ('{ kind = "hold", at = 64 }', "`duration` is missing"),
        ('{ duration = "5s", at = 64 }', "`kind` is missing"),
        ('{ kind = "hold", duration = 0, at = 64 }', "`duration` must be more than 0"),
        ('{ kind = "hold", duration = -5, at = 64 }', "`duration`: `-5` is negative"),
        ('{ kind = "hold", duration = "5s", at = 0 }', "a `hold` at 0 generates no load"),
        ('{ kind = "hold", duration = "5s", at = -1 }', "`at`: `-1` is negative"),
        (
            '{ kind = "hold", duration = "5s", at = 1.5 }',
            "`at` must be a whole number of connections, not `1.5`",
        ),
        (
            '{ kind = "hold", duration = "5s", at = 64, steps = 2 }',
            "a hold with `at` has no `steps`",
        ),
        (
            '{ kind = "hlod", duration = "5s", at = 64 }',
            "`kind` must be `warm_up`, `ramp` or `hold`, not `hlod`",
        ),
        ("5", "item 1 of `stages` must be a table, not `5`"),
    ],
)
def test_a_stage_that_cannot_be_is_named(root: Path, stage: str, message: str) -> None:
    text = SHORT.replace('{ kind = "hold", duration = "5s", at = 64 }', stage)
    assert said(root, text) == [("7", message)]


@pytest.mark.parametrize(
    ("stage", "messages"),
    [
        (
            '{ kind = "ramp", duration = "5s", at = 64 }',
            [
                "the ramp has no `from`",
                "the ramp has no `to`",
                "a ramp with `from` and `to` has no `at`",
            ],
        ),
        ('{ kind = "ramp", duration = "5s", from = 64 }', ["the ramp has no `to`"]),
        ('{ kind = "warm_up", duration = "5s" }', ["the warm-up has no `at`"]),
        (
            '{ kind = "warm_up", duration = "5s", to = 9, at = 3 }',
            [
                "the warm-up has no `from`",
                "a warm-up with `from` and `to` has no `at`",
            ],
        ),
    ],
)
def test_a_stage_says_its_level_in_the_way_of_its_kind(
    root: Path, stage: str, messages: list[str]
) -> None:
    text = SHORT.replace("stages = [", f"stages = [{stage}, ")
    assert said(root, text) == [("7", message) for message in messages]


@pytest.mark.parametrize("steps", ["", ", steps = 0"])
def test_a_warm_up_may_climb_and_a_ramp_is_a_straight_line_unless_it_has_steps(
    root: Path, steps: str
) -> None:
    text = SHORT.replace(
        "stages = [",
        'stages = [{ kind = "warm_up", duration = 1, from = 1, to = 4, steps = 3 },'
        f'{{ kind = "ramp", duration = 1, from = 4, to = 64{steps} }},',
    )
    warm_up, ramp, _ = read(root, text).loads[0].stages
    assert warm_up == Stage("warm_up", 1.0, 1.0, 4.0, 3)
    assert ramp == Stage("ramp", 1.0, 4.0, 64.0, 0)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "keep_alive = false\nrequests_per_connection = 3",
            "`requests_per_connection` needs `keep_alive = true`",
        ),
        ("pipeline = 0", "`pipeline` must be more than 0"),
        (
            "pipeline = 2\nkeep_alive = false",
            "`pipeline` needs more than one request per connection",
        ),
        (
            "pipeline = 2\nrequests_per_connection = 1",
            "`pipeline` needs more than one request per connection",
        ),
        (
            'protocol = "http2"\nstreams = 2\nthink_time = "1s"',
            "`streams` and `think_time` exclude each other",
        ),
        ("streams = 2", '`streams` needs `protocol = "http2"`'),
        ('protocol = "http2"\npipeline = 2', "`pipeline` is for HTTP/1 only"),
        (
            'pipeline = 2\nthink_time = "1s"',
            "`pipeline` and `think_time` exclude each other",
        ),
        ("requests_per_connection = 0", "`requests_per_connection` must be more than 0"),
        ("connections = 3", "`connections` is for open loads only"),
        ('arrivals = "poisson"', "`arrivals` is for open loads only"),
        ('tolerance = "50us"', "`tolerance` is for open loads only"),
        ('model = "open"', "an open load needs `connections`, its pool size"),
        ('model = "open"\nconnections = 0', "an open load needs `connections`, its pool size"),
        (
            'model = "open"\nconnections = 3\nthink_time = 1',
            "`think_time` is for closed loads only",
        ),
    ],
)
def test_keys_of_a_load_that_do_not_go_together_are_named(
    root: Path, line: str, message: str
) -> None:
    text = SHORT.replace('name = "steady"', f'name = "steady"\n{line}')
    assert [problem[1] for problem in said(root, text)] == [message]


@pytest.mark.parametrize(
    ("line", "line_number", "message"),
    [
        ("pipeline = 1025", "7", "`pipeline` is too large: `1025`"),
        ('timeout = "800h"', "7", "`timeout` is too large: `2880000` s"),
        ("request_limit = 10_000_000_000_000_000", "7", "`request_limit` is too large: `1e+16`"),
        ("requests_per_connection = 5_000_000_000", "7",
         "`requests_per_connection` is too large: `5000000000`"),
    ],
)  # fmt: skip
def test_more_than_the_engine_takes_is_named(
    root: Path, line: str, line_number: str, message: str
) -> None:
    text = SHORT.replace('name = "steady"', f'name = "steady"\n{line}')
    assert said(root, text) == [(line_number, message)]


def test_levels_and_lengths_are_limited_after_scaling(root: Path) -> None:
    assert said(root, SHORT, "scale_connections=1e6") == [("7", "`at` is too large: `64000000`")]
    (found,) = said(root, SHORT, "scale_time=1e9")
    assert found[1] == "`stages` is too large: `5000000000` s"
    assert read(root, SHORT, "scale_time=1000").loads[0].duration_s == 5000


@pytest.mark.parametrize("key", ["cool_down", "idle", "budget"])
def test_no_pause_and_no_budget_is_longer_than_any_load(root: Path, key: str) -> None:
    until = ("until=5%",) if key == "budget" else ()
    (found,) = problems(root, SHORT, f"{key}=1000000000000000000", *until)
    assert found.where == f"settings {key}"
    assert found.message == f"`{key}` is too large: `1e+18` s"
    assert found.hint == "`2,592,000` s is the maximum"
    read(root, SHORT, f"{key}=2592000", *until)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("scale_time=1e-300", "`duration` is too short: `5e-300` s"),
        ("scale_time=1e-10", "`duration` is too short: `5e-10` s"),
        ("load.steady.hold.duration=0.0000000001", "`duration` is too short: `1e-10` s"),
        ("load.steady.timeout=0.0000000001", "`timeout` is too short: `1e-10` s"),
    ],
)
def test_what_would_be_no_nanosecond_is_named(root: Path, setting: str, message: str) -> None:
    (found,) = problems(root, SHORT, setting)
    assert found.where == (f"settings {setting.partition('=')[0]}" if "load" in setting else "7")
    assert found.message == message
    assert found.hint == "`1ns` is the minimum, with `scale_time` applied"
    assert read(root, SHORT, "load.steady.hold.duration=1ns").loads[0].duration_s == 1e-9


def test_more_trials_than_anybody_waits_for_are_refused(root: Path) -> None:
    (found,) = problems(root, f"repetitions = 1000000000\n{SHORT}")
    assert found.where == "1"
    assert found.message == "`repetitions` results in 1,000,000,000 trials"
    assert "100,000" in found.hint
    assert read(root, f"repetitions = 100000\n{SHORT}").repetitions == 100_000


def test_names_that_fit_no_file_name_are_refused(root: Path) -> None:
    long = "a" * 65
    for name in ("short", "steady"):
        (found,) = problems(root, SHORT.replace(name, long))
        assert found.message == f"the name `{'a' * 24}…` has 65 characters"
        assert read(root, SHORT.replace(name, long[:-1]))


def test_names_are_used_once(root: Path) -> None:
    text = SHORT.replace('"go"', '["go", "go"]').replace('"2048"', '["json", "2048", "json"]')
    text += text[text.index("\n[[load]]") :]
    assert said(root, text) == [
        ("2", "`go` is listed twice"),
        ("3", "`json` is listed twice"),
        ("10", "two loads are named `steady`"),
    ]


def test_an_empty_file_misses_what_every_campaign_needs(root: Path) -> None:
    assert {message for _, message in said(root, "")} == {
        f"`{key}` is missing" for key in ("name", "frameworks", "endpoints", "load")
    }


def test_empty_lists_ask_for_nothing(root: Path) -> None:
    text = 'name = "a"\nframeworks = []\nendpoints = []\nload = []\n'
    assert said(root, text) == [
        ("2", "`frameworks` is empty"),
        ("3", "`endpoints` is empty"),
        ("4", "the campaign has no load"),
    ]


def test_a_table_in_single_brackets_where_there_may_be_several_has_a_hint(root: Path) -> None:
    (found,) = problems(root, SHORT.replace("[[load]]", "[load]"))
    assert (found.where, found.message, found.hint) == (
        "5",
        "`load` must be a list of tables",
        "use two brackets: `[[load]]`",
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("name = 5", "`name` must be a quoted string, not `5`"),
        ("name = true", "`name` must be a quoted string, not `true`"),
        ("name = [1]", "`name` must be a quoted string, not a list"),
        ("name = { a = 1 }", "`name` must be a quoted string, not a table"),
        ('seed = "1"\nname = "a"', '`seed` must be a whole number, not `"1"`'),
        ('seed = 1.5\nname = "a"', "`seed` must be a whole number, not `1.5`"),
        ('limits = 3\nname = "a"', "`limits` must be a table, not `3`"),
        ('body_sample = nan\nname = "a"', "`body_sample` must be from 0 to 1, not `nan`"),
    ],
)
def test_a_value_of_the_wrong_type_is_shown_as_it_stands(
    root: Path, given: str, message: str
) -> None:
    assert said(root, SHORT.replace('name = "short"', given)) == [("1", message)]


def test_without_frameworks_the_rest_is_still_looked_at(root: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text(SHORT.replace("64", "-64"))
    with pytest.raises(InputError) as raised:
        campaign.read(path, (), tmp_path)
    assert [problem.where for problem in raised.value.problems] == [f"{path}:7", "frameworks"]


def test_two_frameworks_that_would_share_file_names_are_refused(root: Path) -> None:
    (root / "go-one-core").mkdir()
    text = (root / "go" / "framework.toml").read_text().replace('"go"', '"go-one-core"')
    (root / "go-one-core" / "framework.toml").write_text(text)
    assert said(root, SHORT.replace('"go"', '["go:one-core", "go-one-core"]')) == [
        ("2", "`go:one-core` and `go-one-core` map to the same file names")
    ]


def test_mistakes_of_a_framework_are_told_beside_those_of_the_campaign(root: Path) -> None:
    (root / "go" / "framework.toml").write_text('name = "go"\n')
    places = [where for where, _ in said(root, SHORT.replace("64", "-64"))]
    assert places[0] == "7"
    assert set(places[1:]) == {f"{root}/go/framework.toml:1"}


def test_checks_limits_and_drivers_are_known_where_they_are_told(root: Path) -> None:
    text = FULL.replace("[limits.backlog]", "[limits.baklog]\na = 1\n\n[limits.backlog]")
    path = root.parent / "a.toml"
    path.write_text(text)
    with pytest.raises(InputError) as raised:
        campaign.read(path, (), root, drivers=("wrk",), limits=lambda: {"backlog": ("dropped",)})
    assert [(problem.message, problem.hint) for problem in raised.value.problems] == [
        ("unknown driver `plimsoll`", "drivers: `wrk`"),
        ("unknown check `baklog`", "did you mean `backlog`?"),
        ("the check `backlog` has no limit `drops`", "did you mean `dropped`?"),
    ]


@pytest.mark.parametrize("typed", [(), ("limits.backlog.drops=nan",)], ids=["file", "set"])
def test_a_limit_is_a_number(typed: tuple[str, ...], root: Path) -> None:
    path = root.parent / "a.toml"
    path.write_text(FULL if typed else FULL.replace("drops = 3", "drops = nan"))
    with pytest.raises(InputError) as raised:
        campaign.read(path, typed, root, limits=lambda: {"backlog": ("drops",)})
    (problem,) = raised.value.problems
    assert problem.message == "`nan` is not a number"
    assert problem.hint == "write a number, such as `0.1`"


DRIVERS = ("plimsoll", "wrk", "ab")


def drivers_of(root: Path, line: str, *settings: str) -> Campaign:
    path = root.parent / "drivers.toml"
    path.write_text(f"{line}\n{SHORT}")
    return campaign.read(path, settings, root, drivers=DRIVERS)


def test_a_campaign_has_one_driver_or_a_list_of_them_or_every_one(root: Path) -> None:
    assert drivers_of(root, "").drivers == ("plimsoll",)
    assert drivers_of(root, 'driver = "wrk"').drivers == ("wrk",)
    several = drivers_of(root, 'driver = ["wrk", "ab"]')
    assert (several.drivers, several.drivers_optional) == (("wrk", "ab"), False)
    every = drivers_of(root, 'driver = "all"')
    assert (every.drivers, every.drivers_optional) == (DRIVERS, True)
    assert drivers_of(root, 'driver = "wrk"', "driver=plimsoll,ab").drivers == ("plimsoll", "ab")


def test_what_is_wrong_with_drivers_is_told_one_by_one(root: Path) -> None:
    with pytest.raises(InputError) as raised:
        drivers_of(root, 'driver = ["wrk", "wrkk", "wrk"]')
    assert [problem.message for problem in raised.value.problems] == [
        "unknown driver `wrkk`",
        "`wrk` is listed twice",
    ]
    with pytest.raises(InputError) as empty:
        drivers_of(root, "driver = []")
    assert [problem.message for problem in empty.value.problems] == ["`driver` is empty"]


@pytest.mark.parametrize(
    ("turns", "length_s"),
    [("10ms", 0.01), ("250ms", 0.25), ("10s", 10.0), ("0s", 0.0)],
)
def test_servers_may_take_turns(root: Path, turns: str, length_s: float) -> None:
    assert read(root, SHORT).turn_s == 0
    asked = read(root, f'turns = "{turns}"\ndriver = "plimsoll"\n{SHORT}')
    assert (asked.turn_s, campaign.resolved(asked)["turn_s"]) == (length_s, length_s)
    assert read(root, SHORT, f"turns={turns}").turn_s == length_s


@pytest.mark.parametrize(
    ("line", "message", "hint"),
    [
        ('power = "plug"', "`power`: `plug` is not the address of a power meter", "shelly://HOST"),
        ('power = "exec:true"\nturns = "100ms"', "exclude each other", "set `turns` to 0"),
    ],
)
def test_a_power_meter_that_cannot_be_is_refused(
    root: Path, line: str, message: str, hint: str
) -> None:
    (problem,) = problems(root, f"{line}\n{SHORT}")
    assert message in problem.message
    assert hint in problem.hint


@pytest.mark.parametrize(
    ("turns", "message", "hint"),
    [
        ('"9ms"', "`turns` must be 10ms or more", "waiting for the last responses"),
        ('"11s"', "`turns` must be 10s or less", "the machine changes"),
        ('"-1s"', "`turns`: `-1s` is negative", "write `500ms`"),
        ('"short"', "`turns`: `short` is not a duration", "write `500ms`"),
    ],
)
def test_a_length_of_turns_that_is_of_no_use_is_refused_with_line_and_reason(
    root: Path, turns: str, message: str, hint: str
) -> None:
    (problem,) = problems(root, f"# turns\nturns = {turns}\n{SHORT}")
    assert problem.where == "2"
    assert problem.message.startswith(message)
    assert hint in problem.hint


def test_a_campaign_may_go_on_until_its_intervals_are_narrow(root: Path) -> None:
    assert (read(root, SHORT).until, read(root, SHORT).budget_s) == (0, 0)
    asked = read(root, f'until = "5%"\nbudget = "5m"\n{SHORT}')
    resolved = campaign.resolved(asked)
    assert (asked.until, resolved["until"]) == (0.05, 0.05)
    assert (asked.budget_s, resolved["budget_s"]) == (300, 300)
    given = read(root, SHORT, "until=5%", "budget=5m")
    assert (given.until, given.budget_s) == (asked.until, asked.budget_s)


@pytest.mark.parametrize(
    ("key", "message", "hint"),
    [
        ('until = "0%"', "`until` must be above 0% and below 100%", "such as `5%`"),
        ("until = 5", "`until` must be above 0% and below 100%", "such as `5%`"),
        ('until = "wide"', "`until`: `wide` is not a share", "write a share"),
        ('budget = "5m"', "`budget` needs `until`", "set `until`"),
        ('budget = "0s"\nuntil = "5%"', "`budget` must be more than 0", "remove it"),
    ],
)
def test_a_rule_to_stop_that_says_nothing_is_refused_with_line_and_reason(
    root: Path, key: str, message: str, hint: str
) -> None:
    (problem,) = problems(root, f"# rule\n{key}\n{SHORT}")
    assert problem.where == "2"
    assert problem.message.startswith(message)
    assert hint in problem.hint


@pytest.mark.parametrize(
    ("driver", "named"),
    [
        ('"wrk"', "`wrk`"),
        ('["wrk", "ab"]', "`wrk`, `ab`"),
        ('["plimsoll", "wrk"]', "`wrk`"),
        ('"all"', "`all`"),
    ],
)
def test_turns_need_our_own_engine(root: Path, driver: str, named: str) -> None:
    with pytest.raises(InputError) as raised:
        drivers_of(root, f'driver = {driver}\nturns = "250ms"')
    (problem,) = raised.value.problems
    assert problem.where.endswith("drivers.toml:2")
    assert problem.message == f"`turns` needs the driver `plimsoll`, not {named}"
    assert "set `turns` to 0, or remove `driver`" in problem.hint
    assert drivers_of(root, f"driver = {driver}\nturns = 0").turn_s == 0


def test_a_load_may_have_threads_of_the_driver_and_cores_of_the_server(root: Path) -> None:
    text = SHORT.replace("[[load]]\n", '[[load]]\nthreads = 4\nserver_cores = "0-1"\n')
    (load,) = read(root, text).loads
    assert (load.threads, load.server_cores) == (4, (0, 1))
    assert said(root, text.replace("threads = 4", "threads = 0"))[0][1] == (
        "`threads` must be more than 0"
    )


def test_published_figures_lie_beside_the_campaign_or_with_the_frameworks(root: Path) -> None:
    ours = root.parent / "docs" / "published" / "figures.toml"
    ours.parent.mkdir(parents=True)
    ours.write_text("")
    assert drivers_of(root, 'published = "figures.toml"').published == ours
    beside = root.parent / "figures.toml"
    beside.write_text("")
    assert drivers_of(root, 'published = "figures.toml"').published == beside
    same = ours.with_name("drivers.toml")
    same.write_text("")
    assert drivers_of(root, 'published = "drivers.toml"').published == same, "not the campaign"
    assert drivers_of(root, "").published is None


def test_published_figures_that_are_not_there_are_a_mistake_with_its_line(root: Path) -> None:
    assert said(root, f'published = "figures.toml"\n{SHORT}') == [
        ("1", "no published figures `figures.toml`")
    ]


def test_settings_are_laid_over_the_file(root: Path) -> None:
    changed = read(
        root,
        FULL.replace('requests_per_connection = "1k"\n', ""),
        "repetitions=1",
        "frameworks=node,go:one-core",
        'endpoints=["empty", "mix"]',
        "cool_down=2s",
        "server_cores=0,2",
        "limits.backlog.drops=0.5",
        "limits.littles_law.void=0.1",
        "load.climb.timeout=5s",
        "load.climb.keep_alive=false",
        "load.climb.hold.duration=1m",
        "load.climb.ramp.to=10k",
        "load.arrivals.connections=3",
        "name=other",
        "repetitions=2",
    )
    assert (changed.name, changed.repetitions, changed.cool_down_s) == ("other", 2, 2.0)
    assert [one.reference for one in changed.frameworks] == ["node", "go:one-core"]
    assert [endpoint.name for endpoint in changed.endpoints] == ["empty", "mix"]
    assert changed.server_cores == (0, 2)
    assert changed.limits == {"backlog": {"drops": 0.5}, "littles_law": {"void": 0.1}}
    climb, arrivals = changed.loads
    assert (climb.timeout_s, climb.keep_alive) == (5.0, False)
    assert [stage.duration_s for stage in climb.stages] == [10.0, 240.0, 60.0]
    assert climb.stages[1].end == 10_000
    assert arrivals.connections == 3


def test_time_is_scaled_in_every_stage(root: Path) -> None:
    scaled = read(root, FULL, "scale_time=0.1", "load.climb.warm_up.duration=20s")
    durations = [[stage.duration_s for stage in load.stages] for load in scaled.loads]
    assert durations == [[2.0, 24.0, 18.0], [3.0]]
    assert scaled.loads[0].timeout_s == 2.0


def test_connections_are_scaled_and_stay_whole_and_above_none(root: Path) -> None:
    scaled = read(root, FULL, "scale_connections=0.001")
    climb, arrivals = scaled.loads
    assert [(stage.start, stage.end) for stage in climb.stages] == [(1, 1), (0, 9), (9, 9)]
    assert arrivals.connections == 1
    assert arrivals.stages[0].start == 0.5


def test_a_file_is_not_changed_by_its_settings(root: Path) -> None:
    assert read(root, FULL, "repetitions=1").repetitions == 1
    assert (root.parent / "a.toml").read_text() == FULL


@pytest.mark.parametrize(
    ("setting", "where", "message", "hint"),
    [
        ("repetitions", "settings repetitions", "has no `=`", "`repetitions=1`"),
        ("=1", "settings =1", "has no key before the `=`", "`repetitions=1`"),
        ("a..b=1", "settings a..b=1", "has no key before the `=`", "`repetitions=1`"),
        ("repetitons=1", "settings repetitons", "unknown key `repetitons` here", "`repetitions`?"),
        (
            "repetitions=few",
            "settings repetitions",
            "`repetitions`: `few` is not a count",
            "write a whole number",
        ),
        ("repetitions=0", "settings repetitions", "`repetitions` must be 1 or more", ""),
        ("seed=1.5", "settings seed", "`seed` must be a whole number, not `1.5`", ""),
        ("frameworks=go,nod", "settings frameworks", "unknown framework `nod`", "`node`?"),
        ("frameworks=", "settings frameworks", "unknown framework ``", "frameworks: "),
        ("frameworks=go,,node", "settings frameworks", "unknown framework ``", "frameworks: "),
        ("endpoints=jsn", "settings endpoints", "unknown endpoint `jsn`", "`json`?"),
        ("load.clim.timeout=1s", "settings load.clim.timeout", "unknown load `clim`", "`climb`?"),
        ("load=1", "settings load", "unknown load ``", "loads: `arrivals`, `climb`"),
        ("load.climb=1", "settings load.climb", "does not name a key", "load.NAME.timeout"),
        ("load.climb.hold=1", "settings load.climb.hold", "does not name a key", "load.NAME"),
        (
            "load.arrivals.ramp.to=1",
            "settings load.arrivals.ramp.to",
            "the load `arrivals` has no stage `ramp`",
            "",
        ),
        (
            "load.climb.tmeout=1s",
            "settings load.climb.tmeout",
            "unknown key `tmeout` here",
            "`timeout`?",
        ),
        (
            "load.climb.hold.at=none",
            "settings load.climb.hold.at",
            "`at`: `none` is not a number",
            "write a number",
        ),
        (
            "repetitions.a=1",
            "settings repetitions.a",
            "`repetitions.a` goes through a value that is not a table",
            "",
        ),
        ("scale_time=0", "settings scale_time", "`0` is not a number above 0", "`0.1`"),
        ("scale_time=fast", "settings scale_time", "`fast` is not a number above 0", "`0.1`"),
        ("scale_connections=-1", "settings scale_connections", "`-1` is not a number", "`0.1`"),
        ("scale_connections=nan", "settings scale_connections", "`nan` is not a number", "`0.1`"),
    ],
)
def test_a_setting_that_is_wrong_is_named(
    root: Path, setting: str, where: str, message: str, hint: str
) -> None:
    (found,) = problems(root, FULL, setting)
    assert found.where == where
    assert found.message.startswith(message)
    assert hint in found.hint


def test_mistakes_of_settings_and_of_the_file_are_told_together(root: Path) -> None:
    found = said(root, SHORT.replace("64", "-64"), "repetitions=0", "sead=1", "scale_time=x")
    assert {where for where, _ in found} == {
        "7",
        "settings repetitions",
        "settings sead",
        "settings scale_time",
    }


def test_a_setting_repairs_what_the_file_has_wrong(root: Path) -> None:
    text = SHORT.replace('"go"', '"gone"')
    assert said(root, text)
    assert read(root, text, "frameworks=go").frameworks[0].name == "go"


def test_a_campaign_is_json_with_all_that_was_left_open(root: Path) -> None:
    full = read(root, FULL, "scale_time=0.5")
    resolved = json.loads(json.dumps(campaign.resolved(full)))
    assert resolved["frameworks"] == ["go", "go:one-core", "node"]
    assert resolved["endpoints"] == ["2048", "json"]
    assert resolved["loads"][0]["stages"][1] == {
        "kind": "ramp",
        "duration_s": 120.0,
        "start": 0.0,
        "end": 9000.0,
        "steps": 100,
    }
    assert resolved["seed"] == 7


LINES = """\
name = "lines"
kind = "line"
frameworks = "go"
endpoints = "json"

[line]
p99 = "20ms"
"""


def test_a_campaign_of_lines_plans_the_peak_that_searches_start_from(root: Path) -> None:
    found = read(root, LINES, "line.connections=32", "scale_time=0.5", "repetitions=3")
    assert found.line is not None and found.line.latencies == {99.0: 0.02}
    assert (found.line.budget_s, found.line.hold_s, found.line.warm_up_s) == (45.0, 1.0, 0.25)
    (peak,) = found.loads
    assert peak.is_saturating and peak.peak_connections == 32
    tried = found.line.tried(1000.0, 2.0)
    assert (tried.model, tried.arrivals, tried.connections) == ("open", "poisson", 32)
    assert [(one.start, one.end) for one in tried.stages] == [(0, 1000), (1000, 1000), (1000, 1000)]
    assert [stage.kind for stage in tried.stages] == ["warm_up", "warm_up", "hold"]
    at_once = replace(found.line, warm_up_s=0.0).tried(1000.0, 2.0)
    assert [stage.kind for stage in at_once.stages] == ["hold"]
    assert [one.id for one in plan(found)] == ["go.json.peak.1", "go.json.peak.2", "go.json.peak.3"]


def test_a_campaign_of_lines_is_written_as_it_ran(root: Path) -> None:
    found = read(root, LINES)
    again = read(root, as_toml(json.loads(json.dumps(campaign.resolved(found)))))
    assert (again.line, again.loads) == (found.line, found.loads)


@pytest.mark.parametrize(
    ("before", "after", "where", "message"),
    [
        ("[line]", "until = 0.05\n[line]", "6", "a campaign of kind `line` has no `until`"),
        ("[line]", 'turns = "100ms"\n[line]', "6", "a campaign of kind `line` has no `turns`"),
        ('"20ms"', '"20ms"\n[[load]]', "8", "a campaign of kind `line` has no `load`"),
        (
            "[line]",
            'driver = "wrk"\n[line]',
            "6",
            "a campaign of kind `line` needs the driver `plimsoll`",
        ),
        ('p99 = "20ms"', "errors = 0.01", "6", "a load line needs a latency limit"),
        ('"20ms"', '"0ms"', "7", "`p99` must be above 0 and at most 5 s"),
        ('"20ms"', "20", "7", "`p99` must be above 0 and at most 5 s"),
        ('"20ms"', '"20ms"\nerrors = 1.0', "8", "`errors` must be above 0% and below 100%"),
        ('"20ms"', '"20ms"\nhold = 0', "8", "`hold` must be more than 0"),
        ('"20ms"', '"20ms"\nrate = 5', "8", "unknown key `rate` here"),
        ('[line]\np99 = "20ms"', "", "1", "`line` is missing"),
        ('kind = "line"\n', "", "5", '`[line]` needs `kind = "line"`'),
        ('"line"', '"lime"', "2", "`kind` must be `line` or `ladder`, not `lime`"),
    ],
)
def test_what_a_campaign_of_lines_cannot_have_is_named(
    root: Path, before: str, after: str, where: str, message: str
) -> None:
    drivers = ("plimsoll", "wrk")
    path = root.parent / "a.toml"
    path.write_text(LINES.replace(before, after))
    with pytest.raises(InputError) as raised:
        campaign.read(path, (), root, drivers=drivers)
    found = [(one.where.rpartition(":")[2], one.message) for one in raised.value.problems]
    assert (where, message) in found


# --- ladders ---


LADDER = """\
name = "a"
kind = "ladder"
frameworks = "go"
endpoints = "json"

[ladder]
shares = ["20%", 0.8]
"""


LENGTHS = [
    ("line.hold=800h", "`hold` is too large: `2880000` s"),
    ("line.warm_up=800h", "`warm_up` is too large: `2880000` s"),
    ("line.server_warm_up=800h", "`server_warm_up` is too large: `2880000` s"),
    ("line.budget=800h", "`budget` is too large: `2880000` s"),
    ("line.connections=20m", "`connections` is too large: `20000000`"),
    ("line.hold=0.1ns", "`hold` is too short: `1e-10` s"),
    ("line.warm_up=0.1ns", "`warm_up` is too short: `1e-10` s"),
    ("line.server_warm_up=0.1ns", "`server_warm_up` is too short: `1e-10` s"),
    ("ladder.hold=800h", "`hold` is too large: `2880000` s"),
    ("ladder.warm_up=0.1ns", "`warm_up` is too short: `1e-10` s"),
]


@pytest.mark.parametrize(("setting", "message"), LENGTHS)
def test_lengths_that_no_load_can_have_are_named_where_they_were_given(
    root: Path, setting: str, message: str
) -> None:
    text = LINES if setting.startswith("line") else LADDER
    (found,) = problems(root, text, setting)
    assert (found.where, found.message) == (f"settings {setting.partition('=')[0]}", message)
    assert found.hint


def test_a_campaign_of_ladders_plans_the_peak_that_rates_are_shares_of(root: Path) -> None:
    found = read(root, LADDER, "ladder.connections=32", "scale_time=0.5", "repetitions=3")
    assert found.ladder is not None
    assert (found.ladder.hold_s, found.ladder.warm_up_s, found.idle_s) == (2.5, 0.5, 2.0)
    (peak,) = found.loads
    assert (peak.model, peak.name, peak.stages[-1].start) == ("closed", "peak", 32.0)
    assert found.ladder.rates_per_s(1234.5) == pytest.approx((246.0, 984.0))
    kept = json.loads(json.dumps(campaign.resolved(found)))
    stored = as_run.read(kept)
    assert stored is not None and (stored.ladder, stored.line) == (found.ladder, None)
    other = as_run.read(campaign.resolved(read(root, LINES)))
    assert other is not None and (other.ladder, other.line) == (None, read(root, LINES).line)


@pytest.mark.parametrize("settings", [(), ("idle=0s",), ("ladder.connections=32", "seed=3")])
def test_a_campaign_of_ladders_is_written_as_it_ran(root: Path, settings: Sequence[str]) -> None:
    found = read(root, LADDER, *settings)
    again = read(root, as_toml(json.loads(json.dumps(campaign.resolved(found)))))
    assert again == found


@pytest.mark.parametrize(
    ("text", "settings", "has_net_power"),
    [
        (SHORT, (), True),
        (LADDER, (), False),
        (LADDER, ("idle=5s",), True),
        (LADDER, ("power=shelly://plug",), True),
    ],
)
def test_a_ladder_has_net_power_only_where_it_is_asked_for(
    root: Path, text: str, settings: Sequence[str], *, has_net_power: bool
) -> None:
    found = read(root, text, *settings)
    again = read(root, as_toml(json.loads(json.dumps(campaign.resolved(found)))))
    assert found.has_net_power is again.has_net_power is has_net_power
    assert finished.setting(found).has_net_power is has_net_power


def test_the_steps_of_a_ladder_are_open_loads(root: Path) -> None:
    text = LADDER.replace('shares = ["20%", 0.8]', 'rates = [100, 300]\narrivals = "constant"')
    found = read(root, text, "idle=0s")
    assert found.ladder is not None and found.idle_s == 0.0
    steps = found.ladder.steps(found.ladder.rates_per_s(0.0))
    assert [(one.name, one.stages[-1].start) for one in steps] == [("step-1", 100), ("step-2", 300)]
    assert {(one.model, one.arrivals, one.connections) for one in steps} == {
        ("open", "constant", 64)
    }


@pytest.mark.parametrize(
    ("before", "after", "where", "message"),
    [
        ("[ladder]", "until = 0.05\n[ladder]", "6", "a campaign of kind `ladder` has no `until`"),
        (
            "[ladder]",
            'turns = "100ms"\n[ladder]',
            "6",
            "a campaign of kind `ladder` has no `turns`",
        ),
        ("[ladder]", "[line]\np99 = 1\n[ladder]", "6", "a campaign of kind `ladder` has no `line`"),
        (
            "[ladder]",
            'driver = "wrk"\n[ladder]',
            "6",
            "a campaign of kind `ladder` needs the driver `plimsoll`",
        ),
        ('shares = ["20%", 0.8]', "", "6", "a ladder needs either `rates` or `shares`"),
        ("[ladder]", "[ladder]\nrates = [1, 2]", "6", "a ladder needs either `rates` or `shares`"),
        (", 0.8", "", "7", "`shares` must have 2 to 50 numbers"),
        ("0.8", "1.0", "7", "each of `shares` must be above 0% and below 100%"),
        ("0.8", "0.2", "7", "`shares` has a number twice"),
        (
            'shares = ["20%", 0.8]',
            "rates = [0, 1]",
            "7",
            "each of `rates` must be above 0 and at most 10,000,000",
        ),
        ("[ladder]", "[ladder]\nhold = 0", "7", "`hold` must be more than 0"),
        ("[ladder]", "[ladder]\nrate = 5", "7", "unknown key `rate` here"),
        ('[ladder]\nshares = ["20%", 0.8]', "", "1", "`ladder` is missing"),
        ('kind = "ladder"\n', "", "5", '`[ladder]` needs `kind = "ladder"`'),
    ],
)
def test_what_a_campaign_of_ladders_cannot_have_is_named(
    root: Path, before: str, after: str, where: str, message: str
) -> None:
    path = root.parent / "a.toml"
    path.write_text(LADDER.replace(before, after))
    with pytest.raises(InputError) as raised:
        campaign.read(path, (), root, drivers=("plimsoll", "wrk"))
    found = [(one.where.rpartition(":")[2], one.message) for one in raised.value.problems]
    assert (where, message) in found
