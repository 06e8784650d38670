"""What `responses_correct` says of what was asked for, what was checked, and what was found."""

from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from plimsoll.recording import ExpectedResponse, Recomputed, SampledBodies
from plimsoll.statistics.proportions import excluded_from, proportion_interval
from plimsoll.verdicts.checks import responses_correct
from plimsoll.verdicts.limits import Limits
from recordings import simulate

SHORT = {"warm_up_s": 0.0, "ramp_s": 0.0, "hold_s": 2.0, "connections": 4}
STATUS = ExpectedResponse((200, 399))
LENGTH = ExpectedResponse((200, 200), 2048)


def running(**options):
    """A short trial of a server that ran already: no contract speaks about it."""
    trial = simulate(**SHORT, **options)
    assert trial.recording.server is not None
    server = replace(trial.recording.server, start_s=None)
    return replace(trial, recording=replace(trial.recording, server=server))


def judged(**options):
    trial = running(**options)
    return trial, responses_correct.judge(trial, Limits())


def test_what_was_not_asked_for_is_not_said_to_have_held():
    trial, given = judged(expected=STATUS)
    number = f"{trial.summary.completed:,}"
    assert given.level == "sound"
    assert given.text == (
        f"Status 200 on all {number} responses; bodies and lengths were not checked."
    )
    trial, given = judged(expected=LENGTH)
    number = f"{trial.summary.completed:,}"
    assert given.text == (
        f"Status 200 on all {number} responses, and the expected length; bodies were not checked."
    )


def with_sample(sampled, **options):
    trial = running(expected=STATUS, **options)
    recording = replace(trial.recording, sampled_bodies=(sampled,))
    return responses_correct.judge(replace(trial, recording=recording), Limits())


def test_two_bodies_of_equal_length_that_take_turns_are_doubted():
    given = with_sample(SampledBodies(0, 1_000, 503, 22, 401, 1))
    assert given.level == "doubtful"
    assert given.text == (
        "2 different bodies of equal length (22 bytes): of 1,000 sampled ones 503 were equal, and "
        "401 others came between these; no body was expected."
    )


@pytest.mark.parametrize(
    ("sampled", "words"),
    [
        (SampledBodies(0, 1_000, 1_000, 22, 0, 0), "1,000 sampled bodies were equal"),
        (SampledBodies(0, 1_000, 90, 22, 80, 60), "bodies and lengths were not checked"),
        (SampledBodies(0, 19, 10, 22, 5, 1), "bodies and lengths were not checked"),
    ],
)
def test_bodies_that_are_equal_vary_all_the_time_or_are_few_are_not_doubted(sampled, words):
    given = with_sample(sampled)
    assert given.level == "sound"
    assert words in given.text


def test_where_every_body_was_compared_that_is_said():
    trial, given = judged()
    number = f"{trial.summary.completed:,}"
    assert given.text == (
        f"Status 200 on all {number} responses, and all {number} bodies were compared and correct."
    )


def test_where_a_sample_was_compared_the_sentence_says_what_it_excludes():
    trial, given = judged(compared_ratio=0.1)
    (count,) = trial.body_counts
    assert given.level == "sound"
    assert 0 < count.held_compared < count.held_expected == trial.summary.completed
    expected = f"no wrong body among {count.held_compared} compared: fewer than 0."
    assert expected in given.text
    assert given.text.endswith(" % are wrong, at 95 %.")


def test_wrong_bodies_are_divided_by_those_compared_and_there_is_no_goodput():
    trial, given = judged(compared_ratio=0.05, failures={"wrong_body": 0.5})
    (count,) = trial.body_counts
    assert given.level == "void"
    assert given.measured == count.held_wrong / count.held_compared
    assert given.measured == pytest.approx(0.5, abs=0.2)
    assert trial.summary.goodput_per_s is None
    assert trial.summary.throughput_per_s > 0


def test_where_all_were_compared_goodput_is_exact():
    trial, given = judged(failures={"wrong_body": 0.5})
    (count,) = trial.body_counts
    right = count.held_compared - count.held_wrong
    assert given.level == "void"
    assert trial.summary.goodput_per_s == right / trial.summary.duration_s


def test_wrong_bodies_before_the_hold_are_doubted():
    trial = simulate(**{**SHORT, "warm_up_s": 1.0}, failures={"wrong_body": 0.02})
    rows: Any = trial.requests
    found = rows.select(["outcome", "done_ns"]).to_pylist()
    late = [row["outcome"] == "wrong_body" and row["done_ns"] >= 10**9 for row in found]
    names = ["ok" if mend else row["outcome"] for row, mend in zip(found, late, strict=True)]
    place = rows.schema.get_field_index("outcome")
    column = pa.array(names).dictionary_encode()
    trial = replace(trial, requests=rows.set_column(place, "outcome", column))
    given = responses_correct.judge(trial, Limits())
    assert given.level == "doubtful"
    assert "outside of the measurement window were wrong, and none of" in given.text


@pytest.mark.parametrize("lengths", [{2047: 0.3, 2049: 0.3, 2050: 0.02}, {}])
def test_lengths_that_vary_all_the_time_are_no_fault(lengths):
    _, given = judged(expected=STATUS, lengths=lengths)
    assert given.level == "sound"


def test_a_length_that_few_have_is_doubted_unless_it_was_asked_for():
    trial, given = judged(expected=STATUS, lengths={2049: 0.002})
    (lengths,) = trial.body_lengths
    assert lengths.others > 0
    assert given.level == "doubtful"
    assert given.measured == lengths.others
    bodies = "1 body" if lengths.others == 1 else f"{lengths.others} bodies"
    assert given.text == (
        f"{bodies} had 2,049 bytes, the other {lengths.usual:,} had 2,048; no length was expected."
    )
    assert judged(expected=LENGTH, lengths={2049: 0.002})[1].level == "sound"


def of_lengths(sampled, usual_bytes, shortest, longest):
    """The verdict on a tenth of other lengths, with a sample of bodies."""
    trial = running(expected=STATUS, lengths={2049: 0.3})
    (lengths,) = trial.body_lengths
    trial = replace(trial, recording=replace(trial.recording, sampled_bodies=(sampled,)))
    vars(trial)["body_lengths"] = (
        replace(
            lengths,
            usual_bytes=usual_bytes,
            usual=9_000,
            others=1_000,
            others_shortest_bytes=shortest,
            others_longest_bytes=longest,
        ),
    )
    return responses_correct.judge(trial, Limits())


DIFFERENT = SampledBodies(0, 1_000, 1, 11, 0, 0)
EQUAL = SampledBodies(0, 1_000, 900, 11, 0, 0)


@pytest.mark.parametrize(
    ("usual_bytes", "shortest", "longest"), [(11, 7, 12), (36, 31, 35), (2_048, 2_028, 2_068)]
)
def test_lengths_of_a_counter_or_a_time_are_told_and_not_doubted(usual_bytes, shortest, longest):
    given = of_lengths(DIFFERENT, usual_bytes, shortest, longest)
    ends = min(usual_bytes, shortest), max(usual_bytes, longest)
    assert given.level == "sound"
    assert f"body lengths vary from {ends[0]:,} to {ends[1]:,} bytes" in " ".join(
        one.text.lower() for one in given.sentences
    )


@pytest.mark.parametrize(
    ("sampled", "usual_bytes", "shortest", "longest"),
    [
        (DIFFERENT, 36, 18, 18),  # half of a short page
        (DIFFERENT, 2_048, 1_024, 1_024),
        (DIFFERENT, 2_048, 2_027, 2_049),
        (DIFFERENT, 2_048, 2_047, 2_069),
        (EQUAL, 11, 7, 12),
        (replace(DIFFERENT, bodies=19), 11, 7, 12),
    ],
)
def test_cut_bodies_and_other_lengths_of_a_fixed_page_are_doubted(
    sampled, usual_bytes, shortest, longest
):
    assert of_lengths(sampled, usual_bytes, shortest, longest).level == "doubtful"


@pytest.mark.parametrize(("others", "level"), [(500, "doubtful"), (501, "sound")])
def test_the_other_half_of_the_responses_is_doubted_and_more_than_that_varies(others, level):
    trial, _ = judged(expected=STATUS, lengths={2049: 0.3})
    (lengths,) = trial.body_lengths
    vars(trial)["body_lengths"] = (replace(lengths, usual=500, others=others),)
    assert responses_correct.judge(trial, Limits()).level == level


def test_each_wrong_status_is_named():
    trial, given = judged(expected=STATUS, failures={"wrong_status": 0.05})
    (wrong,) = [count for count in trial.status_counts if count.held_wrong]
    assert (wrong.status, given.level) == (502, "void")
    assert f"were wrong: status 502 × {wrong.held};" in given.text


@pytest.mark.parametrize(
    ("status", "remedy"),
    [
        (401, "Give the credentials that the server asks for (`-H 'Authorization: …'`), or expect"),
        (404, "Check the path of the URL, or expect this status (`--expect-status 404`)"),
        (500, "Inspect the responses, fix the server"),
    ],
)
def test_the_remedy_is_that_of_most_wrong_statuses(status: int, remedy: str):
    trial, _ = judged(expected=STATUS, failures={"wrong_status": 0.5})
    vars(trial)["status_counts"] = tuple(
        replace(count, status=status) if count.held_wrong else count
        for count in trial.status_counts
    )
    (found,) = responses_correct.judge(trial, Limits()).sentences
    assert found.remedy.startswith(remedy)


def test_intervals_are_exact():
    """Values of Clopper and Pearson's interval, and of the rule of three, from their formulas."""
    found = proportion_interval(2, 10)
    assert (round(found.low, 4), round(found.high, 4)) == (0.0252, 0.5561)
    assert (proportion_interval(0, 10).low, proportion_interval(10, 10).high) == (0.0, 1.0)
    assert round(proportion_interval(0, 10).high, 4) == 0.3085
    assert excluded_from(3000) == pytest.approx(3 / 3000, rel=0.002)


def recomputed(one: Recomputed):
    """The verdict on a trial whose bodies could be checked after the load only."""
    trial = simulate(**SHORT, expected=STATUS)
    trial = replace(trial, recording=replace(trial.recording, recomputed=(one,)))
    return responses_correct.judge(trial, Limits())


def test_bodies_recomputed_after_the_load_are_told_with_what_they_exclude():
    given = recomputed(Recomputed(0, 1300, 0, 1200, 0))
    assert given.level == "sound"
    assert given.text.endswith(
        "and no wrong body among 1,200 recomputed after the load: fewer than 0.25 % are wrong, "
        "at 95 %."
    )


def test_wrong_bodies_among_those_recomputed_are_told_with_their_interval():
    given = recomputed(Recomputed(0, 1300, 3, 1200, 3, "the body is not JSON"))
    assert given.level == "doubtful"
    assert given.measured == 3 / 1200
    assert given.text == (
        "Of 1,200 bodies recomputed after the load, 3 were wrong (0.25 %, at 95 % 0.052 % to "
        "0.73 %): the body is not JSON; goodput is not reported."
    )
    assert recomputed(Recomputed(0, 1300, 30, 1200, 30, "x")).level == "void"


def test_wrong_bodies_that_were_recomputed_from_outside_of_the_hold_are_doubted():
    given = recomputed(Recomputed(0, 1300, 3, 1200, 0, "the body is not JSON"))
    assert given.level == "doubtful"
    assert given.text.startswith("Of 100 bodies from outside of the measurement window")


def test_where_no_body_was_drawn_none_is_said_to_have_been_recomputed():
    given = recomputed(Recomputed(0, 0, 0, 0, 0))
    assert "recomputed" not in given.text


def test_events_may_have_any_length_and_what_was_checked_of_them_is_said():
    streamed = ExpectedResponse((200, 200), has_events=True)
    trial, given = judged(expected=streamed, lengths={2049: 0.2})
    number = f"{trial.summary.completed:,}"
    expected = f"Status 200 on all {number} responses, each with the expected events."
    assert (given.level, given.text) == ("sound", expected)
    load = replace(trial.recording.load, events=True)
    events = replace(trial, recording=replace(trial.recording, load=load))
    told = responses_correct.judge(events, Limits()).text
    assert told == f"Status 200 on all {number} events; data were not checked."
