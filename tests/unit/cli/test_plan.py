"""What `plimsoll plan` says besides the trials."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from plimsoll.cli import plimsoll

LINES = """
name = "lines"
kind = "line"
frameworks = ["go", "spring"]
endpoints = ["json"]

[line]
p99 = "20ms"
"""


def test_a_plan_of_load_lines_says_what_warm_ups_take_besides_the_budget(tmp_path: Path) -> None:
    file = tmp_path / "lines.toml"
    file.write_text(LINES, encoding="utf-8")
    ran = CliRunner().invoke(plimsoll, ["plan", str(file)])
    searches = "2 searches of at most 90 s each, plus 10 s of warm-up for each try of spring"
    assert f"{searches}; before them: 2 trials" in ran.output


def test_a_plan_begins_with_what_it_takes_and_lists_trials_where_that_is_wanted(
    tmp_path: Path,
) -> None:
    file = tmp_path / "lines.toml"
    file.write_text(LINES, encoding="utf-8")
    brief = CliRunner().invoke(plimsoll, ["plan", str(file)]).output
    listed = CliRunner().invoke(plimsoll, ["plan", str(file), "-v"]).output
    assert "2 trials" in brief.splitlines()[0]
    assert brief.splitlines()[0] == listed.splitlines()[0]
    ids = ("go.json.peak.1", "spring.json.peak.1")
    assert [name for name in ids if name in brief] == []
    assert [name for name in ids if name in listed] == [*ids]
