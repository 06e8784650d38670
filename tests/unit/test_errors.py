"""Errors cross from one process to another as they were."""

import copy
import pickle
from collections.abc import Callable, Iterator

import pytest

from plimsoll import errors
from plimsoll.errors import ContractBroken, InputError, PlimsollError, Problem

PROBLEMS = (Problem("a.toml:1", "`x` is wrong", "remove it"), Problem("", "no name", "add one"))


def _kinds(kind: type[PlimsollError] = PlimsollError) -> Iterator[type[PlimsollError]]:
    if kind.__module__ == errors.__name__:
        yield kind
    for special in kind.__subclasses__():
        yield from _kinds(special)


KINDS = sorted(_kinds(), key=lambda kind: kind.__name__)


def _made(kind: type[PlimsollError]) -> PlimsollError:
    if kind is InputError:
        return InputError(PROBLEMS)
    if kind is ContractBroken:
        return ContractBroken("it is wrong", "mend it", ["one", "two"])
    return kind("it is wrong", "mend it")


def _pickled(error: PlimsollError) -> PlimsollError:
    return pickle.loads(pickle.dumps(error))  # noqa: S301 - what was just pickled


@pytest.mark.parametrize("again", [_pickled, copy.copy])
@pytest.mark.parametrize("kind", KINDS)
def test_an_error_survives_with_all_that_it_says(
    kind: type[PlimsollError], again: Callable[[PlimsollError], PlimsollError]
) -> None:
    error = _made(kind)
    error.add_note("while a test ran")
    found = again(error)
    assert type(found) is kind
    assert (str(found), found.args) == (str(error), error.args)
    assert vars(found) == vars(error)
