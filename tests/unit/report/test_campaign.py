"""What a report says of a campaign above its answer: how many trials, and on what."""

from __future__ import annotations

from dataclasses import replace

import pytest

import sample
from plimsoll.findings.findings import Findings
from plimsoll.findings.trial import TrialFindings
from plimsoll.recording.turns import Turn
from plimsoll.report import contents
from plimsoll.report.formats import html

SECOND_NS = 1_000_000_000


def findings(*trials: TrialFindings) -> Findings:
    return replace(sample.findings(), trials=trials, verdicts=())


def in_turns(planned_ms: int | None) -> TrialFindings:
    """A trial with one turn within its hold."""
    planned_ns = None if planned_ms is None else planned_ms * 1_000_000
    warm_up = Turn(1, 0, "go", 0, 5 * SECOND_NS, 9, 0, None, None, None, None, 5 * SECOND_NS)
    own = Turn(1, 1, "go", 0, 50_437_000, 9, 0, None, None, None, None, planned_ns)
    return sample.sound_trial(turns=(warm_up, own))


def on_cores(server: tuple[int, ...], driver: tuple[int, ...]) -> TrialFindings:
    made = sample.recording()
    assert made.server is not None
    assert made.driver is not None
    return sample.sound_trial(
        server=replace(made.server, cores=server), driver=replace(made.driver, cores=driver)
    )


def test_trials_are_a_product_where_every_framework_ran_everywhere_as_often() -> None:
    trials = [
        sample.sound_trial(framework=name, endpoint=endpoint, repetition=number)
        for name in ("go", "node")
        for endpoint in ("2048", "json")
        for number in (1, 2, 3)
    ]
    product = "2 frameworks × 2 endpoints × 3 repetitions = 12 trials · 2026-01-02"
    assert contents.subtitle(findings(*trials)) == product
    fewer = contents.subtitle(findings(*trials[1:]))
    assert fewer == "2 frameworks · 2 endpoints · 11 trials · 2026-01-02"
    once = contents.subtitle(findings(sample.sound_trial()))
    assert once == "1 target · 1 endpoint · 1 trial · 2026-01-02"


@pytest.mark.parametrize(
    ("planned_ms", "length"),
    [(None, "50 ms"), *((ms, f"{ms} ms") for ms in (15, 25, 50, 75, 125, 250, 333))],
)
def test_turns_are_named_with_the_cores(planned_ms: int | None, length: str) -> None:
    said = contents.conditions(findings(in_turns(planned_ms)))
    assert said == f"servers took turns of {length} on 2 cores; load generator on 2 cores"


def test_servers_that_ran_alone_are_named_with_their_cores() -> None:
    several = findings(on_cores((0,), (1,)), on_cores((0, 2), (1,)))
    said = contents.conditions(several)
    assert said == "one server at a time on 1 to 2 cores; load generator on 1 core"
    free = contents.conditions(findings(on_cores((), ())))
    assert free == "one server at a time on all cores; load generator on all cores"


def test_of_a_server_that_ran_already_no_conditions_are_known() -> None:
    made = sample.recording()
    assert made.server is not None
    running = sample.sound_trial(server=replace(made.server, start_s=None))
    assert contents.conditions(findings(running)) == ""


def test_the_conditions_stand_beside_the_machine() -> None:
    page = html.render(findings(in_turns(50)))
    top, _, _ = page.partition("<main>")
    assert "servers took turns of 50\u00a0ms on 2\u00a0cores" in top
