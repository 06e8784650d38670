"""Which changes of a campaign file make another campaign of it."""

from __future__ import annotations

import pytest

from plimsoll.storage import documents

LINES = 'kind = "line"\n[line]\np99 = "20ms"\nbudget = "90s"\nwithin = 0.05\n'


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ('"90s"', '"5m"', ""),
        ("within = 0.05\n", "", ""),
        ('"20ms"', '"10ms"', "has results of another campaign: `line` differs"),
        ("within", "hold = 1\nwithin", "has results of another campaign: `line` differs"),
        ('kind = "line"', "", "has results of another campaign: `kind` differs"),
    ],
)
def test_only_the_end_of_a_search_may_change(before: str, after: str, said: str) -> None:
    assert documents.other_campaign(LINES, (), LINES.replace(before, after), ()) == said
