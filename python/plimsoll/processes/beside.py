"""Beside: modules of Plimsoll that do a share of some work in processes of their own.

One process of Python keeps one core busy; so work that has many equal parts is shared among the
cores. Each process ends with the block that started it.
"""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress
from typing import Self

from plimsoll import machine


def cores_for(parts: int, fewest: int) -> int:
    """Among how many cores work is shared: all that may be used, or one where it is not worth it.

    Args:
        parts: Parts of the work.
        fewest: Parts from which on further processes are worth their start.
    """
    return machine.usable_cores() if parts >= fewest else 1


class Beside:
    """A module that runs as a program: it reads its standard input to the end, and writes a text.

    Args:
        module: Name of the module.
        given: What it reads.
    """

    def __init__(self, module: str, given: str) -> None:
        """Does not start it yet."""
        self._module = module
        self._given = given
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        """Starts it; Ctrl-C does not reach it."""
        pipe = subprocess.PIPE
        with suppress(OSError):
            self._process = subprocess.Popen(
                (sys.executable, "-P", "-m", self._module),
                stdin=pipe,
                stdout=pipe,
                stderr=subprocess.DEVNULL,
                text=True,
                start_new_session=True,
            )
            if self._process.stdin is not None:
                with self._process.stdin as stdin:
                    stdin.write(self._given)
        return self

    def __exit__(self, *_: object) -> None:
        """Ends it, whatever it does."""
        if self._process is not None:
            self._process.kill()
            self._process.__exit__(None, None, None)

    def written(self) -> str | None:
        """What it wrote, once it has ended; None where it could not do its work."""
        if self._process is None or self._process.stdout is None:
            return None
        found = self._process.stdout.read()
        return found if self._process.wait() == 0 else None
