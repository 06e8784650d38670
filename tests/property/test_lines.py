"""Every key of every text that is TOML has a line, and it is the right one."""

from __future__ import annotations

import tomllib

from hypothesis import given
from hypothesis import strategies as st

from plimsoll.campaign.lines import KeyPath, positions

KEYS = st.from_regex(r"[a-z_-]{1,4}", fullmatch=True)
VALUES = st.sampled_from(
    [
        "1",
        '"text # no comment"',
        "[1, 2]",
        '[\n  "a",  # one\n  "b",\n]',
        "{ a = 1 }",
        "'''\n[x]\n'''",
    ]
)
HEADERS = st.one_of(
    st.lists(KEYS, min_size=1, max_size=2).map(lambda keys: f"[{'.'.join(keys)}]"),
    KEYS.map(lambda key: f"[[{key}]]"),
)
LINES = st.one_of(
    st.builds("{} = {}".format, KEYS, VALUES),
    st.builds('"{} x" = {}'.format, KEYS, VALUES),
    st.builds("{}.{} = {}".format, KEYS, KEYS, VALUES),
    HEADERS,
    st.just("# a comment"),
    st.just(""),
)
ENDS = st.sampled_from(["\n", "\r\n"])


def paths(value: object, at: KeyPath = ()) -> set[KeyPath]:
    """The path of every key and item."""
    items: list[tuple[str | int, object]] = []
    if isinstance(value, dict):
        items = list(value.items())
    elif isinstance(value, list):
        items = list(enumerate(value))
    below = {path for key, inner in items for path in paths(inner, (*at, key))}
    return below | ({at} if at else set())


def is_toml(text: str) -> bool:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return True


@given(st.lists(LINES, max_size=8), ENDS)
def test_every_key_and_item_has_a_line(lines: list[str], end: str) -> None:
    text = "\n".join(lines).replace("\n", end) + end
    if not is_toml(text):
        return
    found = positions(text)
    table = tomllib.loads(text)
    implied = {path[:1] for path in paths(table)}
    assert paths(table) - implied <= {*found}
    assert all(1 <= line <= text.count("\n") + 1 for line in found.values())


@given(st.text())
def test_no_text_whatever_breaks_it(text: str) -> None:
    if is_toml(text):
        positions(text)
