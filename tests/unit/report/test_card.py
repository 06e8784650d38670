"""The card: the answer as one picture."""

from __future__ import annotations

import io
import itertools
import struct
from dataclasses import replace
from pathlib import Path

import pypdf
import pytest

import queues
import sample
from plimsoll.findings.findings import Findings
from plimsoll.findings.load_lines import EntryLines, LineFindings, Subject
from plimsoll.plan import ComparedTable
from plimsoll.report import contents
from plimsoll.report.contents import answer
from plimsoll.report.contents.answer import RankingAnswer
from plimsoll.report.formats import card, typeset
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
    assert shown.of_comparison == (("doubtful", "Listen queue too short"),)
    assert (shown.of_trials, plain.of_comparison) == (plain.of_trials, ())
    assert other == plain
    assert card.render(of("2048")) != card.render(of("json")) == card.render(sample.findings())


def with_bars(count: int) -> RankingAnswer:
    """The first answer of the sample with that many frameworks, named f0, f1 and so on."""
    findings = sample.findings()
    found = answer.answers(findings, contents.rankings(findings))[0]
    bar = found.bars[0]
    named = tuple(
        replace(bar, row=replace(bar.row, framework=f"f{place}.")) for place in range(count)
    )
    return replace(found, bars=named, ranking=replace(found.ranking, is_alone=count == 1))


def card_of(found: RankingAnswer, monkeypatch: pytest.MonkeyPatch) -> card.Card:
    """The card with that as its first answer."""
    monkeypatch.setattr(answer, "answers", lambda *_: [found])
    return card.card(sample.findings())


def texts_of(shown: card.Card) -> list[tuple[str, float]]:
    """The texts of a card with their heights above its lower edge, in points."""
    document = pypdf.PdfReader(io.BytesIO(typeset.pdf("card.typ", shown, {})))
    found: list[tuple[str, float]] = []

    def visit(text: str, place: list[float], *_: object) -> None:
        if text.strip():
            found.append((text.strip(), place[5]))

    (page,) = document.pages
    page.extract_text(visitor_text=visit)
    return found


@pytest.mark.parametrize("count", [1, 2, 3, 4, 6, 8, 9, 15, 16])
def test_any_number_of_frameworks_fills_the_card(
    count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = card_of(with_bars(count), monkeypatch)
    assert shown.answer is not None
    texts, heights = zip(*texts_of(shown), strict=True)
    if count > 1:
        assert {f"f{place}." for place in range(count)} <= set(texts)
    edges = sorted({0.0, *heights, float(card.HEIGHT_PX)})
    widest = max(after - before for before, after in itertools.pairwise(edges))
    assert widest < card.HEIGHT_PX / 6


def test_what_a_card_has_no_room_for_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = card_of(with_bars(card.MOST_BARS + 3), monkeypatch)
    assert shown.answer is not None
    assert (len(shown.answer.bars), shown.answer.more) == (card.MOST_BARS, 3)
    assert "and 3 more frameworks" in " ".join(text for text, _ in texts_of(shown))


@pytest.mark.parametrize("count", [9, 16])
def test_many_bars_say_which_of_them_have_no_rank(
    count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = with_bars(count)
    first, second, third, *others = found.bars
    bars = (
        replace(first, is_void=True, row=replace(first.row, state="void")),
        replace(second, is_void=True, row=replace(second.row, state="failed")),
        replace(third, is_yardstick=True),
        *others,
    )
    shown = [text for text, _ in texts_of(card_of(replace(found, bars=bars), monkeypatch))]
    words = [text for text in shown if text in ("void", "failed", "yardstick")]
    assert set(words) >= {"void", "failed", "yardstick"}
    assert shown.count("yardstick") == 1


def test_what_is_not_drawn_is_counted_without_the_yardstick_and_stretches_no_bar(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = with_bars(card.MOST_BARS + 3)
    half = [replace(bar, length=0.4, low=0.3, high=0.5, is_open=False) for bar in found.bars]
    half[-1] = replace(half[-1], is_yardstick=True, length=1 / answer.ROOM)
    shown = card_of(replace(found, bars=tuple(half)), monkeypatch).answer
    assert shown is not None
    assert shown.more == 2
    first = shown.bars[0]
    assert first.length == pytest.approx(1 / answer.ROOM, abs=1e-3)
    assert first.low == pytest.approx(0.75 / answer.ROOM, abs=1e-3)
    assert (first.high, first.is_open) == (1.0, True)


def test_one_framework_has_its_numbers_in_place_of_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    found = with_bars(1)
    shown = card_of(found, monkeypatch).answer
    assert shown is not None
    row = found.bars[0].row
    tiles = {name: number for name, number, _ in shown.tiles}
    assert tiles["Requests/s"] == row.number
    assert tiles["p99"] == dict(row.others)["p99"]


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
