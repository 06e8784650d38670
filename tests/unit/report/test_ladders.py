"""The section on ladders: the cost of a request, in every format."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import ladders as made
import sample
from ladders import Costs
from plimsoll import charts
from plimsoll.findings.findings import Findings
from plimsoll.report import sections
from plimsoll.report.contents.section import Section
from plimsoll.report.formats import html, markdown, pictures
from plimsoll.report.results import machine_readable
from plimsoll.report.sections import ladder
from plimsoll.storage.parquet import ParquetResults


@pytest.fixture
def findings(tmp_path: Path) -> Findings:
    results = ParquetResults(tmp_path / "results")
    servers = {
        "go": Costs(per_request_s=100e-6, joules=0.004),
        "node": Costs(per_request_s=250e-6, standing=0.01, most_per_s=700.0),
    }
    return made.findings(results, servers)


def section(findings: Findings) -> Section:
    found = ladder.section(findings)
    assert found is not None
    return found


def cells(found: Section, table: int, line: int) -> dict[str, str]:
    one = found.tables[table]
    return dict(zip(one.headings, one.lines[line].cells, strict=True))


def test_what_a_request_adds_stands_beside_what_it_costs_to_stand_there(findings: Findings) -> None:
    found = section(findings)
    added, standing = cells(found, 0, 0), cells(found, 1, 0)
    assert (added["framework"], added["rank"], added["steps"]) == ("go", "1", "8 of 8")
    assert float(added["CPU s per million requests"]) == pytest.approx(101, abs=1)
    assert float(added["user"]) == pytest.approx(2 * float(added["system"]), rel=0.02)
    assert added["context switches/request"] == "2 → 2"
    assert standing["cores at rate 0"] == "0.020" and standing["cores before"] == "0.020"
    assert standing["memory before"] == "25 MB" and standing["at the highest rate"] == "50 MB"
    power = cells(found, 2, 0)
    assert power["energy per request"] == "4 mJ" and power["power at rate 0"] == "30 W"
    assert cells(found, 2, 1)["energy per request"] == "–"


@pytest.mark.parametrize(
    ("until_per_s", "said"),
    [
        (0.0, "Power is that of the host by RAPL."),
        (500.0, "by RAPL: that at the wall is unknown at some steps of the campaign."),
        (1e6, "measured at the wall."),
    ],
)
def test_the_source_of_power_is_named(until_per_s: float, said: str, tmp_path: Path) -> None:
    costs = Costs(joules=0.004, wall_until_per_s=until_per_s)
    found = made.findings(ParquetResults(tmp_path / "results"), {"go": costs})
    (note,) = section(found).tables[2].notes
    assert note.endswith(said)
    assert machine_readable.trials(found)[0]["ladder"]["power_source"]


def test_system_calls_have_a_column_where_they_were_counted(findings: Findings) -> None:
    assert "system calls/request" not in section(findings).tables[0].headings
    first, *others = findings.ladders
    steps = tuple(
        replace(one, cost=replace(one.cost, system_calls_per_request=2.0 + place))
        for place, one in enumerate(first.steps)
        if one.cost is not None
    )
    counted = section(replace(findings, ladders=(replace(first, steps=steps), *others)))
    assert cells(counted, 0, 0)["system calls/request"] == "2.5 → 8.5"
    assert cells(counted, 0, 1)["system calls/request"] == "–"
    assert cells(counted, 0, 0)["steps"] == "8 of 8"


def test_the_headline_has_the_cheapest_beside_the_next(findings: Findings) -> None:
    (said,) = section(findings).headlines
    assert said.startswith("A request at 2048 costs go 101 µs of CPU (95 %: ")
    node = said.rpartition("; ")[2]
    # It is 252.5: how a processor adds decides how that is rounded.
    assert node in ("node 252 µs", "node 253 µs")


def test_every_negative_number_has_the_same_sign(findings: Findings) -> None:
    first, *others = findings.ladders
    assert first.user is not None and first.cores is not None
    slope = replace(first.user.slope, value=-10e-6)
    start = replace(first.cores.intercept, value=-0.02)
    below = replace(
        first,
        user=replace(first.user, slope=slope),
        cores=replace(first.cores, intercept=start),
    )
    found = section(replace(findings, ladders=(below, *others)))
    assert cells(found, 0, 0)["user"] == "−10"
    assert cells(found, 1, 0)["cores at rate 0"] == "−0.020"


def test_steps_that_are_left_out_are_named(findings: Findings) -> None:
    (note,) = section(findings).tables[0].notes
    assert note.startswith("node: 2 of 2 steps at 800/s are left out: ")


def test_a_line_that_bends_is_said(findings: Findings) -> None:
    (first, *others) = findings.ladders
    assert first.cores is not None
    bent = replace(first, cores=replace(first.cores, bend=-0.3))
    notes = section(replace(findings, ladders=(bent, *others))).tables[0].notes
    assert notes[0].startswith("go: cost per request is 30 % lower at the highest rate")


def test_a_line_of_power_that_bends_is_said(findings: Findings) -> None:
    first, *others = findings.ladders
    assert first.power is not None and first.power.bend is None
    bent = replace(first, power=replace(first.power, bend=0.25))
    found = replace(findings, ladders=(bent, *others))
    _, note = section(found).tables[2].notes
    assert note.startswith("go: energy per request is 25 % lower at the lowest rate")
    in_json = {one["framework"]: one["ladder"] for one in machine_readable.trials(found)}
    assert (in_json["go"]["power_bend"], in_json["node"]["power_bend"]) == (0.25, None)


def test_a_server_without_a_line_says_why(tmp_path: Path) -> None:
    found = made.findings(ParquetResults(tmp_path / "other"), {"go": Costs(most_per_s=10.0)})
    (row,) = section(found).tables[0].lines
    assert row.state == "void" and "of the requested rate was achieved" in row.reason
    assert ladder.headline(found.ladder_rankings[0]).startswith("No cost of a request")


def test_every_format_has_the_section_and_its_charts(findings: Findings) -> None:
    named = [one.title for one in sections.of(findings)]
    assert named == ["Cost at a rate", "Latency over rate"]
    text = markdown.render(findings)
    assert text.index("Cost at a rate") < text.index("CPU s per million requests")
    assert "Cost at a rate" in html.render(findings)


def test_the_chart_has_the_steps_and_both_ends_of_each_line(findings: Findings) -> None:
    (ranking,) = findings.ladder_rankings
    drawn = charts.ladder.draw(ranking, findings.frameworks)
    steps, lines = drawn["datasets"]["steps"], drawn["datasets"]["lines"]
    assert len(steps) == 16 and sum(row["counts"] != "yes" for row in steps) == 2
    assert [row["rate"] for row in lines if row["framework"] == "node"] == [0, 600]
    assert "responses/s" in pictures.svg(drawn)


def test_each_trial_has_the_ladder_of_its_framework_as_json(findings: Findings) -> None:
    found = {one["trial"]: one["ladder"] for one in machine_readable.trials(findings)}
    peak, step, full = (
        found[f"{name}.1"] for name in ("go.2048.peak", "go.2048.step-1", "node.2048.step-4")
    )
    assert peak["cpu_s_per_request"]["value"] == pytest.approx(101e-6, rel=0.01)
    assert not peak["is_step"] and step["is_step"] and step["left_out"] is None
    assert step["cost"]["completed_per_s"] == 200.0
    assert "of the requested rate was achieved" in full["left_out"]
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert machine_readable.trials(sample.findings())[0]["ladder"] is None
    assert ladder.section(sample.findings()) is None
