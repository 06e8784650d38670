"""Frameworks as they were at a revision, written once for each content."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from plimsoll.errors import InputError
from plimsoll.lab import revisions

TOY = Path(__file__).parents[2] / "end_to_end" / "frameworks" / "toy"


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=a", "-c", "user.email=a@localhost")
    command = ("git", "-C", str(folder), *identity, *arguments)
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of frameworks in a repository: `old` and `HEAD` differ, `same` is as `HEAD`."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    root = tmp_path / "repository" / "frameworks"
    shutil.copytree(TOY, root / "toy", symlinks=False)
    git(root, "init", "--quiet", "..")
    for tag, text in (("old", "1"), ("head", "2")):
        (root / "toy" / "extra.txt").write_text(text, encoding="utf-8")
        git(root, "add", ".")
        git(root, "commit", "--quiet", "-m", tag)
        git(root, "tag", tag)
    (root / "elsewhere.txt").write_text("3", encoding="utf-8")
    git(root, "add", ".")
    git(root, "commit", "--quiet", "-m", "same")
    return root


def test_each_revision_has_its_own_content(repository: Path) -> None:
    found = [revisions.framework(name, "toy", repository) for name in ("old", "HEAD")]
    assert [(one.folder / "extra.txt").read_text(encoding="utf-8") for one in found] == ["1", "2"]
    assert {one.reference for one in found} == {"toy"}


def test_the_same_content_is_the_same_folder_and_keeps_its_build(repository: Path) -> None:
    first = revisions.framework("head", "toy", repository)
    (first.folder / ".build").mkdir()
    assert revisions.framework("HEAD", "toy", repository).folder == first.folder
    assert (first.folder / ".build").is_dir()


def test_a_revision_has_the_short_name_of_its_commit(repository: Path) -> None:
    git(repository, "tag", "-a", "-m", "annotated", "named")
    whole = git(repository, "rev-parse", "HEAD").strip()
    assert {revisions.commit(name, repository) for name in ("HEAD", "named")} == {whole[:7]}
    assert revisions.commit("old", repository) == git(repository, "rev-parse", "old")[:7]
    assert revisions.commit("HEAD^{tree}", repository) == ""


def test_what_is_not_committed_is_left_out(repository: Path) -> None:
    (repository / "toy" / "extra.txt").write_text("uncommitted", encoding="utf-8")
    found = revisions.framework("HEAD", "toy", repository)
    assert (found.folder / "extra.txt").read_text(encoding="utf-8") == "2"


@pytest.mark.parametrize(
    ("revision", "name", "part"),
    [
        ("nowhere", "toy", "unknown revision `nowhere`"),
        ("--all", "toy", "unknown revision `--all`"),
        ("HEAD", "other", "revision `HEAD` has no framework `other`"),
    ],
)
def test_what_is_not_there_is_named(repository: Path, revision: str, name: str, part: str) -> None:
    with pytest.raises(InputError, match=part):
        revisions.framework(revision, name, repository)


def test_a_folder_in_no_repository_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    shutil.copytree(TOY, tmp_path / "toy", symlinks=False)
    with pytest.raises(InputError, match="not in a git repository"):
        revisions.framework("HEAD", "toy", tmp_path)
