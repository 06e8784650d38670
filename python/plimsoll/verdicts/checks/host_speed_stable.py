"""Did the host run at one speed through the measurement window?

- frequency: how far the frequency of a core of server or load generator fell within the window.
  Readings count while the core was busy for at least half of the time. An idle core rests at a low
  frequency and rises for a moment, which slows down nobody. Where server and load generator were
  given no cores, the fastest busy core of each reading counts. Earlier recordings have only the
  mean of all cores;
- heat: times a core was slowed because it was too hot;
- quota: processor time that a CPU quota withheld from a control group of Plimsoll, on each core
  apart, divided by that and the time that the quota allows;
- disk: share of the window in which some task waited for a disk (PSI);
- speed: how far the processor time of the load generator per request varied from second to second,
  without what goes with its wake-ups (`aggregate.machine_speed`); where it is idle for most of the
  time, how far the processor time of the control varied, a fixed piece of work between turns.
  Neighbours on caches and memory cause that, too. The check judges how uncertain this leaves the
  mean of the window. A single load is doubtful from 10 % on, as in `steady`; repetitions of a
  campaign show such scatter in their intervals, so a trial of it is doubtful from a third on.

Where several hosts generated the load and the server's was not read, the worst of them counts; only
`speed` is that of all load generators together.

Virtual machines show neither frequency nor heat, and few hosts show their energy. The verdict
names what the host does not show as unknown; the level follows from what it shows. `undisturbed`
judges time that a virtual machine did not get.

Source: the kernel's documents on cpufreq, thermal throttling, control groups (`cpu.stat`) and
pressure stall information.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from plimsoll import wording
from plimsoll.aggregate import cores, machine_speed
from plimsoll.aggregate.query import SECOND_NS
from plimsoll.statistics.intervals import interval
from plimsoll.verdicts import read_hosts
from plimsoll.verdicts.finding import Finding, found, meaning, not_checked, of_trial, unread_host
from plimsoll.verdicts.limits import PROPOSAL, Limit
from plimsoll.verdicts.remedies import LONGER_HOLD, QUIET_HOST
from plimsoll.verdicts.role import Role

if TYPE_CHECKING:
    from plimsoll.aggregate.trial import Tables
    from plimsoll.aggregate.usage import ReadingSeries, Values
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.read_hosts import ReadHost
    from plimsoll.verdicts.verdict import Verdict

NAME = "host_speed_stable"
TITLE = "Host speed stable"
PROBLEM = "Host slowed at times"
SOURCE = "cpufreq, thermal_throttle, cpu.stat and PSI over the measurement window"
WITHHELD_RATIO = Limit(
    NAME,
    "withheld_ratio",
    "above",
    0.001,
    0.05,
    "ratio",
    "processor time withheld from Plimsoll's control group by a CPU quota in the measurement "
    "window / that and the time that the quota allows",
    PROPOSAL,
)
DISK_RATIO = Limit(
    NAME,
    "disk_ratio",
    "above",
    0.2,
    None,
    "ratio",
    "share of the measurement window in which some task waited for a disk",
    PROPOSAL,
)
FREQUENCY_FALL = Limit(
    NAME,
    "frequency_fall",
    "above",
    0.1,
    None,
    "ratio",
    "fall of the frequency of a busy core of server or load generator within the measurement "
    "window",
    PROPOSAL,
)
THROTTLES = Limit(
    NAME,
    "throttles",
    "above",
    0.0,
    None,
    "times",
    "thermal throttling events of cores in the measurement window",
    "a throttled core is a slower machine",
)
SPEED_ERROR_RATIO = Limit(
    NAME,
    "speed_error_ratio",
    "above",
    0.1,
    None,
    "ratio",
    "half width of the 95 % interval of the machine's mean speed in the measurement window of a "
    "single load",
    "the mean of a single window is as uncertain",
)
COMPARED_SPEED_ERROR_RATIO = Limit(
    NAME,
    "compared_speed_error_ratio",
    "above",
    0.33,
    None,
    "ratio",
    "the same of a trial of a campaign",
    "intervals over repetitions contain it; beyond a third, a trial says too little",
)
LIMITS = (
    WITHHELD_RATIO,
    DISK_RATIO,
    FREQUENCY_FALL,
    THROTTLES,
    SPEED_ERROR_RATIO,
    COMPARED_SPEED_ERROR_RATIO,
)
NEEDS = None
ROLE = Role(
    misled_by=frozenset({"others", "others_in_part"}),
    misled_in=dict.fromkeys(
        ("others", "others_in_part"),
        frozenset({SPEED_ERROR_RATIO.name, COMPARED_SPEED_ERROR_RATIO.name}),
    ),
    cancels_in_turns=True,
)
"""Other programs share caches and memory with the trial: what they took, however little, explains a
speed that varied."""
BUSY = ("machine", "core_busy_s")
THROTTLED = ("machine", "cgroup_throttled_s")
DISK = ("machine", "pressure_io_s")
FREQUENCY = ("machine", "frequency_hz")
HEAT = ("machine", "thermal_throttles")
BUSY_FROM = 0.5
"""Share of the time from which on the frequency of a core is that of its work."""
UNKNOWN_QUOTA_CORES = 1.0
"""A quota that the facts of the machine do not name, as one that was lifted meanwhile."""
WITNESSES = (BUSY, DISK, FREQUENCY, HEAT)
"""Every quantity that shows it."""


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
    findings = [*_speed(tables, limits), *findings]
    if not tables.usage.of("machine", "energy_j"):
        unread.append("energy")
    if not findings:
        sentence = "CPU frequency, heat, quota and disk waits could not be read"
        limit = limits.of(WITHHELD_RATIO)
        findings = [unread_host(limit, tables.usage, WITNESSES, sentence, LONGER_HOLD)]
        unread = []
    return of_trial(NAME, tables.recording, findings, SOURCE, unread)


def _speed(tables: Tables, limits: Limits) -> list[Finding]:
    """How far the machine's speed varied, and when; nothing where neither clock tells."""
    windows = cores.whole_seconds(tables.recording)
    speeds = machine_speed.measured_speeds(tables.usage, windows)
    known = [float(speed) for speed in speeds if not np.isnan(speed)]
    reach = interval(known)
    if reach is None:
        return []
    error = float(np.sqrt(reach.high / reach.low)) - 1
    wander = (max(known) - min(known)) / 2
    slowest = windows[int(np.nanargmin(speeds))][0] // SECOND_NS
    sentence = (
        f"machine speed varied by ±{wording.percent(round(wander, 3))} per second "
        f"({wording.percent(round(1 - min(known), 3))} below its median in second {slowest}); "
        f"its mean is known to ±{wording.percent(round(error, 3))}"
    )
    is_compared = tables.recording.origin == "campaign"
    limit = limits.of(COMPARED_SPEED_ERROR_RATIO if is_compared else SPEED_ERROR_RATIO)
    return [found(limit, error, sentence, QUIET_HOST)]


def _withheld(tables: Tables, limits: Limits) -> Finding | None:
    def on_host(host: ReadHost) -> Finding | None:
        withheld_cores = host.readings.rate(*THROTTLED, tables.holds)
        quota_cores = host.facts.get("cgroup_cores")
        if withheld_cores is None and not host.readings.of(*BUSY):
            return None
        if withheld_cores is None and quota_cores is not None:
            return None
        withheld_cores = withheld_cores or 0.0
        allowed_cores = quota_cores if isinstance(quota_cores, float | int) else UNKNOWN_QUOTA_CORES
        ratio = withheld_cores / (withheld_cores + allowed_cores)
        sentence = (
            f"a CPU quota withheld {wording.percent(ratio)} of the processor time that the control "
            f"group{host.after('on')} could have used in the measurement window"
            if ratio > 0
            else "no CPU quota throttled the control group in the measurement window"
        )
        remedy = "Raise the quota (`--cpus`), or use no more cores than it allows"
        return found(limits.of(WITHHELD_RATIO), ratio, sentence, remedy)

    return read_hosts.worst(map(on_host, read_hosts.of_server(tables, THROTTLED, BUSY)))


def _disk(tables: Tables, limits: Limits) -> Finding | None:
    def on_host(host: ReadHost) -> Finding | None:
        ratio = host.readings.rate(*DISK, tables.holds)
        if ratio is None:
            return None
        sentence = (
            f"some task{host.after('on')} waited for a disk {wording.percent(round(ratio, 3))} of "
            "the measurement window"
        )
        remedy = (
            "Find which program reads or writes on this host, or store results on a faster disk"
        )
        finding = found(limits.of(DISK_RATIO), ratio, sentence, remedy)
        return meaning(finding, "responses may contain such waits")

    return read_hosts.worst(map(on_host, read_hosts.of_server(tables, DISK)))


def _frequency(tables: Tables, limits: Limits) -> Finding | None:
    def on_host(host: ReadHost) -> Finding | None:
        limit = limits.of(FREQUENCY_FALL)
        courses = _frequencies(tables, host)
        if courses is None:
            return None
        if not courses:
            idle = f"no core of server or load generator{host.after('on')} was busy for half of"
            return not_checked(limit, f"{idle} a second, and its frequency means little when idle")
        core, values = max(courses.items(), key=lambda course: _fall(course[1]))
        highest, lowest = float(values.max()), float(values.min())
        governor = host.facts.get("cpu_governor")
        chosen = f" (governor `{governor}`)" if governor else ""
        sentence = (
            f"the {core}{host.after('of')}{chosen} was between "
            f"{wording.decimals(lowest / 1e9, 2)} and {wording.decimals(highest / 1e9, 2)} GHz in "
            "the measurement window"
        )
        remedy = "Fix the frequency: `sudo cpupower frequency-set -g performance`"
        finding = found(limit, _fall(values), sentence, remedy)
        return meaning(finding, "the machine was slower in part of it")

    return read_hosts.worst(map(on_host, read_hosts.of_server(tables, FREQUENCY)))


def _frequencies(tables: Tables, host: ReadHost) -> dict[str, Values] | None:
    """Readings of frequencies in the holds, by what they are of; None where there are none.

    Empty where cores were read, and none that server or load generator used was busy.
    """
    read = {
        core: frequency
        for core in cores.all_cores(host.readings)
        for frequency in host.readings.of("machine", f"core{core}_frequency_hz")
    }
    if not read:
        values = [
            series.inside(hold) for series in host.readings.of(*FREQUENCY) for hold in tables.holds
        ]
        mean = np.concatenate(values) if values else np.empty(0)
        return {"mean frequency of the cores": mean} if len(mean) else None
    given = cores.used_on(tables.recording, host.name)
    busy = {
        core: _while_busy(tables, host, core, frequency)
        for core, frequency in read.items()
        if core in given or not given
    }
    if given:
        known = {core: np.array([*by.values()]) for core, by in busy.items() if by}
        return {f"frequency of core {core}": values for core, values in known.items()}
    fastest: dict[int, float] = {}
    for by_instant in busy.values():
        for at_ns, value in by_instant.items():
            fastest[at_ns] = max(value, fastest.get(at_ns, 0.0))
    return {"frequency of the fastest busy core": np.array([*fastest.values()])} if fastest else {}


def _while_busy(
    tables: Tables, host: ReadHost, core: int, frequency: ReadingSeries
) -> dict[int, float]:
    """Instant to the frequency of a core, where it was busy for half of the second about it."""
    instants = [
        (int(at_ns), float(value))
        for at_ns, value in zip(frequency.at_ns, frequency.values, strict=True)
        if any(start <= at_ns <= end for start, end in tables.holds)
    ]
    half_ns = SECOND_NS // 2
    about = [(at_ns - half_ns, at_ns + half_ns) for at_ns, _ in instants]
    rates = host.readings.rates("machine", f"core{core}_busy_s", about)
    readings = zip(instants, rates, strict=True)
    return {at_ns: value for (at_ns, value), rate in readings if rate >= BUSY_FROM}


def _fall(values: Values) -> float:
    """By how much the lowest of some frequencies is below the highest."""
    highest = float(values.max())
    return 1 - float(values.min()) / highest if highest else 0.0


def _heat(tables: Tables, limits: Limits) -> Finding | None:
    def on_host(host: ReadHost) -> Finding | None:
        grown = host.readings.growth(*HEAT, tables.holds)
        if grown is None:
            return None
        times = max(round(grown), 0)
        sentence = (
            f"cores{host.after('of')} were thermally throttled {wording.several(times, 'time')} in "
            "the measurement window"
        )
        finding = found(limits.of(THROTTLES), times, sentence, "Improve the cooling, then repeat")
        return meaning(finding, "the machine was slower meanwhile")

    return read_hosts.worst(map(on_host, read_hosts.of_server(tables, HEAT)))
