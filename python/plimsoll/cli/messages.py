"""What is said on stderr: errors with a remedy, notes, and steps."""

from __future__ import annotations

import difflib
import os
import re
import traceback
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from plimsoll.errors import FAULT, CampaignError, PlimsollError, StorageError

if TYPE_CHECKING:
    from collections.abc import Iterable

WRONG_QUESTION = 2

TRACEBACK = "PLIMSOLL_TRACEBACK"
"""Variable that has the place of a fault shown."""


def failure(wrong: Exception) -> int:
    """Says what ended a verb; gives the exit code."""
    match wrong:
        case click.UsageError():
            return usage(wrong)
        case click.ClickException():
            return error(wrong.format_message(), "")
        case CampaignError():
            return problems(wrong)
        case PlimsollError():
            return error(wrong.message, wrong.hint, wrong.exit_code)
        case OSError():
            return _refused(wrong)
        case _:
            return _fault(wrong)


def error(message: str, hint: str, exit_code: int = WRONG_QUESTION) -> int:
    """Says what went wrong and what to do; gives the exit code back."""
    _say("error", "red", message)
    if hint:
        _say("hint", "cyan", hint)
    return exit_code


def problems(found: CampaignError) -> int:
    """Says every problem of a campaign, each with its place and remedy."""
    for problem in found.problems:
        error(str(problem), problem.hint)
    return found.exit_code


def usage(wrong: click.UsageError) -> int:
    """Says what is wrong with what was typed, and where help is."""
    if isinstance(wrong, click.exceptions.NoArgsIsHelpError):
        click.echo(wrong.format_message(), err=True)
        return WRONG_QUESTION
    command = wrong.ctx.command_path if wrong.ctx else "plimsoll"
    message = _in_our_words(wrong.format_message())
    return error(message[:1].lower() + message[1:], f"`{command} --help` shows what it takes")


def _in_our_words(message: str) -> str:
    """A sentence of click with its values in backticks and without a full stop."""
    quoted = re.sub(r"'([^']+)'", r"`\1`", message.strip().removesuffix("."))
    return re.sub(r"\.? \(?Did you mean( one of)?:? (.*\?)\)?$", r"; did you mean\1 \2", quoted)


def _refused(wrong: OSError) -> int:
    """Says what the operating system refused in a place where nothing better is known."""
    message = wrong.strerror or str(wrong)
    if wrong.filename is not None:
        message = f"`{wrong.filename}`: {message}"
    return error(message, "look at free space and permissions", StorageError.exit_code)


def _fault(wrong: Exception) -> int:
    """Says that Plimsoll itself is wrong; shows where when that is asked for."""
    if os.environ.get(TRACEBACK):
        click.echo("".join(traceback.format_exception(wrong)), err=True)
    kind = type(wrong).__name__
    hint = f"please report it, with what `{TRACEBACK}=1` in front of the same command shows"
    return error(f"this is a fault of Plimsoll itself: {kind}: {wrong}", hint, FAULT)


def note(message: str) -> None:
    """Says something that is worth knowing."""
    _say("note", "yellow", message)


def step(message: str) -> None:
    """Says what is being done; that nobody hears it any more ends nothing."""
    with suppress(BrokenPipeError):
        click.echo(message, err=True)


def meant(word: str, among: Iterable[str]) -> str:
    """`; did you mean …` for a word that is nearly one of some; else nothing."""
    near = difflib.get_close_matches(word, list(among), n=1)
    return f"; did you mean `{near[0]}`?" if near else ""


def coloured(text: str, colour: str) -> str:
    """A text in colour, unless `NO_COLOR` is set; where it does not go to a terminal it is plain.

    Source:
        https://no-color.org
    """
    return text if os.environ.get("NO_COLOR") else click.style(text, fg=colour, bold=True)


def _say(kind: str, colour: str, message: str) -> None:
    step(f"{coloured(f'{kind}:', colour)} {message}")
