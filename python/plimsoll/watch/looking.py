"""Looking: what the page shows now, as JSON, put together from what is there."""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from plimsoll import canvas, live, storage, wording
from plimsoll.errors import PlimsollError
from plimsoll.events import Listener, ignore
from plimsoll.watch import charts, page, priority, snapshot
from plimsoll.watch.page import PageParts
from plimsoll.watch.recorded import CampaignReader

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.canvas import Rows
    from plimsoll.live import LiveRun
    from plimsoll.storage.documents import PlannedTrial
    from plimsoll.storage.results import Results
    from plimsoll.watch.charts import LiveView
    from plimsoll.watch.recorded import RecordedCampaign
    from plimsoll.watch.snapshot import JudgedCampaign, Snapshot

STORED_EVERY_S = 5.0
"""What is recorded is read so often; at once when the run says that a trial ended."""


def require_campaign(results: Results) -> None:
    """Requires a plan or a recording.

    Raises:
        InputError: There is neither.
        StorageError: The results cannot be read.
    """
    if results.planned_ids() or results.trial_ids():
        return
    hint = "give the results folder of a campaign that `plimsoll run` has begun"
    raise storage.missing(results, "no campaign", hint)


@dataclass(frozen=True)
class Observation:
    """What was seen at one time.

    Attributes:
        shown: What the page shows.
        judged: Of which its rankings and verdicts are.
        run: What the run announced last; None where none is going on.
    """

    shown: Snapshot
    judged: JudgedCampaign
    run: LiveRun | None


@dataclass
class CampaignObserver:
    """Looks at a campaign, again and again, from one thread.

    Attributes:
        results: The campaign.
        allowed: Cores that this process may use.
        on_event: Called with a `Step` before each trial is looked at.
    """

    results: Results
    allowed: frozenset[int] = field(default_factory=lambda: frozenset(os.sched_getaffinity(0)))
    on_event: Listener = ignore
    _reader: CampaignReader | None = None
    _parts: PageParts = field(default_factory=PageParts)
    _campaign: RecordedCampaign | None = None
    _judged: JudgedCampaign | None = None
    _read_s: float = 0.0
    _changes: tuple[object, ...] = ()
    _cores: tuple[int, ...] | None = None

    def page(self) -> str:
        """The whole page as it is now.

        Raises:
            StorageError: The results cannot be read, and were never.
        """
        return page.whole(self._seen().shown)

    def look(self) -> str:
        """What the page shows now, as JSON; the same text as long as nothing changes.

        Raises:
            StorageError: The results cannot be read, and were never.
        """
        seen = self._seen()
        shown = seen.shown
        content = {
            "title": page.title(shown),
            "headline": shown.headline,
            "ranking": page.ranking_heading(shown),
            "has_next": bool(shown.following),
            "parts": self._parts.of(shown, seen.judged),
            "chart": None if shown.now is None or shown.now.waiting else self._chart(seen),
            "waiting": "" if shown.now is None else shown.now.waiting,
        }
        return json.dumps(content, separators=(",", ":"), ensure_ascii=False)

    def _seen(self) -> Observation:
        run = live.read(self.results.folder)
        campaign, judged, trouble = self._recorded(run)
        self._keep_off(run)
        shown = snapshot.snapshot(campaign, judged, run, self.results.place, time.time())
        if trouble:
            shown = replace(shown, sentences=(*shown.sentences, trouble))
        return Observation(shown, judged, run)

    def _recorded(self, run: LiveRun | None) -> tuple[RecordedCampaign, JudgedCampaign, str]:
        """What is recorded, and a sentence where it cannot be read now."""
        changes = (None,) if run is None else (run.writer, run.begun_utc_s, run.changes)
        now_s = time.monotonic()
        trouble = ""
        is_due = changes != self._changes or now_s - self._read_s >= STORED_EVERY_S
        if self._campaign is None or self._judged is None or is_due:
            try:
                self._reader = self._reader or CampaignReader(self.results, self.on_event)
                found = self._reader.read()
                if self._judged is None or found.findings is not self._findings:
                    self._judged = snapshot.judged(found.findings)
                self._campaign = found
                self._read_s, self._changes = now_s, changes
            except PlimsollError as error:
                if self._campaign is None or self._judged is None:
                    raise
                trouble = f"The results cannot be read now: {error.message}."
        return self._campaign, self._judged, trouble

    @property
    def _findings(self) -> object:
        return None if self._campaign is None else self._campaign.findings

    def _keep_off(self, run: LiveRun | None) -> None:
        cores = () if run is None else run.cores
        if cores != self._cores:
            self._cores = cores
            priority.keep_off(cores, self.allowed)

    def _chart(self, seen: Observation) -> dict[str, object] | None:
        """What the charts of the load that runs are drawn from."""
        run = seen.run
        if run is None or self._campaign is None:
            return None
        planned = {one["id"]: one for one in self._campaign.plan}
        trials = [planned[key] for key in run.trials if key in planned]
        frameworks = tuple(dict.fromkeys(map(snapshot.planned_framework, trials)))
        is_group = len(run.trials) > 1
        seconds = _seconds(run, planned)
        times = [ms for name in charts.LATENCIES for ms in canvas.numbers(seconds, name) if ms]
        wide = canvas.is_wide(times)
        views = charts.of_group(frameworks) if is_group else charts.of_trial(wide=wide)
        told = [view for view in views if _is_told(view, run)]
        return {
            "key": f"{run.begun_utc_s} {run.number} {run.trials[:1]} {wide} {len(told)}",
            "views": [_described(view, run) for view in told],
            "stages": _stages(trials, run.load_s, is_group=is_group),
            "seconds": seconds,
            "twins": canvas.DARK,
        }


def _is_told(view: LiveView, run: LiveRun) -> bool:
    """Whether the load generator says, while it runs, what a chart shows."""
    return view.name not in charts.BY_DRIVER or run.progress is None or run.progress.counted


def _described(view: LiveView, run: LiveRun) -> dict[str, object]:
    passed_s = run.seconds[-1].at_s if run.seconds else 0.0
    description = (
        f"{view.title} of the current load, second by second, {wording.count(passed_s)} s so far"
    )
    return {
        "title": view.title,
        "specification": view.specification,
        "description": description,
    }


def _stages(trials: Sequence[PlannedTrial], load_s: float, *, is_group: bool) -> Rows:
    """The stages of a trial, or the endpoints of trials that take turns, as bands of a chart."""
    if is_group or not trials:
        return _endpoints(trials, load_s)
    rows: Rows = []
    start_s = 0.0
    for stage in trials[0]["load"]["stages"]:
        end_s = start_s + stage["duration_s"]
        name = stage["kind"].replace("_", "-")
        rows.append(canvas.stage_row(stage["kind"], start_s, end_s, load_s, (name, name)))
        start_s = end_s
    return rows


def _endpoints(trials: Sequence[PlannedTrial], load_s: float) -> Rows:
    """One band for each endpoint; before the first, servers may warm up."""
    lengths_s: dict[str, float] = {}
    for trial in trials:
        length_s = sum(stage["duration_s"] for stage in trial["load"]["stages"])
        lengths_s[trial["endpoint"]] = lengths_s.get(trial["endpoint"], 0.0) + length_s
    if len(lengths_s) < 2:  # noqa: PLR2004 - then the title says it
        return [canvas.stage_row("hold", 0, load_s, load_s)]
    rows: Rows = []
    start_s = load_s - sum(lengths_s.values())
    for endpoint, length_s in lengths_s.items():
        names = (endpoint, endpoint)
        rows.append(canvas.stage_row("hold", start_s, start_s + length_s, load_s, names))
        start_s += length_s
    return rows


def _seconds(run: LiveRun, planned: dict[str, PlannedTrial]) -> Rows:
    """One row for each second, or turn."""
    rows: Rows = []
    for one in run.seconds:
        trial = planned.get(one.trial)
        rows.append(
            {
                "second": max(round(one.at_s) - 1, 0) if len(run.trials) == 1 else one.at_s,
                "framework": "" if trial is None else snapshot.planned_framework(trial),
                "throughput": one.throughput_per_s,
                "server": one.server_busy_cores,
                "load generator": one.driver_busy_cores,
                "p50": canvas.scaled(one.p50_ns, 1e6),
                "p99": canvas.scaled(one.p99_ns, 1e6),
            }
        )
    return rows
