"""The parsers on real texts, and the readers on this very host."""

import os
import re
import shutil
import socket
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from plimsoll import tables
from plimsoll.processes.tree import ProcessTree
from plimsoll.sampling import sock_diag
from plimsoll.sampling.samplers import (
    SAMPLERS,
    cpu,
    memory,
    network,
    power,
    processes,
    run_delay,
    sockets,
)
from plimsoll.sampling.scope import Scope

PROC_STAT = """\
cpu  5490 10 2555 177789 445 0 66 27 4 0
cpu0 1557 4 935 90579 85 0 10 12 4 0
cpu1 3932 6 1619 87210 360 0 56 15 0 0
intr 195905 0 0 0
ctxt 364794
"""

PRESSURE = """\
some avg10=0.70 avg60=0.75 avg300=0.49 total=7813223
full avg10=0.00 avg60=0.00 avg300=0.00 total=0
"""

SMAPS_ROLLUP = """\
55a71ec9c000-7ffc94919000 ---p 00000000 00:00 0                          [rollup]
Rss:                1772 kB
Pss:                 348 kB
Pss_Dirty:           112 kB
"""

STATUS = """\
Name:\tjava
State:\tS (sleeping)
VmHWM:\t    1668 kB
VmRSS:\t    1660 kB
Threads:\t1
voluntary_ctxt_switches:\t150
nonvoluntary_ctxt_switches:\t13
"""

ZOMBIE = "Name:\tgone\nState:\tZ (zombie)\nThreads:\t1\n"

MEMINFO = """\
MemTotal:       24684084 kB
MemFree:        23864888 kB
MemAvailable:   24288796 kB
"""

NETSTAT = """\
TcpExt: SyncookiesSent TW ListenOverflows ListenDrops TCPTimeouts TCPReqQFullDrop TCPDSACKRecvSegs
TcpExt: 3 12 155 94 2 7 11
IpExt: InNoRoutes InOctets
IpExt: 0 480148031
"""

SNMP = """\
Ip: Forwarding DefaultTTL
Ip: 2 64
Tcp: RtoAlgorithm RtoMin RtoMax MaxConn ActiveOpens PassiveOpens AttemptFails EstabResets \
CurrEstab InSegs OutSegs RetransSegs InErrs OutRsts InCsumErrors
Tcp: 1 200 120000 -1 54 2 1 31 4 10975 6771 9 0 51 0
Udp: InDatagrams NoPorts
Udp: 109 0
"""

SOCKSTAT = """\
sockets: used 16
TCP: inuse 1 orphan 0 tw 8421 alloc 1 mem 0
UDP: inuse 0 mem 0
"""

NET_DEV = """\
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo
    lo:    3193      29    0    0    0     0          0         0     3193      29    0    0    0
  eth0: 480299890   11060    0    0    0     0          0         0   614971    6831    0    0    0
wlan0:5 1 0 0 0 0 0 0 7 1 0 0 0
"""

# One IPv4 socket on port 47,000 with three connections waiting of at most eleven; then the end.
SOCK_DIAG = bytes.fromhex(
    "7c0000001400020000000000e1260000020a0000b79800007f000001000000000000000000000000000000000000"
    "0000000000000000000000000000190000000000000000000000030000000b000000000000002e9c050005000800"
    "0000000008000f00000000000c00150001000000000000000600160052000000"
)
SOCK_DIAG_DONE = bytes.fromhex("140000000300020000000000e126000000000000")
SOCK_DIAG_REFUSED = bytes.fromhex("24000000020000000000000000000000feffffff") + bytes(16)


def test_busy_is_what_is_neither_idle_nor_waited_for_nor_stolen() -> None:
    assert cpu.parse_cores(PROC_STAT, now_s=1000.0, ticks_per_s=100) == {
        "core_busy_s": pytest.approx(2 * 1000.0 - 1777.89 - 4.45 - 0.27),
        "core0_busy_s": pytest.approx(1000.0 - 905.79 - 0.85 - 0.12),
        "core1_busy_s": pytest.approx(1000.0 - 872.10 - 3.60 - 0.15),
        "core_interrupt_s": pytest.approx(0.66),
        "core0_interrupt_s": pytest.approx(0.10),
        "core1_interrupt_s": pytest.approx(0.56),
        "core0_steal_s": pytest.approx(0.12),
        "core1_steal_s": pytest.approx(0.15),
        "cpu_steal_s": pytest.approx(0.27),
    }


def test_pressure_is_the_total_of_some() -> None:
    assert cpu.parse_pressure(PRESSURE) == pytest.approx(7.813223)
    assert cpu.parse_pressure("") is None


def test_sizes_are_bytes() -> None:
    assert memory.parse_kilobytes(SMAPS_ROLLUP, "Pss") == 348 * 1024
    assert memory.parse_kilobytes(STATUS, "VmRSS") == 1660 * 1024
    assert memory.parse_kilobytes(MEMINFO, "MemAvailable") == 24288796 * 1024
    assert memory.parse_kilobytes(ZOMBIE, "VmRSS") is None


def test_switches_are_those_asked_for_and_those_forced() -> None:
    assert processes.parse_switches(STATUS) == (150, 13)


def test_counters_are_found_by_name() -> None:
    assert sockets.parse_counters(NETSTAT) == {
        "syncookies_sent": 3,
        "listen_overflows": 155,
        "listen_drops": 94,
        "tcp_timeouts": 2,
        "tcp_duplicates": 11,
        "request_queue_drops": 7,
    }
    assert sockets.parse_counters(SNMP) == {
        "tcp_active_opens": 54,
        "tcp_passive_opens": 2,
        "tcp_attempt_fails": 1,
        "tcp_established_resets": 31,
        "tcp_established": 4,
        "tcp_segments_in": 10975,
        "tcp_segments_out": 6771,
        "tcp_retransmits": 9,
        "tcp_resets_sent": 51,
    }


def test_sockets_in_time_wait_are_counted_by_the_kernel() -> None:
    assert sockets.parse_time_wait(SOCKSTAT) == 8421
    assert sockets.parse_time_wait("UDP: inuse 0\n") is None


def test_bytes_of_all_interfaces_are_summed() -> None:
    assert network.parse_interfaces(NET_DEV) == (3193 + 480299890 + 5, 3193 + 614971 + 7)


def test_the_link_is_every_interface_but_loopback() -> None:
    assert network.parse_interfaces(NET_DEV, without={"lo"}) == (480299890 + 5, 614971 + 7)


STACKED = {
    "br0": ("lower_eth0.100",),
    "eth0.100": ("lower_eth0", "upper_br0"),
    "eth0": ("upper_eth0.100",),
    "docker0": ("lower_veth1", "lower_veth2"),
    "veth1": ("upper_docker0",),
    "veth2": ("upper_docker0",),
}


def test_bytes_that_pass_an_interface_over_another_count_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "proc/net").mkdir(parents=True)
    links = {"lo": 5, "br0": 1000, "eth0.100": 1000, "eth0": 1000}
    links |= {"docker0": 300, "veth1": 100, "veth2": 200, "tun0": 10}
    lines = [f"{name}: {count} 1 0 0 0 0 0 0 {2 * count} 1" for name, count in links.items()]
    head = NET_DEV.splitlines()[:2]
    (tmp_path / "proc/net/dev").write_text("\n".join([*head, *lines, ""]))
    for name, others in STACKED.items():
        for other in others:
            (tmp_path / "sys" / name / other).mkdir(parents=True)
    monkeypatch.setattr(network, "PROC", tmp_path / "proc")
    monkeypatch.setattr(network, "INTERFACES", tmp_path / "sys")
    assert network.read(Scope("machine")) == {
        "network_received_bytes": 1315,
        "network_sent_bytes": 2630,
        "link_received_bytes": 1310,
        "link_sent_bytes": 2620,
    }


def test_what_a_firewall_drops_is_the_sum_over_cores_in_hexadecimal_digits():
    text = (
        "entries  found drop early_drop\n0000 0001 00000010 0000000a\n0000 0001 00000001 00000000\n"
    )
    found = network.parse_firewall(text, "4096\n")
    assert found == {"tracked_connections": 4096, "tracking_drops": 0x10 + 0xA + 0x1}
    assert network.parse_firewall("", "") == {}


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("usage_usec 5\nnr_throttled 3\nthrottled_usec 2500000\n", 2.5),
        ("nr_periods 9\nnr_throttled 3\nthrottled_time 2500000000\n", 2.5),
        ("usage_usec 5\n", None),
    ],
)
def test_time_withheld_by_a_quota_is_read_in_both_versions(
    text: str, seconds: float | None
) -> None:
    assert cpu.parse_throttled(text) == seconds


def test_of_groups_within_each_other_the_one_withholds_whose_time_grows(tmp_path: Path) -> None:
    groups = own, parent = tmp_path / "own", tmp_path / "parent"
    counted = cpu.Withheld()

    def read(own_s: float, parent_s: float) -> float | None:
        for group, stopped_s in ((own, own_s), (parent, parent_s)):
            group.mkdir(exist_ok=True)
            (group / "cpu.stat").write_text(f"usage_usec 1\nthrottled_usec {stopped_s * 1e6:.0f}\n")
        return counted.until_now(groups)

    assert counted.until_now(groups) is None
    times = ((2, 900), (32, 900), (33, 905), (33, 905))
    assert [read(*one) for one in times] == [0, 30, 35, 35]


def test_swapping_and_kills_are_read_where_the_kernel_says() -> None:
    text = "pgfault 9\npswpin 3\npswpout 4\noom_kill 1\n"
    assert memory.parse_events(text) == {"swapped_pages": 7, "oom_kills": 1}
    assert memory.parse_events("pgfault 9\n") == {}


def test_the_limit_of_open_files_is_the_soft_one() -> None:
    line = "Max open files            {}                 524288               files     \n"
    assert processes.parse_files_limit(line.format(1024)) == 1024
    assert processes.parse_files_limit(line.format("unlimited")) is None
    assert processes.parse_files_limit("") is None


def test_the_fullest_process_is_the_one_nearest_to_its_own_limit() -> None:
    code = (
        "import os, resource, sys; limit, files = map(int, sys.argv[1:]);"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit));"
        "held = [os.open('/dev/null', 0) for _ in range(files)]; print(flush=True); input()"
    )
    pipe = subprocess.PIPE
    with ExitStack() as closing:
        for limit, files in ((1000, 300), (200, 180)):
            command = [sys.executable, "-c", code, str(limit), str(files)]
            child = closing.enter_context(subprocess.Popen(command, stdin=pipe, stdout=pipe))
            closing.callback(child.kill)
            assert child.stdout is not None
            child.stdout.readline()
        tree = ProcessTree(os.getpid())
        tree.refresh()
        values = processes.read(Scope("server", tree, thorough=False))
    assert values["open_files"] >= 480
    assert 0.9 <= values["open_files_ratio"] <= 1


def test_open_files_are_known_beside_a_zombie_whose_folder_only_root_may_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for pid, parent, state in ((7, 1, "S"), (8, 7, "Z")):
        (tmp_path / str(pid)).mkdir()
        text = f"{pid} (server) {state} {parent} 7 7 0 -1 0 0 0 0 0 1 2 0 0 20 0 1 0 99 0 0"
        (tmp_path / str(pid) / "stat").write_text(text)
    limit = "Max open files            100                  524288               files     \n"
    (tmp_path / "7/limits").write_text(limit)

    def counted(folder: Path) -> int:
        if folder.parent.name == "8":
            raise PermissionError
        return 25

    monkeypatch.setattr(processes, "_open_files_of", counted)
    tree = ProcessTree(7, proc=tmp_path)
    tree.refresh()
    values = processes.read(Scope("server", tree, thorough=False))
    assert values == {"processes": 2, "threads": 2, "open_files": 25, "open_files_ratio": 0.25}


def test_what_the_hardware_shows_is_read_and_the_rest_is_left_out(tmp_path: Path) -> None:
    cores = tmp_path / "cpu"
    assert power.of_hardware(cores) == {}
    files = {
        cores / "cpu0/cpufreq/scaling_cur_freq": 3_000_000,
        cores / "cpu1/cpufreq/scaling_cur_freq": 2_000_000,
        cores / "cpu0/thermal_throttle/core_throttle_count": 2,
    }
    for path, number in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{number}\n")
    read = power.of_hardware(cores)
    assert read == {
        "core0_frequency_hz": 3e9,
        "core1_frequency_hz": 2e9,
        "frequency_hz": 2.5e9,
        "thermal_throttles": 2,
    }


def test_a_core_whose_frequency_may_not_be_read_leaves_the_others_their_numbers(
    tmp_path: Path,
) -> None:
    for core, text in ((0, "no number"), (12, "2000000")):
        (tmp_path / f"cpu{core}/cpufreq").mkdir(parents=True)
        (tmp_path / f"cpu{core}/cpufreq/scaling_cur_freq").write_text(text)
    assert power.of_hardware(tmp_path) == {"core12_frequency_hz": 2e9, "frequency_hz": 2e9}


@pytest.mark.parametrize(
    ("family", "address"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")]
)
def test_connections_and_their_round_trips_are_seen(family: int, address: str) -> None:
    with socket.create_server((address, 0), family=family) as server:
        port = server.getsockname()[1]
        text = f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
        assert sock_diag.established(port) == 0
        assert sock_diag.least_round_trip_s(text) is None
        with (
            socket.create_connection((address, port)),
            socket.create_connection((address, port)),
        ):
            assert sock_diag.established(port) == 2
            trip_s = sock_diag.least_round_trip_s(text)
    assert trip_s is not None
    assert 0 < trip_s < 1


@pytest.mark.parametrize(
    ("bound", "other", "clients", "own"),
    [
        ("127.0.0.1", "127.0.0.2", ("127.0.0.1", "127.0.0.2", "127.0.0.2"), 1),
        ("", "127.0.0.2", ("127.0.0.1", "127.0.0.2", "127.0.0.3"), 2),
        ("127.0.0.1", "", ("127.0.0.1", "127.0.0.2", "127.0.0.3"), 1),
    ],
)
def test_a_server_of_the_same_port_at_another_address_is_another_server(
    bound: str, other: str, clients: tuple[str, ...], own: int
) -> None:
    with ExitStack() as closing:
        server = socket.create_server((bound, 0), backlog=9, reuse_port=True)
        port = closing.enter_context(server).getsockname()[1]
        another = socket.create_server((other, port), backlog=5, reuse_port=True)
        closing.enter_context(another)
        for host in clients:
            closing.enter_context(socket.create_connection((host, port)))
        values = sockets.read(Scope("server", ProcessTree(os.getpid()), port, host="127.0.0.1"))
    assert values["connections_established"] == values["listen_queue"] == own
    assert values["listen_backlog"] == 9


def test_the_kernels_answer_about_listening_sockets_is_read() -> None:
    here = bytes((127, 0, 0, 1))
    listener = sock_diag.Listener(port=47000, queue=3, backlog=11, address=here)
    payloads, last = sock_diag.parse_datagram(SOCK_DIAG + SOCK_DIAG)
    assert ([sock_diag.parse_listener(one) for one in payloads], last) == ([listener] * 2, False)
    assert sock_diag.parse_datagram(SOCK_DIAG_DONE) == ([], True)


def test_an_error_of_the_kernel_is_an_error() -> None:
    with pytest.raises(FileNotFoundError):
        sock_diag.parse_datagram(SOCK_DIAG_REFUSED)


@pytest.mark.parametrize(
    ("family", "address"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")]
)
def test_connections_that_wait_are_seen(family: int, address: str) -> None:
    if family == socket.AF_INET6 and not socket.has_ipv6:
        pytest.skip("this host has no IPv6")
    with (
        socket.create_server((address, 0), family=family, backlog=9) as server,
        socket.create_server((address, 0), family=family),
    ):
        port = server.getsockname()[1]
        clients = [socket.create_connection((address, port)) for _ in range(3)]
        assert [(found.queue, found.backlog) for found in sock_diag.listeners(port)] == [(3, 9)]
        for client in clients:
            client.close()


def test_a_full_queue_counts_what_it_drops() -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=1) as server:
        port = server.getsockname()[1]
        clients = [socket.socket() for _ in range(5)]
        for client in clients:
            client.setblocking(False)
            client.connect_ex(("127.0.0.1", port))
        dropped = [found.drops for found in sock_diag.listeners(port)]
        for client in clients:
            client.close()
    assert dropped[0] is None or dropped[0] >= 2


@pytest.mark.parametrize("files", [(), ("status",), ("status", "smaps_rollup")])
def test_memory_that_the_kernel_does_not_show_is_not_zero(
    files: tuple[str, ...], tmp_path: Path
) -> None:
    process = tmp_path / "7"
    process.mkdir()
    own = Path("/proc/self/stat").read_text().rpartition(")")[2]
    (process / "stat").write_text(f"7 (server){own}")
    for name in files:
        (process / name).write_text(
            {"status": "VmRSS: 4 kB\n", "smaps_rollup": "Pss: 2 kB\n"}[name]
        )
    tree = ProcessTree(7, proc=tmp_path)
    tree.refresh()
    values = memory.read(Scope("server", tree, thorough=True))
    values.pop("major_faults")
    shown = {"status": ("rss_bytes", 4096), "smaps_rollup": ("pss_bytes", 2048)}
    assert values == dict(shown[name] for name in files)


def test_queues_of_all_sockets_on_a_port_are_summed() -> None:
    servers = [
        socket.create_server(("127.0.0.1", 0), backlog=5, reuse_port=True),
    ]
    port = servers[0].getsockname()[1]
    servers.append(socket.create_server(("127.0.0.1", port), backlog=6, reuse_port=True))
    values = sockets.read(Scope("server", ProcessTree(os.getpid()), port))
    assert values == {
        "listen_queue": 0,
        "listen_backlog": 11,
        "listen_drops": 0,
        "connections_established": 0,
    }
    for server in servers:
        server.close()


def test_a_port_where_nobody_listens_has_no_queue() -> None:
    assert sockets.read(Scope("server", ProcessTree(os.getpid()), 1)) == {}


def of_this_process(*, thorough: bool) -> dict[str, float]:
    tree = ProcessTree(os.getpid())
    tree.refresh()
    scope = Scope("server", tree, None, thorough)
    return {name: value for sampler in SAMPLERS for name, value in sampler.read(scope).items()}


def test_this_process_is_read() -> None:
    values = of_this_process(thorough=True)
    assert values["processes"] >= 1
    assert values["threads"] >= 1
    assert values["open_files"] >= 3
    assert values["rss_bytes"] >= values["pss_bytes"] > 1 << 20
    assert values["cpu_user_s"] > 0
    assert values["voluntary_switches"] + values["involuntary_switches"] > 0


def test_what_disturbs_is_left_out_of_quick_readings() -> None:
    slow = of_this_process(thorough=True).keys() - of_this_process(thorough=False).keys()
    assert slow == {"pss_bytes", "voluntary_switches", "involuntary_switches"}


def test_threads_tell_how_long_they_ran_and_waited_for_a_core() -> None:
    assert run_delay.parse_times("1500000000 250000000 73\n") == (1.5, 0.25)


def scheduled(proc: Path, times: str, threads: int = 1) -> ProcessTree:
    """A tree of one process whose threads all ran and waited for the same times."""
    for thread in range(7, 7 + threads):
        (proc / f"7/task/{thread}").mkdir(parents=True)
        (proc / f"7/task/{thread}/schedstat").write_text(times)
    head = "7 (server) S 1 7 7 0 -1 0 0 0 0 0 11 12 0 0 20 0"
    (proc / "7/stat").write_text(f"{head} {threads} 0 99 0 0")
    tree = ProcessTree(7, proc=proc)
    tree.refresh()
    return tree


def test_run_delay_is_that_of_all_threads_and_ended_ones_keep_theirs(tmp_path: Path) -> None:
    tree = scheduled(tmp_path, "2000000000 500000000 9", threads=2)
    read = {"run_delay_s": 1.0, "run_time_s": 4.0, "busiest_thread_s": 0.0}
    assert run_delay.read(Scope("server", tree)) == read
    shutil.rmtree(tmp_path / "7/task/8")
    assert run_delay.read(Scope("server", tree)) == read


def test_the_busiest_thread_is_that_of_each_second(tmp_path: Path) -> None:
    """One that began meanwhile counts from its begin; what ran before the first does not."""
    tree = scheduled(tmp_path, "2000000000 0 9", threads=2)
    seen: list[float] = []
    for seconds in ({}, {7: 2.75, 8: 2.25}, {8: 3.0}, {9: 0.5}):
        for thread, ran_s in seconds.items():
            (tmp_path / f"7/task/{thread}").mkdir(exist_ok=True)
            (tmp_path / f"7/task/{thread}/schedstat").write_text(f"{round(ran_s * 1e9)} 0 9")
        seen.append(run_delay.read(Scope("server", tree))["busiest_thread_s"])
    assert seen == [0.0, 0.75, 1.5, 2.0]


@pytest.mark.parametrize("times", [None, "0 0 0"])
def test_a_kernel_without_scheduler_statistics_tells_no_run_delay(
    times: str | None, tmp_path: Path
) -> None:
    tree = scheduled(tmp_path, times or "")
    if times is None:
        (tmp_path / "7/task/7/schedstat").unlink()
    assert run_delay.read(Scope("server", tree)) == {}


def test_run_delay_of_thousands_of_threads_is_left_out_of_quick_readings(tmp_path: Path) -> None:
    tree = scheduled(tmp_path, "10 10 1", threads=2000)
    assert run_delay.read(Scope("server", tree, thorough=False)) == {}
    assert run_delay.read(Scope("server", tree, thorough=True)).keys() == {
        "busiest_thread_s",
        "run_delay_s",
        "run_time_s",
    }


def test_who_finds_the_core_taken_waits_as_long_as_the_other_runs() -> None:
    core = str(min(os.sched_getaffinity(0)))
    command = ["taskset", "-c", core, sys.executable, "-c", "while True: pass"]
    with subprocess.Popen(command) as first, subprocess.Popen(command) as second:
        trees = [ProcessTree(process.pid) for process in (first, second)]
        try:
            time.sleep(0.5)
            before = [_scheduled(tree) for tree in trees]
            time.sleep(1.5)
            after = [_scheduled(tree) for tree in trees]
        finally:
            first.kill()
            second.kill()
    for one, other in ((0, 1), (1, 0)):
        waited = after[one]["run_delay_s"] - before[one]["run_delay_s"]
        ran = after[other]["run_time_s"] - before[other]["run_time_s"]
        assert waited > 0.7 * ran > 0


def _scheduled(tree: ProcessTree) -> dict[str, float]:
    tree.refresh()
    return run_delay.read(Scope("server", tree))


def test_every_quantity_is_in_the_data_dictionary() -> None:
    known = {quantity.name for quantity in tables.QUANTITIES}
    machine = Scope("machine")
    read = of_this_process(thorough=True).keys() | {
        name for sampler in SAMPLERS for name in sampler.read(machine)
    }
    unknown = {re.sub(r"^core\d+_", "core0_", name) for name in read} - known
    assert not unknown


def test_a_process_that_vanished_while_it_is_read_is_no_error() -> None:
    tree = ProcessTree(os.getpid())
    tree.refresh()
    gone = next(iter(tree.stats.values()))
    tree.stats = {2**22 + 1: gone}
    for sampler in SAMPLERS:
        sampler.read(Scope("server", tree))


def test_memory_of_a_program_whose_name_ends_within_a_character_is_read(tmp_path: Path) -> None:
    tree = scheduled(tmp_path, "10 10 1")
    name = "обработчик".encode()[:15]
    (tmp_path / "7/status").write_bytes(b"Name:\t" + name + b"\nVmRSS: 4 kB\n")
    assert memory.read(Scope("server", tree, thorough=False))["rss_bytes"] == 4096
