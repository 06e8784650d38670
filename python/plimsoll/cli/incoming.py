"""Headers and bodies as they are typed: text, a file, or what comes in by a pipe."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from plimsoll.errors import InputError, Problem

if TYPE_CHECKING:
    from collections.abc import Mapping

STDIN = "-"
"""Stands for the standard input where a file is named."""

MOST_BODY_BYTES = 64 << 20
"""The longest request body, in bytes."""


def stdin(where: str) -> BinaryIO:
    """Standard input as bytes.

    Args:
        where: The option or argument that reads it, for the message.

    Raises:
        InputError: It is closed.
    """
    if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison] - after `<&-` it is None
        hint = "give a file, or pipe data in"
        raise InputError([Problem(where, "standard input is closed", hint)])
    return sys.stdin.buffer


def header(text: str) -> tuple[str, str]:
    """Name and value of a header as typed: `Name: value`.

    Raises:
        InputError: It is no header.
    """
    name, colon, value = text.partition(":")
    if not colon or not name.strip():
        message = f"`{text}` is not a header"
        raise InputError([Problem("--header", message, "write it as 'Name: value'")])
    return name.strip(), value.strip()


def contents(typed: Mapping[str, str | None]) -> list[bytes | None]:
    """What options hold as text, `@FILE` or `@-`, in their order.

    Args:
        typed: Options and what was typed; None where one was not given.

    Raises:
        InputError: One cannot be read, or several are to be read from the standard input.
    """
    first, *others = [option for option, text in typed.items() if text == f"@{STDIN}"] or [""]
    if others:
        message = f"`{first}` already reads standard input, which can be read only once"
        raise InputError([Problem(others[0], message, "read one of the two from a file")])
    return [_content(option, text) for option, text in typed.items()]


def _content(option: str, text: str | None) -> bytes | None:
    """The text, or the content of what `@FILE` or `@-` names."""
    if text is None or not text.startswith("@"):
        return None if text is None else text.encode()
    name = text[1:]
    try:
        with nullcontext(stdin(option)) if name == STDIN else Path(name).open("rb") as file:
            found = file.read(MOST_BODY_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise InputError([Problem(option, f"`{name}` cannot be read: {reason}")]) from error
    if len(found) > MOST_BODY_BYTES:
        message = f"`{name}` holds more than {MOST_BODY_BYTES >> 20} MiB"
        raise InputError([Problem(option, message, "use a smaller file")])
    return found


def upload(path: Path | None) -> Path | None:
    """A file to upload as it was typed; None where there is none.

    Raises:
        InputError: It is a pipe or a terminal, which gives its content once: `<(command)`.
    """
    if path is not None and (path.is_fifo() or path.is_char_device()):
        message = f"`{path}` gives its content once, and every request sends the file"
        most = f"of up to {MOST_BODY_BYTES >> 20} MiB"
        hint = f"`-b @-` sends standard input, and `-b @FILE` what a pipe gives, {most}"
        raise InputError([Problem("--upload", message, hint)])
    return path


def names(typed: str | None) -> list[str]:
    """Names of cipher suites or content codings, which commas or spaces separate."""
    return (typed or "").replace(",", " ").split()
