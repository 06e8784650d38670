"""What a verb said of results: it says the same again as long as they stay what they were.

An answer is of no use for another question: one asked of a terminal of another width is another
one, and so is one asked of results of which anything has changed (`made`).
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, TypedDict

from plimsoll.errors import StorageError
from plimsoll.report import made
from plimsoll.storage.parquet import keep

if TYPE_CHECKING:
    from pathlib import Path

FILE = ".answers.json"
"""File in the folder of a report with what was said of it."""

MOST = 8
"""Answers that are kept, the newest first."""


class Answer(TypedDict):
    """What a verb says.

    Attributes:
        printed: What it prints.
        note: What it remarks besides; empty for nothing.
        exit_code: Its exit code.
    """

    printed: str
    note: str
    exit_code: int


class _Answered(TypedDict):
    """A question, as a digest, and its answer."""

    question: str
    answer: Answer


def known(folder: Path, *question: object) -> Answer | None:
    """The answer to a question that was asked before.

    Args:
        folder: Folder of the report.
        question: All that the answer depends on, first a digest of what the report was made of.

    Returns:
        None where it was not, or that digest is empty.
    """
    asked = made.of_program(*question)
    if not question[0]:
        return None
    return next((one["answer"] for one in _kept(folder) if one["question"] == asked), None)


def remember(folder: Path, answer: Answer, *question: object) -> None:
    """Keeps an answer, where the folder can be written.

    Args:
        folder: Folder of the report.
        answer: The answer.
        question: As for `known`.
    """
    if question[0]:
        new = _Answered(question=made.of_program(*question), answer=answer)
        kept = [new, *_kept(folder)][:MOST]
        with suppress(StorageError):
            keep(folder / FILE, (json.dumps(kept) + "\n").encode())


def _kept(folder: Path) -> list[_Answered]:
    """What was kept; nothing where it was damaged."""
    try:
        found: list[_Answered] = json.loads((folder / FILE).read_bytes())
        return [_Answered(question=one["question"], answer=one["answer"]) for one in found]
    except (OSError, ValueError, KeyError, TypeError):
        return []
