"""How many examples a property is shown: few for every change, at least ten times as many later."""

from __future__ import annotations

from typing import Any

from hypothesis import settings

USUAL, MANY = 50, 1000
"""Examples of a property that does not say how many it needs: for every change, and thoroughly."""

TIMES = 10
"""How many times more those are thoroughly that say how many they need."""


def register(**options: Any) -> None:
    """Registers the profiles `plimsoll` and, for `--hypothesis-profile`, `thorough`."""
    # How long an example takes is not judged: the machine may be shared.
    settings.register_profile("plimsoll", deadline=None, max_examples=USUAL, **options)
    settings.register_profile("thorough", deadline=None, max_examples=MANY)
    settings.load_profile("plimsoll")


def some(few: int, **options: Any) -> settings:
    """Settings of a property whose examples are dear."""
    is_thorough = settings().max_examples == MANY
    return settings(max_examples=few * (TIMES if is_thorough else 1), **options)
