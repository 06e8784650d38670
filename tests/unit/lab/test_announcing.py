"""A run announces itself while it goes on, and leaves nothing behind."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

import sample
import toy_trials
from plimsoll import events, live
from plimsoll.estimates import ASSUMED_BESIDE_S, ASSUMED_START_S
from plimsoll.events import Progress, RecentLatency
from plimsoll.lab import announcing
from plimsoll.lab.announcing import Announcer
from plimsoll.live import LiveRun
from small_servers import eventually

TRIALS = (toy_trials.trial(1), toy_trials.trial(2))


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The file is written often, nothing is known of earlier trials, and nobody else computes."""
    monkeypatch.setattr("plimsoll.lab.paces.OWN_TIMES", tmp_path / "schedstat")
    monkeypatch.setattr(announcing, "EVERY_S", 0.01)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def progress(at_s: float) -> Progress:
    return Progress(at_s, "hold", 4, 4, 4, 1000.0 * at_s, 100, server_busy_cores=0.5)


def seen(folder: Path, **expected: object) -> LiveRun:
    """The run as soon as it says something."""

    def is_so() -> bool:
        found = live.read(folder)
        return found is not None and expected.items() <= vars(found).items()

    assert eventually(is_so), live.read(folder)
    found = live.read(folder)
    assert found is not None
    return found


def test_nothing_is_written_before_the_campaign_begins(tmp_path: Path) -> None:
    with Announcer(tmp_path, TRIALS, events.ignore) as announcer:
        announcer(events.Notice("a remark"))
    assert [*tmp_path.iterdir()] == []


def test_the_load_is_announced_and_the_file_removed_in_the_end(tmp_path: Path) -> None:
    told: list[events.Event] = []
    started = events.TrialStarted(TRIALS[0], 1, 2, 6.0)
    with Announcer(tmp_path, TRIALS, told.append, "plimsoll run a", (1,)) as announcer:
        announcer(events.CampaignStarted(2, 2, 6.0))
        assert seen(tmp_path, number=0).left_s is None
        announcer(started)
        announcer(events.Phase("driving"))
        announcer(progress(1.0))
        announcer(progress(2.0))
        found = seen(tmp_path, number=1, phase="driving", progress=progress(2.0))
        assert found.last == found.seconds[-1]
        assert (found.command, found.cores, found.of) == ("plimsoll run a", (1,), 2)
        assert (found.trials, found.active) == ((TRIALS[0].id,), TRIALS[0].id)
        assert [one.throughput_per_s for one in found.seconds] == [1000.0, 2000.0]
        assert found.goes_on(found.at_utc_s)
    assert not (tmp_path / live.FILE).exists()
    assert told[1] is started


def test_the_file_is_removed_when_the_run_is_interrupted(tmp_path: Path) -> None:
    with (
        pytest.raises(KeyboardInterrupt),
        Announcer(tmp_path, TRIALS, events.ignore) as announcer,
    ):
        announcer(events.CampaignStarted(2, 2, 6.0))
        seen(tmp_path)
        raise KeyboardInterrupt
    assert not (tmp_path / live.FILE).exists()


def test_time_left_is_estimated_for_what_is_not_recorded(tmp_path: Path) -> None:
    each_s = TRIALS[0].load.duration_s + ASSUMED_START_S + ASSUMED_BESIDE_S
    with Announcer(tmp_path, TRIALS, events.ignore) as announcer:
        announcer(events.CampaignStarted(2, 1, 3.0))
        announcer(events.TrialSkipped(TRIALS[0], "completed"))
        announcer(events.TrialStarted(TRIALS[1], 1, 1, 3.0))
        left_s = seen(tmp_path, number=2).left_s
        assert left_s is not None
        assert 0 < left_s < 1.9 * each_s
        announcer(events.TrialEnded(TRIALS[1], sample.recording()))
        assert seen(tmp_path, changes=1).trials == (TRIALS[1].id,)


def test_trials_are_numbered_in_the_whole_plan_when_a_run_goes_on_and_in_later_rounds(
    tmp_path: Path,
) -> None:
    later = toy_trials.trial(3)
    with Announcer(tmp_path, TRIALS, events.ignore) as announcer:
        announcer(events.CampaignStarted(2, 1, 3.0))
        announcer(events.TrialSkipped(TRIALS[0], "completed"))
        announcer(events.TrialStarted(TRIALS[1], 1, 1, 3.0))
        assert seen(tmp_path, number=2).of == 2
        announcer(events.TrialEnded(TRIALS[1], sample.recording()))
        announcer(events.TrialJudged(TRIALS[1], "sound"))
        announcer(events.TrialStarted(later, 1, 1, 3.0))
        assert seen(tmp_path, number=3).of == 3


def test_percentiles_are_those_of_the_second(tmp_path: Path) -> None:
    times = RecentLatency(1e6, 2e6, 3e6)
    busy = replace(progress(1.0), throughput_per_s=5_000.0, latency=times)
    few = replace(times, p90_ns=None, p99_ns=None)
    slow = replace(progress(2.0), throughput_per_s=100.0, latency=few)
    idle = replace(progress(3.0), throughput_per_s=0.0, latency=None)
    with Announcer(tmp_path, TRIALS, events.ignore) as announcer:
        announcer(events.CampaignStarted(2, 2, 6.0))
        announcer(events.TrialStarted(TRIALS[0], 1, 2, 6.0))
        for each in (busy, slow, idle):
            announcer(each)
        found = seen(tmp_path, progress=idle)
    known = [(one.at_s, one.throughput_per_s, one.p50_ns, one.p99_ns) for one in found.seconds]
    assert known == [(1, 5_000, 1e6, 3e6), (2, 100, 1e6, None), (3, 0, None, None)]


def test_the_end_of_a_load_right_after_a_second_is_no_second_of_its_own(tmp_path: Path) -> None:
    rest = replace(progress(1.001), throughput_per_s=1e6, requests_ended=101)
    with Announcer(tmp_path, TRIALS, events.ignore) as announcer:
        announcer(events.CampaignStarted(2, 2, 6.0))
        announcer(events.TrialStarted(TRIALS[0], 1, 2, 6.0))
        announcer(progress(1.0))
        announcer(rest)
        found = seen(tmp_path, progress=rest)
    assert [one.throughput_per_s for one in found.seconds] == [1000.0]
    assert found.last == found.seconds[-1]


def test_turns_are_told_by_the_trial_whose_turn_it_was(tmp_path: Path) -> None:
    with Announcer(tmp_path, TRIALS, events.ignore) as announcer:
        announcer(events.CampaignStarted(2, 2, 6.0))
        announcer(events.GroupStarted(TRIALS, 1, 2, 6.0))
        announcer(events.TurnEnded(TRIALS[0], progress(0.25)))
        announcer(events.TurnEnded(TRIALS[1], progress(0.5)))
        found = seen(tmp_path, active=TRIALS[1].id)
        assert [one.trial for one in found.seconds] == [trial.id for trial in TRIALS]
        assert found.load_s == sum(trial.load.duration_s for trial in TRIALS)
        announcer(events.GroupEnded((TRIALS[0].id,)))
        assert seen(tmp_path, phase="judging").phase == "judging"


def test_a_long_load_is_told_in_fewer_rows(tmp_path: Path) -> None:
    length_s = 3 * live.MOST_SECONDS
    with Announcer(tmp_path, TRIALS, events.ignore) as announcer:
        announcer(events.CampaignStarted(2, 2, 6.0))
        announcer(events.TrialStarted(TRIALS[0], 1, 2, 6.0))
        for second in range(1, length_s + 1):
            announcer(progress(second))
        found = seen(tmp_path, progress=progress(length_s))
        times_s = [one.at_s for one in found.seconds]
        assert live.MOST_SECONDS / 2 <= len(times_s) <= live.MOST_SECONDS
        steps = {later - before for before, later in pairwise(times_s)}
        assert len(steps) == 1, "the rows are equally far apart"
