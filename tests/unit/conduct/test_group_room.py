"""How many servers run at the same time."""

from __future__ import annotations

import pytest

from plimsoll.conduct.group_room import GroupRoom
from plimsoll.recording import RecordedServer

GIB = 2**30
HOST = {"memory_bytes": 8 * GIB, "processes_max": 32_768}


def server(rss_mib: int = 100, threads: int = 8, pss_mib: int | None = None) -> RecordedServer:
    pss = None if pss_mib is None else pss_mib * 2**20
    return RecordedServer(
        "127.0.0.1:8080",
        rest_rss_bytes=rss_mib * 2**20,
        rest_pss_bytes=pss,
        rest_threads=threads,
    )


def most(room: GroupRoom, one: RecordedServer) -> int:
    """Servers of one kind that start."""
    running: list[RecordedServer] = []
    while not room.is_full(running) and len(running) < 1000:
        running.append(one)
    return len(running)


@pytest.mark.parametrize(
    ("one", "servers"),
    [
        (server(rss_mib=128), 12),  # 6 GiB of 512 MiB each
        (server(rss_mib=384), 6),
        (server(rss_mib=4096, pss_mib=128), 12),
        (server(rss_mib=1, threads=1024), 11),
        (server(rss_mib=1, threads=14_371), 1),
        (server(rss_mib=4096), 2),
    ],
)
def test_servers_start_as_long_as_another_one_as_large_has_room(
    one: RecordedServer, servers: int
) -> None:
    assert most(GroupRoom.of(HOST), one) == servers


def test_the_limit_of_a_control_group_counts_where_it_is_lower() -> None:
    confined = {**HOST, "cgroup_memory_bytes": 2 * GIB, "cgroup_processes": 100}
    assert most(GroupRoom.of(confined), server(rss_mib=16, threads=1)) == 5
    assert most(GroupRoom.of(confined), server(rss_mib=16, threads=20)) == 2
    assert most(GroupRoom.of(confined), server(rss_mib=16, threads=40)) == 1
    unlimited = {**HOST, "cgroup_memory_bytes": None, "cgroup_processes": None}
    assert most(GroupRoom.of(unlimited), server(rss_mib=128)) == 12


def test_a_large_server_counts_as_what_the_next_one_may_be() -> None:
    room = GroupRoom.of(HOST)
    small = [server(rss_mib=64) for _ in range(9)]
    assert not room.is_full(small)
    assert room.is_full([*small, server(rss_mib=1024)])


def test_a_host_of_unknown_size_has_room_for_all() -> None:
    assert most(GroupRoom.of({}), server(rss_mib=4096, threads=9999)) == 1000
    unknown = RecordedServer("127.0.0.1:8080")
    assert most(GroupRoom.of(HOST), unknown) == 24
