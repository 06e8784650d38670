"""Hosts whose readings a check judges one by one, to report the worst of them.

Shares, speeds and limits are those of one machine. Two disks that are each waited for a tenth of
the time are not one that is waited for a fifth of it. A core of 2.6 GHz beside one of 3.6 GHz did
not slow down.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.recording import host_in_words
from plimsoll.verdicts.verdict import LEVELS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from plimsoll.aggregate.trial import Tables
    from plimsoll.aggregate.usage import Quantity, Usage
    from plimsoll.machine import Fact
    from plimsoll.verdicts.finding import Finding


@dataclass(frozen=True)
class ReadHost:
    """One of the hosts that were read.

    Attributes:
        name: Its name; empty for the only one.
        readings: Its readings.
        facts: The facts of its machine; empty if unknown.
    """

    name: str
    readings: Usage
    facts: Mapping[str, Fact]

    def after(self, word: str) -> str:
        """Its name behind a word, as a sentence goes on with it; empty for the only one."""
        return f" {word} {host_in_words(self.name)}" if self.name else ""


def every(tables: Tables) -> tuple[ReadHost, ...]:
    """Every host that was read: the server's, and those that only generate load.

    Args:
        tables: The tables of the trial.
    """
    usage, machines = tables.usage, tables.recording.machines
    if len(usage.hosts) < 2:  # noqa: PLR2004
        known = [*(machines[host] for host in usage.hosts if host in machines), *machines.values()]
        return (ReadHost("", usage, known[0] if known else {}),)
    return tuple(
        ReadHost(host, usage.of_host(host), machines.get(host, {})) for host in usage.hosts
    )


def of_server(tables: Tables, *quantities: Quantity) -> tuple[ReadHost, ...]:
    """The host of the server; where nobody read it, all that were read.

    Args:
        tables: The tables of the trial.
        quantities: Scopes and names of quantities, one of which must have been read there.
    """
    hosts = every(tables)
    if len(hosts) == 1:
        return hosts
    chosen = tables.usage.hosts_of(quantities)
    return tuple(one for one in hosts if one.name in chosen)


def worst(findings: Iterable[Finding | None]) -> Finding | None:
    """The finding with the worst level, of these that with the greatest number; None for none.

    Args:
        findings: One of each host; None where it was not read.
    """
    known = [one for one in findings if one is not None]
    return max(known, key=lambda one: (LEVELS.index(one.level), one.measured or 0.0), default=None)
