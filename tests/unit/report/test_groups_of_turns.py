"""What a ranking says of servers that took no turns with each other."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

import experiments
import sample
from plimsoll.comparison.comparisons import comparisons
from plimsoll.findings.findings import Findings
from plimsoll.recording.turns import Turn
from plimsoll.report import contents
from plimsoll.report.formats import html, markdown

SECOND_NS = 1_000_000_000


def turns(framework: str, begin_s: float) -> tuple[Turn, ...]:
    """A turn of a quarter of a second in each of ten seconds."""
    return tuple(
        Turn(1, number, framework, round((begin_s + number) * SECOND_NS), SECOND_NS // 4,
             100, 0, None, None, None, None)
        for number in range(1, 11)
    )  # fmt: skip


def findings(*begins_s: Mapping[str, float | None]) -> Findings:
    """A repetition for each mapping of servers to when their turns begin; None for no turns."""
    trials = tuple(
        sample.sound_trial(
            framework=framework,
            repetition=repetition,
            trial=f"{framework}.2048.steady.{repetition}",
            throughput=8000.0 + 10 * place + repetition,
            turns=() if begin_s is None else turns(framework, begin_s),
        )
        for repetition, block in enumerate(begins_s, 1)
        for place, (framework, begin_s) in enumerate(block.items())
    )
    return Findings("x", "0", trials, comparisons(experiments.repetitions(trials)))


def resolution(found: Findings) -> str:
    (ranking,) = contents.rankings(found)
    return ranking.resolution


def test_servers_of_several_groups_are_named_with_what_their_ratio_contains() -> None:
    together = {"go": 100.0, "node": 100.2, "php": 100.4, "axum": 100.6}
    apart = {"go": 200.0, "php": 200.3, "node": 260.0, "axum": 260.3}
    found = findings(together, apart, together)
    said = (
        "Servers took turns in several groups, one after the other, in 1 of 3 repetitions, as in "
        "number 2: go, php; axum, node. Between groups, a ratio contains what the machine did "
        "meanwhile; so does its interval"
    )
    assert resolution(found).endswith(said)
    assert said in " ".join(markdown.render(found).split())
    assert "go, php; axum, node" in html.render(found)


def test_one_repetition_does_not_show_what_the_machine_did_between_groups() -> None:
    said = resolution(findings({"go": 200.0, "php": 200.3, "node": 260.0, "axum": 260.3}))
    assert said.endswith(
        "one after the other: go, php; axum, node. Between groups, a ratio contains what the "
        "machine did meanwhile, which one repetition does not show"
    )


def test_many_groups_are_counted() -> None:
    said = resolution(findings({f"f{place}": 200.0 + 60 * place for place in range(5)}))
    assert "f0; f1; f2; 2 further groups. Between" in said


@pytest.mark.parametrize("begin_s", [100.0, None])
def test_nothing_is_said_where_all_took_turns_or_none_did(begin_s: float | None) -> None:
    assert "groups" not in resolution(findings({"go": begin_s, "node": begin_s}))
