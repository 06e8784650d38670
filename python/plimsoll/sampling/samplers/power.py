"""What the hardware does by itself: frequency and thermal throttling.

Most virtual machines show nothing of it, and then there is no reading.

Source: the kernel's documents on cpufreq (`scaling_cur_freq`, in kHz) and on `thermal_throttle`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plimsoll.sampling.scope import Scope

CORES = Path("/sys/devices/system/cpu")


def read(scope: Scope) -> dict[str, float]:
    """Mean frequency of the cores, and throttling so far; only what the host shows."""
    return {} if scope.tree is not None else of_hardware()


def of_hardware(cores: Path = CORES) -> dict[str, float]:
    """The same of a folder.

    Args:
        cores: Folder with one folder for each core.
    """
    frequencies = _numbers(cores, "cpu[0-9]*/cpufreq/scaling_cur_freq")
    throttles = _numbers(cores, "cpu[0-9]*/thermal_throttle/core_throttle_count")
    values: dict[str, float] = {}
    if frequencies:
        values["frequency_hz"] = sum(frequencies) / len(frequencies) * 1e3
    if throttles:
        values["thermal_throttles"] = sum(throttles)
    return values


def _numbers(folder: Path, pattern: str) -> list[int]:
    """The numbers in some files; those that may not be read are left out."""
    found: list[int] = []
    for path in folder.glob(pattern):
        try:
            found.append(int(path.read_text()))
        except (OSError, ValueError):
            continue
    return found
