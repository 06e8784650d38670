"""Processes in a control group whose memory is limited, as a container's is."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

_V1 = Path("/sys/fs/cgroup/memory")
_V2 = Path("/sys/fs/cgroup")
_RUN = "import os, sys; open(sys.argv[1], 'w').write('0'); os.execvp(sys.argv[2], sys.argv[2:])"


@dataclass(frozen=True)
class Group:
    """A control group.

    Attributes:
        folder: Where the kernel shows it.
        peak: File that holds the most memory it had, in bytes.
        kills: File in which the kernel counts what it ended for want of memory.
    """

    folder: Path
    peak: str
    kills: str

    def ran(self, command: Sequence[str | Path], folder: Path) -> subprocess.CompletedProcess[str]:
        """Runs a command in it, to its end."""
        joined = [sys.executable, "-c", _RUN, str(self.folder / "cgroup.procs"), *map(str, command)]
        return subprocess.run(
            joined, cwd=folder, capture_output=True, text=True, timeout=300, check=False
        )

    @property
    def killed(self) -> int:
        """Processes that the kernel ended for want of memory."""
        words = (self.folder / self.kills).read_text().split()
        return int(words[words.index("oom_kill") + 1])


@contextmanager
def limited(most_bytes: int) -> Generator[Group]:
    """A control group without swap that may take so much memory; skips where none can be made."""
    name = f"plimsoll-test-{os.getpid()}"
    if (_V1 / "memory.limit_in_bytes").exists():
        group = Group(_V1 / name, "memory.max_usage_in_bytes", "memory.oom_control")
        limit, swap = "memory.limit_in_bytes", "memory.memsw.limit_in_bytes"
    else:
        group = Group(_V2 / name, "memory.peak", "memory.events")
        limit, swap = "memory.max", "memory.swap.max"
    try:
        group.folder.mkdir()
    except OSError as error:
        pytest.skip(f"no control group can be made here: {error.strerror}")
    try:
        try:
            (group.folder / limit).write_text(str(most_bytes))
        except OSError as error:
            pytest.skip(f"the memory of a control group cannot be limited here: {error.strerror}")
        if (group.folder / swap).exists():
            (group.folder / swap).write_text("0" if swap == "memory.swap.max" else str(most_bytes))
        yield group
    finally:
        group.folder.rmdir()
