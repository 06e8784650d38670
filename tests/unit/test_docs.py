"""Pages that are written by a program are what it would write."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from plimsoll.campaign import framework as frameworks
from plimsoll.published import claims
from plimsoll.tool_output.readers import table
from plimsoll.verdicts import campaign_checks, checks
from plimsoll.verdicts.audit import audit

DOCS = Path(__file__).resolve().parents[2] / "docs"


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", DOCS / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PAGES: dict[str, str] = generator().pages()
FOLDERS = frameworks.find(DOCS.parent / "frameworks")


@pytest.mark.parametrize("name", PAGES)
def test_a_generated_page_is_up_to_date(name: str) -> None:
    assert (DOCS / name).read_text(encoding="utf-8") == PAGES[name], "`make docs` writes it anew"


def test_how_it_measures_tells_every_check_on_a_trial_and_on_a_campaign() -> None:
    text = (DOCS / "method.md").read_text(encoding="utf-8")
    listed = (*checks.CHECKS, *campaign_checks.CAMPAIGN_CHECKS)
    assert [check.NAME for check in listed if f"| `{check.NAME}` |" not in text] == []


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_page_of_frameworks_has_each_variant_with_its_notes_and_what_it_leaves_out(
    folder: Path,
) -> None:
    page = PAGES["frameworks.md"]
    assert f"## {folder.name}\n" in page
    for variant in frameworks.read(folder):
        assert variant.name == variant.reference or f"### `{variant.reference}`\n" in page
        for note in variant.notes:
            assert note in page
        for endpoint, why in variant.not_implemented.items():
            assert f"- Without `{endpoint}`: {why}\n" in page


def test_the_page_of_frameworks_is_the_same_on_a_host_that_has_none_of_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    assert generator().pages()["frameworks.md"] == PAGES["frameworks.md"]


@pytest.mark.parametrize("file", sorted((DOCS / "published").glob("*.toml")), ids=lambda f: f.stem)
def test_the_page_of_published_figures_has_each_claim_and_each_verdict_that_is_not_sound(
    file: Path,
) -> None:
    page = PAGES["published-figures.md"]
    text = file.read_text(encoding="utf-8")
    audited = audit(table.read(text, file.name))
    verdicts = [*audited.together, *(one for result in audited.results for one in result.verdicts)]
    assert f"](published/{file.name})" in page
    for claim in claims.read(text, file.name):
        assert f"| {claim.says} |" in page
    for verdict in verdicts:
        said = f"**{verdict.level}**, {verdict.subject}, `{verdict.check}`: {verdict.text}\n"
        assert (said in page) == (verdict.level != "sound")
        assert f"`{verdict.check}`" in page
