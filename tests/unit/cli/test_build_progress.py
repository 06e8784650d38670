"""Progress of a build: what is told while it goes on."""

from __future__ import annotations

import io
import threading
from pathlib import Path

import pytest
from rich.console import Console

from plimsoll.cli import build_progress, messages, progress
from plimsoll.cli.build_progress import Build


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was told."""
    said: list[str] = []
    monkeypatch.setattr(progress, "LINE_EVERY_S", 0.01)
    monkeypatch.setattr(messages, "step", said.append)
    return said


def wait_for(told: list[str], ending: str) -> bool:
    """Waits until a line with an ending was told."""
    pause = threading.Event()
    return any(pause.wait(0.01) or any(line.endswith(ending) for line in told) for _ in range(6000))


def test_the_last_line_of_the_log_is_told(told: list[str], tmp_path: Path) -> None:
    log = tmp_path / "build.log"
    with build_progress.shown() as follow, follow(Build.of("axum", log)):
        log.write_text("   Compiling serde v1\n   Compiling tokio v1\n\n")
        assert wait_for(told, " s: Compiling tokio v1")
    assert all(line.startswith("axum: ") for line in told)


def test_nothing_is_told_after_the_end(told: list[str], tmp_path: Path) -> None:
    with build_progress.shown() as follow, follow(Build.of("axum", tmp_path / "build.log")):
        assert wait_for(told, " s")
    count = len(told)
    threading.Event().wait(0.05)
    assert len(told) == count


def test_the_log_of_an_earlier_build_is_not_told(told: list[str], tmp_path: Path) -> None:
    log = tmp_path / "build.log"
    log.write_text("earlier\n")
    with build_progress.shown() as follow, follow(Build.of("axum", log)):
        assert wait_for(told, " s")
    assert not [line for line in told if "earlier" in line]


def test_builds_of_several_threads_are_told_each_with_its_own_log(
    told: list[str], tmp_path: Path
) -> None:
    with (
        build_progress.shown() as follow,
        follow(Build.of("axum", tmp_path / "axum.log")),
        follow(Build.of("go", tmp_path / "go.log")),
    ):
        (tmp_path / "axum.log").write_text("Compiling tokio\n")
        (tmp_path / "go.log").write_text("go: downloading\n")
        assert wait_for(told, " s: Compiling tokio")
        assert wait_for(told, " s: go: downloading")
    ended = {line.partition(":")[0]: line for line in told}
    assert ended["axum"].endswith("Compiling tokio")
    assert ended["go"].endswith("go: downloading")


def test_a_terminal_has_a_line_for_each_build_until_it_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = io.StringIO()
    terminal = Console(file=screen, force_terminal=True, width=40, height=10)
    monkeypatch.setattr(build_progress, "Console", lambda **_: terminal)
    monkeypatch.setattr(build_progress, "UPDATES_PER_S", 100)

    def wait_to_see(text: str) -> bool:
        pause = threading.Event()
        return any(pause.wait(0.01) or text in screen.getvalue() for _ in range(6000))

    with build_progress.shown() as follow, follow(Build.of("axum", tmp_path / "axum.log")):
        with follow(Build.of("go", tmp_path / "go.log")):
            assert wait_to_see("axum: 0 s\n")
            assert wait_to_see("go: ")
        screen.truncate(0)
        assert wait_to_see("axum: ")
        assert "go: " not in screen.getvalue()
