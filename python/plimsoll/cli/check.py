"""`plimsoll check`: every endpoint of a framework asked, without load."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from plimsoll import machine
from plimsoll.campaign.endpoints import ENDPOINTS
from plimsoll.cli import chosen, messages, options
from plimsoll.conduct import contract, server
from plimsoll.errors import FrameworkError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plimsoll.campaign.framework import Framework

SEED = 1


@click.command(name="check")
@click.argument("names", nargs=-1, metavar="[FRAMEWORK]...")
@click.option("--seed", default=SEED, show_default=True, help="Seeds the values that are drawn.")
@options.available
@options.frameworks_root
@options.as_json
def command(
    names: tuple[str, ...], seed: int, available: bool, root: Path | None, as_json: bool
) -> int:
    """Starts each framework, verifies its endpoints, stops it; no load.

    Each failure is shown with the request, the answer, and what the contract says.
    """
    wanted = chosen.named(names, root)
    wanted = chosen.with_toolchain(wanted) if available else wanted
    chosen.require_installed(wanted)
    found = [_check(framework, seed, quiet=as_json) for framework in wanted]
    if as_json:
        click.echo(json.dumps(found, indent=1))
    failed = any(one["error"] or one["failures"] for one in found)
    return FrameworkError.exit_code if failed else 0


def _check(framework: Framework, seed: int, *, quiet: bool) -> dict[str, Any]:
    found: dict[str, Any] = {"framework": framework.reference, "failures": [], "error": None}
    try:
        with tempfile.TemporaryDirectory(prefix="plimsoll-check-") as folder:
            found |= _ask(framework, Path(folder), seed, quiet=quiet)
    except FrameworkError as error:
        found["error"] = error.message
        messages.error(error.message, error.hint)
    return found


def _ask(framework: Framework, folder: Path, seed: int, *, quiet: bool) -> dict[str, Any]:
    cores = machine.divide_cores(None, None).server
    with server.started(framework, log=folder / "server.log", cores=cores) as running:
        failures: list[dict[str, str]] = []
        for name, found in _failures(framework, (running.place.host, running.place.port), seed):
            failures += [{"endpoint": name, **vars(failure)} for failure in found]
            if not quiet:
                _print(framework, name, found)
    return {"failures": failures, "start_s": running.start_s}


def _failures(
    framework: Framework, address: contract.Address, seed: int
) -> Iterator[tuple[str, tuple[contract.Failure, ...]]]:
    for endpoint in ENDPOINTS:
        if endpoint.name in framework.endpoints:
            yield endpoint.name, tuple(contract.failures(address, endpoint, seed))


def _print(framework: Framework, name: str, found: tuple[contract.Failure, ...]) -> None:
    verdict = messages.coloured(*(("wrong", "red") if found else ("right", "green")))
    click.echo(f"{framework.title:<24} {name:<20} {verdict}")
    for failure in found:
        click.echo(f"  asked     {failure.request}")
        click.echo(f"  answered  {failure.answer}")
        click.echo(f"  problem   {failure.problem}")
        click.echo(f"  contract  {failure.rule}")
