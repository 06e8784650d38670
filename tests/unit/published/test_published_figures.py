"""The published figures in `docs/published`: what an audit must find in them, and what not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from plimsoll.campaign import framework
from plimsoll.campaign.endpoints import ENDPOINTS
from plimsoll.published import claims, document
from plimsoll.tool_output.readers import table
from plimsoll.verdicts.audit import Audit, audit
from plimsoll.verdicts.verdict import Verdict

FOLDER = Path(__file__).resolve().parents[3] / "docs" / "published"
FILES = sorted(FOLDER.glob("*.toml"))


def audited(name: str) -> Audit:
    return audit(table.read((FOLDER / f"{name}.toml").read_text(encoding="utf-8"), name))


def together(name: str, check: str) -> Verdict:
    return next(verdict for verdict in audited(name).together if verdict.check == check)


def alone(name: str, check: str) -> list[Verdict]:
    found = [verdict for one in audited(name).results for verdict in one.verdicts]
    return [verdict for verdict in found if verdict.check == check]


def unsound(name: str) -> set[tuple[str, str]]:
    """Level and check of every verdict that is not sound."""
    audit = audited(name)
    verdicts = [*audit.together, *(verdict for one in audit.results for verdict in one.verdicts)]
    return {(one.level, one.check) for one in verdicts if one.level != "sound"}


def test_80_000_streams_with_a_limit_of_2_s_cannot_end_at_8_000_per_second() -> None:
    (verdict,) = alone("juice-sucking-servers", "timeout_floor")
    assert verdict.level == "void"
    assert verdict.measured == pytest.approx(8000 / 39_200)
    assert "39,200 requests/s" in verdict.text


def test_two_servers_filled_the_link_with_long_answers_and_no_other_came_near() -> None:
    verdicts = alone("perfect-nio", "link_headroom")
    near = {one.subject: one.measured for one in verdicts if one.level != "sound"}
    assert near == {
        "Perfect-NIO /32768": pytest.approx(32027 * 32768 * 8 * 1538 / 1448 / 10e9),
        "Spring /32768": pytest.approx(30947 * 32768 * 8 * 1538 / 1448 / 10e9),
    }
    assert all(one.measured is not None for one in verdicts)
    assert max(one.measured or 0.0 for one in verdicts if one.level == "sound") < 0.63


def test_the_four_best_results_are_of_two_servers_and_one_number() -> None:
    verdict = together("perfect-nio", "common_ceiling")
    assert (verdict.level, verdict.measured) == ("doubtful", 4)
    assert "within 0.98 %" in verdict.text
    for rate in ("46,333", "46,075", "46,007", "45,878"):
        assert rate in verdict.text
    assert set(re.findall(r"\((\S+) /", verdict.text)) == {"Perfect-NIO", "Spring"}


def test_node_answers_as_often_whether_with_32_kb_or_with_nothing() -> None:
    verdict = together("perfect-nio", "payload_insensitive")
    assert (verdict.level, verdict.measured) == ("doubtful", 5)
    assert verdict.text.startswith("Node completes 22,449 to 22,855")
    assert "Kitura" not in verdict.text, "it fell from 26,877 to 185"


def test_one_number_of_spring_stands_for_two_tests() -> None:
    verdict = together("perfect-nio", "repeated_numbers")
    assert (verdict.level, verdict.measured) == ("doubtful", 1)
    assert "39,070 per second for Spring /postArgs2048 and for Spring /2048 Heavy" in (verdict.text)


def test_rates_of_wrk_agree_with_its_own_counts_and_so_do_its_times() -> None:
    for check in ("figures_consistent", "littles_law", "percentile_order"):
        assert [one.level for one in alone("vapor-kitura", check)] == ["sound"] * 4
    assert all((one.measured or 0.0) < 1e-4 for one in alone("vapor-kitura", "figures_consistent"))
    assert unsound("vapor-kitura") == set()


def test_rate_and_time_per_request_of_ab_make_its_concurrency_in_every_run() -> None:
    verdicts = alone("swiftly", "figures_consistent")
    assert len(verdicts) == 24
    assert all(one.level == "sound" and "250.0" in one.text for one in verdicts)
    assert all((one.measured or 0.0) < 5e-5 for one in verdicts)


def test_a_transfer_rate_of_ab_does_not_fit_the_requests_of_its_run() -> None:
    verdict = together("swiftly", "response_lengths")
    assert verdict.level == "doubtful"
    assert verdict.text.startswith("Swiftly run 2: ")
    assert "1,422.36 KiB/s was printed" in verdict.text
    assert verdict.text.count("was printed") == 1


def test_go_on_one_core_is_as_fast_as_on_six_so_ab_was_the_limit() -> None:
    verdict = together("swiftly", "common_ceiling")
    assert (verdict.level, verdict.measured) == ("doubtful", 3)
    assert "(golang on one core)" in verdict.text


def test_nothing_else_is_held_against_these_documents() -> None:
    assert unsound("juice-sucking-servers") == {
        ("void", "timeout_floor"),
        ("doubtful", "failures_counted"),
    }
    assert unsound("perfect-nio") == {
        ("doubtful", "link_headroom"),
        ("doubtful", "common_ceiling"),
        ("doubtful", "payload_insensitive"),
        ("doubtful", "repeated_numbers"),
    }
    assert unsound("swiftly") == {("doubtful", "common_ceiling"), ("doubtful", "response_lengths")}


def test_a_claim_stands_beside_what_the_same_document_measured() -> None:
    text = (FOLDER / "perfect-nio.toml").read_text(encoding="utf-8")
    figures = table.read(text, "perfect-nio.toml")
    three_times, _ = claims.read(text, "perfect-nio.toml")
    found = claims.figures_of(three_times, figures)
    assert len(found) == 9
    assert max(found, key=found.__getitem__) == "/2048"
    assert found["/2048"] == pytest.approx(46333 / 15579)
    assert min(found, key=found.__getitem__) == "/json"
    assert found["/json"] < 1


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_result_says_where_it_stands_and_with_what_it_was_measured(file: Path) -> None:
    for one in table.read(file.read_text(encoding="utf-8"), file.name):
        assert one.source.name
        assert one.source.place
        assert one.tool
        assert one.subject
        assert one.throughput_per_s


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_claim_that_compares_has_figures_or_servers_here_to_be_compared_with(
    file: Path,
) -> None:
    read = document.read(file.read_text(encoding="utf-8"), file.name)
    for claim in read.claims:
        if claim.compare or claim.subject:
            here = [read.here.everywhere(subject) for subject in claim.compare]
            assert claims.figures_of(claim, read.figures) or all([*here, here]), claim.says


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_what_stands_here_for_what_was_published_is_a_framework_and_an_endpoint(file: Path) -> None:
    read = document.read(file.read_text(encoding="utf-8"), file.name)
    ours = {
        one.reference
        for folder in framework.find(FOLDER.parents[1] / "frameworks")
        for one in framework.read(folder)
    }
    assert read.here.subjects
    assert {one.name for one in read.here.subjects.values()} <= ours
    assert read.here.baseline in {"", *ours}
    places = [read.here.place(one.subject, one.endpoint) for one in read.figures]
    endpoints = {place.endpoint for place in places if place is not None}
    assert endpoints
    assert endpoints <= {endpoint.name for endpoint in ENDPOINTS}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_subject_that_stands_here_is_one_of_the_document(file: Path) -> None:
    read = document.read(file.read_text(encoding="utf-8"), file.name)
    named = {one.subject for one in read.figures}
    named |= {subject for claim in read.claims for subject in claim.compare}
    assert set(read.here.subjects) <= named
