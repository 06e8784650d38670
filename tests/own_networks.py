"""Networks of their own, with nothing but loopback: made for one command, and gone with it."""

import subprocess
import sys

import pytest

SERVED = "127.0.0.1:8080"
"""Where a reference server listens in a network that has one."""

SERVE = f"""
{{ HOST=127.0.0.1 {sys.executable} -m plimsoll.reference --port 8080 & }} | {{ read _; cat & }}
"""


def own_network(setup: str = "true", *, served: bool = False) -> tuple[str, ...]:
    """What stands before a command so that it runs in a network, and among processes, of its own.

    The test is skipped where none can be made.

    Args:
        setup: A command of a shell that changes it: `echo 1 > /proc/sys/net/ipv4/…`.
        served: Whether a reference server listens there, at `SERVED`.
    """
    made = f"ip link set lo up; {setup}"
    command = ("unshare", "-rnpf", "--mount-proc", "--kill-child", "sh", "-ec")
    try:
        tried = subprocess.run([*command, made], capture_output=True, text=True, check=False)
    except OSError as error:
        pytest.skip(f"no network of its own can be made here: {error}")
    if tried.returncode:
        pytest.skip(f"no network of its own can be made here: {tried.stderr.strip()}")
    return (*command, f'{made}; {SERVE if served else ""}\n"$@"', "sh")


def ports(first: int, last: int) -> str:
    """The setup with only so many ports for outgoing connections."""
    return f"echo {first} {last} > /proc/sys/net/ipv4/ip_local_port_range"
