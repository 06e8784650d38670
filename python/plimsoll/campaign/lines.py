"""The line of each key and item of a TOML text.

The parser of the standard library keeps no positions, so the text is parsed a second time for
positions only; values always come from the standard library. Where the second parser does not know
a syntax that the first one does, the line of the enclosing item is used.
"""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING

import tree_sitter_toml
from tree_sitter import Language, Parser

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tree_sitter import Node

KeyPath = tuple[str | int, ...]
"""Keys and, inside arrays, positions from 0: `("load", 0, "stages", 1, "duration")`."""

_TABLES = ("table", "table_array_element")


def positions(text: str) -> dict[KeyPath, int]:
    """The line of every key and item of a TOML text.

    Args:
        text: A TOML text that the standard library can read.

    Returns:
        Path to line, counted from 1. A table has the line of its header.
    """
    parser = Parser(Language(tree_sitter_toml.language()))
    lines: dict[KeyPath, int] = {}
    lengths: dict[KeyPath, int] = {}
    for node in parser.parse(text.encode()).root_node.named_children:
        if node.type == "pair":
            _note_all(_pair(node, ()), lines)
        elif node.type in _TABLES:
            _note_all(_table(node, lengths), lines)
    return lines


def line_of(path: KeyPath, lines: Mapping[KeyPath, int]) -> int:
    """The line of a path, or of the nearest enclosing item that has one."""
    for length in range(len(path), 0, -1):
        line = lines.get(path[:length])
        if line is not None:
            return line
    return 1


def _note_all(found: Iterator[tuple[KeyPath, int]], lines: dict[KeyPath, int]) -> None:
    """Keeps the first line of each path: the header of a table, not the tables in it."""
    for path, line in found:
        lines.setdefault(path, line)


def _table(node: Node, lengths: dict[KeyPath, int]) -> Iterator[tuple[KeyPath, int]]:
    header, *rest = _children(node)
    path = _resolved(_keys(header), lengths)
    if node.type == "table_array_element":
        index = lengths.get(path, 0)
        lengths[path] = index + 1
        yield path, _line(header)
        path = (*path, index)
    yield path, _line(header)
    for pair in rest:
        yield from _pair(pair, path)


def _resolved(keys: KeyPath, lengths: Mapping[KeyPath, int]) -> KeyPath:
    """A header's path, with the position of the latest element in each array on the way."""
    path: KeyPath = ()
    for place, key in enumerate(keys):
        path = (*path, key)
        if place < len(keys) - 1 and path in lengths:
            path = (*path, lengths[path] - 1)
    return path


def _pair(node: Node, inside: KeyPath) -> Iterator[tuple[KeyPath, int]]:
    key, *values = _children(node)
    keys = _keys(key)
    for length in range(1, len(keys) + 1):
        yield (*inside, *keys[:length]), _line(key)
    for value in values:
        yield from _value(value, (*inside, *keys))


def _value(node: Node, path: KeyPath) -> Iterator[tuple[KeyPath, int]]:
    if node.type == "inline_table":
        for pair in _children(node):
            yield from _pair(pair, path)
    elif node.type == "array":
        for index, item in enumerate(_children(node)):
            yield (*path, index), _line(item)
            yield from _value(item, (*path, index))


def _children(node: Node) -> list[Node]:
    """The children of a node, without comments and unknown syntax."""
    return [child for child in node.named_children if child.type not in ("comment", "ERROR")]


def _keys(node: Node) -> KeyPath:
    if node.type == "dotted_key":
        return tuple(key for child in _children(node) for key in _keys(child))
    text = (node.text or b"").decode()
    if node.type == "quoted_key":
        return tuple(tomllib.loads(f"{text} = 0"))
    return (text,)


def _line(node: Node) -> int:
    return node.start_point.row + 1
