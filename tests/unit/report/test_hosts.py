"""The section on load generators by host: which machines these were."""

from __future__ import annotations

import io
import re
from dataclasses import replace

import pytest
from rich.console import Console

import sample
from plimsoll.recording import HostClock, HostDriver, NetworkLink
from plimsoll.report import host_lines
from plimsoll.report.contents.section import Section
from plimsoll.report.load import screen
from plimsoll.report.sections import hosts
from plimsoll.tool_output.reported import ReportedStatistics, Source
from plimsoll.wording import ABSENT

MACHINES = {
    "server": sample.MACHINE,
    "one": {**sample.MACHINE, "kernel": "6.1.1"},
    "two": {**sample.MACHINE, "kernel": "6.1.2"},
}


def fingerprint(machines: dict[str, dict[str, object]]) -> str:
    """The fingerprint that the section shows of a trial that two hosts generated."""
    findings = sample.findings()
    trial = findings.trials[0]
    clock = HostClock(0, 0.0, 100_000, 50_000)
    driver = trial.recording.driver
    drivers = tuple(HostDriver(name, 0.5, clock, 0, 0, driver) for name in ("one", "two"))
    recording = replace(trial.recording, hosts=drivers, machines=machines)
    changed = replace(trial, data=replace(trial.data, recording=recording))
    section = hosts.section(replace(findings, trials=(changed,)))
    assert section is not None
    (found,) = re.findall(r"Fingerprint of these machines: `(\w+)`", " ".join(notes(section)))
    return found


@pytest.mark.parametrize("verbose", [False, True])
def test_the_table_of_hosts_fits_into_a_terminal_and_links_are_shown_on_request(
    *, verbose: bool
) -> None:
    trial = sample.findings().trials[0]
    assert trial.recording.driver is not None
    driver = replace(trial.recording.driver, ended_by="request_limit", opened=5000)
    link = NetworkLink("enp65s0f0np0", 10**10, 1500, rtt_s=0.000123, hops=2)
    clock = HostClock(0, 0.0, 100_000, 50_000)
    drivers = tuple(
        HostDriver(name, 0.5, clock, 9_870_000, 0, driver, link=link) for name in ("one", "two")
    )
    recording = replace(trial.recording, hosts=drivers)
    shown_to = io.StringIO()
    out = Console(width=80, file=shown_to, highlight=False)
    screen.show_figures(
        replace(trial, data=replace(trial.data, recording=recording)), out, verbose=verbose
    )
    shown = shown_to.getvalue().splitlines()
    (one,) = (row for row in shown if row.startswith("one "))
    assert "request limit" in one
    assert any("enp65s0f0np0" in row for row in shown) == verbose


def test_square_brackets_in_the_name_of_a_host_are_no_markup() -> None:
    trial = sample.findings().trials[0]
    clock = HostClock(0, 0.0, 100_000, 50_000)
    drivers = tuple(
        HostDriver(name, 0.5, clock, 0, 0, trial.recording.driver) for name in ("[one]", "[/two]")
    )
    recording = replace(trial.recording, hosts=drivers)
    shown_to = io.StringIO()
    found = replace(trial, data=replace(trial.data, recording=recording))
    screen.show_figures(found, Console(width=80, file=shown_to, highlight=False))
    heads = [row.split()[:1] for row in shown_to.getvalue().splitlines()]
    assert ["[one]"] in heads
    assert ["[/two]"] in heads


def test_what_a_tool_does_not_count_is_absent_and_what_it_prints_is_shown() -> None:
    trial = sample.findings().trials[0]
    assert trial.recording.driver is not None
    figures = ReportedStatistics(Source("h2load.txt"), requests=2345.0, counting="responses")
    silent = replace(trial.recording.driver, sent=None, outcomes={}, opened=None)
    drivers = (replace(silent, figures=figures), replace(silent, sent=77), silent)
    clock = HostClock(0, 0.0, 100_000, 50_000)
    recorded = tuple(HostDriver("one", 0.5, clock, 0, 0, driver) for driver in drivers)
    shown = host_lines.lines(replace(trial.recording, hosts=recorded))
    requests, connections = map(host_lines.HEADINGS.index, ("requests", "connections"))
    assert [cells[requests] for cells in shown] == ["2,345", "77", ABSENT]
    assert {cells[connections].split()[0] for cells in shown} == {ABSENT}


def notes(section: Section) -> tuple[str, ...]:
    (table,) = section.tables
    return table.notes


def test_machines_have_one_fingerprint_whatever_their_order() -> None:
    turned = dict(reversed(MACHINES.items()))
    assert fingerprint(MACHINES) == fingerprint(turned)


def test_the_fingerprint_is_another_one_if_one_machine_is() -> None:
    """A new kernel, a machine less, and two machines that change places are another set."""
    changed = {**MACHINES, "two": {**MACHINES["two"], "kernel": "6.2.0"}}
    fewer = {name: MACHINES[name] for name in ("server", "one")}
    swapped = {**MACHINES, "one": MACHINES["two"], "two": MACHINES["one"]}
    sets = (MACHINES, changed, fewer, swapped)
    assert len({fingerprint(one) for one in sets}) == len(sets)


def test_what_numbers_do_not_depend_on_is_in_no_fingerprint() -> None:
    renamed = {**MACHINES, "two": {**MACHINES["two"], "distribution": "Another Linux"}}
    assert fingerprint(renamed) == fingerprint(MACHINES)
