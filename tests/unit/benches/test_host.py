"""A reader learns whether the machine was quiet."""

from __future__ import annotations

import resource

import pytest

from workbench import host


def test_on_a_quiet_machine_the_figures_stand_as_they_are() -> None:
    said = host.others([0.02, 0.01, 0.4])
    assert said == "Other programs took 2 % (1 % to 40 %) of all cores meanwhile."


def test_on_a_busy_machine_the_figures_are_to_be_taken_again() -> None:
    assert "**The machine was not quiet" in host.others([0.02, 0.4, 0.5])


def test_without_a_run_nothing_is_said_of_others() -> None:
    assert host.others([]) == ""


def test_connections_that_need_more_files_than_are_allowed_are_fewer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(which: int, limits: tuple[int, int]) -> None:
        raise ValueError(which, limits)

    monkeypatch.setattr(resource, "setrlimit", refuse)
    monkeypatch.setattr(resource, "getrlimit", lambda which: (1024, 4096))
    assert host.allow_connections(500) == 500
    assert host.allow_connections(20_000) == 1024 - host.SPARE_FILES


def test_the_limit_is_raised_as_far_as_a_host_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [(1024, 4096)]

    def raise_to(which: int, limits: tuple[int, int]) -> None:
        if limits[1] > 4096:
            raise ValueError(which, limits)
        now[0] = limits

    monkeypatch.setattr(resource, "setrlimit", raise_to)
    monkeypatch.setattr(resource, "getrlimit", lambda which: now[0])
    assert host.allow_connections(20_000) == 4096 - host.SPARE_FILES


def test_a_thing_started_meanwhile_is_confined_and_the_one_who_starts_it_is_not_for_long() -> None:
    before = host.cores().all
    with host.confined(before[:1]):
        assert host.cores().all == before[:1]
    assert host.cores().all == before
