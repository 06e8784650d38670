"""Whatever stands in a campaign or framework file, its mistakes are told; nothing breaks."""

from __future__ import annotations

from pathlib import Path
from unittest import mock

from hypothesis import given
from hypothesis import strategies as st

from plimsoll.campaign import campaign_file, documents, framework
from plimsoll.campaign.campaign_file import CampaignTable, LoadTable, StageTable
from plimsoll.campaign.framework_file import FrameworkTable, NeedTable, VariantTable
from plimsoll.campaign.lines import KeyPath
from plimsoll.errors import InputError

SCALARS = st.one_of(
    st.integers(-2, 3),
    st.floats(),
    st.booleans(),
    st.sampled_from(["", "go", "json", "all", "5s", "10k", "0-1", "hold", "ramp", "open", "TERM"]),
)


def tables(
    keys: tuple[str, ...], **special: st.SearchStrategy[object]
) -> st.SearchStrategy[object]:
    """Tables with some of the keys, and others; values of any kind, or of the special one."""
    anything = st.one_of(
        SCALARS,
        st.lists(SCALARS, max_size=3),
        st.dictionaries(st.text(max_size=2), SCALARS, max_size=2),
    )
    known = {key: st.one_of(anything, special.get(key, anything)) for key in (*keys, "unknown")}
    return st.fixed_dictionaries({}, optional=known)


def listed(items: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    return st.lists(st.one_of(items, SCALARS), max_size=3)


STAGES = tables(documents.keys_of(StageTable))
LOADS = tables(documents.keys_of(LoadTable), stages=listed(STAGES))
LIMITS = st.dictionaries(st.sampled_from(["backlog", "x"]), st.one_of(SCALARS, tables(("drops",))))
CAMPAIGNS = tables(documents.keys_of(CampaignTable), load=listed(LOADS), limits=LIMITS)

NEEDS = listed(tables(documents.keys_of(NeedTable)))
REASONS = st.dictionaries(st.sampled_from(["json", "mix", "x"]), SCALARS)
VARIANTS = tables(documents.keys_of(VariantTable), needs=NEEDS, not_implemented=REASONS)
NAMED_VARIANTS = st.dictionaries(st.sampled_from(["one", "T wo"]), st.one_of(VARIANTS, SCALARS))
FRAMEWORKS = tables(
    documents.keys_of(FrameworkTable), needs=NEEDS, not_implemented=REASONS, variant=NAMED_VARIANTS
)


def exists(path: KeyPath, table: object) -> bool:
    """Whether a path leads somewhere, but for its last step; one name stands for a list of one."""
    for step in path[:-1]:
        table = table[step]  # type: ignore[index]
    return isinstance(table, dict | list | str)


@given(CAMPAIGNS)
def test_every_mistake_of_a_campaign_file_has_a_place(table: dict[str, object]) -> None:
    model, found = documents.checked(CampaignTable, table, campaign_file.known_keys)
    found += campaign_file.mistakes(model, ("plimsoll",), lambda: {"backlog": {"drops"}})
    assert all(mistake.message and exists(mistake.path, table) for mistake in found)


@given(FRAMEWORKS)
def test_a_framework_file_is_read_or_its_mistakes_are_told(table: dict[str, object]) -> None:
    file = documents.TomlDocument(Path("/frameworks/go/framework.toml"), "", table)
    with mock.patch.object(documents, "read", return_value=file):
        try:
            variants = framework.read(Path("/frameworks/go"))
        except InputError as error:
            assert all(problem.message for problem in error.problems)
        else:
            assert all(variant.start and variant.endpoints for variant in variants)
