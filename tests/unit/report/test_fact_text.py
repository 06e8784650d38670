"""Facts of a trial as people read them."""

from __future__ import annotations

from typing import Any

import pytest

import sample
from plimsoll.campaign.load import UnknownLoad
from plimsoll.report import fact_text


def test_of_an_import_only_what_its_files_tell_is_a_fact() -> None:
    imported = sample.recording(load=UnknownLoad("imported"), seed=0)
    assert imported.server is not None
    assert fact_text.of_server(imported) == [("Cores", str(imported.server.workers))]
    assert [name for name, _ in fact_text.of_driver(imported)] == ["Tool"]


@pytest.mark.parametrize(
    ("name", "value", "pair"),
    [
        ("memory_bytes", 16e9, ("Memory", "16 GB")),
        ("memory_bytes", None, ("Memory", "–")),
        ("cpu_model", "Example", ("Cpu model", "Example")),
        ("virtual", True, ("Virtual", "yes")),
        ("cores", [0, 1], ("Cores", "0, 1")),
        ("somaxconn", 4096, ("Somaxconn", "4,096")),
    ],
)
def test_facts_of_a_machine_are_read_by_their_names(
    name: str, value: object, pair: tuple[str, str]
) -> None:
    assert fact_text.fact(name, value) == pair


def test_a_machine_is_one_line() -> None:
    assert fact_text.machine(sample.MACHINE) == (
        "Example CPU at 2.30 GHz, 4 cores, 16 GB, Example Linux 12, kernel 6.1.0, virtual"
    )
    assert fact_text.machine({}) == "an unknown machine"


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"clean_stop": True}, "clean, in time"),
        ({"clean_stop": False, "exit_code": 3}, "exit code 3"),
        ({"clean_stop": False, "exit_code": None, "killed": 2}, "2 killed"),
    ],
)
def test_how_a_server_stopped_is_said(changes: dict[str, Any], text: str) -> None:
    facts = dict(fact_text.of_server(sample.recording(server=sample.server(**changes))))
    assert facts["Stopped"] == text


def test_a_server_that_trials_share_names_them() -> None:
    shared = sample.server(shared_by=("go.2048.steady.1", "go.json.steady.1"))
    facts = dict(fact_text.of_server(sample.recording(server=shared)))
    assert facts["Started once for"] == "go.2048.steady.1, go.json.steady.1"
    alone = fact_text.of_server(sample.recording(server=sample.server()))
    assert "Started once for" not in dict(alone)


@pytest.mark.parametrize(
    ("changes", "fact", "cell"),
    [
        ({}, "4,096 (requested 4,096, host allows 4,096)", "4,096"),
        ({"backlogs": (4096, 4096)}, "2 × 4,096 (requested 4,096, host allows 4,096)", "2 × 4,096"),
        (
            {"backlog": 128, "backlogs": (128,)},
            "128 (requested 4,096, host allows 4,096)",
            "128, requested 4,096",
        ),
        (
            {"backlogs": (4096, 128)},
            "128 and 4,096 (requested 4,096, host allows 4,096)",
            "128 and 4,096, requested 4,096",
        ),
        (
            {"backlog": 512, "backlogs": (512,), "somaxconn": 512},
            "512 (requested 4,096, host allows 512)",
            "512, requested 4,096, host allows 512",
        ),
        (
            {"backlog": 128, "backlogs": (), "backlog_required": None},
            "128 (host allows 4,096)",
            "128",
        ),
        ({"backlog": None, "backlogs": ()}, "–", "–"),
    ],
)
def test_a_backlog_is_said_with_what_was_asked_for_and_what_the_host_allows(
    changes: dict[str, Any], fact: str, cell: str
) -> None:
    server = sample.server(**changes)
    assert dict(fact_text.of_server(sample.recording(server=server)))["Listen backlog"] == fact
    assert fact_text.listen_queue(server) == cell
    assert fact_text.is_queue_short(server) == ("requested" in cell)
