"""Bytes over the interfaces of the machine, loopback included and apart, and its firewall's table.

What passes a bridge, a bond or a VLAN passes an interface below it, too, so those do not count.

A firewall that tracks connections drops packets of new ones while its table is full, as every
machine with address translation does.

Source: proc_net(5), `/proc/net/dev`; `netdev_adjacent_sysfs_add` in `net/core/dev.c` of Linux; the
kernel's document on `nf_conntrack` and, for its columns,
`net/netfilter/nf_conntrack_standalone.c`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from plimsoll.processes.tree import PROC, shown
from plimsoll.sampling.link import INTERFACES, LOOPBACK

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from plimsoll.sampling.scope import Scope

TRACKED = PROC / "sys/net/netfilter/nf_conntrack_count"
TABLE_DROPS = ("drop", "early_drop")
"""Columns of `/proc/net/stat/nf_conntrack`: packets, and connections that made room for others."""


def read(scope: Scope) -> dict[str, float]:
    """Bytes over the interfaces so far, each once, and what the firewall tracks and drops."""
    if scope.tree is not None:
        return {}
    text = shown(PROC / "net" / "dev")
    if not text:
        return {}
    firewall = parse_firewall(shown(PROC / "net/stat/nf_conntrack"), shown(TRACKED))
    stacked = over_others(_names(text), INTERFACES)
    received, sent = parse_interfaces(text, without=stacked)
    by_link, over_link = parse_interfaces(text, without={LOOPBACK, *stacked})
    return {
        "network_received_bytes": received,
        "network_sent_bytes": sent,
        "link_received_bytes": by_link,
        "link_sent_bytes": over_link,
        **firewall,
    }


def parse_firewall(text: str, tracked: str) -> dict[str, float]:
    """Connections in the firewall's table, and what it dropped as that was full.

    Args:
        text: The content of `/proc/net/stat/nf_conntrack`: a line for each core, in hexadecimal
            digits; empty where no firewall tracks connections.
        tracked: The content of `nf_conntrack_count`.
    """
    names, *lines = text.splitlines() or [""]
    rows = [dict(zip(names.split(), line.split(), strict=False)) for line in lines]
    if not rows or not tracked:
        return {}
    drops = sum(int(row.get(name, "0"), 16) for row in rows for name in TABLE_DROPS)
    return {"tracked_connections": int(tracked), "tracking_drops": drops}


@lru_cache(maxsize=1)
def over_others(names: tuple[str, ...], interfaces: Path) -> frozenset[str]:
    """Those interfaces that lie over others of this host: bridges, bonds, VLANs and the like.

    They are looked up again when interfaces come or go: a lookup takes 20 µs for each.

    Args:
        names: The interfaces.
        interfaces: Where the kernel shows what an interface lies over, as `lower_eth0`.
    """
    return frozenset(name for name in names if any((interfaces / name).glob("lower_*")))


def parse_interfaces(text: str, without: Collection[str] = ()) -> tuple[int, int]:
    """Bytes received and sent, summed over the interfaces.

    Args:
        text: The content of `/proc/net/dev`.
        without: Names of interfaces that do not count.
    """
    received = sent = 0
    for name, line in zip(_names(text), _interfaces(text), strict=True):
        if name not in without:
            fields = line.rpartition(":")[2].split()
            received += int(fields[0])
            sent += int(fields[8])
    return received, sent


def _names(text: str) -> tuple[str, ...]:
    return tuple(line.rpartition(":")[0].strip() for line in _interfaces(text))


def _interfaces(text: str) -> list[str]:
    """The lines of `/proc/net/dev` without its head."""
    return text.splitlines()[2:]
