"""Arguments of the library that have a wrong type are named before anything is done."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import plimsoll
from plimsoll.errors import InputError
from plimsoll.lab import arguments

URL = "http://127.0.0.1:9/"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("connections", "8"),
        ("connections", 8.5),
        ("connections", True),
        ("requests", 1e3),
        ("duration_s", "1s"),
        ("duration_s", float("nan")),
        ("rate_per_s", "5k"),
        ("body", "x"),
        ("expected_body", "x"),
        ("headers", ["A: b"]),
        ("headers", "A: b"),
        ("headers", {"A": 1}),
    ],
)
def test_an_argument_of_a_wrong_type_is_named(name: str, value: Any) -> None:
    with pytest.raises(InputError) as caught:
        plimsoll.load(URL, **{name: value})
    (problem,) = caught.value.problems
    assert problem.where == name
    assert "is not" in problem.message
    assert caught.value.hint == problem.hint != ""


@pytest.mark.parametrize("url", [5, None, b"http://127.0.0.1:9/", [URL, 5]])
def test_what_is_no_text_is_no_url(url: Any) -> None:
    with pytest.raises(InputError, match="is not text"):
        plimsoll.load(url)


def test_numbers_of_numpy_are_numbers() -> None:
    with pytest.raises(plimsoll.errors.NotResponding):
        plimsoll.load(URL, connections=np.int64(2), duration_s=np.float32(1))  # type: ignore[arg-type]


def test_one_text_is_not_taken_for_its_letters() -> None:
    assert arguments.several("settings", "repetitions=2") == ("repetitions=2",)
    assert arguments.several("settings", ["a=1", "b=2"]) == ("a=1", "b=2")
