"""Memory, threads and pacing are made of what the engine and its rows say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import own_costs
from own_costs import Pacing, Threaded
from plimsoll.drivers.records import record_dtype
from workbench import host

NEVER = np.iinfo(np.uint64).max


def rows(path: Path, *instants: tuple[int, int]) -> Path:
    samples = np.zeros(len(instants), record_dtype("requests"))
    samples["due_ns"], samples["sent_ns"] = zip(*instants, strict=True)
    samples.tofile(path)
    return path


def test_lag_is_sent_minus_due_behind_the_warm_up(tmp_path: Path) -> None:
    path = rows(tmp_path / "r", (400, 900), (10**9, 10**9 + 30), (2 * 10**9, 2 * 10**9 + 7))
    lags_ns, not_sent = own_costs.lags_of(path, from_s=1.0)
    assert (list(lags_ns), not_sent) == ([30, 7], 0)


def test_a_request_that_was_never_sent_has_no_lag_and_is_counted(tmp_path: Path) -> None:
    path = rows(tmp_path / "r", (10**9, 10**9 + 30), (2 * 10**9, NEVER))
    lags_ns, not_sent = own_costs.lags_of(path, from_s=1.0)
    assert (list(lags_ns), not_sent) == ([30], 1)


def test_two_threads_are_compared_with_one_of_the_same_repetition() -> None:
    found = [
        Threaded(1, 0, 8.0, 100.0, 0.5, 0.0),
        Threaded(2, 0, 8.0, 190.0, 0.9, 0.0),
        Threaded(2, 1, 4.4, 95.0, 0.9, 0.0),
        Threaded(1, 1, 4.0, 50.0, 0.5, 0.0),
    ]
    last = own_costs.threads_table(found).splitlines()[4]
    assert "1.05 (1.00–1.10)" in last
    assert "1.90" in last


def test_pacing_is_in_microseconds_beside_its_rate_and_what_it_costs() -> None:
    paced = Pacing(20_000, 100, 80_000, 3, 14.2, 61.0, 1_430.4, 12.34, 0.567, 0.0)
    table = own_costs.pacing_table([paced])
    cells = [cell.strip() for cell in table.splitlines()[2].strip("|").split("|")]
    assert cells == ["20,000", "100", "80,000", "3", "14", "61", "1,430", "12.3", "0.57"]


@pytest.mark.parametrize(
    ("allowed", "server", "own"),
    [
        ((0, 1), (0,), {1: (1,), 2: (1, 1)}),
        ((0, 1, 2, 3), (0, 1), {1: (3,), 2: (2, 3)}),
        ((2, 3, 6, 7, 8, 9), (2, 3, 6, 7), {1: (9,), 2: (8, 9)}),
    ],
)
def test_from_four_cores_on_the_second_thread_has_a_core_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
    allowed: tuple[int, ...],
    server: tuple[int, ...],
    own: dict[int, tuple[int, ...]],
) -> None:
    cores = host.Cores(allowed, allowed[0], allowed[-1])
    monkeypatch.setattr(host, "cores", lambda: cores)
    assert own_costs.thread_cores() == (server, own)
