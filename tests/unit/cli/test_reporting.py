"""What `plimsoll report` says of results that have not changed, it says again without judging."""

from __future__ import annotations

from pathlib import Path

import pytest

import plimsoll
from plimsoll import cli
from plimsoll.findings import gathering
from plimsoll.findings.findings import Findings
from plimsoll.report import answers
from plimsoll.storage import digests

LOG = "timeStamp,elapsed,label,responseCode,success,bytes,sentBytes,allThreads,Latency,Connect\n"

Said = tuple[str, str, int]
"""On the standard output and beside it, and the exit code."""


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """A folder with one trial."""
    log = tmp_path / "log.csv"
    rows = (f"{1577836800000 + at},20,home,200,true,5,1,1,18,0\n" for at in range(0, 3000, 50))
    log.write_text(LOG + "".join(rows))
    plimsoll.import_recording(log, into=tmp_path / "into")
    return tmp_path / "into"


def said(results: Path, capsys: pytest.CaptureFixture[str], *options: str) -> Said:
    """What the verb says of results."""
    code = cli.ended(["report", str(results), "--format", "markdown", *options])
    heard = capsys.readouterr()
    return heard.out, heard.err, code


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Grows by each time that results are judged."""
    times: list[str] = []
    judge = gathering.gather

    def counted(*given: object, **options: object) -> Findings:
        times.append("judged")
        return judge(*given, **options)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(gathering, "gather", counted)
    return times


def test_the_same_is_said_again_without_judging(
    results: Path, judged: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    options = ("--accept", "steady", "--accept", "undisturbed")
    first = said(results, capsys, *options)
    assert "goodput" in first[0] and len(judged) == 1
    assert said(results, capsys, *options) == first
    assert len(judged) == 1


@pytest.mark.parametrize("what", ["width", "strict", "accept", "trial", "damaged"])
def test_another_question_has_another_answer(
    results: Path,
    judged: list[str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    what: str,
) -> None:
    said(results, capsys)
    options: tuple[str, ...] = ()
    match what:
        case "width":
            monkeypatch.setenv("COLUMNS", "150")
        case "strict":
            options = ("--strict",)
        case "accept":
            options = ("--accept", "steady")
        case "trial":
            path = next(results.glob("trials/*/trial.json"))
            path.write_text(path.read_text() + "\n")
            digests.keep(path.parent)
        case _:
            kept = results / "report" / answers.FILE
            kept.write_bytes(kept.read_bytes()[:-20])
    said(results, capsys, *options)
    assert len(judged) == 2
