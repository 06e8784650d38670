"""`plimsoll.import_recording`: what a program gets of a log, and what it is told of a mistake."""

from __future__ import annotations

import gzip
import re
import zipfile
from pathlib import Path

import pytest

import plimsoll

GOLDEN = Path(__file__).parents[2] / "golden" / "intake"


def test_a_log_is_a_trial_with_the_counts_of_its_file(tmp_path: Path) -> None:
    with plimsoll.import_recording(
        GOLDEN / "oha-sound.csv", into=tmp_path, framework="shop"
    ) as found:
        (file,) = found.files
        assert found.requests.aggregate("count(*)").fetchall() == [(file.kept,)]
        assert found.recording.framework == "shop"
        assert found.as_json()["files"][0]["kept"] == file.kept
        assert found.campaign.place == str(tmp_path)
        assert re.fullmatch(r"<ImportResult shop\.oha: \S+ \w+ .*/s p50 .*>", repr(found))
        assert re.fullmatch(r"<CampaignResults 1 trial: 1 \w.* in .*>", repr(found.campaign))
    with plimsoll.read(tmp_path) as again:
        assert [one.id for one in again.trials] == [found.id]


def test_the_same_log_replaces_the_earlier_recording(tmp_path: Path) -> None:
    for _ in range(2):
        plimsoll.import_recording(GOLDEN / "ab-sound.tsv", into=tmp_path, tool="ab").close()
    with plimsoll.read(tmp_path) as found:
        assert len(found.trials) == 1


@pytest.mark.parametrize(
    "names",
    [("go-1.21.csv", "go-1.22.csv"), ("замер.csv", "сравнение.csv"), ("Müller.csv", "Möller.csv"),
     ("a b.csv", "a-b.csv"), ("-a.csv", "a.csv")],
)  # fmt: skip
def test_logs_of_other_names_are_recordings_beside_each_other(
    names: tuple[str, str], tmp_path: Path
) -> None:
    for rows, name in enumerate(names, 300):
        plimsoll.import_recording(log(tmp_path / name, rows=rows), into=tmp_path / "both").close()
    with plimsoll.read(tmp_path / "both") as found:
        counts = [one.requests.aggregate("count(*)").fetchall() for one in found.trials]
        assert sorted(counts) == [[(300,)], [(301,)]]
        assert {one.recording.framework for one in found.trials} == {
            Path(one).stem for one in names
        }


LOG = "timeStamp,elapsed,label,responseCode,success,bytes,sentBytes,allThreads,Latency,Connect\n"


def log(path: Path, *, rows: int, malformed: int = 0) -> Path:
    """A log of JMeter, some of whose first rows are malformed."""
    path.write_text(
        LOG
        + "".join(
            f"{1577836800000 + 5 * at},{'x' if at < malformed else 20},home,200,true,5,1,4,18,0\n"
            for at in range(rows)
        )
    )
    return path


def test_a_log_that_is_given_twice_is_refused(tmp_path: Path) -> None:
    one, other = log(tmp_path / "a.csv", rows=400), log(tmp_path / "b.csv", rows=400)
    for files, problem in (((one, one), "is given twice"), ((one, other), "has the same content")):
        with pytest.raises(plimsoll.InputError, match=problem) as error:
            plimsoll.import_recording(*files, into=tmp_path / "none")
        assert error.value.hint
    assert not (tmp_path / "none").exists()
    log(other, rows=401)
    plimsoll.import_recording(one, other, into=tmp_path / "both").close()


def test_a_log_is_recognised_again_when_it_is_compressed(tmp_path: Path) -> None:
    one = log(tmp_path / "a.csv", rows=400)
    packed, archive = tmp_path / "b.csv.gz", tmp_path / "c.zip"
    packed.write_bytes(gzip.compress(one.read_bytes()))
    with zipfile.ZipFile(archive, "w") as members:
        members.write(one, "one.csv")
        members.write(one, "two.csv")
    for files, where in (((one, packed), "b.csv.gz"), ((packed, archive), "c.zip:one.csv")):
        with pytest.raises(plimsoll.InputError, match="has the same content as") as error:
            plimsoll.import_recording(*files, into=tmp_path / "none")
        assert error.value.problems[0].where.endswith(where)
    packed.write_bytes(gzip.compress(log(tmp_path / "d.csv", rows=401).read_bytes()))
    plimsoll.import_recording(one, packed, into=tmp_path / "both").close()


FORMATTED = "2020-01-01 00:00:00.000"


@pytest.mark.parametrize(
    ("header", "first", "given", "unused"),
    [
        (True, 1577836800000, {"columns": ("timeStamp", "elapsed")}, "columns"),
        (True, 1577836800000, {"time_zone": "Europe/Berlin"}, "time_zone"),
        (True, FORMATTED, {"time_zone": "Europe/Berlin"}, ""),
        (False, 1577836800000, {"columns": ("timeStamp", "elapsed")}, ""),
        (True, 1577836800000, {"separator": ",", "end_stamps": True}, ""),
        (True, 1577836800000, {"partial": True}, "partial"),
    ],
)
def test_an_option_without_effect_on_a_log_of_jmeter_is_refused(
    header: bool, first: object, given: dict[str, object], unused: str, tmp_path: Path
) -> None:
    file = tmp_path / "log.csv"
    lines = [*(["timeStamp,elapsed"] if header else []), f"{first},20"]
    file.write_text("".join(f"{line}\n" for line in lines))
    into = tmp_path / "into"
    if not unused:
        plimsoll.import_recording(file, tool="jmeter", into=into, **given).close()  # pyright: ignore[reportArgumentType]
        return
    with pytest.raises(plimsoll.InputError, match=f"^{unused}: has no effect") as error:
        plimsoll.import_recording(file, tool="jmeter", into=into, **given)  # pyright: ignore[reportArgumentType]
    assert f"remove `{unused}=`" in error.value.hint
    assert not list(into.glob("trials/*"))


@pytest.mark.parametrize("name", ["columns", "separator", "timestamp_format", "time_zone"])
def test_a_format_without_choice_refuses_options_of_formats(name: str, tmp_path: Path) -> None:
    given = {"columns": "url", "separator": "tab", "timestamp_format": "ms", "time_zone": "CET"}
    with pytest.raises(plimsoll.InputError, match=f"^{name}: has no effect"):
        plimsoll.import_recording(
            GOLDEN / "oha-sound.csv",
            into=tmp_path,
            **{name: given[name]},  # pyright: ignore[reportArgumentType]
        )


@pytest.mark.parametrize(
    ("name", "value"), [("run", 1), ("labels", "home"), ("time_zone", "CET"), ("cpu", "cpu.csv")]
)
def test_cpu_readings_alone_refuse_options_of_requests(
    name: str, value: object, tmp_path: Path
) -> None:
    file = tmp_path / "cpu.csv"
    file.write_text("clock,value\n1577836800,40\n1577836801,41\n")
    with pytest.raises(plimsoll.InputError, match=f"^{name}: has no effect"):
        plimsoll.import_recording(
            file,
            tool="zabbix",
            cores=4,
            into=tmp_path / "into",
            **{name: value},  # pyright: ignore[reportArgumentType]
        )


@pytest.mark.parametrize(
    ("malformed", "level"), [(0, "sound"), (1, "sound"), (8, "doubtful"), (1000, "void")]
)
def test_malformed_lines_are_requests_that_are_missing(
    malformed: int, level: str, tmp_path: Path
) -> None:
    file = log(tmp_path / "log.csv", rows=2000, malformed=malformed)
    with plimsoll.import_recording(file, into=tmp_path / "into") as found:
        assert found.level == level
        said = [one.text for one in found.verdicts if one.is_doubting]
        assert [f"({malformed:,} of 2,000)" in text for text in said] == [True] * len(said)
        assert bool(said) == (level != "sound")
        assert level in repr(found)
        assert ("malformed" in found._repr_html_()) == (level != "sound")


def test_results_are_named_by_the_file_and_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with plimsoll.import_recording(GOLDEN / "jmeter-3.3.csv", run=1) as found:
        assert found.campaign.place == str(Path("results") / "jmeter-3.3-run-1")


@pytest.mark.parametrize(
    ("files", "given", "problem"),
    [
        ((), {}, "no file is given"),
        (("a.csv",), {"tool": "hammer"}, "tool: there is no tool `hammer`"),
        (("a.csv",), {"separator": "ab"}, "separator: `ab` is not a valid column separator"),
        (("a.csv", "b.csv"), {"tool": "zabbix"}, "b.csv: Zabbix import takes one file"),
        (("a.csv",), {"labels": [3]}, "labels: `3` is not text"),
    ],
)
def test_a_mistake_is_named_by_its_argument(
    files: tuple[str, ...], given: dict[str, object], problem: str, tmp_path: Path
) -> None:
    with pytest.raises(plimsoll.InputError) as error:
        plimsoll.import_recording(*files, into=tmp_path / "none", **given)  # pyright: ignore[reportArgumentType]
    assert str(error.value) == problem
    assert error.value.hint
    assert not (tmp_path / "none").exists()
