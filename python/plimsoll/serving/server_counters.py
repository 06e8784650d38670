"""What a server counted itself: a witness beside the driver and the kernel.

The reference server logs at its end how many requests it received and responses it sent. No
other framework does; a framework's log is its own affair and is not read for numbers.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import cast

from plimsoll.processes import logs

COUNTING = "reference"
"""Name of the framework that counts."""

EVENT = "stopped"


def read(framework: str, log: Path) -> dict[str, int] | None:
    """What a server that has stopped counted over its whole life.

    Args:
        framework: Name of the framework.
        log: Its log.

    Returns:
        Count by name, as the reference server names them; None where it did not count.
    """
    if framework != COUNTING:
        return None
    lines = logs.tail(log).splitlines()
    return next((found for line in reversed(lines) if (found := _counts(line))), None)


def _counts(line: bytes) -> dict[str, int] | None:
    """The counts in a line; None when it is another line."""
    try:
        stated = json.loads(line)
    except ValueError:
        return None
    if not isinstance(stated, dict):
        return None
    known = cast("dict[str, object]", stated)
    if known.get("event") != EVENT:
        return None
    return {name: value for name, value in known.items() if type(value) is int}
