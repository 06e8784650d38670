"""Progress of a build: what is told while it goes on."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from plimsoll.cli import build_progress, messages, progress


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
    with build_progress.shown("axum", log):
        log.write_text("   Compiling serde v1\n   Compiling tokio v1\n\n")
        assert wait_for(told, " s: Compiling tokio v1")
    assert all(line.startswith("axum: ") for line in told)


def test_nothing_is_told_after_the_end(told: list[str], tmp_path: Path) -> None:
    with build_progress.shown("axum", tmp_path / "build.log"):
        assert wait_for(told, " s")
    count = len(told)
    threading.Event().wait(0.05)
    assert len(told) == count


def test_the_log_of_an_earlier_build_is_not_told(told: list[str], tmp_path: Path) -> None:
    log = tmp_path / "build.log"
    log.write_text("earlier\n")
    with build_progress.shown("axum", log):
        assert wait_for(told, " s")
    assert not [line for line in told if "earlier" in line]
