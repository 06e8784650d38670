"""The commit of a framework's folder."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from plimsoll.conduct import commit

AUTHOR = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")


def git(folder: Path, *words: str) -> str:
    command = ["git", *AUTHOR, "-C", str(folder), *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def framework(tmp_path: Path) -> Path:
    """A framework in a repository of one commit."""
    folder = tmp_path / "frameworks" / "tiny"
    folder.mkdir(parents=True)
    (folder / "framework.toml").write_text('name = "tiny"\n')
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "first")
    commit.commit.cache_clear()
    return folder


def test_it_is_the_one_that_is_checked_out(framework: Path) -> None:
    assert commit.commit(framework) == git(framework, "rev-parse", "--short=12", "HEAD")


def test_changes_are_told(framework: Path) -> None:
    (framework / "framework.toml").write_text('name = "other"\n')
    assert commit.commit(framework) == f"{git(framework, 'rev-parse', '--short=12', 'HEAD')}-dirty"


def test_a_folder_that_a_repository_around_it_does_not_know_has_none(framework: Path) -> None:
    installed = framework.parents[1] / "venv" / "tiny"
    installed.mkdir(parents=True)
    (installed / "framework.toml").write_text('name = "tiny"\n')
    assert commit.commit(installed) == ""


def test_without_a_repository_or_git_there_is_none(
    framework: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert commit.commit(tmp_path / "nowhere") == ""
    monkeypatch.setenv("PATH", "")
    assert commit.commit(framework) == ""
