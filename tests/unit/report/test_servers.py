"""The table of the servers: from the recordings of their trials, the same in every format."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import pypdf
import pytest
from rich.console import Console

import sample
from plimsoll import tables
from plimsoll.findings.findings import Findings
from plimsoll.findings.trial import TrialFindings
from plimsoll.provenance import Part
from plimsoll.recording import RecordedServer, ResponseHead
from plimsoll.report import fact_text
from plimsoll.report.contents import servers
from plimsoll.report.formats import html, markdown, paper, pdf, terminal


def trial(repetition: int, peak_rss_bytes: float, **server: Any) -> TrialFindings:
    """A trial of `go` whose server was like that."""
    return with_server(sample.server(**server), repetition, peak_rss_bytes)


def with_server(
    server: RecordedServer | None, repetition: int = 1, peak_rss_bytes: float = 2e7
) -> TrialFindings:
    data = sample.sound_trial(repetition=repetition).data
    recording = replace(data.recording, server=server)
    summary = sample.changed(data.summary, server_peak_rss_bytes=peak_rss_bytes)
    return TrialFindings(replace(data, recording=recording, summary=summary))


def findings(*trials: TrialFindings) -> Findings:
    return Findings("servers", "0.1.0", trials, tables.COMPARISONS.schema.empty_table())


def test_start_and_rest_are_medians_and_the_load_is_the_most_of_all_trials() -> None:
    found = findings(
        trial(1, 30e6, start_s=0.2, rest_rss_bytes=10_000_000, rest_pss_bytes=5_000_000),
        trial(2, 90e6, start_s=0.5, rest_rss_bytes=12_000_000, rest_pss_bytes=None),
        trial(3, 60e6, start_s=0.3, rest_rss_bytes=20_000_000, rest_pss_bytes=7_000_000),
    )
    (row,) = servers.rows(found)
    assert row.framework == "go"
    assert row.numbers[:5] == ("300 ms", "200–500 ms", "12 MB", "6 MB", "90 MB")
    assert (row.listen_queue, row.is_short) == ("4,096", False)


def test_times_of_different_units_keep_both() -> None:
    found = findings(trial(1, 1e6, start_s=0.5), trial(2, 1e6, start_s=1.25))
    assert servers.rows(found)[0].numbers[1] == "500 ms–1.25 s"


def test_a_queue_shorter_than_asked_for_is_marked() -> None:
    (row,) = servers.rows(findings(trial(1, 1e6, backlog=128, backlogs=(128,))))
    assert (row.listen_queue, row.is_short) == ("128, requested 4,096", True)


def test_queues_that_differ_among_trials_are_all_said() -> None:
    found = findings(trial(1, 1e6), trial(2, 1e6, backlogs=(4096, 4096)))
    assert servers.rows(found)[0].listen_queue == "4,096; 2 × 4,096"


def test_a_server_that_never_answered_or_was_never_seen_has_no_row() -> None:
    assert (
        servers.rows(findings(with_server(None), with_server(RecordedServer("127.0.0.1:1"), 2)))
        == []
    )


def test_a_server_that_ran_already_has_no_start() -> None:
    found = sample.server(start_s=None, backlog_required=None)
    (row,) = servers.rows(findings(with_server(found)))
    assert row.numbers[:2] == ("–", "–")
    assert row.listen_queue == "4,096"


def _terminal(found: Findings) -> str:
    file = io.StringIO()
    terminal.show(found, Console(file=file, width=80, emoji=False))
    return file.getvalue()


def _pdf(found: Findings) -> str:
    pages = pypdf.PdfReader(io.BytesIO(pdf.render(found))).pages
    return "".join(page.extract_text() for page in pages)


@pytest.mark.parametrize("write", [html.render, markdown.render, _terminal, _pdf])
def test_every_format_shows_start_memory_and_queue(write: Any) -> None:
    found = findings(
        trial(1, 30e6, start_s=0.2, backlog=128, backlogs=(128,), rest_rss_bytes=10_000_000)
    )
    text = "".join(write(found).replace("\u00a0", " ").split())
    for part in ("readyafter", "200ms", "10MB", "30MB", "128,requested4,096"):
        assert part in text


@pytest.mark.parametrize("write", [html.render, markdown.render, _terminal])
def test_without_a_server_there_is_no_table_of_servers(write: Any) -> None:
    assert "ready after" not in write(findings(with_server(None)))


def test_what_ran_is_in_the_table_and_its_parts_are_below_it() -> None:
    (row,) = servers.rows(findings(trial(1, 1e6), trial(2, 1e6)))
    ran = sample.provenance("go")
    assert row.numbers[servers.HEADINGS.index("application")] == ran.application_id
    facts = dict(row.ran)
    assert facts["Application"] == ran.application_id
    assert facts["Versions"] == "framework go 1.2"
    assert facts["Commands"] == "start exec ./<server>"
    assert facts["Measured with"] == "plimsoll 0.1.0, server cores 0"


def test_two_programs_of_one_server_are_both_in_the_table() -> None:
    other = trial(2, 1e6)
    recording = replace(other.recording, provenance=sample.provenance("changed"))
    mixed = replace(other, data=replace(other.data, recording=recording))
    (row,) = servers.rows(findings(trial(1, 1e6), mixed))
    ids = [sample.provenance(name).application_id for name in ("go", "changed")]
    assert row.numbers[-1] == ", ".join(ids)
    assert [value for name, value in row.ran if name == "Application"] == ids


def test_every_format_shows_what_ran() -> None:
    found = findings(trial(1, 1e6))
    key = sample.provenance("go").application_id
    page = html.render(found)
    assert key in page
    assert "exec ./&lt;server&gt;" in page
    assert key in markdown.render(found)
    text = "".join(
        page.extract_text() for page in pypdf.PdfReader(io.BytesIO(pdf.render(found))).pages
    )
    assert key in text
    assert "main | app.py" in text


def with_packages(count: int, *, states_version: bool = True) -> Findings:
    """A trial whose server has that many packages besides its framework."""
    found = trial(1, 1e6)
    ran = sample.provenance("go")
    own = tuple(part for part in ran.application if states_version or part.kind != "version")
    packages = tuple(Part("version", f"package-{n}", f"{n}.0") for n in range(count))
    recording = replace(found.recording, provenance=replace(ran, application=(*packages, *own)))
    return findings(replace(found, data=replace(found.data, recording=recording)))


def test_paper_has_the_framework_of_many_packages_and_pages_have_them_all() -> None:
    found = with_packages(60)
    text = "".join(_pdf(found).replace("\u00a0", " ").split())
    assert "frameworkgo1.2,and60moreintheHTMLreport" in text
    assert "package-59" not in text
    assert all(f"package-{n} {n}.0" in html.render(found) for n in range(60))
    assert all(f"package-{n} {n}.0" in markdown.render(found) for n in range(60))


def test_what_ran_of_all_servers_is_once_on_paper() -> None:
    shown = paper.paper(sample.findings(), paper.Drawings())
    measured = [fact for row in shown.servers for fact in row.ran if fact[0].startswith("Measured")]
    assert measured == []
    assert [name for name, _ in shown.ran_alike] == ["Commands", "Measured by", "Measured with"]
    assert all(("Application", row.numbers[-1]) in row.ran for row in shown.servers)


def test_what_ran_of_one_server_is_its_own_on_paper() -> None:
    shown = paper.paper(findings(trial(1, 1e6)), paper.Drawings())
    assert shown.ran_alike == []
    assert "Measured by" in dict(shown.servers[0].ran)


def test_what_a_framework_states_comes_before_its_packages() -> None:
    (row,) = servers.rows(with_packages(2))
    assert dict(row.ran)["Versions"] == "framework go 1.2, package-0 0.0, package-1 1.0"


def test_a_few_packages_are_all_on_paper() -> None:
    found = with_packages(fact_text.MOST_PARTS - 1)
    (brief,), (full,) = servers.rows(found, is_brief=True), servers.rows(found)
    assert brief == full


def test_without_a_stated_version_paper_has_the_first_packages() -> None:
    (row,) = servers.rows(
        with_packages(fact_text.MOST_PARTS + 3, states_version=False), is_brief=True
    )
    told = dict(row.ran)["Versions"]
    assert told.startswith("package-0 0.0, package-1 1.0")
    assert told.endswith("package-5 5.0, and 3 more in the HTML report")


def test_heads_and_segments_of_all_responses_are_the_least_and_the_most() -> None:
    heads = (
        ResponseHead("json", 165, {"date": 37}, 1),
        ResponseHead("2048", 616, {"date": 37, "etag": 48}, 2),
    )
    found = trial(1, 1e6)
    recording = replace(found.recording, heads=heads)
    data = replace(found.data, recording=recording)
    (row,) = servers.rows(findings(TrialFindings(data)))
    shown = dict(zip(servers.HEADINGS, row.numbers, strict=True))
    assert (shown["head"], shown["segments"]) == ("165–616 B", "1–2")
    told = dict(fact_text.of_server(recording))
    assert (
        told["Response head of 2048"]
        == "616 bytes (etag 48, date 37); 2 TCP segments with the body"
    )
