"""Facts of a host, advice on it, and how its cores are divided."""

from __future__ import annotations

import gzip
import json
import platform
import resource
from pathlib import Path
from typing import Any

import pytest

from plimsoll import machine
from plimsoll.errors import CoreMissing, LimitTooLow

_GOOD: dict[str, Any] = {
    "cores": [0, 1, 2, 3],
    "cpu_governor": "performance",
    "open_files_hard": 1 << 20,
    "processes_max": 4194304,
    "somaxconn": 4096,
    "port_first": 10240,
    "port_last": 65535,
    "tcp_tw_reuse": 2,
    "conntrack_max": None,
    "cgroup_cores": None,
    "cgroup_processes": None,
}


def _host(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def _cores(root: Path, places: list[tuple[int, int]]) -> Path:
    """A host whose core `i` has the processor and physical core in `places[i]`."""
    files: dict[str, str] = {}
    for number, (package, core) in enumerate(places):
        folder = f"sys/devices/system/cpu/cpu{number}/topology"
        files[f"{folder}/physical_package_id"] = f"{package}\n"
        files[f"{folder}/core_id"] = f"{core}\n"
    return _host(root, files)


def test_every_fact_has_a_meaning_and_goes_into_json() -> None:
    found = machine.facts()
    assert list(found) == list(machine.FACTS)
    assert json.loads(json.dumps(found)) == found


def test_facts_tell_nothing_private() -> None:
    said = json.dumps(machine.facts())
    assert Path.home().name == "" or str(Path.home()) not in said
    assert machine.facts()["host"] == "local"


def test_a_host_that_says_nothing_has_facts_all_the_same(tmp_path: Path) -> None:
    found = machine.facts(tmp_path)
    assert list(found) == list(machine.FACTS)
    assert found["somaxconn"] is None
    assert (found["port_first"], found["port_last"]) == (32768, 60999)


def test_facts_are_read_from_the_kernel(tmp_path: Path) -> None:
    root = _host(
        tmp_path,
        {
            "proc/cpuinfo": "processor: 0\nmodel name\t: Fast CPU\nflags\t\t: sse hypervisor avx\n",
            "proc/meminfo": "MemTotal:       1024 kB\nSwapTotal:      2 kB\n",
            "proc/sys/net/ipv4/ip_local_port_range": "1024\t2048\n",
            "sys/devices/system/cpu/online": "0-2,5\n",
            "sys/devices/system/cpu/intel_pstate/no_turbo": "1\n",
            "sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n",
            "sys/class/dmi/id/sys_vendor": "QEMU\n",
            "etc/os-release": 'NAME=x\nPRETTY_NAME="Some Linux 1"\n',
        },
    )
    found = machine.facts(root)
    assert found["cpu_model"] == "Fast CPU"
    assert found["cores_online"] == 4
    assert found["cpu_boost"] is False
    assert (found["virtual"], found["hypervisor"]) == (True, "QEMU")
    assert (found["memory_bytes"], found["swap_bytes"]) == (1 << 20, 2048)
    assert found["huge_pages"] == "madvise"
    assert found["distribution"] == "Some Linux 1"
    assert (found["port_first"], found["port_last"]) == (1024, 2048)


@pytest.mark.parametrize(
    ("processor", "vendor", "product", "is_virtual"),
    [
        ("flags\t\t: fpu vmx", "Microsoft Corporation", "Surface Laptop 4", False),
        ("flags\t\t: fpu vmx", "Google", "Eve", False),
        ("flags\t\t: fpu vmx", "Amazon EC2", "m5.metal", False),
        ("flags\t\t: fpu hypervisor", "Amazon EC2", "m5.large", True),
        ("flags\t\t: fpu hypervisor", "Dell Inc.", "PowerEdge", True),
        ("Features\t: fp asimd", "Amazon EC2", "c7g.large", True),
        ("Features\t: fp asimd", "Ampere", "Altra", False),
    ],
)
def test_a_host_is_virtual_if_its_processor_says_so_and_by_its_vendor_where_that_does_not(
    processor: str, vendor: str, product: str, is_virtual: bool, tmp_path: Path
) -> None:
    files = {
        "proc/cpuinfo": f"processor\t: 0\n{processor}\n",
        "sys/class/dmi/id/sys_vendor": f"{vendor}\n",
        "sys/class/dmi/id/product_name": f"{product}\n",
    }
    found = machine.facts(_host(tmp_path, files))
    assert found["virtual"] is is_virtual
    assert (found["hypervisor"] is not None) is is_virtual


def test_limits_of_control_groups_are_the_least_of_own_and_parents(tmp_path: Path) -> None:
    root = _host(
        tmp_path,
        {
            "proc/self/cgroup": "0::/a.slice/b.scope\n",
            "sys/fs/cgroup/cgroup.controllers": "cpu memory pids\n",
            "sys/fs/cgroup/a.slice/cpu.max": "150000 100000\n",
            "sys/fs/cgroup/a.slice/b.scope/cpu.max": "max 100000\n",
            "sys/fs/cgroup/a.slice/b.scope/memory.max": "1000000\n",
            "sys/fs/cgroup/a.slice/memory.max": "max\n",
            "sys/fs/cgroup/a.slice/b.scope/pids.max": "max\n",
        },
    )
    found = machine.facts(root)
    assert found["cgroup_cores"] == 1.5
    assert found["cgroup_memory_bytes"] == 1000000
    assert found["cgroup_processes"] is None
    assert machine.usable_cores(root) == min(2, len(machine.allowed_cores()))


def test_limits_of_the_first_version_of_control_groups_are_read_too(tmp_path: Path) -> None:
    root = _host(
        tmp_path,
        {
            "proc/self/cgroup": "3:cpu,cpuacct:/docker/x\n2:memory:/docker/x\n1:pids:/docker/x\n",
            "sys/fs/cgroup/cpu,cpuacct/docker/x/cpu.cfs_quota_us": "50000\n",
            "sys/fs/cgroup/cpu,cpuacct/docker/x/cpu.cfs_period_us": "100000\n",
            "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
            "sys/fs/cgroup/pids/docker/x/pids.max": "512\n",
        },
    )
    found = machine.facts(root)
    assert found["cgroup_cores"] == 0.5
    assert machine.usable_cores(root) == 1
    assert machine.usable_cores(_host(tmp_path / "free", {})) == len(machine.allowed_cores())
    assert found["cgroup_memory_bytes"] is None
    assert found["cgroup_processes"] == 512
    assert found["container"] == "docker"


def _kernel(root: Path, irq_ticks: int, interrupts: int, configuration: str | None) -> Path:
    files = {"proc/stat": f"cpu  9 1 7 5 0 {irq_ticks} 80 3 0 0\nintr {interrupts} 0 4\n"}
    if configuration is not None:
        files[f"boot/config-{platform.release()}"] = configuration
    return _host(root, files)


@pytest.mark.parametrize(
    ("irq_ticks", "interrupts", "configuration", "expected"),
    [
        (0, 600_000, None, "task"),  # so many interrupts, and no time in them: not measured
        (2, 600_000, None, "task"),  # a tick found a nested one
        (250, 600_000, None, "apart"),
        (0, 600_000, "CONFIG_HZ=250\nCONFIG_IRQ_TIME_ACCOUNTING=y\n", "task"),  # a bad clock
        (0, 50, "CONFIG_HZ=250\nCONFIG_IRQ_TIME_ACCOUNTING=y\n", "apart"),
        (0, 50, "CONFIG_HZ=250\n# CONFIG_IRQ_TIME_ACCOUNTING is not set\n", "task"),
        (0, 50, None, None),
    ],
)
def test_where_interrupts_are_counted_is_told_by_what_the_kernel_counted(
    tmp_path: Path, irq_ticks: int, interrupts: int, configuration: str | None, expected: str | None
) -> None:
    root = _kernel(tmp_path, irq_ticks, interrupts, configuration)
    assert machine.facts(root)["interrupt_time"] == expected


def test_how_the_kernel_was_built_is_read_packed_too(tmp_path: Path) -> None:
    root = _kernel(tmp_path, 0, 50, "CONFIG_HZ=250\n")
    (root / "proc/config.gz").write_bytes(gzip.compress(b"CONFIG_IRQ_TIME_ACCOUNTING=y\n"))
    assert machine.facts(root)["interrupt_time"] == "apart"


def test_a_good_host_needs_no_advice() -> None:
    assert machine.advice(9000, _GOOD) == []


@pytest.mark.parametrize(
    ("fact", "value", "command"),
    [
        ("open_files_hard", 1024, "sudo prlimit --pid $$ --nofile=9064:9064"),
        ("somaxconn", 128, "sudo sysctl -w net.core.somaxconn=4096"),
        ("conntrack_max", 8192, "sudo sysctl -w net.netfilter.nf_conntrack_max=65536"),
        ("port_first", 60000, 'sudo sysctl -w net.ipv4.ip_local_port_range="10240 65535"'),
        ("tcp_tw_reuse", 0, "sudo sysctl -w net.ipv4.tcp_tw_reuse=2"),
        ("processes_max", 4096, "sudo sysctl -w kernel.pid_max=4194304"),
        ("cgroup_processes", 512, "--pids-limit"),
        ("cpu_governor", "powersave", "sudo cpupower frequency-set -g performance"),
        ("cgroup_cores", 2.5, "taskset -c 0-1"),
        ("cores", [0], "taskset"),
    ],
)
def test_each_limit_that_is_too_low_is_named_with_what_changes_it(
    fact: str, value: object, command: str
) -> None:
    said = machine.advice(9000, {**_GOOD, fact: value})
    assert len(said) == 1
    assert command in said[0]


@pytest.mark.parametrize(
    ("connections", "first"),
    [(28_000, 10_240), (55_040, 10_240), (55_041, 10_239), (60_000, 5_280), (64_256, 1_024)],
)
def test_the_command_for_ports_gives_as_many_as_are_needed(connections: int, first: int) -> None:
    narrow = {**_GOOD, "port_first": 40_000, "port_last": 60_999, "conntrack_max": None}
    narrow |= {"open_files_hard": -1, "processes_max": None}
    (said,) = machine.advice(connections, narrow)
    assert "there are ports for 20744 outgoing connections to one server" in said
    assert f'`sudo sysctl -w net.ipv4.ip_local_port_range="{first} 65535"`' in said
    wide = {**narrow, "port_first": first, "port_last": 65_535}
    assert (machine.outgoing(wide) or 0) >= connections
    assert machine.advice(connections, wide) == []


def test_more_connections_than_one_address_has_ports_for_get_no_command() -> None:
    host = {**_GOOD, "port_first": 1_024, "port_last": 65_535, "conntrack_max": None}
    host |= {"open_files_hard": -1, "processes_max": None}
    (said,) = machine.advice(64_257, host)
    assert "ports for 64256 connections to one server at most, 64257 need more" in said
    assert "`--hosts`" in said
    assert "sysctl" not in said


def test_no_limit_of_open_files_is_enough() -> None:
    unlimited = {**_GOOD, "open_files_hard": resource.RLIM_INFINITY}
    assert machine.advice(9000, unlimited) == []


def test_two_cores_are_one_each(tmp_path: Path) -> None:
    root = _cores(tmp_path, [(0, 0), (0, 1)])
    assert machine.divide_cores(None, None, (0, 1), root) == machine.Division((0,), (1,))


def test_of_an_odd_number_the_driver_has_one_more(tmp_path: Path) -> None:
    root = _cores(tmp_path, [(0, 0), (0, 1), (0, 2), (0, 3), (0, 4)])
    division = machine.divide_cores(None, None, range(5), root)
    assert (division.server, division.driver) == ((0, 1), (2, 3, 4))


def test_threads_of_one_physical_core_stay_together(tmp_path: Path) -> None:
    root = _cores(tmp_path, [(0, 0), (0, 1), (0, 0), (0, 1)])
    division = machine.divide_cores(None, None, range(4), root)
    assert (division.server, division.driver, division.note) == ((0, 2), (1, 3), "")


def test_processors_are_not_mixed(tmp_path: Path) -> None:
    root = _cores(tmp_path, [(0, 0), (1, 0), (0, 1), (1, 1)])
    division = machine.divide_cores(None, None, range(4), root)
    assert (division.server, division.driver) == ((0, 2), (1, 3))


def test_two_threads_of_the_only_physical_core_are_divided_and_it_is_said(tmp_path: Path) -> None:
    root = _cores(tmp_path, [(0, 0), (0, 0)])
    division = machine.divide_cores(None, None, (0, 1), root)
    assert (division.server, division.driver) == ((0,), (1,))
    assert division.note == "cores 0-1 of server and driver are hyper-threads of one physical core"


def test_a_single_core_is_shared_and_it_is_said(tmp_path: Path) -> None:
    division = machine.divide_cores(None, None, (3,), tmp_path)
    assert (division.server, division.driver) == ((3,), (3,))
    assert division.note == "server and driver share core 3 and take CPU time from each other"


def test_what_is_asked_for_is_given_and_the_rest_goes_to_the_other(tmp_path: Path) -> None:
    root = _cores(tmp_path, [(0, core) for core in range(4)])
    assert machine.divide_cores((0,), None, range(4), root).driver == (1, 2, 3)
    assert machine.divide_cores(None, (0, 1, 2), range(4), root).server == (3,)
    both = machine.divide_cores((3,), (0,), range(4), root)
    assert (both.server, both.driver, both.note) == ((3,), (0,), "")


def test_cores_asked_for_by_both_are_said(tmp_path: Path) -> None:
    root = _cores(tmp_path, [(0, core) for core in range(4)])
    assert machine.divide_cores((0, 1), (1, 2), range(4), root).note.endswith(
        "share core 1 and take CPU time from each other"
    )
    assert "cores 0-3" in machine.divide_cores(range(4), None, range(4), root).note


@pytest.mark.parametrize(
    ("count", "server", "driver", "database"),
    [
        (3, (0,), (1,), (2,)),
        (4, (0,), (1, 2), (3,)),
        (6, (0, 1), (2, 3), (4, 5)),
        (8, (0, 1, 2), (3, 4, 5), (6, 7)),
    ],
)
def test_a_database_gets_a_third_of_the_cores(
    tmp_path: Path,
    count: int,
    server: tuple[int, ...],
    driver: tuple[int, ...],
    database: tuple[int, ...],
) -> None:
    root = _cores(tmp_path, [(0, core) for core in range(count)])
    division = machine.divide_cores(None, None, range(count), root, with_third_party=True)
    assert division == machine.Division(server, driver, "", database)


def test_a_database_without_a_core_of_its_own_shares_the_servers_and_it_is_said(
    tmp_path: Path,
) -> None:
    root = _cores(tmp_path, [(0, 0), (0, 1)])
    division = machine.divide_cores(None, None, (0, 1), root, with_third_party=True)
    assert (division.server, division.driver, division.third_party) == ((0,), (1,), (0,))
    assert division.note == "a database or upstream shares core 0 with the server"


def test_a_database_gets_what_given_cores_leave(tmp_path: Path) -> None:
    root = _cores(tmp_path, [(0, core) for core in range(4)])
    division = machine.divide_cores((0,), (1,), range(4), root, with_third_party=True)
    assert division.third_party == (2, 3)


def test_a_core_that_is_not_there_is_named_with_those_that_are() -> None:
    with pytest.raises(CoreMissing, match="cores 4,7 of the server are not") as caught:
        machine.divide_cores((0, 4, 7), None, (0, 1, 2, 6))
    assert caught.value.hint == "choose from 0-2,6, or remove `server_cores`"


def test_an_empty_list_of_cores_is_refused() -> None:
    with pytest.raises(CoreMissing, match="the driver has no core"):
        machine.divide_cores(None, (), (0, 1))


def test_the_soft_limit_of_open_files_is_raised_to_the_hard_one() -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (512, before[1]))
    try:
        assert machine.raise_open_files() == before[1]
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (before[1], before[1])
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_more_connections_than_files_are_refused_with_numbers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1024, 1024))
    with pytest.raises(LimitTooLow, match=r"20000 connections need 20064 file descriptors, .*1024"):
        machine.check_connections(20000)


def test_more_connections_than_ports_are_refused_with_numbers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (-1, -1))
    with pytest.raises(
        LimitTooLow, match="20000000 connections need as many local ports, but only"
    ) as caught:
        machine.check_connections(20_000_000)
    assert caught.value.hint == "reduce `connections` of the load"
    with pytest.raises(LimitTooLow) as caught:
        machine.check_connections(16_000_000)
    assert '"2287 65535"`, or reduce' in caught.value.hint
    machine.check_connections(100)
