"""`plimsoll check`: verify every endpoint of a framework, without load."""

from __future__ import annotations

from pathlib import Path

import click

import plimsoll
from plimsoll import cli
from plimsoll.campaign import places
from plimsoll.cli import json_output, messages, options
from plimsoll.errors import FrameworkError
from plimsoll.texts import shown

SEED = 1


@click.command(name="check")
@options.framework_names
@click.option(
    "--endpoints",
    metavar="NAMES",
    shell_complete=options.completed("endpoints"),
    help="Endpoints of the contract, as `json,empty`.  [default: all it serves]",
)
@click.option("--seed", default=SEED, show_default=True, help="Seed of the random request values.")
@click.option("--full", is_flag=True, help="Show every violation and complete requests.")
@click.option(
    "--compliance",
    is_flag=True,
    help="Also send requests that few clients send, and compare with RFC 9110 and 9112.",
)
@options.available
@options.frameworks_root
@options.as_json
def command(
    names: tuple[str, ...],
    endpoints: str | None,
    seed: int,
    full: bool,
    compliance: bool,
    available: bool,
    root: Path | None,
    as_json: bool,
) -> int:
    """Start each framework, verify its endpoints and stop it, without load.

    Each violation is shown with the request, the response and the rule of the contract. The
    listen backlog and a clean stop are checked too. Endpoints that use a database are skipped where
    PostgreSQL is not installed. A `version` command that fails is named, and fails no check.

    With `--compliance`, a second start of each framework gets requests in fragments, with
    conflicting lengths and the like. What differs from the RFCs is shown, and fails no check.
    """
    listener = cli.checking.quietly if as_json else cli.checking.CheckPrinter(full)
    result = plimsoll.check(
        *names,
        endpoints=cli.incoming.names(endpoints),
        seed=seed,
        compliance=compliance,
        available=available,
        frameworks=root,
        on_event=listener,
    )
    if as_json:
        json_output.show(result.as_json(), indent=1)
    elif result.failed:
        contract = places.writable(places.own("frameworks")) / "README.md"
        messages.note(f"the contract is described in `{shown(contract)}`")
    return FrameworkError.exit_code if result.failed else 0
