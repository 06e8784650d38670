"""`plimsoll import` as it is typed, rightly and wrongly."""

from __future__ import annotations

import gzip
import json
import zipfile
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from command_line import Ran, run

pytestmark = pytest.mark.timeout(240)

T = 1_577_836_800_000
HEADER = (
    "timeStamp,elapsed,label,responseCode,responseMessage,threadName,success,bytes,sentBytes,"
    "allThreads,Latency,Connect\n"
)
LINES = [
    f"{T + at},{20 + at % 7},GET /,200,OK,T 1-1,true,500,120,{min(10, 1 + at // 200)},18,0\n"
    for at in range(0, 8000, 5)
]
CPU = "clock,value\n" + "".join(f"{T // 1000 + at},{50 + at}\n" for at in range(9) if at != 4)


@pytest.fixture
def jtl(tmp_path: Path) -> Path:
    path = tmp_path / "results.csv"
    path.write_text(HEADER + "".join(LINES))
    return path


def refused(ran: Ran, sentence: str, hint: str, code: int = 2) -> None:
    assert ran.code == code, ran.said
    assert sentence in ran.said
    assert f"hint: {hint}" in ran.said
    assert ran.stdout == ""


def test_a_zip_with_cpu_beside_it_becomes_results_that_are_judged_and_reported(
    jtl: Path, tmp_path: Path
) -> None:
    with zipfile.ZipFile(tmp_path / "results.csv.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(jtl, "results.csv")
    (tmp_path / "cpu.csv.gz").write_bytes(gzip.compress(CPU.encode()))
    asked = ("import", "jmeter", "results.csv.zip", "--cpu", "cpu.csv.gz", "--cores", 8)
    ran = run(*asked, folder=tmp_path)
    assert ran.code == 0, ran.said
    assert "results.csv.zip: 1600 rows read, 1600 kept" in ran.said
    assert " not checked" in ran.said
    assert "✓ sound by " in ran.said
    results = tmp_path / "results" / "results"
    (path,) = results.glob("derived/*/seconds.parquet")
    seconds = pq.read_table(path)
    assert seconds["server_busy_cores"].to_pylist()[3:6] == [4.24, None, 4.4]
    judged = run("judge", results, "--json", folder=tmp_path)
    assert json.loads(judged.stdout)[0]["summary"]["completed"] > 0
    assert run("report", results, "--format", "html", folder=tmp_path).code == 0
    assert (results / "report" / "index.html").stat().st_size > 100_000


def test_json_is_one_object_and_the_tool_is_recognised(jtl: Path, tmp_path: Path) -> None:
    broken = [*LINES[:9], "nonsense\n", *LINES[9:]]
    jtl.write_text(HEADER + "".join(broken))
    ran = run("import", jtl, "--json", "--into", "here", "--warm-up", "0s", folder=tmp_path)
    found = json.loads(ran.stdout)
    assert found["summary"]["completed"] == len(LINES)
    assert found["driver"]["name"] == "jmeter"
    (file,) = found["files"]
    assert (file["read"], file["kept"], file["broken"]) == (1601, 1600, 1)
    assert file["broken_lines"][0]["line"] == 11
    assert "results.csv:11: `nonsense` has 1 values for 12 columns" in ran.said


def test_a_person_is_told_where_it_lies_and_what_comes_next(jtl: Path, tmp_path: Path) -> None:
    ran = run("import", jtl, "--into", "a b", folder=tmp_path)
    assert "is kept in `a b`" in ran.stderr
    assert "`plimsoll report 'a b'`" in ran.stderr


def test_what_is_only_kept_is_judged_when_that_is_asked(jtl: Path, tmp_path: Path) -> None:
    kept = run("import", jtl, "--no-judge", folder=tmp_path)
    assert kept.code == 0, kept.said
    assert "is stored in `results/results`, not judged yet" in kept.said
    assert "not checked" not in kept.said
    again = run("import", jtl, "--no-judge", "--json", folder=tmp_path)
    found = json.loads(again.stdout)
    assert [found["files"][0]["kept"], "verdicts" in found] == [1600, False]
    judged = run("judge", found["recording"], "--json", folder=tmp_path)
    assert json.loads(judged.stdout)[0]["verdicts"]


def test_imported_again_it_is_replaced_and_what_fails_keeps_the_earlier(
    jtl: Path, tmp_path: Path
) -> None:
    assert run("import", jtl, folder=tmp_path).code == 0
    jtl.write_text(HEADER + "".join(LINES[:100]) + "nonsense\n")
    refused(
        run("import", jtl, "--strict", folder=tmp_path),
        "results.csv:102: `nonsense` has 1 values",
        "repair the line",
    )
    trials = tmp_path / "results" / "results" / "trials"
    (trial,) = trials.iterdir()
    assert pq.read_metadata(trial / "requests.parquet").num_rows == len(LINES)
    assert run("import", jtl, folder=tmp_path).code == 0
    (trial,) = trials.iterdir()
    assert pq.read_metadata(trial / "requests.parquet").num_rows == 100


def test_a_zip_that_was_cut_off_is_kept_only_when_that_is_asked(jtl: Path, tmp_path: Path) -> None:
    path = tmp_path / "cut.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(jtl, "results.csv")
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    refused(run("import", path, folder=tmp_path), "is damaged or truncated", "copy it again")
    assert not (tmp_path / "results").exists()
    ran = run("import", path, "--partial", folder=tmp_path)
    assert ran.code == 0, ran.said
    assert "the rest is lost" in ran.said


def test_cpu_alone_is_imported(tmp_path: Path) -> None:
    (tmp_path / "cpu.csv").write_text(CPU)
    ran = run("import", "zabbix", "cpu.csv", "--cores", 8, folder=tmp_path)
    assert ran.code == 0, ran.said
    assert "1 of 9 seconds have no reading" in ran.said


@pytest.mark.parametrize(
    ("content", "sentence", "hint"),
    [
        (b"", "is empty", "give the"),
        (HEADER.encode(), "contains no request", "give the"),
        (b"Dear Sir,\n", "is not in a known format", "give the tool before the file: `jmeter`"),
        (bytes(range(256)) * 40, "is not in a known format", "give the tool"),
        (b"clock,value\n1577836800,50\n", "is not in a known format", "give the tool"),
        (b"PK\x03\x04 is no zip", "is damaged or truncated", "copy it again"),
    ],
    ids=["empty", "header", "letter", "binary", "zabbix", "zip"],
)
def test_what_is_no_result_is_refused(
    tmp_path: Path, content: bytes, sentence: str, hint: str
) -> None:
    (tmp_path / "file").write_bytes(content)
    refused(run("import", "file", folder=tmp_path), sentence, hint)
    assert not (tmp_path / "results" / "file" / "trials").exists() or not list(
        (tmp_path / "results" / "file" / "trials").iterdir()
    )


@pytest.mark.parametrize(
    ("arguments", "sentence", "hint"),
    [
        (("nothing.csv",), "nothing.csv: no such file", "give the"),
        (("jmeter",), "no jmeter file is given", "write `plimsoll import jmeter FILE`"),
        (("jmetre", "results.csv"), "did you mean `jmeter`?", "tools: `jmeter`"),
        (("k6", "results.csv"), "results.csv", ""),
        (("zabbix", "results.csv", "--cores", 4), "is not a Zabbix reading", "export the history"),
        (("results.csv", "--label", "none"), "contains no request", "give a label"),
        (
            ("results.csv", "--separator", "||"),
            "is not a valid column separator",
            "give one character",
        ),
        (("results.csv", "--timestamp-format", "hh"), "`hh` in `hh` cannot be read", "write it as"),
    ],
    ids=["nothing", "no file", "misspelt", "other tool", "no cpu", "label", "separator", "pattern"],
)
def test_a_wrong_question_is_answered_with_a_remedy(
    jtl: Path, tmp_path: Path, arguments: tuple[object, ...], sentence: str, hint: str
) -> None:
    ran = run("import", *arguments, folder=tmp_path)
    refused(ran, sentence, hint)


def test_results_that_cannot_be_written_are_an_error_of_storage(jtl: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("a file")
    ran = run("import", jtl, "--into", "mine", folder=tmp_path)
    refused(ran, "cannot write results to `mine`", "choose a writable folder", code=6)


@pytest.mark.root
def test_a_full_disk_keeps_nothing(jtl: Path, tmp_path: Path, small_disk: Path) -> None:
    (small_disk / "ballast").write_bytes(b"x" * (small_disk.stat().st_blksize))
    fill(small_disk)
    ran = run("import", jtl, "--into", small_disk / "results", folder=tmp_path)
    assert ran.code == 6, ran.said
    assert "no space left" in ran.said
    assert not list(small_disk.rglob("trial.json"))


def fill(disk: Path) -> None:
    """Leaves a disk with no room for a recording."""
    import shutil  # noqa: PLC0415

    free = shutil.disk_usage(disk).free
    (disk / "filler").write_bytes(b"x" * max(free - 8192, 0))
