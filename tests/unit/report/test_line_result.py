"""The answer of a search for load lines, in words and as JSON."""

from __future__ import annotations

import json
from dataclasses import replace
from html import unescape
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import queues
import sample
from plimsoll import wording
from plimsoll.aggregate.counted import Failure, StatusTotal
from plimsoll.findings.beyond import LimitingResource
from plimsoll.findings.load_lines import LineFindings, Subject
from plimsoll.load_line import search
from plimsoll.load_line.goal import SearchGoal
from plimsoll.load_line.limits import errors, latency
from plimsoll.load_line.search import Searched
from plimsoll.load_line.tries import Try
from plimsoll.report.formats import cells
from plimsoll.report.results import line_result
from plimsoll.statistics.edge import Count, Edge
from plimsoll.verdicts import catalogue

SCHEMA = Path(__file__).parents[3] / "docs" / "schemas" / "line-1.json"
SUBJECT = Subject("127.0.0.1:8080/", "poisson", 256)
BUSY = LimitingResource("core", "the server's busiest core was 99 % busy")


def findings(found: Searched, beyond: LimitingResource = BUSY) -> LineFindings:
    failed = {line.limit.name: beyond for line in found.lines if line.failed_per_s}
    return LineFindings(found, SUBJECT, failed, {})


CASES = {
    "found": findings(queues.searched_with()),
    "two": findings(queues.searched_once()),
    "floor": findings(queues.searched_with(100e-6)),
    "failing": findings(queues.searched_with(fails=1.0)),
    "above": findings(queues.searched_with(most_per_s=1000.0)),
    "driver": findings(
        queues.searched_with(),
        LimitingResource("driver", "the load generator used 99 % of its core"),
    ),
    "pool": findings(
        queues.searched_with(),
        LimitingResource("pool", "all 256 connections were in use, for 100 ms a response"),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_document_is_as_its_schema_says(name: str) -> None:
    found = line_result.document(CASES[name])
    jsonschema.validate(json.loads(json.dumps(found)), json.loads(SCHEMA.read_text("utf-8")))


@pytest.mark.parametrize("name", CASES)
def test_the_answer_fits_on_a_screen(name: str) -> None:
    found = CASES[name]
    text = f"{line_result.sentence(found)}\n\n{line_result.text(found)}"
    assert len(text.splitlines()) <= 12
    assert max(map(len, text.splitlines())) <= 120
    tries = len(found.searched.tries)
    assert len(line_result.text(found, verbose=True).splitlines()) > tries


def test_the_sentence_has_the_rate_the_limit_and_the_interval() -> None:
    found = CASES["found"]
    (line,) = found.searched.lines
    assert line.edge is not None
    said = line_result.sentence(found)
    assert said.startswith("127.0.0.1:8080/ carries ")
    assert "requests/s with p99 ≤ 2 ms (95 %: " in said
    document = line_result.document(found)
    assert document["rate_per_s"] == line.edge.rate_per_s
    assert document["low"] == line.edge.interval.low


def test_several_limits_have_a_table_and_the_strictest_is_the_answer() -> None:
    found = CASES["two"]
    said, text = line_result.sentence(found), line_result.text(found)
    assert "p50 ≤ 500 µs and p99 ≤ 2 ms" in said
    lowest = min(line.rate_per_s or 0 for line in found.searched.lines)
    assert line_result.document(found)["rate_per_s"] == lowest
    assert text.splitlines()[0].split() == [
        "limit",
        "rate",
        "95",
        "%",
        "interval",
        "held",
        "failed",
    ]


@pytest.mark.parametrize(
    ("name", "said", "remedy"),
    [
        ("floor", "no rate keeps p99 ≤ 100 µs on", "allow a higher latency"),
        ("failing", "fails at every rate: 100 % of requests at", "`plimsoll load`"),
        ("above", "carries more than 1,000 requests/s with", "more connections"),
        ("driver", "no line of 127.0.0.1:8080/: the load generator was the limit", "threads"),
        (
            "pool",
            "no line of 127.0.0.1:8080/: its connections were the limit",
            "connections (`-c`)",
        ),
    ],
)
def test_where_there_is_no_line_it_says_why_and_what_to_do(
    name: str, said: str, remedy: str
) -> None:
    assert said in line_result.sentence(CASES[name])
    assert remedy in line_result.remedy(CASES[name])


def test_a_line_of_the_load_generator_is_void() -> None:
    assert CASES["driver"].level == CASES["pool"].level == "void"
    assert CASES["found"].level != "void"
    assert not line_result.remedy(CASES["found"])


def test_a_void_line_beside_the_answer_is_told_and_the_answer_stands() -> None:
    two = CASES["two"]
    driver = LimitingResource("driver", "the load generator used 99 % of its core")
    lowest = two.lowest
    assert lowest is not None
    (above,) = (line for line in two.searched.lines if line is not lowest)
    found = replace(two, beyond={**two.beyond, above.limit.name: driver})
    assert (found.level_of(lowest), found.level_of(above)) == ("not_checked", "void")
    assert found.level == "void"
    assert line_result.sentence(found) == line_result.sentence(two)
    why = f"no line of {SUBJECT.name} with {above.limit.text}: the load generator was the limit"
    assert f"; void: {why}" in line_result.one_line(found)
    assert "threads" in line_result.remedy_of(found, above)
    assert line_result.remedy_of(found, lowest) == ""
    levels = [line_result.line_document(found, line)["level"] for line in (lowest, above)]
    assert levels == ["not_checked", "void"]


def test_markdown_has_every_try() -> None:
    found = CASES["found"]
    rows = [line for line in line_result.markdown(found).splitlines() if line.startswith("| ")]
    assert len(rows) == 2 + 1 + 2 + len(found.searched.tries)


def test_a_cell_of_a_notebook_has_the_answer_and_every_try() -> None:
    found = CASES["found"]
    html = unescape(cells.line(found)).replace("\u00a0", " ")
    assert line_result.sentence(found)[1:] in html
    assert html.count("<tr>") == 2 + 1 + len(found.searched.tries)


def test_the_worst_doubt_of_the_try_that_held_is_shown() -> None:
    some = CASES["found"]
    trial = sample.void_trial()
    found = replace(some, held={"p99": trial})
    assert found.level == "void"
    doubts = [one for one in trial.verdicts if one.is_doubting]
    (said,) = (line for line in line_result.text(found).splitlines() if line.startswith("void"))
    title = catalogue.title(next(one.check for one in doubts if one.level == "void"), "void")
    assert title in said
    assert line_result.one_line(found).startswith(f"{line_result.sentence(found)}; void: {title}")
    assert line_result.one_line(some) == line_result.sentence(some)


def test_a_wide_interval_is_a_doubt_that_says_what_would_narrow_it() -> None:
    narrow, wide = (findings(queues.searched_with(budget_s=budget_s)) for budget_s in (30.0, 12.0))
    assert (narrow.level, narrow.wide) == ("not_checked", ())
    (line,) = wide.wide
    assert line.edge is not None and line.edge.reach > 0.1
    assert wide.level == "doubtful"
    said = line_result.doubt(wide)
    assert said.startswith("Wide interval: the rate is hardly known, and more tries are needed")
    assert line_result.one_line(wide).endswith(f"; doubtful: {said}")
    assert line_result.doubt(narrow) == ""


def with_interval(searched: Searched, low: float, high: float) -> LineFindings:
    """As if its line had this interval."""
    edge = Edge(np.geomspace(low, high, 201), np.linspace(0.025, 0.975, 201), 20.0)
    lines = tuple(replace(one, edge=edge) for one in searched.lines)
    return findings(replace(searched, lines=lines))


def test_a_budget_that_narrows_an_interval_follows_from_it_once_tries_lie_inside() -> None:
    searched = searched_by(tried(200, 0), tried(220, 1), tried(235, 5), tried(280, 40))
    said = line_result.doubt(with_interval(searched, 200, 250))
    assert said == (
        "Wide interval: the rate is known to ±11 % only; a budget of about 20 s (`--budget`) "
        "would narrow it to ±10 %"
    )


@pytest.mark.parametrize(
    ("high", "budget_s", "known", "budget"),
    [
        (2000, 20.0, "the rate is hardly known", "90 s"),
        (2000, 100.0, "the rate is hardly known", "200 s"),
        (279, 20.0, "the rate is known to ±17 % only", "90 s"),
    ],
)
def test_an_interval_that_the_climb_left_names_no_budget_that_its_width_does_not_tell(
    high: float, budget_s: float, known: str, budget: str
) -> None:
    searched = searched_by(tried(200, 0), tried(280, 40))
    searched = replace(searched, wanted=replace(searched.wanted, budget_s=budget_s))
    said = line_result.doubt(with_interval(searched, 200, high))
    assert said == (
        f"Wide interval: {known}, and more tries are needed; give a budget of {budget} or more "
        "(`--budget`)"
    )


def test_an_interval_as_wide_as_was_asked_for_and_one_of_a_campaign_are_no_doubt() -> None:
    found = queues.searched_with(budget_s=12.0)
    for wanted in (
        replace(found.wanted, within=0.4),
        replace(found.wanted, has_processes=True),
    ):
        assert findings(replace(found, wanted=wanted)).level == "not_checked"


def test_a_void_line_stays_void_and_names_its_width_behind_its_doubt() -> None:
    found = replace(
        findings(queues.searched_with(budget_s=12.0)), held={"p99": sample.void_trial()}
    )
    assert found.level == "void"
    assert "; Wide interval: " in line_result.doubt(found)


LONG = "Latencies contain waits, 55 % of the time: " + "the server waited for others and " * 9
NO_CLAUSE = "the whole response came late " * 9


@pytest.mark.parametrize(
    ("sentence", "brief"),
    [
        (f"{LONG}more.", "Latencies contain waits, 55 % of the time; 2 more doubts"),
        (f"{NO_CLAUSE}more.", "the whole response came late the whole response came late the"),
        ("All is late.", "All is late; 2 more doubts"),
    ],
)
def test_a_long_doubt_is_told_whole_and_in_one_line_by_its_first_clauses(
    sentence: str, brief: str
) -> None:
    trial = sample.void_trial()
    (worst, *_) = (one for one in trial.verdicts if one.level == "void")
    said = replace(worst, sentences=(replace(worst.sentences[0], text=sentence),))
    doubts = (said, *sample.verdicts_of("t", backlog="doubtful", littles_law="doubtful"))
    found = replace(CASES["found"], held={"p99": replace(trial, verdicts=doubts)})
    assert f": {brief}" in line_result.one_line(found)
    text = line_result.text(found)
    assert sentence.removesuffix(".") in " ".join(text.split())
    assert max(map(len, text.splitlines())) <= 90


@pytest.mark.parametrize("state", ["below", "open"])
def test_wrong_responses_are_named_where_no_rate_held(state: str) -> None:
    searched = queues.searched_with(fails=1.0)
    lines = tuple(replace(one, state=state) for one in searched.lines)  # pyright: ignore[reportArgumentType]
    trial = replace(
        sample.findings().trials[0],
        statuses=(StatusTotal(404, 20, held=17, held_wrong=17),),
    )
    found = replace(
        CASES["failing"],
        searched=replace(searched, lines=lines),
        failed={lines[0].limit.name: trial},
    )
    assert "404 × 17 (404 counted as wrong)" in line_result.sentence(found)
    assert "100 % of requests" in line_result.sentence(found)
    assert "404 × 17 (404 counted as wrong)" in line_result.text(found)
    assert "`plimsoll load`" in line_result.remedy(found)


def tried(
    rate_per_s: float, over: int, failed: int = 0, requests: int = 266, unsent: int = 0
) -> Try:
    """A try of which so many requests took too long, failed, or were not sent."""
    misses = {"p99": over, "errors": failed, "sent": unsent}
    counts = {
        name: Count(rate_per_s, requests, missed, float(missed), rate_per_s)
        for name, missed in misses.items()
    }
    return Try(rate_per_s, 1.0, counts, {"p50": 51e6}, f"at-{rate_per_s}")


def searched_by(*tries: Try) -> Searched:
    wanted = SearchGoal((latency(99, 0.08),), errors(0.001), 20.0)
    return search.ended(wanted, 400.0, tries, forgotten=0, confirmed=(), elapsed_s=18.0)


def test_a_rate_that_held_above_one_that_failed_is_told() -> None:
    searched = searched_by(tried(95, 0, requests=95), tried(190, 11, requests=190), tried(323, 0))
    (line,) = searched.lines
    assert line.held_above_per_s == 323
    (bracket,) = (one for one in line_result.stated(findings(searched)) if "failed at" in one)
    assert "failed at 190/s (5.8 % failed or over 80 ms); but 323/s held as well" in bracket
    assert "undecided but inside the limits at 95/s" in bracket
    assert searched_by(tried(95, 0), tried(190, 11)).lines[0].held_above_per_s is None


def test_only_a_rate_that_held_is_told_as_one_beside_one_that_is_undecided_but_inside() -> None:
    searched = searched_by(
        tried(200, 0, requests=5000), tried(240, 0, requests=100), tried(300, 900, requests=5000)
    )
    (line,) = searched.lines
    found = findings(searched)
    assert (line.held_per_s, line.inside_per_s, line.failed_per_s) == (200, 240, 300)
    (document,) = (line_result.line_document(found, each) for each in searched.lines)
    assert (document["held_per_s"], document["inside_per_s"]) == (200, 240)
    states = {
        one.rate_per_s: line_result.document(found)["tries"][at]["limits"]["p99"]["state"]  # pyright: ignore[reportIndexIssue]
        for at, one in enumerate(searched.tries)
    }
    assert states == {200: "held", 240: "open", 300: "failed"}
    (bracket,) = (one for one in line_result.stated(found) if "failed at" in one)
    assert "held at 200/s, undecided but inside the limits at 240/s, failed at 300/s" in bracket
    several = findings(replace(searched, lines=(line, line)))
    assert line_result.text(several).splitlines()[1].split()[-2:] == ["200", "300"]


def test_an_interrupted_search_tells_its_bracket() -> None:
    told = line_result.so_far(searched_by(tried(95, 0), tried(190, 11)), 18.0)
    assert told == "undecided, interrupted after 18 s: p99 ≤ 80 ms line 100.6–188.1/s"
    assert line_result.so_far(searched_by(tried(95, 95)), 18.0).endswith("failed at 95/s")


@pytest.mark.parametrize(
    ("forgotten", "first"),
    [(1, "the first 1 try is ignored"), (3, "the first 3 tries are ignored")],
)
def test_a_server_that_became_slower_is_told_with_the_tries_before(
    forgotten: int, first: str
) -> None:
    searched = replace(searched_by(tried(95, 0), tried(190, 11)), forgotten=forgotten)
    said = [*line_result.notable(findings(searched))]
    assert f"the server became slower: {first}" in said


def test_a_line_that_is_hardly_known_has_no_single_number() -> None:
    searched = searched_by(tried(95, 0), tried(190, 11), tried(323, 0))
    (line,) = searched.lines
    assert line.edge is not None
    ends = line.edge.interval
    assert ends.high > 2 * ends.low
    said = line_result.sentence(findings(searched))
    low, high = map(line_result.rate_text, (ends.low, ends.high))
    assert f"is hardly known: between {low} and {high} requests/s with p99 ≤ 80 ms" in said
    assert f" {line_result.rate_text(line.edge.rate_per_s)} " not in said


def test_no_output_has_the_single_number_of_a_line_that_is_hardly_known() -> None:
    searched = searched_by(tried(95, 0), tried(190, 11), tried(323, 0))
    (line,) = searched.lines
    found = findings(searched)
    assert line.is_hardly_known and line.edge is not None
    number = line_result.rate_text(line.edge.rate_per_s)
    several = replace(searched, lines=(line, line))
    for told in (
        line_result.text(findings(several), verbose=True),
        line_result.markdown(found),
        unescape(cells.line(found)),
        line_result.one_line(found),
    ):
        assert number not in told
    ends = line.edge.interval
    low, high = (wording.percent(rate / searched.start_per_s) for rate in (ends.low, ends.high))
    assert f"the line is {low} to {high}" in line_result.text(found)
    assert line_result.line_text(line) == line_result.interval_text(line)


def test_json_keeps_the_rate_and_says_where_a_line_is_hardly_known() -> None:
    hardly = line_result.document(findings(searched_by(tried(95, 0), tried(190, 11))))
    jsonschema.validate(json.loads(json.dumps(hardly)), json.loads(SCHEMA.read_text("utf-8")))
    well = line_result.document(CASES["found"])
    for document, expected in ((hardly, True), (well, False)):
        lines = document["lines"]
        assert isinstance(lines, list)
        assert document["hardly_known"] is lines[0]["hardly_known"] is expected
        assert document["rate_per_s"] and document["low"] and document["high"]


@pytest.mark.parametrize(
    ("one", "state"),
    [
        (tried(266, 0), "held"),
        (tried(95, 0, requests=95), "undecided"),
        (tried(266, 40), "failed"),
        (tried(5000, 0, 40, requests=5000), "failed"),
        (tried(5000, 0, 6, requests=5000), "undecided"),
    ],
)
def test_the_table_says_of_a_try_what_its_progress_said(one: Try, state: str) -> None:
    searched = searched_by(one)
    assert f": p99 {state}" in line_result.step(searched)
    table = line_result.text(findings(searched), verbose=True).splitlines()
    assert table[-1].split()[-1] == state


@pytest.mark.parametrize(
    ("one", "told"),
    [
        (tried(5000, 10, requests=5000), "p99 held, 0.2 % failed or over 80 ms"),
        (tried(5000, 500, 10, requests=5000), "p99 failed, 10 % failed or over 80 ms"),
        (
            tried(5000, 32, 32, requests=5000),
            "p99 failed (errors: 0.64 % failed, 0.1 % allowed)",
        ),
        (
            tried(5000, 0, 6, requests=5000),
            "p99 undecided (errors: 0.12 % failed, 0.1 % allowed)",
        ),
        (
            tried(5000, 0, 200, requests=5000, unsent=200),
            "p99 failed (sent: 4 % not sent, 1 % allowed)",
        ),
        (tried(95, 0, requests=95), "p99 undecided, 0 % failed or over 80 ms"),
    ],
)
def test_progress_names_the_limit_by_which_a_try_failed(one: Try, told: str) -> None:
    assert f": {told}" in line_result.step(searched_by(one))


def test_tries_tell_what_was_not_sent_where_one_missed_that() -> None:
    searched = searched_by(tried(95, 0), tried(347, 45, 45, requests=5000, unsent=200))
    found = findings(searched)
    document = line_result.document(found)
    jsonschema.validate(json.loads(json.dumps(document)), json.loads(SCHEMA.read_text("utf-8")))
    tries = document["tries"]
    assert isinstance(tries, list)
    assert tries[1]["limits"]["sent"] == {"requests": 5000, "missed": 200, "state": "failed"}
    assert tries[0]["limits"]["sent"]["missed"] == 0
    table = line_result.text(found, verbose=True)
    assert "failed  not sent" in table and "4 %" in table.splitlines()[-1]
    assert "| not sent |" in line_result.markdown(found)
    assert "not sent" not in line_result.text(findings(searched_by(tried(95, 0))), verbose=True)


def test_the_errors_beyond_a_line_are_named() -> None:
    searched = searched_by(tried(95, 0, requests=5000), tried(347, 45, 45, requests=5000))
    unsent, timed_out = (
        Failure(outcome, None, None, count, count, 0.0, 1.0)
        for outcome, count in (("not_sent", 60), ("reset_waiting", 45))
    )
    failed = replace(sample.findings().trials[0], failures=(unsent, timed_out))
    found = replace(findings(searched), failed={"p99": failed})
    (bracket,) = (one for one in line_result.stated(found) if "failed at" in one)
    assert "failed at 347/s (0.9 % failed: reset while waiting for the response)" in bracket
