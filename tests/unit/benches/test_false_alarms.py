"""False alarms: what counts as one, and when there are too many."""

from __future__ import annotations

from typing import Any

import false_alarms
from false_alarms import Alarm


def trial(name: str, **levels: str) -> dict[str, Any]:
    verdicts = [
        {"check": check, "level": level, "sentences": [{"text": f"{check} is {level}."}]}
        for check, level in levels.items()
    ]
    return {"trial": name, "verdicts": verdicts}


def test_what_is_not_sound_is_an_alarm() -> None:
    found = false_alarms.alarms([trial("a.1", steady="sound", backlog="doubtful")])
    assert found == [Alarm("a.1", "backlog", "doubtful", "backlog is doubtful.")]


def test_a_driver_that_is_the_limit_of_a_full_load_is_no_false_alarm() -> None:
    full = trial("reference.2048.full-64.1", driver_headroom="void", steady="doubtful")
    clean = trial("reference.2048.closed-8.1", driver_headroom="void")
    assert [one.check for one in false_alarms.alarms([full, clean])] == [
        "steady",
        "driver_headroom",
    ]


def test_one_void_trial_is_too_many_and_so_are_three_doubtful_ones_of_fifty() -> None:
    quiet = [trial(f"{number}", steady="sound") for number in range(50)]

    def is_too_many(*levels: str, allowed_ratio: float = false_alarms.ALLOWED_RATIO) -> bool:
        loud = [trial(f"{place}", steady=level) for place, level in enumerate(levels)]
        judged = [*loud, *quiet[len(loud) :]]
        return false_alarms.is_too_many(judged, false_alarms.alarms(judged), allowed_ratio)

    assert not is_too_many()
    assert not is_too_many("doubtful", "doubtful")
    assert is_too_many("doubtful", "doubtful", "doubtful")
    assert is_too_many("void")
    with_noise = false_alarms.ALLOWED_WITH_NOISE
    assert not is_too_many(*["doubtful"] * 5, allowed_ratio=with_noise)
    assert is_too_many(*["doubtful"] * 6, allowed_ratio=with_noise)
    assert is_too_many("void", allowed_ratio=with_noise)


def test_the_page_counts_levels_by_check_and_tells_every_alarm() -> None:
    judged = [trial("a.1", steady="doubtful"), trial("b.1", steady="sound")]
    page = false_alarms.page(judged, false_alarms.alarms(judged))
    assert "| `steady` | 1 | 1 | 0 |" in page
    assert "- a.1, `steady`, doubtful: steady is doubtful." in page
    assert page.endswith("2 trials: 0 void, 1 doubtful")


def test_there_are_fifty_trials() -> None:
    loads = [*false_alarms.clean(2.0), *false_alarms.full(2.0)]
    assert len(loads) * len(false_alarms.ENDPOINTS) == 50
