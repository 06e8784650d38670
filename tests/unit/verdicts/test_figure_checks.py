"""Checks on published figures: some that hold, and some that cannot be."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from plimsoll import wording
from plimsoll.tool_output import readers
from plimsoll.tool_output.readers import table
from plimsoll.tool_output.reported import OTHER_LENGTH, ReportedStatistics, Source
from plimsoll.verdicts import figure_checks, figure_set_checks
from plimsoll.verdicts.audit import audit
from plimsoll.verdicts.catalogue import LIMITS
from plimsoll.verdicts.figure_checks import (
    FIGURE_CHECKS,
    cpu_bounds,
    equal_lengths,
    failures_counted,
    figures_consistent,
    hidden_stalls,
    link_headroom,
    littles_law,
    percentile_order,
    quantile_bounds,
    sample_size,
    timeout_floor,
)
from plimsoll.verdicts.figure_set_checks import (
    FIGURE_SET_CHECKS,
    common_ceiling,
    identical_series,
    labels,
    payload_insensitive,
)
from plimsoll.verdicts.limits import MOST_RATIO, Limits

ROOT = Path(__file__).resolve().parents[3]
GOLDEN = ROOT / "tests" / "golden" / "published"
PUBLISHED = sorted((ROOT / "docs" / "published").glob("*.toml"))
MOST_WORDS = 30
EVERY = (*FIGURE_CHECKS, *FIGURE_SET_CHECKS)

SOUND = ReportedStatistics(
    source=Source("made up"),
    subject="ours",
    endpoint="/2048",
    connections=100,
    timeout_s=2,
    duration_s=10,
    requests=100_000,
    counts_failures=True,
    throughput_per_s=10_000,
    counting="responses",
    times_s={"min": 1e-3, "mean": 9.9e-3, "p50": 8e-3, "p99": 30e-3, "max": 120e-3},
    times="service",
    timed="responses",
    body_bytes=2048,
    shortest_bytes=2110,
    longest_bytes=2115,
    link_bits_per_s=1e9,
    server_cores=4,
    server_busy_cores=3.2,
    driver_cores=4,
    driver_busy_cores=1.0,
)
BARE = ReportedStatistics(source=Source("made up"), throughput_per_s=100)


def judged(check, **changes):
    found = check.judge(replace(SOUND, **changes), Limits())
    assert found is not None
    return found


def of_golden(name: str, printed: str = "", other: str = ""):
    content = (GOLDEN / name).read_text(encoding="utf-8")
    assert printed in content
    return readers.read(content.replace(printed, other) if printed else content, name)


@pytest.mark.parametrize(
    ("printed", "other", "level"),
    [
        ("", "", "sound"),
        ("  50%      1", "  50%      2", "void"),
        ("95%      2", "95%      1", "sound"),
    ],
)
def test_rounding_keeps_percentiles_in_order(printed, other, level) -> None:
    (figures,) = of_golden("ab-sound.txt", printed, other)
    verdict = percentile_order.judge(figures, Limits())
    assert verdict is not None
    assert verdict.level == level


@pytest.mark.parametrize(
    ("command", "printed", "other", "level"),
    [
        ("wrk -c50 http://x/", "1.98ms", "5.50ms", "sound"),
        ("wrk -c50 http://x/", "1.98ms", "6.50ms", "void"),
        ("", "1.98ms", "6.50ms", "sound"),
        ("", "1.98ms", "8.50ms", "void"),
        ("", "18.20k", "45.00k", "sound"),
        ("", "18.20k", "50.00k", "void"),
    ],
)
def test_the_scatter_of_wrk_is_bounded_by_the_fewest_samples(
    command, printed, other, level
) -> None:
    """By a command without a script each request has a time; of rates there may be two."""
    content = (GOLDEN / "wrk-sound.txt").read_text().replace(printed, other)
    (figures,) = readers.read(f"{command}\n{content}", "x")
    found = figures_consistent.judge(figures, Limits())
    assert found is not None
    assert (found.level, "The standard deviation" in found.text) == (level, level == "void")


@pytest.mark.parametrize("check", [littles_law, quantile_bounds])
def test_the_last_responses_of_bombardier_come_after_the_requested_duration(check) -> None:
    (figures,) = of_golden("bombardier_text-slow.txt")
    assert figures.overrun_s == pytest.approx(0.42019)
    assert check.judge(figures, Limits()).level == "sound"
    (faster,) = of_golden("bombardier_text-slow.txt", "2xx - 377", "2xx - 977")
    assert check.judge(faster, Limits()).level == "void"


def together(check, results):
    found = check.judge(results, Limits())
    assert found is not None
    return found


def golden(name):
    return readers.read((GOLDEN / name).read_text(encoding="utf-8"), name)


def by_check(name):
    result = audit(golden(name)).results[0]
    return {verdict.check: verdict for verdict in result.verdicts}


@pytest.mark.parametrize("check", FIGURE_CHECKS, ids=lambda check: check.NAME)
def test_figures_that_agree_are_sound_and_the_sentence_says_so_with_numbers(check):
    verdict = judged(check)
    assert (verdict.level, verdict.remedies, verdict.subject) == ("sound", (), "ours /2048")
    assert verdict.text


@pytest.mark.parametrize("check", FIGURE_CHECKS, ids=lambda check: check.NAME)
def test_what_was_not_published_is_not_judged(check):
    assert check.judge(BARE, Limits()) is None


@pytest.mark.parametrize("check", FIGURE_SET_CHECKS, ids=lambda check: check.NAME)
def test_one_bare_result_has_nothing_to_be_compared(check):
    assert check.judge([BARE], Limits()) is None


@pytest.mark.parametrize("check", EVERY, ids=lambda check: check.NAME)
def test_a_check_names_what_it_needs_and_its_source(check):
    assert check.NEEDS
    assert check.SOURCE
    assert re.search(r"^Source: \S", check.__doc__, re.MULTILINE)
    assert check.__name__.rpartition(".")[2] == check.NAME
    assert check.NAME in {limit.check for limit in LIMITS}


@pytest.mark.parametrize("package", [figure_checks, figure_set_checks])
def test_the_tuple_holds_every_module_of_its_folder_once(package):
    folder = Path(package.__file__).parent
    listed = FIGURE_CHECKS if package is figure_checks else FIGURE_SET_CHECKS
    files = sorted(path.stem for path in folder.glob("*.py") if path.stem != "__init__")
    assert sorted(check.NAME for check in listed) == files


def test_80_000_streams_with_a_limit_of_2_s_cannot_have_8_000_per_second_when_98_percent_end():
    verdict = judged(
        timeout_floor, connections=80_000, timeout_s=2, right_ratio=0.98, throughput_per_s=8_000
    )
    assert verdict.level == "void"
    assert "at least 39,200 requests/s; 8,000 were published" in verdict.text
    assert "At most 16,000 connections" in verdict.text
    assert "402 s" in verdict.text


def test_80_000_streams_with_a_limit_of_2_s_may_have_40_000_per_second():
    verdict = judged(
        timeout_floor, connections=80_000, timeout_s=2, right_ratio=0.98, throughput_per_s=40_000
    )
    assert verdict.level == "sound"


@pytest.mark.parametrize(
    ("check", "changes"),
    [
        (timeout_floor, {"right_ratio": 0.0}),
        (quantile_bounds, {"times_s": {"p50": 0.0, "p99": 0.0, "max": 0.0}}),
    ],
    ids=["timeout_floor", "quantile_bounds"],
)
def test_one_to_nothing_is_a_number(check, changes):
    assert judged(check, **changes).measured == MOST_RATIO


def test_512_streams_at_81_514_per_second_with_a_p99_of_4_21_ms_need_a_maximum_of_211_ms():
    verdict = judged(
        quantile_bounds,
        connections=512,
        throughput_per_s=81_514,
        requests=None,
        timeout_s=None,
        times_s={"p99": 4.21e-3},
    )
    assert verdict.level == "doubtful"
    assert "need 211 ms on average, and so does the unpublished maximum" in verdict.text


def test_a_maximum_that_the_time_limit_forbids_is_void():
    verdict = judged(
        quantile_bounds,
        connections=512,
        throughput_per_s=81_514,
        timeout_s=0.1,
        times_s={"p99": 4.21e-3},
    )
    assert verdict.level == "void"


def test_a_published_maximum_decides():
    times = {"p99": 4.21e-3}
    figures = {"connections": 512, "throughput_per_s": 81_514}
    below = judged(quantile_bounds, **figures, times_s={**times, "max": 0.1})
    above = judged(quantile_bounds, **figures, times_s={**times, "max": 0.3})
    assert (below.level, above.level) == ("void", "sound")


def test_requests_cannot_be_faster_than_their_percentiles():
    verdict = judged(quantile_bounds, throughput_per_s=40_000)
    assert verdict.level == "void"
    assert "throughput is impossible with these latencies" in verdict.text


def test_idle_connections_are_void_and_doubtful_where_a_rate_may_have_been_asked_for():
    assert judged(littles_law, throughput_per_s=2_000).level == "void"
    assert judged(littles_law, throughput_per_s=2_000, model="unknown").level == "doubtful"
    assert littles_law.judge(replace(SOUND, requested_rate_per_s=2_000), Limits()) is None


def test_connections_that_were_not_busy_are_explained():
    text = judged(littles_law, throughput_per_s=2_000).text
    assert "not open, or waited for the load generator or for requests whose times are" in text


@pytest.mark.parametrize(
    ("busy", "level"), [(1.0, "sound"), (0.73, "doubtful"), (0.51, "doubtful"), (0.49, "void")]
)
def test_a_load_generator_without_a_core_leaves_connections_idle_and_contradicts_nothing(
    busy, level
):
    assert judged(littles_law, throughput_per_s=round(10_000 * busy)).level == level


@pytest.mark.parametrize(
    ("length_s", "longest_s", "level"),
    [(0.008, 0.003, "sound"), (0.3, 0.003, "void"), (0.3, 0.2, "sound"), (10.0, 8.0, "void")],
)
def test_a_run_too_short_for_the_law_is_not_held_to_it(
    length_s: float, longest_s: float, level: str
) -> None:
    rate = 20 / 0.001  # 20 of 50 connections are busy
    found = judged(
        littles_law,
        connections=50,
        throughput_per_s=rate,
        requests=round(rate * length_s),
        duration_s=length_s,
        times_s={"mean": 0.001, "max": longest_s},
    )
    assert found.level == level


@pytest.mark.parametrize("file", PUBLISHED, ids=lambda file: file.stem)
def test_sentences_on_published_figures_have_thirty_words_with_their_numbers(file):
    audited = audit(table.read(file.read_text(encoding="utf-8"), file.name))
    verdicts = [*audited.together, *(one for each in audited.results for one in each.verdicts)]
    sentences = [part for one in verdicts for part in re.split(r"(?<=[.])\s", one.text)]
    assert sentences
    assert [one for one in sentences if len(one.split()) > MOST_WORDS] == []


def test_more_connections_in_use_than_there_are_is_void_however_requests_were_paced():
    verdict = judged(littles_law, throughput_per_s=12_000, model="unknown")
    assert verdict.level == "void"
    assert "8.33 ms at most" in verdict.text


def test_a_mean_in_whole_milliseconds_is_taken_as_coarsely_as_it_was_printed():
    coarse = {"connections": 50, "throughput_per_s": 61_733, "times_s": {"mean": 1e-3}}
    assert judged(littles_law, **coarse, times_step_s=1e-3).level == "sound"
    assert judged(littles_law, **coarse).level == "void"


def test_the_made_up_times_of_wrk_are_the_reason_and_not_a_contradiction():
    verdicts = by_check("wrk-freeze.txt")
    assert verdicts["littles_law"].level == "doubtful"
    assert "computed times" in verdicts["littles_law"].text
    assert "227 µs at most" in verdicts["littles_law"].text
    assert verdicts["quantile_bounds"].level == "doubtful"
    assert "computed times" in verdicts["quantile_bounds"].text


def test_connections_that_wrk_could_not_open_were_not_in_use():
    verdict = by_check("wrk-files.txt")["littles_law"]
    assert verdict.level == "void"
    assert "connect 751" in verdict.text


def test_the_times_of_autocannon_beside_resets_cannot_be():
    verdicts = by_check("autocannon-reset.json")
    assert verdicts["littles_law"].level == verdicts["quantile_bounds"].level == "void"


def test_a_rate_that_counts_failures_is_told_without_them():
    verdict = by_check("hey-files.txt")["failures_counted"]
    assert verdict.level == "void"
    assert "the printed 36,465 per second counts them, and without them it is 369" in verdict.text
    assert "does not count them" in by_check("wrk-reset.txt")["failures_counted"].text


@pytest.mark.parametrize(("failed", "level"), [(100, "sound"), (101, "doubtful"), (6_000, "void")])
def test_failures_are_judged_by_their_share(failed, level):
    verdict = judged(failures_counted, failures={"timeout": failed}, counting="ends")
    assert verdict.level == level


def test_requests_that_a_tool_never_sent_are_told():
    verdict = by_check("k6-dropped.json")["failures_counted"]
    assert "36 requests were never sent" in verdict.text


@pytest.mark.parametrize("name", ["wrk", "ab", "h2load", "oha", "hey"])
def test_what_a_tool_printed_of_a_sound_server_is_never_void(name):
    suffix = "json" if name == "oha" else "txt"
    found = audit([replace(one, connections=50) for one in golden(f"{name}-sound.{suffix}")])
    assert found.level != "void"


@pytest.mark.parametrize(
    "name", ["k6-sound.json", "vegeta-sound.json", "fortio-sound.json", "wrk2-sound.txt"]
)
def test_what_a_tool_printed_of_a_sound_server_is_consistent(name):
    assert audit(golden(name)).level == "sound"


@pytest.mark.parametrize(
    "path",
    [path for path in sorted(GOLDEN.glob("*-status.*")) if not path.name.startswith("rewrk")],
    ids=lambda path: path.name,
)
def test_every_tenth_answer_being_wrong_is_void_with_every_tool_that_counts_it(path):
    assert audit(golden(path.name)).level == "void"


@pytest.mark.parametrize(
    ("rate", "level"), [(48_000, "sound"), (52_000, "doubtful"), (57_500, "void")]
)
def test_a_link_that_is_nearly_full_is_doubtful_and_one_that_is_full_is_void(rate, level):
    assert judged(link_headroom, throughput_per_s=rate).level == level


def test_32_027_bodies_of_32_768_bytes_are_89_percent_of_10_gbit_per_s():
    verdict = judged(
        link_headroom, throughput_per_s=32_027, body_bytes=32_768, link_bits_per_s=10e9
    )
    assert verdict.level == "doubtful"
    assert verdict.measured == pytest.approx(0.892, abs=1e-3)
    assert verdict.text.startswith(
        "32,027 responses per second with bodies of 32,768 bytes make 8.4 Gbit/s, "
    )
    received = judged(link_headroom, received_per_s=100e6)
    assert received.text.startswith("800 Mbit/s were received, ")


def test_more_busy_cores_than_there_are_cannot_be_and_a_busy_load_tool_is_told():
    assert judged(cpu_bounds, server_busy_cores=4.5).level == "void"
    assert judged(cpu_bounds, driver_busy_cores=3.4).level == "doubtful"
    assert judged(cpu_bounds, driver_busy_cores=3.9).level == "void"


def test_times_out_of_order_are_void():
    verdict = judged(percentile_order, times_s={"p50": 8e-3, "p99": 7e-3, "max": 9e-3})
    assert verdict.level == "void"
    assert "p99 (7 ms) is shorter than p50 (8 ms)" in verdict.text.lower()


def test_a_mean_outside_the_bounds_of_the_percentiles_is_void():
    assert judged(percentile_order, times_s={**SOUND.times_s, "mean": 50e-3}).level == "void"
    assert judged(percentile_order, times_s={**SOUND.times_s, "mean": 2e-3}).level == "void"


def test_times_that_rounding_put_out_of_order_are_in_order():
    times = {"min": 1e-3, "p50": 0.0, "max": 20e-3}
    assert judged(percentile_order, times_s=times, times_step_s=1e-3).level == "sound"
    assert judged(percentile_order, times_s=times).level == "void"


@pytest.mark.parametrize(
    ("requests", "level"), [(100_000, "sound"), (97_000, "doubtful"), (90_000, "void")]
)
def test_rate_times_duration_is_compared_with_the_count(requests, level):
    assert judged(figures_consistent, requests=requests).level == level


def test_the_time_per_request_of_ab_agrees_and_the_sentence_says_what_that_is_worth():
    verdict = judged(
        figures_consistent, requests=None, connections=250, throughput_per_s=15658.4,
        time_per_request_s=15.966e-3,
    )  # fmt: skip
    assert verdict.level == "sound"
    assert "agreement proves nothing" in verdict.text
    other = judged(figures_consistent, requests=None, connections=250, throughput_per_s=15658.4,
                   time_per_request_s=12e-3)  # fmt: skip
    assert other.level == "void"


@pytest.mark.parametrize("name", ["ab-freeze.txt", "hey-freeze.txt", "fortio-freeze.json"])
def test_a_server_that_stood_still_is_told_where_percentiles_hide_it(name):
    (figures,) = golden(name)
    assert figures.times_s["p99"] < 5e-3
    verdict = by_check(name)["hidden_stalls"]
    assert verdict.level == "doubtful"
    assert "the longest took 1 s" in verdict.text
    assert "percentiles hide them" in verdict.text


def test_the_wait_that_is_left_is_that_of_a_server_that_stands_still_in_every_fourth_second():
    verdict = by_check("ab-freeze.txt")["hidden_stalls"]
    (figures,) = golden("ab-freeze.txt")
    mean_s = 10 / (figures.throughput_per_s or 0.0)
    assert (verdict.measured or 0.0) * mean_s == pytest.approx(0.25 * 0.5, rel=0.05)


@pytest.mark.parametrize(
    "path",
    [one for one in GOLDEN.iterdir() if re.search("sound|status|reset|cut", one.stem)],
    ids=lambda path: path.name,
)
def test_times_of_a_server_that_did_not_stand_still_hide_nothing(path):
    verdict = by_check(path.name).get("hidden_stalls")
    assert verdict is None or verdict.level == "sound"


def test_times_that_are_alike_leave_half_of_the_mean_to_wait():
    times_s = {"mean": 1e-3, "stddev": 0.0}
    assert judged(hidden_stalls, times_s=times_s).measured == pytest.approx(0.5)
    exponential = {"mean": 1e-3, "stddev": 1e-3}
    assert judged(hidden_stalls, times_s=exponential).measured == pytest.approx(1.0)


def test_times_from_when_requests_were_due_hide_nothing_and_are_not_judged():
    assert hidden_stalls.judge(replace(SOUND, times="response"), Limits()) is None
    assert hidden_stalls.judge(replace(SOUND, times="synthetic"), Limits()) is None


def test_answers_of_different_lengths_that_all_count_as_right_are_doubtful():
    verdict = by_check("fortio-cut.json")["equal_lengths"]
    assert verdict.level == "doubtful"
    assert "1,091 to 2,115 bytes" in verdict.text
    assert judged(equal_lengths).level == "sound"
    assert equal_lengths.judge(replace(SOUND, wrong_responses={"status 500": 1}), Limits()) is None


def test_a_percentile_rests_on_the_requests_whose_times_were_kept():
    assert by_check("wrk2-freeze.txt")["sample_size"].level == "doubtful"
    assert judged(sample_size, timed_requests=900).level == "doubtful"


def test_percentiles_read_off_a_histogram_are_taken_as_coarsely():
    coarse = {"times_s": {"mean": 0.25e-3, "p50": 0.51e-3, "p99": 1e-3, "max": 60e-3}}
    assert judged(percentile_order, **coarse).level == "void"
    assert judged(percentile_order, **coarse, percentiles_step_s=1e-3).level == "sound"


def test_a_p99_of_few_requests_is_doubtful_and_a_rarer_one_is_named():
    assert judged(sample_size, requests=900).level == "doubtful"
    rare = judged(sample_size, requests=5_000, times_s={"p99": 1e-3, "p999": 2e-3})
    assert rare.level == "sound"
    assert "too few for p99.9" in rare.text


def series(rates, **changes):
    return [
        replace(SOUND, endpoint=f"/{n}", throughput_per_s=rate, **changes)
        for n, rate in enumerate(rates)
    ]


def test_p99_that_is_the_mean_in_row_after_row_is_under_a_wrong_name():
    wrong = replace(SOUND, times_s={"mean": 9e-3, "p99": 9e-3})
    assert together(labels, [SOUND] * 5).level == "sound"
    assert together(labels, [wrong, *[SOUND] * 3]).level == "doubtful"
    assert together(labels, [*[wrong] * 4, SOUND]).level == "void"
    assert together(labels, [wrong]).level == "doubtful"


def servers(rates, endpoint="/2048"):
    return [
        replace(
            SOUND, subject=name, endpoint=endpoint, throughput_per_s=rate, server_busy_cores=None
        )
        for name, rate in rates.items()
    ]


def test_three_servers_at_one_number_have_something_in_common():
    same = servers({"a": 10_000, "b": 9_950, "c": 9_900, "d": 4_000})
    verdict = together(common_ceiling, same)
    assert verdict.level == "doubtful"
    assert "3 servers reach the same throughput" in verdict.text
    apart = servers({"a": 10_000, "b": 9_000, "c": 8_000})
    assert together(common_ceiling, apart).level == "sound"


def test_servers_at_limits_of_their_own_have_nothing_in_common():
    busy = [
        replace(one, server_busy_cores=3.9)
        for one in servers({"a": 10_000, "b": 9_950, "c": 9_900})
    ]
    assert together(common_ceiling, busy).level == "sound"


def test_best_results_of_two_servers_at_different_endpoints_meet():
    published = [
        *servers({"Spring": 45_878, "NIO": 35_834}, "/empty"),
        *servers({"Spring": 46_075, "NIO": 46_333}, "/2048"),
        *servers({"Spring": 46_007, "NIO": 20_257}, "/json"),
    ]
    verdict = together(common_ceiling, published)
    assert verdict.level == "doubtful"
    assert "the 4 best results lie within 0.98 %" in verdict.text.lower()


def test_a_server_that_sends_nothing_as_often_as_32_768_bytes_is_told():
    bodies = (0, 2_048, 2_048, 32_768)
    alike = [
        replace(one, body_bytes=body)
        for one, body in zip(series((22_855, 22_726, 22_699, 22_461)), bodies, strict=True)
    ]
    verdict = together(payload_insensitive, alike)
    assert verdict.level == "doubtful"
    assert "0 to 32,768 bytes" in verdict.text
    falling = [
        replace(one, body_bytes=body)
        for one, body in zip(series((22_855, 20_000, 19_000, 9_000)), bodies, strict=True)
    ]
    assert together(payload_insensitive, falling).level == "sound"


def steps(name, rates):
    return [
        replace(SOUND, subject=name, at=f"{n} s", throughput_per_s=rate)
        for n, rate in enumerate(rates)
    ]


def test_two_servers_with_one_series_are_told():
    rates = [1_000, 2_000, 3_100, 4_400, 5_000, 6_200]
    same = [*steps("a", rates), *steps("b", [rate * 1.001 for rate in rates])]
    assert together(identical_series, same).level == "doubtful"
    other = [*steps("a", rates), *steps("b", [rate * 1.1 for rate in rates])]
    assert together(identical_series, other).level == "sound"


def test_streams_that_a_server_does_not_take_are_called_requests_in_flight():
    streams = {"connections": 800, "in_flight_each": 100, "requests": 1_600_000}
    verdict = judged(littles_law, **streams, throughput_per_s=8_000, times_s={"mean": 0.1})
    assert verdict.level == "void"
    said = "keep 800 requests in flight; 80,000 were requested (800 connections × 100)"
    assert said in verdict.text
    assert "SETTINGS_MAX_CONCURRENT_STREAMS" in verdict.remedies[0]
    assert "SETTINGS" not in judged(littles_law, throughput_per_s=2_000).remedies[0]


def test_threads_together_do_no_more_than_each_in_its_best_stretch() -> None:
    figures = ReportedStatistics(
        Source("wrk"),
        threads=4,
        throughput_per_s=180_505,
        thread_throughput_per_s=4_800,
        thread_most_per_s=5_040,
    )
    verdict = figures_consistent.judge(figures, Limits())
    assert verdict is not None
    assert verdict.level == "void"
    assert "4 threads with at most 5,040 requests/s each complete at most 20,160" in verdict.text
    fair = replace(figures, throughput_per_s=19_000)
    sound = figures_consistent.judge(fair, Limits())
    assert sound is not None
    assert sound.level == "sound"


@pytest.mark.parametrize(
    ("threads", "rate", "level"),
    [
        (1, 1.33, "sound"),
        (1, 1.99, "sound"),
        (4, 7.9, "sound"),
        (1, 2.3, "doubtful"),
        (4, 12, "void"),
    ],
)
def test_wrk_cuts_the_decimals_off_the_rates_of_its_threads(threads, rate, level) -> None:
    figures = ReportedStatistics(
        Source("wrk"),
        threads=threads,
        throughput_per_s=rate,
        thread_throughput_per_s=1.0,
        thread_most_per_s=1.0,
    )
    verdict = figures_consistent.judge(figures, Limits())
    assert verdict is not None
    assert verdict.level == level, verdict.text
    assert f"the rate of all is {wording.amount(rate)}" in verdict.text.lower()


def test_a_run_in_which_no_request_ended_is_void() -> None:
    verdict = by_check("wrk-silent.txt")["failures_counted"]
    assert verdict.level == "void"
    assert "No request ended" in verdict.text


def of_lengths(mean_bytes: float | None, **others: float) -> ReportedStatistics:
    return ReportedStatistics(
        Source("ab"),
        requests=10_000,
        throughput_per_s=500,
        counting="ends",
        counts_failures=True,
        wrong_responses={OTHER_LENGTH: 1_573, **others},
        body_bytes=8_813,
        mean_body_bytes=mean_bytes,
    )


def test_a_page_that_changes_is_doubtful_and_no_failure() -> None:
    verdict = failures_counted.judge(of_lengths(8_798), Limits())
    assert verdict is not None
    assert verdict.level == "doubtful"
    assert "so the page may change" in verdict.text


@pytest.mark.parametrize("figures", [of_lengths(4_000), of_lengths(None)])
def test_lengths_alone_are_doubtful_whatever_their_mean(figures: ReportedStatistics) -> None:
    verdict = failures_counted.judge(figures, Limits())
    assert verdict is not None
    assert verdict.level == "doubtful"
    assert "`ab -l`" in verdict.remedies[0]


DYNAMIC = (
    ("Document Length:        2048 bytes", "Document Length:        738 bytes"),
    (
        "Failed requests:        0\n",
        "Failed requests:        19990\n"
        "   (Connect: 0, Receive: 0, Length: 19990, Exceptions: 0)\n",
    ),
)


def with_changes(name: str, changes) -> dict:
    text = (GOLDEN / name).read_text(encoding="utf-8")
    for printed, other in changes:
        assert printed in text
        text = text.replace(printed, other)
    (result,) = audit(readers.read(text, name)).results
    return {verdict.check: verdict for verdict in result.verdicts}


def test_a_dynamic_page_of_ab_is_doubtful_and_nothing_of_it_is_void() -> None:
    verdicts = with_changes("ab-sound.txt", DYNAMIC)
    assert verdicts["failures_counted"].level == "doubtful"
    assert "void" not in {one.level for one in verdicts.values()}


def test_responses_of_another_length_or_status_or_cut_off_are_void() -> None:
    both = failures_counted.judge(of_lengths(8_798, **{"not 2xx": 900}), Limits())
    assert both is not None
    assert both.level == "void"
    cut = by_check("ab-cut.txt")["failures_counted"]
    assert cut.level == "void"
    assert "with its connection closed 2,000" in cut.text


TWO_CONNECTIONS = ReportedStatistics(
    Source("wrk"),
    connections=2,
    threads=2,
    requests=919_312,
    duration_s=30.01,
    throughput_per_s=30_633.52,
    counting="responses",
    times_s={"p50": 455e-6, "p75": 610e-6, "p90": 790e-6, "p99": 1.61e-3, "max": 12.31e-3},
    times="synthetic",
)


def test_a_median_that_computed_times_cannot_reach_is_void_if_nothing_was_pipelined() -> None:
    unknown = quantile_bounds.judge(TWO_CONNECTIONS, Limits())
    known = quantile_bounds.judge(replace(TWO_CONNECTIONS, in_flight_known=True), Limits())
    assert unknown is not None
    assert known is not None
    assert (unknown.level, known.level) == ("doubtful", "void")
    assert "`--set in_flight_each=1`" in unknown.remedies[0]
    assert "impossible" not in unknown.text


@pytest.mark.parametrize("check", [littles_law, quantile_bounds])
def test_more_in_flight_than_connections_is_doubtful_where_each_may_have_several(check) -> None:
    several = ReportedStatistics(
        Source("h2load"),
        connections=10,
        requests=37_791,
        duration_s=1.0,
        throughput_per_s=37_791,
        counting="responses",
        times_s={"mean": 2.1e-3, "p50": 2e-3, "p99": 5e-3, "max": 7e-3},
    )
    unknown = replace(several, in_flight_printed=False)
    known = replace(unknown, in_flight_known=True)
    levels = [check.judge(one, Limits()).level for one in (several, known, unknown)]
    assert levels == ["void", "void", "doubtful"]
    assert "ossible" not in check.judge(unknown, Limits()).text
    assert check.judge(replace(known, in_flight_each=8.0), Limits()).level == "sound"


def test_a_median_that_computed_times_may_reach_is_doubtful() -> None:
    times = {**TWO_CONNECTIONS.times_s, "p50": 140e-6}
    fair = replace(TWO_CONNECTIONS, in_flight_known=True, times_s=times)
    verdict = quantile_bounds.judge(fair, Limits())
    assert verdict is not None
    assert verdict.level == "doubtful"
    assert "The tool computed times for requests that it did not send." in verdict.text


BURST = ReportedStatistics(
    Source("ab"),
    connections=10,
    requests=292,
    duration_s=3.085,
    throughput_per_s=94.66,
    counting="ends",
    times_s={"p50": 0.1, "p66": 0.1, "p80": 0.101, "p90": 0.102, "p99": 0.109, "max": 0.111},
    times="service",
    times_step_s=1e-3,
)


def test_requests_in_flight_at_the_end_of_a_short_run_are_no_idle_connections() -> None:
    verdict = quantile_bounds.judge(BURST, Limits())
    assert verdict is not None
    assert verdict.level == "sound"


def test_idle_connections_of_a_short_run_are_told_with_how_many_were_busy() -> None:
    verdict = quantile_bounds.judge(replace(BURST, connections=14), Limits())
    assert verdict is not None
    assert verdict.level == "void"
    busy = re.search(r"only ([\d.]+) of 14 connections were busy", verdict.text)
    assert busy is not None
    assert float(busy[1]) < 14


IMPOSSIBLE = ReportedStatistics(
    Source("a table"),
    connections=64,
    throughput_per_s=1_000,
    times_s={"mean": 0.2, "p50": 0.2, "p99": 0.21},
    times="service",
)


def test_means_of_several_runs_are_doubtful_where_one_run_would_be_void() -> None:
    (alone,) = audit([IMPOSSIBLE]).results
    (means,) = audit([replace(IMPOSSIBLE, mean_of="three routes")]).results
    assert (alone.level, means.level) == ("void", "doubtful")
    law = next(one for one in means.verdicts if one.check == "littles_law")
    assert "means over three routes" in law.text
    assert law.remedies == ("Publish the figures of each run beside their means.",)


def test_means_of_runs_that_failed_are_void_all_the_same() -> None:
    failed = ReportedStatistics(
        Source("a table"), requests=100, counts_failures=True, failures={"refused": 90}, mean_of="x"
    )
    assert audit([failed]).results[0].level == "void"


def test_a_mean_of_short_stretches_is_no_contradiction() -> None:
    sampled = replace(IMPOSSIBLE, sampled=True, connections=100)
    assert audit([sampled]).results[0].level == "doubtful"
    known = replace(sampled, requests=5_000, duration_s=10)
    law = littles_law.judge(known, Limits())
    assert law is not None
    assert law.level == "sound"  # 500 per second were counted, and 500 x 0.2 s are 100


def test_requests_that_the_end_cut_off_are_allowed_for_among_few() -> None:
    few = ReportedStatistics(
        Source("ab"),
        connections=10,
        requests=76,
        throughput_per_s=7.37,
        times_s={"p50": 1.1, "p90": 1.35, "p99": 1.5, "max": 1.6},
    )
    verdict = quantile_bounds.judge(few, Limits())
    assert verdict is not None
    assert verdict.level == "sound"
    many = quantile_bounds.judge(replace(few, requests=76_000), Limits())
    assert many is not None
    assert many.level != "sound"


def test_long_times_are_said_without_an_exponent() -> None:
    assert wording.seconds(2_090) == "2,090 s"
    assert wording.seconds(0.9996) == "1,000 ms"
    assert wording.seconds(402) == "402 s"
