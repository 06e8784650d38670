"""What a request costs the client: Plimsoll's engine and other load tools, side by side.

`make bench` runs it. The reference server has one core, the tool another, and every run gets a
fresh server, which counts its requests. Each repetition runs every tool once at every number
of connections, each time in another order. A ratio is taken within one repetition, for the speed of
a machine changes from minute to minute. What is printed is Markdown; read ratios, not seconds.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from workbench import certificate, costs, host, page, tools
from workbench.costs import Cost
from workbench.measuring import measured
from workbench.pairing import rotated
from workbench.tools import Bench, Tool, Way

PEERS = ("wrk", "h2load", "s_time", "k6")
"""What the others are compared with: the first of these that runs."""


def measure(
    tool: Tool,
    connections: int,
    seconds: int,
    repetition: int,
    way: Way,
) -> Cost:
    """Runs a tool once.

    Args:
        tool: The tool.
        connections: Connections it is to keep busy.
        seconds: Length of the run.
        repetition: Number of the repetition.
        way: What it does, and by which protocol.
    """
    cores = host.cores()
    with tempfile.TemporaryDirectory(prefix="plimsoll-bench-") as made:
        folder = Path(made)

        def command(address: str) -> Sequence[str]:
            return tool.command(Bench(address, connections, seconds, cores.tool, folder, way))

        shown = certificate.made(folder) if way.by_tls else None
        seen = measured(command, (cores.tool,), (cores.server,), seconds * 3 + 60.0, shown)
    return costs.read(tool, seen, connections, repetition)


def measure_all(
    chosen: Sequence[Tool],
    levels: Sequence[int],
    seconds: int,
    repetitions: int,
    way: Way,
) -> list[Cost]:
    """Runs every tool at every number of connections in every repetition, and reports it."""
    found: list[Cost] = []
    for repetition in range(repetitions):
        for level in levels:
            for tool in rotated(chosen, repetition):
                found.append(measure(tool, level, seconds, repetition, way))
                _tell(found[-1])
    return found


def _tell(cost: Cost) -> None:
    said = cost.complaint or f"{cost.per_million_s:.2f} s per million"
    place = f"repetition {cost.repetition + 1}, {cost.connections:,} connections"
    print(f"{place}, {cost.tool}: {said}", file=sys.stderr, flush=True)


def report(
    found: Sequence[Cost], chosen: Sequence[Tool], seconds: int, repetitions: int, way: Way
) -> str:
    """The findings as Markdown."""
    levels = sorted({cost.connections for cost in found})
    titles = {tool.name: tool.title for tool in chosen}
    peer = next((name for name in PEERS if name in titles), PEERS[0])
    parts = [_surroundings(found, chosen, seconds, repetitions, way)]
    for level in levels:
        parts += [f"### {level:,} connections", costs.level_table(found, level, titles, peer)]
        if way.kind == "handshakes":
            parts.append(costs.per_cpu_second_table(found, level, titles, way.kind))
    if {"plimsoll", "no-rows"} <= titles.keys():
        parts += ["### What keeping rows costs", costs.recording_table(found, levels)]
    if {"plimsoll", "baseline"} <= titles.keys():
        parts += ["### Compared with the baseline", costs.baseline_table(found, levels)]
    return "\n\n".join(parts)


def _surroundings(
    found: Sequence[Cost], chosen: Sequence[Tool], seconds: int, repetitions: int, way: Way
) -> str:
    known = [tools.version(tool) for tool in chosen if tool.version]
    missing = [tool.title for tool in tools.TOOLS if tool.goes(way) and not tool.is_installed]
    times = "once" if repetitions == 1 else f"{repetitions} times"
    sentences = [
        f"{host.described()}.",
        f"Every tool ran {times} for {seconds} s; medians, in brackets the range.",
        host.others(cost.others_ratio for cost in found if not cost.complaint),
        f"{', '.join(known)}." if known else "",
        f"Not installed: {', '.join(missing)}." if missing else "",
    ]
    return " ".join(filter(None, sentences))


def _chosen(names: str) -> list[Tool]:
    """The requested tools; without a name those that are installed."""
    if not names:
        return [tool for tool in tools.TOOLS if tool.is_installed and _is_built(tool)]
    by_name = {tool.name: tool for tool in tools.TOOLS}
    asked = names.split(",")
    if unknown := [name for name in asked if name not in by_name]:
        raise SystemExit(f"error: no tool `{unknown[0]}`\nhint: there are {', '.join(by_name)}")
    if missing := [name for name in asked if not by_name[name].is_installed]:
        raise SystemExit(f"error: `{missing[0]}` is not on the PATH\nhint: install it first")
    return [by_name[name] for name in asked]


def _is_built(tool: Tool) -> bool:
    """Builds the bare loop; reports a failure, and the others go on without it."""
    try:
        return tool.name != "ceiling" or tools.ceiling().exists()
    except subprocess.CalledProcessError:
        print("the bare loop can't be built and is left out", file=sys.stderr)
        return False


def _levels(text: str) -> list[int]:
    return [int(level) for level in text.split(",")]


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--connections", type=_levels, default=[64, 1000, 9000], help="default: 64,1000,9000")
    add("--seconds", type=int, default=4, help="length of each run; default: 4")
    add("--repetitions", type=int, default=3, help="default: 3")
    add("--tls", action="store_true", help="by TLS")
    add("--kind", choices=tools.ALL, default="requests", help="what is done; default: requests")
    add("--tools", default="", help="names with commas; default: all that are installed")
    add("--http2", action="store_true", help="only tools that speak it")
    add("--streams", type=int, default=1, help="of HTTP/2 on each connection; default: 1")
    add("--baseline", type=Path, help="a checkout whose engine runs beside this one, built there")
    add("--json", type=Path, help="also write every run into this file")
    add("--page", type=Path, help="also put the findings into this page")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str]) -> None:
    """Measures and prints.

    Args:
        arguments: The command line without the program.
    """
    asked = _options(arguments)
    is_by_tls = asked.tls or asked.kind == "handshakes"
    way = Way(asked.kind, is_by_tls, asked.streams if asked.http2 else None)
    chosen = [tool for tool in _chosen(asked.tools) if tool.goes(way)]
    if asked.baseline:
        chosen.append(tools.baseline(asked.baseline))
    host.allow_connections(max(*asked.connections, tools.HANDSHAKES_OF_H2LOAD))
    found = measure_all(chosen, asked.connections, asked.seconds, asked.repetitions, way)
    text = report(found, chosen, asked.seconds, asked.repetitions, way)
    print(text)
    if asked.json:
        asked.json.write_text(json.dumps([asdict(cost) for cost in found], indent=1), "utf-8")
    if asked.page:
        page.put(asked.page, way.section, text)


if __name__ == "__main__":
    main(sys.argv[1:])
