"""No verb ends with a fault of its own, whatever is typed, read or set."""

from __future__ import annotations

from unittest.mock import patch

import pytest

import anything

CASES, PARTS = 10_000, 25
"""Cases, and the tests among which they are shared out; `make fuzz` runs others."""
EACH = [0, *(pytest.param(part, marks=pytest.mark.thorough) for part in range(1, PARTS))]


@pytest.mark.timeout(600)
@pytest.mark.filterwarnings("default::ResourceWarning")
@pytest.mark.parametrize("part", EACH)
def test_nothing_at_all_is_a_fault(part: int) -> None:
    each = CASES // PARTS
    found = anything.cases(range(part * each, (part + 1) * each))
    wrong = [(case.number, case.arguments, said) for case, _, said in found if said]
    assert not wrong, wrong


def test_a_fault_would_be_seen() -> None:
    def fault(*_: object) -> None:
        raise RuntimeError("planted")

    with patch("plimsoll.tool_output.readers.reading", fault):
        found = [said for case, _, said in anything.cases(range(60)) if case.arguments]
    assert any("planted" in word for said in found for word in said)


def test_an_escape_would_be_seen() -> None:
    with patch("plimsoll.texts.line", str), patch("plimsoll.texts.lines", str):
        found = [said for _, _, said in anything.cases(range(400))]
    assert any("it printed" in word for said in found for word in said)


def test_a_line_that_shows_progress_is_no_fault_of_a_case_that_takes_long() -> None:
    """On a busy host any case does; `FORCE_COLOR` has Rich write over a line in a pipe, too."""
    with patch("plimsoll.cli.progress.UPDATE_EVERY_S", 0.001):
        ((case, outcome, wrong),) = anything.cases([6610])
    assert "FORCE_COLOR" in case.environment and "reading trials" in outcome.stderr
    assert not wrong
