"""What a shell offers while somebody types: frameworks, tools, campaigns and endpoints.

Names are found by looking at folders; no file is read, so that words come at once.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import click

CAMPAIGNS = Path("campaigns")
"""Folder whose campaigns are offered before anything is typed."""

OF_TOOLS = ("install", "list")
"""Verbs that take the names of tools, too."""

_NAMED = ("frameworks", "endpoints")


def frameworks(
    ctx: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Frameworks whose names begin with a word, but for those that stand there already.

    Tools, too, for a verb that takes them beside frameworks.
    """
    from plimsoll.campaign import tool  # noqa: PLC0415

    typed = ctx.params.get("names") or ()
    tools = tool.names() if ctx.info_name in OF_TOOLS else ()
    names = [*_frameworks(ctx), *tools]
    return _beginning(incomplete, [name for name in names if name not in typed])


def campaigns(
    _ctx: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Campaign files and folders whose paths begin with a word."""
    return [CompletionItem(path) for path in sorted(set(_campaigns(incomplete)))]


def settings(
    ctx: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Keys of `--set`, and the frameworks and endpoints that stand behind some of them."""
    key, equals, value = incomplete.partition("=")
    if not equals:
        return _beginning(incomplete, [f"{name}=" for name in (*_NAMED, "repetitions")])
    if key not in _NAMED:
        return []
    before, _, last = value.rpartition(",")
    start = f"{key}={before}," if before else f"{key}="
    names = _frameworks(ctx) if key == "frameworks" else _endpoints()
    return [CompletionItem(f"{start}{one.value}") for one in _beginning(last, names)]


def _frameworks(ctx: click.Context) -> list[str]:
    from plimsoll.campaign import framework  # noqa: PLC0415
    from plimsoll.errors import CampaignError  # noqa: PLC0415

    try:
        root = framework.locate(ctx.params.get("root"))
    except CampaignError:
        return []
    return [folder.name for folder in framework.find(root)]


def _endpoints() -> list[str]:
    from plimsoll.campaign.endpoints import ENDPOINTS  # noqa: PLC0415 - makes every body there is

    return [endpoint.name for endpoint in ENDPOINTS]


def _campaigns(incomplete: str) -> Iterator[str]:
    """TOML files and folders; before anything is typed, the campaigns where there is a folder."""
    folder = Path(incomplete if incomplete.endswith("/") else Path(incomplete).parent)
    if not incomplete and CAMPAIGNS.is_dir():
        folder = CAMPAIGNS
    for path in folder.glob("[!.]*"):
        if str(path).startswith(incomplete.removeprefix("./")):
            if path.is_dir():
                yield f"{path}/"
            elif path.suffix == ".toml":
                yield str(path)


def _beginning(word: str, names: Iterable[str]) -> list[CompletionItem]:
    return [CompletionItem(name) for name in names if name.startswith(word)]
