"""Progress of a campaign or load: a live panel, or plain lines when stderr is piped."""

from __future__ import annotations

import time
from collections import deque
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rich.console import Console
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from plimsoll import events, plan, wording
from plimsoll.aggregate import outcomes
from plimsoll.cli import messages, progress_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from rich.console import RenderableType

    from plimsoll.findings.thresholds import Threshold
    from plimsoll.tool_output.reported import ReportedStatistics

SECONDS_SHOWN = 60
LINE_EVERY_S = 10.0
SHORTEST_S = 0.1
"""Time since the progress before from which its rates say something; the last one may be sooner."""

FRAME = 4 + len("connections") + 2
"""Columns of the panel that its frame and the names of its rows take."""

ECHO = len("^C^C")
"""Columns right of the panel: without them, what the terminal echoes of Ctrl-C begins a line, and
the panel that is taken away leaves its top."""

PHASES = {
    "idling": "measuring the idle baseline",
    "starting": "starting the server",
    "checking": "checking the contract",
    "warming_up": "warming up the runtime",
    "driving": "under load",
    "stopping": "stopping the server",
    "writing": "writing the recording",
}


@dataclass
class Scene:
    """What the panel shows now.

    Attributes:
        trial: Id of the trial, or the address of a load.
        number: Number of the trial in this run, from 1.
        of: Number of trials in this run.
        load_s: Length of the load, in seconds; 0 when it ends after a number of requests.
        left_s: Length of the loads from this trial on, in seconds.
        server: The server of a group whose step it is; empty where a trial has one of its own.
        phase: The current step.
        progress: State of the load; None before its first second.
        throughputs: Complete responses per second, second by second.
        p99s_ns: The 99th percentile of response times, second by second; 0 where it is not known.
        limits: Thresholds that fail the command.
    """

    trial: str = ""
    number: int = 0
    of: int = 0
    load_s: float = 0.0
    left_s: float = 0.0
    server: str = ""
    phase: str = ""
    progress: events.Progress | None = None
    throughputs: deque[float] = field(default_factory=lambda: deque(maxlen=SECONDS_SHOWN))
    p99s_ns: deque[float] = field(default_factory=lambda: deque(maxlen=SECONDS_SHOWN))
    limits: tuple[Threshold, ...] = ()

    def take(self, event: events.Event) -> None:
        """Updates the scene by an event."""
        match event:
            case events.TrialStarted():
                self.trial, self.number, self.of = event.trial.id, event.number, event.of
                self.load_s, self.left_s = event.trial.load.duration_s, event.left_s
                self._forget()
            case events.GroupStarted():
                self.trial, self.number, self.of = _group_text(event), event.number, event.of
                self.load_s = plan.load_s(event.trials)
                self.left_s = event.left_s
                self._forget()
            case events.GroupServer():
                self.server = f"{event.framework}, server {event.number} of {event.of}"
            case events.TurnEnded():
                self.server, self.phase = "", PHASES["driving"]
                self.trial = event.trial.id
                self._follow(event.progress)
            case events.Phase():
                self.phase = PHASES[event.name] + (f": {self.server}" if self.server else "")
            case events.Progress():
                self._follow(event)
            case events.GroupEnded() if event.completed:
                self.phase = _judging_text(event)
            case events.CoolingDown():
                self.phase = "cooling down"
            case _:
                pass

    def _forget(self) -> None:
        self.server, self.progress = "", None
        self.throughputs.clear()
        self.p99s_ns.clear()

    def _follow(self, progress: events.Progress) -> None:
        before, self.progress = self.progress, progress
        if before is not None and 0 <= progress.at_s - before.at_s < SHORTEST_S:
            return
        self.throughputs.append(progress.throughput_per_s)
        self.p99s_ns.append((progress.latency and progress.latency.p99_ns) or 0.0)

    @property
    def remaining_s(self) -> float:
        """Remaining load, in seconds."""
        passed_s = self.progress.at_s if self.progress else 0.0
        return max(0.0, self.left_s - min(passed_s, self.load_s))


@contextmanager
def showing(scene: Scene) -> Generator[events.Listener]:
    """Shows progress on stderr while the block runs.

    The panel appears when something begins: an error in the arguments comes without one.

    Args:
        scene: What is known before the first event.

    Yields:
        A listener for the events.
    """
    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        yield _lines(scene)
        return
    live = Live(
        get_renderable=lambda: _panel(scene, console.width - ECHO),
        console=console,
        refresh_per_second=4,
        transient=True,
    )
    try:
        yield _drawn(scene, live)
    finally:
        live.stop()


def ending_text(event: events.TrialEnded) -> str:
    """How a trial ended, in one line."""
    ending = event.recording.ending
    if ending.kind != "completed":
        return f"{event.trial.id}: {ending.kind}: {_first_line(ending.message)}"
    driver = event.recording.driver
    if driver is not None and driver.figures is not None:
        return f"{event.trial.id}: {_figures_text(driver.name, driver.figures)}"
    if driver is not None and driver.sent and not driver.outcomes:
        return (
            f"{event.trial.id}: {wording.count(driver.sent)} requests, as counted by {driver.name}"
        )
    counts = driver.outcomes if driver else {}
    ended, failed = outcomes.ended(counts), sum(outcomes.failed(counts).values())
    return f"{event.trial.id}: {wording.count(ended)} requests, {wording.count(failed)} failed"


def _judging_text(event: events.GroupEnded) -> str:
    return f"judging {wording.several(len(event.completed), 'trial')}"


def _group_text(event: events.GroupStarted) -> str:
    """The trials that take turns, in one line."""
    first = event.trials[0]
    count = plan.servers(event.trials)
    servers = "1 server" if count == 1 else f"{count} servers in turns"
    endpoints = wording.listed([*dict.fromkeys(trial.endpoint.name for trial in event.trials)])
    return f"{endpoints}, {first.load.name}, repetition {first.repetition}: {servers}"


def _figures_text(driver: str, figures: ReportedStatistics) -> str:
    """The counts that an external driver printed."""
    failed = (
        f"{wording.count(figures.without_response)} without response, "
        f"{wording.count(figures.wrong)} wrong"
    )
    ended = f"{wording.count(figures.ended or 0)} requests in the measurement window"
    return f"{ended}, {failed}, as counted by {driver}"


def _first_line(text: str) -> str:
    """The first line, without a clause that introduces the lines below."""
    line = text.partition("\n")[0]
    return line.rpartition("; ")[0] if line.endswith(":") else line


def _lines(scene: Scene) -> Callable[[events.Event], None]:
    """Appends a line where something changes, and every ten seconds under load."""
    printed_s = time.monotonic()

    def tell(event: events.Event) -> None:
        nonlocal printed_s
        scene.take(event)
        match event:
            case events.TrialStarted():
                messages.step(f"[{event.number}/{event.of}] {event.trial.id}")
            case events.GroupStarted():
                messages.step(f"[{event.number}/{event.of}] {_group_text(event)}")
            case events.GroupEnded() if event.completed:
                messages.step(f"    {_judging_text(event)}")
            case events.TrialEnded():
                messages.step(f"    {ending_text(event)}")
            case events.TrialJudged() if event.message:
                messages.step(f"      {event.message}")
            case events.Progress() if time.monotonic() - printed_s >= LINE_EVERY_S:
                printed_s = time.monotonic()
                messages.step(f"    {_progress_text(event)}")
            case events.Phase() if scene.server and time.monotonic() - printed_s >= LINE_EVERY_S:
                printed_s = time.monotonic()
                messages.step(f"    {scene.phase}")
            case events.TurnEnded() if time.monotonic() - printed_s >= LINE_EVERY_S:
                printed_s = time.monotonic()
                progress = event.progress
                messages.step(f"    {event.trial.id}: {_progress_text(progress)}")
            case _:
                _write_campaign(event, messages.step)

    return tell


def _drawn(scene: Scene, live: Live) -> Callable[[events.Event], None]:
    """Prints a line for each ended trial above the live panel."""

    def write(text: str) -> None:
        live.console.print(Text(text))

    def tell(event: events.Event) -> None:
        scene.take(event)
        if not isinstance(event, events.Notice | events.Step):
            live.start()
        match event:
            case events.TrialEnded():
                write(ending_text(event))
            case events.TrialJudged() if event.message:
                write(f"  {event.message}")
            case _:
                _write_campaign(event, write)

    return tell


def _write_campaign(event: events.Event, write: Callable[[str], None]) -> None:
    """Writes the lines about a campaign as a whole, the same for both displays."""
    match event:
        case events.Notice():
            messages.note(event.message)
        case events.Step():
            messages.step(event.message)
        case events.CampaignStarted():
            write(_plan_text(event))
        case events.GroupFull():
            write(
                f"    memory or threads allow {event.servers} of {event.of} servers at a time; the "
                "others follow in turns of their own"
            )
        case events.TrialsSetAside():
            trials = "1 trial" if len(event.trials) == 1 else f"{len(event.trials)} trials"
            write(f"{trials} to run again, earlier recordings moved to {event.place}")
        case _:
            pass


def _plan_text(event: events.CampaignStarted) -> str:
    trials = "1 trial" if event.trials == 1 else f"{event.trials} trials"
    if not event.to_do:
        return f"{trials}, all complete"
    done = event.trials - event.to_do
    earlier = f", {done} complete" if done else ""
    return f"{trials}{earlier}; {wording.count(event.load_s)} s of load to run"


def _progress_text(progress: events.Progress) -> str:
    failed = progress_rows.failures_text(progress)
    at = f"after {wording.count(progress.at_s)} s ({progress.stage.replace('_', '-')}): "
    if not progress.counted:
        return f"{at}{_uncounted_text(progress)}"
    return (
        f"{at}{wording.per_second(progress.throughput_per_s)},"
        f" {wording.count(progress.connections_open)} of "
        f"{wording.count(progress.connections_requested)} connections open"
        + (f"; {failed}" if failed else "")
    )


def _uncounted_text(progress: events.Progress) -> str:
    """The line for a driver that reports no progress."""
    return (
        f"{wording.count(progress.connections_requested)} connections requested; reports when it "
        "ends"
    )


def _panel(scene: Scene, width: int) -> RenderableType:
    """The panel, of a width in columns."""
    rows = Table.grid(padding=(0, 2))
    rows.add_column(style="dim", justify="right")
    rows.add_column()
    for name, value in _panel_rows(scene, width - FRAME):
        rows.add_row(name, value)
    place = f" {scene.number}/{scene.of}" if scene.of else ""
    title = f"plimsoll{place}"
    return Panel(rows, title=title, title_align="left", border_style="blue", width=width)


def _panel_rows(scene: Scene, width: int) -> Iterator[tuple[str, RenderableType]]:
    """Name and content of each row, cut to a width."""
    yield "trial", Text(scene.trial, no_wrap=True, overflow="ellipsis")
    progress = scene.progress
    if progress is None:
        yield "now", Text(scene.phase)
        return
    yield "stage", Text(f"{progress.stage.replace('_', '-')}, {_passed(scene, progress)}")
    if progress.counted:
        seconds = (tuple(scene.throughputs), tuple(scene.p99s_ns))
        yield from progress_rows.rows(progress, *seconds, scene.limits, width)
    else:
        yield "load generator", Text(_uncounted_text(progress))
    if scene.phase != PHASES["driving"]:
        yield "now", Text(scene.phase)
    elif scene.load_s:
        yield "remaining", Text(f"{wording.count(scene.remaining_s)} s of load")


def _passed(scene: Scene, progress: events.Progress) -> str:
    whole = f" of {wording.count(scene.load_s)}" if scene.load_s else ""
    return f"{wording.count(progress.at_s)}{whole} s"
