"""Output on stderr: errors with a hint, notes and progress."""

from __future__ import annotations

import difflib
import errno
import os
import re
import sys
import traceback
from typing import TYPE_CHECKING

import click

from plimsoll import texts
from plimsoll.cli import as_options
from plimsoll.errors import (
    FAULT,
    HostError,
    InputError,
    PlimsollError,
    QueryFailed,
    StorageError,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

USAGE_ERROR = 2
"""Exit code: invalid arguments or campaign file."""

FORMAT_OPTIONS = ("-o", "--output", "--format")
"""Options for the format on stdout, of the verbs that have several."""

TRACEBACK = "PLIMSOLL_TRACEBACK"
"""Environment variable that prints the traceback of an internal error."""


class UnreadableValue(click.BadParameter):
    """A value of an option that cannot be read.

    Attributes:
        hint: How to write it.
    """

    def __init__(
        self, message: str, hint: str, param: click.Parameter | None, ctx: click.Context | None
    ) -> None:
        """Keep them."""
        super().__init__(message, ctx, param)
        self.hint = hint


def failure(wrong: Exception) -> int:
    """Prints the error that ended a verb; returns its exit code."""
    match wrong:
        case click.UsageError():
            return usage(wrong)
        case click.ClickException():
            return error(wrong.format_message(), "")
        case InputError():
            return problems(wrong)
        case PlimsollError():
            is_ours = isinstance(wrong, QueryFailed)
            return _fault(wrong, wrong.message) if is_ours else _known(wrong)
        case OSError() | MemoryError():
            return _refused(wrong)
        case _:
            return _fault(wrong)


def error(message: str, hint: str, exit_code: int = USAGE_ERROR) -> int:
    """Prints an error and its hint; returns the exit code."""
    lines = [_line("error", "red", message), *([_line("hint", "cyan", hint)] if hint else [])]
    _put("\n".join(lines))  # at once: other threads print as well
    return exit_code


def problems(found: InputError) -> int:
    """Prints every problem with its place and hint; returns the exit code."""
    for problem in found.problems:
        where = as_options.place(problem.where)
        error(f"{where}: {problem.message}" if where else problem.message, problem.hint)
    return found.exit_code


def usage(wrong: click.UsageError) -> int:
    """Prints a usage error, and how to write it or where help is; returns the exit code."""
    if isinstance(wrong, click.exceptions.NoArgsIsHelpError):
        click.echo(wrong.format_message(), err=True)
        return USAGE_ERROR
    command = wrong.ctx.command_path if wrong.ctx else "plimsoll"
    message = _in_our_words(wrong.format_message())
    hint = wrong.hint if isinstance(wrong, UnreadableValue) else f"see `{command} --help`"
    if _wants_json(wrong):
        hint = f"`--json` prints JSON; {hint}"
    return error(message[:1].lower() + message[1:], hint)


def _wants_json(wrong: click.UsageError) -> bool:
    """Whether a verb that prints text or JSON was asked for a format in another verb's way."""
    if not isinstance(wrong, click.NoSuchOption) or wrong.ctx is None:
        return False
    own = {parameter.name for parameter in wrong.ctx.command.params}
    return wrong.option_name in FORMAT_OPTIONS and "as_json" in own


def _in_our_words(message: str) -> str:
    """A message of click with its values in backticks and without a full stop."""
    quoted = re.sub(r"'([^']+)'", r"`\1`", message.strip().removesuffix("."))
    return re.sub(r"\.? \(?Did you mean( one of)?:? (.*\?)\)?$", r"; did you mean\1 \2", quoted)


def _refused(wrong: OSError | MemoryError) -> int:
    """Prints an error of the operating system for which there is no better message."""
    if isinstance(wrong, MemoryError):
        hint = "free memory, or raise this process's memory limit"
        return error("out of memory", hint, HostError.exit_code)
    if wrong.errno == errno.EBADF:
        hint = "keep standard output open, or redirect it to a file or /dev/null"
        return error("cannot print: standard output is closed", hint, StorageError.exit_code)
    message = wrong.strerror or str(wrong)
    if wrong.filename is not None:
        message = f"`{wrong.filename}`: {message}"
    return error(message, "check free disk space and permissions", StorageError.exit_code)


def _known(wrong: PlimsollError) -> int:
    """Prints an error that somebody else can mend."""
    return error(wrong.message, wrong.hint, wrong.exit_code)


def _fault(wrong: Exception, message: str = "") -> int:
    """Prints an internal error, with its traceback when `PLIMSOLL_TRACEBACK` is set."""
    if os.environ.get(TRACEBACK):
        click.echo("".join(traceback.format_exception(wrong)), err=True)
    message = message or f"internal error in Plimsoll: {type(wrong).__name__}: {wrong}"
    hint = f"please report it with the output of the same command under `{TRACEBACK}=1`"
    return error(message, hint, FAULT)


def note(message: str) -> None:
    """Prints a note."""
    _put(_line("note", "yellow", message))


def step(message: str) -> None:
    """Prints progress."""
    _put(texts.lines(message))


def meant(word: str, among: Iterable[str]) -> str:
    """`; did you mean …?` when a known word is close; else empty."""
    near = difflib.get_close_matches(word, list(among), n=1)
    return f"; did you mean `{near[0]}`?" if near else ""


def coloured(text: str, colour: str) -> str:
    """A text in colour, unless `NO_COLOR` is set or the output is no terminal.

    Source:
        https://no-color.org
    """
    return text if os.environ.get("NO_COLOR") else click.style(text, fg=colour, bold=True)


def _line(kind: str, colour: str, message: str) -> str:
    return f"{coloured(f'{kind}:', colour)} {texts.lines(as_options.text(message))}"


def _put(line: str) -> None:
    # Named, since click would otherwise write past a display of Rich, which stands in for stderr.
    click.echo(line, file=sys.stderr)
