"""Written: a campaign as run, once more as a campaign file that runs the same."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

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
)
"""Amounts that a file leaves out where there are none."""

_PLAIN = re.compile(r"[A-Za-z0-9_-]+")
_NO_KEYS = ("message",)
"""What a load has that campaigns do not request."""

_OPEN_ONLY = ("arrivals", "connections", "tolerance_s")
_CLOSED_ONLY = ("think_time_s", "request_limit")


def as_toml(resolved: Mapping[str, Any]) -> str:
    """A campaign as run as TOML.

    Args:
        resolved: What `campaign.resolved` gave.
    """
    nested = ("loads", "limits", "line")
    lines = [*_pairs({key: value for key, value in resolved.items() if key not in nested})]
    line = resolved.get("line")
    if line:
        lines += ['kind = "line"', "", "[line]", *_pairs(line)]
    for check, limits in resolved.get("limits", {}).items():
        lines += ["", f"[limits.{_key(check)}]", *_pairs(limits)]
    for load in () if line else resolved.get("loads", ()):
        lines += ["", "[[load]]", *_load(load)]
    return "\n".join(lines) + "\n"


def _load(load: Mapping[str, Any]) -> Iterator[str]:
    of_other_model = _CLOSED_ONLY if load.get("model") == "open" else _OPEN_ONLY
    left_out = (*of_other_model, *_NO_KEYS, "stages")
    yield from _pairs({key: value for key, value in load.items() if key not in left_out})
    yield "stages = ["
    for stage in load.get("stages", ()):
        yield f"    {{ {', '.join(_pairs(_levels(stage)))} }},"
    yield "]"


def _levels(stage: Mapping[str, Any]) -> Mapping[str, Any]:
    """A stage with the keys of its kind: one level, or two with the steps between them."""
    if stage["kind"] == "ramp" or stage["start"] != stage["end"]:
        return stage
    named = {key: stage[key] for key in ("kind", "duration_s")}
    return {**named, "at": stage["start"]}


def _pairs(fields: Mapping[str, Any]) -> Iterator[str]:
    for name, value in fields.items():
        if value is None or name in _IMPLIED or (name in _ABSENT_AT_0 and not value):
            continue
        key = _NAMES.get(name, name.removesuffix("_s"))
        reported = f'"{value * 1000:.15g}ms"' if name.endswith("_s") else _value(value)
        yield f"{_key(key)} = {reported}"


def _key(name: str) -> str:
    """A key, in quotes where it is not a plain name: results may come from elsewhere."""
    return name if _PLAIN.fullmatch(name) else json.dumps(name)


def _value(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.15g}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, cast('Sequence[Any]', value)))}]"
    return json.dumps(value, ensure_ascii=False)
