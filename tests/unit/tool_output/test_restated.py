"""What a tool prints twice agrees in its real output, and a changed figure contradicts another."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import older_prints
from plimsoll.tool_output import numbers, readers, restated
from plimsoll.tool_output.reported import ReportedStatistics
from plimsoll.tool_output.restated import Figure, Restated
from plimsoll.verdicts.audit import audit
from plimsoll.verdicts.figure_checks.figures_consistent import NAME

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "published"
FILES = sorted(path for path in GOLDEN.iterdir() if path.name != "README.md")
NOT_READ = ("ab-files", "h2load-files")
MADE_UP = ("table", "techempower")
WITH_PAIRS = [path for path in FILES if path.stem not in (*NOT_READ, *MADE_UP)]

CHANGED = [
    ("ab-sound.txt", "Keep-Alive requests:    20000", "Keep-Alive requests:    20001"),
    ("ab-sound.txt", "HTML transferred:       40960000", "HTML transferred:       40950000"),
    ("ab-sound.txt", "HTML transferred:       40960000", "HTML transferred:       42000000"),
    ("ab-sound.txt", "0.810 [ms] (mean)", "0.860 [ms] (mean)"),
    ("ab-sound.txt", "0.016 [ms]", "0.019 [ms]"),
    ("ab-sound.txt", "61733.35 [#/sec]", "61333.35 [#/sec]"),
    ("ab-sound.txt", "128952.77 [Kbytes/sec]", "128052.77 [Kbytes/sec]"),
    ("ab-sound.txt", "Waiting:        0    1   1.4", "Waiting:        0    9   1.4"),
    ("ab-sound.txt", "1.4      1      13\nTotal:", "1.4      1      14\nTotal:"),
    ("ab-sound.txt", "100%     13", "100%     14"),
    ("ab-sound.txt", "1.4      1      13\n\nPer", "1.4      5      13\n\nPer"),
    ("ab-cut.txt", "Failed requests:        2000", "Failed requests:        2500"),
    ("ab-status.txt", "Non-2xx responses:      2000", "Non-2xx responses:      20200"),
    ("hey-sound.txt", "0.003 [49701]", "0.003 [49801]"),
    ("hey-sound.txt", "116774912 bytes", "126774912 bytes"),
    ("hey-sound.txt", "2048 bytes", "2049 bytes"),
    ("hey-sound.txt", "28460.7920", "28560.7920"),
    ("hey-sound.txt", "Slowest:	0.0308", "Slowest:	0.0318"),
    ("hey-sound.txt", "50% in 0.0011", "50% in 0.0039"),
    ("hey-sound.txt", "0.0000 secs, 0.0265 secs", "0.0000 secs, 0.0365 secs"),
    ("wrk-sound.txt", "1.98ms", "19.80ms"),
    ("wrk-sound.txt", "90.45%", "190.45%"),
    ("wrk-sound.txt", "62.50%", "162.50%"),
    ("wrk-sound.txt", "18.20k", "68.20k"),
    ("wrk-sound.txt", "74900.34", "75800.34"),
    ("wrk-sound.txt", "151.08MB", "153.08MB"),
    ("wrk-sound.txt", "50 connections", "1 connections"),
    ("wrk-sound.txt", "150817 requests in 2.01s, 304.20MB", "1508170 requests in 20.10s, 3.04GB"),
    ("wrk2-sound.txt", "Requests/sec:    999.00", "Requests/sec:    989.00"),
    ("wrk2-sound.txt", "Transfer/sec:      2.02MB", "Transfer/sec:      2.12MB"),
    ("wrk2-sound.txt", "72.54%", "172.54%"),
    ("wrk2-sound.txt", "Total count    =         1970", "Total count    =        19700"),
    ("h2load-sound.txt", "88636 succeeded", "88536 succeeded"),
    ("h2load-sound.txt", "88636 2xx", "88536 2xx"),
    ("h2load-sound.txt", "88686 started", "88600 started"),
    ("h2load-sound.txt", "178.78MB", "188.78MB"),
    ("h2load-lost.txt", "12 done", "3 done"),
    ("h2load-lost.txt", "8 failed", "7 failed"),
    ("h2load-timeout.txt", "4 timeout", "85 timeout"),
    ("h2load-sound.txt", "(181559296) data", "(191559296) data"),
    ("h2load-sound.txt", "1.62ms", "9.62ms"),
    ("h2load-sound.txt", "88.63%", "188.63%"),
    ("oha-sound.json", '"sizePerRequest":2048', '"sizePerRequest":2148'),
    ("oha_text-sound.txt", "[148975]", "[148075]"),
    ("oha_text-sound.txt", "75947.0572", "75447.0572"),
    ("oha_text-sound.txt", "2.00 KiB", "2.10 KiB"),
    ("oha_text-sound.txt", "148.29 MiB", "149.29 MiB"),
    ("autocannon-status.json", '"non2xx":5061', '"non2xx":5161'),
    ("autocannon-status.json", '"2xx":45551', '"2xx":45451'),
    ("autocannon-status.json", '"average":25304', '"average":25404'),
    ("autocannon-interval.json", '"total":459404', '"total":469404'),
    ("autocannon_text-list.txt", "200  │ 38176", "200  │ 38276"),
    ("autocannon_text-list.txt", "500  │ 4242", "500  │ 4142"),
    ("autocannon_text-list.txt", "38176 2xx", "39176 2xx"),
    ("autocannon_text-list.txt", "4242 non 2xx", "14242 non 2xx"),
    ("autocannon_text-list.txt", "42k requests", "32k requests"),
    ("autocannon_text-list.txt", "92 MB read", "95 MB read"),
    ("autocannon_text-list.txt", "14,140", "14,240"),
    ("autocannon_text-list.txt", "30.7 MB", "31.7 MB"),
    ("autocannon_text-list.txt", "1,410.93", "4,410.93"),
    ("autocannon_text-list.txt", "3.05 MB", "9.05 MB"),
    ("autocannon_text-list.txt", "12,159  │\n├", "13,159  │\n├"),
    ("autocannon_text-list.txt", "│ 14,951", "│ 11,951"),
    ("autocannon_text-list.txt", "26.4 MB │ 32.4 MB", "36.4 MB │ 32.4 MB"),
    ("autocannon_text-list.txt", "97.5       │ 3 ", "97.5       │ 2 "),
    ("autocannon_text-list.txt", "99.9       │ 25", "99.9       │ 5 "),
    ("autocannon_text-sound.txt", "35,908", "37,908"),
    ("autocannon_text-sound.txt", "72k requests", "70k requests"),
    ("autocannon_text-sound.txt", "152 MB read", "152 kB read"),
    ("autocannon_text-interval.txt", "8.2     │", "12.2     │"),
    ("autocannon_text-workers.txt", "27,438", "12,438"),
    ("autocannon_text-mismatch.txt", "10k requests with", "12k requests with"),
    ("bombardier_text-sound.txt", "43946.53", "83946.53"),
    ("bombardier_text-sound.txt", "9005.10", "69005.10"),
    ("bombardier_text-slow.txt", "118.56ms", "318.56ms"),
    ("bombardier_text-timeout.txt", "2xx - 100", "2xx - 110"),
    ("bombardier_text-cut.txt", "EOF - 101", "EOF - 1001"),
    ("bombardier_text-refused.txt", "refused - 45480", "refused - 45490"),
    ("bombardier-status.json", '"mean":30233.', '"mean":40233.'),
    ("bombardier-status.json", '"stddev":0,', '"stddev":9000,'),
    ("bombardier-status.json", '"req2xx":450', '"req2xx":460'),
    ("bombardier-status.json", '"others":0', '"others":0,"errors":[{"description":"x","count":2}]'),
    ("rewrk-sound.txt", "Total:  90630", "Total:  91630"),
    ("rewrk-sound.txt", "45295.91", "44295.91"),
    ("rewrk-sound.txt", "182.80 MB", "184.80 MB"),
    ("rewrk-sound.txt", "91.36 MB", "90.36 MB"),
    ("rewrk-sound.txt", "2.12ms", "12.12ms"),
    ("rewrk-sound.txt", "36.10ms", "30.10ms"),
    ("rewrk-sound.txt", "1.09ms", "1.69ms"),
    ("rewrk-sound.txt", "16.55ms", "32.55ms"),
    ("rewrk-sound.txt", "5.24ms", "4.04ms"),
    ("rewrk-sound.txt", "1.60ms", "2.40ms"),
    ("rewrk-reset.txt", "2399 Errors", "23999 Errors: x\n2399 Errors"),
    ("vegeta_text-status.txt", "1500, 500.33", "1510, 500.33"),
    ("vegeta_text-status.txt", "500.33, 450.27", "501.33, 450.27"),
    ("vegeta_text-status.txt", "500.33, 450.27", "500.33, 451.27"),
    ("vegeta_text-status.txt", "3072000, 2048.00", "3072000, 2047.00"),
    ("vegeta_text-status.txt", "0, 0.00", "15000, 0.00"),
    ("vegeta_text-status.txt", "90.00%", "90.10%"),
    ("vegeta_text-status.txt", "500:150", "500:151"),
    ("vegeta_text-slow.txt", "4.387s", "4.397s"),
    ("vegeta_text-slow.txt", "3.98s, 406.492ms", "4.18s, 206.492ms"),
    ("vegeta_text-slow.txt", "404.782ms, 406.492ms", "404.782ms, 405.492ms"),
    ("vegeta_text-minute.txt", "1m3s, 1m3s", "1m6s, 1m3s"),
    ("vegeta_text-minute.txt", "150.02, 150.02", "155.02, 150.02"),
    ("vegeta_text-one.txt", "1, 1.00, 1.00", "2, 1.00, 1.00"),
    ("vegeta-one.json", '"wait":1', '"wait":2'),
    ("vegeta-status.json", '"200":1350', '"200":1340'),
    ("vegeta-status.json", '"rate":500.30', '"rate":504.30'),
    ("vegeta-status.json", '"throughput":450.2', '"throughput":452.2'),
    ("vegeta-status.json", '"success":0.9', '"success":0.91'),
    ("vegeta-status.json", '"mean":1843.7', '"mean":1853.7'),
    ("vegeta-status.json", '"mean":4580387', '"mean":4680387'),
    (
        "k6-status.json",
        '"http_reqs":{"count":10304,"rate":34',
        '"http_reqs":{"count":10304,"rate":35',
    ),
    ("k6-status.json", '"fails":9274', '"fails":9374'),
    ("k6_text-status.txt", "1997 out of 19964\n    http_reqs", "1997 out of 19864\n    http_reqs"),
    ("k6_text-status.txt", "iterations.....................: 19964", "iterations....: 19864"),
    ("gatling_text-status.txt", "1500 (OK=1350", "1500 (OK=1340"),
    ("gatling-status.json", '"ok":1350,"ko":150}', '"ok":1340,"ko":150}'),
    ("artillery-status.json", '"http.responses":120', '"http.responses":130'),
    ("fortio-status.json", '"500":2610', '"500":2710'),
    ("fortio-status.json", '"ActualQPS":8694', '"ActualQPS":8794'),
    ("fortio-status.json", '"Sum":24.000324846', '"Sum":25.000324846'),
    ("locust-status.csv", "/2048,3111,275,", "/2048,3111,3275,"),
]


def text(name: str) -> str:
    return (GOLDEN / name).read_text(encoding="utf-8")


def bare(content: str) -> str:
    """JSON on one line."""
    return json.dumps(json.loads(content), separators=(",", ":"))


def contradictions(figures: ReportedStatistics) -> tuple[Restated, ...]:
    return tuple(one for one in figures.restated if one.contradicts)


def consistent(content: str):
    """The worst verdict on any of its results."""
    results = audit(readers.read(content, "x")).results
    found = [one for result in results for one in result.verdicts if one.check == NAME]
    return max(found, key=lambda one: one.level == "void")


@pytest.mark.parametrize("path", WITH_PAIRS, ids=lambda path: path.name)
def test_no_figure_of_a_real_output_contradicts_another(path: Path) -> None:
    for figures in readers.read(path.read_text(encoding="utf-8"), path.name):
        assert contradictions(figures) == ()


@pytest.mark.parametrize("path", WITH_PAIRS, ids=lambda path: path.name)
def test_no_real_output_is_inconsistent(path: Path) -> None:
    assert consistent(path.read_text(encoding="utf-8")).level != "void"


@pytest.mark.parametrize(
    ("name", "behind"),
    [
        ("autocannon_text-list.txt", "Percentile  Delay\n99   1\n\nCode  Times\n200  5\n"),
        ("rewrk-sound.txt", "Shares of the week before:\n50%  900ms\n99%  1ms\n"),
    ],
)
def test_rows_behind_an_output_are_not_of_it(name: str, behind: str) -> None:
    assert consistent(f"{text(name)}\n{behind}").level == consistent(text(name)).level


@pytest.mark.parametrize(("name", "printed", "other"), CHANGED)
def test_a_changed_figure_contradicts_another(name: str, printed: str, other: str) -> None:
    whole = bare(text(name)) if name.endswith(".json") else text(name)
    assert printed in whole
    assert consistent(whole).level != "void"
    verdict = consistent(whole.replace(printed, other))
    assert verdict.level == "void"
    assert "Check that the figures are of one run." in verdict.remedies


def test_a_mismatch_of_failures_is_named_with_both_numbers() -> None:
    changed = text("ab-cut.txt").replace("Failed requests:        2000", "Failed requests: 2500")
    assert (
        "`Failed requests` is 2,500, but the sum of its kinds gives 2,000."
        in consistent(changed).text
    )


def test_the_end_of_a_timed_run_of_ab_may_hold_parts_of_responses() -> None:
    whole = text("ab-sound.txt")
    assert consistent(whole.replace("40960000", "41000000")).level == "sound"


def test_of_the_newer_ab_lengths_and_kinds_of_failures_prove_nothing() -> None:
    newer = text("ab-cut.txt").replace(
        "Concurrency Level:", "Concurrency achieved:   10\nConcurrency Level:"
    )
    assert consistent(newer.replace("Length: 2000", "Length: 1500")).level == "sound"


@pytest.mark.parametrize(
    ("printed", "other"),
    [("39030.1", "41030.1"), ("1200.5", "9200.5"), ("5.19 MB", "5.59 MB"), ("120 kB", "3.2 MB")],
)
def test_the_maximum_of_an_older_table_of_autocannon_bounds_its_row(
    printed: str, other: str
) -> None:
    assert consistent(older_prints.AUTOCANNON).level == "sound"
    assert consistent(older_prints.AUTOCANNON.replace(printed, other)).level == "void"


def test_errors_beside_a_status_are_no_contradiction_with_another_client() -> None:
    assert consistent(text("bombardier_text-cut.txt")).level == "sound"
    default = text("bombardier_text-cut.txt").replace(" --http1", "")
    assert "is 101, but by `others` it is 0 at most" in consistent(default).text


def test_what_autocannon_adds_up_over_rounds_is_not_compared_with_one_of_them() -> None:
    first, *later = readers.read(text("autocannon_text-forever.txt"), "x")
    names = [{one.by for one in figures.restated} for figures in (first, *later)]
    by = "`Avg` of `Req/Sec` × `# of samples`"
    assert [by in one for one in names] == [True, False, False]


def test_a_contradiction_is_told_once() -> None:
    changed = text("hey-sound.txt").replace("28460.7920", "38460.7920")
    assert consistent(changed).text.count("38,461") == 1


@pytest.mark.parametrize(
    ("written", "form", "step"),
    [
        ("4.53", numbers.number, 0.01),
        ("4.59k", numbers.number, 10),
        ("304.20MB", numbers.size, 0.01 * 2**20),
        ("1.00m", numbers.seconds, 0.6),
        ("3.0006 10 sec", numbers.seconds, 1e-3),
        ("1 210 s", numbers.seconds, 1),
        ("12", numbers.count, 1),
        ("-nan", numbers.number, 0),
    ],
)
def test_the_last_digit_of_a_number_has_its_unit(written: str, form, step: float) -> None:
    assert numbers.step(written, form) == pytest.approx(step)


@pytest.mark.parametrize(
    ("stddev", "mean", "greatest", "is_impossible"),
    [
        (6.0, 5.0, 10.0, True),
        (5.0, 5.0, 10.0, False),
        (4.0, 1.0, 10.0, True),
        (3.0, 1.0, 10.0, False),
    ],
)
def test_a_standard_deviation_is_bounded_by_mean_and_maximum(
    stddev: float, mean: float, greatest: float, is_impossible: bool
) -> None:
    held = (Figure("sd", stddev), Figure("mean", mean), Figure("max", greatest))
    (found,) = restated.spread("sd", *held)
    assert found.contradicts is is_impossible


def test_of_few_numbers_the_standard_deviation_is_that_of_a_sample() -> None:
    two = (Figure("sd", 7.05), Figure("mean", 5.0), Figure("max", 10.0))
    (found,) = restated.spread("sd", *two, count=2)
    assert not found.contradicts
