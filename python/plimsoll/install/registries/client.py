"""Runs the client of a registry."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll import texts, wording
from plimsoll.errors import NotInstalled, RegistryFailed
from plimsoll.install import short_commands

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

TIMEOUT_S = 300.0
"""Timeout of a client in seconds; Maven downloads the plugin that reports."""

_ERROR = re.compile(r"error: |go: |\[ERROR\] ")
"""How a line of Cargo, Go or Maven begins that says what failed; advice follows."""

HINT = "check the network and the client's settings, then try again"


@dataclass(frozen=True)
class ClientOutput:
    """What a client printed, on either stream."""

    stdout: str
    stderr: str


def output_of(
    command: Sequence[str], folder: Path, *, remedy: str, codes: Sequence[int] = (0,)
) -> ClientOutput:
    """Runs a client, in English.

    Args:
        command: The client and its arguments.
        folder: Where it runs.
        remedy: How to install the client.
        codes: Exit codes of a client that reports normally.

    Raises:
        NotInstalled: The client is not on the PATH.
        RegistryFailed: It ended with another code, or did not end in time.
    """
    client = command[0]
    try:
        ended = short_commands.run(
            command,
            folder=folder,
            environment={**os.environ, "LC_ALL": "C.UTF-8"},
            timeout_s=TIMEOUT_S,
        )
    except OSError as error:
        message = f"`{client}` cannot be run: {error.strerror}"
        raise NotInstalled(message, remedy) from error
    except subprocess.TimeoutExpired as error:
        message = f"`{client}` did not respond within {wording.count(TIMEOUT_S)} s"
        raise RegistryFailed(message, HINT) from error
    printed = ClientOutput(
        *(one.decode("utf-8", "replace") for one in (ended.stdout, ended.stderr))
    )
    if ended.returncode not in codes:
        raise failed(client, printed.stderr.strip() or printed.stdout)
    return printed


def failed(client: str, complaint: str) -> RegistryFailed:
    """The error of a client that complained: its first line that is an error, else its last."""
    lines = complaint.strip().splitlines()
    errors = [line for line in lines if _ERROR.match(line)]
    why = texts.line([*errors[:1], *lines[-1:]][0]).strip() if lines else "it printed nothing"
    return RegistryFailed(f"`{client}` failed: {why}", HINT)
