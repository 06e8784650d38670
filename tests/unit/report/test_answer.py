"""What the first screen says of each ranking."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import repeat

import pytest

import sample
from plimsoll.comparison.comparisons import ComparedTrial, comparisons
from plimsoll.findings.findings import Findings
from plimsoll.findings.ladders import EntryLadder
from plimsoll.findings.trial import TrialFindings
from plimsoll.plan import ComparedTable
from plimsoll.report import contents
from plimsoll.report.contents import answer
from plimsoll.report.contents.answer import RankingAnswer
from plimsoll.report.formats import html, markdown
from plimsoll.verdicts.verdict import Level, Sentence, Verdict
from plimsoll.wording import bound


def findings(*trials: TrialFindings) -> Findings:
    compared = comparisons(
        [ComparedTrial(one.recording, one.summary, one.level == "void") for one in trials]
    )
    return Findings("sample", "0.1.0", trials, compared)


def answers(found: Findings) -> list[RankingAnswer]:
    return answer.answers(found, contents.rankings(found))


def repeated(framework: str, throughput: float) -> list[TrialFindings]:
    return [
        sample.sound_trial(framework=framework, throughput=throughput * change, repetition=number)
        for number, change in enumerate((0.99, 1.0, 1.01), 1)
    ]


def test_the_fastest_and_its_lead_are_the_headline() -> None:
    (found,) = answers(findings(*repeated("go", 13_500.0), *repeated("node", 10_000.0)))
    assert found.place == "Fastest at 2048"
    assert found.headline.startswith("go is 1.35 × node (95 %: 1.3")
    assert found.further == ""


def test_who_is_clearly_behind_is_said_where_the_first_two_are_alike() -> None:
    found = answers(sample.findings())[0]
    assert found.headline.startswith("axum and spring virtual are not significantly different")
    assert found.further.startswith("axum is 1.55 × go")


def test_the_yardstick_has_a_bar_and_neither_rank_nor_ratio() -> None:
    trials = (*repeated("reference", 40_000.0), *repeated("go", 13_500.0), *repeated("node", 1e4))
    (found,) = answers(findings(*trials))
    assert found.headline.startswith("go is 1.35 × node")
    first, _, last = found.bars
    assert (first.row.framework, first.row.rank, first.columns[0]) == ("go", "1", "1 ×")
    assert (last.row.framework, last.is_yardstick) == ("reference", True)
    assert (last.row.rank, last.columns[0], last.row.state) == ("–", "–", "sound")
    assert last.row.number == "40,000/s"
    assert last.length > first.length
    assert "not ranked" in last.row.reason
    assert found.total == "6 trials (2 frameworks × 3 repetitions, without the yardstick)"


def test_the_trials_that_are_counted_are_explained() -> None:
    six = findings(*repeated("go", 13_500.0), *repeated("node", 10_000.0))
    assert answers(six)[0].total == "6 trials (2 frameworks × 3 repetitions)"
    five = findings(*repeated("go", 13_500.0), *repeated("node", 10_000.0)[:2])
    assert answers(five)[0].total == "5 trials (2 frameworks, 2 to 3 repetitions)"
    assert answers(findings(*repeated("go", 13_500.0)))[0].total == "3 trials"


def test_the_reference_is_ranked_where_there_is_nothing_else() -> None:
    other = [
        replace(one, data=replace(one.data, recording=replace(one.recording, variant="many")))
        for one in repeated("reference", 20_000.0)
    ]
    (found,) = answers(findings(*repeated("reference", 40_000.0), *other))
    assert [bar.row.rank for bar in found.bars] == ["1", "2"]
    assert not any(bar.is_yardstick for bar in found.bars)


def test_one_framework_has_its_number_as_headline_and_void_ones_have_none() -> None:
    (alone,) = answers(findings(*repeated("go", 8000.0)))
    assert (alone.place, alone.headline[:12]) == ("Measured at 2048", "go: 8,000/s ")
    (void,) = answers(findings(sample.void_trial()))
    assert void.headline == "No number counts: the trial is void"
    assert void.bars[0].is_void
    first = sample.void_trial()
    again = replace(first.recording, trial="go.2048.steady.2", repetition=2)
    second = replace(first, data=replace(first.data, recording=again))
    (every,) = answers(findings(first, second))
    assert every.headline == "No number counts: every trial is void"
    of_a_ladder = replace(findings(first, second), ladders=(EntryLadder("go", "2048", False, ()),))
    (peak,) = answers(of_a_ladder)
    assert peak.place == "Closed peak at 2048"
    assert peak.headline == "No closed peak counts: every trial at it is void"


def without_goodput(framework: str, goodput: float | None) -> list[TrialFindings]:
    """Quick responses, none of which is known to be right."""
    found = []
    for trial in repeated(framework, 20_000.0):
        verdicts = sample.verdicts_of(
            trial.recording.trial, responses_correct="doubtful", driver_headroom="doubtful"
        )
        summary = sample.changed(trial.data.summary, goodput_per_s=goodput)
        found.append(replace(trial, verdicts=verdicts, data=replace(trial.data, summary=summary)))
    return found


def test_a_server_without_right_responses_is_not_praised_for_quick_ones() -> None:
    for goodput, why in (
        (None, "no goodput of node (Wrong responses)"),
        (0.0, "no successful response of node (Wrong responses)"),
    ):
        found = findings(*repeated("go", 8000.0), *without_goodput("node", goodput))
        (said,) = answers(found)
        assert said.place == "Measured at 2048"
        assert said.headline.startswith("go: 8,000/s (95 %: ")
        assert said.headline.endswith(f". No ratio: {why}")
        (ranking,) = contents.rankings(found)
        assert ranking.lead == ""
        assert ranking.leads[0].startswith("Response time, median: node is 0.4")
        assert "<b>Response time, median: " not in html.render(found)


def test_where_nobody_has_a_ratio_the_headline_says_what_is_missing() -> None:
    none = findings(*without_goodput("go", 0.0), *without_goodput("node", 0.0))
    (said,) = answers(none)
    assert said.headline == "No successful response of go, node (Wrong responses)"
    unlike = findings(*without_goodput("go", None), *without_goodput("node", 0.0))
    assert answers(unlike)[0].headline == (
        "No successful response of node (Wrong responses); no goodput of go (Wrong responses)"
    )
    assert answers(findings(*without_goodput("go", None)))[0].headline.startswith("No goodput of")


def test_one_that_failed_at_times_or_whose_trials_are_void_has_no_ratio() -> None:
    at_times = [*repeated("node", 9000.0)[:2], without_goodput("node", 0.0)[2]]
    (said,) = answers(findings(*repeated("go", 8000.0), *at_times))
    assert said.headline.endswith(
        ". No ratio: no successful response of node in 1 of 3 repetitions (Wrong responses)"
    )
    void = [
        replace(one, verdicts=sample.verdicts_of(one.recording.trial, littles_law="void"))
        for one in repeated("node", 9000.0)
    ]
    (said,) = answers(findings(*repeated("go", 8000.0), *void))
    assert said.headline.startswith("go: 8,000/s ")
    assert said.headline.endswith(". No ratio: no trial of node counts (Little's law violated)")


def test_trials_that_failed_are_not_called_void() -> None:
    def again(trial: TrialFindings, number: int) -> TrialFindings:
        named = replace(trial.recording, framework="go", repetition=number, trial=f"go.{number}")
        return replace(trial, data=replace(trial.data, recording=named))

    void, failed = sample.void_trial(), sample.failed_trial()
    (alone,) = answers(findings(again(failed, 1)))
    assert alone.headline == "No number counts: the trial failed"
    (every,) = answers(findings(*(again(failed, number) for number in (1, 2, 3))))
    assert every.headline == "No number counts: every trial failed"
    (mixed,) = answers(findings(again(failed, 1), again(void, 2)))
    assert mixed.headline == "No number counts: every trial failed or is void"


def test_one_trial_alone_has_its_numbers_in_place_of_a_bar() -> None:
    load = findings(sample.sound_trial())
    (one,) = answers(load)
    tiles = {name: number for name, number, _ in one.tiles}
    assert {"Throughput", "p50", "p99", "p99.9", "max", "Failed", "Connections", "Duration"} <= {
        *tiles
    }
    assert (tiles["Throughput"], tiles["p99"]) == ("8,000/s", "562 ms")
    page, text = html.render(load), markdown.render(load)
    assert page.index(f'<span class="big">{bound(tiles["max"])}') < page.index('id="verdict"')
    assert f"**{tiles['max']}**" in text
    assert '<table class="bars">' not in page
    (several,) = answers(findings(*repeated("go", 8000.0)))
    assert not several.tiles


def test_the_report_of_one_target_speaks_of_no_framework_and_no_rank() -> None:
    load = findings(sample.sound_trial())
    page = re.sub(r"(?s)<script.*?</script>|<style.*?</style>", "", html.render(load))
    for words in ("ranked", "rankings use", "framework, verdict", "One start of one framework"):
        assert words not in page
    assert "rank 2–4" not in page and "rank 2–4" in html.render(sample.findings())
    assert 'placeholder="target, verdict, any word"' in page
    assert "![Ranking at" not in markdown.render(load)


def test_each_check_is_one_mark_with_its_sentences_the_worst_first() -> None:
    found = answers(sample.findings())[0]
    assert found.counts == (("sound", 5), ("doubtful", 1), ("void", 1), ("failed", 1))
    assert [(mark.state, mark.name, mark.count) for mark in found.of_trials] == [
        ("failed", "StartFailed", 1),
        ("void", "Little's law violated", 1),
        ("doubtful", "Load generator at its limit", 1),
        ("doubtful", "Requests without response", 1),
    ]
    busy = found.of_trials[2]
    assert busy.remarks[0].text == "The busiest core of the driver was 84 % busy."
    assert busy.remedies == ("Give the driver another core, or lower the connections.",)


def test_a_void_trial_does_not_make_void_what_the_same_check_doubts_in_others() -> None:
    trials = [*repeated("go", 13_500.0), *repeated("node", 1e4), *repeated("php", 5e3)]
    levels: list[Level] = ["void", *repeat("doubtful", 5), "sound", "sound", "sound"]
    judged = [
        replace(one, verdicts=sample.verdicts_of(one.recording.trial, driver_headroom=level))
        for one, level in zip(trials, levels, strict=True)
    ]
    (found,) = answers(findings(*judged))
    marks = [(mark.state, mark.name, mark.count) for mark in found.of_trials]
    name = "Load generator at its limit"
    assert marks == [("void", name, 1), ("doubtful", name, 5)]
    assert [mark.entries for mark in found.of_trials] == [("go",), ("go", "node")]


def test_a_trial_is_in_one_mark_of_a_check_that_doubts_it_twice() -> None:
    trials = repeated("go", 13_500.0)
    bad = sample.verdict("driver_headroom", trials[0].recording.trial, "void")
    again = Sentence("doubtful", "Throughput was near the maximum.", "Calibrate again.")
    bad = replace(bad, sentences=(*bad.sentences, again))
    (found,) = answers(findings(replace(trials[0], verdicts=(bad,)), *trials[1:]))
    (mark,) = found.of_trials
    assert (mark.state, mark.count) == ("void", 1)
    assert [one.text for one in mark.remarks][1:] == [again.text]
    assert mark.remedies[1:] == ("Calibrate again.",)


def test_a_doubt_about_the_campaign_is_a_mark_and_a_sound_check_is_none() -> None:
    verdicts = (
        sample.verdict("conservation", "campaign", "sound"),
        sample.verdict("backlog", "campaign", "doubtful", "Three stop at one number."),
    )
    for found in answers(replace(sample.findings(), verdicts=verdicts)):
        marks = [(mark.name, mark.count) for mark in found.of_comparison]
        assert marks == [("Listen queue too short", 0)]


def test_a_mark_names_the_frameworks_that_it_is_about() -> None:
    bad = sample.sound_trial(framework="node", throughput=1e4, repetition=4)
    levels = sample.verdicts_of(bad.recording.trial, driver_headroom="doubtful")
    trials = (*repeated("go", 13_500.0), *repeated("node", 1e4), replace(bad, verdicts=levels))
    (found,) = answers(findings(*trials))
    (mark,) = found.of_trials
    assert mark.brief == "Load generator at its limit: node in 1 trial"


@pytest.mark.parametrize(
    ("text", "brief"),
    [
        ("Repetitions of node · 2048 differ.", "Listen queue too short: node"),
        ("Repetitions of go one-core · 2048 differ.", "Listen queue too short: go one-core"),
        ("At 2048, go is ahead of node.", "Listen queue too short: go, node"),
        ("Repetitions of go, go one-core, node differ.", "Listen queue too short"),
        ("The logo of nodejs differs.", "Listen queue too short"),
    ],
)
def test_a_doubt_about_the_campaign_names_the_frameworks_that_its_sentences_name(
    text: str, brief: str
) -> None:
    variant = [
        replace(one, data=replace(one.data, recording=replace(one.recording, variant="one-core")))
        for one in repeated("go", 9_000.0)
    ]
    found = findings(*repeated("go", 13_500.0), *repeated("node", 1e4), *variant)
    doubt = sample.verdict("backlog", "campaign", "doubtful", text)
    (shown,) = answers(replace(found, verdicts=(doubt,)))
    assert [mark.brief for mark in shown.of_comparison] == [brief]


def test_what_was_not_measured_is_called_unknown_and_not_a_problem() -> None:
    unknown = sample.verdict("backlog", "campaign", "doubtful", "It is unknown.", measured=None)
    found = replace(sample.findings(), verdicts=(unknown,))
    (mark,) = answers(found)[0].of_comparison
    assert mark.name == "Backlog (unknown)"
    assert contents.of_campaign(found)[0].name == "Backlog (unknown)"


def doubt_at(*endpoints: str, text: str = "It scatters.") -> Verdict:
    """A verdict on a campaign that doubts some of its endpoints, each in a sentence."""
    found = sample.verdict("backlog", "campaign", "doubtful")
    sentences = tuple(
        Sentence(
            "doubtful", f"At {one}: {text}", tables=(ComparedTable(one, "steady", "plimsoll"),)
        )
        for one in endpoints
    )
    return replace(found, sentences=sentences)


def test_a_doubt_about_one_endpoint_is_a_mark_there_and_nowhere_else() -> None:
    first, second = answers(replace(sample.findings(), verdicts=(doubt_at("json"),)))
    assert [mark.name for mark in first.of_comparison] == []
    (mark,) = second.of_comparison
    assert mark.name == "Listen queue too short"
    assert mark.remarks[0].text == "At json: It scatters."


def test_a_doubt_about_two_endpoints_is_told_at_each_in_its_own_sentence() -> None:
    found = answers(replace(sample.findings(), verdicts=(doubt_at("2048", "json"),)))
    marks = [mark for one in found for mark in one.of_comparison]
    assert [mark.remarks[0].text for mark in marks] == [
        "At 2048: It scatters.",
        "At json: It scatters.",
    ]


def test_the_campaign_as_a_whole_names_the_endpoints_that_a_doubt_is_about() -> None:
    (found,) = contents.of_campaign(replace(sample.findings(), verdicts=(doubt_at("json"),)))
    assert (found.subject, found.text) == ("at json", "At json: It scatters.")
    every = replace(sample.findings(), verdicts=(doubt_at("2048", "json"),))
    assert contents.of_campaign(every)[0].subject == "campaign"
    page = markdown.render(replace(sample.findings(), verdicts=(doubt_at("json"),)))
    assert "**▲ doubtful · Listen queue too short** (at json): At json: It scatters." in page


def test_of_many_endpoints_the_first_stand_for_all() -> None:
    many = doubt_at(*"abcde")
    (found,) = contents.of_campaign(replace(sample.findings(), verdicts=(many,)))
    assert [one.text for one in found.sentences] == [
        *("At a: It scatters.", "At b: It scatters.", "At c: It scatters.", "And 2 more.")
    ]


def test_a_check_that_doubts_two_blocks_is_one_mark_and_the_yardstick_has_its_own() -> None:
    verdicts = tuple(
        sample.verdict("backlog", block, "doubtful", f"Slower in {block}.")
        for block in ("block 1", "block 2")
    )
    (found,) = answers(replace(findings(*repeated("go", 8000.0)), verdicts=verdicts))
    (mark,) = found.of_comparison
    assert (mark.count, [one.subject for one in mark.remarks]) == (0, ["block 1", "block 2"])
    (beside,) = answers(findings(*repeated("go", 8000.0), *repeated("reference", 40_000.0)))
    assert beside.counts == found.counts


def test_bars_share_a_scale_that_void_numbers_do_not_stretch() -> None:
    void = sample.void_trial()
    huge = replace(void, data=replace(void.data, summary=sample.summary(void.recording.trial, 1e9)))
    (found,) = answers(findings(*repeated("go", 13_500.0), *repeated("node", 10_000.0), huge))
    go, node, django = found.bars
    assert node.length / go.length == pytest.approx(10_000 / 13_500, rel=1e-3)
    assert (go.low, go.high) == (None, None)
    assert node.low is not None
    assert node.high is not None
    assert node.low < node.length < node.high <= 1
    assert django.length == 1.0


def test_one_entry_alone_is_not_called_a_ranking() -> None:
    go, node = repeated("go", 13_500.0), repeated("node", 10_000.0)
    assert contents.detail(contents.rankings(findings(*go, *node)))[0] == "Ranking in detail"
    alone = findings(*go)
    heading, caption = contents.detail(contents.rankings(alone))
    assert heading == "Results in detail"
    assert "rank" not in caption
    for text in (html.render(alone), markdown.render(alone)):
        assert heading in text
        assert "Ranking in detail" not in text


@pytest.mark.parametrize("count", [1, 2])
def test_the_latency_of_one_framework_is_laid_over_nothing(count: int) -> None:
    first = sample.sound_trial()
    second = replace(first.recording, trial="other.json.steady.1", framework="other")
    other = replace(first, data=replace(first.data, recording=second))
    page = html.render(findings(*(first, other)[:count]))
    assert ("Latencies laid over each other" in page) == (count > 1)
    assert ("Latency of go</h3>" in page) == (count == 1)
