"""`plimsoll machine`: show this host's configuration and limits, and what to change."""

from __future__ import annotations

import json
from collections.abc import Mapping

import click

from plimsoll import machine
from plimsoll.cli import options
from plimsoll.errors import HostError


@click.command(name="machine")
@click.option(
    "-c",
    "--connections",
    type=options.COUNT,
    default=9000,
    show_default=True,
    help="Largest number of open connections.",
)
@options.as_json
def command(connections: int, as_json: bool) -> int:
    """Show this host's configuration and limits, and what to change.

    Exit code 3 when a limit of this host does not allow that many connections.
    """
    facts = machine.facts()
    division = machine.divide_cores(None, None)
    advice = machine.advice(connections, facts)
    if as_json:
        found = {
            "facts": facts,
            "server_cores": division.server,
            "driver_cores": division.driver,
            "note": division.note,
            "advice": advice,
        }
        click.echo(json.dumps(found, indent=1))
    else:
        _print(facts, division, advice, connections)
    return _fitness(connections)


def _print(
    facts: Mapping[str, object], division: machine.Division, advice: list[str], connections: int
) -> None:
    width = max(map(len, facts))
    for name, value in facts.items():
        click.echo(f"{name:<{width}}  {_spoken(value)}")
    click.echo(
        f"\nserver on cores {_spoken(division.server)}, driver on {_spoken(division.driver)}"
    )
    if division.note:
        click.echo(division.note)
    click.echo(f"\nfor {connections} connections:")
    for sentence in advice or ["no change needed"]:
        click.echo(f"- {sentence}")


def _spoken(value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, list | tuple):
        return " ".join(str(item) for item in value)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return str(value)


def _fitness(connections: int) -> int:
    try:
        machine.check_connections(connections)
    except HostError as error:
        return error.exit_code
    return 0
