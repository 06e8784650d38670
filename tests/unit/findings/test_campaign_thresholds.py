"""Thresholds on the entries of a campaign."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from xml.etree import ElementTree as Xml

import pytest

import sample
from plimsoll.aggregate.counted import Failure
from plimsoll.aggregate.unfinished import Unfinished
from plimsoll.errors import InputError
from plimsoll.findings import campaign_thresholds
from plimsoll.findings import thresholds as limits_of
from plimsoll.findings.campaign_thresholds import JudgedEntry
from plimsoll.findings.entries import EntryName
from plimsoll.findings.findings import Findings
from plimsoll.findings.trial import TrialFindings
from plimsoll.report.formats import html, markdown
from plimsoll.report.results import machine_readable
from plimsoll.report.sections import thresholds

ENTRIES = (
    EntryName("go", "json", "steady"),
    EntryName("go", "json", "climb"),
    EntryName("go:one-core", "json", "steady"),
    EntryName("node", "tiny", "steady"),
    EntryName("node", "tiny", "steady", "wrk"),
)


def selected(text: str) -> list[str]:
    (wanted,) = campaign_thresholds.read([text])
    return [str(one) for one in ENTRIES if wanted.applies_to(one)]


def judged(text: str, *trials: TrialFindings, planned: Any = ()) -> tuple[JudgedEntry, ...]:
    return campaign_thresholds.judged(campaign_thresholds.read([text]), trials, planned)


def go(throughput: float, repetition: int = 1) -> TrialFindings:
    return sample.sound_trial(framework="go", throughput=throughput, repetition=repetition)


@pytest.mark.parametrize(
    ("text", "entries"),
    [
        ("p99>20ms", [str(one) for one in ENTRIES]),
        ("p99.9>20ms", [str(one) for one in ENTRIES]),
        ("*.p99>20ms", [str(one) for one in ENTRIES]),
        ("tiny.p99.9>20ms", ["node/tiny.steady", "node/tiny.steady by wrk"]),
        ("json.climb.goodput<1k", ["go/json.climb"]),
        ("json.*.goodput<1k", ["go/json.steady", "go/json.climb", "go:one-core/json.steady"]),
        ("go/json.p99 > 20ms", ["go/json.steady", "go/json.climb"]),
        ("go*/json.steady.p99>20ms", ["go/json.steady", "go:one-core/json.steady"]),
        ("go:one-core/*.p99>20ms", ["go:one-core/json.steady"]),
        ("*/tiny.failures>1%", ["node/tiny.steady", "node/tiny.steady by wrk"]),
        ("js.p99>20ms", []),
        ("JSON.p99>20ms", []),
    ],
)
def test_a_prefix_selects_entries(text: str, entries: list[str]) -> None:
    assert selected(text) == entries


def test_an_entry_without_response_times_says_what_would_have_some() -> None:
    times = [f"response_time_{one}_ns" for one in limits_of.TIMES.values()]
    trial = go(1000.0)
    assert trial.summary is not None
    untimed = sample.changed(trial.summary, completed=360, **dict.fromkeys(times))
    (one,) = judged("p99>20ms", replace(trial, data=replace(trial.data, summary=untimed)))
    assert one.is_undecided
    assert "response times are unknown" in one.sentence
    assert "`plimsoll`" in one.remedy


@pytest.mark.parametrize(
    ("text", "sentence", "hint"),
    [
        ("tiny.p98>1ms", "unknown quantity `p98`", "'go/json.steady.p99>20ms'; quantities: min"),
        ("go/p99>1ms", "unknown quantity `go/p99`", "'json.p99>20ms'"),
        ("tiny.p99", "it is not a threshold", "'p99>20ms'"),
        ("", "it is not a threshold", "'p99>20ms'"),
        ("tiny.p99>250", "`250` has no unit of time", "`250ms`"),
        ("tiny.failures>101%", "`101%` is more than 100 %", "`1%`"),
    ],
)
def test_what_is_no_threshold_is_refused_with_one_sentence(
    text: str, sentence: str, hint: str
) -> None:
    with pytest.raises(InputError) as caught:
        campaign_thresholds.read(["p99>1ms", text])
    (problem,) = caught.value.problems
    assert str(problem) == f"threshold `{text}`: {sentence}"
    assert hint in problem.hint


def test_a_threshold_that_applies_to_nothing_names_what_there_is() -> None:
    wanted = campaign_thresholds.read(["p99>1ms", "jsno.p99>1ms"])
    with pytest.raises(InputError, match=r"`jsno\.p99>1ms` applies to no entry") as caught:
        campaign_thresholds.require_entries(wanted, ENTRIES)
    (problem,) = caught.value.problems
    assert "`go/json.climb`, `go/json.steady`, `go:one-core/json.steady`" in problem.hint


@pytest.mark.parametrize(
    ("text", "crossed"),
    [
        ("goodput<8002", True),
        ("goodput<8001", False),
        ("goodput>8001", False),
        ("goodput>8k", True),
    ],
)
def test_the_median_over_repetitions_is_judged(text: str, crossed: bool) -> None:
    (one,) = judged(f"2048.{text}", go(9000.0), go(2000.0, 2), go(8001.0, 3))
    assert one.is_crossed is crossed


def test_repetitions_that_are_void_do_not_count() -> None:
    void = replace(go(100.0, 2), verdicts=sample.verdicts_of("t", littles_law="void"))
    (one,) = judged("goodput<7k", go(8000.0), void)
    assert not one.is_crossed
    assert one.sentence == "go/2048.steady: goodput<7k, measured 8,000"


@pytest.mark.parametrize(
    ("trial", "reason"),
    [
        (sample.void_trial(), "Little's law violated"),
        (sample.failed_trial(), "StartFailed"),
    ],
)
def test_an_entry_without_a_number_crosses_and_says_why(trial: TrialFindings, reason: str) -> None:
    (one,) = judged("p99>1h", trial)
    assert one.is_crossed
    assert one.sentence.endswith(f"p99>1h, no number to judge: {reason}")


def test_an_entry_that_was_planned_and_not_run_crosses() -> None:
    (one,) = judged("json.p99>1h", go(8000.0), planned=[EntryName("go", "json", "steady")])
    assert one.sentence.endswith(", no number to judge: no trial was run")


def test_a_quantity_that_nobody_measured_crosses() -> None:
    trial = go(8000.0)
    known = sample.changed(trial.summary, response_time_p99_ns=None)
    (one,) = judged("p99>1h", replace(trial, data=replace(trial.data, summary=known)))
    assert one.is_crossed
    assert one.sentence.endswith("p99>1h, not measured")


def short(repetition: int, p90_ms: float, max_ms: float) -> TrialFindings:
    """A repetition with too few responses for p99."""
    trial = go(8000.0, repetition)
    few = {f"response_time_{name}_ns": None for name in ("p95", "p99", "p999", "p9999")}
    enclosing = {"response_time_p90_ns": p90_ms * 1e6, "response_time_max_ns": max_ms * 1e6}
    known = sample.changed(trial.summary, completed=100, **few, **enclosing)
    return replace(trial, data=replace(trial.data, summary=known))


@pytest.mark.parametrize(
    ("limit", "state", "said"),
    [
        ("1h", "kept", "measured max 30.000 ms"),
        ("4ms", "crossed", "measured p90 6.000 ms"),
        ("7ms", "undecided", "p99 needs 1,000 responses, 100 came"),
    ],
)
def test_a_percentile_of_short_loads_is_judged_by_what_encloses_it(
    limit: str, state: str, said: str
) -> None:
    (one,) = judged(f"p99>{limit}", short(1, 6, 20), short(2, 8, 30), short(3, 5, 40))
    assert (one.state, one.sentence) == (state, f"go/2048.steady: p99>{limit}, {said}")


def test_what_is_undecided_is_skipped_in_junit_and_unknown_in_json() -> None:
    trial = short(1, 6, 20)
    found = replace(sample.findings(), trials=(trial,), thresholds=judged("p99>7ms", trial))
    (told,) = machine_readable.trials(found)
    assert told["thresholds"][0]["crossed"] is None
    case = Xml.fromstring(thresholds.as_junit(found)).find("testcase")  # noqa: S314
    assert case is not None
    assert case.find("skipped") is not None
    assert case.find("failure") is None
    assert "0 of 1 crossed, 1 undecided" in markdown.render(found)


HANGING = Unfinished(requests=40, longest_ns=900_000_000, at_least_ns={"p90": 3e8, "max": 9e8})


def unfailing(repetition: int) -> TrialFindings:
    trial = go(8000.0, repetition)
    known = sample.changed(trial.summary, failed=0, failure_ratio=0.0)
    return replace(trial, data=replace(trial.data, summary=known))


def hung_at_end(repetition: int) -> TrialFindings:
    return replace(unfailing(repetition), unfinished=HANGING)


@pytest.mark.parametrize(
    ("text", "hung", "state", "said"),
    [
        ("p90>250ms", 0, "kept", "measured 225.000 ms"),
        ("p90>250ms", 1, "kept", "measured 225.000 ms"),
        ("p90>250ms", 2, "crossed", "at least 300.000 ms with 80 requests without a response"),
        ("p90>250ms", 3, "crossed", "at least 300.000 ms with 120 requests without a response"),
        ("p90>400ms", 2, "undecided", "at least 300.000 ms: 80 requests without a response"),
        ("p90<100ms", 3, "kept", "at least 300.000 ms with 120 requests"),
        ("p50>1h", 3, "kept", "measured "),
        ("p99.9>299ms", 3, "crossed", "at least 300.000 ms with 120 requests"),
        ("failed>39", 1, "kept", "measured 0"),
        ("failed>39", 2, "undecided", "measured 0, and 80 requests without a response"),
        ("failed>40", 3, "kept", "measured 0"),
        ("throughput>1", 3, "crossed", "measured "),
    ],
)
def test_the_median_is_judged_by_its_bounds_where_unfinished_requests_hide_it(
    text: str, hung: int, state: str, said: str
) -> None:
    trials = [hung_at_end(one) if one <= hung else unfailing(one) for one in (1, 2, 3)]
    (one,) = judged(text, *trials)
    assert one.state == state, one
    assert said in one.sentence


def timing_out(repetition: int) -> TrialFindings:
    """A repetition of which 0.2 % timed out after 10 s: so did p99.9, which is not void."""
    trial = unfailing(repetition)
    timed_out = Failure("timed_out_waiting", None, None, 130, 112, 5.0, 11.0)
    return replace(trial, failures=(timed_out,))


@pytest.mark.parametrize(
    ("text", "times", "state", "said"),
    [
        ("p99.9>9s", 1, "kept", "measured "),
        ("p99.9>9s", 2, "crossed", "at least 10,000.000 ms with 224 timeouts"),
        ("p99.9>11s", 3, "undecided", "at least 10,000.000 ms: 336 timeouts"),
        ("p99>9s", 3, "kept", "measured "),
    ],
)
def test_the_median_is_judged_by_its_bounds_where_timeouts_hide_it(
    text: str, times: int, state: str, said: str
) -> None:
    trials = [timing_out(one) if one <= times else unfailing(one) for one in (1, 2, 3)]
    (one,) = judged(text, *trials)
    assert one.state == state, one
    assert said in one.sentence
    assert ("timeout" in one.remedy) is (state == "undecided")


def test_void_repetitions_hide_nothing_of_those_that_count() -> None:
    void = replace(hung_at_end(1), verdicts=sample.verdicts_of("t", littles_law="void"))
    (one,) = judged("p90>250ms", void, go(8000.0, 2))
    assert (one.state, one.reason) == ("kept", "")


def found() -> Findings:
    """A campaign with a threshold that is kept, one that is crossed, and one without a number."""
    made = sample.findings()
    wanted = campaign_thresholds.read(["go/2048.goodput<9k", "json.goodput<1", "django/*.p99>1h"])
    return replace(made, thresholds=campaign_thresholds.judged(wanted, made.trials))


def test_reports_have_a_table_of_thresholds() -> None:
    for page in (html.render(found()), markdown.render(found())):
        for text in ("go/2048.steady", "8,050", "crossed", "kept", "no number to judge: Little"):
            assert text in page
    assert thresholds.section(sample.findings()) is None


def test_json_has_the_thresholds_of_a_trial_by_its_entry() -> None:
    by_trial = {one["trial"]: one["thresholds"] for one in machine_readable.trials(found())}
    assert by_trial["axum.2048.steady.1"] == []
    (one,) = by_trial["go.2048.steady.2"]
    assert one["threshold"] == "go/2048.goodput<9k"
    assert one["entry"] == "go/2048.steady"
    assert one["quantity"] == "goodput_per_s"
    assert one["measured"]["value"] == 8050.0
    assert one["measured"]["low"] < 8050.0 < one["measured"]["high"]
    assert (one["crossed"], one["reason"]) == (True, None)
    (void,) = by_trial["django.2048.steady.1"]
    assert (void["measured"], void["crossed"], void["reason"]) == (
        None,
        True,
        "no number to judge: Little's law violated",
    )


def test_a_load_is_judged_even_if_it_is_void_and_its_json_is_that_of_an_entry() -> None:
    slow = [Failure("timed_out_waiting", None, None, 1_200, 1_200, 5.0, 11.0)]
    void = replace(unfailing(1), verdicts=sample.verdicts_of("t", failures_explained="void"))
    found = replace(void, failures=tuple(slow))
    limits = [limits_of.read(text) for text in ("p50<1h", "p99>9s", "p99>11s", "goodput<8001")]
    judged_load = campaign_thresholds.of_load(limits, found)
    told = machine_readable.thresholds(judged_load)
    assert [one["crossed"] for one in told] == [True, True, None, True]
    assert [one["threshold"] for one in told] == ["p50<1h", "p99>9s", "p99>11s", "goodput<8001"]
    assert {one["entry"] for one in told} == {"go/2048.steady"}
    assert [one["reason"] for one in told] == [
        None,
        "at least 10,000.000 ms with 1,200 timeouts",
        "at least 10,000.000 ms: 1,200 timeouts",
        None,
    ]
    assert told[3]["measured"] == {"value": 8000.0, "low": None, "high": None}
    assert judged_load[3].without_entry == "goodput<8001, measured 8,000"
    by_entry = machine_readable.trials(
        replace(sample.findings(), trials=(go(8000.0),), thresholds=judged("p50<1h", go(8000.0)))
    )
    assert by_entry[0]["thresholds"] == told[:1]


def test_a_load_that_is_read_again_is_judged_as_it_was_when_it_ended() -> None:
    void = replace(unfailing(1), verdicts=sample.verdicts_of("t", failures_explained="void"))
    texts = ["p99>1h", "p50<1h", "go/*.goodput<8001"]
    wanted = campaign_thresholds.read(texts)
    again = campaign_thresholds.of_recorded_load(wanted, void)
    assert [one.is_crossed for one in again] == [False, True, True]
    assert [one.threshold.text for one in again] == texts
    limits = [one.threshold for one in wanted]
    at_once = campaign_thresholds.of_load(limits, void)
    assert [one.without_entry for one in again] == [one.without_entry for one in at_once]
    with pytest.raises(InputError, match="applies to no entry"):
        campaign_thresholds.of_recorded_load(campaign_thresholds.read(["json.p99>1s"]), void)


def test_the_table_of_a_load_does_not_speak_of_a_ranking() -> None:
    load = replace(sample.findings(), trials=(go(8000.0),), as_run=None, missing=())
    one = replace(load, thresholds=judged("p50<1h", go(8000.0)))
    section = thresholds.section(one)
    assert section is not None
    assert section.caption == thresholds.CAPTION_OF_LOAD


def test_junit_has_a_test_for_each_entry_and_threshold() -> None:
    suite = Xml.fromstring(thresholds.as_junit(found()))  # noqa: S314
    cases = {case.get("name"): case for case in suite}
    assert suite.get("tests") == str(len(cases))
    assert suite.get("failures") == "2"
    failure = cases["go/2048.steady: goodput<9k"].find("failure")
    assert failure is not None
    assert failure.get("message") == "go/2048.steady: goodput<9k, measured 8,050"
    kept = cases["axum/json.steady: goodput<1"]
    assert kept.find("failure") is None
    assert kept.findtext("system-out") == "axum/json.steady: goodput<1, measured 10,100"
