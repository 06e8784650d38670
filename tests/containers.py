"""Namespaces like those of a container: made for one command, which is process 1, and then gone."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest

from own_networks import SERVE

_MADE = """
ip link set lo up
mount --rbind /tmp /tmp
mount --rbind {folder} {folder}
while read -r _ _ _ _ at options _; do
  case "$at" in
    {folder} | /tmp | /tmp/* | /proc | /proc/* | /dev | /dev/*) ;;
    *) mount -o "remount,bind,ro${{options#r[ow]}}" "$at" ;;
  esac
done < /proc/self/mountinfo
mount -t tmpfs plimsoll-test /dev/shm -o size=64k
if [ -d /sys/fs/cgroup ]; then mount -t tmpfs plimsoll-test /sys/fs/cgroup -o ro; fi
"""


def in_container(folder: Path, *, served: bool = False) -> tuple[str, ...]:
    """What stands before a command so that it runs as in a container.

    It is process 1 among processes of its own. Its network has nothing but loopback. Nothing but
    the folder and `/tmp` can be written to; there are no control groups; `/dev/shm` is tiny.

    The test is skipped where that cannot be made. Mounts below `/tmp` are bound with it: without
    them the kernel refuses while another test has one there (mount_namespaces(7), locked mounts).

    Args:
        folder: Where the command works.
        served: Whether a reference server listens there, at `own_networks.SERVED`.
    """
    spaces = ("--mount", "--pid", "--net", "--uts", "--ipc", "--mount-proc", "--fork")
    command = ("unshare", "--map-root-user", *spaces, "--kill-child", "sh", "-ec")
    made = _MADE.format(folder=shlex.quote(str(folder)))
    try:
        tried = subprocess.run([*command, made], capture_output=True, text=True, check=False)
    except OSError as error:
        pytest.skip(f"nothing like a container can be made here: {error}")
    if tried.returncode:
        pytest.skip(f"nothing like a container can be made here: {tried.stderr.strip()}")
    begun = f'{made}\ncd {shlex.quote(str(folder))}\n{SERVE if served else ""}\nexec "$@"'
    return (*command, begun, "sh")
