"""Writes the state of a run once a second, for `plimsoll watch` (`plimsoll.live`)."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Self

from plimsoll import estimates, events, live, plan
from plimsoll.lab import paces
from plimsoll.live import LiveRun, LiveSecond

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from plimsoll.estimates import PlanTiming
    from plimsoll.events import Event, Listener, Progress
    from plimsoll.plan import Trial

EVERY_S = 1.0
"""From one announcement to the next."""

SHORTEST_S = 0.5
"""Time since the progress before from which it is a second; the last one may come sooner."""


@dataclass
class Announcer:
    """A listener that passes events on, and keeps `live.json` in the meantime.

    A thread of its own writes the file, so that a long step does not look like the end. It writes
    nothing before the campaign begins: only then does the folder belong to this run.

    Attributes:
        folder: Folder of the results.
        trials: The plan, as far as it is known.
        on_event: The listener that events are passed on to.
        command: What resumes the run, for a shell.
        cores: Cores of server and driver; empty where they may use all.
        timing: How trials follow each other.
    """

    folder: Path
    trials: Sequence[Trial]
    on_event: Listener
    command: str = ""
    cores: tuple[int, ...] = ()
    timing: PlanTiming = estimates.AT_ONCE
    _run: LiveRun | None = None
    _seconds: list[LiveSecond] = field(default_factory=list[LiveSecond])
    _apart: int = 1
    _reported: int = 0
    _left: dict[str, Trial] = field(default_factory=dict[str, "Trial"])
    _settled: int = 0
    _left_s: float = 0.0
    _now_s: float = 0.0
    _begun_s: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _ended: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        """Announces the run for as long as the block lasts."""
        return self

    def __exit__(self, *_: object) -> None:
        """Removes the file; a run that ends in order leaves none."""
        if self._thread is not None:
            self._ended.set()
            self._thread.join()
            live.remove(self.folder)

    def __call__(self, event: Event) -> None:
        """Notes an event, and passes it on."""
        with self._lock:
            self._take(event)
        self.on_event(event)

    def _take(self, event: Event) -> None:
        match event:
            case events.CampaignStarted():
                self._begin()
            case events.TrialStarted():
                self._start((event.trial,))
            case events.GroupStarted():
                self._start(event.trials)
            case events.Phase():
                self._change(phase=event.name)
            case events.Progress():
                self._change(progress=event) if self._is_short(event) else self._progress(event)
            case events.TurnEnded():
                self._change(phase="driving", active=event.trial.id)
                self._progress(event.progress)
            case events.GroupEnded():
                self._change(phase="judging")
            case events.TrialSkipped() | events.TrialEnded() | events.TrialJudged():
                self._settle(event.trial)
                self._changed("judging" if isinstance(event, events.TrialEnded) else "")
            case events.CoolingDown():
                self._change(phase="cooling_down")
            case _:
                pass

    def _begin(self) -> None:
        now_s = time.time()
        self._left = {trial.id: trial for trial in self.trials}
        writer = live.this_process()
        self._run = LiveRun(writer, now_s, now_s, self.command, self.cores, of=len(self._left))
        self._thread = threading.Thread(target=self._announce, name="announcer", daemon=True)
        self._thread.start()

    def _settle(self, trial: Trial) -> None:
        """A trial needs no load any more: it was recorded, or had been before."""
        if self._left.pop(trial.id, None) is not None:
            self._settled += 1

    def _start(self, trials: Sequence[Trial]) -> None:
        """Trials begin; what is left is estimated by what trials took so far.

        They are numbered in the whole plan: those of a resumed run come after the ones that earlier
        runs recorded, and those of a later round after the earlier rounds.
        """
        self._left |= {trial.id: trial for trial in trials}
        self._seconds, self._apart, self._reported = [], 1, 0
        self._left_s, self._now_s = self._estimate([*self._left.values()]), self._estimate(trials)
        self._begun_s = time.monotonic()
        self._change(
            trials=tuple(trial.id for trial in trials),
            number=self._settled + 1,
            of=self._settled + len(self._left),
            phase="",
            load_s=plan.load_s(trials),
            progress=None,
            last=None,
            active=trials[0].id,
        )

    def _is_short(self, progress: Progress) -> bool:
        """Whether it comes so soon after the last one, at the end, that it is no second."""
        before = self._run and self._run.progress
        return before is not None and 0 <= progress.at_s - before.at_s < SHORTEST_S

    def _progress(self, progress: Progress) -> None:
        run = self._run
        if run is None:
            return
        second = _second(progress, run.active)
        self._change(progress=progress, last=second)
        self._reported += 1
        if self._reported % self._apart:
            return
        self._seconds.append(second)
        if len(self._seconds) > live.MOST_SECONDS:
            self._seconds, self._apart = self._seconds[1::2], 2 * self._apart

    def _changed(self, phase: str) -> None:
        if self._run is not None:
            self._change(changes=self._run.changes + 1, phase=phase)

    def _change(self, **changes: object) -> None:
        if self._run is not None:
            self._run = replace(self._run, **changes)  # pyright: ignore[reportArgumentType]

    def _estimate(self, trials: Sequence[Trial]) -> float:
        """Seconds that some trials take, without the report."""
        known = paces.known(trial.framework for trial in trials)
        return estimates.estimate(trials, self.timing, known, with_report=False).duration_s

    def _announce(self) -> None:
        """Writes the file until the end."""
        while True:
            with self._lock:
                run, seconds = self._run, tuple(self._seconds)
                passed_s = time.monotonic() - self._begun_s
                left_s = self._left_s - min(passed_s, self._now_s) if self._begun_s else None
            if run is not None:
                live.keep(
                    replace(run, at_utc_s=time.time(), left_s=_rounded(left_s), seconds=seconds),
                    self.folder,
                )
            if self._ended.wait(EVERY_S):
                return


def _second(progress: Progress, trial: str) -> LiveSecond:
    """The second, or turn, that a progress ends."""
    times = progress.latency
    return LiveSecond(
        at_s=round(progress.at_s, 3),
        trial=trial,
        throughput_per_s=_rounded(progress.throughput_per_s) if progress.counted else None,
        server_busy_cores=_rounded(progress.server_busy_cores),
        driver_busy_cores=_rounded(progress.driver_busy_cores),
        p50_ns=times.p50_ns if times else None,
        p99_ns=times.p99_ns if times else None,
    )


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)
