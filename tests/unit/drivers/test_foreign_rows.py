from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import foreign
from plimsoll.conduct import recording
from plimsoll.drivers import foreign_rows
from plimsoll.drivers.foreign_rows import RowsRead
from plimsoll.drivers.job import DriverResult, Rows
from plimsoll.recording import Driver, Ending, Recording

S = 1_000_000_000
ZERO_NS = 1_700_000_000 * S + 250_000_000
US = ZERO_NS // 1000


@pytest.fixture
def trial() -> Recording:
    made = foreign.trial(tool="h2load", by_figures=False).recording
    return replace(made, requests=("2048",), request_bytes=(40,), request_weights=(1.0,))


def driven(driver: Driver | None, rows: Rows) -> DriverResult:
    assert driver is not None
    return DriverResult(driver, 77 * S, ZERO_NS, (), rows=rows)


def written(into: Path, text: str, name: str = "h2load.tsv") -> Path:
    path = into / name
    path.write_text(text)
    return path


def taken(
    trial: Recording, into: Path, *paths: Path, step_ns: int = 1, reader: str = "h2load"
) -> RowsRead:
    rows = Rows(reader, paths, step_ns)
    return foreign_rows.take_in(trial, driven(trial.driver, rows), rows, into)


def test_each_line_becomes_a_row_counted_from_the_zero_of_the_trial(
    trial: Recording, tmp_path: Path
) -> None:
    path = written(tmp_path, f"{US + 500}\t200\t100\n{US + 900}\t503\t50\n")
    found = taken(trial, tmp_path, path).recording
    rows = pq.read_table(tmp_path / "requests.parquet").to_pylist()
    assert [(row["sent_ns"], row["done_ns"]) for row in rows] == [
        (500_000, 600_000),
        (900_000, 950_000),
    ]
    assert [row["status"] for row in rows] == [200, 503]
    assert {row["due_ns"] for row in rows} == {None}
    assert not path.exists()
    assert (found.requests, found.request_bytes) == (("2048",), (40,))
    assert found.ending == trial.ending


def test_remarks_of_the_reader_are_notes_of_the_driver_and_each_stands_once(
    trial: Recording, tmp_path: Path
) -> None:
    lines = f"{US}\t200\t100\n"
    paths = [written(tmp_path, lines, name) for name in ("a.tsv", "b.tsv")]
    driver = taken(trial, tmp_path, *paths).recording.driver
    assert driver is not None
    assert driver.notes[0] == "it is another tool"
    assert len(set(driver.notes)) == len(driver.notes) > 1
    assert not driver.has_connects
    assert pq.read_table(tmp_path / "requests.parquet").num_rows == 2


def test_instants_that_a_tool_rounds_down_are_counted_from_a_zero_rounded_with_them(
    trial: Recording, tmp_path: Path
) -> None:
    second = ZERO_NS // S
    head = "starttime\tseconds\tctime\tdtime\tttime\twait\n"
    lines = "".join(f"Sat\t{second + n}\t0\t3\t3\t2\n" for n in (0, 1))
    path = written(tmp_path, head + lines, "ab.tsv")
    taken(trial, tmp_path, path, step_ns=S, reader="ab")
    rows = pq.read_table(tmp_path / "requests.parquet").to_pylist()
    assert [row["sent_ns"] for row in rows] == [0, S]


def test_what_the_files_of_a_tool_leave_unsaid_is_unsaid_of_its_trial(
    trial: Recording, tmp_path: Path
) -> None:
    lost = taken(trial, tmp_path, written(tmp_path, f"{US}\t200\t100\n")).recording.driver
    assert lost is not None
    assert (lost.has_outcomes, lost.has_failures) == (True, False)
    head = "starttime\tseconds\tctime\tdtime\tttime\twait\n"
    path = written(tmp_path, f"{head}Sat\t{ZERO_NS // S}\t0\t3\t3\t2\n", "ab.tsv")
    plain = taken(trial, tmp_path, path, step_ns=S, reader="ab").recording.driver
    assert plain is not None
    assert (plain.has_outcomes, plain.instants_step_s) == (False, 1.0)


def test_a_line_that_cannot_be_read_is_told_and_the_others_are_kept(
    trial: Recording, tmp_path: Path
) -> None:
    path = written(tmp_path, f"{US}\t200\t100\nnonsense\n{US}\t200\t100\n")
    driver = taken(trial, tmp_path, path).recording.driver
    assert driver is not None
    assert any("1 lines of `h2load.tsv` are malformed" in note for note in driver.notes)
    assert pq.read_table(tmp_path / "requests.parquet").num_rows == 2


def test_files_that_cannot_be_read_are_the_ending_and_stay(
    trial: Recording, tmp_path: Path
) -> None:
    path = written(tmp_path, "starttime\tnothing\tof\tthis\n", "ab.tsv")
    found = taken(trial, tmp_path, path, reader="ab").recording
    assert found.ending.kind == "DriverFailed"
    assert "the request log of `h2load`" in found.ending.message
    assert found.ending.hint
    assert path.exists()
    assert not (tmp_path / "requests.parquet").exists()


def test_an_error_that_ended_the_trial_stays_its_ending(trial: Recording, tmp_path: Path) -> None:
    died = replace(trial, ending=Ending("DiedUnderLoad", "it died"))
    path = written(tmp_path, "starttime\tnothing\tof\tthis\n", "ab.tsv")
    assert taken(died, tmp_path, path, reader="ab").recording.ending == died.ending


def test_kinds_of_request_go_in_the_order_of_the_rows(trial: Recording, tmp_path: Path) -> None:
    several = replace(
        trial, requests=("a", "b", "c"), request_bytes=(1, 2, 3), request_weights=(0.1, 0.2, 0.7)
    )
    found = foreign_rows._of_kinds(several, ("c", "a"))
    assert found.requests == ("c", "a", "b")
    assert found.request_bytes == (3, 1, 2)
    assert found.request_weights == (0.7, 0.1, 0.2)
    other = foreign_rows._of_kinds(several, ("c", "unheard of"))
    assert (other.requests, other.request_bytes) == (("c", "unheard of"), ())


def test_closing_a_recording_takes_the_rows_in(trial: Recording, tmp_path: Path) -> None:
    rows = Rows("h2load", (written(tmp_path, f"{US}\t200\t100\n"),))
    kept = recording.close(trial, [], 77 * S, tmp_path, driven(trial.driver, rows))
    assert (tmp_path / "trial.json").exists()
    assert (tmp_path / "usage.parquet").exists()
    assert kept.driver is not None
    assert len(kept.driver.notes) > 1
