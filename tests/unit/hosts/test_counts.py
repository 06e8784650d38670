"""Counts of several hosts, added: those of all their rows together."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from engine_files import NONE, written
from plimsoll import _engine
from plimsoll._engine import Histogram
from plimsoll.campaign.load import Load, Stage
from plimsoll.drivers import records
from plimsoll.hosts import counts
from plimsoll.recording import Driver

S = 1_000_000_000
HOLDS = ((2 * S, 7 * S), (8 * S, 12 * S))
LOAD = Load("steady", "closed", (Stage("hold", 13.0, 40, 40),))
DRIVER = Driver("plimsoll", "1", (), 3, "schedule")
ENDINGS = ("ok", "wrong_status", "unfinished", "not_sent", "timed_out_waiting", "connect_refused")


def divided(folder: Path, sizes: Sequence[int], shifts: Sequence[int]) -> list[Path]:
    """Records of a whole load, divided among hosts whose zeros are later than the load's."""
    written(folder, sum(sizes), ENDINGS)
    rows = np.fromfile(folder / "requests.bin", records.record_dtype("requests"))
    folders: list[Path] = []
    for host, part in enumerate(np.split(rows, np.cumsum(sizes)[:-1])):
        own = part.copy()
        for name in ("due_ns", "sent_ns", "first_byte_ns", "done_ns"):
            known = own[name] != NONE
            own[name][known] -= np.minimum(own[name][known], shifts[host])
        folders.append(folder / str(host))
        folders[-1].mkdir()
        own.tofile(folders[-1] / "requests.bin")
    return folders


@pytest.mark.parametrize("sizes", [(9_000, 9_000, 2_000), (20_000,), (0, 5, 0)])
def test_counts_of_hosts_are_those_of_the_whole(tmp_path: Path, sizes: tuple[int, ...]) -> None:
    folders = divided(tmp_path, sizes, [0] * len(sizes))
    parts = [counts.counted(folder, HOLDS, 0) for folder in folders]
    whole = _engine.load_figures(tmp_path, HOLDS)
    for name, times in whole["times"].items():
        if name != "connect":
            joined = counts.joined([part.times[name] for part in parts])
            values = np.sort(np.frombuffer(times.to_bytes(), np.int64))
            assert joined.at(range(len(values))) == values.tolist(), name
            assert joined.mean() == times.mean()
    for name, count in parts[0].counts.items():
        assert sum(part.counts[name] for part in parts) == whole["counts"][name], (name, count)


def test_rows_of_a_host_that_began_later_are_of_the_same_holds(tmp_path: Path) -> None:
    early = [counts.counted(one, HOLDS, 0) for one in divided(tmp_path, (20_000,), (0,))]
    later = tmp_path / "later"
    later.mkdir()
    late = [counts.counted(one, HOLDS, 50_000) for one in divided(later, (20_000,), (50_000,))]
    assert late == early


def test_figures_are_of_all_hosts_together(tmp_path: Path) -> None:
    folders = divided(tmp_path, (15_000, 5_000), (0, 0))
    parts = [counts.counted(folder, HOLDS, 0) for folder in folders]
    found = counts.figures(parts, LOAD, DRIVER, 9.0)
    whole = _engine.load_figures(tmp_path, HOLDS)
    assert found.requests == whole["counts"]["completed"]
    assert found.throughput_per_s == whole["counts"]["completed"] / 9
    assert found.wrong + found.without_response == whole["counts"]["failed"]
    for kind, known_s in (
        ("service_time", found.times_s),
        ("response_time", found.response_times_s),
    ):
        times = np.sort(np.frombuffer(whole["times"][kind].to_bytes(), np.int64))
        assert known_s["max"] == times[-1] / 1e9
        assert known_s["p50"] == times[(len(times) + 1) // 2 - 1] / 1e9
        assert "p9999" not in known_s, "there are too few requests for it"
    assert found.times == "service"


def test_a_load_without_a_response_has_no_times() -> None:
    nothing = _engine.Histogram(b"")
    assert counts.statistics_s(nothing) == {}


def test_bytes_that_are_no_histogram_are_refused() -> None:
    with pytest.raises(ValueError, match="no histogram"):
        Histogram(b"\xff")
