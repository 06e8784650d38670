"""What a shell offers while somebody types."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete

from plimsoll.campaign import framework, places
from plimsoll.cli import VERBS, plimsoll
from plimsoll.cli.completion import VARIABLE
from plimsoll.errors import InputError


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with frameworks, a tool and campaigns, and some frameworks of Plimsoll's own."""
    for name in (
        "frameworks/go",
        "frameworks/gin",
        "frameworks/node",
        "brought/go",
        "brought/hyper",
    ):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "framework.toml").touch()
    own = places.own
    monkeypatch.setattr(
        places, "own", lambda kind: tmp_path / "brought" if kind == "frameworks" else own(kind)
    )
    (tmp_path / "tools" / "jmeter").mkdir(parents=True)
    (tmp_path / "tools" / "jmeter" / "tool.toml").touch()
    (tmp_path / "campaigns").mkdir()
    (tmp_path / "campaigns" / "mine.toml").touch()
    (tmp_path / "campaigns" / "notes.txt").touch()
    (tmp_path / "other.toml").touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def offered(*typed: str) -> list[str]:
    *before, incomplete = typed
    found = ShellComplete(plimsoll, {}, "plimsoll", VARIABLE).get_completions(before, incomplete)
    return [one.value for one in found]


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        (("lo",), ["load"]),
        (("--v",), ["--version"]),
        (("check", "g"), ["gin", "go"]),
        (("check", "go", ""), ["gin", "node", "hyper"]),
        (("run", "x", "--set", "frameworks=h"), ["frameworks=hyper"]),
        (("install", "j"), ["jmeter"]),
        (("check", "j"), []),
        (("run", "m"), ["mine"]),
        (("run", "ca"), ["campaigns/"]),
        (("run", "campaigns/"), ["campaigns/mine.toml"]),
        (("run", "o"), ["other.toml"]),
        (("install", "--campaign", "qu"), ["quick"]),
        (("run", "x", "--set", "f"), ["frameworks="]),
        (("run", "x", "--set", "frameworks=go,n"), ["frameworks=go,node"]),
        (("run", "x", "--set", "endpoints=js"), ["endpoints=json", "endpoints=json-in"]),
        (("run", "x", "--set", "seed=1"), []),
        (("load", "x", "--arrivals", "p"), ["poisson"]),
        (("load", "--pi"), ["--pipeline"]),
        (("completion", "z"), ["zsh"]),
    ],
)
def test_what_begins_with_the_word_is_offered(typed: tuple[str, ...], words: list[str]) -> None:
    assert offered(*typed) == words


@pytest.mark.parametrize(
    "typed",
    [("judge", "resu"), ("run", "x", "--into", "resu"), ("load", ":80", "--record", "resu")],
    ids=["argument", "into", "record"],
)
def test_the_shell_offers_folders_where_one_is_meant(typed: tuple[str, ...]) -> None:
    *before, incomplete = typed
    shell = ShellComplete(plimsoll, {}, "plimsoll", VARIABLE)
    (one,) = shell.get_completions(before, incomplete)
    assert (one.type, one.value) == ("dir", "resu")


def test_every_verb_is_offered_first() -> None:
    assert offered("") == list(VERBS)


def test_before_anything_is_typed_campaigns_are_offered_by_name() -> None:
    assert {"mine", "quick"} <= set(offered("run", ""))
    assert not [word for word in offered("run", "") if "/" in word or "." in word]


def test_where_there_are_no_frameworks_none_are_offered(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nowhere(_given: Path | None = None) -> Path:
        raise InputError([])

    monkeypatch.setattr(framework, "search", nowhere)
    assert offered("check", "g") == []


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_the_words_for_a_shell_name_the_program(
    shell: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert plimsoll.main(["completion", shell], prog_name="plimsoll", standalone_mode=False) == 0
    said = capsys.readouterr().out
    assert f"{VARIABLE}={shell}_complete" in said
    assert "plimsoll" in click.unstyle(said)
