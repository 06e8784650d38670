"""`history add` and `history show`: what they print, write and end with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import sample
from histories import campaign, campaigns, line_campaign, noise
from plimsoll import history
from plimsoll.cli import plimsoll
from plimsoll.cli.history import LEAST_RECENT
from plimsoll.cli.messages import UnreadableValue
from plimsoll.errors import InputError, StorageError
from plimsoll.history.kept import KeptCampaign, LineEnd
from plimsoll.lab import results
from plimsoll.statistics.level_changes import FEWEST


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


@pytest.mark.parametrize(
    ("end", "said"),
    [
        ("below", "no rate keeps the limit"),
        ("open", "the budget was too short to tell"),
        ("load_generator", "the load generator was the limit"),
        ("untried", "no rate was tried, as the closed load before it failed"),
        (None, ""),
        ("above", None),
    ],
)
def test_a_load_line_that_is_gone_fails(
    tmp_path: Path, end: LineEnd | None, said: str | None
) -> None:
    kept = [line_campaign(place, rate) for place, rate in enumerate(noise(10, 1))]
    kept.append(line_campaign(10, None, end))
    ran = shown(tmp_path, kept, "--fail-on-change")
    assert ran.return_value == (0 if said is None else 7)
    at = "no number in the last campaign, 2026-01-11 03:04 (commit c10)"
    assert at in ran.stdout
    errors = [line for line in ran.stderr.splitlines() if line.startswith("error: ")]
    title = "go/json.p99 ≤ 20 ms: line rate, 11 campaigns"
    ending = f": {said}" if said else ""
    assert errors == ([] if said is None else [f"error: {title}: {at}{ending}"])
    assert shown(tmp_path, kept).return_value == 0


def test_a_limit_that_no_rate_has_ever_kept_fails(tmp_path: Path) -> None:
    page = tmp_path / "history.html"
    kept = [line_campaign(place, None, "below") for place in range(2)]
    ran = shown(tmp_path, kept, "--fail-on-change", "--html", str(page))
    assert ran.return_value == 7
    assert "no rate keeps the limit" in ran.stderr
    rows = [line for line in ran.stdout.splitlines() if line.startswith("  2026-")]
    assert [row.endswith("no rate keeps the limit") for row in rows] == [True, True]
    assert "no rate keeps the limit" in page.read_text(encoding="utf-8")


def test_an_entry_that_is_void_in_its_last_campaign_fails(tmp_path: Path) -> None:
    kept = campaigns([*noise(10, 1), None])
    ran = shown(tmp_path, kept, "--fail-on-change")
    assert ran.return_value == 7
    assert "2026-01-11 03:04 (commit c10): every repetition is void" in ran.stderr
    assert "plimsoll report" in ran.stderr
    again = shown(tmp_path, campaigns([*noise(10, 1), None, 1000.0]), "--fail-on-change")
    assert again.return_value == 0


@pytest.mark.parametrize(("later", "code"), [(1, 7), (2, 7), (3, 0)])
def test_an_entry_that_is_no_longer_measured_fails_as_long_as_it_is_recent(
    tmp_path: Path, later: int, code: int
) -> None:
    others = [campaign(11 + place, endpoint="tiny") for place in range(later)]
    kept = [*campaigns([*noise(10, 1), None]), *others]
    assert shown(tmp_path, kept, "--fail-on-change", "--recent", "3").return_value == code


def test_a_quantity_that_is_gone_fails_beside_others(tmp_path: Path) -> None:
    kept = [campaign(place, p99_ns=2e6) for place in range(3)]
    ran = shown(tmp_path, [*kept, campaign(3)], "--fail-on-change")
    assert ran.return_value == 7
    (error,) = [line for line in ran.stderr.splitlines() if line.startswith("error: ")]
    assert "response time p99" in error
    gone = shown(tmp_path, [*kept, campaign(3)], "--fail-on-change", "--quantity", "goodput")
    assert gone.return_value == 0


def test_the_load_line_of_the_yardstick_may_be_gone(tmp_path: Path) -> None:
    kept = [
        line_campaign(0, 1000.0, framework="reference"),
        line_campaign(1, None, "load_generator", framework="reference"),
    ]
    assert shown(tmp_path, kept, "--fail-on-change").return_value == 0


@pytest.mark.parametrize("recent", [0, 1])
def test_an_age_at_which_no_change_is_known_is_refused(tmp_path: Path, recent: int) -> None:
    assert LEAST_RECENT == FEWEST
    lost = campaigns([*noise(12, 1), *noise(2, 2, 900.0)])
    ran = shown(tmp_path, lost, "--fail-on-change", "--recent", str(recent))
    assert isinstance(ran.exception, UnreadableValue)
    assert "a change needs 2 campaigns" in ran.exception.message
    assert shown(tmp_path, lost, "--fail-on-change", "--recent", "2").return_value == 7


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
