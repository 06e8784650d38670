"""Progress of steps: which one goes on, on a terminal or as lines, and nothing once it is over."""

from __future__ import annotations

import io
import sys
import threading
from pathlib import Path

import pytest

import plimsoll
from plimsoll import cli
from plimsoll.cli import messages, progress, step_progress
from plimsoll.events import Event, Notice, Step
from plimsoll.findings import gathering
from plimsoll.findings.findings import Findings

LOG = "timeStamp,elapsed,label,responseCode,success,bytes,sentBytes,allThreads,Latency,Connect\n"

WHILE_READ = "reading trials: 1 of 1, "


class Terminal(io.StringIO):
    """A terminal that keeps what was written to it."""

    def isatty(self) -> bool:
        """It is one."""
        return True


def as_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """What stderr is from now on; pytest puts its own there before each test begins."""
    found = Terminal()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(progress, "UPDATE_EVERY_S", 0.01)
    monkeypatch.setattr(sys, "stderr", found)
    return found


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """A folder with one trial, which is not judged yet."""
    log = tmp_path / "log.csv"
    rows = (f"{1577836800000 + at},20,home,200,true,5,1,1,18,0\n" for at in range(0, 3000, 50))
    log.write_text(LOG + "".join(rows))
    plimsoll.import_recording(log, into=tmp_path / "into")
    return tmp_path / "into"


def is_shown(terminal: Terminal, text: str) -> bool:
    """Waits until a text is on the terminal."""
    pause = threading.Event()
    return any(pause.wait(0.01) or text in terminal.getvalue() for _ in range(3000))


def test_a_terminal_shows_the_step_that_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal, out = as_terminal(monkeypatch), sys.stdout
    with step_progress.shown() as tell:
        tell(Notice("mind the gap"))
        tell(Step("reading trials: 1 of 2"))
        assert is_shown(terminal, "reading trials: 1 of 2, ")
        assert sys.stdout is out, "what is printed does not know of it"
        tell(Step("reading trials: 2 of 2"))
        assert is_shown(terminal, "reading trials: 2 of 2, ")
    assert "mind the gap" not in terminal.getvalue()
    shown = terminal.getvalue()
    assert "reading" not in shown.rpartition("\x1b[2K")[2], "the line is removed"
    threading.Event().wait(0.05)
    assert terminal.getvalue() == shown


def test_a_terminal_shows_nothing_of_what_takes_no_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    terminal = as_terminal(monkeypatch)
    monkeypatch.setattr(progress, "UPDATE_EVERY_S", 60.0)
    with step_progress.shown() as tell:
        tell(Step("reading trials: 1 of 2"))
    assert terminal.getvalue() == ""


def test_a_file_gets_a_line_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    pause = threading.Event()
    monkeypatch.setattr(progress, "LINE_EVERY_S", 0.01)
    monkeypatch.setattr(messages, "step", told.append)
    with step_progress.shown() as tell:
        pause.wait(0.05)
        assert told == []
        tell(Step("drawing report.pdf"))
        assert any(pause.wait(0.01) or told for _ in range(3000))
    assert told[0].startswith("drawing report.pdf, ")


@pytest.mark.parametrize("verb", [("report", "--format", "markdown"), ("judge",)])
def test_a_verb_shows_which_trial_is_read(
    results: Path, monkeypatch: pytest.MonkeyPatch, verb: tuple[str, ...]
) -> None:
    terminal = as_terminal(monkeypatch)
    judge = gathering.of_trials

    def waiting(*given: object) -> Findings:
        assert is_shown(terminal, WHILE_READ)
        return judge(*given)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(gathering, "of_trials", waiting)
    assert cli.ended([verb[0], str(results), *verb[1:]]) in (0, 1), terminal.getvalue()


def test_a_program_is_told_each_step_and_none_of_what_is_known(results: Path) -> None:
    told: list[Event] = []
    with plimsoll.read(results, on_event=told.append) as found:
        found.report(["markdown", "card"])
    said = [one.message for one in told if isinstance(one, Step)]
    assert "verifying recordings: 1 of 1" in said
    drawn = ["reading trials: 1 of 1", "drawing report.md", "drawing card.png"]
    assert [one for one in said if not one.startswith("verifying ")] == drawn
    told.clear()
    with plimsoll.read(results, on_event=told.append) as found:
        found.report(["markdown", "card"])
    assert {one.message.partition(" ")[0] for one in told if isinstance(one, Step)} == {"verifying"}
