"""How alike bodies are of which nothing was expected."""

from dataclasses import replace
from pathlib import Path

import pytest

from plimsoll.campaign.requests import Exchange, Expected, Request
from plimsoll.conduct import sampled_bodies
from plimsoll.recording import RecordedStage, SampledBodies
from written_bodies import written

STAGES = (
    RecordedStage("warm_up", 0, 1_000, 1, 1, 1),
    RecordedStage("hold", 1_000, 11_000, 1, 1, 1),
)
PAGE = Exchange(Request("/", "GET", "/"), Expected())
INSTANTS = range(1_000, 11_000, 10)


def found(into: Path, *bodies: tuple[int, bytes]) -> SampledBodies:
    file = written(into, *((0, at_ns, body) for at_ns, body in bodies))
    (one,) = sampled_bodies.of((PAGE,), STAGES, [file])
    return one


def test_two_bodies_that_take_turns_are_told(tmp_path: Path) -> None:
    one = found(tmp_path, *((at, b"right" if at % 20 else b"wrong") for at in INSTANTS))
    assert (one.bodies, one.usual, one.length_bytes, one.different) == (1_000, 500, 5, 1)
    assert 350 < one.others < 450


@pytest.mark.parametrize("second_ns", [1_500, 4_000])
def test_a_page_that_shows_the_time_has_one_body_after_the_other(
    tmp_path: Path, second_ns: int
) -> None:
    late_ns = {place: 40 * (place % 3) for place in range(1_000)}
    stamps = [(at, b"%05d" % ((at - late_ns[i]) // second_ns)) for i, at in enumerate(INSTANTS)]
    assert found(tmp_path, *stamps).others == 0


def test_a_page_with_a_counter_has_no_usual_body(tmp_path: Path) -> None:
    one = found(tmp_path, *((at, b"%05d" % at) for at in INSTANTS))
    assert (one.usual, one.others) == (1, 0)


def test_bodies_of_another_length_or_before_the_hold_are_left_out(tmp_path: Path) -> None:
    held = [(at, b"right" if at % 20 else b"longer") for at in INSTANTS]
    one = found(tmp_path, (500, b"early"), *held)
    assert (one.bodies, one.others) == (1_000, 0)


def test_bodies_that_something_is_known_of_are_not_compared(tmp_path: Path) -> None:
    file = written(tmp_path, (0, 2_000, b"right"))
    known = replace(PAGE, expected=Expected(check_body=lambda _: None))
    assert sampled_bodies.of((known,), STAGES, [file]) == ()
    assert sampled_bodies.of((PAGE,), STAGES, [tmp_path / "none"]) == ()
