"""Readers: one module each, `recognises(text)` and `read(text, name)` give figures.

No reader knows another. What an output does not say stays None; what a reader adds because it is
true of the tool stands in the notes.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, cast

from plimsoll.errors import CampaignError, Problem
from plimsoll.published.readers import (
    ab,
    autocannon,
    fortio,
    h2load,
    hey,
    k6,
    oha,
    table,
    techempower,
    vegeta,
    wrk,
    wrk2,
)

if TYPE_CHECKING:
    from plimsoll.published.figures import Figures

READERS = (
    wrk,
    wrk2,
    ab,
    hey,
    h2load,
    oha,
    k6,
    autocannon,
    vegeta,
    fortio,
    techempower,
    table,
)
"""Every reader; the first that recognises a text reads it."""

MOST = 1e18
"""No figure of a load test is as great."""


def read(text: str, name: str) -> tuple[Figures, ...]:
    """The results in a text.

    Args:
        text: What a tool printed, or a table of published figures.
        name: Name of the file, for messages and sources.

    Returns:
        At least one.

    Raises:
        CampaignError: No reader recognises it, or it is broken; with the place.
    """
    reader = next((one for one in READERS if one.recognises(text)), None)
    if reader is None:
        raise CampaignError([Problem(name, _unknown(text), f"what can be read: {known()}")])
    try:
        found = reader.read(text, name)
    except (ValueError, TypeError, AttributeError, KeyError, OverflowError) as error:
        message = f"looks like {reader.TITLE} but something in it is not what it should be: {error}"
        raise CampaignError(
            [Problem(name, message, "give the output as it was printed")]
        ) from error
    if not found:
        raise CampaignError([Problem(name, f"looks like {reader.TITLE} but holds no result")])
    for one in found:
        _require_sense(one, reader.TITLE, name)
    return found


def _require_sense(figures: Figures, title: str, name: str) -> None:
    """Refuses numbers that nothing can be worked out with: negative, endless or no number at all.

    Raises:
        CampaignError: There is one.
    """
    for key, value in dataclasses.asdict(figures).items():
        held = cast("dict[str, object]", value) if isinstance(value, dict) else {"": value}
        for inner, number in held.items():
            if isinstance(number, int | float) and not 0 <= number < MOST:
                where = f"{key}.{inner}" if inner else key
                message = f"looks like {title} but `{where}` would be {number:.3g}"
                raise CampaignError([Problem(name, message, "give the output as it was printed")])


def known() -> str:
    """What can be read, as a list."""
    return "; ".join(reader.TITLE for reader in READERS)


def _unknown(text: str) -> str:
    if not text.strip():
        return "is empty"
    first = next(line.strip() for line in text.splitlines() if line.strip())
    return f"is nothing that can be read here; it begins with `{first[:60]}`"
