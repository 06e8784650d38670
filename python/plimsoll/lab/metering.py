"""What is known of power and of perf events before a measurement begins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.sampling import meters, system_calls

if TYPE_CHECKING:
    from collections.abc import Callable

    from plimsoll.recording import PowerSources


def require_power(
    address: str, idle_s: float, rapl: PowerSources, note: Callable[[str], None]
) -> None:
    """Requires an answer of the power meter, and says once if RAPL cannot be read.

    Args:
        address: Address of the meter; empty for none.
        idle_s: For how long power without load is to be measured; 0 if nobody asked for energy.
        rapl: What RAPL counts on the server's machine.
        note: Told what is not known.

    Raises:
        MeterFailed: The meter does not respond with a power.
    """
    if address:
        meters.require(address)
    if rapl.rapl_unreadable and (address or idle_s):
        note(f"RAPL is unavailable: {rapl.rapl_unreadable}")


def note_system_calls(note: Callable[[str], None]) -> None:
    """Says once if system calls of servers cannot be counted.

    Args:
        note: Told why.
    """
    if reason := system_calls.refusal():
        note(f"system calls are not counted: {reason}")
