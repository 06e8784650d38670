"""A campaign as run: what was measured, with the settings of the command line and all defaults."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plimsoll.campaign.ladder_settings import LadderSettings
from plimsoll.campaign.line_settings import LineSettings
from plimsoll.campaign.set_values import SetValue

Document = Mapping[str, object]
"""What `campaign.resolved` gave, as it was stored."""

_SETTINGS = "settings"
"""Key of what `--set` gave in the stored document."""


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
        settings: What `--set` was given, as typed.
        set_values: The values that these changed.
    """

    document: Document
    name: str = ""
    seed: int = 1
    until: float = 0.0
    budget_s: float = 0.0
    line: LineSettings | None = None
    ladder: LadderSettings | None = None
    settings: tuple[str, ...] = ()
    set_values: tuple[SetValue, ...] = ()


def with_settings(
    document: Document, settings: Sequence[str], set_values: Iterable[SetValue]
) -> Document:
    """A campaign's document with what `--set` gave, as `read` takes it.

    Args:
        document: What `campaign.resolved` gave.
        settings: Settings as typed.
        set_values: The values that these changed.
    """
    changed = [{"path": [*one.path], "before": one.before} for one in set_values]
    return {**document, _SETTINGS: {"typed": [*settings], "changed": changed}}


def read(document: Mapping[str, Any] | None) -> CampaignAsRun | None:
    """A campaign from its document.

    Args:
        document: What `with_settings` gave, of this version or an earlier one; None where there
            was no campaign.
    """
    if document is None:
        return None
    line, ladder = document.get("line"), document.get("ladder")
    settings = document.get(_SETTINGS) or {"typed": (), "changed": ()}
    return CampaignAsRun(
        {key: value for key, value in document.items() if key != _SETTINGS},
        name=document.get("name", ""),
        seed=document.get("seed", CampaignAsRun.seed),
        until=document.get("until") or 0.0,
        budget_s=document.get("budget_s") or 0.0,
        line=LineSettings(**{"server_warm_up_s": 0.0} | line) if line else None,
        ladder=_ladder(**ladder) if ladder else None,
        settings=tuple(settings["typed"]),
        set_values=tuple(
            SetValue(tuple(one["path"]), one["before"]) for one in settings["changed"]
        ),
    )


def _ladder(rates: list[float], shares: list[float], **others: Any) -> LadderSettings:
    return LadderSettings(tuple(rates), tuple(shares), **others)
