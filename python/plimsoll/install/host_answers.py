"""What programs and files of the host say; nothing where they fail."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from plimsoll.install import short_commands

if TYPE_CHECKING:
    from pathlib import Path


def output_of(*command: str, timeout_s: float) -> str:
    """The output of a program; empty when it fails.

    Args:
        command: The program and its arguments.
        timeout_s: Timeout in seconds.
    """
    try:
        ran = short_commands.run(command, timeout_s=timeout_s)
    except (OSError, subprocess.SubprocessError):
        return ""
    return ran.stdout.decode("utf-8", "replace") if ran.returncode == 0 else ""


def text_of(path: Path) -> str:
    """The text of a file; empty when it cannot be read."""
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""
