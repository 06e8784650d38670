"""Words: numbers, facts and levels as people read them, the same in every format of a report."""

from __future__ import annotations

import math
import shlex
from collections import Counter
from typing import TYPE_CHECKING, Any, cast

from plimsoll.aggregate import percentiles
from plimsoll.aggregate.summaries import told_time
from plimsoll.canvas import counted, per_second, significant
from plimsoll.verdicts.verdict import worst

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from plimsoll.aggregate.intervals import Middle
    from plimsoll.recording import Recording, Server
    from plimsoll.report.findings import State, TrialFindings
    from plimsoll.verdicts.verdict import Level, Verdict

ABSENT = "–"
"""Stands for a number that there is not."""

MARKS: dict[State, str] = {"sound": "✓", "doubtful": "▲", "void": "✕", "failed": "■"}
"""A mark for each state, told apart by its shape."""

STATISTICS = ("mean", "min", "p25", "p50", "p75", "p90", "p95", "p99", "p999", "p9999", "max")
"""Statistics of a time, in the order of a table."""

MOST_LEVELS = 6
"""Levels of a hold that are told one by one."""

STATISTIC_HEADINGS = (
    *("mean", "min", "25 %", "50 %", "75 %", "90 %", "95 %", "99 %"),
    *("99.9 %", "99.99 %", "max"),
)
"""Headings of `STATISTICS`."""

TIMES = {
    "response_time": ("response time", "done − due"),
    "service_time": ("service time", "done − sent"),
    "first_byte": ("time to first byte", "first byte − sent"),
    "connect": ("time to connect", "handshake complete − connect called, whole trial"),
    "lag": ("lag of the driver", "sent − due"),
}
"""Times of a summary: their names, and what they are."""

_TIME_UNITS = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns"))
_BYTE_UNITS = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B"))


def number(value: float | None, digits: int = 4) -> str:
    """A number with a few significant digits and its thousands apart; `–` for none."""
    if value is None or not math.isfinite(value):
        return ABSENT
    if abs(value) >= 10 ** (digits - 1):
        return f"{value:,.0f}"
    rounded = significant(value, digits)
    return f"{rounded:,}"


def duration(value_ns: float | None) -> str:
    """A time in its natural unit: `1.23 ms`."""
    return _in_unit(value_ns, _TIME_UNITS)


def size(value_bytes: float | None) -> str:
    """An amount of memory or traffic in its natural unit: `22.4 MB`."""
    return _in_unit(value_bytes, _BYTE_UNITS)


def _in_unit(value: float | None, units: tuple[tuple[float, str], ...]) -> str:
    if value is None or not math.isfinite(value):
        return ABSENT
    factor, unit = next((pair for pair in units if abs(value) >= pair[0]), units[-1])
    return f"{number(value / factor, 3)} {unit}"


def rate(value_per_s: float | None) -> str:
    """A rate: `12,345/s`."""
    return ABSENT if value_per_s is None else per_second(value_per_s)


def share(value_ratio: float | None) -> str:
    """A ratio as a percentage: `0.98 %`; `0` stays bare."""
    if value_ratio is None:
        return ABSENT
    return "0 %" if value_ratio == 0 else f"{number(100 * value_ratio, 2)} %"


def middle_rate(middle: Middle | None) -> tuple[str, str]:
    """A rate and its 95 % interval: `8,050/s` and `7,439–8,711`, each `–` where there is none."""
    if middle is None:
        return ABSENT, ABSENT
    ends = middle.interval
    return rate(middle.value), ABSENT if ends is None else f"{number(ends.low)}–{number(ends.high)}"


def middle_value(middle: Middle | None) -> float | None:
    """The number itself; None where there is none."""
    return None if middle is None else middle.value


def power(value_w: float | None) -> str:
    """A power: `12.3 W`."""
    return ABSENT if value_w is None else f"{number(value_w, 3)} W"


def ratio(middle: Middle | None) -> tuple[str, str]:
    """A ratio and its 95 % interval: `× 1.07` and `0.98–1.17`, each `–` where there is none."""
    if middle is None:
        return ABSENT, ABSENT
    ends = middle.interval
    return f"× {middle.value:.2f}", ABSENT if ends is None else f"{ends.low:.2f}–{ends.high:.2f}"


def seconds(value_s: float | None) -> str:
    """A time given in seconds: `213 ms`, `5 s`, `4 min`."""
    if value_s is not None and value_s >= 120 and value_s % 60 == 0:  # noqa: PLR2004
        return f"{value_s / 60:g} min"
    return duration(None if value_s is None else value_s * 1e9)


def plain(text: str) -> str:
    """A text on one line, without the signs that steer a terminal or break a document."""
    return "".join(sign if sign.isprintable() else " " for sign in text)


def plural(count: int, noun: str) -> str:
    """A count with its noun: `1 trial`, `2 trials`."""
    return f"{counted(count)} {noun}{'' if count == 1 else 's'}"


def measured(verdict: Verdict) -> str:
    """What a verdict measured, with its unit."""
    return _with_unit(verdict.measured, verdict.unit)


def limit(verdict: Verdict) -> str:
    """The limit of a verdict, with its unit."""
    return _with_unit(verdict.limit, verdict.unit)


def _with_unit(value: float | None, unit: str) -> str:
    if value is None:
        return ABSENT
    return f"{number(100 * value, 3)} %" if unit == "ratio" else f"{number(value)} {unit}".rstrip()


def check_name(check: str) -> str:
    """A check as people read it: `littles_law` is `Little's law`."""
    names = {"littles_law": "Little's law"}
    return names.get(check, check.replace("_", " ").capitalize())


def level_text(level: Level | State) -> str:
    """A level with its mark: `▲ doubtful`."""
    return f"{MARKS[level]} {level}"


def verdicts_text(verdicts: Sequence[Verdict]) -> str:
    """Some verdicts in one line: the level, and the first sentence of the worst of them."""
    level = worst(verdict.level for verdict in verdicts)
    if level == "sound":
        return f"{level_text(level)} by {plural(len(verdicts), 'check')}"
    bad = [verdict for verdict in verdicts if verdict.level == level]
    more = f" (and {plural(len(bad) - 1, 'check')} more)" if bad[1:] else ""
    return f"{level_text(level)}: {check_name(bad[0].check)}: {first(bad[0].statement)}{more}"


def is_untold(verdict: Verdict, recording: Recording) -> bool:
    """Whether a check knows nothing, in a recording of another tool, of which most know little."""
    driver = recording.driver
    is_foreign = driver is not None and driver.figures is not None
    return (is_foreign or is_imported(recording)) and verdict.measured is None


def is_imported(recording: Recording) -> bool:
    """Whether another tool put on the load and only its files were taken in."""
    return recording.load.get("model") == "unknown"


def untold_text(verdicts: Sequence[Verdict]) -> str:
    """The checks that know nothing, in one sentence."""
    return f"Not told by this recording: {', '.join(check_name(one.check) for one in verdicts)}"


def first(statement: str) -> str:
    """The first sentence of a statement, without its full stop."""
    return plain(statement).split(". ", maxsplit=1)[0].rstrip(".")


def load_text(load: Mapping[str, Any]) -> str:
    """A load in one sentence: what is asked for, how long, on which connections."""
    stages = ", ".join(_stage_text(stage) for stage in load.get("stages", ()))
    model = str(load.get("model", "closed"))
    if model == "unknown":
        return "recorded by another tool; what it was asked for is not known"
    unit = "connections" if model == "closed" else "arrivals per second"
    parts = [f"{model} model ({unit}): {stages}", *_arrival_text(load), _connection_text(load)]
    if load.get("pipeline", 1) > 1:
        parts.append(f"{load['pipeline']} requests in flight on each")
    if load.get("think_time_s"):
        parts.append(f"think time {seconds(load['think_time_s'])}")
    if load.get("timeout_s"):
        parts.append(f"timeout {seconds(load['timeout_s'])}")
    if load.get("request_limit"):
        parts.append(f"ends after {counted(load['request_limit'])} requests")
    if load.get("threads"):
        parts.append(f"{plural(load['threads'], 'thread')} of the driver")
    if load.get("server_cores"):
        parts.append(f"server on core {', '.join(map(str, load['server_cores']))}")
    return "; ".join(parts)


def _stage_text(stage: Mapping[str, Any]) -> str:
    kind = str(stage["kind"]).replace("_", "-")
    start, end = counted(stage["start"]), counted(stage["end"])
    level = f"at {end}" if start == end else f"from {start} to {end}"
    steps = stage.get("steps", 1)
    stepped = f" in {steps} steps" if start != end and steps > 1 else ""
    return f"{kind} {seconds(stage['duration_s'])} {level}{stepped}"


def _arrival_text(load: Mapping[str, Any]) -> Iterator[str]:
    """How the requests of an open load arrive, and on how many connections."""
    if load.get("model") == "open":
        if load.get("arrivals") == "poisson":
            yield "Poisson arrivals"
        if load.get("connections"):
            yield f"a pool of {plural(load['connections'], 'connection')}"


def _connection_text(load: Mapping[str, Any]) -> str:
    if not load.get("keep_alive", True):
        return "a new connection for each request"
    each = load.get("requests_per_connection")
    return f"{counted(each)} requests on a connection" if each else "connections kept alive"


def headline(trial: TrialFindings) -> list[tuple[str, str, str]]:
    """The main numbers of a trial: name, number, and what belongs to it."""
    summary = trial.summary
    if summary is None:
        return []
    time = told_time(summary)
    return [
        (
            "Right answers",
            rate(summary["goodput_per_s"]),
            f"all answers {rate(summary['throughput_per_s'])}",
        ),
        (
            f"{TIMES[time][0].capitalize()}, median",
            duration(summary[f"{time}_p50_ns"]),
            f"99 % {duration(summary[f'{time}_p99_ns'])}",
        ),
        (
            "Failed",
            share(summary["failure_ratio"]),
            f"{counted(summary['failed'])} of {counted(summary['ok'] + summary['failed'])}",
        ),
        (
            "Server CPU",
            cores(summary["server_busy_cores"]),
            f"{rate(summary['requests_per_core_s'])} per busy core"
            if summary["requests_per_core_s"] is not None
            else "",
        ),
        (
            "Server memory, peak",
            size(summary["server_peak_rss_bytes"]),
            f"PSS {size(summary['server_peak_pss_bytes'])}",
        ),
        (
            "Driver CPU",
            cores(summary["driver_busy_cores"]),
            f"busiest core {share(summary['driver_peak_busy_ratio'])}",
        ),
    ]


def cores(value: float | None) -> str:
    """A number of busy cores: `1.93 cores`."""
    if value is None:
        return ABSENT
    told = number(value, 3)
    return f"{told} core" if told == "1" else f"{told} cores"


def times(summary: Mapping[str, Any]) -> list[tuple[str, str, list[str]]]:
    """The table of times: name with unit, what it is, and its statistics in that unit.

    All numbers of a row have the same decimals, so that they can be compared at a glance.
    """
    rows: list[tuple[str, str, list[str]]] = []
    for kind, (name, meaning) in TIMES.items():
        values = [summary.get(f"{kind}_{statistic}_ns") for statistic in STATISTICS]
        middle = values[0] or max((value for value in values if value), default=0.0)
        factor, unit = _unit_of(middle)
        decimals = 0 if middle <= 0 else max(0, 2 - math.floor(math.log10(middle / factor)))
        texts = [ABSENT if v is None else f"{v / factor:,.{min(decimals, 3)}f}" for v in values]
        is_known = any(value is not None for value in values)
        rows.append((f"{name}, {unit}" if is_known else name, meaning, texts))
    return rows


def _unit_of(value_ns: float) -> tuple[float, str]:
    return next((pair for pair in _TIME_UNITS[:3] if value_ns >= pair[0]), _TIME_UNITS[2])


def why_absent(summary: Mapping[str, Any]) -> str:
    """Why some percentiles are not shown; empty when all are."""
    answers, opened = summary["completed"], summary["connections_opened"] or 0
    hidden = [
        f"{heading} from {counted(_rows_needed(statistic))}"
        for statistic, heading in zip(STATISTICS, STATISTIC_HEADINGS, strict=True)
        if statistic in percentiles.QUANTILES
        and not percentiles.enough(min(answers, opened), percentiles.QUANTILES[statistic])
    ]
    if not hidden:
        return ""
    return (
        f"A percentile is shown where at least {percentiles.ROWS_ABOVE} values lie above it: "
        f"{', '.join(hidden)} values on; there were {plural(answers, 'answer')} in the hold and "
        f"{plural(opened, 'connection')} in the trial."
    )


def _rows_needed(statistic: str) -> int:
    return math.ceil(round(percentiles.ROWS_ABOVE / (1 - percentiles.QUANTILES[statistic]), 6))


def connections(summary: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """What became of the connections: name, count, and what it counts."""
    names = {
        "asked": "most that the load asks for at one time",
        "opened": "handshakes that completed",
        "answered": "of these, with at least one byte of an answer",
        "refused": "attempts to connect that failed",
        "lost": "ended without being asked to",
        "peak_open": "most open at one time",
    }
    return [
        (name.replace("_", " "), counted_or_absent(summary[f"connections_{name}"]), meaning)
        for name, meaning in names.items()
    ]


def counted_or_absent(value: float | None) -> str:
    """A count; `–` for none."""
    return ABSENT if value is None else counted(value)


def server_facts(recording: Recording) -> list[tuple[str, str]]:
    """Facts of the server's side: name and value."""
    server = recording.server
    if server is None:
        return []
    if is_imported(recording):
        return [("Cores", counted(server.workers))] if server.workers else []
    facts = [
        ("Ready after", seconds(server.start_s)),
        ("Memory at rest", _rest(server)),
        ("Cores", _core_list(server.cores)),
        ("Workers told to use", counted_or_absent(server.workers or None)),
        ("Listening sockets", counted_or_absent(server.listeners)),
        ("Listen backlog", _backlog(server)),
        ("Stopped", _stop(server.clean_stop, server.exit_code, server.killed)),
    ]
    return [fact for fact in facts if fact[1]]


def course_facts(course: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    """How soon throughput was there, and how it went in the hold: name and value."""
    if course is None:
        return []
    risen_s, levels = course["risen_after_s"], course["levels_per_s"]
    told = " → ".join(rate(level) for level in levels[:MOST_LEVELS])
    more = f" and {len(levels) - MOST_LEVELS} more" if levels[MOST_LEVELS:] else ""
    facts = [
        ("90 % of steady throughput after", _risen(risen_s)),
        ("Course of the hold", f"{course['course']}{': ' if told else ''}{told}{more}"),
    ]
    return [fact for fact in facts if fact[1]]


def _risen(after_s: float | None) -> str:
    if after_s is None:
        return ""
    return seconds(after_s) if after_s else "no time"


def _rest(server: Server) -> str:
    if server.rest_pss_bytes is None:
        return size(server.rest_rss_bytes)
    return f"{size(server.rest_rss_bytes)}, PSS {size(server.rest_pss_bytes)}"


def _backlog(server: Server) -> str:
    if server.backlog is None:
        return ABSENT
    asked = "" if server.backlog_asked is None else f"asked {counted(server.backlog_asked)}, "
    return f"{_places(server)} ({asked}host allows {counted_or_absent(server.somaxconn)})"


def listen_queue(server: Server) -> str:
    """Places of each listening socket, and what it was asked to have where that is more."""
    if server.backlog is None:
        return ABSENT
    if not is_queue_short(server):
        return _places(server)
    host = server.somaxconn
    capped = host is not None and server.backlog_asked is not None and host < server.backlog_asked
    allowed = f", host allows {counted_or_absent(host)}" if capped else ""
    return f"{_places(server)}, asked {counted_or_absent(server.backlog_asked)}{allowed}"


def is_queue_short(server: Server) -> bool:
    """Whether a listening socket has fewer places than the contract has it ask for."""
    if server.backlog is None or server.backlog_asked is None:
        return False
    return min(server.backlogs or (server.backlog,)) < server.backlog_asked


def _places(server: Server) -> str:
    """Places of each listening socket: `4,096`, `2 × 4,096`, `128 and 2 × 4,096`."""
    sockets = Counter(server.backlogs or (server.backlog or 0,))
    return " and ".join(
        counted(places) if count == 1 else f"{count} × {counted(places)}"
        for places, count in sorted(sockets.items())
    )


def _stop(clean: bool | None, code: int | None, killed: int) -> str:
    if clean is None:
        return ""
    if clean:
        return "by itself, in time"
    ways = [f"exit code {code}" if code is not None else "", f"{killed} killed" if killed else ""]
    return ", ".join(way for way in ways if way) or "not by itself"


def _core_list(cores: tuple[int, ...]) -> str:
    if not cores:
        return "not confined"
    return f"{len(cores)} (number {', '.join(map(str, cores))})"


def driver_facts(recording: Recording) -> list[tuple[str, str]]:
    """Facts of the driver's side: name and value; of an import only the tool is known."""
    driver = recording.driver
    if driver is None:
        return []
    if is_imported(recording):
        return [("Tool", f"{driver.name} {driver.version}".strip())]
    return [
        ("Driver", f"{driver.name} {driver.version}".strip()),
        *([("Command", shlex.join(driver.command))] if driver.command else []),
        ("Cores", _core_list(driver.cores)),
        ("Threads", counted(driver.threads)),
        ("Memory, peak", size(driver.peak_rss_bytes)),
        ("Longest pause", duration(driver.longest_pause_ns)),
        ("Bodies compared in full", counted(driver.bodies_compared)),
        ("Rows lost", counted(driver.requests_lost_by_recorder)),
        ("Ended by", driver.ended_by.replace("_", " ")),
        ("Seed", str(recording.seed)),
    ]


def machine(facts: Mapping[str, Any]) -> str:
    """A machine in one line: processor, cores, memory, system, and whether it is a virtual one."""
    memory = facts.get("memory_bytes")
    cores = facts.get("cores")
    parts = [
        facts.get("cpu_model"),
        plural(len(cores), "core") if cores else None,
        size(memory) if memory else None,
        facts.get("distribution"),
        f"kernel {facts['kernel']}" if facts.get("kernel") else None,
        "virtual" if facts.get("virtual") else None,
    ]
    return ", ".join(str(part) for part in parts if part) or "unknown"


def fact(name: str, value: Any) -> tuple[str, str]:
    """A fact of a machine, its unit read from its name: `memory_bytes`, 16e9: `Memory`, `16 GB`."""
    for suffix, write in (("_bytes", size), ("_ns", duration), ("_s", seconds)):
        if name.endswith(suffix) and isinstance(value, int | float | None):
            return _sentence(name.removesuffix(suffix)), write(value)
    return _sentence(name), _plain(value)


def _sentence(name: str) -> str:
    words = name.replace("_", " ")
    return words[:1].upper() + words[1:]


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return number(value, 6)
    if isinstance(value, list | tuple):
        parts = cast("Sequence[Any]", value)
        return ", ".join(_plain(part) for part in parts) or ABSENT
    return ABSENT if value is None else str(value)
