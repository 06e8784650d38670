"""What a verdict is called."""

from __future__ import annotations

import pytest

import sample
from plimsoll.findings import titles
from plimsoll.verdicts.verdict import Level


@pytest.mark.parametrize(
    ("level", "measured", "title"),
    [
        ("sound", 0.0, "Backlog"),
        ("not_checked", None, "Backlog"),
        ("doubtful", 3.0, "Listen queue too short"),
        ("doubtful", None, "Backlog: unknown"),
        ("void", 3.0, "Listen queue too short"),
        ("void", None, "Listen queue too short"),
    ],
)
def test_what_could_not_be_measured_is_no_problem_that_was_found(
    level: Level, measured: float | None, title: str
) -> None:
    assert titles.title(sample.verdict("backlog", "campaign", level, measured=measured)) == title
