"""The answer of a search for load lines: one sentence, a few lines, Markdown and JSON."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from plimsoll import texts, wording
from plimsoll.aggregate.outcomes import BY_NAME
from plimsoll.load_line.goal import USUAL_BUDGET_S
from plimsoll.load_line.limits import ERRORS, SENDING, SENT
from plimsoll.report import status_codes
from plimsoll.report.results import sheet
from plimsoll.report.results.sheet import Sheet
from plimsoll.statistics.intervals import CONFIDENCE
from plimsoll.verdicts import catalogue

if TYPE_CHECKING:
    from plimsoll.findings.beyond import Resource
    from plimsoll.findings.load_lines import LineFindings
    from plimsoll.load_line.limits import LineLimit
    from plimsoll.load_line.search import Line, Searched
    from plimsoll.load_line.tries import Try

FORMAT = 1
"""Version of the JSON document; its schema is `docs/schemas/line-1.json`."""

_WIDTH = 90
_BRIEF = 70
_CLAUSE_END = re.compile(r"[:;,] ")
_TIMES = {"p50": "p50", "p90": "p90", "p99": "p99", "p999": "p99.9"}


def sentence(found: LineFindings) -> str:
    """The answer in one sentence without a full stop; that of the strictest limit."""
    return sentence_of(found, shown(found))


def one_line(found: LineFindings) -> str:
    """The answer, and how far to believe it, without a full stop."""
    said = doubt(found, _brief)
    return f"{sentence(found)}; {found.level}: {said}" if said else sentence(found)


WIDE = "Wide interval"
"""What a line is doubted for whose rate is not known well enough."""

OF_DRIVER = "the load generator was the limit"
OF_POOL = "its connections were the limit"


def _is_of(found: LineFindings, line: Line, resource: Resource) -> bool:
    """Whether a resource was full beyond a line."""
    beyond = found.beyond.get(line.limit.name)
    return beyond is not None and beyond.resource == resource


def _more_of_driver(found: LineFindings, line: Line) -> str:
    """What the load generator needs more of, which was the limit."""
    if not _is_of(found, line, "pool"):
        return "give the load generator more threads, cores of its own, or another machine"
    return f"{found.beyond[line.limit.name].sentence}: give it more connections (`-c`)"


def remedy(found: LineFindings) -> str:
    """What to do where there is no line; empty where there is one. That of the strictest limit."""
    return remedy_of(found, shown(found))


def remedy_of(found: LineFindings, line: Line) -> str:
    """What to do where one line was not found, or is of the load generator; else empty."""
    if found.is_of_driver(line):
        return _more_of_driver(found, line)
    remedies = {
        "found": "",
        "above": "give more connections or load generator threads",
        "open": "give a longer budget with `budget_s=`",
        "below": "allow a higher latency; `plimsoll load -R` shows the latency at a rate",
    }
    if line.state == "below" and _is_of(found, line, "stalls"):
        return "find why the server stalls, or allow a higher latency"
    if _is_failing(line) and line.inside_per_s is None:
        return "find why requests fail with `plimsoll load`, or set `--expect-status`"
    return remedies[line.state]


def text(found: LineFindings, *, verbose: bool = False) -> str:
    """Lines, bracket and limit for a terminal, without the sentence.

    Args:
        found: What was found.
        verbose: Whether every try is shown.
    """
    lines: list[str] = []
    if len(found.searched.lines) > 1:
        lines += [*_aligned(_table(found)), ""]
    lines += [*_stated(found)]
    if verbose:
        lines += ["", *_aligned(_tries(found))]
    return "\n".join(lines)


def answer(found: LineFindings) -> str:
    """The answer in one sentence."""
    return f"{wording.capital(sentence(found))}."


def sheets(found: LineFindings) -> tuple[Sheet, Sheet]:
    """The lines, and every try."""
    lines, tries = _table(found), _tries(found)
    return Sheet("", lines[0], tuple(lines[1:])), Sheet("", tries[0], tuple(tries[1:]))


def markdown(found: LineFindings) -> str:
    """The answer as Markdown, with every try."""
    lines, tries = sheets(found)
    blocks = [f"**{answer(found)}**", "", *sheet.markdown(lines), ""]
    blocks += [f"- {name:<11} {said}" for name, said in _named(found)]
    blocks += ["", *sheet.markdown(tries), ""]
    return "\n".join(blocks)


def step(now: Searched) -> str:
    """How things stand after a try."""
    last = now.tries[-1]
    states = "; ".join(_of_limit(now, last, one) for one in now.wanted.limits)
    known = [line for line in now.lines if line.edge is not None]
    line = f"; line {interval_text(known[0])}/s" if known else ""
    tried = (
        f"try {len(now.tries)}: {rate_text(last.rate_per_s)}/s for "
        f"{wording.decimals(last.hold_s, 1)} s"
    )
    return f"{tried}: {states}{line}"


def so_far(now: Searched, elapsed_s: float) -> str:
    """What is known of a search that a signal ended: the bracket of each line.

    Args:
        now: How things stood after the last try.
        elapsed_s: How long it had taken, in seconds.
    """
    brackets = [f"{line.limit.text} {_between(line)}" for line in now.lines]
    return f"undecided, interrupted after {wording.seconds(elapsed_s)}: {'; '.join(brackets)}"


def _between(line: Line) -> str:
    """Where a line lies as far as tries tell: `line 4,100–4,900/s`, or `failed at 5,000/s`."""
    if line.edge is not None:
        return f"line {interval_text(line)}/s"
    failed = f"failed{_at(line.failed_per_s)}" if line.failed_per_s is not None else ""
    return (
        ", ".join(told for told in (_held(line), failed) if told)
        or "neither held nor failed at any rate"
    )


def document(found: LineFindings) -> dict[str, object]:
    """Everything, ready for JSON."""
    now, lowest = found.searched, found.lowest
    return {
        "format": FORMAT,
        "sentence": sentence(found),
        "level": found.level,
        "rate_per_s": None if lowest is None else lowest.rate_per_s,
        **_ends(lowest),
        "hardly_known": lowest is not None and lowest.is_hardly_known,
        "confidence": CONFIDENCE,
        "subject": texts.line(found.subject.name),
        "arrivals": found.subject.arrivals,
        "connections": found.subject.connections,
        "lines": [line_document(found, line) for line in now.lines],
        "tries": [_try_document(found, one) for one in now.tries],
        "forgotten_tries": now.forgotten,
        "closed_peak_per_s": now.start_per_s,
        "errors": now.wanted.errors.allowed,
        "within": now.wanted.within,
        "is_narrow": now.is_narrow,
        "budget_s": now.wanted.budget_s,
        "elapsed_s": now.elapsed_s,
    }


def line_document(found: LineFindings, line: Line) -> dict[str, object]:
    """One line, ready for JSON."""
    beyond = found.beyond.get(line.limit.name)
    return {
        "limit": line.limit.name,
        "most_ns": line.limit.most_ns,
        "state": line.state,
        "level": found.level_of(line),
        "rate_per_s": line.rate_per_s,
        **_ends(line),
        "hardly_known": line.is_hardly_known,
        "held_per_s": line.held_per_s,
        "inside_per_s": line.inside_per_s,
        "failed_per_s": line.failed_per_s,
        "missed_first": None if line.binding is None else line.binding.name,
        "beyond": None
        if beyond is None
        else {"resource": beyond.resource, "sentence": beyond.sentence},
        "is_confirmed": line.is_confirmed,
        "gap": None
        if line.gap is None
        else {"failed_per_s": line.gap[0], "held_per_s": line.gap[1]},
    }


def _ends(line: Line | None) -> dict[str, object]:
    interval = None if line is None or line.edge is None else line.edge.interval
    return {
        "low": None if interval is None else interval.low,
        "high": None if interval is None else interval.high,
    }


def _try_document(found: LineFindings, one: Try) -> dict[str, object]:
    judged = {limit.name: limit for limit in _judged(found.searched)}
    return {
        "trial": one.trial,
        "rate_per_s": one.rate_per_s,
        "hold_s": one.hold_s,
        "limits": {
            name: {
                "requests": one.counts[name].requests,
                "missed": one.counts[name].missed,
                "state": one.state(limit),
            }
            for name, limit in judged.items()
        },
        "response_time_ns": dict(one.times_ns),
    }


def _judged(now: Searched) -> tuple[LineLimit, ...]:
    """Every limit that a try is judged by."""
    return (*now.wanted.limits, now.wanted.errors, SENDING)


def shown(found: LineFindings) -> Line:
    """The line that the sentence is of: one that was not found before the lowest that was."""
    unfound = [line for line in found.searched.lines if line.edge is None]
    return unfound[0] if unfound else found.lowest or found.searched.lines[0]


def sentence_of(found: LineFindings, line: Line) -> str:
    """What is known of one line, in one sentence without a full stop."""
    name, limits = texts.line(found.subject.name), _limits(found, line)
    if found.is_of_driver(line):
        limit = f"{OF_DRIVER}{_at(line.failed_per_s)}"
        of = f"{name} with {line.limit.text}" if len(found.searched.lines) > 1 else name
        return f"no line of {of}: {OF_POOL if _is_of(found, line, 'pool') else limit}"
    if line.edge is not None:
        return carried(name, line, f"with {limits}")
    tries = sorted(found.searched.tries, key=lambda one: one.rate_per_s)
    if line.state == "below" and tries:
        lowest = tries[0]
        if _is_failing(line):
            share = wording.percent(lowest.counts[ERRORS].share)
            failing = f"{name} fails at every rate: {share} of requests{_at(lowest.rate_per_s)}"
            return f"{failing}{_with_codes(found, line)}"
        share = wording.percent(lowest.counts[line.limit.name].share)
        slow = f"{share} of requests took longer{_at(lowest.rate_per_s)}"
        return f"no rate keeps {limits} on {name}: {slow}"
    if line.state == "above" and tries:
        return (
            f"{name} carries more than {rate_text(tries[-1].rate_per_s)} requests/s with {limits}"
        )
    after = wording.seconds(found.searched.elapsed_s)
    return f"undecided after {after}: {name} with {limits}{_failing(found, line)}"


def carried(name: str, line: Line, where: str) -> str:
    """A line that was found; of one that is hardly known no single number.

    Args:
        name: Whose line it is.
        line: The line.
        where: Its limits, after what is requested: `of json with p99 ≤ 20 ms`.
    """
    if line.is_hardly_known:
        rates = f"between {interval_text(line, ' and ')} requests/s {where} (95 %)"
        return f"the line of {name} is hardly known: {rates}"
    rate = f"{name} carries {line_text(line)} requests/s {where}"
    return f"{rate} (95 %: {interval_text(line)})"


def _failing(found: LineFindings, line: Line) -> str:
    """What failed where nothing held and requests failed; else empty."""
    if not _is_failing(line) or line.inside_per_s is not None:
        return ""
    (*_, last) = (one for one in found.searched.tries if one.rate_per_s == line.failed_per_s)
    share = wording.percent(last.counts[ERRORS].share)
    return f"; {share} of requests failed{_at(line.failed_per_s)}{_with_codes(found, line)}"


def _with_codes(found: LineFindings, line: Line) -> str:
    """The status codes of the responses beyond a line, behind a colon, where some are wrong."""
    failed = found.failed.get(line.limit.name)
    if failed is None or not any(one.held_wrong for one in failed.statuses):
        return ""
    return f": {status_codes.told(failed)}"


def _is_failing(line: Line) -> bool:
    return line.binding is not None and line.binding.name == ERRORS


def _limits(found: LineFindings, line: Line) -> str:
    """The limits of a line: `p99 ≤ 20 ms`; all of them where it is the lowest of several."""
    every = found.searched.wanted.limits if line is found.lowest else (line.limit,)
    return " and ".join(limit.text for limit in every)


def _stated(found: LineFindings) -> Iterator[str]:
    """What else must be known, broken between words."""
    for name, said in _named(found):
        yield from textwrap.wrap(
            f"{name:<11} {said}", _WIDTH, subsequent_indent=" " * 12, break_on_hyphens=False
        )


def stated(found: LineFindings) -> list[str]:
    """The same as sentences."""
    return [f"{wording.capital(name)}: {said}." for name, said in _named(found)]


def _named(found: LineFindings) -> Iterator[tuple[str, str]]:
    """What else must be known: its name, and what is said of it."""
    now = found.searched
    for line in now.lines:
        named = f"{line.limit.name}: " if len(now.lines) > 1 else ""
        if len(now.lines) == 1:
            yield "bracket", _bracket(found, line)
        beyond = found.beyond.get(line.limit.name)
        if beyond is not None:
            yield "beyond it", f"{named}{beyond.sentence}"
        if codes := _with_codes(found, line):
            yield "responses", f"{named}beyond it{codes}"
        if line.gap is not None:
            yield "gap", f"{named}{_gap(line.gap)}"
    if now.forgotten:
        yield "slowed", _slowed(now)
    yield "load", _load(found)
    yield "search", _ended(found)
    if said := doubt(found):
        yield found.level, said


def notable(found: LineFindings) -> Iterator[str]:
    """What is unusual of a search: gaps, a slowdown, intervals wider than wanted."""
    now = found.searched
    for line in now.lines:
        if line.gap is not None:
            yield f"{line.limit.text} {_gap(line.gap)}"
    if now.forgotten:
        yield _slowed(now)
    if any(line.edge and not line.is_narrow(now.wanted.within) for line in now.lines):
        yield _search(now)


def _gap(gap: tuple[float, float]) -> str:
    failed, held = map(rate_text, gap)
    return f"fails at {failed}/s, and holds at {held}/s"


def _slowed(now: Searched) -> str:
    first = wording.several(now.forgotten, "try is", "tries are")
    return f"the server became slower: the first {first} ignored"


def doubt(found: LineFindings, told: Callable[[str], str] = str) -> str:
    """How far to believe the lines; or empty.

    By those that the load generator ended beside the one that is shown, by the verdicts on the
    tries just below them, and by the width of their intervals.

    Args:
        found: What was found.
        told: What is shown of the worst doubt.
    """
    is_told = found.is_of_driver(shown(found))
    doubts = [
        sentence_of(found, line)
        for line in _lines(found)
        if found.is_of_driver(line) and not is_told
    ]
    return "; ".join(filter(None, [*doubts, _doubt(found, _lines(found), told)]))


def doubt_of(found: LineFindings, line: Line) -> str:
    """How far to believe one line; or empty."""
    return _doubt(found, (line,), str)


def without_number(found: LineFindings, line: Line) -> str:
    """Why a line has no number that counts, in a few words."""
    if found.is_of_driver(line):
        return OF_POOL if _is_of(found, line, "pool") else OF_DRIVER
    reasons = {
        "found": "",
        "above": "no rate that was tried failed",
        "open": "not found in the time given",
        "below": "no rate keeps the limit",
    }
    if line.state == "below" and _is_failing(line):
        return "it fails at every rate"
    return reasons[line.state]


def _lines(found: LineFindings) -> tuple[Line, ...]:
    return found.searched.lines


def _doubt(found: LineFindings, lines: Sequence[Line], told: Callable[[str], str]) -> str:
    """How far to believe some lines by the tries just below them and their width; or empty."""
    names = {line.limit.name for line in lines}
    held = [trial for name, trial in found.held.items() if name in names]
    doubts = [one for trial in held for one in trial.verdicts if one.is_doubting]
    known = _wide(found, lines)
    if not doubts:
        return known
    worst = min(doubts, key=lambda one: one.level != "void")
    more = f"; {wording.several(len(doubts) - 1, 'more doubt')}" if len(doubts) > 1 else ""
    said = texts.line(worst.sentences[0].text).removesuffix(".")
    wide = f"; {known}" if known and told is str else ""
    return f"{catalogue.title_of(worst)}: {told(said)}{more}{wide}"


def _wide(found: LineFindings, lines: Sequence[Line]) -> str:
    """What narrows an interval that is too wide to be believed; empty where none is.

    Half the width falls with the root of the time that is spent near the line. Before tries lie
    there that tells nothing, and they narrow it by far more.
    """
    line = next((one for one in found.wide if one in lines), None)
    if line is None or line.edge is None:
        return ""
    now, most = found.searched, found.searched.wanted.widest
    known = f"the rate is known to ±{wording.percent(round(line.edge.reach, 2))} only"
    if line.is_hardly_known:
        known = "the rate is hardly known"
    if line.is_hardly_known or line.is_bracket(now.tries):
        budget_s = now.wanted.budget_s
        longer = wording.seconds(USUAL_BUDGET_S if budget_s < USUAL_BUDGET_S else 2 * budget_s)
        needed = f"more tries are needed; give a budget of {longer} or more (`--budget`)"
        return f"{WIDE}: {known}, and {needed}"
    spent_s = now.elapsed_s * (line.edge.reach / most) ** 2
    longer = wording.seconds(wording.significant(spent_s, 1))
    narrows = f"a budget of about {longer} (`--budget`) would narrow it to ±{wording.percent(most)}"
    return f"{WIDE}: {known}; {narrows}"


def _brief(said: str) -> str:
    """As many clauses of a sentence as a line has room for; of a longer one its first words."""
    if len(said) <= _BRIEF:
        return said
    ends = [one.start() for one in _CLAUSE_END.finditer(said[: _BRIEF + 1])]
    return said[: ends[-1]] if ends else textwrap.shorten(said, _BRIEF, placeholder=" …")


def _bracket(found: LineFindings, line: Line) -> str:
    held = _held(line) or "nothing held"
    if line.failed_per_s is None:
        return f"{held}, no try failed significantly"
    failed = f"{held}, failed at {rate_text(line.failed_per_s)}/s{_missed(found, line)}"
    if line.held_above_per_s is None:
        return failed
    return f"{failed}; but {rate_text(line.held_above_per_s)}/s held as well"


def _held(line: Line) -> str:
    """The greatest rates below all that failed that held, and that were inside; empty for none."""
    held = f"held{_at(line.held_per_s)}" if line.held_per_s is not None else ""
    if line.inside_per_s == line.held_per_s:
        return held
    inside = f"undecided but inside the limits{_at(line.inside_per_s)}"
    return ", ".join(filter(None, (held, inside)))


def _missed(found: LineFindings, line: Line) -> str:
    """What the last failing try at the lowest failing rate missed, in brackets."""
    now = found.searched
    judged = (line.limit, SENDING, now.wanted.errors)
    failing = [
        one
        for one in now.tries
        if one.rate_per_s == line.failed_per_s
        and any(one.state(limit) == "failed" for limit in judged)
    ]
    shares = {limit.name: failing[-1].counts[limit.name].share for limit in judged}
    over = wording.seconds((line.limit.most_ns or 0.0) / 1e9)
    missed: list[str] = []
    if shares[ERRORS] > now.wanted.errors.allowed:
        missed.append(f"{wording.percent(shares[ERRORS])} failed{_as(found, line)}")
    elif shares[SENT] > SENDING.allowed:
        missed.append(f"{wording.percent(shares[SENT])} were not sent")
    if shares[line.limit.name] > max(line.limit.allowed, shares[ERRORS]):
        missed.insert(0, f"{wording.percent(shares[line.limit.name])} failed or over {over}")
    return f" ({', '.join(missed)})" if missed else ""


def _as(found: LineFindings, line: Line) -> str:
    """How most requests beyond a line failed that did, behind a colon."""
    failed = found.failed.get(line.limit.name)
    outcomes = [one.outcome for one in failed.failures] if failed is not None else []
    # What was not sent is held against the limit of sending.
    most = next((one for one in outcomes if one != "not_sent"), "")
    if not most:
        return ""
    return f": {BY_NAME[most].words if most in BY_NAME else most}"


def _load(found: LineFindings) -> str:
    arrivals = {"poisson": "Poisson arrivals", "constant": "constant arrivals"}
    pool = wording.several(found.subject.connections, "connection")
    peak = f"closed peak {rate_text(found.searched.start_per_s)}/s"
    lowest = found.lowest
    if lowest is not None and not found.is_of_driver(lowest):
        peak += f", the line is {share_text(lowest, found.searched.start_per_s)}"
    return f"{arrivals[found.subject.arrivals]}, {pool}; {peak}"


def _ended(found: LineFindings) -> str:
    """How the search ended; one that the connections ended goes on to no narrower interval."""
    now = found.searched
    beyond = [found.beyond.get(line.limit.name) for line in now.lines]
    if any(one is None or one.resource != "pool" for one in beyond):
        return _search(now)
    tries = wording.several(len(now.tries), "try", "tries")
    return f"{tries}, {_took(now)}; more would show nothing else"


def _took(now: Searched) -> str:
    return f"{wording.count(now.elapsed_s)} s of {wording.count(now.wanted.budget_s)} s"


def _search(now: Searched) -> str:
    tries = wording.several(len(now.tries), "try", "tries")
    confirmed = sum(line.is_confirmed for line in now.lines)
    confirmation = "confirmed" if confirmed == len(now.lines) else "not confirmed by a longer try"
    end = "" if now.is_narrow else f"; wider than ±{wording.percent(now.wanted.within)}"
    return f"{tries}, {_took(now)}; {confirmation}{end}"


def _table(found: LineFindings) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = [("limit", "rate", "95 % interval", "held", "failed")]
    for line in found.searched.lines:
        ends = (line.held_per_s, line.failed_per_s)
        known = [line_text(line), interval_text(line)] if line.edge else [line.state, "–"]
        rows.append((line.limit.text, *known, *map(rate_text, ends)))
    return rows


def _tries(found: LineFindings) -> list[tuple[str, ...]]:
    """Every try by rate: the curve in numbers."""
    now = found.searched
    over = [f"over {one.text}" for one in now.wanted.limits]
    has_unsent = not all(one.is_inside(SENDING) for one in now.tries)
    unsent = ["not sent"] if has_unsent else []
    rows: list[tuple[str, ...]] = [("rate", "s", *_TIMES.values(), *over, "failed", *unsent, "")]
    for one in sorted(now.tries, key=lambda each: each.rate_per_s):
        times = [_time(one.times_ns.get(name)) for name in _TIMES]
        missed = [wording.percent(one.counts[each.name].share) for each in now.wanted.limits]
        failed = wording.percent(one.counts[ERRORS].share)
        unsent = [wording.percent(one.counts[SENT].share)] if has_unsent else []
        states = {_state(now, one, each) for each in now.wanted.limits}
        state = next(each for each in ("failed", "undecided", "held") if each in states)
        rows.append(
            (
                rate_text(one.rate_per_s),
                wording.decimals(one.hold_s, 1),
                *times,
                *missed,
                failed,
                *unsent,
                state,
            )
        )
    return rows


def _state(now: Searched, one: Try, limit: LineLimit) -> str:
    """How a try did by a limit, that of errors and that of sending."""
    state = one.state_beside(limit, (SENDING, now.wanted.errors))
    return "undecided" if state == "open" else state


def _of_limit(now: Searched, one: Try, limit: LineLimit) -> str:
    """How a try did: `p99 held, 0.41 % failed or over 50 ms`, and by which limit it did so."""
    state, deciding = _state(now, one, limit), _deciding(now, one, limit)
    share = wording.percent(round(one.counts[deciding.name].share, 4))
    if deciding is limit:
        over = wording.seconds((limit.most_ns or 0.0) / 1e9)
        return f"{limit.name} {state}, {share} failed or over {over}"
    missed = "failed" if deciding.name == ERRORS else "not sent"
    allowed = wording.percent(deciding.allowed)
    return f"{limit.name} {state} ({deciding.name}: {share} {missed}, {allowed} allowed)"


def _deciding(now: Searched, one: Try, limit: LineLimit) -> LineLimit:
    """The limit by which a try failed or is undecided: that of latency, of sending, or of errors.

    A request whose connection failed was not sent, and is an error as well: sending comes first.
    """
    judged = (limit, SENDING, now.wanted.errors)
    failed = [each for each in judged if one.state(each) == "failed"]
    outside = [each for each in judged if not one.is_inside(each)]
    open_by = [limit] if one.state(limit) == "open" else outside
    return next(iter(failed or open_by), limit)


def _time(length_ns: float | None) -> str:
    return "–" if length_ns is None else wording.seconds(length_ns / 1e9)


def _at(rate_per_s: float | None) -> str:
    return "" if rate_per_s is None else f" at {rate_text(rate_per_s)}/s"


def rate_text(rate_per_s: float | None) -> str:
    """A rate with three or four digits; more of them were not measured."""
    if rate_per_s is None:
        return "–"
    return wording.four_digits(rate_per_s)


def line_text(line: Line) -> str:
    """The rate of a line; its interval where it is hardly known; `–` where it was not found."""
    return interval_text(line) if line.is_hardly_known else rate_text(line.rate_per_s)


def interval_text(line: Line, between: str = "–") -> str:
    """The 95 % interval of a line: `9,810–10,200`; `–` where it was not found.

    Args:
        line: The line.
        between: What stands between its ends.
    """
    if line.edge is None:
        return "–"
    found = line.edge.interval
    return f"{rate_text(found.low)}{between}{rate_text(found.high)}"


def share_text(line: Line, per_s: float) -> str:
    """A line as a share of a rate: `84 %`; both ends where it is hardly known; `–` for none.

    Args:
        line: The line.
        per_s: The rate, above 0.
    """
    if line.edge is None:
        return "–"
    if not line.is_hardly_known:
        return wording.percent(line.edge.rate_per_s / per_s)
    found = line.edge.interval
    return f"{wording.percent(found.low / per_s)} to {wording.percent(found.high / per_s)}"


def _aligned(rows: list[tuple[str, ...]]) -> list[str]:
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    return [
        "  ".join(
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
