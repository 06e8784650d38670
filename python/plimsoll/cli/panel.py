"""What is seen while a campaign or a load runs: a live panel, or plain lines when piped."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from plimsoll.cli import messages
from plimsoll.conduct import events

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from rich.console import RenderableType
    from rich.live import Live

    from plimsoll.published.figures import Figures
    from plimsoll.recording import Recording

    Judged = Callable[[Recording], str]
    """Says something of a trial that has ended."""

from contextlib import contextmanager

BARS = " ▁▂▃▄▅▆▇█"
SECONDS_SHOWN = 60
LINE_EVERY_S = 10.0

FRAME = 4 + len("connections") + 2
"""Columns of the panel that its frame and the names of its rows take."""

PHASES = {
    "idling": "measuring the idle host",
    "starting": "starting the server",
    "checking": "checking the contract",
    "driving": "under load",
    "stopping": "stopping the server",
    "writing": "writing the recording",
}


@dataclass
class Scene:
    """What there is to see now.

    Attributes:
        trial: Id of the trial, or the address of a load.
        number: Number of the trial among those conducted now.
        of: How many are conducted now.
        load_s: Length of the load, in seconds; 0 when it ends after a number of requests.
        left_s: Length of the loads from this trial on, in seconds.
        phase: What is being done.
        progress: How the load stands; None before its first second.
        throughputs: Complete answers per second, second by second.
    """

    trial: str = ""
    number: int = 0
    of: int = 0
    load_s: float = 0.0
    left_s: float = 0.0
    phase: str = ""
    progress: events.Progress | None = None
    throughputs: deque[float] = field(default_factory=lambda: deque(maxlen=SECONDS_SHOWN))

    def take(self, event: events.Event) -> None:
        """Lets an event change the scene."""
        match event:
            case events.TrialStarted():
                self.trial, self.number, self.of = event.trial.id, event.number, event.of
                self.load_s, self.left_s = event.trial.load.duration_s, event.left_s
                self.progress = None
                self.throughputs.clear()
            case events.Phase():
                self.phase = PHASES[event.name]
            case events.Progress():
                self.progress = event
                self.throughputs.append(event.throughput_per_s)
            case events.CoolingDown():
                self.phase = "cooling down"
            case _:
                pass

    @property
    def remaining_s(self) -> float:
        """Load still to come, in seconds."""
        passed_s = self.progress.at_s if self.progress else 0.0
        return max(0.0, self.left_s - min(passed_s, self.load_s))


@contextmanager
def showing(
    scene: Scene, *, quiet: bool = False, judged: Judged = lambda _: ""
) -> Generator[events.Listener]:
    """Shows what happens for as long as the block runs, on stderr.

    Args:
        scene: What is known before the first event.
        quiet: Whether nothing is to be shown.
        judged: What to say of a trial that has ended besides how; nothing where it is empty.

    Yields:
        A listener for the events.
    """
    if quiet:
        yield events.nobody
        return
    from rich.console import Console  # noqa: PLC0415

    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        yield _lines(scene, judged)
        return
    from rich.live import Live  # noqa: PLC0415

    with Live(
        get_renderable=lambda: _panel(scene, console.width),
        console=console,
        refresh_per_second=4,
        transient=True,
    ) as live:
        yield _drawn(scene, live, judged)


def sparkline(values: list[float]) -> str:
    """Values as a row of bars, the largest one full; empty for none."""
    top = max(values, default=0.0)
    steps = len(BARS) - 1
    return "".join(BARS[round(steps * value / top) if top else 0] for value in values)


def outcomes_text(progress: events.Progress) -> str:
    """Failures by kind, the most frequent first; empty when there are none."""
    failed = {name: count for name, count in progress.outcomes.items() if name != "ok"}
    ordered = sorted(failed.items(), key=lambda item: -item[1])
    return ", ".join(f"{name} {count:,}" for name, count in ordered)


def ending_text(event: events.TrialEnded) -> str:
    """How a trial ended, in one line."""
    ending = event.recording.ending
    if ending.kind != "completed":
        return f"{event.trial.id}: {ending.kind}: {_first_line(ending.message)}"
    driver = event.recording.driver
    if driver is not None and driver.figures is not None:
        return f"{event.trial.id}: {_figures_text(driver.name, driver.figures)}"
    if driver is not None and driver.sent and not driver.outcomes:
        return f"{event.trial.id}: {driver.sent:,} requests, by {driver.name}'s own count"
    ended = sum(driver.outcomes.values()) if driver else 0
    wrong = ended - (driver.outcomes.get("ok", 0) if driver else 0)
    unfinished = driver.outcomes.get("unfinished", 0) if driver else 0
    return f"{event.trial.id}: {ended:,} requests, {wrong - unfinished:,} failed"


def _figures_text(driver: str, figures: Figures) -> str:
    """What a foreign driver printed of its requests."""
    failed = f"{figures.unanswered:,.0f} unanswered, {figures.wrong:,.0f} wrong"
    return f"{figures.ended or 0:,.0f} requests in the hold, {failed}, by {driver}'s own count"


def _first_line(text: str) -> str:
    """The first line, without the clause that leads to the ones below."""
    line = text.partition("\n")[0]
    return line.rpartition("; ")[0] if line.endswith(":") else line


def _endings(event: events.TrialEnded, judged: Judged) -> Iterator[str]:
    """How a trial ended, and then, for it may take a moment, what is to be said of it."""
    yield ending_text(event)
    if said := judged(event.recording):
        yield f"  {said}"


def _lines(scene: Scene, judged: Judged) -> Callable[[events.Event], None]:
    """Appends a line where something changes, and every ten seconds under load."""
    said_s = time.monotonic()

    def tell(event: events.Event) -> None:
        nonlocal said_s
        scene.take(event)
        match event:
            case events.TrialStarted():
                messages.step(f"[{event.number}/{event.of}] {event.trial.id}")
            case events.TrialEnded():
                for text in _endings(event, judged):
                    messages.step(f"    {text}")
            case events.Progress() if time.monotonic() - said_s >= LINE_EVERY_S:
                said_s = time.monotonic()
                messages.step(f"    {_progress_text(event)}")
            case _:
                _told(event, messages.step)

    return tell


def _drawn(scene: Scene, live: Live, judged: Judged) -> Callable[[events.Event], None]:
    """Keeps a line of what is over, above the panel of what goes on."""
    from rich.markup import escape  # noqa: PLC0415

    def write(text: str) -> None:
        live.console.print(escape(text))

    def tell(event: events.Event) -> None:
        scene.take(event)
        if isinstance(event, events.TrialEnded):
            for text in _endings(event, judged):
                write(text)
        else:
            _told(event, write)

    return tell


def _told(event: events.Event, write: Callable[[str], None]) -> None:
    """What both kinds of display say of a campaign as a whole."""
    if isinstance(event, events.CampaignStarted):
        write(_plan_text(event))


def _plan_text(event: events.CampaignStarted) -> str:
    trials = "1 trial" if event.trials == 1 else f"{event.trials} trials"
    if not event.to_do:
        return f"{trials}, done before"
    done = event.trials - event.to_do
    earlier = f", {done} done before" if done else ""
    return f"{trials}{earlier}; {event.load_s:.0f} s of load to come"


def _progress_text(progress: events.Progress) -> str:
    failed = outcomes_text(progress)
    if not progress.counted:
        return f"{progress.at_s:.0f} s {progress.stage}: {_uncounted_text(progress)}"
    return (
        f"{progress.at_s:.0f} s {progress.stage}: {progress.throughput_per_s:,.0f}/s,"
        f" {progress.connections_open:,} of {progress.connections_asked:,} connections open"
        + (f"; {failed}" if failed else "")
    )


def _uncounted_text(progress: events.Progress) -> str:
    """What is known of a driver that tells nothing before its end."""
    return f"{progress.connections_asked:,} connections asked for; it tells of them at its end"


def _panel(scene: Scene, width: int) -> RenderableType:
    from rich.panel import Panel  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    rows = Table.grid(padding=(0, 2))
    rows.add_column(style="dim", justify="right")
    rows.add_column()
    for name, value in _panel_rows(scene, width - FRAME):
        rows.add_row(name, value)
    place = f" {scene.number}/{scene.of}" if scene.of else ""
    return Panel(rows, title=f"plimsoll{place}", title_align="left", border_style="blue")


def _panel_rows(scene: Scene, width: int) -> Iterator[tuple[str, RenderableType]]:
    """Name and content of each row; nothing is wider than there is room for."""
    from rich.text import Text  # noqa: PLC0415

    yield "trial", Text(scene.trial, no_wrap=True, overflow="ellipsis")
    progress = scene.progress
    if progress is None:
        yield "now", Text(scene.phase)
        return
    yield "stage", Text(f"{progress.stage.replace('_', '-')}, {_passed(scene, progress)}")
    if progress.counted:
        yield from _counted_rows(scene, progress, width)
    else:
        yield "driver", Text(_uncounted_text(progress))
    if scene.phase != PHASES["driving"]:
        yield "now", Text(scene.phase)
    elif scene.load_s:
        yield "left", Text(f"{scene.remaining_s:.0f} s of load")


def _counted_rows(
    scene: Scene, progress: events.Progress, width: int
) -> Iterator[tuple[str, RenderableType]]:
    """The rows of a driver that counts while it works."""
    from rich.text import Text  # noqa: PLC0415

    opened = f"{progress.connections_open:,} of {progress.connections_asked:,} open"
    refused = progress.connections_refused
    yield "connections", Text(opened + (f", {refused:,} attempts failed" if refused else ""))
    yield "throughput", Text(throughput_text(scene, width), no_wrap=True)
    failed = outcomes_text(progress)
    yield "failed", Text(failed or "none", style="red" if failed else "green")
    yield "requests", Text(f"{progress.requests_ended:,}")


def _passed(scene: Scene, progress: events.Progress) -> str:
    whole = f" of {scene.load_s:.0f}" if scene.load_s else ""
    return f"{progress.at_s:.0f}{whole} s"


def throughput_text(scene: Scene, width: int) -> str:
    """The throughput of the last second, and a bar for each second that there is room for.

    Args:
        scene: What there is to see.
        width: Columns that there are.
    """
    number = f"{scene.throughputs[-1]:,.0f}/s" if scene.throughputs else "–"
    room = max(0, width - len(number) - 2)
    return f"{number}  {sparkline(list(scene.throughputs)[-room:] if room else [])}".rstrip()
