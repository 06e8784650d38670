"""Whatever is written in a quantity's form is read; whatever is not is refused with a way out."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from plimsoll.campaign.quantities import UnreadableQuantity, cores, count, duration_s, number

UNITS = {"ms": Fraction(1, 1000), "s": Fraction(1), "m": Fraction(60), "h": Fraction(3600)}
ANYTHING = st.one_of(
    st.text(), st.integers(), st.floats(), st.booleans(), st.none(), st.lists(st.integers())
)


@given(st.integers(0, 10**9), st.sampled_from(sorted(UNITS)))
def test_a_duration_is_its_number_times_its_unit(value: int, unit: str) -> None:
    assert duration_s(f"{value}{unit}") == float(value * UNITS[unit])


@given(st.floats(0, 1e12))
def test_a_bare_number_is_seconds(value: float) -> None:
    assert duration_s(value) == value


@given(st.integers(0, 10**9))
def test_a_count_is_exact_in_every_form(value: int) -> None:
    assert count(value) == count(f"{value}") == count(f"{value:_}") == value
    assert count(f"{value}k") == value * 1000
    assert count(f"{value}m") == value * 1_000_000


@given(st.sets(st.integers(0, 200), min_size=1))
def test_a_set_of_cores_is_the_same_in_every_form(chosen: set[int]) -> None:
    in_order = tuple(sorted(chosen))
    assert cores(list(chosen)) == in_order
    assert cores(",".join(map(str, chosen))) == in_order
    assert cores(",".join(f"{core}-{core}" for core in chosen)) == in_order


@given(ANYTHING)
def test_anything_is_read_or_refused_with_a_way_out(value: object) -> None:
    for read in (duration_s, count, number, cores):
        try:
            found = read(value)
        except UnreadableQuantity as error:
            assert error.message
            assert error.hint
        else:
            assert isinstance(found, tuple) or 0 <= found < float("inf")
