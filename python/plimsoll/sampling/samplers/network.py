"""Bytes over the interfaces of the machine, loopback included and apart, and its firewall's table.

A firewall that tracks connections drops packets of new ones while its table is full, as every
machine with address translation does.

Source: proc_net(5), `/proc/net/dev`; the kernel's document on `nf_conntrack` and, for its columns,
`net/netfilter/nf_conntrack_standalone.c`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.processes.tree import PROC, shown

if TYPE_CHECKING:
    from plimsoll.sampling.scope import Scope

LOOPBACK = "lo"
TRACKED = PROC / "sys/net/netfilter/nf_conntrack_count"
TABLE_DROPS = ("drop", "early_drop")
"""Columns of `/proc/net/stat/nf_conntrack`: packets, and connections that made room for others."""


def read(scope: Scope) -> dict[str, float]:
    """Bytes received and sent by all interfaces so far, and what the firewall tracks and drops."""
    if scope.tree is not None:
        return {}
    text = shown(PROC / "net" / "dev")
    if not text:
        return {}
    firewall = parse_firewall(shown(PROC / "net/stat/nf_conntrack"), shown(TRACKED))
    received, sent = parse_interfaces(text)
    by_link, over_link = parse_interfaces(text, without=LOOPBACK)
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


def parse_interfaces(text: str, without: str = "") -> tuple[int, int]:
    """Bytes received and sent, summed over the interfaces.

    Args:
        text: The content of `/proc/net/dev`.
        without: Name of an interface that does not count; empty for none.
    """
    received = sent = 0
    for line in text.splitlines()[2:]:
        name, _, rest = line.rpartition(":")
        if name.strip() == without:
            continue
        fields = rest.split()
        received += int(fields[0])
        sent += int(fields[8])
    return received, sent
