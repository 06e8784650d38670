"""A snapshot: all that the page shows at one time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from plimsoll import wording
from plimsoll.aggregate import outcomes
from plimsoll.report import contents
from plimsoll.report.contents import answer
from plimsoll.verdicts.levels import by_checks
from plimsoll.verdicts.verdict import DOUBTING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plimsoll.findings.findings import Findings
    from plimsoll.findings.trial import State, TrialFindings
    from plimsoll.live import LiveRun
    from plimsoll.report.contents import Remark
    from plimsoll.report.contents.answer import RankingAnswer
    from plimsoll.storage.documents import PlannedTrial
    from plimsoll.watch.recorded import RecordedCampaign

RunState = Literal["running", "stopped", "paused", "finished"]
"""`stopped`: the lab was killed; `paused`: trials are missing, and no lab is running."""

MOST_NEXT = 5
"""Trials that are named as the next ones."""

MOST_ENDED = 40
"""Trials that are shown with their verdicts, the latest ones."""

QUIET_S = 5.0
"""Seconds without a sign of a lab that lives, from which the page says so."""

PHASES = {
    "": "preparing the next trial",
    "idling": "measuring the idle host",
    "starting": "starting the server",
    "checking": "checking the contract",
    "warming_up": "warming up the runtime",
    "driving": "under load",
    "stopping": "stopping the server",
    "writing": "writing the recording",
    "judging": "judging the trial",
    "cooling_down": "cooling down",
}
"""What a run does, in words."""

AFTER_LOAD = ("stopping", "writing", "judging", "cooling_down")
"""Phases that follow the load of a trial."""

PERCENTILES = ("p50", "p99")
BUSY = ("Server CPU", "Load generator CPU")
TILES = ("Throughput", *PERCENTILES, *BUSY, "Connections", "Failed")
"""Names of the tiles of a load."""

HEADLINES: Mapping[RunState, str] = {
    "running": "Running",
    "stopped": "The run stopped",
    "paused": "Not running",
    "finished": "Finished",
}

_SHORT_S = 90.0
_LONG_S = 5400.0


@dataclass(frozen=True)
class Tile:
    """A number of the load that runs.

    Attributes:
        name: What it is.
        number: The number with its unit.
        note: What belongs to it; may be empty.
    """

    name: str
    number: str
    note: str = ""


@dataclass(frozen=True)
class RunningNow:
    """What runs now.

    Attributes:
        title: The trial, or the trials that take turns.
        phase: What is being done.
        tiles: How the load stands.
        waiting: What stands in place of charts that have no second to show; empty otherwise.
    """

    title: str
    phase: str
    tiles: tuple[Tile, ...]
    waiting: str


@dataclass(frozen=True)
class EndedTrial:
    """A trial that is recorded.

    Attributes:
        anchor: Its anchor.
        title: Framework, endpoint, load and repetition.
        number: Its goodput.
        state: How far to believe it.
        error: What ended it, with what to do; empty where it completed.
        doubts: Verdicts that are not sound.
        by_checks: By how many checks it is sound; empty where the doubts say it.
    """

    anchor: str
    title: str
    number: str
    state: State
    error: tuple[str, ...]
    doubts: tuple[Remark, ...]
    by_checks: str


@dataclass(frozen=True)
class Snapshot:
    """All that the page shows.

    Attributes:
        campaign: Name of the campaign.
        place: Where its results are.
        state: What the run does.
        headline: The same in a few words.
        sentences: What else there is to say of it.
        resume: The command that resumes it; empty where it runs or is finished, or is unknown.
        done: Trials that are recorded.
        planned: Trials of the plan.
        now: What runs now; None where nothing does.
        following: The next trials.
        more_following: How many come after these.
        answers: The rankings as they form.
        ended: The latest trials that ended, the last one first.
        more_ended: How many ended before these.
    """

    campaign: str
    place: str
    state: RunState
    headline: str
    sentences: tuple[str, ...]
    resume: str
    done: int
    planned: int
    now: RunningNow | None
    following: tuple[str, ...]
    more_following: int
    answers: tuple[RankingAnswer, ...]
    ended: tuple[EndedTrial, ...]
    more_ended: int


@dataclass(frozen=True)
class JudgedCampaign:
    """The part of a snapshot that changes only when a trial was recorded or judged.

    Attributes:
        answers: The rankings.
        ended: The latest trials that ended.
        more_ended: How many ended before these.
    """

    answers: tuple[RankingAnswer, ...]
    ended: tuple[EndedTrial, ...]
    more_ended: int


def judged(findings: Findings) -> JudgedCampaign:
    """What findings say to the page.

    Args:
        findings: Those of the trials so far.
    """
    trials = sorted(findings.trials, key=lambda one: one.recording.zero_utc, reverse=True)
    return JudgedCampaign(
        tuple(answer.answers(findings, contents.rankings(findings))) if trials else (),
        tuple(map(_ended, trials[:MOST_ENDED])),
        len(trials[MOST_ENDED:]),
    )


def snapshot(
    campaign: RecordedCampaign,
    of_trials: JudgedCampaign,
    run: LiveRun | None,
    place: str,
    now_utc_s: float,
) -> Snapshot:
    """All that the page shows now.

    Args:
        campaign: What is recorded.
        of_trials: What `judged` makes of its findings.
        run: What the run announced last; None where none is going on.
        place: Where the results are.
        now_utc_s: The time, in seconds since 1970.
    """
    state = _state(campaign, run, now_utc_s)
    running = run.trials if run is not None and state == "running" else ()
    missing = [one for one in campaign.plan if one["id"] not in campaign.recorded]
    following = [planned_title(one) for one in missing if one["id"] not in running]
    done = len(campaign.recorded)
    planned = max(len(campaign.plan), done)
    return Snapshot(
        campaign=campaign.findings.campaign,
        place=place,
        state=state,
        headline=_headline(state, done, planned, run),
        sentences=tuple(_sentences(state, campaign, run, now_utc_s)),
        resume=run.command if run is not None and state == "stopped" else "",
        done=done,
        planned=planned,
        now=_now(run, campaign.plan) if run is not None and running else None,
        following=tuple(following[:MOST_NEXT]),
        more_following=len(following[MOST_NEXT:]),
        answers=of_trials.answers,
        ended=of_trials.ended,
        more_ended=of_trials.more_ended,
    )


def planned_title(planned: PlannedTrial) -> str:
    """A trial of a plan as people read it: `go · 2048 · steady · repetition 1`."""
    parts = [planned_framework(planned), planned["endpoint"], planned["load"]["name"]]
    if planned["driver"] != contents.ENGINE:
        parts.append(planned["driver"])
    return " · ".join([*parts, f"repetition {planned['repetition']}"])


def planned_framework(planned: PlannedTrial) -> str:
    """Framework and variant of a trial of a plan, as rankings name it."""
    return f"{planned['framework']} {planned['variant']}".strip()


def _state(campaign: RecordedCampaign, run: LiveRun | None, now_utc_s: float) -> RunState:
    if run is not None:
        return "running" if run.goes_on(now_utc_s) else "stopped"
    recorded = {*campaign.recorded}
    return "finished" if all(one["id"] in recorded for one in campaign.plan) else "paused"


def _headline(state: RunState, done: int, planned: int, run: LiveRun | None) -> str:
    trials = wording.several(planned, "trial")
    if state == "finished":
        return f"Finished: {trials}"
    if run is None or state != "running":
        return f"{HEADLINES[state]}: {done} of {trials} recorded"
    if not run.number:
        return f"Running: {done} of {trials} recorded"
    last = run.number + len(run.trials) - 1
    which = f"trial {run.number}" if last == run.number else f"trials {run.number} to {last}"
    return f"Running: {which} of {run.of}"


def _sentences(
    state: RunState, campaign: RecordedCampaign, run: LiveRun | None, now_utc_s: float
) -> list[str]:
    """What there is to say of a run besides its headline."""
    found: list[str] = []
    if run is not None and state == "running":
        if run.left_s is not None:
            ends_utc_s = run.at_utc_s + max(run.left_s, 0.0)
            found.append(f"{left_text(run.left_s)}, until about {_clock(ends_utc_s)} UTC")
        if (silent_s := now_utc_s - run.at_utc_s) > QUIET_S:
            found.append(f"the run is alive, but has not reported for {wording.count(silent_s)} s")
    if run is not None and state == "stopped":
        found.append(
            f"the lab (process {run.writer.pid}) ended without finishing the run; its last report "
            f"is of {_clock(run.at_utc_s)} UTC; recorded trials are kept"
        )
    if state == "paused":
        found.append("no run is in progress; the command that began it resumes it")
    if len(campaign.unjudged) > (state == "running"):  # the lab judges the last one just now
        trials = wording.several(len(campaign.unjudged), "recorded trial")
        found.append(f"not judged yet: {trials}; `plimsoll judge` judges them")
    return [f"{one[:1].upper()}{one[1:]}." for one in found]


def left_text(left_s: float) -> str:
    """Time left in words: `About 12 min left`."""
    if left_s < 1:
        return "About to end"
    if left_s < _SHORT_S:
        return f"About {max(5 * round(left_s / 5), 5)} s left"
    if left_s < _LONG_S:
        return f"About {wording.count(left_s / 60)} min left"
    hours, minutes = divmod(round(left_s / 600) * 10, 60)
    return f"About {hours} h {minutes} min left" if minutes else f"About {hours} h left"


def _clock(utc_s: float) -> str:
    return datetime.fromtimestamp(utc_s, UTC).strftime("%H:%M")


def _now(run: LiveRun, plan: Sequence[PlannedTrial]) -> RunningNow:
    by_id = {one["id"]: one for one in plan}
    active = by_id.get(run.active)
    title = run.active if active is None else planned_title(active)
    phase = PHASES.get(run.phase, run.phase)
    if run.phase == "driving" and run.progress is not None:
        stage = run.progress.stage.replace("_", "-")
        phase = (
            f"{phase}: {stage}, {wording.count(run.progress.at_s)} of {wording.count(run.load_s)} s"
        )
    if len(run.trials) > 1 and active is not None:
        table = _table(active)
        servers = sum(name in by_id and _table(by_id[name]) == table for name in run.trials)
        title = f"{table}: {wording.several(servers, 'server')} in turns"
        phase = f"{phase}, now {planned_framework(active)}"
    return RunningNow(title, phase, tuple(_tiles(run)), _waiting(run))


def _waiting(run: LiveRun) -> str:
    """What charts would wait for: the first second of a load, or turn of servers."""
    if run.seconds:
        return ""
    if run.phase in AFTER_LOAD:
        return "This load reported no second to draw."
    unit = "turn" if len(run.trials) > 1 else "second of the load"
    phase = "" if run.phase == "driving" else f": {PHASES.get(run.phase, run.phase)}"
    return f"Waiting for the first {unit}{phase}."


def _table(planned: PlannedTrial) -> str:
    """What the trials that take turns with this one have in common."""
    load = planned["load"]["name"]
    return f"{planned['endpoint']} · {load} · repetition {planned['repetition']}"


def _tiles(run: LiveRun) -> list[Tile]:
    """The same tiles in every phase, so that nothing below them moves.

    Rates, times and busy cores are those of one second, the last.
    """
    progress, last = run.progress, run.last
    if progress is None or last is None:
        return [Tile(name, wording.ABSENT) for name in TILES]
    busy = [
        Tile(name, wording.ABSENT if cores is None else wording.decimals(cores, 2), "busy cores")
        for name, cores in zip(BUSY, (last.server_busy_cores, last.driver_busy_cores), strict=True)
    ]
    if not progress.counted:
        return [Tile("Load generator", "at work", "it reports its figures when it ends"), *busy]
    times = [
        Tile(name, wording.duration(value_ns), "response time")
        for name, value_ns in zip(PERCENTILES, (last.p50_ns, last.p99_ns), strict=True)
    ]
    failed = sum(outcomes.failed(progress.outcomes).values())
    requested = f"of {wording.count(progress.connections_requested)} requested"
    return [
        Tile("Throughput", wording.per_second(last.throughput_per_s), "responses"),
        *times,
        *busy,
        Tile("Connections", wording.count(progress.connections_open), requested),
        Tile(
            "Failed",
            wording.count(failed),
            f"of {wording.count(outcomes.ended(progress.outcomes))} requests",
        ),
    ]


def _ended(trial: TrialFindings) -> EndedTrial:
    recording = trial.recording
    ending = recording.ending
    title = contents.title(recording)
    remarks = [contents.remark(one, {recording.trial: title}) for one in trial.verdicts]
    doubts = tuple(one for one in remarks if one.level in DOUBTING)
    return EndedTrial(
        anchor=contents.anchor("trial", recording.trial),
        title=title,
        number=wording.per_second(trial.value),
        state=trial.state,
        error=() if trial.has_ended_well else (ending.kind, ending.message, ending.hint),
        doubts=doubts,
        by_checks=by_checks(trial.verdicts) if trial.verdicts and not doubts else "",
    )
