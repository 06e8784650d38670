"""Formats of a report: each one of them, made of the same sample."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pypdf
import pytest
from markdown_it import MarkdownIt
from rich.console import Console

import sample
from plimsoll import tables
from plimsoll.campaign import as_run
from plimsoll.campaign.load import UnknownLoad
from plimsoll.comparison.comparisons import ComparedTrial, comparisons
from plimsoll.errors import StorageError
from plimsoll.findings import campaign_thresholds
from plimsoll.findings.findings import Findings
from plimsoll.findings.trial import TrialFindings
from plimsoll.plan import ComparedTable
from plimsoll.report import contents
from plimsoll.report.formats import every, html, markdown, pdf, terminal, vega
from plimsoll.report.results import machine_readable
from plimsoll.verdicts import catalogue

Golden = Callable[[str, str], None]
FORMATS = pytest.mark.parametrize("form", every.FORMATS, ids=lambda form: form.NAME)
EMPTY = Findings("empty", "0.1.0", (), tables.COMPARISONS.schema.empty_table())


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder into which the sample was written as Markdown, with all its pictures."""
    folder = tmp_path_factory.mktemp("markdown") / "new" / "report"
    assert markdown.write(sample.findings(), folder) == folder / markdown.FILE
    return folder


@pytest.fixture(scope="module")
def paper(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder into which the trials of one endpoint were written as PDF, with the campaign."""
    found = with_campaign()
    at_json = [one for one in found.trials if one.recording.endpoint == "json"]  # others add charts
    folder = tmp_path_factory.mktemp("pdf") / "new" / "report"
    assert pdf.write(replace(found, trials=tuple(at_json)), folder) == folder / pdf.FILE
    return folder


WRITTEN = {markdown.NAME: "pictures", pdf.NAME: "paper"}
"""Fixtures that write formats which take seconds, for several tests."""


@FORMATS
def test_every_format_writes_its_file_and_returns_its_path(
    form: Any, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if form.NAME in WRITTEN:
        folder = request.getfixturevalue(WRITTEN[form.NAME])
    else:
        folder = tmp_path / "new" / "report"
        assert form.write(sample.findings(), folder) == folder / form.FILE
    assert (folder / form.FILE).stat().st_size > 1000


@FORMATS
def test_a_campaign_without_trials_can_be_reported(form: Any, tmp_path: Path) -> None:
    assert form.write(EMPTY, tmp_path).exists()


@FORMATS
def test_a_folder_that_cannot_be_made_is_an_error_of_storage(form: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError):
        form.write(EMPTY, tmp_path / "file" / "report")


# --- what is said of the campaign ---


def with_campaign() -> Findings:
    """The sample with a doubtful and a sound verdict on the campaign, and a void one on a block."""
    verdicts = (
        sample.verdict("conservation", "campaign", "sound", "All of it agrees."),
        sample.verdict("littles_law", "block 2", "void", "The machine was slower."),
        sample.verdict("backlog", "campaign", "doubtful", "Three stop at one number."),
    )
    return replace(sample.findings(), verdicts=verdicts)


SENTENCES = ("The machine was slower", "Three stop at one number", "All of it agrees")


def places(text: str, ranking: str) -> list[int]:
    """Where each sentence on the campaign, and the ranking behind them, stand in a text."""
    found = [text.find(part) for part in (*SENTENCES, ranking)]
    assert -1 not in found, text
    return found


def in_terminal(found: Findings, width: int = 200) -> list[str]:
    out = io.StringIO()
    terminal.show(found, Console(file=out, width=width, no_color=True))
    return out.getvalue().splitlines()


@pytest.mark.parametrize("width", [80, 200])
def test_a_terminal_says_the_answer_first_and_then_how_far_to_believe_it(width: int) -> None:
    lines = in_terminal(with_campaign(), width)
    assert lines[0] == "Fastest at 2048"
    assert lines[1].startswith("axum and spring virtual are not significantly different")
    trust = lines.index("can these numbers be trusted?")
    assert max(place for place, one in enumerate(lines) if "10,100/s" in one) < trust
    verdicts = [
        lines.index(one)
        for one in (
            "✕ void Little's law violated, block 2: The machine was slower.",
            "▲ doubtful Listen queue too short: Three stop at one number.",
            f"✓ sound the campaign as a whole: {catalogue.title('conservation', 'sound')}",
        )
    ]
    assert verdicts == sorted(verdicts)
    assert all(lines[place - 1] == "" for place in verdicts)


def test_verdicts_in_a_terminal_have_a_hanging_indent() -> None:
    said = "the servers differ more than their repetitions, " * 4
    doubt = sample.verdict("backlog", "campaign", "doubtful", f"{said}at last.")
    lines = in_terminal(replace(sample.findings(), verdicts=(doubt,)), 80)
    (first,) = (place for place, one in enumerate(lines) if one.startswith("▲ doubtful Listen"))
    item = lines[first : lines.index("", first)]
    assert len(item) > 2
    assert all(one.startswith("  ") for one in item[1:])
    assert "at last." in " ".join(item)


def test_every_format_tells_doubts_about_the_comparison_from_those_about_trials() -> None:
    found = with_campaign()
    marks = "✕ Little's law violated; ▲ Listen queue too short"
    assert f"Comparison: {marks}" in in_terminal(found)
    trials, apart, rest = markdown.render(found).partition("\n\nComparison: ")
    assert apart
    assert " of 8 trials" in trials.splitlines()[-1]
    assert "Listen queue too short" in rest.splitlines()[0]
    assert "Listen queue too short" not in trials
    page = html.render(found)
    label = page.index("<span>Comparison:</span>")
    assert page.index("Load generator at its limit") < label < page.index("Listen queue too short")
    assert "Comparison:" not in "\n".join(in_terminal(sample.findings()))


def test_markdown_says_it_above_the_rankings() -> None:
    found = places(markdown.render(with_campaign()), "## Ranking")
    assert found == sorted(found)


def test_a_page_says_it_below_the_answer_and_marks_what_doubts_in_it() -> None:
    answer, heading, rest = html.render(with_campaign()).partition('<h3 id="campaign">')
    assert heading
    found = places(rest, '<h2 id="ranking">')
    assert found == sorted(found)
    assert "Three stop at one number" in answer
    assert "All of it agrees" not in answer
    assert '<h3 id="campaign">' not in html.render(sample.findings())


def test_paper_says_it_before_the_rankings(paper: Path) -> None:
    pages = pypdf.PdfReader(paper / pdf.FILE).pages
    text = " ".join(page.extract_text() for page in pages)
    found = places(text, "axum · json")
    assert found == sorted(found)


def test_json_has_it_in_every_trial_of_the_campaign() -> None:
    findings = with_campaign()
    data = findings.trials[0].data
    trial = replace(
        findings.trials[0], data=replace(data, summary=sample.changed(data.summary, sent_bytes=1))
    )
    found = machine_readable.trial(trial, findings.verdicts)
    assert [one["sentences"][0]["text"] for one in found["campaign_verdicts"]] == [
        one.text for one in findings.verdicts
    ]


def test_json_has_the_tables_that_a_doubt_is_about() -> None:
    findings = with_campaign()
    (sentence,) = findings.verdicts[0].sentences
    concerned = (ComparedTable("json", "steady", "plimsoll"),)
    said = replace(findings.verdicts[0], sentences=(replace(sentence, tables=concerned),))
    found = machine_readable.trial(findings.trials[0], (said, *findings.verdicts[1:]))
    about, *others = found["campaign_verdicts"]
    assert about["tables"] == [{"endpoint": "json", "load": "steady", "driver": "plimsoll"}]
    assert about["sentences"][0]["tables"] == about["tables"]
    assert [one["tables"] for one in others] == [[] for _ in others]


# --- the campaign as run ---


AS_RUN = {"name": "quick</pre></details>", "loads": [{"name": "`steady`", "connections": 64}]}


def test_markdown_shows_the_campaign_as_run_folded_and_as_code() -> None:
    text = markdown.render(replace(sample.findings(), as_run=as_run.read(AS_RUN)))
    folded = text.partition("<summary>Campaign as run</summary>")[2].partition("\n</details>")[0]
    code = [line.removeprefix("    ") for line in folded.splitlines() if line]
    assert json.loads("\n".join(code)) == AS_RUN
    assert all(line.startswith("    ") for line in folded.splitlines() if line)


def test_a_page_shows_the_campaign_as_run_and_keeps_its_text_in_it() -> None:
    text = html.render(replace(sample.findings(), as_run=as_run.read(AS_RUN)))
    shown = text.partition('id="as-run"')[2].partition("<pre")[2].partition("</pre>")[0]
    assert json.loads(unescape(shown.partition(">")[2])) == AS_RUN


SET = {
    "name": "quick",
    "repetitions": 7,
    "endpoints": ["json"],
    "loads": [{"timeout_s": 5.0}],
    "settings": {
        "typed": ["repetitions=7", "endpoints=json", "load.steady.timeout=5s"],
        "changed": [
            {"path": ["repetitions"], "before": 5},
            {"path": ["endpoints"], "before": ["json", "2048"]},
            {"path": ["loads", 0, "timeout_s"], "before": 10.0},
        ],
    },
}


@pytest.mark.parametrize("render", [markdown.render, lambda found: unescape(html.render(found))])
def test_what_settings_changed_is_marked_with_what_it_was_before(
    render: Callable[[Findings], str],
) -> None:
    text = render(replace(sample.findings(), as_run=as_run.read(SET)))
    assert '"repetitions": 7,  // --set; before: 5\n' in text
    assert '"endpoints": ["json"],  // --set; before: ["json", "2048"]\n' in text
    assert '"timeout_s": 5.0  // --set; before: 10.0\n' in text
    assert '"name": "quick",\n' in text
    assert "--set repetitions=7; --set endpoints=json; --set load.steady.timeout=5s" in text


def test_a_campaign_with_settings_is_stored_and_read_as_without() -> None:
    stored, plain = as_run.read(SET), {key: SET[key] for key in SET if key != "settings"}
    assert stored is not None
    assert stored.document == plain
    again = as_run.with_settings(stored.document, stored.settings, stored.set_values)
    assert as_run.read(json.loads(json.dumps(again))) == stored


@pytest.mark.parametrize("render", [markdown.render, html.render])
def test_what_had_no_campaign_file_shows_none(render: Callable[[Findings], str]) -> None:
    assert "Campaign as run" not in render(sample.findings())


# --- markdown and terminal ---


def test_markdown_is_the_golden_text(golden: Golden) -> None:
    golden("report/report.md", markdown.render(sample.findings()))


def test_markdown_begins_with_the_answer_and_folds_the_rest() -> None:
    text = markdown.render(sample.findings())
    shown = re.sub(r"<details>.*?</details>", "", text, flags=re.S)
    assert len(shown.splitlines()) <= 120
    lines = [line for line in text.splitlines() if line]
    assert lines[3] == "## Fastest at 2048"
    assert lines[4].startswith("**axum and spring virtual are not significantly different")
    assert "axum is 1.55 × go (95 %: 1.40–1.72)" in lines[4]
    assert lines[5].startswith("✓ 5 sound · ▲ 1 doubtful · ✕ 1 void · ■ 1 failed of 8 trials (")


def test_markdown_of_many_rankings_folds_those_that_no_line_is_left_for() -> None:
    endpoints = [f"e{number}" for number in range(30)]
    trials = tuple(sample.sound_trial(endpoint=endpoint) for endpoint in endpoints)
    text = markdown.render(replace(EMPTY, trials=trials))
    shown, _, rest = text.partition("<details><summary>Further rankings</summary>")
    assert len(shown.splitlines()) <= markdown.MOST_LINES + 10
    assert all(f"Measured at {endpoint}" in text for endpoint in endpoints)
    assert "Measured at e9" in rest


def test_every_picture_that_markdown_names_is_written(pictures: Path) -> None:
    named = re.findall(r"!\[[^]]*\]\(([^)]+)\)", (pictures / markdown.FILE).read_text())
    assert len(named) == 2 + 2 + 9 * 7
    assert all((pictures / name).read_text().startswith("<svg") for name in named)


def test_text_from_elsewhere_cannot_act_in_markdown() -> None:
    text = markdown.render(sample.findings())
    reader = MarkdownIt("commonmark", {"html": True}).enable("table")
    assert "<script" not in reader.render(text)
    assert "onerror" not in " ".join(re.findall(r"<[^>]*>", reader.render(text)))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a | b", r"a \| b"),
        ("`a | b` failed", r"`a \| b` failed"),
        ("[x](javascript:y)", r"\[x\](javascript:y)"),
        ("one ` alone", r"one \` alone"),
        ("<b>", "&lt;b&gt;"),
        ("*bold*\n# head", r"\*bold\* \# head"),
    ],
)
def test_markdown_says_a_text_and_nothing_else(text: str, said: str) -> None:
    assert markdown.literal(text) == said


def test_the_terminal_shows_the_golden_text(golden: Golden, tmp_path: Path) -> None:
    golden("report/report.txt", terminal.write(sample.findings(), tmp_path).read_text())


@pytest.mark.parametrize("width", [60, 80, 200])
def test_a_terminal_of_any_width_shows_ranks_numbers_and_verdicts(width: int) -> None:
    file = io.StringIO()
    terminal.show(sample.findings(), Console(file=file, width=width, emoji=False))
    shown = file.getvalue()
    assert "\x1b" not in shown
    assert max(len(line) for line in shown.splitlines()) <= width
    for part in ("1–2", "12,500/s", "▲ doubtful", "✕ void", "■ failed", "9,500/s"):
        assert part in shown


def test_signs_in_a_message_cannot_steer_the_terminal() -> None:
    trial = sample.failed_trial()
    ending = replace(trial.recording.ending, message="\x1b]0;owned\x07 gone")
    data = replace(trial.data, recording=replace(trial.recording, ending=ending))
    file = io.StringIO()
    findings = replace(EMPTY, trials=(replace(trial, data=data),))
    terminal.show(findings, Console(file=file, width=80))
    assert "\x1b" not in file.getvalue()
    assert "\x07" not in file.getvalue()


@pytest.mark.parametrize("url", ["/users?filter[name]=a", "/tags/[/b]"])
def test_square_brackets_in_a_url_are_no_markup(url: str) -> None:
    trial = sample.sound_trial(framework=f"host{url}", endpoint=url)
    compared = comparisons([ComparedTrial(trial.recording, trial.summary, is_void=False)])
    judged = campaign_thresholds.judged(campaign_thresholds.read(["p99>1ms"]), (trial,))
    found = Findings("x", "1", (trial,), compared, thresholds=judged)
    rows = [line for line in in_terminal(found) if "sound by" in line or "p99>1ms" in line]
    assert len(rows) == 2
    assert all(f"host{url}" in row for row in rows)


# --- html ---


class Addresses(HTMLParser):
    """The elements of a page, and every address in it."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: set[str] = set()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("href", "src")]


@pytest.fixture(scope="module")
def page() -> str:
    return html.render(sample.findings())


def test_the_page_names_nothing_that_could_be_fetched(page: str) -> None:
    found = Addresses()
    found.feed(page)
    assert found.elements.isdisjoint({"link", "iframe", "img", "object", "embed", "base"})
    assert all(address.startswith("#") for address in found.addresses)
    assert not re.findall(r"@import|url\(", page.replace(vega.library(), ""))


def test_the_policy_allows_the_two_scripts_of_the_page_and_no_other(page: str) -> None:
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)
    assert policy is not None
    assert policy[1].startswith("default-src &#39;none&#39;; script-src &#39;sha256-")
    assert policy[1].count("sha256-") == 2
    assert "unsafe-eval" not in policy[1]


def test_text_from_elsewhere_is_escaped_everywhere(page: str) -> None:
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page
    assert "\\u003cscript>alert" in page


def test_charts_that_share_a_specification_keep_it_once(page: str) -> None:
    found = re.search(r'id="specifications">(.*?)</script>', page, re.S)
    assert found is not None
    assert found[1].count('"$schema"') <= 17


def test_every_link_within_the_page_has_its_target(page: str) -> None:
    targets = set(re.findall(r'\bid="([^"]+)"', page))
    links = set(re.findall(r'href="#([^"]+)"', page))
    assert links <= targets


def test_anchors_are_unique(page: str) -> None:
    ids = re.findall(
        r'\bid="([^"]+)"', page.split('<script type="application/json"', maxsplit=1)[0]
    )
    assert len(ids) == len(set(ids))


def test_what_stands_in_backticks_is_code_and_still_escaped() -> None:
    assert html.ticked("`<b>` & more") == "<code>&lt;b&gt;</code> &amp; more"


def test_changed_limits_missing_trials_and_notes_are_said(page: str) -> None:
    assert "driver_headroom.doubtful = 0.8" in page
    assert "1 trial of the plan is missing" in page
    assert "gthread has 2 threads a core" in page


def imported() -> Findings:
    """A trial of another tool: a check of it doubts, one was not made, and one does not apply."""
    trial = sample.doubtful_trial()
    unknown = tuple(
        replace(one, check=check, level="not_checked", measured=None)
        for one, check in zip(trial.verdicts, ("backlog", "scaling"), strict=False)
    )
    unmade, other = unknown
    nothing = tuple(replace(one, applies=False) for one in other.sentences)
    unknown = (unmade, replace(other, sentences=nothing))
    load = UnknownLoad("imported")
    foreign = replace(
        trial,
        data=replace(trial.data, recording=replace(trial.recording, load=load)),
        verdicts=(*trial.verdicts, *unknown),
    )
    every = sample.findings()
    others = (one for one in every.trials if one.recording.trial != trial.recording.trial)
    return replace(every, trials=(foreign, *others))


def test_what_could_not_be_checked_has_its_reason_and_what_does_not_apply_its_name_alone() -> None:
    found = next(one for one in contents.trials(imported()) if one.not_checked)
    (unmade,) = found.not_checked
    assert unmade.name == "Backlog"
    assert found.inapplicable_names == "Scaling"
    assert not {one.name for one in found.not_checked} & {one.name for one in found.doubts}
    assert found.doubts
    page, text = html.render(imported()), markdown.render(imported())
    assert "1 not checked:</p>" in page
    assert "1 do not apply: Scaling</summary>" in page
    assert f"○ not checked: {unmade.reason}" in text
    assert "do not apply: Scaling" in text
    assert unmade.sentences[0].clause in unmade.reason


def alone(trial: TrialFindings) -> Findings:
    """A load of one target."""
    compared = comparisons([ComparedTrial(trial.recording, trial.summary, trial.level == "void")])
    return Findings("alone", "0.1.0", (trial,), compared)


def test_a_load_of_one_target_has_no_ranks_and_no_ratios(tmp_path: Path) -> None:
    found = alone(sample.sound_trial())
    file = io.StringIO()
    terminal.show(found, Console(file=file, width=100, emoji=False))
    texts = (html.render(found), markdown.render(found), file.getvalue())
    for text in texts:
        assert "target" in text
        assert "vs. the best" not in text
    assert "| target | goodput, responses/s |" in texts[1]
    assert "rank " not in texts[2]
    assert "vs. the best" in markdown.render(sample.findings())
    assert pdf.write(found, tmp_path).stat().st_size > 1000


def test_a_void_load_shows_the_latencies_that_its_charts_draw() -> None:
    found = alone(sample.void_trial())
    (row,) = next(iter(contents.rankings(found))).rows
    assert row.state == "void"
    assert row.others[:2] == [("p50", "105 ms"), ("p99", "474 ms")]
