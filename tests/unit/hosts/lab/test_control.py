"""What the lab knows of its hosts when one does not answer."""

from __future__ import annotations

import asyncio
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest

from plimsoll.errors import HostLost
from plimsoll.hosts import network
from plimsoll.hosts.host import Host, Hosts
from plimsoll.hosts.lab import control

HOSTS = Hosts(
    ip_address("127.0.0.1"), 1, Path(), 1.0, 1.0, (Host("one", "driver", ip_address("127.0.0.2")),)
)


class Gone:
    """The connection to a host whose agent is gone, or silent."""

    def __init__(self, error: OSError | None) -> None:
        self._error = error

    async def order(self) -> None:
        if self._error is not None:
            raise self._error
        await asyncio.sleep(60)


class FakeScheduler:
    """A scheduler that still knows an agent which is gone."""

    def __init__(self, error: OSError | None) -> None:
        self.aliases = {"one": "tls://127.0.0.2:1"}
        self._error = error

    def rpc(self, _address: str) -> Gone:
        return Gone(self._error)

    async def remove_worker(self, address: str, **_: str) -> None:
        self.aliases = {name: known for name, known in self.aliases.items() if known != address}


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ConnectionResetError(), "the connection to `one` broke"),
        (None, "`one` did not respond for 0.01 s"),
    ],
)
def test_who_does_not_answer_has_not_joined_any_more(
    monkeypatch: pytest.MonkeyPatch, error: OSError | None, words: str
) -> None:
    nothing: Any = None
    monkeypatch.setattr(network, "ANSWER_S", 0.01)
    lab = control.Lab(HOSTS, nothing, nothing, nothing, nothing)
    lab._scheduler = known = FakeScheduler(error)  # pyright: ignore[reportAttributeAccessIssue]
    assert set(lab.joined()) == {"one"}
    with pytest.raises(HostLost, match=words):
        asyncio.run(lab._called("one", "order"))
    assert not lab.joined(), "whoever waits for it would take the one that is gone for it"
    assert known.aliases == {}


class BusyClock:
    """The connection to a host whose clock is read, and that counts who else is asked meanwhile."""

    asked = 0
    most_asked = 0

    async def plimsoll_clock(self) -> int:
        BusyClock.asked += 1
        BusyClock.most_asked = max(BusyClock.most_asked, BusyClock.asked)
        await asyncio.sleep(0)
        BusyClock.asked -= 1
        return 0


def test_clocks_of_hosts_are_read_one_after_the_other() -> None:
    nothing: Any = None
    lab = control.Lab(HOSTS, nothing, nothing, nothing, nothing)
    known: Any = FakeScheduler(None)
    known.rpc = lambda _address: BusyClock()
    lab._scheduler = known

    async def compared() -> list[int]:
        return [len(one) for one in await asyncio.gather(*(lab._clock("one") for _ in range(3)))]

    assert asyncio.run(compared()) == [control.EXCHANGES] * 3
    assert BusyClock.most_asked == 1
