"""Were the responses correct before, during and after the load?

The load generator checks status and length of every response as it arrives, if the load specifies
them. It compares the bodies of all responses or of a sample byte by byte. A body may have several
correct spellings, as JSON does; of such bodies some thousand are stored and checked after the load.
Wrong status and length are a share of all complete responses of the measurement windows. Wrong
bodies are a share of the bodies that were compared or recomputed. If that was only a sample, the
verdict adds an exact interval of the share, or its upper bound if no body was wrong.

What the load does not specify was not checked, and the verdict does not claim that it was. Two
things are doubted in any case: lengths other than the one that at least half of the responses of a
request type have, and bytes beyond the end of a response. If fewer have any one length, as with
dynamic pages, the verdict gives the range of lengths and doubts nothing. Where the length of bodies
is unknown, those with heads are judged: a response is odd if it is shorter than the usual one by
more than 100 bytes, because heads differ by cookies and by what they say of the connection.

Where no body is specified, the engine stores some thousand, which are compared with each other
after the load. Doubted are those that have the length of the usual body, differ from it, and came
while it came, too. A page that shows the time, a counter or a random value has no usual body, or
one after the other, and raises no doubt. Where no body is a quarter of those stored, the page is
such a one, and values have different lengths. There, lengths are not doubted that differ from the
usual one by at most 20 bytes and by less than half of it. Nor are they in the log of another tool,
which has no bodies: there, a number that grows by a digit is as likely as anything else.

Some tools let their users decide which responses are correct. Status codes from 400 on among those
are named and doubted, because nothing here was told to expect them.

Before and after the load the contract sends requests with values that a shortcut gets wrong. A
server that fails there is void, because it did not do the work that is compared. The contract does
not apply to a server that was already running: there, the options of the load define what is
correct.

Source: results have been published that were made of error pages; an error page is quickly served.
Intervals are those of Clopper and Pearson, Biometrika 26(4), 1934.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.aggregate.outcomes import BY_NAME
from plimsoll.statistics.proportions import excluded_from, proportion_interval
from plimsoll.verdicts.finding import (
    Finding,
    Remedy,
    found,
    led_by,
    not_checked,
    of_trial,
    unknown,
)
from plimsoll.verdicts.limits import PROPOSAL, Limit
from plimsoll.verdicts.role import Role

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plimsoll.aggregate.check_inputs import BodyLengths
    from plimsoll.aggregate.trial import Tables
    from plimsoll.recording import ExpectedResponse, SampledBodies
    from plimsoll.tool_output.reported import ReportedStatistics
    from plimsoll.verdicts.limits import Limit, Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "responses_correct"
TITLE = "Responses correct"
PROBLEM = "Wrong responses"
SOURCE = "wrong / checked responses of the measurement window, and the contract before and after"
CONTRACT_PROBLEMS = Limit(
    NAME,
    "contract_problems",
    "above",
    None,
    0.0,
    "problems",
    "violations of the contract before and after the load",
    "a server that skips the work has no valid number",
)
WRONG_RATIO = Limit(
    NAME,
    "wrong_ratio",
    "above",
    0.0,
    0.01,
    "ratio",
    "responses of the measurement window with wrong status or length, or wrong by the load "
    "generator / all of them",
    PROPOSAL,
)
WRONG_BODY_RATIO = Limit(
    NAME,
    "wrong_body_ratio",
    "above",
    0.0,
    0.01,
    "ratio",
    "wrong bodies of the measurement window / bodies of the measurement window that were compared "
    "or recomputed",
    PROPOSAL,
)
ODD_LENGTHS = Limit(
    NAME,
    "odd_lengths",
    "above",
    0.0,
    None,
    "responses",
    "responses whose length differs from most of their request type, where none was expected",
    PROPOSAL,
)
ERROR_STATUSES = Limit(
    NAME,
    "error_statuses",
    "above",
    0.0,
    None,
    "responses",
    "responses with a status from 400 on that another tool counts as correct",
    "RFC 9110, section 15: these codes say that the request failed",
)
ODD_BODIES = Limit(
    NAME,
    "odd_bodies",
    "above",
    0.0,
    None,
    "bodies",
    "sampled bodies of the usual length that differ from the usual one, where none was expected",
    PROPOSAL,
)
UNSOLICITED = Limit(
    NAME,
    "unsolicited",
    "above",
    0.0,
    None,
    "connections",
    "connections on which the server sent bytes beyond the end of a response or before any request",
    "RFC 9112, section 6.3: bytes after a response belong to the next one",
)
LIMITS = (
    CONTRACT_PROBLEMS,
    WRONG_RATIO,
    WRONG_BODY_RATIO,
    ODD_LENGTHS,
    ODD_BODIES,
    ERROR_STATUSES,
    UNSOLICITED,
)
NEEDS = None
ROLE = Role(
    is_essential=True,
    needs_no_time=True,
    blames_server=frozenset(one.name for one in LIMITS),
    explains_goodput=True,
)
REMEDY = Remedy(
    campaign="Inspect the responses (`plimsoll check`), fix the server, and repeat the trial",
    load="Inspect the responses, fix the server, and repeat the test",
)
STATUS_REMEDIES = {
    401: "Give the credentials that the server asks for (`-H 'Authorization: …'`)",
    403: "Give credentials that permit these requests (`-H`)",
    404: "Check the path of the URL",
    405: "Give the method that the server expects (`-m`)",
    429: "Raise the server's limit of requests, or give a lower rate (`-R`)",
}
"""What to do about a server that `load` met, by the status of most wrong responses."""
LENGTHS_REMEDY = Remedy(
    campaign="Compare such a body with the usual one; if both are correct, the page varies",
    load="Compare such a body with the usual one, and give the expected length "
    "(`--expect-length`); if both are correct, the page varies",
    imported="Compare such a response with a usual one; if both are correct, the page varies",
)
BODIES_REMEDY = Remedy(
    "Compare two such bodies, and fix the server; if both are correct, the page varies",
    load="Compare two such bodies, and give the expected one (`--expect-body`); if both are "
    "correct, the page varies",
)
STATUSES_REMEDY = Remedy(
    "Look why the load generator takes these responses for correct",
    imported="Look why the tool takes these responses for correct: an assertion may ignore the "
    "status, or the script may set success itself",
)
BEYOND = {
    "http": (
        "bytes beyond the end of a response",
        "Fix the framing: a body is as long as `Content-Length` says, and a response to HEAD or "
        "with status 204 or 304 has none",
    ),
    "websocket": (
        "more messages than it received",
        "Have the server send one message for each that it receives",
    ),
}
"""What a server sends that belongs to no response, and what to do about it."""
TIMES = ("before", "after")
LEAST_ERROR = 400
HEADS_APART_BYTES = 100
"""Heads of one server differ by less, but for cookies, which make a response longer."""
LEAST_USUAL = 0.25
"""A body that is a smaller share of the sample is not the usual one: the page varies."""
VALUE_BYTES = 20
"""Lengths of one page differ by as much where it shows a value: a number of 64 bits has 1 to 20
characters, the fraction of a second up to 10, and names of day and month differ by 10 letters."""
CUT = 0.5
"""A body that lacks so much of the usual length may be cut off, however short the page is."""
FEWEST_BODIES = 20
"""Of fewer sampled bodies none is the usual one."""
MANY = 1000
"""Among so many responses a sample of one in a hundred compares at least one body."""


def judge(tables: Tables, limits: Limits) -> Verdict:
    """Whether the responses were correct."""
    findings: list[Finding] = []
    if not tables.recording.found_running:
        findings.append(_contract(tables, limits))
    findings += [*_bodies(tables, limits), *_recomputed(tables, limits)]
    lengths = _lengths(tables, limits)
    findings += [lengths, *_alike(tables, limits), _unsolicited(tables, limits)]
    findings += _error_statuses(tables, limits)
    responses = _responses(tables, limits)
    if responses.level == lengths.level == "sound":
        responses = replace(responses, further=(*responses.further, *lengths.further))
    return of_trial(NAME, tables.recording, led_by(responses, *findings), SOURCE)


def _responses(tables: Tables, limits: Limits) -> Finding:
    """Status and length of every response, and whatever else a foreign driver looks at."""
    limit = limits.of(WRONG_RATIO)
    completed = tables.summary.completed
    if not completed:
        return not_checked(limit, "no request got a response in the measurement window")
    driver = tables.recording.driver
    if driver is not None and not driver.has_outcomes:
        return not_checked(limit, "the load generator does not report which responses were correct")
    bodies = sum(count.held_wrong for count in tables.body_counts)
    wrong = completed - tables.summary.ok - bodies
    if driver is not None and driver.figures is not None:
        return _by_figures(driver.name, driver.figures, wrong, completed, limit)
    if not wrong:
        return found(limit, 0.0, _all_right(tables), "")
    sentence = (
        f"{wording.count(wrong)} of {wording.count(completed)} responses "
        f"({wording.percent(wrong / completed)}) were wrong: {_kinds(tables)}; they count as "
        "throughput, not as goodput"
    )
    return found(limit, wrong / completed, sentence, _remedy(tables, wrong))


def _remedy(tables: Tables, wrong: float) -> Remedy:
    """What to do about wrong responses, most of which may have one status."""
    by_status = _wrong_statuses(tables).most_common(1)
    status, number = by_status[0] if by_status else (None, 0)
    if status not in STATUS_REMEDIES or number < wrong / 2:
        return REMEDY
    load = f"{STATUS_REMEDIES[status]}, or expect this status (`--expect-status {status}`)"
    return Remedy(REMEDY.campaign, load, imported=REMEDY.load)


def _by_figures(
    name: str, figures: ReportedStatistics, wrong: float, completed: float, limit: Limit
) -> Finding:
    """What a foreign driver counts as wrong, or what its record shows, whichever is more."""
    wrong = max(wrong, figures.wrong)
    of = f"of {wording.count(completed)} responses"
    if not wrong:
        sentence = f"`{name}` counted none {of} as wrong; nothing else was checked"
        return found(limit, 0.0, sentence, "")
    kinds = wording.listed(
        [f"{kind} {wording.count(n)}" for kind, n in figures.wrong_responses.items()]
    )
    sentence = (
        f"`{name}` counted {wording.count(wrong)} {of} as wrong{f': {kinds}' if kinds else ''}"
    )
    return found(limit, min(wrong / completed, 1.0), sentence, REMEDY)


def _all_right(tables: Tables) -> str:
    """What was checked and held, and what was not checked."""
    completed, recording = wording.count(tables.summary.completed), tables.recording
    if not recording.expected:
        by = "" if recording.driver is None else f" according to `{recording.driver.name}`"
        return f"all {completed} responses were correct{by}{_known_statuses(tables)}"
    if all(one.has_events for one in recording.expected):
        is_row = recording.load.events
        checked = "; data were not checked" if is_row else ", each with the expected events"
        return f"{_statuses(tables)}{checked}"
    return f"{_statuses(tables)}{_other_checks(tables, recording.expected)}"


def _held_statuses(tables: Tables) -> Counter[int | None]:
    """Responses of the measurement windows by their status."""
    held: Counter[int | None] = Counter()
    for count in tables.status_counts:
        held[count.status] += count.held
    return +held


def _known_statuses(tables: Tables) -> str:
    """`: status 200`, of responses that a foreign driver judged; empty if it reports none."""
    held = [(status, n) for status, n in _held_statuses(tables).most_common() if status is not None]
    if len(held) == 1:
        return f": status {held[0][0]}"
    named = [f"{status} × {wording.count(number)}" for status, number in held]
    return f": status {wording.listed(named)}" if named else ""


def _statuses(tables: Tables) -> str:
    """`status 200 on all 31,250 responses`; `status 200 × 31,000, 302 × 250, which …`."""
    held = _held_statuses(tables)
    if tables.recording.load.protocol == "websocket":
        return f"{wording.count(tables.summary.completed)} messages were echoed"
    if len(held) == 1:
        (status,) = held
        what = "events" if tables.recording.load.events else "responses"
        return f"status {status} on all {wording.count(tables.summary.completed)} {what}"
    listed = [f"{status} × {wording.count(number)}" for status, number in held.most_common()]
    return f"status {wording.listed(listed)}, all expected"


def _other_checks(tables: Tables, expected: tuple[ExpectedResponse, ...]) -> str:
    """What was checked besides the status, and what had nothing to compare with."""
    lengths = sum(one.length_bytes is not None for one in expected)
    bodies = sum(one.has_body for one in expected)
    recomputed = sum(one.held for one in tables.recording.recomputed)
    some = " of some request types" if max(lengths, bodies) < len(expected) else ""
    if recomputed and not bodies:
        return f", {_none_wrong(recomputed, 'recomputed after the load')}"
    if bodies and recomputed:
        drawn = _none_wrong(recomputed, "recomputed after it")
        return f", {_no_wrong_body(tables)}; {drawn}"
    if bodies:
        known = f", {_no_wrong_body(tables)}"
        return known if bodies == len(expected) else f"{known}; other bodies were not checked"
    if lengths:
        return f", and the expected length{some}; bodies were not checked"
    equal = [one for one in tables.recording.sampled_bodies if one.usual == one.bodies]
    if len(equal) == 1 == len(expected):
        return f"; {_all_alike(equal[0])}, other bodies and lengths were not checked"
    return "; bodies and lengths were not checked"


def _no_wrong_body(tables: Tables) -> str:
    """What is known of bodies where no wrong one was found."""
    compared = sum(count.held_compared for count in tables.body_counts)
    missing = sum(count.held_expected for count in tables.body_counts) - compared
    if not compared:
        return "no body was compared"
    if not missing:
        return f"and all {wording.count(compared)} bodies were compared and correct"
    return _none_wrong(compared, "compared")


def _none_wrong(bodies: int, how: str) -> str:
    """What a sample without a wrong body excludes."""
    most = wording.percent(wording.significant(excluded_from(bodies), 2))
    return (
        f"and no wrong body among {wording.count(bodies)} {how}: "
        f"fewer than {most} are wrong, at 95 %"
    )


def _kinds(tables: Tables) -> str:
    """`status 401 × 38,309, 12 answered with a body of another length`."""
    reported = [
        f"status {'unknown' if status is None else status} × {wording.count(number)}"
        for status, number in _wrong_statuses(tables).most_common()
    ]
    bodies = sum(count.held_wrong for count in tables.body_counts)
    for row in tables.outcome_counts:
        outcome = BY_NAME.get(row.outcome)
        number = row.held - (bodies if row.outcome == "wrong_body" else 0)
        if outcome is not None and outcome.group == "wrong" and number > 0:
            if row.outcome != "wrong_status":
                reported.append(f"{wording.count(number)} {outcome.words}")
    return wording.listed(reported)


def _wrong_statuses(tables: Tables) -> Counter[int | None]:
    """Wrong responses of the measurement windows by their status."""
    wrong: Counter[int | None] = Counter()
    for count in tables.status_counts:
        wrong[count.status] += count.held_wrong
    return +wrong


def _contract(tables: Tables, limits: Limits) -> Finding:
    limit = limits.of(CONTRACT_PROBLEMS)
    contract = tables.recording.contract
    problems = [f"{time} the load {text}" for time in TIMES for text in contract.get(time, ())]
    missing = [time for time in TIMES if time not in contract]
    if problems:
        sentence = f"the server broke its contract: {wording.listed(problems, 2)}"
        return found(limit, float(len(problems)), sentence, REMEDY)
    if missing:
        sentence = (
            f"no contract was checked {' and '.join(missing)} the load; under load only the "
            "expected status, length and body were"
        )
        return unknown(limit, sentence, "Measure an endpoint that has a contract, in a campaign")
    return found(limit, 0.0, "the contract held before and after the load", "")


def _bodies(tables: Tables, limits: Limits) -> list[Finding]:
    """Wrong bodies among those that were compared; nothing where none was given to compare with."""
    limit = limits.of(WRONG_BODY_RATIO)
    compared = sum(count.held_compared for count in tables.body_counts)
    wrong = sum(count.held_wrong for count in tables.body_counts)
    if wrong:
        sentence, *further = _wrong_bodies(tables, compared, wrong)
        return [found(limit, wrong / compared, sentence, REMEDY, *further)]
    if elsewhere := sum(count.wrong for count in tables.body_counts):
        return [_wrong_elsewhere(tables, limit, elsewhere, compared)]
    if compared:
        return [found(limit, 0.0, _no_wrong_body(tables), "")]
    recording = tables.recording
    if any(one.bodies for one in (*recording.recomputed, *recording.sampled_bodies)):
        return []
    return _none_compared(tables, limit)


def _recomputed(tables: Tables, limits: Limits) -> list[Finding]:
    """Wrong bodies among those that were written down under load and checked after it."""
    limit, drawn = limits.of(WRONG_BODY_RATIO), tables.recording.recomputed
    held, bodies = sum(one.held for one in drawn), sum(one.bodies for one in drawn)
    wrong = sum(one.held_wrong for one in drawn)
    elsewhere = sum(one.wrong for one in drawn) - wrong
    problem = next((one.problem for one in drawn if one.problem), "")
    if wrong:
        sentence = (
            f"of {wording.count(held)} bodies recomputed after the load, {wording.count(wrong)} "
            f"were wrong{_interval(wrong, held)}: {problem}; goodput is not reported"
        )
        return [found(limit, wrong / held, sentence, REMEDY)]
    if elsewhere:
        outside = bodies - held
        sentence = (
            f"of {wording.count(outside)} bodies from outside of the measurement window, "
            "recomputed after the "
            f"load, {wording.count(elsewhere)} were wrong: {problem}"
        )
        return [Finding("doubtful", elsewhere / outside, limit, sentence, REMEDY)]
    if held:
        return [found(limit, 0.0, _none_wrong(held, "recomputed after the load"), "")]
    return []


def _interval(wrong: int, bodies: int) -> str:
    """` (9.9 %, at 95 % 8.3 % to 12 %)`."""
    ends = proportion_interval(wrong, bodies)
    low, high = (wording.percent(wording.significant(end, 2)) for end in (ends.low, ends.high))
    return f" ({wording.percent(wrong / bodies)}, at 95 % {low} to {high})"


def _wrong_elsewhere(tables: Tables, limit: Limit, wrong: int, compared: int) -> Finding:
    """Wrong bodies outside of the holds: not in the summary, but still a server's fault."""
    outside = sum(count.compared for count in tables.body_counts) - compared
    sentence = (
        f"{wording.count(wrong)} of {wording.count(outside)} bodies compared outside of the "
        "measurement window "
        f"were wrong, and none of {wording.count(compared)} in it"
    )
    return Finding("doubtful", wrong / outside, limit, sentence, REMEDY)


def _wrong_bodies(tables: Tables, compared: int, wrong: int) -> tuple[str, ...]:
    """How many bodies were wrong, and how many were not compared."""
    expected = sum(count.held_expected for count in tables.body_counts)
    share = f"{wording.count(wrong)} of {wording.count(compared)} bodies"
    where = _where_wrong(tables)
    if compared == expected:
        ratio = wording.percent(wrong / compared)
        return (f"{share} ({ratio}) were wrong{where}; they count as throughput, not as goodput",)
    return (
        f"{share} that were compared{_interval(wrong, compared)} were wrong{where}",
        f"{wording.count(expected - compared)} were not compared, so goodput is not reported",
    )


def _where_wrong(tables: Tables) -> str:
    """Which request types had wrong bodies, where there are several types."""
    names = tables.recording.requests
    if len(names) < 2:  # noqa: PLR2004
        return ""
    parts = [
        f"`{names[count.request]}` {wording.count(count.held_wrong)} of "
        f"{wording.count(count.held_compared)}"
        for count in tables.body_counts
        if count.held_wrong
    ]
    return f": {wording.listed(parts)}"


def _none_compared(tables: Tables, limit: Limit) -> list[Finding]:
    """No body was compared: nothing to doubt where none was given, or too few responses came.

    Events are compared one by one as they come.
    """
    recording, completed = tables.recording, tables.summary.completed
    if recording.found_running or completed < MANY:
        return []
    if recording.expected and all(one.has_events for one in recording.expected):
        return []
    not_one = f"no body of {wording.count(completed)} responses was compared"
    driver = recording.driver
    if driver is not None and driver.figures is not None:
        sentence = f"{not_one}; `{driver.name}` decides which responses are correct"
        return [not_checked(limit, sentence)]
    sentence = f"{not_one}; only status and length were checked"
    return [unknown(limit, sentence, "Give the expected body, so that bodies are compared")]


def _lengths(tables: Tables, limits: Limits) -> Finding:
    """Lengths that few responses of a type have, if the load specifies none."""
    limit = limits.of(ODD_LENGTHS)
    lengths, what = _known_lengths(tables)
    unasked = [one for one in lengths if _is_unspecified(one, tables.recording.expected)]
    odd = [one for one in unasked if 0 < one.others <= one.usual and not _has_values(one, tables)]
    if not odd:
        varying = [_varying(one, tables, what[0]) for one in unasked if one.others]
        return found(limit, 0.0, "no response length is unusual", "", *varying[:2])
    sentence = wording.listed([_stated_lengths(one, tables, what) for one in odd], 2)
    return found(limit, float(sum(one.others for one in odd)), sentence, LENGTHS_REMEDY)


def _known_lengths(tables: Tables) -> tuple[tuple[BodyLengths, ...], tuple[str, str]]:
    """Lengths of bodies, or of responses with heads where these are all that another tool logs."""
    if tables.body_lengths or tables.recording.origin != "import":
        return tables.body_lengths, ("body", "bodies")
    return tables.message_lengths(HEADS_APART_BYTES), ("response", "responses")


def _is_unspecified(lengths: BodyLengths, expected: tuple[ExpectedResponse, ...]) -> bool:
    """Whether no length was expected of these responses, nor events, which may have any."""
    if lengths.request >= len(expected):
        return True
    one = expected[lengths.request]
    return one.length_bytes is None and not one.has_events


def _has_values(lengths: BodyLengths, tables: Tables) -> bool:
    """Whether lengths differ by no more than a number or a time in a page that shows one.

    At least half of the responses have the usual length. Where no body is a quarter of the stored
    ones, those of this length differ from each other, too. The log of another tool has none.
    """
    names, usual = tables.recording.requests, lengths.usual_bytes
    vary = tables.recording.origin == "import" or any(
        names[one.request] == names[lengths.request]
        and one.bodies >= FEWEST_BODIES
        and one.usual < LEAST_USUAL * one.bodies
        for one in tables.recording.sampled_bodies
    )
    shortest, longest = lengths.others_shortest_bytes, lengths.others_longest_bytes
    if not vary or shortest is None or longest is None:
        return False
    return usual - shortest < CUT * usual and max(usual - shortest, longest - usual) <= VALUE_BYTES


def _varying(lengths: BodyLengths, tables: Tables, what: str) -> str:
    """That lengths vary: no one of them is that of half of the responses."""
    known = (lengths.usual_bytes, lengths.others_shortest_bytes, lengths.others_longest_bytes)
    ends = [one for one in known if one is not None]
    return (
        f"{_type(lengths, tables)}{what} lengths vary from {wording.count(min(ends))} to "
        f"{wording.count(max(ends))} bytes; no length was expected"
    )


def _type(lengths: BodyLengths, tables: Tables) -> str:
    """The request type, where there are several: `` `page`:  ``."""
    names = tables.recording.requests
    return f"`{names[lengths.request]}`: " if len(names) > 1 else ""


def _stated_lengths(lengths: BodyLengths, tables: Tables, what: tuple[str, str]) -> str:
    of = _type(lengths, tables)
    shortest, longest = lengths.others_shortest_bytes, lengths.others_longest_bytes
    other = (
        wording.count(shortest or 0)
        if shortest == longest
        else f"{wording.count(shortest or 0)} to {wording.count(longest or 0)}"
    )
    return (
        f"{of}{wording.several(lengths.others, *what)} had {other} bytes, the other "
        f"{wording.count(lengths.usual)} had {wording.count(lengths.usual_bytes)}; no length was "
        "expected"
    )


def _alike(tables: Tables, limits: Limits) -> Iterator[Finding]:
    """Sampled bodies that differ from the usual one and have its length, if none was expected."""
    limit = limits.of(ODD_BODIES)
    for one in tables.recording.sampled_bodies:
        if one.bodies < FEWEST_BODIES or one.usual < LEAST_USUAL * one.bodies:
            continue
        names = tables.recording.requests
        of = f"`{names[one.request]}`: " if len(names) > 1 else ""
        if not one.others:
            yield found(limit, 0.0, f"{of}{_all_alike(one)}", "")
            continue
        sentence = (
            f"{of}{wording.count(one.different + 1)} different bodies of equal length "
            f"({wording.several(one.length_bytes, 'byte')}): of {wording.count(one.bodies)} "
            f"sampled ones {wording.count(one.usual)} were equal, and "
            f"{wording.several(one.others, 'other')} came between these; no body was expected"
        )
        yield found(limit, float(one.others), sentence, BODIES_REMEDY)


def _all_alike(one: SampledBodies) -> str:
    if one.usual == one.bodies:
        return f"{wording.count(one.bodies)} sampled bodies were equal"
    return f"no sampled body of {wording.several(one.length_bytes, 'byte')} is unusual"


def _error_statuses(tables: Tables, limits: Limits) -> list[Finding]:
    """Status codes of errors on responses that a foreign driver counts as correct."""
    recording = tables.recording
    if recording.expected or recording.origin != "import":
        return []
    errors: Counter[int] = Counter()
    for count in tables.status_counts:
        if count.status is not None and count.status >= LEAST_ERROR:
            errors[count.status] += count.held - count.held_wrong
    errors = +errors
    limit = limits.of(ERROR_STATUSES)
    if not errors:
        return [found(limit, 0.0, "no response with the status of an error counts as correct", "")]
    number, completed = errors.total(), tables.summary.completed
    by = "the load generator" if recording.driver is None else f"`{recording.driver.name}`"
    named = wording.listed([f"{status} × {wording.count(n)}" for status, n in errors.most_common()])
    sentence = (
        f"{by} counts {wording.count(number)} of {wording.count(completed)} responses "
        f"({wording.percent(number / completed)}) as correct, though their status says the "
        f"contrary: {named}"
    )
    return [found(limit, float(number), sentence, STATUSES_REMEDY)]


def _unsolicited(tables: Tables, limits: Limits) -> Finding:
    """Bytes that belong to no response, in the whole trial."""
    limit = limits.of(UNSOLICITED)
    ends = [end for end in tables.connection_ends if end.outcome == "unsolicited"]
    unasked = sum(end.without_response for end in ends)
    number = sum(end.connections for end in ends)
    behind = number - unasked
    is_websocket = tables.recording.load.protocol == "websocket"
    if not number:
        return found(limit, 0.0, "no bytes followed a response", "")
    sentences: list[str] = []
    remedies: list[str] = []
    if behind:
        what, remedy = BEYOND["websocket" if is_websocket else "http"]
        sentences.append(
            f"on {wording.several(behind, 'connection')} the server sent {what}; clients read them "
            "as the next response"
        )
        remedies.append(remedy)
    if unasked:
        sentences.append(
            f"on {wording.several(unasked, 'connection')} the server sent bytes before any "
            "request; clients read them as the response to the first one"
        )
        remedies.append("Have the server send nothing on a connection without a request")
    return found(limit, float(number), "; ".join(sentences), "; ".join(remedies))
