"""Small file systems of their own, which only root can make: disks that fill up."""

import os
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small_disk(folder: Path, mebibytes: int) -> Generator[Path]:
    """A file system of so many mebibytes; the test is skipped where it cannot be mounted."""
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small file system: the full disk is not tried")
    folder.mkdir()
    size = f"size={mebibytes}m"
    mount = ["mount", "-t", "tmpfs", "-o", size, "plimsoll-test", str(folder)]
    mounted = subprocess.run(mount, capture_output=True, text=True, check=False)
    if mounted.returncode:
        pytest.skip(f"no small file system can be mounted here: {mounted.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)
