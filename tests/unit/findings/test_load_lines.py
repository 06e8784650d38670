"""What ends a load line: the server, or the number of connections."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

import queues
import sample
from plimsoll.aggregate import utilisation
from plimsoll.aggregate.summary import TimeStatistics
from plimsoll.aggregate.usage import Usage
from plimsoll.cli.judging import line_exit_code
from plimsoll.errors import LIMIT_MISSED
from plimsoll.findings import load_lines
from plimsoll.findings.load_lines import LineFindings, Subject
from plimsoll.findings.trial import TrialFindings
from plimsoll.load_line import limits
from plimsoll.load_line.search import Searched
from plimsoll.recording import Recording
from plimsoll.report.results import line_result

SUBJECT = Subject("127.0.0.1:8080/", "poisson", 20)
UNLOADED_NS = 200e3
"""Median of the simulated server at a low rate; its services take so long."""
STALL_S = 1.0
"""A stall that takes a tenth of requests beyond any limit of these lines."""


def with_stall(summary: SimpleNamespace, stall_s: float) -> Any:
    """Tables of a load of 10 s in which the server stalled once."""
    recording = SimpleNamespace(held_ns=10_000_000_000, driver=None)
    stalls = [(0, round(stall_s * 1e9))]
    return SimpleNamespace(summary=summary, recording=recording, usage=Usage({}), stalls=stalls)


def of_server(
    monkeypatch: pytest.MonkeyPatch,
    searched: Searched,
    *failing: TrialFindings,
    closed_ns: float,
    stall_s: float = 0.0,
    closed_stall_s: float = 0.0,
) -> LineFindings:
    """Lines after a closed load with 20 connections and such a mean service time."""
    monkeypatch.setattr(utilisation, "shares", lambda _tables: {})

    def tables_of(recording: Recording) -> Any:
        mean_ns = closed_ns if recording is peak else 20 * UNLOADED_NS
        times = TimeStatistics(mean_ns=mean_ns, min_ns=UNLOADED_NS)
        in_flight = 20.0 if recording is peak else 3.0
        summary = SimpleNamespace(in_flight=in_flight, connections_requested=20, service_time=times)
        return with_stall(summary, closed_stall_s if recording is peak else stall_s)

    peak = sample.recording()
    (line,) = searched.lines
    known = {load_lines.last_trial(searched, line.failed_per_s): one for one in failing}
    return load_lines.of_server(tables_of, searched, SUBJECT, known, [peak])


def named(searched: Searched) -> Searched:
    """The same search, each try with an id."""
    tries = [replace(one, trial=f"try-{place}") for place, one in enumerate(searched.tries)]
    return replace(searched, tries=tuple(tries))


def test_connections_that_limit_the_closed_load_limit_every_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    searched = named(queues.searched_with())
    failing = TrialFindings(sample.trial_data())
    found = of_server(monkeypatch, searched, failing, closed_ns=1.1 * UNLOADED_NS)
    assert (found.beyond["p99"].resource, found.level) == ("pool", "void")
    queued = of_server(monkeypatch, searched, failing, closed_ns=20 * UNLOADED_NS)
    assert queued.beyond["p99"].resource == "unknown"


def test_stalls_that_miss_a_limit_alone_end_its_line_whatever_the_connections(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    searched = named(queues.searched_with())
    failing = TrialFindings(sample.trial_data())
    found = of_server(monkeypatch, searched, failing, closed_ns=1.1 * UNLOADED_NS, stall_s=STALL_S)
    assert found.beyond["p99"].resource == "stalls"
    assert "the server stalled 1 time, for up to 1 s" in line_result.text(found).replace(
        "\n            ", " "
    )
    assert found.level != "void"


def test_a_closed_load_that_stalled_shows_no_limit_of_connections(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    searched = named(queues.searched_with())
    failing = TrialFindings(sample.trial_data())
    found = of_server(
        monkeypatch, searched, failing, closed_ns=1.1 * UNLOADED_NS, closed_stall_s=STALL_S
    )
    assert found.beyond["p99"].resource == "unknown"
    ended = searched_until_over(monkeypatch, closed_ns=1.1 * UNLOADED_NS)
    gone_on = searched_until_over(monkeypatch, closed_ns=1.1 * UNLOADED_NS, stall_s=STALL_S)
    assert len(gone_on.tries) > len(ended.tries)


def test_the_remedy_of_stalls_is_to_find_them(monkeypatch: pytest.MonkeyPatch) -> None:
    searched = named(queues.searched_with(most_s=UNLOADED_NS / 2e9, budget_s=8.0))
    failing = TrialFindings(sample.trial_data())
    found = of_server(monkeypatch, searched, failing, closed_ns=20 * UNLOADED_NS, stall_s=STALL_S)
    if found.searched.lines[0].state == "below":
        assert line_result.remedy(found).startswith("find why the server stalls")


def test_they_do_so_before_a_try_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    searched = queues.searched_with(budget_s=6.0)
    (line,) = searched.lines
    assert (line.state, line.failed_per_s) == ("open", None)
    found = of_server(monkeypatch, searched, closed_ns=1.1 * UNLOADED_NS)
    assert found.beyond["p99"].resource == "pool"


def test_no_number_of_connections_makes_a_server_faster_than_a_free_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    searched = named(queues.searched_with(most_s=UNLOADED_NS / 2e9, budget_s=8.0))
    (line,) = searched.lines
    assert (line.state, line.held_per_s) == ("open", None)
    failing = TrialFindings(sample.trial_data())
    found = of_server(monkeypatch, searched, failing, closed_ns=1.1 * UNLOADED_NS)
    assert "pool" not in {one.resource for one in found.beyond.values()}
    assert found.searched.lines[0].state == "below"
    assert "no rate keeps p99 ≤ 100 µs" in line_result.sentence(found)
    assert line_result.remedy(found).startswith("allow a higher latency")
    assert line_exit_code(found) == LIMIT_MISSED
    queued = of_server(monkeypatch, searched, failing, closed_ns=20 * UNLOADED_NS)
    assert queued.searched.lines[0].state == "open"


def test_a_line_that_no_try_kept_is_open_where_free_connections_are_fast_enough(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    searched = named(queues.searched_with(most_s=1.01 * UNLOADED_NS / 1e9, budget_s=8.0))
    (line,) = searched.lines
    assert (line.state, line.held_per_s) == ("open", None)
    failing = TrialFindings(sample.trial_data())
    found = of_server(monkeypatch, searched, failing, closed_ns=1.1 * UNLOADED_NS)
    assert "pool" not in {one.resource for one in found.beyond.values()}
    assert found.searched.lines[0].state == "open"


def searched_until_over(
    monkeypatch: pytest.MonkeyPatch,
    *,
    closed_ns: float,
    failed: float = 0.0,
    fails: float = 0.0,
    stall_s: float = 0.0,
) -> Searched:
    """A search that ends as soon as the tries show that connections are the limit."""
    monkeypatch.setattr(utilisation, "shares", lambda _tables: {})
    times = TimeStatistics(mean_ns=closed_ns, min_ns=UNLOADED_NS)
    summary = SimpleNamespace(
        in_flight=20.0, connections_requested=20, service_time=times, failure_ratio=failed
    )
    tables = with_stall(summary, stall_s)

    def is_over(now: Searched) -> bool:
        return load_lines.is_of_connections(lambda _: tables, now, [sample.recording()])

    return queues.searched_with(fails=fails, is_over=is_over)


def test_a_search_ends_where_two_tries_show_that_connections_are_the_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = searched_until_over(monkeypatch, closed_ns=1.1 * UNLOADED_NS)
    rates = [one.rate_per_s / found.start_per_s for one in found.tries]
    assert rates == [0.25, 0.5]
    assert found.elapsed_s < found.wanted.budget_s / 5


@pytest.mark.parametrize(
    "of_server",
    [
        {"closed_ns": 20 * UNLOADED_NS},
        {"closed_ns": 1.1 * UNLOADED_NS, "failed": 0.1},
        {"closed_ns": 1.1 * UNLOADED_NS, "fails": 0.01},
    ],
    ids=["requests queue", "the closed load fails", "tries fail"],
)
def test_a_search_goes_on_where_the_server_may_be_the_limit(
    monkeypatch: pytest.MonkeyPatch, of_server: dict[str, float]
) -> None:
    assert len(searched_until_over(monkeypatch, **of_server).tries) > 2


@pytest.mark.parametrize(
    ("unsent", "fails", "resource"),
    [(0.0, 0.002, "unknown"), (0.005, 0.002, "unknown"), (0.005, 0.0, "pool")],
    ids=["wrong", "wrong and not sent", "not sent"],
)
def test_a_server_whose_responses_are_wrong_has_a_limit_of_its_own(
    monkeypatch: pytest.MonkeyPatch, unsent: float, fails: float, resource: str
) -> None:
    searched = named(queues.searched_with(fails=fails, unsent=unsent))
    (line,) = searched.lines
    binding = searched.wanted.errors if fails else limits.SENDING
    searched = replace(searched, lines=(replace(line, state="found", binding=binding),))
    failing = TrialFindings(sample.trial_data())
    found = of_server(monkeypatch, searched, failing, closed_ns=1.1 * UNLOADED_NS)
    assert found.beyond["p99"].resource == resource
