"""Files that cannot be read, and what is said of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll import texts
from plimsoll.campaign import documents
from plimsoll.errors import InputError, Problem


def problem(path: Path) -> Problem:
    with pytest.raises(InputError) as raised:
        documents.read(path)
    (only,) = raised.value.problems
    return only


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('name = "a"\nseed = = 3\n', 2),
        ('name = "a"\nname = "b"\n', 2),
        ('name = "a\n', 1),
        ('a = 1\nlist = [\n  "x",\n', 3),
        ("[table\n", 1),
        ("=\n", 1),
    ],
)
def test_a_syntax_error_names_its_line(tmp_path: Path, text: str, line: int) -> None:
    path = tmp_path / "broken.toml"
    path.write_text(text)
    found = problem(path)
    assert found.where == f"{path}:{line}"
    assert found.message.startswith("is not valid TOML: ")
    assert "(at " not in found.message


def test_a_file_that_is_not_there_has_a_similar_name(tmp_path: Path) -> None:
    (tmp_path / "quick.toml").touch()
    found = problem(tmp_path / "quik.toml")
    assert found == Problem(f"{tmp_path}/quik.toml", "no such file", "did you mean `quick.toml`?")


def test_a_folder_cannot_be_read(tmp_path: Path) -> None:
    assert "cannot be read" in problem(tmp_path).message


def test_bytes_that_are_no_text_are_named(tmp_path: Path) -> None:
    path = tmp_path / "latin.toml"
    path.write_bytes(b'name = "caf\xe9"')
    assert problem(path).message == "is not text in UTF-8 (byte 11)"


def test_a_path_in_the_current_folder_is_shown_from_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert texts.shown(tmp_path / "campaigns" / "a.toml") == "campaigns/a.toml"
    assert texts.shown(Path("campaigns/a.toml")) == "campaigns/a.toml"
    assert texts.shown(Path("/elsewhere/a.toml")) == "/elsewhere/a.toml"


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("jsn", "did you mean `json`?"),
        ("JSON", "did you mean `json`?"),
        ("getargs2048", "did you mean `getArgs2048`?"),
        ("x", "endpoints: `2048`, `getArgs2048`, `json`"),
    ],
)
def test_a_word_that_is_not_known_has_a_way_out(word: str, hint: str) -> None:
    assert documents.near(word, ("json", "2048", "getArgs2048"), "endpoints") == hint


def test_where_nothing_is_known_that_is_said() -> None:
    assert documents.near("x", (), "loads") == "there are no loads here"
