"""What is found in bodies that were written down under load."""

from dataclasses import replace
from pathlib import Path

import pytest

from plimsoll.campaign.endpoints import by_name
from plimsoll.campaign.requests import Expected
from plimsoll.conduct import recomputed_bodies
from plimsoll.conduct.written_bodies import FILE
from plimsoll.errors import EngineFailed
from plimsoll.recording import Recomputed, RecordedStage
from written_bodies import written

STAGES = (RecordedStage("warm_up", 0, 10, 1, 1, 1), RecordedStage("hold", 10, 20, 1, 1, 1))
(ECHO,) = by_name("json").exchanges
EXCHANGES = (by_name("empty").exchanges[0], ECHO, ECHO)
RIGHT = b'{"lastName": "Plimsoll", "firstName": "Samuel", "id": 1876}'
WRONG = RIGHT.replace(b"1876", b"1877")


def test_bodies_are_counted_by_name_and_by_whether_they_came_in_a_hold(tmp_path: Path) -> None:
    bodies = [(1, 5, WRONG), (1, 10, RIGHT), (2, 12, WRONG), (2, 19, RIGHT), (1, 20, RIGHT)]
    (found,) = recomputed_bodies.of(EXCHANGES, STAGES, [written(tmp_path, *bodies)])
    assert found == Recomputed(1, 5, 2, 3, 1, found.problem)
    assert "is not equal to" in found.problem


def test_bodies_of_several_hosts_are_counted_together(tmp_path: Path) -> None:
    folders = [tmp_path / "one", tmp_path / "two", tmp_path / "lost"]
    for folder in folders:
        folder.mkdir()
    for folder in folders[:2]:
        written(folder, (1, 10, RIGHT), (1, 12, WRONG))
    (found,) = recomputed_bodies.of(EXCHANGES, STAGES, folders)
    assert found == Recomputed(1, 4, 2, 4, 2, found.problem)


def test_what_was_asked_for_and_not_drawn_is_told_as_none(tmp_path: Path) -> None:
    assert recomputed_bodies.of(EXCHANGES, STAGES, [tmp_path]) == ()
    assert recomputed_bodies.of(EXCHANGES, STAGES, [written(tmp_path)]) == (
        Recomputed(1, 0, 0, 0, 0),
    )
    unknown = replace(ECHO, expected=Expected())
    assert recomputed_bodies.of((unknown,), STAGES, [tmp_path]) == ()


@pytest.mark.parametrize(("left", "where"), [(8, "record"), (20, "body")])
def test_a_file_that_was_cut_off_is_an_error(tmp_path: Path, left: int, where: str) -> None:
    file = written(tmp_path, (1, 10, RIGHT)) / FILE
    file.write_bytes(file.read_bytes()[:left])
    with pytest.raises(EngineFailed, match=f"has a truncated last {where}"):
        recomputed_bodies.of(EXCHANGES, STAGES, [tmp_path])
