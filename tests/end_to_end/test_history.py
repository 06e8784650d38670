"""A history from a campaign that was run to its page."""

from __future__ import annotations

from pathlib import Path

from command_line import run


def test_a_campaign_is_added_and_shown(counting_run: Path, tmp_path: Path) -> None:
    results = str(counting_run / "results" / "toy")
    added = run("history", "add", results, "--commit", "abc123", folder=tmp_path)
    assert added.code == 0, added.stderr
    assert "1 entry on machine" in added.said
    again = run("history", "add", results, folder=tmp_path)
    assert again.code == 0
    assert "already" in again.said
    assert len((tmp_path / "history.jsonl").read_text(encoding="utf-8").splitlines()) == 1
    shown = run("history", "show", "--html", "a.html", "--fail-on-change", folder=tmp_path)
    assert shown.code == 0, shown.stderr
    assert "toy/plaintext.steady: goodput, 1 campaign" in shown.stdout
    assert "no change point" in shown.stdout
    assert "abc123" in shown.stdout
    assert "toy/plaintext.steady" in (tmp_path / "a.html").read_text(encoding="utf-8")


def test_bad_input_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "bad.jsonl").write_text("nonsense\n", encoding="utf-8")
    ran = run("history", "show", "--history", "bad.jsonl", folder=tmp_path)
    assert (ran.code, "line 1 of `bad.jsonl` is not JSON" in ran.said) == (6, True)
    ran = run("history", "show", folder=tmp_path)
    assert (ran.code, "`history.jsonl` cannot be read" in ran.said) == (6, True)
    ran = run("history", "add", "none", folder=tmp_path)
    assert (ran.code, "`none` is not a folder" in ran.said) == (2, True)
    ran = run("history", "shwo", folder=tmp_path)
    assert (ran.code, "no such command `shwo`" in ran.said.lower()) == (2, True)
