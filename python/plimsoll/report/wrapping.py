"""Sentences broken into lines, with numbers beside what they count."""

from __future__ import annotations

import re

from plimsoll import texts, wording

_BEFORE_COUNT = re.compile(r"(?<=[a-z×]) (?=[\d,.]*\d(?:[,;.)]|$))")


def wrapped(text: str, width: int, indent: str = "") -> str:
    """A text broken into lines between words, as `texts.wrapped`.

    A number stays with its unit, and with what it counts.
    """
    counted = _BEFORE_COUNT.sub("\u00a0", texts.line(text))
    return texts.wrapped(wording.bound(counted), width, indent)
