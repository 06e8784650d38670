"""JSON and Markdown of a load that is not kept: what its records give is what its tables give."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time

import pytest

import plimsoll
from plimsoll import report
from reference_servers import reference


@pytest.mark.parametrize("status", [None, 404], ids=["right", "wrong"])
def test_it_is_what_all_tables_of_the_load_give(status: int | None) -> None:
    with (
        reference() as address,
        plimsoll.load(f"http://{address}/2048", requests=3000, status=status) as result,
    ):
        listed = result.as_json()
        page = report.load_markdown.render(result.judged)
        found = result.campaign.findings
        (every,) = report.machine_readable.trials(found)
        assert json.dumps(listed) == json.dumps({**every, "recording": None})
        assert page == report.load_markdown.render(found.trials[0])
        assert bool(listed["failures"]) == (status is not None)


SPIED = """
import atexit, sys
atexit.register(lambda: print(*sys.modules, file=sys.stderr))
from plimsoll.cli import main
main()
"""


def test_an_interrupted_one_is_whole_and_waits_for_nothing_that_it_does_not_need() -> None:
    with reference() as address:
        command = (sys.executable, "-c", SPIED, "load", f"http://{address}/2048", "-o", "json")
        with subprocess.Popen(
            (*command, "-d", "60s"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process:
            time.sleep(3)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
    found = json.loads(out)
    assert found["ending"]["kind"] == "Interrupted"
    assert found["summary"]["throughput_per_s"] > 0
    assert found["verdicts"]
    assert process.returncode == 130
    assert not {"duckdb", "scipy.special", "plimsoll.load_line.campaign_search"} & set(err.split())
