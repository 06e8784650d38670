"""The card: the answer as one picture."""

from __future__ import annotations

import io
import itertools
import struct
from dataclasses import replace
from pathlib import Path

import numpy as np
import pypdf
import pytest

import ladders
import queues
import sample
from plimsoll.findings.findings import Findings
from plimsoll.findings.load_lines import EntryLines, LineFindings, Subject
from plimsoll.findings.trial import TrialFindings
from plimsoll.plan import ComparedTable
from plimsoll.report import contents
from plimsoll.report.contents import answer
from plimsoll.report.contents.answer import RankingAnswer
from plimsoll.report.contents.gist import JudgedTile
from plimsoll.report.formats import card, typeset
from plimsoll.report.results import line_result
from plimsoll.report.sections import ladder as ladder_section
from plimsoll.report.sections import lines as lines_section
from plimsoll.statistics.edge import Edge
from plimsoll.statistics.intervals import Estimate, Interval
from plimsoll.storage.parquet import ParquetResults
from plimsoll.verdicts import catalogue
from plimsoll.verdicts.verdict import Verdict


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


def several_lines(*entries: EntryLines) -> Findings:
    return replace(sample.findings(), lines=entries)


def entry(name: str, found: LineFindings | None, *, is_yardstick: bool = False) -> EntryLines:
    return replace(lines_of(LINE), framework=name, found=found, is_yardstick=is_yardstick)


SEARCHED = queues.searched_with()
LINE = LineFindings(
    replace(SEARCHED, wanted=replace(SEARCHED.wanted, has_processes=True)),
    Subject("a · json", "poisson", 256),
    {},
    {},
)
(LIMITED,) = LINE.searched.lines


def with_line(**other: object) -> LineFindings:
    """The line with something else."""
    changed = replace(LIMITED, **other)
    return replace(LINE, searched=replace(LINE.searched, lines=(changed,)))


def held(*verdicts: Verdict) -> TrialFindings:
    return replace(sample.sound_trial(), verdicts=verdicts)


def test_the_tile_of_a_line_says_how_far_to_believe_it_and_the_foot_says_why() -> None:
    doubt = sample.verdict("littles_law", "t", "void")
    why = f"b: {catalogue.title_of(doubt)}"
    disturbed = replace(LINE, held={LIMITED.limit.name: held(doubt)})
    sound = replace(LINE, held={LIMITED.limit.name: held()})
    shown = card.card(
        several_lines(
            entry("a", sound), entry("b", disturbed), entry("own", LINE, is_yardstick=True)
        )
    )
    found = {one.name: (one.state, one.is_yardstick) for one in shown.tiles}
    assert found["b"] == ("void", False)
    assert found["own"][1]
    assert shown.answer is not None
    assert dict(shown.answer.counts) == {found["a"][0]: 1, "void": 1}
    assert shown.answer.total == "2 load lines, without the yardstick"
    assert ("void", why) in shown.answer.of_trials
    texts = [text for text, _ in texts_of(shown)]
    assert "void" in texts
    assert sum("yardstick" in text for text in texts) == 2
    assert any(why in text for text in texts)


def test_a_yardstick_alone_is_counted_as_any_line() -> None:
    shown = card.card(several_lines(entry("own", LINE, is_yardstick=True)))
    assert shown.answer is not None
    assert shown.answer.total == "1 load line"
    assert not shown.tiles[0].is_yardstick


def test_a_line_that_was_not_found_has_no_unit_and_says_why() -> None:
    open_line = with_line(edge=None, state="open")
    tiles = card.card(several_lines(entry("a", LINE), entry("b", open_line))).tiles
    found = {one.name: (one.number, one.about) for one in tiles}
    assert found["b"] == ("–", "not found in the time given")
    assert found["a"][0].endswith("/s")


@pytest.mark.parametrize("count", [2, 3, 4, 6, 8])
def test_the_longest_number_is_shown_as_a_whole(count: int) -> None:
    wide = with_line(edge=Edge(np.array([1e6, 2e6]), np.array([0.0, 1.0]), 1.0))
    shown = card.card(several_lines(*(entry(f"f{place}", wide) for place in range(count))))
    (number,) = {one.number for one in shown.tiles}
    assert number == "1,025,000–1,975,000/s"
    beside = {6: 3, 8: 4}.get(count, count)
    tile = (card.WIDTH_PX - 2 * MARGIN - (beside - 1) * GAP) / beside - 2 * INSET
    assert 0.6 * tile < width_of(number, size_of(number.removesuffix("/s"), shown)) <= tile


MARGIN, GAP, INSET = 56, 14, 18
"""Of the card, between tiles, and within one, in points."""


def width_of(number: str, size: float) -> float:
    """Width of a number in the bold font of the card: digits are twice as wide as other signs."""
    return sum(0.278 if letter in ",/" else 0.556 for letter in number) * size


def size_of(text: str, shown: card.Card) -> float:
    """The size in which a card shows a text at last, in points."""
    document = pypdf.PdfReader(io.BytesIO(typeset.pdf("card.typ", shown, {})))
    sizes: list[float] = []

    def visit(part: str, _: object, place: list[float], __: object, size: float) -> None:
        if part.strip() == text:
            sizes.append(size * abs(place[0]))

    document.pages[0].extract_text(visitor_text=visit)
    return sizes[-1]


def test_a_ladder_answers_with_the_cost_of_a_request(tmp_path: Path) -> None:
    results = ParquetResults(tmp_path / "results")
    found = ladders.findings(results, {"go": ladders.Costs(), "node": ladders.Costs(0.1)})
    shown = card.card(found)
    assert shown.answer is not None
    assert shown.answer.headline == ladder_section.headline(found.ladder_rankings[0])
    assert [one.name for one in shown.tiles] == [
        one.ladder.framework for one in found.ladder_rankings[0].places
    ]
    assert all(one.number.endswith(" µs") for one in shown.tiles)
    assert not shown.answer.bars


def with_tiles(*tiles: JudgedTile, headline: str = "It is fast") -> card.Card:
    shown = card.card(several_lines(entry("a", LINE), entry("b", LINE)))
    assert shown.answer is not None
    return replace(shown, tiles=tiles, answer=replace(shown.answer, headline=headline))


def test_an_overlong_name_keeps_both_of_its_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    long = "a name that is far too long for its place on any card and on most pages "
    found = with_bars(5)
    bars = [
        replace(bar, row=replace(bar.row, framework=f"{long}{bar.row.framework}"))
        for bar in found.bars
    ]
    tiles = with_tiles(*(JudgedTile(f"{long}f{place}.", "1/s", "") for place in range(5)))
    for shown in (tiles, card_of(replace(found, bars=tuple(bars)), monkeypatch)):
        cut = [text for text, _ in texts_of(shown) if "…" in text]
        assert [text[-3:] for text in cut] == [f"f{place}." for place in range(5)]
        assert all(text.startswith("a name") for text in cut)


@pytest.mark.parametrize("words", [12, 20, 40, 200])
def test_a_long_headline_is_made_smaller_or_ends_with_an_ellipsis(words: int) -> None:
    headline = " ".join(f"word{number}" for number in range(words))
    texts = texts_of(with_tiles(JudgedTile("a", "1/s", ""), headline=headline))
    said = " ".join(text for text, _ in texts)
    assert f"word{words - 1}" in said or "…" in said
    assert words < 200 or "…" in said
    last = max(height for text, height in texts if text == "a")
    assert min(height for text, height in texts if "word" in text) > last
