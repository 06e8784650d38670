"""What is seen while a campaign or a load runs."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

import foreign
import toy_trials
from plimsoll import events
from plimsoll.aggregate.outcomes import BY_NAME, OUTCOMES
from plimsoll.campaign.endpoints import by_name
from plimsoll.cli import panel, progress_rows
from plimsoll.findings import thresholds
from plimsoll.recording import Driver, Ending, Recording


def progress(at_s: float = 3.0, **changes: Any) -> events.Progress:
    known: dict[str, Any] = {
        "at_s": at_s,
        "stage": "hold",
        "connections_requested": 9000,
        "connections_open": 8999,
        "in_flight": 8000,
        "throughput_per_s": 12345.6,
        "requests_ended": 37000,
        "outcomes": {"ok": 36990, "timed_out_waiting": 2, "reset_waiting": 8},
        "connections_refused": 4,
    }
    return events.Progress(**{**known, **changes})


def recording(ending: Ending, **outcomes: int) -> Recording:
    driver = Driver("plimsoll", "0.1.0", (), 1, "schedule", outcomes=outcomes)
    return Recording(
        trial="toy.empty.small.1", order=0, framework="toy", variant="", language="",
        endpoint="empty", load=toy_trials.load(), repetition=1, driver_name="plimsoll", seed=1,
        zero_utc="", stages=(), requests=(), machines={}, versions={}, clock_offsets_ns={},
        ending=ending, server=None, driver=driver,
    )  # fmt: skip


def started(number: int = 1, left_s: float = 6.0) -> events.TrialStarted:
    return events.TrialStarted(toy_trials.trial(), number, 2, left_s)


def test_a_scene_follows_a_trial() -> None:
    scene = panel.Scene()
    scene.take(started())
    assert (scene.trial, scene.number, scene.of) == ("toy.empty.small.1", 1, 2)
    assert scene.load_s == 3.0
    scene.take(events.Phase("checking"))
    assert scene.phase == "checking the contract"
    scene.take(progress(1.0))
    scene.take(progress(2.0, throughput_per_s=7.0))
    assert list(scene.throughputs) == [12345.6, 7.0]
    scene.take(events.CoolingDown(5.0))
    assert scene.phase == "cooling down"


def test_the_moment_between_the_last_second_and_the_end_has_no_bar() -> None:
    scene = panel.Scene()
    scene.take(progress(3.0, throughput_per_s=9.0))
    scene.take(progress(3.02, throughput_per_s=1.0, requests_ended=37_001))
    assert list(scene.throughputs) == [9.0]
    assert scene.progress is not None
    assert scene.progress.requests_ended == 37_001


def test_a_new_trial_forgets_the_load_of_the_one_before() -> None:
    scene = panel.Scene()
    for event in (started(), progress(), started(2, 3.0)):
        scene.take(event)
    assert scene.progress is None
    assert not scene.throughputs
    assert scene.remaining_s == 3.0


@pytest.mark.parametrize(("at_s", "remaining_s"), [(0.0, 6.0), (2.0, 4.0), (60.0, 3.0)])
def test_the_load_that_remains_shrinks_by_no_more_than_that_of_its_trial(
    at_s: float, remaining_s: float
) -> None:
    scene = panel.Scene()
    scene.take(started())
    scene.take(progress(at_s))
    assert scene.remaining_s == remaining_s


def test_only_the_last_minute_is_drawn() -> None:
    scene = panel.Scene()
    for second in range(100):
        scene.take(progress(float(second), throughput_per_s=float(second)))
    assert len(scene.throughputs) == panel.SECONDS_SHOWN
    assert scene.throughputs[-1] == 99.0


@pytest.mark.parametrize(
    ("values", "drawn"),
    [
        ([], ""),
        ([0.0, 0.0], "  "),
        ([5.0], "█"),
        ([0.0, 4.0, 8.0], " ▄█"),
        ([1.0, 1000.0], " █"),
    ],
)
def test_a_sparkline_has_a_bar_for_each_value_and_the_largest_is_full(
    values: list[float], drawn: str
) -> None:
    assert progress_rows.sparkline(values) == drawn


@pytest.mark.parametrize("width", [20, 40, 76])
def test_the_bars_of_the_last_seconds_fit_beside_the_number(width: int) -> None:
    values = [1000.0 + second for second in range(60)]
    text = progress_rows.barred("1,059/s", values, width)
    assert text.startswith("1,059/s  ")
    assert len(text) == min(width, len("1,059/s  ") + len(values))


def drawn(scene: panel.Scene, width: int = 80) -> str:
    text = io.StringIO()
    Console(file=text, width=width).print(panel._panel(scene, width))
    assert max(map(len, text.getvalue().splitlines())) <= width
    return text.getvalue()


def test_the_panel_of_a_load_has_no_line_that_wraps() -> None:
    scene = panel.Scene(trial="127.0.0.1/" + "x" * 90, load_s=60.0, left_s=60.0, phase="under load")
    for second in range(70):
        scene.take(progress(float(second), throughput_per_s=1e6, outcomes={"ok": 5}))
    text = drawn(scene)
    assert len(text.splitlines()) == 9
    assert "hold, 69 of 60 s" in text
    assert "0 s of load" in text


def test_what_the_terminal_echoes_of_ctrl_c_has_room_beside_the_panel(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = io.StringIO()
    console = Console(
        file=text, width=80, force_terminal=True, color_system=None, legacy_windows=False
    )
    monkeypatch.setattr(panel, "Console", lambda **_: console)
    with panel.showing(panel.Scene()) as tell:
        tell(progress())
    bottom = next(line for line in text.getvalue().splitlines() if line.startswith("╰"))
    assert len(bottom.rstrip()) == 80 - len("^C^C")


def test_a_load_of_a_number_of_requests_has_no_length_that_could_be_left() -> None:
    scene = panel.Scene(trial="x", phase="under load")
    scene.take(progress(3.0))
    text = drawn(scene)
    assert "hold, 3 s" in text
    assert " left " not in text
    assert "37,000" in text


LATENCY = events.RecentLatency(p50_ns=122_000, p90_ns=193_000, p99_ns=2_890_000)


def test_a_load_under_way_shows_latency_status_codes_and_the_drivers_own_headroom() -> None:
    scene = panel.Scene(trial="x", load_s=9.0, left_s=9.0, phase="under load")
    for second in range(3):
        told = replace(LATENCY, p99_ns=2_890_000 * (second + 1))
        codes = {200: 10 * second, 404: 1 + second}
        scene.take(
            progress(
                float(second),
                latency=told,
                statuses=codes,
                driver_busy_cores=0.42,
                driver_threads=1,
            )
        )
    text = drawn(scene)
    assert "p50 122 µs, p90 193 µs, p99 8.67 ms" in text
    assert "▃▅█" in text
    assert "200 × 20, 404 × 3" in text
    assert "0.42 of 1 core busy" in text


def test_a_percentile_of_too_few_responses_is_not_shown() -> None:
    few = events.RecentLatency(p50_ns=122_000, p90_ns=193_000, p99_ns=None)
    limits = (thresholds.read("p99>2ms"),)
    scene = panel.Scene(trial="x", load_s=9.0, left_s=9.0, phase="under load", limits=limits)
    scene.take(progress(1.0, latency=few))
    text = drawn(scene)
    assert "p50 122 µs, p90 193 µs, p99 –" in text
    assert text.count("p99") == 2
    assert "p99>2ms, known at the end" in text
    scene.take(progress(2.0, latency=LATENCY))
    assert drawn(scene).count("p99") == 3


@pytest.mark.parametrize(
    ("threshold", "told"),
    [
        ("p99>2ms", "p99>2ms, now 2.890 ms"),
        ("p50>2ms", "p50>2ms, now 0.122 ms"),
        ("throughput<20k", "throughput<20k, now 12,346"),
        ("failed>3", "failed>3, now 10"),
        ("failures>1%", "failures>1%, now 0.027 %"),
        ("p99.9>1s", "p99.9>1s, known at the end"),
    ],
)
def test_each_threshold_stands_beside_the_value_so_far(threshold: str, told: str) -> None:
    scene = panel.Scene(trial="x", phase="under load", limits=(thresholds.read(threshold),))
    scene.take(progress(latency=LATENCY))
    assert told in drawn(scene)


def test_a_threshold_that_is_crossed_is_red_and_another_green() -> None:
    styles = [
        progress_rows.limit_text(thresholds.read(one), progress(latency=LATENCY), None).style
        for one in ("p99>2ms", "p99>3ms")
    ]
    assert styles == ["red", "green"]


def test_requests_that_the_end_of_the_load_cut_short_are_no_failures() -> None:
    cut = progress(outcomes={"ok": 5, "unfinished": 64, "cancelled": 3})
    assert progress_rows.failures_text(cut) == ""


def test_what_follows_the_load_is_shown_in_its_place() -> None:
    scene = panel.Scene(trial="x", load_s=3.0, left_s=3.0)
    scene.take(progress(3.0))
    scene.take(events.Phase("writing"))
    assert "writing the recording" in drawn(scene)


def test_failures_are_shown_by_kind_the_most_frequent_first() -> None:
    reset, timed_out = (BY_NAME[one].words for one in ("reset_waiting", "timed_out_waiting"))
    assert progress_rows.failures_text(progress()) == f"8 {reset}, 2 {timed_out}"
    many = {"ok": 1} | {one.name: 1 for one in OUTCOMES if one.group == "lost"}
    assert "more" in progress_rows.failures_text(progress(outcomes=many))
    assert progress_rows.failures_text(progress(outcomes={"ok": 5})) == ""


def test_the_end_of_a_trial_is_one_line_with_what_failed() -> None:
    ended = events.TrialEnded(
        toy_trials.trial(), recording(Ending(), ok=1000, unfinished=4, wrong_status=3)
    )
    assert panel.ending_text(ended) == "toy.empty.small.1: 1,003 requests, 3 failed"


def test_of_a_driver_that_counts_no_outcomes_its_requests_are_told() -> None:
    known = recording(Ending())
    driver = replace(known.driver or pytest.fail(), name="jmeter", outcomes={}, sent=2301)
    ended = events.TrialEnded(toy_trials.trial(), replace(known, driver=driver))
    said = "toy.empty.small.1: 2,301 requests, as counted by jmeter"
    assert panel.ending_text(ended) == said


def test_the_end_of_a_trial_that_failed_says_why_in_one_line() -> None:
    why = "`toy` exited with code 1; the last lines of its log:\n  no such table"
    ended = events.TrialEnded(toy_trials.trial(), recording(Ending("StartFailed", why)))
    said = "toy.empty.small.1: StartFailed: `toy` exited with code 1"
    assert panel.ending_text(ended) == said


def test_without_a_terminal_lines_are_said_where_something_changes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    trial = toy_trials.trial()
    told: list[events.Event] = [
        events.CampaignStarted(3, 2, 6.0),
        events.TrialSkipped(trial, "completed"),
        started(),
        events.Phase("starting"),
        events.Phase("driving"),
        progress(1.0),
        events.TrialEnded(trial, recording(Ending(), ok=10)),
        events.CampaignEnded(3, ()),
    ]
    with panel.showing(panel.Scene()) as tell:
        for event in told:
            tell(event)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.splitlines() == [
        "3 trials, 1 complete; 6 s of load to run",
        "[1/2] toy.empty.small.1",
        "    toy.empty.small.1: 10 requests, 0 failed",
    ]


def group(*numbers: int, left_s: float = 6.0) -> events.GroupStarted:
    return events.GroupStarted(tuple(map(toy_trials.trial, numbers)), 1, 2, left_s)


def test_a_scene_follows_servers_that_take_turns() -> None:
    scene = panel.Scene()
    scene.take(group(1, 2))
    assert scene.trial == "empty, small, repetition 1: 2 servers in turns"
    assert (scene.number, scene.of) == (1, 2)
    assert scene.load_s == scene.remaining_s == 6.0
    for name in ("starting", "checking"):
        scene.take(events.Phase(name))
    scene.take(events.TurnEnded(toy_trials.trial(2), progress(0.25, throughput_per_s=7.0)))
    assert (scene.trial, scene.phase) == ("toy.empty.small.2", "under load")
    scene.take(events.TurnEnded(toy_trials.trial(1), progress(0.5, throughput_per_s=9.0)))
    assert scene.trial == "toy.empty.small.1"
    scene.take(events.GroupEnded(("toy.empty.small.1",)))
    assert scene.phase == "judging 1 trial"
    assert list(scene.throughputs) == [7.0, 9.0]
    assert scene.remaining_s == 5.5
    assert "hold, 0 of 6 s" in drawn(scene)
    scene.take(group(1, left_s=3.0))
    assert scene.trial == "empty, small, repetition 1: 1 server"
    assert (scene.progress, list(scene.throughputs)) == (None, [])


def test_a_scene_names_the_endpoints_for_which_servers_start_once() -> None:
    one, two = toy_trials.trial(1), toy_trials.trial(2)
    plaintext = by_name("plaintext")
    both = (one, two, replace(one, endpoint=plaintext), replace(two, endpoint=plaintext))
    scene = panel.Scene()
    scene.take(events.GroupStarted(both, 1, 4, 12.0))
    assert scene.trial == "empty, plaintext, small, repetition 1: 2 servers in turns"
    warmed = tuple(
        replace(trial, start_warm_up_s=4.0, takes_turns=True) for trial in (one, both[2])
    )
    scene.take(events.GroupStarted(warmed, 1, 4, 12.0))
    assert scene.trial == "empty, plaintext, small, repetition 1: 1 server"
    assert scene.load_s == 2 * one.load.duration_s + 4.0


def test_without_a_terminal_a_group_is_one_line_and_each_of_its_trials_another(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now_s = [100.0]
    monkeypatch.setattr("plimsoll.cli.panel.time.monotonic", lambda: now_s[0])
    with panel.showing(panel.Scene()) as tell:
        tell(group(1, 2))
        for passed_s in (100.25, 109.9, 110.1, 110.3):
            now_s[0] = passed_s
            tell(events.TurnEnded(toy_trials.trial(2), progress(passed_s - 100.0)))
        tell(events.GroupEnded(()))
        tell(events.GroupEnded(("toy.empty.small.1", "toy.empty.small.2")))
        for number in (1, 2):
            ended = recording(Ending(), ok=10 * number)
            tell(events.TrialEnded(toy_trials.trial(number), ended))
    assert capsys.readouterr().err.splitlines() == [
        "[1/2] empty, small, repetition 1: 2 servers in turns",
        "    toy.empty.small.2: after 10 s (hold): 12,346/s, 8,999 of 9,000 connections open;"
        f" {progress_rows.failures_text(progress())}",
        "    judging 2 trials",
        "    toy.empty.small.1: 10 requests, 0 failed",
        "    toy.empty.small.2: 20 requests, 0 failed",
    ]


def test_without_a_terminal_the_starts_of_a_large_group_are_told_every_ten_seconds(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now_s = [100.0]
    monkeypatch.setattr("plimsoll.cli.panel.time.monotonic", lambda: now_s[0])
    with panel.showing(scene := panel.Scene()) as tell:
        tell(group(1, 2))
        for number in (1, 2, 3):
            now_s[0] += 6.0
            tell(events.GroupServer("toy", number, 3))
            tell(events.Phase("starting"))
            tell(events.Phase("checking"))
    assert capsys.readouterr().err.splitlines() == [
        "[1/2] empty, small, repetition 1: 2 servers in turns",
        "    starting the server: toy, server 2 of 3",
    ]
    assert scene.phase == "checking the contract: toy, server 3 of 3"
    scene.take(events.TurnEnded(toy_trials.trial(1), progress(0.5)))
    assert scene.phase == "under load"


def test_servers_without_room_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    with panel.showing(panel.Scene()) as tell:
        tell(events.GroupFull(12, 58))
    assert "allow 12 of 58 servers at a time; the others follow" in capsys.readouterr().err


def test_what_the_checks_say_follows_the_end_of_a_trial(
    capsys: pytest.CaptureFixture[str],
) -> None:
    trial = toy_trials.trial()
    with panel.showing(panel.Scene()) as tell:
        tell(events.TrialEnded(trial, recording(Ending(), ok=10)))
        tell(events.TrialJudged(trial, "judged sound"))
    assert capsys.readouterr().err.splitlines() == [
        "    toy.empty.small.1: 10 requests, 0 failed",
        "      judged sound",
    ]


def test_a_try_of_a_load_line_has_no_verdict_since_one_beyond_it_fails_on_purpose(
    capsys: pytest.CaptureFixture[str],
) -> None:
    trial = toy_trials.trial()
    with panel.showing(panel.Scene()) as tell:
        tell(events.TrialEnded(trial, recording(Ending(), ok=10)))
        tell(events.TrialJudged(trial, ""))
    assert capsys.readouterr().err.splitlines() == ["    toy.empty.small.1: 10 requests, 0 failed"]


@pytest.mark.parametrize(
    ("started", "line"),
    [
        (events.CampaignStarted(1, 1, 2.0), "1 trial; 2 s of load to run"),
        (events.CampaignStarted(4, 0, 0.0), "4 trials, all complete"),
        (events.CampaignStarted(4, 3, 6.0), "4 trials, 1 complete; 6 s of load to run"),
    ],
)
def test_what_is_to_come_is_said_at_the_start(
    started: events.CampaignStarted, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with panel.showing(panel.Scene()) as tell:
        tell(started)
    assert capsys.readouterr().err == f"{line}\n"


def test_every_ten_seconds_a_line_tells_how_the_load_stands(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now_s = [100.0]
    monkeypatch.setattr("plimsoll.cli.panel.time.monotonic", lambda: now_s[0])
    with panel.showing(panel.Scene()) as tell:
        for second in range(1, 25):
            now_s[0] += 1.0
            tell(progress(float(second)))
    said = capsys.readouterr().err.splitlines()
    assert [line.split(":")[0].strip() for line in said] == [
        "after 10 s (hold)",
        "after 20 s (hold)",
    ]
    assert "12,346/s, 8,999 of 9,000 connections open; 8 reset while" in said[0]


def test_a_notice_is_told_as_a_note(capsys: pytest.CaptureFixture[str]) -> None:
    with panel.showing(panel.Scene()) as tell:
        tell(events.Notice("left out: `go`"))
    assert capsys.readouterr().err == "note: left out: `go`\n"


def test_of_a_driver_that_tells_nothing_before_its_end_no_number_is_shown(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now_s = [100.0]
    monkeypatch.setattr("plimsoll.cli.panel.time.monotonic", lambda: now_s[0])
    with panel.showing(panel.Scene()) as tell:
        now_s[0] += 20.0
        tell(progress(20.0, counted=False))
    said = capsys.readouterr().err
    assert "after 20 s (hold): 9,000 connections requested; reports when it ends" in said
    assert "/s," not in said


def test_what_a_foreign_driver_printed_is_said_at_the_end_of_its_trial() -> None:
    made = recording(Ending())
    assert made.driver is not None
    driver = replace(made.driver, name="wrk", figures=foreign.FIGURES)
    ended = events.TrialEnded(toy_trials.trial(), replace(made, driver=driver))
    said = panel.ending_text(ended)
    assert (
        "20,000 requests in the measurement window, 0 without response, 0 wrong, as counted by wrk"
        in said
    )
