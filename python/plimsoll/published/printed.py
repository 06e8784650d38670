"""Printed: numbers as tools print them, found in their text or JSON; what lacks is told."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, cast

from plimsoll.errors import CampaignError, Problem

Json = Mapping[str, Any]

_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_MULTIPLES = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9}
_BYTES = {"B": 1.0, "KB": 2.0**10, "MB": 2.0**20, "GB": 2.0**30, "TB": 2.0**40}
_QUANTITY = re.compile(r"([\d.]+)\s*([A-Za-zµ]*)")


def seconds(text: str) -> float | None:
    """A length of time: `438.06us`, `1.2ms`, `2.00s`; None when it is none, such as `-nanus`."""
    return _scaled(text, _SECONDS)


def number(text: str) -> float | None:
    """A number that may have a multiple: `4.53k`; None when it is none, such as `nan`."""
    return _scaled(text, _MULTIPLES)


def size(text: str) -> float | None:
    """A number of bytes, with multiples of 1024: `25.91MB`; None when it is none."""
    return _scaled(text, _BYTES)


def _scaled(text: str, units: Mapping[str, float]) -> float | None:
    match = _QUANTITY.fullmatch(text.strip())
    if match is None or match[2] not in units or match[1].count(".") > 1 or match[1] == ".":
        return None
    return float(match[1]) * units[match[2]]


def found(pattern: str, text: str) -> float | None:
    """The number that the first group of a pattern finds, line by line; None when there is none."""
    match = re.search(pattern, text, re.MULTILINE)
    return None if match is None else number(match[1].replace(",", ""))


def runs(pattern: str, text: str) -> Iterator[tuple[str, str]]:
    """The runs in an output that may hold several, each with its place in the file.

    Args:
        pattern: What a run begins with.
        text: Output of the tool.

    Yields:
        The text of a run, and its line; an empty place where there is only one.
    """
    starts = [match.start() for match in re.finditer(pattern, text, re.MULTILINE)]
    for start, end in pairwise([*starts, len(text)]):
        line = text.count("\n", 0, start) + 1
        yield text[start:end], f"line {line}" if len(starts) > 1 else ""


def needed(pattern: str, text: str, what: str, name: str, tool: str) -> str:
    """What the first group of a pattern finds, line by line.

    Args:
        pattern: The pattern.
        text: Output of the tool.
        what: What is looked for, as the tool calls it.
        name: Name of the file.
        tool: Name of the tool.

    Raises:
        CampaignError: It is not there; the last line that is there is told.
    """
    match = re.search(pattern, text, re.MULTILINE)
    if match is not None:
        return match[1]
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    last = len(text.rstrip().splitlines())
    message = (
        f"looks like the output of {tool} but has no `{what}`; it ends with `{lines[-1][:80]}`"
    )
    raise CampaignError([Problem(f"{name}:{last}", message, "give the whole output of the tool")])


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
        CampaignError: It is none; with line and column.
    """
    try:
        document = json.loads(text, parse_int=float)
    except json.JSONDecodeError as error:
        message = f"looks like JSON of {tool} but is broken or cut off: {error.msg}"
        where = f"{name}:{error.lineno}:{error.colno}"
        raise CampaignError([Problem(where, message, "give the whole file")]) from error
    if isinstance(document, dict):
        return cast("Json", document)
    raise CampaignError([Problem(name, f"is JSON but no object, as that of {tool} is")])


def at(document: Json, path: str, name: str, tool: str) -> float | None:
    """A number in a JSON object; None when it is absent or null.

    Args:
        document: The object.
        path: Keys with `/` between them: `summary/total`.
        name: Name of the file.
        tool: Name of the tool.

    Raises:
        CampaignError: What stands there is no number.
    """
    value: Any = document
    for key in path.split("/"):
        value = cast("Json", value).get(key) if isinstance(value, Mapping) else None
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
        return value
    message = f"`{path.replace('/', '.')}` of {tool} must be a number, not `{str(value)[:40]}`"
    raise CampaignError([Problem(name, message)])


def must(document: Json, path: str, name: str, tool: str) -> float:
    """The same, where it must stand.

    Raises:
        CampaignError: It is absent, null, or no number.
    """
    value = at(document, path, name, tool)
    if value is None:
        message = f"looks like JSON of {tool} but has no `{path.replace('/', '.')}`"
        raise CampaignError([Problem(name, message, "give the whole file")])
    return value


def table(document: Json, key: str) -> dict[str, Any]:
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
    """Of answers by status those that are neither 2xx nor 3xx, under names like `status 500`."""
    return {
        f"status {status}": count
        for status, count in statuses.items()
        if count and status[:1] not in ("2", "3")
    }
