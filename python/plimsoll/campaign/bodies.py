"""Checks of bodies that several endpoints have."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Callable

_SHOWN = 300
"""So many characters of an expected body are in a message."""


def decoded(body: bytes) -> object:
    """A body as `json.loads` has it.

    Args:
        body: What a server sent.

    Raises:
        ValueError: It cannot be read; its text is one sentence about that.
    """
    try:
        return json.loads(body)
    except RecursionError:
        message = "the body is JSON that is nested too deeply"
    except ValueError:
        message = "the body is not JSON"
    raise ValueError(message)


def equal_as_json(expected: object) -> Callable[[bytes], str | None]:
    """A check that a body is equal to a value as JSON, whatever its spelling.

    `1` and `1.0` are spellings of one number, since JavaScript writes both alike; `true` is none.

    Args:
        expected: The value, as `json.loads` has it.

    Returns:
        A function that returns one sentence about a wrong body, or None.
    """

    def check(body: bytes) -> str | None:
        try:
            stated = decoded(body)
        except ValueError as error:
            return str(error)
        if not _are_equal(stated, expected):
            text = json.dumps(expected, ensure_ascii=False)
            shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
            return f"the body is not equal to `{shown}`"
        return None

    return check


def _are_equal(stated: object, expected: object) -> bool:
    """Whether two values are equal in JSON, unlike in Python, where `True` is 1."""
    if isinstance(stated, dict) and isinstance(expected, dict):
        members = cast("dict[str, object]", stated)
        wanted = cast("dict[str, object]", expected)
        return members.keys() == wanted.keys() and all(
            _are_equal(members[name], value) for name, value in wanted.items()
        )
    if isinstance(stated, list) and isinstance(expected, list):
        both = cast("list[object]", stated), cast("list[object]", expected)
        return len(both[0]) == len(both[1]) and all(map(_are_equal, *both))
    return isinstance(stated, bool) == isinstance(expected, bool) and stated == expected
