"""`plimsoll machine`: show this host's configuration and limits, what to change, and its speed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from plimsoll import machine, sampling, wording
from plimsoll.cli import json_output, options, outputs
from plimsoll.errors import HostError

if TYPE_CHECKING:
    from plimsoll.sampling.watching import Variation, WatchedSecond


@click.command(name="machine")
@click.option(
    "-c",
    "--connections",
    type=options.COUNT,
    default=9000,
    show_default=True,
    help="Largest number of open connections.",
)
@click.option(
    "--watch",
    is_flag=True,
    help="Show the machine's speed once a second instead, until Ctrl-C.",
)
@click.option(
    "--seconds",
    type=options.COUNT,
    help="Seconds after which `--watch` ends.  [default: until Ctrl-C]",
)
@options.as_json
def command(connections: int, watch: bool, seconds: int | None, as_json: bool) -> int:
    """Show this host's configuration and limits, and what to change.

    Exit code 3 when a limit of this host does not allow that many connections.

    With `--watch`, a fixed piece of work runs on the server's cores once a second. Each line shows
    its time relative to the best, and the CPU time that the hypervisor withheld and other programs
    used. The last line has the variation of the speed, and the smallest difference between servers
    that is detectable at this noise.
    """
    if watch:
        _watch(math.inf if seconds is None else float(seconds), as_json=as_json)
        return 0
    if seconds is not None:
        raise click.UsageError("`--seconds` needs `--watch`")
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
        json_output.show(found, indent=1)
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
        f"\nserver on cores {_spoken(division.server)}, "
        f"load generator on {_spoken(division.driver)}"
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


def _watch(length_s: float, *, as_json: bool) -> None:
    """Prints a line each second while somebody reads them, and one sentence at the end."""
    watched: list[WatchedSecond] = []
    try:
        for second in sampling.watching.seconds(machine.divide_cores(None, None).server, length_s):
            watched.append(second)
            best_s = min(one.control_s for one in watched)
            if as_json:
                json_output.show(_json_line(second, best_s))
            else:
                click.echo(_line(second, best_s))
            if not outputs.is_read():
                break
    except KeyboardInterrupt:
        click.echo(err=True)
    found = sampling.watching.variation(watched)
    if found is not None:
        if as_json:
            json_output.show(_json_end(found))
        else:
            click.echo(_variation(found))


def _line(second: WatchedSecond, best_s: float) -> str:
    """`  12 s  control +3.1 %  steal 0.0 cores  other programs 0.3 cores`."""
    slower = wording.signed_percent(round(second.control_s / best_s - 1, 3))
    return (
        f"{wording.count(second.at_s):>4} s  control {slower:>8}  "
        f"steal {wording.decimals(second.steal_cores, 2)} cores  "
        f"other programs {wording.decimals(second.other_cores, 2)} cores"
    )


def _json_line(second: WatchedSecond, best_s: float) -> dict[str, float]:
    return {
        "at_s": round(second.at_s, 3),
        "control_s": second.control_s,
        **second.parts_s,
        "ratio_to_best": second.control_s / best_s,
        "steal_cores": second.steal_cores,
        "other_cores": second.other_cores,
    }


def _variation(found: Variation) -> str:
    time = f"{wording.count(found.length_s)} s"
    if found.ratio is None:
        return f"watched for {time}: how far the speed varies takes 2 seconds or more"
    said = f"speed varied by ±{wording.percent(round(found.ratio, 3))} in {time}"
    if found.smallest is None:
        return said
    smallest = wording.percent(round(found.smallest, 4))
    return f"{said}; the smallest difference detectable in {time} of turns is about {smallest}"


def _json_end(found: Variation) -> dict[str, object]:
    return {
        "summary": _variation(found),
        "length_s": round(found.length_s, 3),
        "speed_varied_ratio": found.ratio,
        "smallest_difference": found.smallest,
    }


def _fitness(connections: int) -> int:
    try:
        machine.check_connections(connections)
    except HostError as error:
        return error.exit_code
    return 0
