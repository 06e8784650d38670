"""A kernel that shows less than others: what is missing is not available, and doubts nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from command_line import run, text_of
from preloads import preloaded

pytestmark = pytest.mark.timeout(120)

MISSING = {
    "smaps": {"pss_bytes"},
    "schedstat": {"run_delay_s", "run_time_s"},
    "/pressure/": {"pressure_cpu_s", "pressure_memory_s", "pressure_io_s"},
    "sock_diag": {"listen_queue", "connections_established", "round_trip_min_s"},
    "/net/snmp:/net/netstat": {"tcp_retransmits", "listen_overflows"},
}
"""What a kernel does not show, and quantities that live on it."""

UNREAD = ("could not be read", "could be compared", "not available")


def test_limits_that_cannot_be_read_are_refused_and_the_rows_are_kept(
    reference_server: str, tmp_path: Path
) -> None:
    silent = preloaded("silent_kernel", tmp_path) | {"PLIMSOLL_TEST_MISSING": "/self/cgroup"}
    asked = ("-c", 4, "-d", "1s", "--record", "recorded")
    ran = run("load", f"{reference_server}/2048", *asked, folder=tmp_path, environment=silent)
    assert ran.code in (0, 1), ran.stderr  # the engine's own records are judged, no table is read
    ran = run("judge", "recorded", folder=tmp_path, environment=silent)
    assert ran.code == 3, ran.stderr
    assert "`/proc/self/cgroup` cannot be read" in ran.said
    assert "hint: " in ran.said
    assert run("judge", "recorded", folder=tmp_path).code in (0, 1)


@pytest.mark.parametrize(
    "names",
    [*(pytest.param(name, marks=pytest.mark.thorough) for name in MISSING), ":".join(MISSING)],
)
def test_what_a_kernel_does_not_show_is_not_available(
    names: str, reference_server: str, tmp_path: Path
) -> None:
    lost = {one for name, found in MISSING.items() if name in names for one in found}
    silent = preloaded("silent_kernel", tmp_path) | {"PLIMSOLL_TEST_MISSING": names}
    asked = ("-c", 4, "-d", "2s", "--json", "--record", "recorded")
    ran = run("load", f"{reference_server}/2048", *asked, folder=tmp_path, environment=silent)
    assert ran.code in (0, 1), ran.stderr
    (usage,) = tmp_path.rglob("usage.parquet")
    read = set(pq.read_table(usage).column("quantity").to_pylist())
    assert not read & lost
    assert read >= {"core_busy_s", "cpu_user_s", "rss_bytes"}
    told = json.loads(ran.stdout)["verdicts"]
    doubting = [one for one in told if one["level"] in ("doubtful", "void")]
    assert not [one for one in doubting if any(words in text_of(one) for words in UNREAD)]
