"""Each check on campaigns that pass and on campaigns that do not."""

import importlib
import math
from dataclasses import replace
from itertools import count

import pytest

import sample
from plimsoll.aggregate import steady_state
from plimsoll.comparison.comparisons import ComparedTrial
from plimsoll.plan import ComparedTable
from plimsoll.provenance import Kind, Part, Provenance, digest
from plimsoll.recording import Ending, RecordedStage
from plimsoll.recording.turns import Turn
from plimsoll.verdicts import catalogue
from plimsoll.verdicts.campaign_checks import CAMPAIGN_CHECKS, repetitions_agree
from plimsoll.verdicts.judge import judge_campaign
from plimsoll.verdicts.limits import Limits

RISING = tuple(range(1000, 9000, 1000))


def trial(framework, throughput, endpoint="2048", repetition=1, **changes):
    """One trial of a campaign; `load`, `order` and others are of its recording."""
    fields = ("load", "order", "limits", "driver_name", "provenance", "ending", "zero_utc")
    recorded = {name: changes.pop(name) for name in fields if name in changes}
    if "connections" in changes:
        level = float(changes.pop("connections"))
        recorded["stages"] = (RecordedStage("hold", 0, 7 * 10**9, level, level, 1),)
    recording = sample.recording(
        framework=framework, endpoint=endpoint, repetition=repetition, **recorded
    )
    length = changes.pop("response_bytes", 2170)
    received = None if length is None else round(throughput * 7) * length
    summary = sample.summary(recording.trial, throughput, received_bytes=received)
    changes = {"is_void": False, "server_busy_ratio": 0.97, **changes}
    return ComparedTrial(recording, summary, **changes)


def judged(check, *repetitions):
    module = importlib.import_module(f"plimsoll.verdicts.campaign_checks.{check}")
    return module.judge(repetitions, Limits())


def verdict(check, *repetitions):
    (only,) = judged(check, *repetitions)
    return only


def at_the_top(*throughputs, **changes):
    names = ("axum", "go", "node", "django", "spring")
    return [trial(name, value, **changes) for name, value in zip(names, throughputs, strict=False)]


def test_idle_servers_that_stop_at_one_number_have_a_common_ceiling():
    found = verdict(
        "common_ceiling", *at_the_top(46_300, 46_100, 45_900, 20_000, server_busy_ratio=0.6)
    )
    assert (found.level, found.measured) == ("doubtful", 3)
    assert "3 servers reach the same throughput (axum, go, node" in found.text
    assert "45,900 to 46,300" in found.text
    assert "60 % of its cores" in found.text


def test_servers_that_are_at_their_own_limits_have_no_common_ceiling():
    assert verdict("common_ceiling", *at_the_top(46_300, 46_100, 45_900)).level == "sound"


def test_servers_that_differ_have_no_common_ceiling():
    trials = at_the_top(46_300, 40_000, 30_000, server_busy_ratio=0.6)
    assert verdict("common_ceiling", *trials).level == "sound"


def test_a_common_ceiling_of_servers_whose_processors_could_not_be_read_is_doubtful():
    found = verdict("common_ceiling", *at_the_top(46_300, 46_100, 45_900, server_busy_ratio=None))
    assert found.level == "doubtful"
    assert "could not be read" in found.text


@pytest.mark.parametrize("load", [{"model": "open"}, {"think_time_s": 0.1}])
def test_at_a_rate_that_was_asked_for_servers_are_alike(load):
    trials = at_the_top(500, 500, 500, server_busy_ratio=0.1, load=sample.load(**load))
    assert judged("common_ceiling", *trials) == ()


def test_variants_of_one_framework_are_one_server():
    trials = at_the_top(46_300, 46_100, server_busy_ratio=0.6)
    assert judged("common_ceiling", *trials) == ()


def by_length(*throughputs, **changes):
    lengths = {"empty": 120, "2048": 2200, "8192": 8350, "32768": 32900}
    return [
        trial("node", value, endpoint, response_bytes=length, **changes)
        for (endpoint, length), value in zip(lengths.items(), throughputs, strict=True)
    ]


def test_one_number_whatever_the_length_is_doubtful_where_the_server_had_time():
    found = verdict(
        "payload_insensitive", *by_length(8000, 7990, 8010, 7950, server_busy_ratio=0.5)
    )
    assert (found.level, found.measured) == ("doubtful", 4)
    assert "120 or 32,900 bytes" in found.text


def test_one_number_whatever_the_length_is_noted_where_the_server_was_busy():
    found = verdict("payload_insensitive", *by_length(800, 799, 801, 795))
    assert found.level == "sound"
    assert "its cost per request" in found.text


def test_longer_answers_that_cost_throughput_are_sound():
    found = verdict(
        "payload_insensitive", *by_length(8000, 7000, 5000, 2000, server_busy_ratio=0.5)
    )
    assert found.level == "sound"


def test_few_endpoints_or_answers_of_like_length_do_not_ask_the_question():
    assert judged("payload_insensitive", *by_length(8, 8, 8, 8)[:3]) == ()
    alike = [trial("go", 8000, str(place), response_bytes=2000) for place in range(5)]
    assert judged("payload_insensitive", *alike) == ()


def test_answers_of_which_nobody_says_how_long_they_were_do_not_ask_the_question():
    unsaid = [trial("go", 8000, str(place), response_bytes=None) for place in range(5)]
    assert judged("payload_insensitive", *unsaid) == ()


def test_one_series_of_two_servers_is_doubtful():
    trials = [trial("go", 8000, steps=RISING), trial("node", 8000, steps=RISING)]
    found = verdict("identical_series", *trials)
    assert found.level == "doubtful"
    assert "go.2048.steady.1 and node.2048.steady.1" in found.text


def test_series_that_differ_and_repetitions_of_one_server_are_sound():
    other = tuple(value * 2 for value in RISING)
    trials = [
        trial("go", 8000, steps=RISING),
        trial("go", 8000, repetition=2, steps=RISING),
        trial("node", 8000, steps=other),
    ]
    assert verdict("identical_series", *trials).level == "sound"


def blocks(*throughputs, name="reference", **changes):
    return [
        trial(name, value, repetition=place, **changes)
        for place, value in enumerate(throughputs, 1)
    ]


@pytest.mark.parametrize(
    ("throughputs", "levels"),
    [
        ((10_000, 10_100, 9_900), {"campaign": "sound"}),
        ((10_000, 10_000, 9_300), {"block 3": "doubtful"}),
        ((10_000, 13_000, 10_000), {"block 2": "void"}),
        ((10_000, 5_000), {"block 1": "void", "block 2": "void"}),
        ((10_000, 8_500), {"block 1": "doubtful", "block 2": "doubtful"}),
        ((10_000, 9_300), {"campaign": "sound"}),
    ],
)
def test_a_block_is_as_good_as_its_reference(throughputs, levels):
    found = judged("reference_drift", *blocks(*throughputs))
    assert {one.subject: one.level for one in found} == levels


def test_a_block_in_which_only_the_reference_changed_is_doubtful_and_not_void():
    reference = blocks(10_000, 6_000, 10_000)
    steady = [*blocks(8_000, 7_900, 8_000, name="go"), *blocks(4_000, 4_000, 4_000, name="node")]
    (found,) = judged("reference_drift", *reference, *steady)
    assert (found.subject, found.level, found.measured) == ("block 2", "doubtful", 0.4)
    assert (
        "40 % slower than its median over the blocks, and the other servers were not" in found.text
    )
    slower = [*blocks(8_000, 5_000, 8_000, name="go"), *blocks(4_000, 3_000, 4_000, name="node")]
    assert verdict("reference_drift", *reference, *slower).level == "void"
    assert verdict("reference_drift", *reference, *steady[:3]).level == "void", "one says nothing"


def test_a_reference_that_others_robbed_in_one_block_does_not_void_it():
    known = [replace(one, lost_ratio=0.0) for one in blocks(10_000, 10_000)]
    robbed = trial("reference", 7_000, repetition=3, lost_ratio=0.3)
    assert verdict("reference_drift", *known, robbed).level == "sound"


def test_a_reference_that_knows_its_loss_in_some_blocks_only_is_compared_as_it_is():
    known = [trial("reference", 10_000, repetition=place, lost_ratio=0.4) for place in range(1, 4)]
    unknown = replace(known[0], lost_ratio=None)
    assert verdict("reference_drift", unknown, *known[1:]).level == "sound"


ROUNDS = 30


def in_turns(trials, scatter):
    """The same trials, whose turns scatter so much, as a standard deviation / the mean."""
    return [
        replace(one, recording=replace(one.recording, turns=turns_of(one, scatter)))
        for one in trials
    ]


def turns_of(one, scatter):
    requests = one.summary.throughput_per_s / 10
    warm_up = Turn(1, 0, "any", 0, 10**9, 1, 0, None, None, None, None)
    shares = [1 + scatter * (-1) ** number for number in range(ROUNDS)]
    held = [
        replace(warm_up, round=number, duration_ns=10**8, requests=round(requests * share))
        for number, share in enumerate(shares, 1)
    ]
    return (warm_up, *held)


@pytest.mark.parametrize(
    ("throughputs", "levels"),
    [
        ((10_000, 10_000, 8_800), {"campaign": "sound"}),
        ((10_000, 13_000, 10_000), {"block 2": "doubtful"}),
    ],
)
def test_a_block_of_turns_has_one_machine_for_all(throughputs, levels):
    found = judged("reference_drift", *in_turns(blocks(*throughputs), 0.2))
    assert {one.subject: one.level for one in found} == levels
    assert all("servers took turns" in one.text for one in found)


def alone(one):
    """The same trial with its turns at another time, as if it had been repeated alone."""
    turns = [replace(turn, start_ns=turn.start_ns + 10**12) for turn in one.recording.turns]
    return replace(one, recording=replace(one.recording, turns=tuple(turns)))


def test_a_block_with_a_trial_that_was_repeated_alone_had_two_machines():
    reference = in_turns(blocks(10_000, 13_000, 10_000), 0.2)
    first, second, third = in_turns(blocks(9_000, 9_000, 9_000, name="go"), 0.2)
    (found,) = judged("reference_drift", *reference, first, second, third)
    assert found.level == "doubtful"
    assert "servers took turns" in found.text
    (found,) = judged("reference_drift", *reference, first, alone(second), third)
    assert (found.subject, found.level) == ("block 2", "void")
    assert "servers took turns" not in found.text
    assert "the machine had changed" in found.text


def test_servers_that_take_turns_depend_on_no_order():
    trials = in_turns(drifting(0.1), 0.2)
    assert judged("order_neutral", *trials) == ()
    (found,) = judged("order_neutral", alone(trials[0]), *trials[1:])
    assert "servers became" in found.text


@pytest.mark.parametrize(("scatter", "level"), [(0.4, "sound"), (0.05, "doubtful")])
def test_repetitions_are_doubted_for_what_their_turns_do_not_explain(scatter, level):
    trials = blocks(9_200, 10_000, 10_900, name="go")
    assert verdict("repetitions_agree", *trials).level == "doubtful"
    found = verdict("repetitions_agree", *in_turns(trials, scatter))
    assert found.level == level, found.text


def ranked(*lost):
    """Two servers, the first a quarter ahead, and what others took from each of their trials."""
    return [
        trial(name, speed * (1 + 0.004 * repetition), repetition=repetition, lost_ratio=ratio)
        for name, speed, ratio in zip(("go", "node"), (10_000, 8_000), lost, strict=True)
        for repetition in range(1, 5)
    ]


@pytest.mark.parametrize(
    ("lost", "level", "words"),
    [
        ((0.3, 0.3), "sound", "trials waited 30 % of the time"),
        ((0.3, 0.1), "sound", "no ranking depends on it"),
        ((0.05, 0.1), "sound", "no ranking depends on it"),
        ((0.05, 0.25), "doubtful", "node, which waited 25 % of the time"),
    ],
)
def test_a_rank_that_others_made_is_doubted(lost, level, words):
    found = verdict("equally_disturbed", *ranked(*lost))
    assert (found.level, words in found.text.lower()) == (level, True), found.text


def test_where_nobody_knows_what_others_took_no_rank_is_doubted_for_it():
    assert judged("equally_disturbed", *ranked(None, None)) == ()


def test_repetitions_that_scatter_only_by_what_others_took_are_not_doubted():
    trials = [
        trial("go", 10_000 * (1 - lost), repetition=place, lost_ratio=lost)
        for place, lost in enumerate((0.0, 0.1, 0.3, 0.2), 1)
    ]
    assert verdict("repetitions_agree", *trials).level == "sound"
    unknown = [replace(one, lost_ratio=None) for one in trials]
    assert verdict("repetitions_agree", *unknown).level == "doubtful"


def test_a_block_without_a_number_of_the_reference_is_doubtful():
    trials = [*blocks(10_000, 10_000), trial("reference", 1, repetition=3, is_void=True)]
    found = verdict("reference_drift", *trials)
    assert (found.subject, found.level, found.measured) == ("block 3", "doubtful", None)
    assert catalogue.title_of(found) == "Reference drift (unknown)"


def test_a_reference_that_drifted_has_the_name_of_the_problem():
    found = verdict("reference_drift", *blocks(10_000, 10_000, 7000))
    assert (found.is_doubting, catalogue.title_of(found)) == (True, "Reference drifted")


def test_a_reference_that_counts_in_no_block_leaves_the_machine_unknown():
    trials = [trial("reference", 1, repetition=place, is_void=True) for place in (1, 2)]
    found = verdict("reference_drift", *trials, *blocks(8000, 8000, name="go"))
    assert (found.subject, found.level, found.measured) == ("campaign", "doubtful", None)
    assert "drift of the machine is unknown" in found.text


def test_a_reference_at_a_rate_that_was_asked_for_sees_no_drift():
    load = sample.load(model="open")
    trials = [trial("reference", 1, repetition=n, is_void=True, load=load) for n in (1, 2)]
    assert judged("reference_drift", *trials) == ()


def test_without_a_reference_or_with_one_block_there_is_no_drift_to_see():
    assert judged("reference_drift", *blocks(8000, 6000, name="go")) == ()
    assert judged("reference_drift", *blocks(8000)) == ()


def drifting(drift, repetitions=4):
    """Three servers whose numbers change by a ratio over the campaign, with some scatter."""
    orders = count()
    last = 3 * repetitions - 1
    return [
        trial(
            name,
            speed * (1 + drift * order / last) * (1 + 0.002 * ((order * 7) % 5 - 2)),
            repetition=repetition,
            order=order,
        )
        for repetition in range(1, repetitions + 1)
        for name, speed in (("go", 9000), ("node", 6000), ("axum", 12_000))
        for order in [next(orders)]
    ]


def test_a_machine_that_slows_down_is_told_by_all_servers_together():
    found = verdict("order_neutral", *drifting(-0.1))
    assert found.level == "doubtful"
    assert found.measured == pytest.approx(0.1, abs=0.01)
    assert "slower" in found.text


def test_scatter_is_no_drift():
    found = verdict("order_neutral", *drifting(0.0))
    assert (found.level, found.measured) == ("sound", 0.0)


def test_too_few_trials_to_tell_a_drift_are_doubtful_and_single_ones_are_not_asked():
    assert verdict("order_neutral", *drifting(0.1)[:5]).level == "not_checked"
    assert judged("order_neutral", *drifting(0.1, repetitions=1)) == ()


def test_of_single_repetitions_nothing_is_known_and_nothing_is_claimed():
    found = verdict("repetitions_agree", trial("go", 8000), trial("node", 7000))
    assert (found.level, found.measured, found.remedies) == ("not_checked", None, ())
    assert "the scatter between repetitions is unknown" in found.text
    assert "no rank is claimed" in found.text


def test_two_repetitions_say_little_and_are_no_fault_where_no_rank_is_claimed():
    found = verdict("repetitions_agree", *blocks(8000, 8010))
    assert (found.level, found.measured) == ("not_checked", None)
    assert "too few to show" in found.text


def test_a_rank_that_rests_on_two_repetitions_is_doubtful():
    trials = [*blocks(8000, 8010, name="go"), *blocks(2000, 2005, name="node")]
    found = verdict("repetitions_agree", *trials)
    assert (found.level, found.measured) == ("doubtful", 2)
    assert "go is ranked ahead of node at 2048, steady" in found.text


def test_entries_of_which_more_or_fewer_repetitions_count_are_not_said_to_be_alike():
    trials = [*blocks(8000, 8010, name="go"), *blocks(2000, 2005, name="node")]
    found = verdict("repetitions_agree", *trials, trial("django", 500))
    assert found.measured == 1
    assert "Only 1 to 2 repetitions of every entry count" in found.text


def test_repetitions_that_were_asked_for_and_do_not_count_are_missed():
    trials = [*blocks(8000, 8010), trial("reference", 8000, repetition=3, is_void=True)]
    found = verdict("repetitions_agree", *trials)
    assert (found.level, found.measured) == ("doubtful", 2)
    assert "of 3 that were requested" in found.text


def test_a_table_that_ended_after_fewer_blocks_than_another_lost_no_trial():
    here = [trial("go", 8000, "json", place) for place in (1, 2)]
    there = [trial("go", 8000 + place, "2048", place) for place in range(1, 6)]
    found = verdict("repetitions_agree", *here, *there)
    assert found.level == "not_checked", found.text


def test_each_table_misses_the_repetitions_of_its_own():
    lost = trial("go", 8000, "2048", 3, is_void=True)
    there = [*(trial("go", 8000 + place, "2048", place) for place in (1, 2)), lost]
    here = [trial("go", 8000, "json", place) for place in (1, 2)]
    found = verdict("repetitions_agree", *here, *there)
    assert "go · 2048 · steady count, too few to show the scatter, of 3 that" in found.text
    assert "json" not in found.text
    (remedy,) = found.remedies
    assert "`--again`" in remedy


def two_ahead(*more):
    return [*blocks(8000, 8010, name="go"), *blocks(2000, 2005, name="node"), *more]


@pytest.mark.parametrize(
    ("more", "words", "absent"),
    [
        ([], ["Request three"], ["again"]),
        (
            [trial(name, 1, repetition=3, is_void=True) for name in ("go", "node")],
            ["`--again`"],
            ["three", "same command again"],
        ),
        ([trial("go", 8005, repetition=3)], ["Run the same command again"], ["three", "--again"]),
        (
            [trial("go", 8005, repetition=3, is_void=True)],
            ["`--again`"],
            ["three", "same command again"],
        ),
    ],
)
def test_the_remedy_of_too_few_repetitions_is_by_what_became_of_the_others(more, words, absent):
    found = verdict("repetitions_agree", *two_ahead(*more))
    assert "go is ranked ahead of node" in found.text
    (remedy,) = found.remedies
    assert [word for word in words if word not in remedy] == []
    assert [word for word in absent if word in remedy] == []


def test_an_interrupted_campaign_goes_on_by_the_same_command():
    begun = [trial("node", 8000, repetition=place) for place in (1, 2)]
    found = verdict("repetitions_agree", trial("go", 8000), *begun)
    assert found.level == "doubtful"
    (remedy,) = found.remedies
    assert remedy.startswith("Run the same command again")


SLOWER = (1.0, 1.0, 1.0, 0.9, 0.9)
"""How fast the machine was in each block."""


def with_holes(rates, holes, **changes):
    """Servers in each block of `SLOWER`, those of the holes void there."""
    return [
        trial(
            name,
            rate * speed,
            repetition=block,
            is_void=block in holes.get(name, ()),
            **{key: of[name] for key, of in changes.items()},
        )
        for name, rate in rates.items()
        for block, speed in enumerate(SLOWER, 1)
    ]


@pytest.mark.parametrize("holes", [{}, {"axum": (1, 2)}, {"axum": (1, 2), "node": (5,)}])
def test_what_a_block_did_to_all_is_no_scatter_where_repetitions_are_missing(holes):
    found = verdict(
        "repetitions_agree", *with_holes({"axum": 9000, "go": 8000, "node": 4000}, holes)
    )
    assert found.level == "sound", found.text
    assert "a standard deviation of 0" in found.text


def test_the_lead_of_a_rank_is_that_of_the_ranking_where_repetitions_are_missing():
    scatters = (1.02, 0.98, 1.0, 1.03, 0.97) * 8
    trials = [
        trial(
            name,
            rate * (0.95 if block > 30 else 1.0) * (scatter if name == "go" else 1.0),
            repetition=block,
            is_void=name == "axum" and block <= 20,
        )
        for name, rate in (("axum", 10_400), ("go", 10_000), ("node", 5_000))
        for block, scatter in enumerate(scatters, 1)
    ]
    narrow = Limits({"repetitions_agree": {"claim_ratio_doubtful": 0.01}})
    (found,) = repetitions_agree.judge(trials, narrow)
    assert "axum is ahead of go by 4" in found.text


@pytest.mark.parametrize("holes", [{}, {"axum": (1, 2)}, {"node": (1, 2), "axum": (5,)}])
def test_what_others_made_of_a_lead_is_of_the_ranking_where_repetitions_are_missing(holes):
    lost = {"axum": 0.01, "go": 0.01, "node": 0.03}
    trials = with_holes({"axum": 8480, "go": 6400, "node": 8000}, holes, lost_ratio=lost)
    found = verdict("equally_disturbed", *trials)
    assert found.measured == pytest.approx(math.log(0.99 / 0.97) / math.log(1.06))


def test_entries_that_count_with_nothing_have_no_level_of_their_block():
    trials = [
        one
        for name, rate in (("go", 8000), ("node", 4000), ("axum", 9000))
        for one in blocks(*[rate] * 4, name=name)
    ]
    trials[5], trials[9] = (
        replace(one, summary=sample.changed(one.summary, goodput_per_s=0.0))
        for one in (trials[5], trials[9])
    )
    found = verdict("repetitions_agree", *trials)
    assert found.level == "doubtful"
    assert "0 to 9,000 correct responses/s" in found.text


def test_repetitions_that_agree_are_sound_and_tell_their_spread():
    found = verdict("repetitions_agree", *blocks(8000, 8040, 7960))
    assert found.level == "sound"
    assert "0.5 %" in found.text


def test_repetitions_that_scatter_are_doubtful():
    found = verdict("repetitions_agree", *blocks(8000, 9000, 7000))
    assert found.level == "doubtful"
    assert "7,000 to 9,000" in found.text


BY_BLOCK = (1.0, 1.2, 0.8, 1.1)


def test_what_all_entries_of_a_block_share_is_the_machines():
    servers = {"go": 8000, "node": 4000, "axum": 9000}
    made = [
        blocks(*(value * one for one in BY_BLOCK), name=name) for name, value in servers.items()
    ]
    found = verdict("repetitions_agree", *(one for each in made for one in each))
    assert found.level == "sound"
    assert "a standard deviation of 0" in found.text


def test_a_server_that_scatters_while_others_do_not_is_told():
    others = [*blocks(*[8000] * 4, name="go"), *blocks(*[4000] * 4, name="node")]
    own = blocks(*(9000 * one for one in BY_BLOCK), name="axum")
    found = verdict("repetitions_agree", *others, *own)
    assert found.level == "doubtful"
    assert found.text.startswith("Repetitions of axum")


def test_what_the_control_explains_is_the_machines():
    trials = [
        trial("go", 8000 * speed, repetition=place, control_s=0.008 / speed)
        for place, speed in enumerate(BY_BLOCK, 1)
    ]
    assert verdict("repetitions_agree", *trials).level == "sound"
    unexplained = [replace(one, control_s=0.008) for one in trials]
    assert verdict("repetitions_agree", *unexplained).level == "doubtful"
    partly = [replace(trials[0], control_s=None), *trials[1:]]
    assert verdict("repetitions_agree", *partly).level == "doubtful"


def test_a_rank_that_rests_on_less_than_the_scatter_is_doubtful():
    steps = [-0.04, -0.02, 0.0, 0.02, 0.04] * 8
    near = [8000 * (1 + step) for step in steps]
    ahead = [value * 1.025 for value in near]
    found = verdict("repetitions_agree", *blocks(*near, name="go"), *blocks(*ahead, name="node"))
    assert found.level == "doubtful"
    assert "node is ahead of go by 2.5 %" in found.text


def test_an_entry_that_is_steady_in_one_repetition_only_is_inconsistent():
    trials = [
        trial("go", 8000, repetition=place, steady_state=state)
        for place, state in enumerate(
            (steady_state.FLAT, steady_state.WARM_UP, steady_state.FLAT), 1
        )
    ]
    found = verdict("repetitions_agree", *trials)
    assert found.level == "doubtful"
    assert "go · 2048 · steady (flat, warm-up)" in found.text


def test_holds_too_short_to_tell_are_not_inconsistent():
    trials = [
        trial("go", 8000, repetition=place, steady_state=state)
        for place, state in enumerate((steady_state.FLAT, steady_state.SHORT, steady_state.FLAT), 1)
    ]
    assert verdict("repetitions_agree", *trials).level == "sound"


def test_void_trials_are_in_no_check_of_numbers():
    trials = [trial(name, 8000, is_void=True, steps=RISING) for name in ("go", "node", "axum")]
    assert {one.check for one in judge_campaign(trials)} == {"one_program"}


def test_a_campaign_is_judged_in_the_order_of_its_checks_by_its_own_limits():
    limits = {"repetitions_agree": {"repetitions_doubtful": 1.0}}
    trials = [
        trial(name, value, repetition=block, order=3 * block + place, limits=limits)
        for block in (1, 2)
        for place, (name, value) in enumerate((("go", 8000), ("node", 7000), ("reference", 20_000)))
    ]
    found = judge_campaign(trials)
    order = [check.NAME for check in CAMPAIGN_CHECKS]
    assert [one.check for one in found] == sorted({one.check for one in found}, key=order.index)
    by_check = {one.check: one for one in found}
    assert by_check["repetitions_agree"].level == "sound"
    assert "changed by this campaign" in by_check["repetitions_agree"].source


def by_connections(points, **changes):
    """Loads of one server that differ in their number of connections."""
    return [
        trial("go", value, load=sample.load(name=f"c{number}"), connections=number, **changes)
        for number, value in points.items()
    ]


GROWING = {1: 1000, 4: 3900, 16: 14_000, 64: 30_000, 256: 33_000}


def test_loads_that_follow_the_scalability_law_are_sound_and_told():
    found = verdict("scalability_law", *by_connections(GROWING))
    assert found.level == "sound"
    assert "Over 1 to 256 connections of go · 2048" in found.text
    assert "contention" in found.text


def test_a_load_that_falls_out_of_the_scalability_law_is_named():
    found = verdict("scalability_law", *by_connections(GROWING | {64: 9000}))
    assert found.level == "doubtful"
    assert "At 64 connections it is off by" in found.text


def test_a_load_that_gives_each_of_more_connections_more_is_doubtful():
    found = verdict("scalability_law", *by_connections(GROWING | {16: 5000, 64: 30_000}))
    assert found.level == "doubtful"
    assert "go · 2048, throughput per connection was 150 % of that at 16" in found.text


def test_few_loads_or_loads_that_differ_in_more_have_no_law_to_follow():
    assert judged("scalability_law", *by_connections(GROWING)[:3]) == ()
    piped = by_connections({1: 10, 2: 20}) + [
        trial("go", 5, load=sample.load(name=f"p{n}", pipeline=8), connections=n) for n in (4, 8)
    ]
    assert judged("scalability_law", *piped) == ()


def test_one_trial_is_no_campaign():
    assert judge_campaign([trial("go", 8000)]) == ()


def by_drivers(**throughputs):
    return [
        trial("go", value, repetition=number, driver_name=driver)
        for driver, values in throughputs.items()
        for number, value in enumerate(values, 1)
    ]


def test_drivers_that_report_the_same_agree():
    found = verdict("drivers_agree", *by_drivers(plimsoll=(8000, 8050), wrk=(8100, 8020)))
    assert found.level == "sound"
    assert "1 comparison of drivers agree" in found.text
    assert "wrk on go · 2048 · steady" in found.text


def test_a_driver_that_reports_a_fifth_more_disagrees():
    found = verdict(
        "drivers_agree", *by_drivers(plimsoll=(8000, 8050), wrk=(8100, 8020), ab=(9800, 9850))
    )
    assert (found.level, found.unit) == ("doubtful", "ratio")
    assert found.measured == pytest.approx(9825 / 8025 - 1)
    assert "ab reports 9,825 requests/s and plimsoll 8,025: 22 % more" in found.text
    assert "wrk" not in found.text


def test_a_driver_that_reports_less_disagrees_as_much_as_one_that_reports_more():
    found = verdict("drivers_agree", *by_drivers(plimsoll=(8000, 8000), ab=(4000, 4000)))
    assert (found.level, found.measured) == ("doubtful", pytest.approx(1.0))
    assert "fewer" in found.text


def test_a_difference_that_chance_may_have_made_is_none():
    found = verdict("drivers_agree", *by_drivers(plimsoll=(6000, 10_000), ab=(8000, 12_000)))
    assert found.level == "sound"
    assert "chance" in found.text


def test_of_one_repetition_each_a_difference_stands_as_it_is():
    found = verdict("drivers_agree", *by_drivers(plimsoll=(8000,), ab=(12_000,)))
    assert found.level == "doubtful"


def test_void_trials_say_nothing_of_drivers():
    trials = [*by_drivers(plimsoll=(8000,)), trial("go", 12_000, driver_name="ab", is_void=True)]
    assert judged("drivers_agree", *trials) == ()


def test_a_campaign_of_one_driver_says_nothing_of_drivers():
    assert judged("drivers_agree", *by_drivers(wrk=(8000, 8100))) == ()


def test_frameworks_are_compared_within_one_driver_only():
    servers = {"axum": 0.0, "go": 10.0, "node": 20.0}
    trials = [
        trial(name, value + more, driver_name=driver, server_busy_ratio=0.6)
        for driver, value in (("plimsoll", 8000.0), ("wrk", 16_000.0))
        for name, more in servers.items()
    ]
    found = verdict("common_ceiling", *trials)
    assert found.measured == 3
    assert "2048, steady, by plimsoll, 3 servers" in found.text
    across = [trial("axum", 8000.0), *by_drivers(wrk=(8001,)), trial("node", 8002.0)]
    assert judged("common_ceiling", *across) == ()


def of_program(repetition, content, engine="1", definition="", framework="go", **changes):
    parts = (Part("file", "app.py", digest(content.encode())),)
    measured = (Part("program", "engine", engine), Part("definition", "load", definition or engine))
    known = Provenance(parts, measured)
    began = f"2026-01-0{repetition}T00:00:00Z"
    return trial(
        framework, 1000, repetition=repetition, provenance=known, zero_utc=began, **changes
    )


def test_servers_that_were_one_program_each_are_sound():
    found = verdict(
        "one_program",
        *(of_program(1, "a"), of_program(2, "a")),
        *(of_program(1, "b", framework="node"), of_program(2, "b", framework="node")),
    )
    assert (found.level, found.subject) == ("sound", "campaign")
    assert "ran the same program in all trials" in found.text


def test_a_server_that_was_two_programs_is_void_with_all_of_its_trials():
    trials = [
        *(of_program(1, "a"), of_program(2, "changed"), of_program(3, "changed")),
        *(of_program(1, "b", framework="node"), of_program(2, "b", framework="node")),
    ]
    mixed, campaign = judged("one_program", *trials)
    assert (mixed.level, mixed.subject, mixed.measured) == ("void", "server go", 2)
    assert "Go mixes 2 programs" in mixed.text
    assert "in 1 trial, " in mixed.text
    assert "in 2 trials; `app.py` changed" in mixed.text
    assert "--repeat-changed" in mixed.remedies[0]
    assert campaign.level == "sound"
    assert "same program" not in campaign.text
    (agree,) = [one for one in judge_campaign(trials) if one.check == "repetitions_agree"]
    assert "go" not in agree.text


def test_trials_that_were_measured_in_two_ways_are_doubtful():
    found = verdict("one_program", of_program(1, "a"), of_program(2, "a", engine="2"))
    assert (found.level, found.measured) == ("doubtful", 2)
    assert "the program `engine` changed, the load changed" in found.text
    other = of_program(2, "b", engine="2", framework="node")
    found = verdict("one_program", of_program(1, "a"), other)
    assert found.level == "doubtful"
    assert "the load" not in found.text


def of_warm_up(repetition, length, framework="go"):
    found = of_program(repetition, framework, framework=framework)
    part = Part("setting", "start warm-up", length)
    known = found.recording.provenance
    known = replace(known, measurement=(*known.measurement, part))
    return replace(found, recording=replace(found.recording, provenance=known))


def test_the_warm_up_of_a_framework_is_its_own_and_the_same_in_all_of_its_trials():
    node = of_program(1, "node", framework="node")
    found = verdict("one_program", of_warm_up(1, "3 s"), of_warm_up(2, "3 s"), node)
    assert found.level == "sound"
    found = verdict("one_program", of_warm_up(1, "3 s"), of_warm_up(2, "10 s"), node)
    assert found.level == "doubtful"
    assert "start warm-up 3 s → 10 s" in found.text


def measured_with(name, value, endpoint, part: Kind = "setting", **changes):
    """A trial at an endpoint that is also measured with something of its own."""
    found = of_program(1, "a", endpoint=endpoint, **changes)
    known = found.recording.provenance
    known = replace(known, measurement=(*known.measurement, Part(part, name, value)))
    return replace(found, recording=replace(found.recording, provenance=known))


def test_what_one_endpoint_needs_is_no_change_at_another():
    database = measured_with("PostgreSQL", "15.18", "db", part="version")
    upstream = measured_with("upstream cores", "all", "upstream")
    found = verdict("one_program", database, upstream, of_program(1, "a"))
    assert found.level == "sound"
    renewed = measured_with("PostgreSQL", "17.1", "updates", part="version")
    found = verdict("one_program", database, upstream, renewed)
    assert found.level == "doubtful"
    assert "PostgreSQL 15.18 → 17.1" in found.text


def test_the_length_of_turns_is_compared_among_loads_of_one_model():
    closed = measured_with("turns", "0.1 s", "2048")
    opened = measured_with("turns", "0.1 s, no arrivals", "json", load=sample.load(model="open"))
    assert verdict("one_program", closed, opened).level == "sound"
    longer = measured_with("turns", "0.2 s", "json")
    assert verdict("one_program", closed, opened, longer).level == "doubtful"
    in_one_piece = of_program(1, "a", endpoint="json")
    assert verdict("one_program", closed, in_one_piece).level == "doubtful"


def test_what_failed_and_what_nobody_recorded_is_not_mixed():
    failed = of_program(2, "changed", ending=Ending("DiedUnderLoad", "it died"))
    found = verdict("one_program", of_program(1, "a"), failed, of_program(3, "a"))
    assert found.level == "sound"
    unknown = [trial("go", 1, repetition=n, provenance=Provenance()) for n in (1, 2)]
    assert judged("one_program", *unknown) == ()


def test_no_rank_is_claimed_of_the_yardstick():
    """It is far ahead in two repetitions, and has no rank."""
    trials = [*blocks(20_000, 20_010), *blocks(8000, 8010, name="go")]
    found = verdict("repetitions_agree", *trials)
    assert found.level == "not_checked"
    assert "no rank is claimed" in found.text


HERE, THERE = (
    ComparedTable("2048", "steady", "plimsoll"),
    ComparedTable("json", "steady", "plimsoll"),
)


def at_both(here, there):
    """What the verdict on trials at two endpoints says of each of them; None for nothing."""

    def told(check):
        (found,) = judged(check, *here, *(moved(one) for one in there))
        return found, *(of and of.text for of in (found.about(HERE), found.about(THERE)))

    return told


def moved(one):
    recording = replace(one.recording, endpoint="json", trial=one.recording.trial + ".json")
    return replace(one, recording=recording)


@pytest.mark.parametrize(
    ("check", "doubted", "sound"),
    [
        ("repetitions_agree", blocks(8000, 9000, 7000), blocks(8000, 8010, 7990)),
        (
            "repetitions_agree",
            [*blocks(8000, 8010, name="go"), *blocks(2000, 2005, name="node")],
            [*blocks(8000, 8010, name="go")],
        ),
        (
            "repetitions_agree",
            [
                trial("go", 8000, repetition=place, steady_state=state)
                for place, state in enumerate((steady_state.FLAT, steady_state.WARM_UP), 1)
            ],
            blocks(8000, 8010, 8020, name="go"),
        ),
        ("equally_disturbed", ranked(0.05, 0.25), ranked(0.3, 0.3)),
        (
            "common_ceiling",
            at_the_top(46_300, 46_100, 45_900, server_busy_ratio=0.6),
            at_the_top(46_300, 46_100, 45_900),
        ),
        (
            "identical_series",
            [trial("go", 8000, steps=RISING), trial("node", 8000, steps=RISING)],
            [trial("go", 8000, steps=RISING), trial("node", 8000, steps=RISING[::-1])],
        ),
        (
            "one_program",
            [of_program(1, "a"), of_program(2, "a", definition="2")],
            [of_program(1, "a"), of_program(2, "a")],
        ),
    ],
)
def test_a_doubt_about_one_endpoint_is_none_about_another(check, doubted, sound):
    found, here, there = at_both(doubted, sound)(check)
    assert found.level == "doubtful"
    assert found.tables == (HERE,)
    assert here
    assert there is None
    found, here, there = at_both(sound, doubted)(check)
    assert found.tables == (THERE,)
    assert here is None
    assert there


def test_each_endpoint_has_a_sentence_of_its_own_entry_and_the_widest_one_comes_first():
    narrow = [*blocks(8000, 9000, 7000, name="go"), *blocks(800, 820, 800, name="node")]
    wide = [*blocks(8000, 11000, 5000, name="axum"), *blocks(800, 1100, 500, name="node")]
    found, here, there = at_both(narrow, wide)("repetitions_agree")
    assert set(found.tables) == {HERE, THERE}
    assert found.text.index("json") < found.text.index("2048")
    assert here.startswith("Repetitions of go · 2048 · steady differ: 7,000 to 9,000")
    assert there.startswith("Repetitions of axum · json · steady differ")
    assert there.endswith("; so do those of node.")


def test_the_number_that_a_verdict_measured_is_of_its_first_sentence_only():
    narrow, wide = blocks(8000, 9000, 7000), blocks(8000, 11000, 5000)
    found, *_ = at_both(narrow, wide)("repetitions_agree")
    assert found.about(THERE).measured == found.measured
    assert (found.about(HERE).measured, found.about(HERE).limit) == (None, None)
    assert found.about(HERE).level == "doubtful"


def test_few_repetitions_are_told_of_each_endpoint_that_claims_a_rank():
    few = [
        *blocks(8000, 8010, name="go"),
        *blocks(2000, 2005, name="node"),
        *blocks(900, 901, name="django"),
    ]
    found, here, there = at_both(few, few)("repetitions_agree")
    assert found.text.count("Only 2 repetitions of every entry count") == 1
    assert here.endswith("Yet go is ranked ahead of node at 2048, steady (and 1 more there).")
    assert there.endswith("Yet go is ranked ahead of node at json, steady (and 1 more there).")
    assert there.startswith("Only 2 repetitions of every entry count")


def test_a_block_that_only_one_endpoint_has_is_no_doubt_about_the_others():
    """As where a campaign goes on until its intervals are narrow, and one table needs more."""
    here = blocks(10_000, 10_100, 8_900)
    found, at_it, elsewhere = at_both(here, blocks(10_000, 10_000))("reference_drift")
    assert (found.subject, found.level, found.tables) == ("block 3", "doubtful", (HERE,))
    assert at_it
    assert elsewhere is None


def test_a_drift_over_the_campaign_is_about_all_of_it():
    found = verdict("order_neutral", *drifting(0.1))
    assert (found.level, found.tables) == ("doubtful", ())
    assert found.about(HERE) == found.about(THERE) == found
