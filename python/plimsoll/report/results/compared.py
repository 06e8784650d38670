"""The answer of a comparison: one sentence, a table, Markdown, JSON and JUnit.

Every statement is about B. Markdown stays below 40 lines, for a pull request.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import texts, wording
from plimsoll.comparison import regression_limit
from plimsoll.comparison.difference import AT_FULL_SPEED, ERROR, METRICS, MOST_FAILED
from plimsoll.comparison.turn_pairs import A, B
from plimsoll.comparison.until_decided import MOST_GROUPS
from plimsoll.report import level_text
from plimsoll.report.results import junit, sheet
from plimsoll.report.results.sheet import Sheet

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plimsoll.comparison.difference import Difference, Metric
    from plimsoll.comparison.until_decided import Compared, ComparedServers
    from plimsoll.statistics.paired import PairedRatio

FORMAT = 1
"""Version of the JSON document; its schema is `docs/schemas/compare-1.json`."""

NAMES: dict[Metric, str] = {
    "throughput": "throughput",
    "cpu_per_request": "CPU time per request",
    "p99": "p99 latency",
}
"""What may decide, as people read it."""

_LONG_S = 600.0

_MOST_MORE = 10
"""A comparison that would take so many times as long is not worth waiting for."""


_MOST = f"{MOST_GROUPS} groups, the most a comparison has"

RATIOS = ("B / A", "", "95 % interval")
"""Headings of the quantities of B / those of A."""


def sentence(end: Compared) -> str:
    """The answer in one sentence without a full stop."""
    found = end.difference
    after = f"decided after {_length(end.elapsed_s)}"
    if found.answer == "undecided":
        return _undecided(end)
    if found.answer == "same":
        if _is_cost_apart(found):
            same = f"B's throughput is the same as A's within {wording.percent(found.within)}"
            return f"{same}, but a request costs it {_cost(found)}, {after}"
        what = NAMES[found.witness or "throughput"]
        same = f"B is the same as A within {wording.percent(found.within)}"
        return f"{same}: {what} {_signed_with_interval(found.ratio)}, {after}"
    if found.witness == "cpu_per_request":
        return f"B is {found.answer}: a request costs it {_cost(found)}, {after}"
    if found.witness == "p99":
        return f"B is {found.answer}: its p99 is {_latency(found)}, {after}"
    return f"B is {_speed(found)}, {after}"


def progress(end: Compared) -> str:
    """How things stand after a group, without the answer."""
    found = end.difference
    metric = found.witness or found.deciding[0]
    seen = f"{NAMES[metric]} {_signed_with_interval(found.of(metric))}"
    is_open = found.answer == "undecided" and found.is_comparable
    more = _more(end, metric) if is_open else ""
    return f"group {found.groups}, {wording.count(end.elapsed_s)} s: {seen}{more}"


def remarks(end: Compared) -> Iterator[str]:
    """What else must be known, a sentence each, with a full stop."""
    found = end.difference
    if found.groups and found.groups < 3:  # noqa: PLR2004 - starts
        yield "Intervals cover these processes only; at least three fresh starts are needed."
    if found.uncounted and found.is_comparable:
        whose = " and ".join(found.uncounted)
        yield (
            f"CPU time of {whose} is unknown in most turns of a start: some of its processes "
            "ended in them."
        )
    yield from _killed(end)
    yield from _source(found)
    if end.without_p99 and found.is_comparable:
        yield f"{wording.capital(NAMES['p99'])} was not measured: {end.without_p99.clause}."
        if end.short_budget:
            yield f"{wording.capital(end.short_budget)}."
    if found.smallest is not None:
        yield f"{_detectable(end)}."
    yield from _limit(end)


def _killed(end: Compared) -> Iterator[str]:
    """Which servers did not stop: each start takes that much longer."""
    starts = wording.several(end.starts, "start")
    for entry in (A, B):
        own = [one for one in end.killed if one.entry == entry]
        if own:
            at = f"at {len(own)} of {starts}"
            if len(own) == end.starts:
                at = "at its start" if end.starts == 1 else f"at each of {starts}"
            after = f"was killed after {wording.seconds(own[0].after_s)}"
            yield f"{entry} did not stop on {own[0].stop_signal} and {after}, {at}."


def text(end: Compared, sides: ComparedServers) -> str:
    """The answer for a terminal, without its sentence."""
    rows = [("", RATIOS[0], RATIOS[2]), *ratios(end.difference)]
    widths = [max(len(row[place]) for row in rows) for place in range(3)]
    table = [
        f"{row[0]:<{widths[0]}}  {row[1]:>{widths[1]}}  {row[2]:>{widths[2]}}".rstrip()
        for row in rows
    ]
    head = [*_at_rate(sides), *_named(end, sides)]
    return "\n".join([*head, "", *table, "", *remarks(end), *loads(end), _measured(end)])


def loads(end: Compared) -> Iterator[str]:
    """Whether the loads deserve belief: a line for each doubt, or one that there is none."""
    for doubt in end.doubts:
        worst = doubt.worst
        of = f"{doubt.starts} of {wording.several(doubt.of_starts, 'start')}"
        remedy = f" {worst.remedy}" if worst.remedy else ""
        named = f"{level_text.MARKS[worst.level]} {worst.entry}, {worst.title}"
        yield texts.line(f"{named} ({of}): {worst.text}.{remedy}")
    if not end.doubts:
        yield f"{level_text.MARKS['sound']} No check doubts the loads of A and B."


def answer(end: Compared) -> str:
    """The answer in one sentence."""
    return f"{wording.capital(sentence(end))}."


def servers(end: Compared, sides: ComparedServers) -> Sheet:
    """The two servers beside each other."""
    found = end.difference
    rows = [
        ("responses per second", wording.rate(found.a_per_s), wording.rate(found.b_per_s)),
        ("failed requests", wording.percent(found.failed.a), wording.percent(found.failed.b)),
    ]
    if found.a_p99_ns and found.b_p99_ns:
        rows.append(
            ("p99 latency", wording.duration(found.a_p99_ns), wording.duration(found.b_p99_ns))
        )
    a, b = sides.titles
    headings = ("", f"{_code(a)} (A)", f"{_code(b)} (B)")
    return Sheet("", headings, tuple(rows))


def what(sides: ComparedServers) -> str:
    """What was requested of both."""
    parts = [
        f"`GET {texts.line(sides.path)}`",
        wording.several(sides.connections, "connection"),
        *_at_rate(sides),
    ]
    return ", ".join(parts)


def stated(end: Compared) -> list[str]:
    """What else must be known, a sentence each."""
    return [*remarks(end), *loads(end), _measured(end)]


def markdown(end: Compared, sides: ComparedServers) -> str:
    """The answer as Markdown."""
    beside = servers(end, sides)
    relative = Sheet("", RATIOS, tuple(ratios(end.difference)))
    tables = [line for one in (beside, relative) for line in (*sheet.markdown(one), "")]
    lines = [
        f"**{answer(end)}**",
        "",
        what(sides),
        "",
        *tables,
        *(f"- {one}" for one in stated(end)),
    ]
    return "\n".join([*lines, ""])


def document(end: Compared, sides: ComparedServers) -> dict[str, object]:
    """Everything, ready for JSON."""
    found, wanted = end.difference, end.wanted
    a, b = sides.titles
    return {
        "format": FORMAT,
        "answer": found.answer,
        "witness": found.witness,
        "sentence": sentence(end),
        "a": {
            "name": texts.line(a),
            "throughput_per_s": found.a_per_s,
            "failure_ratio": found.failed.a,
            "p99_ns": found.a_p99_ns,
            **_load(end, A),
        },
        "b": {
            "name": texts.line(b),
            "throughput_per_s": found.b_per_s,
            "failure_ratio": found.failed.b,
            "p99_ns": found.b_p99_ns,
            **_load(end, B),
        },
        "path": texts.line(sides.path),
        "connections": sides.connections,
        "rate_per_s": sides.rate_per_s,
        "deciding": list(found.deciding),
        "answers": {metric: found.answer_of(metric) for metric in METRICS},
        "throughput": _ratio(found.throughput),
        "cpu_per_request": _ratio(found.cpu_per_request),
        "cpu_per_request_in_turns": _ratio(found.cpu_per_request_in_turns),
        "p99": _ratio(found.p99),
        "without_p99": end.without_p99.clause if end.without_p99 else "",
        "cpu_obtained": _ratio(found.cpu_obtained),
        "undisturbed_throughput": _ratio(found.undisturbed),
        "source": found.source,
        "confidence": 1 - ERROR,
        "smallest_difference": found.smallest,
        "within": wanted.within,
        "max_regression": wanted.max_regression,
        "limit": "not_measurable" if end.is_limit_too_small else end.limit,
        "groups": found.groups,
        "rounds": found.rounds,
        "elapsed_s": end.elapsed_s,
        "budget_s": wanted.budget_s,
        "more_s": end.more_s,
    }


def _load(end: Compared, entry: str) -> dict[str, object]:
    """Whether the loads of a server deserve belief."""
    own = [doubt for doubt in end.doubts if doubt.worst.entry == entry]
    is_void = any(doubt.is_void for doubt in own)
    return {
        "killed_starts": sum(one.entry == entry for one in end.killed),
        "level": "void" if is_void else "doubtful" if own else "sound",
        "doubts": [
            {
                "check": doubt.worst.check,
                "level": doubt.worst.level,
                "starts": doubt.starts,
                "text": f"{doubt.worst.text}.",
                "remedy": doubt.worst.remedy,
            }
            for doubt in own
        ],
    }


def as_junit(end: Compared, sides: ComparedServers) -> str:
    """The answer as a JUnit file: a failure where the limit is crossed, skipped where undecided."""
    said = answer(end)
    is_crossed = end.limit == "crossed"
    is_open = end.limit == "open" or (end.limit is None and end.difference.answer == "undecided")
    case = junit.JunitCase(
        _case_name(sides.a, sides.b),
        failure=_failure(end) if is_crossed else "",
        skipped=said if is_open and not is_crossed else "",
        details="\n".join(remarks(end)) if is_crossed else "",
        output=text(end, sides),
        duration_s=end.elapsed_s,
    )
    return junit.document("plimsoll compare", [case])


def _case_name(a: str, b: str) -> str:
    """The name of its test, without commits: it stays the same from one change to the next."""
    return texts.line(f"B ({b}) against A ({a})")


def at_revision(framework: str, revision: str) -> str:
    """A framework at a revision: `go at main`."""
    return f"{framework} at {revision}"


def failed_junit(a: str, b: str, message: str) -> str:
    """The JUnit file of a comparison that failed: an error, since nothing is known of B.

    Args:
        a: A, as in the name of the test.
        b: B in the same way.
        message: What failed; its first line is a sentence.
    """
    first, *more = message.splitlines()
    case = junit.JunitCase(_case_name(a, b), error=first, details=texts.lines("\n".join(more)))
    return junit.document("plimsoll compare", [case])


def failed_markdown(a: str, b: str, message: str) -> str:
    """The same as Markdown, for a pull request.

    Args:
        a: A, as in the heading of a table.
        b: B in the same way.
        message: What failed; its first line is a sentence.
    """
    first, *more = message.splitlines()
    lines = [f"**Not measured: {texts.line(first)}**", "", f"{_code(a)} (A), {_code(b)} (B)"]
    quoted = [f"    {texts.line(line)}" for line in more]
    return "\n".join([*lines, *(("", *quoted) if quoted else ()), ""])


def _failure(end: Compared) -> str:
    """Why a crossed limit fails a test."""
    if end.difference.is_comparable:
        return answer(end)
    return f"{wording.capital(limit_missed(end))}."


def limit_missed(end: Compared) -> str:
    """The sentence if a limit is not kept beyond doubt, without a full stop."""
    limit = wording.percent(end.wanted.max_regression or 0.0)
    if end.limit == "crossed":
        is_fault = not end.difference.is_comparable
        return f"{_fault(end)}: that crosses a limit of {limit}" if is_fault else _loses(end, limit)
    if end.smallest_loss is not None and end.is_limit_too_small:
        metric, loss = end.smallest_loss.metric, wording.percent(end.smallest_loss.loss)
        grows = end.smallest_loss.grows
        what = f"an increase of {limit} in {NAMES[metric]}" if grows else f"a loss of {limit}"
        smallest = f"the smallest in {_length(end.elapsed_s)} is {loss}"
        return f"{what} is not detectable here; {smallest}"
    return f"whether B loses more than {limit} is undecided{_why_open(end)}"


def _why_open(end: Compared) -> str:
    """Why a limit is undecided, to stand behind it; empty where servers are not comparable."""
    if not end.difference.is_comparable:
        return ""
    if end.without_p99:
        return f": {end.without_p99.clause}"
    if regression_limit.is_denied_in_turns(end.difference, end.wanted.max_regression or 0.0):
        return f": {NAMES['cpu_per_request']} side by side is not that in turns"
    if end.has_most_groups:
        return f" after {_MOST}"
    return f": {end.short_budget}" if end.short_budget else ""


def _fault(end: Compared) -> str:
    """What B alone does, so that its speed is not compared."""
    found = end.difference
    fault = regression_limit.fault(found)
    if fault == "failing":
        share, other = wording.percent(found.failed.b), wording.percent(found.failed.a)
        return f"{share} of B's requests failed, and {other} of A's"
    if fault == "silent":
        where = "" if found.silent else " side by side"
        return f"B returned no correct response in a whole group{where}, and A did"
    titles = [doubt.worst.title for doubt in end.doubts if doubt.is_void]
    return f"the loads of B are void in each start ({', '.join(titles)}), and in none those of A"


def _undecided(end: Compared) -> str:
    found = end.difference
    if found.failed.are_too_many:
        share, worse = max((found.failed.a, "A"), (found.failed.b, "B"))
        most = wording.percent(MOST_FAILED)
        return f"undecided: {wording.percent(share)} of {worse}'s requests failed, more than {most}"
    void = next((doubt.worst for doubt in end.doubts if doubt.is_void), None)
    if void is not None:
        return f"undecided: the load of {void.entry} is void ({void.title})"
    if found.silent:
        return f"undecided: {found.silent[0]} returned no correct response in a whole group"
    if found.silent_side_by_side:
        entry = found.silent_side_by_side[0]
        return f"undecided: {entry} returned no correct response in a group side by side"
    if found.throughput is None:
        return "undecided: in no round did both servers have a turn"
    metric = found.deciding[0]
    seen = f"{NAMES[metric]} {_signed_with_interval(found.of(metric))}"
    return f"undecided after {_length(end.elapsed_s)}: {seen}{_more(end, metric)}"


def _more(end: Compared, shown: Metric) -> str:
    """How much longer it would take, and by what, if that is not the quantity shown."""
    lacks_p99 = end.without_p99 if shown == "p99" else None
    if reason := lacks_p99.clause if lacks_p99 else end.short_budget:
        return f"; {reason}"
    if end.has_most_groups:
        return f"; it ended after {_MOST}: give it a quieter machine"
    if end.needs_too_many_groups:
        return f"; it scatters too much for {_MOST}: give it a quieter machine"
    needed = end.difference.needed()
    if needed is None or not end.more_s:
        return ""
    if end.more_s > _MOST_MORE * end.elapsed_s:
        return "; it scatters too much to be decided soon: give it a quieter machine"
    by = "" if needed[0] == shown else f", by {NAMES[needed[0]]}"
    return f"; about {_length(end.more_s)} more would decide{by}"


def _detectable(end: Compared) -> str:
    """What would show of each quantity that may decide, without a full stop."""
    each = [
        f"{_either_way(reach)} in {NAMES[metric]}"
        for metric, reach in end.difference.detectable.items()
    ]
    return (
        f"The smallest detectable difference in {_length(end.elapsed_s)} is {wording.listed(each)}"
    )


def _either_way(reach: float) -> str:
    """A difference to either side, of intervals that are as wide by factors: `+62 % or −38 %`.

    Args:
        reach: The greater value / the smaller one − 1.
    """
    more, less = wording.percent(reach), wording.percent(_loss(reach))
    return more if more == less else f"+{more} or −{less}"


def _loss(reach: float) -> float:
    """The loss whose factor is that of a gain."""
    return reach / (1 + reach)


def _limit(end: Compared) -> Iterator[str]:
    limit = end.wanted.max_regression
    if limit is None:
        return
    if end.limit == "kept":
        yield f"{wording.capital(_loses(end, wording.percent(limit), not_='not '))}."
    else:
        yield f"{wording.capital(limit_missed(end))}."
    if end.is_limit_too_small and end.limit_needs_s:
        yield f"A budget of about {_length(end.limit_needs_s)} would show it."
    elif end.is_limit_too_small:
        yield f"It would take more than {_MOST}: give it a quieter machine."


def _loses(end: Compared, limit: str, not_: str = "") -> str:
    """`B loses more than 3 % of A's throughput`; `B is worse by more than 3 % in p99 latency`.

    One that only the cost of a request tells has `by CPU time per request` before it.
    """
    found, share = end.difference, end.wanted.max_regression or 0.0
    if end.wanted.deciding == AT_FULL_SPEED or regression_limit.is_by_lost_rate(found, share):
        verb = "does not lose" if not_ else "loses"
        loses = f"B {verb} more than {limit} of A's throughput"
        is_by_cost = regression_limit.is_by_cost(found, share)
        return f"by {NAMES['cpu_per_request']}, {loses}" if is_by_cost else loses
    named = " or ".join(NAMES[metric] for metric in end.wanted.deciding)
    return f"B is {not_}worse by more than {limit} in {named}"


def _source(found: Difference) -> Iterator[str]:
    if found.source in ("cpu_per_request", "both"):
        cost = _signed_with_interval(found.cpu_per_request)
        yield f"CPU time per request differs: {cost}."
    if found.source in ("cpu_obtained", "both"):
        got = _signed_with_interval(found.cpu_obtained)
        yield f"The CPU time that the server obtained differs: {got}."
        if _holds_one(found.undisturbed):
            yield "That is time in which it was ready to run and waited for a core."


def ratios(found: Difference) -> list[tuple[str, str, str]]:
    """Each quantity of B / that of A, with its interval; a row for each of `RATIOS`."""
    ratios = {
        "throughput": found.throughput,
        "CPU time per request": found.cpu_per_request,
        "CPU time per request in turns": found.cpu_per_request_in_turns,
        "p99 latency": found.p99,
        "CPU time that the server got": found.cpu_obtained,
        "throughput without waits for cores": found.undisturbed,
    }
    return [
        (name, wording.signed_percent(ratio.value - 1), _signed_interval(ratio) or "–")
        for name, ratio in ratios.items()
        if ratio is not None
    ]


def _at_rate(sides: ComparedServers) -> list[str]:
    """`at 2,000 requests/s`; nothing at full speed."""
    rate_per_s = sides.rate_per_s
    return [] if rate_per_s is None else [f"at {wording.every_digit(rate_per_s)} requests/s"]


def _named(end: Compared, sides: ComparedServers) -> list[str]:
    found = end.difference
    a, b = sides.titles
    known = (
        ("A", found.a_per_s, found.a_p99_ns, a),
        ("B", found.b_per_s, found.b_p99_ns, b),
    )
    return [
        f"{label}  {wording.rate(rate):>10}/s  {_p99(p99_ns)}{texts.line(name)}"
        for label, rate, p99_ns, name in known
    ]


def _p99(p99_ns: float | None) -> str:
    return "" if p99_ns is None else f"p99 {wording.seconds(p99_ns / 1e9):>8}  "


def _measured(end: Compared) -> str:
    found = end.difference
    starts = wording.several(found.groups, "start") + " of fresh processes"
    pairs = wording.several(found.rounds, "pair") + " of turns"
    beside = f" and {wording.seconds(end.side_by_side_s)} side by side" if end.side_by_side else ""
    return f"{starts}, {pairs}{beside}, {_of_budget(end.elapsed_s, end.wanted.budget_s)}."


def _of_budget(elapsed_s: float, budget_s: float) -> str:
    """`62 s of 120 s`; `62 s with a budget of 60 s` if the last group took longer than expected."""
    of = "of" if elapsed_s <= budget_s else "with a budget of"
    return f"{_length(elapsed_s)} {of} {_length(budget_s)}"


def _speed(found: Difference) -> str:
    """`3.1 % faster (95 %: 2.2 to 4.0 %)`."""
    ratio = found.throughput
    if ratio is None or ratio.interval is None:
        return found.answer
    ends = (ratio.interval.low - 1, ratio.interval.high - 1)
    if found.answer == "slower":
        ends = (1 - ratio.interval.high, 1 - ratio.interval.low)
    return f"{wording.points(abs(ratio.value - 1))} % {found.answer} {_interval(*ends)}"


def _is_cost_apart(found: Difference) -> bool:
    """Whether servers of the same throughput differ in what a request costs them."""
    is_by_rate = found.deciding == AT_FULL_SPEED and found.witness == "throughput"
    return is_by_rate and found.answer_of("cpu_per_request") in ("faster", "slower")


def _cost(found: Difference) -> str:
    """`3.1 % more CPU time (95 %: 2.2 to 4.0 %)`."""
    ratio = found.cpu_per_request
    if ratio is None or ratio.interval is None:
        return "another CPU time"
    more = ratio.value > 1
    low, high = ratio.interval.low - 1, ratio.interval.high - 1
    ends = (low, high) if more else (-high, -low)
    size = wording.points(abs(ratio.value - 1))
    return f"{size} % {'more' if more else 'less'} CPU time {_interval(*ends)}"


def _latency(found: Difference) -> str:
    """`12 % longer (95 %: 8 to 16 %)`."""
    ratio = found.p99
    if ratio is None or ratio.interval is None:
        return "another one"
    more = ratio.value > 1
    low, high = ratio.interval.low - 1, ratio.interval.high - 1
    ends = (low, high) if more else (-high, -low)
    size = wording.points(abs(ratio.value - 1))
    return f"{size} % {'longer' if more else 'shorter'} {_interval(*ends)}"


def _interval(low: float, high: float) -> str:
    return f"(95 %: {wording.points(low)} to {wording.points(high)} %)"


def _signed_with_interval(ratio: PairedRatio | None) -> str:
    if ratio is None:
        return "not measured"
    interval = _signed_interval(ratio)
    return wording.signed_percent(ratio.value - 1) + (f" (95 %: {interval})" if interval else "")


def _signed_interval(ratio: PairedRatio) -> str:
    if ratio.told is None:
        return ""
    low, high = ratio.told.low - 1, ratio.told.high - 1
    return f"{wording.signed_points(low)} to {wording.signed_percent(high)}"


def _ratio(ratio: PairedRatio | None) -> dict[str, object] | None:
    if ratio is None:
        return None
    return {
        "ratio": ratio.value,
        "low": None if ratio.told is None else ratio.told.low,
        "high": None if ratio.told is None else ratio.told.high,
        "holds_for": "fresh_processes" if ratio.holds_for_fresh_processes else "these_processes",
    }


def _holds_one(ratio: PairedRatio | None) -> bool:
    return ratio is not None and ratio.interval is not None and ratio.interval.holds(1.0)


def _length(seconds: float | None) -> str:
    if seconds is None:
        return "–"
    return (
        f"{wording.count(seconds / 60)} min"
        if seconds >= _LONG_S
        else f"{wording.count(seconds)} s"
    )


def _code(name: str) -> str:
    shown = texts.line(name).replace("`", "'").replace("|", "\\|")
    return f"`{shown}`"
