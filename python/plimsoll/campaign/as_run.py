"""A campaign as run: what was measured, with the settings of the command line and all defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from plimsoll.campaign.ladder_settings import LadderSettings
from plimsoll.campaign.line_settings import LineSettings

Document = Mapping[str, object]
"""What `campaign.resolved` gave, as it was stored."""


@dataclass(frozen=True)
class CampaignAsRun:
    """A campaign as run.

    Attributes:
        document: All of it, for people to read and to run again.
        name: Its name.
        seed: Its seed.
        until: Half the width of an interval at which a table needs no further block; 0 for a fixed
            number of blocks.
        budget_s: Time of all trials after which no further block begins, in seconds; 0 for none.
        line: What it searched; None for a campaign of another kind.
        ladder: What it measured; None for a campaign of another kind.
    """

    document: Document
    name: str = ""
    seed: int = 1
    until: float = 0.0
    budget_s: float = 0.0
    line: LineSettings | None = None
    ladder: LadderSettings | None = None


def read(document: Mapping[str, Any] | None) -> CampaignAsRun | None:
    """A campaign from its document.

    Args:
        document: What `campaign.resolved` gave, of this version or an earlier one; None where
            there was no campaign.
    """
    if document is None:
        return None
    line, ladder = document.get("line"), document.get("ladder")
    return CampaignAsRun(
        document,
        name=document.get("name", ""),
        seed=document.get("seed", CampaignAsRun.seed),
        until=document.get("until") or 0.0,
        budget_s=document.get("budget_s") or 0.0,
        line=LineSettings(**line) if line else None,
        ladder=_ladder(**ladder) if ladder else None,
    )


def _ladder(rates: list[float], shares: list[float], **others: Any) -> LadderSettings:
    return LadderSettings(tuple(rates), tuple(shares), **others)
