"""Commands in hints: those that name frameworks find them when they are typed."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from plimsoll import cli
from plimsoll.campaign import framework as frameworks
from plimsoll.campaign import places, tool
from plimsoll.campaign.endpoints import ENDPOINTS
from plimsoll.errors import InputError
from plimsoll.install import readiness, requirements, roots, typed
from plimsoll.lab import checks, comparing

TABLE = """\
name = "{name}"
language = "Any"
version = "echo 1"
build = "touch done"
start = "true"
endpoints = ["empty"]
"""


def made(folder: Path, *names: str) -> Path:
    """A folder with frameworks that were never built."""
    for name in names:
        (folder / name).mkdir(parents=True)
        (folder / name / "framework.toml").write_text(TABLE.format(name=name))
    return folder


def chosen(folder: Path | None, *names: str) -> tuple[frameworks.Framework, ...]:
    return frameworks.choose(frameworks.locate(folder), names)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A current folder without frameworks."""
    monkeypatch.delenv(frameworks.VARIABLE, raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_frameworks_of_another_folder_are_named_with_it(here: Path) -> None:
    made(here / "my own", "a", "b")
    for given in (Path("my own"), here / "my own"):
        hint = typed.commands("install", chosen(given, "a", "b"))
        assert hint == "`plimsoll install a b --frameworks 'my own'`"


@pytest.mark.parametrize("below", [".", "deep/down"])
def test_frameworks_that_are_found_are_named_alone(
    here: Path, below: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(here / "frameworks", "a")
    (here / below).mkdir(parents=True, exist_ok=True)
    monkeypatch.chdir(here / below)
    for given in (None, here / "frameworks"):
        assert typed.commands("list", chosen(given, "a", "go")) == "`plimsoll list a go`"


def test_the_folder_of_the_variable_is_found(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made(here / "mine", "a")
    monkeypatch.setenv(frameworks.VARIABLE, str(here / "mine"))
    assert typed.commands("list", chosen(here / "mine", "a")) == "`plimsoll list a`"
    monkeypatch.setenv(frameworks.VARIABLE, str(here))
    assert typed.option(here / "mine" / "a") == " --frameworks mine"


def test_another_framework_of_the_same_name_is_not_the_one_that_is_meant(here: Path) -> None:
    made(here / "frameworks", "a", "go")
    (other,) = chosen(made(here / "mine", "a"), "a")
    assert typed.commands("install", [other]) == "`plimsoll install a --frameworks mine`"
    own = chosen(here / "mine", "go")
    place = places.own("frameworks")
    assert typed.commands("install", own) == f"`plimsoll install go --frameworks {place}`"


def test_each_folder_has_a_command(here: Path) -> None:
    both = chosen(made(here / "mine", "a", "b"), "a", "go", "b")
    hint = typed.commands("install", both)
    assert hint == "`plimsoll install a b --frameworks mine` and `plimsoll install go`"


def test_a_tool_is_found_by_its_name(here: Path) -> None:
    found = tool.named("jmeter")
    assert found is not None
    assert typed.commands("install", [found]) == "`plimsoll install jmeter`"


def test_what_comes_with_a_wheel_is_found_without_a_copy(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "BUNDLED", here / "wheel")
    monkeypatch.setenv(places.HOME, str(here / "home"))
    made(here / "wheel" / "frameworks", "ours")
    made(here / "mine", "a")
    assert typed.option(here / "mine" / "a") == " --frameworks mine"
    assert not (here / "home").exists()
    assert typed.commands("install", chosen(None, "ours")) == "`plimsoll install ours`"
    assert typed.option(here / "mine" / "ours") == " --frameworks mine"


@pytest.mark.parametrize("verb", [["check"], ["run", "quick", "--set", "frameworks=a"], ["list"]])
def test_what_a_verb_says_of_a_framework_that_is_not_built_installs_it(
    here: Path, verb: list[str]
) -> None:
    made(here / "mine", "a")
    words = [*verb, *([] if verb[0] == "run" else ["a"]), "--frameworks", "mine"]
    said = CliRunner(env={"COLUMNS": "200"}).invoke(cli.plimsoll, words)
    shown = f"{said.output}{said.stderr}{getattr(said.exception, 'hint', '')}"
    commands = re.findall("`plimsoll (install [^`]+)`", shown)
    assert set(commands) == {"install a --frameworks mine"}
    assert cli.ended(shlex.split(commands[0])) == 0
    assert readiness.absent(chosen(here / "mine", "a")[0]) is None


def test_a_root_is_made_by_the_command_of_its_hint(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(roots.DebianRoot, "is_made", False)
    (found,) = chosen(made(here / "mine", "a"), "a")
    [*_, root] = requirements.missing(replace(found, root="debian:trixie"))
    assert root.remedy == "run `plimsoll install a --frameworks mine`"


def test_hints_that_name_a_list_show_the_same_folder(here: Path) -> None:
    wanted = chosen(made(here / "mine", "a", "b"), "a", "b")
    with pytest.raises(InputError) as of_check:
        list(checks._serving(wanted, ["json"], print))
    assert of_check.value.problems[0].hint.startswith("`plimsoll list --frameworks mine` names")
    with pytest.raises(InputError) as of_comparison:
        comparing._require_served((wanted[0], wanted[1]), ENDPOINTS[1])
    hints = [one.hint for one in of_comparison.value.problems]
    assert hints == [f"see `plimsoll list {name} --frameworks mine`" for name in ("a", "b")]
