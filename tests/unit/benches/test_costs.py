"""A run that says nothing of what a request costs leaves an empty cell and a reason."""

from __future__ import annotations

from dataclasses import replace

import pytest

from workbench import costs, tools
from workbench.costs import Cost
from workbench.measuring import Measured
from workbench.processes import Ended
from workbench.tools import Said

WRK = next(tool for tool in tools.TOOLS if tool.name == "wrk")
ENDED = Ended("  100000 requests in 4.00s, 1MB read\n", "", 0, 0.8, 5 * 2**20)
MEASURED = Measured(ENDED, server_cpu_s=2.0, accepted=65, answered=100_064, others_ratio=0.1)
SAID = Said(100_000, 4.0)

TITLES = {"plimsoll": "plimsoll", "wrk": "wrk"}


def cost(tool: str, repetition: int, per_million_s: float) -> Cost:
    return Cost(
        tool=tool,
        connections=64,
        repetition=repetition,
        cpu_s=per_million_s,
        requests=1_000_000,
        duration_s=5.0,
        server_cpu_s=4.0,
        peak_rss_bytes=13 * 2**20,
    )


def test_a_run_is_read_from_both_sides() -> None:
    read = costs.read(WRK, MEASURED, connections=64, repetition=2)
    assert read.complaint == ""
    assert read.per_million_s == pytest.approx(8.0)
    assert read.requests_per_s == pytest.approx(25_000)
    assert read.server_ratio == pytest.approx(0.5)
    assert (read.tool, read.repetition, read.others_ratio) == ("wrk", 2, 0.1)


@pytest.mark.parametrize(
    ("said", "seen", "reason"),
    [
        (SAID, replace(MEASURED, accepted=60), "it opened 60 of 64 connections"),
        (replace(SAID, requests=0), MEASURED, "no request was answered"),
        (replace(SAID, failed=101), MEASURED, "101 requests failed beside 100,000"),
        (SAID, replace(MEASURED, answered=98_000), "the server answered 98,000"),
    ],
)
def test_a_run_that_says_nothing_has_a_reason(said: Said, seen: Measured, reason: str) -> None:
    assert reason in costs.complaint(said, seen, connections=64)


def test_what_was_in_flight_at_the_end_is_no_reason() -> None:
    assert costs.complaint(SAID, MEASURED, connections=64) == ""


def test_a_tool_that_failed_is_quoted() -> None:
    failed = replace(ENDED, stdout="", stderr="warming up\nToo many open files (24)\n", exit_code=1)
    read = costs.read(WRK, replace(MEASURED, client=failed), connections=64, repetition=0)
    assert read.complaint == "it exited with code 1: `Too many open files (24)`"


def test_a_tool_that_failed_is_not_believed_when_it_prints_a_summary_all_the_same() -> None:
    failed = replace(ENDED, exit_code=1)
    read = costs.read(WRK, replace(MEASURED, client=failed), connections=64, repetition=0)
    assert read.complaint.startswith("it exited with code 1")


def test_the_table_has_ratios_of_pairs_and_not_of_medians() -> None:
    runs = [(10.0, 10.0), (20.0, 5.0), (40.0, 20.0)]
    found = [
        cost(tool, repetition, number)
        for repetition, numbers in enumerate(runs)
        for tool, number in zip(("wrk", "plimsoll"), numbers, strict=True)
    ]
    lines = costs.level_table(found, 64, TITLES).splitlines()
    cells = [cell.strip() for cell in lines[2].strip("|").split("|")]
    assert cells == ["plimsoll", "10.00", "2.00 (1.00–4.00)", "200,000", "80 %", "13"]


def test_the_column_of_ratios_is_named_after_the_peer() -> None:
    titles = {"plimsoll": "plimsoll", "k6": "k6"}
    table = costs.level_table([cost("plimsoll", 0, 4.0), cost("k6", 0, 6.0)], 64, titles, "k6")
    assert "k6 ÷ it" in table.splitlines()[0]
    assert "1.50" in table.splitlines()[2]


def test_a_tool_that_takes_a_tenth_of_a_millisecond_does_ten_thousand_in_a_second() -> None:
    found = [cost("plimsoll", 0, 100.0), cost("plimsoll", 1, 200.0)]
    table = costs.per_cpu_second_table(found, 64, TITLES, "handshakes")
    assert "7,500 (5,000–10,000)" in table
    assert "wrk" not in table


def test_a_tool_that_failed_everywhere_has_empty_cells_and_a_footnote() -> None:
    broken = Cost("wrk", 64, 0, complaint="it exited with code 1")
    table = costs.level_table([cost("plimsoll", 0, 8.0), broken], 64, TITLES)
    assert [cell.strip() for cell in table.splitlines()[3].strip("|").split("|")] == [
        "wrk ¹",
        *[""] * 5,
    ]
    assert table.endswith("¹ wrk, 1 of its runs: it exited with code 1.")


def test_one_failed_run_leaves_the_others_of_the_tool_in_the_table() -> None:
    broken = Cost("wrk", 64, 1, complaint="no request was answered")
    found = [cost("wrk", 0, 9.0), broken, cost("plimsoll", 0, 6.0), cost("plimsoll", 1, 60.0)]
    lines = costs.level_table(found, 64, TITLES).splitlines()
    assert "1.50" in lines[2]
    assert "9.00" in lines[3]


def test_rows_cost_what_the_pairs_say() -> None:
    found = [
        *(cost("plimsoll", repetition, value) for repetition, value in enumerate((10.3, 5.1))),
        *(cost("no-rows", repetition, value) for repetition, value in enumerate((10.0, 5.0))),
    ]
    assert "+2.5 % (+2.0 % to +3.0 %)" in costs.recording_table(found, [64])
