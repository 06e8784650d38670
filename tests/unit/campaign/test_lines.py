"""Lines of keys and items."""

from __future__ import annotations

import pytest

from plimsoll.campaign.lines import KeyPath, line_of, positions

TEXT = """\
# a comment
name = "a"
items = [
    "one",  # a comment within
    "two",
]

[table]
key = 1
dotted.key = 2
"quoted key" = 3
inline = { one = 1, two = { three = 3 } }

[table.inner]
deep = 4

[[load]]
name = "first"
stages = [
    { kind = "ramp", duration = "1s" },
    # and
    { kind = "hold", duration = "2s" },
]

[[load]]
name = "second"

[load.extra]
key = 5

[[load.row]]
at = 1

[[load.row]]
at = 2
"""


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("name",), 2),
        (("items",), 3),
        (("items", 0), 4),
        (("items", 1), 5),
        (("table",), 8),
        (("table", "key"), 9),
        (("table", "dotted", "key"), 10),
        (("table", "quoted key"), 11),
        (("table", "inline", "two", "three"), 12),
        (("table", "inner"), 14),
        (("table", "inner", "deep"), 15),
        (("load",), 17),
        (("load", 0), 17),
        (("load", 0, "name"), 18),
        (("load", 0, "stages", 0, "kind"), 20),
        (("load", 0, "stages", 1, "duration"), 22),
        (("load", 1), 25),
        (("load", 1, "name"), 26),
        (("load", 1, "extra", "key"), 29),
        (("load", 1, "row", 0, "at"), 32),
        (("load", 1, "row", 1, "at"), 35),
    ],
)
def test_each_key_and_item_has_its_line(path: KeyPath, line: int) -> None:
    assert positions(TEXT)[path] == line


def test_what_has_no_line_has_that_of_what_is_around_it() -> None:
    lines = positions(TEXT)
    assert line_of(("load", 0, "stages", 0, "missing"), lines) == 20
    assert line_of(("load", 1, "missing", "deeper"), lines) == 25
    assert line_of(("missing",), lines) == 1
    assert line_of((), lines) == 1


def test_a_form_that_is_not_known_takes_the_line_of_what_is_around_it() -> None:
    newer = 'a = 1\nrows = [\n  { kind = "hold",\n    at = 3,\n  },\n]\nb = 2\n'
    lines = positions(newer)
    assert line_of(("rows", 0, "at"), lines) in (3, 4)
    assert lines[("b",)] == 7


def test_an_empty_text_has_no_lines() -> None:
    assert positions("") == {}
