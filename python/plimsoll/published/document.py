"""A document: everything in a file of published figures, read at once."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass

from plimsoll.errors import CampaignError, Problem
from plimsoll.published import claims, counterparts
from plimsoll.published.claims import Claim
from plimsoll.published.counterparts import Counterparts
from plimsoll.published.figures import Figures
from plimsoll.published.readers import table


@dataclass(frozen=True)
class Document:
    """One publication.

    Attributes:
        title: Its title.
        address: Where it is to be had; empty when nobody said.
        figures: Its results.
        claims: What it says of them.
        here: What is measured here in place of its servers.
        left_out: What it has and the file has not.
    """

    title: str
    address: str
    figures: tuple[Figures, ...]
    claims: tuple[Claim, ...]
    here: Counterparts
    left_out: tuple[str, ...] = ()


def read(text: str, name: str) -> Document:
    """A file of published figures.

    Args:
        text: The file, as TOML.
        name: Its name, for places in messages.

    Raises:
        CampaignError: It is no such file, or something in it is wrong.
    """
    top = tomllib.loads(text)
    if not top.get("result"):
        hint = "docs/audit.md shows how published figures are written down"
        raise CampaignError([Problem(name, "has no `[[result]]`, so nothing was published", hint)])
    return Document(
        title=str(top.get("title", name)),
        address=str(top.get("address", "")),
        figures=table.read(text, name),
        claims=claims.read(text, name),
        here=counterparts.read(text, name),
        left_out=tuple(map(str, top.get("left_out", ()))),
    )
