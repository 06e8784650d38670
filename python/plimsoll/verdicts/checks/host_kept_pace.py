"""Did the host work at one speed through the hold?

- frequency: how far the mean frequency of the cores fell within the hold, by its readings;
- heat: times a core was slowed because it was too hot;
- quota: share of the hold for which a control group of Plimsoll was stopped, having used up its
  time;
- disk: share of the hold in which some task waited for a disk (PSI).

Virtual machines show neither frequency nor heat, and few hosts their energy. What is not shown is
named as unknown in the statement; the level is that of what can be read. Time that a virtual
machine did not get is judged by the check on disturbances.

Source: the kernel's documents on cpufreq, thermal throttling, control groups (`cpu.stat`) and
pressure stall information.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from plimsoll.verdicts import wording
from plimsoll.verdicts.finding import Finding, found, unknown, verdict

if TYPE_CHECKING:
    from plimsoll.aggregate.trial import Tables
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "host_kept_pace"
SOURCE = "cpufreq, thermal_throttle, cpu.stat and PSI over the holds"


def judge(tables: Tables, limits: Limits) -> Verdict:
    """Whether the host worked at one speed."""
    parts = {
        "time withheld by a quota": _withheld(tables, limits),
        "waits for a disk": _disk(tables, limits),
        "frequency": _frequency(tables, limits),
        "thermal throttling": _heat(tables, limits),
    }
    findings = [finding for finding in parts.values() if finding is not None]
    unread = [what for what, finding in parts.items() if finding is None]
    if not tables.usage.of("machine", "energy_j"):
        unread.append("energy")
    if not findings:
        sentence = "nothing could be read of the speed of the host"
        findings = [
            unknown(limits.of(NAME, "withheld_ratio"), sentence, "Hold the load for longer")
        ]
        unread = []
    return verdict(NAME, tables.recording.trial, findings, SOURCE, unread)


def _withheld(tables: Tables, limits: Limits) -> Finding | None:
    ratio = tables.usage.rate("machine", "cgroup_throttled_s", tables.holds)
    if ratio is None and not tables.usage.of("machine", "core_busy_s"):
        return None
    host = next(iter(tables.recording.machines.values()), dict[str, Any]())
    if ratio is None and host.get("cgroup_cores") is not None:
        return None
    ratio = ratio or 0.0
    sentence = (
        f"a quota of the control group withheld processor time for {wording.percent(ratio)} of the "
        "hold"
        if ratio > 0
        else "no quota withheld processor time in the hold"
    )
    remedy = "Raise the quota (`--cpus`), or use no more cores than it allows"
    return found(limits.of(NAME, "withheld_ratio"), ratio, sentence, remedy)


def _disk(tables: Tables, limits: Limits) -> Finding | None:
    ratio = tables.usage.rate("machine", "pressure_io_s", tables.holds)
    if ratio is None:
        return None
    sentence = f"some task waited for a disk {wording.percent(round(ratio, 3))} of the hold"
    remedy = "See what reads or writes on this host, or keep the results on a faster disk"
    return found(limits.of(NAME, "disk_ratio"), ratio, sentence, remedy)


def _frequency(tables: Tables, limits: Limits) -> Finding | None:
    readings = [
        series.inside(window)
        for series in tables.usage.of("machine", "frequency_hz")
        for window in tables.holds
    ]
    values = np.concatenate(readings) if readings else np.empty(0)
    if not len(values):
        return None
    highest, lowest = float(values.max()), float(values.min())
    fall = 1 - lowest / highest if highest else 0.0
    governor = next(iter(tables.recording.machines.values()), dict[str, Any]()).get("cpu_governor")
    chosen = f" (governor `{governor}`)" if governor else ""
    sentence = (
        f"the mean frequency of the cores{chosen} was between {lowest / 1e9:.2f} and "
        f"{highest / 1e9:.2f} GHz in the hold"
    )
    remedy = "Fix the frequency: `sudo cpupower frequency-set -g performance`"
    return found(limits.of(NAME, "frequency_fall"), fall, sentence, remedy)


def _heat(tables: Tables, limits: Limits) -> Finding | None:
    grown = tables.usage.growth("machine", "thermal_throttles", tables.holds)
    if grown is None:
        return None
    times = max(round(grown), 0)
    sentence = f"cores were slowed by their heat {wording.several(times, 'time')} in the hold"
    return found(limits.of(NAME, "throttles"), times, sentence, "Cool the host, and let it rest")
