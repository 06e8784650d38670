"""Each fault of the catalogue is found at a size, and not said of its twin that has none.

`make test` makes the first two faults that a check finds, or one where they need a quiet host.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from faults.catalogue import FAULTS, NO_CHECK, PROVED, REFUSED, Fault, Proved
from faults.trials import JUDGED, Seen, Trial, seen
from plimsoll.verdicts.checks import CHECKS

pytestmark = [pytest.mark.long, pytest.mark.timeout(120)]

Seeing = Callable[[Trial], Seen]


def is_often_made(fault: Fault) -> bool:
    """Whether a fault is among the first of its check; those refused or hidden are all made."""
    alike = [one for one in FAULTS if one.found_by == fault.found_by]
    return fault.found_by in (REFUSED, NO_CHECK) or fault in alike[: 1 if fault.needs_quiet else 2]


def marks(fault: Fault) -> list[pytest.MarkDecorator]:
    """Marks of the tests of a fault."""
    alone = [pytest.mark.alone] if fault.needs_quiet else []
    return alone if is_often_made(fault) else [*alone, pytest.mark.thorough]


EACH = [pytest.param(fault, id=fault.name, marks=marks(fault)) for fault in FAULTS]
FOUND = [one for one, fault in zip(EACH, FAULTS, strict=True) if fault.found_by != NO_CHECK]
HIDDEN = [one for one, fault in zip(EACH, FAULTS, strict=True) if fault.found_by == NO_CHECK]
TESTS = Path(__file__).parents[1]
DATA = TESTS.parent / "docs" / "faults.json"
BY_OTHERS = {
    *("undisturbed", "steady", "hidden_stalls", "bottleneck_identified"),
    *("driver_headroom", "driver_uninterrupted"),
}
"""Checks that doubt a trial when other programs take time from it."""
BY_LENGTH = {"long_enough"}
"""Checks that doubt a trial that a fast machine has done in less than a second."""


@pytest.fixture(scope="module")
def see(tmp_path_factory: pytest.TempPathFactory) -> Seeing:
    """Makes a trial; a twin that several faults have is made once."""

    @cache
    def of(trial: Trial) -> Seen:
        return seen(trial, tmp_path_factory.mktemp("fault"))

    return of


def told_apart(fault: Fault, given: Seen) -> None:
    """Skips where other programs on the cores can be the reason."""
    is_explained = given.level(fault.found_by) == "not_checked"
    if given.is_disturbed and (fault.needs_quiet or is_explained):
        busy = f"{100 * given.host_busy_ratio:.0f} %"
        pytest.skip(f"this host was {busy} busy, so `{fault.found_by}` cannot tell")


@pytest.mark.parametrize("fault", FOUND)
def test_a_fault_is_found_by_its_check(see: Seeing, fault: Fault) -> None:
    given = see(fault.make(fault.at))
    if not fault.is_found(given):
        told_apart(fault, given)
        pytest.fail(f"not found by {fault.found_by}: {given.sentences(fault.found_by)}")


@pytest.mark.parametrize("fault", FOUND)
def test_the_twin_without_the_fault_is_not_doubted_by_that_check(see: Seeing, fault: Fault) -> None:
    given = see(fault.make(0))
    assert given.code in JUDGED, given.said
    if fault.is_found(given):
        told_apart(fault, given)
        pytest.fail(given.sentences(fault.found_by))


@pytest.mark.parametrize("fault", HIDDEN)
def test_a_fault_that_no_check_finds_is_told_with_the_reason(see: Seeing, fault: Fault) -> None:
    given = see(fault.make(fault.at))
    assert fault.why
    doubting = {name for name in given.verdicts if given.doubts(name)} - BY_OTHERS - BY_LENGTH
    if doubting and given.is_disturbed:
        pytest.skip(f"this host was {100 * given.host_busy_ratio:.0f} % busy: {doubting}")
    assert not doubting


def test_every_fault_has_a_name_of_its_own_a_ladder_and_a_check_that_exists() -> None:
    names = [fault.name for fault in (*FAULTS, *PROVED)]
    assert len(set(names)) == len(names) >= 33
    known = {check.NAME for check in CHECKS} | {REFUSED, NO_CHECK}
    assert {fault.found_by for fault in FAULTS} <= known
    for fault in FAULTS:
        assert 0 < fault.sizes[0]
        assert list(fault.sizes) == sorted(fault.sizes)


@pytest.mark.parametrize("fault", PROVED, ids=lambda fault: fault.name)
def test_a_fault_with_a_test_of_its_own_has_it(fault: Proved) -> None:
    assert f"{fault.found_by}" in (TESTS / fault.test).read_text(encoding="utf-8")


def test_the_table_in_the_documentation_has_every_fault_as_it_is() -> None:
    rows = json.loads(DATA.read_text(encoding="utf-8"))["faults"]
    told = [(row["name"], row["what"], row["found_by"], row["why"]) for row in rows]
    listed = [(one.name, one.what, one.found_by, one.why) for one in FAULTS]
    assert told == [*listed, *((one.name, one.what, one.found_by, "") for one in PROVED)]
