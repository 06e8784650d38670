"""What came of one load, on one screen."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest
from rich.console import Console

import sample
from plimsoll import tables, wording
from plimsoll.aggregate.counted import Failure, StatusTotal
from plimsoll.aggregate.stalls import StallsRow
from plimsoll.campaign.load import Load, Stage, UnknownLoad
from plimsoll.findings import campaign_thresholds, derivation, thresholds
from plimsoll.findings.findings import Findings
from plimsoll.findings.trial import TrialFindings
from plimsoll.recording import Ending, ExpectedResponse
from plimsoll.recording.ran import ended_early, ran
from plimsoll.report import hidden, status_codes
from plimsoll.report.formats import html, markdown
from plimsoll.report.load import markdown as load_markdown
from plimsoll.report.load import one_line, screen, screen_doubts
from plimsoll.report.results import machine_readable
from plimsoll.report.wrapping import wrapped
from plimsoll.verdicts import catalogue
from plimsoll.verdicts.checks import CHECKS
from plimsoll.verdicts.judge import judge
from plimsoll.verdicts.verdict import Level, Sentence, Verdict
from recordings import as_load, simulate

CHECK_NAMES = [check.NAME for check in CHECKS]
SAID = "Throughput scattered within the window: its mean is known to ±60 % only, at 95 %."

QUIET: StallsRow = {
    "stalls": 0,
    "stalled_ns": 0,
    "longest_ns": 0,
    "wait_p50_ns": None,
    "wait_p90_ns": None,
    "wait_p99_ns": None,
    "wait_p999_ns": None,
}
FROZEN: StallsRow = {
    "stalls": 2,
    "stalled_ns": 2_000_000_000,
    "longest_ns": 1_000_000_000,
    "wait_p50_ns": None,
    "wait_p90_ns": 500e6,
    "wait_p99_ns": 950e6,
    "wait_p999_ns": 995e6,
}


def shown(found: TrialFindings, width: int = 80, *, verbose: bool = False) -> list[str]:
    text = io.StringIO()
    screen.show(found, Console(file=text, width=width, highlight=False), verbose=verbose)
    return text.getvalue().splitlines()


def judged(level: Level, *names: str) -> tuple[Verdict, ...]:
    """Verdicts of some checks, and a sound one on the responses."""
    (sound,) = sample.verdicts_of("t")[-1:]
    said = Sentence(level, SAID, "Hold the load longer, or repeat it when the host is idle.")
    others = [replace(sound, check=name, level=level, sentences=(said,)) for name in names]
    return (sound, *others)


def statuses(**counts: int) -> tuple[StatusTotal, ...]:
    """Responses by status, `s401=5`; those above 399 were not expected."""
    codes = {int(name[1:]): count for name, count in counts.items()}
    return tuple(
        StatusTotal(code, count, count, count if code > 399 else 0) for code, count in codes.items()
    )


def trial(**changes: Any) -> TrialFindings:
    return replace(sample.sound_trial(), **{"stalls": QUIET, **changes})


def kinds(count: int) -> tuple[dict[str, Any], ...]:
    one = {"completed": 10, "failed": 0, "throughput_per_s": 1.0, "response_time_p50_ns": 1e6}
    one |= {"response_time_p90_ns": None, "response_time_p99_ns": None, "response_time_max_ns": 2e6}
    one |= {"service_time_max_ns": 2e6}
    return tuple({**one, "request": f"/{number}"} for number in range(count))


@pytest.mark.parametrize("stalls", [QUIET, FROZEN, None])
def test_a_load_that_went_well_has_few_lines(stalls: dict[str, Any] | None) -> None:
    lines = shown(trial(stalls=stalls, statuses=statuses(s200=56_000)))
    assert len(lines) <= screen.MOST_LINES
    assert max(map(len, lines)) <= 80
    assert max(map(len, shown(trial(stalls=stalls), 60))) <= 60


@pytest.mark.parametrize("count", [1, 2, 3, 4, 8])
def test_doubts_take_few_lines_more_and_those_left_out_are_named(count: int) -> None:
    checks = list(CHECK_NAMES)[:count]
    verdicts = judged("doubtful", *checks)
    well, doubted = shown(trial()), shown(trial(verdicts=verdicts))
    assert len(doubted) - len(well) <= screen_doubts.MOST_LINES
    everything = " ".join(shown(trial(verdicts=verdicts), verbose=True))
    for check in checks:
        assert catalogue.title(check, "doubtful") in everything
    heads = [line for line in doubted if line.startswith("▲ ")][1:]
    assert len(heads) == min(count, screen_doubts.MOST_TOLD)
    assert ("`-v`" in " ".join(doubted)) == (count > 2)


def test_wrong_responses_come_before_a_disturbed_machine_and_uneven_numbers() -> None:
    tables = as_load(simulate())
    order = [one.check for one in judge(tables)]
    machine = min(map(order.index, ("undisturbed", "evenly_served", "steady")))
    asked = min(map(order.index, ("long_enough", "offered_rate_met", "driver_headroom")))
    served = ("responses_correct", "failures_explained", "hidden_stalls", "delayed_ack")
    server = max(map(order.index, (*served, "backlog", "connection_target_met", "hosts_agree")))
    assert server < asked < machine


def test_the_first_doubt_is_cut_to_its_first_sentence_where_it_takes_too_many_lines() -> None:
    remedy = "Do not use these numbers; repeat the load, and report a bug if it happens again."
    (sound, doubt) = judged("doubtful", "steady")
    several = tuple(Sentence("doubtful", f"{number} {SAID}", remedy) for number in range(6))
    two = (sound, replace(doubt, sentences=several), *judged("doubtful", "backlog")[1:])
    well, doubted = shown(trial()), shown(trial(verdicts=two))
    assert len(doubted) - len(well) <= screen_doubts.MOST_LINES
    text = " ".join(" ".join(doubted).split())
    assert f"0 {SAID} … → {remedy}" in text
    assert "`-v` shows everything" in text
    everything = " ".join(" ".join(shown(trial(verdicts=two), verbose=True)).split())
    assert all(one.text in everything for one in several)


def test_every_number_that_a_person_wants_is_there() -> None:
    text = "\n".join(shown(trial(statuses=statuses(s200=56_000))))
    for words in (
        "go2048", "closed model", "response time", "mean", "p95", "8,000/s", "56,000 complete",
        "200 × 56,000", "requested 1,000, opened 1,000, with response 1,000", "cores busy",
        "✓ sound by ",
    ):  # fmt: skip
        assert words in text
    assert "service time" not in text
    for words in ("service time", "first byte", "connect  "):
        assert words in "\n".join(shown(trial(), verbose=True))


def test_percentiles_of_too_few_responses_say_once_how_many_they_need() -> None:
    found = trial()
    assert found.summary is not None
    times = {"response_time_p99_ns": None, "response_time_p999_ns": None}
    few = sample.changed(found.summary, completed=412, **times)
    short = replace(found, data=replace(found.data, summary=few))
    said = "p99 needs 1,000 responses, 412 came; p99.9 10,000"
    assert [line.strip() for line in shown(short)].count(said) == 1
    assert load_markdown.render(short).count(said) == 1
    assert not [line for line in shown(found) if "needs" in line]


def test_rates_below_one_are_shown_as_they_were_typed() -> None:
    found = trial()
    hold = Stage("hold", 5.0, 0.5, 0.5)
    load = Load("slow", "open", (hold,), arrivals="constant", connections=50)
    recording = replace(found.recording, load=load)
    slow = replace(found, data=replace(found.data, recording=recording))
    assert any("hold 5 s at 0.5;" in line for line in shown(slow))


def test_what_another_tool_does_not_log_has_no_line() -> None:
    unknown = sample.driver(threads=0, peak_rss_bytes=None)
    found = trial()
    summary = sample.changed(found.summary, driver_busy_cores=None, received_bytes_per_s=None)
    data = replace(found.data, recording=replace(found.recording, driver=unknown), summary=summary)
    known, lines = shown(found), shown(replace(found, data=data))
    assert [one for one in known if one.startswith("load generator")]
    assert not [one for one in lines if one.startswith("load generator")]
    (rate,) = (one for one in lines if one.startswith("throughput"))
    assert rate.split(maxsplit=1)[1] == "8,000/s"


def test_status_codes_that_were_not_expected_are_named_with_what_was() -> None:
    expected = sample.recording(expected=(ExpectedResponse((200, 399)),))
    found = trial(statuses=statuses(s401=38_309, s200=12))
    found = replace(found, data=replace(found.data, recording=expected))
    (line,) = (line for line in shown(found) if line.startswith("status"))
    assert line.split(maxsplit=1)[1] == "401 × 38,309, 200 × 12 (expected 200 to 399)"
    one = replace(found, data=replace(found.data, recording=replace(
        expected, expected=(ExpectedResponse((200, 200)),)
    )))  # fmt: skip
    assert status_codes.told(one).endswith("(expected 200)")


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_redirects_are_named_though_they_are_accepted(code: int) -> None:
    told = status_codes.told(trial(statuses=statuses(**{f"s{code}": 500})))
    assert told == f"{code} × 500 (redirects are not followed)"


@pytest.mark.parametrize("code", [300, 304])
def test_codes_of_300_to_399_that_lead_nowhere_are_no_redirects(code: int) -> None:
    told = status_codes.told(trial(statuses=statuses(**{f"s{code}": 500})))
    assert told == f"{code} × 500"


def test_statuses_that_another_tool_counts_as_wrong_are_named() -> None:
    told = status_codes.told(trial(statuses=statuses(s200=9_490, s500=510, s503=2)))
    assert told == "200 × 9,490, 500 × 510, 503 × 2 (500, 503 counted as wrong)"


def test_imported_loads_have_users_in_place_of_threads() -> None:
    found = trial()
    assert found.recording.driver is not None and found.summary is not None
    driver = replace(found.recording.driver, threads=10)
    own = replace(found.recording, driver=driver)
    imported = replace(own, load=UnknownLoad("imported"))
    used = [screen_doubts.driver(found.summary, one) for one in (own, imported)]
    assert "10 threads" in used[0]
    assert "10 users" in used[1] and "thread" not in used[1]


def test_markdown_says_each_doubt_once() -> None:
    verdicts = sample.verdicts_of("t", littles_law="void", backlog="void")
    text = load_markdown.render(trial(verdicts=verdicts))
    (head,) = (line for line in text.splitlines() if line.startswith("**"))
    assert head == "**✕ void: Little's law violated, Listen queue too short**"
    for one in verdicts:
        if one.level == "void":
            assert text.count(one.sentences[0].clause) == 1


def short_load() -> TrialFindings:
    """A load of less than a second, as it is judged."""
    tables = as_load(simulate(ramp_s=0.0, hold_s=0.9))
    found = trial(verdicts=judge(tables))
    return replace(found, data=replace(found.data, recording=tables.recording))


def test_a_short_load_says_once_in_each_form_that_it_is_too_short() -> None:
    found = short_load()
    assert found.level == "doubtful"
    lines = shown(found)
    assert lines[-1] == "  → Load for longer: `-d 5s` or more."
    forms = ("\n".join(lines), one_line.line(found), load_markdown.render(found))
    for text in forms:
        assert text.count("Too short to judge") == 1, text
        assert "doubtful" in text
        assert "sound" not in text
    assert one_line.line(found).startswith("▲ doubtful (Too short to judge)  ")
    assert len(lines) <= screen.MOST_LINES + screen_doubts.MOST_LINES


def test_an_interrupted_load_says_so_in_its_line() -> None:
    found = trial()
    (*before, hold) = found.recording.stages
    stages = (*before, replace(hold, end_ns=7_800_000_000))
    message = ended_early(stages, found.recording.load)
    assert message == "a signal ended the load after 7.8 of 12 s"
    ending = Ending("Interrupted", message)
    recording = replace(found.recording, ending=ending, stages=stages)
    cut_short = replace(found, data=replace(found.data, recording=recording))
    assert "  interrupted after 7.8 of 12 s  " in one_line.line(cut_short)
    assert f"Interrupted: {message}" in shown(cut_short)
    assert "interrupted" not in one_line.line(found)


def test_an_interrupted_load_is_not_judged_in_text_or_json() -> None:
    made = simulate(hold_s=2.0, hold_requested_s=8.0, ended_by="interrupt")
    ending = Ending("Interrupted", "a signal ended the load")
    made = replace(made, recording=replace(made.recording, ending=ending))
    found = derivation.judged(made)
    as_json = machine_readable.trial(found)
    reason = f"not judged: interrupted {ran(made.recording.stages, made.recording.load)}"
    (verdict,) = as_json["verdicts"]
    assert (as_json["level"], verdict["check"]) == ("void", "trial_completed")
    assert reason in found.verdicts[0].text.lower()
    console = Console(file=io.StringIO(), width=100)
    screen.show_interruption(made.recording, console)
    file = console.file
    assert isinstance(file, io.StringIO)
    assert file.getvalue().strip() == f"✕ void ({reason})"
    assert found.state == "void"


@pytest.mark.parametrize(
    ("sent_bytes", "is_told"), [(2_400_000_000, True), (1_000, False), (None, False)]
)
def test_bytes_that_are_sent_are_told_where_they_are_more(sent_bytes: int, is_told: bool) -> None:
    found = trial()
    assert found.summary is not None
    summary = replace(found.summary, sent_bytes=sent_bytes)
    text = " ".join(shown(replace(found, data=replace(found.data, summary=summary))))
    per_s = wording.size(2_400_000_000 / summary.duration_s)
    assert (f"sent {per_s}/s, received" in text) is is_told


def test_a_load_is_one_line_where_that_is_wanted() -> None:
    line = one_line.line(trial(statuses=statuses(s200=56_000)))
    assert "\n" not in line
    for words in ("✓ sound", "8,000/s", "p99 562 ms", "0 failed", "200 × 56,000"):
        assert words in line
    void = one_line.line(sample.void_trial())
    assert void.startswith("✕ void (Little's law violated)  9,500/s")
    accepted = one_line.line(sample.void_trial(), ("littles_law", "steady"))
    assert accepted.startswith("✕ void (accepted: Little's law violated)  9,500/s")


def test_a_load_is_a_row_of_csv() -> None:
    found = trial(statuses=statuses(s200=50, s404=6))
    (row,) = csv.DictReader(io.StringIO(one_line.as_csv(found)))
    assert found.summary is not None
    assert (row["level"], row["reasons"]) == ("sound", "")
    assert row["statuses"] == "200=50 404=6"
    assert float(row["response_time_p99_ns"]) == found.summary.response_time.p99_ns


def test_a_row_of_csv_names_what_gave_the_load_its_level() -> None:
    doubted = trial(verdicts=(*judged("doubtful", "steady", "backlog"), *judged("void", "lag")))
    (row,) = csv.DictReader(io.StringIO(one_line.as_csv(doubted)))
    assert (row["level"], row["reasons"]) == ("void", "lag")
    sound = trial()
    ending = Ending("Interrupted", "a signal ended the load")
    recording = replace(sound.recording, ending=ending)
    ended = replace(sound, data=replace(sound.data, recording=recording))
    (row,) = csv.DictReader(io.StringIO(one_line.as_csv(ended)))
    assert (row["level"], row["reasons"]) == ("void", "Interrupted")


def test_checks_without_room_are_named_whole_or_counted() -> None:
    rest = [one for one in judged("doubtful", *list(CHECK_NAMES)[:8]) if one.is_doubting]
    titles = {catalogue.title_of(one) for one in rest}
    for width in range(50, 120):
        lines = shown(trial(verdicts=judged("doubtful", *list(CHECK_NAMES)[:8])), width)
        (named,) = [one.strip() for one in lines if one.strip().startswith("+ ")]
        said = re.sub(r"( and \d+ more)?; `-v` shows everything", "", named)
        assert said.endswith((*titles, "other checks"))


def test_a_load_is_a_page_of_markdown_with_its_verdict_in_one_line() -> None:
    checks = list(CHECK_NAMES)[:12]
    verdicts = judged("doubtful", *checks)
    text = load_markdown.render(trial(verdicts=verdicts, statuses=statuses(s200=56_000)))
    lines = text.splitlines()
    assert len(lines) <= load_markdown.MOST_LINES
    assert [line for line in lines if line.startswith("**▲ doubtful")]
    assert "- and 6 more" in lines
    assert "p99.9" in text


def test_the_page_of_a_load_says_which_thresholds_are_crossed_and_how_many_are_kept() -> None:
    found = trial(
        verdicts=judged("doubtful", *list(CHECK_NAMES)[:12]), statuses=statuses(s200=56_000)
    )
    texts = ("max>1h", "p50>1ns", "goodput<1", *("failed<1",) * 7)
    limits = [thresholds.read(text) for text in texts]
    lines = load_markdown.render(found, campaign_thresholds.of_load(limits, found)).splitlines()
    assert len(lines) <= load_markdown.MOST_LINES
    assert any(line.startswith("- threshold crossed: `p50>1ns`, measured ") for line in lines)
    assert "- and 2 more, crossed or undecided" in lines
    assert "- 2 thresholds kept" in lines
    assert "threshold" not in load_markdown.render(found)


def test_numbers_stay_with_their_units_where_lines_break() -> None:
    for width in range(50, 100):
        for line in shown(trial(stalls=FROZEN), width, verbose=True):
            assert not line.startswith(("s ", "ms ", "%"))


@pytest.mark.parametrize("verbose", [False, True])
def test_a_narrow_terminal_shows_fewer_times_and_each_of_them_whole(*, verbose: bool) -> None:
    found = trial()
    long_ns = {"p99_ns": 57.3e6, "p999_ns": 1_234.5e9, "max_ns": 2_345.6e9}
    longer = {f"response_time_{name}": time_ns for name, time_ns in long_ns.items()}
    summary = sample.changed(found.summary, **longer)
    times = summary.response_time
    found = replace(found, data=replace(found.data, summary=summary))
    counts: list[int] = []
    for width in range(24, 100):
        lines = shown(found, width, verbose=verbose)
        (place,) = (at for at, line in enumerate(lines) if re.match(r" {4,}.*p50", line))
        headings, row = lines[place].split(), re.split(r"  +", lines[place + 1])[1:]
        statistics = [name for name, said in screen.STATISTICS.items() if said in headings]
        assert row == [wording.duration(times.of(name)) for name in statistics], width
        counts.append(len(headings))
    assert counts == sorted(counts)
    assert (counts[0], counts[58 - 24], counts[80 - 24]) == (1, 4, 7)


def with_failures(*failures: Failure, failed: int, **changes: Any) -> TrialFindings:
    """A load that failed in some ways; so many failures are of its measurement window."""
    found = trial(failures=failures, **changes)
    summary = sample.changed(found.summary, failed=failed)
    return replace(found, data=replace(found.data, summary=summary))


def resets(count: int) -> Failure:
    return Failure("reset_waiting", 104, "ECONNRESET", count, count, 0.5, 2.0)


def test_every_form_names_failures_alike() -> None:
    closed = Failure("closed_waiting", None, None, 7, 7, 0.0, 1.0)
    wrong = Failure("wrong_status", None, None, 5, 5, 0.0, 1.0, status=404)
    found = with_failures(resets(10), closed, wrong, failed=22, statuses=statuses(s200=50, s404=5))
    both = (
        "10 reset while waiting for the response (ECONNRESET)",
        "7 closed by the server before the response",
    )
    forms = ("\n".join(shown(found, 120)), one_line.line(found), load_markdown.render(found))
    for text in forms:
        assert all(kind in text for kind in both), text
        assert "404 × 5" in text
        assert "22 failed" in text
        assert "outside" not in text
    (row,) = csv.DictReader(io.StringIO(one_line.as_csv(found)))
    assert row["failures"] == "reset_waiting:ECONNRESET=10 closed_waiting=7 wrong_status:404=5"


def test_failures_beside_counts_of_the_window_are_of_the_window() -> None:
    before = Failure("closed_waiting", None, None, 7, 0, 0.0, 1.0)
    found = with_failures(replace(resets(10), held=6), before, failed=6, statuses=statuses(s200=50))
    (row,) = csv.DictReader(io.StringIO(one_line.as_csv(found)))
    assert (row["failed"], row["failures"]) == ("6", "reset_waiting:ECONNRESET=6")
    assert "6 failed (6 reset while waiting for the response (ECONNRESET))" in one_line.line(found)
    for text in ("\n".join(shown(found, 120)), load_markdown.render(found)):
        assert "10 reset while waiting for the response (ECONNRESET), between" in text
        assert "11 of them outside of the measurement window" in text


@pytest.mark.parametrize(
    ("completed", "ok", "failed", "said"),
    [
        (106_739, 101_402, 5_357, "5,357 failed (5 %: 5,337 wrong, 20 without response)"),
        (106_739, 101_402, 5_337, "5,337 failed (5 %: 5,337 wrong)"),
        (101_402, 101_402, 20, "20 failed (5 %: 20 without response)"),
    ],
)
def test_counts_of_requests_add_up(completed: int, ok: int, failed: int, said: str) -> None:
    counts = {"completed": completed, "ok": ok, "failed": failed, "failure_ratio": 0.05}
    found = trial()
    found = replace(
        found, data=replace(found.data, summary=sample.changed(found.summary, **counts))
    )
    told = " ".join("\n".join(shown(found, 120)).split())
    assert f"101,402 successful, {said}" in told
    assert f"101,402 successful, {said}" in load_markdown.render(found)


def test_how_many_are_successful_is_unknown_where_bodies_were_not_compared() -> None:
    found = with_failures(resets(3), failed=3)
    unknown = sample.changed(found.summary, goodput_per_s=None)
    found = replace(found, data=replace(found.data, summary=unknown))
    assert "56,000 complete, 3 failed (" in "\n".join(shown(found, 120))


def test_one_moment_of_failures_is_no_span() -> None:
    lines = shown(with_failures(replace(resets(2), last_at_s=0.5), failed=2), 120)
    assert any("(ECONNRESET), at 0.5 s of the load" in line for line in lines)


def test_failures_outside_of_the_measurement_window_are_told_apart() -> None:
    kind = replace(resets(1_250), held=1_236)
    found = with_failures(kind, failed=1_241, statuses=statuses(s200=50, s404=5))
    lines = [line.strip() for line in shown(found, 120)]
    place = lines.index("14 of them outside of the measurement window")
    assert "1,250 reset while waiting" in lines[place - 1]
    assert "|  | 14 of them outside of the measurement window |" in load_markdown.render(found)


def test_kinds_of_failures_take_few_lines() -> None:
    failures = (replace(resets(10 - number), outcome=f"reset_{number}") for number in range(6))
    lines = shown(with_failures(*failures, failed=45))
    assert any(
        "10 reset_0 (ECONNRESET), between 0.5 and 2.0 s of the load" in line for line in lines
    )
    assert any("and 2 more kinds" in line for line in lines)


def test_void_verdicts_come_before_doubtful_ones() -> None:
    verdicts = sample.verdicts_of("t", littles_law="doubtful", backlog="void")
    lines = shown(trial(verdicts=verdicts))
    marks = [line[0] for line in lines if line[:1] in "✓▲✕" and line[:1]]
    assert marks == ["✕", "✕", "▲"]
    assert any(line.startswith("✕ void (1 void, 1 doubtful of ") for line in lines)


def test_of_a_mix_the_slowest_urls_are_shown_and_all_of_them_by_request() -> None:
    assert not any(line.startswith("slowest") for line in shown(trial()))
    each = kinds(9)
    slow = {"response_time_p50_ns": 5e6, "response_time_max_ns": 9e6}
    mixed = trial(kinds=(*each[:7], {**each[7], **slow}, each[8]))
    lines = shown(mixed)
    place = next(place for place, line in enumerate(lines) if line.startswith("slowest"))
    told = " ".join(" ".join(lines[place : place + 2]).split())
    assert told.startswith("slowest /7 p50 5 ms, max 9 ms; ")
    assert "; 6 more with `-v`" in told
    assert not any(line.startswith("failed") for line in lines)
    assert len(lines) - len(shown(trial())) <= 2
    everything = [line.split()[0] for line in shown(mixed, verbose=True) if line.startswith("/")]
    assert everything == [f"/{number}" for number in range(9)]
    assert max(map(len, shown(mixed, 60, verbose=True))) <= 60


def test_of_a_mix_the_urls_that_failed_are_named() -> None:
    first, second, third = kinds(3)
    lines = shown(trial(kinds=({**first, "failed": 3}, {**second, "failed": 40}, third)))
    assert "failed          /1 40; /0 3" in lines
    text = load_markdown.render(trial(kinds=({**first, "failed": 3}, second, third)))
    assert "| failed | /0 3 |" in text
    assert "| slowest | /0 p50 1 ms, max 2 ms; " in text
    assert "; 3 more in JSON |" in load_markdown.render(trial(kinds=kinds(11)))


def test_what_the_closed_model_hides_is_said_with_an_estimate() -> None:
    said = " ".join(" ".join(shown(trial(stalls=FROZEN), verbose=True)).split())
    assert (
        "in the closed model: longest stall 1 s: at the mean rate 8,000 requests would have" in said
    )
    assert "(estimate) 90 % 500 ms, 99 % 950 ms, 99.9 % 995 ms" in said


def test_an_open_load_hides_nothing() -> None:
    assert not any(line.startswith("hidden") for line in shown(trial(stalls=None), verbose=True))
    assert hidden.sentence(None, sample.summary("t")) == ""


def test_no_quantile_of_the_estimate_is_told_that_was_measured_as_long() -> None:
    summary = sample.summary("t", service_time_p90_ns=600e6, service_time_p99_ns=700e6)
    said = hidden.amount(FROZEN, summary)
    assert "90 % 500 ms" not in said
    assert "99 % 950 ms" in said
    slow = sample.changed(summary, service_time_p99_ns=2e9, service_time_p999_ns=2e9)
    assert hidden.amount(FROZEN, slow) == "little: the longest gap between responses was 1 s"


def test_where_answers_came_all_the_time_that_is_said() -> None:
    assert "little: no stall was observed" in hidden.sentence(QUIET, sample.summary("t"))


@pytest.mark.parametrize("form", [html, markdown])
def test_a_report_says_beside_the_times_what_a_closed_load_hides(form: ModuleType) -> None:
    def text(stalls: StallsRow | None) -> str:
        one = trial(stalls=stalls)
        return form.render(Findings("x", "0", (one,), tables.COMPARISONS.schema.empty_table()))

    said = text(FROZEN).replace("\u00a0", " ")
    assert hidden.HIDES in said
    assert "90 % 500 ms, 99 % 950 ms, 99.9 % 995 ms" in said
    assert hidden.HIDES not in text(None)


def test_hostile_names_cannot_steer_the_terminal() -> None:
    found = trial(kinds=({**kinds(1)[0], "request": "/\x1b[2J"}, *kinds(1)))
    assert "\x1b" not in "\n".join(shown(found))


def long_doubts(lines: int) -> tuple[Verdict, ...]:
    """Two void verdicts, each of one sentence of so many lines and a remedy."""
    said = "the server waited for its cores that other programs used all of that time, " * lines
    (sound, first) = judged("void", "responses_correct")
    (_, second) = judged("void", "undisturbed")
    return (
        sound,
        replace(first, sentences=(Sentence("void", f"{said}first.", "Fix the server."),)),
        replace(second, sentences=(Sentence("void", f"{said}second.", "Stop others."),)),
    )


@pytest.mark.parametrize(("lines", "told"), [(1, 2), (3, 2), (4, 1), (6, 1), (12, 1)])
def test_no_told_doubt_is_cut_before_its_cause_or_its_remedy(lines: int, told: int) -> None:
    verdicts = long_doubts(lines)
    shown_lines = shown(trial(verdicts=verdicts))
    text = " ".join(" ".join(shown_lines).split())
    for number, verdict in enumerate(verdicts[1:]):
        (sentence,) = verdict.sentences
        assert (f"{sentence.text} → {sentence.remedy}" in text) == (number < told)
        assert catalogue.title_of(verdict) in text
    assert "…" not in text
    if lines <= 6:
        more = len(shown_lines) - len(shown(trial()))
        assert more <= screen_doubts.MOST_LINES


def test_the_reason_of_a_check_that_could_not_be_made_is_not_cut() -> None:
    reason = "no such counter, " * 6 + "on this host"
    for count in (1, 2, 6):
        verdicts = judged("not_checked", *CHECK_NAMES[:count])
        verdicts = (verdicts[0], *(one_reason(one, f"{reason}.") for one in verdicts[1:]))
        lines = shown(trial(verdicts=verdicts))
        text = " ".join(" ".join(lines).split())
        assert f"{reason}." in text
        assert all(catalogue.title_of(one) in text for one in verdicts[1:3])
        assert len(lines) <= screen.MOST_LINES + screen_doubts.MOST_UNMADE


def one_reason(verdict: Verdict, text: str) -> Verdict:
    return replace(verdict, sentences=(Sentence(verdict.level, text),))


def test_a_count_stays_with_what_it_counts() -> None:
    for width in range(30, 80):
        lines = wrapped("opened 9,634, refused 0, lost 0, 500 × 1,004", width)
        assert all(
            not one.lstrip()[0].isdigit() or one.startswith("500") for one in lines.split("\n")
        )


def test_requests_that_were_never_sent_are_named_so_and_left_out_of_the_times() -> None:
    unsent = Failure("not_sent", None, None, 750, 750, 0.3, 2.0)
    found = with_failures(unsent, failed=750)
    driver = found.recording.driver
    assert driver is not None
    counts = {"ok": 250, "not_sent": 750, "unfinished": 50}
    made = replace(found.recording, driver=replace(driver, outcomes=counts))
    found = replace(found, data=replace(found.data, recording=made))
    assert "750 never sent)" in " ".join(" ".join(shown(found, 120)).split())
    assert "  (of the 25 % that were sent)  750 failed" in one_line.line(found)
    assert "that were sent" not in one_line.line(trial())
