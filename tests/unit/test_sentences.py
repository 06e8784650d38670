"""Docstrings and doc comments have sentences of at most 30 words."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MOST_WORDS = 30
SECTIONS = ("Args:", "Attributes:", "Raises:", "Returns:", "Source:", "Yields:")
FENCE = re.compile(r"^\s*```.*?^\s*```", re.MULTILINE | re.DOTALL)
SCREEN = re.compile(r"^\x08\n(?:.+\n?)+", re.MULTILINE)
"""Lines that click leaves as they are."""
ITEM = re.compile(r"^(?:- |\d\. |\w[\w.*, ]*: )")
END = re.compile(r"(?<=[.;:!?])\s+")


def sentences(text: str) -> Iterator[str]:
    """The sentences of a docstring, without code, formulas and output."""
    section = ""
    for paragraph in re.split(r"\n\s*\n", SCREEN.sub("", FENCE.sub("", text))):
        lines = paragraph.strip("\n").split("\n")
        if not lines[0].startswith(" "):
            section = lines[0] if lines[0] in SECTIONS else ""
        if section or not lines[0].startswith("    "):
            for item in _items(lines):
                yield from END.split(item)


def _items(lines: list[str]) -> Iterator[str]:
    """The items of a list or section; a paragraph is one."""
    item: list[str] = []
    for line in map(str.strip, lines):
        if ITEM.match(line) or line in SECTIONS:
            yield " ".join(item)
            item = []
        item.append(line)
    yield " ".join(item)


def long_sentences(text: str) -> list[str]:
    return [one for one in sentences(text) if len(one.split()) > MOST_WORDS]


def of_python(file: Path) -> Iterator[str]:
    """Every string that stands alone: docstrings, and those below a name."""
    for node in ast.walk(ast.parse(file.read_text())):
        match node:
            case ast.Expr(value=ast.Constant(value=str(text))):
                yield inspect.cleandoc(text)


def of_rust(file: Path) -> Iterator[str]:
    """Every block of doc comments."""
    found = [re.match(r"\s*//[/!] ?(.*)", line) for line in file.read_text().splitlines()]
    for is_comment, block in groupby(found, key=bool):
        if is_comment:
            yield "\n".join(match[1] for match in block if match)


@pytest.mark.parametrize("folder", ["python/plimsoll", "crates"])
def test_sentences_have_at_most_30_words(folder: str) -> None:
    python = [(file, of_python) for file in (ROOT / folder).rglob("*.py")]
    rust = [(file, of_rust) for file in (ROOT / folder).glob("*/src/**/*.rs")]
    assert python or rust
    found = [
        f"{file.relative_to(ROOT)}: {one}"
        for file, read in python + rust
        for text in read(file)
        for one in long_sentences(text)
    ]
    assert not found, "\n".join(found)


LONG = " ".join(["word"] * 31)


@pytest.mark.parametrize(
    "text",
    [
        f"{LONG}.",
        f"Short. {LONG}.",
        f"Title.\n\nArgs:\n    name: {LONG}.\n    other: Short.",
        f"Title:\n\n- short\n- {LONG}",
        f"Title.\n\n    y = x\n\n{LONG}.",
        "word\n" * 31,
    ],
)
def test_a_long_sentence_is_found_wherever_it_stands(text: str) -> None:
    assert long_sentences(text)


@pytest.mark.parametrize(
    "text",
    [
        f"{LONG[5:]}. {LONG[5:]}.",
        f"Title:\n\n    {LONG}",
        f"Title:\n\n```\n{LONG}\n\n{LONG}\n```\n",
        f"Title.\n\n\x08\n{LONG}\n{LONG}\n\nThe end.",
        "Title:\n\n" + "\n".join(["- ten words are in each item of this list, really"] * 9),
        "Args:\n" + "\n".join(f"    name{number}: Some words." for number in range(20)),
    ],
)
def test_lists_code_and_short_sentences_are_none(text: str) -> None:
    assert not long_sentences(text)
