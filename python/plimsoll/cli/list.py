"""`plimsoll list`: what there is, and what runs here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from plimsoll.campaign import framework as frameworks
from plimsoll.campaign.endpoints import ENDPOINTS
from plimsoll.cli import options
from plimsoll.conduct import commands
from plimsoll.conduct.install import is_built
from plimsoll.conduct.requirements import missing, spoken
from plimsoll.errors import FrameworkError
from plimsoll.verdicts.limits import LIMITS

if TYPE_CHECKING:
    from plimsoll.campaign.framework import Framework


@click.command(name="list")
@options.frameworks_root
@options.as_json
def command(root: Path | None, as_json: bool) -> int:
    """Frameworks, endpoints and checks; what runs here and what is missing for the rest."""
    found = {
        "frameworks": [_framework(framework) for framework in _every(frameworks.locate(root))],
        "endpoints": [{"name": one.name, "summary": one.summary} for one in ENDPOINTS],
        "checks": sorted({limit.check for limit in LIMITS}),
    }
    if as_json:
        click.echo(json.dumps(found, indent=1))
    else:
        _print(found)
    return 0


def _every(root: Path) -> list[Framework]:
    return [framework for folder in frameworks.find(root) for framework in frameworks.read(folder)]


def _framework(framework: Framework) -> dict[str, Any]:
    status, why = _status(framework)
    return {
        "name": framework.reference,
        "language": framework.language,
        "version": _version(framework) if status == "ready" else None,
        "status": status,
        "why": why,
        "endpoints": list(framework.endpoints),
        "not_implemented": framework.not_implemented,
        "notes": list(framework.notes),
        "site": framework.site,
    }


def _status(framework: Framework) -> tuple[str, str]:
    needs = missing(framework)
    if any(need.kind != "apt" for need in needs):
        return "not available", f"needs {', '.join(spoken(need) for need in needs)}"
    if needs or not is_built(framework):
        return "needs install", f"`plimsoll install {framework.reference}`"
    return "ready", ""


def _version(framework: Framework) -> str | None:
    try:
        return commands.version(framework) or None
    except FrameworkError:
        return None


def _print(found: dict[str, Any]) -> None:
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("framework", no_wrap=True)
    for heading in ("language", "version", "status", "endpoints"):
        table.add_column(heading, overflow="fold")
    for one in found["frameworks"]:
        left_out = len(one["not_implemented"])
        served = f"{len(one['endpoints'])}, without {left_out}" if left_out else "all"
        status = f"{one['status']}: {one['why']}" if one["why"] else one["status"]
        table.add_row(one["name"], one["language"], one["version"] or "–", status, served)
    console = Console(highlight=False)
    console.print(table)
    console.print("\n[bold]endpoints[/bold]")
    endpoints = Table.grid(padding=(0, 2))
    for endpoint in found["endpoints"]:
        endpoints.add_row(Text(endpoint["name"]), Text(endpoint["summary"]))
    console.print(endpoints)
    console.print("\n[bold]checks[/bold]")
    console.print(" ".join(found["checks"]))
