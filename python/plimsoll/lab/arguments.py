"""Arguments of the library are checked at its door, before anything is done with them.

`checked` reads the annotations of a function as they are written, so that each type is declared
once. An annotation that is not known here is an error when the function is defined. `pydantic`
would do the same, but its import takes as long as all else before the first request: 0.12 s.
"""

from __future__ import annotations

import errno
import inspect
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import wraps
from numbers import Integral, Real
from typing import TYPE_CHECKING, ParamSpec, TypeVar, cast

from plimsoll import texts
from plimsoll.errors import InputError, Problem

if TYPE_CHECKING:
    from collections.abc import Sequence

P = ParamSpec("P")
R = TypeVar("R")

Reader = Callable[[object], object]
"""Gives an argument as its function takes it; raises `_WrongTypeError` for one of another type."""

_OPTIONAL = " | None"
_LONGEST = 60
_NO_PATH = (errno.ENAMETOOLONG, errno.ELOOP)


class _WrongTypeError(Exception):
    """A value is none of a kind.

    Args:
        value: The value.
        kind: What it is not: `a whole number`.
        hint: What to give instead.
    """

    def __init__(self, value: object, kind: str, hint: str) -> None:
        super().__init__(kind)
        self.value, self.kind, self.hint = value, kind, hint

    def problem(self, name: str) -> Problem:
        """The problem of an argument."""
        return Problem(name, f"`{_shown(self.value)}` is not {self.kind}", self.hint)


def checked(**choices: Sequence[str]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Has the arguments of a function checked by their annotations when it is called.

    Numbers of other libraries become those of Python. Where several values are taken, a single one
    is taken as well, and they become a tuple.

    Args:
        choices: The values of each annotation that is the name of a `Literal`: `Metric=METRICS`.

    Returns:
        A decorator. The function raises an `InputError` that names every argument of a wrong type.
    """

    def decorated(function: Callable[P, R]) -> Callable[P, R]:
        signature = inspect.signature(function)
        readers = {
            name: _several_given(reader) if parameter.kind is parameter.VAR_POSITIONAL else reader
            for name, parameter in signature.parameters.items()
            if parameter.annotation is not parameter.empty  # else it is `self`
            for reader in [_reader(parameter.annotation, choices)]
        }

        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            try:
                given = signature.bind(*args, **kwargs)
            except TypeError:
                return function(*args, **kwargs)  # whose error says what is missing or unknown
            given.arguments.update(_read(readers, given.arguments))
            return function(*given.args, **given.kwargs)

        return call

    return decorated


def several(given: str | Sequence[str]) -> tuple[str, ...]:
    """The texts of an argument that also takes a single one."""
    return (given,) if isinstance(given, str) else tuple(given)


def pairs(headers: Mapping[str, str] | Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Names and values of headers."""
    return tuple(headers.items() if isinstance(headers, Mapping) else headers)


def _read(readers: Mapping[str, Reader], given: Mapping[str, object]) -> dict[str, object]:
    """The arguments as they are taken.

    Raises:
        InputError: Some have a wrong type.
    """
    found: dict[str, object] = {}
    problems: list[Problem] = []
    for name in readers.keys() & given.keys():
        try:
            found[name] = readers[name](given[name])
        except _WrongTypeError as wrong:
            problems.append(wrong.problem(name))
    if problems:
        order = list(given)
        raise InputError(sorted(problems, key=lambda problem: order.index(problem.where)))
    return found


def _reader(annotation: str, choices: Mapping[str, Sequence[str]]) -> Reader:
    """What reads an argument of an annotation.

    Raises:
        TypeError: The annotation is not known.
    """
    if annotation.endswith(_OPTIONAL):
        return _optional(_reader(annotation.removesuffix(_OPTIONAL), choices))
    if annotation in choices:
        return _choice(choices[annotation])
    if annotation in _READERS:
        return _READERS[annotation]
    message = f"no reader for `{annotation}`: add it to `lab.arguments`, or give its choices"
    raise TypeError(message)


def _optional(reader: Reader) -> Reader:
    return lambda given: None if given is None else reader(given)


def _several_given(reader: Reader) -> Reader:
    """Reads the positional arguments behind a `*`."""
    return lambda given: tuple(reader(one) for one in cast("tuple[object, ...]", given))


def _several_of(reader: Reader) -> Reader:
    """Reads one value or some."""
    return lambda given: tuple(reader(one) for one in _each(given))


def _each(given: object) -> Iterator[object]:
    """The values of an argument; what no one takes for a list of them is one of them."""
    if isinstance(given, str | bytes | bytearray | Mapping) or not isinstance(given, Iterable):
        yield given
    else:
        yield from cast("Iterable[object]", given)


def _choice(values: Sequence[str]) -> Reader:
    known = ", ".join(f"`{value}`" for value in values)

    def read(given: object) -> str:
        if isinstance(given, str) and given in values:
            return given
        raise _WrongTypeError(given, f"one of {known}", "choose one of them")

    return read


def _truth(given: object) -> bool:
    if isinstance(given, bool):
        return given
    raise _WrongTypeError(given, "a truth value", "give `True` or `False`")


def _whole(given: object) -> int:
    if isinstance(given, bool) or not isinstance(given, Integral):
        raise _WrongTypeError(given, "a whole number", "give an `int`")
    return int(given)


def _finite(given: object) -> float:
    number = _number(given)
    if math.isinf(number):
        raise _WrongTypeError(given, "a finite number", "give an `int` or a `float`")
    return number


def _number(given: object) -> float:
    wrong = _WrongTypeError(given, "a number", "give an `int` or a `float`")
    if isinstance(given, bool) or not isinstance(given, Real):
        raise wrong
    try:
        number = float(given)
    except OverflowError:
        raise wrong from None
    if math.isnan(number):
        raise wrong
    return given if isinstance(given, int) else number


def _text(given: object) -> str:
    if isinstance(given, str) and "\0" not in given:
        return given
    raise _WrongTypeError(given, "text", "give a `str`")


def _one_of_texts(given: object) -> str:
    try:
        return _text(given)
    except _WrongTypeError as wrong:
        raise _WrongTypeError(given, wrong.kind, "give a `str`, or a list of them") from None


def _bytes(given: object) -> bytes:
    if isinstance(given, bytes):
        return given
    raise _WrongTypeError(given, "bytes", "give `bytes`: `text.encode()`")


def _path(given: object) -> str | os.PathLike[str]:
    wrong = _WrongTypeError(given, "a path", "give a `str` or a `pathlib.Path`")
    if not isinstance(given, str | os.PathLike):
        raise wrong
    path = cast("str | os.PathLike[str]", given)
    name = cast("object", os.fspath(path))  # bytes, of a path of bytes
    if not isinstance(name, str) or not name or "\0" in name:
        raise wrong
    try:
        os.lstat(name)
    except OSError as error:
        if error.errno in _NO_PATH:
            kind = f"a path that this host takes: {error.strerror}"
            raise _WrongTypeError(name, kind, "give another path") from None
    return path


def _listener(given: object) -> object:
    if callable(given):
        return given
    raise _WrongTypeError(given, "a function", "give one that takes an event, or leave it out")


def _run(given: object) -> int | str:
    if isinstance(given, str) and given == "all":
        return given
    try:
        return _whole(given)
    except _WrongTypeError:
        raise _WrongTypeError(given, "a run", "give its number, from 1, or `all`") from None


def _headers(given: object) -> tuple[tuple[str, str], ...]:
    hint = "give a mapping, as `{'Accept': 'text/html'}`, or pairs"
    wrong = _WrongTypeError(given, "a mapping or pairs", hint)
    headers = cast("Mapping[str, str] | Sequence[tuple[str, str]]", given)
    try:
        found = pairs(headers)
        if any(isinstance(cast("object", one), str) for one in found):
            raise wrong  # a text of two characters would be a name and a value
        return tuple((name + "", value + "") for name, value in found)
    except (TypeError, ValueError):
        raise _wrong_header(given) or wrong from None


def _wrong_header(given: object) -> _WrongTypeError | None:
    """What is wrong with a mapping of headers: its first name or value that is no text."""
    if not isinstance(given, Mapping):
        return None
    found = cast("Mapping[object, object]", given)
    for one in (part for pair in found.items() for part in pair):
        if not isinstance(one, str):
            return _WrongTypeError(one, "text", "give names and values as `str`")
    return None


def _limits(given: object) -> dict[str, dict[str, float]]:
    wrong = _WrongTypeError(
        given,
        "a mapping of checks to their limits",
        "give one, as `{'undisturbed': {'lost_ratio_void': 0.6}}`",
    )
    if not isinstance(given, Mapping):
        raise wrong
    found: dict[str, dict[str, float]] = {}
    for check, values in cast("Mapping[object, object]", given).items():
        if not isinstance(check, str) or not isinstance(values, Mapping):
            raise wrong
        named = cast("Mapping[object, object]", values)
        found[check] = {_text(name): _number(value) for name, value in named.items()}
    return found


def _source(given: object) -> object:
    """Text, a path, or the name of an open file and the file."""
    if isinstance(given, str):
        return given
    if isinstance(given, os.PathLike):
        return _path(cast("object", given))
    if isinstance(given, tuple) and _is_named_file(cast("tuple[object, ...]", given)):
        return cast("object", given)
    hint = "give a `str`, a `pathlib.Path` of a file, or a name and an open binary file"
    raise _WrongTypeError(cast("object", given), "the text of an output", hint)


def _is_named_file(pair: tuple[object, ...]) -> bool:
    if len(pair) != len(("name", "file")):
        return False
    name, file = pair
    return isinstance(name, str) and callable(getattr(file, "read", None))


def _shown(value: object) -> str:
    """A value on one line, not all of a long one."""
    text = texts.line(repr(value))
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


_READERS: Mapping[str, Reader] = {
    "bool": _truth,
    "int": _whole,
    "float": _finite,
    "str": _text,
    "bytes": _bytes,
    "str | os.PathLike[str]": _path,
    "Listener": _listener,
    "Sequence[int]": _several_of(_whole),
    "Sequence[str]": _several_of(_one_of_texts),
    "str | Sequence[str]": _several_of(_one_of_texts),
    "int | Literal['all']": _run,
    "Mapping[str, str] | Sequence[tuple[str, str]]": _headers,
    "Mapping[str, Mapping[str, float]]": _limits,
    "Source": _source,
}
"""What reads an argument, by its annotation."""
