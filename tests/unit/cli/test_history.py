"""`history add` and `history show`: what they print, write and end with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import sample
from histories import campaign, campaigns, noise
from plimsoll import history
from plimsoll.cli import plimsoll
from plimsoll.errors import InputError, StorageError
from plimsoll.history.kept import KeptCampaign
from plimsoll.lab import results


def typed(*arguments: str) -> Result:
    return CliRunner().invoke(plimsoll, ["history", *arguments], standalone_mode=False)


def shown(tmp_path: Path, kept: list[KeptCampaign], *arguments: str) -> Result:
    path = tmp_path / "history.jsonl"
    lines = [one.model_dump_json() for one in kept]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return typed("show", "--history", str(path), *arguments)


class Found:
    """Results with the findings of the sample."""

    findings = sample.findings()

    def __enter__(self) -> Found:
        return self

    def __exit__(self, *_: object) -> None: ...


def test_results_are_added_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def read(*_: Any, **__: Any) -> Found:
        return Found()

    monkeypatch.setattr(results, "read", read)
    path = tmp_path / "history.jsonl"
    arguments = ("add", "results/sample", "--commit", "abc", "--history", str(path))
    ran = typed(*arguments)
    assert ran.return_value == 0
    assert "8 entries on machine" in ran.stderr
    (line,) = history.file.read(path)
    assert (line.campaign, line.commit) == ("sample", "abc")
    ran = typed(*arguments)
    assert ran.return_value == 0
    assert "is already in" in ran.stderr
    assert len(history.file.read(path)) == 1


def test_a_change_is_shown_with_its_place_and_commit(tmp_path: Path) -> None:
    ran = shown(tmp_path, campaigns([*noise(12, 1), *noise(8, 2, 950.0)]))
    assert ran.return_value == 0
    assert "go/json.steady: goodput, 20 campaigns" in ran.stdout
    (said,) = [line for line in ran.stdout.splitlines() if "since 2026-01-13 03:04" in line]
    assert "(commit c12), worse" in said
    (row,) = [line for line in ran.stdout.splitlines() if line.startswith("  2026-01-13")]
    assert "worse" in row
    listed = [line for line in ran.stdout.splitlines() if line.startswith("  2026-")]
    assert len(listed) == 10
    assert len(shown(tmp_path, campaigns(noise(9, 1)), "--last", "2").stdout.splitlines()) == 5


def test_another_machine_is_shown_as_a_break(tmp_path: Path) -> None:
    kept = [*campaigns(noise(10, 1)), campaign(10, 500.0, machine="other")]
    ran = shown(tmp_path, kept, "--fail-on-change")
    assert ran.return_value == 0
    assert "no change point; 1 break: another machine" in ran.stdout
    assert ran.stdout.splitlines()[-1].endswith("another machine")


@pytest.mark.parametrize(
    ("numbers", "arguments", "code"),
    [
        ([*noise(12, 1), *noise(3, 2, 900.0)], (), 0),
        ([*noise(12, 1), *noise(3, 2, 900.0)], ("--fail-on-change",), 7),
        ([*noise(12, 1), *noise(8, 2, 900.0)], ("--fail-on-change",), 0),
        ([*noise(12, 1), *noise(8, 2, 900.0)], ("--fail-on-change", "--recent", "8"), 7),
        ([*noise(12, 1), *noise(3, 2, 1100.0)], ("--fail-on-change",), 0),
        ([*noise(12, 1), *noise(3, 2, 900.0)], ("--fail-on-change", "--quantity", "cpu"), None),
    ],
)
def test_a_recent_loss_has_an_exit_code(
    tmp_path: Path, numbers: list[float], arguments: tuple[str, ...], code: int | None
) -> None:
    ran = shown(tmp_path, campaigns(numbers), *arguments)
    assert ran.return_value == code
    assert ("error: go/json.steady: goodput" in ran.stderr) is (code == 7)


def test_what_is_shown_is_selected(tmp_path: Path) -> None:
    kept = [campaign(0, p99_ns=2e6), campaign(1, endpoint="tiny")]
    ran = shown(tmp_path, kept, "--endpoint", "json", "--quantity", "p99")
    assert ran.stdout.startswith("go/json.steady: response time p99, 1 campaign\n")
    assert "2 ms" in ran.stdout
    assert "tiny" not in ran.stdout
    ran = shown(tmp_path, kept, "--endpoint", "jsno")
    assert isinstance(ran.exception, InputError)
    assert "go/json.steady, go/tiny.steady" in ran.exception.problems[0].hint


def test_void_entries_are_named(tmp_path: Path) -> None:
    void = [campaign(1, None), campaign(2, None, endpoint="tiny")]
    ran = shown(tmp_path, void)
    assert isinstance(ran.exception, InputError)
    (problem,) = ran.exception.problems
    assert problem.message.endswith("has no numbers: all 2 entries are void")
    assert "plimsoll report" in problem.hint
    ran = shown(tmp_path, [campaign(0), *void], "--endpoint", "tiny")
    assert isinstance(ran.exception, InputError)
    assert ran.exception.problems[0].message.endswith("its entry is void")
    ran = shown(tmp_path, [campaign(0), *void])
    assert ran.return_value == 0
    (note,) = ran.stderr.splitlines()
    assert note.endswith("is void: go/tiny.steady")


def test_a_campaign_without_numbers_is_added_with_a_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(*_: Any, **__: Any) -> Found:
        return Found()

    def kept(*_: Any) -> KeptCampaign:
        return campaign(0, None)

    monkeypatch.setattr(results, "read", read)
    monkeypatch.setattr(history.adding, "kept", kept)
    ran = typed("add", "results/sample", "--history", str(tmp_path / "history.jsonl"))
    assert ran.return_value == 0
    said, note = ran.stderr.splitlines()
    assert said.startswith("1 entry on machine")
    assert note == (
        "note: without numbers, as every repetition in `results/sample` is void: go/json.steady"
    )


def test_a_page_has_every_series_and_asks_the_network_for_nothing(tmp_path: Path) -> None:
    page = tmp_path / "history.html"
    kept = [*campaigns([*noise(12, 1), *noise(8, 2, 950.0)]), campaign(30, machine="<b>")]
    ran = shown(tmp_path, kept, "--html", str(page))
    assert ran.return_value == 0
    text = page.read_text(encoding="utf-8")
    assert "go/json.steady: goodput, 21 campaigns" in text
    assert text.count("data:image/svg+xml;base64,") == 2
    assert "CPU of &lt;b&gt;" in text
    assert "<script" not in text
    assert "http" not in text.replace("http-equiv", "")


def test_a_history_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    ran = typed("show", "--history", str(tmp_path / "none.jsonl"))
    assert isinstance(ran.exception, StorageError)
    assert "cannot be read" in ran.exception.message
    assert "history add RESULTS" in ran.exception.hint
