"""Histories made by hand: campaigns with known numbers, on known machines."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from plimsoll.history.kept import (
    KeptCampaign,
    KeptEntry,
    KeptEstimate,
    KeptMachine,
    LineEnd,
)
from plimsoll.history.series import Series, series


def campaign(
    place: int,
    goodput: float | None = 1000.0,
    *,
    machine: str = "aaaa0001",
    load: str = "l1",
    endpoint: str = "json",
    p99_ns: float | None = None,
) -> KeptCampaign:
    """The campaign of one day; without a number its entry is void."""
    numbers = {"goodput_per_s": goodput, "response_time_p99_ns": p99_ns}
    entry = KeptEntry(
        framework="go",
        endpoint=endpoint,
        load="steady",
        driver="plimsoll",
        level="void" if goodput is None else "sound",
        repetitions=3,
        excluded=0,
        application_id="3f9c2ab1",
        load_id=load,
        versions={"framework": "go1.26"},
        estimates={
            name: KeptEstimate(value=number, low=0.99 * number, high=1.01 * number)
            for name, number in numbers.items()
            if number is not None
        },
    )
    return KeptCampaign(
        format=1,
        campaign="nightly",
        results_id=f"{machine}-{place}",
        measured_at=f"2026-{1 + place // 28:02}-{1 + place % 28:02}T03:04:05Z",
        commit=f"c{place}",
        plimsoll="0.1.0",
        machine=KeptMachine(fingerprint=machine, facts={"cpu_model": f"CPU of {machine}"}),
        entries=(entry,),
    )


def line_campaign(
    place: int, rate_per_s: float | None, end: LineEnd | None = None, framework: str = "go"
) -> KeptCampaign:
    """The campaign of one day that searched a load line; without a rate, how that ended."""
    made = campaign(place, None)
    number = {} if rate_per_s is None else {"line_rate_per_s": rate_per_s}
    change = {
        "framework": framework,
        "load": "p99 ≤ 20 ms",
        "level": "void" if end in ("load_generator", "untried") else "sound",
        "estimates": {
            name: KeptEstimate(value=one, low=0.99 * one, high=1.01 * one)
            for name, one in number.items()
        },
        "line": end or ("found" if number else None),
    }
    entry = made.entries[0].model_copy(update=change)
    return made.model_copy(update={"entries": (entry,)})


def noise(count: int, seed: int, level: float = 1000.0) -> list[float]:
    """Numbers that scatter by 1 % about a level."""
    return (level * np.exp(np.random.default_rng(seed).normal(0, 0.01, count))).tolist()


def campaigns(numbers: Sequence[float | None]) -> list[KeptCampaign]:
    """One campaign a day."""
    return [campaign(place, number) for place, number in enumerate(numbers)]


def of_two_machines() -> Series:
    """A loss and a gain on one machine, then another machine that is slower."""
    numbers = [*noise(12, 1), *noise(8, 2, 950.0), None, *noise(7, 3, 1010.0)]
    other = [
        campaign(30 + place, number, machine="bbbb0002")
        for place, number in enumerate(noise(6, 4, 700.0))
    ]
    (found,) = series([*campaigns(numbers), *other], ["goodput_per_s"])
    return found
