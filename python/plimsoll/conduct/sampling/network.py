"""Bytes over the interfaces of the machine, loopback included; counters.

Source: proc_net(5), `/proc/net/dev`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.conduct.tree import PROC

if TYPE_CHECKING:
    from plimsoll.conduct.scope import Scope


def read(scope: Scope) -> dict[str, float]:
    """Bytes received and sent by all interfaces so far."""
    if scope.tree is not None:
        return {}
    received, sent = parse_interfaces((PROC / "net" / "dev").read_text())
    return {"network_received_bytes": received, "network_sent_bytes": sent}


def parse_interfaces(text: str) -> tuple[int, int]:
    """Bytes received and sent, summed over the interfaces.

    Args:
        text: The content of `/proc/net/dev`.
    """
    received = sent = 0
    for line in text.splitlines()[2:]:
        fields = line.rpartition(":")[2].split()
        received += int(fields[0])
        sent += int(fields[8])
    return received, sent
