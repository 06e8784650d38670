"""The answer as people and programs read it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any, Literal
from xml.etree import ElementTree as Xml

import jsonschema
import pytest

from plimsoll import wording
from plimsoll.comparison import regression_limit
from plimsoll.comparison.difference import AT_A_RATE, Metric, difference
from plimsoll.comparison.doubts import FoundDoubt, LoadDoubt
from plimsoll.comparison.group_rounds import GroupRounds, without_p99
from plimsoll.comparison.turn_pairs import GroupTimes
from plimsoll.comparison.until_decided import Compared, ComparedServers, Killed, StoppingRule
from plimsoll.report.formats import cells
from plimsoll.report.results import compared
from plimsoll.statistics.paired import Plan
from turns import Pair, turns

SCHEMA = Path(__file__).parents[3] / "docs" / "schemas" / "compare-1.json"
SIDES = ComparedServers("go", "a`|b\n", "/plaintext", 64)
WOBBLE = (0.998, 1.001, 1.002, 0.999, 1.0, 1.001, 0.999, 1.0)
NOISY = (0.93, 1.06, 0.97, 1.08, 0.99, 0.95, 1.05, 0.98)


def ended(
    pair: Pair,
    scatter: Sequence[float] = WOBBLE,
    limit: float | None = None,
) -> Compared:
    """A comparison of 80 s, as many groups as numbers."""
    pairs = [
        Pair(pair.rate * one, pair.cost and pair.cost * one, pair.delay, pair.failures)
        for one in scatter
    ]
    some = turns(pairs)
    found = difference(some, Plan((len(pairs),), len(pairs)))
    state = None if limit is None else regression_limit.state(found, limit)
    return Compared(StoppingRule(120, 0.02, limit), found, state, 80.0, 10.0, some, shortest_s=10.0)


def blurred(rate: float, cost: float, limit: float | None = None) -> Compared:
    """A comparison of 80 s in which others take time from both, and a request costs as it does."""
    pairs = [
        Pair(rate * one, cost * quiet, 1.2 / one - 1, a_delay=0.2)
        for one, quiet in zip(NOISY, WOBBLE, strict=True)
    ]
    some = turns(pairs)
    found = difference(some, Plan((8,), 8))
    state = None if limit is None else regression_limit.state(found, limit)
    return Compared(StoppingRule(120, 0.02, limit), found, state, 80.0, 10.0, some, shortest_s=10.0)


def side_by_side(cost: float, limit: float | None = None) -> Compared:
    """A comparison whose turns are blurred, and in which both also worked at the same time."""
    alone = turns([Pair(one, 1 / one) for one in NOISY])
    beside = turns([Pair(0.5, cost * one, 1.0) for one in WOBBLE])
    found = difference(alone, Plan((8,), 8), side_by_side=beside)
    wanted = StoppingRule(120, max_regression=limit)
    state = None if limit is None else regression_limit.state(found, limit)
    return Compared(wanted, found, state, 80.0, 10.0, alone, beside, shortest_s=10.0)


def silent_side_by_side() -> Compared:
    """A comparison whose B returned nothing while both worked at the same time."""
    alone, beside = turns([Pair()] * 8), turns([Pair(rate=0.0, failures=4)] * 8)
    found = difference(alone, Plan((8,), 8), side_by_side=beside)
    wanted, state = StoppingRule(120, max_regression=0.2), regression_limit.state(found, 0.2)
    return Compared(wanted, found, state, 80.0, 10.0, alone, beside, shortest_s=10.0)


def at_a_rate(
    longer: float | None,
    limit: float | None = None,
    deciding: tuple[Metric, ...] = AT_A_RATE,
    scatter: Sequence[float] = WOBBLE,
) -> Compared:
    """A comparison of 80 s at one rate, in which B's p99 is so much longer, and scatters so."""
    some = turns([Pair(1.0, one) for one in WOBBLE])
    times = [
        GroupTimes(group, 1e6, 1e6 * longer * one)
        for group, one in enumerate(scatter)
        if longer is not None
    ]
    found = difference(some, Plan((8,), 8), 0.02, times, deciding)
    state = None if limit is None else regression_limit.state(found, limit)
    return Compared(
        StoppingRule(120, 0.02, limit, deciding), found, state, 80.0, 10.0, some, shortest_s=10.0
    )


def doubted(end: Compared, level: Literal["doubtful", "void"]) -> Compared:
    """The comparison whose B a check doubts in all of its starts."""
    found = FoundDoubt("B", "delayed_ack", "Waits for delayed ACKs", level, "It waits", "Do not.")
    void = ("B",) if level == "void" else ()
    difference = replace(end.difference, void=void)
    if void:
        difference = replace(difference, answer="undecided", witness=None)
    return replace(end, difference=difference, doubts=(LoadDoubt(found, 8, 8),))


def void_by_itself(end: Compared) -> Compared:
    """The comparison whose B is void by its own fault in all of its starts."""
    void = doubted(end, "void")
    return replace(void, difference=replace(void.difference, void_by_itself="B"), limit="crossed")


def without_the_rate() -> Compared:
    """A comparison at a rate that B does not carry, and whose p99 scatters widely."""
    some = turns([Pair(0.6 * one, one) for one in WOBBLE])
    times = [GroupTimes(group, 1e6, 1e7 * one**40) for group, one in enumerate(NOISY)]
    found = difference(some, Plan((8,), 8), 0.02, times, AT_A_RATE)
    wanted, state = StoppingRule(120, 0.02, 0.2, AT_A_RATE), regression_limit.state(found, 0.2)
    return Compared(wanted, found, state, 80.0, 10.0, some, shortest_s=10.0)


CASES = {
    "doubtful": doubted(ended(Pair(0.9, 1.1)), "doubtful"),
    "void": doubted(ended(Pair(0.9, 1.1)), "void"),
    "faster": ended(Pair(1.1, 0.9)),
    "slower": ended(Pair(0.9, 1.1)),
    "costs more": blurred(0.96, 1.05),
    "costs less": blurred(1.04, 0.95),
    "costs more at the same throughput": ended(Pair(1.0, 1.5), limit=0.03),
    "crossed by cost": blurred(0.94, 1.05, limit=0.03),
    "side by side": side_by_side(1.03),
    "denied in turns": side_by_side(1.05, limit=0.03),
    "kept by cost": blurred(1.0, 1.0, limit=0.03),
    "same": ended(Pair()),
    "undecided": ended(Pair(cost=None, delay=None), NOISY),
    "one group": ended(Pair(1.1), [1.0]),
    "short": replace(ended(Pair(1.1), [1.0, 1.0]), wanted=StoppingRule(85)),
    "short, open": replace(
        ended(Pair(0.97), [1.0], limit=0.03), wanted=StoppingRule(85, 0.02, 0.03)
    ),
    "failing": ended(Pair(failures=500)),
    "failing, crossed": ended(Pair(failures=500), limit=0.03),
    "void, crossed": void_by_itself(ended(Pair(0.9, 1.1), limit=0.03)),
    "rate not carried": without_the_rate(),
    "silent": ended(Pair(rate=0.0), limit=0.03),
    "silent side by side": silent_side_by_side(),
    "void, short": replace(
        doubted(ended(Pair(0.9), [1.0], limit=0.03), "void"),
        wanted=StoppingRule(85, 0.02, 0.03),
        limit="open",
    ),
    "kept": ended(Pair(), limit=0.03),
    "crossed": ended(Pair(0.9, 1.1), limit=0.03),
    "open": ended(Pair(0.97, 1.031), limit=0.03),
    "too small": ended(Pair(cost=None), NOISY, limit=0.02),
    "far too small": ended(Pair(cost=None), NOISY, limit=0.01),
    "most groups": ended(Pair(0.99, cost=None), NOISY * 7 + NOISY[:4], limit=0.015),
    "too small at a rate": at_a_rate(1.0, limit=0.05, scatter=(0.9, 1 / 0.9) * 4),
    "longer": at_a_rate(1.12),
    "shorter, kept": at_a_rate(0.9, limit=0.03),
    "longer, crossed": at_a_rate(1.12, limit=0.03),
    "no responses": at_a_rate(None),
    "no p99": replace(
        at_a_rate(None, limit=0.6),
        planned_without_p99=without_p99(GroupRounds(20, 12, 12), 600.0, 13.0),
    ),
    "named": at_a_rate(1.0, deciding=("cpu_per_request",), limit=0.03),
}


@pytest.mark.parametrize(
    ("case", "part"),
    [
        ("faster", "B is 10 % faster (95 %: 9."),
        ("void", "undecided: the load of B is void (Waits for delayed ACKs)"),
        ("slower", "B is 10 % slower (95 %: 9."),
        ("costs more", "B is slower: a request costs it 5.0 % more CPU time (95 %: 4."),
        ("side by side", "B is slower: a request costs it 3.0 % more CPU time (95 %: 2."),
        ("costs less", "B is faster: a request costs it 5.0 % less CPU time (95 %: 4."),
        (
            "costs more at the same throughput",
            "B's throughput is the same as A's within 2 %, but a request costs it 50 % more CPU "
            "time (95 %: 50 to 50 %)",
        ),
        ("same", "B is the same as A within 2 %: throughput 0.0 % (95 %: −0."),
        ("undecided", "undecided after 80 s: throughput 0.0 % (95 %: −4."),
        ("one group", "about 20 s more would decide"),
        (
            "most groups",
            "; it ended after 60 groups, the most a comparison has: give it a quieter machine",
        ),
        ("longer", "B is slower: its p99 is 12 % longer (95 %: 12"),
        ("shorter, kept", "B is faster: its p99 is 10 % shorter (95 %: "),
        (
            "no responses",
            "undecided after 80 s: p99 latency not measured; p99 takes 1,000 responses of each "
            "server in a group, and fewer came",
        ),
        (
            "no p99",
            "undecided after 80 s: p99 latency not measured; p99 takes 1,000 responses in each "
            "group, so 334 requests/s or more",
        ),
        (
            "short",
            "a budget of 85 s is too short: a decision takes 3 groups, 90 s as measured",
        ),
        ("named", "B is the same as A within 2 %: CPU time per request 0.0 % (95 %"),
        ("silent", "undecided: B returned no correct response in a whole group"),
        (
            "silent side by side",
            "undecided: B returned no correct response in a group side by side",
        ),
        ("failing", "undecided: 4.5 % of B's requests failed, more than 0.1 %"),
    ],
)
def test_the_answer_is_one_sentence_said_of_b(case: str, part: str) -> None:
    said = compared.sentence(CASES[case])
    assert part in said
    assert len(said.split()) <= 30


@pytest.mark.parametrize(
    ("case", "part"),
    [
        ("slower", "CPU time per request differs: +10 % (95 %: +9."),
        ("undecided", "CPU time of B is unknown in most turns of a start: some of its processes"),
        ("one group", "Intervals cover these processes only"),
        ("same", "The smallest detectable difference in 80 s is 0."),
        ("undecided", " % in throughput"),
        ("kept", "B does not lose more than 3 % of A's throughput."),
        ("crossed", "B loses more than 3 % of A's throughput."),
        (
            "costs more at the same throughput",
            "B does not lose more than 3 % of A's throughput.",
        ),
        (
            "crossed by cost",
            "By CPU time per request, B loses more than 3 % of A's throughput.",
        ),
        (
            "kept by cost",
            "By CPU time per request, B does not lose more than 3 % of A's throughput.",
        ),
        (
            "denied in turns",
            "Whether B loses more than 3 % is undecided: CPU time per request side by side is not "
            "that in turns.",
        ),
        (
            "shorter, kept",
            "B is not worse by more than 3 % in p99 latency or CPU time per request.",
        ),
        ("longer, crossed", "B is worse by more than 3 % in p99 latency or CPU time per request."),
        (
            "no p99",
            "Whether B loses more than 60 % is undecided: p99 takes 1,000 responses in each group, "
            "so 334 requests/s or more.",
        ),
        ("no p99", "P99 latency was not measured: p99 takes 1,000 responses in each group, so"),
        ("rate not carried", "B loses more than 20 % of A's throughput."),
        (
            "failing, crossed",
            "4.5 % of B's requests failed, and 0 % of A's: that crosses a limit of 3 %.",
        ),
        (
            "silent",
            "B returned no correct response in a whole group, and A did: that crosses a limit of",
        ),
        (
            "silent side by side",
            "B returned no correct response in a whole group side by side, and A did: that crosses",
        ),
        (
            "void, crossed",
            "The loads of B are void in each start (Waits for delayed ACKs), and in none those of "
            "A: that crosses a limit of 3 %.",
        ),
        ("named", "B is not worse by more than 3 % in CPU time per request."),
        ("open", "Whether B loses more than 3 % is undecided."),
        (
            "short, open",
            "Whether B loses more than 3 % is undecided: a budget of 85 s is too short",
        ),
        ("too small", "A loss of 2 % is not detectable here; the smallest in"),
        ("too small", "A budget of about 412 s would show it."),
        ("far too small", "It would take more than 60 groups, the most a comparison has"),
        (
            "most groups",
            "Whether B loses more than 1.5 % is undecided after 60 groups, the most a comparison",
        ),
        ("too small at a rate", "is +12 % or −11 % in p99 latency, 0.13 % in CPU time per request"),
        (
            "too small at a rate",
            "An increase of 5 % in p99 latency is not detectable here; the smallest in 80 s is 12 ",
        ),
        ("too small at a rate", "A budget of about 428 s would show it."),
    ],
)
def test_remarks_say_what_else_must_be_known(case: str, part: str) -> None:
    said = list(compared.remarks(CASES[case]))
    assert any(part in one for one in said)
    assert all(one.endswith(".") and len(one.split()) <= 30 for one in said)


@pytest.mark.parametrize(("case", "mark"), [("doubtful", "▲"), ("void", "✕")])
def test_every_form_says_which_load_is_doubted(case: str, mark: str) -> None:
    end = CASES[case]
    line = f"{mark} B, Waits for delayed ACKs (8 of 8 starts): It waits. Do not."
    assert line in compared.text(end, SIDES).splitlines()
    assert f"- {line}" in compared.markdown(end, SIDES).splitlines()
    found: Any = compared.document(end, SIDES)
    assert (found["a"]["level"], found["a"]["doubts"]) == ("sound", [])
    assert found["b"]["level"] == case
    assert found["b"]["doubts"] == [
        {
            "check": "delayed_ack",
            "level": case,
            "starts": 8,
            "text": "It waits.",
            "remedy": "Do not.",
        }
    ]


def test_loads_that_nothing_doubts_are_said_to_be_so() -> None:
    assert "✓ No check doubts the loads of A and B." in compared.text(CASES["same"], SIDES)


def test_no_budget_is_named_where_servers_are_not_comparable() -> None:
    end = CASES["void, short"]
    assert end.short_budget
    said = (compared.limit_missed(end), compared.progress(end), *compared.remarks(end))
    assert said[0] == "whether B loses more than 3 % is undecided"
    assert not any("budget" in one for one in said)


def test_every_form_says_why_p99_was_not_measured() -> None:
    end, reason = CASES["no p99"], "p99 takes 1,000 responses in each group"
    found: Any = compared.document(end, SIDES)
    assert found["without_p99"].startswith(reason)
    (skipped,) = Xml.fromstring(compared.as_junit(end, SIDES)).iter("skipped")  # noqa: S314
    for said in (compared.text(end, SIDES), compared.markdown(end, SIDES), skipped.get("message")):
        assert said is not None and reason in said
    assert compared.document(CASES["longer"], SIDES)["without_p99"] == ""
    assert compared.document(CASES["slower"], SIDES)["without_p99"] == ""


def test_an_interval_that_says_nothing_is_not_shown() -> None:
    end = ended(Pair(), [1.0, 1e-4, 1.0, 1e-4])
    assert compared.ratios(end.difference)[0][2] == "–"
    assert "95 %" not in compared.sentence(end)
    found: Any = compared.document(end, SIDES)
    assert (found["throughput"]["low"], found["throughput"]["high"]) == (None, None)
    assert found["smallest_difference"] is None


def test_what_would_decide_first_is_named_if_it_is_not_what_is_shown() -> None:
    pairs = [Pair(one, 1.0 + at % 2 * 0.06) for at, one in enumerate(NOISY)]
    some = turns(pairs)
    found = difference(some, Plan((8,), 8))
    said = compared.sentence(Compared(StoppingRule(120), found, None, 80.0, 10.0, some))
    assert said.endswith("more would decide, by CPU time per request")


def test_a_comparison_that_took_longer_than_its_budget_says_so() -> None:
    within, over = CASES["same"], replace(CASES["same"], elapsed_s=122.0)
    assert compared.stated(within)[-1].endswith("80 s of 120 s.")
    assert compared.stated(over)[-1].endswith("122 s with a budget of 120 s.")


def test_processor_time_that_was_waited_for_is_named_as_such() -> None:
    pairs = [Pair(0.8 * one, 1.0, 0.25 / one) for one in WOBBLE]
    some = turns(pairs)
    found = difference(some, Plan((8,), 8))
    said = " ".join(compared.remarks(Compared(StoppingRule(120), found, None, 80.0, 10.0, some)))
    assert found.source == "cpu_obtained"
    assert "it was ready to run and waited for a core" in said


@pytest.mark.parametrize("case", CASES)
def test_the_json_keeps_to_its_published_schema(case: str) -> None:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    found = json.loads(json.dumps(compared.document(CASES[case], SIDES)))
    jsonschema.validate(found, schema)
    assert found["format"] == schema["properties"]["format"]["const"]


def test_a_document_with_another_field_breaks_the_schema() -> None:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**compared.document(CASES["same"], SIDES), "more": 1}, schema)


@pytest.mark.parametrize(
    ("case", "limit"), [("kept", "kept"), ("too small", "not_measurable"), ("same", None)]
)
def test_the_json_says_what_the_limit_came_to(case: str, limit: str | None) -> None:
    assert compared.document(CASES[case], SIDES)["limit"] == limit


@pytest.mark.parametrize("case", CASES)
def test_markdown_fits_into_a_pull_request(case: str) -> None:
    page = compared.markdown(CASES[case], SIDES)
    assert len(page.splitlines()) <= 40
    assert page.startswith("**")
    assert "`a'\\|b `" in page


@pytest.mark.parametrize("case", CASES)
def test_a_cell_of_a_notebook_has_the_answer_its_figures_and_remarks(case: str) -> None:
    html = unescape(cells.comparison(CASES[case], SIDES)).replace("\u00a0", " ")
    assert compared.sentence(CASES[case])[1:] in html
    rows = compared.ratios(CASES[case].difference)
    assert html.count("<tr>") == 2 + len(compared.servers(CASES[case], SIDES).rows) + len(rows)
    assert html.count('<p class="small">') == len(compared.stated(CASES[case]))
    assert "<b>x" not in cells.comparison(CASES[case], ComparedServers("<b>x", "b", "/", 1))


@pytest.mark.parametrize(
    ("case", "outcome"),
    [("kept", None), ("faster", None), ("slower", None)]
    + [(case, "skipped") for case in ("open", "too small", "undecided", "failing", "void, short")]
    + [(case, "failure") for case in ("crossed", "failing, crossed", "silent", "void, crossed")],
)
def test_junit_fails_where_the_limit_is_crossed_only(case: str, outcome: str | None) -> None:
    (found,) = Xml.fromstring(compared.as_junit(CASES[case], SIDES)).iter("testcase")  # noqa: S314
    outcomes = {child.tag for child in found} - {"system-out"}
    assert outcomes == ({outcome} if outcome else set())


def test_the_failure_of_a_server_that_is_not_compared_names_the_limit() -> None:
    found = Xml.fromstring(compared.as_junit(CASES["failing, crossed"], SIDES))  # noqa: S314
    (failure,) = found.iter("failure")
    assert "4.5 % of B's requests failed" in failure.attrib["message"]
    assert "that crosses a limit of 3 %" in failure.attrib["message"]
    assert "ndecided" not in failure.attrib["message"]


def test_the_table_in_the_terminal_names_both() -> None:
    said = compared.text(CASES["slower"], SIDES)
    assert "/s  go" in said
    assert "CPU time per request" in said
    assert "p99" not in said


def test_revisions_are_named_with_framework_and_commit() -> None:
    sides = ComparedServers("go at main", "go at HEAD", "/", 64, commits=("1a2b3c4", "5d6e7f8"))
    end, a, b = CASES["slower"], "go at main (1a2b3c4)", "go at HEAD (5d6e7f8)"
    found: Any = compared.document(end, sides)
    assert (found["a"]["name"], found["b"]["name"]) == (a, b)
    pages = (compared.text(end, sides), compared.markdown(end, sides), cells.comparison(end, sides))
    for said in pages:
        assert a in unescape(said) and b in unescape(said)
    (case,) = Xml.fromstring(compared.as_junit(end, sides)).iter("testcase")  # noqa: S314
    assert case.get("name") == "B (go at HEAD) against A (go at main)"


@pytest.mark.parametrize(("starts", "at"), [(8, "each of 8 starts"), (3, "3 of 8 starts")])
def test_a_server_that_does_not_stop_is_named_everywhere(starts: int, at: str) -> None:
    end = replace(CASES["open"], killed=(Killed("B", "SIGTERM", 10.0),) * starts)
    said = f"B did not stop on SIGTERM and was killed after 10 s, at {at}."
    for page in (
        compared.text(end, SIDES),
        compared.markdown(end, SIDES),
        compared.as_junit(end, SIDES),
        unescape(cells.comparison(end, SIDES)).replace("\u00a0", " "),
    ):
        assert said in page
    found: Any = compared.document(end, SIDES)
    assert (found["a"]["killed_starts"], found["b"]["killed_starts"]) == (0, starts)


def test_what_a_request_costs_side_by_side_stands_beside_its_cost_in_turns() -> None:
    end = CASES["side by side"]
    said = compared.text(end, SIDES)
    assert "8 starts of fresh processes, 64 pairs of turns and 16 s side by side, 80 s of" in said
    rows = {name: (ratio, interval) for name, ratio, interval in compared.ratios(end.difference)}
    assert rows["CPU time per request"][0] == "+3.0 %"
    assert rows["CPU time per request in turns"] != rows["CPU time per request"]
    found = compared.document(end, SIDES)
    assert found["cpu_per_request_in_turns"] is not None
    alone = compared.document(CASES["slower"], SIDES)
    assert alone["cpu_per_request_in_turns"] is None
    assert "side by side" not in compared.text(CASES["slower"], SIDES)


def test_at_a_rate_the_rate_and_the_latencies_are_named() -> None:
    sides = ComparedServers("go", "node", "/plaintext", 64, 2000.0)
    for said in (compared.text(CASES["longer"], sides), compared.markdown(CASES["longer"], sides)):
        assert "at 2,000 requests/s" in said
        assert "1.12 ms" in said
        assert "p99 latency" in said
    found = compared.document(CASES["longer"], sides)
    assert found["rate_per_s"] == 2000.0
    answers = {"throughput": "same", "cpu_per_request": "same", "p99": "slower"}
    assert found["answers"] == answers


def test_small_rates_are_not_rounded_to_the_same_number() -> None:
    sides = ComparedServers("go", "node", "/", 1, 0.5)
    slow = replace(CASES["slower"].difference, a_per_s=3.4, b_per_s=2.6)
    end = replace(CASES["slower"], difference=slow)
    for said in (compared.text(end, sides), compared.markdown(end, sides)):
        assert "at 0.5 requests/s" in said
        assert said.index("3.4") < said.index("2.6")


def test_the_smallest_detectable_difference_is_as_far_as_intervals_reach() -> None:
    """An interval that is symmetric on logarithms reaches farther up than down."""
    wide = ended(Pair(), scatter=[0.6, 1.0, 1.7, 0.8, 1.3, 0.7, 1.1, 1.2])
    ratio = wide.difference.throughput
    assert ratio is not None and ratio.interval is not None
    more = (ratio.interval.high / ratio.interval.low) ** 0.5
    said = " ".join(compared.remarks(wide))
    up, down = wording.percent(more - 1), wording.percent(1 - 1 / more)
    assert up != down
    assert f"+{up} or −{down} in throughput" in said


def test_a_decision_that_would_take_very_long_is_not_advised() -> None:
    wide = replace(ended(Pair(1.1, 1.1), scatter=[0.9, 1.0, 1.1]), elapsed_s=30.0)
    assert wide.more_s is not None and wide.more_s > 10 * wide.elapsed_s
    wider = ended(Pair(1.02, 1.02), scatter=[0.6, 1.0, 1.7, 0.8, 1.3, 0.7, 1.1, 1.2])
    assert wider.more_s is None
    for said in (compared.sentence(wide), compared.sentence(wider)):
        assert "quieter machine" in said
        assert "more would decide" not in said


@pytest.mark.parametrize("case", ["slower", "undecided", "longer, crossed"])
def test_progress_does_not_anticipate_the_answer(case: str) -> None:
    said = compared.progress(CASES[case])
    assert said.startswith("group 8, 80 s: ")
    assert compared.sentence(CASES[case]) not in said
