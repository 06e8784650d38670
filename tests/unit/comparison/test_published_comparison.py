"""Published figures and measured ones, side by side as ratios."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

import experiments
import sample
from plimsoll.comparison import published_comparison
from plimsoll.comparison.published_comparison import Field, MatchedServer, PublishedOrder
from plimsoll.findings.trial import TrialFindings
from plimsoll.published import document

DOCUMENT = document.read(experiments.PUBLISHED, "published.toml")


def trials(**throughputs: tuple[float, ...]) -> tuple[TrialFindings, ...]:
    return tuple(
        sample.sound_trial(framework=name, throughput=throughput, repetition=number)
        for name, found in throughputs.items()
        for number, throughput in enumerate(found, 1)
    )


def field(*changes: tuple[str, str], **throughputs: tuple[float, ...]) -> Field:
    text = experiments.PUBLISHED
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    read = document.read(text, "published.toml")
    (only,) = published_comparison.fields(read, experiments.repetitions(trials(**throughputs)))
    return only


def by_subject(found: Field) -> dict[str, MatchedServer]:
    return {row.subject: row for row in found.rows}


def test_each_server_stands_beside_its_counterpart_relative_to_the_baseline_of_both() -> None:
    found = field(axum=(12_000, 12_200), go=(8000, 8100), node=(4000, 4100))
    assert (found.endpoint, found.load, found.driver) == ("2048", "steady", "plimsoll")
    assert found.baseline == "golang"
    axum = by_subject(found)["Axum"]
    assert axum.published is not None
    assert axum.measured is not None
    assert axum.published.value == pytest.approx(8200 / 4050)
    assert axum.measured.value == pytest.approx(math.sqrt(12_000 * 12_200 / 8000 / 8100))
    assert axum.measured.interval is not None
    assert axum.measured.interval.holds(12_100 / 8050)
    assert axum.published.interval is None, "the document has one run of it"


def test_the_baseline_is_1_in_both() -> None:
    go = by_subject(field(axum=(12_000, 12_200), go=(8000, 8100)))["golang"]
    assert go.published is not None
    assert go.measured is not None
    assert (go.published.value, go.measured.value) == (1, 1)


def test_several_runs_of_a_document_have_an_interval() -> None:
    extra = '\n[[result]]\nsubject = "Axum"\nendpoint = "/2048"\nthroughput_per_s = 8300\n'
    found = field(('\n[[claim]]\nsays = "Node', f'{extra}\n[[claim]]\nsays = "Node'), go=(8000,))
    axum = by_subject(found)["Axum"]
    assert axum.published is not None
    assert axum.published.interval is not None
    assert axum.measured is None


def test_servers_are_in_the_order_of_the_document_and_those_not_measured_say_so() -> None:
    found = field(axum=(12_000,), go=(8000,))
    assert [row.subject for row in found.rows] == ["Axum", "Node.js", "golang", "Rails"]
    rails = by_subject(found)["Rails"]
    assert (rails.measured, rails.trials) == (None, ())
    assert rails.published is not None


def test_where_the_named_baseline_was_not_measured_it_is_the_best_published_of_those_measured() -> (
    None
):
    assert field(axum=(12_000,), node=(4000,)).baseline == "Axum"
    assert field(('baseline = "go"\n', ""), node=(4000,), go=(8000,)).baseline == "Node.js"


def void(name: str, throughput: float) -> TrialFindings:
    return experiments.void(trials(**{name: (throughput,)})[0])


def test_a_void_number_is_shown_and_no_order_rests_on_it() -> None:
    made = experiments.repetitions((void("axum", 12_000), *trials(go=(8000, 8010))))
    (found,) = published_comparison.fields(DOCUMENT, made)
    axum = by_subject(found)["Axum"]
    assert axum.measured is not None
    assert axum.measured.value == pytest.approx(12_000 / 8005)
    assert axum.trials == ("axum.2048.steady.1",)
    assert found.order == PublishedOrder()


def test_a_void_number_is_no_baseline_where_another_counts() -> None:
    made = experiments.repetitions((void("go", 8000), *trials(node=(4000,))))
    (found,) = published_comparison.fields(DOCUMENT, made)
    assert (found.baseline, found.baseline_trials) == ("Node.js", ("node.2048.steady.1",))
    (only,) = published_comparison.fields(
        DOCUMENT, experiments.repetitions((void("axum", 12_000),))
    )
    assert only.baseline == "Axum", "there is no other number"


def test_where_nothing_was_measured_the_named_baseline_is_1() -> None:
    other = trials(spring=(8000,))
    (found,) = published_comparison.fields(DOCUMENT, experiments.repetitions(other))
    assert (found.baseline, found.baseline_trials) == ("golang", ())


def test_an_endpoint_that_was_not_measured_is_left_out() -> None:
    found = published_comparison.fields(DOCUMENT, experiments.repetitions(trials(axum=(12_000,))))
    assert [one.endpoint for one in found] == ["2048"]


def test_a_load_that_the_document_names_is_the_only_one_set_beside_it() -> None:
    named = experiments.PUBLISHED.replace("[here]\n", '[here]\nload = "other"\n')
    made = experiments.repetitions(trials(axum=(12_000,)))
    assert published_comparison.fields(document.read(named, "f"), made) == ()


def test_each_driver_is_beside_the_document_on_its_own() -> None:
    made = experiments.repetitions(experiments.crossed().trials)
    found = published_comparison.fields(DOCUMENT, made)
    assert sorted(one.driver for one in found) == ["ab", "plimsoll", "wrk"]


def test_right_answers_are_compared_where_the_document_counts_right_answers() -> None:
    data = sample.sound_trial(framework="axum", throughput=10_000.0).data
    summary = sample.changed(data.summary, goodput_per_s=5000.0)
    (golang,) = trials(go=(10_000,))
    made = experiments.repetitions((TrialFindings(replace(data, summary=summary)), golang))
    right = experiments.PUBLISHED.replace('counting = "responses"', 'counting = "successful"')
    ratios = {}
    for name, text in (("all", experiments.PUBLISHED), ("right", right)):
        (found,) = published_comparison.fields(document.read(text, "f"), made)
        measured = by_subject(found)["Axum"].measured
        assert measured is not None
        ratios[name] = measured.value
    assert ratios["right"] == pytest.approx(ratios["all"] / 2)


def test_pairs_stand_as_published_the_other_way_round_or_cannot_be_told_apart() -> None:
    turned = field(axum=(9000, 9010), node=(5000, 5010), go=(8000, 8010))
    assert turned.order == PublishedOrder(same=2, turned=1, level=0)
    level = field(axum=(9000, 9010), node=(8200, 8900), go=(7000, 7010))
    assert level.order.level == 2
    assert field(axum=(9000,), go=(8000,)).order == PublishedOrder(level=1), (
        "one repetition tells nothing"
    )


def test_a_claim_of_two_servers_has_what_was_measured_of_them() -> None:
    made = experiments.repetitions(trials(axum=(12_000, 12_200), go=(8000, 8100)))
    (claimed,) = published_comparison.claimed(DOCUMENT, made)
    assert claimed.claim.ratio == 2
    assert claimed.published == "× 2.0"
    (ratio,) = claimed.measured.values()
    assert ratio.value == pytest.approx(math.sqrt(12_000 * 12_200 / 8000 / 8100))
    assert ratio.interval is not None
    assert list(claimed.measured) == [("2048", "steady", "plimsoll")]


def test_figures_and_claims_are_held_against_the_ranking_where_repetitions_are_missing() -> None:
    speeds = (1.0, 1.0, 1.0, 0.9, 0.9)
    rates = {"axum": 8320.0, "go": 8000.0, "node": 4000.0}
    made = experiments.repetitions(
        trials(**{name: tuple(rate * one for one in speeds) for name, rate in rates.items()})
    )
    holes = [
        replace(one, is_void=one.recording.framework == "axum" and one.recording.repetition < 3)
        for one in made
    ]
    for repetitions in (made, holes):
        (found,) = published_comparison.fields(DOCUMENT, repetitions)
        measured = by_subject(found)["Axum"].measured
        assert measured is not None
        assert measured.value == pytest.approx(1.04)
        (claimed,) = published_comparison.claimed(DOCUMENT, repetitions)
        (ratio,) = claimed.measured.values()
        assert ratio.value == pytest.approx(1.04)


def test_a_claim_of_servers_under_two_loads_has_nothing_beside_it() -> None:
    text = experiments.PUBLISHED.replace(
        'golang = "go"', 'golang = { framework = "go", load = "steady" }'
    ).replace('Axum = "axum"', 'Axum = { framework = "axum", load = "other" }')
    made = experiments.repetitions(trials(axum=(12_000,), go=(8000,)))
    assert published_comparison.claimed(document.read(text, "f"), made) == ()
