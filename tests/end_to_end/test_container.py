"""In namespaces like a container's: as process 1, with hardly anything that can be written to."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from command_line import CHECKOUT, TOY, TOYS, run
from containers import in_container
from own_networks import SERVED

pytestmark = pytest.mark.timeout(120)

AB = CHECKOUT / "tests" / "golden" / "published" / "ab-sound.txt"
ROWS = CHECKOUT / "tests" / "golden" / "intake" / "jmeter-5.6.csv"


def test_a_load_in_a_container_is_measured(tmp_path: Path) -> None:
    before = in_container(tmp_path, served=True)
    asked = ("-c", 4, "-d", "2s", "--json", "--record", "recorded")
    ran = run("load", f"{SERVED}/2048", *asked, folder=tmp_path, before=before)
    assert ran.code in (0, 1), ran.stderr
    told = json.loads(ran.stdout)
    assert told["summary"]["completed"] > 0
    assert told["summary"]["failed"] == 0
    (usage,) = tmp_path.rglob("usage.parquet")
    read = {(row["scope"], row["quantity"]) for row in pq.read_table(usage).to_pylist()}
    assert {("server", "cpu_user_s"), ("driver", "cpu_user_s"), ("server", "listen_queue")} <= read
    assert ("machine", "cgroup_throttled_s") not in read


def test_a_campaign_in_a_container_leaves_a_report(tmp_path: Path) -> None:
    before = in_container(tmp_path)
    ran = run("run", TOY, *TOYS, folder=tmp_path, before=before)
    assert ran.code in (0, 1), ran.stderr
    (trial,) = tmp_path.rglob("trial.json")
    recorded = json.loads(trial.read_text())
    assert recorded["ending"]["kind"] == "completed", recorded["ending"]
    assert recorded["server"]["clean_stop"]
    report = tmp_path / "results" / "toy" / "report"
    assert {path.name for path in report.iterdir()} >= {"index.html", "report.pdf", "report.md"}


@pytest.mark.parametrize(
    "asked", [("audit", AB), ("import", ROWS, "--into", "imported")], ids=["audit", "import"]
)
def test_what_others_measured_is_read_in_a_container(
    asked: tuple[object, ...], tmp_path: Path
) -> None:
    ran = run(*asked, folder=tmp_path, before=in_container(tmp_path))
    assert ran.code in (0, 1), ran.stderr
    assert ran.stdout
