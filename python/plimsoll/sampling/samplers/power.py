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
    """Frequency of each core and their mean, and throttling so far; only what the host shows."""
    return {} if scope.tree is not None else of_hardware()


def of_hardware(cores: Path = CORES) -> dict[str, float]:
    """The same of a folder.

    Args:
        cores: Folder with one folder for each core.
    """
    frequencies = _of_each(cores, "cpufreq/scaling_cur_freq")
    throttles = _of_each(cores, "thermal_throttle/core_throttle_count")
    values = {f"core{core}_frequency_hz": khz * 1e3 for core, khz in frequencies.items()}
    if frequencies:
        values["frequency_hz"] = sum(frequencies.values()) / len(frequencies) * 1e3
    if throttles:
        values["thermal_throttles"] = sum(throttles.values())
    return values


def _of_each(folder: Path, file: str) -> dict[int, int]:
    """The number in a file of each core; cores whose file may not be read are left out."""
    found: dict[int, int] = {}
    for path in folder.glob(f"cpu[0-9]*/{file}"):
        core = path.relative_to(folder).parts[0].removeprefix("cpu")
        try:
            found[int(core)] = int(path.read_text())
        except (OSError, ValueError):
            continue
    return found
