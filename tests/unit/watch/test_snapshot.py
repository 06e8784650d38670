"""What the page shows, of each state that a run may be in."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import sample
from plimsoll import live
from plimsoll.events import Progress
from plimsoll.live import LiveRun, LiveSecond
from plimsoll.report.contents import answer
from plimsoll.storage.documents import PlannedTrial
from plimsoll.watch import page, snapshot
from plimsoll.watch.recorded import RecordedCampaign
from plimsoll.watch.snapshot import Snapshot

NOW_S = 1_800_000_000.0
FINDINGS = sample.findings()
DONE = tuple(trial.recording.trial for trial in FINDINGS.trials)


def planned(key: str, repetition: int = 9, endpoint: str = "json") -> PlannedTrial:
    return {
        "id": key,
        "framework": "go",
        "variant": "one-core",
        "endpoint": endpoint,
        "load": {"name": "steady", "stages": []},
        "repetition": repetition,
        "driver": "plimsoll",
        "order": 0,
        "seed": 1,
    }


def campaign(*missing: str, unjudged: tuple[str, ...] = ()) -> RecordedCampaign:
    plan = tuple(planned(key) for key in (*DONE, *missing))
    return RecordedCampaign(plan, (*DONE, *unjudged), unjudged, FINDINGS)


def run(**changes: Any) -> LiveRun:
    known = LiveRun(
        live.this_process(), NOW_S, NOW_S - 60, "plimsoll run quick", of=12, left_s=754.0
    )
    return replace(known, **changes)


def shown(of: RecordedCampaign, running: LiveRun | None = None, now_s: float = NOW_S) -> Snapshot:
    told = snapshot.judged(of.findings)
    return snapshot.snapshot(of, told, running, "results/quick", now_s)


def test_a_finished_campaign_has_its_ranking_and_nothing_to_come() -> None:
    found = shown(campaign())
    assert found.state == "finished"
    assert found.headline == f"Finished: {len(DONE)} trials"
    assert (found.now, found.following, found.resume, found.sentences) == (None, (), "", ())
    assert len(found.answers) == len(FINDINGS.rankings)
    assert page.ranking_heading(found) == "Ranking"


def test_a_run_names_its_trial_the_next_ones_and_the_time_left() -> None:
    progress = Progress(
        3.0, "warm_up", 16, 15, 9, 1234.5, 4000, {"ok": 3990, "timed_out_waiting": 10}
    )
    going_on = run(
        trials=("x",),
        active="x",
        number=3,
        phase="driving",
        load_s=10.0,
        progress=progress,
        last=LiveSecond(3.0, "x", 1234.5, 0.5, None, 2e6, None),
    )
    found = shown(campaign("x", "y", "z"), going_on)
    assert found.state == "running"
    assert found.headline == "Running: trial 3 of 12"
    assert found.sentences[0].startswith("About 13 min left, until about ")
    assert found.now is not None
    assert found.now.title == "go one-core · json · steady · repetition 9"
    assert found.now.phase == "under load: warm-up, 3 of 10 s"
    tiles = {tile.name: (tile.number, tile.note) for tile in found.now.tiles}
    assert tiles["Throughput"][0] == "1,234/s"
    assert tiles["p50"] == ("2 ms", "response time")
    assert tiles["p99"] == ("–", "response time")
    assert tiles["Server CPU"] == ("0.50", "busy cores")
    assert tiles["Connections"] == ("15", "of 16 requested")
    assert tiles["Failed"] == ("10", "of 4,000 requests")
    assert len(found.following) == 2
    assert page.ranking_heading(found) == "Ranking so far"


def test_what_the_end_of_a_load_cuts_short_is_no_failure() -> None:
    counts = {"ok": 90, "timed_out_waiting": 1, "unfinished": 16, "cancelled": 3}
    progress = Progress(3.0, "hold", 16, 16, 0, 30.0, 110, counts)
    last = LiveSecond(3.0, "x", 30.0, None, None)
    going_on = run(trials=("x",), active="x", phase="driving", progress=progress, last=last)
    found = shown(campaign("x"), going_on)
    assert found.now is not None
    (failed,) = (tile for tile in found.now.tiles if tile.name == "Failed")
    assert (failed.number, failed.note) == ("1", "of 91 requests")


def test_servers_that_take_turns_are_named_together() -> None:
    going_on = run(trials=("x", "y"), active="y", number=1, phase="driving")
    found = shown(campaign("x", "y"), going_on)
    assert found.headline == "Running: trials 1 to 2 of 12"
    assert found.now is not None
    assert found.now.title == "json · steady · repetition 9: 2 servers in turns"
    assert found.now.phase == "under load, now go one-core"


def test_of_servers_that_take_turns_those_of_the_endpoint_under_load_are_counted() -> None:
    plan = (*map(planned, "xy"), *(planned(key, endpoint="2048") for key in "uvw"))
    both = RecordedCampaign(plan, (), (), FINDINGS)
    for active, title in (
        ("y", "json · steady · repetition 9: 2 servers in turns"),
        ("w", "2048 · steady · repetition 9: 3 servers in turns"),
    ):
        found = shown(both, run(trials=tuple("xyuvw"), active=active, number=1, phase="driving"))
        assert found.now is not None
        assert found.now.title == title


def test_a_driver_that_counts_nothing_shows_no_figures() -> None:
    progress = Progress(1.0, "hold", 4, 0, 0, 0.0, 0, counted=False, server_busy_cores=0.5)
    going_on = run(
        trials=("x",),
        active="x",
        number=1,
        phase="driving",
        progress=progress,
        last=LiveSecond(1.0, "x", None, 0.5, None),
    )
    found = shown(campaign("x"), going_on).now
    assert found is not None
    assert [tile.name for tile in found.tiles] == [
        "Load generator",
        "Server CPU",
        "Load generator CPU",
    ]


def test_a_lab_that_was_killed_is_named_with_what_resumes_the_run() -> None:
    gone = replace(live.this_process(), started_ticks=1)
    found = shown(campaign("x"), run(writer=gone, trials=("x",), number=3))
    assert found.state == "stopped"
    assert found.headline == f"The run stopped: {len(DONE)} of {len(DONE) + 1} trials recorded"
    assert f"process {gone.pid}" in found.sentences[0]
    assert found.resume == "plimsoll run quick"
    assert found.now is None
    assert found.following == ("go one-core · json · steady · repetition 9",)


def test_a_run_that_was_ended_in_order_is_paused() -> None:
    found = shown(campaign("x", "y"))
    assert found.state == "paused"
    assert found.headline == f"Not running: {len(DONE)} of {len(DONE) + 2} trials recorded"
    assert "resumes it" in found.sentences[0]


def test_trials_that_nobody_judged_are_counted() -> None:
    found = shown(campaign(unjudged=("u", "v")))
    assert "2 recorded trials" in found.sentences[-1]


def test_a_lab_that_lives_and_says_nothing_is_not_called_dead() -> None:
    found = shown(campaign("x"), run(left_s=None), NOW_S + 30)
    assert found.state == "running"
    assert found.sentences == ("The run is alive, but has not reported for 30 s.",)


@pytest.mark.parametrize(
    ("phase", "text"),
    [
        ("", "Waiting for the first second of the load: preparing the next trial."),
        ("starting", "Waiting for the first second of the load: starting the server."),
        ("warming_up", "Waiting for the first second of the load: warming up the runtime."),
        ("driving", "Waiting for the first second of the load."),
        ("judging", "This load reported no second to draw."),
    ],
)
def test_before_its_first_second_a_trial_says_what_it_waits_for(phase: str, text: str) -> None:
    going_on = run(trials=("x",), active="x", phase=phase)
    found = shown(campaign("x"), going_on).now
    assert found is not None
    assert found.waiting == text
    drawn = replace(going_on, seconds=(LiveSecond(1.0, "x", 1234.5, 0.5, None),))
    found = shown(campaign("x"), drawn).now
    assert found is not None
    assert found.waiting == ""


def test_servers_that_take_turns_wait_for_the_first_turn() -> None:
    found = shown(campaign("x", "y"), run(trials=("x", "y"), active="y", phase="starting")).now
    assert found is not None
    assert found.waiting == "Waiting for the first turn: starting the server."


def test_only_some_of_what_comes_next_is_named() -> None:
    keys = [f"x{number}" for number in range(snapshot.MOST_NEXT + 3)]
    found = shown(campaign(*keys))
    assert len(found.following) == snapshot.MOST_NEXT
    assert found.more_following == 3


@pytest.mark.parametrize(
    ("left_s", "text"),
    [
        (0.2, "About to end"),
        (2, "About 5 s left"),
        (83, "About 85 s left"),
        (95, "About 2 min left"),
        (5000, "About 83 min left"),
        (7200, "About 2 h left"),
        (9000, "About 2 h 30 min left"),
        (35_999, "About 10 h left"),
    ],
)
def test_time_left_in_words(left_s: float, text: str) -> None:
    assert snapshot.left_text(left_s) == text


def test_trials_that_ended_say_why_they_are_doubted_or_failed() -> None:
    ended = {one.title: one for one in shown(campaign()).ended}
    states = {one.state for one in ended.values()}
    assert {"sound", "doubtful", "failed"} <= states
    for one in ended.values():
        assert bool(one.error) == (one.state == "failed")
        if one.state == "doubtful":
            assert one.doubts


def test_the_page_is_whole_without_a_script_and_escapes_what_a_server_sent() -> None:
    found = page.whole(shown(campaign("x")))
    assert "<noscript>" in found
    assert "Not running" in found
    assert "12,500/s" in found
    assert sample.HOSTILE not in found


def test_parts_that_last_are_made_once() -> None:
    parts, told = page.PageParts(), snapshot.judged(FINDINGS)
    first, second = (parts.of(shown(campaign("x")), told) for _ in range(2))
    assert first == second
    assert first["answers"] is second["answers"]
    assert set(first) == set(page.PARTS)


def test_doubts_about_the_comparison_are_on_the_page() -> None:
    text = "Repetitions of go · 2048 differ."
    doubt = sample.verdict("backlog", "campaign", "doubtful", text)
    found = replace(campaign(), findings=replace(FINDINGS, verdicts=(doubt,)))
    shown_page = page.whole(shown(found))
    assert f"{answer.COMPARISON}:" in shown_page
    assert text in shown_page
