"""How parts of a report are named: titles for people, anchors for links and files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from plimsoll.findings.trial import load_name

if TYPE_CHECKING:
    from plimsoll.recording import Recording

ENGINE = "plimsoll"
"""Name of the driver that a title does not name: our own engine."""


def title(recording: Recording) -> str:
    """A trial as people read it: `go · 2048 · steady · repetition 1`; a foreign driver is named."""
    by = "" if recording.driver_name == ENGINE else f" · {recording.driver_name}"
    return (
        f"{recording.title} · {recording.endpoint} · {load_name(recording)}{by} · "
        f"repetition {recording.repetition}"
    )


def anchor(*parts: str) -> str:
    """An anchor, also fit for a file name: letters, digits, dots and hyphens."""
    return "-".join(re.sub(r"[^A-Za-z0-9.]+", "-", part).strip("-") for part in parts)
