"""Making a campaign worse never improves a verdict on it."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sample
from examples import some
from plimsoll.aggregate import steady_state
from plimsoll.comparison.comparisons import ComparedTrial
from plimsoll.recording import RecordedStage
from plimsoll.verdicts.judge import judge_campaign
from plimsoll.verdicts.verdict import LEVELS

quick = some(20)

SERVERS = {"axum": 12_000.0, "go": 9000.0, "node": 6000.0, "reference": 20_000.0}
LENGTHS = {"empty": 120, "2048": 2200, "8192": 8350, "32768": 32_900}
BLOCKS = (1, 2, 3, 4)


def trial(framework, throughput, endpoint, block, order, *, connections=64):
    """One trial of a campaign, sound in itself."""
    level = float(connections)
    recording = sample.recording(
        framework=framework,
        endpoint=endpoint,
        repetition=block,
        order=order,
        load=sample.load(name=f"c{connections}"),
        stages=(RecordedStage("hold", 0, 7 * 10**9, level, level, 1),),
    )
    length = LENGTHS[endpoint]
    summary = sample.summary(
        recording.trial, throughput, received_bytes=round(throughput * 7) * length
    )
    steps = tuple(round(throughput * (1 + 0.1 * ((order * 7 + n) % 5))) for n in range(7))
    return ComparedTrial(
        recording,
        summary,
        False,
        steps=steps,
        steady_state=steady_state.FLAT,
        server_busy_ratio=0.97,
    )


def base(blocks=BLOCKS, scatter=0.002):
    """A campaign without fault: servers that differ, and repetitions that agree."""
    trials = []
    for block in blocks:
        for place, (name, speed) in enumerate(SERVERS.items()):
            for at, endpoint in enumerate(LENGTHS):
                order = len(trials)
                chance = scatter * ((place * 5 + at * 3 + block * 7) % 5 - 2)
                throughput = speed * (1 - 0.15 * at) * (1 + chance)
                trials.append(trial(name, throughput, endpoint, block, order))
    return trials


BASES = [base(), base(BLOCKS[:1]), base(BLOCKS[:2]), base(scatter=0.02), base(scatter=0.03)]
bases = st.sampled_from(BASES)


def level(trials, check):
    """The worst that one check says of a campaign; sound where it checks nothing."""
    levels = [one.level for one in judge_campaign(trials) if one.check == check]
    return max(LEVELS.index(level) for level in ("sound", *levels))


def is_no_better(check, trials, worse):
    return level(worse, check) >= level(trials, check)


def scaled(one, factor):
    """A trial whose server was faster or slower."""
    numbers = {
        name: one.summary.value(name) * factor
        for name in ("throughput_per_s", "goodput_per_s", "completed", "ok", "received_bytes")
    }
    return replace(one, summary=sample.changed(one.summary, **numbers))


def test_a_campaign_without_fault_is_sound():
    assert {one.check: one.level for one in judge_campaign(BASES[0])} == {
        one.check: "sound" for one in judge_campaign(BASES[0])
    }


@quick
@given(bases, st.sampled_from(BLOCKS), st.floats(0.01, 0.5))
def test_a_reference_that_drifts_never_improves_its_verdict(trials, block, drift):
    worse = [
        scaled(one, 1 - drift)
        if one.recording.framework == "reference" and one.recording.repetition == block
        else one
        for one in trials
    ]
    assert is_no_better("reference_drift", trials, worse)


@quick
@given(bases, st.sets(st.sampled_from(BLOCKS)))
def test_a_reference_that_is_void_never_improves_its_verdict(trials, blocks):
    worse = [
        replace(one, is_void=True)
        if one.recording.framework == "reference" and one.recording.repetition in blocks
        else one
        for one in trials
    ]
    assert is_no_better("reference_drift", trials, worse)


@quick
@given(bases, st.integers(0, 1000), st.floats(1.05, 3.0))
def test_a_repetition_that_scatters_never_improves_the_verdict_on_repetitions(trials, seed, factor):
    chosen = seed % len(trials)
    entry = [one for one in trials if one.key == trials[chosen].key]
    fastest = max(entry, key=lambda one: one.summary.goodput_per_s)
    worse = [scaled(one, factor) if one is fastest else one for one in trials]
    assert is_no_better("repetitions_agree", trials, worse)


@quick
@given(bases, st.sets(st.integers(0, 1000), max_size=6))
def test_repetitions_that_do_not_count_never_improve_the_verdict_on_them(trials, chosen):
    places = {place % len(trials) for place in chosen}
    worse = [
        replace(one, is_void=True) if place in places else one for place, one in enumerate(trials)
    ]
    assert is_no_better("repetitions_agree", trials, worse)


@quick
@given(bases, st.floats(0.0, 1.0))
def test_idler_servers_never_improve_a_verdict(trials, busy):
    alike = [
        scaled(one, 9000.0 / SERVERS[one.recording.framework])
        if one.recording.framework != "reference"
        else one
        for one in trials
    ]
    idler = [replace(one, server_busy_ratio=min(busy, 0.97)) for one in alike]
    for check in ("common_ceiling", "payload_insensitive"):
        assert is_no_better(check, alike, idler)


@quick
@given(bases, st.sampled_from(["axum", "node"]))
def test_a_series_that_is_another_servers_never_improves_a_verdict(trials, name):
    of_go = {
        (one.recording.endpoint, one.recording.repetition): one.steps
        for one in trials
        if one.recording.framework == "go"
    }
    worse = [
        replace(one, steps=of_go[one.recording.endpoint, one.recording.repetition])
        if one.recording.framework == name
        else one
        for one in trials
    ]
    assert is_no_better("identical_series", trials, worse)
    assert level(worse, "identical_series") > LEVELS.index("sound")


@quick
@given(st.floats(0.0, 0.5))
def test_a_machine_that_slows_down_never_improves_a_verdict(drift):
    trials = BASES[0]
    worse = [scaled(one, 1 - drift * place / len(trials)) for place, one in enumerate(trials)]
    assert is_no_better("order_neutral", trials, worse)


GROWING = {1: 1000.0, 4: 3900.0, 16: 14_000.0, 64: 30_000.0, 256: 33_000.0}


def climbing(numbers):
    return [
        trial("go", value, "2048", 1, place, connections=number)
        for place, (number, value) in enumerate(numbers.items())
    ]


@quick
@given(st.sampled_from([16, 64]), st.floats(0.05, 1.0))
def test_a_load_that_falls_out_of_the_law_never_improves_its_verdict(number, factor):
    worse = climbing(GROWING | {number: GROWING[number] * factor})
    assert is_no_better("scalability_law", climbing(GROWING), worse)


@pytest.mark.parametrize("state", [steady_state.WARM_UP, steady_state.UNSTEADY])
@pytest.mark.parametrize("trials", BASES, ids=range(len(BASES)))
def test_a_steady_state_that_differs_never_improves_a_verdict(trials, state):
    worse = [replace(trials[0], steady_state=state), *trials[1:]]
    assert is_no_better("repetitions_agree", trials, worse)
