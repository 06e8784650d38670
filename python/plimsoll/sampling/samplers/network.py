"""Bytes over the interfaces of the machine, loopback included and apart; counters.

Source: proc_net(5), `/proc/net/dev`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.processes.tree import PROC, shown

if TYPE_CHECKING:
    from plimsoll.sampling.scope import Scope

LOOPBACK = "lo"


def read(scope: Scope) -> dict[str, float]:
    """Bytes received and sent by all interfaces so far."""
    if scope.tree is not None:
        return {}
    text = shown(PROC / "net" / "dev")
    if not text:
        return {}
    received, sent = parse_interfaces(text)
    by_link, over_link = parse_interfaces(text, without=LOOPBACK)
    return {
        "network_received_bytes": received,
        "network_sent_bytes": sent,
        "link_received_bytes": by_link,
        "link_sent_bytes": over_link,
    }


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
