"""Rows that stay on a host are put aside, wherever there is room."""

from __future__ import annotations

import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from plimsoll.drivers.records import ROWS
from plimsoll.hosts.agent import kept_rows
from plimsoll.hosts.agent.agent import Agent
from plimsoll.hosts.answers import Stayed, StepState
from small_disks import small_disk

ROOM = 1 << 20


def load(folder: Path, size: int = 100) -> Path:
    """What a load leaves in the folder of its agent."""
    made = folder / "agent" / "load"
    made.mkdir(parents=True)
    (made / ROWS[0]).write_bytes(bytes(size))
    (made / ROWS[1]).write_bytes(b"connections")
    (made / "tls-key.pem").write_text("secret")
    return made


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_rows_are_put_where_they_stay(tmp_path: Path) -> None:
    made = load(tmp_path)
    stayed = kept_rows.put(made, ROWS, tmp_path / "rows" / "now")
    assert (stayed.folder, stayed.error) == (str(tmp_path / "rows" / "now"), None)
    assert names(tmp_path / "rows" / "now") == {*ROWS}
    assert names(made) == {"tls-key.pem"}


def test_rows_of_another_disk_are_copied_there(tmp_path: Path) -> None:
    made = load(tmp_path)
    with small_disk(tmp_path / "rows", 1) as disk:
        assert kept_rows.put(made, ROWS, disk / "now").error is None
        assert names(disk / "now") == {*ROWS}
        assert names(made) == {"tls-key.pem"}


def test_rows_without_room_outlive_the_agent_beside_its_folder(tmp_path: Path) -> None:
    made = load(tmp_path, 2 * ROOM)
    with small_disk(tmp_path / "rows", 1) as disk:
        stayed = kept_rows.put(made, ROWS, disk / "now")
        assert not names(disk), "a part of the rows is of no use to anyone"
    assert stayed.error is not None
    assert "No space left on device" in stayed.error.message
    place = Path(stayed.folder)
    assert place.parent == tmp_path
    assert names(place) == {*ROWS}, "no key is left"
    assert (place / ROWS[0]).stat().st_size == 2 * ROOM
    assert not place.stat().st_mode & 0o077


def kept(agent: Agent) -> StepState:
    """Has rows put aside, ordered by a lab that was cut off after the first order."""
    agent.keep("now")
    agent.keep("now")
    while not (state := agent.keeping()).has_ended:
        time.sleep(0.01)
    return state


@pytest.mark.parametrize("rows", [None, SimpleNamespace(files=(Path("/tool/log.tsv"),))])
def test_an_agent_puts_aside_what_its_load_generator_wrote_and_once_only(
    tmp_path: Path, rows: Any
) -> None:
    made = load(tmp_path)
    (made / "log.tsv").write_text("1 2 3")
    agent = Agent(tmp_path / "agent", tmp_path / "rows")
    result = SimpleNamespace(driven=SimpleNamespace(rows=rows))
    own: Any = agent
    own._load = SimpleNamespace(result=result, kept=None)
    state = kept(agent)
    assert (state.error, state.given) == (None, Stayed(str(tmp_path / "rows" / "now")))
    assert names(tmp_path / "rows" / "now") == {*ROWS, *(["log.tsv"] if rows else [])}
