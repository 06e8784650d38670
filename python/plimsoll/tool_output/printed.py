"""Printed: what tools print as JSON, value by value; what is missing is reported."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from plimsoll.errors import InputError, Problem

Json = Mapping[str, Any]


def by_name(names: Sequence[str], values: Sequence[float | None] | None) -> dict[str, float | None]:
    """Values of a line under their names; none where there is no such line."""
    return dict(zip(names, values or (), strict=False))


def present(times: Mapping[str, float | None]) -> dict[str, float]:
    """The times that were printed."""
    return {name: value for name, value in times.items() if value is not None}


def some(counts: Mapping[str, float | None]) -> dict[str, float]:
    """The counts that are not 0."""
    return {name: value for name, value in counts.items() if value}


def has_keys(text: str, *keys: str) -> bool:
    """Whether a text looks like a JSON object with these keys; it may be cut off."""
    return text.lstrip()[:1] == "{" and all(f'"{key}"' in text for key in keys)


@functools.lru_cache(maxsize=2)
def parsed(text: str, name: str, tool: str) -> Json:
    """A JSON object.

    Raises:
        InputError: It is none; with line and column.
    """
    try:
        document = json.loads(text, parse_int=float)
    except json.JSONDecodeError as error:
        message = f"looks like JSON of {tool} but is malformed or truncated: {error.msg}"
        where = f"{name}:{error.lineno}:{error.colno}"
        raise InputError([Problem(where, message, "give the complete file")]) from error
    except RecursionError as error:
        message = f"looks like JSON of {tool} but its values are nested too deeply"
        raise InputError([Problem(name, message, "give the file exactly as written")]) from error
    if isinstance(document, dict):
        return cast("Json", document)
    raise InputError([Problem(name, f"is JSON but not an object, as {tool} writes")])


def at(document: Json, path: str, name: str, tool: str) -> float | None:
    """A number in a JSON object; None when it is absent or null.

    Args:
        document: The object.
        path: Keys with `/` between them: `summary/total`.
        name: Name of the file.
        tool: Name of the tool.

    Raises:
        InputError: What stands there is no number.
    """
    value: Any = document
    for key in path.split("/"):
        value = cast("Json", value).get(key) if isinstance(value, Mapping) else None
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
        return value
    message = f"`{path.replace('/', '.')}` of {tool} must be a number, not `{str(value)[:40]}`"
    raise InputError([Problem(name, message)])


def must(document: Json, path: str, name: str, tool: str) -> float:
    """The same, where it must stand.

    Raises:
        InputError: It is absent, null, or no number.
    """
    value = at(document, path, name, tool)
    if value is None:
        message = f"looks like JSON of {tool} but has no `{path.replace('/', '.')}`"
        raise InputError([Problem(name, message, "give the complete file")])
    return value


def table(document: Json, key: str) -> Json:
    """An object in a JSON object; empty when there is none."""
    value = document.get(key)
    return dict(cast("Json", value)) if isinstance(value, Mapping) else {}


def counts(document: Json, key: str) -> dict[str, float]:
    """Numbers by name in a JSON object; what is no number is left out."""
    return {
        name: float(value)
        for name, value in table(document, key).items()
        if isinstance(value, int | float)
    }


def not_2xx_or_3xx(statuses: Mapping[str, float]) -> dict[str, float]:
    """Of responses by status those that are neither 2xx nor 3xx, under names like `status 500`."""
    return {
        f"status {status}": count
        for status, count in statuses.items()
        if count and status[:1] not in ("2", "3")
    }
