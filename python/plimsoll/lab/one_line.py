"""`repr()` of results: one line with what a reader wants to know first."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from plimsoll import texts
from plimsoll.errors import PlimsollError

if TYPE_CHECKING:
    from collections.abc import Callable


def shown(result: object, describe: Callable[[], str]) -> str:
    """The class of a result and its description, as `<LineResult …>`.

    Args:
        result: The result.
        describe: Describes it in one line. Where its rows cannot be read, the error is shown:
            `repr()` raises nothing.
    """
    try:
        return texts.object_line(result, describe())
    except PlimsollError as error:
        return texts.object_line(result, error.message, in_middle=True)


def as_html(result: object, draw: Callable[[], str]) -> str:
    """What a notebook shows of a result.

    Args:
        result: The result.
        draw: Draws it. Where its rows cannot be read, its `repr()` is shown: a cell raises nothing.
    """
    try:
        return draw()
    except PlimsollError:
        return f"<pre>{html.escape(repr(result))}</pre>"
