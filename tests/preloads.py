"""Libraries that stand between a program and its kernel, built where a test needs them."""

from __future__ import annotations

import platform
import shutil
import subprocess
from pathlib import Path

import pytest

SOURCES = Path(__file__).with_name("preloads")


def preloaded(name: str, folder: Path) -> dict[str, str]:
    """The environment in which a program meets the library of a name first.

    The test is skipped where it cannot be built.

    Args:
        name: Name of its source: `jumping_clock`, `silent_kernel`.
        folder: Where it is put.
    """
    if shutil.which("cc") is None:
        pytest.skip(f"there is no C compiler: `{name}` cannot be built")
    if platform.machine() != "x86_64":
        pytest.skip(f"`{name}` is written for x86-64, this is {platform.machine()}")
    library = folder / f"{name}.so"
    source = SOURCES / f"{name}.c"
    flags = ("-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror")
    subprocess.run(["cc", *flags, "-o", library, source], check=True)
    return {"LD_PRELOAD": str(library)}
