"""Shell completion of frameworks, tools, campaigns and endpoints.

Names come from folder listings; no file is read, which keeps completion fast.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from click.shell_completion import CompletionItem

from plimsoll.campaign import framework, places, tool
from plimsoll.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import click

OF_TOOLS = ("install", "list")
"""Verbs that also take names of tools."""

_NAMED = ("frameworks", "endpoints")


def frameworks(
    ctx: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Frameworks that start with a word, except those already typed.

    Includes tools, for verbs that take them.
    """
    typed = ctx.params.get("names") or ()
    tools = tool.names() if ctx.info_name in OF_TOOLS else ()
    names = [*_frameworks(ctx), *tools]
    return _beginning(incomplete, [name for name in names if name not in typed])


def campaigns(
    _ctx: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Campaigns whose names, and files and folders whose paths, begin with a word.

    Before anything is typed, names only.
    """
    paths = sorted(set(_files(incomplete))) if incomplete else []
    return [*_beginning(incomplete, places.campaigns()), *map(CompletionItem, paths)]


def settings(
    ctx: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Keys of `--set`, and their values where these are frameworks or endpoints."""
    key, equals, value = incomplete.partition("=")
    if not equals:
        return _beginning(incomplete, [f"{name}=" for name in (*_NAMED, "repetitions")])
    if key not in _NAMED:
        return []
    before, _, last = value.rpartition(",")
    start = f"{key}={before}," if before else f"{key}="
    names = _frameworks(ctx) if key == "frameworks" else _endpoints()
    return [CompletionItem(f"{start}{one.value}") for one in _beginning(last, names)]


def endpoints(
    _ctx: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Endpoints of the contract; each of several, which commas separate, is completed."""
    before, comma, last = incomplete.rpartition(",")
    return [CompletionItem(f"{before}{comma}{one.value}") for one in _beginning(last, _endpoints())]


def _frameworks(ctx: click.Context) -> list[str]:
    try:
        root = framework.search(ctx.params.get("root"))
    except InputError:
        return []
    return [*framework.names(root)]


def _endpoints() -> list[str]:
    from plimsoll.campaign.endpoints import ENDPOINTS  # noqa: PLC0415 - makes every body there is

    return [endpoint.name for endpoint in ENDPOINTS]


def _files(incomplete: str) -> Iterator[str]:
    """TOML files and folders."""
    folder = Path(incomplete if incomplete.endswith("/") else Path(incomplete).parent)
    for path in folder.glob("[!.]*"):
        if str(path).startswith(incomplete.removeprefix("./")):
            if path.is_dir():
                yield f"{path}/"
            elif path.suffix == ".toml":
                yield str(path)


def _beginning(word: str, names: Iterable[str]) -> list[CompletionItem]:
    return [CompletionItem(name) for name in names if name.startswith(word)]
