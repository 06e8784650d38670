"""The HTML report in a real browser, from disk and without a network."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pypdf
import pytest

import chromium
import sample
from plimsoll import canvas
from plimsoll.comparison.comparisons import ComparedTrial, comparisons
from plimsoll.findings.findings import Findings
from plimsoll.report.formats import html

NODE = "trial-node.2048.steady.1"

pytestmark = [pytest.mark.long, pytest.mark.browser]


@dataclass
class Visit:
    """A page that was opened, and what it did that it should not.

    Attributes:
        page: The page.
        complaints: Errors and warnings of its console.
        requests: Addresses it asked for besides its own file.
        dialogs: Messages of dialogs that it opened.
    """

    page: Any
    complaints: list[str] = field(default_factory=list[str])
    requests: list[str] = field(default_factory=list[str])
    dialogs: list[str] = field(default_factory=list[str])

    def charts(self, trial: str) -> Any:
        """The pictures drawn in the section of a trial."""
        return self.page.locator(f'[id="{trial}"] .chart svg.marks')

    def open(self, trial: str) -> None:
        """Open the section of a trial and wait for its first picture."""
        self.page.locator(f'[id="{trial}"] > summary').click()
        self.page.locator(f'[id="{trial}"] .chart').first.scroll_into_view_if_needed()
        self.charts(trial).first.wait_for()


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return html.write(sample.findings(), tmp_path_factory.mktemp("report"))


@pytest.fixture
def visit(browser: Any, report: Path, request: pytest.FixtureRequest) -> Iterator[Visit]:
    """The report, opened; the parameters are options of the browser's context and `anchor`."""
    options: dict[str, Any] = dict(getattr(request, "param", {}))
    anchor = options.pop("anchor", "")
    context = browser.new_context(offline=True, **options)
    seen = Visit(context.new_page())
    seen.page.on("console", lambda message: _complain(seen, message))
    seen.page.on("pageerror", lambda error: seen.complaints.append(str(error)))
    seen.page.on("request", lambda asked: _ask(seen, asked.url, report))
    seen.page.on("dialog", lambda dialog: (seen.dialogs.append(dialog.message), dialog.dismiss()))
    seen.page.goto(report.as_uri() + (f"#{anchor}" if anchor else ""))
    yield seen
    context.close()


def _complain(seen: Visit, message: Any) -> None:
    if message.type in ("error", "warning"):
        seen.complaints.append(message.text)


def _ask(seen: Visit, url: str, report: Path) -> None:
    if not url.startswith(report.as_uri()):
        seen.requests.append(url)


def test_every_trial_can_be_opened_without_a_network_and_without_an_error(visit: Visit) -> None:
    for trial in sample.findings().trials:
        section = visit.page.locator(f'[id="trial-{trial.recording.trial}"]')
        section.locator("> summary").click()
        for chart in section.locator(".chart").all():
            chart.scroll_into_view_if_needed()
            chart.locator("svg.marks").wait_for()
    assert visit.complaints == []
    assert visit.requests == []


@pytest.mark.parametrize(
    "visit",
    [
        pytest.param(
            {"color_scheme": scheme, "viewport": {"width": width, "height": 900}},
            marks=pytest.mark.thorough if (scheme == "dark") == (width == 390) else (),
        )
        for scheme in ("light", "dark")
        for width in (1280, 390)
    ],
    ids=lambda visit: f"{visit['color_scheme']}-{visit['viewport']['width']}",
    indirect=True,
)
def test_no_serious_obstacle_stands_in_the_way_of_anybody(visit: Visit) -> None:
    visit.open(NODE)
    assert chromium.obstacles(visit.page) == []


def test_a_chart_is_drawn_only_when_its_section_is_opened(visit: Visit) -> None:
    assert visit.charts(NODE).count() == 0
    visit.open(NODE)
    assert visit.charts(NODE).count() >= 1


def test_a_chart_says_in_words_what_it_shows(visit: Visit) -> None:
    visit.open(NODE)
    label = visit.page.locator(f'[id="{NODE}"] .chart').first.get_attribute("aria-label")
    assert label.startswith("Throughput of node over 12 seconds")
    assert "3 seconds without a response" in label


@pytest.mark.parametrize("visit", [{"anchor": NODE}], indirect=True)
def test_an_address_with_an_anchor_opens_its_trial(visit: Visit) -> None:
    visit.charts(NODE).first.wait_for()
    assert visit.page.locator("details.trial[open]").count() == 1


@pytest.mark.parametrize("visit", [{"anchor": f"{NODE}-cpu"}], indirect=True)
def test_an_address_of_a_chart_opens_the_trial_around_it(visit: Visit) -> None:
    assert visit.page.locator(f'[id="{NODE}-cpu"]').is_visible()


def test_every_chart_of_a_trial_has_its_values_as_a_table(visit: Visit) -> None:
    visit.open(NODE)
    tables = visit.page.locator(f'[id="{NODE}"] details.values')
    assert tables.count() == 7
    tables.first.locator("summary").click()
    rows = tables.first.locator("tbody tr")
    rows.first.wait_for()
    assert rows.count() == 12
    assert [cell.inner_text() for cell in rows.nth(8).locator("td").all()] == [
        "8",
        "hold",
        "1,000",
        "0",
        "70",
    ]


def test_one_cursor_goes_through_all_charts_over_time(visit: Visit) -> None:
    visit.open(NODE)
    section = visit.page.locator(f'[id="{NODE}"]')
    visit.charts(NODE).nth(1).wait_for()
    section.locator('.chart[data-chart="throughput"]').hover()
    shown = section.locator(".chart > .time-cursor:visible")
    shown.nth(1).wait_for()
    places = [one.bounding_box()["x"] for one in shown.all()]
    assert max(places) - min(places) <= 2
    visit.page.mouse.move(0, 0)
    shown.first.wait_for(state="hidden")
    assert visit.complaints == []


def test_the_charts_of_a_trial_show_the_seconds_that_are_chosen(visit: Visit) -> None:
    visit.open(NODE)
    first, last = visit.page.locator(f'[id="{NODE}"] .seconds input').all()
    assert (first.input_value(), last.input_value()) == ("0", "12")
    first.fill("4")
    last.fill("8")
    last.press("Tab")
    visit.page.wait_for_function(
        "(id) => document.getElementById(id).querySelector('.chart svg.marks')"
        "?.textContent.includes('4.5')",
        arg=NODE,
    )
    visit.page.locator(f'[id="{NODE}"] .seconds button').click()
    assert (first.input_value(), last.input_value()) == ("0", "12")
    assert visit.complaints == []


def test_a_drag_over_a_chart_chooses_seconds_and_a_double_click_shows_all(visit: Visit) -> None:
    visit.open(NODE)
    chart = visit.page.locator(f'[id="{NODE}"] .chart[data-chart="throughput"]')
    chart.hover()
    box = chart.bounding_box()
    first, last = visit.page.locator(f'[id="{NODE}"] .seconds input').all()
    visit.page.mouse.move(box["x"] + 0.4 * box["width"], box["y"] + 60)
    visit.page.mouse.down()
    visit.page.mouse.move(box["x"] + 0.6 * box["width"], box["y"] + 60, steps=5)
    visit.page.mouse.up()
    assert 2 <= int(first.input_value()) < int(last.input_value()) <= 10
    visit.page.mouse.dblclick(box["x"] + 0.5 * box["width"], box["y"] + 60)
    assert (first.input_value(), last.input_value()) == ("0", "12")
    assert visit.complaints == []


def test_values_can_be_saved_as_csv(visit: Visit) -> None:
    visit.open(NODE)
    values = visit.page.locator(f'[id="{NODE}"] details.values').first
    values.locator("summary").click()
    with visit.page.expect_download() as download:
        values.locator("button").click()
    lines = Path(download.value.path()).read_text().splitlines()
    assert lines[0] == '"second","stage","requested level","completed","failed"'
    assert len(lines) == 13


def test_a_trial_can_be_opened_with_the_keyboard(visit: Visit) -> None:
    visit.page.locator(f'[id="{NODE}"] > summary').focus()
    visit.page.keyboard.press("Enter")
    visit.page.locator(f'[id="{NODE}"] .chart').first.scroll_into_view_if_needed()
    visit.charts(NODE).first.wait_for()


def test_the_ranking_and_verdicts_are_in_the_page_without_any_script(
    browser: Any, report: Path
) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(report.as_uri())
    text = page.locator("main").inner_text()
    for part in ("12,500/s", "1–2", "doubtful", "Little's law", "not ranked"):
        assert part in text
    context.close()


# --- the first screen ---

DESK, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
SIZES = pytest.mark.parametrize(
    "visit", [{"viewport": DESK}, {"viewport": PHONE}], indirect=True, ids=["desk", "phone"]
)
A4 = {"width": 703, "height": 1032}
"""A page within margins of 12 mm, at 96 px per inch."""

ANSWER = '[id="at-2048-steady"]'


@SIZES
def test_the_first_screen_holds_answer_ratio_verdict_and_machine(visit: Visit) -> None:
    height = visit.page.viewport_size["height"]
    for place, text in (
        (f"{ANSWER} .headline", "axum and spring virtual are not significantly different"),
        (f"{ANSWER} .further", "axum is 1.55 × go (95 %: 1.40–1.72)"),
        (f"{ANSWER} .counts", "5 sound"),
        (f"{ANSWER} .counts", "1 doubtful"),
        ("header.top .machine", "Example CPU at 2.30 GHz, 4 cores, 16 GB"),
        (f"{ANSWER} .bars tbody tr >> nth=0", "12,500/s"),
        (f"{ANSWER} .bars tbody tr >> nth=1", "(0.74–1.32)"),
        (f"{ANSWER} .bars tbody tr >> nth=2", "124 ms"),
    ):
        found = visit.page.locator(place)
        assert text in found.inner_text().replace("\u00a0", " ")
        box = found.bounding_box()
        assert box["y"] + box["height"] <= height


@pytest.mark.parametrize("visit", [{"viewport": PHONE}], indirect=True)
def test_a_small_screen_has_the_sections_folded_above_the_answer(visit: Visit) -> None:
    page = visit.page
    folded, links = page.locator("details.contents"), page.locator("nav[aria-label=Contents]")
    assert links.locator("visible=true").count() == 0
    assert _top(folded) < _top(page.locator("#answer")) < PHONE["height"]
    folded.locator("summary").click()
    assert folded.locator("nav a:visible").count() > 4
    page.set_viewport_size(DESK)
    assert not folded.is_visible()
    assert links.locator("visible=true").count() == 1


def _top(element: Any) -> float:
    return float(element.evaluate("(one) => one.getBoundingClientRect().top"))


WIDTHS = (320, 390, 768, 1280)


@pytest.mark.parametrize("visit", [{"viewport": PHONE}], indirect=True)
def test_a_small_screen_sorts_by_a_list_and_no_focus_is_out_of_sight(visit: Visit) -> None:
    page = visit.page
    assert page.locator("button.sort:visible").count() == 0
    seen: set[str] = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        box, name = page.evaluate(
            "(() => { const { x, y, width } = document.activeElement.getBoundingClientRect();"
            " return [[x, y, width], document.activeElement.tagName]; })()"
        )
        seen.add(name)
        assert box[0] >= 0 and box[2] > 1, name
    assert "SELECT" in seen
    order = page.locator(f"{ANSWER} .bars tbody th a")
    as_made = order.all_inner_texts()
    ways = page.locator(f"{ANSWER} .sorter select")
    ways.select_option(label="p99 ↑")
    assert order.all_inner_texts()[:2] == ["axum", "spring virtual"]
    page.reload()
    assert ways.evaluate("(one) => one.selectedOptions[0].label") == "p99 ↑"
    ways.select_option(label="p99 ↓")
    assert order.all_inner_texts()[0] == "node"
    ways.select_option(label="as listed")
    assert order.all_inner_texts() == as_made
    assert "sort" not in page.url
    page.set_viewport_size(DESK)
    assert not ways.is_visible()


@pytest.mark.parametrize("visit", [{"viewport": PHONE}], indirect=True)
def test_no_tile_of_the_verdicts_stands_alone_on_a_phone(visit: Visit) -> None:
    tiles = [one.bounding_box() for one in visit.page.locator(".banner li").all()]
    assert len(tiles) > 2
    assert len({(box["x"], box["width"]) for box in tiles}) == 1


def test_nothing_of_the_answer_is_cut_or_lies_upon_another(visit: Visit) -> None:
    for width in WIDTHS:
        visit.page.set_viewport_size({"width": width, "height": 900})
        assert cut(visit.page) == [], width
        assert upon(visit.page) == 0, width


def cut(page: Any) -> list[str]:
    """What of the answer reaches beyond the left or the right of the screen."""
    return page.evaluate(
        "[...document.querySelectorAll('.answer:not([hidden]) *')].filter(one => {"
        " const box = one.getBoundingClientRect();"
        " return box.width > 1 && (box.left < 0 || box.right > innerWidth); })"
        ".map(one => one.outerHTML.slice(0, 80))"
    )


def upon(page: Any) -> int:
    """How many cells of a row lie upon another one."""
    return page.evaluate(
        "[...document.querySelectorAll('.answer:not([hidden]) .bars tbody tr')].flatMap(row => {"
        " const boxes = [...row.cells].map(cell => cell.getBoundingClientRect());"
        " return boxes.flatMap((one, place) => boxes.slice(place + 1).filter(other =>"
        "  one.width && other.width && one.left < other.right - 1 && other.left < one.right - 1"
        "  && one.top < other.bottom - 1 && other.top < one.bottom - 1)); }).length"
    )


def test_a_doubt_is_one_mark_and_its_sentence_opens_with_the_keyboard(visit: Visit) -> None:
    mark = visit.page.locator(f"{ANSWER} .doubt", has_text="Load generator at its limit")
    sentence = mark.get_by_text("The busiest core of the driver was 84 % busy")
    assert not sentence.is_visible()
    mark.locator("summary").focus()
    visit.page.keyboard.press("Enter")
    assert sentence.is_visible()


def test_another_endpoint_is_chosen_and_the_address_keeps_it(visit: Visit) -> None:
    page = visit.page
    page.locator(".switch a", has_text="json").click()
    assert page.locator(".answer:visible").count() == 1
    assert page.locator('[id="at-json-steady"] .headline').is_visible()
    assert page.url.endswith("#at-json-steady")
    page.reload()
    assert page.locator('[id="at-json-steady"]').is_visible()
    assert not page.locator(ANSWER).is_visible()


def test_a_click_on_a_heading_sorts_and_the_address_keeps_it(visit: Visit) -> None:
    def order() -> list[str]:
        return visit.page.locator(f"{ANSWER} .bars tbody th a").all_inner_texts()

    as_made = order()
    heading = visit.page.locator(f"{ANSWER} .bars thead button", has_text="p99")
    heading.click()
    assert order()[:5] == ["node", "go", "django", "spring virtual", "axum"]
    visit.page.reload()
    assert order()[:5] == ["node", "go", "django", "spring virtual", "axum"]
    heading.click()
    assert order()[:5] == ["axum", "spring virtual", "django", "go", "node"]
    heading.click()
    assert order() == as_made
    assert "sort" not in visit.page.url
    numbers = visit.page.locator(f"{ANSWER} .bars thead button", has_text="Requests/s")
    numbers.click()
    numbers.click()
    assert order()[:3] == ["node", "go", "django"]


@pytest.mark.parametrize(
    "ascending",
    [
        ("250 µJ", "4.1 mJ", "1.2 J", "–"),
        ("980 µJ–1.1 mJ", "1.2–1.4 mJ", "0.9–1.1 J"),
        ("× 0.90", "× 2.00", "× 10.00"),
        ("0.73 × (0.70–0.76)", "1 ×"),
        ("−12 %", "−3.1 %", "0.0 %", "+4.0 %"),
        ("900 kB", "22.4 MB", "1 GB"),
    ],
)
def test_cells_are_sorted_by_their_numbers_and_units(
    visit: Visit, report: Path, tmp_path: Path, ascending: tuple[str, ...]
) -> None:
    rows = "".join(f"<tr><td>{cell}</td></tr>" for cell in reversed(ascending))
    table = f"<table id=own><thead><tr><th>x</th></tr></thead><tbody>{rows}</tbody></table>"
    page = tmp_path / report.name
    page.write_text(report.read_text().replace("</main>", f"{table}</main>", 1))
    visit.page.goto(page.as_uri())
    heading = visit.page.locator("#own thead th")
    heading.locator("button").click()
    if heading.get_attribute("aria-sort") != "ascending":
        heading.locator("button").click()
    assert heading.get_attribute("aria-sort") == "ascending"
    assert tuple(visit.page.locator("#own tbody td").all_inner_texts()) == ascending


def bars(visit: Visit) -> list[str]:
    """Frameworks of the first screen that are visible."""
    return visit.page.locator(f"{ANSWER} .bars tbody tr:visible th a").all_inner_texts()


def trials(visit: Visit) -> int:
    return visit.page.locator("details.trial:visible").count()


@SIZES
def test_a_filter_leaves_the_rows_that_hold_its_words_and_the_address_keeps_it(
    visit: Visit,
) -> None:
    every, of_all = bars(visit), trials(visit)
    visit.page.locator("#filter").fill("doubtful node")
    assert bars(visit) == ["node"]
    assert trials(visit) == 1
    assert "rows and trials shown" in visit.page.locator("#shown").inner_text()
    visit.page.reload()
    assert visit.page.locator("#filter").input_value() == "doubtful node"
    assert bars(visit) == ["node"]
    visit.page.locator("#show-all").click()
    assert (bars(visit), trials(visit)) == (every, of_all)
    assert "filter" not in visit.page.url
    assert visit.complaints == []


def test_a_filter_of_special_characters_is_kept_as_it_is(visit: Visit) -> None:
    visit.page.locator("#filter").fill("a&b=50 % <c>")
    assert bars(visit) == []
    visit.page.reload()
    assert visit.page.locator("#filter").input_value() == "a&b=50 % <c>"


def test_a_hidden_framework_leaves_tables_charts_and_trials(visit: Visit) -> None:
    page = visit.page
    page.locator("#finder summary").click()
    page.locator("#finder").get_by_label("go", exact=True).uncheck()
    assert "go" not in bars(visit)
    page.reload()
    assert "go" not in bars(visit)
    assert page.locator('details.trial[data-entry="go"]:visible').count() == 0
    for name, gone in (("against_latency", "go"), ("comparison", "3–4 · go")):
        chart = page.locator(f'[data-chart="{name}"]').first
        chart.scroll_into_view_if_needed()
        chart.locator("svg.marks").wait_for()
        assert gone not in chart.locator("svg text").all_inner_texts()
        assert "axum" in chart.inner_text()
    page.locator("#show-all").click()
    page.wait_for_function(
        "() => [...document.querySelectorAll('[data-chart=comparison] svg text')]"
        ".some((text) => text.textContent === '3–4 · go')"
    )
    assert "go" in bars(visit)
    assert visit.complaints == []


def test_rows_sorted_and_filtered_keep_both(visit: Visit) -> None:
    visit.page.locator("#filter").fill("sound")
    visit.page.locator(f"{ANSWER} .bars thead button", has_text="p99").click()
    assert bars(visit) == ["go", "spring virtual", "axum"]
    visit.page.reload()
    assert bars(visit) == ["go", "spring virtual", "axum"]


def test_a_link_within_the_page_keeps_filter_order_and_hidden_frameworks(visit: Visit) -> None:
    page = visit.page
    page.locator(f"{ANSWER} .bars thead button", has_text="p99").click()
    page.locator("#finder summary").click()
    page.locator("#finder").get_by_label("axum", exact=True).uncheck()
    page.locator("#filter").fill("sound")
    shown = bars(visit)
    assert shown == ["go", "spring virtual"]
    page.locator("nav[aria-label=Contents]:visible a", has_text="Trials").click()
    page.wait_for_function("() => location.hash.startsWith('#trials&')")
    assert page.locator("#filter").input_value() == "sound"
    assert bars(visit) == shown
    assert page.evaluate("scrollY") > 0
    page.reload()
    assert bars(visit) == shown
    page.go_back()
    page.wait_for_function("() => !location.hash.startsWith('#trials')")
    assert bars(visit) == shown
    assert visit.complaints == []


@pytest.mark.parametrize(
    ("hides", "remain"),
    [
        ("filter=go", ""),
        ("hide=node&hide=axum", "hide=axum"),
        ("filter=go&hide=go&hide=node", "hide=go"),
    ],
)
def test_a_link_to_what_is_hidden_shows_it_and_hides_no_other_less(
    visit: Visit, hides: str, remain: str
) -> None:
    page = visit.page
    page.evaluate(f"location.hash = '&{hides}'")
    trial = page.locator(f'[id="{NODE}"]')
    trial.wait_for(state="hidden")
    page.locator(f'#verdict ~ ul a[href="#{NODE}"]').first.click()
    trial.locator(".body").wait_for()
    assert page.evaluate("location.hash") == f"#{NODE}" + (f"&{remain}" if remain else "")


def test_the_address_keeps_the_order_of_every_table(visit: Visit) -> None:
    def ways() -> list[list[str | None]]:
        return [
            table.locator("th").evaluate_all("(all) => all.map((one) => one.ariaSort)")
            for table in (first, second)
        ]

    first = visit.page.locator(f"{ANSWER} .bars thead")
    second = visit.page.locator("#servers ~ .scroll thead")
    first.locator("button", has_text="p99").click()
    second.locator("button").nth(1).click()
    second.locator("button").nth(1).click()
    made = ways()
    assert ["descending" in made[0], "ascending" in made[1]] == [True, True]
    visit.page.reload()
    assert ways() == made
    visit.page.evaluate("location.hash = '#trials'")
    visit.page.wait_for_function("() => !document.querySelector('th[aria-sort]')")


@pytest.mark.parametrize("visit", [{"anchor": "100%"}, {"anchor": "%E0&hide=go"}], indirect=True)
def test_an_address_that_cannot_be_decoded_is_no_error(visit: Visit) -> None:
    assert visit.page.locator("#theme").inner_text() == "Colours: as the system"
    assert visit.page.locator(".answer:visible").count() == 1
    visit.page.locator("#filter").fill("axum")
    assert bars(visit) == ["axum"]
    assert visit.complaints == []


@pytest.mark.parametrize(
    "visit", [{"anchor": "&hide=go"}, {"anchor": "&hide=go&filter=axum"}], indirect=True
)
def test_what_ran_as_a_hidden_framework_is_hidden(visit: Visit) -> None:
    told = visit.page.locator("#servers ~ details[data-of]:visible").evaluate_all(
        "(all) => all.map((one) => one.dataset.of)"
    )
    rows = visit.page.locator("#servers ~ .scroll tbody tr:visible th").all_inner_texts()
    assert "go" not in told
    assert told == rows


@pytest.mark.parametrize(
    ("anchor", "shown", "free"),
    [
        ("&show=axum&show=go&hide=axum|go", ["spring virtual"], []),
        ("&hide=axum|go|spring virtual", [], []),
        ("&hide=axum", ["spring virtual", "go"], ["spring virtual", "go"]),
        ("&hide=axum|go", ["spring virtual"], []),
    ],
)
def test_where_the_laid_over_frameworks_are_hidden_others_take_their_place(
    visit: Visit, anchor: str, shown: list[str], free: list[str]
) -> None:
    page = visit.page
    where, _, names = anchor.rpartition("hide=")
    hidden = "&".join(f"hide={name}" for name in names.split("|"))
    page.evaluate("(hash) => { location.hash = hash; }", f"{where}{hidden}")
    page.wait_for_function("() => document.querySelector('#shown').textContent")
    boxes = page.locator(f"{ANSWER} .choices input:visible")
    values = "(all) => all.filter((one) => one.%s).map((one) => one.value)"
    assert boxes.evaluate_all(values % "checked") == shown
    assert boxes.evaluate_all(values % "disabled") == [one for one in shown if one not in free]
    figure = page.locator(f'{ANSWER} .chart[data-chart="density"]')
    figure.scroll_into_view_if_needed()
    page.wait_for_function(
        "(count) => document.querySelectorAll('.answer:not([hidden]) [data-chart=density]"
        " .mark-line path').length === count",
        arg=len(shown),
    )
    page.locator("#show-all").click()
    assert boxes.evaluate_all(values % "checked") == (
        ["axum", "go"] if "show" in anchor else ["axum", "spring virtual", "go"]
    )


@pytest.mark.parametrize(
    "visit", [{"anchor": "&hide=go&filter=nothing", "viewport": PHONE}], indirect=True
)
def test_that_rows_are_hidden_is_said_wherever_the_reader_is(visit: Visit) -> None:
    for anchor in ("", "trials", "ranking-2048-steady"):
        visit.page.evaluate(f"location.hash = '{anchor}&hide=go&filter=nothing'")
        box = visit.page.locator("#shown").bounding_box()
        assert 0 <= box["y"] <= PHONE["height"] - box["height"], anchor


@pytest.mark.parametrize("visit", [{"anchor": "&hide=go&filter=sound"}], indirect=True)
def test_paper_says_that_rows_are_hidden(visit: Visit) -> None:
    visit.page.emulate_media(media="print")
    assert visit.page.locator("#shown").is_visible()
    assert not visit.page.locator("#filter").is_visible()


@pytest.mark.parametrize("visit", [{"color_scheme": "dark"}, {}], indirect=True)
def test_paper_has_every_answer_on_white_within_its_width(visit: Visit) -> None:
    page = visit.page
    page.emulate_media(media="print")
    page.set_viewport_size(A4)
    assert page.locator(".answer:visible").count() == 2
    assert page.locator(".answer .bars tbody tr:visible").count() > 2
    for control in ("#theme", "#open-all", "button.copy", ".switch", "nav"):
        assert page.locator(control).locator("visible=true").count() == 0
    assert _background(visit) == _rgb(canvas.PAPER.light)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    tables = page.locator("#ranking ~ .scroll")
    assert tables.count() > 1
    assert tables.evaluate_all("(all) => all.every((one) => one.scrollWidth <= one.clientWidth)")


def test_paper_has_the_words_of_verdicts_and_the_whole_command(visit: Visit) -> None:
    page = visit.page
    page.emulate_media(media="print")
    page.set_viewport_size(A4)
    sizes = page.locator(f"{ANSWER} .bars .judged .level").evaluate_all(
        "(all) => all.map((one) => parseFloat(getComputedStyle(one).fontSize))"
    )
    assert len(sizes) > 2 and min(sizes) > 0
    page.evaluate(
        "() => { const command = document.createElement('pre'); command.className = 'command';"
        " command.textContent = 'a line\\n'.repeat(80) + 'x'.repeat(400);"
        " document.querySelector('main').append(command); }"
    )
    command = page.locator("pre.command").last
    assert command.evaluate("(one) => one.scrollHeight <= one.clientHeight")
    assert command.evaluate("(one) => one.scrollWidth <= one.clientWidth")


def test_paper_has_bars_and_the_charts_of_every_endpoint(visit: Visit) -> None:
    page = visit.page
    shown = page.locator(".answer .chart")
    assert page.locator(".answer .chart:has(svg.marks)").count() < shown.count()
    page.pdf()
    assert page.locator(".answer .chart:has(svg.marks)").count() == shown.count()
    assert page.locator("details.trial .chart svg.marks").count() == 0
    assert page.locator(".answer:visible").count() == 1
    page.emulate_media(media="print")
    kept = page.locator(".bars .bar").first.evaluate(
        "(bar) => getComputedStyle(bar).printColorAdjust"
    )
    assert kept == "exact"


def printed(page: Any) -> list[str]:
    """The text of each page of A4."""
    paper = pypdf.PdfReader(io.BytesIO(page.pdf(format="A4", prefer_css_page_size=True)))
    return [one.extract_text() for one in paper.pages]


def test_a_long_table_begins_on_the_first_page_and_has_its_headings_on_each(visit: Visit) -> None:
    visit.page.evaluate(
        "(answer) => { const body = document.querySelector(`${answer} .bars tbody`);"
        " for (let place = 0; place < 60; place += 1) {"
        "  const row = body.rows[0].cloneNode(true);"
        "  row.querySelector('th').textContent = 'ROW'; body.append(row); } }",
        ANSWER,
    )
    pages = [text for text in printed(visit.page) if "ROW" in text]
    assert len(pages) > 1
    assert "sample" in pages[0]
    assert all("CPU/request" in text for text in pages)


@pytest.mark.parametrize("visit", [{"color_scheme": "dark"}], indirect=True)
def test_a_dark_page_is_printed_in_the_colours_of_light_paper(visit: Visit) -> None:
    page = visit.page
    figure = page.locator(f'{ANSWER} .chart[data-chart="distribution"]')
    figure.scroll_into_view_if_needed()
    figure.locator("svg.marks").wait_for()
    dark, light = (
        f"() => document.querySelector('{ANSWER} [data-chart=distribution]').innerHTML"
        f".includes('{colour}')"
        for colour in (canvas.MUTED.dark, canvas.MUTED.light)
    )
    page.wait_for_function(dark)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.wait_for_function(light)
    assert "is-dark" not in figure.get_attribute("class")
    swatch = page.locator(f"{ANSWER} .swatch").first
    page.emulate_media(media="print", color_scheme="dark")
    of_light = swatch.evaluate("(one) => one.style.getPropertyValue('--light')").strip()
    assert swatch.evaluate("(one) => getComputedStyle(one).stroke") == _rgb(of_light)
    page.emulate_media(media="screen", color_scheme="dark")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.wait_for_function(dark)


def test_a_chart_of_many_rows_has_them_closer_on_paper_and_one_page(
    visit: Visit, report: Path, tmp_path: Path
) -> None:
    text = report.read_text()
    block = text.partition('id="specifications">')[2].partition("</script>")[0]
    each = json.loads(block)
    (ranking,) = (one for one in each if "3–4 · go" in json.dumps(one, ensure_ascii=False))
    ranking["height"] = 2400
    high = json.dumps(each).replace("<", "\\u003c")
    (tmp_path / report.name).write_text(text.replace(block, high))
    page = visit.page
    page.goto((tmp_path / report.name).as_uri())
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    picture = page.locator("#ranking ~ figure .chart[data-chart=comparison] svg.marks").first
    picture.wait_for()
    assert 1600 <= float(picture.get_attribute("height")) < 1800
    page.emulate_media(media="print")
    assert picture.bounding_box()["height"] < A4["height"]


def test_a_heading_without_its_chart_is_not_on_paper(visit: Visit) -> None:
    visit.page.emulate_media(media="print")
    panel = visit.page.locator('[id="at-json-steady"]')
    assert panel.locator("table.bars").is_visible()
    assert panel.locator(".pair h4").count() == 2
    assert not panel.locator(".pair h4").first.is_visible()


def test_a_name_is_not_broken_and_its_bar_has_room(visit: Visit) -> None:
    page = visit.page
    name = page.locator(f"{ANSWER} .bars tbody th a").last
    name.evaluate("(link) => { link.textContent = 'reference'; }")
    for width in (390, 700, 768, 900, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        assert name.evaluate("(link) => link.getClientRects().length") == 1, width
        track = page.locator(f"{ANSWER} .bars .track").first
        assert track.bounding_box()["width"] >= width / 10, width


def test_latencies_of_chosen_frameworks_are_laid_over_each_other(visit: Visit) -> None:
    figure = visit.page.locator(f'{ANSWER} .chart[data-chart="distribution"]')
    lines = figure.locator("svg .mark-line path")
    figure.scroll_into_view_if_needed()
    figure.locator("svg.marks").wait_for()
    assert lines.count() == 5
    visit.page.locator(f"{ANSWER} .choices label", has_text="go").click()
    visit.page.wait_for_function(
        "() => document.querySelectorAll('.answer:not([hidden]) [data-chart=distribution]"
        " .mark-line path').length === 3"
    )
    visit.page.reload()
    figure.scroll_into_view_if_needed()
    figure.locator("svg.marks").wait_for()
    assert lines.count() == 3
    outlines = visit.page.locator(f'{ANSWER} .chart[data-chart="density"] svg .mark-line path')
    assert outlines.count() == 2
    assert visit.complaints == []


@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
def test_without_a_script_every_answer_is_there_and_every_text_can_be_opened(
    browser: Any, report: Path, size: dict[str, int]
) -> None:
    context = browser.new_context(java_script_enabled=False, viewport=size)
    page = context.new_page()
    page.goto(report.as_uri())
    assert page.locator(".answer:visible").count() == 2
    assert not page.locator("#finder").is_visible()
    assert page.locator("details.trial:visible").count() == len(sample.findings().trials)
    for summary in page.locator("details > summary").all():
        if summary.is_visible():
            summary.press("Enter")
    assert page.locator("details:not([open]):visible").count() == 0
    context.close()


def test_a_chart_is_a_picture_with_a_description_before_it_is_drawn(visit: Visit) -> None:
    told = visit.page.locator('.chart[role="img"][aria-label]')
    assert told.count() == visit.page.locator(".chart").count() > 0


@pytest.mark.parametrize("visit", [{"color_scheme": "dark"}], indirect=True)
def test_page_and_charts_follow_a_dark_system(visit: Visit) -> None:
    visit.open(NODE)
    assert _background(visit) == _rgb(canvas.PAPER.dark)
    picture = visit.charts(NODE).first.inner_html()
    assert canvas.LEVEL_HIGH.light not in picture
    assert canvas.INK.dark in picture or canvas.MUTED.dark in picture


def test_the_switch_overrules_the_system_and_charts_follow(visit: Visit) -> None:
    visit.open(NODE)
    button = visit.page.locator("#theme")
    assert _background(visit) == _rgb(canvas.PAPER.light)
    button.click()
    button.click()
    assert button.inner_text() == "Colours: dark"
    assert _background(visit) == _rgb(canvas.PAPER.dark)
    visit.page.locator(f'[id="{NODE}"] .chart').first.scroll_into_view_if_needed()
    visit.page.wait_for_function(
        "([id, colour]) => document.getElementById(id).querySelector('.chart svg')"
        "?.innerHTML.includes(colour)",
        arg=[NODE, canvas.MUTED.dark],
    )


def _background(visit: Visit) -> str:
    return visit.page.evaluate("getComputedStyle(document.body).backgroundColor")


def _rgb(colour: str) -> str:
    return "rgb({}, {}, {})".format(*(int(colour[place : place + 2], 16) for place in (1, 3, 5)))


@pytest.mark.parametrize(
    "visit",
    [
        {"viewport": {"width": 390, "height": 844}, "anchor": NODE},
        {"viewport": {"width": 320, "height": 600}, "anchor": NODE},
        {"viewport": {"width": 1280, "height": 900}, "anchor": NODE},
    ],
    indirect=True,
    ids=["phone", "small-phone", "desk"],
)
def test_the_page_never_scrolls_sideways(visit: Visit) -> None:
    visit.page.locator("#open-all").click()
    for chart in visit.page.locator(f'[id="{NODE}"] .chart').all():
        chart.scroll_into_view_if_needed()
        chart.locator("svg.marks").wait_for()
    width, room = visit.page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert width <= room
    wider = visit.page.evaluate(
        "[...document.querySelectorAll('.chart svg')].filter("
        "svg => svg.getBoundingClientRect().width > svg.parentElement.clientWidth + 1).length"
    )
    assert wider == 0


def test_text_from_elsewhere_is_shown_and_does_nothing(visit: Visit) -> None:
    visit.open("trial-axum.2048.steady.1")
    visit.page.locator('[id="trial-hostile.2048.steady.1"] > summary').click()
    assert sample.HOSTILE in visit.page.locator('[id="trial-hostile.2048.steady.1"]').inner_text()
    assert visit.page.locator("main img").count() == 0
    assert visit.dialogs == []
    assert visit.requests == []


def test_a_script_that_got_into_the_page_would_not_run(visit: Visit) -> None:
    visit.page.evaluate(
        "() => { const script = document.createElement('script');"
        " script.textContent = 'window.owned = true'; document.body.append(script); }"
    )
    assert visit.page.evaluate("window.owned") is None


def test_only_what_is_in_view_is_drawn_when_everything_is_opened(visit: Visit) -> None:
    visit.page.locator("#open-all").click()
    first = '[id="trial-axum.2048.steady.1"] .chart'
    visit.page.locator(first).first.scroll_into_view_if_needed()
    visit.charts("trial-axum.2048.steady.1").first.wait_for()
    drawn = visit.page.locator(".chart svg.marks").count()
    assert drawn < visit.page.locator(".chart").count()


def test_one_trial_has_three_pages_of_paper_and_each_of_its_charts(
    browser: Any, tmp_path: Path
) -> None:
    trial = sample.sound_trial()
    compared = comparisons([ComparedTrial(trial.recording, trial.summary, is_void=False)])
    page = browser.new_page()
    page.goto(html.write(Findings("alone", "0.1.0", (trial,), compared), tmp_path).as_uri())
    pages = len(
        re.findall(rb"/Type /Page\b(?!s)", page.pdf(format="A4", prefer_css_page_size=True))
    )
    charts = page.locator("details.trial .chart")
    assert charts.count() > 3
    assert page.locator("details.trial .chart:has(svg.marks)").count() == charts.count()
    assert 1 <= pages <= 3
    assert "is-paper" not in (page.locator("html").get_attribute("class") or "")
    page.emulate_media(media="print")
    assert not page.locator("#ranking").is_visible()
    places = charts.evaluate_all("(all) => all.map((one) => one.getBoundingClientRect().left)")
    assert len({round(left) for left in places}) == 3
    page.close()


COUNTED = """
window.looked_at = 0;
const all = Element.prototype.querySelectorAll;
Element.prototype.querySelectorAll = function (selectors) {
  window.looked_at += this.getElementsByTagName("*").length;
  return all.call(this, selectors);
};
"""
"""Counts the elements below each one that the script of a page searches."""


def _looked_at(browser: Any, page: Path) -> int:
    """How many elements the script of a page looks at until it is there."""
    context = browser.new_context(offline=True)
    context.add_init_script(COUNTED)
    opened = context.new_page()
    opened.goto(page.as_uri(), timeout=120_000)
    assert opened.locator("table button.sort").count()
    looked_at: int = opened.evaluate("window.looked_at")
    context.close()
    return looked_at


def test_the_script_of_a_page_looks_at_elements_by_the_number_of_trials_not_by_its_square(
    browser: Any, report: Path, tmp_path: Path
) -> None:
    text = report.read_text(encoding="utf-8")
    start = text.index('<details class="trial"')
    end = text.index("</section>", text.rindex('<details class="trial"'))
    looked_at: list[int] = []
    for times in (4, 16):
        page = tmp_path / f"{times}.html"
        page.write_text(text[:start] + text[start:end] * times + text[end:], encoding="utf-8")
        looked_at.append(_looked_at(browser, page))
    assert 0 < looked_at[1] < 6 * looked_at[0]
