"""Somebody who is not root, and to whom the server under load does not belong."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from command_line import TOY, TOYS, run
from other_users import as_nobody

pytestmark = pytest.mark.timeout(120)

WITHHELD = {"pss_bytes", "open_files", "voluntary_switches", "run_delay_s", "listen_queue"}
"""What a kernel may keep to the owner of a process, or to root."""


def test_a_server_of_another_user_is_measured_without_what_its_owner_keeps(
    reference_server: str, tmp_path: Path
) -> None:
    asked = ("-c", 4, "-d", "2s", "--json", "--record", "recorded")
    before = as_nobody(tmp_path)
    ran = run("load", f"{reference_server}/2048", *asked, folder=tmp_path, before=before)
    assert ran.code in (0, 1), ran.stderr
    told = json.loads(ran.stdout)
    assert told["summary"]["completed"] > 0
    (usage,) = tmp_path.rglob("usage.parquet")
    read = {(row["scope"], row["quantity"]) for row in pq.read_table(usage).to_pylist()}
    assert {("driver", "cpu_user_s"), ("machine", "core_busy_s")} <= read
    assert not read & {("server", quantity) for quantity in WITHHELD - {"listen_queue"}}
    sentences = [sentence for one in told["verdicts"] for sentence in one["sentences"]]
    unread = [one for one in sentences if "could not be read" in one["text"]]
    assert unread
    assert not {one["level"] for one in unread} - {"not_checked", "sound"}, unread


def test_a_campaign_of_nobody_reads_the_processes_that_it_started(tmp_path: Path) -> None:
    before = as_nobody(tmp_path)
    ran = run("run", TOY, *TOYS, "--no-report", folder=tmp_path, before=before)
    assert ran.code in (0, 1), ran.stderr
    (usage,) = tmp_path.rglob("usage.parquet")
    read = {row["quantity"] for row in pq.read_table(usage).to_pylist() if row["scope"] == "server"}
    assert read >= WITHHELD
    (trial,) = tmp_path.rglob("trial.json")
    recorded = json.loads(trial.read_text())
    assert not [note for note in recorded["notes"] if "could not be read" in note]
    assert recorded["server"]["clean_stop"]
    assert {path.stat().st_uid for path in tmp_path.rglob("*")} == {65534}
