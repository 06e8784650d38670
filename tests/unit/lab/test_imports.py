"""`plimsoll.import_recording`: what a program gets of a log, and what it is told of a mistake."""

from __future__ import annotations

import re
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
        assert repr(found.campaign).startswith(f"<CampaignResults 1 trial in {tmp_path}: 1 ")
    with plimsoll.read(tmp_path) as again:
        assert [one.id for one in again.trials] == [found.id]


def test_the_same_log_replaces_the_earlier_recording(tmp_path: Path) -> None:
    for _ in range(2):
        plimsoll.import_recording(GOLDEN / "ab-sound.tsv", into=tmp_path, tool="ab").close()
    with plimsoll.read(tmp_path) as found:
        assert len(found.trials) == 1


def test_results_are_named_by_the_file_and_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with plimsoll.import_recording(GOLDEN / "jmeter-3.3.csv", run=1) as found:
        assert found.campaign.place == str(Path("results") / "jmeter-3-run-1")


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
