"""Arguments of the library, in its messages, as the options of the verb that was typed.

The library names an argument as its caller writes it: `rate_per_s=`, `again=True`, `run=1`. A verb
gives its options the names of these arguments, so that click knows which option each one is.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Mapping

SHARED = {
    "frameworks": "--frameworks",
    "into": "--into",
    "record": "--record",
    "storage": "--storage",
    "url": "URL",
}
"""Options of arguments that a verb without them may read of, and what is no option."""

_ARGUMENT = re.compile(r"`([a-z]\w*)=(True|False|\d+|'[^'`]*')?`")
_PLACE = re.compile(r"([a-z]\w*)( .*)?", re.DOTALL)

_typed: dict[str, str] = {}
"""Argument to option of the verb that was typed last."""


def of_verb(command: click.Command) -> None:
    """Takes the options of the verb that was typed for those that messages name."""
    _typed.clear()
    _typed.update(
        (parameter.name, max(parameter.opts, key=len))
        for parameter in command.params
        if isinstance(parameter, click.Option) and parameter.name
    )


def text(message: str) -> str:
    """A message or a hint, in which arguments are options: `` `--run 1` `` for `` `run=1` ``."""
    known = {**SHARED, **_typed}

    def option(found: re.Match[str]) -> str:
        name, value = found[1], (found[2] or "").strip("'")
        if name not in known:
            return found[0]
        return f"`{known[name]}`" if value in ("", "True", "False") else f"`{known[name]} {value}`"

    return _ARGUMENT.sub(option, message)


def place(where: str) -> str:
    """The place of a problem: the option, if it is an argument; else the same."""
    known: Mapping[str, str] = {**SHARED, **_typed}
    found = _PLACE.fullmatch(where)
    if found is None or found[1] not in known:
        return where
    return f"{known[found[1]]}{found[2] or ''}"
