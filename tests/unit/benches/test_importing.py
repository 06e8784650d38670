"""The file that is imported, and the way of the study, which is measured beside ours."""

from __future__ import annotations

import csv
import io
import os
import subprocess
import sys
import zipfile
from contextlib import suppress
from pathlib import Path

import pytest

import importing
from importing import Step, Way
from postgres_server import Server
from workbench import jtl, study, watching

ROWS = 3_000


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> jtl.Files:
    return jtl.write(ROWS, tmp_path_factory.mktemp("jtl"))


def rows(files: jtl.Files) -> list[dict[str, str]]:
    with zipfile.ZipFile(files.requests) as packed:
        text = packed.read("requests.csv").decode()
    assert len(text) == files.csv_bytes
    return list(csv.DictReader(io.StringIO(text)))


def test_the_file_is_one_of_jmeter_in_the_order_of_the_ends(files: jtl.Files) -> None:
    found = rows(files)
    ends = [int(row["timeStamp"]) + int(row["elapsed"]) for row in found]
    assert len(found) == ROWS
    assert ends == sorted(ends)
    assert 0 <= ends[0] - jtl.BASE_MS <= ends[-1] - jtl.BASE_MS <= 1000 * (jtl.CLIMB_S + jtl.HOLD_S)
    assert max(int(row["allThreads"]) for row in found) == jtl.THREADS
    failed = [row for row in found if row["success"] == "false"]
    assert 0 < len(failed) < 0.05 * ROWS
    assert all(row["responseCode"].startswith("Non HTTP") for row in failed)


def test_twice_as_many_threads_have_twice_the_rate(files: jtl.Files) -> None:
    ends = [int(row["timeStamp"]) + int(row["elapsed"]) - jtl.BASE_MS for row in rows(files)]
    early = sum(1 for end in ends if end < 1000 * jtl.CLIMB_S / 2)
    late = sum(1 for end in ends if end < 1000 * jtl.CLIMB_S)
    assert late / early == pytest.approx(4, rel=0.05)


def test_a_file_that_is_there_is_taken_again(files: jtl.Files) -> None:
    before = files.requests.stat().st_mtime_ns
    assert jtl.write(ROWS, files.requests.parent) == files
    assert files.requests.stat().st_mtime_ns == before


@pytest.mark.parametrize("converter", ["reads quotes", "cuts at commas"])
def test_the_way_of_the_study_counts_each_request_in_its_second(
    files: jtl.Files, postgres: Server, tmp_path: Path, converter: str
) -> None:
    postgres.execute(study.TABLE)
    try:
        study.load(files, study.converters(files)[converter], postgres)
        study.seconds(postgres, "success", tmp_path / "success.csv")
        study.seconds(postgres, "NOT success", tmp_path / "failure.csv")
        cpu = postgres.execute("SELECT min(cpu_percent), max(cpu_percent) FROM requests")
    finally:
        postgres.execute("DROP TABLE requests")
    found = rows(files)
    first = int(found[0]["timeStamp"])
    for name, success in (("success", "true"), ("failure", "false")):
        expected: dict[int, int] = {}
        for row in found:
            if row["success"] == success:
                second = int((int(row["timeStamp"]) - first) / 1000)
                expected[second] = expected.get(second, 0) + 1
        with (tmp_path / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            table = {int(row["second"]): int(row["requests"]) for row in csv.DictReader(file)}
        assert table == expected
    assert cpu[0][0] < 5
    assert cpu[0][1] == 90


def test_a_converter_of_results_reads_quotes(files: jtl.Files, tmp_path: Path) -> None:
    given = (
        "timeStamp,elapsed,responseCode,responseMessage,success,bytes,allThreads,Latency\n"
        f'{jtl.BASE_MS + 2000},5,200,"one, two\nand ""three""",true,10,3,4\n'
    )
    program = study.converters(files)["reads quotes"]
    ran = subprocess.run(program, input=given, capture_output=True, text=True, check=True)
    (row,) = csv.reader(io.StringIO(ran.stdout))
    assert row[:-1] == ["0", "5", "200", "true", "10", "3", "4"]
    assert float(row[-1]) == pytest.approx(0.75, abs=0.01)


def test_memory_is_that_of_all_that_was_started() -> None:
    held = "x = bytearray(64 << 20); import time; print('held', flush=True); time.sleep(60)"
    shell = f'{sys.executable} -c "{held}" & wait'
    with watching.watched() as seen:
        process = subprocess.Popen(["sh", "-c", shell], stdout=subprocess.PIPE)
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"held\n"
            while seen.peak_pss_bytes < 64 << 20:
                os.sched_yield()
        finally:
            for pid in {process.pid, *watching.descendants(process.pid)}:
                with suppress(ProcessLookupError):
                    os.kill(pid, 9)
            process.communicate()
    assert seen.duration_s > 0
    assert seen.peak_pss_bytes < 2 << 30


def test_the_report_has_the_ratio_and_says_whether_the_aim_is_reached(files: jtl.Files) -> None:
    ways = (
        Way("the study's", (Step("load", 50.0), Step("select", 10.0)), 2**30, 2**30, (1, 1)),
        Way("Plimsoll's", (Step("import", 10.0),), 2**29, 2**20, (1, 1)),
    )
    text = importing.report(ways, files, ROWS, 0.01)
    assert "| Plimsoll's  | 10.0 |          1.0 |        512 |" in text
    assert "| the study's | 60.0 |          6.0 |      1,024 |" in text
    assert "The aim of 5 times as fast is reached." in text
    slower = (ways[0], Way("Plimsoll's", (Step("import", 30.0),), 2**29, 2**20, (1, 1)))
    assert "is not reached" in importing.report(slower, files, ROWS, 0.01)
