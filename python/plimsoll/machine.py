"""Facts and limits of a host.

They are stored with every recording, so that only recordings of equal hosts are compared. Nothing
private is read: no name of the host or of a user, no address, no path.
"""

from __future__ import annotations

import gzip
import math
import os
import platform
import re
import resource
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import plimsoll
from plimsoll import wording
from plimsoll.errors import CoreMissing, LimitTooLow

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

BACKLOG = 4096
"""Listen backlog that every framework must set."""

SPARE_FILES = 64
"""Open files that a process needs besides its connections."""

SPARE_PORTS = 256
"""Local ports that the engine leaves free for connections that are opened again."""

LOOPBACK_SOURCES = 254
"""Source addresses over which the engine spreads connections to loopback."""

PORTS = (1024, 65535)
"""The widest range of ports for outgoing connections: lower ones are those of system services."""

MOST_OUTGOING = PORTS[1] - PORTS[0] + 1 - SPARE_PORTS
"""The most connections that one source address can have to one server."""

SPARE_PROCESSES = 1024
"""Processes and threads that a host needs besides one for each connection."""

Fact = int | float | str | bool | list[int] | None
"""Type of a fact; None if the host does not provide it."""

FACTS = {
    "host": "label of the host",
    "cores": "cores that Plimsoll may use; sched_getaffinity(2)",
    "cores_online": "cores of the host",
    "physical_cores": "groups of cores that share one physical core count once",
    "packages": "processors in their sockets",
    "numa_nodes": "memory nodes",
    "cpu_model": "name of the processor",
    "cpu_governor": "frequency governor; null when unknown",
    "cpu_boost": "whether the frequency may rise above the nominal one; null when unknown",
    "clock_source": "clock source of the kernel",
    "memory_bytes": "memory of the host",
    "swap_bytes": "swap space of the host",
    "huge_pages": "transparent huge pages: `always`, `madvise` or `never`",
    "kernel": "release of the kernel",
    "interrupt_time": "where the kernel counts time in interrupts: with the interrupted `task`, "
    "or `apart`; null when unknown",
    "distribution": "name and version of the distribution",
    "architecture": "instruction set",
    "open_files_soft": "soft limit of open files; getrlimit(2)",
    "open_files_hard": "hard limit of open files; getrlimit(2)",
    "processes_max": "maximum number of processes and threads; kernel.pid_max",
    "somaxconn": "maximum listen backlog; net.core.somaxconn",
    "port_first": "first port of outgoing connections; net.ipv4.ip_local_port_range",
    "port_last": "last port of outgoing connections; net.ipv4.ip_local_port_range",
    "tcp_tw_reuse": "whether ports in TIME_WAIT are used again: 0 no, 1 yes, 2 on loopback",
    "tcp_max_syn_backlog": "maximum number of half-open connections; net.ipv4.tcp_max_syn_backlog",
    "netdev_max_backlog": "maximum queue of received packets of a core; loopback included",
    "conntrack_max": "connections the firewall can track; null when it tracks none",
    "virtual": "whether the host is a virtual machine",
    "hypervisor": "its hypervisor; null when unknown or not virtual",
    "container": "type of the container that Plimsoll runs in; null when there is none",
    "cgroup_cores": "CPU quota of the control group, in cores; null without a limit",
    "cgroup_memory_bytes": "memory limit of the control group; null without a limit",
    "cgroup_processes": "limit of processes and threads of the control group; null without a limit",
    "libc": "C library and its version",
    "python": "version of Python",
    "plimsoll": "version of Plimsoll",
}
"""Name and meaning of every fact."""

_ROOT = Path("/")


@dataclass(frozen=True)
class Division:
    """Which cores the server has, which the driver, and which a database or an upstream.

    Attributes:
        server: Cores of the server.
        driver: Cores of the driver.
        note: Remark for readers of the results; may be empty.
        third_party: Cores of the database, or of the upstream; empty if none was requested.
    """

    server: tuple[int, ...]
    driver: tuple[int, ...]
    note: str = ""
    third_party: tuple[int, ...] = ()


def facts(root: Path = _ROOT) -> dict[str, Fact]:
    """The facts of this host, one entry for each of `FACTS`, ready for JSON.

    Args:
        root: Folder with `proc`, `sys` and `etc`.
    """
    found = {
        "host": "local",
        **_processor(root),
        **_memory(root),
        **_system(root),
        **_limits(root),
        **_surroundings(root),
        "python": platform.python_version(),
        "plimsoll": plimsoll.__version__,
    }
    return {name: found[name] for name in FACTS}


def control_groups(controller: str, root: Path = _ROOT) -> tuple[Path, ...]:
    """Folders of the control groups that this process is in: its own, and those above it.

    Args:
        controller: Name of the controller: `cpu`, `memory`, `pids`.
        root: Folder with `proc` and `sys`.
    """
    return tuple(_control_groups(root, controller))


def allowed_cores() -> tuple[int, ...]:
    """The cores that this process may use, in rising order."""
    return tuple(sorted(os.sched_getaffinity(0)))


def usable_cores(root: Path = _ROOT) -> int:
    """How many cores this process and its children can keep busy.

    No more than the CPU quota of its control group, rounded up, however many it may use.

    Args:
        root: Folder with `proc` and `sys`.
    """
    quota = _cgroup_cores(root)
    allowed = len(allowed_cores())
    return allowed if quota is None else max(1, min(allowed, math.ceil(quota)))


def online_cores(root: Path = _ROOT) -> tuple[int, ...]:
    """The cores of this host that are online, whoever may use them, in rising order."""
    text = _text(root / "sys/devices/system/cpu/online")
    return tuple(cores_of(text or "")) or allowed_cores()


def divide_cores(
    server_cores: Sequence[int] | None,
    driver_cores: Sequence[int] | None,
    allowed: Sequence[int] | None = None,
    root: Path = _ROOT,
    *,
    with_third_party: bool = False,
) -> Division:
    """Divides the cores of this host between server, driver, and a third party if there is one.

    Cores that are not given are chosen: in the order of processors and physical cores, the server
    gets the first half, the driver the rest. Of an odd number the driver gets one more, because a
    saturated driver measures itself. Threads of one physical core stay together as long as there
    are two physical cores. Both share cores only if there is a single core, or if none is left
    besides the given ones.

    A third party is a database or an upstream. It gets a third of the physical cores, the last
    ones, or what given cores of the others leave. If that is none, it shares the server's, so that
    it takes nothing from the driver.

    Args:
        server_cores: Cores of the server; None leaves it to Plimsoll.
        driver_cores: Cores of the driver; None leaves it to Plimsoll.
        allowed: Cores to divide; None for those that this process may use.
        root: Folder with `sys`.
        with_third_party: Whether a database or an upstream runs beside the server.

    Raises:
        CoreMissing: This process may not use a given core, or a given list is empty.
    """
    mine = tuple(allowed or allowed_cores())
    for role, requested in (("server", server_cores), ("driver", driver_cores)):
        _check_cores(role, requested, mine)
    groups = _physical_cores(mine, root)
    if server_cores is None and driver_cores is None:
        server, driver = _halves(_first_two_thirds(groups) if with_third_party else groups)
    else:
        server = tuple(server_cores or _others(mine, driver_cores or ()))
        driver = tuple(driver_cores or _others(mine, server))
    note = _note(server, driver, groups)
    if not with_third_party:
        return Division(server, driver, note)
    left = tuple(core for core in mine if core not in {*server, *driver})
    shared = "" if left else f"a database or upstream shares {_named(server)} with the server"
    return Division(server, driver, "; ".join(filter(None, (note, shared))), left or server)


def raise_open_files() -> int:
    """Raises the soft limit of open files to the hard one, for this process and all it starts.

    Returns:
        The limit now.

    Source:
        getrlimit(2), RLIMIT_NOFILE.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard


def check_connections(connections: int) -> None:
    """Checks that this host can hold so many connections, with both of their ends.

    Raises:
        LimitTooLow: There are too few file descriptors or ports.
    """
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    needed = connections + SPARE_FILES
    if _less(hard, needed):
        message = f"{connections} connections need {needed} file descriptors, the limit is {hard}"
        hint = f"`{_files_command(needed)}`, or reduce `connections` of the load"
        raise LimitTooLow(message, hint)
    first, last = _port_range(_ROOT)
    ports = _usable(first, last) * LOOPBACK_SOURCES
    if ports < connections:
        message = f"{connections} connections need as many local ports, but only {ports} exist"
        fewer = "reduce `connections` of the load"
        each = -(-connections // LOOPBACK_SOURCES)
        hint = f"`{ports_command(each)}`, or {fewer}" if each <= MOST_OUTGOING else fewer
        raise LimitTooLow(message, hint)


def advice(
    connections: int,
    known: Mapping[str, object] | None = None,
    *,
    is_shared: bool = True,
    is_driver: bool = True,
    is_server: bool = True,
) -> list[str]:
    """What to change on a host before a load, with commands.

    Args:
        connections: The most connections open at one time.
        known: Facts of the host; None for this one.
        is_shared: Whether server and driver are both on it.
        is_driver: Whether it opens these connections.
        is_server: Whether it accepts them.

    Returns:
        Sentences; empty when nothing needs to be changed.
    """
    host = _HostLimits.of(facts() if known is None else known)
    checks = (
        _about_files,
        *((_about_backlog,) if is_server else ()),
        _about_tracking,
        *((_about_ports,) if is_driver else ()),
        *((_about_processes,) if is_server else ()),
        _about_processor,
    )
    stated = [sentence for about in checks for sentence in about(host, connections)]
    if is_shared and len(host.cores) == 1:
        stated.append(
            "server and driver share the only core and disturb each other: give "
            "the machine a second core, or widen `taskset`"
        )
    return stated


def outgoing(known: Mapping[str, object]) -> int | None:
    """How many connections to one server the engine opens at most; None if unknown.

    Args:
        known: Facts of a host that does not run that server.
    """
    first, last = known.get("port_first"), known.get("port_last")
    if not isinstance(first, int) or not isinstance(last, int):
        return None
    return _usable(first, last)


def _usable(first: int, last: int) -> int:
    """How many connections to one server a range of ports is enough for, as the engine counts."""
    return max(last - first + 1 - SPARE_PORTS, 1)


@dataclass(frozen=True)
class _HostLimits:
    """The facts of a host that limit a load; each is documented in `FACTS`."""

    cores: list[int]
    cpu_governor: str | None
    open_files_hard: int
    processes_max: int | None
    somaxconn: int | None
    conntrack_max: int | None
    port_first: int
    port_last: int
    tcp_tw_reuse: int | None
    cgroup_cores: float | None
    cgroup_processes: int | None

    @classmethod
    def of(cls, known: Mapping[str, Any]) -> _HostLimits:
        """The limits among the facts of a host."""
        return cls(**{one.name: known[one.name] for one in fields(cls)})


_USUAL_FIRST_PORT = 10240


def ports_command(connections: int) -> str:
    """What widens the range of ports as far as connections to one server need it.

    Servers listen on ports below the range, so it begins no lower than it must.

    Args:
        connections: At most `MOST_OUTGOING`.
    """
    first = min(_USUAL_FIRST_PORT, PORTS[1] + 1 - SPARE_PORTS - connections)
    return f'sudo sysctl -w net.ipv4.ip_local_port_range="{first} {PORTS[1]}"'


def _files_command(files: int) -> str:
    return f"sudo prlimit --pid $$ --nofile={files}:{files}"


def _about_files(host: _HostLimits, connections: int) -> list[str]:
    needed = connections + SPARE_FILES
    if not _less(host.open_files_hard, needed):
        return []
    return [
        f"a process may open {host.open_files_hard} files, {connections} connections need "
        f"{needed}: `{_files_command(needed)}`"
    ]


def _about_backlog(host: _HostLimits, connections: int) -> list[str]:
    if not _less(host.somaxconn, min(BACKLOG, connections)):
        return []
    return [
        f"the listen backlog is at most {host.somaxconn}, a burst of {connections} "
        f"overflows it: `sudo sysctl -w net.core.somaxconn={BACKLOG}`"
    ]


def _about_tracking(host: _HostLimits, connections: int) -> list[str]:
    if not _less(host.conntrack_max, 2 * connections):
        return []
    return [
        f"the firewall tracks {host.conntrack_max} connections and drops others: "
        f"`sudo sysctl -w net.netfilter.nf_conntrack_max={max(65536, 4 * connections)}`"
    ]


def _about_ports(host: _HostLimits, connections: int) -> list[str]:
    stated: list[str] = []
    ports = _usable(host.port_first, host.port_last)
    if connections > MOST_OUTGOING:
        stated.append(
            f"one source address has ports for {MOST_OUTGOING} connections to one server at most, "
            f"{connections} need more: let several hosts generate the load (`--hosts`); to a "
            "server on this host, Plimsoll uses several addresses of loopback by itself"
        )
    elif ports < connections:
        stated.append(
            f"there are ports for {ports} outgoing connections to one server, {connections} need "
            f"more: `{ports_command(connections)}`"
        )
    if host.tcp_tw_reuse == 0:
        stated.append(
            "closed connections hold their port for a minute, so loads without keep-alive run out "
            "of ports: `sudo sysctl -w net.ipv4.tcp_tw_reuse=2`"
        )
    return stated


def _about_processes(host: _HostLimits, connections: int) -> list[str]:
    needed = connections + SPARE_PROCESSES
    stated: list[str] = []
    if _less(host.processes_max, needed):
        stated.append(
            f"the host allows {host.processes_max} threads, a server with one for each of "
            f"{connections} connections needs more: `sudo sysctl -w kernel.pid_max=4194304`"
        )
    if _less(host.cgroup_processes, needed):
        stated.append(
            f"the control group may have {host.cgroup_processes} threads, a server with one "
            f"for each of {connections} connections needs more: start Plimsoll by "
            "`systemd-run --scope -p TasksMax=infinity`, or raise the container's limit "
            "(`--pids-limit`)"
        )
    return stated


def _about_processor(host: _HostLimits, connections: int) -> list[str]:
    stated: list[str] = []
    if host.cpu_governor not in (None, "performance"):
        stated.append(
            f"the CPU governor `{host.cpu_governor}` changes the frequency under load: "
            "`sudo cpupower frequency-set -g performance`"
        )
    cores, quota_cores = len(host.cores), host.cgroup_cores
    if quota_cores is not None and _less(quota_cores, cores):
        stated.append(
            "the control group stops its processes when they have used "
            f"{wording.exact(quota_cores)} "
            f"of {cores} cores' time: raise the quota (`--cpus`), or use as many cores as it "
            f"allows: `taskset -c {_ranges(host.cores[: max(1, int(quota_cores))])}`"
        )
    return stated


def _less(limit: float | None, needed: float) -> bool:
    """Whether there is a limit and it is too low; a negative value is no limit."""
    return limit is not None and 0 <= limit < needed


def _check_cores(role: str, requested: Sequence[int] | None, allowed: Sequence[int]) -> None:
    if requested is None:
        return
    hint = f"choose from {_ranges(allowed)}, or remove `{role}_cores`"
    if not requested:
        raise CoreMissing(f"the {role} has no core", hint)
    if lacking := sorted(set(requested) - set(allowed)):
        verb = "are" if lacking[1:] else "is"
        message = f"cores {_ranges(lacking)} of the {role} {verb} not available to Plimsoll"
        raise CoreMissing(message, hint)


def _others(cores: Sequence[int], used: Iterable[int]) -> tuple[int, ...]:
    """The unused cores, or all if there is none."""
    return tuple(core for core in cores if core not in set(used)) or tuple(cores)


def _halves(groups: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    if len(groups) == 1:
        groups = [[core] for core in groups[0]]
    if len(groups) == 1:
        return tuple(groups[0]), tuple(groups[0])
    middle = len(groups) // 2
    first, rest = groups[:middle], groups[middle:]
    return (
        tuple(sorted(core for group in first for core in group)),
        tuple(sorted(core for group in rest for core in group)),
    )


def _first_two_thirds(groups: Sequence[Sequence[int]]) -> Sequence[Sequence[int]]:
    """Physical cores without the last third, rounded down."""
    if len(groups) == 1:
        groups = [[core] for core in groups[0]]
    return groups[: len(groups) - len(groups) // 3]


def _note(
    server: Sequence[int], driver: Sequence[int], groups: Sequence[Sequence[int]]
) -> str:  # fmt: skip
    shared = sorted(set(server) & set(driver))
    if shared:
        return f"server and driver share {_named(shared)} and take CPU time from each other"
    mixed = [group for group in groups if set(group) & set(server) and set(group) & set(driver)]
    if mixed:
        return f"{_named(mixed[0])} of server and driver are hyper-threads of one physical core"
    return ""


def _named(cores: Sequence[int]) -> str:
    return f"cores {_ranges(cores)}" if cores[1:] else f"core {cores[0]}"


def _ranges(cores: Sequence[int]) -> str:
    """Cores as the kernel writes them: `0-3,6`."""
    runs: list[list[int]] = []
    for core in sorted(cores):
        if runs and core == runs[-1][-1] + 1:
            runs[-1].append(core)
        else:
            runs.append([core])
    return ",".join(f"{run[0]}-{run[-1]}" if run[1:] else f"{run[0]}" for run in runs)


def cores_of(ranges: str) -> list[int]:
    """The cores that the kernel writes as `0-3,6`."""
    runs = [run.partition("-") for run in ranges.split(",") if run]
    return [core for first, _, last in runs for core in range(int(first), int(last or first) + 1)]


def _physical_cores(cores: Sequence[int], root: Path) -> list[list[int]]:
    """Cores grouped by the physical core they are threads of, in the order of processors.

    Source:
        Linux Documentation/admin-guide/cputopology.rst: `physical_package_id`, `core_id`.
    """
    groups: dict[tuple[int, int], list[int]] = {}
    for core in sorted(cores):
        folder = root / f"sys/devices/system/cpu/cpu{core}/topology"
        package = _number(folder / "physical_package_id")
        number = _number(folder / "core_id")
        key = (package or 0, core if number is None else number)
        groups.setdefault(key, []).append(core)
    return [groups[key] for key in sorted(groups)]


def _processor(root: Path) -> dict[str, Fact]:
    cpu = root / "sys/devices/system/cpu"
    online = cores_of(_text(cpu / "online") or "")
    packages = {_number(cpu / f"cpu{core}/topology/physical_package_id") for core in online}
    nodes = [path for path in _listed(root / "sys/devices/system/node") if path.name[4:].isdigit()]
    return {
        "cores": list(allowed_cores()),
        "cores_online": len(online),
        "physical_cores": len(_physical_cores(online, root)),
        "packages": len(packages),
        "numa_nodes": len(nodes) or 1,
        "cpu_model": _cpu_model(root),
        "cpu_governor": _text(cpu / "cpu0/cpufreq/scaling_governor"),
        "cpu_boost": _boost(cpu),
        "clock_source": _text(
            root / "sys/devices/system/clocksource/clocksource0/current_clocksource"
        ),
    }


def _cpu_model(root: Path) -> str:
    text = _text(root / "proc/cpuinfo") or ""
    found = re.search(r"^(?:model name|Model|Hardware|cpu model)\s*:\s*(.+)$", text, re.MULTILINE)
    return found[1].strip() if found else platform.machine()


def _boost(cpu: Path) -> bool | None:
    boost, stopped = _number(cpu / "cpufreq/boost"), _number(cpu / "intel_pstate/no_turbo")
    if boost is not None:
        return boost == 1
    return None if stopped is None else stopped == 0


def _memory(root: Path) -> dict[str, Fact]:
    text = _text(root / "proc/meminfo") or ""
    sizes = {name: int(kib) << 10 for name, kib in re.findall(r"^(\w+):\s+(\d+) kB", text, re.M)}
    pages = _text(root / "sys/kernel/mm/transparent_hugepage/enabled") or ""
    chosen = re.search(r"\[(\w+)\]", pages)
    return {
        "memory_bytes": sizes.get("MemTotal"),
        "swap_bytes": sizes.get("SwapTotal"),
        "huge_pages": chosen[1] if chosen else None,
    }


def _system(root: Path) -> dict[str, Fact]:
    release = _text(root / "etc/os-release") or ""
    name = re.search(r'^PRETTY_NAME="?([^"\n]*)', release, re.MULTILINE)
    return {
        "kernel": platform.release(),
        "interrupt_time": _interrupt_time(root),
        "distribution": name[1] if name else None,
        "architecture": platform.machine(),
        "libc": " ".join(platform.libc_ver()).strip() or None,
    }


_LEAST_INTERRUPT_S = 1e-7
"""Minimum length of a hard interrupt: entering and leaving it takes longer."""


def _interrupt_time(root: Path) -> str | None:
    """Where the kernel counts the time of interrupts: with the interrupted task, or apart.

    A kernel that measures interrupts has counted some time after very many of them. One that only
    samples each core at every tick hardly ever finds a hard interrupt, since that delays the tick;
    it counts their time with the task. The count therefore shows what the kernel does, even if the
    clock was too bad for the build option. The build option decides only while interrupts are few.

    Source:
        proc_stat(5), `irq` and `intr`; CONFIG_IRQ_TIME_ACCOUNTING and `irqtime_account_irq` of
        Linux.
    """
    text = _text(root / "proc/stat") or ""
    ticks = re.search(r"^cpu +(?:\d+ +){5}(\d+)", text, re.MULTILINE)
    count = re.search(r"^intr (\d+)", text, re.MULTILINE)
    if ticks and count:
        tick_s = 1 / os.sysconf("SC_CLK_TCK")
        at_least_s = int(count[1]) * _LEAST_INTERRUPT_S
        if at_least_s >= tick_s:
            return "apart" if int(ticks[1]) * tick_s >= at_least_s else "task"
    built = _kernel_configuration(root).split()
    if not built:
        return None
    return "apart" if "CONFIG_IRQ_TIME_ACCOUNTING=y" in built else "task"


def _kernel_configuration(root: Path) -> str:
    """The kernel's build configuration; empty if it is not available."""
    try:
        packed = (root / "proc/config.gz").read_bytes()
    except OSError:
        return _text(root / f"boot/config-{platform.release()}") or ""
    return gzip.decompress(packed).decode("utf-8", "replace")


def _limits(root: Path) -> dict[str, Fact]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    kernel = root / "proc/sys"
    first, last = _port_range(root)
    return {
        "open_files_soft": soft,
        "open_files_hard": hard,
        "processes_max": _number(kernel / "kernel/pid_max"),
        "somaxconn": _number(kernel / "net/core/somaxconn"),
        "port_first": first,
        "port_last": last,
        "tcp_tw_reuse": _number(kernel / "net/ipv4/tcp_tw_reuse"),
        "tcp_max_syn_backlog": _number(kernel / "net/ipv4/tcp_max_syn_backlog"),
        "netdev_max_backlog": _number(kernel / "net/core/netdev_max_backlog"),
        "conntrack_max": _number(kernel / "net/netfilter/nf_conntrack_max"),
    }


def _port_range(root: Path) -> tuple[int, int]:
    """First and last port of outgoing connections; the kernel's default if unknown."""
    words = (_text(root / "proc/sys/net/ipv4/ip_local_port_range") or "32768 60999").split()
    return int(words[0]), int(words[1])


def _surroundings(root: Path) -> dict[str, Fact]:
    virtual, hypervisor = _virtual(root)
    return {
        "virtual": virtual,
        "hypervisor": hypervisor,
        "container": _container(root),
        "cgroup_cores": _cgroup_cores(root),
        "cgroup_memory_bytes": _least(map(_memory_limit, _control_groups(root, "memory"))),
        "cgroup_processes": _least(
            _number(folder / "pids.max") for folder in _control_groups(root, "pids")
        ),
    }


def _virtual(root: Path) -> tuple[bool, str | None]:
    """Whether this is a virtual machine, and its hypervisor.

    Vendors of hypervisors and clouds sell hosts of metal, too, under the same DMI names. So these
    only count where the processor does not say whether there is a hypervisor.

    Source:
        cpuid's hypervisor bit, which /proc/cpuinfo shows as a flag on x86; DMI names of the vendor.
    """
    flags = re.search(r"^flags\s*:(.*)", _text(root / "proc/cpuinfo") or "", re.M)
    names = [_text(root / f"sys/class/dmi/id/{name}") for name in ("sys_vendor", "product_name")]
    stated = " ".join(name for name in names if name)
    kind = _text(root / "sys/hypervisor/type")
    named = re.search(r"QEMU|KVM|VMware|VirtualBox|Amazon EC2|Google|Microsoft|Xen", stated)
    by_processor = "hypervisor" in flags[1].split() if flags else bool(named)
    virtual = by_processor or bool(kind)
    return virtual, (kind or stated or None) if virtual else None


def _container(root: Path) -> str | None:
    """Kind of the container around this process, if it can be detected."""
    groups = _text(root / "proc/self/cgroup") or ""
    for name in ("kubepods", "docker", "libpod", "lxc"):
        if name in groups:
            return "kubernetes" if name == "kubepods" else name
    if (root / "run/.containerenv").exists():
        return "podman"
    return "docker" if (root / ".dockerenv").exists() else None


def _control_groups(root: Path, controller: str) -> list[Path]:
    """Folders of the control groups this process is in, for one controller: own, parents, root.

    Source:
        cgroups(7): lines of /proc/pid/cgroup are number, controllers, path; version 2 has none.
    """
    top = root / "sys/fs/cgroup"
    for line in (_text(root / "proc/self/cgroup") or "").splitlines():
        _, controllers, path = line.split(":", 2)
        if controller in controllers.split(","):
            return _upwards(top / controllers, path)
        if not controllers and controller in (_text(top / "cgroup.controllers") or "").split():
            return _upwards(top, path)
    return []


def _upwards(top: Path, path: str) -> list[Path]:
    own = top / path.lstrip("/")
    return [own, *(parent for parent in own.parents if parent.is_relative_to(top))]


def _cgroup_cores(root: Path) -> float | None:
    """The least CPU quota of the control groups that this process is in, in cores."""
    return _least(map(_quota_cores, _control_groups(root, "cpu")))


def _quota_cores(folder: Path) -> float | None:
    """Cores' worth of time, from `cpu.max` (version 2) or the quota of the CFS (version 1)."""
    quota, period = [*(_text(folder / "cpu.max") or "max").split(), "100000"][:2]
    if quota == "max":
        quota = str(_number(folder / "cpu.cfs_quota_us") or -1)
        period = str(_number(folder / "cpu.cfs_period_us") or 100_000)
    return int(quota) / int(period) if int(quota) > 0 else None


def _memory_limit(folder: Path) -> int | None:
    """Bytes; version 1 writes a number near 2⁶³ when there is no limit."""
    limit = _number(folder / "memory.max") or _number(folder / "memory.limit_in_bytes")
    return limit if limit and limit < 1 << 60 else None


def _least(limits: Iterable[float | None]) -> float | None:
    return min((limit for limit in limits if limit is not None), default=None)


def _listed(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _text(path: Path) -> str | None:
    try:
        return path.read_text("utf-8", "replace").strip()
    except OSError:
        return None


def _number(path: Path) -> int | None:
    """The number in a file; None when there is no file, or a word in it."""
    text = _text(path)
    return int(text) if text is not None and re.fullmatch(r"-?\d+", text) else None
