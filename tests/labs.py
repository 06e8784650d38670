"""Labs for tests: a file of hosts, certificates, a server, and agents as processes.

On loopback every host has an address of 127.0.0.0/8. In namespaces (`namespaces`) each has a
network of its own, with an address of 198.18.0.0/15, which is for benchmarks only.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path

import pytest

from command_line import Running, start
from plimsoll.hosts import certificates, network
from plimsoll.hosts.lab import hosts_file
from plimsoll.processes.ports import free_port

NETWORK = "198.18.77"
"""The network of namespaces; its last number is that of the member."""


@dataclass
class LabAtWork:
    """A lab whose agents and server can be started.

    Attributes:
        folder: Where everything lies.
        names: Names of the hosts.
        addresses: Address of each, by name; that of the lab is `lab`.
        port: Where the lab listens.
        namespaces: Name of the network namespace of each, and of the lab and the server.
        has_server: Whether a host with the role `server`, of that name, runs servers.
        has_database: Whether a host `db` with the role `database` runs PostgreSQL.
        ahead_s: How far the monotonic clock of each is ahead of this host's, by name.
        environments: What the environment of each has besides, by name.
        before: What stands before the command of every agent.
    """

    folder: Path
    names: tuple[str, ...]
    addresses: dict[str, str]
    port: int
    namespaces: dict[str, str] = field(default_factory=dict[str, str])
    has_server: bool = False
    has_database: bool = False
    ahead_s: dict[str, int] = field(default_factory=dict[str, int])
    environments: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    before: tuple[str, ...] = ()

    @property
    def beside(self) -> dict[str, str]:
        """Roles of the hosts that generate no load, by name."""
        server = {"server": "server"} if self.has_server else {}
        return {**server, **({"db": "database"} if self.has_database else {})}

    @property
    def file(self) -> Path:
        """The file of hosts."""
        return self.folder / "hosts.toml"

    def write(self, wait: str = "120s", lead: str = "3s", threads: int = 1, more: str = "") -> None:
        """Writes the file of hosts, with `more` in the table of the lab, and makes certificates."""
        hosts = [
            f'[[host]]\nname = "{name}"\naddress = "{self.addresses[name]}"\nthreads = {threads}\n'
            for name in self.names
        ]
        for name, role in self.beside.items():
            address = self.addresses[name]
            hosts.append(f'[[host]]\nname = "{name}"\nrole = "{role}"\naddress = "{address}"\n')
        lab = f'[lab]\naddress = "{self.addresses["lab"]}"\nport = {self.port}\n{more}\n'
        self.file.write_text(f'{lab}wait = "{wait}"\nlead = "{lead}"\n{"".join(hosts)}', "utf-8")
        if not self.certificates.exists():
            certificates.make(hosts_file.read(self.file), self.certificates)

    @property
    def address(self) -> IPv4Address | IPv6Address:
        """The address of the lab."""
        return ip_address(self.addresses["lab"])

    @property
    def certificates(self) -> Path:
        return self.folder / "certificates"

    def inside(self, member: str) -> tuple[str, ...]:
        """What stands before a command of a member."""
        namespace, ahead_s = self.namespaces.get(member), self.ahead_s.get(member)
        network = () if namespace is None else ("ip", "netns", "exec", namespace)
        clock = () if ahead_s is None else ("unshare", "-T", "--monotonic", str(ahead_s))
        return (*network, *clock)

    def agent(
        self, name: str, *, folder: Path | None = None, certified: str | None = None
    ) -> Running:
        """Starts an agent.

        Args:
            name: The name under which it joins.
            folder: Where its certificates are; None for those of this lab.
            certified: The name in its certificate; None for its own.
        """
        files = certificates.identity(folder or self.certificates, certified or name)
        home = self.folder / f"agent-{name}-{certified}"
        home.mkdir(exist_ok=True)
        return start(
            *("host", "serve", "--join", network.address(self.address, self.port)),
            *("--name", name, "--cert", files.certificate, "--key", files.key),
            *("--ca", files.authority, "--address", self.addresses[certified or name]),
            folder=home,
            environment={"TMPDIR": str(home), **self.environments.get(name, {})},
            before=(*self.inside(name), *self.before),
        )

    def lab(self, *arguments: object) -> Running:
        """Starts a command of the lab."""
        return start(
            *arguments, "--hosts", self.file, folder=self.folder, before=self.inside("lab")
        )

    @contextmanager
    def agents(self) -> Generator[dict[str, Running]]:
        """All agents, which are ended after the block."""
        with ExitStack() as closing:
            started: dict[str, Running] = {}
            for name in (*self.names, *self.beside):
                started[name] = self.agent(name)
                closing.callback(ended, started[name])
            yield started

    @contextmanager
    def served(self) -> Generator[str]:
        """A reference server in this lab's network; its address and port."""
        address = self.addresses.get("server", "127.0.0.1")
        port = free_port() if not self.namespaces else 8080
        place = ("--host", address, "--port", str(port))
        with running(*self.inside("server"), sys.executable, "-m", "plimsoll.reference", *place):
            yield f"{address}:{port}"

    @contextmanager
    def served_by_several(self, count: int) -> Generator[str]:
        """Servers that share a port in this lab's network; their address and port."""
        address = self.addresses["server"]
        program = Path(__file__).with_name("sharing_server.py")
        with ExitStack() as closing:
            for _ in range(count):
                command = (sys.executable, str(program), address, "8080")
                closing.enter_context(running(*self.inside("server"), *command))
            yield f"{address}:8080"


OF_THIS_MACHINE = {
    "undisturbed": "other tests use its cores",
    "driver_headroom": "all load generators share its cores with the server",
    "host_speed_stable": "its cores are those of a virtual machine",
    "steady": "cores come and go within loads of a second",
    "hidden_stalls": "whoever waits for a core stalls",
    "driver_uninterrupted": "a load generator without a core stalls",
    "offered_rate_met": "a load generator without a core sends nothing",
    "started_together": "a load generator waits for a core at its begin",
    "hosts_agree": "a host that waits for cores sees longer times",
    "clocks_agree": "an answer waits for a core",
}
"""Checks that judge how busy this machine is, on which all hosts run, and why they may be void."""


def void_beyond(levels: Mapping[str, str], *faults: str) -> set[str]:
    """Checks that are void and may not be.

    Args:
        levels: Level of each check.
        faults: Checks that find what a test does to its hosts.
    """
    void = {check for check, level in levels.items() if level == "void"}
    return void - {*OF_THIS_MACHINE, *faults}


def ended(running: Running) -> None:
    """Ends an agent as Ctrl-C does; it leaves nothing."""
    running.press_ctrl_c()
    running.end()
    assert running.leaves_nothing(), running.processes()


@contextmanager
def running(*command: str) -> Generator[None]:
    """A program that says a line when it is ready, and is killed after the block."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        try:
            assert program.stdout is not None
            assert program.stdout.readline(), f"`{' '.join(command)}` did not start"
            yield
        finally:
            program.kill()


def on_loopback(
    folder: Path,
    names: Sequence[str] = ("one", "two"),
    *,
    has_server: bool = False,
    has_database: bool = False,
) -> LabAtWork:
    """A lab on loopback, each host with an address of its own; with further roles or not."""
    members = ("lab", *names, "server", "db")
    addresses = {name: f"127.0.0.{place}" for place, name in enumerate(members, 1)}
    roles = (has_server, has_database)
    made = LabAtWork(folder, tuple(names), addresses, free_port(), {}, *roles)
    made.write()
    return made


@contextmanager
def in_namespaces(
    folder: Path,
    names: Sequence[str] = ("one", "two", "three"),
    *,
    has_server: bool = False,
    has_database: bool = False,
) -> Generator[LabAtWork]:
    """A lab, a server and hosts, each in a network namespace of its own, on one bridge.

    The server has an agent, or is none of the hosts.

    The test is skipped where none can be made.
    """
    if os.geteuid() != 0:
        pytest.skip("network namespaces need root")
    members = ("lab", "server", *names, *(["db"] if has_database else []))
    addresses = {name: f"{NETWORK}.{place}" for place, name in enumerate(members, 1)}
    prefix = f"plm{os.getpid() % 100_000}"
    switch = f"{prefix}sw"
    namespaces = {name: f"{prefix}{place}" for place, name in enumerate(members, 1)}
    with ExitStack() as closing:
        _made(closing, switch)
        _ip("-n", switch, "link", "add", "bridge", "type", "bridge")
        _ip("-n", switch, "link", "set", "bridge", "up")
        for name, namespace in namespaces.items():
            _made(closing, namespace)
            port = f"to-{name}"
            peer = ("peer", "name", "eth0", "netns", namespace)
            _ip("-n", switch, "link", "add", port, "type", "veth", *peer)
            _ip("-n", switch, "link", "set", port, "master", "bridge", "up")
            _ip("-n", namespace, "address", "add", f"{addresses[name]}/24", "dev", "eth0")
            _ip("-n", namespace, "link", "set", "eth0", "up")
            _ip("-n", namespace, "link", "set", "lo", "up")
        inside = {**namespaces, "switch": switch}
        roles = (has_server, has_database)
        made = LabAtWork(folder, tuple(names), addresses, 8786, inside, *roles)
        made.write()
        yield made


def limit(lab: LabAtWork, name: str, rate: str) -> None:
    """Lets no more than a rate through to a host, and drops what waits for longer than 20 ms."""
    shaped = ("root", "tbf", "rate", rate, "burst", "32kbit", "latency", "20ms")
    _run("tc", "-n", lab.namespaces["switch"], "qdisc", "add", "dev", f"to-{name}", *shaped)


def unlimited(lab: LabAtWork, name: str) -> None:
    """Lets everything through to a host again."""
    _run("tc", "-n", lab.namespaces["switch"], "qdisc", "del", "dev", f"to-{name}", "root")


def lossy(lab: LabAtWork, name: str, permille: int) -> None:
    """Drops so many of a thousand packets that come to a host, at random.

    The test is skipped where nftables cannot do that.
    """
    if shutil.which("nft") is None:
        pytest.skip("nftables is not installed: apt-get install nftables")
    rule = f'iifname "eth0" numgen random mod 1000 < {permille} drop;'
    chain = f"chain in {{\n type filter hook input priority 0\n {rule}\n }}"
    _run(*lab.inside(name), "nft", f"table inet loss {{\n {chain}\n }}")


@contextmanager
def delayed(lab: LabAtWork, name: str, delay_s: float) -> Generator[None]:
    """Puts a host behind a router and a link on which each packet takes so long, either way."""
    if not Path("/dev/net/tun").exists():
        pytest.skip("there is no /dev/net/tun")
    switch, own, address = lab.namespaces["switch"], lab.namespaces[name], lab.addresses[name]
    program = Path(__file__).with_name("slow_link.py")
    made = (sys.executable, str(program), "towards", "away", str(delay_s))
    with running(*lab.inside("switch"), *made):
        _ip("-n", own, "link", "delete", "eth0")
        _ip("-n", switch, "link", "set", "away", "netns", own, "name", "eth0")
        _ip("-n", own, "address", "add", f"{address}/24", "dev", "eth0")
        _ip("-n", own, "link", "set", "eth0", "up")
        _ip("-n", switch, "address", "add", f"{NETWORK}.254/24", "dev", "bridge")
        _ip("-n", switch, "link", "set", "towards", "up")
        _ip("-n", switch, "route", "add", f"{address}/32", "dev", "towards")
        # By default an answer for another host waits for up to 0.8 s, arp(7): so did connections.
        settings = {"ip_forward": 1, "conf/bridge/proxy_arp": 1, "neigh/bridge/proxy_delay": 0}
        for setting, value in settings.items():
            written = f"echo {value} > /proc/sys/net/ipv4/{setting}"
            _run(*lab.inside("switch"), "sh", "-c", written)
        yield


def without_way(lab: LabAtWork, name: str, other: str) -> None:
    """Leaves a host without a way to another one."""
    _ip("-n", lab.namespaces[name], "route", "add", "unreachable", f"{lab.addresses[other]}/32")


def few_ports(lab: LabAtWork, name: str, count: int) -> None:
    """Leaves a host so many ports for outgoing connections."""
    kept = f"net.ipv4.ip_local_port_range=50000 {50_000 + count - 1}"
    _run(*lab.inside(name), "sysctl", "-qw", kept)


@contextmanager
def one_port(lab: LabAtWork, name: str, port: int) -> Generator[None]:
    """Leaves a member one port for outgoing connections, for as long as the block runs."""
    file = "/proc/sys/net/ipv4/ip_local_port_range"
    seen = (*lab.inside(name), "cat", file)
    before = subprocess.run(seen, capture_output=True, text=True, check=True).stdout
    for ports in (f"{port} {port}", before):
        _run(*lab.inside(name), "sh", "-c", f"echo {ports.strip()} > {file}")
        if ports != before:
            yield


def cut(lab: LabAtWork, name: str) -> None:
    """Takes the link of a host down."""
    _ip("-n", lab.namespaces["switch"], "link", "set", f"to-{name}", "down")


def mend(lab: LabAtWork, name: str) -> None:
    """Takes the link of a host up again."""
    _ip("-n", lab.namespaces["switch"], "link", "set", f"to-{name}", "up")


def _made(closing: ExitStack, namespace: str) -> None:
    tried = subprocess.run(
        ["ip", "netns", "add", namespace], capture_output=True, text=True, check=False
    )
    if tried.returncode:
        pytest.skip(f"no network namespace can be made here: {tried.stderr.strip()}")
    closing.callback(subprocess.run, ["ip", "netns", "delete", namespace], check=False)


def _ip(*arguments: str) -> None:
    _run("ip", *arguments)


def _run(*command: str) -> None:
    tried = subprocess.run(command, capture_output=True, text=True, check=False)
    if tried.returncode:
        pytest.skip(f"`{' '.join(command)}` fails here: {tried.stderr.strip()}")
