"""Printing of an import: the rows of each file, and what the checks say of the recording."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll import cli, lab, report, texts
from plimsoll.cli import json_output, messages
from plimsoll.errors import InputError, Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plimsoll.intake.rows import ImportStats
    from plimsoll.lab.imports import ImportResult


def tool_and_files(typed: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """The tool (empty when not given), and the files.

    Args:
        typed: The files, perhaps with the name of their tool in front.

    Raises:
        InputError: A tool is given without a file, or it is neither a tool nor a file.
    """
    tools = lab.imports.TOOLS
    first = typed[0]
    is_tool = first in tools and not Path(first).exists()
    rest = typed[1:] if is_tool else typed
    if not rest:
        message = f"no {first} file is given"
        raise InputError([Problem("", message, f"write `plimsoll import {first} FILE`")])
    if not is_tool and rest[1:] and not Path(first).exists():
        known = ", ".join(f"`{tool}`" for tool in tools)
        message = f"`{first}` is neither a file nor a tool{messages.meant(first, tools)}"
        raise InputError([Problem("", message, f"tools: {known}")])
    return first if is_tool else "", rest


def show(result: ImportResult, *, judge: bool, as_json: bool) -> int:
    """Prints what came of files; returns the exit code.

    Args:
        result: The recording.
        judge: Whether it is judged.
        as_json: Whether JSON is printed.
    """
    for tally in result.files:
        _tell(tally)
    recording = result.recording
    for note in recording.driver.notes if recording.driver else recording.notes:
        messages.note(note)
    return _judged(result, as_json=as_json) if judge else _kept(result, as_json=as_json)


def _tell(tally: ImportStats) -> None:
    """Prints the import statistics of a file, and its malformed lines."""
    messages.step(f"{tally.file}: {', '.join(_counts(tally))}")
    for broken in tally.broken_lines:
        messages.note(f"{tally.file}:{broken.line}: {broken.reason}")
    unnamed = tally.broken - len(tally.broken_lines)
    if unnamed:
        messages.note(f"{tally.file}: {unnamed} more malformed lines")


def _counts(tally: ImportStats) -> Iterator[str]:
    yield f"{tally.read} rows read, {tally.kept} kept"
    if left_out := sum(tally.left_out.values()):
        yield f"{left_out} excluded"
    if tally.broken:
        yield f"{tally.broken} malformed"


def _kept(result: ImportResult, *, as_json: bool) -> int:
    """Prints where the recording is; returns the exit code."""
    place = result.campaign.place
    if as_json:
        found = {"trial": result.id, "files": result.files_as_json(), "recording": place}
        json_output.show(found)
    else:
        messages.step(f"`{result.id}` is stored in `{place}`, not judged yet")
    return 0


def _judged(result: ImportResult, *, as_json: bool) -> int:
    """Judges and prints the recording; returns the exit code."""
    if as_json:
        json_output.show(result.as_json())
    else:
        report.screen.show(result.findings, verbose=True)
        stored = result.campaign.stored
        messages.step(f"`{result.id}` is kept in `{stored.place}`")
        messages.step(
            f"`plimsoll report {shlex.quote(texts.shown(stored.folder))}` draws its charts"
        )
    return cli.judging.exit_code_of_trial(result.findings)
