"""`plimsoll audit`, as it is typed."""

from __future__ import annotations

import codecs
import io
import json
import re
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from plimsoll.cli import audit
from plimsoll.errors import InputError, Problem
from plimsoll.lab import audits

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "published"
LOGS = GOLDEN.with_name("intake")


def ran(*arguments: str, into: str = "", standalone: bool = False):
    return CliRunner().invoke(
        audit.command, list(arguments), input=into, standalone_mode=standalone
    )


def refused(file: str) -> Problem:
    """The only problem of a file that is refused."""
    error = ran(file).exception
    assert isinstance(error, InputError)
    (problem,) = error.problems
    return problem


def golden(name: str) -> str:
    return str(GOLDEN / name)


def test_a_file_is_read_judged_and_told() -> None:
    result = ran(golden("hey-files.txt"))
    assert result.return_value == 1
    assert "hey, 2.09 s, 36,465 requests per second, 75,292 failed" in result.output
    assert "void" in result.output
    assert "→ Find out why requests fail" in result.output
    assert "checks found no problem: figures_consistent" in result.output
    assert "✓ sound" not in result.output


@pytest.mark.parametrize(
    "name",
    [
        "ab-sound.tsv", "h2load-sound.tsv", "k6-mixed.csv", "oha-sound.csv", "vegeta-sound.csv",
        "vegeta-mixed.json", "jmeter-5.6.3-written.csv", "jmeter-5.6.3-written.jtl",
    ],
)  # fmt: skip
def test_a_log_of_requests_is_refused_with_the_verb_that_reads_it(
    name: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_bytes(codecs.BOM_UTF8 + (LOGS / name).read_bytes())
    for file in (LOGS / name, path):
        problem = refused(str(file))
        tool = name.partition("-")[0]
        assert problem.message == f"is a per-request log of `{tool}`, not its printed results"
        assert problem.hint == "use `plimsoll import` for per-request logs"


@pytest.mark.parametrize("content", [(LOGS / "ab-percentiles.csv").read_bytes(), b"a,b\n1,2\n"])
def test_what_no_importer_reads_is_refused_with_the_formats(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(content)
    problem = refused(str(path))
    assert problem.message.startswith("is in no known format")
    assert problem.hint.startswith("supported: ")


def test_sound_figures_are_called_so_and_shown_where_asked_for() -> None:
    result = ran(golden("ab-sound.txt"), "--all")
    assert result.return_value == 0
    assert "✓ sound  figures_consistent" in result.output
    assert "not checked  cpu_bounds: it needs" in result.output
    assert "These figures are consistent." in result.output


@pytest.mark.parametrize("width", [40, 60, 80])
def test_no_line_ends_in_spaces_and_no_number_is_apart_from_its_unit(
    width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    lines = ran(golden("wrk-freeze.txt"), "--all").stdout.splitlines()
    assert [line for line in lines if line != line.rstrip()] == []
    assert [line for line in lines if re.match(r" *(µs|ms|s|%|kB|MB)\b", line)] == []
    assert max(map(len, lines)) <= width


def test_the_conclusion_says_what_the_verdicts_say(tmp_path: Path) -> None:
    failed = ran(golden("hey-status.txt")).output
    assert "Too many requests failed to quote these figures" in failed
    assert "Some of these figures are impossible" not in failed
    changed = Path(golden("ab-sound.txt")).read_text(encoding="utf-8").replace(" 20000\n", " 900\n")
    file = tmp_path / "changed"
    file.write_text(changed)
    assert "Some of these figures are impossible." in ran(str(file)).output
    both = " ".join(ran(str(file), golden("hey-status.txt")).output.split())
    assert "Some of these figures are impossible, and too many requests failed." in both


def test_a_time_of_nothing_is_shorter_than_what_the_tool_counts_in() -> None:
    output = ran(golden("ab-freeze.txt")).output
    assert "mean < 1 ms, p50 < 1 ms" in " ".join(output.split())
    assert "0 ns" not in output


def test_a_fact_that_was_given_decides_on_wrk(tmp_path: Path) -> None:
    file = tmp_path / "wrk"
    printed = Path(golden("wrk-sound.txt")).read_text(encoding="utf-8")
    file.write_text(
        printed.replace("50 connections", "2 connections").replace("292.00us", "1.20ms")
    )
    assert ran(str(file)).return_value == 0
    assert ran(str(file), "--set", "in_flight_each=1").return_value == 1


def test_what_comes_in_by_a_pipe_is_read() -> None:
    result = ran("-", into=Path(golden("wrk-reset.txt")).read_text(encoding="utf-8"))
    assert result.return_value == 1
    assert "(stdin)" in result.output


def test_json_has_figures_verdicts_and_what_could_not_be_checked() -> None:
    result = ran(golden("ab-sound.txt"), golden("table.toml"), "--json")
    found = json.loads(result.output)
    assert [one["figures"]["tool"] for one in found["results"]] == ["ab", "wrk 4.1.0", "wrk 4.1.0"]
    assert {"check", "level", "sentences", "source"} <= found["results"][0]["verdicts"][0].keys()
    assert "cpu_bounds" in found["results"][0]["not_checked"]
    assert found["level"] == "doubtful"


def test_markdown_has_a_heading_for_each_result() -> None:
    result = ran(golden("table.toml"), "--format", "markdown")
    assert "## ours /plaintext (Why our server is the fastest, Table 1)" in result.output
    assert "- ▲ **doubtful** `quantile_bounds`:" in result.output


def test_what_a_file_does_not_say_can_be_said() -> None:
    without = ran(golden("hey-sound.txt"), "--all").output
    said = ran(golden("hey-sound.txt"), "--all", "--set", "connections=50").output
    assert "not checked  littles_law" in without
    assert "✓ sound  littles_law" in said


@pytest.mark.parametrize("wrong", ["speed=3", "connections=many", "connections"])
def test_what_nobody_can_say_is_refused(wrong: str) -> None:
    result = ran(golden("hey-sound.txt"), "--set", wrong)
    assert isinstance(result.exception, InputError)


def test_every_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("something else")
    result = ran(str(other), str(tmp_path / "none"), golden("ab-sound.txt"))
    assert isinstance(result.exception, InputError)
    assert result.exception.exit_code == 2
    assert len(result.exception.problems) == 2


def test_a_file_that_is_not_there_is_told_with_what_to_do(tmp_path: Path) -> None:
    result = ran(str(tmp_path / "none"))
    assert isinstance(result.exception, InputError)
    assert "give a file" in result.exception.problems[0].hint


CLAIMED = """title = "Ours is fastest"
[[result]]
subject = "ours"
throughput_per_s = 18050.53
[[result]]
subject = "theirs"
throughput_per_s = 9000
[[claim]]
place = "Summary"
says = "ours is three times as fast"
compare = ["ours", "theirs"]
ratio = 3
"""


def test_what_a_document_claims_stands_beside_what_its_figures_say(tmp_path: Path) -> None:
    file = tmp_path / "theirs.toml"
    file.write_text(CLAIMED)
    line = "ours is three times as fast (Summary), claimed × 3; by its own figures: × 2.0"
    markdown = ran(str(file), "--format", "markdown").output
    assert markdown.startswith(f"## claims (Ours is fastest)\n\n- {line}\n")
    shown = " ".join(ran(str(file)).output.split())
    assert shown.startswith(f"claims (Ours is fastest) · {line}")
    (claim,) = json.loads(ran(str(file), "--json").output)["claims"]
    assert claim["document"] == "Ours is fastest"
    assert (claim["ratio"], claim["by_figures"]) == (3, "× 2.0")


def test_a_rate_is_rounded_once(tmp_path: Path) -> None:
    file = tmp_path / "theirs.toml"
    file.write_text(CLAIMED)
    assert "18,051 requests per second" in ran(str(file), "--format", "markdown").output


def test_a_claim_that_is_none_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "theirs.toml"
    file.write_text(CLAIMED.replace("ratio = 3", 'ratio = "three"'))
    result = ran(str(file))
    assert isinstance(result.exception, InputError)
    assert "`ratio` must be a number" in str(result.exception)


def test_signs_that_are_no_text_are_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    piped = io.TextIOWrapper(io.BytesIO(b"\xff\xfe\x00wrk"))
    monkeypatch.setattr(sys, "stdin", piped)
    with pytest.raises(InputError, match="in no known format"):
        audit.command.main(["-"], standalone_mode=False)


def test_what_cannot_be_read_costs_nothing_else_and_ends_with_code_2(tmp_path: Path) -> None:
    file = tmp_path / "both"
    wrk = Path(golden("wrk-sound.txt")).read_text(encoding="utf-8")
    cut = "".join(wrk.splitlines(keepends=True)[:6])
    file.write_text(f"{wrk}\n{cut}")
    result = ran(str(file), golden("ab-sound.txt"))
    assert isinstance(result.exception, InputError)
    assert "has no `Requests/sec`" in str(result.exception)
    assert "74,900 requests per second" in result.output
    assert "61,733 requests per second" in result.output
    held = json.loads(ran(str(file), "--json").output)
    assert len(held["results"]) == 1
    assert held["refused"][0]["where"].endswith(":20")


def test_lines_that_nothing_was_read_of_are_told(tmp_path: Path) -> None:
    file = tmp_path / "retold"
    wrk = Path(golden("wrk-sound.txt")).read_text(encoding="utf-8")
    file.write_text(wrk.replace("  2 threads", "  p99.9 was 12 ms\n  2 threads"))
    result = ran(str(file))
    assert result.exception is None
    assert "nothing was read of line 2" in " ".join(result.output.split())
    assert json.loads(ran(str(file), "--json").output)["unread"][0]["where"].endswith(":2")
    assert "## not read" in ran(str(file), "--format", "markdown").output


def test_a_file_that_is_no_output_by_its_length_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audits, "MOST_BYTES", 2**20)
    file = tmp_path / "long"
    file.write_bytes(b"a" * (2**20 + 1))
    result = ran(str(file))
    assert isinstance(result.exception, InputError)
    assert "is larger than 1 MiB" in str(result.exception)


def test_a_standard_input_that_is_closed_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(InputError, match="standard input is closed"):
        audit.command.main(["-"], standalone_mode=False)
