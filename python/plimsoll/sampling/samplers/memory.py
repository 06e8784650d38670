"""Memory: held by a process tree, fetched from a disk, left on the machine, and when it ran out.

Source: proc_pid_status(5) VmRSS, the kernel's document on `smaps_rollup`, proc_pid_stat(5) majflt,
proc_meminfo(5), `/proc/vmstat`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.processes.tree import PROC, shown

if TYPE_CHECKING:
    from plimsoll.processes.tree import ProcessTree
    from plimsoll.sampling.scope import Scope


def read(scope: Scope) -> dict[str, float]:
    """Memory of a scope, in bytes, and its major page faults so far.

    Shared pages are divided among their users (PSS) only in a thorough reading: the kernel walks
    every page of a process for it and holds its memory map meanwhile.
    """
    if scope.tree is None:
        return _of_machine()
    values = _of_tree(scope.tree)
    if scope.thorough:
        values |= _proportional(scope.tree)
    return values


def parse_kilobytes(text: str, key: str) -> int | None:
    """The value of one key, in bytes; None when the text does not have it.

    Args:
        text: Lines of `key: value kB`.
        key: The key, without its colon.
    """
    for line in text.splitlines():
        if line.startswith(f"{key}:"):
            return int(line.split()[1]) * 1024
    return None


def available_bytes() -> int | None:
    """Memory that programs can still be given without swapping; None if the kernel hides it."""
    return parse_kilobytes(shown(PROC / "meminfo"), "MemAvailable")


def _of_machine() -> dict[str, float]:
    available = available_bytes()
    known = {} if available is None else {"memory_available_bytes": float(available)}
    return known | parse_events(shown(PROC / "vmstat"))


def parse_events(text: str) -> dict[str, float]:
    """Pages swapped in and out so far, and processes killed for want of memory.

    Args:
        text: The content of `/proc/vmstat`.
    """
    values = dict(line.split() for line in text.splitlines())
    events: dict[str, float] = {}
    if "pswpin" in values and "pswpout" in values:
        events["swapped_pages"] = int(values["pswpin"]) + int(values["pswpout"])
    if "oom_kill" in values:
        events["oom_kills"] = int(values["oom_kill"])
    return events


def _of_tree(tree: ProcessTree) -> dict[str, float]:
    rss_bytes = _sum(tree, "status", "VmRSS")
    known = {} if rss_bytes is None else {"rss_bytes": float(rss_bytes)}
    return known | {"major_faults": float(tree.spent.major_faults)}


def _proportional(tree: ProcessTree) -> dict[str, float]:
    """PSS of the tree; nothing where the kernel has no such file, or does not let us read it."""
    try:
        pss_bytes = _sum(tree, "smaps_rollup", "Pss")
    except PermissionError:
        return {}
    return {} if pss_bytes is None else {"pss_bytes": float(pss_bytes)}


def _sum(tree: ProcessTree, file: str, key: str) -> int | None:
    """Sum of one key over the processes of a tree, in bytes; those that vanished count nothing.

    None where no process has the file: either all are gone, or this kernel does not have it.
    """
    found: list[int] = []
    for pid in tree.stats:
        try:
            text = tree.file(pid, file).read_text(errors="replace")
        except (FileNotFoundError, ProcessLookupError):
            continue
        found.append(parse_kilobytes(text, key) or 0)
    return sum(found) if found else None
