"""Tools: their folders are found, their files read, and every mistake in them is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.campaign import tool
from plimsoll.campaign.framework import Requirement
from plimsoll.errors import InputError

TEXT = """\
name = "saw"
site = "https://example.org"
needs = [{ kind = "command", name = "file", remedy = "apt-get install file" }]
build = "touch $BUILD/saw"
version = "echo 1.2"
notes = ["It is sharp."]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = tmp_path / "tools" / "saw"
    made.mkdir(parents=True)
    (made / tool.FILE).write_text(TEXT)
    monkeypatch.chdir(tmp_path)
    return made


def test_a_tool_has_all_that_its_file_says(folder: Path) -> None:
    found = tool.named("saw")
    assert found == tool.Tool(
        name="saw",
        folder=folder,
        site="https://example.org",
        needs=(Requirement("command", "file", "apt-get install file"),),
        build="touch $BUILD/saw",
        version="echo 1.2",
        notes=("It is sharp.",),
    )
    assert found is not None
    assert (found.title, found.slug, found.reference) == ("saw", "saw", "saw")


def test_tools_lie_beside_or_above_the_current_folder(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    below = folder / "deep" / "er"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    assert tool.locate() == folder.parent
    assert tool.names() == ("saw",)


def test_elsewhere_they_are_those_of_the_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert tool.names() == ("jmeter", "swift")
    found = tool.named("jmeter")
    assert found is not None
    assert [need.name for need in found.needs] == ["8", "mvn"]


@pytest.mark.usefixtures("folder")
def test_a_name_that_is_no_tool_is_none() -> None:
    assert tool.named("jmeter") is None


def test_every_mistake_is_named_with_its_line(folder: Path) -> None:
    (folder / tool.FILE).write_text('name = "axe"\nsite = 3\nstart = "x"\nbuild = "true"\n')
    with pytest.raises(InputError) as error:
        tool.named("saw")
    said = [str(problem) for problem in error.value.problems]
    assert any("tool.toml:1: `name` is `axe`, but the folder is `saw`" in one for one in said)
    assert any("tool.toml:2: `site` must be a quoted" in one for one in said)
    assert any("tool.toml:3: unknown key `start`" in one for one in said)
    assert any("`version` is missing" in one for one in said)
