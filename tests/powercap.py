"""A powercap tree as the kernel has one, with the traps of real hosts."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

RANGE_UJ = 262_143_328_850
"""The greatest number of a counter, as Intel's processors have it."""


def domain(root: Path, place: str, name: str, counted_uj: int, range_uj: int = RANGE_UJ) -> None:
    """Makes a domain, or changes what it has counted.

    Args:
        root: Folder of the domains.
        place: Its folder: `intel-rapl:0:0`.
        name: Its name: `dram`.
        counted_uj: What it has counted.
        range_uj: The number after which it begins at 0 again.
    """
    folder = root / place
    if not folder.exists():
        folder.mkdir(parents=True)
        (folder / "name").write_text(f"{name}\n")
        (folder / "max_energy_range_uj").write_text(f"{range_uj}\n")
    (folder / "energy_uj.new").write_text(f"{counted_uj}\n")
    (folder / "energy_uj.new").replace(folder / "energy_uj")  # a counter is never half written


def every_trap(root: Path, package_uj: int, memory_uj: int) -> None:
    """A host that shows its package four times, and once what contains it.

    Args:
        root: Folder of the domains.
        package_uj: What its package has counted.
        memory_uj: What its memory has counted.
    """
    (root / "intel-rapl").mkdir(parents=True, exist_ok=True)  # the bus itself is no domain
    (root / "dtpm").mkdir(exist_ok=True)
    domain(root, "intel-rapl:0", "package-0", package_uj)
    domain(root, "intel-rapl:0:0", "core", package_uj // 2)
    domain(root, "intel-rapl:0:1", "dram", memory_uj)
    domain(root, "intel-rapl:1", "psys", 3 * package_uj)
    for place, name in (("intel-rapl:2", "package-0-die-1"), ("intel-rapl-mmio:0", "package-0")):
        if not (root / place).exists():
            domain(root, place, name, package_uj)
            (root / place / "energy_uj").unlink()
            (root / place / "energy_uj").symlink_to(root / "intel-rapl:0" / "energy_uj")


@contextmanager
def counting(root: Path, watts: Callable[[], float]) -> Generator[None]:
    """A host whose counters rise while the block runs, from shortly before their end on.

    Args:
        root: Folder of the domains.
        watts: The power that it draws; a fifth is memory's.
    """
    is_over = threading.Event()
    first_uj = RANGE_UJ - 30_000_000

    def count() -> None:
        began_s, counted_uj = time.monotonic(), first_uj
        while not is_over.wait(0.02):
            now_s = time.monotonic()
            counted_uj += round(watts() * (now_s - began_s) * 1e6)
            began_s = now_s
            every_trap(root, counted_uj * 4 // 5 % (RANGE_UJ + 1), counted_uj // 5)

    every_trap(root, first_uj, 1)
    thread = threading.Thread(target=count)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()
