"""Typesetting: lines, blocks and pages."""

from __future__ import annotations

import re

import pytest
import vl_convert
from markupsafe import Markup

from plimsoll.report import typesetting as ts
from plimsoll.report.pictures import FONT


def test_lines_are_no_wider_than_they_may_be() -> None:
    text = "the quick brown fox jumps over the lazy dog " * 5
    lines = ts.lines_of(text, 120, 8)
    assert " ".join(lines) == text.strip()
    assert all(ts.text_width(line, 8) <= 120 for line in lines)


def test_a_word_longer_than_a_line_is_cut() -> None:
    lines = ts.lines_of("W" * 100, 100, 10)
    assert "".join(lines) == "W" * 100
    assert all(ts.text_width(line, 10) <= 100 for line in lines)


@pytest.mark.parametrize("bold", [False, True])
@pytest.mark.parametrize(
    "text",
    [
        "goodput 12,345/s",
        "WWW mmm iii",
        "a/b_c (ECONNRESET) [x] {y} ~ ^ | @",
        "Median 95 % – 1.5 µs → “x” · ≥",
        "ABCDEFGHIJKLMNOPQRSTUVWXYZ abcdefghijklmnopqrstuvwxyz",
    ],
)
def test_a_text_is_about_as_wide_as_reckoned_and_not_wider(text: str, bold: bool) -> None:
    reckoned = ts.text_width(text, 100, bold=bold)
    real = measured(text, bold=bold)
    assert 0.98 * real <= reckoned <= 1.2 * real


def measured(text: str, *, bold: bool) -> float:
    """Width of a text of 100 units, as the converter lays it out."""
    look = {
        "text": {"value": text},
        "font": {"value": FONT},
        "fontSize": {"value": 100},
        "fontWeight": {"value": "bold" if bold else "normal"},
    }
    svg = vl_convert.vega_to_svg(
        {
            "$schema": "https://vega.github.io/schema/vega/v6.json",
            "width": 0,
            "height": 0,
            "autosize": "pad",
            "marks": [{"type": "text", "encode": {"enter": look}}],
        }
    )
    width = re.search(r'width="([\d.]+)"', svg)
    assert width is not None
    return float(width[1])


def test_a_paragraph_ends_with_an_ellipsis_when_it_is_too_long() -> None:
    block = ts.paragraph("word " * 200, width_pt=100, most_lines=3)
    assert block.content.count("<text") == 3
    assert "…" in block.content


def test_blocks_fill_one_page_after_the_other() -> None:
    blocks = [ts.space(300), ts.space(300), ts.space(300)]
    assert [page.height_pt for page in ts.pages(blocks, 700)] == [600, 300]


def test_text_is_escaped_and_has_no_sign_that_breaks_a_document() -> None:
    page = ts.page(ts.paragraph("<script>\x00&"), "foot <b>")
    assert "<script>" not in page
    assert "\x00" not in page
    assert vl_convert.svg_to_pdf(page).startswith(b"%PDF")


def test_a_block_higher_than_the_page_is_made_smaller() -> None:
    page = ts.page(ts.space(2 * ts.TEXT_HEIGHT_PT), "")
    assert "scale(0.5000)" in page


def test_pictures_on_one_page_keep_their_identifiers_apart() -> None:
    svg = '<svg viewBox="0 0 10 10"><clipPath id="clip0"/><g clip-path="url(#clip0)"/></svg>'
    one, other = ts.picture(svg, 2.0, 100), ts.picture(svg, 2.0, 100)
    assert one.height_pt == 20
    assert one.content != other.content
    assert 'id="clip0"' not in one.content + other.content


def test_a_picture_wider_than_its_room_is_made_smaller() -> None:
    svg = '<svg viewBox="0 0 100 50"></svg>'
    assert ts.picture(svg, 2.0, 100).height_pt == 50


def test_blocks_beside_each_other_are_as_high_as_the_highest() -> None:
    block = ts.beside([ts.space(5), ts.Block(9, Markup("<g/>"))], 10)
    assert block.height_pt == 9
