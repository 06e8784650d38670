"""Checks of bodies that several endpoints have."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_SHOWN = 300
"""So many characters of an expected body are in a message."""


def equal_as_json(expected: object) -> Callable[[bytes], str | None]:
    """A check that a body is equal to a value as JSON, whatever its spelling.

    Args:
        expected: The value, as `json.loads` has it.

    Returns:
        A function that returns one sentence about a wrong body, or None.
    """

    def check(body: bytes) -> str | None:
        try:
            stated: object = json.loads(body)
        except ValueError:
            return "the body is not JSON"
        if stated != expected:
            text = json.dumps(expected, ensure_ascii=False)
            shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
            return f"the body is not equal to `{shown}`"
        return None

    return check
