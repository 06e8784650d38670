"""The card: the answer as one picture."""

from __future__ import annotations

import struct
from dataclasses import replace
from pathlib import Path

import pytest

import queues
import sample
from plimsoll.comparison.compared_table import ComparedTable
from plimsoll.findings.findings import Findings
from plimsoll.findings.load_lines import EntryLines, LineFindings, Subject
from plimsoll.report import contents
from plimsoll.report.contents import answer
from plimsoll.report.formats import card
from plimsoll.report.results import line_result
from plimsoll.report.sections import lines as lines_section
from plimsoll.statistics.intervals import Estimate, Interval


def test_it_is_a_picture_of_the_size_that_sites_show(tmp_path: Path) -> None:
    path = card.write(sample.findings(), tmp_path)
    picture = path.read_bytes()
    assert path.name == "card.png"
    assert picture.startswith(b"\x89PNG")
    assert struct.unpack(">II", picture[16:24]) == (card.WIDTH_PX, card.HEIGHT_PX)


def test_it_says_who_is_fastest_by_how_much_and_how_far_to_believe_it() -> None:
    findings = sample.findings()
    shown = card.card(findings)
    first = answer.answers(findings, contents.rankings(findings))[0]
    assert shown.answer is not None
    assert shown.answer.headline == first.headline
    assert shown.answer.bars == first.bars
    assert shown.answer.counts == first.counts
    assert "Example CPU" in shown.machines[0]


def test_it_has_the_doubts_about_the_ranking_that_it_shows() -> None:
    doubt = sample.verdict("backlog", "campaign", "doubtful", "It does not hold.")
    (sentence,) = doubt.sentences

    def of(endpoint: str) -> Findings:
        table = ComparedTable(endpoint, "steady", "plimsoll")
        said = replace(doubt, sentences=(replace(sentence, tables=(table,)),))
        return replace(sample.findings(), verdicts=(said,))

    plain, shown, other = (
        card.card(one).answer for one in (sample.findings(), of("2048"), of("json"))
    )
    assert plain is not None
    assert shown is not None
    assert set(shown.marks) - set(plain.marks) == {("doubtful", "Listen queue too short")}
    assert other == plain
    assert card.render(of("2048")) != card.render(of("json")) == card.render(sample.findings())


def test_beyond_six_frameworks_the_rest_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    findings = sample.findings()
    found = answer.answers(findings, contents.rankings(findings))[0]
    many = replace(found, bars=(*found.bars, *found.bars))
    monkeypatch.setattr(answer, "answers", lambda *_: [many])
    shown = card.card(findings).answer
    assert shown is not None
    assert (len(shown.bars), shown.more) == (card.MOST_BARS, len(many.bars) - card.MOST_BARS)
    assert card.render(findings).startswith(b"\x89PNG")


def test_without_any_trial_it_has_the_name_of_the_campaign() -> None:
    findings = replace(sample.findings(), trials=())
    assert card.card(findings).answer is None
    assert card.card(findings).campaign == findings.campaign
    assert card.render(findings) != card.render(replace(findings, campaign="another"))


def lines_of(found: LineFindings) -> EntryLines:
    peak = Estimate(5000.0, Interval(4900.0, 5100.0))
    return EntryLines("a", "json", False, found, peak, problem="", goes_on=False)


def test_a_line_is_the_answer_of_its_card_though_the_closed_peak_is_void() -> None:
    found = LineFindings(queues.searched_with(), Subject("a", "poisson", 256), {}, {})
    void = replace(sample.findings(), trials=(sample.void_trial(),), lines=(lines_of(found),))
    shown = card.card(void).answer
    assert shown is not None
    assert shown.headline.startswith("a carries ")
    assert "p99 ≤ 2 ms" in shown.headline
    assert not shown.bars
    tiles = {name: number for name, number, _ in shown.tiles}
    (line,) = found.searched.lines
    assert tiles["Load line"] == f"{line_result.rate_text(line.rate_per_s)}/s"
    assert tiles["95 % interval"] == line_result.interval_text(line)
    assert card.render(void).startswith(b"\x89PNG")


def test_one_load_has_its_numbers_and_no_ratio() -> None:
    load = Findings("load", "0.1.0", (sample.sound_trial(),), sample.findings().comparisons)
    shown = card.card(load).answer
    assert shown is not None
    assert {"p50", "p99", "max", "Failed", "Connections", "Duration"} <= {
        name for name, _, _ in shown.tiles
    }
    assert card.render(load).startswith(b"\x89PNG")


def test_lines_of_a_campaign_are_the_answer_of_its_card() -> None:
    searched = queues.searched_with()
    several = replace(searched, wanted=replace(searched.wanted, has_processes=True))
    lines = lines_of(LineFindings(several, Subject("a · json", "poisson", 256), {}, {}))
    found = replace(sample.findings(), lines=(lines, replace(lines, framework="b")))
    shown = card.card(found).answer
    assert shown is not None
    assert shown.headline == lines_section.headline(found.line_rankings[0])
    assert [name for name, _, _ in shown.tiles] == ["a", "b"]
    assert not shown.bars
    assert card.render(found).startswith(b"\x89PNG")
