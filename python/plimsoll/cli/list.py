"""`plimsoll list`: frameworks, drivers, endpoints and checks, and what is missing on this host."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from plimsoll import cli
from plimsoll.cli import json_output, options


@click.command(name="list")
@options.framework_names
@options.frameworks_root
@options.as_json
def command(names: tuple[str, ...], root: Path | None, as_json: bool) -> int:
    """List frameworks, campaigns, drivers, endpoints and checks, and what is missing here.

    With names: all details of these frameworks or tools, with variants, requirements and limits.
    """
    found = cli.listing.found(names, root)
    if names and not as_json:
        cli.listing.show_each([*found.tools, *found.frameworks])
        return found.code
    contract = cli.listing.contract(found.tools)
    if as_json:
        listed = {
            "frameworks": [asdict(one) for one in found.frameworks],
            "tools": [asdict(one) for one in found.tools],
            **asdict(contract),
        }
        json_output.show(listed, indent=1)
    else:
        cli.listing.show(found.frameworks, contract)
    return found.code
