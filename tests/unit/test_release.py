"""What a release is made of: one version, a page for the index, and a workflow that can run."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import yaml

import plimsoll
from plimsoll import _engine

CHECKOUT = Path(__file__).parents[2]
WORKFLOW = CHECKOUT / ".github" / "workflows" / "release.yml"


def project() -> dict[str, Any]:
    return tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]


def workflow() -> dict[str | bool, Any]:
    return yaml.safe_load(WORKFLOW.read_text())


def commands(job: dict[str, Any]) -> list[str]:
    return [step["run"] for step in job["steps"] if "run" in step]


def test_there_is_one_version() -> None:
    assert project()["version"] == plimsoll.__version__ == _engine.__version__


def test_the_page_for_the_index_links_to_nothing_that_the_index_does_not_have() -> None:
    page = (CHECKOUT / project()["readme"]).read_text()
    links = re.findall(r"\]\(([^)]+)\)", page)
    assert not [link for link in links if not link.startswith("https://")]


def test_a_release_is_made_by_targets_of_the_makefile() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (CHECKOUT / "Makefile").read_text(), re.M))
    made = [
        command.split()[1]
        for job in workflow()["jobs"].values()
        for command in commands(job)
        if command.startswith("make ")
    ]
    assert made
    assert set(made) <= targets


def test_a_wheel_is_installed_with_its_dependencies_from_the_index_before_it_is_published() -> None:
    assert "make dist" in commands(workflow()["jobs"]["build"])
    _, _, dist = (CHECKOUT / "Makefile").read_text().partition("\ndist:")
    tested = next(line for line in dist.splitlines() if "test_wheel.py" in line)
    assert "-k 'not linked'" in tested


def test_both_architectures_are_built_and_one_of_them_gives_the_sdist() -> None:
    rows = workflow()["jobs"]["build"]["strategy"]["matrix"]["include"]
    assert {row["runner"]: row["files"] for row in rows} == {
        "ubuntu-24.04": "dist/*",
        "ubuntu-24.04-arm": "dist/*.whl",
    }


def test_only_a_tag_is_published_after_all_was_built_and_without_a_secret() -> None:
    found = workflow()
    publish = found["jobs"]["publish"]
    assert found[True]["push"] == {"tags": ["v*"]}  # YAML 1.1 reads the key `on` as true
    assert publish["needs"] == "build"
    assert publish["if"] == "github.event_name == 'push'"
    assert publish["permissions"] == {"id-token": "write"}
    assert found["permissions"] == {"contents": "read"}
    assert "secrets." not in WORKFLOW.read_text()
    name = project()["name"].replace("-", "_")
    assert f"dist/{name}-${{GITHUB_REF_NAME#v}}.tar.gz" in commands(publish)[0]
