"""A file of published figures, read at once."""

from __future__ import annotations

import pytest

import experiments
from plimsoll.errors import InputError
from plimsoll.published import document


def test_a_document_has_its_figures_its_claims_and_what_stands_here_for_them() -> None:
    found = document.read(experiments.PUBLISHED, "published.toml")
    assert (found.title, found.address) == (
        "Why axum is the fastest",
        "https://example.org/fastest",
    )
    assert len(found.figures) == 7
    assert [claim.ratio for claim in found.claims] == [2, None]
    assert found.here.baseline == "go"


def test_a_file_without_results_is_refused_with_a_remedy() -> None:
    with pytest.raises(InputError) as caught:
        document.read('name = "a campaign"\n', "file.toml")
    (problem,) = caught.value.problems
    assert problem.where == "file.toml"
    assert "has no `[[result]]`" in problem.message
    assert "docs/audit.md" in problem.hint
