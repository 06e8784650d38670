"""Work and memory of an import are bounded whatever a file holds, and each limit has a sentence."""

from __future__ import annotations

import gzip
import json
import re
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from time import time_ns

import pytest

from plimsoll.errors import InputError
from plimsoll.intake import importing, limits, named, zabbix
from plimsoll.intake.importing import About, Cpu, Imported
from plimsoll.intake.limits import LIMITS, IntakeLimit
from plimsoll.intake.rows import ReadOptions
from plimsoll.storage.parquet import ParquetResults

pytestmark = pytest.mark.real_limits

DOCUMENTATION = Path(__file__).parents[3] / "docs" / "import.md"

T_MS = 1_700_000_000_000
HOUR_MS = 3_600_000
HEADER = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,success,allThreads\n"

FEW_READINGS = replace(limits.CPU_READINGS, most=1000)
"""A limit that a small file reaches."""

Make = Callable[[Path, int], Path]
"""Writes a file that has so much of what is limited."""


def row(at_ms: int = 0, elapsed_ms: int | str = 5, label: str = "home", users: int = 1) -> str:
    return f"{T_MS + at_ms},{elapsed_ms},{label},200,OK,T 1-1,true,{users}\n"


def written(path: Path, *parts: str) -> Path:
    path.write_text("".join((HEADER, *parts)), "utf-8")
    return path


def brought(
    tmp_path: Path, file: Path, run: int | None = None, *, strict: bool = False
) -> Imported:
    reader = importing.reader_of([file], "", partial=False)
    about = About("subject", run=run)
    results = ParquetResults(tmp_path / "results")
    return importing.rows(reader, [file], ReadOptions(strict=strict), about, None, results)


def members(path: Path, count: int) -> Path:
    file = path.with_suffix(".zip")
    with zipfile.ZipFile(file, "w") as archive:
        for number in range(count):
            archive.writestr(f"{number}.csv", HEADER + row(number))
    return file


def line_of(path: Path, size: int) -> Path:
    return written(path, row(), row(label="b" * (size - len(row()) + len("home"))))


def lines_of_json(path: Path, size: int) -> Path:
    one = {
        "attack": "", "seq": 0, "code": 200, "timestamp": "2023-11-14T22:13:20Z", "latency": 1000,
        "method": "GET", "url": "/", "body": "",
    }  # fmt: skip
    text = json.dumps(one, separators=(",", ":"))
    long = json.dumps(one | {"body": "b" * (size - len(text) - 1)}, separators=(",", ":"))
    path.write_text(f"{text}\n{long}\n")
    return path


def header_of(path: Path, size: int) -> Path:
    path.write_text(
        HEADER.strip() + "," + "x" * (size - len(HEADER) - 1) + "\n" + row().strip() + ",1\n"
    )
    return path


def columns(path: Path, count: int) -> Path:
    more = count - HEADER.count(",") - 1
    names = "".join(f",c{number}" for number in range(more))
    path.write_text(HEADER.strip() + names + "\n" + row().strip() + ",1" * more + "\n")
    return path


def nested(path: Path, depth: int) -> Path:
    begin = f'<sample t="1" ts="{T_MS}" s="true" lb="a">'
    inner = depth - 1  # the root is one
    path.write_text("<testResults>\n" + begin * inner + "</sample>" * inner + "</testResults>\n")
    return path


def tag_of(path: Path, size: int) -> Path:
    begin = f'<httpSample t="1" ts="{T_MS}" s="true" lb="a" rm="'
    end = '"/>'
    message = "m" * (size - len(begin) - len(end))
    path.write_text(f"<testResults>\n{begin}{message}{end}\n</testResults>\n")
    return path


def names(path: Path, count: int) -> Path:
    return written(path, *(row(label=f"l{number}") for number in range(count)))


def name_of(path: Path, length: int) -> Path:
    return written(path, row(label="n" * length))


def names_of(path: Path, letters: int) -> Path:
    each = limits.NAME_LETTERS.most
    return written(path, *(row(label=f"{place:0>{each}}") for place in range(-(-letters // each))))


def broken(path: Path, count: int) -> Path:
    return written(path, row(), "x\n" * count)


def runs(path: Path, count: int) -> Path:
    return written(path, *(row(number * 2 * HOUR_MS) for number in range(count)))


def silence(path: Path, length_ns: int) -> Path:
    return written(path, row(0, 0), row(length_ns // 1_000_000 + (length_ns % 1_000_000 > 0), 0))


def run_of(path: Path, length_ns: int) -> Path:
    length_ms = -(-length_ns // 1_000_000)
    return written(path, *(row(at, 0) for at in (*range(0, length_ms, HOUR_MS), length_ms)))


def request_of(path: Path, length_ns: int) -> Path:
    return written(path, row(elapsed_ms=-(-length_ns // 1_000_000)))


BEYOND: dict[IntakeLimit, tuple[Make, int | None]] = {
    limits.FILES: (members, None),
    limits.LINE_BYTES: (line_of, None),
    limits.JSON_LINE_BYTES: (lines_of_json, None),
    limits.HEADER_BYTES: (header_of, None),
    limits.COLUMNS: (columns, None),
    limits.DEPTH: (nested, None),
    limits.TAG_BYTES: (tag_of, None),
    limits.NAMES: (names, None),
    limits.NAME_LETTERS: (name_of, None),
    limits.ALL_NAMES_LETTERS: (names_of, None),
    limits.BROKEN_LINES: (broken, None),
    limits.SILENCE_NS: (silence, None),
    limits.RUN_NS: (run_of, 0),
    limits.RUNS: (runs, 0),
}
"""What makes a file that is at a limit or beyond it, and the run that is asked for."""


def test_a_run_of_several_is_named_by_a_number_that_there_is(tmp_path: Path) -> None:
    file = runs(tmp_path / "a.jtl", 2)
    with pytest.raises(InputError) as caught:
        brought(tmp_path, file, 3)
    (problem,) = caught.value.problems
    assert "there are 2 runs in" in str(problem)
    assert problem.hint == "give a number from 1 to 2"


def test_all_runs_as_one_are_not_offered_where_they_would_be_refused(tmp_path: Path) -> None:
    file = silence(tmp_path / "a.jtl", limits.RUN_NS.most * 2)
    with pytest.raises(InputError) as caught:
        brought(tmp_path, file, None)
    (problem,) = caught.value.problems
    assert problem.hint == "take one run, from `run=1` to `run=2`"


@pytest.mark.parametrize("limit", BEYOND, ids=lambda limit: limit.what)
def test_a_file_beyond_a_limit_is_refused_with_its_sentence(
    tmp_path: Path, limit: IntakeLimit
) -> None:
    make, run = BEYOND[limit]
    file = make(tmp_path / "a.jtl", limit.most + max(limit.most // 1000, 1))
    with pytest.raises(InputError) as caught:
        brought(tmp_path, file, run)
    (problem,) = caught.value.problems
    assert caught.value.exit_code == 2
    assert problem.hint == limit.hint
    if limit is not limits.SILENCE_NS:
        assert problem.message.startswith(limit.beyond.format(most=limit.shown))
    assert not (tmp_path / "results").exists()


WITHIN = {
    limit: how
    for limit, how in BEYOND.items()
    if limit not in (limits.LINE_BYTES, limits.ALL_NAMES_LETTERS, limits.RUNS)
}
"""All but those at which another limit comes first."""


@pytest.mark.parametrize("limit", WITHIN, ids=lambda limit: limit.what)
def test_a_file_at_a_limit_is_read(tmp_path: Path, limit: IntakeLimit) -> None:
    make, run = WITHIN[limit]
    assert brought(tmp_path, make(tmp_path / "a.jtl", limit.most), run).tallies[0].kept > 0


def test_a_long_line_is_a_line_as_long_as_its_name_is_not_too_long(tmp_path: Path) -> None:
    message = "m" * (limits.LINE_BYTES.most - len(row()))
    file = written(tmp_path / "a.jtl", row(), row().replace("OK", message))
    assert brought(tmp_path, file).tallies[0].kept == 2


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (row(-T_MS), "`timeStamp` is `0`, a time before the year 2000"),
        (row(4_070_908_800_000 - T_MS), "`timeStamp` is `4070908800000`, a time in the"),
        (row(elapsed_ms=86_400_001), "`elapsed` is `86400001`, which is more than 24 h"),
        (row(elapsed_ms="9" * 400), "a number of 400 digits; the maximum is 18"),
        (row(elapsed_ms="9223372036854775807"), "a number of 19 digits; the maximum is 18"),
        (row(elapsed_ms="x"), "`elapsed` is `x`, which is not a whole number"),
    ],
)
def test_a_row_that_cannot_be_is_named_and_left_out(tmp_path: Path, line: str, reason: str) -> None:
    file = written(tmp_path / "a.jtl", row(), line, row(7))
    (tally,) = brought(tmp_path, file).tallies
    assert (tally.kept, tally.broken) == (2, 1)
    assert tally.broken_lines[0].line == 3
    assert reason in tally.broken_lines[0].reason
    with pytest.raises(InputError, match=r"a\.jtl:3"):
        brought(tmp_path, file, strict=True)


@pytest.mark.parametrize("ahead_s", [-10, 3600])
def test_the_clock_of_a_load_generator_may_be_ahead(tmp_path: Path, ahead_s: int) -> None:
    now_ms = time_ns() // 1_000_000
    file = written(tmp_path / "a.jtl", row(now_ms - T_MS + ahead_s * 1000))
    assert brought(tmp_path, file).tallies[0].kept == 1


def test_the_same_limits_hold_in_xml(tmp_path: Path) -> None:
    samples = [
        f'<httpSample t="{elapsed}" ts="{at}" s="true" lb="a" rc="200"/>\n'
        for elapsed, at in ((1, T_MS), (1, 0), (86_400_001, T_MS), ("9" * 400, T_MS), (-1, T_MS))
    ]
    file = tmp_path / "a.jtl"
    file.write_text(f"<testResults>\n{''.join(samples)}</testResults>\n")
    (tally,) = brought(tmp_path, file).tallies
    assert [broken.line for broken in tally.broken_lines] == [3, 4, 5, 6]


def test_two_runs_in_one_file_are_told_and_each_can_be_taken(tmp_path: Path) -> None:
    month_ms = 30 * 24 * HOUR_MS
    first = [row(at) for at in range(0, 3000, 10)]
    second = [row(month_ms + at) for at in range(0, 1000, 10)]
    file = written(tmp_path / "a.jtl", *first, *second)
    with pytest.raises(InputError) as caught:
        brought(tmp_path, file)
    (problem,) = caught.value.problems
    assert problem.message == (
        "contains 2 runs: 300 requests from 2023-11-14 22:13:20 UTC, then 100 requests starting"
        " 30 days later, at 2023-12-14 22:13:20 UTC"
    )
    for run, kept in ((1, 300), (2, 100)):
        found = brought(tmp_path, file, run)
        assert found.tallies[0].kept == kept
        assert found.tallies[0].left_out == {importing.OF_OTHER_RUNS: 400 - kept}
        assert found.recording.stages[-1].end_ns < 4 * 10**9
    with pytest.raises(InputError, match="there are 2"):
        brought(tmp_path, file, 3)


def test_runs_that_lie_in_any_order_are_found(tmp_path: Path) -> None:
    later, sooner = row(5 * HOUR_MS), row()
    between = row(2 * HOUR_MS, elapsed_ms=3 * HOUR_MS)
    file = written(tmp_path / "a.jtl", later, sooner)
    with pytest.raises(InputError, match="contains 2 runs"):
        brought(tmp_path, file)
    whole = written(tmp_path / "b.jtl", later, sooner, between, row(HOUR_MS))
    assert brought(tmp_path, whole).tallies[0].kept == 4


def test_engines_that_never_ran_together_are_several_runs(tmp_path: Path) -> None:
    files = [written(tmp_path / "a.jtl", row()), written(tmp_path / "b.jtl", row(9 * HOUR_MS))]
    with pytest.raises(InputError, match="contains 2 runs: 1 request from"):
        importing.rows(
            named("jmeter"),
            files,
            ReadOptions(),
            About("subject"),
            None,
            ParquetResults(tmp_path / "results"),
        )


def test_a_line_without_end_is_refused_before_it_is_unpacked_as_a_whole(tmp_path: Path) -> None:
    file = tmp_path / "a.gz"
    with gzip.open(file, "wb", 1) as packed:
        packed.write((HEADER + row()).encode())
        for _ in range(256):
            packed.write(b"y" * (1 << 20))
    with pytest.raises(InputError, match=r"a\.gz:3: has a line longer than 32 MiB"):
        brought(tmp_path, file)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_utf_16_is_named(tmp_path: Path, encoding: str) -> None:
    file = tmp_path / "a.jtl"
    mark = "" if encoding == "utf-16" else "\ufeff"
    file.write_bytes((mark + HEADER + row()).encode(encoding))
    with pytest.raises(InputError, match="is UTF-16") as caught:
        brought(tmp_path, file)
    assert "iconv" in caught.value.problems[0].hint


def test_a_nul_in_a_label_is_replaced_and_the_row_is_kept(tmp_path: Path) -> None:
    file = written(tmp_path / "a.jtl", row(label="a\0b"))
    assert brought(tmp_path, file).recording.requests == ("a\ufffdb",)


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("clock,value\n" + f"{T_MS // 1000},1\n{T_MS // 1000 + 4 * 86_400},1\n", limits.RUN_NS),
        (f"clock,value\n{T_MS // 1000}," + "1" * (1 << 17), limits.LINE_BYTES),
        (
            "clock,value,ns\n"
            + "".join(f"{T_MS // 1000},1,{ns}\n" for ns in range(FEW_READINGS.most + 1)),
            FEW_READINGS,
        ),
    ],
    ids=["time", "line", "readings"],
)
def test_readings_of_a_cpu_have_limits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, limit: IntakeLimit
) -> None:
    monkeypatch.setattr(limits, "CPU_READINGS", FEW_READINGS)
    file = tmp_path / "cpu.csv"
    file.write_text(text)
    cpu = Cpu(file, zabbix.CpuOptions(unit="cores"))
    with pytest.raises(InputError) as caught:
        importing.readings(cpu, About("subject"), ParquetResults(tmp_path / "results"))
    assert caught.value.problems[0].hint == limit.hint


def test_every_limit_is_documented_as_it_is() -> None:
    text = DOCUMENTATION.read_text("utf-8")
    rows = re.findall(r"^\| (.+?) \| (.+?) \|$", text, re.MULTILINE)
    assert [(limit.what, limit.shown) for limit in LIMITS] == [
        found for found in rows if found[0] in {limit.what for limit in LIMITS}
    ]
