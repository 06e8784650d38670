"""A campaign as run, written as a campaign file that runs the same."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from plimsoll.campaign.as_run import Document

_NAMES = {
    "drivers": "driver",
    "body_sample_ratio": "body_sample",
    "turn_s": "turns",
    "start": "from",
    "end": "to",
}
"""Fields whose key in a file is another one."""

_IMPLIED = ("drivers_optional",)
"""Fields that follow from others."""

_ABSENT_AT_0 = (
    *("until", "budget_s", "turn_s", "think_time_s", "tolerance_s", "follow", "idle_s", "power"),
    *("rates", "shares"),
)
"""What a file leaves out where there is none."""

_KINDS = ("line", "ladder")
"""Kinds of campaigns whose loads follow from a table of the same name."""

_PLAIN = re.compile(r"[A-Za-z0-9_-]+")
_NO_KEYS = ("message", "events")
"""What a load has that campaigns do not request."""

_OPEN_ONLY = ("arrivals", "connections", "tolerance_s")
_CLOSED_ONLY = ("think_time_s", "request_limit")


def as_toml(resolved: Document) -> str:
    """A campaign as run as TOML.

    Args:
        resolved: What `campaign.resolved` gave.
    """
    nested = ("loads", "limits", *_KINDS)
    lines = [*_pairs({key: value for key, value in resolved.items() if key not in nested})]
    if resolved.get("ladder") and not resolved.get("idle_s"):
        lines.append('idle = "0s"')  # a ladder has a time without load by default
    followed = [kind for kind in _KINDS if resolved.get(kind)]
    for kind in followed:
        lines += [f'kind = "{kind}"', "", f"[{kind}]", *_pairs(_table(resolved[kind]))]
    for check, limits in _table(resolved.get("limits", {})).items():
        lines += ["", f"[limits.{_key(check)}]", *_pairs(_table(limits))]
    for load in () if followed else _tables(resolved.get("loads", ())):
        lines += ["", "[[load]]", *_load(load)]
    return "\n".join(lines) + "\n"


def _table(value: object) -> Document:
    return cast("Document", value)


def _tables(value: object) -> Sequence[Document]:
    return cast("Sequence[Document]", value)


def _load(load: Document) -> Iterator[str]:
    of_other_model = _CLOSED_ONLY if load.get("model") == "open" else _OPEN_ONLY
    left_out = (*of_other_model, *_NO_KEYS, "stages")
    yield from _pairs({key: value for key, value in load.items() if key not in left_out})
    yield "stages = ["
    for stage in _tables(load.get("stages", ())):
        yield f"    {{ {', '.join(_pairs(_levels(stage)))} }},"
    yield "]"


def _levels(stage: Document) -> Document:
    """A stage with the keys of its kind: one level, or two with the steps between them."""
    if stage["kind"] == "ramp" or stage["start"] != stage["end"]:
        return stage
    named = {key: stage[key] for key in ("kind", "duration_s")}
    return {**named, "at": stage["start"]}


def _pairs(fields: Document) -> Iterator[str]:
    for name, value in fields.items():
        if value is None or name in _IMPLIED or (name in _ABSENT_AT_0 and not value):
            continue
        key = _NAMES.get(name, name.removesuffix("_s"))
        if name.endswith("_s") and isinstance(value, int | float):
            yield f'{_key(key)} = "{value * 1000:.15g}ms"'
        else:
            yield f"{_key(key)} = {_value(value)}"


def _key(name: str) -> str:
    """A key, in quotes where it is not a plain name: results may come from elsewhere."""
    return name if _PLAIN.fullmatch(name) else json.dumps(name)


def _value(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.15g}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, cast('Sequence[object]', value)))}]"
    return json.dumps(value, ensure_ascii=False)
