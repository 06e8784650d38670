"""Ports: free ones, taken ones, and by whom."""

from __future__ import annotations

import os
import socket

from plimsoll import addresses
from plimsoll.processes import ports


def test_a_free_port_is_free_and_another_one_each_time() -> None:
    found = [ports.free_port() for _ in range(5)]
    assert all(ports.is_free(port) for port in found)
    assert len(set(found)) > 1


def test_a_free_port_lies_below_the_ports_of_outgoing_connections() -> None:
    with socket.create_server((ports.LOOPBACK, 0)) as any_port:
        first = ports._first_outgoing()
        assert any_port.getsockname()[1] >= first
        assert ports.free_port() < first


def test_a_port_that_is_listened_on_is_taken_by_this_process() -> None:
    with socket.create_server((ports.LOOPBACK, 0)) as listener:
        port = listener.getsockname()[1]
        assert not ports.is_free(port)
        assert os.getpid() in [found.pid for found in ports.listeners(port)]
        assert (addresses.packed(ports.LOOPBACK), port) in ports.bound_by([os.getpid()])
        assert f"(process {os.getpid()})" in ports.taken(port).message
        assert f"(process {os.getpid()})" not in ports.taken(port, besides=[os.getpid()]).message
    assert ports.is_free(port)
    assert ports.listeners(port) == ()


def test_a_port_taken_on_every_address_or_by_version_6_is_taken_on_loopback() -> None:
    with socket.create_server(("", 0)) as listener:
        assert not ports.is_free(listener.getsockname()[1])
    if socket.has_dualstack_ipv6():
        with socket.create_server(("", 0), family=socket.AF_INET6, dualstack_ipv6=True) as listener:
            port = listener.getsockname()[1]
            assert not ports.is_free(port)
            assert os.getpid() in [found.pid for found in ports.listeners(port)]


def test_sockets_are_foreign_when_none_of_the_processes_holds_them() -> None:
    with socket.create_server((ports.LOOPBACK, 0)) as listener:
        sockets = ports.listening_sockets(listener.getsockname()[1])
        assert len(sockets) == 1
        assert ports.foreign_sockets(sockets, [os.getpid()]) == set()
        assert ports.foreign_sockets(sockets, []) == sockets


def test_connections_at_rest_do_not_make_a_port_taken() -> None:
    with socket.create_server((ports.LOOPBACK, 0)) as listener:
        port = listener.getsockname()[1]
        with socket.create_connection((ports.LOOPBACK, port)):
            accepted, _ = listener.accept()
            accepted.close()
    assert ports.is_free(port)


def test_of_two_servers_on_one_port_that_at_the_address_of_the_clients_counts() -> None:
    with socket.create_server(("127.0.0.1", 0)) as first:
        port = first.getsockname()[1]
        with socket.create_server(("127.0.0.2", port)) as second:
            inodes = {one: os.fstat(one.fileno()).st_ino for one in (first, second)}
            assert ports.listening_sockets(port, "127.0.0.1") == {inodes[first]}
            assert ports.listening_sockets(port, "127.0.0.2") == {inodes[second]}
            assert ports.listening_sockets(port, "127.0.0.3") == set()
            assert ports.listening_sockets(port) == set(inodes.values())
