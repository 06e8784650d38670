"""The path to a server; its hops are tested over networks, with hosts."""

from __future__ import annotations

import pytest

from plimsoll.recording import NetworkLink
from plimsoll.sampling import network_path


@pytest.mark.parametrize("link", [None, NetworkLink("lo", None)])
def test_a_server_on_this_host_has_no_path(link: NetworkLink | None) -> None:
    assert network_path.along(link, "127.0.0.1:80") == link


@pytest.mark.parametrize("address", ["127.0.0.1:80", "[::1]:80"])
def test_a_host_that_refuses_the_datagram_is_reached(address: str) -> None:
    found = network_path.along(NetworkLink("none", None), address)
    assert found is not None
    assert found.hops == 1
    assert found.rtt_s is not None
    assert 0 < found.rtt_s < network_path.PATIENCE_S
    assert found.offloads == (), "there is no such interface"
