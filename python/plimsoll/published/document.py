"""A file of published figures, read completely."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass

from plimsoll.errors import InputError, Problem
from plimsoll.published import claims, counterparts
from plimsoll.published.claims import Claim
from plimsoll.published.counterparts import Counterparts
from plimsoll.tool_output.readers import table
from plimsoll.tool_output.reported import ReportedStatistics


@dataclass(frozen=True)
class Document:
    """One publication.

    Attributes:
        title: Its title.
        address: Its URL; empty if unknown.
        figures: Its results.
        claims: Its claims about them.
        here: Counterparts of its servers in this repository.
        left_out: Figures of the document that are not in the file.
    """

    title: str
    address: str
    figures: tuple[ReportedStatistics, ...]
    claims: tuple[Claim, ...]
    here: Counterparts
    left_out: tuple[str, ...] = ()


def read(text: str, name: str) -> Document:
    """A file of published figures.

    Args:
        text: The file, as TOML.
        name: Its name, for places in messages.

    Raises:
        InputError: It is another kind of file, or has mistakes.
    """
    top = tomllib.loads(text)
    if not top.get("result"):
        hint = "see docs/audit.md for the format of published figures"
        raise InputError([Problem(name, "has no `[[result]]`", hint)])
    return Document(
        title=str(top.get("title", name)),
        address=str(top.get("address", "")),
        figures=table.read(text, name),
        claims=claims.read(text, name),
        here=counterparts.read(text, name),
        left_out=tuple(map(str, top.get("left_out", ()))),
    )
