"""What the page is sent: charts once there is something to draw, else what is waited for."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

import toy_trials
from plimsoll import live, storage
from plimsoll.events import Progress
from plimsoll.live import LiveRun, LiveSecond
from plimsoll.storage.documents import CampaignFiles
from plimsoll.watch.looking import CampaignObserver

FIRST = LiveSecond(1.0, "", 1234.5, 0.5, 0.4)


def seen(folder: Path, phase: str, *seconds: LiveSecond, counted: bool = True) -> dict[str, Any]:
    """What the page is sent of a trial in some phase."""
    trial = toy_trials.trial()
    with storage.opened(folder) as results:
        with results.locked():
            results.prepare(CampaignFiles(""), [trial])
        now_s = time.time()
        progress = Progress(1.0, "hold", 16, 16, 9, 1234.5, 1234, counted=counted)
        run = LiveRun(
            live.this_process(),
            now_s,
            now_s,
            trials=(trial.id,),
            number=1,
            of=1,
            phase=phase,
            load_s=10.0,
            active=trial.id,
            progress=progress if seconds else None,
            last=seconds[-1] if seconds else None,
            seconds=seconds,
        )
        live.keep(run, results.folder)
        return json.loads(CampaignObserver(results).look())


@pytest.mark.parametrize("phase", ["", "starting", "driving"])
def test_before_the_first_second_there_are_no_empty_axes(tmp_path: Path, phase: str) -> None:
    content = seen(tmp_path, phase)
    assert content["chart"] is None
    assert content["waiting"].startswith("Waiting for the first second of the load")


def test_from_the_first_second_on_there_are_charts(tmp_path: Path) -> None:
    content = seen(tmp_path, "driving", FIRST)
    assert content["waiting"] == ""
    titles = [view["title"] for view in content["chart"]["views"]]
    assert titles == ["Throughput", "Response time", "CPU"]


def test_what_a_load_generator_does_not_count_has_no_chart(tmp_path: Path) -> None:
    content = seen(tmp_path, "driving", FIRST, counted=False)
    assert [view["title"] for view in content["chart"]["views"]] == ["CPU"]
