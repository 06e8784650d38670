"""Which hosts are fit for a load."""

from __future__ import annotations

from ipaddress import ip_address

import pytest

import plimsoll
from plimsoll import machine
from plimsoll.errors import DriverMissing
from plimsoll.hosts.answers import HostFacts
from plimsoll.hosts.host import Host, Role
from plimsoll.hosts.lab import fitness
from plimsoll.recording import PowerSources

PORTS = machine.SPARE_PORTS + 100


def fatal(
    connections: int, *, address: str = "10.0.0.2", role: Role = "driver", ports: int = PORTS
) -> list[str]:
    """What keeps a host from a load."""
    own = {"port_first": 50_000, "port_last": 50_000 + ports - 1, "open_files_hard": 1 << 20}
    facts = HostFacts(
        plimsoll.__version__, {**machine.facts(), **own}, 0, 1 << 40, None, PowerSources(), None
    )
    host = Host("two", role, ip_address(address))
    return [wrong.message for wrong in fitness._wrong(host, facts, connections) if wrong.is_fatal]


@pytest.mark.parametrize(("connections", "is_fit"), [(100, True), (101, False)])
def test_a_load_generator_needs_as_many_ports_as_its_engine_asks_for(
    connections: int, is_fit: bool
) -> None:
    found = fatal(connections)
    assert (not found) == is_fit
    assert is_fit or found == ["has ports for 100 connections to one server, and 101 are needed"]


def test_the_remedy_for_ports_gives_enough_or_names_what_does() -> None:
    own = {"port_first": 50_000, "port_last": 50_355, "open_files_hard": 1 << 20}
    facts = HostFacts(
        plimsoll.__version__, {**machine.facts(), **own}, 0, 1 << 40, None, PowerSources(), None
    )
    host = Host("two", "driver", ip_address("10.0.0.2"))
    hints = [
        wrong.hint
        for connections in (60_000, 64_257)
        for wrong in fitness._wrong(host, facts, connections)
        if wrong.is_fatal
    ]
    assert '="5280 65535"`' in hints[0]
    assert hints[1] == "use more hosts: one source address has ports for 64256 at most"


POOR = {"port_last": 33_000, "tcp_tw_reuse": 0, "somaxconn": 128, "processes_max": 1000}
"""Limits that are too low for either side, beside `port_first` 32,768."""


@pytest.mark.parametrize(
    ("role", "said"),
    [
        ("driver", ["outgoing connections", "closed connections hold their port"]),
        ("server", ["listen backlog", "the host allows 1000 threads"]),
    ],
)
def test_only_whoever_opens_connections_needs_ports_and_whoever_accepts_them_a_queue(
    role: Role, said: list[str]
) -> None:
    own = {**machine.facts(), **POOR, "port_first": 32_768, "open_files_hard": 1 << 20}
    quiet = {"conntrack_max": None, "cpu_governor": None, "cgroup_cores": None}
    known = {**own, **quiet, "cgroup_processes": None}
    facts = HostFacts(plimsoll.__version__, known, 0, 1 << 40, None, PowerSources(), None)
    host = Host("two", role, ip_address("127.0.0.2"))  # loopback: too few ports are not fatal
    found = [wrong.message for wrong in fitness._wrong(host, facts, 5000)]
    assert len(found) == len(said), found
    assert all(words in one for words, one in zip(said, found, strict=True))


def test_whoever_opens_no_connections_or_has_many_addresses_needs_no_ports() -> None:
    assert not fatal(9000, role="server")
    assert not fatal(9000, address="127.0.0.2")
    assert fatal(2, ports=1)


@pytest.mark.parametrize(
    ("free", "kept", "said"),
    [
        (1 << 40, None, []),
        (20_000_000, None, [("has 20 MB of free space for rows", False)]),
        (65_536, None, [("has 65.5 kB of free space for rows", True)]),
        (1 << 40, 0, [("has 0 B of free space for rows that stay there", False)]),
    ],
)
def test_a_full_disk_lets_no_load_begin_and_a_small_one_is_named(
    free: int, kept: int | None, said: list[tuple[str, bool]]
) -> None:
    known = {**machine.facts(), "open_files_hard": 1 << 20}
    facts = HostFacts(plimsoll.__version__, known, 0, free, kept, PowerSources(), None)
    host = Host("two", "driver", ip_address("127.0.0.2"))
    found = [(one.message, one.is_fatal) for one in fitness._wrong(host, facts, 0)]
    assert found == said


def test_a_load_generator_that_is_missing_is_named_with_every_host_without_it() -> None:
    def facts(*missing: str) -> HostFacts:
        lacking = {name: DriverMissing("not here", f"install {name}") for name in missing}
        return HostFacts("", {}, 0, 1 << 40, None, PowerSources(), None, lacking)

    names = ("one", "two", "three")
    hosts = [Host(name, "driver", ip_address("10.0.0.2")) for name in names]
    known = {"one": facts("wrk", "h2load"), "two": facts("h2load"), "three": facts("jmeter")}
    found = fitness.lacking(hosts, {**known, "server": facts("ab")})
    assert {*found} == {"wrk", "h2load", "jmeter"}, "a server needs none"
    assert found["h2load"].message == "`h2load` is not installed on `one`, `two`"
    assert found["h2load"].hint == "there: install h2load"
    assert fitness.drivers(known["one"]) == ("plimsoll", "jmeter")
