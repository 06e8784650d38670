"""The search of `plimsoll.line` on a server that responds; what that needs is imported here."""

from __future__ import annotations

import random
import secrets
import time
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from plimsoll import errors as all_errors
from plimsoll import lab, machine, wording
from plimsoll.aggregate import first_figures
from plimsoll.aggregate import trial as of_trials
from plimsoll.campaign.line_settings import PEAK, TRY, stages_of_try
from plimsoll.conduct import trial as trials
from plimsoll.conduct.run_config import RunConfig
from plimsoll.errors import FrameworkError, Interrupted, SearchInterrupted
from plimsoll.events import LoadEnded, Step
from plimsoll.findings import derivation, load_lines
from plimsoll.findings.load_lines import LineFindings, Subject
from plimsoll.lab import driven_load, load_options, loads, urls
from plimsoll.lab.line_results import LineResult
from plimsoll.lab.lines import PEAK_S
from plimsoll.lab.unkept import UnkeptResults
from plimsoll.load_line import counting, goal, limits, search
from plimsoll.processes.interruption import REPEAT, Interruption
from plimsoll.report.results import line_result

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from plimsoll.aggregate.trial import Tables
    from plimsoll.campaign.load import Arrivals
    from plimsoll.events import Event, Listener
    from plimsoll.findings.trial import TrialFindings
    from plimsoll.lab.load_options import LoadOptions
    from plimsoll.load_line.goal import SearchGoal
    from plimsoll.load_line.search import Searched
    from plimsoll.load_line.tries import Try
    from plimsoll.plan import Trial
    from plimsoll.recording import Recording
    from plimsoll.storage.results import Results

DRAINED_S = 10.0
"""The longest wait for a server that failed a try, in seconds."""

JUDGING_S = 3.0
"""Time of a budget that is left for the verdicts, in seconds."""

_QUICK_ANSWERS = 3
_PAUSE_S = 0.02
_LEAST_QUICK_S = 0.05


def searched(
    requested: LoadOptions,
    arrivals: Arrivals,
    wanted: SearchGoal,
    address: str,
    record: Path | None,
    storage: str,
    on_event: Listener,
    began_s: float,
) -> LineResult:
    """Searches the load lines of a server.

    Args:
        requested: Options of the closed load that the search starts from.
        arrivals: Those of every try.
        wanted: What is searched.
        address: Address of the server.
        record: New folder that keeps every row of every try; None for a temporary one.
        storage: Address of a database that keeps the rows.
        on_event: Called with each event.
        began_s: When the budget began, by the monotonic clock.

    Raises:
        PlimsollError: A load did not run to its end, or its rows cannot be kept.
    """
    with driven_load.naming_place(record), ExitStack() as closing:
        stored = closing.enter_context(driven_load.kept(record, storage))
        machine.raise_open_files()
        interruption = Interruption()
        with stored.locked(), interruption.listening():
            tried_until_s = began_s + wanted.budget_s - JUDGING_S
            bench = _Bench(
                requested, arrivals, wanted, address, stored, interruption, on_event, tried_until_s
            )
            peak_per_s = bench.peak_per_s()
            left_s = wanted.budget_s - (time.monotonic() - began_s)
            stands: list[Searched] = []

            def look(now: Searched) -> None:
                stands[:] = [now]
                on_event(Step(line_result.step(now)))

            try:
                found = search.searched(
                    bench.measure,
                    replace(wanted, budget_s=max(left_s - JUDGING_S, wanted.least_hold_s)),
                    peak_per_s,
                    random.Random(secrets.randbits(64)),  # noqa: S311 - nothing is secret
                    look,
                    bench.is_over,
                )
            except (Interrupted, KeyboardInterrupt) as error:
                if not stands:
                    raise
                known = line_result.so_far(stands[0], time.monotonic() - began_s)
                raise SearchInterrupted(known, REPEAT) from error
            found = replace(found, wanted=wanted, elapsed_s=time.monotonic() - began_s)
            findings = bench.findings(found, arrivals)
        stored.write_derived_json(load_lines.LINE, line_result.document(findings))
        campaign = lab.results.CampaignResults(stored, closing.pop_all())
        return LineResult(campaign, findings)


@dataclass
class _Bench:
    """Puts loads on one server, one after the other, and keeps each as a trial.

    Attributes:
        tried_until_s: When the budget of the tries is spent, in seconds of the monotonic clock.
    """

    requested: LoadOptions
    arrivals: Arrivals
    wanted: SearchGoal
    address: str
    stored: Results
    interruption: Interruption
    on_event: Listener
    tried_until_s: float
    count: int = 0
    recordings: dict[str, Recording] = field(default_factory=dict[str, "Recording"])

    def peak_per_s(self) -> float:
        """Throughput of a closed load, the server's greatest; then it has time to finish that.

        Raises:
            FrameworkError: Not one response came, or nothing listens any more.
        """
        self.on_event(Step("closed load: the greatest throughput"))
        planned = load_options.trial(self.requested)
        planned = replace(planned, id=PEAK, load=replace(planned.load, name=PEAK))
        completed = 0

        def counted(event: LoadEnded) -> None:
            nonlocal completed
            completed = first_figures.of_records(event.recording, event.folder).summary.completed

        self._put_on(planned, counted)
        self._drain(planned)
        if not completed:
            raise FrameworkError(
                f"`{self.address}` sent no response in {wording.exact(PEAK_S)} s",
                "run `plimsoll load` against it for details",
            )
        return completed / PEAK_S

    def measure(self, rate_per_s: float, hold_s: float) -> Try:
        """Tries a rate; after one that failed, the server has time to finish what is left."""
        self.count += 1
        requested = replace(
            self.requested,
            rate_per_s=rate_per_s,
            arrivals=self.arrivals,
            duration_s=hold_s,
            warm_up_s=None,
        )
        planned = load_options.trial(requested)
        stages = stages_of_try(rate_per_s, goal.warm_up_s(hold_s), hold_s)
        planned = replace(
            planned,
            id=f"try-{self.count:03}",
            order=self.count,
            repetition=self.count,
            load=replace(planned.load, name=TRY, stages=stages),
        )
        judged = (*self.wanted.limits, self.wanted.errors, limits.SENDING)
        found: list[Try] = []

        def counted(event: LoadEnded) -> None:
            found.append(counting.of_records(event.recording, event.folder, rate_per_s, judged))

        self._put_on(planned, counted)
        (one,) = found
        if any(one.state(limit) == "failed" for limit in judged):
            self._drain(planned)
        return one

    def is_over(self, now: Searched) -> bool:
        """Whether more tries would show nothing else: the number of connections is the limit."""
        return load_lines.is_of_connections(self._tables, now, [self.recordings[PEAK]])

    def findings(self, found: Searched, arrivals: Arrivals) -> LineFindings:
        """What was full beyond each line, and how far the tries below and above are believed."""
        self.on_event(Step("judging the tries at the line"))
        near = {
            load_lines.last_trial(found, rate_per_s)
            for line in found.lines
            for rate_per_s in (line.failed_per_s, line.inside_per_s)
        }
        judged = {trial: self._judged(self.recordings[trial]) for trial in near if trial}
        target = load_options.name(map(urls.target, self.requested.urls))
        subject = Subject(
            f"{self.requested.urls[0].netloc}{target}", arrivals, self.requested.connections
        )
        peaks = [self.recordings[PEAK]]
        return load_lines.of_server(self._tables, found, subject, judged, peaks)

    def _judged(self, recording: Recording) -> TrialFindings:
        if isinstance(self.stored, UnkeptResults):
            return derivation.judged(self.stored.counted(recording))
        return derivation.of_trial(self.stored, recording)

    def _tables(self, recording: Recording) -> Tables:
        if isinstance(self.stored, UnkeptResults):
            return self.stored.counted(recording)
        return of_trials.stored(self.stored, recording)

    def _put_on(self, planned: Trial, counted: Callable[[LoadEnded], None]) -> None:
        """Puts a load on and keeps it.

        Raises:
            PlimsollError: It did not run to its end.
        """

        def heard(event: Event) -> None:
            if isinstance(event, LoadEnded):
                driver = event.recording.driver
                if driver is not None and driver.ended_by == "schedule":
                    counted(event)
            else:
                self.on_event(event)

        requested = self.requested
        setting = RunConfig(
            driver_threads=requested.threads,
            driver_cores=requested.driver_cores,
            body_sample_ratio=RunConfig.body_sample_ratio if not requested.expected_body else 1.0,
        )
        recording = trials.load(
            planned, self.address, setting, self.stored, self.interruption, heard,
            is_kept=not isinstance(self.stored, UnkeptResults),
        )  # fmt: skip
        ending = recording.ending
        hint = REPEAT if ending.kind == Interrupted.__name__ else ending.hint
        if error := all_errors.of_ending(ending.kind, ending.message, hint):
            raise error
        self.recordings[recording.trial] = recording

    def _drain(self, planned: Trial) -> None:
        """Waits until the server answers one request quickly again, a few times in a row.

        It asks once at least, and waits no longer than the budget lasts.

        Raises:
            NotResponding: It does not listen any more.
        """
        longest_s = max(one.most_ns or 0.0 for one in self.wanted.limits) / 1e9
        quick_s = max(_LEAST_QUICK_S, longest_s)
        until_s = min(time.monotonic() + DRAINED_S, self.tried_until_s)
        in_a_row = 0
        while in_a_row < _QUICK_ANSWERS:
            asked_s = time.monotonic()
            loads.require_response(planned, self.address, keep_alive=self.requested.keep_alive)
            in_a_row = in_a_row + 1 if time.monotonic() - asked_s <= quick_s else 0
            if time.monotonic() >= until_s:
                return
            time.sleep(_PAUSE_S)
