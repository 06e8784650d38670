"""Energy of a campaign and of a load, by a tree of counters and by a meter, all the way."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import plimsoll
from command_line import LENIENT, run
from plimsoll.events import Event, Phase
from plimsoll.report.results import machine_readable
from plimsoll.report.sections import energy as energy_section
from plimsoll.sampling import idle
from plimsoll.sampling.samplers import energy
from powercap import counting

pytestmark = pytest.mark.timeout(300)

IDLE_W, LOADED_W = 20.0, 50.0

CAMPAIGN = """\
name = "watts"
frameworks = ["reference"]
endpoints = ["empty"]
idle = "2s"

[[load]]
name = "steady"
stages = [{ kind = "hold", duration = "3s", at = 4 }]
"""

LADDER = """\
name = "rates"
kind = "ladder"
frameworks = ["reference"]
endpoints = ["empty"]
cool_down = "0s"

[ladder]
rates = [50, 100]
warm_up = "0s"
hold = "1s"
connections = 2
"""

METER = """\
import itertools, pathlib, sys, time
for n in itertools.count():
    print(float(pathlib.Path(sys.argv[1]).read_text() or 0) + n % 7 / 10, flush=True)
    time.sleep(0.02)
"""
"""A meter that shows what stands in a file, with some scatter."""


@dataclass
class Host:
    """A host whose power is known: its counters rise, and its meter shows it.

    Attributes:
        folder: Where its files are.
        watts: What it draws.
    """

    folder: Path
    watts: float = IDLE_W

    @property
    def meter(self) -> str:
        """Address of its meter."""
        return f"exec:exec {sys.executable} -c '{METER}' {self.folder}/watts"

    def tell(self, event: Event) -> None:
        """Draws more power under load."""
        if isinstance(event, Phase):
            self._set(LOADED_W if event.name == "driving" else IDLE_W)

    def _set(self, watts: float) -> None:
        self.watts = watts
        (self.folder / "new").write_text(f"{watts}")
        (self.folder / "new").replace(self.folder / "watts")


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Host]:
    monkeypatch.setenv(energy.ROOT_VARIABLE, str(tmp_path / "powercap"))
    monkeypatch.setattr(idle, "SETTLE_S", 0.3)
    found = Host(tmp_path)
    (tmp_path / "watts").write_text(f"{IDLE_W}")
    with counting(tmp_path / "powercap", lambda: found.watts):
        yield found


def test_a_campaign_shows_joules_per_response_by_rapl_and_at_the_wall(
    host: Host, tmp_path: Path
) -> None:
    file = tmp_path / "watts.toml"
    file.write_text(CAMPAIGN)
    settings = (*LENIENT[1::2], f"power={host.meter}")
    with plimsoll.run(
        file, into=tmp_path / "out", settings=settings, on_event=host.tell
    ) as results:
        findings = results.findings
    (trial,) = findings.trials
    summary = trial.summary
    assert summary is not None
    assert summary.rapl_idle_power_w == pytest.approx(IDLE_W, rel=0.3)
    assert summary.rapl_power_w == pytest.approx(LOADED_W, rel=0.3)
    assert summary.wall_idle_power_w == pytest.approx(IDLE_W + 0.3, abs=0.3)
    assert summary.wall_power_w == pytest.approx(LOADED_W + 0.3, abs=3)
    net_w, goodput_per_s = summary.wall_net_power_w, summary.goodput_per_s
    assert net_w is not None
    assert goodput_per_s is not None
    assert summary.wall_net_j_per_ok == pytest.approx(net_w / goodput_per_s)
    section = energy_section.section(findings)
    assert section is not None
    assert "RAPL counts package-0, dram of package-0; it omits mainboard" in section.caption
    assert "package-0-die-1 mirrors the counter of package-0" in section.caption
    lines = section.tables[0].lines
    assert [line.cells[:2] for line in lines] == [("reference", "RAPL"), ("reference", "wall")]
    assert all("J" in line.cells[place] for line in lines for place in (2, 4))
    (as_json,) = machine_readable.trials(findings)
    assert as_json["power"]["wall"]["net_power_w"] == net_w
    assert as_json["power"]["sources"]["meter"] == "exec"


def test_a_ladder_s_short_time_without_load_is_no_doubt_and_gives_no_energy_above_idle(
    host: Host, tmp_path: Path
) -> None:
    file = tmp_path / "rates.toml"
    file.write_text(LADDER)
    with plimsoll.run(file, into=tmp_path / "out", on_event=host.tell) as results:
        trials = results.findings.trials
        (ladder,) = results.findings.ladders
    for one in trials:
        (given,) = (each for each in one.verdicts if each.check == "energy_net")
        assert given.level == "not_checked"
        assert one.summary is not None and one.summary.rapl_power_w is not None
        assert one.summary.rapl_net_j_per_ok is one.summary.rapl_idle_power_w is None
    for step in ladder.steps:
        assert step.cost is not None
        assert step.cost.power["rapl"].idle_w == pytest.approx(IDLE_W, rel=0.3)


def test_a_meter_that_dies_costs_its_energy_and_nothing_else(
    reference_server: str, tmp_path: Path
) -> None:
    dead = tmp_path / "dead"
    script = f"test -e {dead} && exit 7; echo 50.1; sleep 0.1; echo 50.2; touch {dead}"
    load = ("load", f"{reference_server}/empty", "-c", "2", "-d", "500ms", "--idle", "0")
    ran = run(*load, "--power", f"exec:{script}", folder=tmp_path)
    assert "power meter" in ran.stdout
    assert "energy at the wall is unknown" in ran.said.lower()
    assert " 0 failed" in ran.said


def test_a_meter_that_is_not_there_ends_a_load_before_it_begins(
    reference_server: str, tmp_path: Path
) -> None:
    ran = run("load", f"{reference_server}/empty", "--power", "exec:exit 7", folder=tmp_path)
    assert ran.code == 3
    assert "the power command ended with exit code 7" in ran.stderr
    assert "throughput" not in ran.stdout
