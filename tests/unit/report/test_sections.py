"""Sections on drivers, connections and publications: their content, in every format."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Callable
from dataclasses import replace

import pypdf
import pytest
from rich.console import Console

import experiments
import sample
from plimsoll import wording
from plimsoll.comparison import head_of_line, protocol_costs
from plimsoll.findings.findings import Findings
from plimsoll.findings.trial import TrialFindings
from plimsoll.report import sections
from plimsoll.report.contents.section import Section
from plimsoll.report.formats import html, markdown, pdf, terminal
from plimsoll.report.results import machine_readable

Golden = Callable[[str, str], None]

FINDINGS = {
    "drivers": experiments.crossed,
    "over-connections": experiments.rising,
    "database": experiments.with_database,
    "energy": experiments.metered,
    "protocols": experiments.by_protocols,
    "head-of-line": experiments.sharing,
    "published": experiments.published,
    "compliance": experiments.gated,
}
EACH = pytest.mark.parametrize("name", FINDINGS)


def section(name: str) -> Section:
    (only,) = sections.of(FINDINGS[name]())
    return only


def printed(findings: Findings, width: int) -> str:
    out = io.StringIO()
    terminal.show(findings, Console(file=out, width=width, no_color=True))
    return out.getvalue()


def test_a_campaign_of_one_driver_and_load_without_a_publication_has_no_section() -> None:
    assert sections.of(sample.findings()) == ()


@EACH
def test_a_section_in_markdown_is_the_golden_one(name: str, golden: Golden) -> None:
    text = markdown.render(FINDINGS[name]())
    found = re.search(rf"^## {section(name).title}\n.*?(?=^## )", text, re.DOTALL | re.MULTILINE)
    assert found
    golden(f"report/{name}.md", found[0])


@EACH
def test_a_section_in_a_terminal_is_the_golden_one(name: str, golden: Golden) -> None:
    title = section(name).title.lower()
    wide, narrow = (
        re.search(rf"^{title}\n.*?(?=^servers)", printed(FINDINGS[name](), width), re.S | re.M)
        for width in (140, 80)
    )
    assert wide
    assert narrow
    lines = [line.rstrip() for line in (wide[0] + "\n" + narrow[0]).splitlines()]
    golden(f"report/{name}.txt", "\n".join(lines) + "\n")


@EACH
def test_a_page_has_the_section_with_all_its_cells_and_leads_to_it(name: str) -> None:
    page = html.render(FINDINGS[name]())
    found = section(name)
    assert f'<a href="#{name}">{found.short}</a>' in page
    body = re.search(rf'<section aria-labelledby="{name}">.*?</section>', page, re.DOTALL)
    assert body
    shown = wording.bound(re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", body[0])))
    for table in found.tables:
        for line in table.lines:
            assert all(wording.bound(cell) in shown for cell in line.cells)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in ("drivers", "compliance") else pytest.mark.thorough)
        for name in FINDINGS
    ],
)
def test_paper_has_the_section(name: str) -> None:
    pages = pypdf.PdfReader(io.BytesIO(pdf.render(FINDINGS[name]()))).pages
    text = " ".join(" ".join(page.extract_text() for page in pages).split())
    found = section(name)
    assert found.title in text
    for table in found.tables:
        assert all(line.cells[0] in text for line in table.lines)


def test_a_driver_is_told_with_its_ratio_and_the_checks_that_it_fails() -> None:
    (table,) = section("drivers").tables
    lines = {line.cells[0]: line for line in table.lines}
    assert lines["wrk"].cells[3:5] == ("× 1.01", "0.93–1.10")
    assert (lines["wrk"].state, lines["wrk"].reason) == (
        "doubtful",
        "Load generator at its limit (doubtful)",
    )
    assert (lines["ab"].state, lines["ab"].reason) == ("doubtful", "Little's law violated (void)")
    assert lines["plimsoll"].state == "sound"


def test_a_driver_that_failed_says_with_which_error() -> None:
    findings = experiments.crossed()
    broken = [
        replace(
            one,
            data=replace(one.data, summary=None, recording=experiments.failed(one.recording)),
            verdicts=(),
        )
        if one.recording.driver_name == "wrk"
        else one
        for one in findings.trials
    ]
    (only,) = sections.of(replace(findings, trials=tuple(broken)))
    (line,) = (line for line in only.tables[0].lines if line.cells[0] == "wrk")
    assert (line.state, line.reason) == ("failed", "DriverFailed")


def test_compliance_counts_results_and_names_what_differs() -> None:
    by_server, by_request = section("compliance").tables
    lines = {line.cells[0]: line.cells[1:] for line in by_server.lines}
    assert lines["node"] == ("0", "1", "1", "0", "a request byte by byte")
    assert lines["go"] == ("2", "0", "0", "0", "–")
    assert by_request.lines[1].cells[2:] == ("✓ 200, 200, 404", "✓ 200, closed, allowed", "–")
    assert by_request.lines[0].cells[3] == "▲ 400"


def test_terminals_leave_out_what_is_seen_in_each_case() -> None:
    by_server, by_request = section("compliance").tables
    shown = printed(experiments.gated(), 140)
    assert by_server.title in shown
    assert by_request.title not in shown


def test_the_json_of_a_trial_has_its_compliance() -> None:
    first, *_ = machine_readable.trials(experiments.gated())
    assert first["compliance"][0] == {
        "case": "fragmented",
        "title": "a request byte by byte",
        "source": "RFC 9112, 2.2",
        "result": "conforms",
        "seen": "200",
    }


def test_no_absolute_speed_stands_in_the_section_on_what_was_published() -> None:
    found = section("published")
    texts = [*(line.cells for table in found.tables for line in table.lines), found.caption]
    assert not re.search(r"\d/s|\d{4,}", str(texts))


def test_a_ratio_is_believed_no_further_than_what_it_is_relative_to() -> None:
    findings = experiments.published()
    doubted = replace(findings, trials=tuple(map(doubtful_go, findings.trials)))
    (only,) = sections.of(doubted)
    lines = {line.cells[0]: line for line in only.tables[0].lines}
    assert (lines["golang"].state, lines["golang"].reason) == ("doubtful", "")
    assert (lines["Axum"].state, lines["Axum"].reason) == (
        "doubtful",
        "for the baseline",
    )
    assert lines["Rails"].state is None


def doubtful_go(trial: TrialFindings) -> TrialFindings:
    if trial.recording.framework != "go":
        return trial
    verdicts = sample.verdicts_of(trial.recording.trial, littles_law="doubtful")
    return replace(trial, verdicts=verdicts)


def test_the_audit_of_what_was_published_is_told_worst_first_with_its_subject() -> None:
    found = section("published")
    assert [(one.level, one.name, one.subject) for one in found.remarks] == [
        ("void", "Below the timeout floor", "Node.js /2048"),
        ("doubtful", "Failures", "Node.js /2048"),
    ]


def test_a_publication_of_other_endpoints_says_so() -> None:
    findings = experiments.published()
    assert findings.publication is not None
    other = replace(findings, publication=replace(findings.publication, fields=(), claims=()))
    (only,) = sections.of(other)
    (sentence,) = re.findall(r"[.] The document has no figure for the endpoints.*$", only.caption)
    assert sentence == ". The document has no figure for the endpoints and loads of this campaign."
    for form in (html.render, markdown.render, pdf.render):
        assert form(other)


def void_by(load: str, trials: tuple[TrialFindings, ...]) -> tuple[TrialFindings, ...]:
    return tuple(
        replace(one, verdicts=sample.verdicts_of(one.recording.trial, responses_correct="void"))
        if one.recording.load.name == load
        else one
        for one in trials
    )


@pytest.mark.parametrize("load", ["http", "h2"])
def test_the_cost_of_a_protocol_is_void_where_either_side_is(load: str) -> None:
    trials = void_by(load, experiments.by_protocols().trials)
    made = protocol_costs.costs(experiments.repetitions(trials))
    (only,) = sections.of(replace(experiments.by_protocols(), trials=trials, protocol_costs=made))
    states = {line.cells[1].partition(":")[0]: line.state for line in only.tables[0].lines}
    expected = {"https": "void" if load == "http" else "sound", "h2": "void"}
    assert states == expected
    told_by = machine_readable.trials(
        told(replace(experiments.by_protocols(), trials=trials, protocol_costs=made))
    )
    costs = {one["load"]: one["protocol_cost"] for one in told_by}
    assert costs.pop("http") is None
    assert {name: cost["level"] for name, cost in costs.items()} == expected


@pytest.mark.parametrize("load", ["alone", "shared"])
def test_head_of_line_blocking_is_void_and_not_told_where_either_side_is_void(load: str) -> None:
    trials = void_by(load, experiments.sharing().trials)
    made = head_of_line.sharings(experiments.repetitions(trials))
    (only,) = sections.of(replace(experiments.sharing(), trials=trials, sharings=made))
    (table,) = only.tables
    assert {line.state for line in table.lines} == {"void"}
    assert table.notes == ()
    told_by = machine_readable.trials(
        told(replace(experiments.sharing(), trials=trials, sharings=made))
    )
    shared = [one["head_of_line"] for one in told_by if one["load"] == "shared"]
    assert {one["level"] for one in shared} == {"void"}


def test_a_ratio_to_a_load_generator_whose_trials_are_void_is_void() -> None:
    trials = tuple(
        replace(one, verdicts=sample.verdicts_of(one.recording.trial, littles_law="void"))
        if one.recording.driver_name == "plimsoll"
        else one
        for one in experiments.crossed().trials
    )
    (only,) = sections.of(replace(experiments.crossed(), trials=trials))
    lines = {line.cells[0]: line for line in only.tables[0].lines}
    assert {line.state for line in lines.values()} == {"void"}
    assert lines["wrk"].reason == (
        "Load generator at its limit (doubtful); plimsoll: Little's law violated (void)"
    )
    told_by = machine_readable.trials(told(replace(experiments.crossed(), trials=trials)))
    levels = {one["trial"].split(".")[3]: one["beside_other_drivers"]["level"] for one in told_by}
    assert levels == {"plimsoll": None, "wrk": "void", "ab": "void"}


@pytest.mark.parametrize(
    ("failed", "successful"),
    [(0.0, "100 %"), (0.0004, "99.96 %"), (0.00045, "99.95 %"), (0.013, "98.7 %"), (1.0, "0 %")],
)
def test_only_what_has_no_failure_is_wholly_successful(failed: float, successful: str) -> None:
    trials = tuple(experiments.held("go", level, 900.0, failed=failed) for level in (1, 10, 100))
    (only,) = sections.of(experiments.over(trials))
    assert only.tables[0].lines[0].cells[4] == successful


def test_power_that_nobody_measured_is_said_to_be_unknown() -> None:
    assert section("over-connections").tables[0].notes == ()
    trials = tuple(experiments.held("go", level, 900.0) for level in (1, 10, 100))
    (only,) = sections.of(experiments.over(trials))
    assert "Power is unknown" in only.tables[0].notes[0]
    assert {line.cells[-1] for line in only.tables[0].lines} == {"–"}


def test_json_has_the_ratio_to_the_other_driver_in_every_trial() -> None:
    found = {one["trial"]: one for one in machine_readable.trials(told(experiments.crossed()))}
    wrk = found["go.2048.steady.wrk.1"]["beside_other_drivers"]
    assert (wrk["against"], wrk["throughput_ratio"]["value"]) == (
        "plimsoll",
        pytest.approx(8150 / 8050),
    )
    assert wrk["throughput_ratio"]["low"] < 1 < wrk["throughput_ratio"]["high"]
    ours = found["go.2048.steady.plimsoll.1"]["beside_other_drivers"]
    assert ours == {"against": "plimsoll", "level": None, "throughput_ratio": None}
    assert wrk["level"] == "doubtful"
    assert found["go.2048.steady.wrk.1"]["beside_published"] == []


def test_who_delays_streams_of_a_connection_is_named() -> None:
    (table,) = section("head-of-line").tables
    assert table.title == (
        "2048, shared: 10 streams on each of 16 connections, relative to 160 with one (alone)"
    )
    (note,) = table.notes
    assert note.startswith("go: 10 streams share a connection: p99 × 1.80 (1.")
    tails = [line.cells for line in table.lines if line.cells[1] == "p99"]
    assert [cells[:5] for cells in tails] == [
        ("go", "p99", "10.1 ms", "18.2 ms", "× 1.80"),
        ("node", "p99", "10.5 ms", "10.4 ms", "× 1.00"),
    ]


def test_json_has_the_ratios_of_a_load_on_shared_connections() -> None:
    found = {one["trial"]: one for one in machine_readable.trials(told(experiments.sharing()))}
    shared = found["go.2048.shared.1"]["head_of_line"]
    assert (shared["against"], shared["connections"], shared["in_flight_each"]) == ("alone", 16, 10)
    assert shared["response_time_p99_ns_ratio"]["value"] == pytest.approx(18.2 / 10.1)
    assert shared["response_time_p99_ns_ratio"]["low"] > 1
    assert shared["level"] == "sound"
    assert found["go.2048.alone.1"]["head_of_line"] is None


def test_json_has_the_published_ratio_beside_the_measured_one() -> None:
    found = {one["trial"]: one for one in machine_readable.trials(told(experiments.published()))}
    (beside,) = found["axum.2048.steady.1"]["beside_published"]
    assert (beside["subject"], beside["baseline"]) == ("Axum", "golang")
    assert beside["published_ratio"] == {
        "value": pytest.approx(8200 / 4050),
        "low": None,
        "high": None,
    }
    assert beside["measured_ratio"]["value"] == pytest.approx(
        math.sqrt(12_400 * 12_600 / 8000 / 8100)
    )
    assert beside["measured_level"] == "sound"
    assert found["axum.2048.steady.1"]["beside_other_drivers"] is None


def told(findings: Findings) -> Findings:
    """The same with bytes that were sent, which the sample leaves open."""
    trials = tuple(
        replace(one, data=replace(one.data, summary=sample.changed(one.summary, sent_bytes=1)))
        for one in findings.trials
    )
    return replace(findings, trials=trials)
