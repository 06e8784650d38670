"""What is shown of a load: a panel while it runs, its figures at its end, then its verdicts."""

from __future__ import annotations

import signal
from contextlib import ExitStack
from typing import TYPE_CHECKING, Self

from plimsoll import aggregate, cli, events, lab, report
from plimsoll.cli import messages

if TYPE_CHECKING:
    from plimsoll.events import Listener
    from plimsoll.findings.thresholds import Threshold
    from plimsoll.findings.trial import TrialFindings


class LoadScreen:
    """Listens to a load, and shows it.

    The panel appears with the first event: an error in the arguments comes without one.

    Args:
        title: What the load is called.
        load_s: Its length, in seconds; 0 when it ends after a number of requests.
        is_quiet: Whether nothing is shown while it runs, and no figures when it is over.
        verbose: Whether everything is shown.
        is_kept: Whether the rows are kept; of those that are not, none is written upon Ctrl-C.
        limits: Thresholds that fail the command.

    Attributes:
        judged: Figures and verdicts of a load that is kept; None where they are not known yet.
    """

    def __init__(
        self,
        title: str,
        load_s: float,
        *,
        is_quiet: bool,
        verbose: bool,
        is_kept: bool,
        limits: tuple[Threshold, ...] = (),
    ) -> None:
        """Show nothing yet."""
        self._title, self._load_s, self._limits = title, load_s, limits
        self._is_quiet, self._verbose, self._is_kept = is_quiet, verbose, is_kept
        self._panel: Listener | None = None
        self._closing = ExitStack()
        self._has_figures = False
        self._has_ended = False
        self._fault: Exception | None = None
        self.judged: TrialFindings | None = None

    def __enter__(self) -> Self:
        """The screen; its panel is gone after the block."""
        self._terminating = signal.signal(signal.SIGTERM, self._terminate)
        return self

    @property
    def has_ended(self) -> bool:
        """Whether the load has ended."""
        return self._has_ended

    def _terminate(self, number: int, _frame: object) -> None:
        """Has SIGTERM after a load end nothing: its figures are shown, and its exit code tells."""
        if not self._has_ended:
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        """Take the panel away.

        Raises:
            OSError: Something could not be shown; a load that is kept is stored by now.
        """
        signal.signal(signal.SIGTERM, self._terminating)
        self._closing.close()
        if self._fault is not None and error is None:
            raise self._fault

    def __call__(self, event: events.Event) -> None:
        """Shows an event.

        Raises:
            KeyboardInterrupt: Ctrl-C ended the load, its figures are shown at once.
        """
        try:
            self._show(event)
        except Exception as fault:
            if not self._is_kept:
                raise
            self._fault = self._fault or fault  # what was measured is stored first

    def _show(self, event: events.Event) -> None:
        self._has_ended |= isinstance(event, events.LoadEnded) or _is_of_writing(event)
        if isinstance(event, events.LoadRecorded) and isinstance(event, lab.driven_load.LoadJudged):
            self.judged = event.findings
            self._show_judged(event.findings)
        if self._is_quiet or self._has_figures or self._fault:
            return
        if isinstance(event, events.Step):
            messages.step(event.message)
            return
        if isinstance(event, events.LoadEnded):
            self._closing.close()
            self._show_figures(event)
            return
        if self._panel is None:
            scene = cli.panel.Scene(
                trial=self._title, load_s=self._load_s, left_s=self._load_s, limits=self._limits
            )
            self._panel = self._closing.enter_context(cli.panel.showing(scene))
        self._panel(event)
        if isinstance(event, events.Progress):
            _make_ready()

    def _show_figures(self, event: events.LoadEnded) -> None:
        recording = event.recording
        figures = aggregate.first_figures.of_records(recording, event.folder)
        report.screen.show_figures(figures, verbose=self._verbose)
        if self._verbose:
            times = aggregate.first_figures.response_times(recording, event.folder)
            report.histogram.show(times)
        self._has_figures = True
        if recording.is_interrupted:
            report.screen.show_interruption(recording)
        if recording.is_interrupted and not self._is_kept:
            raise KeyboardInterrupt

    def _show_judged(self, found: TrialFindings) -> None:
        """Shows what the figures of a load that is kept are worth before its rows are tables."""
        if not self._is_quiet and self._fault is None:
            self.show_verdicts(found)

    def show_once(self, found: TrialFindings) -> None:
        """Shows the figures alone, unless they were shown when the load ended."""
        if not self._has_figures:
            report.screen.show_figures(found, verbose=self._verbose)
            report.screen.show_interruption(found.recording)

    def show_verdicts(self, found: TrialFindings) -> None:
        """Shows what the figures are worth, below them; all of it where there are none yet."""
        if not self._has_figures:
            report.screen.show(found, verbose=self._verbose)
        else:
            report.screen_doubts.show(found, verbose=self._verbose)


def _is_of_writing(event: events.Event) -> bool:
    """Whether rows are written: a load of several hosts has ended, and has no figures yet."""
    return isinstance(event, events.Phase) and event.name == "writing"


def _make_ready() -> None:
    """Imports what shows figures while the load runs, when nobody waits for it."""
    _ = (aggregate.first_figures, report.screen, report.histogram)
