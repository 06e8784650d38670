"""What a load has left on its hosts comes to the lab, also where a host is cut off meanwhile."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from plimsoll.errors import HostLost
from plimsoll.hosts import counts
from plimsoll.hosts.agent.agent import Agent
from plimsoll.hosts.agent.turns import TurnedLoad
from plimsoll.hosts.answers import CountState, HostFile, Stayed, StepState
from plimsoll.hosts.lab import copying
from plimsoll.hosts.lab.driver import HostsDriver

COUNTED = CountState(
    has_ended=True,
    times={kind: HostFile(f"{kind}.bin", 0, hashlib.sha256().hexdigest()) for kind in counts.KINDS},
)
ANSWERS: dict[str, object] = {
    "counted": COUNTED,
    "keeping": StepState(given=Stayed("/rows/now")),
}


class CutOnce:
    """A lab whose connection breaks at the first of each order; each host joins again."""

    def __init__(self) -> None:
        self.hosts = SimpleNamespace(keep_rows="remote")
        self.ordered: list[str] = []
        self.folder = ""

    def order(self, host: str, order: str, *arguments: object) -> object:
        self.ordered.append(order)
        if order == "keep":
            self.folder = str(*arguments)
        if self.ordered.count(order) == 1:
            raise HostLost(f"the connection to `{host}` broke", "check its agent")
        return ANSWERS.get(order)

    def wait(self, _names: list[str], _tell: Callable[[str], None]) -> None:
        pass


def test_a_host_that_is_cut_off_while_it_counts_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counts, "figures", lambda *_: None)
    lab: Any = CutOnce()
    together: Any = SimpleNamespace(
        stages=(),
        hosts=[SimpleNamespace(host="two", zero_ns=0, driver=1)],
        driver=None,
        zero_utc_ns=0,
    )
    monkeypatch.setattr("plimsoll.hosts.lab.driver.replace", lambda given, **_: given)
    result: Any = SimpleNamespace(files=())
    one: Any = SimpleNamespace(host=SimpleNamespace(name="two"), result=result)
    (tmp_path / "two").mkdir()
    job: Any = SimpleNamespace(into=tmp_path, load=None)
    HostsDriver(lab, print)._counted([one], together, job)
    assert lab.ordered == [
        *("count", "count", "counted", "counted"),
        *("keep", "keep", "keeping", "keeping", "release"),
    ]
    assert lab.folder == "19700101T000000.000000Z-two", "hosts may have one home folder"


@pytest.mark.parametrize(
    "order",
    [
        ("collect",),
        ("read", "requests.bin", 0),
        ("count", (), 0),
        ("counted",),
        ("keep", "now"),
        ("keeping",),
        ("turned", "0", 0.0),
        ("read_turned", "0", "requests.bin", 0),
    ],
)
def test_an_agent_that_was_started_anew_says_that_the_rows_are_gone(
    tmp_path: Path, order: tuple[Any, ...]
) -> None:
    agent = Agent(tmp_path / "agent", tmp_path / "rows")

    def ordered(_host: str, name: str, *arguments: object) -> object:
        return getattr(agent, name)(*arguments)

    lab: Any = SimpleNamespace(order=ordered, wait=lambda *_: None)
    with pytest.raises(HostLost, match="`two`: its agent was started again"):
        copying.patiently(lab, "two", *order)


def test_a_load_is_counted_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: Any = Agent(tmp_path / "agent", tmp_path / "rows")
    made._load = SimpleNamespace(result=1, counted=None)
    begun: list[object] = []
    monkeypatch.setattr(made, "_count", lambda *given: begun.append(given))
    made.count((), 0)
    made.count((), 0)
    assert len(begun) == 1


def turned_load(agent: Any, key: str, *, has_ended: bool) -> Path:
    """What a load that takes turns has left, or goes on to write."""
    folder: Path = agent._turned._folder / key
    folder.mkdir(parents=True)
    (folder / "requests.bin").write_bytes(b"rows")
    job: Any = SimpleNamespace(into=folder)
    agent._turned._loads[key] = TurnedLoad(job, has_ended=has_ended)
    return folder


def test_rows_of_turns_outlive_a_cut_until_they_are_released_or_the_next_load(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent: Any = Agent(tmp_path / "agent", tmp_path / "rows")
    places = [turned_load(agent, key, has_ended=key != "2") for key in ("0", "1", "2")]
    agent.abandon()
    assert agent.read_turned("1", "requests.bin", 1) == b"ows"
    assert [place.exists() for place in places] == [True, True, False]
    assert not agent._turned, "nothing runs that must end with the lab"
    with pytest.raises(HostLost, match="its rows are gone"):
        agent.turned("2", 0.0)
    agent.release_turns("0")
    assert not places[0].exists()
    monkeypatch.setattr(TurnedLoad, "begin", lambda _: None)
    order: Any = SimpleNamespace(within=lambda into: SimpleNamespace(into=into))
    agent.arm_turns("3", order)
    assert not places[1].exists()
    agent.abandon()
