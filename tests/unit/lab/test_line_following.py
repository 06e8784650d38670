"""The tries of a campaign: every entry in turn, and the same after a kill at any point."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import stored_trials
from plimsoll import plan, tables
from plimsoll.campaign.campaign import Campaign, resolved
from plimsoll.campaign.endpoints import by_name
from plimsoll.campaign.framework import Framework
from plimsoll.campaign.line_settings import LineSettings
from plimsoll.events import Event, Step
from plimsoll.lab.line_following import LineTurns, recorded
from plimsoll.load_line import campaign_search
from plimsoll.load_line.campaign_search import EntrySearch
from plimsoll.load_line.tries import is_try
from plimsoll.plan import Trial
from plimsoll.recording import Ending, RecordedStage
from plimsoll.storage.documents import CampaignFiles
from plimsoll.storage.parquet import ParquetResults

LINE = LineSettings(p99_s=0.01, budget_s=18.0, hold_s=1.0, warm_up_s=0.0, connections=8)
GO = Framework("go", "", "Go", Path("go"), "", (), "", "true", "true", ("json",))
ASKED = Campaign(
    name="a",
    frameworks=(GO, replace(GO, name="node")),
    endpoints=(by_name("json"),),
    loads=(LINE.peak,),
    line=LINE,
)
CAPACITY_PER_S = {"go": 4000.0, "node": 2000.0}


def nothing(*_: object) -> str:
    return ""


@pytest.fixture
def stored(tmp_path: Path) -> ParquetResults:
    return ParquetResults(tmp_path / "results")


def rows(trial: Trial) -> pa.Table:
    """Requests of a server with one worker and a fixed service time."""
    luck = np.random.default_rng(trial.seed)
    (hold,) = trial.load.stages
    service_s = 1 / CAPACITY_PER_S[trial.framework.name]
    if trial.load.model == "closed":
        due_s = np.arange(round(hold.duration_s / service_s)) * service_s
    else:
        due_s = np.sort(luck.uniform(0, hold.duration_s, luck.poisson(hold.start)))
    done_s = np.zeros(len(due_s))
    free_s = 0.0
    for place, due in enumerate(due_s):
        free_s = max(free_s, due) + service_s
        done_s[place] = free_s
    is_done = done_s < hold.duration_s
    columns = {
        "due_ns": (due_s * 1e9).astype(np.int64),
        "sent_ns": (due_s * 1e9).astype(np.int64),
        "done_ns": pa.array((done_s * 1e9).astype(np.int64), mask=~is_done),
        "outcome": pa.array(np.where(is_done, "ok", "unfinished")).dictionary_encode(),
    }
    others = {
        field.name: pa.nulls(len(due_s), field.type)
        for field in tables.REQUESTS.schema
        if field.name not in columns
    }
    return pa.table({**columns, **others}).select(tables.REQUESTS.schema.names)


def record(stored: ParquetResults, trial: Trial, ending: Ending = Ending()) -> None:  # noqa: B008
    (hold,) = trial.load.stages
    end_ns = round(hold.duration_s * 1e9)
    found = replace(
        stored_trials.recording(trial.id, trial.order),
        framework=trial.framework.name,
        variant="",
        endpoint=trial.endpoint.name,
        load=trial.load,
        repetition=trial.repetition,
        stages=(RecordedStage("hold", 0, end_ns, hold.start, hold.end, 1),),
        ending=ending,
        took_s=hold.duration_s + 0.5,
    )
    stored_trials.put(stored, found, requests=rows(trial))


def conducted(stored: ParquetResults, turns: LineTurns, most: int = 200) -> list[tuple[Trial, ...]]:
    """Records tries until there is none, or so many; gives them group by group."""
    groups: list[tuple[Trial, ...]] = []
    planned: list[Trial] = []
    while (found := turns.following()) and sum(map(len, groups)) < most:
        planned += found
        groups.append(found)
        for one in found:
            record(stored, one)
    return groups


def begun(stored: ParquetResults, asked: Campaign = ASKED) -> LineTurns:
    with stored.locked():
        stored.prepare(CampaignFiles("", None, resolved(asked)), plan.plan(asked))
    for peak in plan.plan(asked):
        record(stored, peak)
    return LineTurns(asked, nothing, stored)


def described(trials: Sequence[Trial]) -> list[tuple[str, float]]:
    return [(one.id, one.load.stages[-1].start) for one in trials]


def lines(stored: ParquetResults) -> dict[str, EntrySearch]:
    recordings = [stored.recording(name) for name in stored.trial_ids()]
    found: dict[str, EntrySearch] = {}
    for entry, each in campaign_search.by_entry(recordings).items():
        peaks = [one for one in each if not is_try(one)]
        found[entry.framework] = EntrySearch(stored, entry, peaks, LINE, ASKED.seed)
        for one in sorted(each, key=lambda trial: trial.repetition):
            if is_try(one):
                found[entry.framework].take(one)
    return found


def test_entries_take_turns_try_by_try_and_find_their_lines(stored: ParquetResults) -> None:
    groups = conducted(stored, begun(stored))
    assert all(len(group) == 2 for group in groups[:4])
    assert len({tuple(one.framework.name for one in group) for group in groups}) > 1
    counted = Counter(one.framework.name for group in groups for one in group)
    assert min(counted.values()) >= 5
    for name, search in lines(stored).items():
        searched = search.searched
        assert searched is not None and search.following is None
        (line,) = searched.lines
        assert line.rate_per_s is not None
        assert 0.7 < line.rate_per_s / CAPACITY_PER_S[name] < 1.0
        assert len(searched.tries) == counted[name]


@pytest.mark.parametrize("killed_after", [1, 2, 5, 8])
def test_after_a_kill_the_same_tries_follow(
    stored: ParquetResults, tmp_path: Path, killed_after: int
) -> None:
    """The second run knows only what the first one recorded, in the middle of a round as well."""
    whole = [one for group in conducted(stored, begun(stored), 10) for one in group]
    killed = ParquetResults(tmp_path / "killed")
    begun(killed)
    for one in whole[:killed_after]:
        record(killed, one)
    resumed = recorded(ASKED, nothing, killed)
    assert sorted(described(resumed)) == sorted(described(whole[:killed_after]))
    rest = conducted(killed, LineTurns(ASKED, nothing, killed), len(whole) - killed_after)
    following = [one for group in rest for one in group]
    assert described(following) == described(whole[killed_after : killed_after + len(following)])


def test_it_tells_how_each_search_stands(stored: ParquetResults) -> None:
    told: list[Event] = []
    begun(stored)
    turns = LineTurns(ASKED, nothing, stored, told.append)
    first = turns.following()
    assert told == []
    for one in first:
        record(stored, one)
    turns.following()
    steps = [one.message for one in told if isinstance(one, Step)]
    assert sorted(step.partition(": try 1")[0] for step in steps) == ["go · json", "node · json"]


def test_a_server_without_a_peak_is_not_searched(stored: ParquetResults) -> None:
    turns = begun(stored)
    (peak,) = (one for one in plan.plan(ASKED) if one.framework.name == "node")
    record(stored, peak, Ending("StartFailed", "it ended before it was ready"))
    assert {one.framework.name for one in turns.following()} == {"go"}
    assert lines(stored)["node"].problem == "it ended before it was ready"


def test_a_server_that_dies_under_load_did_not_keep_its_limits(stored: ParquetResults) -> None:
    (first, *_) = begun(stored).following()
    record(stored, first, Ending("DiedUnderLoad", "it died"))
    searched = lines(stored)[first.framework.name].searched
    assert searched is not None
    (one,) = searched.tries
    assert one.state(searched.wanted.errors) == "failed"


def test_a_load_generator_that_fails_says_nothing_of_the_server(stored: ParquetResults) -> None:
    turns = begun(stored)
    for _ in range(campaign_search.MOST_UNLOADED):
        (one,) = (one for one in turns.following() if one.framework.name == "go")
        record(stored, one, Ending("EngineFailed", "no port is left"))
        for other in turns.following():
            if other.framework.name == "node":
                record(stored, other)
    found = lines(stored)["go"]
    assert found.problem == "no port is left" and found.following is None
    assert found.searched is not None and not found.searched.tries
