"""Which values of a campaign settings changed."""

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.campaign.set_values import SetValue, changed
from plimsoll.lab import selection

QUICK = Path(__file__).parents[3] / "campaigns" / "quick.toml"

SCALARS = st.none() | st.integers(0, 3) | st.text("ab", max_size=2)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=2), inner),
    max_leaves=8,
)
TABLES = st.dictionaries(st.sampled_from("xyz"), VALUES, min_size=3, max_size=3)


def undone(now: dict[str, Any], found: tuple[SetValue, ...]) -> dict[str, Any]:
    """The table with every changed value as it was; what is None may be absent."""
    table = deepcopy(now)
    for one in found:
        inner: Any = table
        for key in one.path[:-1]:
            inner = inner[key]
        inner[one.path[-1]] = one.before
    return table


def without_absent(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_absent(one) for key, one in value.items() if one is not None}
    return [without_absent(one) for one in value] if isinstance(value, list) else value


@given(now=TABLES, before=TABLES)
def test_putting_back_what_was_before_undoes_every_change(
    now: dict[str, Any], before: dict[str, Any]
) -> None:
    found = changed(now, before)
    assert without_absent(undone(now, found)) == without_absent(before)
    assert not changed(before, before)


@pytest.mark.parametrize(
    ("setting", "path", "before"),
    [
        ("repetitions=7", ("repetitions",), 6),
        ("endpoints=json", ("endpoints",), None),
        ("limits.backlog.cookies_doubtful=3", ("limits", "backlog"), None),
    ],
)
def test_a_setting_is_found_where_it_stands_in_the_campaign(
    setting: str, path: tuple[str, ...], before: object
) -> None:
    requested = selection.campaign(QUICK, (setting,), None)
    document = json.loads(json.dumps(selection.document_of(requested, QUICK, (setting,), None)))
    (found,) = document["settings"]["changed"]
    assert found["path"] == [*path]
    if before is not None:
        assert found["before"] == before


def test_without_settings_nothing_is_marked() -> None:
    requested = selection.campaign(QUICK, (), None)
    assert "settings" not in selection.document_of(requested, QUICK, (), None)


def test_a_file_that_needs_its_settings_has_no_values_before(tmp_path: Path) -> None:
    file = tmp_path / "needs.toml"
    file.write_text(QUICK.read_text("utf-8").replace("frameworks = [", 'frameworks = ["absent", '))
    settings = ("frameworks=reference",)
    requested = selection.campaign(file, settings, QUICK.parents[1] / "frameworks")
    document: Any = selection.document_of(
        requested, file, settings, QUICK.parents[1] / "frameworks"
    )
    assert document["settings"] == {"typed": ["frameworks=reference"], "changed": []}
