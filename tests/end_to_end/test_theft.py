"""A thief on the server's core, and then on the driver's: found with what it really took.

One trial; the thief asks for more and more of each core meanwhile, and for nothing at first. This
machine may be busy otherwise: what all its programs use is read beside, process by process, so that
what others took is known whoever they are. Nothing of that is told by `/proc/stat`, which the lab
reads.
"""

from __future__ import annotations

import os
import re
import threading
import time
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest

from command_line import start
from plimsoll.aggregate.disturbance import taken
from plimsoll.aggregate.trial import Tables, stored
from plimsoll.processes.tree import TICKS_PER_S
from plimsoll.storage import parquet
from plimsoll.verdicts.checks import undisturbed
from plimsoll.verdicts.limits import Limits
from thief import Loot, robbed

pytestmark = [pytest.mark.alone, pytest.mark.timeout(300)]

SERVER_CORE, DRIVER_CORE = sorted(os.sched_getaffinity(0))[:2] or (0, 1)
CORES = {"server": SERVER_CORE, "driver": DRIVER_CORE}
SHARES = (0.05, 0.15, 0.3, 0.7)
PHASES = [("server", 0.0), *((side, share) for side in CORES for share in SHARES)]
"""Whose core the thief is on, and what share of it it asks for; at first nothing."""

ALWAYS = {("server", 0.0), ("server", SHARES[0]), ("driver", SHARES[-1])}
"""`make test` looks at the smallest thief on one core, and at the greatest on the other."""

EACH = [
    pytest.param(*phase, marks=() if phase in ALWAYS else pytest.mark.thorough) for phase in PHASES
]

SHORT_S, LONG_S = 3.5, 6.0
"""How long a phase takes; the smaller a thief is, the longer it is looked at."""

THIRD = 1 / 3
TICKS = 0.01
"""Cores that clock ticks of processes and cores come to within a phase."""
SKEW = 0.03
"""Share of what neighbours take that instants of readings may differ by."""
WAKING = 0.02
"""Share of a core that its way into and out of idleness takes: it is busy then, for no process. At
thousands of wake-ups a second 0.005 to 0.012 were seen."""


def length_s(phase: tuple[str, float]) -> float:
    return LONG_S if phase[1] < SHARES[1] else SHORT_S


CAMPAIGN = """
name = "robbed"
frameworks = ["reference"]
endpoints = ["2048"]
cool_down = "0s"
server_cores = [{cores[server]}]
driver_cores = [{cores[driver]}]

[[load]]
name = "steady"
stages = [{{ kind = "hold", duration = "{hold_s}s", at = 16 }}]
"""


class Bookkeeper:
    """Reads twice a second what all programs of this host have used, kernel threads included."""

    def __init__(self) -> None:
        self.at_ns: list[int] = []
        self.cpu_s: list[float] = []
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Bookkeeper:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def cores(self, start_ns: int, end_ns: int) -> float:
        before, after = np.interp([start_ns, end_ns], self.at_ns, self.cpu_s)
        return float(after - before) / ((end_ns - start_ns) / 1e9)

    def _run(self) -> None:
        while not self._ended.wait(0.5):
            began_ns = time.time_ns()
            self.cpu_s.append(sum(map(_used_s, Path("/proc").glob("[0-9]*/stat"))))
            self.at_ns.append((began_ns + time.time_ns()) // 2)


def _used_s(stat: Path) -> float:
    """Its own time and that of its ended children; what it leaves, its parent has."""
    try:
        fields = stat.read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / TICKS_PER_S


@dataclass(frozen=True)
class Phase:
    """What others really took in one phase, and what the lab found, in cores.

    Attributes:
        thief: What the thief used.
        neighbours: What all other programs used, but for server and load generator.
        stolen: What the hypervisor gave to other machines; a core that it stole from while it woke
            up counts that time as stolen and as idle.
        found: What the lab found, by whose core.
    """

    thief: float
    neighbours: float
    stolen: float
    found: dict[str, float]

    @property
    def least_error(self) -> float:
        """What a number found may be too small by."""
        return THIRD * self.thief + TICKS + SKEW * self.neighbours + self.stolen

    @property
    def most_error(self) -> float:
        """What the number found for one core may be too large by."""
        return THIRD * self.thief + TICKS + SKEW * self.neighbours + WAKING


@dataclass(frozen=True)
class Robbery:
    """The trial, and its phases by whose core the thief was on and what it asked for."""

    tables: Tables
    phases: dict[tuple[str, float], Phase]


def wanted(request: pytest.FixtureRequest) -> list[tuple[str, float]]:
    """The phases that those tests look at that were chosen."""
    parameters = [
        one.callspec.params
        for one in request.session.items
        if isinstance(one, pytest.Function) and one.module is request.module
        if hasattr(one, "callspec")
    ]
    asked = {(one["side"], one["share"]) for one in parameters}
    return [phase for phase in PHASES if phase in asked] or PHASES


@pytest.fixture(scope="module")
def robbery(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Robbery:
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("server and driver need a core each")
    if Path("/proc/2/comm").read_text().strip() != "kthreadd":
        pytest.skip("not every program of this host is shown here")
    folder = tmp_path_factory.mktemp("robbed")
    chosen = wanted(request)
    hold_s = sum(map(length_s, chosen)) + 3
    (folder / "robbed.toml").write_text(CAMPAIGN.format(cores=CORES, hold_s=hold_s))
    with Bookkeeper() as books:
        lab = start("run", "robbed.toml", "--no-report", folder=folder)
        lab.wait_until_it_drives()
        loot = robbed([(CORES[phase[0]], phase[1], length_s(phase)) for phase in chosen])
        ran = lab.end()
    assert ran.code == 0, ran.stderr
    results = parquet.results(folder / "results" / "robbed")
    tables = stored(results, results.recording(results.trial_ids()[0]))
    phases = {phase: _phase(tables, books, one) for phase, one in zip(chosen, loot, strict=True)}
    return Robbery(tables, phases)


def _phase(tables: Tables, books: Bookkeeper, loot: Loot) -> Phase:
    """What happened between the first and the last reading within a phase."""
    zero_ns = round(datetime.fromisoformat(tables.recording.zero_utc).timestamp() * 1e9)
    read = tables.usage.of("machine", f"core{loot.core}_busy_s")[0].at_ns
    inside = read[(read + zero_ns > loot.at_ns[0]) & (read + zero_ns < loot.at_ns[-1])]
    window = (int(inside[0]), int(inside[-1]))
    between = (window[0] + zero_ns, window[1] + zero_ns)
    own = sum(
        tables.usage.rate(side, name, [window]) or 0.0
        for side in CORES
        for name in ("cpu_user_s", "cpu_system_s")
    )
    found = taken(tables.recording, tables.usage, [window])
    thief = loot.cores(*between)
    return Phase(
        thief=thief,
        neighbours=max(books.cores(*between) - own - thief, 0.0),
        stolen=tables.usage.rate("machine", "cpu_steal_s", [window]) or 0.0,
        found={side: one.cores for side, one in found.items()},
    )


@pytest.mark.parametrize(("side", "share"), EACH[1:])
def test_a_thief_is_found_on_the_core_it_robs(robbery: Robbery, side: str, share: float) -> None:
    phase = robbery.phases[side, share]
    if phase.thief < share / 5:
        pytest.skip(f"other programs left the thief {phase.thief:.2f} of {share:g} cores")
    assert phase.found[side] > phase.thief - phase.least_error, phase
    assert phase.found[side] < phase.thief + phase.neighbours + phase.most_error, phase


@pytest.mark.parametrize(("side", "share"), EACH)
def test_what_others_took_is_what_they_used(robbery: Robbery, side: str, share: float) -> None:
    phase = robbery.phases[side, share]
    others = phase.thief + phase.neighbours
    found = sum(phase.found.values())
    assert others - phase.least_error < found < others + phase.most_error + WAKING, phase


@pytest.mark.parametrize(("side", "share"), EACH)
def test_nobody_is_charged_on_the_core_without_a_thief(
    robbery: Robbery, side: str, share: float
) -> None:
    phase = robbery.phases[side, share]
    spared = ("driver" if side == "server" else "server",) if share else tuple(CORES)
    for one in spared:
        assert phase.found[one] < phase.neighbours + phase.most_error, phase


def test_the_verdict_says_from_whom_and_how_much(robbery: Robbery) -> None:
    given = undisturbed.judge(robbery.tables, Limits({}))
    assert re.search(r"throughput is (about [0-9.]+|[0-9.]+ to [0-9.]+) % too low", given.text)
    assert "The server waited" in given.text
    assert "the load generator" in given.text
