"""What this host has too little of, and names and addresses that lead nowhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from command_line import run
from own_networks import SERVED, own_network, ports

pytestmark = pytest.mark.timeout(300)


def test_more_connections_than_ports_are_refused_with_numbers_before_any_load(
    tmp_path: Path,
) -> None:
    # 256 ports of each address stay free; 254 addresses of loopback are used.
    few = own_network(ports(40_000, 40_256), served=True)
    ran = run("load", SERVED, "-c", 255, "-d", "1s", folder=tmp_path, before=few)
    assert ran.code == 3, ran.stderr
    said = f"255 connections need as many local ports, {SERVED} can be reached from 254"
    assert f"error: {said}" in ran.stderr
    assert "hint: `sysctl -w net.ipv4.ip_local_port_range=" in ran.stderr
    assert ran.stdout == ""


def test_connections_beyond_the_ports_of_one_address_are_all_opened(tmp_path: Path) -> None:
    few = own_network(ports(40_000, 42_255), served=True)
    asked = ("-c", 5_000, "-d", "4s", "--timeout", "30s", "--json")
    ran = run("load", f"{SERVED}/2048", *asked, folder=tmp_path, before=few)
    assert ran.code in (0, 1), ran.stderr
    connections = json.loads(ran.stdout)["connections"]
    assert connections["opened"] == connections["peak_open"] == 5_000
    assert connections["refused"] == connections["lost"] == 0


def test_a_name_that_leads_nowhere_is_said_in_one_sentence(tmp_path: Path) -> None:
    ran = run("load", "http://no-such-host.invalid/", folder=tmp_path)
    assert ran.code == 4
    said, hint = ran.stderr.splitlines()
    assert said.startswith("error: cannot resolve `no-such-host.invalid`: ")
    assert hint == "hint: check the host name, or use an IP address"


def test_without_a_network_a_name_is_not_waited_for(tmp_path: Path) -> None:
    ran = run("load", "http://example.org/", folder=tmp_path, before=own_network())
    assert ran.code == 4
    assert "error: cannot resolve `example.org`: " in ran.stderr


def test_a_host_that_cannot_be_reached_is_told_before_the_load(tmp_path: Path) -> None:
    alone = own_network("ip route add unreachable 192.0.2.0/24")
    ran = run("load", "192.0.2.1", "-c", 2, "-d", "500ms", folder=tmp_path, before=alone)
    assert ran.code == 4, ran.stderr
    assert "error: `192.0.2.1:80` cannot be reached: no route to host" in ran.stderr
