"""Results that are closed, or whose folder is gone, say so whatever is read of them."""

from __future__ import annotations

import html
import json
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

import plimsoll
import recordings
from plimsoll import errors, texts
from plimsoll.errors import StorageError
from plimsoll.findings import gathering
from plimsoll.findings.findings import Findings
from plimsoll.recording import Ending
from plimsoll.report import made
from plimsoll.storage import digests

LOG = "timeStamp,elapsed,label,responseCode,success,bytes,sentBytes,allThreads,Latency,Connect\n"
FREE = {"campaign", "close", "files", "files_as_json", "id", "is_kept", "known", "place"}
"""What no storage is needed for."""

ARGUMENTS = {"chart": ("cpu",), "trial": ("a",), "report": (["markdown"],)}


@pytest.fixture
def imported(tmp_path: Path) -> plimsoll.ImportResult:
    """A recording of a few requests."""
    log = tmp_path / "log.csv"
    rows = (f"{1577836800000 + at},20,home,200,true,5,1,1,18,0\n" for at in range(0, 3000, 50))
    log.write_text(LOG + "".join(rows))
    return plimsoll.import_recording(log, into=tmp_path / "into")


def readers(result: object) -> dict[str, Callable[[], Any]]:
    """Whatever can be read of a result, by its name."""
    kind = type(result)
    found: dict[str, Callable[[], Any]] = {}
    for name in (one for one in dir(kind) if not one.startswith("_")):
        attribute = getattr(kind, name)
        if name in FREE:
            continue
        if isinstance(attribute, property | cached_property):
            found[name] = lambda name=name: getattr(result, name)
        elif callable(attribute):
            given = ARGUMENTS.get(name, ())
            found[name] = lambda name=name, given=given: getattr(result, name)(*given)
    return found


def remove(result: plimsoll.ImportResult) -> None:
    """Removes the folder of a result."""
    shutil.rmtree(result.campaign.place)


def test_whatever_is_read_of_a_result_is_looked_at(imported: plimsoll.ImportResult) -> None:
    assert {"requests", "logs", "chart", "as_json"} <= readers(imported).keys()
    assert {"trials", "report", "summaries", "stored"} <= readers(imported.campaign).keys()


@pytest.mark.parametrize("end", [plimsoll.ImportResult.close, remove])
def test_a_result_that_is_closed_or_gone_says_so(
    imported: plimsoll.ImportResult, end: Callable[[plimsoll.ImportResult], None]
) -> None:
    end(imported)
    for result in (imported, imported.campaign):
        for name, read in readers(result).items():
            if end is remove and name == "stored":
                continue
            with pytest.raises(StorageError, match=r"is closed|any more|has no trial") as caught:
                read()
            assert caught.value.hint, name
    assert Path(imported.campaign.place).exists() == (end is not remove)


@pytest.mark.parametrize("end", [plimsoll.ImportResult.close, remove])
def test_a_cell_of_a_notebook_shows_a_closed_or_gone_result_as_its_line(
    imported: plimsoll.ImportResult, end: Callable[[plimsoll.ImportResult], None]
) -> None:
    end(imported)
    for result in (imported, imported.campaign):
        assert result._repr_html_() == f"<pre>{html.escape(repr(result))}</pre>"


def test_what_was_read_before_stays(imported: plimsoll.ImportResult) -> None:
    with imported:
        level = imported.level
    assert imported.level == level
    assert "is closed" not in repr(imported)
    with pytest.raises(StorageError, match="is closed"):
        _ = imported.requests


def test_a_block_closes_every_kind_of_results(imported: plimsoll.ImportResult) -> None:
    with plimsoll.read(imported.campaign.place) as results:
        assert results.trials
    with pytest.raises(StorageError, match="is closed"):
        _ = results.stored


def test_rows_are_read_by_several_threads_at_the_same_time(
    imported: plimsoll.ImportResult,
) -> None:
    def counted(_: int) -> list[tuple[int, ...]]:
        apart = imported.requests.aggregate("count(*)").fetchall()
        left, right = imported.requests.set_alias("a"), imported.requests.set_alias("b")
        joined = left.join(right, "a.sent_ns = b.sent_ns")
        return apart + joined.aggregate("count(*)").fetchall()

    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(counted, range(40)))
    assert found == [[(60,), (60,)]] * 40
    assert counted(0) == found[0]


def test_results_stay_readable_from_another_folder(
    imported: plimsoll.ImportResult, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = imported.requests.aggregate("count(*)").fetchall()
    found = plimsoll.read("into")
    named = plimsoll.import_recording("log.csv", into="named")
    assert (found.place, named.campaign.place) == ("into", "named")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert found.place == str(tmp_path / "into")
    for trial in (found.trials[0], named):
        assert trial.requests.aggregate("count(*)").fetchall() == rows
        assert trial.verdicts
    (report,) = found.report(["markdown"])
    assert report.is_relative_to(tmp_path / "into")
    assert not any(elsewhere.iterdir())


def written(page: Path) -> int:
    """When a page was written."""
    return page.stat().st_mtime_ns


def test_a_report_of_what_has_not_changed_is_not_written_again(
    imported: plimsoll.ImportResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    (page,) = imported.campaign.report(["markdown"])
    before = written(page)
    monkeypatch.setattr(gathering, "gather", untouched)
    with plimsoll.read(imported.campaign.place) as found:
        assert found.report(["markdown"]) == (page,)
    assert written(page) == before


def untouched(*_: object, **__: object) -> Findings:
    """Stands for what must not be done again."""
    raise AssertionError("the trials were judged")


@pytest.mark.parametrize(
    "what", ["page", "chart", "trial", "removed", "verdict", "threshold", "format", "program"]
)
def test_a_report_is_written_again_once_anything_has_changed(
    imported: plimsoll.ImportResult, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, formats, fail_if = Path(imported.campaign.place), ["markdown"], list[str]()
    trial = place / "trials" / imported.id
    if what == "removed":
        copied(trial, "b")
    with plimsoll.read(place) as found:
        (page,) = found.report(["markdown"])
    before = written(page)
    match what:
        case "page":
            page.write_text("mine")
        case "chart":
            next(page.parent.glob("charts/*")).unlink()
        case "trial":
            copied(trial, "b")
        case "removed":
            shutil.rmtree(trial.with_name("b"))
        case "verdict":
            judged = place / "derived" / imported.id
            verdicts = judged / "verdicts.json"
            verdicts.write_text(verdicts.read_text().replace('"sound"', '"void"'))
            judged.joinpath("SHA256SUMS").unlink()
        case "threshold":
            fail_if = ["p99>1s"]
        case "format":
            formats = ["markdown", "html"]
        case _:
            monkeypatch.setattr(made, "_program", lambda: "another")
    with plimsoll.read(place, fail_if=fail_if) as found:
        found.report(formats)
    assert written(page) != before


def rewritten(document: Path) -> None:
    """Writes a document anew with other bytes that mean the same."""
    document.write_text(document.read_text() + "\n")


def copied(trial: Path, name: str) -> None:
    """Adds a copy of a trial under another name."""
    shutil.copytree(trial, trial.with_name(name))
    text = trial.with_name(name) / "trial.json"
    text.write_text(text.read_text().replace(f'"{trial.name}"', f'"{name}"'))
    text.with_name("SHA256SUMS").unlink()


def test_a_table_that_was_damaged_after_the_report_is_found(
    imported: plimsoll.ImportResult,
) -> None:
    imported.campaign.report(["markdown"])
    table = Path(imported.campaign.place) / "derived" / imported.id / "seconds.parquet"
    table.write_bytes(table.read_bytes()[::-1])
    with (
        plimsoll.read(imported.campaign.place) as found,
        pytest.raises(StorageError, match="cannot be read"),
    ):
        found.report(["markdown"])


def test_a_report_is_not_remembered_where_a_recording_changed_while_it_was_judged(
    imported: plimsoll.ImportResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = imported.campaign.place
    judge = gathering.gather

    def changing(*given: Any, **options: Any) -> Findings:
        found = judge(*given, **options)
        trial = Path(place) / "trials" / imported.id
        rewritten(trial / "trial.json")
        digests.keep(trial)
        return found

    monkeypatch.setattr(gathering, "gather", changing)
    with plimsoll.read(place) as found:
        (page,) = found.report(["markdown"])
    monkeypatch.undo()
    before = written(page)
    for again in (True, False):
        with plimsoll.read(place) as found:
            found.report(["markdown"])
        assert (written(page) != before) == again
        before = written(page)


def test_every_result_is_one_short_line(imported: plimsoll.ImportResult) -> None:
    every = (imported, imported.campaign, imported.findings, imported.campaign.findings)
    for one in (*every, *imported.verdicts, imported.chart("response_time")):
        assert repr(one).startswith(f"<{type(one).__name__} ")
        assert len(repr(one)) <= texts.OBJECT_LETTERS
        assert "\n" not in repr(one)


def test_planned_trials_without_a_recording_are_counted_and_named(
    imported: plimsoll.ImportResult,
) -> None:
    plan = Path(imported.campaign.place) / "plan.json"
    plan.write_text(json.dumps({"trials": [{"id": imported.id}, {"id": "go.json.steady.2"}]}))
    with plimsoll.read(imported.campaign.place) as found:
        assert found.missing == ("go.json.steady.2",)
        assert repr(found).startswith("<CampaignResults 1 of 2 trials: 1 ")
    plan.unlink()
    with plimsoll.read(imported.campaign.place) as found:
        assert not found.missing
        assert repr(found).startswith("<CampaignResults 1 trial: 1 ")


def test_a_check_that_is_accepted_is_one_that_there_is(imported: plimsoll.ImportResult) -> None:
    with pytest.raises(plimsoll.InputError, match="accepted: unknown check `stedy`") as caught:
        imported.campaign.as_json(["stedy"])
    assert "`steady`" in caught.value.hint
    assert imported.campaign.as_json(["Steady"])[0]["accepted"] == []


def test_a_trial_that_an_error_ended_is_the_same_as_in_the_list(tmp_path: Path) -> None:
    recordings.write_results(
        tmp_path,
        {"framework": "go"},
        {"framework": "node", "ending": Ending("DiedUnderLoad", "it died", "")},
    )
    found = plimsoll.read(tmp_path)
    (failed,) = found.failed
    assert isinstance(failed.error, plimsoll.FrameworkError)
    assert failed in found.trials
    assert {failed, *found.trials} == {*found.trials}
    assert failed != failed.id


def test_the_summary_of_what_never_began_is_the_error_that_ended_it(
    imported: plimsoll.ImportResult,
) -> None:
    died = errors.of_kind("DriverFailed", "it ended", "")
    ending = Ending("DriverFailed", "it ended", "")
    for kind, wanted in ((ending, type(died)), (imported.recording.ending, StorageError)):
        empty = plimsoll.ImportResult(imported.campaign, imported.id)
        judged = replace(imported.judged, data=replace(imported.judged.data, summary=None))
        vars(empty)["judged"] = judged
        vars(empty)["recording"] = replace(imported.recording, ending=kind)
        with pytest.raises(wanted):
            _ = empty.summary
