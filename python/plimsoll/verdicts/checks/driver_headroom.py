"""Which side was the limit, and had the driver some of its cores to spare?

Measured is the busiest second of the busiest core of the driver. Beyond the limit a closed load is
held back by the driver: it reads answers late and sends the next requests late, so both throughput
and times are in part its own.

Then the server decides what the number is worth. At the edge of its own cores (beyond
`server_busy_ratio`) it could not have answered many more, whatever the driver did: throughput is
short of the truth by at most the share the server had to spare, and the verdict is doubtful, never
void, because times still contain the driver's delays. Where the server had cores to spare the
driver was the limit, and the throughput is the driver's.

Where server and driver share cores nobody can say whose time a core was. A host that is full is
then doubtful, whatever the driver's own share.

Where this host was calibrated, the recording says what as many threads of the driver could have
done at most on cores of their own, told from the processor time that a request costs it. This holds
also where the server was the limit, and the sentence then says how far away the driver's was.

A driver that stopped for a moment, or had too much to do at a time (longest pause), saw late what
the server did meanwhile.

Source: utilisation of the load generator; Hyperfoil warns of itself from 80 % on, Locust from 90 %.
The ceiling is that of `plimsoll calibrate`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from plimsoll.aggregate import cores
from plimsoll.verdicts import wording
from plimsoll.verdicts.finding import Finding, found, unknown, verdict

if TYPE_CHECKING:
    from plimsoll.aggregate.trial import Tables
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "driver_headroom"
SOURCE = "busy time of the driver's cores against the server's; proc_stat(5), proc_pid_stat(5)"
MORE_CORES = "Give the driver more cores, or a host of its own, or give the server fewer cores"


def judge(tables: Tables, limits: Limits) -> Verdict:
    """Whether the driver had cores to spare, and which side was the limit."""
    findings = [
        _busy(tables, limits),
        *_calibrated(tables, limits),
        *_shared(tables, limits),
        *_paused(tables, limits),
    ]
    return verdict(NAME, tables.recording.trial, findings, SOURCE)


def _busy(tables: Tables, limits: Limits) -> Finding:
    limit = limits.of(NAME, "driver_busy_ratio")
    driver = tables.summary["driver_peak_busy_ratio"]
    if driver is None:
        sentence = "how busy the driver was could not be read, so it may have been the limit"
        return unknown(limit, sentence, "Run the driver on a host whose processes can be read")
    server = cores.server_busy_ratio(tables.recording, tables.usage)
    is_full = server is not None and _at_limit(server, limits)
    finding = found(limit, driver, "", MORE_CORES)
    if is_full and finding.level == "void":
        finding = replace(finding, level="doubtful")
    told = f"{_sentence(tables, driver, server)}: {_limit_was(tables, finding, server, is_full)}"
    reach = "" if finding.level == "void" else _reach(tables)
    return replace(finding, sentence=told + reach)


def _reach(tables: Tables) -> str:
    """What the driver could have done, as a clause; empty when nobody knows."""
    reached = _ceiling_per_s(tables)
    if reached is None or tables.summary["throughput_per_s"] > reached:
        return ""
    return f"; by calibration it alone could have done {wording.count(reached)} requests per second"


def _ceiling_per_s(tables: Tables) -> float | None:
    driver = tables.recording.driver
    return driver.calibrated_ceiling_per_s if driver else None


def _calibrated(tables: Tables, limits: Limits) -> list[Finding]:
    """How near the throughput came to what the driver can do at most."""
    reached = _ceiling_per_s(tables)
    if not reached:
        return []
    throughput = tables.summary["throughput_per_s"]
    ratio = throughput / reached
    sentence = (
        f"{wording.count(throughput)} answers per second are {wording.percent(round(ratio, 3))} of "
        f"the {wording.count(reached)} that the driver can do at most, by the calibration of this "
        "host"
    )
    return [found(limits.of(NAME, "ceiling_ratio"), ratio, sentence, MORE_CORES)]


def _at_limit(server: float, limits: Limits) -> bool:
    return limits.of(NAME, "server_busy_ratio").level(server) == "sound"


def _sentence(tables: Tables, driver: float, server: float | None) -> str:
    part = "busiest core was" if cores.own_cores(tables.recording) else "threads were"
    busy = wording.percent(round(driver, 3))
    kept = tables.summary["server_busy_cores"]
    if server is not None:
        told = f"the server kept {wording.percent(round(server, 3))} of its own busy"
    elif kept is not None:
        told = f"the server kept {wording.cores(kept)} busy, of a number that is unknown"
    else:
        told = "how busy the server was could not be read"
    return f"the driver's {part} {busy} busy in the busiest second, and {told}"


def _limit_was(tables: Tables, finding: Finding, server: float | None, is_full: bool) -> str:
    """Which side was the limit, as far as it can be told."""
    if is_full and server is not None:
        return "the server was the limit" if finding.level == "sound" else _joint(server)
    if finding.level == "sound":
        return "the driver was not the limit"
    if others := cores.noted_other_cores(tables.recording, tables.usage):
        return (
            f"other programs took {wording.cores(others)} from them, so nobody knows what the "
            "server could have done"
        )
    if server is None:
        return "the driver may have been the limit"
    if finding.level == "void":
        return "the driver was the limit, and the throughput is the driver's, not the server's"
    return "the driver was close to its limit before the server was"


def _joint(server: float) -> str:
    """Both sides at their limits: throughput stands, times contain the driver's delays."""
    spare = round(1 / server - 1, 3)
    more = f"{wording.percent(spare)} more at the most" if spare > 0 else "no more"
    return (
        f"the server was at its limit and could have answered {more}, but the driver was at or "
        "near its own, and response times contain its delays"
    )


def _shared(tables: Tables, limits: Limits) -> list[Finding]:
    """How full the host was, where server and driver are not kept apart."""
    recording = tables.recording
    if recording.server is None or recording.driver is None or cores.own_cores(recording):
        return []
    if recording.load.get("model") == "unknown":
        return []
    limit = limits.of(NAME, "machine_busy_ratio")
    count = len(cores.all_cores(tables.usage))
    windows = cores.whole_seconds(recording)
    rates = (tables.usage.rate("machine", "core_busy_s", [window]) for window in windows)
    known = [rate for rate in rates if rate is not None]
    if not count or not known:
        sentence = "server and driver share cores, and how busy these were could not be read"
        return [unknown(limit, sentence, MORE_CORES)]
    ratio = min(max(known) / count, 1.0)
    sentence = (
        f"server and driver share {wording.several(count, 'core')}, which were "
        f"{wording.percent(round(ratio, 3))} busy in the busiest second: each took time from the "
        "other"
    )
    remedy = "Give server and driver cores of their own (`server_cores`, `driver_cores`)"
    return [found(limit, ratio, sentence, remedy)]


def _paused(tables: Tables, limits: Limits) -> list[Finding]:
    driver = tables.recording.driver
    if driver is None or driver.longest_pause_ns is None:
        return []
    pause_s = driver.longest_pause_ns / 1e9
    sentence = (
        f"the driver once did not look for {wording.seconds(pause_s)}; what happened meanwhile was "
        "measured late"
    )
    remedy = "Stop what else runs on this host, and give the driver a core of its own"
    return [found(limits.of(NAME, "longest_pause_s"), pause_s, sentence, remedy)]
