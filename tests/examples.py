"""How many examples a property is shown: few for every change, ten times as many thoroughly."""

from __future__ import annotations

from typing import Any

from hypothesis import settings

USUAL, TIMES = 100, 10
"""Examples of a property that does not say how many it needs, and how many times more are many."""


def register(**options: Any) -> None:
    """Registers the profiles `plimsoll` and, for `--hypothesis-profile`, `thorough`."""
    # How long an example takes is not judged: the machine may be shared.
    settings.register_profile("plimsoll", deadline=None, max_examples=USUAL, **options)
    settings.register_profile("thorough", deadline=None, max_examples=TIMES * USUAL)
    settings.load_profile("plimsoll")


def some(few: int, **options: Any) -> settings:
    """Settings of a property whose examples are dear."""
    return settings(max_examples=few * settings().max_examples // USUAL, **options)
