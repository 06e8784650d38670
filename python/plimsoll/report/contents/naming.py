"""How parts of a report are named: titles for people, anchors for links and files."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

from plimsoll.findings.trial import load_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.findings.findings import Findings
    from plimsoll.plan import ComparedTable
    from plimsoll.recording import Recording

TARGET = "target"
"""What was measured by a load or a line, which is no campaign of frameworks."""

ENGINE = "plimsoll"
"""Name of the driver that a title does not name: our own engine."""

LONGEST_ANCHOR = 120
"""The most characters of an anchor before its digest: file systems allow 255, with what follows."""

DIGEST_DIGITS = 8
"""Digits of the digest that an anchor ends in."""

_OTHER_CHARACTERS = re.compile(r"[^A-Za-z0-9._-]+")


def title(recording: Recording) -> str:
    """A trial as people read it: `go · 2048 · steady · repetition 1`; a foreign driver is named."""
    by = "" if recording.driver_name == ENGINE else f" · {recording.driver_name}"
    return (
        f"{recording.title} · {recording.endpoint} · {load_name(recording)}{by} · "
        f"repetition {recording.repetition}"
    )


def subject(findings: Findings) -> str:
    """What was measured: frameworks of a campaign, or the one target of a load."""
    is_target = findings.as_run is None and len(findings.frameworks) == 1
    return TARGET if is_target else "framework"


def parts(
    table: ComparedTable, tables: Sequence[ComparedTable], always: tuple[int, ...] = (0,)
) -> list[str]:
    """What a table is called beside others: its endpoint, and load and driver where several are.

    Args:
        table: The table.
        tables: Every table.
        always: Places of what is named always.
    """
    each = [{one[place] for one in tables} for place in range(len(table))]
    return [name for place, name in enumerate(table) if place in always or len(each[place]) > 1]


def anchor(*parts: str) -> str:
    """An anchor, also fit for a file name: letters, digits, dots, underscores and hyphens.

    Parts that are long or have other characters end in a digest of all of them, so that two of them
    never share an anchor: `/a?b` and `/a/b`, or URLs that differ in their last parameter.
    """
    name = "-".join(_OTHER_CHARACTERS.sub("-", part).strip("-") for part in parts)
    if name == "-".join(parts) and len(name) <= LONGEST_ANCHOR:
        return name
    digest = hashlib.sha256("\0".join(parts).encode(errors="surrogatepass")).hexdigest()
    return f"{name[:LONGEST_ANCHOR]}-{digest[:DIGEST_DIGITS]}"
