"""The campaign as run: JSON, in which a comment marks each value that `--set` gave."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plimsoll.campaign.lines import KeyPath
    from plimsoll.findings.findings import Findings

AS_RUN = "Campaign as run"
"""Heading of the campaign with the settings of the command line and every default."""


def as_run(findings: Findings) -> str:
    """The campaign as run; empty where there was no campaign file."""
    found = findings.as_run
    if found is None:
        return ""
    before = {one.path: one.before for one in found.set_values}
    lines: list[tuple[str, str]] = []
    text = json.dumps(_marked(found.document, (), before, lines), indent=2)
    for place, (value, comment) in enumerate(lines):
        for comma in (",", ""):
            mark = f"{json.dumps(_mark(place))}{comma}"
            text = text.replace(mark, f"{value}{comma}  // {comment}")
    return text


def _mark(place: int) -> str:
    """What stands for a value until the text is made."""
    return f"\0{place}"


def _marked(
    value: object, path: KeyPath, before: Mapping[KeyPath, object], lines: list[tuple[str, str]]
) -> object:
    """The value with marks instead of what was set; `lines` gets their texts and comments."""
    if path in before:
        lines.append((json.dumps(value), f"--set; before: {json.dumps(before[path])}"))
        return _mark(len(lines) - 1)
    if isinstance(value, dict):
        table = cast("Mapping[str, object]", value)
        return {key: _marked(one, (*path, key), before, lines) for key, one in table.items()}
    if isinstance(value, list | tuple):
        items = enumerate(cast("list[object]", value))
        return [_marked(one, (*path, place), before, lines) for place, one in items]
    return value
