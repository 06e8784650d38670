"""The fingerprint of a machine: numbers with different fingerprints are never held together."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plimsoll.machine import Fact

DIGITS = 8
"""Hexadecimal digits of a fingerprint."""

TAKEN = ("cpu_model", "physical_cores", "cpu_governor", "cpu_boost", "kernel", "virtual")
"""Facts of `machine.FACTS` that are taken as they are."""

ALSO_TAKEN = ("hypervisor", "cgroup_cores")
"""The same; apart, for most machines have neither."""

Known = bool | int | float | str | None
"""A fact of a fingerprint."""

_GIB = 1 << 30


def facts(machines: Mapping[str, Mapping[str, Fact]]) -> dict[str, Known]:
    """What makes the fingerprint of the machines of a trial.

    Processor model, cores and physical cores, governor, boost, memory in whole GiB, kernel,
    virtualisation, hypervisor and the quota of cores. Of several machines each name has that of the
    machine in front.

    Args:
        machines: Facts of each machine by its name, as recordings have them.
    """
    found = {name: _of_one(one) for name, one in sorted(machines.items())}
    if len(found) == 1:
        return next(iter(found.values()))
    return {
        f"{machine}.{name}": fact for machine, one in found.items() for name, fact in one.items()
    }


def fingerprint(known: Mapping[str, Known]) -> str:
    """The fingerprint of some facts: `3f9c2ab1`.

    Args:
        known: What `facts` gave.
    """
    text = json.dumps(known, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]


def _of_one(machine: Mapping[str, Fact]) -> dict[str, Known]:
    cores, memory_bytes = machine.get("cores"), machine.get("memory_bytes")
    return {
        **{name: _plain(machine.get(name)) for name in (*TAKEN, *ALSO_TAKEN)},
        "cores": len(cores) if isinstance(cores, list) else None,
        "memory_gib": round(memory_bytes / _GIB) if isinstance(memory_bytes, int) else None,
    }


def _plain(fact: Fact) -> Known:
    return str(fact) if isinstance(fact, list) else fact
