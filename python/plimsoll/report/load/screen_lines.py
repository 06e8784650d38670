"""Lines of a screen: with a name in front, broken between words, or cut."""

from __future__ import annotations

import re
import textwrap

from rich.text import Text

from plimsoll import texts

LABEL = 14
"""Columns that the name of a line has."""

_UNBROKEN = "\u00a0"
"""A space at which no line ends."""

_COUNT = re.compile(r"(?<=[a-z×]) (?=[\d,.]*\d(?:[,;.)]|$))")
_UNIT = re.compile(r"(?<=\d) (?=(?:[nµm]?s|min|[kMGT]?B|cores?|%)\b|%)")


def line(name: str, text: str, width: int, style: str) -> Text:
    """A line with its name in front; what is too long goes on below.

    Args:
        name: Its name.
        text: The text.
        width: Columns of the screen.
        style: Style of the text.
    """
    label = f"{name:<{LABEL}}  "
    line = Text(wrapped(f"{label}{text}", width, " " * len(label)))
    line.stylize(style, len(label))
    return line


def wrapped(text: str, width: int, indent: str = "") -> str:
    """A text broken into lines between words; a number stays with its unit, or what it counts.

    Args:
        text: The text.
        width: Columns of the screen.
        indent: What every line but the first begins with.
    """
    bound = _COUNT.sub(_UNBROKEN, _UNIT.sub(_UNBROKEN, texts.line(text)))
    lines = textwrap.wrap(
        bound, width, subsequent_indent=indent, drop_whitespace=True, break_on_hyphens=False
    )
    return "\n".join(lines).replace(_UNBROKEN, " ")


def cut(text: str, width: int) -> str:
    """A text in one line; what is too long is left out."""
    return text if len(text) <= width else f"{text[: width - 1]}…"
