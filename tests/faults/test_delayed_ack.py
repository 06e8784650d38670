"""Waits for delayed ACKs are found by `delayed_ack`, and not where the server itself waits."""

from __future__ import annotations

from pathlib import Path

import pytest

from faults.trials import JUDGED, Seen, Server, Trial, seen

pytestmark = [pytest.mark.long, pytest.mark.timeout(120)]

PROGRAM = str(Path(__file__).parent / "parts_server.py")
LOAD = ("-c", "8", "-d", "2s", "--timeout", "5s")


def load_of(folder: Path, *options: str) -> Seen:
    given = seen(Trial(Server((PROGRAM, *options)), LOAD), folder)
    assert given.code in JUDGED, given.said
    return given


def test_two_sends_with_nagles_algorithm_wait_for_the_delayed_ack(tmp_path: Path) -> None:
    given = load_of(tmp_path)
    assert given.level("delayed_ack") == "doubtful"
    assert "Nagle's algorithm" in str(given.sentences("delayed_ack"))


@pytest.mark.parametrize("options", [("--no-delay",), ("--no-delay", "--wait-ms", "40")])
def test_two_sends_without_it_do_not_even_where_the_server_waits_as_long(
    options: tuple[str, ...], tmp_path: Path
) -> None:
    given = load_of(tmp_path, *options)
    assert given.level("delayed_ack") == "sound", given.sentences("delayed_ack")
