"""Servers that take turns: what they share is no doubt, what one does alone is."""

from dataclasses import replace
from random import Random

import pyarrow as pa
import pytest

from plimsoll import tables
from plimsoll.aggregate.query import SECOND_NS
from plimsoll.aggregate.trial import Tables
from plimsoll.recording.turns import Turn
from plimsoll.statistics.drift import Drift
from plimsoll.verdicts.checks import steady
from plimsoll.verdicts.judge import judge
from plimsoll.verdicts.limits import Limits
from recordings import as_load, simulate

TURN = Turn(1, 1, "go", 0, 250_000_000, 1_000, 0, None, None, None, None)
HOLD_S = 6.0
TURN_S = 0.1
SCATTER = 0.15
"""Of the pace of the others from round to round, on logarithms."""


def beside(trial: Tables, fall_ratio: float) -> Tables:
    """The trial with the pace of others, which fall in the middle of the load by that ratio."""
    assert trial.readings is not None
    draw, count = Random(7), round(HOLD_S / TURN_S)
    level = [1.0 if number < count / 2 else 1.0 - fall_ratio for number in range(count)]
    paces = [one * draw.lognormvariate(0.0, SCATTER) for one in level]
    ends_ns = [round((number + 1) * TURN_S * SECOND_NS) for number in range(count)]
    rows = {
        "at_ns": ends_ns,
        "host": ["local"] * count,
        "scope": ["machine"] * count,
        "quantity": ["others_pace_ratio"] * count,
        "value": paces,
    }
    added = pa.table(rows).select(tables.USAGE.schema.names).cast(tables.USAGE.schema)
    readings = pa.concat_tables([trial.readings, added]).unify_dictionaries().sort_by("at_ns")
    recording = replace(trial.recording, turns=(TURN,))
    return replace(trial, recording=recording, readings=readings)


def falling(ratio: float) -> Tables:
    """A trial whose throughput falls in the middle of its hold by that ratio."""
    return simulate(
        warm_up_s=0, ramp_s=0, hold_s=HOLD_S, speeds={0.0: 1.0, HOLD_S / 2: 1.0 - ratio}
    )


@pytest.mark.parametrize("ratio", [0.2, 0.6])
def test_a_fall_that_the_others_had_as_well_is_no_doubt(ratio: float) -> None:
    found = steady.judge(beside(falling(ratio), ratio), Limits({}))
    assert found.level == "not_checked"
    assert "the other servers in turns changed alike" in found.text


@pytest.mark.parametrize(("ratio", "level"), [(0.3, "doubtful"), (0.7, "void")])
def test_a_fall_that_the_others_had_not_is_the_servers(ratio: float, level: str) -> None:
    found = steady.judge(beside(falling(ratio), 0.0), Limits({}))
    assert found.level == level
    assert "throughput fell" in found.text.lower()
    assert "more than the servers that took turns with it" in found.text


def test_what_a_server_lost_beyond_the_others_is_judged() -> None:
    found = steady.judge(beside(falling(0.6), 0.3), Limits({}))
    assert found.level == "doubtful"


@pytest.mark.parametrize(("turns", "level"), [((), "doubtful"), ((TURN,), "sound")])
def test_a_mean_that_is_known_to_20_percent_is_doubtful_without_turns_only(
    turns: tuple[Turn, ...], level: str
) -> None:
    trial = simulate()
    trial = replace(trial, recording=replace(trial.recording, turns=turns))
    scattered = Drift(100.0, 100.0, 40.0, 0.0, 0.2, (0.0,))
    hold = steady._Hold(as_load(trial), trial.holds[0])
    found = steady._scattered(hold, scattered, [100.0] * 20, Limits({}))
    assert found.level == level
    assert "±20 %" in found.sentence


@pytest.mark.parametrize(
    ("hold_s", "per_s", "applies"), [(1.0, 2000.0, False), (4.0, 2000.0, True), (4.0, 20.0, True)]
)
def test_short_turns_are_nothing_to_check(hold_s: float, per_s: float, applies: bool) -> None:
    trial = simulate(warm_up_s=0, ramp_s=0, hold_s=hold_s, throughput_per_s=per_s)
    found = steady.judge(
        replace(trial, recording=replace(trial.recording, turns=(TURN,))), Limits()
    )
    assert found.applies is applies
    assert ("compared with the others of their rounds" in found.text) is not applies


def test_a_short_load_without_turns_is_not_checked() -> None:
    found = steady.judge(simulate(warm_up_s=0, ramp_s=0, hold_s=1.0), Limits())
    assert (found.level, found.applies) == ("not_checked", True)


@pytest.mark.parametrize(
    ("hold_s", "hangs_s", "check"),
    [(2.0, 0.25, "hidden_stalls"), (6.0, 0.25, "hidden_stalls"), (10.0, 1.0, "steady")],
)
def test_a_server_that_hangs_for_a_whole_turn_is_told(
    hold_s: float, hangs_s: float, check: str
) -> None:
    """Whole seconds without a response are told by `steady`, a shorter hang by `hidden_stalls`."""
    for hang in (0.0, hangs_s):
        frozen = {"freeze_s": (1.0, 1.0 + hang)} if hang else {}
        trial = simulate(warm_up_s=0, ramp_s=0, hold_s=hold_s, **frozen)
        recording = replace(trial.recording, turns=(TURN,))
        given = {one.check: one for one in judge(replace(trial, recording=recording))}
        assert given[check].is_doubting is bool(hang), given[check]
        assert given[check].text.startswith("The server stalled") is bool(hang), given[check]
