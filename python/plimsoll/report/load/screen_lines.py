"""Lines of a screen: with a name in front, broken between words, or cut."""

from __future__ import annotations

from rich.text import Text

from plimsoll.report.wrapping import wrapped

LABEL = 14
"""Columns that the name of a line has."""


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


def cut(text: str, width: int) -> str:
    """A text in one line; what is too long is left out."""
    return text if len(text) <= width else f"{text[: width - 1]}…"
