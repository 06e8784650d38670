"""Bodies that are compared as JSON."""

from __future__ import annotations

import pytest

from plimsoll.campaign.bodies import equal_as_json
from plimsoll.campaign.endpoints import by_name

ITEM = {"id": 1, "active": True, "tags": ["a", "b"], "rating": {"score": 2.0}}
DEEP = b"[" * 200_000


@pytest.mark.parametrize(
    "body",
    [
        b'{"id":1,"active":true,"tags":["a","b"],"rating":{"score":2.0}}',
        b'{"rating": {"score": 2}, "tags": ["\\u0061", "b"], "active": true, "id": 1.0}',
    ],
)
def test_any_spelling_is_equal(body: bytes) -> None:
    assert equal_as_json(ITEM)(body) is None


@pytest.mark.parametrize(
    "body",
    [
        b'{"id":1,"active":1,"tags":["a","b"],"rating":{"score":2.0}}',
        b'{"id":true,"active":true,"tags":["a","b"],"rating":{"score":2.0}}',
        b'{"id":1,"active":true,"tags":["a"],"rating":{"score":2.0}}',
        b'{"id":1,"active":true,"tags":["a","b"],"rating":{"score":"2.0"}}',
        b'{"id":1,"active":true,"tags":["a","b"],"rating":{"score":2.0},"more":null}',
        b'{"id":1,"active":true,"tags":{"a":"b"},"rating":{"score":2.0}}',
        b"[]",
    ],
)
def test_another_value_or_type_is_not(body: bytes) -> None:
    assert (equal_as_json(ITEM)(body) or "").startswith("the body is not equal to")


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"", "the body is not JSON"),
        (b"[" + b"9" * 5_000 + b"]", "the body is not JSON"),
        (b"\xff", "the body is not JSON"),
        (DEEP, "the body is JSON that is nested too deeply"),
    ],
)
def test_a_body_that_cannot_be_read_is_a_problem_and_no_error(body: bytes, problem: str) -> None:
    check = by_name("updates").exchanges[0].expected.check_body
    assert check is not None
    assert equal_as_json(ITEM)(body) == check(body) == problem
