"""`plimsoll check`: verify every endpoint of a framework, without load."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click

from plimsoll import cli, lab, machine
from plimsoll.campaign import places
from plimsoll.campaign.documents import shown
from plimsoll.campaign.endpoints import ENDPOINTS
from plimsoll.cli import heard, messages, options
from plimsoll.errors import FrameworkError

SEED = 1


@click.command(name="check")
@options.framework_names
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
    PostgreSQL is not installed.

    With `--compliance`, a second start of each framework gets requests in fragments, with
    conflicting lengths and the like. What differs from the RFCs is shown, and fails no check.
    """
    wanted = lab.selection.named(names, root)
    wanted = lab.selection.ready(wanted, messages.note) if available else wanted
    lab.selection.make_ready(wanted, messages.step)
    served = {name for framework in wanted for name in framework.endpoints}
    endpoints = [endpoint for endpoint in ENDPOINTS if endpoint.name in served]
    endpoints = lab.databases.available(endpoints, messages.note)
    cores = machine.divide_cores(
        None, None, with_third_party=lab.databases.has_third_party(endpoints)
    )
    with lab.databases.running(endpoints, cores.third_party, heard.steps) as database:
        here = cli.checking.Surroundings(seed, cores.server, cores.third_party, database)
        found = [
            cli.checking.checked(framework, here, full=full, quiet=as_json) for framework in wanted
        ]
    if compliance:
        for framework, one in zip(wanted, found, strict=True):
            results = cli.complying.complied(framework, full=full, quiet=as_json)
            one["compliance"] = [asdict(result) for result in results]
    if as_json:
        click.echo(json.dumps(found, indent=1))
    failed = any(one["error"] or one["failures"] for one in found)
    if failed and not as_json:
        contract = places.writable(places.own("frameworks")) / "README.md"
        messages.note(f"the contract is described in `{shown(contract)}`")
    return FrameworkError.exit_code if failed else 0
