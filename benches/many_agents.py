"""What many agents on one machine cost, how far apart they start, and when a lost one is found.

Agents are processes of this machine, each with an address of 127.0.0.0/8, and generate one small
load onto a reference server. With as many agents as cores the figures are those of hosts; with
more, they wait for each other, and are upper bounds.

    python benches/many_agents.py --agents 50
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import NamedTuple

import plimsoll
from plimsoll.errors import HostLost
from plimsoll.hosts import certificates
from plimsoll.hosts.lab import control, hosts_file
from plimsoll.processes import cpu_clock
from plimsoll.processes.ports import LOOPBACK, free_port


@dataclass(frozen=True)
class ManyAgents:
    """What was measured.

    Attributes:
        agents: Agents.
        joined_s: From the first agent's start until all had joined.
        skew_ms: How much later than the first one the last engine began.
        skew_p50_ms: The same, median over agents.
        clock_bound_p50_ms: How exactly a clock is known, median over agents.
        agent_cores: Processor time of one agent while load ran, in cores, median; without its
            engine.
        agent_cores_most: The same, the greatest.
        control_cores: Of `agent_cores`, what the thread takes that talks to the lab; the rest are
            readings of the host.
        lab_cores: Processor time of the lab while load ran, in cores.
        found_frozen_s: From the freezing of an agent until the lab said so.
    """

    agents: int
    joined_s: float
    skew_ms: float
    skew_p50_ms: float
    clock_bound_p50_ms: float
    agent_cores: float
    agent_cores_most: float
    control_cores: float
    lab_cores: float
    found_frozen_s: float


class Used(NamedTuple):
    """Processor time of a process while load ran, in cores: of all its threads, and of the main."""

    cores: float
    main_cores: float


def main() -> None:
    """Measures, and prints JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--agents", type=int, default=50)
    parser.add_argument("--seconds", type=int, default=20)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as closing:
        found = measured(Path(folder), asked.agents, asked.seconds, closing)
    json.dump(asdict(found), sys.stdout, indent=1)


def measured(folder: Path, count: int, seconds: int, closing: ExitStack) -> ManyAgents:
    """Starts the agents, puts on the load, and freezes one.

    Args:
        folder: Where everything lies.
        count: Agents.
        seconds: Length of the load.
        closing: Ends what was started.
    """
    file = written(folder, count, held_port(closing))
    known = hosts_file.read(file)
    address = served(closing)
    begun_s = time.monotonic()
    agents = [agent(folder, one.name, str(one.address), known.port, closing) for one in known.hosts]
    with control.opened(known) as opened:
        opened.wait([one.name for one in known.hosts], lambda _: None)
        joined_s = time.monotonic() - begun_s
    used: list[Used] = []
    reading = threading.Thread(target=read, args=([*agents, os.getpid()], seconds, folder, used))
    reading.start()
    with plimsoll.load(
        f"http://{address}/plaintext",
        connections=count,
        duration_s=seconds,
        rate_per_s=10.0 * count,
        hosts=file,
        record=folder / "recorded",
    ) as found:
        drivers = found.recording.hosts
    reading.join()
    lab = used.pop()
    skews = [one.zero_ns / 1e6 for one in drivers]
    with control.opened(known) as opened:
        opened.wait([one.name for one in known.hosts], lambda _: None)
        frozen_s = found_frozen_s(opened, known.hosts[-1].name, agents[-1])
    return ManyAgents(
        agents=count,
        joined_s=joined_s,
        skew_ms=max(skews),
        skew_p50_ms=median(skews),
        clock_bound_p50_ms=median(one.clock.bound_ns / 1e6 for one in drivers),
        agent_cores=median(one.cores for one in used),
        agent_cores_most=max(one.cores for one in used),
        control_cores=median(one.main_cores for one in used),
        lab_cores=lab.cores,
        found_frozen_s=frozen_s,
    )


def held_port(closing: ExitStack) -> int:
    """A port that is this lab's from now on, although the lab listens now and then only.

    It is below those of outgoing connections: an agent that tries to reach it might get it as its
    own, and connect to itself. The socket that is bound to it and does not listen keeps it.
    """
    held = closing.enter_context(socket.socket())
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    held.bind((LOOPBACK, free_port()))
    return held.getsockname()[1]


def written(folder: Path, count: int, port: int) -> Path:
    """A file of hosts, and their certificates."""
    hosts = (
        f'[[host]]\nname = "a{number}"\naddress = "127.0.1.{number}"\n' for number in range(count)
    )
    lab = f'[lab]\naddress = "127.0.0.1"\nport = {port}\nwait = "10m"\n'
    lead = f'lead = "{5 + count // 2}s"\n'
    file = folder / "hosts.toml"
    file.write_text(lab + lead + "".join(hosts), "utf-8")
    certificates.make(hosts_file.read(file), folder / "certificates")
    return file


def served(closing: ExitStack) -> str:
    """A reference server; its address."""
    command = (sys.executable, "-m", "plimsoll.reference", "--host", LOOPBACK, "--port", "0")
    server = subprocess.Popen(command, stdout=subprocess.PIPE)
    closing.callback(server.wait)
    closing.callback(server.kill)
    assert server.stdout is not None
    return json.loads(server.stdout.readline())["address"]


def agent(folder: Path, name: str, address: str, port: int, closing: ExitStack) -> int:
    """Starts an agent; its process."""
    files = certificates.identity(folder / "certificates", name)
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "plimsoll", "host", "serve", "--name", name),
            *("--join", f"tls://127.0.0.1:{port}", "--address", address),
            *("--cert", str(files.certificate), "--key", str(files.key)),
            *("--ca", str(files.authority)),
        ],
        stderr=subprocess.DEVNULL,
    )
    closing.callback(process.wait)
    closing.callback(process.terminate)
    return process.pid


def read(processes: list[int], seconds: int, folder: Path, used: list[Used]) -> None:
    """Reads the processor time of each process over the middle of a load, into `used`."""
    while not (folder / "recorded").exists():
        time.sleep(0.1)
    time.sleep(5 + len(processes) / 2 + seconds / 4)
    before, begun_s = spent_s(processes), time.monotonic()
    time.sleep(seconds / 2)
    after, took_s = spent_s(processes), time.monotonic() - begun_s
    used += [
        Used(*((now - then) / took_s for now, then in zip(late, early, strict=True)))
        for late, early in zip(after, before, strict=True)
    ]


def spent_s(processes: list[int]) -> list[tuple[float, float]]:
    """Processor time of each process, and of its main thread, in seconds.

    Source: proc_pid_schedstat in the kernel's sched-stats.rst: the first number is in nanoseconds.
    """
    whole = cpu_clock.of(processes)
    main = [Path(f"/proc/{pid}/task/{pid}/schedstat").read_text("ascii") for pid in processes]
    return [
        (whole[pid] / 1e9, int(text.split()[0]) / 1e9)
        for pid, text in zip(processes, main, strict=True)
    ]


def found_frozen_s(lab: control.Lab, name: str, pid: int) -> float:
    """How long it takes until the lab says that a frozen agent is lost."""
    os.kill(pid, signal.SIGSTOP)
    begun_s = time.monotonic()
    try:
        while True:
            lab.order(name, "poll")
    except HostLost:
        return time.monotonic() - begun_s
    finally:
        os.kill(pid, signal.SIGCONT)


if __name__ == "__main__":
    main()
