"""TOML files, read so that all mistakes are reported at once, each with its line.

A file becomes a table (`read`), the table becomes a model and the mistakes in it (`checked`), and
mistakes become problems with file and line (`problems`).
"""

from __future__ import annotations

import copy
import difflib
import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from plimsoll.campaign.quantities import UnreadableQuantity
from plimsoll.errors import InputError, Problem
from plimsoll.texts import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from pydantic import BaseModel
    from pydantic_core import ErrorDetails

    from plimsoll.campaign.lines import KeyPath

Table = dict[str, Any]
M = TypeVar("M", bound="BaseModel")
T = TypeVar("T")

ALL = "all"
"""Stands for everything of a kind: plain variants of all frameworks, after a colon all variants.

Nothing defined in a file may have this name.
"""

MOST_BYTES = 16 << 20
"""Larger than any file written by hand."""

_SYNTAX_PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")

_MUST_BE = {
    "string_type": "a quoted string",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "bool_type": "`true` or `false`",
    "list_type": "a list in brackets",
    "dict_type": "a table",
    "model_type": "a table",
    "model_attributes_type": "a table",
}


@dataclass(frozen=True)
class TomlDocument:
    """A parsed TOML file.

    Attributes:
        path: Its path.
        text: Its text.
        table: Its content.
        origins: Keys that were not set in the file, and their source: `settings repetitions`.
    """

    path: Path
    text: str
    table: Table
    origins: Mapping[KeyPath, str] = field(default_factory=dict["KeyPath", str])


@dataclass(frozen=True)
class Mistake:
    """One mistake in a document, before its line is known.

    Attributes:
        path: The key or item that is wrong; for a missing one, its table.
        message: What is wrong.
        hint: What to do; may be empty.
    """

    path: KeyPath
    message: str
    hint: str = ""


def read(path: Path) -> TomlDocument:
    """A TOML file.

    Args:
        path: The file.

    Returns:
        Its text and content.

    Raises:
        InputError: The file does not exist, cannot be read, or is not valid TOML.
    """
    try:
        with path.open("rb") as file:
            found = file.read(MOST_BYTES + 1)
        if len(found) > MOST_BYTES:
            _refuse(shown(path), f"holds more than {MOST_BYTES >> 20} MiB")
        text = found.decode()
    except FileNotFoundError:
        _refuse(shown(path), "no such file", _similar_file(path))
    except UnicodeDecodeError as error:
        _refuse(shown(path), f"is not text in UTF-8 (byte {error.start})")
    except OSError as error:
        hint = "give the file" if path.is_dir() else "give a file that this user can read"
        _refuse(shown(path), f"cannot be read: {error.strerror}", hint)
    try:
        return TomlDocument(path, text, tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        line, message = _syntax_place(str(error), text)
        _refuse(f"{shown(path)}:{line}", f"is not valid TOML: {message}", _OTHER_FILE)
    except RecursionError:
        _refuse(shown(path), "has lists or tables nested too deeply")


def checked(
    model: type[M], table: Table, known_keys: Callable[[KeyPath], Iterable[str]]
) -> tuple[M, list[Mistake]]:
    """A table as a model, and every mistake in its schema.

    Invalid values are None in the model, so that the rest can still be checked. Every field of the
    model, and every item of its lists, must therefore accept None.

    Args:
        model: The schema.
        table: The content.
        known_keys: The keys that the table at a path may have.

    Returns:
        The model, with None for invalid values, and the mistakes.
    """
    from pydantic import ValidationError  # noqa: PLC0415 - heavy

    try:
        return model.model_validate(table), []
    except ValidationError as error:
        details = error.errors(include_url=False)
    emptied = copy.deepcopy(table)
    for detail in details:
        _empty(emptied, detail)
    return model.model_validate(emptied), [_mistake(detail, known_keys) for detail in details]


def keys_of(model: type[BaseModel]) -> tuple[str, ...]:
    """The keys of a model as written in a file."""
    return tuple(field.alias or name for name, field in model.model_fields.items())


def problems(document: TomlDocument, mistakes: Iterable[Mistake]) -> list[Problem]:
    """Mistakes with their lines, in the order of the file, then those of other sources."""
    from plimsoll.campaign import lines  # noqa: PLC0415 - heavy, and needed to say what is wrong only

    positions = lines.positions(document.text)
    placed: list[tuple[int, Problem]] = []
    for mistake in mistakes:
        origin = _origin(mistake.path, document.origins)
        if origin is None and mistake.path and mistake.path not in positions:
            origin = _origin_below(mistake.path, document.origins)
        line = lines.line_of(mistake.path, positions)
        where = origin or f"{shown(document.path)}:{line}"
        order = len(document.text) if origin else line
        placed.append((order, Problem(where, mistake.message, mistake.hint)))
    placed.sort(key=lambda pair: pair[0])
    return [problem for _, problem in placed]


def near(word: str, known: Iterable[str], noun: str) -> str:
    """A hint for an unknown word.

    Args:
        word: The word.
        known: The known words.
        noun: What they name, in the plural.

    Returns:
        The most similar one as a question, or all of them.
    """
    words = sorted(known)
    by_lower = {name.lower(): name for name in words}
    similar = difflib.get_close_matches(word.lower(), by_lower, n=1)
    if similar:
        return f"did you mean `{by_lower[similar[0]]}`?"
    if not words:
        return f"there are no {noun} here"
    return f"{noun}: " + ", ".join(f"`{name}`" for name in words)


_OTHER_FILE = "write the line as TOML, `key = value`, or give another file"
_NO_FILE = "give the path of a file that is there"


def value_or(value: T | None, default: T) -> T:
    """The value of a key that may be left out.

    Args:
        value: Its value; None if it is left out.
        default: What holds then.
    """
    return default if value is None else value


def valid_items(values: Iterable[T | None] | None) -> tuple[T, ...]:
    """The valid items of a list that may be left out; invalid ones are None."""
    return tuple(value for value in values or () if value is not None)


def _refuse(where: str, message: str, hint: str = "") -> NoReturn:
    raise InputError([Problem(where, message, hint)])


def _similar_file(path: Path) -> str:
    siblings = [file.name for file in path.parent.glob(f"*{path.suffix}") if file.is_file()]
    return near(path.name, siblings, "files") if siblings else _NO_FILE


def _syntax_place(message: str, text: str) -> tuple[int, str]:
    """The line of a syntax error, and the message without it."""
    match = _SYNTAX_PLACE.search(message)
    if match is None:
        return 1, message
    last = max(1, len(text.splitlines()))
    line = int(match[1]) if match[1] else last
    return min(line, last), message[: match.start()]


def _origin(path: KeyPath, origins: Mapping[KeyPath, str]) -> str | None:
    """What set the path, or something around it."""
    prefixes = (path[:length] for length in range(len(path), 0, -1))
    return next((origins[prefix] for prefix in prefixes if prefix in origins), None)


def _origin_below(path: KeyPath, origins: Mapping[KeyPath, str]) -> str | None:
    """What set something inside the path, and so made the path itself."""
    below = (where for inside, where in origins.items() if inside[: len(path)] == path)
    return next(below, None)


def _empty(table: Table, detail: ErrorDetails) -> None:
    """Replaces invalid values by None, and removes unknown keys."""
    *inside, last = detail["loc"]
    holder: Any = table
    for step in inside:
        holder = holder[step]
    if detail["type"] == "extra_forbidden":
        del holder[last]
    else:
        holder[last] = None


def _mistake(detail: ErrorDetails, known_keys: Callable[[KeyPath], Iterable[str]]) -> Mistake:
    path = detail["loc"]
    if detail["type"] == "missing":
        return Mistake(path[:-1], f"`{path[-1]}` is missing")
    if detail["type"] == "extra_forbidden":
        hint = near(str(path[-1]), known_keys(path[:-1]), "keys")
        return Mistake(path, f"unknown key `{path[-1]}` here", hint)
    message, hint = _wrong_value(detail)
    return Mistake(path, message, hint or _misplaced(path, known_keys))


def _misplaced(path: KeyPath, known_keys: Callable[[KeyPath], Iterable[str]]) -> str:
    """The hint for a key of the file that stands in a table which has no such key; may be empty."""
    *inside, key = path
    if not inside or not isinstance(key, str) or key not in known_keys(()):
        return ""
    if key in known_keys(tuple(inside)):
        return ""
    return f"to set `{key}` of the file, write it above the first table"


def _wrong_value(detail: ErrorDetails) -> tuple[str, str]:
    name = _spoken(detail["loc"])
    cause = detail.get("ctx", {}).get("error")
    if isinstance(cause, UnreadableQuantity):
        return f"{name}: {cause.message}", cause.hint
    if detail["type"] == "literal_error":
        choices = detail.get("ctx", {}).get("expected", "").replace("'", "`")
        return f"{name} must be {choices}, not `{detail['input']}`", ""
    if detail["type"] == "list_type" and isinstance(detail["input"], dict):
        return (
            f"{name} must be a list of tables",
            f"use two brackets: `[[{detail['loc'][-1]}]]`",
        )
    must_be = _MUST_BE.get(detail["type"])
    if must_be is None:
        return f"{name}: {detail['msg']}", ""
    return f"{name} must be {must_be}, not {_quoted(detail['input'])}", ""


def _quoted(value: object) -> str:
    """A value of the file in a sentence."""
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return f'`"{value}"`' if isinstance(value, str) else f"`{value}`"


def _spoken(path: Sequence[str | int]) -> str:
    """A key and its table: `duration`, or item 2 of `notes` in `[variant.a]`."""
    last = path[-1]
    if isinstance(last, str):
        return f"`{last}`{_within(path[:-1])}"
    return f"item {last + 1} of `{path[-2]}`{_within(path[:-2])}"


def _within(path: Sequence[str | int]) -> str:
    """The table of a key: `[environment]`; nothing for the whole file, and for a row of a list."""
    names = [step for step in path if isinstance(step, str)]
    return f" in `[{'.'.join(names)}]`" if names and len(names) == len(path) else ""
