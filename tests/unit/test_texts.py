"""Text that others wrote is made fit for every place it goes to."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll import texts

ANY = st.text(st.characters(codec=None, categories=None))
"""Any text that Python can hold, surrogates too."""


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("red\x1b[31m\nnext\x00", "red\ufffd[31m next\ufffd"),
        ("bell\a title\x1b]0;x\x07", "bell\ufffd title\ufffd]0;x\ufffd"),
        ("pass\u202eword\u2066", "pass\ufffdword\ufffd"),
        ("byte \udcff", "byte \ufffd"),
        ("tab\tand\u00a0space", "tab and space"),
        ("GET /größe 東京 ✓", "GET /größe 東京 ✓"),
    ],
)
def test_what_is_not_printed_is_replaced(text: str, shown: str) -> None:
    assert texts.line(text) == shown


@given(ANY)
def test_a_line_is_printable_and_of_the_same_length(text: str) -> None:
    line = texts.line(text)
    assert line.isprintable()
    assert len(line) == len(text)
    assert texts.line(line) == line


@given(ANY)
def test_lines_keep_line_ends_and_tabs_only(text: str) -> None:
    found = texts.lines(text)
    assert [sign in "\n\t" for sign in found] == [sign in "\n\t" for sign in text]
    assert "".join(sign for sign in found if sign not in "\n\t").isprintable()


@given(ANY)
def test_what_is_stored_is_utf8_without_nul(text: str) -> None:
    stored = texts.stored(text)
    assert b"\0" not in stored.encode()
    assert texts.stored(stored) == stored


@given(st.lists(st.text(st.characters(exclude_categories=("Cs",))), min_size=1))
def test_values_of_a_record_are_read_however_long(values: list[str]) -> None:
    record = ",".join('"' + value.replace('"', '""') + '"' for value in values)
    assert texts.values(record, ",") == values
    assert texts.values("a," + "y" * 300_000, ",") == ["a", "y" * 300_000]


def test_lines_of_a_screen_end_in_no_space_and_keep_what_is_bound() -> None:
    text = texts.wrapped("one  p50 600\u00a0µs and\u00a0more  words", 14, "  ")
    assert text == "one  p50\n  600 µs\n  and more\n  words"
