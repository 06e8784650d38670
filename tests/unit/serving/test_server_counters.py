"""What a server says it counted, found in its log."""

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.serving import server_counters

STOPPED = '{"event": "stopped", "requests_received": 7, "sent_bytes": 99}'


def log(folder: Path, *lines: str) -> Path:
    path = folder / "server.log"
    path.write_text("\n".join(lines))
    return path


def test_the_reference_server_says_at_its_end_what_it_counted(tmp_path: Path) -> None:
    path = log(tmp_path, '{"event": "listening", "address": "127.0.0.1:1"}', STOPPED, "")
    assert server_counters.read("reference", path) == {"requests_received": 7, "sent_bytes": 99}


@pytest.mark.parametrize("line", ["", "not JSON", "[1]", '{"event": "listening"}', '"stopped"'])
def test_a_server_that_did_not_say_has_not_counted(tmp_path: Path, line: str) -> None:
    assert server_counters.read("reference", log(tmp_path, line)) is None


def test_what_another_framework_says_is_no_count(tmp_path: Path) -> None:
    assert server_counters.read("go", log(tmp_path, STOPPED)) is None


def test_a_log_that_is_not_there_says_nothing(tmp_path: Path) -> None:
    assert server_counters.read("reference", tmp_path / "server.log") is None
