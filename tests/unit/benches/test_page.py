"""Findings become Markdown, and stand where their page has a place for them."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench import page

PAGE = "# Title\n\n<!-- a -->\nold\n<!-- /a -->\n\n<!-- b -->\nkept\n<!-- /b -->\n"


def test_columns_of_a_table_are_aligned() -> None:
    assert page.table(("tool", "n"), [("wrk", "1"), ("plimsoll", "1,000")]).splitlines() == [
        "| tool     |     n |",
        "| -------- | ----: |",
        "| wrk      |     1 |",
        "| plimsoll | 1,000 |",
    ]


def test_a_column_of_words_can_stand_anywhere() -> None:
    lines = page.table(("where", "share", "why"), [("a", "1 %", "b")], words=(0, 2)).splitlines()
    assert lines[1] == "| ----- | ----: | --- |"


def test_a_section_is_replaced_and_the_rest_of_the_page_is_not(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text(PAGE, encoding="utf-8")
    page.put(path, "a", "new\n\nlines\n")
    page.put(path, "a", "newer")
    assert path.read_text(encoding="utf-8") == PAGE.replace("old", "newer")


def test_a_page_without_a_place_is_left_alone_and_the_marks_are_named(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text(PAGE, encoding="utf-8")
    with pytest.raises(SystemExit, match=r"no place for `c`[\s\S]*<!-- c -->"):
        page.put(path, "c", "new")
    assert path.read_text(encoding="utf-8") == PAGE


@pytest.mark.parametrize("section", ["load_tools", "own_costs", "where_the_time_goes"])
def test_the_page_on_performance_has_a_place_for_every_bench(section: str) -> None:
    text = Path(__file__).parents[3].joinpath("docs", "performance.md").read_text(encoding="utf-8")
    assert text.index(f"<!-- {section} -->") < text.index(f"<!-- /{section} -->")
