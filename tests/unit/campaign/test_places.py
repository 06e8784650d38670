"""Where frameworks, tools and campaigns are found, and what becomes of those of a wheel."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from plimsoll import __version__
from plimsoll.campaign import framework, places, tool
from plimsoll.errors import InputError, StorageError

CHECKOUT = Path(__file__).parents[3]


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What a wheel holds, read-only, with what Python leaves there; an empty current folder."""
    bundled = tmp_path / "site-packages" / "plimsoll" / "bundled"
    for name in ("frameworks/go/framework.toml", "tools/saw/tool.toml", "campaigns/quick.toml"):
        (bundled / name).parent.mkdir(parents=True)
        (bundled / name).write_text("")
    (bundled / "frameworks" / "go" / "run.sh").touch(0o755)
    (bundled / "frameworks" / "go" / "__pycache__").mkdir()
    (bundled / "frameworks" / "go" / "run.sh").chmod(0o555)
    (bundled / "frameworks" / "go").chmod(0o555)
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.delenv("PLIMSOLL_FRAMEWORKS", raising=False)
    monkeypatch.setattr(places, "BUNDLED", bundled)
    monkeypatch.setenv(places.HOME, str(tmp_path / "home"))
    return bundled


def test_frameworks_of_a_wheel_are_copied_once_for_their_builds(
    wheel: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = framework.locate()
    assert root.parent.parent == tmp_path / "home"
    assert root.parent.name.startswith(f"{__version__}-")
    assert framework.find(root) == (root / "go",)
    assert os.access(root / "go" / "run.sh", os.X_OK)
    assert (root / "go").stat().st_mode & 0o200
    assert not (root / "go" / "__pycache__").exists()
    assert str(root.parent) in capsys.readouterr().err
    (root / "go" / ".build").mkdir()
    assert framework.locate() == root
    assert tool.locate() == root.parent / "tools"
    assert capsys.readouterr().err == ""
    assert not list(wheel.rglob(".build"))
    assert [path.name for path in (tmp_path / "home").iterdir()] == [root.parent.name]


def test_names_are_known_before_anything_is_copied(wheel: Path, tmp_path: Path) -> None:
    assert framework.search() == wheel / "frameworks"
    assert tool.names() == ("saw",)
    assert list(places.campaigns()) == ["quick"]
    assert not (tmp_path / "home").exists()


def test_a_wheel_with_other_files_has_a_copy_of_its_own(
    wheel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = framework.locate()
    other = wheel.with_name("other")
    (other / "frameworks" / "go").mkdir(parents=True)
    (other / "frameworks" / "go" / "framework.toml").write_text("# changed")
    monkeypatch.setattr(places, "BUNDLED", other)
    assert framework.locate() != first


@pytest.mark.usefixtures("wheel")
def test_processes_that_copy_at_once_get_one_complete_copy() -> None:
    with ThreadPoolExecutor(8) as at_once:
        (root,) = set(at_once.map(lambda _: framework.locate(), range(8)))
    assert framework.find(root)
    assert [path.name for path in root.parent.parent.iterdir()] == [root.parent.name]


@pytest.mark.usefixtures("wheel")
def test_a_home_that_cannot_be_written_is_named_with_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv(places.HOME, str(tmp_path / "file"))
    with pytest.raises(StorageError, match="cannot be written") as raised:
        framework.locate()
    assert places.HOME in raised.value.hint


def test_the_home_is_the_one_named_or_that_of_the_user_s_data(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(places.HOME, raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    assert places.home() == Path("/data/plimsoll")
    monkeypatch.setenv("XDG_DATA_HOME", "relative")
    monkeypatch.setenv("HOME", "/users/me")
    assert places.home() == Path("/users/me/.local/share/plimsoll")


def test_the_cache_is_the_one_named_or_that_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/cache")
    assert places.user_cache() == Path("/cache/plimsoll")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", "/users/me")
    assert places.user_cache() == Path("/users/me/.cache/plimsoll")


@pytest.mark.parametrize(
    ("folder", "variable"), [(places.home, places.HOME), (places.user_cache, "XDG_CACHE_HOME")]
)
def test_a_user_without_a_home_is_told_what_to_set(
    folder: Callable[[], Path], variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none() -> Path:
        raise RuntimeError("Could not determine home directory.")

    for name in (places.HOME, "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", none)
    with pytest.raises(StorageError, match="this user has no home folder") as raised:
        folder()
    assert raised.value.hint == f"set {variable} to a folder"


def test_in_a_checkout_all_is_used_where_it_lies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    quick = places.campaign_file(Path("quick"))
    assert quick == CHECKOUT / "campaigns" / "quick.toml"


def test_a_campaign_here_comes_before_one_of_the_same_name(wheel: Path) -> None:
    ours = places.campaign_file(Path("quick"))
    assert ours.parent.name == places.CAMPAIGNS
    assert not ours.is_relative_to(wheel)
    Path("campaigns").mkdir()
    mine = Path.cwd() / "campaigns" / "quick.toml"
    mine.touch()
    assert places.campaign_file(Path("quick")) == mine
    Path("quick").touch()
    assert places.campaign_file(Path("quick")) == Path("quick")


@pytest.mark.usefixtures("wheel")
@pytest.mark.parametrize(
    ("typed", "where", "message"),
    [
        ("quik", "", "there is no campaign `quik`"),
        ("quick.toml", "quick.toml", "there is no such file"),
        ("campaigns/quick.toml", "campaigns/quick.toml", "there is no such file"),
        ("x" * 300, "", f"there is no campaign `{'x' * 300}`"),
    ],
)
def test_a_campaign_that_is_not_there_is_refused_with_the_names_of_those_that_are(
    typed: str, where: str, message: str
) -> None:
    with pytest.raises(InputError) as raised:
        places.campaign_file(Path(typed))
    (found,) = raised.value.problems
    assert (found.where, found.message) == (where, message)
    assert "`quick`" in found.hint
