"""Processes of a tree: how many, their threads, open files and context switches.

Source: proc_pid_stat(5), proc_pid_fd(5), proc_pid_status(5), proc_pid_limits(5).
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from plimsoll.processes.tree import ProcessTree, ThreadKey
    from plimsoll.sampling.scope import Scope


def read(scope: Scope) -> dict[str, float]:
    """What a process tree consists of.

    Context switches are counted by the kernel for each thread apart, which is one file a thread, so
    those of a server are read only in a thorough reading. A load generator has few threads, and how
    often it waits shows whether its work for a request remained the same.
    """
    if scope.tree is None:
        return {}
    stats = scope.tree.stats.values()
    values: dict[str, float] = {
        "processes": len(stats),
        "threads": sum(stat.threads for stat in stats),
    }
    values |= _open_files(scope.tree)
    if scope.thorough or scope.name == "driver":
        values |= _switches(scope.tree)
    return values


def parse_switches(text: str) -> tuple[int, int]:
    """Context switches of one thread: voluntary and involuntary.

    Args:
        text: The content of `/proc/<pid>/task/<tid>/status`.
    """
    values = dict(line.split(":", 1) for line in text.splitlines() if "ctxt_switches" in line)
    return int(values["voluntary_ctxt_switches"]), int(values["nonvoluntary_ctxt_switches"])


def _open_files(tree: ProcessTree) -> dict[str, float]:
    """Open file descriptors of the tree, and of its fullest process; nothing where we may not.

    A zombie has none, and only root may look.
    """
    living = [pid for pid, stat in tree.stats.items() if not stat.zombie]
    try:
        counts = {pid: _open_files_of(tree.file(pid, "fd")) for pid in living}
    except PermissionError:
        return {}
    limits = {pid: _files_limit(tree.file(pid, "limits")) for pid in counts}
    ratios = [counts[pid] / limit for pid, limit in limits.items() if limit]
    fullest: dict[str, float] = {"open_files_ratio": max(ratios)} if ratios else {}
    return {"open_files": sum(counts.values())} | fullest


def parse_files_limit(text: str) -> int | None:
    """The most files a process may open now; None when there is no limit.

    Args:
        text: The content of `/proc/<pid>/limits`.
    """
    for line in text.splitlines():
        if line.startswith("Max open files"):
            soft = line.split()[3]
            return int(soft) if soft.isdigit() else None
    return None


def _files_limit(path: Path) -> int | None:
    try:
        return parse_files_limit(path.read_text())
    except (FileNotFoundError, ProcessLookupError):
        return None


def _open_files_of(folder: Path) -> int:
    """Entries of a process's folder of descriptors.

    Since Linux 6.2 its size is that number, which spares listing thousands of them.
    """
    try:
        return os.stat(folder).st_size or len(os.listdir(folder))  # noqa: PTH116, PTH208
    except (FileNotFoundError, ProcessLookupError):
        return 0


def _switches(tree: ProcessTree) -> dict[str, float]:
    voluntary: dict[ThreadKey, float] = {}
    involuntary: dict[ThreadKey, float] = {}
    for thread, text in tree.threads("status"):
        voluntary[thread], involuntary[thread] = parse_switches(text)
    return {
        "voluntary_switches": tree.grown("voluntary_switches", voluntary),
        "involuntary_switches": tree.grown("involuntary_switches", involuntary),
    }
