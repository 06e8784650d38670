"""The PDF: what is on its pages, and what a screen reader finds in it."""

from __future__ import annotations

import io
import itertools
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pypdf
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pypdf.generic import ContentStream

import examples
import experiments
import queues
import sample
from plimsoll import charts, tables
from plimsoll.campaign import as_run
from plimsoll.comparison.comparisons import ComparedTrial, comparisons
from plimsoll.findings.findings import Findings
from plimsoll.findings.load_lines import EntryLines, LineFindings, Subject
from plimsoll.findings.trial import TrialFindings
from plimsoll.report import contents
from plimsoll.report.contents import answer
from plimsoll.report.formats import paper, pdf, pictures, typeset

EMPTY = Findings("empty", "0.1.0", (), tables.COMPARISONS.schema.empty_table())


def read(findings: Findings) -> pypdf.PdfReader:
    return pypdf.PdfReader(io.BytesIO(pdf.render(findings)))


@pytest.fixture(scope="module")
def document() -> pypdf.PdfReader:
    return read(sample.findings())


def without_charts(**changes: Any) -> TrialFindings:
    """A trial of whose seconds nothing is known, so that no chart is drawn."""
    trial = sample.sound_trial(**changes)
    return replace(trial, data=replace(trial.data, seconds=tables.SECONDS.schema.empty_table()))


def bare(text: str) -> str:
    """A text without spaces and places where a word may break."""
    return re.sub(r"[\s\u200b]+", "", text)


def texts(document: pypdf.PdfReader) -> list[str]:
    """The text of every page, as its letters are found by a search."""
    found = (bare(page.extract_text()) for page in document.pages)
    return [unicodedata.normalize("NFKC", text) for text in found]


def searched(text: str) -> str:
    """What a search for a text looks for."""
    return unicodedata.normalize("NFKC", bare(typeset.shown(text).replace("`", "")))


@pytest.fixture(scope="module")
def pages(document: pypdf.PdfReader) -> list[str]:
    return texts(document)


def elements(document: pypdf.PdfReader) -> list[tuple[str, Any]]:
    """Tag and element of everything in the structure tree, in the order of reading."""
    root: Any = document.trailer["/Root"]

    def walk(element: Any) -> Iterator[tuple[str, Any]]:
        element = element.get_object()
        if isinstance(element, list):
            for one in element:
                yield from walk(one)
        elif isinstance(element, dict):
            if "/S" in element:
                yield str(element["/S"]), element
            if "/K" in element:
                yield from walk(element["/K"])

    return list(walk(root["/StructTreeRoot"]))


def children(element: Any, tag: str) -> list[Any]:
    """The elements of a tag right below another."""
    kids: Any = element.get("/K", [])
    found = [one.get_object() for one in (kids if isinstance(kids, list) else [kids])]
    return [one for one in found if isinstance(one, dict) and one.get("/S") == tag]


def outline(document: pypdf.PdfReader) -> list[tuple[int, str, int]]:
    """Level, title and page of every entry of the outline; levels from 1, pages from 0."""

    def walk(entries: Any, level: int) -> Iterator[tuple[int, str, int]]:
        for entry in entries:
            if isinstance(entry, list):
                yield from walk(entry, level + 1)
            else:
                page = document.get_destination_page_number(entry)
                assert page is not None
                yield level, str(entry["/Title"]), page

    return list(walk(document.outline, 1))


def trial_pages(document: pypdf.PdfReader) -> list[tuple[str, int]]:
    """Title and first page of each trial by the outline."""
    entries = outline(document)
    start = entries.index(next(entry for entry in entries if entry[:2] == (1, "Trials")))
    return [(title, page) for level, title, page in entries[start + 1 :] if level == 2]


# --- what a screen reader finds ---


def test_it_claims_to_be_pdf_ua_1_and_has_a_title_and_a_language(
    document: pypdf.PdfReader,
) -> None:
    root: Any = document.trailer["/Root"]
    claim = root["/Metadata"].get_object().get_data().decode()
    assert re.search(r"pdfuaid:part(>|=.)1", claim)
    assert root["/MarkInfo"]["/Marked"]
    assert root["/MarkInfo"]["/Suspects"] == False  # noqa: E712  ISO 14289-1, 7.1: stated, false
    assert str(root["/Lang"]).startswith("en")
    assert root["/ViewerPreferences"]["/DisplayDocTitle"]
    assert document.metadata is not None
    assert document.metadata.title == "sample"


def test_headings_are_in_order_and_name_every_trial(document: pypdf.PdfReader) -> None:
    levels = [int(tag[2]) for tag, _ in elements(document) if re.fullmatch("/H[1-6]", tag)]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    tops = [title for level, title, _ in outline(document) if level == 1]
    assert tops == ["sample", "All results", "Trials"]
    trials = contents.trials(sample.findings())
    found = [bare(title) for title, _ in trial_pages(document)]
    assert found == [bare(trial.title) for trial in trials]


def test_every_chart_has_its_description(document: pypdf.PdfReader) -> None:
    drawings = paper.Drawings()
    shown = paper.paper(sample.findings(), drawings)
    drawn = [picture for one in shown.rankings for picture in one.pictures]
    drawn += [picture for one in shown.sections for picture in one.pictures]
    drawn += [picture for one in shown.trials for row in one.rows for picture in row]
    assert len(drawn) == len(drawings.pictures) > len(shown.trials)
    found = Counter(element["/Alt"] for tag, element in elements(document) if tag == "/Figure")
    assert found == Counter(typeset.shown(one.description) for one in drawn)


def test_every_table_has_headings_and_whole_rows(document: pypdf.PdfReader) -> None:
    found = [element for tag, element in elements(document) if tag == "/Table"]
    assert len(found) > len(contents.trials(sample.findings()))
    for table in found:
        (head,) = children(table, "/THead")
        (headings,) = children(head, "/TR")
        columns = len(cells(headings))
        assert children(headings, "/TH")
        assert not children(headings, "/TD")
        for body in children(table, "/TBody"):
            rows = children(body, "/TR")
            assert rows
            assert {len(cells(row)) for row in rows} == {columns}


def cells(row: Any) -> list[Any]:
    """The cells of a row, those over several columns as often as they have columns."""
    found: list[Any] = []
    for cell in [*children(row, "/TH"), *children(row, "/TD")]:
        attributes: Any = cell.get("/A", [])
        every = attributes if isinstance(attributes, list) else [attributes]
        spans = [one.get_object().get("/ColSpan", 1) for one in every]
        found += [cell] * max(map(int, spans), default=1)
    return found


def test_all_that_is_drawn_is_tagged_or_an_artifact(document: pypdf.PdfReader) -> None:
    drawing = {b"Tj", b"TJ", b"f", b"f*", b"S", b"s", b"B", b"Do"}
    for page in document.pages:
        depth = 0
        stream = ContentStream(page.get_contents(), document)
        for _, operator in stream.operations:
            depth += operator in (b"BDC", b"BMC")
            depth -= operator == b"EMC"
            assert depth or operator not in drawing
        assert depth == 0


def test_the_campaign_as_run_and_how_to_repeat_it_can_be_copied() -> None:
    program = "/opt/meters/bin/read-the-watts-of-this-machine-by-its-serial-port"
    made = {
        "name": "quick",
        "frameworks": ["go"],
        "repetitions": 7,
        "power": f"exec:{program}",
        "loads": [],
        "settings": {
            "typed": ["repetitions=7"],
            "changed": [{"path": ["repetitions"], "before": 3}],
        },
    }
    found = read(replace(EMPTY, as_run=as_run.read(made)))
    text = "\n".join(page.extract_text() for page in found.pages)
    assert f'power = "exec:{program}"' in text
    lines = [line.strip() for line in text.splitlines()]
    assert "repetitions = 7" in lines
    assert "plimsoll run quick.toml" in lines
    assert '"repetitions": 7,  // --set; before: 3' in lines
    titles = [title for _, title, _ in outline(found)]
    assert titles.index("How to repeat this") < titles.index("Campaign as run")


def test_links_are_in_the_order_of_reading_and_have_a_text(document: pypdf.PdfReader) -> None:
    linked = [page for page in document.pages if "/Annots" in page]
    assert linked
    for page in linked:
        assert page["/Tabs"] == "/S"
        annotations: Any = page["/Annots"]
        assert all(one.get_object()["/Contents"] for one in annotations)
    tags = Counter(tag for tag, _ in elements(document))
    assert tags["/Link"] == sum(len(page["/Annots"]) for page in linked)  # pyright: ignore[reportArgumentType]


def test_pages_are_vectors_and_every_font_is_inside_with_its_characters(
    document: pypdf.PdfReader,
) -> None:
    fonts: list[Any] = []
    for page in document.pages:
        assert not list(page.images)
        resources: Any = page["/Resources"]
        fonts += [one.get_object() for one in resources.get("/Font", {}).values()]
    assert fonts
    for font in fonts:
        (descendant,) = font["/DescendantFonts"]
        descriptor = descendant.get_object()["/FontDescriptor"]
        assert {"/FontFile2", "/FontFile3"} & descriptor.keys()
        assert font["/ToUnicode"]


# --- what is on the pages ---


def test_the_first_page_has_answer_doubts_machine_and_bars(pages: list[str]) -> None:
    for part in (
        *("sample", "Example CPU at 2.30 GHz", "12,500/s"),
        "axum and spring virtual are not significantly different",
        "axum is 1.55 × go (95 %: 1.40–1.72)",
        "Load generator at its limit (doubtful",
    ):
        assert bare(part) in pages[0]


def test_the_first_page_begins_with_the_load_line_where_there_is_one() -> None:
    trial = without_charts()
    found = LineFindings(queues.searched_with(), Subject("a", "poisson", 256), {}, {})
    line = EntryLines(
        trial.recording.title,
        trial.recording.endpoint,
        is_yardstick=False,
        found=found,
        peak=None,
        problem="",
        goes_on=False,
    )
    first, *_ = texts(read(replace(EMPTY, trials=(trial,), lines=(line,))))
    assert 0 <= first.index("acarries")
    assert "Nonumbercounts" not in first
    assert "Measuredat" not in first


def test_the_second_page_begins_with_counts_and_limits(pages: list[str]) -> None:
    for part in ("All results", "Configuration", "doubtful", "overrides limits"):
        assert bare(part) in pages[1]


@pytest.mark.parametrize("count", [1, 4, 20])
def test_the_answer_is_one_page_however_many_rankings_there_are(count: int) -> None:
    endpoints = [f"e{number:02}" for number in range(count)]
    trials = tuple(without_charts(endpoint=endpoint) for endpoint in endpoints)
    first, second, *_ = texts(read(replace(EMPTY, trials=trials)))
    shown = [endpoint for endpoint in endpoints if f"Measuredat{endpoint}" in first]
    more = re.search(r"and(\d+)moreranking", first)
    assert len(shown) + int(more[1] if more else 0) == count
    assert (more is not None) == (count == 20)
    assert second.startswith("Allresults")


def test_the_first_page_has_the_numbers_of_every_ranking_that_there_is_room_for() -> None:
    endpoints = ["a", "b", "c"]
    trials = tuple(without_charts(endpoint=endpoint) for endpoint in endpoints)
    first, *_ = texts(read(replace(EMPTY, trials=trials)))
    assert first.count("responsetimemax") == len(endpoints)


def test_a_trial_begins_a_page_of_its_own(document: pypdf.PdfReader, pages: list[str]) -> None:
    places = [page for _, page in trial_pages(document)]
    assert places == sorted(set(places))
    for title, page in trial_pages(document):
        assert pages[page].startswith(bare(title))


def test_of_many_trials_those_that_are_not_sound_have_a_page(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(paper, "MOST_TRIALS", 2)
    trials = (without_charts(endpoint="a"), without_charts(endpoint="b"), sample.void_trial())
    document = read(replace(EMPTY, trials=trials))
    void = sample.void_trial().recording.framework
    titles = [title for title, _ in trial_pages(document)]
    assert len(titles) == 2
    assert any(void in title for title in titles)
    assert any("1moretrialhasnopagehere" in page for page in texts(document))


NOTES = tuple(
    f"Fact {number} of the framework that a reader of a trial must know." for number in range(12)
)


def annotated(*notes: tuple[str, ...]) -> Findings:
    """A campaign of two frameworks, a trial of the first for each of some notes."""
    trials = [
        sample.sound_trial(framework="axum", repetition=number, notes=of_trial)
        for number, of_trial in enumerate(notes, 1)
    ]
    other = sample.sound_trial(framework="go", throughput=4000.0)
    recorded = (*trials, other)
    compared = comparisons([ComparedTrial(one.recording, one.summary, False) for one in recorded])
    return Findings("sample", "0.1.0", recorded, compared)


def test_a_trial_of_a_framework_with_many_notes_takes_one_page() -> None:
    document = read(annotated(NOTES, NOTES, NOTES))
    places = [page for _, page in trial_pages(document)]
    assert [*places, len(document.pages)] == [places[0] + number for number in range(5)]


def test_charts_become_smaller_before_a_trial_takes_two_pages() -> None:
    document = read(annotated(NOTES[:6]))
    places = [page for _, page in trial_pages(document)]
    assert places[1] - places[0] == 1
    assert len(read(annotated(NOTES * 6)).pages) > len(document.pages)


def test_notes_that_all_trials_of_a_framework_have_are_printed_once() -> None:
    own = "Only this trial was read without its readings of memory."
    document = read(annotated(NOTES[:2], (*NOTES[:2], own)))
    pages, starts = texts(document), [page for _, page in trial_pages(document)]
    for note in NOTES[:2]:
        assert [searched(note) in page for page in pages].count(True) == 1
        assert not any(searched(note) in page for page in pages[starts[0] :])
    assert [place for place, page in enumerate(pages) if searched(own) in page] == [starts[1]]


def test_nothing_that_a_trial_shows_is_missing_on_its_pages(
    document: pypdf.PdfReader, pages: list[str]
) -> None:
    shown = paper.paper(sample.findings(), paper.Drawings())
    starts = [page for _, page in trial_pages(document)]
    ends = [*starts[1:], len(pages)]
    for trial, start, end in zip(shown.trials, starts, ends, strict=True):
        text = "".join(pages[start:end])
        said = [trial.about, trial.sound, trial.not_checked, *trial.contract, *trial.under_times]
        said += [part for tile in trial.tiles for part in tile]
        said += [part for one in trial.statements for part in (one.name, *one.lines)]
        said += [part for row in (*trial.times, *trial.failures) for part in row]
        said += [part for _, facts in trial.lists for fact in facts for part in fact]
        for part in (*said, *trial.notes):
            assert searched(part) in text


def test_marks_of_a_table_are_characters_that_the_fonts_have() -> None:
    found = texts(read(experiments.gated()))
    assert any(bare("● 200") in page for page in found)
    assert not any(re.search(r"\\u[0-9a-f]{4}", page) for page in found)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "findings",
    [experiments.crossed, experiments.rising, experiments.metered, experiments.published],
)
def test_sections_are_tagged_too(findings: Any) -> None:
    document = read(findings())
    levels = [int(tag[2]) for tag, _ in elements(document) if re.fullmatch("/H[1-6]", tag)]
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))


# --- text from elsewhere ---

MARKUP = (
    '#panic("x") *b* _i_ = h $x^2$ @a <l> `c` \\u{41} // c /* c */ [x](y) ~ -- ... "q" https://x.y'
)


def test_text_from_elsewhere_is_shown_as_it_is_and_does_nothing() -> None:
    trial = without_charts(framework=MARKUP, endpoint=MARKUP, notes=(MARKUP,), language=MARKUP)
    found = replace(EMPTY, campaign=f"= {MARKUP}", trials=(trial,))
    document = read(found)
    assert document.metadata is not None
    assert document.metadata.title == f"= {MARKUP}"
    text = "".join(texts(document)).replace("`", "")
    assert searched(f"= {MARKUP}") in text
    assert text.count(searched(MARKUP)) > 5
    assert [title for level, title, _ in outline(document) if level == 1][1:] == [
        "All results",
        "Trials",
    ]
    assert not any("/URI" in str(page.get("/Annots")) for page in document.pages)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("日本 é", r"\u65e5\u672c é"),
        ("\U0001f600", r"\U0001f600"),
        ("a\x00\x1b[31mb\u202ec", r"a��[31mb�c".replace("�", r"\ufffd")),
        ("\ud800", r"\ufffd"),
        ("1.5 ms\nand 3 %", "1.5\xa0ms and 3\xa0%"),
    ],
)
def test_what_the_fonts_do_not_have_is_shown_by_its_code(text: str, said: str) -> None:
    assert typeset.shown(text) == said


def test_every_character_that_is_not_replaced_has_a_glyph() -> None:
    every = (chr(code) for code in range(0x20, 0x30000))
    covered = "".join(sign for sign in every if typeset.shown(sign) == sign != "`")
    assert len(covered) > 500
    trial = without_charts(limits={"check": {covered: 1.0}})
    text = "".join(texts(read(replace(EMPTY, trials=(trial,)))))
    assert set(unicodedata.normalize("NFKC", bare(covered))) <= set(text)


def test_a_word_without_an_end_stays_on_the_page() -> None:
    long = "W" * 3000
    found = replace(EMPTY, campaign=long, trials=(without_charts(framework=long),))
    assert texts(read(found))[1].startswith("Allresults")


@examples.some(8)
@given(st.text(max_size=60))
def test_any_text_becomes_a_document(text: str) -> None:
    assert pdf.render(replace(EMPTY, campaign=text)).startswith(b"%PDF-1.7")


def test_one_load_has_its_numbers_and_charts_on_the_first_page() -> None:
    drawings = paper.Drawings()
    load = replace(EMPTY, trials=(sample.sound_trial(),))
    shown = paper.paper(load, drawings)
    assert shown.first_pictures
    assert not shown.trials[0].rows
    found = read(load)
    first, *others = texts(found)
    for name, number, _ in shown.answers[0].tiles:
        assert bare(name + number) in first
    assert len(others) <= 3
    assert sum("repetition1" in page and len(page) < 200 for page in others) == 0
    both = paper.paper(sample.findings(), paper.Drawings())
    assert not both.first_pictures


def test_charts_that_stand_side_by_side_are_equally_large() -> None:
    drawings = paper.Drawings()
    shown = paper.paper(replace(EMPTY, trials=(sample.sound_trial(),)), drawings)
    pictures = drawings.pictures
    for row in shown.first_pictures:
        widths = [
            float(found[1])
            for one in row
            if (found := re.search(r'<svg[^>]* width="([\d.]+)', pictures[one.file]))
        ]
        assert len(widths) == len(row)
        assert max(widths) < 1.1 * min(widths)


@pytest.mark.parametrize(("bars", "tables"), [(4, 3), (6, 2), (13, 1)])
def test_a_table_that_just_has_room_is_not_left_out_of_the_first_page(
    bars: int, tables: int
) -> None:
    drawings = paper.Drawings()
    shown = paper.paper(EMPTY, drawings)
    (first, *_) = paper.paper(sample.findings(), drawings).answers
    several = tuple(itertools.islice(itertools.cycle(first.bars), bars))
    four = replace(shown, answers=(replace(first, bars=several),) * 4)
    made = typeset.pdf("report.typ", four, drawings.pictures)
    (page, *_) = pypdf.PdfReader(io.BytesIO(made)).pages
    placed = placed_texts(page)
    assert sum(text == "rank" for text, _, _ in placed) == tables
    assert sum(text.startswith("Fastest at") for text, _, _ in placed) == 4


def placed_texts(page: Any) -> list[tuple[str, float, float]]:
    """The texts of a page with their places from its left lower edge, in points."""
    found: list[tuple[str, float, float]] = []

    def visit(text: str, across: list[float], within: list[float], *_: object) -> None:
        if text.strip():
            x = across[0] * within[4] + across[2] * within[5] + across[4]
            y = across[1] * within[4] + across[3] * within[5] + across[5]
            found.append((text.strip(), x, y))

    page.extract_text(visitor_text=visit)
    return found


def test_the_chart_of_a_long_ranking_is_whole_on_its_pages() -> None:
    """Nothing but the chart is on these pages, so each name is that of a row."""
    (first, *_) = sample.findings().rankings
    names = [f"f{place}." for place in range(58)]
    entries = tuple(replace(first.entries[0], framework=name, rank_low=None) for name in names)
    drawings = paper.Drawings()
    ranking = contents.rankings(sample.findings())[0]
    long = replace(ranking, ranking=replace(first, entries=entries), rows=())
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(contents, "rankings", lambda _: [long])
        patched.setattr(answer, "answers", lambda *_: [])
        shown = paper.paper(EMPTY, drawings)
    made = typeset.pdf("report.typ", shown, drawings.pictures)
    document = pypdf.PdfReader(io.BytesIO(made))
    rows: dict[tuple[int, float], str] = {}
    for number, page in enumerate(document.pages):
        for text, x, y in sorted(placed_texts(page), key=lambda one: one[1]):
            if 0 < x < float(page.mediabox.width) and 0 < y < float(page.mediabox.height):
                place = (number, round(y, 1))
                rows[place] = rows.get(place, "") + bare(text)
    found = [one[0] for row in rows.values() if (one := re.match(r"f\d+\.", row))]
    assert Counter(found) == Counter(names)
    assert sum("goodput,responses/s" in row for row in rows.values()) == 2


def axes(part: Any) -> tuple[Any, ...]:
    """Width, scale and room for names of a chart with rows."""
    encoding = part["layer"][1]["encoding"]
    upright, across = encoding["y"], encoding["x"]
    return part["width"], across["scale"], upright["axis"]["minExtent"]


def test_parts_of_a_chart_have_each_row_once_and_the_same_axes() -> None:
    one = LineFindings(queues.searched_with(), Subject("a", "poisson", 256), {}, {})
    lines = EntryLines("a", "json", False, one, None, problem="", goes_on=False)
    found = replace(sample.findings(), lines=(lines, replace(lines, framework="b")))
    drawn = (
        charts.comparison.draw(found.rankings[0]),
        charts.line_ranking.draw(found.line_rankings[0]),
    )
    for whole in drawn:
        labels = whole["layer"][0]["encoding"]["y"]["scale"]["domain"]
        row_px = whole["height"] // len(labels)
        parts = pictures.in_parts(whole, row_px)
        assert len(parts) == len(labels) > 1
        assert [one["height"] for one in parts] == [row_px] * len(labels)
        assert all(axes(one) == axes(parts[0]) for one in parts)
        for name, data in whole["datasets"].items():
            assert sorted(map(repr, data)) == sorted(
                repr(row) for part in parts for row in part["datasets"][name]
            )
        assert pictures.in_parts(whole, whole["height"]) == [whole]
