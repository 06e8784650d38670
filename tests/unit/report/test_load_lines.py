"""The ranking by load line: ranks by intervals, and what is said where there is no line."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import queues
import sample
from plimsoll import charts
from plimsoll.findings.beyond import LimitingResource, Resource
from plimsoll.findings.load_lines import EntryLines, LineFindings, Subject, rankings
from plimsoll.load_line.search import Searched
from plimsoll.report.formats import markdown
from plimsoll.report.results import machine_readable
from plimsoll.report.sections import lines as lines_section
from plimsoll.statistics.edge import Edge
from plimsoll.statistics.intervals import Estimate, Interval

FAST, SLOW = queues.searched_with(), queues.searched_with(0.0008)
"""Searches with the same name of the limit, of which the first allows more latency."""


def entry(
    name: str, searched: Searched | None, full: Resource = "core", problem: str = ""
) -> EntryLines:
    beyond = {"p99": LimitingResource(full, f"the {full} was full")}
    found = searched and LineFindings(
        searched, Subject(f"{name} · json", "poisson", 256), beyond, {}
    )
    return EntryLines(
        framework=name,
        endpoint="json",
        is_yardstick=name == "reference",
        found=found,
        peak=Estimate(5000.0, Interval(4900.0, 5100.0)),
        problem=problem,
        goes_on=False,
    )


def same_limit(searched: Searched) -> Searched:
    """As if it had been searched with the limit of `FAST`."""
    (limit,) = FAST.wanted.limits
    lines = tuple(replace(line, limit=limit) for line in searched.lines)
    return replace(searched, wanted=FAST.wanted, lines=lines)


def ranked(*entries: EntryLines) -> list[tuple[str, str]]:
    (ranking,) = rankings(entries)
    return [(one.entry.framework, one.rank) for one in ranking.places]


def test_the_greater_line_is_first_and_overlapping_ones_share_ranks() -> None:
    slow = same_limit(SLOW)
    assert ranked(entry("b", slow), entry("a", FAST)) == [("a", "1"), ("b", "2")]
    assert ranked(entry("a", FAST), entry("b", FAST), entry("c", slow)) == [
        ("a", "1–2"),
        ("b", "1–2"),
        ("c", "3"),
    ]


def test_a_line_of_the_load_generator_and_the_yardstick_have_no_rank() -> None:
    found = ranked(
        entry("a", same_limit(SLOW)), entry("b", FAST, "driver"), entry("reference", FAST)
    )
    assert found == [("a", "1"), ("b", ""), ("reference", "")]
    assert ranked(entry("reference", FAST)) == [("reference", "1")]


def two_lines(name: str, **full: Resource) -> EntryLines:
    """Lines of two limits, and what was full beyond each."""
    beyond = {limit: LimitingResource(one, f"the {one} was full") for limit, one in full.items()}
    subject = Subject(f"{name} · json", "poisson", 256)
    return replace(entry(name, TWO), found=LineFindings(TWO, subject, beyond, {}))


TWO = queues.searched_once()
"""Lines of p50 and p99."""


def test_a_line_that_the_load_generator_ended_takes_no_rank_from_the_others() -> None:
    some, other = two_lines("a", p50="driver", p99="core"), two_lines("b", p50="core", p99="core")
    by_limit = {one.limit.name: one for one in rankings((some, other))}
    assert [(one.entry.framework, one.rank) for one in by_limit["p50"].places] == [
        ("b", "1"),
        ("a", ""),
    ]
    assert [(one.entry.framework, one.rank) for one in by_limit["p99"].places] == [
        ("a", "1–2"),
        ("b", "1–2"),
    ]
    section = lines_section.section(replace(sample.findings(), lines=(some, other)))
    assert section is not None
    rows = [
        (row.state, row.reason)
        for table in section.tables
        for row in table.lines
        if row.cells[0] == "a"
    ]
    assert [state for state, _ in rows] == ["void", "not_checked"]
    assert rows[0][1].startswith("no line of a · json with p50 ≤ 500 µs: the load generator was")
    assert rows[1][1] == ""


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (entry("a", FAST, "driver"), "no line of a · json: the load generator was the limit"),
        (entry("a", queues.searched_with(100e-6)), "no rate keeps p99 ≤ 100 µs on a · json"),
        (entry("a", queues.searched_with(fails=1.0)), "a · json fails at every rate"),
        (entry("a", None, problem="it ended before it was ready"), "it ended before it was ready"),
    ],
)
def test_why_there_is_no_line_is_said_in_one_sentence(lines: EntryLines, said: str) -> None:
    findings = replace(sample.findings(), lines=(lines, entry("b", FAST)))
    section = lines_section.section(findings)
    assert section is not None and section.is_answer
    reasons = [row.reason for table in section.tables for row in table.lines]
    assert any(reason.startswith(said) for reason in reasons)


def test_the_line_stands_beside_the_peak_and_what_was_full() -> None:
    findings = replace(sample.findings(), lines=(entry("a", FAST, "core"),))
    section = lines_section.section(findings)
    assert section is not None
    (row,) = section.tables[0].lines
    cells = dict(zip(section.tables[0].headings, row.cells, strict=True))
    edge = FAST.lines[0].edge
    assert edge is not None
    assert float(cells["load line, requests/s"].replace(",", "")) == pytest.approx(
        edge.rate_per_s, rel=1e-3
    )
    assert cells["closed peak"] == "5,000"
    assert cells["saturated beyond the line"] == "the core was full"
    assert cells["line / peak"] == f"{edge.rate_per_s / 50:.0f} %"


def test_one_row_alone_has_no_rank_and_two_have() -> None:
    def headings(*lines: EntryLines) -> tuple[str, ...]:
        section = lines_section.section(replace(sample.findings(), lines=lines))
        assert section is not None
        (table,) = section.tables
        assert all(len(row.cells) == len(table.headings) for row in table.lines)
        assert "load line, requests/s" in {table.headings[place] for place in table.brief}
        assert table.headings[table.numbers[-1]] == "line / peak"
        return table.headings

    alone = headings(entry("a", FAST))
    both = headings(entry("a", FAST), entry("b", FAST))
    assert [one for one in both if one not in alone] == ["rank", "rank by peak"]


def test_the_headline_has_who_carries_the_most_or_that_nothing_counts() -> None:
    (ranking,) = rankings((entry("b", same_limit(SLOW)), entry("a", FAST)))
    said = lines_section.headline(ranking)
    assert said.startswith("a carries ") and "requests/s of json with p99 ≤ 2 ms" in said
    assert "; b " in said
    (nothing,) = rankings((entry("a", FAST, "driver"),))
    assert lines_section.headline(nothing) == "No load line counts at json with p99 ≤ 2 ms"
    (failing,) = rankings((entry("a", queues.searched_with(fails=1.0)),))
    assert lines_section.headline(failing) == "No load line was found at json with p99 ≤ 2 ms"


def test_a_line_that_is_hardly_known_is_its_interval_in_every_part_of_a_report() -> None:
    hardly = entry("a", with_interval(FAST, 500.0, 2000.0))
    assert hardly.found is not None
    (line,) = hardly.found.searched.lines
    assert line.is_hardly_known
    findings = replace(sample.findings(), lines=(hardly, entry("b", FAST)))
    (ranking,) = findings.line_rankings
    section = lines_section.section(findings)
    assert section is not None
    place = next(at for at, one in enumerate(ranking.places) if one.entry is hardly)
    row, headings = section.tables[0].lines[place], section.tables[0].headings
    cells = dict(zip(headings, row.cells, strict=True))
    assert cells["load line, requests/s"] == cells["95 %"] == "500–2,000"
    assert cells["line / peak"] == "10 % to 40 %"
    tile = ("Load line", "500–2,000/s", "p99 ≤ 2 ms, hardly known")
    assert tile in tiles(hardly)
    of_processes = replace(hardly.found.searched.wanted, has_processes=True)
    in_a_campaign = entry("a", replace(hardly.found.searched, wanted=of_processes))
    assert tiles(in_a_campaign) == (("a", "500–2,000/s", "95 %, hardly known"),)
    alone = lines_section.headline(rankings((hardly,))[0])
    assert alone == (
        "The line of a is hardly known: between 500 and 2,000 requests/s of json with p99 ≤ 2 ms "
        "(95 %)"
    )
    rows = charts.line_ranking.draw(ranking)["datasets"]["lines"]
    (drawn,) = (one for one in rows if "a" in one["label"] and one["what"] == "load line")
    assert (drawn["value"], drawn["number"]) == (None, "hardly known")
    (curve,) = charts.load_line.draw(hardly.found.searched)["datasets"]["lines"]
    assert (curve["rate"], curve["text"]) == (None, "hardly known")


def tiles(lines: EntryLines) -> tuple[tuple[str, str, str], ...]:
    answer = lines_section.answer(replace(sample.findings(), lines=(lines,)))
    assert answer is not None
    return tuple((one.name, one.number, one.about) for one in answer.tiles)


def with_interval(searched: Searched, low: float, high: float) -> Searched:
    """As if its line had this interval."""
    rates = np.geomspace(low, high, 201)
    edge = Edge(rates, np.linspace(0.025, 0.975, 201), 20.0)
    return replace(searched, lines=tuple(replace(one, edge=edge) for one in searched.lines))


def test_the_answer_of_a_campaign_stands_before_its_rankings() -> None:
    findings = replace(sample.findings(), lines=(entry("a", FAST),))
    text = markdown.render(findings)
    assert text.index("Load lines") < text.index("Closed peak at")
    assert lines_section.section(sample.findings()) is None


def test_each_trial_has_the_lines_of_its_framework_as_json() -> None:
    findings = sample.findings()
    first = findings.trials[0].recording
    lines = replace(entry(first.title, FAST), endpoint=first.endpoint)
    (found, *_) = machine_readable.trials(replace(findings, lines=(lines,)))
    (line,) = found["load_lines"]
    assert line["low"] <= line["rate_per_s"] <= line["high"]
    assert (line["limit"], line["rank_low"], line["is_try"]) == ("p99", 1, False)
    assert "requests/s with p99 ≤ 2 ms" in line["answer"]
    assert machine_readable.trials(findings)[0]["load_lines"] == []


def test_the_chart_has_both_bars_of_each_framework() -> None:
    (ranking,) = rankings((entry("a", FAST), entry("b", None, problem="it died")))
    rows = charts.line_ranking.draw(ranking)["datasets"]["lines"]
    found = {(row["label"], row["what"]): row["number"] for row in rows}
    assert found[("b", "load line")] == "none"
    assert found[("b", "closed peak")] == found[("1 · a", "closed peak")] == "5,000/s"


def test_the_chart_has_no_more_digits_than_the_table_and_the_card() -> None:
    precise = replace(entry("a", FAST), peak=Estimate(59_278.4, Interval(58_000.0, 60_000.0)))
    (ranking,) = rankings((precise,))
    found = replace(sample.findings(), lines=(precise,))
    section = lines_section.section(found)
    assert section is not None
    cells = dict(zip(section.tables[0].headings, section.tables[0].lines[0].cells, strict=True))
    rows = charts.line_ranking.draw(ranking)["datasets"]["lines"]
    drawn = {row["what"]: row["number"] for row in rows}
    assert drawn["closed peak"] == f"{cells['closed peak']}/s" == "59,280/s"
    assert drawn["load line"] == f"{cells['load line, requests/s']}/s"
