"""What a comparison refuses before it starts a server."""

from __future__ import annotations

from typing import Any

import pytest

import plimsoll
from plimsoll.errors import InputError


@pytest.mark.parametrize(
    ("options", "where"),
    [
        ({"connections": 0}, "connections"),
        ({"rate_per_s": 0.0}, "rate_per_s"),
        ({"metric": "speed"}, "metric"),
        ({"budget_s": 0.0}, "budget_s"),
        ({"within": 0.0}, "within"),
        ({"within": 2.0}, "within"),
        ({"max_regression": 0.0}, "max_regression"),
        ({"max_regression": 3.0}, "max_regression"),
        ({"endpoint": "nothing"}, "endpoint"),
        ({"endpoint": "json", "path": "/"}, "endpoint"),
        ({"endpoint": "json", "commands": True}, "endpoint"),
        ({"path": "json"}, "path"),
    ],
)
def test_what_is_impossible_is_refused_with_its_option(options: dict[str, Any], where: str) -> None:
    with pytest.raises(InputError) as error:
        plimsoll.compare("reference", "reference", **options)
    assert where in {problem.where for problem in error.value.problems}


@pytest.mark.parametrize("name", ["nothing", "go:all"])
def test_a_name_is_one_framework(name: str) -> None:
    with pytest.raises(InputError):
        plimsoll.compare("reference", name)
