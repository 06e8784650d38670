"""The action and the workflow to copy: commands are understood, steps end as they should."""

from __future__ import annotations

import re
import shlex
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from plimsoll.campaign.framework import find, read
from plimsoll.cli import compare

CHECKOUT = Path(__file__).parents[2]
FILES = ("action.yml", "compare.yml")
PAGES = ("README.md", "docs/compare.md", "docs/ci.md")

FAKE = """#!/bin/sh
for word; do
  [ -n "$SAYS$FAILS" ] && [ "$last" = --markdown ] && echo "**the answer$FAILS**" > "$word"
  last=$word
done
echo "error: $CODE" >&2
[ -z "$SAYS" ] || echo '{"answer": "slower", "limit": "crossed"}'
exit $CODE
"""
"""Stands for `plimsoll`; prints an answer when `SAYS` is set, and exits with `CODE`.

Markdown is written of an answer, and of what `FAILS`.
"""


def content(name: str) -> dict[str, Any]:
    return yaml.safe_load((CHECKOUT / "ci" / name).read_text(encoding="utf-8"))


def steps(name: str) -> list[dict[str, Any]]:
    found = content(name)
    return found["runs"]["steps"] if "runs" in found else found["jobs"]["compare"]["steps"]


def typed() -> Iterator[tuple[str, list[str]]]:
    """Every `plimsoll compare` of pages and files, with what is typed after it."""
    for page in PAGES:
        text = (CHECKOUT / page).read_text(encoding="utf-8").replace("\\\n", "")
        for line in re.findall(r"^(?:\$ )?plimsoll compare .*$", text, re.MULTILINE):
            words = shlex.split(line.removeprefix("$ "), comments=True)
            yield f"{page}: {line}", words[2:]
    (run,) = [step["run"] for step in steps("action.yml") if step.get("id") == "compare"]
    (line,) = re.findall(r"plimsoll\" compare (.*?) > plimsoll-compare.json", run)
    values = {"CONNECTIONS": "64", "BUDGET": "300s", "MAX_REGRESSION": "5%"}
    words = [values.get(word.removeprefix("$"), word) for word in shlex.split(line)]
    yield "action.yml", words


@pytest.mark.parametrize(("where", "arguments"), list(typed()))
def test_a_documented_command_is_understood(where: str, arguments: list[str]) -> None:
    with compare.command.make_context("compare", arguments) as context:
        assert isinstance(context, click.Context), where


def test_ci_installs_the_packages_of_the_host_and_none_of_roots() -> None:
    script = (CHECKOUT / ".ci" / "run").read_text(encoding="utf-8")
    (function,) = re.findall(
        r"^packages_of_frameworks\(\) \{.*?^\}", script, re.MULTILINE | re.DOTALL
    )
    command = ["bash", "-ec", f"{function}\npackages_of_frameworks"]
    ran = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=True)
    variants = [one for folder in find(CHECKOUT / "frameworks") for one in read(folder)]
    assert ran.stdout.splitlines() == sorted(
        {
            need.name
            for variant in variants
            for need in variant.needs
            if need.kind == "apt" and not variant.root
        }
    )


@pytest.mark.parametrize("name", FILES)
def test_every_script_is_one(name: str) -> None:
    scripts = [step["run"] for step in steps(name) if "run" in step]
    assert scripts
    for script in scripts:
        subprocess.run(["bash", "-n"], input=script, text=True, check=True)


def test_the_workflow_gives_the_action_what_it_takes() -> None:
    action = content("action.yml")
    (given,) = [step["with"] for step in steps("compare.yml") if step["name"] == "Compare"]
    required = {name for name, one in action["inputs"].items() if one.get("required")}
    assert required <= set(given) <= set(action["inputs"])


def test_no_input_is_pasted_into_a_script() -> None:
    for name in FILES:
        for step in steps(name):
            assert "${{" not in step.get("run", ""), "an input could hold a command"


@pytest.mark.parametrize(
    ("code", "says", "fails", "strict", "ends"),
    [
        (0, "1", "", "false", 0),
        (7, "1", "", "false", 7),
        (8, "1", "", "false", 0),
        (8, "1", "", "true", 8),
        (3, "1", "", "false", 0),
        (3, "", " no core", "false", 3),
        (4, "", " it died", "false", 4),
        (2, "", "", "false", 2),
    ],
)
def test_the_step_fails_where_it_should_and_tells_of_this_comparison_only(
    tmp_path: Path, code: int, says: str, fails: str, strict: str, ends: int
) -> None:
    for old in ("json", "md", "xml"):
        (tmp_path / f"plimsoll-compare.{old}").write_text("of an earlier step", encoding="utf-8")
    program = tmp_path / "plimsoll" / "bin" / "plimsoll"
    program.parent.mkdir(parents=True)
    program.write_text(FAKE, encoding="utf-8")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    (step,) = [step for step in steps("action.yml") if step.get("id") == "compare"]
    environment = {
        **{name: "x" for name in step["env"]},
        "PATH": "/usr/bin:/bin",
        "RUNNER_TEMP": str(tmp_path),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
        "GITHUB_OUTPUT": str(tmp_path / "output"),
        "FAIL_ON_UNDECIDED": strict,
        "CODE": str(code),
        "SAYS": says,
        "FAILS": fails,
    }
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    ran = subprocess.run(
        command, cwd=tmp_path, env=environment, check=False, capture_output=True, text=True
    )
    assert ran.returncode == ends
    assert ran.stderr == f"error: {code}\n"
    left = (tmp_path / "plimsoll-compare.xml", tmp_path / "plimsoll-compare.md")
    assert [one.exists() for one in left] == [False, bool(says or fails)]
    if says:
        assert (tmp_path / "summary").read_text() == "**the answer**\n"
        assert (tmp_path / "output").read_text() == "answer=slower\nlimit=crossed\n"
    else:
        said = f"**the answer{fails}**" if fails else f"    error: {code}"
        assert (tmp_path / "summary").read_text() == f"{said}\n"
        assert not (tmp_path / "output").exists()
