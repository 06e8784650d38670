"""JSON on standard output: numbers that JSON does not have."""

from __future__ import annotations

import json
import math

import pytest

from plimsoll.cli import json_output


def strictly(text: str) -> object:
    """What a reader of JSON makes of it that knows no `Infinity` and no `NaN`."""

    def refuse(constant: str) -> object:
        raise ValueError(constant)

    return json.loads(text, parse_constant=refuse)


def test_numbers_that_json_does_not_have_are_null(capsys: pytest.CaptureFixture[str]) -> None:
    json_output.show({"a": [1, math.inf, (-math.inf, "b")], "c": {"d": math.nan, "e": 0.5}})
    assert strictly(capsys.readouterr().out) == {
        "a": [1, None, [None, "b"]],
        "c": {"d": None, "e": 0.5},
    }


def test_what_is_no_json_is_text_where_that_is_wanted(capsys: pytest.CaptureFixture[str]) -> None:
    json_output.show([1j], default=str)
    assert strictly(capsys.readouterr().out) == ["1j"]
    with pytest.raises(TypeError):
        json_output.show([1j])
