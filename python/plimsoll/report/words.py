"""Words: numbers, facts and levels as people read them, the same in every format of a report."""

from __future__ import annotations

import math
import re
import shlex
from collections import Counter
from typing import TYPE_CHECKING, Any, cast

from plimsoll import texts, wording
from plimsoll import verdicts as judging
from plimsoll.aggregate.summary import STATISTICS
from plimsoll.campaign.load import Load
from plimsoll.provenance import ID_LENGTH, STATED
from plimsoll.recording import HOST
from plimsoll.statistics import quantiles
from plimsoll.verdicts import levels
from plimsoll.verdicts.levels import by_checks

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from plimsoll.aggregate.steady_state import SteadyState
    from plimsoll.aggregate.summary import Summary
    from plimsoll.campaign.load import Stage, UnknownLoad
    from plimsoll.findings.trial import State, TrialFindings
    from plimsoll.machine import Fact
    from plimsoll.provenance import Part
    from plimsoll.recording import Driver, RecordedServer, Recording, ResponseHead
    from plimsoll.recording.tls import NegotiatedTls
    from plimsoll.statistics.intervals import Estimate
    from plimsoll.verdicts.verdict import Level, Verdict

MARKS: dict[State, str] = {
    "not_checked": "○",
    "sound": "✓",
    "doubtful": "▲",
    "void": "✕",
    "failed": "■",
}
"""A mark for each state, distinguished by its shape."""

MOST_LEVELS = 6
"""Levels of a hold that are listed one by one."""

STATISTIC_HEADINGS = (
    *("mean", "min", "25 %", "50 %", "75 %", "90 %", "95 %", "99 %"),
    *("99.9 %", "99.99 %", "max"),
)
"""Headings of `tables.STATISTICS`."""

TIMES = {
    "response_time": ("response time", "done − due"),
    "service_time": ("service time", "done − sent"),
    "first_byte": ("time to first byte", "first byte − sent"),
    "connect": ("time to connect", "handshake complete − connect called, whole trial"),
    "lag": ("scheduling delay", "sent − due"),
}
"""Times of a summary: their names, and what they are."""

_TIME_UNITS = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns"))


def middle_rate(middle: Estimate | None) -> tuple[str, str]:
    """A rate and its 95 % interval: `8,050/s` and `7,439–8,711`, each `–` where there is none."""
    if middle is None:
        return wording.ABSENT, wording.ABSENT
    ends = middle.interval
    return wording.per_second(
        middle.value
    ), wording.ABSENT if ends is None else f"{wording.number(ends.low)}–{wording.number(ends.high)}"


def middle_value(middle: Estimate | None) -> float | None:
    """The number itself; None where there is none."""
    return None if middle is None else middle.value


def ratio(middle: Estimate | None) -> tuple[str, str]:
    """A ratio and its 95 % interval: `× 1.07` and `0.98–1.17`, each `–` where there is none."""
    if middle is None:
        return wording.ABSENT, wording.ABSENT
    ends = middle.interval
    return (
        f"× {wording.decimals(middle.value, 2)}",
        wording.ABSENT
        if ends is None
        else f"{wording.decimals(ends.low, 2)}–{wording.decimals(ends.high, 2)}",
    )


def of_best(ratio: Estimate | None) -> str:
    """A ratio to the best: `0.73 × (0.70–0.76)`, `1 ×` of the best itself; `–` for none."""
    if ratio is None:
        return wording.ABSENT
    if ratio.value == 1:
        return "1 ×"
    ends = ratio.interval
    if ends is None:
        return f"{_share(ratio.value, 1)} ×"
    width = ends.high - ends.low
    reported = (_share(value, width) for value in (ratio.value, ends.low, ends.high))
    return "{} × ({}–{})".format(*reported)


def _share(value: float, width: float) -> str:
    """A ratio below one, with as many decimals as an interval of this width deserves."""
    places = 2 if width > 0.02 and value >= 0.1 else 3 if value >= 0.01 else 4  # noqa: PLR2004
    return wording.decimals(value, places)


def times_as(ratio: Estimate | None, name: str = "") -> str:
    """A ratio to another one: `1.35 × node (1.21–1.50)`; `–` where there is none."""
    if ratio is None:
        return wording.ABSENT
    return " ".join(
        part for part in (wording.factor(ratio.value), "×", name, _between(ratio)) if part
    )


def _between(ratio: Estimate) -> str:
    ends = ratio.interval
    return "" if ends is None else f"({wording.factor(ends.low)}–{wording.factor(ends.high)})"


def measured(verdict: Verdict) -> str:
    """What a verdict measured, with its unit."""
    return _with_unit(verdict.measured, verdict.unit)


def limit(verdict: Verdict) -> str:
    """The limit of a verdict, with its unit."""
    return _with_unit(verdict.limit, verdict.unit)


_BEFORE_COUNT = re.compile(r"(?<=[a-z×]) (?=[\d,.]*\d(?:[,;.)]|$))")

_PLACES_OF_A_MEASURE = 6
"""Decimals of a share in percent: what is left of a difference of two equal sums is 0."""


_ONE = {"bodies": "body", "entries": "entry", "processes": "process"}
"""Units of counts whose singular is not theirs without an s."""


def _with_unit(value: float | None, unit: str) -> str:
    if value is None:
        return wording.ABSENT
    if unit == "ratio":
        return f"{wording.number(round(100 * value, _PLACES_OF_A_MEASURE), 3)} %"
    return f"{wording.number(value)} {_of_one(unit) if value == 1 else unit}".rstrip()


def _of_one(unit: str) -> str:
    """A unit behind a 1: `1 server`, but `1 s`."""
    is_plural = unit.isalpha() and len(unit) > 1
    return _ONE.get(unit, unit.removesuffix("s")) if is_plural else unit


def level_text(level: Level | State) -> str:
    """A level with its mark: `▲ doubtful`."""
    return f"{MARKS[level]} {level_name(level)}"


def level_name(level: Level | State) -> str:
    """A level as people read it: `not checked`."""
    return level.replace("_", " ")


def verdicts_text(verdicts: Sequence[Verdict]) -> str:
    """Some verdicts in one line: the level, by how many checks, or the worst sentence.

    A level without a doubt is followed by the names of the checks that could not be made.

    Args:
        verdicts: Those on one trial.
    """
    level = levels.of_trial(verdicts)
    bad = [verdict for verdict in verdicts if verdict.level == level and verdict.is_doubting]
    if not bad:
        names = [judging.catalogue.title_of(one) for one in levels.unmade(verdicts)]
        missing = f"; not checked: {wording.listed(names)}" if names else ""
        return f"{level_text(level)} {by_checks(verdicts)}{missing}"
    more = f" (and {wording.several(len(bad) - 1, 'more check')})" if bad[1:] else ""
    problem = judging.catalogue.title_of(bad[0])
    return f"{level_text(level)}: {problem}: {first(bad[0])}{more}"


def first(verdict: Verdict) -> str:
    """The first sentence of a verdict, without its full stop, on one line."""
    return texts.line(verdict.sentences[0].clause)


def wrapped(text: str, width: int, indent: str = "") -> str:
    """A text broken into lines between words, as `texts.wrapped`.

    A number stays with its unit, and with what it counts.
    """
    counted = _BEFORE_COUNT.sub("\u00a0", texts.line(text))
    return texts.wrapped(wording.bound(counted), width, indent)


def is_imported(recording: Recording) -> bool:
    """Whether another tool generated the load and only its files were taken in."""
    return recording.load.model == "unknown"


def load_text(load: Load | UnknownLoad, *, unusual: bool = False) -> str:
    """A load in one sentence: what is requested, how long, on which connections.

    Args:
        load: The load.
        unusual: Whether what is so by default is left out.
    """
    if load.model == "unknown":
        return "recorded by another tool; the requested load is unknown"
    stages = ", ".join(map(_stage_text, load.stages))
    limit = load.request_limit if load.model == "closed" else None
    if limit and len(load.stages) == 1:
        (hold,) = load.stages
        most = f"up to {wording.seconds(hold.duration_s)} " if load.is_timed else ""
        stages = f"hold {most}at {_level(hold.end)}"
    unit = "connections" if load.model == "closed" else "arrivals per second"
    parts = [f"{load.model} model ({unit}): {stages}", *_arrival_text(load)]
    if not (unusual and load.keeps_connections):
        parts.append(_connection_text(load))
    parts.extend(_protocol_text(load))
    if load.think_time_s:
        parts.append(f"think time {wording.seconds(load.think_time_s)}")
    if load.timeout_s and not (unusual and load.timeout_s == Load.timeout_s):
        parts.append(f"timeout {wording.seconds(load.timeout_s)}")
    if limit:
        what = requests(load).removesuffix("s")
        parts.append(f"ends after {wording.several(limit, what)}")
    if load.threads:
        parts.append(wording.several(load.threads, "load generator thread"))
    if load.server_cores:
        parts.append(f"server on core {', '.join(map(str, load.server_cores))}")
    return "; ".join(parts)


def requests(load: Load | UnknownLoad) -> str:
    """What requests are called: messages of WebSocket, or events of a stream."""
    if load.events:
        return "events"
    return "messages" if load.protocol == "websocket" else "requests"


def time_name(name: str, load: Load | UnknownLoad) -> str:
    """What a time of a summary is called; that of a message is its round trip."""
    if name == "response_time" and load.events:
        return "between events"
    if name == "response_time" and load.protocol == "websocket":
        return "round trip"
    return TIMES[name][0]


def redirects_text(recording: Recording) -> str:
    """How many redirects were followed; empty where none is."""
    if recording.driver is None or not recording.load.follow:
        return ""
    return (
        f"{wording.count(recording.driver.redirects)} followed; times are of all hops of a request"
    )


def decoded_text(recording: Recording) -> str:
    """What bodies were decoded from and to; empty where compressed ones were not accepted."""
    codings = dict.fromkeys(name for one in recording.expected for name in one.codings)
    if recording.driver is None or not codings:
        return ""
    found = recording.driver.decoded
    if not found.bodies:
        return f"no body was compressed, though {', '.join(codings)} was accepted"
    bytes_each = (
        f"{wording.size(found.coded_bytes)} compressed, {wording.size(found.decoded_bytes)} decoded"
    )
    return f"bodies of {wording.several(found.bodies, 'response')}: {bytes_each}"


def tls_text(recording: Recording) -> str:
    """What handshakes of TLS agreed on, how many there were, and who was trusted.

    Empty without TLS. Where they agreed on several things, these are listed.
    """
    requested, driver = recording.tls, recording.driver
    if requested is None or driver is None:
        return ""
    agreed = dict.fromkeys(_agreed(one) for one in driver.tls if not one.resumed or one.group)
    full, resumed = (
        sum(one.connections for one in driver.tls if one.resumed == is_resumed)
        for is_resumed in (False, True)
    )
    parts = [
        " or ".join(agreed),
        f"{wording.several(full, 'full handshake')}, {wording.count(resumed)} resumed",
    ]
    if requested.trusted == "anyone":
        parts.append("any certificate accepted")
    return "; ".join(filter(None, parts))


def _agreed(one: NegotiatedTls) -> str:
    return ", ".join(filter(None, (one.version, one.cipher, one.group, one.alpn)))


def _protocol_text(load: Load) -> Iterator[str]:
    """What is spoken besides plain HTTP/1, and how much of it at one time on one connection."""
    over_tls = " over TLS" if load.tls else ""
    if load.protocol == "http2":
        yield f"HTTP/2{over_tls}, {wording.several(load.streams, 'stream')} on each"
    elif load.protocol == "websocket":
        yield f"WebSocket{over_tls}, {load.message} messages"
    elif load.tls:
        yield "HTTP/1.1 over TLS"
    if load.events:
        yield "each event is timed from the previous one"
    if load.pipeline > 1:
        yield f"{load.pipeline} {requests(load)} in flight on each"


def _stage_text(stage: Stage) -> str:
    kind = stage.kind.replace("_", "-")
    start, end = _level(stage.start), _level(stage.end)
    level = f"at {end}" if start == end else f"from {start} to {end}"
    stepped = f" in {stage.steps} steps" if start != end and stage.steps > 1 else ""
    return f"{kind} {wording.seconds(stage.duration_s)} {level}{stepped}"


def _level(requested: float) -> str:
    """Connections or a rate as they were typed: `1,000`, `0.5`."""
    return wording.every_digit(requested)


def _arrival_text(load: Load) -> Iterator[str]:
    """How the requests of an open load arrive, and on how many connections."""
    if load.model == "open":
        if load.arrivals == "poisson":
            yield "Poisson arrivals"
        if load.connections:
            yield f"a pool of {wording.several(load.connections, 'connection')}"
        if load.tolerance_s:
            yield f"sent up to {wording.seconds(load.tolerance_s)} late"


def _connection_text(load: Load) -> str:
    if not load.keep_alive:
        return f"a new connection for each {requests(load).removesuffix('s')}"
    each = load.requests_per_connection
    return (
        f"{wording.count(each)} {requests(load)} on a connection"
        if each
        else "connections kept alive"
    )


def measured_time(value_ns: float | None, recording: Recording) -> str:
    """A time as the load generator resolves it: `5 ms`, `< 1 ms`; `–` for none."""
    step_s = 0.0 if recording.driver is None else recording.driver.durations_step_s
    if value_ns is not None and value_ns < step_s * 1e9:
        return f"< {wording.seconds(step_s)}"
    return wording.duration(value_ns)


def headline(trial: TrialFindings) -> list[tuple[str, str, str]]:
    """The main numbers of a trial: name, number, and what belongs to it."""
    summary = trial.summary
    if summary is None:
        return []
    time = summary.time(summary.latency_kind)
    return [
        (
            "Goodput",
            wording.per_second(summary.goodput_per_s),
            f"throughput {wording.per_second(summary.throughput_per_s)}",
        ),
        (
            f"{TIMES[summary.latency_kind][0].capitalize()}, median",
            measured_time(time.p50_ns, trial.recording),
            f"99 % {measured_time(time.p99_ns, trial.recording)}",
        ),
        (
            "Failed",
            wording.percent(summary.failure_ratio),
            f"{wording.count(summary.failed)} of {wording.count(summary.ok + summary.failed)}",
        ),
        (
            "Server CPU",
            wording.busy_cores(summary.server_busy_cores),
            f"{wording.per_second(summary.requests_per_core_s)} per busy core"
            if summary.requests_per_core_s is not None
            else "",
        ),
        (
            "Server memory, peak",
            wording.size(summary.server_peak_rss_bytes),
            f"PSS {wording.size(summary.server_peak_pss_bytes)}",
        ),
        (
            "Load generator CPU",
            wording.busy_cores(summary.driver_busy_cores),
            f"busiest core {wording.percent(summary.driver_peak_busy_ratio)}",
        ),
        *_energy(summary),
    ]


def _energy(summary: Summary) -> Iterator[tuple[str, str, str]]:
    """Energy of a response at the wall, and by RAPL, where it was measured."""
    for source, name in (("wall", "Energy at the wall"), ("rapl", "Energy, RAPL")):
        total_j = summary.value(f"{source}_j_per_ok")
        net_j = summary.value(f"{source}_net_j_per_ok")
        if net_j is not None:
            yield (
                f"{name}, above idle",
                f"{wording.joules(net_j)}/response",
                f"total {wording.joules(total_j)}",
            )
        elif total_j is not None:
            yield f"{name}, total", f"{wording.joules(total_j)}/response", ""


def times(summary: Summary) -> list[tuple[str, str, list[str]]]:
    """The table of times: name with unit, what it is, and its statistics in that unit.

    All numbers of a row have the same decimals, so that they can be compared at a glance.
    """
    rows: list[tuple[str, str, list[str]]] = []
    for kind, (name, meaning) in TIMES.items():
        values = [summary.time(kind).of(statistic) for statistic in STATISTICS]
        middle = values[0] or max((value for value in values if value), default=0.0)
        factor, unit = _unit_of(middle)
        digits = 0 if middle <= 0 else 2 - math.floor(math.log10(middle / factor))
        places = min(max(digits, 0), 3)
        texts = [
            wording.ABSENT if v is None else wording.decimals(v / factor, places) for v in values
        ]
        is_known = any(value is not None for value in values)
        rows.append((f"{name}, {unit}" if is_known else name, meaning, texts))
    return rows


def _unit_of(value_ns: float) -> tuple[float, str]:
    return next((pair for pair in _TIME_UNITS[:3] if value_ns >= pair[0]), _TIME_UNITS[2])


def why_absent(summary: Summary) -> str:
    """Why some percentiles are not shown; empty when all are."""
    responses, opened = summary.completed, summary.connections_opened or 0
    hidden = [
        f"{heading} from {wording.count(quantiles.rows_needed(quantiles.QUANTILES[statistic]))}"
        for statistic, heading in zip(STATISTICS, STATISTIC_HEADINGS, strict=True)
        if statistic in quantiles.QUANTILES
        and not quantiles.enough(min(responses, opened), quantiles.QUANTILES[statistic])
    ]
    if not hidden:
        return ""
    return (
        f"A percentile is shown where at least {quantiles.ROWS_ABOVE} values lie above it: "
        f"{', '.join(hidden)} values on; this trial has {wording.several(responses, 'response')} "
        "in the "
        f"measurement window and {wording.several(opened, 'connection')}."
    )


def percentile_needs(summary: Summary, statistics: Mapping[str, str], name: str) -> str:
    """How many responses those percentiles need that have too few; empty if there are none.

    `p99 needs 1,000 responses, 412 came; p99.9 10,000`.

    Args:
        summary: The summary.
        statistics: The statistics that are shown, and their headings.
        name: The time.
    """
    known, came = summary.time(name), summary.completed
    needs = [
        (heading, quantiles.rows_needed(quantiles.QUANTILES[one]))
        for one, heading in statistics.items()
        if one in quantiles.QUANTILES and known.of(one) is None
    ]
    lacking = [(heading, wording.count(rows)) for heading, rows in needs if rows > came]
    if not lacking:
        return ""
    (heading, rows), *others = lacking
    first = f"{heading} needs {rows} responses, {wording.count(came)} came"
    return "; ".join([first, *(" ".join(one) for one in others)])


def connection_count(name: str, summary: Summary, driver: Driver | None) -> float | None:
    """How many connections were `opened`, `refused` and so on.

    Args:
        name: What became of them.
        summary: The summary of a trial, by its rows.
        driver: Its load generator, whose own counters tell where rows stayed on hosts.
    """
    by_rows = summary.value(f"connections_{name}")
    if by_rows is not None or driver is None:
        return by_rows
    return {"opened": driver.opened, "refused": driver.refused}.get(name)


def connections(summary: Summary, driver: Driver | None) -> list[tuple[str, str, str]]:
    """What became of the connections: name, count, and what it counts."""
    names = {
        "requested": "largest number requested",
        "opened": "handshakes that completed",
        "with_response": "of these, with at least one response byte",
        "refused": "failed connection attempts",
        "lost": "closed by the server or by an error",
        "peak_open": "largest number open at one time",
    }
    return [
        (
            name.replace("_", " "),
            wording.count(connection_count(name, summary, driver)),
            meaning,
        )
        for name, meaning in names.items()
    ]


_RAN = {
    "version": "Versions",
    "file": "Files",
    "command": "Commands",
    "variable": "Environment",
    "program": "Programs",
}
"""Kinds of parts of an application, and how they are called."""

_DIGESTED = ("file", "program", "definition")

MOST_PARTS = 6
"""Versions, files or programs of one server that a page of paper has room for."""


def server_facts(recording: Recording) -> list[tuple[str, str]]:
    """Facts of the server's side: name and value."""
    server = recording.server
    if server is None:
        return []
    if is_imported(recording):
        return [("Cores", wording.count(server.workers))] if server.workers else []
    facts = [
        ("Application", recording.provenance.application_id),
        ("Started with", texts.line(server.command)),
        ("Ready after", wording.seconds(server.start_s)),
        ("Started once for", ", ".join(server.shared_by)),
        ("Memory at rest", _rest(server)),
        ("Host", "" if server.host == HOST else server.host),
        ("Cores", _core_list(server.cores)),
        ("Workers configured", wording.count(server.workers or None)),
        ("Listening sockets", wording.count(server.listeners)),
        ("Listen backlog", _backlog(server)),
        ("Stopped", _stop(server.clean_stop, server.exit_code, server.killed)),
        *((f"Response head of {head.request}", _head(head)) for head in recording.heads),
    ]
    return [fact for fact in facts if fact[1]]


def ran(recording: Recording, *, is_brief: bool = False) -> list[tuple[str, str]]:
    """What ran in a trial, kind by kind: name and value; empty if unknown.

    Args:
        recording: The trial.
        is_brief: Whether there is room for `MOST_PARTS` of a kind; the others are counted.
    """
    known = recording.provenance
    parts = {kind: _of_kinds(known.application, kind) for kind in _RAN}
    told = {kind: _brief(found) if is_brief else _parts(found) for kind, found in parts.items()}
    facts = [("Application", known.application_id)]
    facts += [(name, told[kind]) for kind, name in _RAN.items()]
    facts += [("Measured by", known.measurement_id)]
    measured = _of_kinds(known.measurement, "version", "program", "setting")
    facts += [("Measured with", _parts(measured))]
    return (
        [(name, texts.line(value)) for name, value in facts if value] if known.application else []
    )


def _of_kinds(parts: Sequence[Part], *kinds: str) -> list[Part]:
    """Those of some kinds; what a framework states of its version comes first."""
    found = [part for part in parts if part.kind in kinds]
    return sorted(found, key=lambda part: not _is_stated(part))


def _is_stated(part: Part) -> bool:
    return (part.kind, part.name) == ("version", STATED)


def _brief(parts: Sequence[Part]) -> str:
    """Some parts, and how many more there are; of many versions, what the framework states."""
    if len(parts) <= MOST_PARTS:
        return _parts(parts)
    stated = [part for part in parts if _is_stated(part)]
    shown = stated or parts[:MOST_PARTS]
    return f"{_parts(shown)}, and {len(parts) - len(shown)} more in the HTML report"


def _parts(parts: Sequence[Part]) -> str:
    """Some parts, with digests as short as an id."""
    return ", ".join(
        f"{part.name} {part.value[:ID_LENGTH] if part.kind in _DIGESTED else part.value}"
        for part in parts
    )


def steady_state_facts(state: SteadyState | None) -> list[tuple[str, str]]:
    """How soon throughput was there, and how it went in the hold: name and value."""
    if state is None:
        return []
    risen_s, levels = state.risen_after_s, state.levels_per_s
    reported = " → ".join(wording.per_second(level) for level in levels[:MOST_LEVELS])
    more = f" and {len(levels) - MOST_LEVELS} more" if levels[MOST_LEVELS:] else ""
    facts = [
        ("90 % of steady throughput after", _risen(risen_s)),
        ("Steady state", f"{state.name}{': ' if reported else ''}{reported}{more}"),
    ]
    return [fact for fact in facts if fact[1]]


def _risen(after_s: float | None) -> str:
    if after_s is None:
        return ""
    return wording.seconds(after_s) if after_s else "no time"


def _rest(server: RecordedServer) -> str:
    if server.rest_pss_bytes is None:
        return wording.size(server.rest_rss_bytes)
    return f"{wording.size(server.rest_rss_bytes)}, PSS {wording.size(server.rest_pss_bytes)}"


def _backlog(server: RecordedServer) -> str:
    if server.backlog is None:
        return wording.ABSENT
    requested = (
        ""
        if server.backlog_required is None
        else f"requested {wording.count(server.backlog_required)}, "
    )
    return f"{_places(server)} ({requested}host allows {wording.count(server.somaxconn)})"


def _head(head: ResponseHead) -> str:
    """Length of a head and what of it is which field, the longest first."""
    fields = sorted(head.fields.items(), key=lambda field: -field[1])
    reported = ", ".join(f"{name} {length}" for name, length in fields)
    known = head.segments is not None
    segments = (
        f"; {wording.several(head.segments or 0, 'TCP segment')} with the body" if known else ""
    )
    return f"{wording.count(head.bytes)} bytes ({reported}){segments}"


def listen_queue(server: RecordedServer) -> str:
    """Places of each listening socket, and the requested number if that is more."""
    if server.backlog is None:
        return wording.ABSENT
    if not is_queue_short(server):
        return _places(server)
    host = server.somaxconn
    capped = (
        host is not None and server.backlog_required is not None and host < server.backlog_required
    )
    allowed = f", host allows {wording.count(host)}" if capped else ""
    return f"{_places(server)}, requested {wording.count(server.backlog_required)}{allowed}"


def is_queue_short(server: RecordedServer) -> bool:
    """Whether a listening socket has fewer places than the contract requires."""
    if server.backlog is None or server.backlog_required is None:
        return False
    return min(server.backlogs or (server.backlog,)) < server.backlog_required


def _places(server: RecordedServer) -> str:
    """Places of each listening socket: `4,096`, `2 × 4,096`, `128 and 2 × 4,096`."""
    sockets = Counter(server.backlogs or (server.backlog or 0,))
    return " and ".join(
        wording.count(places) if count == 1 else f"{count} × {wording.count(places)}"
        for places, count in sorted(sockets.items())
    )


def _stop(clean: bool | None, code: int | None, killed: int) -> str:
    if clean is None:
        return ""
    if clean:
        return "clean, in time"
    ways = [f"exit code {code}" if code is not None else "", f"{killed} killed" if killed else ""]
    return ", ".join(way for way in ways if way) or "not clean"


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
        ("Load generator", f"{driver.name} {driver.version}".strip()),
        *([("Command", shlex.join(driver.command))] if driver.command else []),
        ("Cores", _core_list(driver.cores)),
        ("Threads", wording.count(driver.threads)),
        *([("TLS", tls_text(recording))] if recording.tls else []),
        *([("Redirects", text)] if (text := redirects_text(recording)) else []),
        *([("Compression", text)] if (text := decoded_text(recording)) else []),
        ("Memory, peak", wording.size(driver.peak_rss_bytes)),
        ("Longest pause", wording.duration(driver.longest_pause_ns)),
        ("Bodies compared in full", wording.count(driver.bodies_compared)),
        ("Rows lost", wording.count(driver.requests_lost_by_recorder)),
        ("Ended by", driver.ended_by.replace("_", " ")),
        ("Seed", str(recording.seed)),
    ]


def machine(facts: Mapping[str, Fact]) -> str:
    """A machine in one line: processor, cores, memory, system, and whether it is a virtual one."""
    memory = facts.get("memory_bytes")
    cores = facts.get("cores")
    parts = [
        facts.get("cpu_model"),
        wording.several(len(cores), "core") if isinstance(cores, list) and cores else None,
        wording.size(memory) if isinstance(memory, int) and memory else None,
        facts.get("distribution"),
        f"kernel {facts['kernel']}" if facts.get("kernel") else None,
        "virtual" if facts.get("virtual") else None,
    ]
    return ", ".join(str(part) for part in parts if part) or "an unknown machine"


def fact(name: str, value: Any) -> tuple[str, str]:
    """A fact of a machine, its unit read from its name: `memory_bytes`, 16e9: `Memory`, `16 GB`."""
    for suffix, write in (
        ("_bytes", wording.size),
        ("_ns", wording.duration),
        ("_s", wording.seconds),
    ):
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
        return wording.number(value, 6)
    if isinstance(value, list | tuple):
        parts = cast("Sequence[Any]", value)
        return ", ".join(_plain(part) for part in parts) or wording.ABSENT
    return wording.ABSENT if value is None else str(value)
