"""Arguments of the library, before anything is done with them: those of a wrong type are named."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from numbers import Integral, Real
from typing import TYPE_CHECKING, cast

from plimsoll.errors import InputError, Problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.lab.load_options import LoadOptions

WHOLE = (
    *("connections", "threads", "requests", "pipeline", "streams", "requests_per_connection"),
    *("follow", "status", "length_bytes", "message_bytes", "seed"),
)
"""Arguments of a load that are whole numbers, or None."""

NUMBERS = (
    *("duration_s", "rate_per_s", "ramp_s", "warm_up_s", "think_time_s", "timeout_s", "idle_s"),
)
"""Those that are numbers, or None."""

BYTES = ("body", "expected_body", "message")
"""Those that are bytes, or None."""


def require(options: LoadOptions) -> None:
    """Requires that the arguments of a load have their types.

    Raises:
        InputError: They have not; every such argument is in it.
    """
    if problems := [*_wrong(options)]:
        raise InputError(problems)


def several(name: str, given: object) -> tuple[str, ...]:
    """Texts of an argument that also takes a single one.

    Args:
        name: The argument.
        given: One text, or some.

    Raises:
        InputError: Something in it is no text.
    """
    is_one = isinstance(given, str) or not isinstance(given, Iterable)
    found: list[object] = [given] if is_one else [*cast("Iterable[object]", given)]
    hint = "give a `str`, or a list of them"
    if problems := [_problem(name, one, "text", hint) for one in found if not isinstance(one, str)]:
        raise InputError(problems)
    return tuple(cast("list[str]", found))


def pairs(
    headers: Mapping[str, str] | Sequence[tuple[str, str]],
) -> tuple[tuple[str, str], ...]:
    """Names and values of headers.

    Raises:
        InputError: They are neither a mapping nor pairs.
    """
    given = headers.items() if isinstance(headers, Mapping) else headers
    hint = "give a mapping, as `{'Accept': 'text/html'}`, or pairs"
    try:
        return tuple((name + "", value + "") for name, value in given)
    except (TypeError, ValueError):
        raise InputError([_problem("headers", headers, "a mapping or pairs", hint)]) from None


def _wrong(options: LoadOptions) -> Iterator[Problem]:
    for name in WHOLE:
        value = getattr(options, name)
        if value is not None and (isinstance(value, bool) or not isinstance(value, Integral)):
            yield _problem(name, value, "a whole number", "give an `int`")
    for name in NUMBERS:
        value = getattr(options, name)
        if value is not None and not _is_number(value):
            yield _problem(name, value, "a number", "give an `int` or a `float`")
    for name in BYTES:
        value = getattr(options, name)
        if value is not None and not isinstance(value, bytes):
            yield _problem(name, value, "bytes", "give `bytes`: `text.encode()`")


def _is_number(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    return not math.isnan(value)


def _problem(name: str, value: object, kind: str, hint: str) -> Problem:
    return Problem(name, f"`{value!r}` is not {kind}", hint)
