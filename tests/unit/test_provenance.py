"""What ran: its id, and the words for what differs."""

from __future__ import annotations

import pytest

from plimsoll.provenance import Part, Provenance, differences, digest, named, short_id

APP = Part("file", "app.py", digest(b"one"))
START = Part("command", "start", "exec ./app")
BOTTLE = Part("version", "bottle", "0.13.2")


def test_the_id_is_of_all_parts_in_any_order() -> None:
    assert short_id([APP, START]) == short_id([START, APP])
    ids = {short_id(parts) for parts in ([APP], [START], [APP, START], [APP, START, BOTTLE])}
    assert len(ids) == 4
    assert all(len(one) == 8 for one in ids)


def test_nothing_known_has_no_id() -> None:
    assert Provenance().application_id == Provenance().measurement_id == ""


@pytest.mark.parametrize(
    ("now", "told"),
    [
        (Part("file", "app.py", digest(b"two")), "`app.py` changed"),
        (Part("command", "start", "exec ./other"), "the start command changed"),
        (Part("version", "bottle", "0.13.4"), "bottle 0.13.2 → 0.13.4"),
        (Part("variable", "WORKERS", "2"), "the variable `WORKERS` changed"),
        (Part("program", "app", "2"), "the program `app` changed"),
        (Part("definition", "endpoint", "2"), "the endpoint changed"),
        (Part("setting", "server cores", "0,1"), "server cores 0 → 0,1"),
    ],
)
def test_what_differs_is_named(now: Part, told: str) -> None:
    before = [
        *(APP, START, BOTTLE, Part("variable", "WORKERS", "1"), Part("program", "app", "1")),
        *(Part("definition", "endpoint", "1"), Part("setting", "server cores", "0")),
    ]
    changed = [now if (now.kind, now.name) == (one.kind, one.name) else one for one in before]
    assert differences(before, changed) == (told,)
    assert differences(before, before) == ()


def test_what_came_and_what_went_is_named() -> None:
    assert differences([APP], [START]) == (
        "`app.py` was removed",
        "the start command was added",
    )


def test_of_many_differences_some_are_named_and_the_rest_is_counted() -> None:
    assert named(["a", "b", "c"]) == "a, b, c"
    assert named(["a", "b", "c", "d", "e"]) == "a, b, c, and 2 more"
