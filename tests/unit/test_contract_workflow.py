"""The workflow that starts every framework at night, and in a pull request those it changes."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

if TYPE_CHECKING:
    from collections.abc import Mapping

CHECKOUT = Path(__file__).parents[2]
WORKFLOW = CHECKOUT / ".github" / "workflows" / "contract.yml"
AUTHOR = ("-c", "user.name=a", "-c", "user.email=a@example.org")


def steps() -> list[dict[str, Any]]:
    return yaml.safe_load(WORKFLOW.read_text())["jobs"]["contract"]["steps"]


def commit(folder: Path, files: Mapping[str, str]) -> None:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    subprocess.run(["git", "add", "--all"], cwd=folder, check=True)
    subprocess.run(["git", *AUTHOR, "commit", "--quiet", "-m", "x"], cwd=folder, check=True)


def found_in(folder: Path) -> list[str]:
    """What the step that looks for changed frameworks leaves for those after it."""
    script = next(step["run"] for step in steps() if "changed" in step.get("name", ""))
    found = folder.parent / "environment"
    environment = {**os.environ, "GITHUB_ENV": str(found), "HOME": str(folder.parent)}
    subprocess.run(["sh", "-e", "-c", script], cwd=folder, env=environment, check=True)
    return found.read_text().splitlines()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "checkout"
    made.mkdir()
    subprocess.run(["git", "init", "--quiet"], cwd=made, check=True)
    names = ("go/main.go", "node/web.js", "swift-nio/Package.swift", "README.md")
    commit(made, {f"frameworks/{name}": "before" for name in names})
    return made


def test_every_target_is_one_of_the_makefile() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (CHECKOUT / "Makefile").read_text(), re.M))
    made = {words[1] for step in steps() if (words := step.get("run", "").split())[:1] == ["make"]}
    assert made == {"setup", "contract"}
    assert made <= targets


def test_a_pull_request_has_the_frameworks_whose_folders_it_changes(folder: Path) -> None:
    commit(folder, {"frameworks/swift-nio/Package.swift": "after", "frameworks/go/web.go": "new"})
    assert found_in(folder) == ["FRAMEWORK=go or swift-nio", "VARIANTS=go:all swift-nio:all"]


def test_the_page_beside_the_folders_is_no_framework(folder: Path) -> None:
    commit(folder, {"frameworks/README.md": "after"})
    assert found_in(folder) == ["FRAMEWORK=", "VARIANTS="]


def test_a_folder_that_is_gone_is_no_framework(folder: Path) -> None:
    (folder / "frameworks/node/web.js").unlink()
    commit(folder, {"frameworks/go/main.go": "after"})
    assert found_in(folder) == ["FRAMEWORK=go", "VARIANTS=go:all"]
